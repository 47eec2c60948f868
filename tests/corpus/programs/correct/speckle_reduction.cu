// Speckle reduction: index arrays of neighbours, a reduction that knows the last power of two, type alias fp.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define fp float
#define NUMBER_THREADS 128

__global__ void prepare(long d_Ne, fp *d_I, fp *d_sums, fp *d_sums2)
{
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int ei = (bx * NUMBER_THREADS) + tx;
    if (ei < d_Ne) {
        d_sums[ei] = d_I[ei];
        d_sums2[ei] = d_I[ei] * d_I[ei];
    }
}

__global__ void reduce(long d_Ne, int d_no, int d_mul, fp *d_sums, fp *d_sums2)
{
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int ei = (bx * NUMBER_THREADS) + tx;
    int nf = NUMBER_THREADS - (gridDim.x * NUMBER_THREADS - d_no);
    int df = 0;
    __shared__ fp d_psum[NUMBER_THREADS];
    __shared__ fp d_psum2[NUMBER_THREADS];
    int i;
    if (ei < d_no) {
        d_psum[tx] = d_sums[ei * d_mul];
        d_psum2[tx] = d_sums2[ei * d_mul];
    }
    __syncthreads();
    if (nf == NUMBER_THREADS) {
        for (i = 2; i <= NUMBER_THREADS; i = 2 * i) {
            if ((tx + 1) % i == 0) {
                d_psum[tx] = d_psum[tx] + d_psum[tx - i / 2];
                d_psum2[tx] = d_psum2[tx] + d_psum2[tx - i / 2];
            }
            __syncthreads();
        }
        if (tx == (NUMBER_THREADS - 1)) {
            d_sums[bx * d_mul * NUMBER_THREADS] = d_psum[tx];
            d_sums2[bx * d_mul * NUMBER_THREADS] = d_psum2[tx];
        }
    } else {
        if (bx != (gridDim.x - 1)) {
            for (i = 2; i <= NUMBER_THREADS; i = 2 * i) {
                if ((tx + 1) % i == 0) {
                    d_psum[tx] = d_psum[tx] + d_psum[tx - i / 2];
                    d_psum2[tx] = d_psum2[tx] + d_psum2[tx - i / 2];
                }
                __syncthreads();
            }
            if (tx == (NUMBER_THREADS - 1)) {
                d_sums[bx * d_mul * NUMBER_THREADS] = d_psum[tx];
                d_sums2[bx * d_mul * NUMBER_THREADS] = d_psum2[tx];
            }
        } else {
            for (i = 2; i <= NUMBER_THREADS; i = 2 * i)
                if (nf >= i) df = i;
            for (i = 2; i <= df; i = 2 * i) {
                if ((tx + 1) % i == 0 && tx < df) {
                    d_psum[tx] = d_psum[tx] + d_psum[tx - i / 2];
                    d_psum2[tx] = d_psum2[tx] + d_psum2[tx - i / 2];
                }
                __syncthreads();
            }
            if (tx == (df - 1)) {
                for (i = (bx * NUMBER_THREADS) + df; i < (bx * NUMBER_THREADS) + nf; i++) {
                    d_psum[tx] = d_psum[tx] + d_sums[i];
                    d_psum2[tx] = d_psum2[tx] + d_sums2[i];
                }
                d_sums[bx * d_mul * NUMBER_THREADS] = d_psum[tx];
                d_sums2[bx * d_mul * NUMBER_THREADS] = d_psum2[tx];
            }
        }
    }
}

__global__ void srad(fp d_lambda, int d_Nr, int d_Nc, long d_Ne, int *d_iN, int *d_iS, int *d_jE, int *d_jW, fp *d_dN,
                     fp *d_dS, fp *d_dE, fp *d_dW, fp d_q0sqr, fp *d_c, fp *d_I)
{
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int ei = bx * NUMBER_THREADS + tx;
    int row, col;
    fp d_Jc, d_G2, d_L, d_num, d_den, d_qsqr;
    row = (ei + 1) % d_Nr - 1;
    col = (ei + 1) / d_Nr + 1 - 1;
    if ((ei + 1) % d_Nr == 0) {
        row = d_Nr - 1;
        col = col - 1;
    }
    if (ei < d_Ne) {
        d_Jc = d_I[ei];
        fp n = d_I[d_iN[row] + d_Nr * col] - d_Jc;
        fp s = d_I[d_iS[row] + d_Nr * col] - d_Jc;
        fp w = d_I[row + d_Nr * d_jW[col]] - d_Jc;
        fp e = d_I[row + d_Nr * d_jE[col]] - d_Jc;
        d_G2 = (n * n + s * s + w * w + e * e) / (d_Jc * d_Jc);
        d_L = (n + s + w + e) / d_Jc;
        d_num = (0.5 * d_G2) - ((1.0 / 16.0) * (d_L * d_L));
        d_den = 1 + (0.25 * d_L);
        d_qsqr = d_num / (d_den * d_den);
        d_den = (d_qsqr - d_q0sqr) / (d_q0sqr * (1 + d_q0sqr));
        fp c = 1.0 / (1.0 + d_den);
        if (c < 0)
            c = 0;
        else if (c > 1)
            c = 1;
        d_dN[ei] = n;
        d_dS[ei] = s;
        d_dW[ei] = w;
        d_dE[ei] = e;
        d_c[ei] = c;
    }
}

int main(int argc, char *argv[])
{
    int Nr = 20, Nc = 23;
    long Ne = Nr * Nc;
    int mem_size = sizeof(fp) * Ne;
    fp *image = (fp *)malloc(mem_size);
    for (long i = 0; i < Ne; i++) image[i] = exp((fp)(i % 255) / 255);
    int *iN = (int *)malloc(sizeof(int) * Nr), *iS = (int *)malloc(sizeof(int) * Nr);
    int *jW = (int *)malloc(sizeof(int) * Nc), *jE = (int *)malloc(sizeof(int) * Nc);
    for (int i = 0; i < Nr; i++) {
        iN[i] = i - 1;
        iS[i] = i + 1;
    }
    for (int j = 0; j < Nc; j++) {
        jW[j] = j - 1;
        jE[j] = j + 1;
    }
    iN[0] = 0;
    iS[Nr - 1] = Nr - 1;
    jW[0] = 0;
    jE[Nc - 1] = Nc - 1;
    fp *d_I, *d_sums, *d_sums2, *d_dN, *d_dS, *d_dE, *d_dW, *d_c;
    int *d_iN, *d_iS, *d_jE, *d_jW;
    cudaMalloc((void **)&d_I, mem_size);
    cudaMalloc((void **)&d_sums, mem_size);
    cudaMalloc((void **)&d_sums2, mem_size);
    cudaMalloc((void **)&d_dN, mem_size);
    cudaMalloc((void **)&d_dS, mem_size);
    cudaMalloc((void **)&d_dE, mem_size);
    cudaMalloc((void **)&d_dW, mem_size);
    cudaMalloc((void **)&d_c, mem_size);
    cudaMalloc((void **)&d_iN, sizeof(int) * Nr);
    cudaMalloc((void **)&d_iS, sizeof(int) * Nr);
    cudaMalloc((void **)&d_jE, sizeof(int) * Nc);
    cudaMalloc((void **)&d_jW, sizeof(int) * Nc);
    cudaMemcpy(d_iN, iN, sizeof(int) * Nr, cudaMemcpyHostToDevice);
    cudaMemcpy(d_iS, iS, sizeof(int) * Nr, cudaMemcpyHostToDevice);
    cudaMemcpy(d_jE, jE, sizeof(int) * Nc, cudaMemcpyHostToDevice);
    cudaMemcpy(d_jW, jW, sizeof(int) * Nc, cudaMemcpyHostToDevice);
    cudaMemcpy(d_I, image, mem_size, cudaMemcpyHostToDevice);
    dim3 threads, blocks;
    threads.x = NUMBER_THREADS;
    threads.y = 1;
    int blocks_x = Ne / (int)threads.x;
    if (Ne % (int)threads.x != 0) blocks_x = blocks_x + 1;
    blocks.x = blocks_x;
    blocks.y = 1;
    for (int iter = 0; iter < 2; iter++) {
        prepare<<<blocks, threads>>>(Ne, d_I, d_sums, d_sums2);
        dim3 blocks2;
        blocks2.x = blocks.x;
        blocks2.y = blocks.y;
        int no = Ne, mul = 1;
        while (blocks2.x != 0) {
            reduce<<<blocks2, threads>>>(Ne, no, mul, d_sums, d_sums2);
            no = blocks2.x;
            if (blocks2.x == 1) {
                blocks2.x = 0;
            } else {
                mul = mul * NUMBER_THREADS;
                int bx = blocks2.x / threads.x;
                if (blocks2.x % threads.x != 0) bx = bx + 1;
                blocks2.x = bx;
                blocks2.y = 1;
            }
        }
        fp total, total2;
        cudaMemcpy(&total, d_sums, sizeof(fp), cudaMemcpyDeviceToHost);
        cudaMemcpy(&total2, d_sums2, sizeof(fp), cudaMemcpyDeviceToHost);
        fp mean = total / Ne, var = total2 / Ne - mean * mean;
        fp q0sqr = var / (mean * mean);
        srad<<<blocks, threads>>>(0.5f, Nr, Nc, Ne, d_iN, d_iS, d_jE, d_jW, d_dN, d_dS, d_dE, d_dW, q0sqr, d_c, d_I);
    }
    cudaMemcpy(image, d_c, mem_size, cudaMemcpyDeviceToHost);
    free(image);
    cudaFree(d_I);
}
