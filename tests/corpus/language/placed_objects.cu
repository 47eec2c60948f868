// Objects made at a place, by kernels and by the host.
#include <new>
struct Cell {
    int value, weight;
    __host__ __device__ Cell(int v, int w) : value(v), weight(w) {}
};
__global__ void sum(Cell *cells, int *out)
{
    __shared__ __align__(8) char room[32 * sizeof(Cell)];
    Cell *own = (Cell *)room;
    new (&own[threadIdx.x]) Cell(cells[0].value + threadIdx.x, 2);
    __syncthreads();
    out[threadIdx.x] = own[31 - threadIdx.x].value * own[threadIdx.x].weight;
    __assert(out[threadIdx.x] == 2 * (7 + 31 - (int)threadIdx.x));
}
int main()
{
    Cell *cells;
    int *out;
    cudaMallocManaged(&cells, sizeof(Cell));
    cudaMalloc(&out, 32 * sizeof(int));
    new (cells) Cell(7, 1);
    sum<<<1, 32>>>(cells, out);
    cudaDeviceSynchronize();
}
