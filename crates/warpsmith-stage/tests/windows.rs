//! `--auto` on loops of constant length around each thread: box filters, convolutions, filters.

mod common;

use common::{emitted, tried};
use warpsmith_stage::auto::Counted;

fn requests(counted: &Counted<'_>) -> Option<f64> {
    Some(counted.counters.arrays.iter().map(|a| a.requests as f64).sum())
}

/// The text with a window, which is chosen.
fn window(name: &str, text: &str, array: &str, parts: &[&str]) {
    let chosen = tried("plain.cu", text, requests).unwrap_or_else(|(_, m)| panic!("{m}"));
    let tries = format!("{:?} {:?}", chosen.tried, chosen.declined);
    let best = chosen.best.unwrap_or_else(|| panic!("{name}: nothing is chosen of {tries}"));
    assert_eq!(best.name, format!("window of `{array}`"), "{name}: {tries}");
    for part in parts {
        assert!(best.text.contains(part), "{name}: {part}\n{}", best.text);
    }
    emitted(&format!("window_{name}"), &best.text);
}

#[test]
fn clamped_borders() {
    window(
        "clamped",
        "__global__ void box(const unsigned char *img, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += img[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
    out[y * w + x] = sum / 25;
}
int main() { dim3 b(32, 8); box<<<dim3(128, 512), b>>>(0, 0, 4096, 4096); }
",
        "img",
        &[
            "__shared__ unsigned char img_tile[8 + 4][32 + 4];",
            "const int x = (int)(blockIdx.x * 32) + img_x - 2;",
            "sum += img_tile[threadIdx.y + dy + 2][threadIdx.x + dx + 2];",
        ],
    );
}

/// Zeros beyond the image by `continue`, coefficients in constant memory, names for the thread's numbers.
#[test]
fn zeros_beyond_the_image() {
    window(
        "zeros",
        "#define R 3
#define K (2 * R + 1)
__constant__ float filt[K * K];
__global__ void conv(const float *__restrict__ img, float *__restrict__ out, int w, int h) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float acc = 0.f;
    if (x < w && y < h) {
        for (int ky = 0; ky < K; ky++) {
            for (int kx = 0; kx < K; kx++) {
                int sy = y + ky - R, sx = x + kx - R;
                if (sy < 0 || sy >= h || sx < 0 || sx >= w) continue;
                acc += filt[ky * K + kx] * img[sy * w + sx];
            }
        }
        out[y * w + x] = acc;
    }
}
int main() { conv<<<dim3(256, 256), dim3(16, 16)>>>(0, 0, 4096, 4096); }
",
        "img",
        &["img_tile[16 + K - 1][16 + K - 1 + 26];", "if (sy >= 0 && sy < h && sx >= 0 && sx < w)"],
    );
}

/// A subscript that falls as the counter grows.
#[test]
fn a_filter_of_one_axis() {
    window(
        "fir",
        "#define TAPS 16
__constant__ float coeff[TAPS];
__global__ void fir(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float s = 0.0f;
        for (int k = 0; k < TAPS; k++) if (i - k >= 0) s += coeff[k] * x[i - k];
        y[i] = s;
    }
}
int main() { fir<<<65536, 256>>>(0, 0, 1 << 24); }
",
        "x",
        &["x_tile[256 + TAPS - 1]", "x_tile[threadIdx.x - k + TAPS - 1]"],
    );
}

/// Threads at the border return: what lies around them must not be read. The subscript is a macro's.
#[test]
fn threads_at_the_border_return() {
    window(
        "returns",
        "#define IDX(r, c) ((r) * cols + (c))
__global__ void diffuse(const double *u, double *un, const int rows, const int cols, const double k)
{
    const int c = blockDim.x * blockIdx.x + threadIdx.x;
    const int r = blockDim.y * blockIdx.y + threadIdx.y;
    if (c <= 0 || r <= 0 || c >= cols - 1 || r >= rows - 1) { return; }
    double s = 0.0;
    for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b)
            s += u[IDX(r + a, c + b)];
    un[IDX(r, c)] = u[IDX(r, c)] + k * (s - 9.0 * u[IDX(r, c)]);
}
int main() { diffuse<<<dim3(64, 256), dim3(32, 8)>>>(0, 0, 2048, 2048, 0.1); }
",
        "u",
        &[
            "            if (c >= 0 && r >= 0 && c < cols && r < rows && cols > 2 && rows > 2)\n                u_tile[u_y][u_x] = u[IDX(r, c)];\n",
        ],
    );
}

/// Loops that `min` and `max` cut off at the border, as they stand and by bounds with names.
#[test]
fn loops_that_are_cut_off_at_the_border() {
    let text = |bounds: &str, first: &str, last: &str| {
        format!(
            "#define R 2
__global__ void mean(const float *img, float *out, int w, int h) {{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= w || r >= h) return;
    float sum = 0;
    int count = 0;{bounds}
    for (int y = {first}; y <= {last}; ++y)
        for (int x = max(0, c - R); x < min(c + R + 1, w); ++x) {{
            sum += img[y * w + x];
            ++count;
        }}
    out[r * w + c] = sum / count;
}}
int main() {{ mean<<<dim3(128, 512), dim3(32, 8)>>>(0, 0, 4096, 4096); }}
"
        )
    };
    let (low, high) = ("max(r - R, 0)", "min(r + R, h - 1)");
    let named = format!("\n    const int y0 = {low}, y1 = {high};");
    for (name, text) in [("cut", text("", low, high)), ("cut_named", text(&named, "y0", "y1"))] {
        let place = "img_tile[threadIdx.y + y - r + R][threadIdx.x + x - c + R]";
        window(name, &text, "img", &["img_tile[8 + 2 * R][32 + 2 * R];", place]);
    }
}

/// One loop along both axes, and reads outside of it; threads at the border do nothing.
#[test]
fn a_star_of_one_loop() {
    window(
        "star",
        "#define R 4
__constant__ float c[R + 1];
__global__ void wave(const float *u, float *out, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < R || x >= nx - R || y < R || y >= ny - R) return;
    int i = y * nx + x;
    float sum = 2.0f * c[0] * u[i];
    for (int r = 1; r <= R; r++)
        sum += c[r] * (u[i - r] + u[i + r] + u[i - r * nx] + u[i + r * nx]);
    out[i] = sum;
}
int main() { wave<<<dim3(128, 512), dim3(32, 8)>>>(0, 0, 4096, 4096); }
",
        "u",
        &[
            "__shared__ float u_tile[8 + 2 * R][32 + 2 * R];",
            "2.0f * c[0] * u_tile[threadIdx.y + R][threadIdx.x + R]",
            "u_tile[threadIdx.y + R][threadIdx.x - r + R] + u_tile[threadIdx.y + R][threadIdx.x + r + R]",
            "u_tile[threadIdx.y - r + R][threadIdx.x + R]",
            "x >= R && x < nx - R && y >= 0 && y < ny",
        ],
    );
}

/// Nothing is asked of threads: places say which corners nobody reads. The reach is the template's.
#[test]
fn a_star_of_a_padded_array() {
    window(
        "padded_star",
        "#define AT(i, j) ((j) * ld + (i))
template <int R> __global__ void smooth(const double *in, double *out, int ld, double a, double b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x + R, j = blockIdx.y * blockDim.y + threadIdx.y + R;
    double s = a * in[AT(i, j)];
    #pragma unroll
    for (int d = 1; d < R + 1; ++d)
        s += b * (in[AT(i + d, j)] + in[AT(i - d, j)] + in[AT(i, j + d)] + in[AT(i, j - d)]);
    out[AT(i, j)] = s;
}
int main() { smooth<3><<<dim3(64, 256), dim3(32, 8)>>>(0, 0, 2054, 0.5, 0.1); }
",
        "in",
        &[
            "in_tile[threadIdx.y + d + R][threadIdx.x + R]",
            "if ((in_y >= R && in_y < R + 8) || (in_x >= R && in_x < R + 32))",
        ],
    );
}

/// Positions that conditions move back into the image.
#[test]
fn positions_that_conditions_change() {
    window(
        "moved_back",
        "#define RAD 2
__global__ void box(const float *in, float *out, int w, int h) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= w || y >= h) return;
    float sum = in[y * w + x];
    for (int i = -RAD; i <= RAD; i++) {
        for (int j = -RAD; j <= RAD; j++) {
            int xx = x + j, yy = y + i;
            if (xx < 0) xx = 0;
            if (xx > w - 1) xx = w - 1;
            yy = max(yy, 0);
            yy = min(yy, h - 1);
            sum += in[yy * w + xx];
        }
    }
    out[y * w + x] = sum;
}
int main() { box<<<dim3(60, 135), dim3(32, 8)>>>(0, 0, 1920, 1080); }
",
        "in",
        &[
            "            int xx = x;\n            int yy = y;\n",
            "            if (xx < 0) xx = 0;\n            if (xx > w - 1) xx = w - 1;\n            yy = max(yy, 0);\n",
            // What moved the position of a read that is gone is gone, too.
            "        for (int j = -RAD; j <= RAD; j++) {\n            sum += in_tile[threadIdx.y + i + RAD][threadIdx.x + j + RAD];\n",
        ],
    );
}

/// A read through a macro: the declarations that only its arguments were made of go, the others stay.
#[test]
fn declarations_for_reads_through_macros() {
    window(
        "macro_declarations",
        "#define IDX(r, c) ((r) * cols + (c))
__global__ void sums(const float *u, float *v, int rows, int cols) {
    const int c = blockDim.x * blockIdx.x + threadIdx.x;
    const int r = blockDim.y * blockIdx.y + threadIdx.y;
    if (c < 1 || r < 1 || c >= cols - 1 || r >= rows - 1) return;
    float s = 0.0f;
    for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b) {
            const int rr = r + a, cc = c + b, far = a * a + b * b;
            s += u[IDX(rr, cc)] * far;
        }
    v[IDX(r, c)] = s;
}
int main() { sums<<<dim3(64, 256), dim3(32, 8)>>>(0, 0, 2048, 2048); }
",
        "u",
        &[
            "            const int far = a * a + b * b;\n            s += u_tile[threadIdx.y + a + 1][threadIdx.x + b + 1] * far;\n",
        ],
    );
}

/// Two loops along one axis: the second image is shifted by each disparity.
#[test]
fn two_loops_along_one_axis() {
    window(
        "shifted",
        "#define WIN 1
#define MAXD 8
__global__ void disparity(const int *right, int *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < WIN + MAXD || x >= w - WIN || y < WIN || y >= h - WIN) return;
    int all = 0;
    for (int d = 0; d < MAXD; d++)
        for (int dy = -WIN; dy <= WIN; dy++)
            for (int dx = -WIN; dx <= WIN; dx++)
                all += abs(right[(y + dy) * w + x + dx - d]) * (d + 1);
    out[y * w + x] = all;
}
int main() { disparity<<<dim3(20, 60), dim3(32, 8)>>>(0, 0, 640, 480); }
",
        "right",
        &[
            "right_tile[8 + 2 * WIN][32 + 2 * WIN + MAXD - 1];",
            "right_tile[right_y][right_x] = right[y * w + x];",
            "right_tile[threadIdx.y + dy + WIN][threadIdx.x - d + dx + MAXD + WIN - 1]",
        ],
    );
}

/// Reads that are a constant number of elements apart.
#[test]
fn dilated_windows() {
    window(
        "dilated",
        "#define D 2
__global__ void dilated(const float *in, const float *k, float *out, int h, int w) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    float s = 0;
    for (int r = -1; r <= 1; r++)
        for (int c = 0; c < 3; c++) {
            int yy = y + r * D, xx = x + (c - 1) * D;
            if (yy >= 0 && yy < h && xx >= 0 && xx < w) s += in[yy * w + xx] * k[(r + 1) * 3 + c];
        }
    out[y * w + x] = s;
}
int main() { dilated<<<dim3(60, 135), dim3(32, 8)>>>(0, 0, 0, 1080, 1920); }
",
        "in",
        &[
            "in_tile[8 + 2 * D][32 + 2 * D];",
            "in_tile[threadIdx.y + r * D + D][threadIdx.x + c * D]",
        ],
    );
}
