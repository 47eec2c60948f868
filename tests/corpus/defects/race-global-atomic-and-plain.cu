// Defect: a counter is bumped by atomics but tested by a plain read in the same interval.
// expect: race-global line=8 array=count
// expect: status=1

// warpsmith: grid=2 block=32 arg count=int[1] arg out=int[64] arg limit=64
__global__ void bounded_push(int *count, int *out, int limit)
{
    if (*count < limit) {
        const int slot = atomicAdd(count, 1);
        out[slot] = blockIdx.x;
    }
}
