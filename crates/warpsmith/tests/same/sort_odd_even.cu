// same-as: references.c:sort_line
// Neighbours are exchanged, even and odd ones in turn.
__global__ void exchange(int n, int first, int *x) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + first;
    if (i + 1 >= n) return;
    int a = x[i], b = x[i + 1];
    if (b < a) {
        x[i] = b;
        x[i + 1] = a;
    }
}
void sort(int n, int *x) {
    int blocks = (n / 2 + 31) / 32;
    for (int turn = 0; turn < n; turn++)
        if (blocks > 0) exchange<<<blocks, 32>>>(n, turn % 2, x);
}
// fault: turn < n; turn++ => turn < n - 2; turn++
// fault: turn % 2, x => 0, x
// fault: i + 1 >= n => i + 2 >= n
// fault: (n / 2 + 31) / 32 => n / 64 + 0
// fault: b < a => b > a
// fault: turn % 2, x => turn % 3, x
// right: turn < n; turn++ => turn <= n; turn++
