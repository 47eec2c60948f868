// warpsmith: size h=1024 w=1024
// expect: bind y, x, bind v, u
void blur_both(int h, int w, const float in[h + 8][w + 8], const float weight[9], float rows[h + 8][w], float out[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h + 8; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int k = 0; k < 9; k++)
                sum += weight[k] * in[y][x + k];
            rows[y][x] = sum;
        }
    #pragma omp parallel for collapse(2)
    for (int v = 0; v < h; v++)
        for (int u = 0; u < w; u++) {
            float sum = 0.0f;
            for (int k = 0; k < 9; k++)
                sum += weight[k] * rows[v + k][u];
            out[v][u] = sum;
        }
}
