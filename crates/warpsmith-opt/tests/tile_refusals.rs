//! What the user reads when a nest cannot be computed in tiles, word for word: the reasons that
//! `refused_steps.rs` leaves out.

mod common;

use common::refused_text;
use expect_test::{Expect, expect};

/// The message of the last step of a schedule; the steps before it are legal.
fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(source, schedule));
}

/// A function of a row `x` and `y`, of which the body of a marked loop over `i` is given.
fn row(parameters: &str, body: &str) -> String {
    format!(
        "void f(int n{parameters}, const float x[n], float y[n]) {{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {{\n        {body}\n    }}\n}}\n"
    )
}

const BOUND: &str = "bind i -> x 32\n";

fn row_refused(parameters: &str, body: &str, step: &str, expected: Expect) {
    refused(&row(parameters, body), &format!("{BOUND}{step}"), expected);
}

#[test]
fn statements_that_reach_further_have_no_tiles() {
    refused(
        "static void put(float *t, float v) { *t = v; }\nvoid f(int n, const float x[n], float y[n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        float t;\n        put(&t, x[i]);\n        y[i] = t;\n    }\n}\n",
        "bind i -> x 32\nregister_tile i by 2",
        expect![[r#"
            error[W260]: cannot compute the nest of `i` in tiles: a statement works on more than this iteration's values
             --> input.c:6:9
              |
            6 |         put(&t, x[i]);
              |         ^^^^^^^^^^^^^ here
              |
             ::: input.sched:2:1
              |
            2 | register_tile i by 2
              | -------------------- in this step
              |
              = note: step 2: `register_tile i by 2`
        "#]],
    );
}

#[test]
fn strips_are_of_loops_that_all_threads_run_alike() {
    row_refused(
        "",
        "if (y[i] > 0)\n            for (int l = 0; l < n; l++) y[i] += x[l];",
        "stage x at l tile 4",
        expect![[r#"
            error[W261]: cannot stage `x`: not all threads of a block run loop `l` alike
             --> input.sched:2:1
              |
            2 | stage x at l tile 4
              | ^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 2: `stage x at l tile 4`
        "#]],
    );
    row_refused(
        "",
        "for (int l = 0; l < i; l++) y[i] += x[l];",
        "stage x at l tile 4",
        expect![[r#"
            error[W261]: cannot stage `x`: not all threads of a block run loop `l` alike
             --> input.sched:2:1
              |
            2 | stage x at l tile 4
              | ^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 2: `stage x at l tile 4`
        "#]],
    );
}

#[test]
fn functions_that_are_called_read_the_array_itself() {
    refused(
        "static float at(const float *x, int i) { return x[i] * 2; }\nvoid f(int n, const float x[n], float y[n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        y[i] = at(x, i);\n}\n",
        "bind i -> x 32\nstage x",
        expect![[r#"
            error[W261]: cannot stage `x`: a called function reads it
             --> input.c:5:16
              |
            5 |         y[i] = at(x, i);
              |                ^^^^^^^^ this access
              |
             ::: input.sched:2:1
              |
            2 | stage x
              | ------- in this step
              |
              = note: step 2: `stage x`
        "#]],
    );
}

#[test]
fn subscripts_that_are_no_sums_are_not_staged() {
    row_refused(
        "",
        "y[i] = x[i / 2];",
        "stage x",
        expect![[r#"
        error[W261]: cannot stage `x`: a subscript is not a constant times `i`
         --> input.c:4:16
          |
        4 |         y[i] = x[i / 2];
          |                ^^^^^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage x
          | ------- in this step
          |
          = note: step 2: `stage x`
    "#]],
    );
    row_refused(
        "",
        "y[i] = x[i * i];",
        "stage x",
        expect![[r#"
        error[W261]: cannot stage `x`: a subscript is not a constant times `i`
         --> input.c:4:16
          |
        4 |         y[i] = x[i * i];
          |                ^^^^^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage x
          | ------- in this step
          |
          = note: step 2: `stage x`
    "#]],
    );
}

#[test]
fn reads_of_whole_rows_need_a_strip() {
    row_refused(
        "",
        "for (int l = 0; l < n; l++) y[i] += x[l];",
        "stage x",
        expect![[r#"
        error[W261]: cannot stage `x`: a subscript depends on `l`, whose number of iterations is not constant
         --> input.c:4:45
          |
        4 |         for (int l = 0; l < n; l++) y[i] += x[l];
          |                                             ^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage x
          | ------- in this step
          |
          = note: step 2: `stage x`
    "#]],
    );
}

#[test]
fn reads_in_endless_rows() {
    row_refused(
        "",
        "for (long l = 0; l < 5000000000; l++) y[i] += x[l];",
        "stage x",
        expect![[r#"
            error[W261]: cannot stage `x`: loop `l` is too long
             --> input.c:4:55
              |
            4 |         for (long l = 0; l < 5000000000; l++) y[i] += x[l];
              |                                                       ^^^^ this access
              |
             ::: input.sched:2:1
              |
            2 | stage x
              | ------- in this step
              |
              = note: step 2: `stage x`
        "#]],
    );
}

#[test]
fn reads_stand_in_the_loop_that_is_cut() {
    row_refused(
        "",
        "float t = x[i];\n        for (int l = 0; l < n; l++) y[i] += t;",
        "stage x at l tile 4",
        expect![[r#"
            error[W261]: cannot stage `x`: nothing reads it there
             --> input.sched:2:1
              |
            2 | stage x at l tile 4
              | ^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 2: `stage x at l tile 4`
        "#]],
    );
}

#[test]
fn reads_with_a_halo_need_a_shape() {
    refused(
        "void f(int n, int m, const float *x, float *y) {\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m - 1; j++)\n            y[i * m + j] = x[i * m + j] + x[i * m + j + 1];\n}\n",
        "bind i, j -> y, x block 8x4\nstage x",
        expect![[r#"
            error[W261]: cannot stage `x`: its reads differ, and its shape is not declared
             --> input.sched:2:1
              |
            2 | stage x
              | ^^^^^^^ in this step
              |
              = note: step 2: `stage x`
        "#]],
    );
}

#[test]
fn reads_far_apart_are_not_staged() {
    row_refused(
        "",
        "y[i] = x[i * 100000];",
        "stage x",
        expect![[r#"
        error[W261]: cannot stage `x`: a block reads too much of it
         --> input.sched:2:1
          |
        2 | stage x
          | ^^^^^^^ in this step
          |
          = note: step 2: `stage x`
    "#]],
    );
}
