#define SWAP(a, b) { unsigned char t_ = a; a = b; b = t_; }
#define IDX(r, c) ((r) * ncols + (c))

static void sort9(unsigned char *v)
{
    for (int i = 1; i < 9; i++) {
        for (int j = i; j > 0; j--)
            if (v[j - 1] > v[j]) SWAP(v[j - 1], v[j]);
    }
}

void median3x3(unsigned char *out, unsigned char *in, int nrows, int ncols)
{
    int r, c, k, l;
#pragma omp parallel for private(c, k, l) shared(in, out)
    for (r = 0; r < nrows; r++)
        for (c = 0; c < ncols; c++) {
            if (r == 0 || c == 0 || r == nrows - 1 || c == ncols - 1) {
                out[IDX(r, c)] = in[IDX(r, c)];
                continue;
            }
            unsigned char win[9];
            int n = 0;
            for (k = -1; k <= 1; k++)
                for (l = -1; l <= 1; l++)
                    win[n++] = in[IDX(r + k, c + l)];
            sort9(win);
            out[IDX(r, c)] = win[4];
        }
}
