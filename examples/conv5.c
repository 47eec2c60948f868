// Direct 2-D convolution with a 5 x 5 filter, full output: the image of h x w lies at (4, 4) in a zeroed
// array of (h + 8) x (w + 8).
// warpsmith: size h=1024 w=1024

void conv5(int h, int w, const float image[h + 8][w + 8], const float filter[5][5],
           float out[h + 4][w + 4])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h + 4; y++) {
        for (int x = 0; x < w + 4; x++) {
            out[y][x] = 0.0f;
            for (int dy = 0; dy < 5; dy++) {
                for (int dx = 0; dx < 5; dx++) {
                    out[y][x] += filter[4 - dy][4 - dx] * image[y + dy][x + dx];
                }
            }
        }
    }
}
