// y = a x + y.
// warpsmith: size n=16777216

void saxpy(int n, float a, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = a * x[i] + y[i];
    }
}
