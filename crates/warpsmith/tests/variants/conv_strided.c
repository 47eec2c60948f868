// warpsmith: size h=512 w=512
// expect: bind y, x
void conv_strided(int h, int w, const float image[2 * h + 3][2 * w + 3], const float filter[5][5], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < 5; dy++)
                for (int dx = 0; dx < 5; dx++)
                    sum += filter[dy][dx] * image[2 * y + dy][2 * x + dx];
            out[y][x] = sum;
        }
}
