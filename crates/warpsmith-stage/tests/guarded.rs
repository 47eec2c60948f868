//! Copies that threads make for what they read themselves, and names that are declared behind the place for copies.

mod common;

use common::{has_solver, planned, proved};

/// What the names stand for is written in the copies. How long the array is the launch says: as long as the plan's own reads need.
#[test]
fn names_behind_the_place_are_written_out() {
    let staged = proved(
        "guarded_ring",
        "__global__ void advect(const float *u, float *v, int n, float c) {
    extern __shared__ float s[];
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    int l = threadIdx.x + 1;
    if (g < n) s[l] = u[g];
    __insert();
    __syncthreads();
    if (g < n) {
        int west = g == 0 ? n - 1 : g - 1;
        int east = g == n - 1 ? 0 : g + 1;
        v[g] = s[l] - 0.5f * c * (__opt__(s[l + 1], u[east]) - __opt__(s[l - 1], u[west]));
    }
}
",
    );
    let copies = staged.copies.join("\n");
    assert!(copies.contains("s[l + 1] = u[(g == n - 1 ? 0 : g + 1)];"), "{copies}");
    assert!(copies.contains("s[l - 1] = u[(g == 0 ? n - 1 : g - 1)];"), "{copies}");
    let long = "launches make `s` as long as the plan's own reads need";
    assert_eq!(staged.assumed.contains(long), has_solver());
}

/// A name that changes between the place and the read stands for nothing.
#[test]
fn names_that_change_are_not_written_out() {
    let message = planned(
        "#define B 64
__global__ void ring(const float *u, float *v, int n) {
    __shared__ float s[B + 1];
    int g = blockIdx.x * B + threadIdx.x;
    if (g < n) s[threadIdx.x] = u[g];
    __insert();
    __syncthreads();
    if (g < n) {
        int next = g;
        next++;
        if (next == n) next = 0;
        v[g] = __opt__(s[threadIdx.x + 1], u[next]);
    }
}
",
    )
    .expect_err("a copy that needs `next`")
    .1;
    assert!(message.contains("`next` is declared after the place for copies"), "{message}");
}

/// One constant makes all three extents of the block. With a solver the copies are under what the reads are under: that proves them.
#[test]
fn a_cube_of_threads_copies_its_six_sides() {
    let staged = proved(
        "guarded_cube",
        "#define N 4
#define IDX(i, j, k) ((i) + nx * ((j) + ny * (k)))
__global__ void lap(const float *u, float *r, int nx, int ny, int nz) {
    __shared__ float s[N + 2][N + 2][N + 2];
    const int i = blockIdx.x * N + threadIdx.x, j = blockIdx.y * N + threadIdx.y, k = blockIdx.z * N + threadIdx.z;
    const int a = threadIdx.x + 1, b = threadIdx.y + 1, c = threadIdx.z + 1;
    if (i < nx && j < ny && k < nz) s[c][b][a] = u[IDX(i, j, k)];
    __insert();
    __syncthreads();
    if (i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1)
        r[IDX(i, j, k)] = __opt__(s[c][b][a - 1], u[IDX(i - 1, j, k)]) + __opt__(s[c][b][a + 1], u[IDX(i + 1, j, k)])
            + __opt__(s[c][b - 1][a], u[IDX(i, j - 1, k)]) + __opt__(s[c][b + 1][a], u[IDX(i, j + 1, k)])
            + __opt__(s[c - 1][b][a], u[IDX(i, j, k - 1)]) + __opt__(s[c + 1][b][a], u[IDX(i, j, k + 1)]) - 6.f * s[c][b][a];
}
",
    );
    if has_solver() {
        let guard = "if (i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1) {";
        assert_eq!(staged.copies.len(), 1);
        assert!(staged.copies[0].starts_with(guard), "{}", staged.copies[0]);
        assert_eq!(staged.copies[0].matches("if (threadIdx").count(), 6, "{}", staged.copies[0]);
    }
}

/// Each iteration of the loop is a read that the copy may stand for.
#[test]
fn copies_for_a_loop_are_proved() {
    proved(
        "guarded_star",
        "#define RAD 2
#define BX 32
#define BY 4
__constant__ float c[RAD + 1];
__global__ void star(const float *in, float *out, int nx, int ny) {
    __shared__ float t[BY][BX + 2 * RAD];
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    int at = j * nx + i;
    if (i < nx && j < ny) t[threadIdx.y][threadIdx.x + RAD] = in[at];
    __insert();
    __syncthreads();
    if (i >= RAD && i < nx - RAD && j < ny) {
        float v = c[0] * t[threadIdx.y][threadIdx.x + RAD];
        for (int r = 1; r <= RAD; r++)
            v += c[r] * (__opt__(t[threadIdx.y][threadIdx.x + RAD - r], in[at - r]) + __opt__(t[threadIdx.y][threadIdx.x + RAD + r], in[at + r]));
        out[at] = v;
    }
}
",
    );
}

/// Sides that are copied by those inside alone leave corners with three kinds of threads: no condition of four comparisons names them.
#[test]
fn corners_of_a_frame_are_copied_in_parts() {
    let staged = proved(
        "guarded_corners",
        "#define BX 16
#define BY 8
__global__ void box(const float *a, float *b, int nx, int ny) {
    __shared__ float t[BY + 2][BX + 2];
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    int li = threadIdx.x + 1, lj = threadIdx.y + 1;
    if (i < nx && j < ny) t[lj][li] = a[j * nx + i];
    __insert();
    __syncthreads();
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        float s = 0.f;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) s += __opt__(t[lj + dy][li + dx], a[(j + dy) * nx + i + dx]);
        b[j * nx + i] = s / 9.f;
    }
}
",
    );
    if has_solver() {
        let copies = staged.copies.join("\n");
        assert!(
            copies.starts_with("if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {"),
            "{copies}"
        );
    }
}
