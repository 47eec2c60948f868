// Dynamic shared memory through a class with a conversion, one specialisation for each type.
template <typename T> struct SharedMemory {
    __device__ inline operator T *()
    {
        extern __shared__ int memory[];
        return (T *)memory;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double *()
    {
        extern __shared__ double memory_d[];
        return (double *)memory_d;
    }
};
template <class T, unsigned int blockSize> __global__ void reduce(const T *in, T *out)
{
    T *data = SharedMemory<T>();
    unsigned int t = threadIdx.x;
    T sum = in[t] + in[t + blockSize];
    data[t] = sum;
    __syncthreads();
    if (blockSize >= 128 && t < 64) data[t] = sum = sum + data[t + 64];
    __syncthreads();
    if (t < 32) {
        if (blockSize >= 64) sum += data[t + 32];
        for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (t == 0) out[blockIdx.x] = sum;
}
template <class T> void run()
{
    T *in, *out;
    cudaMalloc(&in, 256 * sizeof(T));
    cudaMalloc(&out, sizeof(T));
    cudaMemset(in, 0, 256 * sizeof(T));
    reduce<T, 128><<<1, 128, 128 * sizeof(T)>>>(in, out);
}
int main()
{
    run<float>();
    run<double>();
}
