// Direct 2-D convolution of one channel with an F x F filter: the image carries a border of F - 1 in all, so that
// every output has its F * F neighbours. The filter is applied as it stands, as neural networks do.
// warpsmith: size h=1024 w=1024

#ifndef F
#define F 5
#endif

void conv(int h, int w, const float image[h + F - 1][w + F - 1], const float filter[F][F],
          float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int dy = 0; dy < F; dy++) {
                for (int dx = 0; dx < F; dx++) {
                    sum += filter[dy][dx] * image[y + dy][x + dx];
                }
            }
            out[y][x] = sum;
        }
    }
}
