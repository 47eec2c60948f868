// A complex number class with member operators and a friend-like overload, used for a Julia set: structs by value and reference.
struct cuComplex {
    float r;
    float i;
    __device__ cuComplex(float a, float b) : r(a), i(b) {}
    __device__ float magnitude2() const { return r * r + i * i; }
    __device__ cuComplex operator*(const cuComplex &a) const { return cuComplex(r * a.r - i * a.i, i * a.r + r * a.i); }
    __device__ cuComplex operator+(const cuComplex &a) const { return cuComplex(r + a.r, i + a.i); }
    __device__ cuComplex &operator+=(const cuComplex &a) { r += a.r; i += a.i; return *this; }
};

__device__ cuComplex operator*(float s, const cuComplex &z) { return cuComplex(s * z.r, s * z.i); }

__device__ int julia(int x, int y, int dim)
{
    const float scale = 1.5f;
    cuComplex a = scale * cuComplex((float)(dim / 2 - x) / (dim / 2), (float)(dim / 2 - y) / (dim / 2));
    const cuComplex c(-0.8f, 0.156f);
    for (int i = 0; i < 50; i++) {
        a = a * a;
        a += c;
        if (a.magnitude2() > 1000) return 0;
    }
    return 1;
}

// warpsmith: grid=16,16 block=1 arg ptr=uchar[16][16][4]=random arg dim=16
// warpsmith: grid=9,9 block=1 arg ptr=uchar[9][9][4]=random arg dim=9
__global__ void julia_kernel(unsigned char *ptr, int dim)
{
    int x = blockIdx.x;
    int y = blockIdx.y;
    int offset = x + y * gridDim.x;
    int inside = julia(x, y, dim);
    ptr[offset * 4 + 0] = 255 * inside;
    ptr[offset * 4 + 1] = 0;
    ptr[offset * 4 + 2] = 0;
    ptr[offset * 4 + 3] = 255;
}
