// Numbers between 0.1 and 1.1, the same in every run.
static void fill(float *to, size_t length)
{
    static unsigned state = 2463534242u;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        to[i] = 0.1f + (state >> 8) * (1.0f / 16777216.0f);
    }
}

// Changes numbers in their last two bits, up or down; which way is another for each seed. A change of the last one alone
// is often rounded off on the way to a result.
static void nudge(float *x, size_t length, unsigned seed)
{
    unsigned state = 88675123u * (seed + 1u);
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] += x[i] * (state >> 31 ? 2.4e-7f : -2.4e-7f);
    }
}

// Keeps the largest distances of results from what was expected.
static void widen(float *spread, const float *nudged, const float *expected, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const float far = fabsf(nudged[i] - expected[i]);
        if (!(far <= spread[i])) spread[i] = far;
    }
}

// 0 when the arrays agree but for rounding, else 1; says where they first do not. `spread` says how far results go apart
// when inputs change in their last bits: where that is much, so is rounding. Float k of element e stands at
// e * apart + k * pitch.
static int compare(const char *name, const float *actual, const float *expected, const float *spread, size_t count,
                   int size, size_t apart, size_t pitch)
{
    float largest = 0.0f;
    for (size_t i = 0; i < count * size; i++)
        if (fabsf(expected[i]) > largest && fabsf(expected[i]) < INFINITY) largest = fabsf(expected[i]);
    for (size_t e = 0; e < count; e++) {
        // The worst of an element stands for all of it: a few samples may be near by chance.
        float open = 0.0f;
        for (int k = 0; k < size; k++)
            if (!(spread[e * apart + k * pitch] <= open)) open = spread[e * apart + k * pitch];
        // Where the last bits decide whether there is a number, nothing can be said.
        if (!(open < INFINITY)) continue;
        for (int k = 0; k < size; k++) {
            const float a = actual[e * apart + k * pitch], x = expected[e * apart + k * pitch];
            if (a == x || (a != a && x != x)) continue;
            // Also true where only one is no number.
            if (!(fabsf(a - x) <= 1e-4f * fabsf(x) + 1e-6f * largest + 64.0f * open)) {
                printf("%s: element %llu, float %d: %g in place of %g\n", name, (unsigned long long)e, k, a, x);
                return 1;
            }
        }
    }
    return 0;
}
