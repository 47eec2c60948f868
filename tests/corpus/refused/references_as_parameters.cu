// References as parameters of kernels
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int &x) { x = 1; }
