// warpsmith: size n=512
void f(int n, const float x[n], float out[n], int *count)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 0) {
            int at;
            #pragma omp atomic capture
            { at = *count; *count += 1 + (x[i] > 2); }
            out[at] = x[i];
        }
    }
}
