void conv3(int N, int C, int K, int H, int W, const float x[N][C][H][W], const float w[K][C][3][3], float y[N][K][H][W])
{
  #pragma omp parallel for collapse(4)
  for (int n = 0; n < N; n++)
    for (int k = 0; k < K; k++)
      for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
          float s = 0;
          for (int c = 0; c < C; c++)
            for (int r = 0; r < 3; r++)
              for (int q = 0; q < 3; q++) {
                int a = i + r - 1, b = j + q - 1;
                if (a >= 0 && a < H && b >= 0 && b < W) s += x[n][c][a][b] * w[k][c][r][q];
              }
          y[n][k][i][j] = s > 0 ? s : 0;
        }
}
