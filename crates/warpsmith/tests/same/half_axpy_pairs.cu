// same-as: references.cu:half_axpy
#include <cuda_fp16.h>
__global__ void half_axpy_pairs(int n, float a, const __half *x, __half *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 *x2 = (const __half2 *)x;
    __half2 *y2 = (__half2 *)y;
    if (i < n / 2) {
        float2 u = __half22float2(x2[i]), v = __half22float2(y2[i]);
        y2[i] = __floats2half2_rn(a * u.x + v.x, a * u.y + v.y);
    }
    if (i == 0 && n % 2 == 1) y[n - 1] = __float2half(a * __half2float(x[n - 1]) + __half2float(y[n - 1]));
}
void half_axpy(int n, float a, const __half *x, __half *y) {
    half_axpy_pairs<<<(n / 2 + 127) / 128 + 1, 128>>>(n, a, x, y);
}
// right: (n / 2 + 127) / 128 + 1, 128 => (n / 2 + 63) / 64 + 1, 64
// right: a * u.x + v.x, a * u.y + v.y => fmaf(a, u.x, v.x), fmaf(a, u.y, v.y)
// fault: if (i < n / 2) => if (i <= n / 2)
// fault: i == 0 && n % 2 == 1 => i == 0 && n % 4 == 1
// fault: && n % 2 == 1 => && n % 2 == 1 && n > 1
// fault: a * u.y + v.y => a * u.y + v.x
// fault: a * u.x + v.x, => u.x + v.x,
// fault: (n / 2 + 127) / 128 + 1 => n / 512 + 1
// fault: i < n / 2) => i < n / 2 - 1)
// fault: a * u.x + v.x, a * u.y + v.y => a * u.y + v.y, a * u.x + v.x
// fault: a * u.x + v.x, => a * a * u.x + v.x,
