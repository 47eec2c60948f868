//! Marked reads in loops whose copies stand before these.

mod common;

use common::{emitted, planned};

/// What the copies of a plan are, and the rewritten text for a CUDA compiler.
fn copies(name: &str, text: &str) -> String {
    let staged = planned(text).unwrap_or_else(|(_, message)| panic!("{message}"));
    emitted(&format!("loop_{name}"), &staged.text);
    staged.copies.join("\n")
}

const FILTER: &str = "#define TAPS 33
#define BLOCK 128
__constant__ float coef[TAPS];
__global__ void fir(const float *x, float *y, int n) {
    __shared__ float s[BLOCK + TAPS - 1];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) s[threadIdx.x + TAPS - 1] = x[i];
    __insert();
    __syncthreads();
    if (i < n) {
        float acc = 0;
        for (int t = 0; t < TAPS; t++)
            if (i - t >= 0) acc += coef[t] * __opt__(s[threadIdx.x + TAPS - 1 - t], x[i - t]);
        y[i] = acc;
    }
}
";

/// One copy serves all iterations, made by threads that read nothing themselves where the last block ends early; none of a block
/// behind the end reads outside of the array.
#[test]
fn a_filter_is_served_by_one_copy() {
    let text = copies("filter", FILTER);
    assert_eq!(
        text,
        "if (blockIdx.x != 0 && threadIdx.x + 1 < TAPS && i < n + TAPS - 1) s[threadIdx.x] = x[i - (TAPS - 1)];"
    );
}

#[test]
fn arms_of_a_star_have_a_copy_each() {
    let text = copies(
        "star",
        "#define RAD 2
#define BX 32
#define BY 4
__constant__ float c[RAD + 1];
__global__ void star(const float *in, float *out, int nx, int ny) {
    __shared__ float t[BY + 2 * RAD][BX + 2 * RAD];
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    int at = j * nx + i;
    if (i < nx && j < ny) t[threadIdx.y + RAD][threadIdx.x + RAD] = in[at];
    __insert();
    __syncthreads();
    if (i >= RAD && i < nx - RAD && j >= RAD && j < ny - RAD) {
        float v = c[0] * t[threadIdx.y + RAD][threadIdx.x + RAD];
        for (int r = 1; r <= RAD; r++)
            v += c[r] * (__opt__(t[threadIdx.y + RAD][threadIdx.x + RAD - r], in[at - r]) + __opt__(t[threadIdx.y + RAD][threadIdx.x + RAD + r], in[at + r])
                + __opt__(t[threadIdx.y + RAD - r][threadIdx.x + RAD], in[at - r * nx]) + __opt__(t[threadIdx.y + RAD + r][threadIdx.x + RAD], in[at + r * nx]));
        out[at] = v;
    }
}
",
    );
    // Where it is proved, the last to read brings what nobody behind it does: two copies more.
    assert!([4, 6].contains(&text.matches("t[").count()), "{text}");
    for copy in ["t[threadIdx.y][threadIdx.x + RAD] = in[at - RAD * nx];", "= in[at + RAD];"] {
        assert!(text.contains(copy), "{text}");
    }
}

/// Threads outside of the image are gone before the copies: what they would have brought, the last one inside has to. With sizes
/// that end alike along both axes this was said by numbers of blocks, and wrong where there were more of them along x.
#[test]
fn corners_of_a_window_name_no_blocks() {
    let text = copies(
        "window",
        "#define R 2
#define TX 16
#define TY 8
__constant__ float w[(2 * R + 1) * (2 * R + 1)];
__global__ void conv(const float *in, float *out, int nx, int ny) {
    __shared__ float tile[TY + 2 * R][TX + 2 * R];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TX + tx, y = blockIdx.y * TY + ty;
    if (x >= nx || y >= ny) return;
    tile[ty + R][tx + R] = in[y * nx + x];
    __insert();
    __syncthreads();
    float s = 0;
    for (int ky = -R; ky <= R; ky++)
        for (int kx = -R; kx <= R; kx++) {
            int sx = x + kx, sy = y + ky;
            if (sx >= 0 && sx < nx && sy >= 0 && sy < ny)
                s += w[(ky + R) * (2 * R + 1) + kx + R] * __opt__(tile[ty + ky + R][tx + kx + R], in[sy * nx + sx]);
        }
    out[y * nx + x] = s;
}
",
    );
    assert!(text.contains("tile[ty + R][tx] = in[y * nx + x - R];"), "{text}");
    assert!(!text.contains("blockIdx"), "{text}");
}

#[test]
fn a_counter_without_constant_ends_comes_too_late() {
    let text = FILTER.replace("int n)", "int n, int taps)").replace("t < TAPS", "t < taps");
    let (no, message) = planned(&text).expect_err("no copy can be written");
    assert!(no && message.contains("`t` is declared after the place for copies"), "{message}");
}
