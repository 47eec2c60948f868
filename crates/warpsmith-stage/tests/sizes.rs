//! Several sizes along one axis: what holds where they are equal need not where they are not.

mod common;

use common::proved;

/// The values of two sizes in a launch that is described.
fn values(launch: &str, names: [&str; 2]) -> [i64; 2] {
    names.map(|name| {
        let (_, value) = launch.split_once(&format!(", {name}=")).expect("it is named");
        value.split(',').next().and_then(|v| v.parse().ok()).expect("a number")
    })
}

/// Outputs are half as many as inputs, or fewer, or more: the last of them reads what no other thread does.
#[test]
fn an_output_of_every_second_position() {
    let staged = proved(
        "sizes_decimate",
        "#define BLOCK 32
__global__ void decimate(const float *x, float *y, int n, int m) {
    __shared__ float s[2 * BLOCK + 2];
    int o = blockIdx.x * BLOCK + threadIdx.x;
    if (2 * o < n) s[2 * threadIdx.x] = x[2 * o];
    __insert();
    __syncthreads();
    if (o < m && 2 * o + 2 < n)
        y[o] = s[2 * threadIdx.x] + __opt__(s[2 * threadIdx.x + 1], x[2 * o + 1])
             + __opt__(s[2 * threadIdx.x + 2], x[2 * o + 2]);
}
",
    );
    let all: Vec<[i64; 2]> = staged.checked.iter().map(|l| values(l, ["n", "m"])).collect();
    assert!(all.iter().any(|[n, m]| *n > 2 * m) && all.iter().any(|[n, m]| n < m), "{all:?}");
}

/// Between two sizes nothing lies where they are equal; blocks may begin beyond either.
#[test]
fn a_range_of_positions() {
    let staged = proved(
        "sizes_range",
        "__global__ void smooth(const float *x, float *y, int n, int lo, int hi) {
    __shared__ float s[64 + 2];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) s[threadIdx.x + 1] = x[i];
    __insert();
    __syncthreads();
    if (i >= lo && i < hi && i > 0 && i < n - 1)
        y[i] = __opt__(s[threadIdx.x], x[i - 1]) + __opt__(s[threadIdx.x + 2], x[i + 1]);
}
",
    );
    assert!(!staged.assumed.iter().any(|a| a.contains("begins beyond")), "{:?}", staged.assumed);
}

/// What is true or not is no number.
#[test]
fn truths_are_written_as_they_are() {
    let staged = proved(
        "sizes_truth",
        "#define B 16
__global__ void cross(const float *u, float *v, int nx, int ny) {
    __shared__ float s[B + 2][B + 2];
    int i = blockIdx.x * B + threadIdx.x + 1, j = blockIdx.y * B + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool ok = i < nx - 1 && j < ny - 1;
    if (ok) s[ty][tx] = u[j * nx + i];
    __insert();
    __syncthreads();
    if (ok)
        v[j * nx + i] = __opt__(s[ty][tx - 1], u[j * nx + i - 1]) + __opt__(s[ty - 1][tx], u[(j - 1) * nx + i])
                      - s[ty][tx];
}
",
    );
    let copies = staged.copies.join("\n");
    assert!(copies.contains("ok") && !copies.contains("ok != 0"), "{copies}");
    assert!(!copies.contains("= ok") && !copies.contains("ok =="), "{copies}");
}
