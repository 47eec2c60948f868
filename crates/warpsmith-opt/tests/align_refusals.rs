//! What the user reads when a loop cannot be aligned, word for word.

mod common;

use common::Input;
use expect_test::{Expect, expect};

const ROWS: &str = "\
void f(int n, int m, const float u[n][m], float v[n][m], float *s) {
    #pragma omp parallel for collapse(2)
    for (int i = 4; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int l = 1; l < 3; l++)
                v[i][j] += u[i - l][j] + u[i][j + l];
}
";
const BIND: &str = "bind i, j -> y, x 8x4\n";

#[track_caller]
fn refused(source: &str, schedule: &str, expected: Expect) {
    match Input::new(source).scheduled(schedule) {
        Ok(_) => panic!("`{schedule}` is taken"),
        Err(text) => expected.assert_eq(&text),
    }
}

#[test]
fn vectors_of_three() {
    refused(
        ROWS,
        &format!("{BIND}align j by 3"),
        expect![[r#"
        error[W265]: cannot align loop `j`: vectors have 2 or 4 elements, not 3
         --> input.c:4:22
          |
        4 |         for (int j = 1; j < m - 1; j++)
          |                      ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | align j by 3
          | ------------ in this step
          |
          = note: step 2: `align j by 3`
    "#]],
    );
}

#[test]
fn loops_that_begin_at_a_multiple() {
    refused(
        ROWS,
        &format!("{BIND}align i by 4"),
        expect![[r#"
        error[W265]: cannot align loop `i`: it begins at a multiple of 4 as it is
         --> input.c:3:18
          |
        3 |     for (int i = 4; i < n - 1; i++)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | align i by 4
          | ------------ in this step
          |
          = note: step 2: `align i by 4`
    "#]],
    );
}

#[test]
fn loops_that_begin_at_a_known_multiple() {
    let source = ROWS.replace("j = 1", "j = 2 * n");
    refused(
        &source,
        &format!("{BIND}specialise n%2=0\nalign j by 4"),
        expect![[r#"
        error[W265]: cannot align loop `j`: it begins at a multiple of 4 as it is
         --> input.c:4:22
          |
        4 |         for (int j = 2 * n; j < m - 1; j++)
          |                      ^^^^^ this loop
          |
         ::: input.sched:3:1
          |
        3 | align j by 4
          | ------------ in this step
          |
          = note: step 3: `align j by 4`
    "#]],
    );
}

#[test]
fn loops_that_are_not_bound() {
    refused(
        ROWS,
        &format!("{BIND}align l by 4"),
        expect![[r#"
        error[W262]: loop `l` is not bound to threads
         --> input.c:5:26
          |
        5 |             for (int l = 1; l < 3; l++)
          |                          ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | align l by 4
          | ------------ in this step
          |
          = note: step 2: `align l by 4`
          = help: bind its nest first, for example with `bind i, j -> y, x block 16x16`
    "#]],
    );
}

#[test]
fn loops_with_a_step() {
    let source = ROWS.replace("j++", "j += 2");
    refused(
        &source,
        &format!("{BIND}align j by 4"),
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: loop `j` does not count up by one
         --> input.c:3:18
          |
        3 |     for (int i = 4; i < n - 1; i++)
          |                  ^ this nest
          |
         ::: input.sched:2:1
          |
        2 | align j by 4
          | ------------ in this step
          |
          = note: step 2: `align j by 4`
    "#]],
    );
}

#[test]
fn sums_over_a_grid() {
    let source = "\
float f(int n, const float x[n]) {
    float s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 1; i < n; i++)
        s += x[i];
    return s;
}
";
    refused(
        source,
        "reduce s block 32 grid 2\nalign i by 4",
        expect![[r#"
        error[W224]: loop `i` reduces `s`
         --> input.c:4:18
          |
        4 |     for (int i = 1; i < n; i++)
          |                  ^ its iterations share a result
          |
         ::: input.sched:2:1
          |
        2 | align i by 4
          | ------------ in this step
          |
          = note: step 2: `align i by 4`
          = help: use the step `reduce s`
    "#]],
    );
}

#[test]
fn staged_arrays() {
    let source = ROWS.replace(" + u[i][j + l]", "");
    refused(
        &source,
        &format!("{BIND}stage u\nalign j by 4"),
        expect![[r#"
        error[W261]: cannot stage `u`: copies begin where loops do, and `j` is aligned
         --> input.sched:3:1
          |
        3 | align j by 4
          | ^^^^^^^^^^^^ in this step
          |
          = note: step 3: `align j by 4`
    "#]],
    );
    refused(
        &source,
        &format!("{BIND}align j by 4\nstage u"),
        expect![[r#"
        error[W261]: cannot stage `u`: copies begin where loops do, and `j` is aligned
         --> input.sched:3:1
          |
        3 | stage u
          | ^^^^^^^ in this step
          |
          = note: step 3: `stage u`
    "#]],
    );
}

#[test]
fn padded_arrays() {
    refused(
        ROWS,
        &format!("{BIND}register_tile i by 2\nalign j by 4\nbounds pad"),
        expect![[r#"
        error[W270]: cannot pad the arrays of the nest of `i`: loop `j` is aligned, and its rows end where they do
         --> input.c:3:18
          |
        3 |     for (int i = 4; i < n - 1; i++)
          |                  ^ this nest
          |
         ::: input.sched:4:1
          |
        4 | bounds pad
          | ---------- in this step
          |
          = note: step 4: `bounds pad`
          = help: `bounds peel` needs no copies, `bounds guard` works for every nest
    "#]],
    );
}

#[test]
fn texts_that_are_no_step() {
    refused(
        ROWS,
        &format!("{BIND}align j"),
        expect![[r#"
        error[W230]: this is not a step of a schedule
         --> input.sched:2:8
          |
        2 | align j
          |        ^ `by` and the elements of a vector are wanted here
          |
          = help: for example `align i by 4`
    "#]],
    );
}
