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

// 0 when the arrays agree but for rounding, else 1; says where they first do not.
static int compare(const char *name, const float *actual, const float *expected, size_t length, int size)
{
    for (size_t i = 0; i < length; i++) {
        const float allowed = 1e-4f * fabsf(expected[i]) + 1e-6f;
        // Also true of what is no number.
        if (!(fabsf(actual[i] - expected[i]) <= allowed)) {
            printf("%s: element %llu, float %d: %g in place of %g\n", name, (unsigned long long)(i / size),
                   (int)(i % size), actual[i], expected[i]);
            return 1;
        }
    }
    return 0;
}
