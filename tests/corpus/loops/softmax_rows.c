#include <math.h>
#include <float.h>

static void softmax(float *x, int size)
{
    float max_val = x[0];
    for (int i = 1; i < size; i++) {
        if (x[i] > max_val) {
            max_val = x[i];
        }
    }
    float sum = 0.0f;
    for (int i = 0; i < size; i++) {
        x[i] = expf(x[i] - max_val);
        sum += x[i];
    }
    for (int i = 0; i < size; i++) {
        x[i] /= sum;
    }
}

void softmax_batch(float *logits, int batch, int classes, float temperature)
{
    int b;
#pragma omp parallel for
    for (b = 0; b < batch; b++) {
        float *row = &logits[b * classes];
        for (int i = 0; i < classes; i++) row[i] /= temperature;
        softmax(row, classes);
    }
}
