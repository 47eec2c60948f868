// Structures that the host sets in part are copied: what it has set stays, in memory and in constants.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#define PARTICLES 20
typedef struct near_box { int x, y, z; int number; long offset; } near_box;
typedef struct box { int x, y, z; int number; long offset; int count; near_box near[26]; } box;
__constant__ uint64_t table[2][16];
__constant__ box first;
__global__ void forces(const box *boxes, const float *charge, float *force, uint64_t *mixed)
{
    const box &own = boxes[blockIdx.x];
    for (int i = threadIdx.x; i < PARTICLES; i += blockDim.x) {
        float sum = 0;
        for (int k = 0; k <= own.count; k++) {
            long from = k == 0 ? own.offset : own.near[k - 1].offset;
            for (int j = 0; j < PARTICLES; j++) sum += charge[from + j];
        }
        force[own.offset + i] = sum;
    }
    if (threadIdx.x == 0) mixed[blockIdx.x] = table[1][own.number & 15] ^ UINT64_C(0xff51afd7ed558ccd) ^ first.count;
}
int main()
{
    const int side = 2, n = side * side;
    box *boxes = (box *)malloc(n * sizeof(box));
    for (int i = 0; i < n; i++) {
        boxes[i].number = i;
        boxes[i].offset = i * PARTICLES;
        boxes[i].count = 0;
        for (int k = 0; k < n; k++) {
            if (k == i) continue;
            near_box *to = &boxes[i].near[boxes[i].count++];
            to->number = k;
            to->offset = k * PARTICLES;
        }
    }
    float *charge = (float *)malloc(n * PARTICLES * sizeof(float));
    for (int i = 0; i < n * PARTICLES; i++) charge[i] = rand() % 10 / 10.0f;
    uint64_t words[2][16];
    for (int i = 0; i < 16; i++) words[1][i] = INT64_C(1) << (3 * i);
    box *d_boxes;
    float *d_charge, *d_force;
    uint64_t *d_mixed;
    cudaMalloc(&d_boxes, n * sizeof(box));
    cudaMalloc(&d_charge, n * PARTICLES * sizeof(float));
    cudaMalloc(&d_force, n * PARTICLES * sizeof(float));
    cudaMalloc(&d_mixed, n * sizeof(uint64_t));
    cudaMemcpy(d_boxes, boxes, n * sizeof(box), cudaMemcpyHostToDevice);
    cudaMemcpy(d_charge, charge, n * PARTICLES * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(table, words, sizeof(words));
    cudaMemcpyToSymbol(first, &boxes[0], sizeof(box));
    forces<<<n, 32>>>(d_boxes, d_charge, d_force, d_mixed);
    cudaMemcpy(charge, d_force, n * PARTICLES * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", charge[0]);
}
