//! What small launches do not show: blocks far from the origin, variables of the device that host code sets, and other instances of a template.

mod common;

use std::collections::BTreeMap;

use common::{has_solver, planned, planned_with};
use warpsmith_stage::session::Input;
use warpsmith_stage::stage::Verdict;

/// One row, `POSITION` being what the read is of.
fn row(before: &str, read: &str) -> String {
    format!(
        "#define B 64
__global__ void row(const float *in, float *out, int n) {{
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x;
    {before}
    __syncthreads();
    if (i < n) out[i] = {read};
}}
"
    )
}

fn refused(text: &str) -> String {
    planned(text).map(|s| panic!("{}", s.text)).unwrap_or_else(|(_, m)| m)
}

/// The least thing that differs is thousands of blocks away.
#[test]
fn blocks_far_away_are_run() {
    // Bits that a product passes on from block 2,897 on.
    let far =
        "int s = threadIdx.x ^ (blockIdx.x * blockIdx.x >> 17);\n    if (i < n) t[s & 63] = in[i];";
    let text = row(far, "__opt__(in[i])");
    match planned(&text) {
        Ok(s) => assert!(
            s.text.contains("out[i] = t[s % B]") || s.text.contains("t[s & 63]"),
            "{}",
            s.text
        ),
        Err((_, m)) => assert!(m.contains("W711"), "{m}"),
    }
    // A real that is a third of a position for the first ten thousands of them.
    let third = row(
        "if (i < n && threadIdx.x < B) t[threadIdx.x] = in[(blockIdx.x * B) / 3 + threadIdx.x];",
        "__opt__(in[(int)(i * 0.33334f)])",
    );
    let message = refused(&third);
    assert!(message.contains("W711") || message.contains("W713"), "{message}");
    // Elements without a place in the tile, each thousands behind the one before.
    let holes = row("if (i < n && i % 4096 != 4095) t[threadIdx.x] = in[i];", "__opt__(in[i])");
    match planned(&holes) {
        Ok(s) => assert!(!s.text.contains("i != 4095"), "{}", s.text),
        Err((_, m)) => assert!(m.contains("W711"), "{m}"),
    }
}

/// A barrier that all of the first 511 blocks come to.
#[test]
fn barriers_that_far_blocks_leave_out_are_missed() {
    let fill =
        "if (i < n) t[threadIdx.x] = in[i];\n    if (__popc(blockIdx.x) < 9) __syncthreads();";
    let text = row(fill, "__opt__(in[threadIdx.x > 0 ? i - 1 : i])").replacen(
        "    __syncthreads();\n    if (i < n) out",
        "    if (i < n) out",
        1,
    );
    match planned(&text) {
        Ok(s) => assert!(!s.inserted.is_empty(), "{}", s.text),
        Err((_, m)) => assert!(m.contains("W71"), "{m}"),
    }
}

/// What host code sets is as unknown as a parameter, whatever the file says at first.
#[test]
fn variables_of_the_device_have_other_values() {
    let fill = "t[threadIdx.x] = in[i];";
    for first in ["__constant__ int shift = 1;", "__constant__ int shift;", "__device__ int shift;"]
    {
        let text = format!(
            "{first}\n{}",
            row(fill, "i + shift < n && i + shift >= 0 ? __opt__(in[i + shift]) : 0.0f")
        );
        let staged = planned(&text).unwrap_or_else(|(_, m)| panic!("{m}"));
        let access = &staged.accesses[0];
        assert!(access.replacement.contains("shift"), "{}", staged.text);
        assert!(access.replacement.contains(':'), "it is not always in the tile: {}", staged.text);
        assert_eq!(access.verdict == Verdict::Proved, has_solver(), "{:?}", access.unproved);
    }
    // A value for all launches may be given, as of a parameter.
    let text = format!(
        "__constant__ int shift;\n{}",
        row(fill, "i + shift < n && i >= shift ? __opt__(in[i + shift]) : 0.0f")
    );
    let given = Input { integers: BTreeMap::from([("shift".to_string(), 0)]), ..Input::default() };
    assert!(planned_with(&text, given).is_ok());
}

/// Numbers in a structure, too, and those of a table, of which nothing is known.
#[test]
fn structures_and_tables_of_the_device_have_other_values() {
    let fill = "if (i < n) t[threadIdx.x] = in[i];";
    let head = "struct Sizes { int from, step; };\n__constant__ Sizes sizes = { 0, 1 };\n";
    let read = "i + sizes.from < n && i + sizes.from >= 0 ? __opt__(in[i + sizes.from]) : 0.0f";
    let staged = planned(&format!("{head}{}", row(fill, read)));
    if let Ok(s) = &staged {
        assert!(s.accesses[0].replacement != "t[threadIdx.x]", "{}", s.text);
    }
    let table = "__constant__ int table[4];\n";
    let read = "i + table[1] < n ? __opt__(in[i + table[1]]) : 0.0f";
    if let Ok(s) = planned(&format!("{table}{}", row(fill, read))) {
        assert!(s.accesses[0].replacement != "t[threadIdx.x]", "{}", s.text);
    }
}

/// What the kernel itself counts up begins at what the file says.
#[test]
fn variables_that_the_kernel_changes_are_left_alone() {
    let fill = "if (i == 0) atomicAdd(&count, 1);\n    if (i < n) t[threadIdx.x] = in[i];";
    let text = format!("__device__ int count;\n{}", row(fill, "__opt__(in[i])"));
    let staged = planned(&text).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.checked.iter().all(|l| !l.contains("count")), "{:?}", staged.checked);
}

/// A tile of one type, for all that the template is launched with.
#[test]
fn other_instances_of_a_template_are_checked() {
    let kernel = |tile: &str| {
        format!(
            "#define B 64
template <typename T> __global__ void twice(const T *in, T *out, int n) {{
    __shared__ {tile} t[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) t[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = __opt__(in[i]) * 2;
}}
void a(const float *x, float *y, int n) {{ twice<float><<<(n + B - 1) / B, B>>>(x, y, n); }}
void b(const double *x, double *y, int n) {{ twice<double><<<(n + B - 1) / B, B>>>(x, y, n); }}
"
        )
    };
    let asked = || Input { kernel: Some("twice<float>".into()), ..Input::default() };
    let (no, message) = planned_with(&kernel("float"), asked()).expect_err("a refusal");
    assert!(no && message.contains("W713") && message.contains("twice<double>"), "{message}");
    let staged = planned_with(&kernel("T"), asked()).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.notes.iter().any(|n| n.contains("twice<double>")), "{:?}", staged.notes);
}

/// Under a condition that no launch meets a subscript changes, by whatever name.
#[test]
fn variables_that_the_kernel_may_change_are_no_sizes() {
    let rarely = "if (n == 7777777 && i == 0)";
    for (head, change) in [
        ("", "shift = 1"),
        ("", "shift++"),
        ("", "*&shift = 1"),
        ("__device__ void put(int &x) { x = 1; }", "put(shift)"),
        ("__device__ void put() { shift = 1; }", "put()"),
    ] {
        let fill = format!(
            "if (i < n) t[threadIdx.x] = in[i + shift];\n    __syncthreads();\n    {rarely} {change};"
        );
        let text =
            format!("__device__ int shift;\n{head}\n{}", row(&fill, "__opt__(in[i + shift])"));
        let message = refused(&text);
        assert!(message.contains("W71"), "{change}: {message}");
    }
}

/// A barrier that threads may go past, and a pointer that may lead to the array.
#[test]
fn what_no_launch_shows_of_barriers_and_pointers_is_refused() {
    let fill = "if (i < n) t[threadIdx.x] = in[i];";
    let rare = "n == 7777777";
    let neighbour = "__opt__(in[i > 0 ? i - 1 : 0])";
    let past = row(&format!("{fill}\n    if (!({rare})) __syncthreads();"), neighbour);
    let past = past.replacen("    __syncthreads();\n    if (i < n) out", "    if (i < n) out", 1);
    assert!(refused(&past).contains("W713"));
    for store in [
        format!("float *d = {rare} ? in : out; if (i < n) d[i] = 0.0f;"),
        format!("if ({rare}) in += 1;"),
    ] {
        let text = row(&format!("{fill}\n    __syncthreads();\n    {store}"), neighbour)
            .replace("const float *in", "float *in");
        assert!(refused(&text).contains("W713"), "{store}");
    }
}

/// Rows that are shorter than what is read of them, and loops that bring no barrier.
#[test]
fn rows_may_be_short_and_loops_empty() {
    let rows = "#define B 64
__global__ void rows(const float *in, float *out, int n, int ld) {
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x, y = blockIdx.y;
    if (i < n) t[threadIdx.x] = in[y * ld + i];
    __syncthreads();
    if (i < n) out[y * n + i] = __opt__(in[y * max(ld, n) + i]);
}
";
    match planned(rows) {
        Ok(s) => assert!(s.accesses[0].replacement != "t[threadIdx.x]", "{}", s.text),
        Err((_, m)) => assert!(m.contains("W71"), "{m}"),
    }
    let text = row(
        "if (i < n) t[threadIdx.x] = in[i];\n    for (int k = 0; k < m; k++) __syncthreads();",
        "__opt__(in[i > 0 ? i - 1 : 0])",
    );
    let text = text.replace("int n)", "int n, int m)").replacen(
        "    __syncthreads();\n    if (i < n) out",
        "    if (i < n) out",
        1,
    );
    let staged = planned(&text).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(!staged.inserted.is_empty(), "{}", staged.text);
}

/// Two arrays in one piece of dynamic memory, and elements of one bit.
#[test]
fn parts_of_dynamic_memory_and_bits_are_found() {
    let text = "extern __shared__ char memory[];
__global__ void both(const float *a, const int *b, float *out, int n) {
    float *first = (float *)memory;
    int *second = (int *)(first + blockDim.x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { first[threadIdx.x] = a[i]; second[threadIdx.x] = b[i]; }
    __syncthreads();
    int j = i > 0 ? i - 1 : 0;
    if (i < n) out[i] = __opt__(a[i]) * __opt__(b[j]);
}
";
    let staged = planned(text).unwrap_or_else(|(_, m)| panic!("{m}"));
    let [a, b] = [0, 1].map(|n| &staged.accesses[n].replacement);
    assert!(a.starts_with("first[") && b.contains("second["), "{}", staged.text);
    let bits = row("if (i < n) t[threadIdx.x] = in[i];", "__opt__(in[i > 0 ? i - 1 : 0])")
        .replace("float", "bool");
    let staged = planned(&bits).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.accesses[0].replacement.contains("threadIdx.x - 1"), "{}", staged.text);
    let bytes = bits
        .replace("bool *in", "unsigned char *in")
        .replace("bool *out", "int *out")
        .replace("bool t", "int t");
    assert!(refused(&bytes).contains("mark what is converted"), "{}", refused(&bytes));
}

/// Masks have every bit, and the last one makes an `int` negative.
#[test]
fn masks_have_all_bits() {
    let next = |mask: &str| {
        let before =
            format!("int j = i + (m & {mask} ? 1 : 0);\n    if (i < n) t[threadIdx.x] = in[i];");
        row(&before, "j < n ? __opt__(in[j]) : 0").replace("int n)", "int n, int m)")
    };
    for mask in ["0x80000000", "1 << 30", "4096", "2"] {
        match planned(&next(mask)) {
            Ok(s) => assert!(s.text.contains("in[j])"), "{mask}: {}", s.text),
            Err((_, m)) => assert!(m.contains("W711"), "{m}"),
        }
    }
    let complement = row("if (i < n && (m ^ -1) < 3) t[threadIdx.x] = in[i];", "__opt__(in[i])");
    match planned(&complement.replace("int n)", "int n, int m)")) {
        Ok(s) => assert!(s.text.contains("in[i])"), "{}", s.text),
        Err((_, m)) => assert!(m.contains("W711"), "{m}"),
    }
}

/// A real that is passed may lie beyond what the text compares it with, or be no number.
#[test]
fn reals_that_are_passed_are_any() {
    for (when, parameters) in [
        ("a == a", "float a"),
        ("a < 1e6f", "float a"),
        ("!(k.y > 3.0)", "double2 k"),
        ("h.scale != 0.5f", "Held h"),
    ] {
        let before = format!("if (i < n && {when}) t[threadIdx.x] = in[i];");
        let text =
            row(&before, "__opt__(in[i])").replace("int n)", &format!("int n, {parameters})"));
        let message = refused(&format!("struct Held {{ int kind; float scale; }};\n{text}"));
        assert!(message.contains("W713") || message.contains("W711"), "{when}: {message}");
    }
    let always = "if (i < n || a < 2.0f) t[threadIdx.x] = i < n ? in[i] : a;";
    let text = row(always, "__opt__(in[i]) * a").replace("int n)", "int n, float a)");
    let staged = planned(&text).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.text.contains("t[threadIdx.x] * a"), "{}", staged.text);
}
