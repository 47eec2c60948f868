/* Causal mixing of values by weights that another pass has made: heads lie side by side in every token's row. */
void mix_values(int tokens, int width, int heads, const float *weights, const float *values, float *mixed)
{
    int head_width = width / heads;
    for (int token = 0; token < tokens; token++) {
        for (int head = 0; head < heads; head++) {
            float *out = mixed + token * width + head * head_width;
            const float *row = weights + (head * tokens + token) * tokens;
            for (int c = 0; c < head_width; c++) {
                float sum = 0.0f;
                for (int seen = 0; seen <= token; seen++)
                    sum += row[seen] * values[seen * width + head * head_width + c];
                out[c] = sum;
            }
        }
    }
}
