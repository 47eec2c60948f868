// warpsmith: size c=8 h=256 w=256
// expect: bind y, x
void conv_channels(int c, int h, int w, const float image[c][h + 2][w + 2], const float filter[c][3][3], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int q = 0; q < c; q++)
                for (int dy = 0; dy < 3; dy++)
                    for (int dx = 0; dx < 3; dx++)
                        sum += filter[q][dy][dx] * image[q][y + dy][x + dx];
            out[y][x] = sum;
        }
}
