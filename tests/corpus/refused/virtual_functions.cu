// Virtual functions
struct Shape {
    __device__ virtual int area() const { return 0; }
};
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    Shape s;
    x[threadIdx.x] = s.area();
}
