//! What the user reads when a mark or a step is refused, word for word: what `refusals.rs` leaves out.

mod common;

use common::{Input, refused_text};
use expect_test::{Expect, expect};

/// The message of `tune` without a schedule.
fn refused(source: &str, expected: Expect) {
    expected.assert_eq(&Input::new(source).refusal());
}

/// The message of a schedule.
fn step_refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(source, schedule));
}

/// What a translation says beside its program.
fn noted(source: &str, expected: Expect) {
    let input = Input::new(source);
    let (program, _) = input.translate();
    expected.assert_eq(&common::render(&program.notes, &input.sources));
}

#[test]
fn strides_of_a_loop_that_has_them_and_tiles_of_one_that_runs_in_strides() {
    step_refused(
        common::GEMM,
        "bind i, j -> y, x block 8x4\nstride i",
        expect![[r#"
        error[W265]: cannot stride loop `i`: it is not bound to x: loops along y and z run in strides anyway
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | stride i
          | -------- in this step
          |
          = note: step 2: `stride i`
    "#]],
    );
    let tiles = "bind i, j -> y, x block 8x4\nstride j\nregister_tile i by 2";
    step_refused(
        common::GEMM,
        tiles,
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: its threads go through it in strides of the grid
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i++)
          |                  ^ this nest
          |
         ::: input.sched:3:1
          |
        3 | register_tile i by 2
          | -------------------- in this step
          |
          = note: step 3: `register_tile i by 2`
    "#]],
    );
    let after = "bind i, j -> y, x block 8x4\nregister_tile i by 2\nstride j";
    step_refused(
        common::GEMM,
        after,
        expect![[r#"
        error[W265]: cannot stride loop `j`: its blocks compute tiles, one each
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) {
          |                      ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | stride j
          | -------- in this step
          |
          = note: step 3: `stride j`
    "#]],
    );
}

#[test]
fn a_loop_that_is_left() {
    step_refused(
        "void f(float z[9], int n, const int a[n], int b[n]) {\n    for (int k = 0; k < n; k++) {\n        if (a[k] < 0) break;\n        b[k] = a[k];\n    }\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "bind k -> x 32",
        expect![[r#"
            error[W213]: loop `k` may be left before its end
             --> input.c:3:23
              |
            2 |     for (int k = 0; k < n; k++) {
              |                  - the step needs all iterations of this loop
            3 |         if (a[k] < 0) break;
              |                       ^^^^^^ control leaves the loop here
              |
             ::: input.sched:1:1
              |
            1 | bind k -> x 32
              | -------------- in this step
              |
              = note: step 1: `bind k -> x block 32`
              = help: let the iteration do nothing instead: put the rest of the body under an `if`
        "#]],
    );
}

#[test]
fn a_loop_without_a_direction() {
    step_refused(
        "void f(float z[9], int n, int s, float a[n]) {\n    for (int k = 0; k != n; k += s)\n        a[k] = 0;\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "bind k -> x 32",
        expect![[r#"
            error[W214]: the direction of loop `k` is not known
             --> input.c:2:18
              |
            2 |     for (int k = 0; k != n; k += s)
              |                  ^ compares with `!=` and has a step that is no constant
              |
             ::: input.sched:1:1
              |
            1 | bind k -> x 32
              | -------------- in this step
              |
              = note: step 1: `bind k -> x block 32`
              = help: compare with `<` or `>`
        "#]],
    );
    step_refused(
        "void f(int n, int m, int s, float a[n][m]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (int k = 0; k != m; k += s)\n            a[i][k] = 0;\n}\n",
        "bind i, k -> y, x 8x8",
        expect![[r#"
            error[W214]: the direction of loop `k` is not known
             --> input.c:4:22
              |
            4 |         for (int k = 0; k != m; k += s)
              |                      ^ compares with `!=` and has a step that is no constant
              |
             ::: input.sched:1:1
              |
            1 | bind i, k -> y, x 8x8
              | --------------------- in this step
              |
              = note: step 1: `bind i, k -> y, x block 8x8`
              = help: compare with `<` or `>`
        "#]],
    );
}

#[test]
fn a_triangle_of_which_threads_run_the_outer_loop() {
    step_refused(
        "void f(int n, float y[n][n]) {\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < i + 1; j++)\n            y[i][j] = 0;\n}\n",
        "bind j -> x 32",
        expect![[r#"
            error[W216]: the bounds of loop `j` depend on `i`
             --> input.c:4:22
              |
            3 |     for (int i = 0; i < n; i++)
              |                  - the outer loop
            4 |         for (int j = 0; j < i + 1; j++)
              |                      ^ not the same for all iterations of the outer loop
              |
             ::: input.sched:1:1
              |
            1 | bind j -> x 32
              | -------------- in this step
              |
              = note: step 1: `bind j -> x block 32`
        "#]],
    );
}

#[test]
fn a_triangle_as_a_rectangle() {
    step_refused(
        "void f(int n, float a[n][n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < i; j++)\n            a[i][j] = 0;\n}\n",
        "bind i, j -> y, x 8x8",
        expect![[r#"
            error[W216]: the bounds of loop `j` depend on `i`
             --> input.c:4:22
              |
            3 |     for (int i = 0; i < n; i++)
              |                  - the outer loop
            4 |         for (int j = 0; j < i; j++)
              |                      ^ not the same for all iterations of the outer loop
              |
             ::: input.sched:1:1
              |
            1 | bind i, j -> y, x 8x8
              | --------------------- in this step
              |
              = note: step 1: `bind i, j -> y, x block 8x8`
        "#]],
    );
    step_refused(
        "void f(float z[9], int n, float a[n][n]) {\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < i; j++)\n            a[i][j] = 0;\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "interchange i",
        expect![[r#"
            error[W216]: the bounds of loop `j` depend on `i`
             --> input.c:3:22
              |
            2 |     for (int i = 0; i < n; i++)
              |                  - the outer loop
            3 |         for (int j = 0; j < i; j++)
              |                      ^ not the same for all iterations of the outer loop
              |
             ::: input.sched:1:1
              |
            1 | interchange i
              | ------------- in this step
              |
              = note: step 1: `interchange i`
        "#]],
    );
}

#[test]
fn what_stays_in_no_register() {
    step_refused(
        "void f(float z[9], int n, int m, const float A[n][m], float C[n][m], int stop) {\n    for (int i = 0; i < n; i++)\n        for (int l = 0; l < m; l++) {\n            if (A[i][l] > 0) C[i][0] += A[i][l];\n        }\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "accumulate C",
        expect![[r#"
            error[W219]: cannot keep `C` in a register: it is assigned under a condition inside the loop
             --> input.c:4:30
              |
            4 |             if (A[i][l] > 0) C[i][0] += A[i][l];
              |             -----------------^^^^^^^------------
              |             |                |
              |             |                this reference
              |             this condition
              |
             ::: input.sched:1:1
              |
            1 | accumulate C
              | ------------ in this step
              |
              = note: step 1: `accumulate C`
        "#]],
    );
    step_refused(
        "void f(float z[9], int n, int m, const float A[n][m], float C[n][m], int stop) {\n    for (int i = 0; i < n; i++)\n        for (int l = 0; l < m; l++) {\n            if (l == stop) return;\n            C[i][0] += A[i][l];\n        }\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "accumulate C",
        expect![[r#"
            error[W219]: cannot keep `C` in a register: the function may return from inside the loop
             --> input.c:5:13
              |
            4 |             if (l == stop) return;
              |                            ------- this `return`
            5 |             C[i][0] += A[i][l];
              |             ^^^^^^^ this reference
              |
             ::: input.sched:1:1
              |
            1 | accumulate C
              | ------------ in this step
              |
              = note: step 1: `accumulate C`
        "#]],
    );
    step_refused(
        "void f(float z[9], int n, int m, const float A[n][m], float C[n][m], int stop) {\n    for (int i = 0; i < n; i++)\n        for (int l = 0; l < m; l++) {\n            C[i][0] += A[i][l] * C[i][l];\n        }\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "accumulate C",
        expect![[r#"
            error[W219]: cannot keep `C` in a register: another reference in the loop may be the same element
             --> input.c:4:13
              |
            4 |             C[i][0] += A[i][l] * C[i][l];
              |             ^^^^^^^              ------- this one
              |             |
              |             this reference
              |
             ::: input.sched:1:1
              |
            1 | accumulate C
              | ------------ in this step
              |
              = note: step 1: `accumulate C`
        "#]],
    );
    step_refused(
        "static float last(int n, const float *C) { return C[n - 1]; }\nvoid f(float z[9], int n, int m, float C[n]) {\n    for (int i = 0; i < n; i++)\n        for (int l = 0; l < m; l++)\n            C[i] += last(n, C);\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "accumulate C",
        expect![[r#"
            error[W219]: cannot keep `C` in a register: a call in the loop may touch the array
             --> input.c:5:13
              |
            5 |             C[i] += last(n, C);
              |             ^^^^    ---------- this call
              |             |
              |             this reference
              |
             ::: input.sched:1:1
              |
            1 | accumulate C
              | ------------ in this step
              |
              = note: step 1: `accumulate C`
        "#]],
    );
}

#[test]
fn a_loop_inside_of_a_parallel_one() {
    step_refused(
        "void f(int n, int m, float a[n][m], float b[n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        b[i] = 0;\n        #pragma omp parallel for\n        for (int j = 0; j < m; j++)\n            a[i][j] = 0;\n    }\n}\n",
        "bind j -> x 32",
        expect![[r#"
            error[W223]: loop `j` is inside another parallel loop
             --> input.c:6:22
              |
            6 |         for (int j = 0; j < m; j++)
              |                      ^ runs inside a thread
              |
             ::: input.sched:1:1
              |
            1 | bind j -> x 32
              | -------------- in this step
              |
              = note: step 1: `bind j -> x block 32`
              = help: bind the outermost parallel loop of the nest
        "#]],
    );
}

#[test]
fn a_reduction_is_not_bound() {
    step_refused(
        "float f(int n, const float a[n]) {\n    float s = 0;\n    #pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++)\n        s += a[i];\n    return s;\n}\n",
        "bind i -> x 32",
        expect![[r#"
            error[W224]: loop `i` reduces `s`
             --> input.c:4:18
              |
            4 |     for (int i = 0; i < n; i++)
              |                  ^ its iterations share a result
              |
             ::: input.sched:1:1
              |
            1 | bind i -> x 32
              | -------------- in this step
              |
              = note: step 1: `bind i -> x block 32`
              = help: use the step `reduce s`
        "#]],
    );
    step_refused(
        "float f(int n, const float a[n]) {\n    float s = 0;\n    #pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++)\n        s += a[i];\n    return s;\n}\n",
        "reduce s grid 0",
        expect![[r#"
            error[W217]: a reduction by 0 blocks does not work
             --> input.sched:1:1
              |
            1 | reduce s grid 0
              | ^^^^^^^^^^^^^^^ in this step
              |
              = note: the last block combines what the others leave: take from 1 to 65536 blocks, at most 65535 of them along y or z
              = note: step 1: `reduce s block 256 grid 0`
        "#]],
    );
    step_refused(
        "float f(int n, const float a[n]) {\n    float s = 0;\n    #pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++)\n        s += a[i];\n    return s;\n}\n",
        "reduce s grid 100000",
        expect![[r#"
            error[W217]: a reduction by 100000 blocks does not work
             --> input.sched:1:1
              |
            1 | reduce s grid 100000
              | ^^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: the last block combines what the others leave: take from 1 to 65536 blocks, at most 65535 of them along y or z
              = note: step 1: `reduce s block 256 grid 100000`
        "#]],
    );
    step_refused(
        "void f(int n, float a[n][n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < i; j++)\n            a[i][j] = 0;\n}\n",
        "bind i -> x 0",
        expect![[r#"
            error[W217]: a block without threads along x
             --> input.sched:1:1
              |
            1 | bind i -> x 0
              | ^^^^^^^^^^^^^ in this step
              |
              = note: a block has at most 1024 threads, at most 64 of them along z, and at least one along each axis
              = note: step 1: `bind i -> x block 0`
        "#]],
    );
    step_refused(
        "float f(int n, const float a[n]) {\n    float s = 0;\n    #pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++)\n        s += a[i];\n    return s;\n}\n",
        "reduce s block 32x4 grid 8",
        expect![[r#"
            error[W217]: one parallel loop with bounds of their own cannot be reduced along 2 axes
             --> input.c:4:18
              |
            4 |     for (int i = 0; i < n; i++)
              |                  ^ loops from here on count whose bounds do not depend on counters around them
              |
             ::: input.sched:1:1
              |
            1 | reduce s block 32x4 grid 8
              | -------------------------- in this step
              |
              = note: each loop goes to an axis of its own, so there are from as many loops as axes to three
              = note: step 1: `reduce s block 32x4 grid 8x1`
              = help: with one number for `block` and one for `grid` all iterations are numbered
        "#]],
    );
    step_refused(
        "float f(int n, const float a[n]) {\n    float s = 0;\n    #pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++)\n        s += a[i];\n    return s;\n}\n",
        "reduce s block 1x1x128 grid 8",
        expect![[r#"
            error[W217]: a block of 128 threads along z is too large
             --> input.sched:1:1
              |
            1 | reduce s block 1x1x128 grid 8
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: a block has at most 1024 threads, at most 64 of them along z, and at least one along each axis
              = note: step 1: `reduce s block 1x1x128 grid 8x1x1`
        "#]],
    );
}

#[test]
fn an_order_that_may_matter() {
    step_refused(
        "void f(float z[9], int n, const int k[n], float a[n]) {\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++)\n            a[k[i]] = a[j] + 1;\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "interchange i",
        expect![[r#"
            error[W226]: cannot interchange `i` and `j`: that the order does not matter is not proved
             --> input.c:2:18
              |
            2 |     for (int i = 0; i < n; i++)
              |                  ^ the outer loop
              |
             ::: input.sched:1:1
              |
            1 | interchange i
              | ------------- in this step
              |
              = note: data decide whether `a[j]` and `a[k[i]]` are one element
              = note: step 1: `interchange i`
        "#]],
    );
    step_refused(
        "void f(float z[9], int n, const float a[n][n], float b[n][n]) {\n    float last = 0;\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {\n            b[i][j] = last;\n            last = a[i][j];\n        }\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "interchange i",
        expect![[r#"
            error[W226]: cannot interchange `i` and `j`: that the order does not matter is not proved
             --> input.c:3:18
              |
            3 |     for (int i = 0; i < n; i++)
              |                  ^ the outer loop
              |
             ::: input.sched:1:1
              |
            1 | interchange i
              | ------------- in this step
              |
              = note: every iteration writes the variable `last`
              = note: step 1: `interchange i`
        "#]],
    );
    step_refused(
        "void f(float z[9], int n, float a[n][n]) {\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {\n            if (a[i][j] < 0) break;\n            a[i][j] = 1;\n        }\n    #pragma omp parallel for\n    for (int q = 0; q < 9; q++)\n        z[q] = 0;\n}\n",
        "interchange i",
        expect![[r#"
            error[W213]: loop `j` may be left before its end
             --> input.c:4:30
              |
            3 |         for (int j = 0; j < n; j++) {
              |                      - the step needs all iterations of this loop
            4 |             if (a[i][j] < 0) break;
              |                              ^^^^^^ control leaves the loop here
              |
             ::: input.sched:1:1
              |
            1 | interchange i
              | ------------- in this step
              |
              = note: step 1: `interchange i`
              = help: let the iteration do nothing instead: put the rest of the body under an `if`
        "#]],
    );
    step_refused(
        "void f(int n, float a[n][n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++)\n            a[i][j] = 1;\n}\n",
        "bind i, j -> y, x 8x8\ninterchange i",
        expect![[r#"
            error[W222]: loop `i` is bound already
             --> input.c:3:18
              |
            3 |     for (int i = 0; i < n; i++)
              |                  ^ an earlier step bound this loop
              |
             ::: input.sched:2:1
              |
            2 | interchange i
              | ------------- in this step
              |
              = note: step 2: `interchange i`
        "#]],
    );
}

#[test]
fn a_counter_of_an_inner_loop_read_afterwards() {
    refused(
        "int f(int n, int m, float a[n][m]) {\n    int j = 0;\n    #pragma omp parallel for collapse(2) private(j)\n    for (int i = 0; i < n; i++)\n        for (j = 0; j < m; j++)\n            a[i][j] = 0;\n    return j;\n}\n",
        expect![[r#"
            error[W243]: the counter of an inner parallel loop is read after the nest
             --> input.c:5:18
              |
            5 |         for (j = 0; j < m; j++)
              |                  ^ this loop
              |
              = help: set a variable to the loop's limit, and read that
        "#]],
    );
    refused(
        "int f(int n, int m, float a[n][m]) {\n    int i, j;\n    #pragma omp parallel for collapse(2)\n    for (i = 0; i < n; i++)\n        for (j = 0; j < m; j++)\n            a[i][j] = 0;\n    return j;\n}\n",
        expect![[r#"
            error[W243]: the counter of an inner parallel loop is read after the nest
             --> input.c:5:18
              |
            5 |         for (j = 0; j < m; j++)
              |                  ^ this loop
              |
              = help: set a variable to the loop's limit, and read that
        "#]],
    );
}

#[test]
fn a_shared_counter_is_a_warning() {
    noted(
        "void f(int n, int m, float a[n][m]) {\n    int j;\n    j = 5;\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (j = 0; j < m; j++)\n            a[i][j] = a[i][j] + j;\n}\n",
        expect![[r#"
            warning[W251]: the counter `j` is shared by the iterations of the marked loop `i`
             --> input.c:6:9
              |
            6 | /         for (j = 0; j < m; j++)
            7 | |             a[i][j] = a[i][j] + j;
              | |____________^ every iteration runs this loop with the same variable
              |
              = note: here every thread gets its own; a compiler with OpenMP would make this a race
              = help: add `private(j)` or declare it in the loop: `for (int j = …`
        "#]],
    );
}

#[test]
fn loops_that_could_be_marked() {
    noted(
        "void f(int n, int m, float a[n], float b[m]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        a[i] = 0;\n    for (int j = 0; j < m; j++)\n        b[j] = 1;\n    for (int j = 1; j < m; j++)\n        b[j] = b[j - 1];\n}\n",
        expect![[r#"
            warning[W252]: loop `j` is not parallel and works on arrays: one thread of the device runs it
             --> input.c:5:18
              |
            5 |     for (int j = 0; j < m; j++)
              |                  ^ correct, but slow
              |
              = help: mark it with `#pragma omp parallel for` if its iterations are independent
            warning[W252]: loop `j#2` is not parallel and works on arrays: one thread of the device runs it
             --> input.c:7:18
              |
            7 |     for (int j = 1; j < m; j++)
              |                  ^ correct, but slow
              |
              = help: mark it with `#pragma omp parallel for` if its iterations are independent
        "#]],
    );
}
