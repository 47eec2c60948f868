// same-as: references.c:saxpy
__global__ void saxpy_vectors(int n, float alpha, const float *x, float *y) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 a = *(const float4 *)(x + i), b = *(float4 *)(y + i);
        *(float4 *)(y + i) = make_float4(alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
    } else {
        for (; i < n; i++) y[i] = alpha * x[i] + y[i];
    }
}
void saxpy(int n, float alpha, const float *x, float *y) {
    int threads = (n + 3) / 4;
    saxpy_vectors<<<(threads + 63) / 64, 64>>>(n, alpha, x, y);
}
// fault: if (i + 3 < n) { => if (i < n) {
// fault: alpha * a.w + b.w => a.w + b.w
// fault: alpha * a.z + b.z => alpha * a.z + b.y
// fault: for (; i < n; i++) y => for (; i < n - 1; i++) y
// fault: int threads = (n + 3) / 4; => int threads = (n + 0) / 4;
// fault: alpha * x[i] + y[i]; => alpha * x[i] - y[i];
// fault: threadIdx.x) * 4; => threadIdx.x) * 2;
