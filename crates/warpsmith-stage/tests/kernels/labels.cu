// two arrays of different types, radius 2, halo (b)
constexpr int BW = 16, BH = 16;
constexpr int R = 2;
__global__ void bilateral(const float *img, const int *label, float *out, int W, int H)
{
    __shared__ float si[(BH + 2 * R) * (BW + 2 * R)];
    __shared__ int sl[BH + 2 * R][BW + 2 * R];
    const int P = BW + 2 * R;
    int gx = blockIdx.x * BW + threadIdx.x, gy = blockIdx.y * BH + threadIdx.y;
    int lx = threadIdx.x + R, ly = threadIdx.y + R;
    int g = gy * W + gx;
    bool inside = gx < W && gy < H;
    if (inside) {
        si[ly * P + lx] = img[g];
        sl[ly][lx] = label[g];
        __insert();
    }
    __syncthreads();
    if (gx >= R && gy >= R && gx < W - R && gy < H - R) {
        int me = __opt__(sl[ly][lx], label[g]);
        float a = 0;
        if (__opt__(sl[ly][lx - 2], label[g - 2]) == me) a += __opt__(si[ly * P + lx - 2], img[g - 2]);
        if (__opt__(sl[ly][lx + 2], label[g + 2]) == me) a += __opt__(si[ly * P + lx + 2], img[g + 2]);
        if (__opt__(sl[ly - 2][lx], label[g - 2 * W]) == me) a += __opt__(si[(ly - 2) * P + lx], img[g - 2 * W]);
        if (__opt__(sl[ly + 2][lx], label[g + 2 * W]) == me) a += __opt__(si[(ly + 2) * P + lx], img[g + 2 * W]);
        out[g] = a;
    }
}
