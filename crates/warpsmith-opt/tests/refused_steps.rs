//! What the user reads when a step of a schedule cannot be taken, word for word.

mod common;

use common::Input;
use expect_test::{Expect, expect};

#[track_caller]
fn refused(source: &str, schedule: &str, expected: Expect) {
    match Input::new(source).scheduled(schedule) {
        Ok(_) => panic!("`{schedule}` is taken"),
        Err(text) => expected.assert_eq(&text),
    }
}

const PLAIN: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            b[i] += a[i] * k;
}
";

const GEMM: &str = "\
void f(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
}
";

const SUM: &str = "\
float f(int n, const float a[n]) {
    float s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
";

const STEP: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += 2)
        for (int k = 0; k < n; k += 3)
            b[i] += a[k];
}
";

const LAST: &str = "\
int f(int n, const int a[n], int b[n]) {
    int t = 0;
    #pragma omp parallel for lastprivate(t)
    for (int i = 0; i < n; i++) {
        t = a[i];
        b[i] = t * t;
    }
    return t;
}
";

const LASTSTEP: &str = "\
int f(int n, const int a[n], int b[n]) {
    int t = 0;
    #pragma omp parallel for lastprivate(t)
    for (int i = 0; i < n; i += 2) {
        t = a[i];
        b[i] = t * t;
    }
    return t;
}
";

const EARLY: &str = "\
void f(int n, const int a[n], int b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (a[i] < 0)
            continue;
        b[i] = a[i];
    }
}
";

const STENCIL: &str = "\
void f(int n, const float a[n + 2], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = a[i] + a[i + 2];
}
";

const GATHER: &str = "\
void f(int n, const int at[n], const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = a[at[i]];
}
";

const CONDITION: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            b[i] = a[i];
}
";

const APART: &str = "\
void f(int n, const float a[2 * n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = a[i] + a[2 * i];
}
";

const WHILE: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            if (b[i] > 9)
                break;
            b[i] += a[k];
        }
}
";

const AFTER: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k;
        for (k = 0; k < n; k++)
            b[i] += a[k];
        b[i] += k;
    }
}
";

const BOUNDS: &str = "\
void f(int n, const int a[n], int b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < a[i]; k++)
            b[i] += k;
}
";

const DIAGONAL: &str = "\
void f(int n, int m, float a[n][m]) {
    for (int k = 1; k < n; k++)
        for (int l = 0; l < m - 1; l++)
            a[k][l] = a[k - 1][l + 1];
}
";

const UNKNOWN: &str = "\
void f(int n, int s, float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += s)
        b[i] = i;
}
";

const COUNTER: &str = "\
int f(int n, float b[n]) {
    int i;
    #pragma omp parallel for
    for (i = 0; i < n; i += 2)
        b[i] = i;
    return i;
}
";

const CHANGED: &str = "\
void f(int n, float b[n]) {
    n = n / 2;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = i;
}
";

#[test]
fn tiles_of_loops_that_are_not_bound() {
    refused(PLAIN, "register_tile i by 2", expect![[""]]);
}

#[test]
fn tiles_of_too_many_iterations() {
    refused(PLAIN, "bind i -> x 32\nregister_tile i by 65", expect![[""]]);
}

#[test]
fn tiles_of_too_many_iterations_together() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nregister_tile i by 32\nregister_tile j by 16",
        expect![[""]],
    );
}

#[test]
fn tiles_of_reductions() {
    refused(SUM, "reduce s\nregister_tile i by 2", expect![[""]]);
}

#[test]
fn tiles_of_loops_with_a_step() {
    refused(STEP, "bind i -> x 32\nregister_tile i by 2", expect![[""]]);
}

#[test]
fn tiles_inside_a_serial_parallel_loop() {
    refused(GEMM, "bind j -> x 32\nregister_tile j by 2", expect![[""]]);
}

#[test]
fn tiles_with_last_values() {
    refused(LAST, "bind i -> x 32\nregister_tile i by 2", expect![[""]]);
}

#[test]
fn tiles_of_iterations_that_end_early() {
    refused(EARLY, "bind i -> x 32\nregister_tile i by 2", expect![[""]]);
}

#[test]
fn tiles_that_make_the_copies_too_large() {
    refused(
        GEMM,
        "bind i, j -> y, x 16x16\nstage A at l tile 64\nstage B at l tile 64\nregister_tile i by 16",
        expect![[""]],
    );
}

#[test]
fn unrolled_threads() {
    refused(PLAIN, "bind i -> x 32\nunroll i", expect![[""]]);
}

#[test]
fn unrolled_too_often() {
    refused(PLAIN, "unroll k by 2000", expect![[""]]);
}

#[test]
fn stages_of_no_array() {
    refused(PLAIN, "bind i -> x 32\nstage n", expect![[""]]);
}

#[test]
fn stages_before_the_loops_are_bound() {
    refused(PLAIN, "stage a", expect![[""]]);
}

#[test]
fn stages_of_what_is_written() {
    refused(PLAIN, "bind i -> x 32\nstage b", expect![[""]]);
}

#[test]
fn stages_twice() {
    refused(STENCIL, "bind i -> x 32\nstage a\nstage a", expect![[""]]);
}

#[test]
fn stages_of_two_lengths() {
    refused(GEMM, "bind i, j -> y, x 8x8\nstage A at l tile 4\nstage B at l tile 8", expect![[""]]);
}

#[test]
fn stages_at_a_shared_loop() {
    refused(GEMM, "bind i, j -> y, x 8x8\nstage A at i tile 4", expect![[""]]);
}

#[test]
fn stages_of_long_strips() {
    refused(GEMM, "bind i, j -> y, x 8x8\nstage A at l tile 4096", expect![[""]]);
}

#[test]
fn stages_that_are_too_large() {
    refused(GEMM, "bind i, j -> y, x 16x16\nstage A at l tile 1024", expect![[""]]);
}

#[test]
fn stages_of_computed_subscripts() {
    refused(GATHER, "bind i -> x 32\nstage a", expect![[""]]);
}

#[test]
fn stages_under_a_condition() {
    refused(CONDITION, "bind i -> x 32\nstage a", expect![[""]]);
}

#[test]
fn stages_of_reads_apart() {
    refused(APART, "bind i -> x 32\nstage a", expect![[""]]);
}

#[test]
fn stages_of_long_loops() {
    refused(GEMM, "bind i, j -> y, x 8x8\nstage A", expect![[""]]);
}

#[test]
fn strips_that_end_early() {
    refused(WHILE, "bind i -> x 32\nstage a at k tile 4", expect![[""]]);
}

#[test]
fn strips_of_a_shared_loop() {
    refused(PLAIN, "bind i -> x 32\nsplit i by 4", expect![[""]]);
}

#[test]
fn strips_of_nothing() {
    refused(PLAIN, "split k by 0", expect![[""]]);
}

#[test]
fn strips_of_a_loop_with_a_step() {
    refused(STEP, "split k by 4", expect![[""]]);
}

#[test]
fn strips_of_a_loop_that_ends_early() {
    refused(WHILE, "split k by 4", expect![[""]]);
}

#[test]
fn strips_whose_counter_is_read() {
    refused(AFTER, "split k by 4", expect![[""]]);
}

#[test]
fn strips_with_changing_bounds() {
    refused(BOUNDS, "split k by 4", expect![[""]]);
}

#[test]
fn strips_of_what_is_staged() {
    refused(GEMM, "bind i, j -> y, x 8x8\nstage A at l tile 4\nsplit l by 4", expect![[""]]);
}

#[test]
fn tiles_of_loops_apart() {
    refused(PLAIN, "tile k, i by 4x4", expect![[""]]);
}

#[test]
fn tiles_of_a_diagonal() {
    refused(DIAGONAL, "tile k, l by 4x4", expect![[""]]);
}

#[test]
fn indexing_before_binding() {
    refused(STEP, "indexing i sparse", expect![[""]]);
}

#[test]
fn indexing_one_by_one() {
    refused(PLAIN, "bind i -> x 32\nindexing i sparse", expect![[""]]);
}

#[test]
fn indexing_unknown_steps() {
    refused(UNKNOWN, "bind i -> x 32\nindexing i dense", expect![[""]]);
}

#[test]
fn indexing_with_a_last_value() {
    refused(LASTSTEP, "bind i -> x 32\nindexing i sparse", expect![[""]]);
}

#[test]
fn indexing_with_a_counter_read_later() {
    refused(COUNTER, "bind i -> x 32\nindexing i sparse", expect![[""]]);
}

#[test]
fn indexing_of_something_else() {
    refused(STEP, "bind i -> x 32\nindexing i thick", expect![[""]]);
}

#[test]
fn sizes_that_are_no_parameters() {
    refused(PLAIN, "bind i -> x 32\nspecialise m=4", expect![[""]]);
}

#[test]
fn sizes_that_are_no_integers() {
    refused(PLAIN, "bind i -> x 32\nspecialise a=4", expect![[""]]);
}

#[test]
fn sizes_that_change() {
    refused(CHANGED, "bind i -> x 32\nspecialise n=4", expect![[""]]);
}

#[test]
fn sizes_named_twice() {
    refused(PLAIN, "bind i -> x 32\nspecialise n=4, n%2=0", expect![[""]]);
}

#[test]
fn sizes_beyond_the_type() {
    refused(PLAIN, "bind i -> x 32\nspecialise n=4000000000", expect![[""]]);
}

#[test]
fn multiples_of_zero() {
    refused(PLAIN, "bind i -> x 32\nspecialise n%0=0", expect![[""]]);
}

#[test]
fn sizes_before_the_loops_are_bound() {
    refused(PLAIN, "specialise n=4", expect![[""]]);
}

#[test]
fn sizes_without_a_number() {
    refused(PLAIN, "specialise n<4", expect![[""]]);
}
