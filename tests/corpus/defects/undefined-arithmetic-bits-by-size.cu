// Defect: the number of bits comes from the host, and 40 of them do not fit in an int.
// expect: undefined-arithmetic line=8
// expect: status=1

// warpsmith: grid=1 block=32 arg key=int[32] arg bits=40
__global__ void powers(int *key, int bits)
{
    key[threadIdx.x] = 1 << bits;
}
