//! What the user reads when something cannot be done, word for word.

mod common;

use common::Input;
use expect_test::{Expect, expect};

fn refused(source: &str, expected: Expect) {
    expected.assert_eq(&Input::new(source).refusal());
}

fn step_refused(step: &str, expected: Expect) {
    let source = "\
void f(int n, int m, float a[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            s[i] += a[i][j] * a[i][j - 1];
    for (int k = 1; k < n; k++)
        for (int l = 0; l < m - 1; l++)
            a[k][l] = a[k - 1][l + 1];
}
";
    let mut input = Input::new(source);
    match input.scheduled(step) {
        Ok(_) => panic!("`{step}` is taken"),
        Err(text) => expected.assert_eq(&text),
    }
}

#[test]
fn a_value_of_the_iteration_before() {
    refused(
        "void f(int n, float a[n]) {\n    #pragma omp parallel for\n    for (int i = 1; i < n; i++)\n        a[i] = a[i - 1] + 1;\n}\n",
        expect![[r#"
            error[W210]: loop `i` is marked parallel, but two of its iterations touch the same element of `a`
             --> input.c:4:16
              |
            2 |     #pragma omp parallel for
              |     ------------------------ marked here
            3 |     for (int i = 1; i < n; i++)
            4 |         a[i] = a[i - 1] + 1;
              |         ----   ^^^^^^^^ iteration i = 2 reads `a[i - 1]`
              |         |
              |         iteration i = 1 writes `a[i]`
              |
              = note: for example with n = 3, iteration i = 1 writes `a[1]`, and iteration i = 2 reads it too
              = help: remove the mark, or let every iteration write elements of its own (for example, into a second array)
        "#]],
    );
}

#[test]
fn a_diagonal_of_two_loops() {
    refused(
        "void f(int n, int m, float a[n][m]) {\n    #pragma omp parallel for\n    for (int i = 1; i < n; i++)\n        for (int j = 0; j < m - 1; j++)\n            a[i][j] = a[i-1][j+1];\n}\n",
        expect![[r#"
            error[W210]: loop `i` is marked parallel, but two of its iterations touch the same element of `a`
             --> input.c:5:23
              |
            2 |     #pragma omp parallel for
              |     ------------------------ marked here
            ...
            5 |             a[i][j] = a[i-1][j+1];
              |             -------   ^^^^^^^^^^^ iteration (i = 2, j = 0) reads `a[i - 1][j + 1]`
              |             |
              |             iteration (i = 1, j = 1) writes `a[i][j]`
              |
              = note: for example with n = 3, m = 3, iteration (i = 1, j = 1) writes `a[1][1]`, and iteration (i = 2, j = 0) reads it too
              = help: remove the mark, or let every iteration write elements of its own (for example, into a second array)
        "#]],
    );
}

#[test]
fn a_sum_over_a_marked_loop() {
    refused(
        "void f(int n, int m, int k, float C[n][m], const float A[n][k], const float B[k][m]) {\n    #pragma omp parallel for collapse(3)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            for (int l = 0; l < k; l++)\n                C[i][j] += A[i][l] * B[l][j];\n}\n",
        expect![[r#"
            error[W210]: loop `l` is marked parallel, but two of its iterations touch the same element of `C`
             --> input.c:6:17
              |
            2 |     #pragma omp parallel for collapse(3)
              |     ------------------------------------ marked here
            ...
            6 |                 C[i][j] += A[i][l] * B[l][j];
              |                 ^^^^^^^
              |                 |
              |                 iteration l = 1 reads `C[i][j]`
              |                 iteration l = 0 writes `C[i][j]`
              |
              = note: for example with n = 1, m = 1, k = 2, iteration l = 0 writes `C[0][0]`, and iteration l = 1 reads it too
              = help: if `C` collects a sum, mark a loop on which its subscript depends, or use a scalar with `reduction(+: …)`
        "#]],
    );
}

#[test]
fn a_sum_without_its_clause() {
    refused(
        "float f(int n, const float x[n]) {\n    float s = 0;\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        s += x[i];\n    return s;\n}\n",
        expect![[r#"
            error[W211]: loop `i` is marked parallel, but its iterations share the variable `s`
             --> input.c:5:9
              |
            2 |     float s = 0;
              |           ----- declared outside the loop
            ...
            5 |         s += x[i];
              |         -^^^^^^^^
              |         |
              |         every iteration writes `s`
              |         and reads it here
              |
              = help: add `reduction(+: s)`
        "#]],
    );
}

#[test]
fn a_shared_temporary() {
    refused(
        "void f(int n, float x[n]) {\n    float t;\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        t = x[i] * 2;\n        x[i] = t * t;\n    }\n}\n",
        expect![[r#"
            error[W211]: loop `i` is marked parallel, but its iterations share the variable `t`
             --> input.c:5:9
              |
            2 |     float t;
              |           - declared outside the loop
            ...
            5 |         t = x[i] * 2;
              |         ^^^^^^^^^^^^ every iteration writes `t`
            6 |         x[i] = t * t;
              |                - and reads it here
              |
              = help: if each iteration needs its own, add `private(t)` or declare it inside the loop
        "#]],
    );
}

#[test]
fn a_switch_around_a_parallel_loop() {
    refused(
        "void f(int n, int mode, float a[n]) {\n    switch (mode) {\n    case 1:\n        #pragma omp parallel for\n        for (int i = 0; i < n; i++) a[i] = 0;\n        break;\n    }\n}\n",
        expect![[r#"
            error[W240]: a `switch` stands around parallel loops
             --> input.c:2:5
              |
            2 | /     switch (mode) {
            3 | |     case 1:
            4 | |         #pragma omp parallel for
            5 | |         for (int i = 0; i < n; i++) a[i] = 0;
            6 | |         break;
            7 | |     }
              | |_____^ this statement
              |
              = help: write `if` and `else`
        "#]],
    );
}

#[test]
fn a_bound_on_data() {
    refused(
        "void f(int n, const int size[n], float a[n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < size[0]; i++)\n        a[i] = 0;\n}\n",
        expect![[r#"
            error[W242]: the bounds of the parallel loop `i` depend on values that only the device has
             --> input.c:3:25
              |
            3 |     for (int i = 0; i < size[0]; i++)
              |                         ^^^^^^^ read from an array or computed by a parallel loop
              |
              = help: pass the size as a parameter of the function
        "#]],
    );
}

#[test]
fn steps_of_a_schedule() {
    step_refused(
        "bind k -> x 32",
        expect![[r#"
        error[W212]: loop `k` is not marked parallel, and its iterations are not proved independent
         --> input.c:6:18
          |
        6 |     for (int k = 1; k < n; k++)
          |                  ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | bind k -> x 32
          | -------------- in this step
          |
          = note: two of its iterations touch the same element or variable
          = note: step 1: `bind k -> x block 32`
          = help: if you know that they are, write `#pragma omp parallel for` before it
    "#]],
    );
    step_refused(
        "bind i, l -> y, x 32x8",
        expect![[r#"
        error[W215]: loop `l` is not directly inside loop `i`
         --> input.c:7:22
          |
        3 |     for (int i = 0; i < n; i++)
          |                  - the outer loop
        ...
        7 |         for (int l = 0; l < m - 1; l++)
          |                      ^ not the only statement of the other loop
          |
         ::: input.sched:1:1
          |
        1 | bind i, l -> y, x 32x8
          | ---------------------- in this step
          |
          = note: step 1: `bind i, l -> y, x block 32x8`
    "#]],
    );
    step_refused(
        "bind i -> x 2048",
        expect![[r#"
        error[W217]: a block of 2048 threads along x is too large
         --> input.sched:1:1
          |
        1 | bind i -> x 2048
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: a block has at most 1024 threads, at most 64 of them along z, and at least one along each axis
          = note: step 1: `bind i -> x block 2048`
    "#]],
    );
    step_refused(
        "bind i -> z block 1x1x65",
        expect![[r#"
        error[W217]: a block of 65 threads along z is too large
         --> input.sched:1:1
          |
        1 | bind i -> z block 1x1x65
          | ^^^^^^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: a block has at most 1024 threads, at most 64 of them along z, and at least one along each axis
          = note: step 1: `bind i -> z block 1x1x65`
    "#]],
    );
    step_refused(
        "bind q -> x 32",
        expect![[r#"
        error[W231]: no loop is called `q`
         --> input.sched:1:1
          |
        1 | bind q -> x 32
          | ^^^^^^^^^^^^^^ in this step
          |
          = note: the loops are i, j, k, l
          = note: step 1: `bind q -> x block 32`
    "#]],
    );
    step_refused(
        "bind i -> x 32\nbind i -> x 64",
        expect![[r#"
        error[W222]: loop `i` is bound already
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ an earlier step bound this loop
          |
         ::: input.sched:2:1
          |
        2 | bind i -> x 64
          | -------------- in this step
          |
          = note: step 2: `bind i -> x block 64`
    "#]],
    );
    step_refused(
        "reduce s",
        expect![[r#"
        error[W220]: no marked loop has a reduction of `s`
         --> input.sched:1:1
          |
        1 | reduce s
          | ^^^^^^^^ in this step
          |
          = note: step 1: `reduce s block 256 grid 256`
          = help: write `reduction(+: s)` at the loop
    "#]],
    );
    step_refused(
        "reduce s block 100 grid 1",
        expect![[r#"
        error[W217]: a reduction by 100 threads does not work
         --> input.sched:1:1
          |
        1 | reduce s block 100 grid 1
          | ^^^^^^^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: the threads of a block combine their values in pairs: take a power of two from 32 to 1024
          = note: step 1: `reduce s block 100 grid 1`
    "#]],
    );
    step_refused(
        "accumulate a",
        expect![[r#"
        error[W218]: nothing to accumulate: no serial loop updates one element of `a`
         --> input.sched:1:1
          |
        1 | accumulate a
          | ^^^^^^^^^^^^ in this step
          |
          = note: step 1: `accumulate a`
          = help: the step needs a form like `for (k …) C[i][j] += …;` where `C[i][j]` does not change with `k`
    "#]],
    );
    step_refused(
        "interchange k",
        expect![[r#"
            error[W225]: cannot interchange `k` and `l`: two iterations that change places touch the same element
             --> input.c:8:23
              |
            8 |             a[k][l] = a[k - 1][l + 1];
              |             -------   ^^^^^^^^^^^^^^^ iteration (k = 2, l = 0) reads `a[k - 1][l + 1]`
              |             |
              |             iteration (k = 1, l = 1) writes `a[k][l]`
              |
             ::: input.sched:1:1
              |
            1 | interchange k
              | ------------- in this step
              |
              = note: step 1: `interchange k`
        "#]],
    );
    step_refused(
        "interchange l",
        expect![[r#"
        error[W215]: no loop is directly inside loop `l`
         --> input.c:7:22
          |
        7 |         for (int l = 0; l < m - 1; l++)
          |                      ^ its body is more or other than one loop
          |
         ::: input.sched:1:1
          |
        1 | interchange l
          | ------------- in this step
          |
          = note: step 1: `interchange l`
    "#]],
    );
    step_refused(
        "fold i",
        expect![[r#"
            error[W230]: this is not a step of a schedule
             --> input.sched:1:1
              |
            1 | fold i
              | ^^^^^^ a step starts with `precision`, `bind`, `reduce`, `indexing`, `specialise`, `interchange`, `collapse`, `rectangle`, `residue`, `wrap`, `guard`, `predicate`, `sink`, `scatter`, `gather`, `expand`, `scalarise`, `normalise`, `dp4a`, `distribute`, `fuse_loops`, `fuse_kernels`, `split`, `split_k`, `split_scan`, `stream_k`, `privatise`, `keep_rows`, `keep_sums`, `scan`, `tile`, `accumulate`, `carry`, `stage`, `constant`, `register_tile`, `vectorise`, `align`, `share`, `warp`, `pipeline`, `stream`, `double_buffer`, `rasterise`, `persist`, `stride`, `bounds`, `pitch` or `unroll`
              |
              = help: `warpsmith tune --list-rewrites` describes the steps
        "#]],
    );
    step_refused(
        "bind i -> w 32",
        expect![[r#"
            error[W230]: this is not a step of a schedule
             --> input.sched:1:11
              |
            1 | bind i -> w 32
              |           ^^^^ an axis, `x`, `y` or `z`, is wanted here
              |
              = help: for example `bind i, j -> y, x block 32x8`
        "#]],
    );
    step_refused(
        "bind i, j -> y, y 32",
        expect![[r#"
            error[W230]: this is not a step of a schedule
             --> input.sched:1:17
              |
            1 | bind i, j -> y, y 32
              |                 ^^^^ another axis is wanted here
              |
              = help: for example `bind i, j -> y, x block 32x8`
        "#]],
    );
}

#[test]
fn the_same_text_at_another_place_is_shown_there() {
    let text = "void f(int n, float a[n]) {\n    #pragma omp parallel for\n    for (int i = 1; i < n; i++)\n        a[i] = a[i - 1] + 1;\n}\n";
    let lower = format!("// One line more.\n{text}");
    let [first, second] = [text, lower.as_str()].map(|source| Input::new(source).refusal());
    assert!(first.contains("--> input.c:4:16"), "{first}");
    assert!(second.contains("--> input.c:5:16"), "{second}");
}
