// Thrust's vectors hold the data; kernels get raw pointers.
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/fill.h>
#include <thrust/sequence.h>
#include <thrust/copy.h>

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

int main()
{
    const int n = 300;
    thrust::host_vector<float> h(n);
    for (int i = 0; i < n; i++) h[i] = i * 0.5f;
    thrust::device_vector<float> x = h;
    thrust::device_vector<float> y(n, 1.0f);
    thrust::device_vector<int> keys(n);
    thrust::sequence(keys.begin(), keys.end());
    saxpy<<<(n + 127) / 128, 128>>>(2.0f, thrust::raw_pointer_cast(x.data()), thrust::raw_pointer_cast(&y[0]), n);
    thrust::copy(y.begin(), y.end(), h.begin());
    h = y;
    printf("%f\n", h[n - 1]);
    thrust::fill(y.begin(), y.end(), 0.0f);
}
