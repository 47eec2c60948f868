// CRC-32 a message a thread with a table built in shared memory by the block: byte loops, xor, shifts, an unsigned table index.
#define POLY 0xEDB88320u

// warpsmith: grid=1 block=64 arg bytes=uchar[64][20]=random arg crc=uint[64] arg length=20 arg messages=64
// warpsmith: grid=2 block=32 arg bytes=uchar[45][7]=random arg crc=uint[45] arg length=7 arg messages=45
__global__ void crc32(const unsigned char *bytes, unsigned *crc, int length, int messages)
{
    __shared__ unsigned table[256];
    for (unsigned e = threadIdx.x; e < 256; e += blockDim.x) {
        unsigned c = e;
        for (int k = 0; k < 8; ++k) c = (c & 1) ? (c >> 1) ^ POLY : c >> 1;
        table[e] = c;
    }
    __syncthreads();

    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m < messages) {
        const unsigned char *p = bytes + m * length;
        unsigned c = ~0u;
        for (const unsigned char *end = p + length; p != end; ++p) c = table[(c ^ *p) & 0xff] ^ (c >> 8);
        crc[m] = ~c;
    }
}
