// same-as: references.c:histogram
__global__ void histogram_shared(int n, const unsigned char *data, int *bins) {
    __shared__ int own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[data[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (own[b] > 0) atomicAdd(&bins[b], own[b]);
}
// warpsmith: kernel=histogram_shared grid=3 block=64 arg n=1000
// fault: if (own[b] > 0) => if (own[b] > 1)
// fault: b < 256; b += blockDim.x) own[b] = 0; => b < 32; b += blockDim.x) own[b] = 0;
// fault: i < n; i += => i + 1 < n; i +=
// fault: atomicAdd(&own[data[i]], 1); => own[data[i]]++;
// fault: atomicAdd(&bins[b], own[b]); => bins[b] += own[b];
// fault: &own[data[i]], 1 => &own[data[i] & 63], 1
// fault: &bins[b], own[b] => &bins[b], own[b] + 1
