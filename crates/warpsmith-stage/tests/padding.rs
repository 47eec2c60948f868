//! What lies beyond the border is a constant, or the other end: somebody has to put it into the tile, too.

mod common;

use common::{emitted, planned, proved};

const CROSS: &str = "    __shared__ float t[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    if (x < w && y < h) {
        t[ty][tx] = in[y * w + x];
        __insert();
    }
    __syncthreads();
    if (x < w && y < h)
        out[y * w + x] = __opt__(t[ty][tx - 1], LEFT) + __opt__(t[ty][tx + 1], RIGHT)
                       + __opt__(t[ty - 1][tx], UP) + __opt__(t[ty + 1][tx], DOWN) - 4 * t[ty][tx];
}
";

/// Zero is what shared memory may hold before anybody stores there: it is not there for that.
#[test]
fn zeros_beyond_the_border_are_stored() {
    let text = CROSS
        .replace("LEFT", "(x < 1 ? 0.0f : in[y * w + x - 1])")
        .replace("RIGHT", "(x + 1 >= w ? 0.0f : in[y * w + x + 1])")
        .replace("UP", "(y < 1 ? 0.0f : in[(y - 1) * w + x])")
        .replace("DOWN", "(y + 1 >= h ? 0.0f : in[(y + 1) * w + x])");
    let head = "#define BX 32\n#define BY 8\n__global__ void laplace(const float *in, float *out, int w, int h) {\n";
    let staged = proved("padding_zero", &format!("{head}{text}"));
    assert_eq!(staged.copies.len(), 4, "{:?}", staged.copies);
}

/// The same in a function that returns early, which proofs look into.
#[test]
fn a_function_reads_what_is_padded() {
    let text = CROSS
        .replace("LEFT", "at(in, x - 1, y, w, h)")
        .replace("RIGHT", "at(in, x + 1, y, w, h)")
        .replace("UP", "at(in, x, y - 1, w, h)")
        .replace("DOWN", "at(in, x, y + 1, w, h)");
    let head = "#define BX 32\n#define BY 8
__device__ float at(const float *p, int x, int y, int w, int h) {
    if (x < 0 || y < 0 || x >= w || y >= h) return -1.0f;
    return p[y * w + x];
}
__global__ void laplace(const float *in, float *out, int w, int h) {\n";
    let staged = proved("padding_function", &format!("{head}{text}"));
    assert_eq!(staged.copies.len(), 4, "{:?}", staged.copies);
}

/// A ring in both directions whose neighbours are named behind the place for copies: edges are copied before corners, as where
/// they are named before it.
#[test]
fn a_torus_whose_neighbours_are_named_later() {
    let staged = proved(
        "padding_torus",
        "#define T 16
__global__ void life(const int *in, int *out, int w, int h) {
    __shared__ int t[T + 2][T + 2];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    bool ok = x < w && y < h;
    if (ok) t[ly][lx] = in[y * w + x];
    __insert();
    __syncthreads();
    if (!ok) return;
    int l = x == 0 ? w - 1 : x - 1, r = x == w - 1 ? 0 : x + 1;
    int u = y == 0 ? h - 1 : y - 1, d = y == h - 1 ? 0 : y + 1;
    int n = __opt__(t[ly - 1][lx - 1], in[u * w + l]) + __opt__(t[ly - 1][lx], in[u * w + x])
          + __opt__(t[ly - 1][lx + 1], in[u * w + r]) + __opt__(t[ly][lx - 1], in[y * w + l])
          + __opt__(t[ly][lx + 1], in[y * w + r]) + __opt__(t[ly + 1][lx - 1], in[d * w + l])
          + __opt__(t[ly + 1][lx], in[d * w + x]) + __opt__(t[ly + 1][lx + 1], in[d * w + r]);
    out[y * w + x] = n > 2 ? min(min(l, r), min(u, d)) : t[ly][lx];
}
",
    );
    // One condition for each side, and what corners share with the sides beside them.
    assert!(
        staged.copies.iter().filter(|c| c.trim_start().starts_with("if")).count() <= 5,
        "{:?}",
        staged.copies
    );
    assert!(
        staged.copies.iter().all(|c| c.contains("threadIdx") || !c.contains("if")),
        "{:?}",
        staged.copies
    );
}

/// Taps of a filter beyond either end are zero: what copies in its loop bring may be a constant.
#[test]
fn taps_beyond_the_ends_are_zero() {
    let staged = proved(
        "padding_filter",
        "#define R 3
extern __shared__ float s[];
__global__ void fir(const float *x, const float *c, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + R;
    if (i < n) {
        s[t] = x[i];
        __insert();
    }
    __syncthreads();
    if (i >= n) return;
    float v = c[0] * s[t];
    for (int k = 1; k <= R; k++)
        v += c[k] * (__opt__(s[t - k], i - k < 0 ? 0.f : x[i - k]) + __opt__(s[t + k], i + k >= n ? 0.f : x[i + k]));
    y[i] = v;
}
",
    );
    assert_eq!(staged.accesses.len(), 2);
}

/// Distances that are zero at the border are no sums of positions: subscripts are one thing there and another elsewhere. The first
/// row of the first block is clamped, too, which the row of another thread is the same as.
#[test]
fn distances_that_end_at_the_border() {
    let staged = planned(
        "#define BX 32
#define BY 8
__global__ void grow(const int *a, int *mid, int *out, int nx, int ny) {
    __shared__ int s[BX * BY], m[BX * BY];
    int i = min(max((int)(blockIdx.x * (BX - 2) + threadIdx.x) - 1, 0), nx - 1);
    int j = min(max((int)(blockIdx.y * (BY - 2) + threadIdx.y) - 1, 0), ny - 1);
    int t = threadIdx.y * BX + threadIdx.x, c = j * nx + i;
    s[t] = a[c];
    __syncthreads();
    int l = i > 0 ? -1 : 0, r = i < nx - 1 ? 1 : 0, u = j > 0 ? -nx : 0, d = j < ny - 1 ? nx : 0;
    int v = __opt__ a[c + l] + __opt__ a[c] + __opt__ a[c + r] + __opt__ a[c + u] + __opt__ a[c + d];
    mid[c] = v;
    m[t] = v;
    __syncthreads();
    i = min(blockIdx.x * (BX - 2) + min(threadIdx.x, BX - 3), nx - 1);
    j = min(blockIdx.y * (BY - 2) + min(threadIdx.y, BY - 3), ny - 1);
    c = j * nx + i;
    l = i > 0 ? -1 : 0, r = i < nx - 1 ? 1 : 0, u = j > 0 ? -nx : 0, d = j < ny - 1 ? nx : 0;
    out[c] = __opt__ mid[c + l] + __opt__ mid[c] + __opt__ mid[c + r] + __opt__ mid[c + u] + __opt__ mid[c + d];
}
",
    );
    let staged = staged.unwrap_or_else(|(_, m)| panic!("{m}"));
    emitted("padding_distances", &staged.text);
    assert!(
        staged.accesses.iter().any(|a| a.replacement.contains("d == 0 ? t :")),
        "{:?}",
        staged.text
    );
}
