// Fragments of tensor cores
#include <mma.h>
using namespace nvcuda;
// warpsmith: grid=1 block=32 arg x=float[256]
__global__ void f(float *x)
{
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::store_matrix_sync(x, c, 16, wmma::mem_row_major);
}
