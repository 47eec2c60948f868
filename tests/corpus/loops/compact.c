/* keeps the entries above a threshold, in any order */
int select_above(const float *in, int n, float cut, float *out)
{
    int count = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (in[i] <= cut)
            continue;
        int at;
#pragma omp atomic capture
        at = count++;
        out[at] = in[i];
    }
    return count;
}
