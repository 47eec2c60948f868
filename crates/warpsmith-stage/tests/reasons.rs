//! What is said of kernels that no plan is made for.

mod common;

use common::tried;
use warpsmith_stage::auto::{Chosen, Counted};

/// Requests to global memory are what costs, so that tiles are worth it.
fn requests(counted: &Counted<'_>) -> Option<f64> {
    Some(counted.counters.arrays.iter().map(|a| a.requests as f64).sum())
}

fn choose(text: &str) -> Result<Chosen, (bool, String)> {
    tried("plain.cu", text, requests)
}

#[test]
fn gathers_are_declined() {
    for (text, reason) in [
        (
            "__global__ void gather(const float *v, const int *at, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = v[at[i]];
}
",
            "`v`: data decide on its subscripts",
        ),
        (
            "__global__ void permute(const int *v, const int *at, int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int from = at[i];
    o[i] = v[from] + v[from + 1];
}
",
            "`v`: data decide on its subscripts",
        ),
    ] {
        let chosen = choose(text).unwrap_or_else(|(_, message)| panic!("{message}"));
        assert!(chosen.best.is_none(), "a plan was chosen for\n{text}");
        assert!(chosen.declined.iter().any(|d| d.starts_with(reason)), "{:?}", chosen.declined);
    }
}

/// Reads that no plan is made for are named, each with what they are.
#[test]
fn reasons_say_what_is_read_and_how() {
    for (text, reason) in [
        (
            "__global__ void smooth(const float *in, float *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 2; i += blockDim.x * gridDim.x)
        out[i] = in[i] + in[i + 1] + in[i + 2];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 2; i += blockDim.x * gridDim.x)
        out[i] *= 0.5f;
}
",
            "`in`: each thread goes through a loop from an element of its own and may leave it before others do",
        ),
        (
            "__device__ float slope(const float *p, int x, int y, int w) { return p[y * w + x] - p[y * w + x - 1]; }
__global__ void edges(const float *img, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w && y < h) out[y * w + x] = slope(img, x, y, w);
}
",
            "`img`: which element `slope(…)` reads for a thread is not understood",
        ),
        (
            "__device__ float both(const float *p, const float *q, int i) { return p[i] * q[i + 1]; }
__global__ void products(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) out[i] = both(a, b, i);
}
",
            "`a` is passed to `both`, and of functions only those that return one element of one array are looked into",
        ),
        (
            "__global__ void swapped(float *a) {
    __shared__ float s[128];
    s[threadIdx.x] = a[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    a[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}
",
            "the kernel has tiles already",
        ),
        (
            "struct Image { float *data; int width, height; };
__global__ void smooth(Image src, Image dst) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    src.data += src.width;
    if (x > 0 && x < src.width && y < src.height)
        dst.data[y * src.width + x] = src.data[y * src.width + x] + src.data[y * src.width + x - 1];
}
",
            "`src.data`: where the pointer in the structure leads is not followed: pass it to the kernel as a parameter of its own",
        ),
        (
            "__global__ void dot(const float *a, float *c, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const float *p = a + row;
    float s = 0;
    for (int k = 0; k < n; k++) { s += *p; p += n; }
    c[row] = s;
}
",
            "`a` is read through `p`, which moves, and what moves is not followed: read it by a subscript of `a`",
        ),
    ] {
        let chosen = choose(text).unwrap_or_else(|(_, message)| panic!("{message}"));
        assert!(chosen.best.is_none(), "a plan was chosen for\n{text}");
        assert!(chosen.declined.iter().any(|d| d.starts_with(reason)), "{:?}", chosen.declined);
    }
}

/// What a macro stores has no text of its own that could be written anew, which is another reason than having no stores.
#[test]
fn a_store_by_macro_is_said_to_be_one() {
    let chosen = choose(
        "#define AT(a, x, y) a[(y) * w + (x)]
__global__ void blur(const float *img, float *res, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y < h) AT(res, x, y) = AT(img, x - 1, y) + AT(img, x + 1, y);
}
",
    )
    .unwrap_or_else(|(_, m)| panic!("{m}"));
    let said = Some("a macro names the element that it stores to");
    assert_eq!([chosen.single.as_deref(), chosen.narrow.as_deref()], [said, said]);
}

/// A kernel that stores across rows in a loop stays, and the reason is not that it reads rows.
#[test]
fn reasons_name_what_is_scattered() {
    let chosen = choose(
        "template <int TILE>
__global__ void turn(const double *from, double *to, int width, int height, int rows) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int in = x + width * y, out = y + height * x;
    for (int i = 0; i < TILE; i += rows) to[out + i] = from[in + i * width];
}
int main() { turn<16><<<dim3(8, 8), dim3(16, 4)>>>(nullptr, nullptr, 128, 128, 4); }
",
    );
    let chosen = chosen.unwrap_or_else(|(_, message)| panic!("{message}"));
    assert!(chosen.best.is_none(), "{:?}", chosen.best.map(|b| b.name));
    let reasons = chosen.declined;
    let scattered = "`to`: neighbours store elements that lie apart";
    assert!(reasons.iter().any(|r| r.starts_with(scattered)), "{reasons:?}");
}
