// `new (place) T[n]` beside the forms for one object: constructors run where the memory is, in shared and in global memory, and a
// member that a constructor leaves alone is not stored.
#include <assert.h>
#include <new>
#include <stdio.h>
struct Pair {
    int first, unset;
    __device__ Pair() : first(7) {}
    __device__ explicit Pair(int v) : first(v) {}
};
// warpsmith: grid=1 block=32 arg out=int[4]=uninit arg room=float[1]=uninit
__global__ void placed(int *out, float *room)
{
    __shared__ __align__(8) char bytes[4 * sizeof(Pair)];
    __shared__ int numbers[8];
    int device = -1;
    if (cudaGetDevice(&device)) printf("no device\n");
    assert(device == 0);
    if (threadIdx.x == 0) {
        Pair *pairs = new (bytes) Pair[4];
        int *zeros = new (numbers) int[8]();
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += pairs[i].first + zeros[2 * i];
        assert(sum == 28);
        Pair *again = new (pairs + 1) Pair(5);
        out[0] = sum + again->first;
        out[1] = *new (room) float(2.5f) * 2;
        Pair *made = new Pair(3);
        out[2] = made->first;
        delete made;
        out[3] = pairs[1].first;
    }
    __syncthreads();
    assert(numbers[threadIdx.x % 8] == 0);
    if (threadIdx.x == 0) assert(out[0] == 33 && out[1] == 5 && out[2] == 3 && out[3] == 5);
}
