// Direct 2-D convolution with an 11 x 11 filter, the image with its border given.
// warpsmith: size h=4096 w=4096

void conv11(int h, int w, const float image[h + 10][w + 10], const float filter[11][11],
            float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < 11; dy++) {
                for (int dx = 0; dx < 11; dx++) {
                    sum += filter[dy][dx] * image[y + dy][x + dx];
                }
            }
            out[y][x] = sum;
        }
    }
}
