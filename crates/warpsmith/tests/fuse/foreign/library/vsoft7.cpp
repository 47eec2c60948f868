#include <cmath>
void vsoft7_cpu(const float *in, float *out) {
    float most = in[0], sum = 0.0f;
    for (int i = 1; i < 7; i++) if (in[i] > most) most = in[i];
    for (int i = 0; i < 7; i++) { out[i] = expf(in[i] - most); sum += out[i]; }
    for (int i = 0; i < 7; i++) out[i] /= sum;
}
