//! Marks in functions that get the tile as a parameter.

mod common;

use common::planned;
use warpsmith_stage::stage::Staged;

fn run(text: &str) -> Result<Staged, String> {
    planned(text).map_err(|(_, message)| message)
}

fn laplacian(parameter: &str, extents: &str, place: &str) -> String {
    format!(
        "#define BX 32
#define BY 8
__device__ float lap(const float *u, {parameter}, int x, int y, int nx) {{
    int tx = threadIdx.x, ty = threadIdx.y;
    return __opt__(u[y * nx + x - 1]) + __opt__(u[(y + 1) * nx + x]);
}}
__global__ void heat(const float *u, float *v, int nx, int ny) {{
    __shared__ float tile{extents};
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x < nx && y < ny) tile{place} = u[y * nx + x];
    __syncthreads();
    if (x > 0 && y < ny - 1 && x < nx) v[y * nx + x] = lap(u, tile, x, y, nx);
}}
"
    )
}

#[test]
fn a_tile_that_is_passed() {
    let rows = ("[BY][BX]", "[threadIdx.y][threadIdx.x]");
    for parameter in ["float (*s)[BX]", "float s[BY][BX]", "const float (&s)[BY][BX]"] {
        let staged = run(&laplacian(parameter, rows.0, rows.1)).unwrap_or_else(|m| panic!("{m}"));
        for part in ["(threadIdx.x != 0 ? s[ty][tx - 1] : u", "? s[ty + 1][tx] : u"] {
            assert!(staged.text.contains(part), "{parameter}: {}", staged.text);
        }
    }
    let flat = laplacian("float *s", "[BX * BY]", "[threadIdx.y * BX + threadIdx.x]");
    let staged = run(&flat).unwrap_or_else(|m| panic!("{m}"));
    assert!(staged.text.contains("(threadIdx.x != 0 ? s["), "{}", staged.text);
    assert!(staged.blocks.len() > 2, "{:?}", staged.blocks);
}

/// Each call passes a tile of its own; one that holds another array serves nothing.
#[test]
fn two_tiles_that_are_passed() {
    let text = |second: &str| {
        format!(
            "#define B 64
__device__ float before(const float *f, const float *s, int i) {{
    return __opt__(f[i - 1]);
}}
__global__ void two(const float *u, const float *v, float *w, int n) {{
    __shared__ float a[B], b[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) {{ a[threadIdx.x] = u[i]; b[threadIdx.x] = v[i]; }}
    __syncthreads();
    if (i > 0 && i < n) w[i] = before(u, a, i) * before(v, {second}, i);
}}
"
        )
    };
    let staged = run(&text("b")).unwrap_or_else(|m| panic!("{m}"));
    assert!(
        staged.text.contains("(threadIdx.x != 0 ? s[threadIdx.x - 1] : f[i - 1])"),
        "{}",
        staged.text
    );
    let refused = run(&text("a")).expect_err("the second tile holds another array");
    assert!(refused.starts_with("error[W711]: no condition tells where"), "{refused}");
}

#[test]
fn tiles_of_different_extents() {
    let text = "__device__ float before(const float *f, const float *s, int i) { return __opt__(f[i - 1]); }
__global__ void two(const float *u, float *w, int n) {
    __shared__ float a[64], b[32];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) { a[threadIdx.x] = u[i]; b[threadIdx.x % 32] = u[i]; }
    __syncthreads();
    if (i > 0 && i < n) w[i] = before(u, a, i) + before(u, b, i);
}
";
    let refused = run(text).expect_err("two lengths");
    let expected = "error[W704]: no shared array is in scope of this mark
 --> plan.cu:1:73
  |
1 | __device__ float before(const float *f, const float *s, int i) { return __opt__(f[i - 1]); }
  |                                                                         ^^^^^^^^^^^^^^^^^ here
  |
  = help: declare a `__shared__` array before it, and copy to it; a function may get one as a parameter, where all calls pass arrays of the same constant extents
";
    assert_eq!(refused.trim_end(), expected.trim_end());
}
