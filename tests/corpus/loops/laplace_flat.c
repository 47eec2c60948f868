/* A Laplace operator whose one counter runs over all cells; neighbours behind conditions */
void laplace(const double *u, double *y, unsigned nx, unsigned ny, unsigned nz)
{
    unsigned total = nx * ny * nz;
#pragma omp parallel for
    for (unsigned k = 0; k < total; k++) {
        unsigned x = k % nx, j = (k / nx) % ny, z = k / (nx * ny);
        double s = -6.0 * u[k];
        if (x > 0) s += u[k - 1];
        if (x < nx - 1) s += u[k + 1];
        if (j > 0) s += u[k - nx];
        if (j < ny - 1) s += u[k + nx];
        s += u[z > 0 ? k - nx * ny : k] + u[z < nz - 1 ? k + nx * ny : k];
        y[k] = s;
    }
}
