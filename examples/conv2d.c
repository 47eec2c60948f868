// Direct 2-D convolution, full output: the image lies in the middle of a zeroed border of
// filter size - 1 on each side.
// warpsmith: size h=1024 w=1024 fh=5 fw=5

void conv2d(int h, int w, int fh, int fw, const float image[h + 2 * (fh - 1)][w + 2 * (fw - 1)],
            const float filter[fh][fw], float out[h + fh - 1][w + fw - 1])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h + fh - 1; y++) {
        for (int x = 0; x < w + fw - 1; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < fh; dy++) {
                for (int dx = 0; dx < fw; dx++) {
                    sum += filter[fh - 1 - dy][fw - 1 - dx] * image[y + dy][x + dx];
                }
            }
            out[y][x] = sum;
        }
    }
}
