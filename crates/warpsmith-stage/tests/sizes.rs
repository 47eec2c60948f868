//! Several sizes along one axis: what holds where they are equal need not where they are not.

mod common;

use common::{emitted, planned, proved};

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

/// Two results for each element: blocks have to come to the last of them, or its edge is never seen.
#[test]
fn more_results_than_elements() {
    let staged = planned(
        "#define BX 32
__global__ void up(const float *in, float *out, int w) {
    __shared__ float s[BX / 2 + 1];
    int i = blockIdx.x * BX + threadIdx.x, x = i / 2;
    if (i < 2 * w && i % 2 == 0) s[threadIdx.x / 2] = in[x];
    __syncthreads();
    if (i >= 2 * w) return;
    int next = min(x + 1, w - 1);
    float f = 0.5f * (i % 2);
    out[i] = __opt__(in[x]) * (1 - f) + __opt__(in[next]) * f;
}
",
    );
    let staged = staged.unwrap_or_else(|(_, m)| panic!("{m}"));
    emitted("sizes_up", &staged.text);
    let covered = |launch: &String| {
        let grid = launch.split_once("grid ").and_then(|(_, g)| g.split([',', 'x']).next());
        let [w, _] = values(launch, ["w", "w"]);
        grid.and_then(|g| g.parse::<i64>().ok()).is_some_and(|g| g > 1 && g * 32 >= 2 * w)
    };
    assert!(staged.checked.iter().any(covered), "{:?}", staged.checked);
    assert!(!staged.text.contains("? x :"), "{}", staged.text);
}

/// A block is what the arguments of its template say, not what others are launched with.
#[test]
fn an_instance_has_one_block() {
    let staged = proved(
        "sizes_instance",
        "template <typename T, int TX, int TY, int R>
__global__ void erode(const T *src, T *dst, int w, int h) {
    __shared__ T t[TY + 2 * R][TX];
    const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x < w && y < h) {
        t[threadIdx.y + R][threadIdx.x] = src[y * w + x];
        __insert();
    }
    __syncthreads();
    if (x >= w || y >= h) return;
    T m = t[threadIdx.y + R][threadIdx.x];
    for (int d = -R; d <= R; d++) {
        T v = __opt__(t[threadIdx.y + R + d][threadIdx.x], src[max(0, min(h - 1, y + d)) * w + x]);
        m = v < m ? v : m;
    }
    dst[y * w + x] = m;
}
template __global__ void erode<int, 32, 8, 1>(const int *, int *, int, int);
",
    );
    assert!(staged.checked.iter().all(|l| l.starts_with("block 32x8")), "{:?}", staged.checked);
}
