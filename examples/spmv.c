// Sparse matrix-vector product y = A x, compressed rows: the entries of row i stand at
// start[i] … start[i + 1] - 1.
// warpsmith: size n=1048576 entries=8388608
// warpsmith: arg start=iota column=zeros

void spmv(int n, int entries, const int start[n + 1], const int column[entries],
          const float value[entries], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int k = start[i]; k < start[i + 1]; k++) {
            sum += value[k] * x[column[k]];
        }
        y[i] = sum;
    }
}
