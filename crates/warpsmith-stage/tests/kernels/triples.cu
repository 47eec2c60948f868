#define P 32
__global__ void near(const float3 *b, float3 *f, int n)
{
    __shared__ float3 s[P];
    int i = blockIdx.x * P + threadIdx.x;
    if (i < n) s[threadIdx.x] = b[i];
    __syncthreads();
    if (i < n && i > 0) { float3 l = __opt__ b[i - 1]; f[i] = make_float3(l.x, l.y, __opt__(b[i].z)); }
}
