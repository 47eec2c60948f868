// same-as: references.cu:bias_relu
// V elements a thread.
template <int V>
__global__ void bias_relu_template(int rows, int cols, const float *bias, float *x) {
    int c = (blockIdx.x * blockDim.x + threadIdx.x) * V, r = blockIdx.y;
    #pragma unroll
    for (int k = 0; k < V; k++)
        if (c + k < cols) {
            float v = x[(size_t)r * cols + c + k] + bias[c + k];
            x[(size_t)r * cols + c + k] = fmaxf(v, 0.1f * v);
        }
}
void bias_relu(int rows, int cols, const float *bias, float *x) {
    bias_relu_template<4><<<dim3((cols + 255) / 256, rows), 64>>>(rows, cols, bias, x);
}
// right: bias_relu_template<4><<<dim3((cols + 255) / 256, rows), 64>>> => bias_relu_template<2><<<dim3((cols + 63) / 64, rows), 32>>>
// right: fmaxf(v, 0.1f * v) => v < 0.0f ? 0.1f * v : v
// fault: bias_relu_template<4> => bias_relu_template<3>
// fault: bias_relu_template<4> => bias_relu_template<2>
// fault: fmaxf(v, 0.1f * v) => fmaxf(v, 0.0f)
// fault: bias[c + k]; => bias[c];
// fault: if (c + k < cols) => if (c < cols)
// fault: (cols + 255) / 256 => cols / 256 + 1 - (cols % 256 == 1)
// fault: r * cols + c + k] + => c * rows + r + k] +
// fault: fmaxf(v, 0.1f * v) => fmaxf(v, 0.1f * fabsf(v))
// fault: fmaxf(v, 0.1f * v) => fmaxf(v, 0.1001f * v)
// fault: k < V; k++ => k < V - 1; k++
// fault: bias[c + k]; => bias[r];
