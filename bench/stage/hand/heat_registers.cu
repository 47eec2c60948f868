// By hand, without shared memory: four points along x a thread, neighbours by shuffle, planes in turn through registers.
// Sizes are multiples of 128 and of the planes that a block goes through.
#define BX 32
#define BY 4
#define POINTS_X 4
#define POINTS_Z 16

__global__ void heat(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ce, float cn,
                     float cs, float cb, float ct) {
    const int i = 4 * (blockIdx.x * BX + threadIdx.x), j = blockIdx.y * BY + threadIdx.y;
    const int first = blockIdx.z * POINTS_Z;
    const size_t plane = (size_t)nx * ny;
    size_t c = i + (size_t)nx * j + plane * first;
    const unsigned all = 0xffffffffu;
    auto at = [&](size_t p) { return *reinterpret_cast<const float4 *>(in + p); };
    float4 below = at(first == 0 ? c : c - plane), here = at(c);
    for (int k = first; k < first + POINTS_Z; k++, c += plane) {
        const float4 above = at(k == nz - 1 ? c : c + plane);
        const float4 n = at(j == 0 ? c : c - nx), s = at(j == ny - 1 ? c : c + nx);
        float w = __shfl_up_sync(all, here.w, 1), e = __shfl_down_sync(all, here.x, 1);
        if (threadIdx.x == 0) w = in[i == 0 ? c : c - 1];
        if (threadIdx.x == 31) e = in[i + 4 == nx ? c + 3 : c + 4];
        float4 r;
        r.x = cc * here.x + cw * w + ce * here.y + cn * n.x + cs * s.x + cb * below.x + ct * above.x;
        r.y = cc * here.y + cw * here.x + ce * here.z + cn * n.y + cs * s.y + cb * below.y + ct * above.y;
        r.z = cc * here.z + cw * here.y + ce * here.w + cn * n.z + cs * s.z + cb * below.z + ct * above.z;
        r.w = cc * here.w + cw * here.z + ce * e + cn * n.w + cs * s.w + cb * below.w + ct * above.w;
        *reinterpret_cast<float4 *>(out + c) = r;
        below = here;
        here = above;
    }
}
