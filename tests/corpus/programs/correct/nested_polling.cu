// Loops that wait inside of loops that wait: for each item, for a counter that another block raises, and in a ring of shared memory.
__global__ void a(volatile int *flag, int *out, int n) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) { for (int i = 0; i < n; i++) { out[i] = i; __threadfence(); flag[i] = 1; } }
        else {
            int sum = 0;
            for (int i = 0; i < n; i++) { while (flag[i] == 0) { } __threadfence(); sum += out[i]; }
            out[n + blockIdx.x] = sum;
        }
    }
}
__global__ void b(volatile int *flag, int *out, int n) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 1) { for (int i = 0; i < n; i++) { out[i] = i; __threadfence(); flag[0] = i + 1; } }
        else if (blockIdx.x == 0) {
            int seen = 0;
            while (seen < n) {
                int now;
                while ((now = flag[0]) <= seen) { }
                __threadfence();
                for (; seen < now; seen++) out[n + seen] = out[seen];
            }
        }
    }
}
__global__ void c(int *flag, int *out, int n) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 1) { for (int i = 0; i < n; i++) { out[i] = i; __threadfence(); atomicExch(flag, i + 1); } }
        else if (blockIdx.x == 0) {
            int seen = 0;
            do {
                while (atomicAdd(flag, 0) == seen) { }
                int now = atomicAdd(flag, 0);
                __threadfence();
                do { out[n + seen] = out[seen]; seen++; } while (seen < now);
            } while (seen < n);
        }
    }
}
__global__ void d(int *out, int n) {
    __shared__ volatile int head, tail; __shared__ volatile int ring[4];
    if (threadIdx.x == 0) { head = 0; tail = 0; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < n; i++) {
            while (head - tail >= 4) { } __threadfence_block();
            ring[i % 4] = i; __threadfence_block();
            head = i + 1;
        }
    } else if (threadIdx.x == 32) {
        for (int i = 0; i < n; i++) {
            while (head <= i) { while (head == tail) { } }
            __threadfence_block();
            out[i] = ring[i % 4];
            __threadfence_block();
            tail = i + 1;
        }
    }
}
__global__ void spin(int *lock, int *count) {
    bool done = false;
    while (!done) {
        while (*(volatile int *)lock != 0) { }
        if (atomicCAS(lock, 0, 1) == 0) { __threadfence(); count[0]++; __threadfence(); atomicExch(lock, 0); done = true; }
    }
}
int main()
{
    const int n = 5;
    int *f, *o;
    cudaMalloc(&f, 256);
    cudaMalloc(&o, 256);
    cudaMemset(f, 0, 256);
    cudaMemset(o, 0, 256);
    a<<<3, 32>>>(f, o, n);
    cudaMemset(f, 0, 256);
    b<<<2, 32>>>(f, o, n);
    cudaMemset(f, 0, 256);
    c<<<2, 32>>>(f, o, n);
    d<<<1, 64>>>(o, 20);
    cudaMemset(f, 0, 256);
    spin<<<4, 32>>>(f, o);
    cudaDeviceSynchronize();
}
