// Many threads of several blocks store the same constant to one global flag: a note, not a finding.
// expect: race-benign line=9 array=found
// expect: status=0

// warpsmith: grid=2 block=32 arg x=int[64]=iota arg found=int[1]
__global__ void any_multiple(const int *x, int *found)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] % 7 == 0) found[0] = 1;
}
