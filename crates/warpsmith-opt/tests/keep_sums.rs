//! Sums of columns that stay in registers while rows go by, and sums of rows on the way.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 0), ("m", 3)],
    &[("n", 3), ("m", 0)],
    &[("n", 1), ("m", 1)],
    &[("n", 5), ("m", 31)],
    &[("n", 16), ("m", 64)],
    &[("n", 33), ("m", 70)],
    &[("n", 64), ("m", 132)],
];

/// Both products of a step of the bi-conjugate gradient method.
const BOTH: &str = "
void both(int n, int m, const float A[n][m], const float r[n], const float p[m], float s[m], float q[n]) {
    #pragma omp parallel for reduction(+: s[:m])
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            s[j] += r[i] * A[i][j];
            sum += A[i][j] * p[j];
        }
        q[i] = sum;
    }
}
";

/// The same as two nests.
const APART: &str = "
void both(int n, int m, const float A[n][m], const float r[n], const float p[m], float s[m], float q[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++) sum += A[i][j] * p[j];
        q[i] = sum;
    }
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += A[i][j] * r[i];
        s[j] = sum;
    }
}
";

#[test]
fn a_matrix_is_read_once_for_its_rows_and_columns() {
    let steps = "keep_sums i by 64 vector 4 rows 16 group 8\nbind i -> x block 32";
    let text = check(BOTH, steps, SIZES);
    has(
        &text,
        &[
            "q[i] = 0.0f;",
            "float s_own[4];",
            "reinterpret_cast<const float4 *>(&A[A_first + column]);",
            "float sum_own[8];",
            "s_own[k] += r[i] * A_own[at * 4 + k];",
            "sum_own[at] += A_own[at * 4 + k] * p_own[k];",
            "__shfl_xor_sync",
            "atomicAdd(&s[j], s_own[k]);",
            "atomicAdd(&q[i], sum);",
        ],
    );
}

#[test]
fn blocks_of_any_shape_keep_sums() {
    for shape in [
        "by 32 rows 1",
        "by 32 rows 8 group 4",
        "by 96 rows 3 group 3",
        "by 32 vector 2 rows 64 group 2",
        "by 128 vector 4 rows 7",
        "by 32 vector 8 rows 8 group 8",
    ] {
        check(BOTH, &format!("keep_sums i {shape}\nbind i -> x block 32"), SIZES);
    }
}

#[test]
fn nests_apart_are_scattered_fused_and_kept() {
    let steps = "scatter j#2\nfuse_loops i, i#2\nfuse_loops j#2, j#3\nbind j -> x block 64\nkeep_sums i by 64 vector 2 rows 16 group 4\nbind i -> y block 1x1\nshare j#2 -> x by 32\nregister_tile i by 4";
    check(APART, steps, SIZES);
}

#[test]
fn what_is_left_is_not_made_special_for_what_is_aligned() {
    let source = APART.replace("s[j] = sum;", "s[j] = sum;\n    }\n    #pragma omp parallel for\n    for (int j = 0; j < m; j++) {\n        s[j] = 2 * s[j];");
    let steps = "scatter j#2\nfuse_loops i, i#2\nfuse_loops j#2, j#3\nbind j -> x block 64\nkeep_sums i by 64 vector 2 rows 16 group 4\nbind i -> x block 32\nbind j#3 -> x block 32";
    check(&source, steps, SIZES);
    let text = check(&source, &format!("{steps}\nspecialise m%2=0, s%8=0"), SIZES);
    has(
        &text,
        &["if (n <=", "} else if (n > 0) {", "if (m % 2 == 0 && (unsigned long long)s % 8 == 0)"],
    );
}

/// A nest over a matrix with other statements around and in its inner loop.
fn nest(before: &str, inner: &str, after: &str) -> String {
    let reduced = ["s[:m]", "t[:m]"];
    let used = reduced.into_iter().filter(|array| {
        let name = array.split('[').next().unwrap_or_default();
        [inner, after].iter().any(|text| text.contains(&format!("{name}[")))
    });
    let reduced: Vec<&str> = used.collect();
    let clause = match reduced.as_slice() {
        [] => String::new(),
        arrays => format!(" reduction(+: {})", arrays.join(", ")),
    };
    format!(
        "
void sums(int n, int m, const double A[n][m], double B[n][m], const double r[n], const double p[m],
          double s[m], double t[m], double q[n], double w[n], const int at[m])
{{
    int j;
    #pragma omp parallel for private(j){clause}
    for (int i = 0; i < n; i++) {{
        {before}
        for (j = 0; j < m; j++) {{
            {inner}
        }}
        {after}
    }}
}}
"
    )
}

const SHAPES: [&str; 3] =
    ["by 32 rows 2", "by 32 vector 2 rows 8 group 4", "by 64 vector 4 rows 4 group 2"];

#[test]
fn sums_begin_and_end_with_what_the_nest_says() {
    let parts = [
        ("double x = q[i];", "x += A[i][j] * p[j]; s[j] += A[i][j] * r[i];", "q[i] = x;"),
        ("double x = r[i] + 1;", "x += A[i][j]; s[j] += A[i][j];", "q[i] = 2 * x + r[i];"),
        (
            "double x = 0, y = 1; double f = r[i];",
            "x += f * A[i][j]; y -= p[j]; s[j] += f * A[i][j]; t[m - 1 - j] -= A[i][j];",
            "w[i] = y; q[i] = f * x;",
        ),
        ("double x = 0;", "x += A[i][j]; s[j] += A[i][j];", "q[i] = x + r[i];"),
        ("", "s[j] += A[i][j];", ""),
        ("double f = 2 * r[i];", "if (A[i][j] > f) s[j] += A[i][j] - f;", ""),
        ("", "B[i][j] = A[i][j] * r[i]; s[j] += B[i][j] * p[j];", ""),
        (
            "",
            "double old = B[i][j]; B[i][j] = old + A[i][j]; s[j] += old * p[j]; t[j] += A[i][j];",
            "",
        ),
    ];
    for (before, inner, after) in parts {
        for shape in SHAPES {
            let steps = format!("keep_sums i {shape}\nbind i -> x block 32");
            check(&nest(before, inner, after), &steps, SIZES);
        }
    }
}

#[test]
fn sums_in_memory_are_accumulated_first() {
    let add = "s[j] += A[i][j] * r[i]; q[i] += A[i][j] * p[j];";
    for before in ["q[i] = 0;", "q[i] = 1 + r[i];", "", "double f = r[i]; q[i] = f * f;"] {
        let steps = "accumulate q\nkeep_sums i by 64 vector 2 rows 8 group 4\nbind i -> x block 32";
        check(&nest(before, add, ""), steps, SIZES);
    }
}

#[test]
fn ranges_begin_anywhere() {
    let source = "
void inside(int n, int m, const int A[n][m], int s[m], int q[n]) {
    #pragma omp parallel for reduction(+: s[:m])
    for (int i = 1; i <= n - 2; i++) {
        int sum = 0;
        for (int j = 2; j < m - 1; j++) {
            sum += A[i - 1][j + 1];
            s[j - 1] += A[i + 1][j - 1];
        }
        q[i + 1] = sum;
    }
}
";
    for shape in ["by 32 rows 4 group 2", "by 32 vector 4 rows 8 group 8"] {
        check(source, &format!("keep_sums i {shape}\nbind i -> x block 32"), SIZES);
    }
}

#[test]
fn sums_that_blocks_cannot_keep_are_refused() {
    let alone = "it updates something that does not move with its counter alone";
    let both = "x += A[i][j]; s[j] += A[i][j];";
    let refused = [
        ("", "s[at[j]] += A[i][j];", "", alone),
        ("", "s[3] += A[i][j];", "", alone),
        ("", "B[i][j] = A[i][j];", "", "its inner loop updates nothing atomically"),
        (
            "double x = 1;",
            "x *= A[i][j]; s[j] += A[i][j];",
            "q[i] = x;",
            "`x` is no sum that threads can add to memory",
        ),
        (
            "double x = 0;",
            both,
            "q[i] = x; w[i] = 1;",
            "more than the sums of its rows is stored after its inner loop",
        ),
        (
            "q[i] = 1;",
            "s[j] += A[i][j];",
            "",
            "more than declarations stands before its inner loop",
        ),
        (
            "",
            "s[j] += A[i][j];",
            "for (int k = 0; k < m; k++) t[k] += A[i][k];",
            "more than one loop is directly in it",
        ),
    ];
    for (before, inner, after, why) in refused {
        let source = nest(before, inner, after);
        let text = refused_text(&source, "keep_sums i by 32 rows 4\nbind i -> x block 32");
        has(&text, &["cannot keep the sums of loop", why]);
    }
    // What is written after the inner loop and read before it.
    let source = nest("double f = w[i], x = 0;", "x += f * A[i][j]; s[j] += A[i][j];", "w[i] = x;");
    let text = refused_text(&source, "keep_sums i by 32 rows 4\nbind i -> x block 32");
    has(&text, &["its nest uses `w` for more than one of its sums"]);
}

#[test]
fn blocks_have_shapes_that_can_run() {
    for (shape, why) in [
        ("by 48 rows 4", "whole warps"),
        ("by 2048 rows 4", "whole warps"),
        ("by 32 vector 3 rows 4", "1, 2, 4 or 8 neighbouring columns"),
        ("by 32 vector 8 rows 32 group 16", "loads 1 to 64 elements"),
        ("by 32 rows 6 group 4", "whole groups"),
        ("by 1024 rows 1024", "does not fit in shared memory"),
    ] {
        let text = refused_text(BOTH, &format!("keep_sums i {shape}"));
        has(&text, &[why]);
    }
    let text = refused_text(BOTH, "bind i -> x block 32\nkeep_sums i by 32 rows 4");
    has(&text, &["it is not marked, or bound already"]);
    let text = refused_text(BOTH, "keep_sums j by 32 rows 4");
    has(&text, &["it is not marked, or bound already"]);
}

#[test]
fn vectors_are_for_rows_that_are_aligned_whatever_the_row() {
    let windows = |step: &str, length: &str| {
        format!(
            "
void windows(int n, int m, const float x[2 * n * m + 16 * n + m + 8], const float f[n], float o[m]) {{
    #pragma omp parallel for reduction(+: o[:m])
    for (int a = 0; a < n; a++)
        for (int i = 0; i < {length}; i++)
            o[i] += x[i + {step}] * f[a];
}}
"
        )
    };
    let steps = "keep_sums a by 64 vector 4 rows 8 group 4\nbind a -> x block 32";
    let sizes: Sizes<'_> = &[
        &[("n", 3), ("m", 4)],
        &[("n", 9), ("m", 8)],
        &[("n", 2), ("m", 7)],
        &[("n", 8), ("m", 64)],
    ];
    let text = check(&windows("4 * a", "m"), steps, sizes);
    has(&text, &["m % 4 == 0"]);
    check(&windows("m * a", "m"), steps, sizes);
    let text = check(&windows("(m + 2) * a", "m"), steps, sizes);
    has(&text, &["m % 4 == 0", "(m + 2ll) % 4 == 0"]);
    for (step, length) in [("2 * a", "m"), ("4 * a", "6")] {
        let text = refused_text(&windows(step, length), steps);
        has(&text, &["its rows are no whole vectors of 4 elements"]);
    }
}
