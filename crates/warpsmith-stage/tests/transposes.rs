//! `--auto` on kernels whose reads and stores go across each other in loops, or behind threads that have ended.

mod common;

use common::{emitted, tried};
use warpsmith_emu::counters::InstructionClass;
use warpsmith_stage::auto::{self, Chosen, Counted};
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::Input;

/// Sectors of global memory are what costs.
fn sectors(counted: &Counted<'_>) -> Option<f64> {
    let c = counted.counters;
    let blocks: u32 = counted.config.grid.iter().product();
    if f64::from(blocks) < counted.own_blocks {
        return Some(f64::MAX);
    }
    let sectors: u64 = c.arrays.iter().map(|a| a.sectors).sum();
    let loads = c.class(InstructionClass::GlobalLoad).warps + sectors;
    Some(loads as f64 * counted.times.unwrap_or(1.0))
}

fn choose(text: &str) -> Chosen {
    tried("plain.cu", text, sectors).unwrap_or_else(|(_, m)| panic!("{m}"))
}

/// The text with a transposing tile, which is chosen.
fn transposed(name: &str, text: &str, array: &str, parts: &[&str]) {
    let chosen = choose(text);
    let tried = format!("{:?} {:?}", chosen.tried, chosen.declined);
    let best = chosen.best.unwrap_or_else(|| panic!("{name}: nothing is chosen of {tried}"));
    assert_eq!(best.name, format!("transposing tile of `{array}`"), "{name}: {tried}");
    assert!(!best.checked.is_empty(), "{name}");
    for part in parts {
        assert!(best.text.contains(part), "{name}: {part}\n{}", best.text);
    }
    emitted(&format!("transpose_{name}"), &best.text);
}

/// The side of the tile is a parameter of the template, and only the user says how many rows a block has.
#[test]
fn a_tile_of_a_template_with_a_block_of_the_user() {
    for (head, side) in [("template <int W>\n", "W"), ("", "32")] {
        let text = format!(
            "{head}__global__ void transpose(const float *in, float *out, int n, int m) {{
    int x = blockIdx.x * {side} + threadIdx.x;
    int y = blockIdx.y * {side} + threadIdx.y;
    for (int j = 0; j < {side}; j += 8)
        if (x < n && y + j < m) out[x * m + y + j] = in[(y + j) * n + x];
}}
{}",
            if head.is_empty() {
                ""
            } else {
                "template __global__ void transpose<32>(const float *, float *, int, int);\n"
            }
        );
        let settings = Settings { path: "plain.cu".into(), ..Settings::default() };
        let block = Some([32, 8, 1]);
        let input = Input { settings, text, block, ..Input::default() };
        let chosen = auto::choose(&input, &sectors).unwrap_or_else(|r| panic!("{r:?}"));
        assert!(chosen.counted.starts_with("block 32x8"), "{}", chosen.counted);
        let tries = format!("{:?} {:?}", chosen.tried, chosen.declined);
        let best = chosen.best.unwrap_or_else(|| panic!("nothing is chosen of {tries}"));
        let tile = "in_tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];";
        assert!(best.text.contains(tile), "{tries}\n{}", best.text);
        emitted(&format!("transpose_given_{side}"), &best.text);
    }
}

/// Side and rows are parameters of the template, which the launch gives.
#[test]
fn a_tile_of_a_template_that_is_launched() {
    transposed(
        "launched",
        "template <int TILE, int ROWS>
__global__ void turn(const double *from, double *to, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int in = x + width * y, out = y + height * x;
    for (int i = 0; i < TILE; i += ROWS) to[out + i] = from[in + i * width];
}
int main() { turn<16, 4><<<dim3(8, 8), dim3(16, 4)>>>(nullptr, nullptr, 128, 128); }
",
        "from",
        &[
            "from_tile[threadIdx.y + i][threadIdx.x] = from[in + i * width];",
            // The other half's position is used no more where the kernel had it.
            "\n    int in = x + width * y;\n",
            "\n        int out = y + height * x;\n",
        ],
    );
}

#[test]
fn blocks_go_down_their_tiles() {
    transposed(
        "rows",
        "const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;
__global__ void naive(float *odata, const float *idata) {
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    int width = gridDim.x * TILE_DIM;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[x * width + (y + j)] = idata[(y + j) * width + x];
}
int main() {
    dim3 grid(8, 8, 1), block(TILE_DIM, BLOCK_ROWS, 1);
    naive<<<grid, block>>>(0, 0);
}
",
        "idata",
        &[
            "    static_assert(TILE_DIM % BLOCK_ROWS == 0, \"blocks go down a tile in whole steps\");\n",
            "        idata_tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];\n    }\n    __syncthreads();\n",
            "        int x = blockIdx.x * TILE_DIM + threadIdx.y + j;\n        int y = blockIdx.y * TILE_DIM + threadIdx.x;\n",
            "        odata[x * width + y] = idata_tile[threadIdx.x][threadIdx.y + j];\n",
        ],
    );
}

/// The iteration's number times the block's rows is added, in a variable of the loop, under a condition.
#[test]
fn rows_are_counted_in_blocks() {
    transposed(
        "counted",
        "__global__ void to_rows(const double *in, double *out, int channels, int pixels) {
    int image = blockIdx.z;
    int p = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        int c = blockIdx.y * 32 + threadIdx.y + k * 8;
        if (p < pixels && c < channels)
            out[(image * pixels + p) * channels + c] = in[(image * channels + c) * pixels + p];
    }
}
int main() { to_rows<<<dim3(4, 2, 2), dim3(32, 8)>>>(0, 0, 48, 100); }
",
        "in",
        &[
            "in_tile[threadIdx.y + k * 8][threadIdx.x]",
            "int p = blockIdx.x * 32 + threadIdx.y + k * 8;",
            "int c = blockIdx.y * 32 + threadIdx.x;",
        ],
    );
}

/// Threads beyond the matrix end before the loop: they have to come to its barriers.
#[test]
fn several_matrices_behind_a_return() {
    transposed(
        "batches",
        "__global__ void batches(const float *a, float *b, int rows, int cols, int count)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= cols || r >= rows) return;
    for (int n = 0; n < count; ++n)
        b[n * rows * cols + c * rows + r] = a[n * rows * cols + r * cols + c];
}
int main() { batches<<<dim3(64, 64), dim3(16, 16)>>>(0, 0, 1024, 1024, 3); }
",
        "a",
        &["if (!(c >= cols || r >= rows))", "        __syncthreads();\n    }\n}\n"],
    );
}

/// Tiles that a block comes to in steps of the grid: what depends on the thread is declared in the loop.
#[test]
fn tiles_in_steps_of_the_grid() {
    transposed(
        "steps",
        "#define TS 16
__global__ void tr(double *B, const double *A, int m, int n)
{
    for (int by = blockIdx.y; by < (m + TS - 1) / TS; by += gridDim.y) {
        int i = by * TS + threadIdx.y;
        int j = blockIdx.x * TS + threadIdx.x;
        if (i < m && j < n) B[j * m + i] = A[i * n + j];
    }
}
int main() { tr<<<dim3(5, 2), dim3(TS, TS)>>>(0, 0, 100, 70); }
",
        "A",
        &[
            "            int i = by * TS + threadIdx.x;\n            int j = blockIdx.x * TS + threadIdx.y;\n",
        ],
    );
}

/// Rows are stored and columns are read: threads change places to copy.
#[test]
fn columns_are_read() {
    transposed(
        "columns",
        "#define T 16
__global__ void flip(const float *src, float *dst, int h, int w)
{
    const int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    if (x < w && y < h) {
        const float v = src[x * h + y];
        dst[y * w + x] = 2.0f * v;
    }
}
",
        "src",
        &[
            "const int x = blockIdx.x * T + threadIdx.y, y = blockIdx.y * T + threadIdx.x;",
            "dst[y * w + x] = 2.0f * v;",
        ],
    );
}

/// Something is done behind the store, in the same loop: not all of it would be done by the thread that did it.
#[test]
fn what_stands_behind_the_store_is_left_alone() {
    let chosen = choose(
        "#define T 16
__global__ void counted(const float *in, float *out, int *done, int n, int batches)
{
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    if (x >= n || y >= n) return;
    for (int b = 0; b < batches; ++b) {
        out[(b * n + x) * n + y] = in[(b * n + y) * n + x];
        atomicAdd(done, 1);
    }
}
",
    );
    let named = |name: &str| chosen.tried.iter().any(|t| t.name.contains(name));
    assert!(!named("transposing"), "{:?}", chosen.tried);
}

/// A kernel that is right for one block alone, of which nothing in the file tells, gets no tile of another one: with a block of
/// 16 by 16 it would leave most elements out, and a launch as it is meant would leave such a tile.
#[test]
fn a_block_that_nothing_tells_is_not_made_up() {
    let text = |x: &str| {
        format!(
            "template <int W>
__global__ void turn(float *o, const float *i, int rows, int cols) {{
    int x = {x}, y = blockIdx.y * W + threadIdx.y;
    for (int k = 0; k < W; k += 8)
        if (x < cols && y + k < rows) o[x * rows + y + k] = i[(y + k) * cols + x];
}}
template __global__ void turn<32>(float *, const float *, int, int);
"
        )
    };
    for x in ["blockIdx.x * W + threadIdx.x", "blockIdx.x * blockDim.x + threadIdx.x"] {
        let chosen = choose(&text(x));
        assert!(chosen.best.is_none(), "{x}: {}", chosen.best.unwrap().text);
        let turned = |t: &auto::Tried| t.name.contains("transposing");
        assert!(!chosen.tried.iter().any(turned), "{x}: {:?}", chosen.tried);
    }
}

/// Types of casts in subscripts are no variables that a copy would have to wait for.
#[test]
fn subscripts_with_casts() {
    let text = "__global__ void batches(float *out, const float *in, int rows, int cols) {
    int c = blockIdx.x * 32 + threadIdx.x;
    int r = blockIdx.y * 32 + threadIdx.y;
    if (c < cols && r < rows)
        out[(size_t)blockIdx.z * rows * cols + (size_t)c * rows + r] =
            in[(size_t)blockIdx.z * rows * cols + (size_t)r * cols + c];
}
void host(float *out, const float *in, int rows, int cols, int n) {
    dim3 grid((cols + 31) / 32, (rows + 31) / 32, n);
    batches<<<grid, dim3(32, 32)>>>(out, in, rows, cols);
}
";
    let parts = ["(size_t)r * cols + c", "__syncthreads();", "[32][32 + 1]"];
    transposed("casts", text, "in", &parts);
}

/// The sign of a velocity decides which neighbours are read: arrays are long enough for all of them, so that no read outside of one
/// is taken for what a tile holds before it is written. A guard of that kind passed the search and was wrong in a check.
#[test]
fn reads_that_data_decide_on() {
    let text = "__global__ void advect(const float *q, const float *u, const float *v, float *qn, int nx, int ny, float s) {
    unsigned ix = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix == 0 || iy == 0 || ix >= nx - 1 || iy >= ny - 1) return;
    unsigned id = iy * nx + ix;
    float uu = u[id], vv = v[id];
    float dqx = uu > 0 ? q[id] - q[id - 1] : q[id + 1] - q[id];
    float dqy = vv > 0 ? q[id] - q[id - nx] : q[id + nx] - q[id];
    qn[id] = q[id] - s * (uu * dqx + vv * dqy);
}
void host(float *q, float *u, float *v, float *qn, int nx, int ny) {
    advect<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(q, u, v, qn, nx, ny, 0.1f);
}
";
    let chosen = choose(text);
    let tiles: Vec<_> = chosen.tried.iter().filter(|t| t.name.starts_with("tile")).collect();
    let refuted = |why: &String| why.contains("not right");
    assert!(!tiles.is_empty(), "{:?}", chosen.tried);
    assert!(!tiles.iter().any(|t| t.failed.as_ref().is_some_and(refuted)), "{tiles:?}");
}
