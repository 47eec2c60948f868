// One explicit step of the heat equation in three dimensions, seven-point stencil.
// warpsmith: size nx=256 ny=256 nz=256

void heat7(int nx, int ny, int nz, float c, const float t[nz][ny][nx], float next[nz][ny][nx])
{
    #pragma omp parallel for collapse(3)
    for (int k = 1; k < nz - 1; k++) {
        for (int j = 1; j < ny - 1; j++) {
            for (int i = 1; i < nx - 1; i++) {
                float centre = t[k][j][i];
                next[k][j][i] = centre
                    + c * (t[k - 1][j][i] + t[k + 1][j][i] + t[k][j - 1][i]
                           + t[k][j + 1][i] + t[k][j][i - 1] + t[k][j][i + 1] - 6.0f * centre);
            }
        }
    }
}
