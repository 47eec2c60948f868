// same-as: references.c:components --max-total-steps 30000000
// Labels spread until a launch changes none; the host asks after each.
__global__ void start(int n, int *label) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) label[i] = i;
}
__global__ void spread(int h, int w, const int *joined, int *label, int *changed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= h * w) return;
    if (i % w + 1 < w && (joined[i] & 1)) {
        int a = atomicAdd(&label[i], 0), b = atomicAdd(&label[i + 1], 0);
        if (a != b) {
            atomicMin(&label[i], b);
            atomicMin(&label[i + 1], a);
            atomicExch(changed, 1);
        }
    }
    if (i / w + 1 < h && (joined[i] & 2)) {
        int a = atomicAdd(&label[i], 0), b = atomicAdd(&label[i + w], 0);
        if (a != b) {
            atomicMin(&label[i], b);
            atomicMin(&label[i + w], a);
            atomicExch(changed, 1);
        }
    }
}
void components_gpu(int h, int w, const int *joined, int *label) {
    int *changed, seen = 1, n = h * w;
    cudaMalloc(&changed, sizeof(int));
    start<<<(n + 63) / 64, 64>>>(n, label);
    while (seen) {
        cudaMemset(changed, 0, sizeof(int));
        spread<<<(n + 63) / 64, 64>>>(h, w, joined, label, changed);
        cudaMemcpy(&seen, changed, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaFree(changed);
}
// fault: while (seen) { => for (int k = 0; k < 2; k++) {
// fault: i % w + 1 < w => i % w + 2 < w
// fault: joined[i] & 2 => joined[i] & 1
// fault: label[i] = i; => label[i] = i + 1;
// fault: atomicMin(&label[i + 1], a); => label[i + 1] = min(a, b);
// right: while (seen) { => while (seen != 0) {
