// warpsmith: size d=128 n=128 m=128
// expect: bind z, y, x
void stencil_27_points(int d, int n, int m, const float a[d][n][m], float b[d][n][m])
{
    #pragma omp parallel for collapse(3)
    for (int z = 1; z < d - 1; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < m - 1; x++) {
                float sum = 0.0f;
                for (int dz = -1; dz <= 1; dz++)
                    for (int dy = -1; dy <= 1; dy++)
                        for (int dx = -1; dx <= 1; dx++)
                            sum += a[z + dz][y + dy][x + dx];
                b[z][y][x] = sum / 27.0f;
            }
}
