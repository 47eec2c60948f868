// Defect: block copies from and to null, and a fill of it.
// expect: invalid-pointer line=8
// expect: invalid-pointer line=13
// expect: invalid-pointer line=18
// expect: status=1
#include <cstring>
// warpsmith: grid=1 block=2 arg x=int[8]
__global__ void from(int *x) { memcpy(&x[4 * threadIdx.x], 0, 4 * sizeof(int)); }

// A pointer to what is copied is not looked at before.
// warpsmith: grid=1 block=2 arg x=int[8]
__global__ void to(int *x) {
    memcpy(0, &x[4 * threadIdx.x], 4 * sizeof(int));
}

// warpsmith: grid=1 block=2 arg x=int[8]
__global__ void fill(int *x) {
    if (x[threadIdx.x] != 3) memset(0, 0, sizeof(int));
}
