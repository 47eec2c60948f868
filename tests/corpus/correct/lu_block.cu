// LU factorisation of one block in shared memory: rows and columns shrink each step, two barriers order pivot and update.
#define N 16

// warpsmith: grid=3 block=16,16 arg a=float[3][16][16]=random
__global__ void lu_inplace(float *a)
{
    __shared__ float m[N][N + 1];
    const int c = threadIdx.x, r = threadIdx.y;
    float *mine = a + blockIdx.x * N * N;
    m[r][c] = mine[r * N + c] + (r == c ? 32.0f : 0.0f);  // diagonally dominant, no pivoting
    __syncthreads();

    for (int k = 0; k < N - 1; ++k) {
        if (r > k && c == k) m[r][k] /= m[k][k];
        __syncthreads();
        if (r > k && c > k) m[r][c] -= m[r][k] * m[k][c];
        __syncthreads();
    }
    mine[r * N + c] = m[r][c];
}
