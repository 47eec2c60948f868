// warpsmith: size m=2048
// warpsmith: size n=64
void degree(int m, int n, const int src[m], const int dst[m], int deg[n])
{
    for (int v = 0; v < n; v++) deg[v] = 0;
    #pragma omp parallel for schedule(guided)
    for (int e = 0; e < m; e++) {
        #pragma omp atomic
        deg[src[e] % n] += 1;
        #pragma omp atomic
        deg[dst[e] % n] += 1;
    }
}
