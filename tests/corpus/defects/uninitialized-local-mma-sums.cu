// Defect: the sums of a matrix product begin without a value
// expect: uninitialized-local line=14
// expect: status=1
#include <cstdint>
// warpsmith: grid=1 block=32 arg a=uint[128] arg b=uint[64] arg c=float[128]=zeros
__global__ void product(const unsigned *a, const unsigned *b, float *c)
{
    int t = threadIdx.x;
    float d[4];
    for (int step = 0; step < 1; step++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[t]), "r"(a[t + 32]), "r"(a[t + 64]), "r"(a[t + 96]), "r"(b[t]), "r"(b[t + 32]));
    for (int i = 0; i < 4; i++) c[4 * t + i] = d[i];
}
