void conv_nhwc(int N, int H, int W, int C, int K, const float *x, const float *w, float *y)
{
  #pragma omp parallel for collapse(3)
  for (int n = 0; n < N; n++)
    for (int i = 0; i < H; i++)
      for (int j = 0; j < W; j++)
        for (int k = 0; k < K; k++) {
          float acc = 0;
          for (int r = -1; r <= 1; r++)
            for (int s = -1; s <= 1; s++) {
              if (i + r >= 0 && i + r < H && j + s >= 0 && j + s < W)
              for (int c = 0; c < C; c++)
                acc += x[((n * H + i + r) * W + j + s) * C + c] * w[(((r + 1) * 3 + s + 1) * C + c) * K + k];
            }
          y[((n * H + i) * W + j) * K + k] = acc;
        }
}
