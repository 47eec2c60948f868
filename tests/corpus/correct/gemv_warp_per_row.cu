// Matrix-vector product, one warp a row: whole warps leave early, the others shuffle with a full mask.
// warpsmith: grid=4 block=32,4 arg rows=16 arg cols=64 arg A=float[16][64]=random arg x=float[64]=random arg y=float[16]
// warpsmith: grid=4 block=32,3 arg rows=10 arg cols=45 arg A=float[10][45]=random arg x=float[45]=random arg y=float[10]
__global__ void gemv(const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;

    const float *a = A + (size_t)row * cols;
    float sum = 0.f;
    for (int c = threadIdx.x; c < cols; c += warpSize) sum += a[c] * __ldg(x + c);
    sum += __shfl_down_sync(0xffffffff, sum, 16);
    sum += __shfl_down_sync(0xffffffff, sum, 8);
    sum += __shfl_down_sync(0xffffffff, sum, 4);
    sum += __shfl_down_sync(0xffffffff, sum, 2);
    sum += __shfl_down_sync(0xffffffff, sum, 1);
    if (threadIdx.x == 0) y[row] = sum;
}
