//! Kernels in styles that proofs have to see through.

mod common;

use common::{has_solver, planned};
use warpsmith_stage::stage::Verdict;

/// All reads are served, and proved at every shape where a solver is there.
fn proved(text: &str) {
    let staged = planned(text).unwrap_or_else(|(_, m)| panic!("{m}"));
    for a in staged.accesses.iter().filter(|_| has_solver()) {
        assert_eq!(a.unproved, None, "{}", a.replacement);
        assert_eq!(a.proved.len(), staged.blocks.len(), "{}", a.replacement);
    }
}

/// A function exchanges elements of an array of the thread.
#[test]
fn arrays_of_the_thread_are_sorted() {
    proved(
        "#define BX 32
#define BY 8
typedef unsigned char pixel;
template <class T> __device__ void order(T &a, T &b) { if (a > b) { T t = a; a = b; b = t; } }
__global__ void median(const pixel *src, pixel *dst, int w, int h, int pitch) {
    __shared__ pixel tile[BY][BX];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = src[y * pitch + x];
    __syncthreads();
    if (x < 1 || y < 1 || x >= w - 1 || y >= h) return;
    pixel p[3];
    p[0] = __opt__(src[y * pitch + x - 1]);
    p[1] = __opt__(src[y * pitch + x]);
    p[2] = __opt__(src[y * pitch + x + 1]);
    order(p[0], p[1]);
    order(p[1], p[2]);
    order(p[0], p[1]);
    dst[y * pitch + x] = p[1];
}
",
    );
}

#[test]
fn a_tile_is_laid_out_backwards() {
    proved(
        "#define B 64
__global__ void smooth(const float *in, float *out, int n) {
    __shared__ float s[B];
    const unsigned lane = threadIdx.x;
    const int g = blockIdx.x * B + lane;
    if (g < n) s[B - 1 - lane] = in[g];
    __syncthreads();
    if (g < n) out[g] = __opt__(in[g]) + __opt__(in[max(g - 1, 0)]);
}
",
    );
}

/// What differs stands in the arguments of a macro, two of them in one use.
#[test]
fn marks_stand_in_arguments_of_macros() {
    proved(
        "#define BX 16
#define BY 16
#define AT(a, i, j) a[(j) * ld + (i)]
#define DX(e, w) (0.5f * ((e) - (w)))
__global__ void slope(const float *h, float *out, int nx, int ny, int ld) {
    __shared__ float s[BY][BX];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i < nx && j < ny) s[threadIdx.y][threadIdx.x] = AT(h, i, j);
    __syncthreads();
    if (i > 0 && i < nx - 1 && j < ny) AT(out, i, j) = DX(__opt__(AT(h, i + 1, j)), __opt__(AT(h, i - 1, j)));
}
",
    );
}

/// A copy under a condition is none of the statements that the kernel has under its own.
#[test]
fn copies_stand_before_a_guarded_result() {
    proved(
        "#define BX 64
__global__ void mean(const float *in, float *out, int n) {
    __shared__ float s[BX + 2];
    int i = blockIdx.x * BX + threadIdx.x;
    if (i < n) s[threadIdx.x + 1] = in[i];
    __insert();
    __syncthreads();
    if (i > 0 && i < n - 1)
        out[i] = __opt__(s[threadIdx.x], in[i - 1]) + __opt__(s[threadIdx.x + 2], in[i + 1]);
}
",
    );
}

/// What is put into a tile behind a read is there in the next iteration: a tile that is filled before the loop is not what it was. Whether a
/// small launch shows that or none, it is no proof.
#[test]
fn stores_of_earlier_iterations() {
    let kernel = |late: &str| {
        format!(
            "__global__ void k(const float *in, float *out, int n, int it) {{
    __shared__ float t[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    float s = 0;
    for (int k = 0; k < it; k++) {{
        __syncthreads();
        if (i > 0 && i < n) s += __opt__(in[i - 1]);
        __syncthreads();
        {late}
    }}
    if (i < n) out[i] = s;
}}
"
        )
    };
    for late in [
        "if (k == 19 && i < n) t[threadIdx.x] = 1.0f;",
        "if (it > 300 && i < n) t[threadIdx.x] = 1.0f;",
        "if (k >= 40 && i < n) t[threadIdx.x] *= 0.5f;",
        "if (i < n) t[threadIdx.x] = s;",
    ] {
        if let Ok(staged) = planned(&kernel(late)) {
            let plain = "(threadIdx.x != 0 ? t[threadIdx.x - 1] : in[i - 1])";
            assert!(!staged.text.contains(plain), "{late}: {}", staged.text);
        }
    }
    proved(&kernel(""));
}

/// What a thread puts into a tile behind its own read is there in the next iteration of a loop without barriers.
#[test]
fn stores_of_the_same_thread_in_a_loop_of_its_own() {
    let kernel = |late: &str| {
        format!(
            "__global__ void k(const float *in, float *out, int n, int m) {{
    __shared__ float t[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    __syncthreads();
    float s = 0;
    for (int j = 0; j < m; j++) {{
        if (i < n) s += __opt__(in[i]) * j;
        {late}
    }}
    if (i < n) out[i] = s;
}}
"
        )
    };
    for late in ["if (j == 7000) t[threadIdx.x] = 0;", "if (j + n > 9000) t[threadIdx.x] += 1;"] {
        if let Ok(staged) = planned(&kernel(late)) {
            assert!(!staged.text.contains("s += t[threadIdx.x] * j"), "{late}: {}", staged.text);
        }
    }
    proved(&kernel(""));
}

/// Products of unsigned numbers that wrap are no exact numbers, and 16 bits do not hold every position.
#[test]
fn numbers_that_begin_anew() {
    for (position, wrong) in [
        ("unsigned j = (i * 65536u) >> 16", "= t[threadIdx.x];"),
        ("unsigned j = (i << 17) >> 17", "= t[threadIdx.x];"),
        ("unsigned short j = i", "= t[threadIdx.x];"),
    ] {
        let text = format!(
            "__global__ void k(const float *in, float *out, unsigned n) {{
    __shared__ float t[64];
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    __syncthreads();
    if (i >= n) return;
    {position};
    out[i] = __opt__(in[j]);
}}
"
        );
        if let Ok(staged) = planned(&text) {
            assert!(!staged.text.contains(wrong), "{position}: {}", staged.text);
        }
    }
}

/// What a text makes of a position, without a tile that it is right for beyond what wraps around.
fn row(params: &str, setup: &str, read: &str) -> String {
    format!(
        "#define B 64
__global__ void f(const float *a, float *o, {params}) {{
    __shared__ float t[B];
    {setup}
    if (i < n) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) o[i] = {read};
}}
"
    )
}

/// Products of `unsigned` wrap around long before the positions do that they are of.
#[test]
fn products_that_wrap_are_not_undone() {
    let position = "int i = blockIdx.x * B + threadIdx.x;";
    for place in [
        "((unsigned)i << 6) >> 6",
        "(int)((unsigned)(i * 48u) / 48u)",
        "(unsigned)i * 64u / 64u",
        "((unsigned)i << 4) >> 4",
        "((unsigned)i * 3u + 2u) / 3u",
    ] {
        let staged = planned(&row("int n", position, &format!("__opt__(a[{place}])")));
        if let Ok(staged) = staged {
            let access = &staged.accesses[0];
            assert_ne!(access.verdict, Verdict::Proved, "{place}: {}", access.replacement);
        }
    }
    // Positions themselves are within their type, and threads are few.
    for place in ["(blockIdx.x * B + threadIdx.x) / n * n + i % n", "i - threadIdx.x * 8u / 8u"] {
        proved(&row("int n", position, &format!("__opt__(a[{place}])")));
    }
}

/// Differences of 64 bits are compared as such.
#[test]
fn conditions_on_long_offsets_have_64_bits() {
    let position = "long long i = (long long)blockIdx.x * B + threadIdx.x;";
    let read = "i - k >= 0 && i - k < n ? __opt__(a[i - k]) : 1.0f";
    let staged = planned(&row("long long n, long long k", position, read));
    let staged = staged.unwrap_or_else(|(_, m)| panic!("{m}"));
    let access = &staged.accesses[0];
    assert!(!access.replacement.contains("(int)"), "{}", access.replacement);
}
