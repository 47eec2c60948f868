/* Three-point smoothing of a line, its ends repeated by macros; an optional mask */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

int smooth(const float *in, float *out, const unsigned char *mask, int n)
{
    if (!in || !out || n < 0)
        return -1;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (mask && !mask[i])
            continue;
        out[i] = 0.25f * in[MAX(i - 1, 0)] + 0.5f * in[i] + 0.25f * in[MIN(i + 1, n - 1)];
    }
    return 0;
}
