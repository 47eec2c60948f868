//! `--auto` on kernels whose outermost loop blocks along a free axis of the grid can share.

mod common;

use common::tried;
use warpsmith_stage::auto::{self, Chosen, Counted};

/// A device that is never full: only more blocks make a kernel faster.
fn by_blocks(counted: &Counted<'_>) -> Option<f64> {
    let blocks = f64::from(counted.config.grid.iter().product::<u32>());
    let sectors: u64 = counted.counters.arrays.iter().map(|a| a.sectors).sum();
    Some(sectors as f64 / blocks)
}

fn choose(text: &str) -> Chosen {
    tried("plain.cu", text, by_blocks).unwrap_or_else(|(_, m)| panic!("{m}"))
}

/// The best plan's text, which cuts the loop.
fn cut(text: &str) -> (String, auto::NewLaunch) {
    let chosen = choose(text);
    let tried = format!("{:?} {:?}", chosen.tried, chosen.uncut);
    let best = chosen.best.unwrap_or_else(|| panic!("no plan is chosen of {tried}"));
    assert!(best.checked.len() >= 4, "{:?}", best.checked);
    let launch = best.launch.unwrap_or_else(|| panic!("{} is chosen of {tried}", best.name));
    (best.text, launch)
}

const COLUMN: &str = "#define BX 32
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
";

#[test]
fn planes_are_cut_and_the_launch_is_edited() {
    let host = "void step(const float *a, float *b, int n, cudaStream_t s) {
    dim3 block(BX, BY), grid((n + BX - 1) / BX, (n + BY - 1) / BY);  // two axes
    column<<<grid, block, 0, s>>>(a, b, n, n, 2 * n);
    column<<<dim3(n / BX, n / BY), block>>>(a, b, n, n, 64);
}
";
    let (text, launch) = cut(&format!("{COLUMN}{host}"));
    assert_eq!(
        launch.grids,
        [
            format!(
                "dim3(grid.x, grid.y, min((int)((2 * n) - 1 - 1) / {} + 1, 65535))",
                launch.run
            ),
            format!("dim3(n / BX, n / BY, min((int)(64 - 1 - 1) / {} + 1, 65535))", launch.run)
        ]
    );
    assert_eq!(launch.by_hand, None);
    for (grid, rest) in
        launch.grids.iter().zip([", block, 0, s>>>(a, b, n, n, 2 * n);", ", block>>>(a, b"])
    {
        assert!(text.contains(&format!("column<<<{grid}{rest}")), "{text}");
    }
    // Other bytes stay: the kernel's first lines, and the host's.
    assert!(text.starts_with("#define BX 32\n#define BY 4\n__global__ void column(const float *p"));
    assert!(text.contains("grid((n + BX - 1) / BX, (n + BY - 1) / BY);  // two axes\n"));
    let lines = "    // Blocks along z share this loop, whatever their number.
    const int k_run = (nz - 1 - 1 + (int)gridDim.z - 1) / (int)gridDim.z;
    const int k_begin = 1 + (int)blockIdx.z * k_run, k_end = min(nz - 1, k_begin + k_run);
";
    assert!(text.contains(lines), "{text}");
    assert!(text.contains("for (int k = k_begin; k < k_end; k++)"), "{text}");
}

#[test]
fn without_a_launch_in_the_file_it_is_said() {
    let (text, launch) = cut(COLUMN);
    assert!(launch.grids.is_empty());
    let said = launch.by_hand.expect("there is no launch to edit");
    assert_eq!(said, format!("launch it with gridDim.z = (nz - 1 - 1) / {} + 1", launch.run));
    assert!(text.contains(&format!("// To be fast, {said}.")), "{text}");
}

/// Variables that move with the loop begin where the block does: sums in the body, in the step, and a counter from outside.
#[test]
fn what_moves_with_the_loop_is_moved() {
    let (text, _) =
        cut("__global__ void heat(const float *in, float *out, size_t nx, int ny, unsigned nz) {
    unsigned i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    unsigned k;
    float w;
    size_t plane = nx * ny, c = i + nx * j, back = 7;
    if (i < nx && j < ny)
        for (k = 0; k <= nz - 1; ++k, c += plane) {
            w = in[c];
            out[c] = w * 0.5f + (k > 0 ? in[c - plane] : w) + back;
            back--;
        }
}
");
    for part in [
        "const unsigned k_run = (nz - 1 + 1) > 0 ? (nz - 1 + 1 + (unsigned)gridDim.z - 1) / (unsigned)gridDim.z : 0;",
        "k_end = min(nz - 1 + 1, k_begin + k_run);",
        "c += k_begin * plane;",
        "back -= k_begin;",
        "for (k = k_begin; k < k_end; ++k, c += plane) {",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// One axis of threads, rows one after the other: blocks along y share the rows.
#[test]
fn rows_of_a_plane_are_shared_along_y() {
    let (text, launch) = cut(
        "__global__ void rows(const float *__restrict__ a, float *__restrict__ b, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    for (int y = 1; y < h - 1; ++y)
        b[y * w + x] = a[(y - 1) * w + x] + a[y * w + x] + a[(y + 1) * w + x];
}
int main() { int w = 5000, h = 300; rows<<<(w + 255) / 256, 256>>>(nullptr, nullptr, w, h); }
",
    );
    assert_eq!(launch.axis, 1);
    let grid = format!("dim3((w + 255) / 256, min((int)(h - 1 - 1) / {} + 1, 65535))", launch.run);
    assert_eq!(launch.grids, [grid]);
    assert!(text.contains("blockIdx.y * y_run"), "{text}");
}

/// What one iteration hands to the next cannot be cut, and the reason is said.
#[test]
fn loops_that_hand_something_on_stay_whole() {
    let kernel = |body: &str| {
        format!(
            "__device__ void keep(float *p, float v) {{ *p = v; }}
__global__ void f(const float *a, float *b, int nx, int ny, int nz) {{
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    int c = i + nx * j; float s = 0;
    if (i >= nx || j >= ny) return;
    for (int k = 1; k < nz; k++) {{ {body} }}
}}
"
        )
    };
    for (body, why) in [
        (
            "s += a[c + k * nx * ny] + a[c + (k - 1) * nx * ny]; b[c + k * nx * ny] = s;",
            "iterations hand `s` on to the next",
        ),
        (
            "b[c + k * nx * ny] = b[c + (k - 1) * nx * ny] + a[c + k * nx * ny] + a[c];",
            "the kernel stores to several elements of `b`, or reads others",
        ),
        (
            "b[c] = a[c + k * nx * ny] + a[c + (k - 1) * nx * ny];",
            "not every iteration stores to elements of `b` of its own",
        ),
        (
            "if (a[c + k * nx * ny] < 0) return; b[c + k * nx * ny] = a[c + (k - 1) * nx * ny];",
            "control leaves the loop",
        ),
        (
            "keep(b + c + (k - 1) * nx * ny, 1); b[c + k * nx * ny] = a[c + k * nx * ny] + a[c + (k - 1) * nx * ny];",
            "`b` is used by more than subscripts",
        ),
        (
            "nz = nz - 1; b[c + k * nx * ny] = a[c + k * nx * ny] + a[c + (k - 1) * nx * ny];",
            "the loop changes its own bounds",
        ),
    ] {
        assert_eq!(choose(&kernel(body)).uncut.as_deref(), Some(why), "{body}");
    }
}

/// Planes in registers are read before the loop only if it has an iteration: blocks beyond the last plane read nothing.
#[test]
fn loops_without_iterations_read_nothing() {
    let chosen = choose(COLUMN);
    let name = |n: &str| chosen.tried.iter().find(|t| t.name.starts_with(n)).map(|t| &t.failed);
    assert_eq!(name("`k` cut, `p` through registers"), Some(&None), "{:?}", chosen.tried);
}

/// What one run stores another may read where both pointers lead into one array.
#[test]
fn parts_of_one_array_are_not_cut() {
    let host = |second: &str| {
        format!(
            "{COLUMN}void run(float *a, float *b, int nx, int ny, int nz) {{ column<<<dim3(nx / 32, ny / 4), dim3(32, 4)>>>(a, {second}, nx, ny, nz); }}\n"
        )
    };
    assert!(choose(&host("b")).best.is_some_and(|b| b.launch.is_some()));
    let chosen = choose(&host("a + nx * ny"));
    assert!(chosen.best.is_none_or(|b| b.launch.is_none()), "cut");
    let why = chosen.uncut.map(|r| format!("{r:?}")).unwrap_or_default();
    assert!(why.contains("parts of one array"), "{why}");
}

/// Planes do not go through registers where a `continue` ends iterations before they are handed on.
#[test]
fn iterations_that_end_early_hand_on_no_planes() {
    let body = |early: &str| COLUMN.replace("        q[c]", &format!("{early}\n        q[c]"));
    let names = |text: &str| -> Vec<String> {
        let chosen = choose(text);
        let registers = |n: &String| n.contains("through registers");
        chosen.tried.into_iter().map(|t| t.name).filter(registers).collect()
    };
    assert!(!names(&body("")).is_empty());
    assert_eq!(names(&body("        if (p[c] <= 0.0f) continue;")), Vec::<String>::new());
}
