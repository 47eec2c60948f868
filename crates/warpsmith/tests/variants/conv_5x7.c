// warpsmith: size h=1024 w=1024
// expect: constant filter, register_tile y, unroll dx, stream dy along y
void conv_5x7(int h, int w, const float image[h + 5 - 1][w + 7 - 1], const float filter[5][7], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 7; dx++)
                    sum += filter[dy][dx] * image[y + dy][x + dx];
            out[y][x] = sum;
        }
}
