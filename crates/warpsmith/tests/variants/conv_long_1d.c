// warpsmith: size n=1048576
// expect: stage x, register_tile i
void conv_long_1d(int n, const float x[n + 255], const float filter[256], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 256; k++)
            sum += filter[k] * x[i + k];
        y[i] = sum;
    }
}
