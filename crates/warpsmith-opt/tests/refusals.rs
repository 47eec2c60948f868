//! What the user reads when something cannot be done, word for word.

mod common;

use common::{Input, refused_text};
use expect_test::{Expect, expect};

fn refused(source: &str, expected: Expect) {
    expected.assert_eq(&Input::new(source).refusal());
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
fn the_same_text_at_another_place_is_shown_there() {
    let text = "void f(int n, float a[n]) {\n    #pragma omp parallel for\n    for (int i = 1; i < n; i++)\n        a[i] = a[i - 1] + 1;\n}\n";
    let lower = format!("// One line more.\n{text}");
    let [first, second] = [text, lower.as_str()].map(|source| Input::new(source).refusal());
    assert!(first.contains("--> input.c:4:16"), "{first}");
    assert!(second.contains("--> input.c:5:16"), "{second}");
}

#[test]
fn a_word_that_is_no_step() {
    let text = refused_text(common::GEMM, "fold i");
    expect![[r#"
        error[W230]: this is not a step of a schedule
         --> input.sched:1:1
          |
        1 | fold i
          | ^^^^^^ a step starts with `precision`, `bind`, `reduce`, `indexing`, `specialise`, `interchange`, `collapse`, `rectangle`, `residue`, `wrap`, `guard`, `predicate`, `sink`, `scatter`, `gather`, `expand`, `scalarise`, `normalise`, `dp4a`, `distribute`, `fuse_loops`, `fuse_kernels`, `split`, `split_k`, `split_scan`, `stream_k`, `privatise`, `keep_rows`, `keep_sums`, `scan`, `tile`, `accumulate`, `carry`, `stage`, `constant`, `register_tile`, `vectorise`, `align`, `share`, `warp`, `pipeline`, `stream`, `double_buffer`, `rasterise`, `persist`, `stride`, `bounds`, `pitch` or `unroll`
          |
          = help: `warpsmith tune --list-rewrites` describes the steps
    "#]].assert_eq(&text);
}
