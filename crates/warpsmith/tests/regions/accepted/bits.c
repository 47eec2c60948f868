// warpsmith: size n=2048
// warpsmith: size m=64
void f(int n, int m, const unsigned k[n], unsigned seen[m], unsigned x[m], long long s[m])
{
    #pragma omp parallel for simd schedule(dynamic, 16)
    for (int i = 0; i < n; i++) {
        unsigned j = k[i] % m;
        #pragma omp atomic
        seen[j] |= 1u << (k[i] & 31);
        #pragma omp atomic
        x[j] ^= k[i];
        #pragma omp atomic
        s[j] -= k[i];
    }
}
