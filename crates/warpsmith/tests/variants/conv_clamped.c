// warpsmith: size h=1024 w=1024
// expect: constant filter, unroll dy, unroll dx
void conv_clamped(int h, int w, const float image[h][w], const float filter[5][5], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 5; dx++) {
                    int sy = y + dy - 2, sx = x + dx - 2;
                    sy = sy < 0 ? 0 : sy >= h ? h - 1 : sy;
                    sx = sx < 0 ? 0 : sx >= w ? w - 1 : sx;
                    sum += filter[dy][dx] * image[sy][sx];
                }
            out[y][x] = sum;
        }
}
