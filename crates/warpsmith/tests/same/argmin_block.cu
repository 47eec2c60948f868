// same-as: references.c:argmin
// A block a row; the first of equal ones wins.
#define THREADS 64
__global__ void argmin_block(int rows, int cols, const int *x, int *at) {
    __shared__ int values[THREADS], places[THREADS];
    int r = blockIdx.x, t = threadIdx.x;
    int best = t < cols ? t : 0;
    for (int c = t + THREADS; c < cols; c += THREADS)
        if (x[r * cols + c] < x[r * cols + best]) best = c;
    values[t] = cols > 0 ? x[r * cols + best] : 0;
    places[t] = best;
    for (int s = THREADS / 2; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) {
            bool less = values[t + s] < values[t];
            bool first = values[t + s] == values[t] && places[t + s] < places[t];
            if (less || first) {
                values[t] = values[t + s];
                places[t] = places[t + s];
            }
        }
    }
    if (t == 0) at[r] = places[0];
}
void argmin(int rows, int cols, const int *x, int *at) { argmin_block<<<rows, THREADS>>>(rows, cols, x, at); }
// right: #define THREADS 64 => #define THREADS 128
// right: places[t + s] < places[t]; => places[t + s] <= places[t];
// fault: if (less || first) => if (less)
// fault: values[t + s] < values[t]; => values[t + s] <= values[t];
// fault: t < cols ? t : 0 => t < cols ? 0 : t
// fault: s > 0; s /= 2 => s > 1; s /= 2
// fault: c = t + THREADS; => c = t + 2 * THREADS;
// fault: __syncthreads();\n        if => if
// fault: < x[r * cols + best]) best => <= x[r * cols + best]) best
// fault: x[r * cols + c] < => x[c * rows + r] <
// fault: at[r] = places[0] => at[r] = values[0]
// fault: THREADS / 2; s > 0 => THREADS / 4; s > 0
