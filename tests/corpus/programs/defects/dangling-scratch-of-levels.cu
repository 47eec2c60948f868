// The scratch memory of the levels is given back inside the loop, and the second level still writes it.
// expect: dangling line=13 array=scratch_
// expect: dangling line=19 array=scratch_
// expect: dangling line=34
// expect: status=1
#include <cstdio>
#include <cuda_runtime.h>

__global__ void partial(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

class Summer {
    int *scratch_;
    int room_;
public:
    explicit Summer(int n) : scratch_(nullptr), room_((n + 127) / 128) { cudaMalloc(&scratch_, room_ * sizeof(int)); }
    ~Summer() { if (scratch_) cudaFree(scratch_); }
    int sum(const int *in, int n)
    {
        int result = 0;
        for (int left = n; left > 1; left = (left + 127) / 128) {
            partial<<<(left + 127) / 128, 128>>>(left == n ? in : scratch_, scratch_, left);
            if (left <= 128 * 128) {
                cudaMemcpy(&result, scratch_, sizeof(int), cudaMemcpyDeviceToHost);
                cudaFree(scratch_);
            }
        }
        scratch_ = nullptr;
        return result;
    }
};

int main()
{
    const int n = 5000;
    int *in;
    cudaMallocManaged(&in, n * sizeof(int));
    for (int i = 0; i < n; i++) in[i] = 1;
    Summer summer(n);
    printf("%d\n", summer.sum(in, n));
    cudaFree(in);
    return 0;
}
