// Strings as data: constant arrays, pointers to literals, arguments of functions.
__constant__ char banner[] = "warp";
__device__ int length(const char *s)
{
    int n = 0;
    while (s[n] != '\0') n++;
    return n;
}

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void strings(int *x)
{
    const char *word = threadIdx.x & 1 ? "odd" : "even";
    char own[8] = "tile";
    x[threadIdx.x] = length(word) + length(banner) + length(own) + "abc"[1];
    __assert(x[threadIdx.x] == (threadIdx.x & 1 ? 3 : 4) + 8 + 'b');
}
