// Defect: a place is claimed by a read and a store.
// expect: race-global line=8 array=table
// expect: status=1
// warpsmith: grid=2 block=32 arg key=uint[64]=random arg table=uint[128]=zeros arg count=int[128]=zeros
__global__ void k(const unsigned *key, unsigned *table, int *count) {
    unsigned own = key[blockIdx.x * 32 + threadIdx.x] + 1, at = own * 2654435761u % 128;
    for (;;) {
        unsigned there = table[at];
        if (there == 0) table[at] = own;
        if (there == 0 || there == own) break;
        at = (at + 1) % 128;
    }
    atomicAdd(&count[at], 1);
}
