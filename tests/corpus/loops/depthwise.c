#define OFF4(n, c, y, x, C, H, W) ((((n) * (C) + (c)) * (H) + (y)) * (W) + (x))

void depthwise3x3(const float *in, const float *k, float *out, int N, int C, int H, int W)
{
#pragma omp parallel for
    for (int nc = 0; nc < N * C; ++nc) {
        int n = nc / C, c = nc % C;
        const float *kk = k + c * 9;
        for (int y = 0; y < H; ++y) {
            for (int x = 0; x < W; ++x) {
                float v = 0.0f;
                for (int dy = 0; dy < 3; ++dy)
                    for (int dx = 0; dx < 3; ++dx) {
                        int yy = y + dy - 1, xx = x + dx - 1;
                        if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                            v += in[OFF4(n, c, yy, xx, C, H, W)] * kk[dy * 3 + dx];
                    }
                out[OFF4(n, c, y, x, C, H, W)] = v > 0.0f ? v : 0.0f;
            }
        }
    }
}
