// Complex numbers on the host, by functions that their type finds, and on the device.
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
    std::complex<double> root = sqrt(std::complex<double>(-4.0, 0.0)), unit(1.0);
    unit += 2.0;
    unit /= 3.0;
    assert(fabs(imag(root) - 2.0) < 1e-6 && real(unit - 1.0) == 0.0 && abs(log(unit)) < 1e-6);
    assert(fabs(real(pow(root, 2.0)) + 4.0) < 1e-6 && norm(1.0 - unit) == 0.0);
    turn<<<4, 32>>>(n, x, y, cosf(fabsf(re[1])), 0.0f);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
