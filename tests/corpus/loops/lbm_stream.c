#define Q 9
static const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static int NX, NY;

#define F(f, q, x, y) f[((q) * NY + (y)) * NX + (x)]

void stream_pull(const double *fin, double *fout)
{
    int x, y, q;
#pragma omp parallel for private(x, q) collapse(2)
    for (y = 0; y < NY; ++y)
        for (x = 0; x < NX; ++x)
            for (q = 0; q < Q; ++q) {
                int xs = (x - cx[q] + NX) % NX;
                int ys = (y - cy[q] + NY) % NY;
                F(fout, q, x, y) = F(fin, q, xs, ys);
            }
}
