// Addresses in shared memory of other blocks as numbers of 32 bits (PTX, mapa)
// warpsmith: grid=2 block=32 arg x=float[64]
__cluster_dims__(2, 1, 1) __global__ void f(float *x)
{
    __shared__ float s[32];
    s[threadIdx.x] = 0;
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(s)), "r"(1));
    x[blockIdx.x * 32 + threadIdx.x] = there;
}
