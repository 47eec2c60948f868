// Defect: in-place Hillis-Steele scan with a single barrier a step; reads and writes of one step overlap.
// expect: race-shared line=14 array=s
// expect: status=1

// warpsmith: grid=1 block=64 shared=256 arg data=int[64]=iota
__global__ void scan_one_barrier(int *data)
{
    extern __shared__ int s[];
    const int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        if (t >= d)
            s[t] += s[t - d];
        __syncthreads();
    }
    data[t] = s[t];
}
