// Complex numbers on the host, by functions that their type finds, and on the device.
#include <array>
#include <cassert>
#include <cmath>
#include <complex>
#include <cuda_runtime.h>

__global__ void turn(int n, float *re, float *im, float c, float s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = re[i], b = im[i];
        re[i] = c * a - s * b;
        im[i] = c * b + s * a;
    }
}

template <typename T> void wave(T *re, T *im, int n)
{
    for (int i = 0; i < n; i++) {
        std::complex<T> z = std::complex<T>(T(i), 0) * exp(std::complex<T>(0, T(0.5)));
        re[i] = real(z);
        im[i] = imag(z);
    }
}

int main()
{
    const int n = 100;
    float re[n], im[n], *x, *y;
    wave(re, im, n);
    cudaMalloc(&x, sizeof(re));
    cudaMalloc(&y, sizeof(im));
    cudaMemcpy(x, re, sizeof(re), cudaMemcpyHostToDevice);
    cudaMemcpy(y, im, sizeof(im), cudaMemcpyHostToDevice);
    turn<<<4, 32>>>(n, x, y, cosf(0.5f), sinf(0.5f));
    cudaMemcpy(re, x, sizeof(re), cudaMemcpyDeviceToHost);
    std::complex<double> unit(1.0, 2.0);
    unit += 2.0;
    unit /= 3.0;
    unit -= 1.0;
    assert(real(unit) == 0.0 && fabs(imag(unit) - 2.0 / 3.0) < 1e-9);
    assert(real(unit - 1.0) == -1.0 && real(1.0 - unit) == 1.0 && real(2.0 + unit) == real(unit + 2.0));
    std::array<int, 3> first, second;
    first.fill(2);
    second.fill(2);
    assert(first == second && !(first < second));
    second[2] = 3;
    assert(first != second && first < second && !(second < first));
    turn<<<4, 32>>>(n, x, y, cosf(fabsf(re[1])), 0.0f);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
