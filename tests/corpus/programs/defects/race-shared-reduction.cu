// A reduction in a template without the barrier inside of its loop.
// expect: race-shared line=14 array=s
// expect: status=1
#include <iostream>
#include <vector>
template <typename T, unsigned B>
__global__ void sum(const T *in, T *out, size_t n)
{
    __shared__ T s[B];
    size_t i = blockIdx.x * B + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : T{};
    __syncthreads();
    for (unsigned k = B / 2; k > 0; k /= 2)
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
template <typename T> T total(const std::vector<T> &values)
{
    constexpr unsigned B = 128;
    const unsigned blocks = (values.size() + B - 1) / B;
    T *in, *out;
    cudaMalloc(&in, values.size() * sizeof(T));
    cudaMalloc(&out, blocks * sizeof(T));
    cudaMemcpy(in, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    sum<T, B><<<blocks, B>>>(in, out, values.size());
    std::vector<T> partial(blocks);
    cudaMemcpy(partial.data(), out, blocks * sizeof(T), cudaMemcpyDeviceToHost);
    T result{};
    for (const T &p : partial) result += p;
    return result;
}
int main()
{
    std::vector<double> v(700, 0.5);
    std::cout << total(v) << '\n';
}
