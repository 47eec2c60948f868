// Defect: every thread writes the texel of its right neighbour, too.
// expect: race-global line=9 array=s
// expect: race-global line=10 array=s
// expect: status=1

// warpsmith: grid=1 block=8 arg s=float[2][9] arg n=8
__global__ void spread(cudaSurfaceObject_t s, int n)
{
    surf2Dwrite(1.0f * threadIdx.x, s, threadIdx.x * 4, 1);
    surf2Dwrite(2.0f * n, s, (threadIdx.x + 1) * 4, 1);
}
