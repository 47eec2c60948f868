// Defect: the recursion ends at one only, and zero goes past it.
// expect: assert-failed line=9
// expect: status=1

// The product of n and all numbers below it in steps of two.
__device__ float steps(int n)
{
    if (n == 1) return 1.0f;
    return n * steps(n - 2);
}

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void k(float *x)
{
    x[threadIdx.x] = steps(2 * threadIdx.x + (threadIdx.x != 7));
}
