// The sum of all elements, returned through a pointer.
// warpsmith: size n=16777216

void total(int n, const float x[n], float *total)
{
    float sum = 0.0f;

    #pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < n; i++) {
        sum += x[i];
    }
    *total = sum;
}
