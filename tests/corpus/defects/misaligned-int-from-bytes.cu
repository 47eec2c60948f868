// Defect: 32-bit words are read out of a byte buffer of 3-byte records.
// expect: misaligned line=8 array=bytes
// expect: status=1

// warpsmith: grid=1 block=16 arg bytes=uchar[64]=iota arg out=uint[16]
__global__ void unpack_records(const unsigned char *bytes, unsigned *out)
{
    const unsigned word = *(const unsigned *)(bytes + 3 * threadIdx.x);
    out[threadIdx.x] = word & 0xffffffu;
}
