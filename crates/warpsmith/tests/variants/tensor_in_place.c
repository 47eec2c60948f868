// warpsmith: size r=256 q=256 p=256
// expect: distribute j, distribute i, stage a at s, stage c at s
// A product of each row with a matrix, and the row replaced by it, in the body of one nest (PolyBench's doitgen).
void tensor_in_place(int r, int q, int p, double a[r][q][p], const double c[p][p],
                     double sum[r][q][p])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < r; i++)
        for (int j = 0; j < q; j++) {
            for (int k = 0; k < p; k++) {
                sum[i][j][k] = 0.0;
                for (int s = 0; s < p; s++)
                    sum[i][j][k] += a[i][j][s] * c[s][k];
            }
            for (int k = 0; k < p; k++)
                a[i][j][k] = sum[i][j][k];
        }
}
