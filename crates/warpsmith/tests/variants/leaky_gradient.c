// warpsmith: size n=67108864
// expect: register_tile i, vectorise i
// Two branches store to one element.
void leaky_gradient(int n, const float *restrict x, const float *restrict dy, float *restrict dx)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.0f)
            dx[i] = dy[i];
        else
            dx[i] = 0.01f * dy[i];
    }
}
