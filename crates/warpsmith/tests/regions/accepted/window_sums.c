// warpsmith: size n=3000 m=37
// A sum of the counter and a size is compared: `n - m` is no smaller than any `int`, whatever the sizes are.
void window_sums(int n, int m, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i + m <= n; i++) {
        float s = 0;
        for (int j = 0; j < m; j++) s += x[i + j];
        y[i] = s;
    }
}
