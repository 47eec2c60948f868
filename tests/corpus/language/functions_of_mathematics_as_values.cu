// Functions of mathematics as values: pointers to them, and arguments of templates.
typedef float (*Function)(float);
__device__ double half(double x) { return 0.5 * x; }
template <typename F> __device__ float apply(F f, float x) { return f(x); }
__global__ void values(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double (*f)(double) = i % 2 == 0 ? half : sqrt;
    Function g = &floorf;
    float (*larger)(float, float) = fmaxf;
    __assert(f(16.0) == (i % 2 == 0 ? 8.0 : 4.0));
    __assert(g(2.5f) == 2.0f && larger(1.0f, 3.0f) == 3.0f);
    __assert(apply(ceilf, 1.5f) == 2.0f && apply(std::sqrt, 9.0f) == 3.0f);
    out[i] = g(4.0f);
}
int main()
{
    const int n = 64;
    float *out;
    cudaMalloc(&out, n * sizeof(float));
    values<<<2, 32>>>(out, n);
    cudaDeviceSynchronize();
}
