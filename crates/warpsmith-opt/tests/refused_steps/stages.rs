//! Arrays and strips that cannot go through shared memory.

use expect_test::expect;

use super::*;

#[test]
fn stages_of_no_array() {
    refused(
        PLAIN,
        "bind i -> x 32\nstage n",
        expect![[r#"
        error[W261]: cannot stage `n`: the function has no array parameter of this name
         --> input.sched:2:1
          |
        2 | stage n
          | ^^^^^^^ in this step
          |
          = note: step 2: `stage n`
    "#]],
    );
}

#[test]
fn stages_before_the_loops_are_bound() {
    refused(
        PLAIN,
        "stage a",
        expect![[r#"
        error[W261]: cannot stage `a`: no bound nest reads it there: bind its loops first
         --> input.sched:1:1
          |
        1 | stage a
          | ^^^^^^^ in this step
          |
          = note: step 1: `stage a`
    "#]],
    );
}

#[test]
fn stages_of_what_is_updated_by_several() {
    let source = PLAIN.replace("b[i] +=", "{\n            #pragma omp atomic\n            b[i] +=");
    let source = source.replace("* k;\n}", "* k; }\n}");
    refused(
        &source,
        "bind i -> x 32\nstage b",
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: a statement works on more than this iteration's values
         --> input.c:7:13
          |
        7 |             b[i] += a[i] * k; }
          |             ^^^^^^^^^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | stage b
          | ------- in this step
          |
          = note: step 2: `stage b`
    "#]],
    );
}

#[test]
fn stages_twice() {
    refused(
        STENCIL,
        "bind i -> x 32\nstage a\nstage a",
        expect![[r#"
        error[W261]: cannot stage `a`: it is staged already
         --> input.sched:3:1
          |
        3 | stage a
          | ^^^^^^^ in this step
          |
          = note: step 3: `stage a`
    "#]],
    );
}

#[test]
fn stages_of_two_lengths() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at l tile 4\nstage B at l tile 8",
        expect![[r#"
        error[W261]: cannot stage `B`: loop `l` is cut into strips of 4 already
         --> input.sched:3:1
          |
        3 | stage B at l tile 8
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 3: `stage B at l tile 8`
    "#]],
    );
}

#[test]
fn stages_at_a_shared_loop() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at i tile 4",
        expect![[r#"
        error[W261]: cannot stage `A`: no bound nest reads it there: bind its loops first
         --> input.sched:2:1
          |
        2 | stage A at i tile 4
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `stage A at i tile 4`
    "#]],
    );
}

#[test]
fn stages_of_long_strips() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at l tile 4096",
        expect![[r#"
        error[W264]: 4096 iterations of `l` are too few or too many: at most 1024 make sense here
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | stage A at l tile 4096
          | ---------------------- in this step
          |
          = note: step 2: `stage A at l tile 4096`
    "#]],
    );
}

#[test]
fn stages_that_are_too_large() {
    refused(
        GEMM,
        "bind i, j -> y, x 16x16\nstage A at l tile 1024",
        expect![[r#"
        error[W261]: cannot stage `A`: the copies of a block would take 65536 bytes of shared memory, of which there are 49152
         --> input.sched:2:1
          |
        2 | stage A at l tile 1024
          | ^^^^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `stage A at l tile 1024`
    "#]],
    );
}

#[test]
fn stages_of_computed_subscripts() {
    refused(
        GATHER,
        "bind i -> x 32\nstage a",
        expect![[r#"
        error[W261]: cannot stage `a`: a subscript is not a constant times `i`
         --> input.c:4:16
          |
        4 |         b[i] = a[at[i]];
          |                ^^^^^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage a
          | ------- in this step
          |
          = note: step 2: `stage a`
    "#]],
    );
}

#[test]
fn stages_under_a_condition() {
    refused(
        &CONDITION.replace("const float a[n]", "const float *a"),
        "bind i -> x 32\nstage a",
        expect![[r#"
        error[W261]: cannot stage `a`: it is read under a condition, and its extents are not known
         --> input.c:5:20
          |
        5 |             b[i] = a[i];
          |                    ^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage a
          | ------- in this step
          |
          = note: step 2: `stage a`
    "#]],
    );
}

#[test]
fn stages_of_long_loops() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A",
        expect![[r#"
        error[W261]: cannot stage `A`: a subscript depends on `l`, whose number of iterations is not constant
         --> input.c:6:28
          |
        6 |                 C[i][j] += A[i][l] * B[l][j];
          |                            ^^^^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage A
          | ------- in this step
          |
          = note: step 2: `stage A`
    "#]],
    );
}

#[test]
fn strips_that_end_early() {
    refused(
        WHILE,
        "bind i -> x 32\nstage a at k tile 4",
        expect![[r#"
        error[W261]: cannot stage `a`: loop `k` may end early, before the copy for other threads
         --> input.sched:2:1
          |
        2 | stage a at k tile 4
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `stage a at k tile 4`
    "#]],
    );
}

#[test]
fn strips_of_a_shared_loop() {
    refused(
        PLAIN,
        "bind i -> x 32\nsplit i by 4",
        expect![[r#"
        error[W263]: loop `i` is shared by threads: only a serial loop can be cut or unrolled
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | split i by 4
          | ------------ in this step
          |
          = note: step 2: `split i by 4`
    "#]],
    );
}

#[test]
fn strips_of_nothing() {
    refused(
        PLAIN,
        "split k by 0",
        expect![[r#"
        error[W264]: 0 iterations of `k` are too few or too many: at most 1048576 make sense here
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < 8; k++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 0
          | ------------ in this step
          |
          = note: step 1: `split k by 0`
    "#]],
    );
}

#[test]
fn strips_of_a_loop_with_a_step() {
    refused(
        STEP,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: it does not count up by one
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < n; k += 3)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_of_a_loop_that_ends_early() {
    refused(
        WHILE,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: it may end early
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < n; k++) {
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_whose_counter_is_read() {
    refused(
        AFTER,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: its counter is read after it
         --> input.c:5:18
          |
        5 |         for (k = 0; k < n; k++)
          |                  ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_with_changing_bounds() {
    refused(
        BOUNDS,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: its body may change its bounds
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < a[i]; k++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_of_what_is_staged() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at l tile 4\nsplit l by 4",
        expect![[r#"
        error[W265]: cannot cut loop `l`: the copy of `A` cuts it already
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | split l by 4
          | ------------ in this step
          |
          = note: step 3: `split l by 4`
    "#]],
    );
}

#[test]
fn a_copy_has_to_fit_the_loops_that_a_later_step_makes() {
    let source = "
void windows(int n, int m, float o[n][m], const float x[2 * n + 8][2 * m + 8], const float f[3][3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            o[i][j] = 0.0f;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    o[i][j] += x[2 * i + 2 * a][2 * j + 2 * b] * f[a][b];
        }
}
";
    let steps = "bind i -> y block 1x16\naccumulate o\nshare a -> x by 8\nstage x at a tile 16\nsplit b by 2";
    let text = refused_text(source, steps);
    crate::common::has(&text, &["cannot stage `x`", "step 5: `split b by 2`"]);
}

#[test]
fn strips_stand_in_no_other_strips() {
    let source = "
void products(int n, int m, float c[m][n], const float a[m][16], const float b[16][n])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float s = 0.0f;
            for (int k = 0; k < 16; k++) s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
}
";
    let (rows, columns) = ("stage a at j tile 1", "stage b at k tile 16");
    for order in [format!("{rows}\n{columns}"), format!("{columns}\n{rows}")] {
        let text =
            refused_text(source, &format!("bind i -> y block 1x1\n{order}\nshare k -> x by 64"));
        crate::common::has(&text, &["`a` is copied in each strip of a loop around `k`"]);
    }
}
