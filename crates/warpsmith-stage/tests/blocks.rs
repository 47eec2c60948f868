//! Blocks that nothing but the plan's own text says: those that fill its tiles, or are larger than its numbers, and grids that are transposed.

mod common;

use common::{has_solver, planned};

/// The text, staged with blocks among which is a certain one, and proved where a solver is there.
fn with_block(text: &str, block: [u32; 3], contains: &str) {
    let staged = planned(text).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.blocks.contains(&block), "{:?}", staged.blocks);
    assert!(staged.text.contains(contains), "{}", staged.text);
    for a in staged.accesses.iter().filter(|_| has_solver()) {
        assert_eq!(a.unproved, None, "{}", a.replacement);
    }
}

/// Rows of warps: blocks are counted along x, their rows along y, and lanes along a row.
#[test]
fn a_row_for_each_warp() {
    with_block(
        "#define ROWS 6
__global__ void slope(const float *m, float *o, int rows, int cols) {
    __shared__ float t[ROWS][33];
    int r = blockIdx.x * ROWS + threadIdx.y;
    for (int first = 0; first < cols; first += 32) {
        int c = first + threadIdx.x;
        bool ok = r < rows && c < cols;
        if (ok) t[threadIdx.y][threadIdx.x + 1] = m[r * cols + c];
        __insert();
        __syncthreads();
        if (ok && c > 0) o[r * cols + c] = m[r * cols + c] - __opt__(t[threadIdx.y][threadIdx.x], m[r * cols + c - 1]);
        __syncthreads();
    }
}
",
        [32, 6, 1],
        "t[threadIdx.y][threadIdx.x] = m[r * cols + c - 1]",
    );
}

/// Channels lie along x; `blockIdx.x` is multiplied with what threads along y are.
#[test]
fn channels_of_a_template() {
    with_block(
        "template <int CHANNELS, int LONG> __global__ void blur(const short *x, int *y, int length) {
    __shared__ short t[LONG][CHANNELS];
    int c = threadIdx.x, p = blockIdx.x * LONG + threadIdx.y;
    if (p < length) t[threadIdx.y][c] = x[p * CHANNELS + c];
    __syncthreads();
    if (p > 0 && p < length) y[p * CHANNELS + c] = x[p * CHANNELS + c] + __opt__(x[(p - 1) * CHANNELS + c]);
}
template __global__ void blur<16, 8>(const short *, int *, int);
",
        [16, 8, 1],
        "threadIdx.y != 0 ? t[threadIdx.y - 1][c]",
    );
}

/// Threads that small blocks do not have do not fill their part.
#[test]
fn a_number_that_threads_are_compared_with() {
    with_block(
        "__global__ void k(const float *a, float *o, int n) {
    __shared__ float t[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && threadIdx.x < 400) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i > 0 && i < n) o[i] = __opt__(a[i - 1]);
}
",
        [448, 1, 1],
        "threadIdx.x != 0 && threadIdx.x <= 400",
    );
}

/// Only the last thread of a block that is full has a neighbour that the block does not hold.
#[test]
fn a_grid_that_is_transposed() {
    with_block(
        "__global__ void cyclic(const float *in, float *out, int n) {
    __shared__ float t[128];
    int i = threadIdx.x * gridDim.x + blockIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    __syncthreads();
    int j = i + gridDim.x;
    if (j < n) out[i] = __opt__(in[j]);
}
",
        [128, 1, 1],
        "threadIdx.x != blockDim.x - 1 ? t[threadIdx.x + 1]",
    );
}

/// Groups of eight blocks are permuted: a few blocks, or a few elements of each, are not enough to see what a tile holds.
#[test]
fn blocks_are_permuted_in_groups() {
    let staged = planned(
        "__global__ void permuted(const float *in, float *out, int n) {
    __shared__ float t[64];
    int g = blockIdx.x / 8, b = blockIdx.x % 8, rb = g * 8 + (b ^ 5);
    int i = rb * 64 + threadIdx.x, own = blockIdx.x * 64 + threadIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = __opt__(in[own < n ? own : 0]) + __opt__(in[max(i - 1, 0)]);
}
",
    );
    let staged = staged.unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.accesses[0].replacement.contains("in[own"), "{}", staged.text);
    assert!(staged.accesses[1].replacement.contains("t[threadIdx.x"), "{}", staged.text);
    assert!(staged.checked.iter().any(|l| l.contains("n=1")), "{:?}", staged.checked);
}

/// Bits of a position that few elements have.
#[test]
fn positions_that_bits_move() {
    let staged = planned(
        "__global__ void moved(const int *in, int *out, int n) {
    __shared__ int t[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    __syncthreads();
    int k = i ^ (__popc(i >> 8) & 4);
    if (i < n && k < n) out[i] = __opt__(in[k]);
}
",
    );
    let staged = staged.unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(!staged.text.contains("= t[threadIdx.x];"), "{}", staged.text);
}
