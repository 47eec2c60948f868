// warpsmith: size n=1024
// warpsmith: size k=8
// warpsmith: size d=4
void accumulate(int n, int k, int d, const float x[n][d], const int label[n], float sum[k][d], int count[k])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int c = label[i] % k;
        #pragma omp atomic
        count[c]++;
        for (int j = 0; j < d; j++) {
            #pragma omp atomic
            sum[c][j] += x[i][j];
        }
    }
}
