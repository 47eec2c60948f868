// Defect: the shared flag is set when the key is found but never cleared first.
// expect: uninitialized-shared line=13 array=found
// expect: status=1

// warpsmith: grid=2 block=32 arg x=int[64]=iota arg out=int[2] arg key=5
__global__ void contains(const int *x, int *out, int key)
{
    __shared__ int found;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] == key) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (found)
            out[blockIdx.x] = 1;
    }
}
