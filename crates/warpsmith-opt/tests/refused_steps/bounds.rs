//! Bounds that nothing is to be done about, and nests that are bound.

use expect_test::expect;

use super::*;

#[test]
fn bounds_of_nests_without_tiles() {
    refused(
        PLAIN,
        "bind i -> x 32\nbounds peel",
        expect![[r#"
        error[W268]: no nest is computed in tiles
         --> input.sched:2:1
          |
        2 | bounds peel
          | ^^^^^^^^^^^ in this step
          |
          = note: a thread with one iteration asks once whether it exists: nothing can be spared there
          = note: step 2: `bounds peel`
          = help: take this step after `register_tile` or `stage`
    "#]],
    );
}

#[test]
fn bounds_of_another_kind() {
    refused(
        PLAIN,
        "bind i -> x 32\nbounds skip",
        expect![[r#"
            error[W230]: this is not a step of a schedule
             --> input.sched:2:8
              |
            2 | bounds skip
              |        ^^^^ `peel`, `pad` or `guard` is wanted here
              |
              = help: for example `bounds peel`
        "#]],
    );
}

#[test]
fn a_loop_around_a_bound_one_is_not_bound() {
    let source = "
void f(int n, float a[n][n]) {
    for (int j = 0; j < n; j++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            a[j][i] += 1.0f;
    }
}
";
    let text = refused_text(source, "bind i -> x block 32\nbind j, i -> y, x block 8x4");
    assert!(text.contains("loop `i` is bound already"), "{text}");
}

#[test]
fn a_loop_whose_iterations_have_blocks_is_not_cut() {
    let source = "
void f(int n, int m, float y[n][m][7], const float x[n][m][7]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < 7; l++)
                y[i][j][l] = 2.0f * x[i][j][6 - l];
}
";
    let steps = "bind l -> x block 4\nregister_tile l by 2\nsplit j by 16";
    let text = refused_text(source, steps);
    assert!(text.contains("each of its iterations has blocks of its own"), "{text}");
}
