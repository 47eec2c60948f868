// `__isShared` and `__isGlobal` of pointers of unknown origin
// warpsmith: grid=1 block=32 arg n=1 arg x=int[32]
__global__ void f(int n, int *x) {
    __shared__ int s[32];
    int *p = n > 0 ? s : x;
    if (__isShared(p)) p[threadIdx.x] = 1;
}
