// same-as: references.cu:count_bits
// Warps add up with shuffles, one atomic a block.
__global__ void count_bits_ballot(int n, const unsigned *words, unsigned *total) {
    __shared__ unsigned warps[4];
    unsigned count = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) count += __popc(words[i]);
    for (int d = 16; d > 0; d >>= 1) count += __shfl_down_sync(~0u, count, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = count;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, warps[0] + warps[1] + warps[2] + warps[3]);
}
void count_bits(int n, const unsigned *words, unsigned *total) { count_bits_ballot<<<3, 128>>>(n, words, total); }
// right: <<<3, 128>>> => <<<8, 128>>>
// right: __shfl_down_sync(~0u, count, d) => __shfl_xor_sync(~0u, count, d)
// right: if (threadIdx.x == 0) atomicAdd(total, warps[0] + warps[1] + warps[2] + warps[3]) => if (threadIdx.x < 4) atomicAdd(total, warps[threadIdx.x])
// fault: d > 0; d >>= 1 => d > 1; d >>= 1
// fault: warps[2] + warps[3] => warps[2]
// fault: i < n; i += => i < n - 1; i +=
// fault: __popc(words[i]) => __popc(words[i] & 0xffff)
// fault: __popc(words[i]) => __popc(words[i] & 0x7fffffff)
// fault: unsigned count = 0 => unsigned count = threadIdx.x == 127
// fault: threadIdx.x == 0) atomicAdd(total, => threadIdx.x == 0) atomicExch(total,
// fault: threadIdx.x == 0) atomicAdd(total, => threadIdx.x == 0) *total += (
// fault: __syncthreads(); =>
// fault: gridDim.x * 128) => gridDim.x * 96)
// fault: threadIdx.x % 32 == 0) warps => threadIdx.x % 32 == 1) warps
