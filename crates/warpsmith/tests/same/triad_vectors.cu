// same-as: references.cu:triad
__global__ void triad_vectors(int n, const float2 *b, const float2 *c, float s, float2 *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        float2 v = c[i], w = b[i];
        a[i] = make_float2(w.x + s * v.x, w.y + s * v.y);
    } else if (2 * i < n) {
        ((float *)a)[2 * i] = ((const float *)b)[2 * i] + s * ((const float *)c)[2 * i];
    }
}
void triad(int n, const float2 *b, const float2 *c, float s, float2 *a) {
    int half = (n + 1) / 2;
    triad_vectors<<<(half + 31) / 32, 32>>>(n, b, c, s, a);
}
// fault: 2 * i + 1 < n) { => 2 * i + 2 < n) {
// fault: w.y + s * v.y => w.y + s * v.x
// fault: } else if (2 * i < n) { => } else if (2 * i + 1 < n) {
// fault: int half = (n + 1) / 2; => int half = (n + 0) / 2;
// fault: + s * ((const float *)c)[2 * i]; => + s * ((const float *)c)[0];
