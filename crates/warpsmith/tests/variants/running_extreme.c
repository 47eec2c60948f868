// warpsmith: size n=4096
// expect: scan j
void running_extreme(int n, const int x[n][n], int least[n][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int best = x[i][0];
        for (int j = 0; j < n; j++) {
            if (x[i][j] < best)
                best = x[i][j];
            least[i][j] = best;
        }
    }
}
