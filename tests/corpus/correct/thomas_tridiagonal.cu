// Thomas algorithm, one system a thread on interleaved storage: long dependent serial loops, descending signed counter.

// warpsmith: grid=2 block=32 arg a=float[16][64]=random arg b=float[16][64]=random arg c=float[16][64]=random arg d=float[16][64]=random arg systems=64 arg n=16
// warpsmith: grid=2 block=16 arg a=float[9][27]=random arg b=float[9][27]=random arg c=float[9][27]=random arg d=float[9][27]=random arg systems=27 arg n=9
__global__ void thomas(const float *a, const float *b, float *c, float *d, int systems, int n)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    float denom = b[s] + 4.0f;
    c[s] /= denom;
    d[s] /= denom;
    for (int i = 1; i < n; ++i) {
        const int at = i * systems + s, prev = at - systems;
        denom = (b[at] + 4.0f) - a[at] * c[prev];
        c[at] /= denom;
        d[at] = (d[at] - a[at] * d[prev]) / denom;
    }
    for (int i = n - 2; i >= 0; --i) {
        const int at = i * systems + s;
        d[at] -= c[at] * d[at + systems];
    }
}
