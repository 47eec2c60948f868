//! `--auto` on elements that are not written `a[i]`, and in loops of a thread over elements of its own.

mod common;

use common::{emitted, tried};
use warpsmith_stage::auto::{Chosen, Counted};

/// Requests to global memory are what costs.
fn requests(counted: &Counted<'_>) -> Option<f64> {
    Some(counted.counters.arrays.iter().map(|a| a.requests as f64).sum())
}

fn choose(text: &str) -> Chosen {
    tried("plain.cu", text, requests).unwrap_or_else(|(_, m)| panic!("{m}"))
}

/// The text of the plan that is chosen, which has a name.
fn best(name: &str, text: &str, parts: &[&str]) {
    let chosen = choose(text);
    let tried = format!("{:?} {:?}", chosen.tried, chosen.declined);
    let best = chosen.best.unwrap_or_else(|| panic!("nothing is chosen of {tried}"));
    assert_eq!(best.name, name, "{tried}\n{}", best.text);
    assert!(!best.checked.is_empty(), "{name}");
    for part in parts {
        assert!(best.text.contains(part), "{part}\n{}", best.text);
    }
    let file: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    emitted(&format!("indirect_{file}"), &best.text);
}

/// Plans that were tried and passed all checks.
fn passed(chosen: &Chosen, name: &str) -> bool {
    chosen.tried.iter().any(|t| t.name == name && t.failed.is_none())
}

#[test]
fn a_function_reads_and_knows_the_border() {
    best(
        "window of `img`",
        "#define RAD 2
__device__ __forceinline__ unsigned char px(const unsigned char *p, int x, int y, int w, int h)
{
    if (x < 0 || y < 0 || x >= w || y >= h) return 0;
    return p[y * w + x];
}
__global__ void dilate(const unsigned char *img, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned char m = 0;
    for (int j = -RAD; j <= RAD; ++j)
        for (int i = -RAD; i <= RAD; ++i)
            m = max(m, px(img, x + i, y + j, w, h));
    out[y * w + x] = m;
}
int main() { dilate<<<dim3(20, 15), dim3(16, 16)>>>(0, 0, 320, 240); }
",
        &[
            "__shared__ unsigned char img_tile[16 + 2 * RAD][16 + 2 * RAD];",
            "img_tile[img_y][img_x] = px(img, x, y, w, h);",
            "m = max(m, img_tile[threadIdx.y + j + RAD][threadIdx.x + i + RAD]);",
        ],
    );
}

/// What a function returns may be of another type than what it reads: tiles hold what it returns.
#[test]
fn a_function_converts_what_it_reads() {
    best(
        "window of `img`",
        "__device__ float grey(const unsigned char *p, int i) { return p[i] * (1.0f / 255.0f); }
__global__ void mean(const unsigned char *img, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.0f;
    for (int k = 0; k < 9; ++k)
        s += grey(img, i + k);
    out[i] = s / 9.0f;
}
int main() { mean<<<64, 256>>>(0, 0, 1 << 14); }
",
        &["__shared__ float img_tile[256 + 8];"],
    );
}

/// The radius is a parameter of the kernel's template.
#[test]
fn a_radius_of_a_template() {
    best(
        "window of `in`",
        "template <int R>
__global__ void box(const int *in, int *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        int s = 0;
        for (int dy = -R; dy <= R; ++dy)
            for (int dx = -R; dx <= R; ++dx) {
                int u = min(max(x + dx, 0), w - 1), v = min(max(y + dy, 0), h - 1);
                s += in[v * w + u];
            }
        out[y * w + x] = s;
    }
}
int main() { box<3><<<dim3(10, 30), dim3(32, 8)>>>(0, 0, 320, 240); }
",
        &["__shared__ int in_tile[8 + 2 * R][32 + 2 * R];"],
    );
}

/// Each read is a call; addresses are told apart by the order in which calls are made.
#[test]
fn neighbours_by_a_function() {
    let chosen = choose(
        "__device__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
__device__ float at(const float *a, int i, int j, int nx, int ny)
{
    return a[clampi(j, 0, ny - 1) * nx + clampi(i, 0, nx - 1)];
}
__global__ void diffuse(const float *a, float *b, int nx, int ny, float k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j < ny) {
        float c = at(a, i, j, nx, ny);
        b[j * nx + i] = c + k * (at(a, i - 1, j, nx, ny) + at(a, i + 1, j, nx, ny)
            + at(a, i, j - 1, nx, ny) + at(a, i, j + 1, nx, ny) - 4 * c);
    }
}
int main() { diffuse<<<dim3(13, 7), dim3(16, 16)>>>(0, 0, 200, 100, 0.1f); }
",
    );
    assert!(passed(&chosen, "tile with a halo of `a`"), "{:?}", chosen.tried);
    assert!(passed(&chosen, "tile of `a`"), "{:?}", chosen.tried);
}

/// A macro makes the whole element, of what is read and of what is stored.
#[test]
fn elements_of_macros() {
    best(
        "tile with a halo of `g`",
        "#define BX 32
#define BY 8
#define AT(arr, r, c) arr[(r) * ld + (c)]
__global__ void lap(const float *g, float *o, int rows, int cols, int ld)
{
    int c = blockIdx.x * BX + threadIdx.x;
    int r = blockIdx.y * BY + threadIdx.y;
    if (r > 0 && r < rows - 1 && c > 0 && c < cols - 1)
        AT(o, r, c) = AT(g, r, c + 1) + AT(g, r, c - 1) + AT(g, r + 1, c) + AT(g, r - 1, c) - 4.f * AT(g, r, c);
}
int main() { lap<<<dim3(4, 8), dim3(BX, BY)>>>(0, 0, 64, 100, 128); }
",
        &["g_tile[threadIdx.y + 1][threadIdx.x + 1] = AT(g, r, c);", "AT(o, r, c) = g_tile["],
    );
}

#[test]
fn elements_of_several_subscripts() {
    best(
        "tile with a halo of `b`",
        "#define N 128
__global__ void jacobi(float (*a)[N], const float (*b)[N])
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1)
        a[i][j] = 0.25f * (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]);
}
int main() { jacobi<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(0, 0); }
",
        &["b_tile[threadIdx.y + 1][threadIdx.x + 1] = b[i][j];"],
    );
}

/// `o.x = …` assigns to a member: the position `x` stays what it was.
#[test]
fn elements_that_are_vectors() {
    let chosen = choose(
        "__global__ void blur(const float4 *in, float4 *out, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {
        float4 l = in[y * w + x - 1], r = in[y * w + x + 1], t = in[(y - 1) * w + x], b = in[(y + 1) * w + x];
        float4 o;
        o.x = (l.x + r.x + t.x + b.x) * 0.25f;
        o.y = (l.y + r.y + t.y + b.y) * 0.25f;
        o.z = (l.z + r.z + t.z + b.z) * 0.25f;
        o.w = l.w;
        out[y * w + x] = o;
    }
}
int main() { blur<<<dim3(4, 12), dim3(32, 8)>>>(0, 0, 128, 96); }
",
    );
    assert!(passed(&chosen, "tile with a halo of `in`"), "{:?}", chosen.tried);
}

#[test]
fn blocks_go_through_loops_together() {
    best(
        "`i` by blocks, tile with a halo of `src`",
        "__global__ void smooth(const float *__restrict__ src, float *__restrict__ dst, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (i > 1 && i < n - 2)
            dst[i] = 0.1f * src[i - 2] + 0.2f * src[i - 1] + 0.4f * src[i] + 0.2f * src[i + 1] + 0.1f * src[i + 2];
        else
            dst[i] = src[i];
    }
}
int main() { smooth<<<16, 256>>>(0, 0, 10000); }
",
        &[
            "    for (int i_first = blockIdx.x * blockDim.x; i_first < n; i_first += gridDim.x * blockDim.x) {
        const int i = i_first + threadIdx.x;
",
        ],
    );
}

/// Two loops within each other, from names of the thread's place.
#[test]
fn two_loops_of_a_grid() {
    let chosen = choose(
        "__global__ void laplace(const double *u, double *lap, int w, int h)
{
    const int x0 = blockIdx.x * blockDim.x + threadIdx.x;
    const int y0 = blockIdx.y * blockDim.y + threadIdx.y;
    for (int y = y0; y < h; y += blockDim.y * gridDim.y)
        for (int x = x0; x < w; x += blockDim.x * gridDim.x) {
            double s = 4.0 * u[y * w + x];
            if (x > 0) s -= u[y * w + x - 1];
            if (x < w - 1) s -= u[y * w + x + 1];
            lap[y * w + x] = s;
        }
}
int main() { laplace<<<dim3(4, 8), dim3(32, 8)>>>(0, 0, 500, 300); }
",
    );
    assert!(passed(&chosen, "`y` and `x` by blocks, tile of `u`"), "{:?}", chosen.tried);
}

/// Which neighbours are read is known when the kernel runs: the tile holds those of both sides.
#[test]
fn data_choose_the_neighbour() {
    let text = "#define BX 32
#define BY 8
__global__ void upwind(const float *q, const float *u, const float *v, float *out, int nx, int ny) {
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        int c = j * nx + i;
        float dx = u[c] > 0 ? q[c] - q[c - 1] : q[c + 1] - q[c];
        float dy = v[c] > 0 ? q[c] - q[c - nx] : q[c + nx] - q[c];
        out[c] = q[c] - 0.1f * (u[c] * dx + v[c] * dy);
    }
}
int main() { upwind<<<dim3(32, 128), dim3(BX, BY)>>>(0, 0, 0, 0, 1024, 1024); }
";
    let shared = |c: &Counted<'_>| Some(if c.shared > 0 { 0.5 } else { 1.0 });
    let best = tried("plain.cu", text, shared).expect("plans").best.expect("a plan");
    assert_eq!(best.name, "tile with a halo of `q`");
    for part in ["threadIdx.x == 0 || i == 1", "threadIdx.y == BY - 1 || j == ny - 2"] {
        assert!(best.text.contains(part), "{}", best.text);
    }
    emitted("indirect_upwind", &best.text);
}

#[test]
fn positions_that_are_divided_are_not_one_element() {
    let chosen = choose(
        "__global__ void twice(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 2 * w || y >= 2 * h) return;
    int x0 = x / 2, y0 = y / 2, x1 = min(x0 + 1, w - 1);
    float f = 0.5f * (x % 2);
    out[y * 2 * w + x] = in[y0 * w + x0] * (1 - f) + in[y0 * w + x1] * f;
}
int main() { twice<<<dim3(32, 128), dim3(32, 8)>>>(0, 0, 512, 512); }
",
    );
    assert!(chosen.best.is_none());
    let why = "`in`: threads of a block read what others read, too, but no plan for that is known, or none passed its checks";
    assert_eq!(chosen.declined, [why]);
}
