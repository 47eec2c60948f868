// warpsmith: size n=512
void f(int n, const float x[n], float y[n])
{
    #pragma omp target enter data map(to: x[0:n]) map(alloc: y[0:n])
    #pragma omp target teams loop
    for (int i = 0; i < n; i++) y[i] = x[i] + 1.0f;
    #pragma omp target exit data map(from: y[0:n])
}
