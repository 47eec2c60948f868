//! Nests with loops around the bound ones, in tiles: every block has one iteration of them.

mod common;

use common::{Points as Sizes, check_scheduled as check, refused_text};
use expect_test::{Expect, expect};

const LAYER: &str = "
void layer(int b, int c, int d, int n, int m, const float u[b][d][n + 2][m + 2], const float f[c][d][3][3], float v[b][c][n][m]) {
    #pragma omp parallel for collapse(4)
    for (int s = 0; s < b; s++)
        for (int o = 0; o < c; o++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) {
                    v[s][o][i][j] = 0;
                    for (int p = 0; p < d; p++)
                        for (int x = 0; x < 3; x++)
                            for (int y = 0; y < 3; y++)
                                v[s][o][i][j] += u[s][p][i + x][j + y] * f[o][p][x][y];
                }
}
";

const SIZES: Sizes<'_> = &[
    &[("b", 0), ("c", 2), ("d", 1), ("n", 3), ("m", 2)],
    &[("b", 1), ("c", 1), ("d", 0), ("n", 3), ("m", 2)],
    &[("b", 2), ("c", 3), ("d", 2), ("n", 9), ("m", 11)],
    &[("b", 3), ("c", 2), ("d", 3), ("n", 8), ("m", 8)],
];

#[test]
fn a_layer_is_staged_and_tiled() {
    let bind = "bind i, j -> y, x block 8x4\naccumulate v\n";
    let text = check(LAYER, &format!("{bind}stage u at p tile 2\nregister_tile i by 2"), SIZES);
    for name in ["const int s =", "const int o ="] {
        assert!(text.contains(name), "no `{name}` in\n{text}");
    }
    check(LAYER, &format!("{bind}stage u at p tile 1\nstage f at p tile 1\nbounds peel"), SIZES);
    check(LAYER, &format!("{bind}register_tile j by 4\nunroll x\nunroll y"), SIZES);
    check(LAYER, &format!("{bind}register_tile j by 2\nbounds pad"), SIZES);
    let three = "bind o, i, j -> z, y, x block 8x4x1\naccumulate v\nregister_tile o by 2\n";
    check(LAYER, &format!("{three}stage u at p tile 2"), SIZES);
    check(
        LAYER,
        "split_k p by 2\nbind i, j -> y, x block 8x4\nbind i#2, j#2 -> y, x block 8x4\nstage u at p tile 1\nregister_tile i by 2",
        SIZES,
    );
}

#[test]
fn loops_that_do_not_begin_at_zero() {
    let source = "
void f(int t, long n, const int a[t + 3][n], int x[t + 3][n]) {
    #pragma omp parallel for
    for (int s = 2; s <= t; s++)
        #pragma omp parallel for
        for (long i = 1; i < n; i++)
            x[s][i] = a[s + 1][i - 1] + s;
}
";
    let sizes: Sizes<'_> = &[
        &[("t", 1), ("n", 9)],
        &[("t", 2), ("n", 1)],
        &[("t", 4), ("n", 70)],
        &[("t", 5), ("n", 65)],
    ];
    check(source, "bind i -> x block 32\nregister_tile i by 2", sizes);
    check(source, "bind i -> x block 32\nstage a\nbounds peel", sizes);
}

#[test]
fn marked_loops_of_a_thread_are_cut_and_unrolled() {
    let bind = "bind s -> x block 32\n";
    for steps in ["tile i, j by 4x2", "tile o, i by 2x3", "split j by 3\nunroll j by 2", "unroll i"]
    {
        check(LAYER, &format!("{bind}{steps}"), SIZES);
    }
}

fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(refused_text(source, schedule).lines().next().unwrap_or_default());
}

#[test]
fn outer_loops_that_blocks_cannot_share() {
    let f = |head: &str, inner: &str, e: Expect| {
        let source = format!(
            "void f(int n, const int p[n], int x[n][n]) {{\n    #pragma omp parallel for\n    {head}\n    #pragma omp parallel for\n        for (int i = 0; i < n; i++) {inner}\n}}\n"
        );
        refused(&source, "bind i -> x block 32\nregister_tile i by 2", e);
    };
    f(
        "for (int s = 0; s < n; s += 2)",
        "x[s][i] = i;",
        expect![
            "error[W260]: cannot compute the nest of `s` in tiles: loop `s` does not count up by one"
        ],
    );
    f(
        "for (int s = 0; s < n; s++)",
        "x[p[s]][i] = i;",
        expect![
            "error[W260]: cannot compute the nest of `s` in tiles: iterations of its outer loop `s` are not proved independent"
        ],
    );
    let triangle = "void f(int n, int x[n][n]) {\n    #pragma omp parallel for\n    for (int s = 0; s < n; s++)\n    #pragma omp parallel for\n        for (int i = 0; i < s; i++) x[s][i] = 1;\n}\n";
    refused(
        triangle,
        "bind i -> x block 32\nregister_tile i by 2",
        expect!["error[W216]: the bounds of loop `i` depend on `s`"],
    );
}
