// float4 bodies
#define P 64
__global__ void forces(const float4 *pos, float3 *acc, int n)
{
    __shared__ float4 sh[P];
    int i = blockIdx.x * P + threadIdx.x;
    float4 me = i < n ? pos[i] : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int tile = 0; tile * P < n; tile++) {
        int idx = tile * P + threadIdx.x;
        if (idx < n) sh[threadIdx.x] = pos[idx];
        __syncthreads();
        for (int j = 0; j < P; j++) {
            if (tile * P + j < n) {
                float4 other = __opt__(pos[tile * P + j]);
                float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
                float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
                float s = other.w * inv * inv * inv;
                a.x += dx * s; a.y += dy * s; a.z += dz * s;
            }
        }
        __syncthreads();
    }
    if (i < n) acc[i] = a;
}
