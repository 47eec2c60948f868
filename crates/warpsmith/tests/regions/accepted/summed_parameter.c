// warpsmith: size n=3000
// A parameter is a variable of the function: what it begins with is part of the sum.
void summed_parameter(int n, const float a[n], float s, float v, float b[n])
{
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) s += a[i] * a[i];
    #pragma omp parallel for private(v)
    for (int i = 0; i < n; i++) {
        v = a[i] * 2;
        b[i] = v / (1 + s);
    }
}
