// same-as: references.c:forces
__global__ void forces_tiled(int n, const float *x, const float *y, float *fx) {
    __shared__ float2 tile[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    float xi = i < n ? x[i] : 0, yi = i < n ? y[i] : 0, f = 0;
    for (int first = 0; first < n; first += 32) {
        int j = first + threadIdx.x;
        if (j < n) tile[threadIdx.x] = make_float2(x[j], y[j]);
        __syncthreads();
        int most = min(32, n - first);
        for (int k = 0; k < most; k++) {
            float dx = tile[k].x - xi, dy = tile[k].y - yi;
            float d = fmaf(dx, dx, fmaf(dy, dy, 0.01f));
            float r = rsqrtf(d);
            f += dx * (r * r * r);
        }
        __syncthreads();
    }
    if (i < n) fx[i] = f;
}
// warpsmith: kernel=forces_tiled grid=3 block=32 arg n=90
// fault: min(32, n - first) => 32
// fault: min(32, n - first) => min(31, n - first)
// fault: fmaf(dy, dy, 0.01f) => fmaf(dy, dy, 0.02f)
// fault: r * r * r => r * r
// fault: float dx = tile[k].x - xi => float dx = tile[k].x + xi
// fault: first < n; first += 32 => first + 32 <= n; first += 32
// fault: if (i < n) fx[i] => if (i > 0 && i < n) fx[i]
// fault:         __syncthreads();\n    }\n =>     }\n
