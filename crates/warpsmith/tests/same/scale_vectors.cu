// same-as: references.c:scale_copy
// Four at a time in strides of the grid, the rest one by one.
__global__ void scale_vectors(int n, float s, const float *x, float *y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int i = t; i < n / 4; i += all) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        v.x *= s; v.y *= s; v.z *= s; v.w *= s;
        reinterpret_cast<float4 *>(y)[i] = v;
    }
    for (int i = n / 4 * 4 + t; i < n; i += all) y[i] = s * x[i];
}
void scale(int n, float s, const float *x, float *y) { scale_vectors<<<3, 32>>>(n, s, x, y); }
// fault: i < n / 4; => i < n / 4 - 1;
// fault: v.w *= s => v.w *= v.w
// fault: i = n / 4 * 4 + t => i = n / 4 * 4 + t + 1
// fault: i < n; i += all) y => i < n - 1; i += all) y
// fault: for (int i = t; i < n / 4; i += all) => if (int i = t; i < n / 4)
// fault: (y)[i] = v => (y)[i ^ 1] = v
// right: i = n / 4 * 4 + t => i = (n & ~3) + t
