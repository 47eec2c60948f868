use super::*;
use crate::program::{Compiler, Settings};
use warpsmith_ir::SourceMap;

fn of(text: &str) -> Usage {
    let compiler = Compiler::new(Settings { path: "f.cu".into(), ..Settings::default() });
    let unit = compiler.parse(text, &[], &mut SourceMap::new()).expect("it is parsed");
    usage(&unit, "f")
}

#[test]
fn positions_are_followed_through_macros_and_functions() {
    let u = of("#define COL (blockIdx.x * blockDim.x + threadIdx.x)
__device__ bool inside(int x, int y, int w, int h) { return x < w && y < h; }
__global__ void f(float *a, int w, int h, int n, int planes) {
    int row = blockIdx.y * 8 + threadIdx.x / 16;
    int last = n - 1;
    if (inside(COL, row, w, h))
        for (int k = 0; k < planes; k++) a[min(k + threadIdx.x, last)] = 0;
    if (blockIdx.x * gridDim.y + row < last) a[0] = 1;
}");
    assert_eq!(u.axes, [true, true, false]);
    assert_eq!(u.lengths, [true, false, false]);
    assert_eq!(u.roles["w"].axes, [true, false, false]);
    assert_eq!(u.roles["h"].axes, [false, true, false]);
    assert_eq!(u.roles["n"].product, [true, true, false]);
    assert!(u.roles["planes"].depth && u.strides && !u.overlaps);
}

#[test]
fn members_of_parameters_are_sizes_of_their_own() {
    let u = of("struct Grid { int w, h; };
__global__ void f(float *a, Grid g, int2 n) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < g.w && y < g.h && x < n.y) a[y * g.w + x] = 0;
}");
    assert_eq!(u.roles["g.w"].axes, [true, false, false]);
    assert_eq!(u.roles["g.h"].axes, [false, true, false]);
    assert_eq!(u.roles["n.y"].axes, [true, false, false]);
}

#[test]
fn several_positions_for_each_of_a_size_are_counted() {
    let u = of("#define SCALE 3
__global__ void f(float *a, int w, int h, int n, int m, int k) {
    int X = blockIdx.x * 8 + threadIdx.x, Y = blockIdx.y * 8 + threadIdx.y, x = X / 2;
    int row = blockIdx.y * 4 + threadIdx.x / 4;
    if (X < 2 * w && Y < SCALE * h && x + 1 < n && row < m && X / 2 < 2 * k - 1) a[0] = 0;
}");
    let times = ["w", "h", "n", "m", "k"].map(|n| u.roles[n].times);
    assert_eq!(times, [2, 3, 2, 1, 4]);
}

#[test]
fn a_colour_is_no_size() {
    let u = of("__global__ void f(float *a, int n, int colour, int third, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    const int own = (i + j) & 1u;
    if (i < n && own != colour && i % 3 == third && i % 32 < m) a[i] = 0;
}");
    assert_eq!(u.residues, [("colour".to_string(), 2), ("third".to_string(), 3)].into());
    assert!(!u.roles.contains_key("colour") && u.roles["n"].axes[0] && u.roles["m"].axes[0]);
}

#[test]
fn blocks_that_overlap_are_seen_through_macros() {
    let u = of("#define STEP (blockDim.x - 2)
__global__ void f(float *a, int n) { int i = blockIdx.x * STEP + threadIdx.x; if (i < n) a[i] = 0; }");
    assert!(u.overlaps);
    let cast = of(
        "__global__ void f(float *a, int n) { int i = (int)(blockIdx.x) * (62) + threadIdx.x; int j = (int)blockIdx.x * (64 - 2); if (i < n) a[j] = 0; }",
    );
    assert!(cast.overlaps);
    assert_eq!(u.roles["n"].axes, [true, false, false]);
}
