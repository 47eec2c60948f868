// same-as: references.c:sort_rows
// A block a row of up to 64 in shared memory; longer ones by ranks.
__global__ void sort_bitonic(int rows, int cols, const int *x, int *y) {
    __shared__ int s[64];
    int r = blockIdx.x, t = threadIdx.x;
    const int *own = x + r * cols;
    if (cols > 64) {
        for (int c = t; c < cols; c += 64) {
            int rank = 0, v = own[c];
            for (int d = 0; d < cols; d++) rank += own[d] < v || (own[d] == v && d < c);
            y[r * cols + rank] = v;
        }
        return;
    }
    s[t] = t < cols ? own[t] : 0x7fffffff;
    __syncthreads();
    for (int size = 2; size <= 64; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            int u = t ^ d;
            if (u > t) {
                bool up = (t & size) == 0;
                int a = s[t], b = s[u];
                if ((a > b) == up) {
                    s[t] = b;
                    s[u] = a;
                }
            }
            __syncthreads();
        }
    if (t < cols) y[r * cols + t] = s[t];
}
void sort_rows(int rows, int cols, const int *x, int *y) { sort_bitonic<<<rows, 64>>>(rows, cols, x, y); }
// right: (a > b) == up => (a >= b) == up
// right: own[d] < v || (own[d] == v && d < c) => own[d] < v + (d < c)
// fault: : 0x7fffffff => : 100
// fault: : 0x7fffffff => : 0
// fault: size <= 64 => size < 64
// fault: d > 0; d /= 2 => d > 1; d /= 2
// fault: (t & size) == 0 => (t & d) == 0
// fault: __syncthreads();\n        } => }
// fault: (own[d] == v && d < c) => own[d] == v
// fault: && d < c => && d <= c
// fault: cols > 64 => cols > 65
// fault: if (u > t) => if (u < t)
// fault: : 0x7fffffff => : 0x7fff
