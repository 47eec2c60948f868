//! `--auto` on kernels whose threads can have several neighbours along x each: rows go to and from memory as vectors.

mod common;

use common::tried;
use warpsmith_emu::counters::InstructionClass;
use warpsmith_stage::auto::{Chosen, Counted};

/// Requests are what costs.
fn by_requests(counted: &Counted<'_>) -> Option<f64> {
    let c = counted.counters;
    let warps =
        c.class(InstructionClass::GlobalLoad).warps + c.class(InstructionClass::GlobalStore).warps;
    Some(
        (warps + c.class(InstructionClass::BlockBarrier).warps) as f64
            * counted.times.unwrap_or(1.0),
    )
}

fn choose(text: &str) -> Chosen {
    tried("plain.cu", text, by_requests).unwrap_or_else(|(_, m)| panic!("{m}"))
}

/// The best plan's name and text, which has vectors.
fn wide(text: &str) -> (String, String) {
    let chosen = choose(text);
    let tried = format!("{:?} {:?}", chosen.tried, chosen.narrow);
    let best = chosen.best.unwrap_or_else(|| panic!("no plan is chosen of {tried}"));
    assert!(best.name.contains("neighbours a thread"), "{} is chosen of {tried}", best.name);
    assert!(best.checked.len() >= 4, "{:?}", best.checked);
    (best.name, best.text)
}

const HEAT: &str = "#define BX 32
#define BY 8
__global__ void heat(const float *in, float *out, int nx, int ny, int nz, float cc, float cw, float ct) {
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    int plane = nx * ny;
    int c = i + nx * j;
    if (i >= nx || j >= ny) return;
    for (int k = 0; k < nz; k++) {
        out[c] = cc * in[c] + cw * in[i == 0 ? c : c - 1] + cw * in[i == nx - 1 ? c : c + 1]
               + cw * in[j == 0 ? c : c - nx] + cw * in[j == ny - 1 ? c : c + nx]
               + ct * in[k == 0 ? c : c - plane] + ct * in[k == nz - 1 ? c : c + plane];
        c += plane;
    }
}
";
const STEP: &str =
    "void step(const float *in, float *out, int nx, int ny, int nz, cudaStream_t s) {
    dim3 block(BX, BY), grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    heat<<<grid, block, 0, s>>>(in, out, nx, ny, nz, 0.4f, 0.1f, 0.1f);
}
";

#[test]
fn planes_stay_in_registers_as_vectors() {
    let (name, text) = wide(&format!("{HEAT}{STEP}"));
    assert!(name.contains("4 neighbours a thread, `in` through registers"), "{name}");
    for part in [
        "// Four neighbours along x a thread: rows go to and from memory as vectors.\n__global__ void heat_by_4(const float *in",
        "int i = 4 * (blockIdx.x * BX + threadIdx.x);",
        "float4 in_below, in_here;",
        "out_row.x = cc * in_here.x + cw * in[i == 0 ? c : c - 1] + cw * in_here.y",
        "out_row.w = cc * in_here.w + cw * in_here.z + cw * in[(i + 3) == nx - 1 ? (c + 3) : (c + 3) + 1]",
        "*(float4 *)&out[c] = out_row;",
        "if (nx % 4 == 0",
        "&& (long long)grid.x * block.x >= nx",
        "&& ((size_t)in | (size_t)out) % 16 == 0) {",
        "heat_by_4<<<dim3((grid.x + 3) / 4, grid.y",
        "} else {\n        heat<<<grid, block, 0, s>>>(in, out, nx, ny, nz, 0.4f, 0.1f, 0.1f);\n    }",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The kernel as it was stays, byte for byte.
    assert!(text.starts_with(HEAT.trim_end()), "{text}");
}

/// `i < n - 2` ends no rows where `n` is unsigned and less than two: the grid alone does.
#[test]
fn unsigned_sizes_want_whole_grids() {
    let (_, text) = wide(&format!("{HEAT}{STEP}").replace("int nx", "unsigned nx"));
    assert!(text.contains("&& grid.x % 4 == 0"), "{text}");
    assert!(!text.contains(">= nx\n"), "{text}");
}

#[test]
fn without_a_launch_it_is_said_how_to_launch() {
    let chosen = choose(
        "__global__ void rows(const int *a, int *b, int nx, int ny) {
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    if (i >= nx || j >= ny) return;
    int c = i + nx * j;
    b[c] = a[c] + a[i == 0 ? c : c - 1] * a[i == nx - 1 ? c : c + 1];
}
",
    );
    let best = chosen.best.expect("a plan");
    let said = best.launch.and_then(|l| l.by_hand).expect("there is no launch to edit");
    let sizes = "launch rows_by_4 where nx % 4 == 0, gridDim.x * blockDim.x covers nx";
    assert!(said.starts_with(sizes), "{said}");
    assert!(best.text.contains(&format!("// {said}")), "{}", best.text);
}

/// Neighbours that are declared, a guard around, rows of a length of their own, doubles.
#[test]
fn other_spellings_of_a_plane() {
    let (_, text) = wide(
        "__global__ void five(const double *__restrict__ u, double *__restrict__ r, int w, int h, int pitch) {
    const int x = threadIdx.x + blockIdx.x * blockDim.x;
    const int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < w && y < h) {
        const int left = max(x - 1, 0), right = x + 1 < w ? x + 1 : x;
        const int up = y > 0 ? y - 1 : y, down = min(y + 1, h - 1);
        double sum = u[y * pitch + left] + u[y * pitch + right];
        sum += u[up * pitch + x] + u[down * pitch + x];
        r[y * pitch + x] = 0.25 * sum - u[y * pitch + x];
    }
}
int main() { dim3 block(16, 16); five<<<dim3(4, 4), block>>>(nullptr, nullptr, 64, 64, 64); }
",
    );
    for part in [
        "double2 r_row;",
        "const double2 u_row1 = *(const double2 *)&u[up * pitch + x];",
        "double sum = u[y * pitch + (max(x - 1, 0))] + u_row3.y;",
        "const int up = y > 0 ? y - 1 : y, down = min(y + 1, h - 1);\n        const double2",
        "five_by_2<<<dim3((4 + 1) / 2, 4), block>>>",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Edges that stay as they are: the ends of rows go lane by lane.
#[test]
fn rows_whose_ends_are_left_out() {
    let (_, text) = wide(
        "#define IDX(x, y) ((y) * nx + (x))
__global__ void laplace(const float *a, float *b, int nx, int ny) {
    int x = blockIdx.x * 128 + threadIdx.x;
    int y = blockIdx.y * 2 + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int c = y * nx + x;
        b[c] = 0.2f * (a[c] + a[c - 1] + a[c + 1] + a[c - nx] + a[c + nx]);
    }
}
",
    );
    for part in [
        "if (y > 0 && y < ny - 1) {",
        "// At the ends of a row, lane by lane.",
        "if ((x > 0) && (x < nx - 1) && ((x + 3) > 0) && ((x + 3) < nx - 1)) {",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// What stands deeper than before is written deeper, each of its lines.
#[test]
fn statements_at_the_ends_of_rows_stand_under_each_other() {
    let (_, text) = wide(
        "__global__ void laplace(const float *a, float *b, int nx, int ny) {
    int x = blockIdx.x * 128 + threadIdx.x;
    int y = blockIdx.y * 2 + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int c = y * nx + x;
        float s = a[c] + a[c - 1] + a[c + 1];
        b[c] = 0.2f * (s + a[c - nx] + a[c + nx]);
    }
}
",
    );
    for part in [
        "\n            for (int v = 0; v < 4; v++) {",
        "\n                if (((x + v) > 0) && ((x + v) < nx - 1)) {",
        "\n                    float s =",
        "\n                    b[(c + v)] =",
        "\n                }\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Names that the file gives to types, as benchmarks do.
#[test]
fn elements_by_another_name() {
    let (_, text) = wide(
        "typedef double DATA_TYPE;
__global__ void laplace(const DATA_TYPE *a, DATA_TYPE *b, int nx, int ny) {
    int x = blockIdx.x * 128 + threadIdx.x;
    int y = blockIdx.y * 2 + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int c = y * nx + x;
        b[c] = a[c] + a[c - 1] + a[c + 1] + a[c - nx] + a[c + nx];
    }
}
",
    );
    assert!(text.contains("*(const double2 *)&a["), "{text}");
}

const WIDTH: &str = "__global__ void laplace(const float *u, float *v, int nx, int ny) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= nx - 1 || j < 1 || j >= ny - 1) return;
    int k = i + j * nx;
    v[k] = u[k - 1] + u[k + 1] + u[k - nx] + u[k + nx] - 4.0f * u[k];
}
int main() {
    const int nx = 1000, ny = 1002;
    laplace<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8)>>>(nullptr, nullptr, nx, ny);
}
";

/// A kernel that no launch of the file would take is none.
#[test]
fn rows_that_are_no_multiples() {
    let said = |text: &str| {
        let tried = choose(text).tried;
        tried.into_iter().find(|t| t.name == "4 neighbours a thread").expect("it is tried").failed
    };
    assert_eq!(said(WIDTH), None);
    let why = said(&WIDTH.replace("nx = 1000", "nx = 1002")).expect("no launch would take it");
    assert_eq!(why, "`nx` is 1002, which is no multiple of 4");
}

/// A launch in which the kernel stores nothing says nothing of what it costs: planes are left out at both ends.
#[test]
fn launches_that_are_counted_store_something() {
    let chosen = choose(
        "#define R 4
__constant__ float w[R + 1];
__global__ void lap25(const float *in, float *out, int nx, int ny, int nz) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < R || y < R || z < R || x >= nx - R || y >= ny - R || z >= nz - R) return;
    size_t c = ((size_t)z * ny + y) * nx + x;
    float s = w[0] * in[c];
    for (int k = 1; k <= R; ++k) s += w[k] * (in[c - k] + in[c + k] + in[c - (size_t)k * nx] + in[c + (size_t)k * nx]);
    out[c] = s;
}
",
    );
    assert!(chosen.counted.ends_with("nz=10"), "{}", chosen.counted);
}

/// What cannot have vectors, with the reason.
#[test]
fn reasons_are_given() {
    let kernel = |decl: &str, body: &str| {
        format!(
            "__global__ void f(const float *a, float *b, const int *at, int nx, int ny) {{
    int i = blockIdx.x * 32 + threadIdx.x{decl}, j = blockIdx.y * 8 + threadIdx.y;
    int c = i + nx * j;
    if (i >= nx || j >= ny) return;
    {body}
}}
"
        )
    };
    for (decl, body, why) in [
        ("", "b[c] = a[at[c]] + a[c + 1];", "`a`: data decide on its subscripts"),
        ("", "b[j + ny * i] = a[c * 3] + a[c * 3 + 1];", "no read of it is a vector"),
        (" + 1", "b[c] = a[c] + a[c + 1];", "no read of it is a vector"),
        (
            "",
            "b[c] = a[c] + a[c + 1] + threadIdx.x;",
            "the kernel asks for `threadIdx.x` beside its position",
        ),
        ("", "atomicAdd(&b[c], a[c] + a[c + 1]);", ""),
        (
            "",
            "float s = 0; for (int k = 0; k < 3; k++) s += a[c + k]; b[c] = s;",
            "no read of it is a vector",
        ),
    ] {
        let chosen = choose(&kernel(decl, body));
        let narrow = chosen.narrow.unwrap_or_default();
        assert!(narrow.starts_with(why), "{narrow}\n{body}");
        let name = chosen.best.map_or(String::new(), |b| b.name);
        assert!(!name.contains("neighbours"), "{name}\n{body}");
    }
}

/// A thread that goes along a row of its own reads it as vectors, in the order of the sum.
#[test]
fn rows_of_threads_come_as_vectors() {
    let chosen = choose(
        "template <int BLOCK>
__global__ void product(const float *a, const float *x, float *y, int rows, int cols) {
    int r = blockIdx.x * BLOCK + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int c = 0; c < cols; c++) s += a[r * cols + c] * x[c];
    y[r] = s;
}
int main() { product<64><<<4, 64>>>(nullptr, nullptr, nullptr, 256, 64); }
",
    );
    let tried = format!("{:?}", chosen.tried);
    let best = chosen.best.unwrap_or_else(|| panic!("{tried}"));
    assert_eq!(best.name, "rows of `a` and `x` 4 at a time");
    let lines = "    {
        int c = 0;
        // Elements of a row come as vectors, where rows and addresses suit them.
        if (cols % 4 == 0 && (size_t)a % 16 == 0 && (size_t)x % 16 == 0) {
            for (; c + 3 < cols; c += 4) {
                const float4 a_row1 = *(const float4 *)&a[r * cols + c];
                const float4 x_row1 = *(const float4 *)&x[c];
                s += a_row1.x * x_row1.x;
                s += a_row1.y * x_row1.y;
                s += a_row1.z * x_row1.z;
                s += a_row1.w * x_row1.w;
            }
        }
        for (; c < cols; c++) s += a[r * cols + c] * x[c];
    }
";
    assert!(best.text.contains(lines), "{}", best.text);
}
