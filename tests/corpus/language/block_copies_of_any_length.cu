// memset and memcpy whose length only the launch knows, and long ones.
// warpsmith: grid=1 block=2 arg x=float[1200] arg b='unsigned char[72]' arg n=300
__global__ void copies(float *x, unsigned char *b, int n)
{
    if (threadIdx.x == 0) {
        memset(x, 0, n * sizeof(float));
        memcpy(x + n, x, n * sizeof(float));
        memset(x + 2 * n, 0, 600 * sizeof(float));
        __assert(x[0] == 0.0f && x[2 * n - 1] == 0.0f && x[1199] == 0.0f);
    } else {
        memset(b, 7, n / 5);
        memcpy(&b[60], b, n % 7);
        __assert(b[59] == 7 && b[62] == 7);
    }
}
