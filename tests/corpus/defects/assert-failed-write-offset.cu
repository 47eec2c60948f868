// Defect: the invariant says that a thread writes to its own element, which holds for the first row only
// expect: assert-failed line=10
// expect: status=1

// warpsmith: grid=1 block=32 arg out=int[128]
__global__ void strided(int *out)
{
    const int t = threadIdx.x;
    for (int i = 0;
         __global_invariant(__implies(__write(out), __write_offset_bytes(out) / sizeof(int) == t)),
             i < 4;
         i++) {
        out[32 * i + t] = i;
    }
}
