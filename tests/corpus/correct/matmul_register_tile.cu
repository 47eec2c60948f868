// Register-tiled product, 4x4 outputs a thread: local arrays, cooperative flat loads, unrolled outer products.
template <int BM, int BN, int BK, int TM, int TN>
struct Shape {
    static constexpr int threads = (BM / TM) * (BN / TN);
};

// warpsmith: kernel='sgemm_2d<32,32,8,4,4>' grid=2,2 block=64 arg M=64 arg N=64 arg K=32 arg A=float[64][32]=random arg B=float[32][64]=random arg C=float[64][64]
// warpsmith: kernel='sgemm_2d<16,32,4,2,4>' grid=2,3 block=64 arg M=35 arg N=41 arg K=18 arg A=float[35][18]=random arg B=float[18][41]=random arg C=float[35][41]
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
sgemm_2d(int M, int N, int K, const float *A, const float *B, float *C)
{
    constexpr int THREADS = Shape<BM, BN, BK, TM, TN>::threads;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);

    float acc[TM * TN] = {0.0f};
    float regM[TM];
    float regN[TN];

    for (int bk = 0; bk < K; bk += BK) {
        for (int e = threadIdx.x; e < BM * BK; e += THREADS) {
            const int r = row0 + e / BK, k = bk + e % BK;
            As[e] = (r < M && k < K) ? A[r * K + k] : 0.0f;
        }
        for (int e = threadIdx.x; e < BK * BN; e += THREADS) {
            const int k = bk + e / BN, c = col0 + e % BN;
            Bs[e] = (k < K && c < N) ? B[k * N + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + k];
            for (int i = 0; i < TN; ++i) regN[i] = Bs[k * BN + threadCol * TN + i];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i * TN + j] += regM[i] * regN[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + threadRow * TM + i, c = col0 + threadCol * TN + j;
            if (r < M && c < N) C[r * N + c] = acc[i * TN + j];
        }
    }
}
