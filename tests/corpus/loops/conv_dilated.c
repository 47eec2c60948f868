void dilated(int B, int C, int O, int T, int dil, const float x[B][C][T], const float w[O][C][2], const float b[O], float y[B][O][T])
{
  #pragma omp parallel for collapse(3)
  for (int n = 0; n < B; n++)
    for (int o = 0; o < O; o++)
      for (int t = 0; t < T; t++) {
        float s = b[o];
        for (int c = 0; c < C; c++) {
          s += w[o][c][1] * x[n][c][t];
          if (t >= dil) s += w[o][c][0] * x[n][c][t - dil];
        }
        y[n][o][t] = s > 0 ? s : 0;
      }
}
