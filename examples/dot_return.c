// The dot product of two vectors, as the value of the function.
// warpsmith: size n=16777216

float dot(int n, const float x[n], const float y[n])
{
    float sum = 0.0f;

    #pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}
