//! Copies of reads that data decide on: which threads need one is not what the runs of a small block happen to show.

mod common;

use common::{emitted, planned, planned_with};
use warpsmith_stage::session::Input;
use warpsmith_stage::stage::Staged;

/// A tile of two elements more on each side, in blocks of any size.
fn kernel(choices: &str) -> String {
    with_barrier("__syncthreads();", choices)
}

fn with_barrier(barrier: &str, choices: &str) -> String {
    format!(
        "__global__ void k(const float *q, const float *u, const int *w, float *out, int n) {{
    __shared__ float t[1024 + 4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[threadIdx.x + 2] = q[i];
    __insert();
    {barrier}
    {choices}
}}
"
    )
}

fn staged(name: &str, text: &str) -> Staged {
    let staged = planned(text).unwrap_or_else(|(_, said)| panic!("{said}"));
    emitted(name, &staged.text);
    staged
}

/// What the copies are, in lines without blanks before them.
fn copies(name: &str, choices: &str) -> Vec<String> {
    let staged = staged(name, &kernel(choices));
    staged.copies.iter().map(|c| c.trim().to_string()).collect()
}

/// Conditions hold for all that data may send there: no number of a thread or block in them is one that small blocks happen to have.
fn plain(name: &str, choices: &str) {
    let all = copies(name, choices);
    let odd = |c: &&String| {
        let numbers = ["== 3", "== 4", "== 5", "!= 3", "!= 4", "!= 5", "blockIdx", "- 5", "- 6"];
        numbers.iter().any(|n| c.contains(n))
    };
    assert_eq!(all.iter().find(odd), None, "{all:?}");
}

#[test]
fn all_threads_at_an_end_of_a_block_copy() {
    plain(
        "by_data_ends",
        "if (i >= n) return;
    if (u[i] > 0) { if (i > 0) out[i] = __opt__(t[threadIdx.x + 1], q[i - 1]); }
    else if (i + 1 < n) out[i] = __opt__(t[threadIdx.x + 3], q[i + 1]);",
    );
}

#[test]
fn differences_against_the_flow() {
    plain(
        "by_data_upwind",
        "if (i > 0 && i < n - 1) {
        if (u[i] > 0) out[i] = __opt__(t[threadIdx.x + 2], q[i]) - __opt__(t[threadIdx.x + 1], q[i - 1]);
        else out[i] = __opt__(t[threadIdx.x + 3], q[i + 1]) - __opt__(t[threadIdx.x + 2], q[i]);
    }",
    );
}

#[test]
fn conditions_may_have_a_name() {
    plain(
        "by_data_named",
        "if (i >= n) return;
    const bool left = i > 0 && w[i] == 5, right = i < n - 1 && w[i] == 6;
    out[i] = left ? __opt__(t[threadIdx.x + 1], q[i - 1]) : right ? __opt__(t[threadIdx.x + 3], q[i + 1]) : 0;",
    );
}

/// The last of four branches is one that a thread goes to in one run of eight.
#[test]
fn integers_choose_among_four() {
    plain(
        "by_data_four",
        "if (i > 1 && i < n - 2) {
        if (w[i] == 0) out[i] = __opt__(t[threadIdx.x + 1], q[i - 1]);
        else if (w[i] == 1) out[i] = __opt__(t[threadIdx.x], q[i - 2]);
        else if (w[i] == 2) out[i] = __opt__(t[threadIdx.x + 3], q[i + 1]);
        else out[i] = __opt__(t[threadIdx.x + 4], q[i + 2]);
    }",
    );
}

/// Threads leave, variables hold what was read, cases have numbers, and thresholds are within what one run shows.
#[test]
fn ways_of_all_kinds() {
    plain(
        "by_data_switch",
        "if (i < 2 || i >= n - 2) return;
    float r = 0;
    switch (w[i]) {
        case 0: r = __opt__(t[threadIdx.x + 1], q[i - 1]); break;
        case 7: r = __opt__(t[threadIdx.x + 3], q[i + 1]); break;
        default: r = __opt__(t[threadIdx.x + 4], q[i + 2]);
    }
    out[i] = r;",
    );
    plain(
        "by_data_leave",
        "if (i >= n || w[i] == 3) return;
    const float a = u[i];
    const bool left = a > 1.9f;
    out[i] = left ? (i > 0 ? __opt__(t[threadIdx.x + 1], q[i - 1]) : 0)
        : a > 1.2f && i < n - 1 ? __opt__(t[threadIdx.x + 3], q[i + 1]) : 1;",
    );
}

/// Cases that go on to the next: a copy for two threads of a block would have one bring what another reads, which a block of one
/// thread does not.
#[test]
fn cases_that_fall_through() {
    let staged = staged(
        "by_data_through",
        &kernel(
            "if (i >= n) return;
    float s = 0;
    switch (w[i] & 7) {
    case 0: s += 1;
    case 1: if (i > 0) s += __opt__(t[threadIdx.x + 1], q[i - 1]); break;
    default: s = 3; break;
    case 5: if (u[i] > 0.75f) break; if (i + 2 < n) s += __opt__(t[threadIdx.x + 4], q[i + 2]);
    case 6: if (i + 1 < n) s += __opt__(t[threadIdx.x + 3], q[i + 1]);
    }
    out[i] = s;",
        ),
    );
    assert_eq!(staged.copies.len(), 3, "{:?}", staged.copies);
    assert!(staged.notes.iter().all(|n| !n.contains("in the smallest")), "{:?}", staged.notes);
}

/// In blocks of one thread the condition of the copies for others does not keep to the array: that is said, with such a block.
#[test]
fn what_is_wrong_in_the_smallest_blocks_is_said() {
    let staged = staged(
        "by_data_smallest",
        &kernel(
            "if (i > 1 && i < n - 2) {
        if (w[i] == 0) out[i] = __opt__(t[threadIdx.x + 1], q[i - 1]);
        else out[i] = __opt__(t[threadIdx.x], q[i - 2]);
    }",
        ),
    );
    let said = "for blocks of at least 7: in the smallest it is wrong (block 1, ";
    assert!(staged.notes.iter().any(|n| n.starts_with(said)), "{:?}", staged.notes);
}

/// Rows that end in the first block, whose last row is the first of a block: a copy by threads behind the end of the row read
/// outside of the array.
#[test]
fn the_last_of_short_rows() {
    let text = "#define BX 16
#define BY 8
__global__ void k(const float *q, const float *u, float *out, int nx, int ny) {
    __shared__ float t[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1, c = y * nx + x;
    if (x < nx && y < ny) t[ly][lx] = q[c];
    __insert();
    __syncthreads();
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    float a = u[c];
    out[c] = a > 0.5f ? t[ly][lx] - __opt__(t[ly - 1][lx], q[c - nx]) : __opt__(t[ly + 1][lx], q[c + nx]) - t[ly][lx];
}
";
    let staged = staged("by_data_rows", text);
    let bounded = |c: &String| {
        ["x < nx", "nx > x", "nx >= x", "x <= nx - 2", "y <= ny - 2"].iter().any(|b| c.contains(b))
    };
    assert!(staged.copies.iter().all(bounded), "{:?}", staged.copies);
}

/// What data come to in few runs is refused with that reason.
#[test]
fn reads_that_no_run_shows_all_of() {
    for choices in [
        "if (i >= n) return;
    float s = 0; int m = w[i] & 15;
    for (int k = 1; k <= m; k++) if (k > 13 && i + 1 < n) s += __opt__(t[threadIdx.x + 3], q[i + 1]);
    out[i] = s;",
        "if (i >= n) return;
    int d = (w[i] & 7) == 7 ? 2 : (w[i] & 7) == 0 ? -2 : 0;
    if (i + d < 0 || i + d >= n) d = 0;
    out[i] = d == 2 ? __opt__(t[threadIdx.x + 4], q[i + 2]) : d < 0 ? __opt__(t[threadIdx.x], q[i - 2]) : 0.5f;",
    ] {
        let Err((no, said)) = planned(&kernel(choices)) else { panic!("staged:\n{choices}") };
        assert!(no && said.contains("error[W713]"), "{said}");
        let reason = "data decide which threads come to this read or what it reads, and no run shows all that they may";
        assert!(said.contains(reason), "{said}");
    }
}

/// Which element is read comes from data: small numbers say of the first blocks alone where it is.
#[test]
fn elements_that_data_name() {
    let text =
        "__global__ void k(const float *q, const int *ends, const int *w, float *out, int n) {
    __shared__ float t[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[threadIdx.x] = q[i];
    __syncthreads();
    if (i >= n) return;
    float s = 0;
    for (int e = ends[i]; e < ends[i + 1]; e++) {
        int c = w[e];
        if (c >= 0 && c < n) s += __opt__(q[c]);
    }
    out[i] = s;
}
";
    match planned(text) {
        Ok(staged) => {
            let read = &staged.accesses[0].replacement;
            assert!(
                ["blockIdx.x == 0", "blockIdx.x == 1"].iter().all(|c| !read.contains(c)),
                "{read}"
            );
        }
        Err((_, said)) => assert!(
            said.contains("no condition tells") || said.contains("no subscript names"),
            "{said}"
        ),
    }
}

const RARE: [&str; 3] = [
    "if (i >= n) return;
    out[i] = 0;
    if (u[i] < 1e6f || w[i] != 12345) return;
    if (i > 0) out[i] = __opt__(t[threadIdx.x + 1], q[i - 1]);",
    "if (i >= n) return;
    float s = 0;
    if ((w[i] & 1024) && i > 0) s += __opt__(t[threadIdx.x + 1], q[i - 1]);
    out[i] = s;",
    // What ends a loop after the mark keeps threads from coming again.
    "if (i >= n) return;
    float s = 0;
    for (int k = 0; k < 3; k++) {
        if (i > 0 && k == 2) s += __opt__(t[threadIdx.x + 1], q[i - 1]);
        if (w[i] != 12345) break;
    }
    out[i] = s;",
];

#[test]
fn barriers_that_only_rare_data_need_are_needed() {
    for (k, choices) in RARE.into_iter().enumerate() {
        let there = staged(&format!("by_data_rare{k}"), &kernel(choices));
        assert_eq!((there.redundant.len(), there.copies.len()), (0, 1), "{choices}");
        let missing = staged(&format!("by_data_bare{k}"), &with_barrier("", choices));
        assert_eq!(missing.inserted.len(), 1, "{choices}");
    }
}

#[test]
fn arrays_that_data_fill_are_not_read_in_place_of_others() {
    let filled = |fill: &str| {
        format!(
            "__global__ void k(const float *q, const float *u, const int *w, float *out, int n) {{
    __shared__ float t[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {fill}
    __syncthreads();
    if (i < n) out[i] = i > 0 ? __opt__(q[i - 1]) : 0;
}}
"
        )
    };
    for fill in [
        "if (i < n && u[i] < 1e6f) t[threadIdx.x] = q[i];",
        "if (i < n) { t[threadIdx.x] = q[i]; if (w[i] == 1234) t[threadIdx.x] = 0; }",
        "if (i < n) t[threadIdx.x] = w[i] & 1024 ? 0 : q[i];",
        "for (int k = 0; i < n && k < 2; k++) { if (w[i] == 1234) break; t[threadIdx.x] = q[i]; }",
    ] {
        let said = planned(&filled(fill)).expect_err("data decide what is there").1;
        assert!(said.contains("data decide what is written to `t`"), "{fill}: {said}");
    }
    staged("by_data_filled", &filled("if (i < n) t[threadIdx.x] = q[i];"));
}

/// A kernel with a tile of half a block more, whose loop data may end.
fn ended(body: &str) -> String {
    format!(
        "#define B 64
#define H 16
__global__ void k(const float *q, const float *u, float *out, int n, int m, float e) {{
    __shared__ float t[B + H];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) t[threadIdx.x] = q[i];
    if (threadIdx.x < H && i + B < n) t[threadIdx.x + B] = q[i + B];
    __syncthreads();
    if (i + m > n) return;
    float s = 0;
    {body}
    out[i] = s;
}}
"
    )
}

/// Loops that data end before any tile does go on where data are alike: how far is what their bounds say.
#[test]
fn loops_that_data_end_may_go_on() {
    for (name, body) in [
        (
            "match",
            "bool ok = true;\n    for (int k = 0; k < m && ok; k++) { if (__opt__(q[i + k]) != u[k]) ok = false; s = k; }",
        ),
        (
            "until",
            "int k = 0; bool go = true;\n    do { s += __opt__(q[i + k]); go = s < e; k++; } while (go && k < m);",
        ),
        (
            "small",
            "float v = 1;\n    for (int k = 0; k < m; k++) { if (v < 0.001f) break; v *= 0.1f * __opt__(q[i + k]); s += v; }",
        ),
    ] {
        let staged = staged(&format!("by_data_goes_on_{name}"), &ended(body));
        assert!(staged.text.contains("< B + H"), "{name}: {}", staged.text);
    }
}

/// Parts of what is read that bind looser than a comparison get parentheses.
#[test]
fn planes_by_the_last_bit_of_a_quotient() {
    let text = "#define B 32
__global__ void k(const float *q, float *out, int n, int nz, int step) {
    __shared__ float p[2][B];
    int i = blockIdx.x * B + threadIdx.x;
    for (int z = 0; z < nz; z += step) {
        if (i < n) p[(z / step) & 1][threadIdx.x] = q[z * n + i];
        __syncthreads();
        if (i < n && z >= step) out[z * n + i] = __opt__(q[(z - step) * n + i]) + __opt__(q[z * n + i]);
        __syncthreads();
    }
}
";
    let input = Input { integers: [("step".to_string(), 1)].into(), ..Input::default() };
    let staged = planned_with(text, input).unwrap_or_else(|(_, said)| panic!("{said}"));
    assert!(!staged.text.contains("& 1 =="), "{}", staged.text);
}

/// What is copied asynchronously is stored: where no launch comes to it, nothing is known of the tile.
#[test]
fn asynchronous_copies_that_no_launch_comes_to() {
    let text = ended("s = __opt__(q[i]);").replace(
        "if (i + m > n) return;",
        "if (i < n && m == 1987654) { __pipeline_memcpy_async(&t[threadIdx.x], &u[i], 4); __pipeline_commit(); __pipeline_wait_prior(0); }
    __syncthreads();
    if (i + m > n) return;",
    );
    let (_, said) =
        planned(&format!("#include <cuda_pipeline.h>\n{text}")).map(|s| s.text).unwrap_err();
    assert!(said.contains("W713"), "{said}");
}

/// One row, of which `choose` says what thread `i` reads, in a tile of one block.
fn chosen(parameters: &str, choose: &str) -> String {
    format!(
        "enum Mode {{ PLAIN, LEFT, MIRROR, RIGHT }};
#define B 64
__global__ void k(const float *q, float *out, int n, {parameters}) {{
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x;
    t[threadIdx.x] = i < n ? q[i] : 0;
    __syncthreads();
    if (i >= n) return;
    int j = i;
    {choose}
    out[i] = __opt__(q[j]);
}}
"
    )
}

/// The numbers of cases, and of comparisons, are met in some launch each.
#[test]
fn parameters_are_what_the_text_compares_them_with() {
    for (name, parameters, choose) in [
        (
            "cases",
            "int mode",
            "switch (mode) { case 0: break; case 1: j = i > 0 ? i - 1 : 0; break; case 2: j = n - 1 - i; break; default: j = i + 1 < n ? i + 1 : i; }",
        ),
        ("one", "int mode", "switch (mode) { case 3: j = i > 0 ? i - 1 : 0; break; }"),
        (
            "names",
            "Mode mode",
            "switch (mode) { case PLAIN: break; case LEFT: j = i > 0 ? i - 1 : 0; break; case MIRROR: j = n - 1 - i; break; case RIGHT: j = i + 1 < n ? i + 1 : i; }",
        ),
        (
            "equal",
            "int mode",
            "if (mode == -7) j = n - 1 - i; else if (mode == 5) j = i > 0 ? i - 1 : 0;",
        ),
        ("powers", "int m", "if ((m & (m - 1)) == 0 && m > 0) j = i & ~(m - 1);"),
    ] {
        let staged = staged(&format!("by_data_{name}"), &chosen(parameters, choose));
        assert!(staged.text.contains(": q[j])"), "{name}: {}", staged.text);
    }
}

/// What an element is made of is not known where no launch comes to it.
#[test]
fn elements_that_no_launch_comes_to_are_not_served() {
    let choose = "int w = i;\n    if (m * 3 == 370370367) w = n - 1 - i;\n    j = w;";
    let (_, said) = planned(&chosen("int m", choose)).map(|s| s.text).unwrap_err();
    assert!(said.contains("W713"), "{said}");
}

/// Barriers that the launches do not need may be needed where data differ.
#[test]
fn barriers_around_flags_are_not_called_superfluous() {
    let text = "#define B 64
__global__ void k(const int *q, int *out, int n) {
    __shared__ int t[B];
    __shared__ int stop;
    int i = blockIdx.x * B + threadIdx.x, s = 0;
    if (threadIdx.x == 0) stop = 0;
    t[threadIdx.x] = i < n ? q[i] : 0;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        int j = i + k;
        if (j < n) {
            int v = __opt__(q[j]);
            s += v;
            if (v == 7) stop = 1;
        }
        __syncthreads();
        if (stop) break;
        __syncthreads();
    }
    if (i < n) out[i] = s;
}
";
    let staged = staged("by_data_flag", text);
    assert!(staged.redundant.is_empty(), "{:?}", staged.redundant);
}
