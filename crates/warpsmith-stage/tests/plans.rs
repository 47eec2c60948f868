//! Plans of the kinds that people write, from text to text: the examples, and the traps of published programs.

mod common;

use common::{has_solver, planned as run};
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::Input;
use warpsmith_stage::stage::{self, Staged, Verdict};

/// Block shapes that people launch, and that every example of two axes with a free shape is checked at.
const SHAPES: [[u32; 3]; 6] =
    [[16, 16, 1], [32, 8, 1], [64, 8, 1], [96, 4, 1], [128, 4, 1], [32, 4, 1]];

fn example(name: &str) -> String {
    let path = format!("{}/../../examples/stage/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect("the example is there")
}

fn staged(text: &str) -> Staged {
    match run(text) {
        Ok(staged) => staged,
        Err((_, message)) => panic!("{message}"),
    }
}

/// Stages an example, asks for all six shapes, and that what is not marked stays.
fn example_at_all_shapes(name: &str, contains: &[&str]) {
    let text = example(name);
    let staged = staged(&text);
    for shape in SHAPES {
        assert!(staged.blocks.contains(&shape), "{name} at {shape:?}: {:?}", staged.blocks);
    }
    surely_right(name, &staged);
    assert!(staged.inserted.is_empty(), "{name}: {:?}", staged.inserted);
    assert!(staged.redundant.is_empty(), "{name}: {:?}", staged.redundant);
    for part in contains {
        assert!(staged.text.contains(part), "{name}: no `{part}` in\n{}", staged.text);
    }
    let tail = text.find("#include").expect("a host program");
    assert!(staged.text.ends_with(&text[tail..]), "{name}: the host program stays");
    assert!(!staged.text.contains("__opt__") && !staged.text.contains("__insert"), "{name}");
}

/// All reads are served, and proved at every shape where a solver is there.
fn surely_right(name: &str, staged: &Staged) {
    assert!(staged.accesses.iter().all(|a| a.verdict != Verdict::Original), "{name}");
    if !has_solver() {
        return;
    }
    for a in &staged.accesses {
        assert_eq!(a.unproved, None, "{name}: {}", a.replacement);
        assert_eq!(a.proved.len(), staged.blocks.len(), "{name}: {}", a.replacement);
    }
}

#[test]
fn five_point_stencils() {
    example_at_all_shapes(
        "five_point",
        &[
            "((threadIdx.x != 0 || i == 0) ? tile[threadIdx.x == 0 ? s : s - 1] : in[i == 0 ? c : c - 1])",
            "+ tile[s];",
        ],
    );
    example_at_all_shapes(
        "five_point_sleeve",
        &[
            "        if (threadIdx.x == 0) tile[s - 1] = in[i == 0 ? c : c - 1];\n",
            "        if (threadIdx.x == BX - 1 || i == nx - 1) tile[s + 1] = in[i == nx - 1 ? c : c + 1];\n",
            "out[c] = tile[s - 1] + tile[s + 1]\n",
        ],
    );
}

#[test]
fn nine_points_need_corners() {
    example_at_all_shapes(
        "nine_point_sleeve",
        &["if (threadIdx.x == 0) tile[y][x - 1] = in[c - 1];"],
    );
    let text = staged(&example("nine_point_sleeve")).text;
    // Warps of other rows step over a row and its corners together.
    for (row, column) in [("y == 0", "y - 1"), ("y == BY - 1 || j == ny - 2", "y + 1")] {
        let global = if column == "y - 1" { "c - nx" } else { "c + nx" };
        let nested = format!(
            "        if (threadIdx.{row}) {{
            tile[{column}][x] = in[{global}];
            if (threadIdx.x == 0) tile[{column}][x - 1] = in[{global} - 1];
            if (threadIdx.x == BX - 1 || i == nx - 2) tile[{column}][x + 1] = in[{global} + 1];
        }}
"
        );
        assert!(text.contains(&nested), "{nested} in {text}");
    }
}

#[test]
fn heat_in_three_dimensions() {
    example_at_all_shapes("heat", &["cc * tile[s] + cw * ((threadIdx.x != 0 || i == 0) ? "]);
    example_at_all_shapes("heat_sleeve", &["cw * tile[s - 1]"]);
}

#[test]
fn himeno() {
    // Corners are made of the sides that they lie between.
    let corner = "(threadIdx.x != BX - 1 && i != nx - 2) && (threadIdx.y != BY - 1 && j != ny - 2)";
    let side = "threadIdx.y != 0 && (threadIdx.x != BX - 1 && i != nx - 2)";
    example_at_all_shapes("himeno", &[corner, side, "tile[y + 1][x + 1]"]);
    let row = "if (threadIdx.y == 0) {
                tile[y - 1][x + 1] = p[c + 1 - nx];
                if (threadIdx.x == 0) {
                    tile[y - 1][x] = p[c - nx];";
    example_at_all_shapes("himeno_sleeve", &["if (threadIdx.x == 0", row]);
}

#[test]
fn convolution_needs_four_comparisons() {
    example_at_all_shapes("conv5", &["tile[threadIdx.y + dy][threadIdx.x + dx] : in[y * nx + x]"]);
}

#[test]
fn two_time_steps() {
    let staged = staged(&example("five_point_temporal"));
    let index = "b[DX * (j2 % (DY - 2) + 1) + i2 % (DX - 2) + 1]";
    assert!(staged.text.contains(index), "{}", staged.text);
    assert_eq!(staged.dropped, ["mid"]);
    surely_right("five_point_temporal", &staged);
    assert!(!staged.text.contains("mid[c] = v"));
    assert!(SHAPES.iter().all(|s| staged.blocks.contains(s)), "{:?}", staged.blocks);
    assert!(staged.notes.iter().any(|n| n.contains("equal values to `out`")), "{:?}", staged.notes);
}

#[test]
fn two_time_steps_plane_by_plane() {
    let staged = staged(&example("heat_temporal"));
    assert_eq!(staged.dropped, ["mid"]);
    surely_right("heat_temporal", &staged);
}

#[test]
fn filters_and_transposes() {
    let fir = staged(&example("fir"));
    let part = "(threadIdx.x >= t ? line[threadIdx.x - t] : in[i - t])";
    assert!(fir.text.contains(part), "{}", fir.text);
    surely_right("fir", &fir);
    let transpose = staged(&example("transpose"));
    assert!(transpose.text.contains("= tile[threadIdx.x][threadIdx.y];"), "{}", transpose.text);
    surely_right("transpose", &transpose);
}

#[test]
fn matrix_products() {
    let one = staged(&example("matmul_one"));
    surely_right("matmul_one", &one);
    assert!(one.text.contains("sum += as[threadIdx.y][k] * b[(t + k) * n + col];"), "{}", one.text);
    let both = staged(&example("matmul"));
    surely_right("matmul", &both);
    assert!(both.text.contains("sum += as[threadIdx.y][k] * bs[k][threadIdx.x];"), "{}", both.text);
    assert!(
        both.blocks.contains(&[16, 16, 1]) && both.blocks.contains(&[32, 32, 1]),
        "{:?}",
        both.blocks
    );
}

/// The stencil as the thesis writes it, without a barrier and with the extent of the block.
const THESIS: &str = "__global__ void stencil(int *in, int *out, int nx, int ny){
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int j = threadIdx.y + blockIdx.y * blockDim.y;
    int c = i + nx * j;
    __shared__ int sb[blockDim.x * blockDim.y];
    int csb = threadIdx.x + threadIdx.y * blockDim.x;
    sb[csb] = in[c];
    out[c] = __opt__in[(i == 0) ? c : c - 1] + __opt__in[(j == ny - 1) ? c : c + nx];
}
";

#[test]
fn a_missing_barrier_is_put_in() {
    let staged = staged(THESIS);
    assert_eq!(staged.inserted.len(), 1);
    assert!(
        staged.inserted[0].why.contains("without an order between them"),
        "{:?}",
        staged.inserted
    );
    assert!(staged.text.contains("    __syncthreads();\n    out[c] = "), "{}", staged.text);
    assert!(staged.text.contains("__shared__ int sb[16 * 16];"), "{}", staged.text);
    assert!(
        staged.text.contains(" ? csb : csb + blockDim.x] : in[(j == ny - 1) ? c : c + nx]"),
        "{}",
        staged.text
    );
}

#[test]
fn the_second_barrier_of_the_loop_is_put_in() {
    let text = example("heat").replacen(
        "        __syncthreads();\n        c += plane;",
        "        c += plane;",
        1,
    );
    let staged = staged(&text);
    assert_eq!(staged.inserted.len(), 1, "{:?}", staged.inserted);
    let body = &staged.text[..staged.text.find("#include").unwrap_or(0)];
    assert_eq!(body.matches("__syncthreads();").count(), 2, "{body}");
}

#[test]
fn a_superfluous_barrier_is_named_and_removed() {
    let text = example("five_point").replacen(
        "    __syncthreads();\n",
        "    __syncthreads();\n    __syncthreads();\n",
        1,
    );
    let named = staged(&text);
    assert_eq!(named.redundant.len(), 1, "{:?}", named.redundant);
    let settings = Settings { path: "plan.cu".into(), ..Settings::default() };
    let input = Input { settings, text, fix: true, ..Input::default() };
    let Ok(fixed) = stage::stage(input) else { panic!("it can be staged") };
    assert!(fixed.removed);
    assert_eq!(fixed.text.matches("__syncthreads();").count(), 1);
}

fn refusal(text: &str) -> String {
    match run(text) {
        Ok(staged) => panic!("staged:\n{}", staged.text),
        Err((no, message)) => {
            assert!(no, "{message}");
            message
        }
    }
}

#[test]
fn a_tile_that_is_too_small_names_the_thread() {
    let text = example("five_point_sleeve").replace("tile[(BX + 2) * (BY + 2)]", "tile[BX * BY]");
    let message = refusal(&text);
    assert!(message.contains("thread (") && message.contains("block ("), "{message}");
}

#[test]
fn two_elements_in_one_place_are_refused() {
    let text = example("five_point_sleeve").replace("__opt__(tile[s + 1],", "__opt__(tile[s - 1],");
    assert!(refusal(&text).contains("two elements are needed in one place"), "{}", refusal(&text));
}

#[test]
fn an_element_that_is_never_in_the_tile() {
    let text = THESIS.replace("sb[csb] = in[c];", "sb[csb] = 2 * in[c];");
    assert!(refusal(&text).contains("no marked read finds its element in shared memory"));
}

#[test]
fn a_marked_write_is_refused() {
    let message =
        refusal("__global__ void f(int *a) { __shared__ int t[1]; __opt__(a[0]) = t[0]; }");
    assert!(message.contains("error[W702]: this marks a write"), "{message}");
}

/// Published programs step through time inside of the kernel with nothing but barriers of the block.
#[test]
fn a_time_loop_inside_the_kernel_is_a_race() {
    let text = "#define BX 32
__global__ void steps(float *in, float *out, int n) {
    __shared__ float tile[BX];
    int i = blockIdx.x * BX + threadIdx.x;
    for (int t = 0; t < 4; t++) {
        if (i < n) tile[threadIdx.x] = in[i];
        __syncthreads();
        float v = 0;
        if (i < n) v = __opt__(in[i == 0 ? i : i - 1]) + __opt__(in[i == n - 1 ? i : i + 1]);
        __syncthreads();
        if (i < n) in[i] = v;
        __syncthreads();
    }
}
";
    let Err((_, message)) = run(text) else { panic!("staged") };
    assert!(message.contains("W707") && message.contains("race-global"), "{message}");
}

/// Two arrays of dynamic shared memory are one: what the second holds destroys the first.
#[test]
fn dynamic_arrays_alias() {
    let text = "__global__ void f(const float *a, const float *b, float *out, int n) {
    extern __shared__ float first[];
    extern __shared__ float second[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { first[threadIdx.x] = a[i]; }
    __syncthreads();
    if (i < n) { second[threadIdx.x] = b[i]; }
    __syncthreads();
    if (i < n) out[i] = __opt__(a[i]) + __opt__(b[i]);
}
";
    let staged = staged(text);
    assert!(staged.text.contains("out[i] = (a[i]) + "), "{}", staged.text);
    assert!(
        staged.notes.iter().any(|n| n.contains("`a[i]` is never in shared memory")),
        "{:?}",
        staged.notes
    );
}

/// The thesis multiplies by the wrong extent of the block: threads collide in the tile.
#[test]
fn a_wrong_stride_is_found() {
    let text = THESIS.replace("threadIdx.y * blockDim.x;", "threadIdx.y * blockDim.y;");
    let settings = Settings { path: "plan.cu".into(), ..Settings::default() };
    let input = Input { settings, text, block: Some([32, 8, 1]), ..Input::default() };
    let Err(refused) = stage::stage(input) else { panic!("staged") };
    assert!(refused.no && refused.diagnostics[0].code == "W713", "{:?}", refused.diagnostics);
    let raced = |d: &warpsmith_ir::Diagnostic| d.notes.iter().any(|n| n.contains("race-shared"));
    assert!(refused.diagnostics.iter().any(raced), "{:?}", refused.diagnostics);
}

#[test]
fn a_read_that_no_launch_comes_to_is_not_rewritten_unseen() {
    let text = example("five_point_sleeve").replacen(
        "out[c] = __opt__",
        "out[c] = nx > 1000000 ? in[c] : __opt__",
        1,
    );
    assert!(run(&text).is_ok());
    let text = example("five_point_sleeve").replacen(
        "out[c] = __opt__",
        "out[c] = nx < 1000000 ? in[c] : __opt__",
        1,
    );
    let message = refusal(&text);
    assert!(
        message.contains("error[W712]: no launch that was tried comes to this read"),
        "{message}"
    );
}

/// A tile that is right in small launches and overwritten here and there in large ones: the read is refuted, with the launch,
/// the thread and what is there of the element, and the answer is a "no".
#[test]
fn a_read_that_is_wrong_at_an_unseen_launch_is_refuted() {
    let text = "__global__ void f(const float *a, float *out, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tile[threadIdx.x] = a[i];
    __syncthreads();
    if (n > 300 && (n * 5 + threadIdx.x * 37) % 13 < 5) tile[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) out[i] = __opt__(a[i]);
}
";
    let settings = Settings { path: "plan.cu".into(), ..Settings::default() };
    let input = Input { settings, text: text.into(), ..Input::default() };
    let refused = stage::stage(input).expect_err("it is wrong with more than 300 elements");
    assert!(refused.no, "{:?}", refused.diagnostics);
    let [read] = refused.accesses.as_slice() else { panic!("{:?}", refused) };
    assert_eq!(read.verdict, Verdict::Refuted);
    assert_eq!(read.original, "a[i]");
    let witness = read.witness.as_deref().expect("a refuted read has a witness");
    for part in ["block ", "thread (", "n=", "the element is "] {
        assert!(witness.contains(part), "{witness}");
    }
}

/// What defeats a plan is shown: the statement, the launch, the thread.
#[test]
fn the_thread_that_defeats_a_plan_is_named() {
    let never = refusal(&THESIS.replace("sb[csb] = in[c];", "sb[csb] = 2 * in[c];"));
    let thread = "block (0, 0), thread (0, 0): the element is not in shared memory";
    assert!(never.contains(thread), "{never}");
    let small = "#define N 16
__global__ void k(const float *a, float *o, int n) {
    __shared__ float t[N / 2];
    int i = blockIdx.x * N + threadIdx.x;
    if (i < n) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i > 0 && i < n) o[i] = __opt__(a[i - 1]);
}
";
    let message = refusal(small);
    for part in [
        "error[W707]: no launch was found in which the unmodified kernel is right",
        "5 |     if (i < n) t[threadIdx.x] = a[i];
  |                ^^^^^^^^^^^^^^ write",
        "thread (2, 0): write of `t[2]` is outside of `t`, which has 2 elements",
    ] {
        assert!(message.contains(part), "{part}\n{message}");
    }
}

/// Three steps with two arrays between them: threads at the ends of blocks write equal values of the first to the tile of the second.
#[test]
fn three_time_steps() {
    let positions = |name: &str, x: &str, y: &str| {
        format!(
            "    int i{name} = min(max((int)(blockIdx.x * (BX - 4)) + {x} - 2, 0), nx - 1);
    int j{name} = min(max((int)(blockIdx.y * (BY - 4)) + {y} - 2, 0), ny - 1);
    int c{name} = j{name} * nx + i{name};
    int w{name} = i{name} == 0 ? c{name} : c{name} - 1, e{name} = i{name} == nx - 1 ? c{name} : c{name} + 1;
"
        )
    };
    let text = format!(
        "#define BX 16
#define BY 8
__global__ void three(const float *in, float *m1, float *m2, float *out, int nx, int ny) {{
    __shared__ float a[BY * BX];
    __shared__ float b[BY * BX];
    int s = threadIdx.y * BX + threadIdx.x;
{}    float v = in[c] + 0.3f * in[w] + 0.2f * in[e];
    m1[c] = v;
    a[s] = v;
    __syncthreads();
    int tx1 = min(max((int)threadIdx.x, 1), BX - 2), ty1 = min(max((int)threadIdx.y, 1), BY - 2);
{}    float v1 = __opt__(m1[c1]) + 0.3f * __opt__(m1[w1]) + 0.2f * __opt__(m1[e1]);
    m2[c1] = v1;
    b[ty1 * BX + tx1] = v1;
    __syncthreads();
    int tx2 = min(max((int)threadIdx.x, 2), BX - 3), ty2 = min(max((int)threadIdx.y, 2), BY - 3);
{}    out[c2] = __opt__(m2[c2]) + 0.3f * __opt__(m2[w2]) + 0.2f * __opt__(m2[e2]);
}}
",
        positions("", "(int)threadIdx.x", "(int)threadIdx.y"),
        positions("1", "tx1", "ty1"),
        positions("2", "tx2", "ty2"),
    );
    let staged = staged(&text);
    assert!(staged.dropped.contains(&"m1".to_string()), "{:?}: {}", staged.dropped, staged.text);
    // A condition on the two sizes would be right by accident: launches have more blocks along either axis.
    assert!(
        !staged.text.contains("ny < nx") && !staged.text.contains("nx > ny"),
        "{}",
        staged.text
    );
}

/// Other constants than those of the file are tried only where its assertions let them: it was an error that 7 x 5 fails this one.
#[test]
fn constants_that_an_assertion_keeps_together() {
    let staged = staged(
        "#define TILE 32
#define ROWS 8
__global__ void shift(const float *in, float *out, int n) {
    static_assert(TILE % ROWS == 0, \"whole steps\");
    __shared__ float t[ROWS][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y;
    if (x < n) t[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    if (x + 1 < n) out[y * n + x] = __opt__(in[y * n + x + 1]);
}
",
    );
    assert!(staged.blocks.contains(&[32, 8, 1]), "{:?}", staged.blocks);
    assert!(staged.blocks.iter().all(|b| b[0] % b[1] == 0), "{:?}", staged.blocks);
}

/// Nothing says how wide blocks of one axis are: a usual width is written down, and checked.
#[test]
fn an_extent_of_blocks_of_one_axis() {
    let staged = staged(
        "__global__ void both(const int *in, int *out, int n)
{
    __shared__ int t[blockDim.x];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = __opt__(in[i > 0 ? i - 1 : 0]) + __opt__(in[i + 1 < n ? i + 1 : i]);
}
",
    );
    assert!(staged.text.contains("__shared__ int t[128];"), "{}", staged.text);
    assert!(staged.blocks.contains(&[128, 1, 1]), "{:?}", staged.blocks);
}
