// warpsmith: size h=1024 w=1024
// expect: constant filter, unroll dx, stream dy along y
void conv_dilated(int h, int w, const float image[h + 8][w + 8], const float filter[5][5], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 5; dx++)
                    sum += filter[dy][dx] * image[y + 2 * dy][x + 2 * dx];
            out[y][x] = sum;
        }
}
