// Defect: room is made for the sum of all sizes but the last, which the scan of the library leaves out.
// expect: out-of-bounds line=9 array=out
// expect: status=1
#include <thrust/device_vector.h>
#include <thrust/scan.h>
__global__ void place(const int *offsets, const int *sizes, int *out, int n)
{
    int i = threadIdx.x;
    for (int k = 0; i < n && k < sizes[i]; k++) out[offsets[i] + k] = i;
}
int main()
{
    const int n = 32;
    thrust::device_vector<int> sizes(n, 3), offsets(n);
    thrust::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin());
    int total = offsets.back();
    int *out;
    cudaMalloc(&out, total * sizeof(int));
    place<<<1, n>>>(
        thrust::raw_pointer_cast(offsets.data()), thrust::raw_pointer_cast(sizes.data()), out, n
    );
    cudaDeviceSynchronize();
}
