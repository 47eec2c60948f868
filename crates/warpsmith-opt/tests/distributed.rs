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
    let text = why(&triangle("float one = d[i];", "d[i] = one;"), "distribute i");
    has(&text, &["one part of its body uses `one`, which another one sets"]);
    let text = why(&triangle("d[i] = 1.0f;", ""), "bind i -> x block 32\ndistribute i");
    has(&text, &["it is not marked, or bound already"]);
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
