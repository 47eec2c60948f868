// warpsmith: size n=4096
// warpsmith: size m=128
void prod(int n, int m, const int k[n], const float x[n], float p[m], unsigned q[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        p[k[i] % m] *= 1.0f + 0.001f * x[i];
        #pragma omp atomic
        q[k[i] % m] *= 3u;
    }
}
