#include <math.h>
#include <stddef.h>
float cross_entropy(const float *logits, const int *labels, float *dlogits, size_t rows, size_t classes)
{
    float loss = 0.f;
#pragma omp parallel for reduction(+:loss)
    for (size_t r = 0; r < rows; ++r) {
        const float *l = logits + r * classes;
        float *d = dlogits + r * classes;
        float mx = -INFINITY, sum = 0;
        for (size_t c = 0; c < classes; ++c) mx = fmaxf(mx, l[c]);
        for (size_t c = 0; c < classes; ++c) sum += expf(l[c] - mx);
        const float lse = mx + logf(sum);
        int y = labels[r];
        loss += lse - l[y];
        for (size_t c = 0; c < classes; ++c)
            d[c] = (expf(l[c] - lse) - (c == (size_t)y ? 1.f : 0.f)) / (float)rows;
    }
    return loss / rows;
}
