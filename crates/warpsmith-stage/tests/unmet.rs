//! What no small launch shows: numbers of the text beyond all sizes, rare data, and values that the user gives.

mod common;

use common::{emitted, has_solver, planned, planned_with, proved};
use warpsmith_stage::session::Input;

/// A tile of one element a thread that is filled and read under conditions.
fn kernel(fill: &str, between: &str) -> String {
    format!(
        "#define B 32
__global__ void k(float *a, const int *m, float *o, int n) {{
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n{fill}) t[threadIdx.x] = a[i];
    __syncthreads();
    {between}
    if (i < n) o[i] = __opt__(a[i]) * 2.0f;
}}
"
    )
}

#[test]
fn numbers_that_sizes_and_positions_come_to() {
    for fill in [
        " && n < 3000",
        " && i < 5000",
        " && min(i, 1500) == i",
        " && i / 512 < 2",
        " && 2 * i < 900",
    ] {
        match planned(&kernel(fill, "")) {
            Ok(staged) => assert!(!staged.text.contains("= t[threadIdx.x] * 2"), "{}", staged.text),
            Err((no, said)) => assert!(no, "{said}"),
        }
    }
    // Conditions may name them.
    for (fill, between) in [(" && n < 3000", ""), ("", "if (i < n && n > 3000) a[i] = 0.5f;")] {
        let staged = planned(&kernel(fill, between)).unwrap_or_else(|(_, said)| panic!("{said}"));
        assert!(staged.text.contains("(n < 3000 ? t[threadIdx.x] : a[i])"), "{}", staged.text);
        emitted(&format!("unmet_limit{}", fill.len()), &staged.text);
    }
}

/// A tile that threads store different elements to is the plan's fault: launches with several blocks, in which that shows, are no others.
#[test]
fn tiles_of_several_elements_a_place() {
    let (no, said) = planned(
        "#define B 64
__global__ void k(const float *a, float *o, int n) {
    __shared__ float s[B + 2];
    int i = blockIdx.x * B + threadIdx.x, e = i / 3;
    if (e < n) s[threadIdx.x / 3] = a[e];
    __syncthreads();
    if (i < n / 2) o[i] = __opt__(a[e]) + 2 * __opt__(a[max(e - 1, 0)]);
}
",
    )
    .expect_err("blocks begin in the midst of three");
    assert!(no && said.contains("W71"), "{said}");
}

#[test]
fn tiles_that_are_stale_where_data_or_sizes_are_rare() {
    for between in [
        "if (i < n && t[threadIdx.x] > 100.0f) a[i] = 100.0f;",
        "if (i < n && m[i] == 12345) a[i] = -1.0f;",
        "if (i < n) switch (m[i]) { case 77: a[i] = 1.0f; break; default: break; }",
        // Nothing comes to this: it is not known whether anything does.
        "if (i < n && m[i] == n * 1000 + 17) a[i] = -1.0f;",
    ] {
        let (no, said) = planned(&kernel("", between)).expect_err(between);
        assert!(no && said.contains("error[W71"), "{said}");
    }
}

/// What stores elsewhere is no reason to refuse; that it was not run is said in the report and in the text.
#[test]
fn what_was_run_in_no_launch_is_said() {
    let text = "#define B 32
__global__ void k(const float *a, const int *m, float *o, int *flag, int n) {
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x;
    int d = n > 1000000000 ? 1 : 0;
    if (i < n) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n && m[i] == n * 1000 + 17) flag[0] = 1;
    if (i + d < n) o[i] = __opt__(a[i + d]) * 2.0f;
}
";
    let staged = planned(text).unwrap_or_else(|(_, said)| panic!("{said}"));
    assert_eq!(staged.unmet.len(), 2, "{:?}", staged.unmet);
    assert!(staged.text.contains("no launch shows what follows where"), "{}", staged.text);
    // Proofs need no launch.
    let staged = proved("unmet_proved", &text.replace("n > 1000000000 ? 1 : 0", "0"));
    if has_solver() {
        assert_eq!(staged.unmet, Vec::<String>::new());
    }
}

const APART: &str = "#define B 64
__global__ void k(const float *u, float *v, int n, int m) {
    __shared__ float t[B + 2];
    int i = blockIdx.x * B + threadIdx.x + m;
    int s = threadIdx.x + 1;
    if (i < n - m) t[s] = u[i];
    __insert();
    __syncthreads();
    if (i < n - m) v[i] = __opt__(t[s - 1], u[i - m]) + __opt__(t[s + 1], u[i + m]);
}
";

/// A tile for neighbours is right for no others; where the user or all launches of the file say which they are, the text says so.
#[test]
fn given_values_are_said() {
    let (no, said) = planned(APART).expect_err("elements further apart");
    assert!(no && said.contains("m=2"), "{said}");
    let input = Input { integers: [("m".to_string(), 1)].into(), ..Input::default() };
    let staged = planned_with(APART, input).unwrap_or_else(|(_, said)| panic!("{said}"));
    assert!(staged.text.contains("where m == 1: checked"), "{}", staged.text);
    assert!(staged.assumed.contains("m == 1, as given"), "{:?}", staged.assumed);
    let host =
        "void run(const float *u, float *v, int n) { k<<<(n + B - 1) / B, B>>>(u, v, n, 1); }\n";
    let staged = proved("unmet_neighbours", &format!("{APART}{host}"));
    assert!(staged.text.contains("where m == 1: "), "{}", staged.text);
}

/// A grid that is given is no reason for what holds with one block alone.
#[test]
fn given_grids_are_not_built_in() {
    let text = "__global__ void k(const float *in, float *out, int n) {
    __shared__ float t[34];
    int i = blockIdx.x * 32 + threadIdx.x, s = threadIdx.x + 1;
    if (i < n) t[s] = in[i];
    __insert();
    __syncthreads();
    if (i < n) out[i] = __opt__(t[s - 1], i == 0 ? 0.0f : in[i - 1]) + __opt__(t[s + 1], i == n - 1 ? 0.0f : in[i + 1]);
}
";
    let input = Input { grid: Some([1; 3]), ..Input::default() };
    let staged = planned_with(text, input).unwrap_or_else(|(_, said)| panic!("{said}"));
    assert!(!staged.copies.iter().any(|c| c.contains("n == s")), "{:?}", staged.copies);
}

/// How far elements are apart is no size: it is small in some launches.
#[test]
fn distances_are_small() {
    let staged = proved(
        "unmet_distance",
        "#define B 32
__global__ void k(const float *in, float *out, int n, int off) {
    __shared__ float t[B];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + off < n) t[threadIdx.x] = in[i + off];
    __syncthreads();
    if (i < n && i + off < n - 1) out[i] = __opt__(in[i + off + 1]) + __opt__(in[i]);
}
",
    );
    assert!(staged.text.contains("t[threadIdx.x - off]"), "{}", staged.text);
}

/// Marks that say nothing of a tile need no copies.
#[test]
fn a_place_for_copies_that_nothing_needs_goes() {
    let text = kernel("", "").replace("    __syncthreads", "    __insert();\n    __syncthreads");
    let staged = planned(&text).unwrap_or_else(|(_, said)| panic!("{said}"));
    emitted("unmet_no_copies", &staged.text);
    assert!(!staged.text.contains("__insert") && !staged.text.contains("\n\n"), "{}", staged.text);
    assert!(staged.notes.iter().any(|n| n.contains("writes nothing")), "{:?}", staged.notes);
}

/// What arguments hardly ever are to each other is met by accident, and what holds then is no reason for other launches.
#[test]
fn equations_of_arguments_are_hardly_met() {
    for between in [
        "if (i < n && n == s * s) a[i] = 3.0f;",
        "if (n / 7 == s * s * s && i < n) a[i] = 3.0f;",
        "float *q = n * s > 90000 ? a : o; if (i < n) q[i] = 2.0f;",
    ] {
        let text = kernel("", between).replace("int n)", "int n, int s)");
        let said = planned(&text).map(|s| panic!("{}", s.text)).unwrap_or_else(|(_, m)| m);
        assert!(said.contains("W713") || said.contains("W711"), "{between}: {said}");
    }
    // Those of several launches, and of what a thread is, are no accidents.
    for between in
        ["if (i < n && n % 4 == s % 4) o[i] = 3.0f;", "if (i < n && i == s) o[i] = 3.0f;"]
    {
        let text = kernel("", between).replace("int n)", "int n, int s)");
        assert!(planned(&text).is_ok(), "{between}");
    }
}

/// One value of a size shows nothing of others at which the same is done, unless the text compares with this value.
#[test]
fn what_one_value_shows_is_nothing_for_others() {
    for rare in [
        "n % 10007 == 5003",
        "(n & 0xfff) == 0xabc && (s & 7) == 5",
        "n % 10007 == 5003 && s % 17 == 3",
    ] {
        let text = format!(
            "#define B 64
__global__ void k(const int *in, int *out, int n, int s) {{
    __shared__ int t[B];
    int p = threadIdx.x, i = blockIdx.x * B + p;
    if (i < n) t[p] = in[i];
    if (i < n && {rare}) t[p] = 9;
    __syncthreads();
    if (i < n && i > 0) out[i] = __opt__(in[i - 1]);
}}
"
        );
        let said = planned(&text).map(|s| panic!("{}", s.text)).unwrap_or_else(|(_, m)| m);
        assert!(said.contains("W713"), "{rare}: {said}");
    }
}
