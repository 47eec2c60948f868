// Square shared tiles with zero-filled guards: two barriers an iteration, both of them needed.
#define TILE_WIDTH 8

// warpsmith: grid=3,3 block=8,8 arg M=24 arg N=24 arg K=24 arg A=float[24][24]=random arg B=float[24][24]=random arg C=float[24][24]
// warpsmith: grid=2,3 block=8,8 arg M=19 arg N=10 arg K=29 arg A=float[19][29]=random arg B=float[29][10]=random arg C=float[19][10]
__global__ void matrixMultiplyShared(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
    __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    float Pvalue = 0;

    for (int m = 0; m < (K - 1) / TILE_WIDTH + 1; ++m) {
        if (Row < M && m * TILE_WIDTH + tx < K)
            ds_A[ty][tx] = A[Row * K + m * TILE_WIDTH + tx];
        else
            ds_A[ty][tx] = 0;
        if (Col < N && m * TILE_WIDTH + ty < K)
            ds_B[ty][tx] = B[(m * TILE_WIDTH + ty) * N + Col];
        else
            ds_B[ty][tx] = 0;

        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += ds_A[ty][k] * ds_B[k][tx];
        __syncthreads();
    }
    if (Row < M && Col < N)
        C[Row * N + Col] = Pvalue;
}
