//! Loops beside each other made one, and sums by columns that rows add to.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const PLANES: Sizes<'_> = &[
    &[("n", 0), ("m", 3)],
    &[("n", 3), ("m", 0)],
    &[("n", 1), ("m", 1)],
    &[("n", 5), ("m", 31)],
    &[("n", 33), ("m", 40)],
];

/// Rows and columns of one matrix, summed one after the other.
const BOTH: &str = "
void both(int n, int m, const float A[n][m], const float p[m], const float r[n], float q[n], float s[m]) {
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
fn rows_and_columns_are_summed_in_one_pass() {
    let fused = "scatter j#2\nfuse_loops i, i#2\nfuse_loops j#2, j#3\n";
    let text = check(
        BOTH,
        &format!(
            "{fused}bind j -> x block 64\nbind i -> y block 1x1\nshare j#2 -> x by 32\nregister_tile i by 4"
        ),
        PLANES,
    );
    has(
        &text,
        &[
            "s[j] = 0.0f;",
            "sum[ti] += A[(size_t)i * m + j] * p_own;",
            "s_part += A[(size_t)i * m + j] * r[i];",
            "atomicAdd(&s[j], s_part);",
        ],
    );
    check(BOTH, &format!("{fused}bind j -> x block 64\nbind i -> x block 32"), PLANES);
    // Also without the loops inside, and with nothing fused.
    check(
        BOTH,
        "scatter j#2\nfuse_loops i, i#2\nbind j -> x block 64\nbind i -> x block 32",
        PLANES,
    );
    check(
        BOTH,
        "scatter j#2\nbind i -> x block 32\nbind j#2 -> x block 64\nbind i#2 -> x block 32",
        PLANES,
    );
}

fn sums(body: &str) -> String {
    format!(
        "
void f(int n, int m, const float A[n][m], const float r[n], float s[m], float t[m]) {{
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {{
        {body}
    }}
}}
"
    )
}

#[test]
fn sums_begin_and_end_with_what_they_did() {
    for (body, nests) in [
        ("for (int i = 0; i < n; i++) s[j] += A[i][j];", 1),
        ("float x = s[j]; for (int i = 0; i < n; i++) x -= A[i][j] * r[i]; s[j] = x;", 1),
        ("float x = 0; for (int i = 0; i < n; i++) x = A[i][j] + x; s[j] = 2 * x + t[j];", 3),
        (
            "float c = t[j], x = c; for (int i = 0; i < n; i++) { float a = A[i][j]; if (a > 2) x += a * c; } s[j] = x - c;",
            3,
        ),
        (
            "float x = t[j]; for (int i = 0; i < n; i++) { if (A[i][j] < 0) continue; x = x + A[i][j] + r[i]; } s[m - 1 - j] = x;",
            2,
        ),
    ] {
        let steps = match nests {
            1 => "scatter j\nbind i -> x block 32",
            2 => "scatter j\nbind j -> x block 32\nbind i -> x block 32",
            _ => "scatter j\nbind j -> x block 32\nbind i -> x block 32\nbind j#3 -> x block 32",
        };
        check(&sums(body), steps, PLANES);
    }
}

#[test]
fn sums_that_must_stay_are_refused() {
    for (body, why) in [
        (
            "float x = 0; for (int i = 0; i < n; i++) x += A[i][j] * s[j]; s[j] = x;",
            "its nest writes `s`, which it reads",
        ),
        ("float x = s[0]; for (int i = 0; i < n; i++) x += A[i][j]; s[j] = x;", "s"),
        (
            "float x = 0; for (int i = 0; i < n; i++) x += A[i][j]; s[j] = s[j] + x;",
            "it reads the array that it stores the sum in",
        ),
        (
            "float x = 0; for (int i = 0; i < n; i++) x *= A[i][j]; s[j] = x;",
            "threads cannot add its terms to memory",
        ),
        (
            "double x = 0; for (int i = 0; i < n; i++) x += A[i][j]; s[j] = x;",
            "one store of an element of the sum's type",
        ),
        ("float x = 0; for (int i = 0; i < j; i++) x += A[0][i]; s[j] = x;", "bounds of loop `i`"),
        ("float x = 0; for (int i = 0; i < n; i++) x += A[i][j] + x; s[j] = x;", "`x`"),
        ("float x = 0; for (int i = 0; i < n; i++) x += A[i][j]; s[j] = x; t[j] = x;", "one store"),
        (
            "float x = 0, y = 0; for (int i = 0; i < n; i++) { x += A[i][j]; y += r[i]; } s[j] = x + y;",
            "more than one variable",
        ),
        ("s[j] = t[j];", "its body is not one loop"),
    ] {
        let text = refused_text(&sums(body), "scatter j");
        assert!(!text.contains("split the sum"), "{text}");
        assert!(text.contains(why), "{body}\n{text}");
    }
}

fn pair(between: &str, second: &str) -> String {
    format!(
        "
void f(int n, int m, const float x[n], float y[n], float z[n], float w[n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = 2 * x[i];
    {between}
    #pragma omp parallel for
    for (int k = 0; k < n; k++) {{ {second} }}
}}
"
    )
}

const LINES: Sizes<'_> = &[&[("n", 0), ("m", 1)], &[("n", 1), ("m", 1)], &[("n", 70), ("m", 2)]];

#[test]
fn iterations_take_what_the_same_iteration_made() {
    let text = check(&pair("", "z[k] = y[k] + 1;"), "fuse_loops i, k\nbind i -> x block 32", LINES);
    has(&text, &["y[i] = 2.0f * x[i];", "z[i] = y[i] + 1.0f;"]);
    // What stands between goes in front or behind.
    let between = "int c = m + 1;";
    check(&pair(between, "z[k] = y[k] + c;"), "fuse_loops i, k\nbind i -> x block 32", LINES);
    let between = "#pragma omp parallel for\n for (int l = 0; l < n; l++) w[l] = y[l];";
    let steps = "fuse_loops i, k\nbind i -> x block 32\nbind l -> x block 32";
    check(&pair(between, "z[k] = y[k];"), steps, LINES);
    let between = "#pragma omp parallel for\n for (int l = 0; l < n; l++) z[l] = x[l];";
    let steps = "fuse_loops i, k\nbind l -> x block 32\nbind i -> x block 32";
    check(&pair(between, "z[k] += y[k];"), steps, LINES);
}

#[test]
fn loops_that_need_more_than_their_iteration_are_refused() {
    for (between, second, why) in [
        ("", "z[k] = y[n - 1 - k];", "y"),
        ("", "z[k] = k > 0 ? y[k - 1] : 0;", "y"),
        ("", "if (k > 0) y[k - 1] = 3;", "y"),
        (
            "#pragma omp parallel for\n for (int l = 0; l < n; l++) z[l] = y[l];",
            "w[k] = z[k];",
            "cannot move",
        ),
    ] {
        let text = refused_text(&pair(between, second), "fuse_loops i, k");
        assert!(text.contains(why), "{second}\n{text}");
    }
    let other = pair("", "z[k] = y[k];").replace("k < n", "k < n - 1");
    let text = refused_text(&other, "fuse_loops i, k");
    assert!(text.contains("do not run over the same range"), "{text}");
    let text = refused_text(&pair("", "z[k] = y[k];"), "bind i -> x block 32\nfuse_loops i, k");
    assert!(text.contains("bound"), "{text}");
}

#[test]
fn nests_are_fused_as_far_as_they_go() {
    let source = "
void f(int n, int m, const int x[n][m], int y[n][m], int z[n][m], int s[n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) y[i][j] = x[i][j] + 1;
    #pragma omp parallel for collapse(2)
    for (int k = 0; k < n; k++)
        for (int l = 0; l < m; l++) z[k][l] = y[k][l] * 2;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int t = 0;
        for (int j = 0; j < m; j++) t += z[i][j];
        s[i] = t;
    }
}
";
    let text = check(
        source,
        "fuse_loops i, k\nbind i, j -> y, x block 8x4\nbind i#2 -> x block 32",
        PLANES,
    );
    has(&text, &["y[i * m + j] = x[i * m + j] + 1;", "z[i * m + j] = y[i * m + j] * 2;"]);
    // The third goes over rows only: marks further in are dropped, and serial loops fused.
    let steps = "fuse_loops i, k\nfuse_loops i, i#2\nfuse_loops j, j#2\nbind i -> x block 32";
    check(source, steps, PLANES);
}

/// Each iteration of one loop has a variable for itself that all of the other share.
#[test]
fn clauses_that_differ_keep_loops_apart() {
    let source = "
void f(int n, const int x[n], int y[n], int z[n]) {
    int t = 5;
    #pragma omp parallel for firstprivate(t)
    for (int i = 0; i < n; i++) { t += x[i]; y[i] = t; }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) z[i] = t;
}
";
    let text = refused_text(source, "fuse_loops i, i#2");
    assert!(text.contains("`t` is a variable of each iteration of one loop only"), "{text}");
}
