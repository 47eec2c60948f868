//! Arrays that constant memory does not take.

use expect_test::expect;

use super::*;

const FILTER: &str = "\
float first(const float *p) { return p[0]; }
void f(int n, const int at[4], const float w[8], float v[8], const float h[8], const float a[n], const float big[20000], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
}
";

const FILTER2: &str = "\
void f(int n, float w[8], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] += w[3];
    w[3] = 0;
}
";

const FILTER3: &str = "\
void f(int n, const float w[8], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] += w[3];
}
";

const ROWS: &str = "\
void f(int m, const float w[4], float b[4][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < m; j++)
            b[i][j] += w[i];
}
";

#[test]
fn constants_that_are_no_arrays() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant n",
        expect![[r#"
        error[W267]: cannot read `n` from constant memory: the function has no array parameter of this name
         --> input.sched:2:1
          |
        2 | constant n
          | ^^^^^^^^^^ in this step
          |
          = note: step 2: `constant n`
    "#]],
    );
}

#[test]
fn constants_without_extents() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant a",
        expect![[r#"
        error[W267]: cannot read `a` from constant memory: its extents are not constant
         --> input.sched:2:1
          |
        2 | constant a
          | ^^^^^^^^^^ in this step
          |
          = note: step 2: `constant a`
    "#]],
    );
}

#[test]
fn constants_that_are_too_large() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant big",
        expect![[r#"
        error[W267]: cannot read `big` from constant memory: the constant arrays would take 80000 bytes, of which there are 65536
         --> input.sched:2:1
          |
        2 | constant big
          | ^^^^^^^^^^^^ in this step
          |
          = note: step 2: `constant big`
    "#]],
    );
}

#[test]
fn constants_that_are_written() {
    refused(
        FILTER2,
        "bind i -> x 32\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: the function may write it
         --> input.c:5:5
          |
        5 |     w[3] = 0;
          |     ^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant w
          | ---------- in this step
          |
          = note: step 2: `constant w`
    "#]],
    );
}

#[test]
fn constants_that_differ_in_a_warp() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: its subscript depends on `i`, which differs between the threads of a warp
         --> input.c:6:35
          |
        6 |             b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
          |                                   ^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant w
          | ---------- in this step
          |
          = note: step 2: `constant w`
    "#]],
    );
}

#[test]
fn constants_at_places_read_from_memory() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant v",
        expect![[r#"
        error[W267]: cannot read `v` from constant memory: its subscript is read from memory
         --> input.c:6:55
          |
        6 |             b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
          |                                                       ^^^^^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant v
          | ---------- in this step
          |
          = note: step 2: `constant v`
    "#]],
    );
}

#[test]
fn constants_that_are_passed_on() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant h",
        expect![[r#"
        error[W267]: cannot read `h` from constant memory: it is used otherwise than by its elements
         --> input.c:6:70
          |
        6 |             b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
          |                                                                      ^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant h
          | ---------- in this step
          |
          = note: step 2: `constant h`
    "#]],
    );
}

#[test]
fn constants_twice() {
    refused(
        FILTER3,
        "bind i -> x 32\nconstant w\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: it is there already
         --> input.sched:3:1
          |
        3 | constant w
          | ^^^^^^^^^^ in this step
          |
          = note: step 3: `constant w`
    "#]],
    );
}

#[test]
fn constants_before_the_loops_are_bound() {
    refused(
        FILTER3,
        "constant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: no bound nest reads it: bind its loops first
         --> input.sched:1:1
          |
        1 | constant w
          | ^^^^^^^^^^ in this step
          |
          = note: step 1: `constant w`
    "#]],
    );
}

#[test]
fn constants_that_differ_between_short_rows() {
    refused(
        ROWS,
        "bind i, j -> y, x 16x4\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: its subscript depends on `i`, which differs between the threads of a warp
         --> input.c:5:24
          |
        5 |             b[i][j] += w[i];
          |                        ^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant w
          | ---------- in this step
          |
          = note: step 2: `constant w`
    "#]],
    );
}
