struct Body { float x, y; int kind; float m; };
#define P 32
__global__ void near(const Body *b, float *f, int n)
{
    __shared__ Body s[P];
    int i = blockIdx.x * P + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += P) {
        if (t + threadIdx.x < n) s[threadIdx.x] = b[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < P && t + j < n; j++)
            if (__opt__(b[t + j].kind) == 1) sum += __opt__(b[t + j]).m;
        __syncthreads();
    }
    if (i < n) f[i] = sum;
}
