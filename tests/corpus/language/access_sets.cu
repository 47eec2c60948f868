// Sets of accesses in the annotations of verifiers: what a thread has read and written since the last barrier, and the
// arrays that a kernel promises to leave alone.
// warpsmith: grid=2 block=32 arg in=int[64]=iota arg out=int[64] arg n=64
__global__ void rotated(const int *in, int *out, int n)
{
    __requires(n == blockDim.x * gridDim.x);
    __shared__ int tile[32];
    __reads_from(in, tile);
    __writes_to(out, tile);
    const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    __assert(__no_read(in) && __no_write(tile) && !__write(out));
    tile[t] = in[g];
    __assert(__read(in) && __read_offset_bytes(in) == g * sizeof(int));
    __assert(__write(tile) && __write_offset_bytes(tile) / sizeof(int) == t);
    __syncthreads();
    __assert(!__read(in) && __no_write(tile));
    int sum = 0;
    for (int i = 0; __invariant(__read_implies(tile, __read_offset_bytes(tile) / sizeof(int) == (t + i) % 32)),
                    __invariant(__no_write(out)), i < 4;
         i++) {
        sum += tile[(t + i + 1) % 32];
    }
    out[g] = sum;
    __assert(__write_implies(out, __write_offset(out) == g));
}
