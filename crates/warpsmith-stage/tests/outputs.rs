//! `--auto` on kernels whose threads have several outputs each, a block apart: one tile serves them all.

mod common;

use common::{emitted, tried};
use warpsmith_stage::auto::Counted;

fn requests(counted: &Counted<'_>) -> Option<f64> {
    Some(counted.counters.arrays.iter().map(|a| a.requests as f64).sum())
}

/// The text with a tile, which is chosen.
fn window(name: &str, text: &str, array: &str, parts: &[&str]) {
    let chosen = tried("plain.cu", text, requests).unwrap_or_else(|(_, m)| panic!("{m}"));
    let tries = format!("{:?} {:?} {:?}", chosen.tried, chosen.declined, chosen.uncut);
    let best = chosen.best.unwrap_or_else(|| panic!("{name}: nothing is chosen of {tries}"));
    assert_eq!(best.name, format!("window of `{array}`"), "{name}: {tries}\n{}", best.text);
    assert!(!best.checked.is_empty(), "{name}");
    for part in parts {
        assert!(best.text.contains(part), "{name}: {part}\n{}", best.text);
    }
    let copies = best.text.lines().take_while(|l| !l.contains("__syncthreads"));
    let long = copies.filter(|l| l.len() > 100).last();
    assert_eq!(long, None, "{name}");
    emitted(&format!("outputs_{name}"), &best.text);
}

/// Rows of a separable convolution: the block goes along x, and the filter, too.
#[test]
fn rows_of_a_convolution() {
    window(
        "rows",
        "#define RADIUS 4
#define BX 16
#define BY 4
#define STEPS 4
__constant__ float weights[2 * RADIUS + 1];
__global__ void rows(float *dst, const float *src, int w, int h, int pitch)
{
    const int baseX = blockIdx.x * STEPS * BX + threadIdx.x;
    const int baseY = blockIdx.y * BY + threadIdx.y;

    for (int i = 0; i < STEPS; i++) {
        const int x = baseX + i * BX;
        if (x < w && baseY < h) {
            float sum = 0;
            for (int j = -RADIUS; j <= RADIUS; j++) {
                int xx = x + j;
                if (xx >= 0 && xx < w)
                    sum += weights[RADIUS - j] * src[baseY * pitch + xx];
            }
            dst[baseY * pitch + x] = sum;
        }
    }
}
int main() { rows<<<dim3(16, 256), dim3(BX, BY)>>>(0, 0, 1024, 1024, 1024); }
",
        "src",
        &[
            "__shared__ float src_tile[BY][STEPS * BX + 2 * RADIUS + 8];",
            "for (int src_x = threadIdx.x; src_x < STEPS * BX + 2 * RADIUS; src_x += BX) {",
            "sum += weights[RADIUS - j] * src_tile[threadIdx.y][threadIdx.x + i * BX + j + RADIUS];",
        ],
    );
}

/// Columns, clamped by a function, with a pragma before the loop, threads that return and iterations that end it.
#[test]
fn columns_with_clamped_borders() {
    window(
        "columns",
        "#define RADIUS 3
#define BX 16
#define BY 8
#define STEPS 4
__constant__ float weights[2 * RADIUS + 1];
__device__ int clamped(int v, int lo, int hi) { return min(max(v, lo), hi); }
__global__ void columns(float *__restrict__ out, const float *__restrict__ in, int w, int h)
{
    int x = blockIdx.x * BX + threadIdx.x;
    int y0 = blockIdx.y * (STEPS * BY) + threadIdx.y;
    if (x >= w) return;
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        int y = y0 + s * BY;
        if (y >= h) break;
        float sum = 0.0f;
#pragma unroll
        for (int r = -RADIUS; r <= RADIUS; ++r)
            sum += weights[r + RADIUS] * in[clamped(y + r, 0, h - 1) * w + x];
        out[y * w + x] = sum;
    }
}
int main() { columns<<<dim3(64, 32), dim3(BX, BY)>>>(0, 0, 1024, 1024); }
",
        "in",
        &[
            "__shared__ float in_tile[STEPS * BY + 2 * RADIUS][BX];",
            "in_tile[threadIdx.y + s * BY + r + RADIUS][threadIdx.x];",
        ],
    );
}

/// Four rows of a stencil a thread, a parameter of the template, blocks that only the launch tells.
#[test]
fn rows_of_a_stencil() {
    window(
        "stencil",
        "template <int COARSE>
__global__ void jacobi(const float *in, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y0 = blockIdx.y * blockDim.y * COARSE + threadIdx.y;
    for (int c = 0; c < COARSE; c++) {
        int y = y0 + c * blockDim.y;
        if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
            out[y * nx + x] = 0.25f * (in[y * nx + x - 1] + in[y * nx + x + 1] +
                                       in[(y - 1) * nx + x] + in[(y + 1) * nx + x]);
    }
}
int main() { jacobi<4><<<dim3(32, 32), dim3(32, 8)>>>(0, 0, 1024, 1024); }
",
        "in",
        &[
            "__shared__ float in_tile[COARSE * 8 + 2][32 + 2];",
            "in_tile[threadIdx.y + c * 8 + 1][threadIdx.x]",
        ],
    );
}

/// A loop down the tile in steps of the block's rows.
#[test]
fn a_tile_that_the_block_goes_down() {
    window(
        "down",
        "#define TILE 32
#define ROWS 8
__global__ void blur(const float *in, float *out, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (x >= n || y + j >= n) continue;
        float sum = 0;
        for (int d = -2; d <= 2; d++)
            sum += in[min(max(y + j + d, 0), n - 1) * n + x];
        out[(y + j) * n + x] = sum / 5;
    }
}
int main() { blur<<<dim3(32, 32), dim3(TILE, ROWS)>>>(0, 0, 1024); }
",
        "in",
        &[
            "__shared__ float in_tile[TILE + 4][TILE];",
            "in_tile[threadIdx.y + j + d + 2][threadIdx.x]",
        ],
    );
}

/// Few iterations, which the compiler knows, are no loop that blocks share.
#[test]
fn a_short_loop_is_not_cut() {
    let chosen = tried(
        "plain.cu",
        "__global__ void smooth(const float *in, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    for (int k = 0; k < 2; k++)
        if (x > 0 && x < nx - 1 && y + k < ny)
            out[(y + k) * nx + x] = in[(y + k) * nx + x - 1] + in[(y + k) * nx + x + 1];
}
int main() { smooth<<<dim3(32, 64), dim3(32, 8)>>>(0, 0, 1024, 1024); }
",
        requests,
    );
    let chosen = chosen.unwrap_or_else(|(_, m)| panic!("{m}"));
    assert_eq!(chosen.uncut.as_deref(), Some("`k` goes through 2 iterations only"));
}

/// Elements that are read through pointers to rows, which are declared one from another, too.
#[test]
fn rows_by_pointers() {
    let text =
        "__global__ void rows(const float *__restrict__ u, float *__restrict__ un, int nx, int ny)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= nx - 1 || j >= ny) return;
    const float *row = u + j * nx;
    un[j * nx + i] = 0.25f * row[i - 1] + 0.5f * row[i] + 0.25f * row[i + 1];
}
int main() { rows<<<dim3(32, 128), dim3(32, 8)>>>(0, 0, 1024, 1024); }
";
    let chosen = tried("plain.cu", text, requests).unwrap_or_else(|(_, m)| panic!("{m}"));
    let tries = format!("{:?} {:?}", chosen.tried, chosen.declined);
    let passed = |t: &warpsmith_stage::auto::Tried| {
        t.name == "tile with a halo of `u`" && t.failed.is_none()
    };
    assert!(chosen.tried.iter().any(passed), "{tries}");
}

/// A kernel in a namespace; a border that is asked for by equality.
#[test]
fn a_namespace_and_borders_by_equality() {
    window(
        "median",
        "namespace img {
template <typename T> __device__ void order(T &a, T &b) { if (a > b) { T t = a; a = b; b = t; } }
__global__ void median(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) return;
    float v[9];
    int k = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            v[k++] = in[(y + dy) * w + (x + dx)];
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++) order(v[i], v[j]);
    out[y * w + x] = v[4];
}
}
int main() { img::median<<<dim3(32, 128), dim3(32, 8)>>>(0, 0, 1024, 1024); }
",
        "in",
        &[
            "__shared__ float in_tile[8 + 2][32 + 2];",
            "v[k++] = in_tile[threadIdx.y + dy + 1][threadIdx.x + dx + 1];",
        ],
    );
}

/// Blocks that enumerators make, of which other shapes are checked, too.
#[test]
fn enumerators_make_blocks() {
    let text = "enum { BDIMX = 32, BDIMY = 4 };
namespace sim {
__global__ void advect(const float *q, float *out, int nx, int ny)
{
    int i = blockIdx.x * BDIMX + threadIdx.x + 1;
    int j = blockIdx.y * BDIMY + threadIdx.y;
    if (i >= nx - 1 || j >= ny) return;
    int id = j * nx + i;
    out[id] = q[id] - 0.1f * (q[id + 1] - q[id - 1]);
}
}
int main() { sim::advect<<<dim3(32, 256), dim3(BDIMX, BDIMY)>>>(0, 0, 1024, 1024); }
";
    let chosen = tried("plain.cu", text, requests).unwrap_or_else(|(_, m)| panic!("{m}"));
    let passed = |t: &warpsmith_stage::auto::Tried| {
        t.name == "tile with a halo of `q`" && t.failed.is_none()
    };
    assert!(chosen.tried.iter().any(passed), "{:?}", chosen.tried);
}
