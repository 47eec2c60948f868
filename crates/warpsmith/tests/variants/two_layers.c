// warpsmith: size b=65536 n=256 o=64
// expect: distribute s, stage x at k, stage hidden_left at k#2
// Both layers of a small network for each sample, what is between them in an array of the iteration.
#define H 128
void two_layers(int b, int n, int o, const float x[b][n], const float w[H][n], const float v[o][H],
                float y[b][o])
{
    #pragma omp parallel for
    for (int s = 0; s < b; s++) {
        float hidden[H];
        for (int j = 0; j < H; j++) {
            float t = 0;
            for (int k = 0; k < n; k++)
                t += w[j][k] * x[s][k];
            hidden[j] = t > 0 ? t : 0;
        }
        for (int j = 0; j < o; j++) {
            float t = 0;
            for (int k = 0; k < H; k++)
                t += v[j][k] * hidden[k];
            y[s][j] = t;
        }
    }
}
