// Integers of 128 bits
// warpsmith: grid=1 block=32 arg out=u64[32]
__global__ void f(unsigned long long *out) {
    unsigned __int128 product = (unsigned __int128)out[threadIdx.x] * 1000000007ull;
    out[threadIdx.x] = (unsigned long long)(product >> 64);
}
