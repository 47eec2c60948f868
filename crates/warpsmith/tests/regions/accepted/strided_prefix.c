// warpsmith: size n=1000 s=3
// Where `i * s` is too large for an int, C says nothing, and so does the verification.
void strided_prefix(int n, int s, const float *x, float *y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (i * s < 100) y[i] = x[i * s];
}
