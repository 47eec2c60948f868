// A structure of pointers by value and behind a pointer of the device, with a structure inside.
typedef struct {
    int n;
    float *x, *y;
    struct {
        int a, b;
    } in;
} Arrays;
__global__ void scale(Arrays s, Arrays *p)
{
    int i = threadIdx.x;
    if (i < s.n) p->y[i] = s.x[i] * s.in.a;
}
int main()
{
    Arrays s, *d;
    s.n = 20;
    s.in.a = 3;
    cudaMalloc(&s.x, s.n * sizeof(float));
    cudaMalloc(&s.y, s.n * sizeof(float));
    cudaMemset(s.x, 0, s.n * sizeof(float));
    cudaMalloc(&d, sizeof(Arrays));
    cudaMemcpy(d, &s, sizeof(Arrays), cudaMemcpyHostToDevice);
    scale<<<1, 32>>>(s, d);
}
