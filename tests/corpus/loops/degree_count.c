/* in-degrees of a graph and the slot of every edge, with the compiler's atomics */
void count_edges(long m, int n, const int *dst, int *degree, int *slot)
{
    for (int v = 0; v < n; v++) degree[v] = 0;
#pragma omp parallel for
    for (long e = 0; e < m; e++) {
        int d = dst[e];
        if (d < 0)
            continue;
        __sync_fetch_and_add(&degree[d], 1);
    }
    (void)slot;
}
