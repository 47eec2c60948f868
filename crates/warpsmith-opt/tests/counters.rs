//! What the user reads about counters of loops and loops without a mark, word for word: what `refusals.rs` leaves out.

mod common;

use common::Input;
use expect_test::{Expect, expect};

/// The message of `tune` without a schedule.
fn refused(source: &str, expected: Expect) {
    expected.assert_eq(&Input::new(source).refusal());
}

/// What a translation says beside its program.
fn noted(source: &str, expected: Expect) {
    let input = Input::new(source);
    let (program, _) = input.translate();
    expected.assert_eq(&common::render(&program.notes, &input.sources));
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
