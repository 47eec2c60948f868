// warpsmith: size n=300
// warpsmith: arg least=-4294967291 most=3000000000 long_most=4294967301
// Limits outside of what the counter holds: C compares in the wider type.
void wide_limits(int n, long long least, unsigned most, unsigned long long_most, const int len[n], float s[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < least; j++) sum += 1.0f;
        for (int j = -len[i] % 3; j <= least; j += 2) sum += 2.0f;
        for (int j = 0; j < most; j++) {
            if (j > i % 5) break;
            sum += 4.0f;
        }
        for (unsigned j = 0; j < long_most; j++) {
            if (j > 6) break;
            sum += 8.0f;
        }
        for (int j = i - 2; j < sizeof(float); j++) sum += 16.0f;
        s[i] = sum;
    }
}
