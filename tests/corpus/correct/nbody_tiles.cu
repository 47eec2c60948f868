// All-pairs n-body with tiles of float4 bodies: device functions over vector types, rsqrtf, a ragged last tile.
#define SOFTENING_SQUARED 0.01f

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING_SQUARED;
    float invDist = rsqrtf(distSqr);
    float s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

// warpsmith: grid=2 block=32 shared=512 arg X=float4[64]=random arg A=float4[64] arg N=64
// warpsmith: grid=2 block=32 shared=512 arg X=float4[50]=random arg A=float4[50] arg N=50
__global__ void calculate_forces(const float4 *X, float4 *A, int N)
{
    extern __shared__ float4 shPosition[];
    const int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 zero = {0.0f, 0.0f, 0.0f, 0.0f};
    float4 myPosition = gtid < N ? X[gtid] : zero;
    float3 acc = {0.0f, 0.0f, 0.0f};

    for (int i = 0; i < N; i += blockDim.x) {
        const int idx = i + threadIdx.x;
        shPosition[threadIdx.x] = idx < N ? X[idx] : zero;  // a body of no mass has no effect
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < blockDim.x; j++)
            acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
        __syncthreads();
    }
    if (gtid < N) A[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}
