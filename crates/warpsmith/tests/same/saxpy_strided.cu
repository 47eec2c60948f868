// same-as: references.c:saxpy --map count=n --map a=alpha --map in=x --map io=y
// Grid stride, fused multiply-add, two elements a turn.
__global__ void saxpy_strided(size_t count, float a, const float *__restrict__ in, float *__restrict__ io) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + stride < count; i += 2 * stride) {
        io[i] = fmaf(a, in[i], io[i]);
        io[i + stride] = fmaf(a, in[i + stride], io[i + stride]);
    }
    if (i < count) io[i] = fmaf(a, in[i], io[i]);
}
// warpsmith: kernel=saxpy_strided grid=2 block=32
// fault: i + stride < count => i + stride <= count
// fault: i += 2 * stride => i += stride
// fault: if (i < count) io[i] => if (i + 1 < count) io[i]
// fault: in[i + stride], io[i + stride]); => in[i + stride], io[i]);
// fault: fmaf(a, in[i], io[i]);\n        io => fmaf(in[i], a, 0.0f);\n        io
