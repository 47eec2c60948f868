//! Reals of another type: what becomes of a program, and what is refused.

mod common;

use common::{Input, check_program, refused_text};
use expect_test::{Expect, expect};
use warpsmith_ir::Scalar;
use warpsmith_opt::rewrite::precision;

/// Runs the program that a schedule makes against the function in its new types, and returns its text.
fn check(source: &str, schedule: &str, to: Scalar, sizes: &[&[(&'static str, i64)]]) -> String {
    let mut input = Input::new(source);
    let program = input.scheduled(schedule).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.precision, Some(to));
    input.module = precision::retyped(&input.module, to);
    for point in sizes {
        check_program(&input, &program, &point.iter().copied().collect());
    }
    warpsmith_emit::module_file(&program.module).unwrap()
}

const MIXED: &str = "
#include <math.h>
static double scaled(double x, float y) { return 0.1 * x + (double)y; }
double f(int n, const double a[n], float b[n], double c) {
    double total = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float t = (float)sqrt(fabs(a[i]) + 0.5) * 2.0f;
        b[i] = t + (float)scaled(a[i] * c, b[i]) + i;
    }
    #pragma omp parallel for reduction(max: total)
    for (int i = 0; i < n; i++) total = fmax(total, a[i] + b[i]);
    return total;
}
";

#[test]
fn everything_has_the_new_type() {
    let sizes: &[&[(&str, i64)]] =
        &[&[("n", 0), ("c", 3)], &[("n", 1), ("c", 0)], &[("n", 77), ("c", 2)]];
    let steps = "bind i -> x block 32\nreduce total block 32 grid 4";
    let text = check(MIXED, &format!("precision float\n{steps}"), Scalar::F32, sizes);
    assert!(!text.contains("double"), "{text}");
    assert!(text.contains("0.1f"), "{text}");
    let text = check(MIXED, &format!("precision double\n{steps}"), Scalar::F64, sizes);
    assert!(!text.contains("float"), "{text}");
    let text = check(MIXED, &format!("precision half\n{steps}"), Scalar::F16, sizes);
    assert!(text.contains("half *") && !text.contains("double"), "{text}");
}

#[test]
fn precision_goes_with_tiles() {
    let source = "
void gemm(int n, int m, int k, const double A[n][k], const double B[k][m], double C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0;
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        }
}
";
    let sizes: &[&[(&str, i64)]] =
        &[&[("n", 5), ("m", 7), ("k", 0)], &[("n", 17), ("m", 9), ("k", 13)]];
    let steps = "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 4\nstage B at l tile 4\nregister_tile i by 2";
    for (name, to) in [("half", Scalar::F16), ("float", Scalar::F32)] {
        for more in ["", "\nbounds peel", "\nbounds pad"] {
            check(source, &format!("precision {name}\n{steps}{more}"), to, sizes);
        }
    }
}

fn refused(body: &str, schedule: &str, expected: Expect) {
    let source = format!(
        "void f(int n, int a[n], float x[n]) {{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
    );
    expected.assert_eq(&refused_text(&source, schedule));
}

#[test]
fn what_cannot_have_another_type() {
    refused(
        "x[i] = 1e9f * a[i];",
        "precision half",
        expect![[r#"
        error[W271]: cannot compute in `half`: the number 1e9 is too large for it
         --> input.c:3:42
          |
        3 |     for (int i = 0; i < n; i++) { x[i] = 1e9f * a[i]; }
          |                                          ^^^^ here
          |
         ::: input.sched:1:1
          |
        1 | precision half
          | -------------- in this step
          |
          = note: step 1: `precision half`
    "#]],
    );
    refused(
        "x[i] = 1;",
        "bind i -> x block 32\nprecision half",
        expect![[r#"
        error[W271]: cannot compute in `half`: loops are bound already: take this step first
         --> input.sched:2:1
          |
        2 | precision half
          | ^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `precision half`
    "#]],
    );
    refused(
        "x[i] = 1;",
        "precision half\nprecision float",
        expect![[r#"
        error[W271]: cannot compute in `float`: an earlier step chose `half`
         --> input.sched:2:1
          |
        2 | precision float
          | ^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `precision float`
    "#]],
    );
    refused(
        "x[i] = 1;",
        "precision long double",
        expect![[r#"
        error[W230]: this is not a step of a schedule
         --> input.sched:1:11
          |
        1 | precision long double
          |           ^^^^^^^^^^^ `double`, `float` or `half` is wanted here; a device has no `long double`
          |
          = help: for example `precision float`
    "#]],
    );
    match Input::new("void f(int n, int a[n]) {\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) a[i] = 1;\n}\n").scheduled("precision float") {
        Ok(_) => panic!("taken"),
        Err(text) => expect![[r#"
            error[W271]: cannot compute in `float`: the function computes no reals
             --> input.sched:1:1
              |
            1 | precision float
              | ^^^^^^^^^^^^^^^ in this step
              |
              = note: step 1: `precision float`
        "#]].assert_eq(&text),
    }
}
