//! Plans that are found: for kernels as people write them first, and where there is none.

mod common;

use common::tried;
use warpsmith_emu::counters::InstructionClass;
use warpsmith_stage::auto::{self, Chosen, Counted};
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::Input;

/// Requests to global memory are what costs, so that tiles are worth it; threads with several elements each are as slow as others.
fn global_requests(counted: &Counted<'_>) -> Option<f64> {
    let c = counted.counters;
    let blocks: u32 = counted.config.grid.iter().product();
    if f64::from(blocks) < counted.own_blocks {
        return Some(f64::MAX);
    }
    let sectors: u64 = c.arrays.iter().map(|a| a.sectors).sum();
    Some(
        (c.class(InstructionClass::GlobalLoad).warps + sectors) as f64
            * counted.times.unwrap_or(1.0),
    )
}

fn choose(text: &str) -> Result<Chosen, (bool, String)> {
    tried("plain.cu", text, global_requests)
}

fn best(text: &str) -> (String, String) {
    let chosen = choose(text).unwrap_or_else(|(_, m)| panic!("{m}"));
    let tried = format!("{:?}", chosen.tried);
    let best = chosen.best.unwrap_or_else(|| panic!("no plan is chosen of {tried}"));
    assert!(!best.checked.is_empty());
    (best.name, best.text)
}

#[test]
fn a_transpose_goes_through_a_tile() {
    let (name, text) = best(
        "#define TILE 16
__global__ void transpose(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < w && y < h) out[x * h + y] = in[y * w + x];
}
",
    );
    assert_eq!(name, "transposing tile of `in`");
    assert!(text.contains("__shared__ float in_tile[TILE][TILE + 1];"), "{text}");
    assert!(text.contains("out[x * h + y] = in_tile[threadIdx.x][threadIdx.y];"), "{text}");
}

/// Solvers are slow: the plan that is taken is proved, and none of those that lose.
#[test]
#[cfg(unix)]
fn only_the_plan_that_is_taken_is_proved() {
    use std::os::unix::fs::PermissionsExt;
    let Some(z3) = warpsmith_stage::verify::proof::solver::program() else { return };
    let folder = std::env::temp_dir().join(format!("warpsmith_proved_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (counting, calls) = (folder.join("solver"), folder.join("calls"));
    let script =
        format!("#!/bin/sh\necho once >> '{}'\nexec '{}' \"$@\"\n", calls.display(), z3.display());
    std::fs::write(&counting, script).expect("a script");
    std::fs::set_permissions(&counting, PermissionsExt::from_mode(0o755)).expect("it is run");
    let text = "__global__ void sum(const float *a, const float *b, float *o, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    o[i] = a[i - 1] + a[i + 1] + a[i - w] + a[i + w] + b[i - 1] + b[i + 1] + b[i];
}
int main() { sum<<<dim3(64, 256), dim3(32, 8)>>>(0, 0, 0, 2048, 2048); }
";
    let settings = Settings { path: "plain.cu".into(), ..Settings::default() };
    let input = Input { settings, text: text.into(), solver: Some(counting), ..Input::default() };
    let Ok(chosen) = auto::choose(&input, &global_requests) else { panic!("it is understood") };
    let staged = chosen.best.and_then(|b| b.staged).expect("a tile is best");
    let right = chosen.tried.iter().filter(|t| t.failed.is_none()).count();
    let solvers = std::fs::read_to_string(&calls).expect("it is called").lines().count();
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(right > 1, "{:?}", chosen.tried);
    assert_eq!(solvers, staged.blocks.len());
}

#[test]
fn what_is_put_in_braces_is_indented() {
    let (name, text) = best(
        "#define TILE 16
__global__ void transpose(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < w && y < h) {
        int to = x * h + y;

        out[to] = in[y * w + x];
    }
}
",
    );
    assert_eq!(name, "transposing tile of `in`");
    let inner = "        if (x < w && y < h) {
            int to = x * h + y;

            // The marked read comes from shared memory: checked with blocks of 16x16 (with other constants also 7x7, 32x32), not proved.
            out[to] = in_tile[threadIdx.x][threadIdx.y];
        }
    }
}
";
    assert!(text.contains(inner), "{text}");
}

#[test]
fn planes_go_through_registers() {
    let (name, text) = best(
        "#define BX 32
#define BY 4
__global__ void column(const float *p, float *q, int nx, int ny, int nz) {
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i >= nx || j >= ny) return;
    for (int k = 1; k < nz - 1; k++) {
        int c = (k * ny + j) * nx + i;
        q[c] = p[c - nx * ny] - 2.0f * p[c] + p[c + nx * ny];
    }
}
",
    );
    assert_eq!(name, "`p` through registers");
    assert!(text.contains("q[c] = p_below - 2.0f * p_here + p_above;"), "{text}");
}

/// Blocks of three axes: the tile has planes, and a halo below and above.
#[test]
fn blocks_with_planes_get_tiles_with_planes() {
    let (name, text) = best(
        "__global__ void step3d(const float *p, float *q, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i == 0 || j == 0 || k == 0 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return;
    int c = (k * ny + j) * nx + i;
    q[c] = p[c] + 0.1f * (p[c - 1] + p[c + 1] + p[c - nx] + p[c + nx] + p[c - nx * ny] + p[c + nx * ny]);
}
int main() { step3d<<<dim3(8, 6, 8), dim3(8, 8, 4)>>>(0, 0, 64, 48, 32); }
",
    );
    assert_eq!(name, "tile with a halo of `p`");
    assert!(text.contains("__shared__ float p_tile[4 + 2][8 + 2][8 + 2 + 14];"), "{text}");
    assert!(text.contains("p_tile[threadIdx.z + 2][threadIdx.y + 1][threadIdx.x + 1]"), "{text}");
}

/// A wave of second order: the position is declared under the condition that keeps to the inside, where no barrier can stand.
#[test]
fn positions_that_are_declared_too_late_are_written_out_in_copies() {
    let text = "__global__ void wave(float *p0, const float *p1, const float *vp, int nx, int nz, float dtdx2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < nx - 1 && k > 0 && k < nz - 1) {
        int c = k * nx + i;
        p0[c] = 2.0f * p1[c] - p0[c] + vp[c] * vp[c] * dtdx2 * (p1[c - 1] + p1[c + 1] + p1[c - nx] + p1[c + nx] - 4.0f * p1[c]);
    }
}
void run(float *a, float *b, float *vp, int nx, int nz, int nt) {
    dim3 block(16, 16), grid((nx + 15) / 16, (nz + 15) / 16);
    for (int t = 0; t < nt; t++) {
        wave<<<grid, block>>>(a, b, vp, nx, nz, 0.2f);
        float *s = a; a = b; b = s;
    }
}
";
    let (name, text) = best(text);
    assert_eq!(name, "tile with a halo of `p1`");
    let copy = "p1_tile[threadIdx.y][threadIdx.x + 1] = p1[(k * nx + i) - nx];";
    assert!(text.contains(copy), "{text}");
}

#[test]
fn a_loop_of_one_statement_gets_braces() {
    let (name, text) = best(
        "#define BX 32
#define BY 4
#define IDX(i, j, k) ((i) + nx * ((j) + ny * (k)))
__global__ void column(const float *p, float *q, int nx, int ny, int nz) {
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i >= nx || j >= ny) return;
    for (int k = 1; k < nz - 1; k++)  // inner planes
        q[IDX(i, j, k)] = p[IDX(i, j, k - 1)] - 2.0f * p[IDX(i, j, k)] + p[IDX(i, j, k + 1)];
}
",
    );
    assert_eq!(name, "`p` through registers");
    let body = "    for (int k = 1; k < nz - 1; k++) {  // inner planes
        const float p_above = p[IDX(i, j, k + 1)];
        q[IDX(i, j, k)] = p_below - 2.0f * p_here + p_above;
        p_below = p_here;
        p_here = p_above;
    }
";
    assert!(text.contains(body), "{text}");
}

#[test]
fn a_stencil_of_two_inputs_gets_a_tile() {
    let (name, text) = best(
        "#define BX 32
#define BY 8
__global__ void advect(const float *u, const float *v, float *o, int nx, int ny) {
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    int c = j * nx + i;
    if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1)
        o[c] = v[c] * (u[c + 1] - u[c - 1] + u[c + nx] - u[c - nx] + u[c + nx + 1] + u[c - nx - 1]);
}
",
    );
    assert!(name.contains("of `u`"), "{name}");
    assert!(text.contains("__syncthreads();") && text.contains("u_tile["), "{text}");
}

#[test]
fn a_box_filter_keeps_its_loops() {
    let chosen = choose(
        "__global__ void box(const float *img, float *res, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int u = x + dx, v = y + dy;
            if (u >= 0 && u < w && v >= 0 && v < h) sum += img[v * w + u];
        }
    res[y * w + x] = sum / 9;
}
int main() { dim3 block(32, 8); box<<<dim3(4, 4), block>>>(nullptr, nullptr, 128, 32); }
",
    );
    let chosen = chosen.unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(
        chosen.tried.iter().any(|t| t.name == "tile of `img`" && t.failed.is_none()),
        "{:?}",
        chosen.tried
    );
}

/// Elements of 8 bits are told apart by several runs, in which integers in scope that come from data differ.
#[test]
fn data_are_in_scope_beside_small_elements() {
    let text = "__global__ void sobel(const unsigned char *img, unsigned char *edges, int w, int h) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int gx = img[(y - 1) * w + x + 1] - img[(y - 1) * w + x - 1] + 2 * (img[y * w + x + 1] - img[y * w + x - 1]);
    int gy = img[(y + 1) * w + x] - img[(y - 1) * w + x] + 2 * (img[(y + 1) * w + x + 1] - img[(y - 1) * w + x + 1]);
    edges[y * w + x] = min(abs(gx) + abs(gy), 255);
}
void run(unsigned char *a, unsigned char *b, int w, int h) {
    sobel<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h);
}
";
    let chosen = choose(text).unwrap_or_else(|(_, message)| panic!("{message}"));
    for plan in ["tile with a halo of `img`", "tile of `img`"] {
        let tried = chosen.tried.iter().find(|t| t.name == plan).expect("it is tried");
        assert_eq!(tried.failed, None, "{plan}");
    }
}

/// Arrays in structures are followed to where they lead.
#[test]
fn images_in_structures_get_tiles() {
    let (name, text) = best(
        "struct Image { float *data; int width, height; };
__global__ void smooth(Image src, Image dst) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x > 0 && x < src.width - 1 && y < src.height)
        dst.data[y * src.width + x] = src.data[y * src.width + x] + src.data[y * src.width + x - 1] + src.data[y * src.width + x + 1];
}
",
    );
    assert_eq!(name, "tile with a halo of `src.data`");
    assert!(text.contains("__shared__ float src_data_tile["), "{text}");
}

/// A table of row starts: values that tell its elements apart make rows of millions of elements, which took a minute.
#[test]
fn plans_whose_values_make_loops_longer_are_given_up() {
    let chosen = choose(
        "__global__ void spmv(int n, const int *rows, const int *col, const float *val, const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        float s = 0;
        for (int k = rows[r]; k < rows[r + 1]; k++) s += val[k] * x[col[k]];
        y[r] = s;
    }
}
",
    );
    let chosen = chosen.unwrap_or_else(|(_, message)| panic!("{message}"));
    assert!(chosen.best.is_none());
    let given_up =
        |t: &auto::Tried| t.failed.as_ref().is_some_and(|f| f.contains("say how often loops run"));
    assert!(chosen.tried.iter().any(given_up), "{:?}", chosen.tried);
}

/// What is done is heard of, plan by plan.
#[test]
fn plans_are_counted_while_they_are_tried() {
    let heard = std::rc::Rc::new(std::cell::RefCell::new(String::new()));
    let hear = heard.clone();
    let steps = warpsmith_stage::session::Steps::new(std::rc::Rc::new(move |s: &str| {
        *hear.borrow_mut() += &format!("{s}\n");
    }));
    let text = "#define TILE 16
__global__ void transpose(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < w && y < h) out[x * h + y] = in[y * w + x];
}
";
    let settings = Settings { path: "plain.cu".into(), ..Settings::default() };
    let input = Input { settings, text: text.into(), steps, ..Input::default() };
    assert!(auto::choose(&input, &global_requests).is_ok());
    let heard = heard.borrow();
    assert!(heard.contains("plan 1/") && heard.contains(" s left, "), "{heard}");
    assert!(heard.contains("transposing tile of `in`: search and checks"), "{heard}");
}

/// Subscripts by macro, a helper that takes elements, a guard, and a block that nothing in the file names.
#[test]
fn usual_spellings_are_understood() {
    let (name, text) = best(
        "#define IDX(y, x) ((y) * w + (x))
__device__ float lerp3(float a, float b, float c) { return 0.25f * a + 0.5f * b + 0.25f * c; }
__global__ void blur(const float *img, float *res, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        res[IDX(y, x)] = lerp3(img[IDX(y, x - 1)], img[IDX(y, x)], img[IDX(y, x + 1)]) + img[IDX(y - 1, x)] + img[IDX(y + 1, x)];
}
",
    );
    assert!(name.contains("of `img`"), "{name}");
    assert!(text.contains("lerp3(") && text.contains("__syncthreads();"), "{text}");
}

#[test]
fn a_transpose_whose_block_nothing_names() {
    let (name, text) = best(
        "__global__ void trans(const float *a, float *b, int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) b[j * n + i] = a[i * n + j];
}
",
    );
    assert_eq!(name, "transposing tile of `a`", "{text}");
}

#[test]
fn a_file_with_marks_has_a_plan() {
    let text = "__global__ void k(const float *a, float *o, int n) {
    __shared__ float t[16];
    int i = blockIdx.x * 16 + threadIdx.x;
    if (i < n) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i > 0 && i < n) o[i] = __opt__(a[i - 1]);
}
";
    let Err((no, message)) = choose(text) else { panic!("it has marks") };
    assert!(!no);
    let expected = "error[W734]: the file has a plan already, and `--auto` is for files without one
 --> plain.cu:6:32
  |
6 |     if (i > 0 && i < n) o[i] = __opt__(a[i - 1]);
  |                                ^^^^^^^^^^^^^^^^^ its first mark
  |
  = help: leave out `--auto` to stage this plan, or take the marks out to have one found
";
    assert_eq!(message, expected);
}

#[test]
fn several_kernels_are_named() {
    let kernel = |name: &str| {
        format!(
            "__global__ void {name}(const float *a, float *b) {{ b[threadIdx.x] = a[threadIdx.x]; }}\n"
        )
    };
    let (_, message) = choose(&format!("{}{}", kernel("up"), kernel("down"))).unwrap_err();
    assert!(
        message.contains("help: name one with --kernel: the file has `up`, `down`"),
        "{message}"
    );
}

/// Copies are made under the condition of the branch that reads, whichever it is, and under none where later statements read, too.
#[test]
fn copies_are_made_where_reads_are() {
    let wave = "#define B 128
__global__ void wave(const double *prev, const double *cur, double *next, int n, double c2) {
    int i = blockIdx.x * B + threadIdx.x;
    if (i > 0 && i < n - 1)
        next[i] = 2.0 * cur[i] - prev[i] + c2 * (cur[i - 1] - 2.0 * cur[i] + cur[i + 1]);
    else if (i < n)
        next[i] = 0.0;
}
";
    let edges = "#define BX 32
#define BY 8
__global__ void relax(const float *a, float *b, int w, int h) {
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int i = y * w + x;
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) {
        if (x < w && y < h) b[i] = 0.0f;
    } else {
        b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - w] + a[i + w]);
    }
}
";
    let masked = "#define BX 32
#define BY 8
__global__ void masked(const float *u, float *v, const int *mask, int w, int h) {
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1 || mask[i]) {
        v[i] = u[i];
        return;
    }
    v[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w]);
}
";
    for (text, copy) in [
        (wave, "if (i > 0 && i < n - 1) {\n        cur_tile["),
        (edges, "if (!(x == 0 || y == 0 || x >= w - 1 || y >= h - 1)) {\n        a_tile["),
        (masked, "    u_tile[threadIdx.y][threadIdx.x] = u[i];\n    __syncthreads();"),
    ] {
        let (name, text) = best(text);
        assert!(name.starts_with("tile") && text.contains(copy), "{name}\n{text}");
    }
}

/// Threads whose positions are divided read one element together, and nothing says that they do not.
#[test]
fn divided_positions_are_shared() {
    let chosen = choose(
        "__global__ void nearest(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * 24 + threadIdx.x, y = blockIdx.y * 12 + threadIdx.y;
    if (x < 3 * w && y < 3 * h) out[y * 3 * w + x] = in[(y / 3) * w + x / 3];
}
void launch(const float *in, float *out, int w, int h) {
    nearest<<<dim3((3 * w + 23) / 24, (3 * h + 11) / 12), dim3(24, 12)>>>(in, out, w, h);
}
",
    );
    let chosen = chosen.unwrap_or_else(|(_, message)| panic!("{message}"));
    let denied = |d: &String| d.contains("no two threads of a block read one element");
    assert!(!chosen.declined.iter().any(denied), "{:?}", chosen.declined);
}

/// Fields of structures that neighbours read: the tile holds whole structures.
#[test]
fn fields_of_structures_come_from_a_tile_of_structures() {
    let text = "struct Cell { float rho, u, v, p; };
#define B 16
__global__ void flux(const Cell *q, float *out, int nx, int ny) {
    int i = blockIdx.x * B + threadIdx.x, j = blockIdx.y * B + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    int c = j * nx + i;
    out[c] = q[c + 1].u * q[c + 1].rho - q[c - 1].u + q[c + nx].v * q[c + nx].rho - q[c - nx].v + q[c].p;
}
";
    let tiles = |c: &Counted<'_>| Some(if c.shared > 0 { 0.5 } else { 1.0 });
    let chosen = tried("flux.cu", text, tiles).expect("plans");
    let failed: Vec<_> = chosen.tried.iter().filter_map(|t| t.failed.as_ref()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let best = chosen.best.expect("a tile");
    assert_eq!(best.name, "tile with a halo of `q`");
    assert!(best.text.contains("__shared__ Cell q_tile[B + 2][B + 2];"), "{}", best.text);
    common::emitted("auto_flux", &best.text);
}
