// Bit-fields
struct Flags {
    unsigned a : 3;
};
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    Flags s;
    s.a = 1;
    x[threadIdx.x] = s.a;
}
