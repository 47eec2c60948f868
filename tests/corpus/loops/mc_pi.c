#include <stdint.h>

static inline uint32_t xorshift32(uint32_t *state)
{
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

long count_hits(int nthreads, int samples)
{
    long hits = 0;
#pragma omp parallel for reduction(+ : hits)
    for (int t = 0; t < nthreads; t++) {
        uint32_t seed = 2463534242u + 7919u * t;
        for (int s = 0; s < samples; s++) {
            double x = xorshift32(&seed) / 4294967296.0;
            double y = xorshift32(&seed) / 4294967296.0;
            if (x * x + y * y <= 1.0) hits++;
        }
    }
    return hits;
}
