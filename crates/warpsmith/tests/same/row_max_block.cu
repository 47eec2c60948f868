// same-as: references.c:row_max
__global__ void row_max_block(int rows, int cols, const int *x, int *most) {
    __shared__ int best;
    int row = blockIdx.x;
    if (threadIdx.x == 0) best = x[row * cols];
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) atomicMax(&best, x[row * cols + c]);
    __syncthreads();
    if (threadIdx.x == 0) most[row] = best;
}
void run(int rows, int cols, const int *x, int *most) { row_max_block<<<rows, 96>>>(rows, cols, x, most); }
// fault: c < cols; c += => c < cols - 1; c +=
// fault: atomicMax(&best => atomicMin(&best
// fault: int c = threadIdx.x; => int c = threadIdx.x + 2;
// fault: __syncthreads();\n    if => if
// fault: best = x[row * cols]; => best = 90;
// fault: atomicMax(&best, x[row * cols + c]); => if (x[row * cols + c] > best) best = x[row * cols + c];
