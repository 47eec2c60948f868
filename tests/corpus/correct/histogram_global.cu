// Histogram of bytes with global atomics in a grid-stride loop: unsigned char data, many conflicting atomics.
typedef unsigned char uchar;

// warpsmith: grid=2 block=64 arg n=512 arg buffer=uchar[512]=random arg histo=uint[256]
// warpsmith: grid=3 block=50 arg n=777 arg buffer=uchar[777]=random(11) arg histo=uint[256]
__global__ void histo_kernel(const uchar *buffer, long n, unsigned int *histo)
{
    long i = threadIdx.x + (long)blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < n) {
        atomicAdd(&(histo[buffer[i]]), 1);
        i += stride;
    }
}
