// Defect: an array of doubles is carved out of dynamic shared memory behind an odd number of floats.
// expect: misaligned line=10 array=pool
// expect: status=1

// warpsmith: grid=1 block=16 shared=256 arg in=float[16]=iota arg n=5
__global__ void carve_misaligned(float *in, int n)
{
    extern __shared__ float pool[];
    double *wide = (double *)(pool + n);
    wide[threadIdx.x] = in[threadIdx.x];
}
