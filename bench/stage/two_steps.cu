// Two steps of the seven-point heat stencil in one launch, by hand: what a generator of such kernels is measured against.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 bench/stage/two_steps.cu -o two_steps && ./two_steps [nx ny nz]
//
// Prints the times of a copy, of two launches of one step, and of this launch, and compares their results bit for bit. The borders
// of the input stay as they are in both steps. Needs nx % 4 == 0, arrays that begin at multiples of 16 bytes and do not overlap, nx * ny < 2^32.
// Threads along x are even in number: shared addresses then equal global ones modulo 32 bytes, else L2 reads twice as much.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

__device__ __forceinline__ void copy16(float *s, const float *g) {
    unsigned u = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(u), "l"(g) : "memory");
}
__device__ __forceinline__ float4 point(float k, float4 m, float w, float e, float4 s, float4 n, float4 up, float4 down) {
    float4 o;
    o.x = fmaf(k, fmaf(-6.f, m.x, ((((m.y + w) + s.x) + n.x) + up.x) + down.x), m.x);
    o.y = fmaf(k, fmaf(-6.f, m.y, ((((m.z + m.x) + s.y) + n.y) + up.y) + down.y), m.y);
    o.z = fmaf(k, fmaf(-6.f, m.z, ((((m.w + m.y) + s.z) + n.z) + up.z) + down.z), m.z);
    o.w = fmaf(k, fmaf(-6.f, m.w, ((((e + m.z) + s.w) + n.w) + up.w) + down.w), m.w);
    return o;
}
template <int TX, int TY, int R, int P> struct Two {
    static constexpr int W = 4 * TX, H = TY * R;   // tile with its halo: W floats by H rows
    static constexpr int PL = W * H;               // one plane of it
    static constexpr int D = P + 2;                // planes of a in the ring: z-1 (centre), z (newest), P under way
    static constexpr int BYTES = PL * (D + 2) * 4; // two planes of b besides
};
template <int TX, int TY, int R, int P>
__global__ __launch_bounds__(TX *TY, 1) void heat_two(const float *__restrict__ a, float *__restrict__ c, int nx, int ny, int nz, float k, int tx, int pz)
{
    using S = Two<TX, TY, R, P>;
    constexpr int W = S::W, H = S::H, PL = S::PL, D = S::D, NT = TX * TY;
    extern __shared__ float4 shared[];             // must be aligned to the cache line as the tile's rows are in a (mod 32 bytes)
    float *ra = (float *)shared, *rb = ra + PL * D;
    const int zs = blockIdx.z * pz, ze = min(zs + pz, nz);          // planes of c that this block writes
    const int tid = threadIdx.x, ix = tid % TX, iy = tid / TX;
    const int xb = blockIdx.x * tx, yb = blockIdx.y * (H - 4);      // first element of the tile
    const int xlo = blockIdx.x ? xb + 4 : 0, xhi = blockIdx.x + 1 == gridDim.x ? nx : xb + 4 + tx;
    const int ylo = blockIdx.y ? yb + 2 : 0, yhi = blockIdx.y + 1 == gridDim.y ? ny : yb + 2 + H - 4;
    const int x = xb + ix * 4, y0 = yb + iy * R;                    // the thread computes x..x+3 of rows y0..y0+R-1
    const bool west = x <= 0, east = x + 4 >= nx;
    const unsigned plane = (unsigned)nx * ny, so = (unsigned)y0 * nx + x;
    bool store[R], border[R];
    unsigned from[R];                                               // the thread loads vector ix of rows iy, iy+TY, ...
#pragma unroll
    for (int r = 0; r < R; r++) {
        int y = y0 + r;
        store[r] = x >= xlo && x < xhi && y >= ylo && y < yhi;
        border[r] = y <= 0 || y >= ny - 1;
        from[r] = (unsigned)min(yb + iy + r * TY, ny - 1) * nx + max(0, min(x, nx - 4));
    }
    const bool loads = x < min(nx, xhi + 4);
    const int t0 = max(zs - 2, 0), t1 = ze + 1, last = min(ze + 1, nz - 1);
    auto issue = [&](int t, int slot) {
        if (t <= last && loads) {
            const float *az = a + (size_t)t * plane;
#pragma unroll
            for (int r = 0; r < R; r++) copy16(ra + slot * PL + (tid + r * NT) * 4, az + from[r]);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");        // an empty group counts, too
    };
#pragma unroll
    for (int p = 0; p < P; p++) issue(t0 + p, p);
    const int own = iy * R * W + ix * 4;
    const int north = max(iy * R - 1, 0) * W + ix * 4, south = min(iy * R + R, H - 1) * W + ix * 4;
    const int toW = own - (ix > 0), toE = own + (ix < TX - 1 ? 4 : 3); // clamped at the tile: only values that nobody uses differ
    const float4 zero = make_float4(0, 0, 0, 0);
    float4 a1[R], a2[R], b1[R], b2[R];             // own column: a[t-1], a[t-2], b[t-2], b[t-3]
#pragma unroll
    for (int r = 0; r < R; r++) a1[r] = a2[r] = b1[r] = b2[r] = zero;
    int s0 = 0, s1 = D - 1, si = P % D, w = 0;     // slots of a[t], a[t-1], a[t+P]; slot of b[t-1]
#pragma unroll 1
    for (int t = t0; t <= t1; t++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(P - 1) : "memory"); // own part of a[t] is there
        __syncthreads();                           // all of a[t], all of b[t-2]; nobody reads a[t-2], b[t-3] any more
        issue(t + P, si);
        float4 nb[R], na[R];
        {                                          // b[t-1] from a[t-2], a[t-1], a[t]
            const float *p0 = ra + s0 * PL, *p1 = ra + s1 * PL;
            const bool edge = t - 1 <= 0 || t - 1 >= nz - 1;
            float4 n = *(const float4 *)(p1 + north), s = *(const float4 *)(p1 + south);
#pragma unroll
            for (int r = 0; r < R; r++) {
                float4 m = a1[r];
                na[r] = *(const float4 *)(p0 + own + r * W);
                float4 o = point(k, m, p1[toW + r * W], p1[toE + r * W], r < R - 1 ? a1[r < R - 1 ? r + 1 : r] : s, r > 0 ? a1[r > 0 ? r - 1 : 0] : n, na[r], a2[r]);
                if (edge || border[r]) o = m;
                if (west) o.x = m.x;
                if (east) o.w = m.w;
                nb[r] = o;
                *(float4 *)(rb + w * PL + own + r * W) = o;
            }
        }
        const int z = t - 2;
        if (z >= zs) {                             // c[t-2] from b[t-3], b[t-2], b[t-1]
            const bool edge = z <= 0 || z >= nz - 1;
            const float *q1 = rb + (w ^ 1) * PL;
            float4 n = *(const float4 *)(q1 + north), s = *(const float4 *)(q1 + south);
            float *cz = c + (size_t)z * plane + so;
#pragma unroll
            for (int r = 0; r < R; r++) {
                float4 m = b1[r];
                float4 o = point(k, m, q1[toW + r * W], q1[toE + r * W], r < R - 1 ? b1[r < R - 1 ? r + 1 : r] : s, r > 0 ? b1[r > 0 ? r - 1 : 0] : n, nb[r], b2[r]);
                if (edge || border[r]) o = m;
                if (west) o.x = m.x;
                if (east) o.w = m.w;
                if (store[r]) *(float4 *)(cz + (unsigned)(r * nx)) = o;
            }
        }
#pragma unroll
        for (int r = 0; r < R; r++) { b2[r] = b1[r]; b1[r] = nb[r]; a2[r] = a1[r]; a1[r] = na[r]; }
        w ^= 1; s1 = s0;
        s0 = s0 + 1 == D ? 0 : s0 + 1;
        si = si + 1 == D ? 0 : si + 1;
    }
}
template <int TX, int TY, int R, int P>
void launch(const float *a, float *c, int nx, int ny, int nz, float k, int processors)
{
    using S = Two<TX, TY, R, P>;
    int tiles = 1, tx = S::W;
    if (nx > S::W) {                               // tiles along x as equal as can be, starts at whole sectors or lines where they fit
        int n = nx - 8, full = S::W - 8, q;
        tiles = (n + full - 1) / full;
        q = tx = (n + tiles - 1) / tiles;
        for (int u : {4, 8, 32}) if ((q + u - 1) / u * u <= full) tx = (q + u - 1) / u * u;
        tiles = (n + tx - 1) / tx;
    }
    int rows = std::max(1, (ny - 4 + S::H - 5) / (S::H - 4)), best = 1;
    long least = 1L << 60;
    for (int p = 1; p <= 24 && p <= nz; p++) {     // pieces along z: fewest waves * (planes + 4)
        int pz = (nz + p - 1) / p;
        long blocks = (long)tiles * rows * ((nz + pz - 1) / pz), cost = (blocks + processors - 1) / processors * (pz + 4);
        if (cost < least) least = cost, best = p;
    }
    int pz = (nz + best - 1) / best;
    cudaFuncSetAttribute(heat_two<TX, TY, R, P>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
    heat_two<TX, TY, R, P><<<dim3(tiles, rows, (nz + pz - 1) / pz), TX * TY, S::BYTES>>>(a, c, nx, ny, nz, k, tx, pz);
}

__global__ void one_step(const float *a, float *b, int nx, int ny, int nz, float k)
{
    const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const size_t plane = (size_t)nx * ny;
    const int first = blockIdx.z * 8, end = min(first + 8, nz);
    auto at = [&](size_t p) { return *(const float4 *)(a + p); };
    size_t c = first * plane + (size_t)y * nx + x;
    float4 below = at(first == 0 ? c : c - plane), here = at(c);
    for (int z = first; z < end; z++, c += plane) {
        const float4 above = at(z == nz - 1 ? c : c + plane);
        float4 o = here;
        if (z > 0 && z < nz - 1 && y > 0 && y < ny - 1) {
            o = point(k, here, x == 0 ? 0.f : a[c - 1], x + 4 == nx ? 0.f : a[c + 4], at(c + nx), at(c - nx), above, below);
            if (x == 0) o.x = here.x;
            if (x + 4 == nx) o.w = here.w;
        }
        *(float4 *)(b + c) = o;
        below = here;
        here = above;
    }
}

// The median time of some launches, in microseconds.
template <typename Launch> float timed(Launch launch)
{
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    std::vector<float> all;
    for (int run = 0; run < 25; run++) {
        cudaEventRecord(start);
        launch();
        cudaEventRecord(stop);
        cudaEventSynchronize(stop);
        float ms = 0;
        cudaEventElapsedTime(&ms, start, stop);
        if (run >= 4) all.push_back(1e3f * ms);
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

template <int TX, int TY> bool compared(const float *a, float *c, const std::vector<float> &right, int nx, int ny, int nz, int processors)
{
    std::vector<float> result(right.size());
    cudaMemset(c, 0xff, result.size() * sizeof(float));
    const float us = timed([&] { launch<TX, TY, 4, 2>(a, c, nx, ny, nz, 0.1f, processors); });
    cudaMemcpy(result.data(), c, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    size_t wrong = 0;
    for (size_t i = 0; i < result.size(); i++) wrong += !(result[i] == right[i]);
    printf("two steps in one launch, %d x %d threads  %8.1f us  %zu wrong\n", TX, TY, us, wrong);
    return wrong == 0 && cudaGetLastError() == cudaSuccess;
}

int main(int argc, char **argv)
{
    const int nx = argc > 3 ? atoi(argv[1]) : 512, ny = argc > 3 ? atoi(argv[2]) : 512, nz = argc > 3 ? atoi(argv[3]) : 512;
    const size_t count = (size_t)nx * ny * nz, bytes = count * sizeof(float);
    std::vector<float> values(count), right(count);
    for (size_t i = 0; i < count; i++) values[i] = (float)((i * 2654435761u >> 8) % 1000) * 1e-3f;
    float *a, *b, *c;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMemcpy(a, values.data(), bytes, cudaMemcpyHostToDevice);
    int processors = 1;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    const dim3 block(32, 8), grid((nx / 4 + 31) / 32, (ny + 7) / 8, (nz + 7) / 8);
    printf("copy                                   %8.1f us\n",
           timed([&] { cudaMemcpyAsync(c, a, bytes, cudaMemcpyDeviceToDevice); }));
    printf("two launches of one step               %8.1f us\n", timed([&] {
               one_step<<<grid, block>>>(a, b, nx, ny, nz, 0.1f);
               one_step<<<grid, block>>>(b, c, nx, ny, nz, 0.1f);
           }));
    cudaMemcpy(right.data(), c, bytes, cudaMemcpyDeviceToHost);
    const bool fine = compared<128, 4>(a, c, right, nx, ny, nz, processors) & compared<66, 7>(a, c, right, nx, ny, nz, processors) &
                      compared<34, 14>(a, c, right, nx, ny, nz, processors);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
