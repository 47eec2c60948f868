/* the colour as a test inside */
#define ID(x, y, z) (((z) * ny + (y)) * nx + (x))
static int nx, ny, nz;

void gs_smooth(float *phi, const float *rhs, float h2, int color)
{
    int x, y, z;
#pragma omp parallel for private(x, y)
    for (z = 1; z < nz - 1; z++) {
        for (y = 1; y < ny - 1; y++) {
            for (x = 1; x < nx - 1; x++) {
                if ((x + y + z) % 2 != color) continue;
                phi[ID(x, y, z)] = (phi[ID(x - 1, y, z)] + phi[ID(x + 1, y, z)] + phi[ID(x, y - 1, z)] +
                                    phi[ID(x, y + 1, z)] + phi[ID(x, y, z - 1)] + phi[ID(x, y, z + 1)] -
                                    h2 * rhs[ID(x, y, z)]) / 6.0f;
            }
        }
    }
}
