// Single-precision product C = A·B with the parameters that CLBlast tunes.
//
// A is stored k-major (a[k][m]), B as well (b[k][n]), and C as c[n][m]: both factors can be read as vectors along the
// dimension that a tile spans.
//
//   MWG, NWG, KWG   tile of a block, and how much of k is worked on between two barriers
//   MDIMC, NDIMC    threads of a block while computing
//   MDIMA, NDIMB    the same threads, arranged for staging: so many along m (A) and along n (B)
//   KWI             unrolling along k
//   VWM, VWN        width of vectors along m and n
//   SA, SB          whether A and B are staged in shared memory
//
// The sizes are multiples of the tiles.

#if VWM == 1
typedef float VecM;
#define UNPACK_M(to, v) (to)[0] = (v);
#define PACK_M(v, from) (v) = (from)[0];
#elif VWM == 2
typedef float2 VecM;
#define UNPACK_M(to, v) (to)[0] = (v).x; (to)[1] = (v).y;
#define PACK_M(v, from) (v).x = (from)[0]; (v).y = (from)[1];
#else
typedef float4 VecM;
#define UNPACK_M(to, v) (to)[0] = (v).x; (to)[1] = (v).y; (to)[2] = (v).z; (to)[3] = (v).w;
#define PACK_M(v, from) (v).x = (from)[0]; (v).y = (from)[1]; (v).z = (from)[2]; (v).w = (from)[3];
#endif

#if VWN == 1
typedef float VecN;
#define UNPACK_N(to, v) (to)[0] = (v);
#elif VWN == 2
typedef float2 VecN;
#define UNPACK_N(to, v) (to)[0] = (v).x; (to)[1] = (v).y;
#else
typedef float4 VecN;
#define UNPACK_N(to, v) (to)[0] = (v).x; (to)[1] = (v).y; (to)[2] = (v).z; (to)[3] = (v).w;
#endif

// Elements of a thread, and rows of k that all threads stage at once.
#define MWI (MWG / MDIMC)
#define NWI (NWG / NDIMC)
#define KDIMA (MDIMC * NDIMC / MDIMA)
#define KDIMB (MDIMC * NDIMC / NDIMB)

extern "C" __global__ void __launch_bounds__(MDIMC * NDIMC)
gemm(VecM *__restrict__ c, const VecM *__restrict__ a, const VecN *__restrict__ b, int size_m, int size_n, int size_k)
{
    const int pitch_a = size_m / VWM;
    const int pitch_b = size_n / VWN;
    const int first_m = blockIdx.x * (MWG / VWM);
    const int first_n = blockIdx.y * (NWG / VWN);
#if SA == 1 || SB == 1
    const int thread = threadIdx.y * MDIMC + threadIdx.x;
#endif
#if SA == 1
    __shared__ VecM tile_a[KWG][MWG / VWM];
#endif
#if SB == 1
    __shared__ VecN tile_b[KWG][NWG / VWN];
#endif

    float sum[NWI][MWI];
#pragma unroll
    for (int n = 0; n < NWI; n++) {
#pragma unroll
        for (int m = 0; m < MWI; m++) {
            sum[n][m] = 0.0f;
        }
    }

#pragma unroll 1
    for (int k0 = 0; k0 < size_k; k0 += KWG) {
#if SA == 1
        const int row_of_a = thread / MDIMA;
        const int column_of_a = thread % MDIMA;
#pragma unroll
        for (int k = 0; k < KWG; k += KDIMA) {
#pragma unroll
            for (int m = 0; m < MWG / VWM; m += MDIMA) {
                tile_a[k + row_of_a][m + column_of_a] = a[(k0 + k + row_of_a) * pitch_a + first_m + m + column_of_a];
            }
        }
#endif
#if SB == 1
        const int row_of_b = thread / NDIMB;
        const int column_of_b = thread % NDIMB;
#pragma unroll
        for (int k = 0; k < KWG; k += KDIMB) {
#pragma unroll
            for (int n = 0; n < NWG / VWN; n += NDIMB) {
                tile_b[k + row_of_b][n + column_of_b] = b[(k0 + k + row_of_b) * pitch_b + first_n + n + column_of_b];
            }
        }
#endif
#if SA == 1 || SB == 1
        __syncthreads();
#endif

#pragma unroll 1
        for (int k1 = 0; k1 < KWG; k1 += KWI) {
#pragma unroll
            for (int k = 0; k < KWI; k++) {
                float am[MWI], bn[NWI];
                // Neighbours in a warp read neighbouring vectors: the vectors of a thread are MDIMC apart.
#pragma unroll
                for (int m = 0; m < MWI / VWM; m++) {
                    const int at = threadIdx.x + m * MDIMC;
#if SA == 1
                    const VecM v = tile_a[k1 + k][at];
#else
                    const VecM v = a[(k0 + k1 + k) * pitch_a + first_m + at];
#endif
                    UNPACK_M(am + m * VWM, v)
                }
#pragma unroll
                for (int n = 0; n < NWI / VWN; n++) {
                    const int at = threadIdx.y + n * NDIMC;
#if SB == 1
                    const VecN v = tile_b[k1 + k][at];
#else
                    const VecN v = b[(k0 + k1 + k) * pitch_b + first_n + at];
#endif
                    UNPACK_N(bn + n * VWN, v)
                }
#pragma unroll
                for (int n = 0; n < NWI; n++) {
#pragma unroll
                    for (int m = 0; m < MWI; m++) {
                        sum[n][m] += am[m] * bn[n];
                    }
                }
            }
        }
#if SA == 1 || SB == 1
        __syncthreads();
#endif
    }

#pragma unroll
    for (int n = 0; n < NWI; n++) {
        const int column = (first_n + threadIdx.y + n / VWN * NDIMC) * VWN + n % VWN;
#pragma unroll
        for (int m = 0; m < MWI / VWM; m++) {
            VecM v;
            PACK_M(v, sum[n] + m * VWM)
            c[column * pitch_a + first_m + threadIdx.x + m * MDIMC] = v;
        }
    }
}
