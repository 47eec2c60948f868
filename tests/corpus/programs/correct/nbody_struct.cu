// n bodies: structures of vectors, a time step of two kernels, a shared tile, positions in float4.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SOFTENING 1e-9f
#define BLOCK_SIZE 64

typedef struct { float4 *pos, *vel; } BodySystem;

void randomizeBodies(float *data, int n)
{
    for (int i = 0; i < n; i++) data[i] = 2.0f * (rand() / (float)RAND_MAX) - 1.0f;
}

__global__ void bodyForce(float4 *p, float4 *v, float dt, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float Fx = 0.0f, Fy = 0.0f, Fz = 0.0f;
    float4 own = i < n ? p[i] : make_float4(0, 0, 0, 0);
    for (int tile = 0; tile < gridDim.x; tile++) {
        __shared__ float3 spos[BLOCK_SIZE];
        int k = tile * blockDim.x + threadIdx.x;
        float4 tpos = k < n ? p[k] : make_float4(1e9f, 1e9f, 1e9f, 0);
        spos[threadIdx.x] = make_float3(tpos.x, tpos.y, tpos.z);
        __syncthreads();
        for (int j = 0; j < BLOCK_SIZE; j++) {
            float dx = spos[j].x - own.x, dy = spos[j].y - own.y, dz = spos[j].z - own.z;
            float distSqr = dx * dx + dy * dy + dz * dz + SOFTENING;
            float invDist = rsqrtf(distSqr);
            float invDist3 = invDist * invDist * invDist;
            Fx += dx * invDist3; Fy += dy * invDist3; Fz += dz * invDist3;
        }
        __syncthreads();
    }
    if (i < n) {
        v[i].x += dt * Fx; v[i].y += dt * Fy; v[i].z += dt * Fz;
    }
}

__global__ void integrate(float4 *p, const float4 *v, float dt, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    p[i].x += v[i].x * dt;
    p[i].y += v[i].y * dt;
    p[i].z += v[i].z * dt;
}

int main(const int argc, const char **argv)
{
    int nBodies = 300;
    if (argc > 1) nBodies = atoi(argv[1]);
    const float dt = 0.01f;
    const int nIters = 3;
    int bytes = 2 * nBodies * sizeof(float4);
    float *buf = (float *)malloc(bytes);
    BodySystem p = { (float4 *)buf, ((float4 *)buf) + nBodies };
    randomizeBodies(buf, 8 * nBodies);
    float *d_buf;
    cudaMalloc(&d_buf, bytes);
    BodySystem d_p = { (float4 *)d_buf, ((float4 *)d_buf) + nBodies };
    int nBlocks = (nBodies + BLOCK_SIZE - 1) / BLOCK_SIZE;
    double totalTime = 0.0;
    cudaMemcpy(d_buf, buf, bytes, cudaMemcpyHostToDevice);
    for (int iter = 1; iter <= nIters; iter++) {
        bodyForce<<<nBlocks, BLOCK_SIZE>>>(d_p.pos, d_p.vel, dt, nBodies);
        integrate<<<nBlocks, BLOCK_SIZE>>>(d_p.pos, d_p.vel, dt, nBodies);
        if (iter > 1) totalTime += 1.0;
    }
    cudaMemcpy(buf, d_buf, bytes, cudaMemcpyDeviceToHost);
    double avgTime = totalTime / (double)(nIters - 1);
    printf("%d Bodies: average %0.3f Billion Interactions / second, %f\n", nBodies,
           1e-9 * nBodies * nBodies / avgTime, p.pos[0].x);
    free(buf);
    cudaFree(d_buf);
}
