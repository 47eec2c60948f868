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

// 0 when the arrays agree but for rounding, else 1; says where they first do not. Float k of element e stands at
// e * apart + k * pitch.
static int compare(const char *name, const float *actual, const float *expected, size_t count, int size, size_t apart,
                   size_t pitch)
{
    float largest = 0.0f;
    for (size_t i = 0; i < count * size; i++)
        if (fabsf(expected[i]) > largest && fabsf(expected[i]) < INFINITY) largest = fabsf(expected[i]);
    for (size_t e = 0; e < count; e++) {
        for (int k = 0; k < size; k++) {
            const float a = actual[e * apart + k * pitch], x = expected[e * apart + k * pitch];
            if (a == x || (a != a && x != x)) continue;
            // Also true where only one is no number.
            if (!(fabsf(a - x) <= 1e-4f * fabsf(x) + 1e-6f * largest)) {
                printf("%s: element %llu, float %d: %g in place of %g\n", name, (unsigned long long)e, k, a, x);
                return 1;
            }
        }
    }
    return 0;
}
