//! Kernels in other styles than the examples: macros, templates, helpers, structures, borders by `if`, blocks of one axis for
//! images, several rows a thread, strides of the grid. `WARPSMITH_EMITTED=DIR` leaves the results for a CUDA compiler.

use warpsmith_stage::auto::Counted;
use warpsmith_stage::predicted::predicted;
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged, Verdict};
use warpsmith_stage::verify::proof::solver;

fn staged(name: &str) -> (String, Result<Staged, String>) {
    let path = format!("{}/tests/kernels/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the kernel is there");
    let staged = staged_text(name, &text);
    (text, staged)
}

fn staged_text(name: &str, text: &str) -> Result<Staged, String> {
    let settings = Settings { path: format!("{name}.cu"), ..Settings::default() };
    let solver = solver::program();
    let input = Input { settings, text: text.to_string(), solver, ..Input::default() };
    let said =
        |r: Refusal| r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect();
    stage::stage(input).map_err(said)
}

/// Stages a kernel all of whose reads can be served, and asks for what its text has to say.
fn served(name: &str, proved: bool, contains: &[&str]) -> Staged {
    let (before, result) = staged(name);
    let staged = checked(name, &before, result, contains);
    for a in &staged.accesses {
        if proved && solver::program().is_some() {
            assert_eq!(a.verdict, Verdict::Proved, "{name}: {}: {:?}", a.replacement, a.unproved);
        }
    }
    staged
}

/// The same for a text, without asking for proofs.
fn served_text(name: &str, text: &str, contains: &[&str]) -> Staged {
    checked(name, text, staged_text(name, text), contains)
}

fn checked(name: &str, before: &str, staged: Result<Staged, String>, contains: &[&str]) -> Staged {
    let staged = staged.unwrap_or_else(|message| panic!("{message}"));
    for part in contains {
        assert!(staged.text.contains(part), "{name}: no `{part}` in\n{}", staged.text);
    }
    for a in &staged.accesses {
        assert_ne!(a.verdict, Verdict::Original, "{name}: {}", a.original);
    }
    // Lines without plan stay as they are and where they are.
    let mut lines = staged.text.lines();
    for line in before.lines().filter(|l| !l.contains("__opt__") && !l.contains("__insert")) {
        assert!(lines.any(|l| l == line), "{name}: no `{line}` in\n{}", staged.text);
    }
    if let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") {
        let dir = std::path::Path::new(&dir).join("stage");
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join(format!("{name}.cu")), &staged.text).expect("a file");
    }
    staged
}

/// The second block of rows is only there when sizes are counted in what a block covers, not in its threads.
#[test]
fn several_rows_a_thread() {
    let row = "t[threadIdx.y + r * BY][threadIdx.x - 1]";
    let staged = served("four_rows", true, &[row]);
    assert!(staged.checked.iter().any(|l| l.contains("ny=188")), "{:?}", staged.checked);
}

/// Edges repeated along two axes at once: one exception to one subscript does not say that, `max` does.
#[test]
fn edges_repeated_before_the_first_element() {
    served("emboss", true, &["tile[max(y - 1, 0)][max(x - 1, 0)]"]);
}

#[test]
fn images_in_blocks_of_one_axis() {
    served(
        "flat_block",
        true,
        &[
            "cache[threadIdx.x] -",
            "(tx != 0 ? cache[threadIdx.x - 1] :",
            "(threadIdx.x >= W_BLK ? cache[threadIdx.x - W_BLK] :",
        ],
    );
}

#[test]
fn macros_templates_and_helpers() {
    served(
        "vertical_blur",
        true,
        &["weighted(rows[threadIdx.y][threadIdx.x], (threadIdx.y != 0 ? "],
    );
    served("box_template", true, &["buf[t + o] : in[p])"]);
    served("helper_position", true, &["c[threadIdx.y][threadIdx.x - 2] : f[at - 2])"]);
    served("column_major", true, &["t[threadIdx.x - 1][threadIdx.y] : u[(r - 1) + c * rows])"]);
}

#[test]
fn structures_vectors_and_small_elements() {
    served("records", true, &["if (s[j].kind == 1) sum += s[j].m;"]);
    served(
        "triples",
        true,
        &["(threadIdx.x != 0 ? s[threadIdx.x - 1] : b[i - 1])", "s[threadIdx.x].z"],
    );
    served("pixels", true, &["- s[threadIdx.y][threadIdx.x].y);"]);
    served("bodies", true, &["float4 other = sh[j];"]);
}

#[test]
fn tiles_in_loops() {
    served("syrk", true, &["s += ta[threadIdx.y][p % TS] * tb[threadIdx.x][p % TS];"]);
    served(
        "grid_stride",
        true,
        &["d[i] = t[threadIdx.x] - (threadIdx.x != 0 ? t[threadIdx.x - 1] :"],
    );
    served("blocks_of_three", true, &["t[threadIdx.z - 1][threadIdx.y][threadIdx.x] :"]);
}

/// Half of the threads fill a tile: what suits the file's own block suits no others.
#[test]
fn a_plan_for_the_block_of_the_file_alone() {
    let read = "acc += sA[threadIdx.y][k % TK] * sB[threadIdx.x][k % TK];";
    let staged = served("product_nt", true, &[read]);
    assert!(
        staged.notes.iter().any(|n| n.contains("for blocks of 16x16 alone")),
        "{:?}",
        staged.notes
    );
}

#[test]
fn copies_by_threads_that_read_nothing_themselves() {
    served("ring", true, &["if (threadIdx.x == 0) s[l - 1] = cells[(i + n - 1) % n];"]);
    served("life", false, &["g[y][x - 1] = grid[r * cols + c - 1];"]);
}

/// Whether some reads happen is for the data to say: equal labels are rare among values that tell elements apart.
#[test]
fn reads_that_data_decide_on() {
    let staged = served("labels", false, &["a += si[ly * P + lx - 2];"]);
    assert!(staged.accesses.iter().all(|a| a.verdict == Verdict::Checked));
}

#[test]
fn a_name_that_comes_later_is_what_is_wrong() {
    let (_, staged) = staged("later_name");
    let message = staged.expect_err("no copy can be written");
    assert!(
        message.contains("error[W714]: `k` is declared after the place for copies"),
        "{message}"
    );
}

#[test]
fn whole_programs() {
    served(
        "separable",
        true,
        &["s_data[threadIdx.y][threadIdx.x + j] : d_src[IMAD(y, pitch, at)])"],
    );
    served("tiled_product", true, &["Csub += As[ty][k] * Bs[k][tx];"]);
    served("blocked_transpose", false, &["tile[threadIdx.x][threadIdx.y + j]"]);
}

/// What is staged may be right where the kernel that it is made from has a race: that is said.
#[test]
fn races_of_the_kernel_itself_are_named() {
    let staged = served("in_place", false, &["t[threadIdx.x - 1] + t[threadIdx.x + 1]"]);
    let note = "the unmodified kernel has a race, which its marked reads are part of: ";
    assert!(staged.notes.iter().any(|n| n.starts_with(note)), "{:?}", staged.notes);
}

/// Subscripts that are sums of products, and guards that keep them inside of the tile.
#[test]
fn sums_that_are_no_moved_positions() {
    let half =
        ["(threadIdx.x != 0 ? t[2 * threadIdx.x - 1] : a[2 * i - 1])", "t[2 * threadIdx.x + 1]"];
    served("half_as_many", false, &half);
    served("twice_as_many", false, &["= t[threadIdx.y / 2][threadIdx.x / 2];"]);
    served("cube", false, &["t[threadIdx.z + dk][threadIdx.y + dj][threadIdx.x + di] : a["]);
}

/// Where copies by all threads are right, no condition that always holds is written before one.
#[test]
fn copies_have_no_conditions_that_always_hold() {
    let staged = served("wide_corners", false, &[]);
    assert!(!staged.text.contains("!= 0 || threadIdx.x == 0"), "{}", staged.text);
}

/// Whole programs in the style of vendors' samples: constants that go together, templates of template functions, constants of `main`.
#[test]
fn programs_of_samples() {
    let program = |name: &str, contains: &[&str]| {
        let path = format!("{}/../../bench/stage/programs/{name}.cu", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the program is there");
        served_text(name, &text, contains)
    };
    // A tile of 7 rows and 5 at a time is none that the file means: no condition is needed for it.
    program("transpose", &["= tile[threadIdx.x][threadIdx.y + i];"]);
    program("matrix_mul", &["Csub += As[ty][k] * Bs[k][tx];"]);
    program("stencil_1d", &["line[threadIdx.x + offset]"]);
    program("laplace", &["if (threadIdx.x == 0) tile[s - 1] = u[idx(i - 1, j, nx)];"]);
}

/// What `run<T>` launches is known from calls of `run`; without one, the name is asked for.
#[test]
fn instances_of_templates_are_found_or_asked_for() {
    let text = |call: &str| {
        format!(
            "#define B 64\ntemplate <typename T, int R> __global__ void line(const T *a, T *b, int n) {{
    __shared__ T t[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i >= R && i < n) b[i] = t[threadIdx.x] + __opt__(a[i - R]);
}}
template <class T> void run(const T *a, T *b, int n) {{ constexpr int R = 2; line<T, R><<<(n + B - 1) / B, B>>>(a, b, n); }}
int main() {{ {call} }}
"
        )
    };
    let known = text("run<double>(nullptr, nullptr, 100);");
    served_text("instances", &known, &["(threadIdx.x >= R ? t[threadIdx.x - R] : a[i - R])"]);
    let asked = staged_text("instances", &text("double *p = 0; run(p, p, 100);")).unwrap_err();
    assert_eq!(
        asked.trim_end(),
        "\
error[W304]: `line` is a template
 --> instances.cu:2:41
  |
2 | template <typename T, int R> __global__ void line(const T *a, T *b, int n) {
  |                                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this kernel
  |
  = note: it is launched as `line<T, 2>`, and no call says what `T` is
  = help: name an instance with --kernel 'line<…>'"
    );
}

/// Members of a structure are sizes of their own: each bounds its axis, and conditions may ask for them.
#[test]
fn sizes_in_a_structure() {
    let text = "struct Dims { int w, h; float scale; };
__global__ void smooth(const float *in, float *out, Dims d) {
    __shared__ float tile[16][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < 1 || x >= d.w - 1 || y >= d.h) return;
    {
        tile[threadIdx.y][threadIdx.x + 1] = in[y * d.w + x];
        __insert();
    }
    __syncthreads();
    out[y * d.w + x] = d.scale * (__opt__(tile[threadIdx.y][threadIdx.x], in[y * d.w + x - 1])
        + __opt__(tile[threadIdx.y][threadIdx.x + 2], in[y * d.w + x + 1]));
}
";
    let staged = served_text("dims", text, &["x == d.w - 2) tile[threadIdx.y][threadIdx.x + 2]"]);
    assert!(
        staged.checked.iter().any(|l| l.contains("d.w=") && l.contains("d.h=")),
        "{:?}",
        staged.checked
    );
}

/// A block of as many threads as an image has elements, and a constant that is no macro.
#[test]
fn blocks_of_products_of_constants() {
    let text = "constexpr int W = 8;
#define H (W / 2)
__global__ void line(const float *a, float *b, int w, int h) {
    __shared__ float t[H][W];
    int lx = threadIdx.x % W, ly = threadIdx.x / W;
    int x = blockIdx.x * W + lx, y = blockIdx.y * H + ly;
    if (x < w && y < h) t[ly][lx] = a[y * w + x];
    __syncthreads();
    if (x > 0 && x < w && y < h) b[y * w + x] = __opt__(a[y * w + x - 1]);
}
int main() { line<<<dim3(64, 64), W * H>>>(0, 0, 500, 250); }
";
    let staged =
        served_text("product_block", text, &["(lx != 0 ? t[ly][lx - 1] : a[y * w + x - 1])"]);
    assert!(staged.checked.iter().all(|l| l.starts_with("block 32, ")), "{:?}", staged.checked);
}

/// The length of a row is no size: a guard that compares a position with it is wrong where rows are longer than images.
#[test]
fn rows_may_be_longer_than_images() {
    let text = "#define TX 16
#define TY 16
struct Params { int w, h; float k; };
__global__ void blur(const float *src, float *dst, Params p, int pitch) {
    __shared__ float t[TY][TX + 2];
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x < p.w && y < p.h) {
        t[threadIdx.y][threadIdx.x + 1] = src[y * pitch + x];
        __insert();
    }
    __syncthreads();
    if (x > 0 && x < p.w - 1 && y < p.h)
        dst[y * pitch + x] = p.k * __opt__(t[threadIdx.y][threadIdx.x], src[y * pitch + x - 1])
            + __opt__(t[threadIdx.y][threadIdx.x + 2], src[y * pitch + x + 1]);
}
";
    let staged = served_text("longer_rows", text, &[]);
    assert!(staged.checked.iter().any(|l| l.contains("p.w=61, pitch=64")), "{:?}", staged.checked);
    // Right of the image there is nothing, however long its rows are.
    let wrong = "x != pitch - 1) t[threadIdx.y][threadIdx.x + 2]";
    assert!(!staged.text.contains(wrong), "{}", staged.text);
}

/// Reads through the cache for constants are proved like others.
#[test]
fn cached_reads_are_proved() {
    let text = "#define B 16
__global__ void two(const float *__restrict__ a, const float *__restrict__ b, float *o, int nx, int ny) {
    __shared__ float ta[B][B], tb[B][B];
    const int i = blockIdx.x * B + threadIdx.x, j = blockIdx.y * B + threadIdx.y;
    if (i < nx && j < ny) {
        ta[threadIdx.y][threadIdx.x] = __ldg(&a[j * nx + i]);
        tb[threadIdx.y][threadIdx.x] = __ldg(b + j * nx + i);
    }
    __syncthreads();
    if (i >= nx || j >= ny) return;
    float l = i > 0 ? __opt__(__ldg(&a[j * nx + i - 1])) : 0.f;
    float u = j > 0 ? __opt__ __ldg(b + (j - 1) * nx + i) : 0.f;
    o[j * nx + i] = l + u;
}
";
    let staged = served_text("cached", text, &["threadIdx.x != 0 ? ta", "threadIdx.y != 0 ? tb"]);
    for a in staged.accesses.iter().filter(|_| solver::program().is_some()) {
        assert_eq!(a.verdict, Verdict::Proved, "{}: {:?}", a.replacement, a.unproved);
    }
}

/// A loop that leaves out several planes at its ends has no iteration at a depth of four: nothing is shown by such launches, and a
/// subscript that was right in the first blocks alone (`y - 2`) passed them.
#[test]
fn loops_that_leave_out_their_ends_are_entered() {
    let text = "#define BX 16
#define BY 8
__global__ void w3(const double *in, double *out, int nx, int ny, int nz) {
    __shared__ double p[BY][BX];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    bool inside = x >= 2 && x < nx - 2 && y >= 2 && y < ny - 2;
    for (int z = 2; z < nz - 2; ++z) {
        __syncthreads();
        if (x < nx && y < ny) p[threadIdx.y][threadIdx.x] = in[(z * ny + y) * nx + x];
        __syncthreads();
        if (inside) {
            double s = 0;
            for (int r = 1; r <= 2; r++)
                s += __opt__(in[(z * ny + y - r) * nx + x]) + __opt__(in[(z * ny + y + r) * nx + x]);
            out[(z * ny + y) * nx + x] = s;
        }
    }
}
";
    let staged = served_text("ends", text, &["p[threadIdx.y + r][threadIdx.x]"]);
    assert!(!staged.text.contains("? y - 2 :"), "{}", staged.text);
    // Rows that nothing is stored in are no launches that it was checked at.
    assert!(staged.checked.iter().all(|l| !l.contains("ny=1,")), "{:?}", staged.checked);
}

/// What blocks are counted in is their threads only where a thread is all that is added: not where a thread has several results,
/// and not where rows of a tile are made from one axis.
#[test]
fn blocks_are_what_threads_are_added_to() {
    let flat = "#define BLOCK 256
#define TX 32
#define TY (BLOCK / TX)
__global__ void flat(const float *a, float *b, int w, int h) {
    __shared__ float t[BLOCK];
    int lx = threadIdx.x % TX, ly = threadIdx.x / TX;
    int x = blockIdx.x * TX + lx, y = blockIdx.y * TY + ly;
    if (x < w && y < h) t[threadIdx.x] = a[y * w + x];
    __syncthreads();
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        b[y * w + x] = __opt__(a[y * w + x - 1]) + __opt__(a[(y - 1) * w + x]);
}
";
    // With blocks of one row, `t[lx - 1]` would be right.
    let text = staged_text("flat_rows", flat).map_or(String::new(), |s| s.text);
    assert!(!text.contains("t[lx"), "{text}");
    let rows = "#define RADIUS 8
#define DIM_X 16
#define DIM_Y 4
#define STEPS 4
__constant__ float k[2 * RADIUS + 1];
__global__ void rows(float *dst, const float *src, int w, int h, int pitch) {
    __shared__ float s[DIM_Y][STEPS * DIM_X];
    const int base = blockIdx.x * STEPS * DIM_X + threadIdx.x;
    const int y = blockIdx.y * DIM_Y + threadIdx.y;
    for (int i = 0; i < STEPS; i++)
        if (base + i * DIM_X < w && y < h) s[threadIdx.y][threadIdx.x + i * DIM_X] = src[y * pitch + base + i * DIM_X];
    __syncthreads();
    for (int i = 0; i < STEPS; i++) {
        int x = base + i * DIM_X;
        if (x < w && y < h) {
            float sum = 0;
            for (int j = -RADIUS; j <= RADIUS; j++)
                if (x + j >= 0 && x + j < w) sum += k[RADIUS - j] * __opt__(src[y * pitch + x + j]);
            dst[y * pitch + x] = sum;
        }
    }
}
";
    let staged = served_text("several_results", rows, &[" ? s[threadIdx.y]["]);
    assert!(staged.checked.iter().any(|l| l.starts_with("block 16x4,")), "{:?}", staged.checked);
}

/// Pointers that are members of a structure have arrays of their own.
#[test]
fn pointers_in_structures() {
    let text = "#define BX 16
#define BY 16
struct Grid { int nx, ny; const float *u; float *out; };
__global__ void ends(Grid g) {
    __shared__ float t[BY][BX];
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    if (i < g.nx && j < g.ny) t[threadIdx.y][threadIdx.x] = g.u[j * g.nx + i];
    __syncthreads();
    if (i > 0 && i < g.nx - 1 && j < g.ny)
        g.out[j * g.nx + i] = __opt__(g.u[j * g.nx + i - 1]) + __opt__(g.u[j * g.nx + i + 1]);
}
";
    let part = "(threadIdx.x != 0 ? t[threadIdx.y][threadIdx.x - 1] : g.u[j * g.nx + i - 1])";
    served_text("members", text, &[part]);
    let deeper = text.replace("const float *u;", "const float **u;").replace("g.u[", "g.u[0][");
    let refused = staged_text("members", &deeper).unwrap_err();
    assert!(refused.contains("error[W703]: no value can be chosen for parameter `g`"), "{refused}");
}

/// Without a guard the length of a row is the size that blocks cover.
#[test]
fn rows_without_a_guard_are_as_long_as_blocks_go() {
    let text = "#define TS 8
__global__ void product(const int *a, const int *b, int *c, int n) {
    __shared__ int sb[TS][TS];
    int row = blockIdx.y * TS + threadIdx.y, col = blockIdx.x * TS + threadIdx.x;
    int acc = 0;
    for (int t = 0; t < n / TS; t++) {
        sb[threadIdx.y][threadIdx.x] = b[(t * TS + threadIdx.y) * n + col];
        for (int k = 0; k < TS; k++) acc += a[row * n + t * TS + k] * __opt__(b[(t * TS + k) * n + col]);
    }
    c[row * n + col] = acc;
}
";
    let staged = served_text("unguarded", text, &["sb[k][threadIdx.x]"]);
    assert_eq!(staged.inserted.len(), 2, "{:?}", staged.inserted);
}

/// A copy is made where its element exists, although a macro names it, and the place that it goes to.
#[test]
fn macros_that_name_elements_are_copied_to_a_halo() {
    served("star_macro", false, &["T(0, -2) = AT(cur, x, y - 2);"]);
}

/// What is compared with a remainder is no size: with one no thread would do anything.
#[test]
fn launches_have_points_of_both_colours() {
    let staged =
        served("red_black", false, &["threadIdx.x != 0 ? t[threadIdx.y][threadIdx.x - 1]"]);
    for colour in ["colour=0", "colour=1"] {
        assert!(staged.checked.iter().any(|l| l.contains(colour)), "{:?}", staged.checked);
    }
}

/// Arrays are as long as the kernel needs with the data of a check, too: a mask sent threads elsewhere when lengths were found.
#[test]
fn data_decide_how_much_of_an_array_is_read() {
    let staged = served("masked", true, &["threadIdx.x != 0 ? us[threadIdx.y][threadIdx.x - 1]"]);
    let checked = |block: &str| staged.checked.iter().any(|l| l.starts_with(block));
    for block in ["block 16x16,", "block 32x8,", "block 7x5,"] {
        assert!(checked(block), "{block} {:?}", staged.checked);
    }
}

/// What a kernel divides positions by divides those of a tile.
#[test]
fn elements_that_become_several() {
    served("three_times_as_many", true, &["s[threadIdx.y / 3][threadIdx.x / 3]"]);
}

/// Loops that go through tiles are counted with some whole ones: of a part of one, its copy is most of the work.
#[test]
fn predictions_are_of_whole_tiles() {
    let text = "#define T 16
__global__ void products(const double *a, double *c, int n, int m) {
    __shared__ double ai[T][T];
    int j = blockIdx.x * T + threadIdx.x, i = blockIdx.y * T + threadIdx.y;
    double acc = 0;
    for (int k0 = 0; k0 < m; k0 += T) {
        if (i < n && k0 + threadIdx.x < m) ai[threadIdx.y][threadIdx.x] = a[i * m + k0 + threadIdx.x];
        __syncthreads();
        if (i < n && j < n)
            for (int k = k0; k < min(k0 + T, m); k++) acc += __opt__(a[i * m + k]) * a[j * m + k];
        __syncthreads();
    }
    if (i < n && j < n) c[i * n + j] = acc;
}
";
    let settings = Settings { path: "products.cu".into(), ..Settings::default() };
    let input = Input { settings, text: text.to_string(), ..Input::default() };
    let staged = stage::stage(input.clone()).expect("it is served");
    let seconds: fn(&Counted<'_>) -> Option<f64> = |_| Some(1.0);
    let predicted = predicted(&input, &staged, &seconds)
        .expect("it is counted")
        .expect("there is such a launch");
    assert!(predicted.counted.contains("m=64"), "{}", predicted.counted);
}

/// Where one block alone is right, its constants are those of the options, not those of the file.
#[test]
fn options_make_the_only_block() {
    let path = format!("{}/tests/kernels/three_times_as_many.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the kernel is there");
    let defines = [("BX", "48"), ("BY", "6")].map(|(n, v)| (n.to_string(), v.to_string())).to_vec();
    let settings = Settings { path: "options.cu".into(), defines, ..Settings::default() };
    let input = Input { settings, text, ..Input::default() };
    let staged = stage::stage(input).unwrap_or_else(|_| panic!("it is served"));
    assert!(staged.checked.iter().all(|l| l.starts_with("block 48x6,")), "{:?}", staged.checked);
    assert_eq!(staged.accesses[0].replacement, "s[threadIdx.y / 3][threadIdx.x / 3]");
}
