// same-as: references.c:sum
// warpsmith: grid=4 block=128 arg n=1000
__global__ void sum_shuffles(int n, const float *x, float *total) {
    __shared__ float partial[4];
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, partial[0] + partial[1] + partial[2] + partial[3]);
}
// fault: i < n; i += gridDim => i < n - 1; i += gridDim
// fault: int d = 16; => int d = 8;
// fault: d > 0; d /= 2 => d > 1; d /= 2
// fault: + partial[3]); => );
// fault: i += gridDim.x * blockDim.x) => i += 2 * gridDim.x * blockDim.x)
// fault: atomicAdd(total, => total[0] = (
// fault: s += x[i]; => s = x[i];
// fault: threadIdx.x % 32 == 0 => threadIdx.x % 32 == 1
// fault: 0xffffffffu, s, d => 0xffffffffu, s, d + 1
