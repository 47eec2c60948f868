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
        expect![[""]],
    );
}

#[test]
fn a_diagonal_of_two_loops() {
    refused(
        "void f(int n, int m, float a[n][m]) {\n    #pragma omp parallel for\n    for (int i = 1; i < n; i++)\n        for (int j = 0; j < m - 1; j++)\n            a[i][j] = a[i-1][j+1];\n}\n",
        expect![[""]],
    );
}

#[test]
fn a_sum_over_a_marked_loop() {
    refused(
        "void f(int n, int m, int k, float C[n][m], const float A[n][k], const float B[k][m]) {\n    #pragma omp parallel for collapse(3)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            for (int l = 0; l < k; l++)\n                C[i][j] += A[i][l] * B[l][j];\n}\n",
        expect![[""]],
    );
}

#[test]
fn a_sum_without_its_clause() {
    refused(
        "float f(int n, const float x[n]) {\n    float s = 0;\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        s += x[i];\n    return s;\n}\n",
        expect![[""]],
    );
}

#[test]
fn a_shared_temporary() {
    refused(
        "void f(int n, float x[n]) {\n    float t;\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        t = x[i] * 2;\n        x[i] = t * t;\n    }\n}\n",
        expect![[""]],
    );
}

#[test]
fn a_loop_on_data_around_a_parallel_one() {
    refused(
        "void f(int n, float a[n]) {\n    float err = 1;\n    while (err > 0.1f) {\n        err = 0;\n        #pragma omp parallel for reduction(+: err)\n        for (int i = 0; i < n; i++) err += a[i];\n    }\n}\n",
        expect![[""]],
    );
}

#[test]
fn a_bound_on_data() {
    refused(
        "void f(int n, const int size[n], float a[n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < size[0]; i++)\n        a[i] = 0;\n}\n",
        expect![[""]],
    );
}

#[test]
fn steps_of_a_schedule() {
    step_refused("bind k -> x 32", expect![[""]]);
    step_refused("bind i, l -> y, x 32x8", expect![[""]]);
    step_refused("bind i -> x 2048", expect![[""]]);
    step_refused("bind i -> z block 1x1x65", expect![[""]]);
    step_refused("bind q -> x 32", expect![[""]]);
    step_refused("bind i -> x 32\nbind i -> x 64", expect![[""]]);
    step_refused("reduce s", expect![[""]]);
    step_refused("reduce s block 100 grid 1", expect![[""]]);
    step_refused("accumulate a", expect![[""]]);
    step_refused("interchange k", expect![[""]]);
    step_refused("interchange l", expect![[""]]);
    step_refused("fold i", expect![[""]]);
    step_refused("bind i -> w 32", expect![[""]]);
    step_refused("bind i, j -> y, y 32", expect![[""]]);
}
