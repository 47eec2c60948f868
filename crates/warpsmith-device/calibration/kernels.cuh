// Parametrised kernels for the calibration of the device model: matrix product, 11x11 convolution
// and seven-point stencil in the shapes that schedules produce. measure.py instantiates them.
#include <cuda_runtime.h>

constexpr int GEMM_N = 2048, CONV_N = 4096, CONV_F = 11, STENCIL_N = 512;
__constant__ float conv_filter[CONV_F * CONV_F];

// MODE 0 reads global memory; 1 stages both tiles; 2 pads the rows of A's tile; 3 transposes and pads it.
template <int BX, int BY, int TM, int TN, int BK, int MODE, int VEC>
__global__ void __launch_bounds__(BX *BY) gemm(const float *__restrict__ A, const float *__restrict__ B, float *C) {
    constexpr int BM = BY * TM, BN = BX * TN, T = BX * BY, n = GEMM_N;
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * BX + tx;
    const int i0 = blockIdx.y * BM, j0 = blockIdx.x * BN;
    float acc[TM][TN] = {}, a[TM], b[TN];
    auto col = [&](int j) { return (j / VEC) * BX * VEC + tx * VEC + j % VEC; };
    auto multiply = [&] {
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
    };
    auto read_b = [&](const float *row) {
#pragma unroll
        for (int j = 0; j < TN; j += VEC) {
            if constexpr (VEC == 4) *(float4 *)&b[j] = *(const float4 *)&row[col(j)];
            else b[j] = row[col(j)];
        }
    };
    if constexpr (MODE == 0) {
#pragma unroll BK
        for (int k = 0; k < n; ++k) {
#pragma unroll
            for (int i = 0; i < TM; ++i) a[i] = A[(i0 + ty + i * BY) * n + k];
            read_b(B + k * n + j0);
            multiply();
        }
    } else {
        constexpr int LD = MODE == 3 ? BM + 1 : BK + (MODE == 2);
        __shared__ float As[MODE == 3 ? BK * LD : BM * LD];
        __shared__ __align__(16) float Bs[BK * BN];
        for (int k0 = 0; k0 < n; k0 += BK) {
            for (int e = t; e < BM * BK; e += T) {
                const int r = e / BK, c = e % BK;
                As[MODE == 3 ? c * LD + r : r * LD + c] = A[(i0 + r) * n + k0 + c];
            }
            for (int e = t; e < BK * BN; e += T) Bs[e] = B[(k0 + e / BN) * n + j0 + e % BN];
            __syncthreads();
#pragma unroll
            for (int kk = 0; kk < BK; ++kk) {
#pragma unroll
                for (int i = 0; i < TM; ++i) a[i] = As[MODE == 3 ? kk * LD + ty + i * BY : (ty + i * BY) * LD + kk];
                read_b(Bs + kk * BN);
                multiply();
            }
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) C[(i0 + ty + i * BY) * n + j0 + col(j)] = acc[i][j];
}

// MODE 0 reads global memory, columns of a thread strided by the block; 1 the same from a staged tile;
// 2 adjacent columns, an input row in registers. UNROLL: filter rows unrolled, input rows read once.
template <int BX, int BY, int TX, int TY, int MODE, int UNROLL>
__global__ void __launch_bounds__(BX *BY) conv(const float *__restrict__ in, float *out) {
    constexpr int F = CONV_F, W = CONV_N + F - 1, TW = BX * TX + F - 1, TH = BY * TY + F - 1;
    __shared__ float tile[MODE ? TH * TW : 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x0 = blockIdx.x * BX * TX, y0 = blockIdx.y * BY * TY;
    if constexpr (MODE != 0) {
        for (int e = ty * BX + tx; e < TH * TW; e += BX * BY) {
            const int r = e / TW, c = e % TW;
            tile[e] = y0 + r < W && x0 + c < W ? in[(y0 + r) * W + x0 + c] : 0.0f;
        }
        __syncthreads();
    }
    const float *base = MODE ? tile : in + (size_t)y0 * W + x0;
    constexpr int LD = MODE ? TW : W, STEP = MODE == 2 ? 1 : BX;
    const int left = MODE == 2 ? tx * TX : tx;
    float acc[TY][TX] = {};
    if constexpr (UNROLL) {
#pragma unroll (TY + F - 1)
        for (int r = 0; r < TY + F - 1; ++r) {
            const float *row = base + (ty * TY + r) * LD + left;
#pragma unroll (TX)
            for (int j = 0; j < TX; ++j)
#pragma unroll (F)
                for (int f = 0; f < F; ++f) {
                    const float v = row[j * STEP + f];
#pragma unroll (TY)
                    for (int i = 0; i < TY; ++i)
                        if (r - i >= 0 && r - i < F) acc[i][j] += v * conv_filter[(r - i) * F + f];
                }
        }
    } else {
#pragma unroll 1
        for (int g = 0; g < F; ++g)
#pragma unroll
            for (int i = 0; i < TY; ++i) {
                const float *row = base + (ty * TY + i + g) * LD + left;
#pragma unroll
                for (int j = 0; j < TX; ++j)
#pragma unroll
                    for (int f = 0; f < F; ++f) acc[i][j] += row[j * STEP + f] * conv_filter[g * F + f];
            }
    }
#pragma unroll
    for (int i = 0; i < TY; ++i)
#pragma unroll
        for (int j = 0; j < TX; ++j) out[(size_t)(y0 + ty * TY + i) * CONV_N + x0 + left + j * STEP] = acc[i][j];
}

// A thread computes TZ planes. MODE 0 reads all seven points; 1 keeps the column in registers;
// 2 also stages the plane. VEC: adjacent points a thread, as float4 when 4.
template <int BX, int BY, int TZ, int MODE, int VEC>
__global__ void __launch_bounds__(BX *BY) stencil(const float *__restrict__ in, float *out) {
    constexpr int n = STENCIL_N, TW = BX * VEC;
    __shared__ __align__(16) float tile[MODE == 2 ? (BY + 2) * (TW + 8) : 4];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = (blockIdx.x * BX + tx) * VEC, y = blockIdx.y * BY + ty, z0 = blockIdx.z * TZ;
    auto at = [&](int dz, int dy, int dx) { return in[((size_t)min(max(dz, 0), n - 1) * n + min(max(dy, 0), n - 1)) * n + min(max(dx, 0), n - 1)]; };
    auto chunk = [&](float *v, int z, int y) {
        const float *p = in + ((size_t)min(max(z, 0), n - 1) * n + min(max(y, 0), n - 1)) * n + x;
        if constexpr (VEC == 4) *(float4 *)v = *(const float4 *)p;
        else v[0] = p[0];
    };
    float below[VEC], here[VEC], above[VEC], north[VEC], south[VEC], result[VEC];
    if (MODE) { chunk(below, z0 - 1, y); chunk(here, z0, y); }
#pragma unroll 1
    for (int z = z0; z < z0 + TZ; ++z) {
        if (!MODE) { chunk(below, z - 1, y); chunk(here, z, y); }
        chunk(above, z + 1, y);
        float west, east;
        if constexpr (MODE == 2) {
            constexpr int LD = TW + 8;
            float *mine = tile + (ty + 1) * LD + 4 + tx * VEC;
            for (int v = 0; v < VEC; ++v) mine[v] = here[v];
            if (ty == 0) { chunk(north, z, y - 1); for (int v = 0; v < VEC; ++v) mine[v - LD] = north[v]; }
            if (ty == BY - 1) { chunk(south, z, y + 1); for (int v = 0; v < VEC; ++v) mine[v + LD] = south[v]; }
            if (tx == 0) mine[-1] = at(z, y, x - 1);
            if (tx == BX - 1) mine[VEC] = at(z, y, x + VEC);
            __syncthreads();
            for (int v = 0; v < VEC; ++v) { north[v] = mine[v - LD]; south[v] = mine[v + LD]; }
            west = mine[-1]; east = mine[VEC];
        } else {
            chunk(north, z, y - 1); chunk(south, z, y + 1);
            west = at(z, y, x - 1); east = at(z, y, x + VEC);
        }
#pragma unroll
        for (int v = 0; v < VEC; ++v)
            result[v] = 0.4f * here[v] + 0.1f * ((v ? here[v - 1] : west) + (v + 1 < VEC ? here[v + 1] : east) + north[v] + south[v] + below[v] + above[v]);
        float *p = out + ((size_t)z * n + y) * n + x;
        if constexpr (VEC == 4) *(float4 *)p = *(float4 *)result;
        else p[0] = result[0];
        if (MODE) for (int v = 0; v < VEC; ++v) { below[v] = here[v]; here[v] = above[v]; }
        if (MODE == 2) __syncthreads();
    }
}
