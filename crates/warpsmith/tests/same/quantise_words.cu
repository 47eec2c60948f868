// same-as: references.cu:quantise
// Four elements a thread as one word.
__device__ signed char narrow(float v) { return (signed char)fminf(fmaxf(rintf(v), -128.0f), 127.0f); }
__global__ void quantise_words(int n, const float *x, float scale, signed char *q) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float times = 50.0f * scale;
    if (i + 3 < n) {
        float4 v = *(const float4 *)(x + i);
        *(char4 *)(q + i) = make_char4(narrow(v.x * times), narrow(v.y * times), narrow(v.z * times), narrow(v.w * times));
    } else {
        for (; i < n; i++) q[i] = narrow(x[i] * times);
    }
}
void quantise(int n, const float *x, float scale, signed char *q) { quantise_words<<<(n + 511) / 512, 128>>>(n, x, scale, q); }
// right: (n + 511) / 512, 128 => (n + 127) / 128, 32
// right: fminf(fmaxf(rintf(v), -128.0f), 127.0f) => rintf(fminf(fmaxf(v, -128.0f), 127.0f))
// fault: rintf(v) => v
// fault: rintf(v) => floorf(v + 0.5f)
// fault: -128.0f => -127.0f
// fault: , 127.0f) => , 128.0f)
// fault: fminf(fmaxf(rintf(v), -128.0f), 127.0f) => fmaxf(rintf(v), -128.0f)
// fault: fminf(fmaxf(rintf(v), -128.0f), 127.0f) => fminf(rintf(v), 127.0f)
// fault: i + 3 < n => i + 2 < n
// fault: 50.0f * scale => 50.0f / scale
// fault: narrow(v.w * times) => narrow(v.z * times)
// fault: for (; i < n; i++) => for (; i < n - 1; i++)
// fault: (n + 511) / 512 => (n + 500) / 512
