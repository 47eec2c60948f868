//! Loops of their own for the parts of a parallel loop's body.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 1), ("m", 3)],
    &[("n", 3), ("m", 1)],
    &[("n", 5), ("m", 31)],
    &[("n", 33), ("m", 40)],
];

/// The triangle of a correlation, with its diagonal and the other half.
fn triangle(before: &str, after: &str) -> String {
    format!(
        "
void triangle(int n, int m, const float x[n][m], float c[m][m], float d[m]) {{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {{
        {before}
        for (int j = i + 1; j < m; j++) {{
            float sum = 0.0f;
            for (int k = 0; k < n; k++) sum += x[k][i] * x[k][j];
            c[i][j] = sum;
            c[j][i] = sum;
        }}
        {after}
    }}
}}
"
    )
}

#[test]
fn what_stands_beside_an_inner_loop_gets_a_loop_of_its_own() {
    let source = triangle("c[i][i] = 1.0f;", "");
    check(&source, "distribute i\nbind i -> x block 32\nbind i#2 -> x block 64", SIZES);
    let steps = "distribute i\nbind i -> x block 32\nrectangle j\nbind i#2, j -> y, x block 8x4\nregister_tile j by 2\nstage x#1 at k tile 8\nstage x#2 at k tile 8";
    let text = check(&source, steps, SIZES);
    has(&text, &["c[(size_t)i * m + i] = 1.0f;", "__shared__"]);
}

#[test]
fn there_are_as_many_loops_as_parts() {
    let source = triangle("c[i][i] = 1.0f;", "d[i] = 2.0f;");
    let steps =
        "distribute i\nbind i -> x block 32\nbind i#2 -> x block 64\nbind i#3 -> x block 32";
    check(&source, steps, SIZES);
}

#[test]
fn parts_that_belong_together_are_refused() {
    let why = |source: &str, steps: &str| refused_text(source, steps);
    let text = why(&triangle("", ""), "distribute i");
    has(&text, &["nothing stands beside the loop in its body"]);
    let text = why(&triangle("int at = 0;", "at++; d[at] = 1.0f;"), "distribute i");
    has(&text, &["is marked parallel, but whether two of its iterations touch the same element"]);
    let text = why(&triangle("d[i] = 1.0f;", ""), "bind i -> x block 32\ndistribute i");
    has(&text, &["it is neither a marked nor a serial loop that counts by one"]);
    let text = why(&triangle("if (d[i] > 0.0f) continue;", ""), "distribute i");
    has(&text, &["an iteration may end early"]);
}

#[test]
fn marks_of_inner_loops_go_with_their_part() {
    let product = "
void product(int n, int m, float c[m][m], const float a[m][n], const float b[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            c[i][j] = 0;
            for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
        }
}
";
    let steps =
        "distribute j\ndistribute i\nbind i, j -> y, x block 8x4\nbind i#2, j#2 -> y, x block 32x4";
    check(product, steps, SIZES);
}

#[test]
fn what_a_part_leaves_to_later_ones_is_kept_in_the_workspace() {
    let source = triangle(
        "float all = 0.0f; for (int k = 0; k < n; k++) all += x[k][i];",
        "d[i] = all + 1.0f;",
    );
    let steps =
        "distribute i\nbind i -> x block 32\nbind i#2 -> x block 64\nbind i#3 -> x block 32";
    let text = check(&source, steps, SIZES);
    has(&text, &["all_left[i] = all;", "= all_left[i];"]);
}

#[test]
fn passes_over_a_row_stay_together() {
    let source = "
void soft(int n, int m, float x[m][n], float y[m][n], const float w[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        float top = -INFINITY;
        for (int j = 0; j < n; j++) top = fmaxf(top, x[i][j]);
        float sum = 0.0f;
        for (int j = 0; j < n; j++) { x[i][j] = expf(x[i][j] - top); sum += x[i][j]; }
        for (int j = 0; j < n; j++) {
            float t = 0.0f;
            for (int k = 0; k < n; k++) t += x[i][k] * w[k][j];
            y[i][j] = t / sum;
        }
    }
}
";
    let source = format!("#include <math.h>\n{source}");
    let steps = "distribute i\nbind i -> x block 32\nbind i#2, j#3 -> y, x block 8x4";
    let text = check(&source, steps, SIZES);
    has(&text, &["sum_left[i] = sum;"]);
    assert!(!text.contains("top_left"), "{text}");
}

#[test]
fn arrays_of_an_iteration_move_to_the_workspace() {
    let source = "
void layers(int n, int m, const float x[m][n], const float w[8][n], const float v[n][8], float y[m][n]) {
    #pragma omp parallel for
    for (int i = 1; i < m; i++) {
        float hidden[8];
        for (int j = 0; j < 8; j++) {
            hidden[j] = 0.0f;
            for (int k = 0; k < n; k++) hidden[j] += x[i][k] * w[j][k];
        }
        for (int j = 0; j < n; j++) {
            float t = 0.0f;
            for (int k = 0; k < 8; k++) t += hidden[k] * v[j][k];
            y[i][j] = t;
        }
    }
}
";
    let steps = "distribute i\nbind i, j -> y, x block 8x4\nbind i#2, j#2 -> y, x block 4x8";
    let text = check(source, steps, SIZES);
    has(&text, &["hidden_left[(i - 1) * 8 + j]"]);
    // An address that goes somewhere is not an element.
    let sent = source.replace("y[i][j] = t;", "float *p = hidden; y[i][j] = t + p[0];");
    has(&refused_text(&sent, "distribute i"), &["the parts of its body share `hidden`"]);
}

#[test]
fn every_part_computes_what_the_body_does_not_change() {
    let source = "
void scaled(int n, int m, const float x[m][n], const float s[m], float y[m][n], float z[m][n]) {
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        const float one = 2.0f * s[i];
        const float *row = x[i];
        for (int j = 0; j < n; j++) y[i][j] = one * row[j];
        for (int j = 0; j < n; j++) z[i][j] = one + row[j];
    }
}
";
    let steps = "distribute i\nbind i, j -> y, x block 8x4\nbind i#2, j#2 -> y, x block 4x8";
    let text = check(source, "distribute i\nbind i -> x block 32\nbind i#2 -> x block 64", SIZES);
    assert!(!text.contains("_left"), "{text}");
    has(&refused_text(source, steps), &["bind"]);
}

#[test]
fn a_serial_loop_gives_its_sums_a_loop_of_their_own() {
    let source = "
void tops(int n, int m, const float a[m][n], const float b[m][n], float c[m][m], float d[m]) {
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        float top = -1.0f;
        for (int j = 0; j < m; j++) {
            float t = 0.0f;
            for (int k = 0; k < n; k++) t += a[i][k] * b[j][k];
            c[i][j] = t;
            if (c[i][j] > top) top = c[i][j];
        }
        d[i] = top;
    }
}
";
    let steps = "distribute j\ndistribute i\nbind i, j -> y, x block 8x4\nbind i#2 -> x block 32";
    let text = check(source, steps, SIZES);
    has(&text, &["c[i * m + j] = t;", "d[i] = top;"]);
    assert!(!text.contains("top_left"), "{text}");
    let chain = source.replace("c[i][j] = t;", "c[i][j] = t + (j > 0 ? c[i][j - 1] : 0.0f);");
    has(
        &refused_text(&chain, "distribute j"),
        &["two of its iterations touch the same element of `c`"],
    );
    let seen = source.replace("c[i][j] = t;", "c[i][j] = t; c[i][j] += top;");
    has(&refused_text(&seen, "distribute j"), &["`top` is used with the value that it has so far"]);
}

/// What the maximum is taken of is stored behind it.
const STORED_LATER: &str = "
void tops(int n, int m, const float a[m][n], const float b[m][n], float c[m][m], float d[m], float e[m][m]) {
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        float top = -1.0f;
        for (int j = 0; j < m; j++) {
            float t = 0.0f;
            for (int k = 0; k < n; k++) t += a[i][k] * b[j][k];
            t *= 2.0f;
            if (t > top) top = t;
            c[i][j] = t;
        }
        d[i] = top;
    }
}
";

#[test]
fn what_is_stored_is_read_there_by_other_parts() {
    let steps = "distribute j\ndistribute i\nbind i, j -> y, x block 8x4\nbind i#2 -> x block 32";
    let text = check(STORED_LATER, steps, SIZES);
    has(&text, &["c[i * m + j] = t;", "if (c[(size_t)i * m + j] > top)"]);
}

#[test]
fn what_changes_after_it_is_stored_is_left_beside_it() {
    for (from, to) in [
        // Another value than the one that is stored.
        ("c[i][j] = t;", "c[i][j] = t + 1.0f;"),
        // Set again behind the store.
        ("c[i][j] = t;", "c[i][j] = t; t = 3.0f; e[i][j] = t;"),
        // The element is changed behind it, or another one that may be the same.
        ("c[i][j] = t;", "c[i][j] = t; c[i][j] += 1.0f; e[i][j] = t + 2.0f;"),
        // It has another type.
        ("float c[m][m]", "double c[m][m]"),
    ] {
        let source = STORED_LATER.replace(from, to);
        assert_ne!(source, STORED_LATER);
        let steps = "distribute j\nbind i -> x block 32";
        has(&check(&source, steps, SIZES), &["t_left["]);
    }
    // Something reads the element before, and is no maximum any more.
    let compared = STORED_LATER.replace("if (t > top) top = t;", "if (t > top + c[i][j]) top = t;");
    has(&refused_text(&compared, "distribute j"), &["more than one operation"]);
}

/// Two passes over columns, the second with the mean of the first.
const COLUMNS: &str = "
void variance(int n, int m, const float a[m][n], float mean[n], float b[m][n]) {
    #pragma omp parallel for
    for (int j = 0; j < n; j++) {
        float s = 0.0f, v = 0.0f;
        for (int i = 0; i < m; i++) s += a[i][j];
        s /= m + 1;
        for (int i = 0; i < m; i++) v += (a[i][j] - s) * (a[i][j] - s);
        mean[j] = s;
        const float scale = 1.0f / (v + 1.0f);
        for (int i = 0; i < m; i++)
            for (int k = 0; k < 2; k++) b[i][j] = k + (a[i][j] - s) * scale;
    }
}
";

#[test]
fn passes_come_apart_where_there_is_nothing_else_and_what_is_set_twice_belongs_to_the_first() {
    let alone = COLUMNS.replace("for (int k = 0; k < 2; k++) b[i][j] = k +", "b[i][j] = 1 +");
    let steps = "distribute j\nsplit_k i by 4\nbind j#2 -> x block 32\nbind i_part, j -> y, x block 8x1\nsplit_k i#2 by 4\nbind j#4 -> x block 32\nbind i_part2, j#3 -> y, x block 8x1\nbind j#5 -> x block 32";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3)],
        &[("n", 3), ("m", 0)],
        &[("n", 40), ("m", 7)],
        &[("n", 9), ("m", 33)],
    ];
    let text = check(&alone, steps, sizes);
    has(&text, &["s_parts[", "s_left[j] = s;", "const float s = s_left[j];"]);
}

#[test]
fn declarations_go_into_the_loop_of_their_part() {
    let steps = "distribute j\nbind j -> x block 32\nbind j#2, i#3 -> x, y block 8x4";
    let sizes: Sizes<'_> = &[&[("n", 3), ("m", 0)], &[("n", 40), ("m", 7)], &[("n", 9), ("m", 33)]];
    has(&check(COLUMNS, steps, sizes), &["const float scale = 1.0f / (v + 1.0f);"]);
}

#[test]
fn a_reduction_belongs_to_the_part_that_adds_to_it() {
    let source = "
double norm(int n, int m, const double A[n][m], const double x[m], double y[n]) {
    double t = 0, c = 0;
    #pragma omp parallel for reduction(+: t) reduction(max: c)
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += A[i][j] * x[j];
        y[i] = s;
        t += s * s;
        if (s > c) c = s;
    }
    return t + c;
}
";
    let steps = "distribute i\nbind i -> y block 1x4\nshare j -> x by 32\nreduce t block 32 grid 2";
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 3)], &[("n", 5), ("m", 40)], &[("n", 70), ("m", 1)]];
    let text = check(source, steps, sizes);
    has(&text, &["+= A["]);
    let kept = source
        .replace("reduction(+: t)", "reduction(+: t) lastprivate(k)")
        .replace("t = 0,", "t = 0, k = 0,");
    let text = refused_text(&kept.replace("y[i] = s;", "y[i] = s; k = s;"), "distribute i");
    assert!(text.contains("carry values"), "{text}");
    let twice = source
        .replace("double t = 0, c = 0;", "double c = 0;")
        .replace("reduction(+: t)", "reduction(+: t[:1])")
        .replace("double y[n])", "double y[n], double *t)");
    let twice = twice
        .replace("s += A[i][j] * x[j];", "{ s += A[i][j] * x[j]; t[0] += 1; }")
        .replace("t += s", "t[0] += s")
        .replace("t + c", "c");
    let text = refused_text(&twice, "distribute i");
    assert!(text.contains("several parts of its body add to `t`"), "{text}");
}

/// A counter that is declared before its loop and read behind it.
#[test]
fn counters_that_outlive_their_loops_are_kept() {
    let source = "
void until(int n, int m, const int a[n][m], const int lim[n], int y[n], int z[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int s = 0, j;
        for (j = 0; j < m; j++) {
            if (s > lim[i]) break;
            s += a[i][j];
        }
        y[i] = s;
        z[i] = j;
    }
}
";
    let text = check(source, "distribute i\nbind i -> x block 32\nbind i#2 -> x block 32", SIZES);
    has(&text, &["s_left[", "j_left["]);
}
