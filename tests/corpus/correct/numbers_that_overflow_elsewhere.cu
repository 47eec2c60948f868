// Sums and products beyond an int that no subscript depends on, unsigned ones that wrap on purpose, and ones in 64 bits.

// warpsmith: grid=4 block=64 arg out=int[256] arg in=int[256]=iota arg seed=77777 arg large=3000000000
__global__ void wrap(int *out, const int *in, int seed, unsigned large)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = (unsigned)seed * 1664525u + t * 1013904223u;
    int signed_state = t * seed * 1000;
    long long far = (long long)t * seed * 100000;
    unsigned slot = (state ^ (state >> 16)) & 255;
    int again = (int)(large + slot);
    out[t] = signed_state + (int)far + again;
    for (int i = t; i < 256; i += gridDim.x * blockDim.x) {
        int row = i / 16, column = i % 16;
        out[row * 16 + column] += slot % 16;
    }
    // Nobody asks for the product where it would overflow.
    out[t] += in[(t < 4 ? t * 500000000 : t) & 255];
    if (t * 3 > 600) out[t] = (int)(far % 7);
}
