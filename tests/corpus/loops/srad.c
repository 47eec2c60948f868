#include <math.h>

#define SUB(i, j) ((i) * cols + (j))

void srad_update(float *J, float *c, float *dN, float *dS, float *dW, float *dE,
                 const int *iN, const int *iS, const int *jE, const int *jW,
                 int rows, int cols, float q0sqr)
{
  int i, j, k;
  float Jc, G2, L, num, den, qsqr, D;
#pragma omp parallel for shared(J, dN, dS, dW, dE, c, rows, cols, iN, iS, jW, jE) private(i, j, k, Jc, G2, L, num, den, qsqr)
  for (i = 0; i < rows; i++) {
    for (j = 0; j < cols; j++) {
      k = i * cols + j;
      Jc = J[k];
      // directional derivates
      dN[k] = J[iN[i] * cols + j] - Jc;
      dS[k] = J[iS[i] * cols + j] - Jc;
      dW[k] = J[i * cols + jW[j]] - Jc;
      dE[k] = J[i * cols + jE[j]] - Jc;

      G2 = (dN[k] * dN[k] + dS[k] * dS[k] + dW[k] * dW[k] + dE[k] * dE[k]) / (Jc * Jc);
      L = (dN[k] + dS[k] + dW[k] + dE[k]) / Jc;
      num = (0.5 * G2) - ((1.0 / 16.0) * (L * L));
      den = 1 + (.25 * L);
      qsqr = num / (den * den);

      den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
      c[k] = 1.0 / (1.0 + den);
      if (c[k] < 0) { c[k] = 0; }
      else if (c[k] > 1) { c[k] = 1; }
    }
  }
#pragma omp parallel for private(i, j, D) shared(J, c, dN, dS, dW, dE)
  for (i = 1; i < rows - 1; i++)
    for (j = 1; j < cols - 1; j++) {
      int k = SUB(i, j);
      D = c[k] * dN[k] + c[SUB(i + 1, j)] * dS[k] + c[k] * dW[k] + c[SUB(i, j + 1)] * dE[k];
      J[k] = J[k] + 0.25f * 0.5f * D;
    }
}
