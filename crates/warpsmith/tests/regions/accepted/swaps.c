// warpsmith: size n=2048
// warpsmith: size m=64
void f(int n, int m, const int k[n], const float x[n], float lo[m], double p[m], int q[m], long long r[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int j = k[i] % m;
        #pragma omp critical
        {
            if (lo[j] > x[i]) lo[j] = x[i];
            p[j] *= 1.0 + 0.01 * x[i];
            q[j] *= 3;
            r[j] *= 5;
        }
    }
}
