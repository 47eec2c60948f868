//! Filters whose taps lie beyond the border: what stands for them is a constant, or the element that a few statements say.

mod common;

use common::{planned, proved};

/// A filter in one dimension; `BODY` names the element and reads it.
fn filter(declared: &str, body: &str) -> String {
    format!(
        "#define R 3
__global__ void filter(const float *p, float *o, int n) {{
    __shared__ float t[128 + 2 * R];
    int i = blockIdx.x * 128 + threadIdx.x;
    {declared}
    __insert();
    __syncthreads();
    if (i >= n) return;
    float s = 0;
    for (int k = -R; k <= R; k++) {{
        {body}
    }}
    o[i] = s;
}}
"
    )
}

const OWN: &str = "if (i < n) t[threadIdx.x + R] = p[i];";

/// Two copies, whatever the filter does at its ends.
fn two_copies(name: &str, text: &str) -> Vec<String> {
    let staged = proved(name, text);
    assert_eq!(staged.copies.len(), 2, "{:?}", staged.copies);
    staged.copies
}

/// Zero where one of two conditions fails, in whatever way the value is written.
#[test]
fn zero_behind_both_conditions() {
    for (n, zero) in ["0.0f", "float(0)", "__int_as_float(0)"].into_iter().enumerate() {
        let body = format!(
            "s += __opt__(t[threadIdx.x + R + k], i + k >= 0 && i + k < n ? p[i + k] : {zero});"
        );
        two_copies(&format!("borders_zero_{n}"), &filter(OWN, &body));
    }
}

/// Where the tile itself has the zeros, the first threads and the last copy, and nobody else.
#[test]
fn a_padded_tile_takes_few_copies() {
    let own = "t[threadIdx.x + R] = i < n ? p[i] : 0.0f;";
    let body = "s += __opt__(t[threadIdx.x + R + k], (i + k >= 0 && i + k < n) ? p[i + k] : 0.0f);";
    let copies = two_copies("borders_padded", &filter(own, body));
    assert!(copies[0].starts_with("if (threadIdx.x < R) t["), "{copies:?}");
    assert!(
        copies[1].starts_with("if ((int)threadIdx.x >= (int)(blockDim.x - R)) t["),
        "{copies:?}"
    );
}

/// The element of a tap is what statements in the loop make of its position.
#[test]
fn positions_that_statements_adjust() {
    let read = "s += __opt__(t[threadIdx.x + R + k], p[j]);";
    for (name, adjusted) in [
        ("mirrored", "if (j < 0) j = -j; if (j >= n) j = 2 * n - 2 - j;"),
        ("periodic", "if (j < 0) { j += n; } else if (j >= n) { j -= n; }"),
        ("clamped", "j = max(j, 0); if (j > n - 1) { j = n - 1; }"),
    ] {
        let text = filter(OWN, &format!("int j = i + k; {adjusted} {read}"));
        two_copies(&format!("borders_{name}"), &text);
    }
}

/// What is set in a loop, or from what changes, is nothing that copies can be written with.
#[test]
fn positions_that_change_otherwise() {
    let read = "s += __opt__(t[threadIdx.x + R + k], p[j]);";
    for adjusted in [
        "int j = i + k; while (j < 0) j += n; if (j >= n) j = n - 1;",
        "int step = k; int j = i + step; step = 0; if (j < 0) j = step; if (j >= n) j = n - 1;",
    ] {
        let refused = planned(&filter(OWN, &format!("{adjusted} {read}")));
        let (no, message) = refused.map(|s| s.text).expect_err("a refusal");
        assert!(no && message.contains("W714"), "{message}");
    }
}

/// A window in two dimensions whose rows and columns are kept inside, in two ways.
#[test]
fn a_window_kept_inside() {
    proved(
        "borders_window",
        "#define R 1
#define T 16
__global__ void blur(const int *in, int *out, int w, int h) {
    __shared__ int t[T + 2 * R][T + 2 * R];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    if (x < w && y < h) t[threadIdx.y + R][threadIdx.x + R] = in[y * w + x];
    __insert();
    __syncthreads();
    if (x >= w || y >= h) return;
    int s = 0;
    for (int dy = -R; dy <= R; dy++) {
        int yy = y + dy;
        if (yy < 0) yy = 0;
        else if (yy >= h) yy = h - 1;
        for (int dx = -R; dx <= R; dx++) {
            int xx = min(max(x + dx, 0), w - 1);
            s += __opt__(t[threadIdx.y + R + dy][threadIdx.x + R + dx], in[yy * w + xx]);
        }
    }
    out[y * w + x] = s;
}
",
    );
}
