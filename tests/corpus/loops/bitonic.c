void bitonic_sort(int *a, int logn)
{
    int n = 1 << logn;
    for (int k = 2; k <= n; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
#pragma omp parallel for
            for (int i = 0; i < n; i++) {
                int ij = i ^ j;
                if (ij > i) {
                    int up = (i & k) == 0;
                    if ((up && a[i] > a[ij]) || (!up && a[i] < a[ij])) {
                        int t = a[i];
                        a[i] = a[ij];
                        a[ij] = t;
                    }
                }
            }
        }
}
