#include <math.h>

#define ETA 0.3
#define MOMENTUM 0.3

static float squash(float x)
{
    return (1.0 / (1.0 + exp(-x)));
}

/* hidden layer with a threshold unit 0, then the update of its weights */
void bpnn_layer(float *l1, float *l2, float *conn, float *oldw, float *delta, int n1, int n2)
{
  float sum;
  float new_dw;
  int j, k;

  l1[0] = 1.0;
#pragma omp parallel for private(k, j) reduction(+ : sum) schedule(static)
  for (j = 1; j <= n2; j++) {
    sum = 0.0;
    for (k = 0; k <= n1; k++) sum += conn[k * (n2 + 1) + j] * l1[k];
    l2[j] = squash(sum);
  }

#pragma omp parallel for shared(oldw, conn, delta) private(j, k, new_dw) firstprivate(n2, n1)
  for (j = 1; j <= n2; j++) {
    for (k = 0; k <= n1; k++) {
      new_dw = ((ETA * delta[j] * l1[k]) + (MOMENTUM * oldw[k * (n2 + 1) + j]));
      conn[k * (n2 + 1) + j] += new_dw;
      oldw[k * (n2 + 1) + j] = new_dw;
    }
  }
}
