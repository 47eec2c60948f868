#include <math.h>
typedef struct { float re, im; } cplx;

/* one radix-2 stage over n points, half is the distance of a butterfly's legs */
static void butterfly(cplx *a, cplx *b, cplx w)
{
    cplx t;
    t.re = w.re * b->re - w.im * b->im;
    t.im = w.re * b->im + w.im * b->re;
    b->re = a->re - t.re;
    b->im = a->im - t.im;
    a->re += t.re;
    a->im += t.im;
}

void fft(cplx *x, int logn)
{
    int n = 1 << logn;
    for (int s = 0; s < logn; s++) {
        int half = 1 << s;
#pragma omp parallel for
        for (int k = 0; k < n / 2; k++) {
            int pos = k & (half - 1);
            int i = ((k >> s) << (s + 1)) + pos;
            float ang = -3.14159265f * pos / half;
            cplx w = { cosf(ang), sinf(ang) };
            butterfly(&x[i], &x[i + half], w);
        }
    }
}
