/* Readings above a threshold, with where they were, in their order. */
int keep_above(int n, const float *reading, float threshold, float *kept, int *where)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (reading[i] > threshold) {
            where[m] = i;
            kept[m++] = reading[i];
        }
    }
    return m;
}
