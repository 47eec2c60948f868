// Product with float4 loads and stores through reinterpret_cast, A transposed on its way into shared memory.
#define BM 32
#define BN 32
#define BK 8

// warpsmith: grid=2,2 block=64 arg N=64 arg K=24 arg A=float[64][24]=random arg B=float[24][64]=random arg C=float[64][64]
// warpsmith: grid=1,3 block=64 arg N=32 arg K=8 arg A=float[96][8]=random arg B=float[8][32]=random arg C=float[96][32]
__global__ void sgemm_vectorised(int N, int K, const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float As[BK][BM];  // transposed: As[k][row]
    __shared__ __align__(16) float Bs[BK][BN];
    const int tid = threadIdx.x;
    const int cRow = blockIdx.y * BM, cCol = blockIdx.x * BN;
    const int aRow = tid / (BK / 4), aCol = (tid % (BK / 4)) * 4;
    const int bRow = tid / (BN / 4), bCol = (tid % (BN / 4)) * 4;
    const int tRow = (tid / 8) * 4, tCol = (tid % 8) * 4;

    float4 acc[4];
    for (int i = 0; i < 4; i++) acc[i] = make_float4(0.f, 0.f, 0.f, 0.f);

    for (int k0 = 0; k0 < K; k0 += BK) {
        float4 a = reinterpret_cast<const float4 *>(&A[(cRow + aRow) * K + k0 + aCol])[0];
        As[aCol + 0][aRow] = a.x;
        As[aCol + 1][aRow] = a.y;
        As[aCol + 2][aRow] = a.z;
        As[aCol + 3][aRow] = a.w;
        *reinterpret_cast<float4 *>(&Bs[bRow][bCol]) =
            *reinterpret_cast<const float4 *>(&B[(k0 + bRow) * N + cCol + bCol]);
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            const float4 av = *reinterpret_cast<float4 *>(&As[k][tRow]);
            const float4 bv = *reinterpret_cast<float4 *>(&Bs[k][tCol]);
            const float m[4] = {av.x, av.y, av.z, av.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                acc[i].x += m[i] * bv.x;
                acc[i].y += m[i] * bv.y;
                acc[i].z += m[i] * bv.z;
                acc[i].w += m[i] * bv.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        *reinterpret_cast<float4 *>(&C[(cRow + tRow + i) * N + cCol + tCol]) = acc[i];
}
