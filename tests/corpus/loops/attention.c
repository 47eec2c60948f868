#include <math.h>

typedef struct {
    int dim;
    int n_heads;
    int seq_len;
} Config;

/* one token against the key and value cache */
void attention(const Config *cfg, const float *q, const float *key_cache, const float *value_cache, float *att,
               float *xb, int pos)
{
    int dim = cfg->dim;
    int head_size = dim / cfg->n_heads;
    int h;
#pragma omp parallel for private(h)
    for (h = 0; h < cfg->n_heads; h++) {
        const float *qh = q + h * head_size;
        float *a = att + h * cfg->seq_len;
        for (int t = 0; t <= pos; t++) {
            const float *k = key_cache + t * dim + h * head_size;
            float score = 0.0f;
            for (int i = 0; i < head_size; i++) {
                score += qh[i] * k[i];
            }
            score /= sqrtf(head_size);
            a[t] = score;
        }
        float mx = a[0];
        for (int t = 1; t <= pos; t++) if (a[t] > mx) mx = a[t];
        float s = 0.0f;
        for (int t = 0; t <= pos; t++) { a[t] = expf(a[t] - mx); s += a[t]; }
        for (int t = 0; t <= pos; t++) a[t] /= s;

        float *o = xb + h * head_size;
        for (int i = 0; i < head_size; i++) o[i] = 0.0f;
        for (int t = 0; t <= pos; t++) {
            const float *v = value_cache + t * dim + h * head_size;
            float w = a[t];
            for (int i = 0; i < head_size; i++) o[i] += w * v[i];
        }
    }
}
