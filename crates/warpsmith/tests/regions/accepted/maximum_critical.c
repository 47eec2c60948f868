// warpsmith: size n=4096
// warpsmith: size m=128
void best(int n, int m, const int k[n], const float x[n], float b[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int j = k[i] % m;
        #pragma omp critical
        {
            if (x[i] > b[j]) b[j] = x[i];
        }
    }
}
