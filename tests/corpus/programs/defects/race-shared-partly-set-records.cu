// Defect: no barrier at the end of the loop over neighbours, whose pieces take turns in one shared array. The records that say
// how many neighbours there are have room that the host leaves as it is.
// expect: race-shared line=24 array=piece
// expect: status=1
#include <cstdio>
#include <cstdlib>

struct Box {
    int count;
    int neighbours[6];
    float weight;
};

const int WIDTH = 64;

__global__ void gather(const Box *boxes, const float *values, float *out)
{
    __shared__ float piece[WIDTH];
    const Box *box = &boxes[blockIdx.x];
    float sum = 0.0f;
    for (int k = 0; k <= box->count; k++) {
        const int from = k == 0 ? blockIdx.x : box->neighbours[k - 1];
        const float value = values[from * WIDTH + threadIdx.x];
        piece[threadIdx.x] = value;
        __syncthreads();
        for (int j = 0; j < WIDTH; j++) sum += piece[j] * box->weight;
    }
    out[blockIdx.x * WIDTH + threadIdx.x] = sum;
}

int main()
{
    const int n = 4;
    Box *boxes = (Box *)malloc(n * sizeof(Box));
    float *values = (float *)malloc(n * WIDTH * sizeof(float));
    for (int i = 0; i < n; i++) {
        boxes[i].count = 0;
        boxes[i].weight = 0.5f;
        if (i > 0) boxes[i].neighbours[boxes[i].count++] = i - 1;
        if (i + 1 < n) boxes[i].neighbours[boxes[i].count++] = i + 1;
    }
    for (int i = 0; i < n * WIDTH; i++) values[i] = i % 7;
    Box *d_boxes;
    float *d_values, *d_out;
    cudaMalloc(&d_boxes, n * sizeof(Box));
    cudaMalloc(&d_values, n * WIDTH * sizeof(float));
    cudaMalloc(&d_out, n * WIDTH * sizeof(float));
    cudaMemcpy(d_boxes, boxes, n * sizeof(Box), cudaMemcpyHostToDevice);
    cudaMemcpy(d_values, values, n * WIDTH * sizeof(float), cudaMemcpyHostToDevice);
    gather<<<n, WIDTH>>>(d_boxes, d_values, d_out);
    cudaMemcpy(values, d_out, n * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", values[0]);
    cudaFree(d_boxes);
    cudaFree(d_values);
    cudaFree(d_out);
    free(boxes);
    free(values);
    return 0;
}
