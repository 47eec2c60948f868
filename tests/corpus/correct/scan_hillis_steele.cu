// Hillis-Steele exclusive scan with a double buffer in dynamic shared memory: one barrier a step because of the parity.

// warpsmith: grid=1 block=64 shared=512 arg n=64 arg g_idata=int[64]=iota arg g_odata=int[64]
// warpsmith: grid=1 block=57 shared=456 arg n=57 arg g_idata=int[57]=iota arg g_odata=int[57]
__global__ void scan(int *g_odata, const int *g_idata, int n)
{
    extern __shared__ int temp[];  // 2 * n
    int thid = threadIdx.x;
    int pout = 0, pin = 1;

    temp[pout * n + thid] = (thid > 0) ? g_idata[thid - 1] : 0;
    __syncthreads();

    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}

// warpsmith: grid=2 block=32 arg data=float[64]=random
__global__ void scan_in_place(float *data)
{
    __shared__ float s[32];
    const unsigned t = threadIdx.x;
    float *mine = data + blockIdx.x * 32;
    s[t] = mine[t];
    __syncthreads();
    for (unsigned d = 1; d < 32; d <<= 1) {
        const float left = t >= d ? s[t - d] : 0.0f;
        __syncthreads();  // all reads of this step come before its writes
        s[t] += left;
        __syncthreads();
    }
    mine[t] = s[t];
}
