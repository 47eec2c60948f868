//! Constants of the file that plans depend on: the staged text is right with other values of them, or does not compile with those.

mod common;

use common::{emitted, planned, tried};
use warpsmith_emu::Checks;
use warpsmith_ir::FileId;
use warpsmith_stage::auto::Counted;
use warpsmith_stage::launch::Fit;
use warpsmith_stage::memory::{self, Data, Values};
use warpsmith_stage::program::{self, Settings};
use warpsmith_stage::session::{Input, Session};
use warpsmith_stage::source::marks;

/// What the plan of a text becomes.
fn staged(text: &str) -> String {
    match planned(text) {
        Ok(staged) => staged.text,
        Err((_, said)) => panic!("{said}"),
    }
}

fn plain(text: &str) -> String {
    let marks = marks::find(text, FileId(0)).expect("marks");
    marks::reference(text, &marks)
}

/// Both texts with one of them changed in the same place. `Err`: the second one does not compile then, or differs from the first in
/// a launch; with what is said.
fn same(original: &str, staged: &str, [from, to]: [&str; 2]) -> Result<(), String> {
    assert!(original.contains(from) && staged.contains(from), "`{from}` stands in both");
    let (text, after) = (plain(&original.replace(from, to)), staged.replace(from, to));
    let settings = Settings { path: "plan.cu".into(), ..Settings::default() };
    let input = Input { settings, text: text.clone(), plain: true, ..Input::default() };
    let mut session = Session::new(input).map_err(|r| format!("{:?}", r.diagnostics))?;
    let own = session.own.unwrap_or([16, 16, 1]);
    let said = |d: Vec<warpsmith_ir::Diagnostic>| d[0].message.clone();
    let mut looked = 0;
    for (blocks, fit) in [(3, Fit::Ragged(3)), (2, Fit::Exact), (4, Fit::Single)] {
        let suited = session.suited(own, blocks, fit).map_err(|r| said(r.diagnostics))?;
        let Some(suited) = suited.filter(|s| !s.idle) else { continue };
        looked += 1;
        let mut results = vec![];
        for text in [&text, &after] {
            let kernel = session.kernel.clone();
            let p =
                session.compiler.compile(text, &suited.launch.constants, &kernel).map_err(said)?;
            let data = Data { seed: 3, tagged: &[], kind: Values::Tagged };
            let mut memory = memory::prepare(&p, &suited.launch, Some(&suited.lengths), data)
                .map_err(|d| d.message)?;
            let outcome = program::run(&p, &memory.config, &mut memory.memory, Checks::ALL)
                .map_err(|d| d.message)?;
            program::nothing_found(&outcome)?;
            results.push(memory.memory.buffers.into_iter().map(|b| b.bytes).collect::<Vec<_>>());
        }
        if results[0] != results[1] {
            return Err(format!("differs at {}", suited.launch.describe()));
        }
    }
    assert!(looked > 0, "a launch in which the kernel stores something");
    Ok(())
}

const COLUMNS: &str = r"
#define BX 32
#define BY 8
#define R 4
__constant__ float w[64];
__global__ void columns(const float *in, float *out, int nx, int ny) {
    __shared__ float tile[BY + 2 * R][BX];
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    int ci = min(i, nx - 1), cj = min(j, ny - 1);
    tile[threadIdx.y + R][threadIdx.x] = in[cj * nx + ci];
    __syncthreads();
    if (i < nx && j < ny) {
        float s = 0.f;
        for (int d = -R; d <= R; d++) {
            int y = min(max(j + d, 0), ny - 1);
            s += w[d + R] * __opt__(in[y * nx + i]);
        }
        out[j * nx + i] = s;
    }
}
";

#[test]
fn subscripts_name_the_radius() {
    let text = staged(COLUMNS);
    assert!(text.contains("* BY + R][threadIdx.x]"), "{text}");
    for to in ["#define R 1", "#define R 2", "#define R 7"] {
        assert_eq!(same(COLUMNS, &text, ["#define R 4", to]), Ok(()), "{to}");
    }
}

const SLEEVE: &str = r"
constexpr int TPB = 128;
constexpr int RADIUS = 3;
__global__ void fir(const float *x, float *y, int n) {
    __shared__ float s[TPB + 2 * RADIUS];
    int i = blockIdx.x * TPB + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x + RADIUS] = x[i];
    __insert();
    __syncthreads();
    if (i < RADIUS || i >= n - RADIUS) return;
    y[i] = __opt__(s[threadIdx.x], x[i - RADIUS]) + __opt__(s[threadIdx.x + 2 * RADIUS], x[i + RADIUS]);
}
";

#[test]
fn conditions_of_copies_name_the_radius() {
    let text = staged(SLEEVE);
    for asked in ["i >= RADIUS", "threadIdx.x < RADIUS", "i < n - RADIUS"] {
        assert!(text.contains(asked), "{text}");
    }
    for to in ["RADIUS = 1;", "RADIUS = 8;", "RADIUS = 20;"] {
        assert_eq!(same(SLEEVE, &text, ["RADIUS = 3;", to]), Ok(()), "{to}");
    }
}

#[test]
fn what_holds_for_one_value_does_not_compile_with_others() {
    let literal =
        SLEEVE.replace("TPB + 2 * RADIUS]", "TPB + 6]").replace("x + RADIUS] =", "x + 3] =");
    let text = staged(&literal);
    assert!(text.contains("static_assert(RADIUS == 3, "), "{text}");
    let why = same(&literal, &text, ["RADIUS = 3;", "RADIUS = 4;"]);
    assert!(why.as_ref().is_err_and(|w| w == "static assertion failed: RADIUS == 3"), "{why:?}");
}

/// Three constants of one value, of which one is how far reads go.
const ALIKE: &str = r"
enum { R = 4, OTHER = 4 };
const int SCALE = 4;
#define BX 32
__global__ void alike(const float *in, float *out, int n) {
    __shared__ float t[BX + R];
    int i = blockIdx.x * BX + threadIdx.x;
    t[threadIdx.x + R] = in[min(i, n - 1)];
    __syncthreads();
    if (i >= n || i < R) return;
    out[i] = SCALE * __opt__(in[i - R]) + OTHER * sizeof(float);
}
";

#[test]
fn equal_values_are_no_names() {
    let text = staged(ALIKE);
    assert!(!text.contains("static_assert"), "{text}");
    for (from, to) in [("R = 4,", "R = 6,"), ("OTHER = 4", "OTHER = 2"), ("SCALE = 4", "SCALE = 7")]
    {
        assert_eq!(same(ALIKE, &text, [from, to]), Ok(()), "{to}");
    }
}

const TEMPLATE: &str = r"
template <int R>
__global__ void blur(const float *in, float *out, int n) {
    const int HALF = 2;
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) tile[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) {
        int far = i + R < n ? i + R : n - 1;
        int near = i >= HALF ? i - HALF : 0;
        out[i] = __opt__(in[far]) + __opt__(in[near]);
    }
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4000);
    cudaMalloc(&y, 4000);
    blur<4><<<4, 256>>>(x, y, 1000);
}
";

#[test]
fn parameters_of_templates_and_constants_of_the_kernel_are_named() {
    let text = staged(TEMPLATE);
    assert!(!text.contains("static_assert"), "{text}");
    for to in ["blur<1><<<", "blur<9><<<", "blur<40><<<"] {
        assert_eq!(same(TEMPLATE, &text, ["blur<4><<<", to]), Ok(()), "{to}");
    }
    for to in ["HALF = 1;", "HALF = 11;"] {
        assert_eq!(same(TEMPLATE, &text, ["HALF = 2;", to]), Ok(()), "{to}");
    }
}

const STAR: &str = r"
#define R 2
#define BX 32
#define BY 8
__global__ void star(const float *u, float *v, int nx, int ny) {
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i < R || j < R || i >= nx - R || j >= ny - R) return;
    int c = j * nx + i;
    v[c] = 0.5f * u[c] + 0.125f * (u[c - R] + u[c + R] + u[c - R * nx] + u[c + R * nx]);
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 2800000);
    cudaMalloc(&y, 2800000);
    star<<<dim3((1000 + BX - 1) / BX, (700 + BY - 1) / BY), dim3(BX, BY)>>>(x, y, 1000, 700);
}
";

#[test]
fn tiles_that_nobody_wrote_are_as_wide_as_the_radius_says() {
    let tiles = |c: &Counted<'_>| Some(if c.shared > 0 { 0.5 } else { 1.0 });
    let chosen = tried("star.cu", STAR, tiles).expect("a plan");
    let best = chosen.best.expect("a tile");
    assert_eq!(best.name, "tile with a halo of `u`");
    assert!(best.text.contains("u_tile[BY + 2 * R][BX + 2 * R];"), "{}", best.text);
    for to in ["#define R 1", "#define R 4"] {
        assert_eq!(same(STAR, &best.text, ["#define R 2", to]), Ok(()), "{to}");
    }
}

#[test]
fn vectors_hold_for_the_radius_that_they_were_made_with() {
    // Which lanes neighbours are in depends on it.
    let none = |c: &Counted<'_>| Some(if c.config.grid[0] == 3 { 0.5 } else { 1.0 });
    let chosen = tried("star.cu", STAR, none).expect("a plan");
    let best = chosen.best.expect("vectors");
    assert_eq!(best.name, "4 neighbours a thread");
    assert!(best.text.contains("static_assert(R == 2, "), "{}", best.text);
    let plain = STAR.replace("- R]", "- 2]");
    let chosen = tried("star.cu", &plain.replace("c + R]", "c + 2]"), none).expect("a plan");
    let text = chosen.best.expect("vectors").text;
    assert!(!text.contains("static_assert"), "{text}");
}

/// The template is made with what is an extent of the block in the host's launch.
const ARGUMENT: &str = r"
template <int T>
__global__ void ahead(const float *in, float *out, int n) {
    __shared__ float s[64];
    int i = blockIdx.x * T + threadIdx.x;
    if (i < n) s[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n - 4)
        out[i] = __opt__(in[i]) + __opt__(in[i + 4]);
}
int main() { ahead<16><<<7, 16>>>(0, 0, 100); }
";

#[test]
fn arguments_of_templates_that_make_the_block_are_varied() {
    let text = staged(ARGUMENT);
    assert!(text.contains("threadIdx.x + 4 < T"), "{text}");
    for to in ["ahead<8><<<13, 8>>>", "ahead<1><<<100, 1>>>"] {
        assert_eq!(same(ARGUMENT, &text, ["ahead<16><<<7, 16>>>", to]), Ok(()), "{text}");
    }
}

/// The loop of 16 iterations is right with no other block that people launch.
const LITERAL: &str = r"
#define BX 16
#define BY 16
__global__ void product(const float *A, const float *B, float *C, int n) {
    __shared__ float As[BY][BX], Bs[BY][BX];
    int col = blockIdx.x * BX + threadIdx.x, row = blockIdx.y * BY + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += __opt__(A[row * n + t + k]) * Bs[k][threadIdx.x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
int main() { product<<<dim3(4, 4), dim3(BX, BY)>>>(0, 0, 0, 64); }
";

#[test]
fn constants_that_make_the_only_block_do_not_compile_with_others() {
    let staged = planned(LITERAL).expect("it is staged");
    for name in ["BX", "BY"] {
        let asserted = format!("static_assert({name} == 16, ");
        assert!(staged.text.contains(&asserted), "{}", staged.text);
    }
    let said = staged.notes.iter().filter(|n| n.contains("no launch was found in which"));
    assert_eq!(said.count(), 2, "{:?}", staged.notes);
}

/// What is read is the next element with all values but one.
const NEXT: &str = r"
#define R 4
#define BX 32
__global__ void next(const float *in, float *out, int n) {
    __shared__ float t[BX];
    int i = blockIdx.x * BX + threadIdx.x;
    t[threadIdx.x] = in[min(i, n - 1)];
    __syncthreads();
    if (i >= n - 1) return;
    out[i] = R * __opt__(in[i + (R > 1)]);
}
";

#[test]
fn the_least_value_and_many_blocks_are_looked_at() {
    let text = staged(NEXT);
    // `blockIdx.x >= R` tells the values apart in launches of few blocks.
    assert!(!text.contains("blockIdx.x >="), "{text}");
    let why = same(NEXT, &text, ["#define R 4", "#define R 1"]);
    assert!(why.as_ref().is_err_and(|w| w.starts_with("static assertion failed")), "{why:?}");
}

/// All threads copy: a row of the array may end anywhere in a block.
const ROWS: &str = r"
#define N 128
__global__ void rows(float (*o)[N], const float (*a)[N], const float (*b)[N]) {
    __shared__ float t[10][34], u[10][34];
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    int ti = threadIdx.y + 1, tj = threadIdx.x + 1;
    __insert();
    __syncthreads();
    if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1)
        o[i][j] = __opt__(t[ti - 1][tj], a[i - 1][j]) + __opt__(t[ti + 1][tj], a[i + 1][j])
            + __opt__(t[ti][tj - 1], a[i][j - 1]) + __opt__(t[ti][tj + 1], a[i][j + 1])
            + __opt__(u[ti][tj], b[i][j]) + __opt__(u[ti][tj - 1], b[i][j - 1]) + __opt__(u[ti][tj + 1], b[i][j + 1]);
}
int main() { rows<<<dim3((N + 31) / 32, (N + 7) / 8), dim3(32, 8)>>>(0, 0, 0); }
";

#[test]
fn sizes_may_be_smaller_than_a_block() {
    let text = staged(ROWS);
    for to in ["#define N 5", "#define N 9", "#define N 17", "#define N 23", "#define N 33"] {
        assert_eq!(same(ROWS, &text, ["#define N 128", to]), Ok(()), "{to}: {text}");
    }
}

/// No sum of indices says where an element is with other blocks, in which the kernel is right all the same.
const EXCHANGED: &str = r"
#define BX 32
__global__ void exchanged(const float *in, float *out, int n) {
    __shared__ float t[BX];
    int i = blockIdx.x * BX + threadIdx.x;
    { const int s = threadIdx.x ^ (BX - 32); t[s] = in[min(i, n - 1)]; }
    __syncthreads();
    if (i < n) out[i] = __opt__(in[i]);
}
";

#[test]
fn blocks_that_were_tried_are_not_said_to_be_unknown() {
    let staged = planned(EXCHANGED).expect("it is staged");
    assert!(staged.text.contains("static_assert(BX == 32, "), "{}", staged.text);
    let said = staged.notes.iter().find(|n| n.contains("`BX` = 32 alone")).expect("a note");
    assert!(
        said.ends_with("with other values it is wrong, and nothing that was found is right"),
        "{said}"
    );
}

/// Constants of structures make the block, as macros do: other blocks are looked at.
#[test]
fn constants_of_structures_are_varied() {
    let text = "struct Tile { static const int X = 32; static constexpr int Y = 8; };
__global__ void k(const float *q, float *out, int nx, int ny) {
    __shared__ float t[Tile::Y][Tile::X];
    int i = blockIdx.x * Tile::X + threadIdx.x, j = blockIdx.y * Tile::Y + threadIdx.y;
    int c = j * nx + i;
    if (i < nx && j < ny) t[threadIdx.y][threadIdx.x] = q[c];
    __syncthreads();
    if (i > 0 && i < nx - 1 && j < ny) out[c] = __opt__(q[c - 1]) + __opt__(q[c + 1]);
}
void run(const float *q, float *out, int nx, int ny) {
    dim3 b(Tile::X, Tile::Y), g((nx + Tile::X - 1) / Tile::X, (ny + Tile::Y - 1) / Tile::Y);
    k<<<g, b>>>(q, out, nx, ny);
}
";
    let staged = planned(text).unwrap_or_else(|(_, said)| panic!("{said}"));
    emitted("constants_of_structures", &staged.text);
    for block in [[32, 8, 1], [16, 16, 1], [128, 4, 1]] {
        assert!(staged.blocks.contains(&block), "{:?}", staged.blocks);
    }
}

/// Rows shorter than a tile: what is above the end of a row may be outside of the array.
#[test]
fn rows_that_are_shorter_than_a_tile() {
    let text = "#define TX 32
#define TY 8
__global__ void k(const float *q, float *out, int nx, int ny) {
    __shared__ float t[TY + 1][TX];
    int i = blockIdx.x * TX + threadIdx.x, j = blockIdx.y * TY + threadIdx.y;
    int c = j * nx + i;
    if (i < nx && j < ny) t[threadIdx.y + 1][threadIdx.x] = q[c];
    __insert();
    __syncthreads();
    if (i < nx && j > 0 && j < ny) out[c] = q[c] - __opt__(t[threadIdx.y][threadIdx.x], q[c - nx]);
}
";
    let staged = planned(text).unwrap_or_else(|(_, said)| panic!("{said}"));
    emitted("short_rows", &staged.text);
    let [copy] = staged.copies.as_slice() else { panic!("{:?}", staged.copies) };
    assert!(copy.contains("nx"), "{copy}");
}

/// A radius beside a number of elements is no block: texts were for blocks of two threads.
#[test]
fn a_radius_beside_a_number_is_no_block() {
    let text = "#define R 2
__global__ void k(const float *q, float *out, int n) {
    __shared__ float t[256 + 2 * R];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[threadIdx.x + R] = q[i];
    __syncthreads();
    if (i < R || i >= n - R) return;
    float s = 0;
    for (int d = -R; d <= R; d++) s += __opt__(q[i + d]);
    out[i] = s;
}
";
    let staged = planned(text).unwrap_or_else(|(_, said)| panic!("{said}"));
    emitted("radius", &staged.text);
    assert!(
        staged.text.contains("blockDim.x") && !staged.text.contains("d < R)"),
        "{}",
        staged.text
    );
    assert!(staged.blocks.contains(&[256, 1, 1]), "{:?}", staged.blocks);
}
