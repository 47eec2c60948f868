// warpsmith: size h=2048 w=2048
// expect: bind y, x
void blur_rows(int h, int w, const float in[h][w + 8], const float weight[9], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int k = 0; k < 9; k++)
                sum += weight[k] * in[y][x + k];
            out[y][x] = sum;
        }
}
