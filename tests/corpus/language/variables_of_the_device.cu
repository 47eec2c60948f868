// Tables in constant memory, constants of the file, counters, arrays of two extents, a managed variable.
__constant__ float filter[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
__device__ const int dx[4] = {1, -1, 0, 0};
__device__ int counter = 0;
__device__ float rows[64][4];
__managed__ int seen;

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void variables(float *x)
{
    const int offset[3] = {-1, 0, 1};
    float s = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) s += filter[i][j] * offset[j] + dx[j] * (i + 1);
    atomicAdd(&counter, 1);
    rows[threadIdx.x][1] = s;
    x[threadIdx.x] = rows[threadIdx.x][1] + filter[0][0];
    __assert(x[threadIdx.x] == 1.0f);
    if (threadIdx.x == 0) seen = 1;
}
