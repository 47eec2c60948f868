// Defect: places are drawn without atomics.
// expect: race-global line=11 array=head
// expect: status=1
// warpsmith: grid=2 block=32 arg head=int[2]=zeros arg work=int[64]=iota arg out=int[64]=zeros
__global__ void k(int *head, const int *work, int *out) {
    __shared__ int at;
    for (int turn = 0; turn < 2; turn++) {
        int queue = (blockIdx.x + turn) % 2;
        for (;;) {
            __syncthreads();
            if (threadIdx.x == 0) { at = head[queue]; head[queue] = at + 1; }
            __syncthreads();
            if (at >= 32) break;
            if (threadIdx.x == 0) out[queue * 32 + at] = work[queue * 32 + at] * 2;
        }
    }
}
