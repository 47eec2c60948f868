#include <float.h>
void forward_maxpool(const float *input, float *output, int *indexes, int batch, int c, int h, int w, int size,
                     int stride, int padding)
{
    int b, i, j, k, m, n;
    int w_offset = -padding / 2;
    int h_offset = -padding / 2;
    int oh = (h + padding - size) / stride + 1;
    int ow = (w + padding - size) / stride + 1;

#pragma omp parallel for private(k, i, j, n, m)
    for (b = 0; b < batch; ++b) {
        for (k = 0; k < c; ++k) {
            for (i = 0; i < oh; ++i) {
                for (j = 0; j < ow; ++j) {
                    int out_index = j + ow * (i + oh * (k + c * b));
                    float max = -FLT_MAX;
                    int max_i = -1;
                    for (n = 0; n < size; ++n) {
                        for (m = 0; m < size; ++m) {
                            int cur_h = h_offset + i * stride + n;
                            int cur_w = w_offset + j * stride + m;
                            int index = cur_w + w * (cur_h + h * (k + b * c));
                            int valid = (cur_h >= 0 && cur_h < h && cur_w >= 0 && cur_w < w);
                            float val = (valid != 0) ? input[index] : -FLT_MAX;
                            max_i = (val > max) ? index : max_i;
                            max = (val > max) ? val : max;
                        }
                    }
                    output[out_index] = max;
                    indexes[out_index] = max_i;
                }
            }
        }
    }
}
