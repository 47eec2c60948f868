// A blur along rows that forgets a barrier: `warpsmith check examples/check/blur.cu` names the line, the two threads and the
// element.
//
// warpsmith: grid=4,8 block=64 arg n=256 arg in=float[8][256]=random arg out=float[8][256]
__global__ void blur(int n, const float *in, float *out)
{
    __shared__ float row[66];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *line = in + blockIdx.y * n;

    row[threadIdx.x + 1] = line[i];
    if (threadIdx.x == 0) row[0] = i > 0 ? line[i - 1] : 0.0f;
    if (threadIdx.x == blockDim.x - 1) row[65] = i + 1 < n ? line[i + 1] : 0.0f;
    // here belongs __syncthreads();
    out[blockIdx.y * n + i] = (row[threadIdx.x] + row[threadIdx.x + 1] + row[threadIdx.x + 2]) / 3.0f;
}
