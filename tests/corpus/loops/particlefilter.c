#include <math.h>
#define PI 3.1415926535897932

long M = 2147483647L;
int A = 1103515245;
int C = 12345;

static double randu(int *seed, int index)
{
    int num = (int)((unsigned)A * (unsigned)seed[index] + (unsigned)C);
    seed[index] = (int)(num % M);
    return fabs(seed[index] / ((double)M));
}

static double randn(int *seed, int index)
{
    double u = randu(seed, index);
    double v = randu(seed, index);
    double cosine = cos(2 * PI * v);
    double rt = -2 * log(u + 1e-12);
    return sqrt(rt) * cosine;
}

void propagate(double *arrayX, double *arrayY, int *seed, double *weights, int Nparticles)
{
    int x;
#pragma omp parallel for shared(arrayX, arrayY, Nparticles, seed) private(x)
    for (x = 0; x < Nparticles; x++) {
        arrayX[x] += 1 + 5 * randn(seed, x);
        arrayY[x] += -2 + 2 * randn(seed, x);
    }
    double sumWeights = 0;
#pragma omp parallel for private(x) reduction(+ : sumWeights)
    for (x = 0; x < Nparticles; x++) {
        sumWeights += weights[x];
    }
#pragma omp parallel for shared(sumWeights, weights) private(x)
    for (x = 0; x < Nparticles; x++) {
        weights[x] = weights[x] / sumWeights;
    }
}
