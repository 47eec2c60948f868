// warpsmith: size n=3000
// Iterations that store the same number to what they have in common.
int found(int n, const float x[n], int *large, float first[2])
{
    int any = 0;
    *large = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.9f) *large = 7;
        if (x[i] < -0.9f) { first[0] = 2.5f; first[1] = 2.5f; }
        if (x[i] > 0.99f) any = 1;
    }
    return any;
}
