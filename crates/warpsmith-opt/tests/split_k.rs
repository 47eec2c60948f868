//! Sums that are split across blocks: what becomes of a program, and that it still computes the same.

mod common;

use common::{
    Input, Points as Sizes, SCALED_GEMM as GEMM, check_scheduled as check, has, refused_text,
};
use expect_test::{Expect, expect};

const PRODUCTS: Sizes<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 17), ("m", 9), ("k", 5)],
    &[("n", 9), ("m", 17), ("k", 0)],
    &[("n", 16), ("m", 32), ("k", 64)],
    &[("n", 5), ("m", 6), ("k", 37)],
];

const BOUND: &str =
    "split_k l by 4\nbind l_part, i, j -> z, y, x block 8x4x1\nbind i#2, j#2 -> y, x block 8x4\n";

#[test]
fn a_product_in_parts() {
    let text = check(GEMM, BOUND, PRODUCTS);
    has(
        &text,
        &[
            "C_parts[((size_t)l_part * n + i) * m + j] = 0.0f;",
            "for (int l = l_part * l_length;",
            "l < (l_part == 3 || (l_part + 1) * l_length > k ? k",
            ": (l_part + 1) * l_length);",
            "C[i * m + j] = 2.0f * C[i * m + j];",
            "for (int l_part = 0; l_part < 4; ++l_part)",
            "C[i * m + j] += C_parts[((size_t)l_part * n + i) * m + j]",
            "const int l_length = k / 4 + (k % 4 > 0 ? 1 : 0);",
        ],
    );
}

#[test]
fn parts_are_staged_and_tiled() {
    let steps = "accumulate C_parts\nstage A at l tile 8\nstage B at l tile 8\nregister_tile i by 2\nregister_tile j by 2\naccumulate C\nunroll l_part#2";
    let text = check(GEMM, &format!("{BOUND}{steps}"), PRODUCTS);
    has(&text, &["A_shared", "acc", "C_parts"]);
    check(GEMM, &format!("{BOUND}accumulate C_parts\nregister_tile i by 4\nbounds peel"), PRODUCTS);
}

#[test]
fn a_local_sum_with_what_it_needs() {
    let source = "
void f(int n, int m, const double a[n][m], const double s[n], double y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double scale = s[i];
        double twice = 2 * scale, sum = 1;
        for (int k = 2; k <= m - 1; k++) {
            double t = a[i][k] * twice;
            if (t > 1) sum -= t;
        }
        y[i] = sum + scale;
    }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 9)],
        &[("n", 3), ("m", 2)],
        &[("n", 33), ("m", 3)],
        &[("n", 40), ("m", 50)],
    ];
    let text = check(
        source,
        "split_k k by 3\nbind k_part, i -> y, x block 32x1\nbind i#2 -> x block 32",
        sizes,
    );
    has(&text, &["double scale = s[i];", "double twice", "sum_parts", "y[i] = sum + scale;"]);
}

#[test]
fn least_sums_and_integers_are_exact() {
    let source = "
#include <math.h>
void f(int n, int m, const float d[n][m], const float e[m][n], float least[n][n], unsigned bits[n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float best = 1e9f;
            for (int k = 0; k < m; k++)
                best = fminf(best, d[i][k] + e[k][j]);
            least[i][j] = best;
        }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            bits[i] ^= (unsigned)(d[i][k] * 3.0f + 20.0f);
}
";
    let schedule = "split_k k by 5\nsplit_k k#2 by 2\nbind k_part, i, j -> z, y, x block 8x4x1\nbind i#2, j#2 -> y, x block 8x4\nbind k_part2, i#3 -> y, x block 32x1\nbind i#4 -> x block 32";
    let mut input = Input::new(source);
    let program = input.scheduled(schedule).unwrap_or_else(|e| panic!("{e}"));
    assert!(program.reassociated.is_empty(), "nothing depends on an order here");
    check(
        source,
        schedule,
        &[&[("n", 0), ("m", 1)], &[("n", 9), ("m", 13)], &[("n", 3), ("m", 2)]],
    );
    let program = Input::new(GEMM).scheduled(BOUND).unwrap();
    let launcher = program.module.function(program.launcher);
    let names: Vec<&str> =
        program.reassociated.iter().map(|v| launcher.var(*v).name.as_str()).collect();
    assert_eq!(names, ["C"]);
}

#[test]
fn fewer_iterations_than_parts() {
    let source = "
void f(int n, unsigned m, const int a[n][m + 1], int y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (unsigned k = 0; k <= m; k++)
            y[i] += a[i][k];
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 3), ("m", 0)],
        &[("n", 3), ("m", 1)],
        &[("n", 3), ("m", 6)],
        &[("n", 3), ("m", 7)],
    ];
    check(
        source,
        "split_k k by 8\nbind k_part, i -> y, x block 32x1\nbind i#2 -> x block 32",
        sizes,
    );
    let signed = source.replace("unsigned", "int");
    check(
        &signed,
        "split_k k by 8\nbind k_part, i -> y, x block 32x1\nbind i#2 -> x block 32",
        sizes,
    );
}

const TWO_SUMS: &str = "
void moments(int n, int m, const float a[n][m], float x[n], int y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int k = 1; k < m; k++) {
            const float t = a[i][k] - 0.5f;
            s += t * t;
            y[i] = t > 0.0f ? y[i] + 1 : y[i];
        }
        x[i] = s / m;
    }
}
";

#[test]
fn several_sums_of_one_loop_are_split_together() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3)],
        &[("n", 3), ("m", 0)],
        &[("n", 3), ("m", 1)],
        &[("n", 3), ("m", 2)],
        &[("n", 33), ("m", 5)],
        &[("n", 4), ("m", 9)],
        &[("n", 4), ("m", 41)],
    ];
    let text = check(
        &TWO_SUMS.replace("t > 0.0f ? y[i] + 1 : y[i]", "y[i] + (t > 0.0f)"),
        "split_k k by 4\nbind k_part, i -> y, x block 8x1\naccumulate s_parts\naccumulate y_parts\nbind i#2 -> x block 32",
        sizes,
    );
    has(&text, &["s += s_parts[", "y[i] += y_parts["]);
}

/// A part has as many iterations as the others: with 10 of 8 parts, five have two each, and none has those that are left over.
#[test]
fn parts_are_even() {
    let text = check(
        GEMM,
        "split_k l by 8\nbind l_part, i, j -> z, y, x block 8x4x1\nbind i#2, j#2 -> y, x block 8x4\n",
        PRODUCTS,
    );
    has(&text, &["const int l_length = k / 8 + (k % 8 > 0 ? 1 : 0);"]);
}

/// Parts behind the end would begin at no number of the counter's type; a loop without iterations has no 2³² of them.
#[test]
fn parts_begin_at_numbers_that_there_are() {
    let high = "
void high(int n, const float a[n][40], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 2147483600; k < 2147483640; k++) s[i] += a[i][k - 2147483600];
}
";
    let steps = "split_k k by 32\nbind k_part, i -> y, x block 8x1\nbind i#2 -> x block 32";
    check(high, steps, &[&[("n", 0)], &[("n", 9)]]);
    let none = "
void none(int n, unsigned m, const float a[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (unsigned k = 1; k < m; k++) s[i] += a[i][k];
}
";
    let steps = "split_k k by 4\nbind k_part, i -> y, x block 8x1\nbind i#2 -> x block 32";
    check(none, steps, &[&[("n", 3), ("m", 0)], &[("n", 9), ("m", 1)], &[("n", 9), ("m", 5)]]);
}

/// The first line of the message about a schedule.
fn message(body: &str, schedule: &str) -> String {
    let source = format!(
        "void f(int n, int m, const float a[n][m], float x[n], float y[n]) {{\n{body}\n}}\n"
    );
    refused_text(&source, schedule).lines().next().unwrap_or_default().to_string()
}

fn refused(body: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&message(body, schedule));
}

fn nest(inner: &str) -> String {
    format!("    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {{\n{inner}\n    }}")
}

/// What a nest has inside, and why its loop over `k` adds up no sum that can be split.
const NO_SUMS: &[(&str, &str)] = &[
    ("for (int k = 0; k < m; k++) x[k] = a[i][k];", "it adds to another `x[k]` in every iteration"),
    (
        "for (int k = 0; k < m; k++) y[i] = a[i][k] - y[i];",
        "`y[i]` is not combined with something by one operation",
    ),
    (
        "float s = 0, t = 0; for (int k = 0; k < m; k++) { s += a[i][k]; t += s; } x[i] = s; y[i] = t;",
        "it uses the value that `s` has so far",
    ),
    (
        "for (int k = 0; k < m; k++) { y[i] += a[i][k]; y[i] -= 1; }",
        "it uses the value that `y[i]` has so far",
    ),
    (
        "for (int k = 0; k < m; k++) { y[i] += a[i][k]; y[k] -= 1; }",
        "it uses the value that `y[i]` has so far",
    ),
    (
        "for (int k = 0; k < m; k++) { y[i] += a[i][k]; if (y[i] > 3) y[i] += 2; }",
        "it uses the value that `y[i]` has so far",
    ),
    (
        "y[i] = y[i] > 3 ? 3 : y[i]; const float c = y[i]; for (int k = 0; k < m; k++) { x[i] += a[i][k] * c; y[i] += 1; }",
        "its nest writes `y`, which it reads",
    ),
    (
        "for (int k = 0; k < m; k++) y[i] += y[0] * a[i][k];",
        "it uses the value that `y[i]` has so far",
    ),
    ("for (int k = 0; k < m; k++) { float t = a[i][k]; t += 1; }", "it adds to nothing"),
    (
        "for (int k = 0; k < m; k++) { y[i] += a[i][k]; if (a[i][k] > 3) break; }",
        "it may end early",
    ),
    ("int k; for (k = 0; k < m; k++) y[i] += a[i][k]; x[i] = k;", "its counter is read after it"),
    (
        "x[i] = 1; for (int k = 0; k < m; k++) y[i] += a[i][k] * x[i];",
        "its nest writes `x`, which it reads",
    ),
    (
        "float t = 1; t += x[i]; for (int k = 0; k < m; k++) y[i] += a[i][k] * t;",
        "`t` is computed before it by more than a declaration",
    ),
    ("for (int k = 0; k < m; k += 2) y[i] += a[i][k];", "loop `k` does not count up by one"),
    ("for (int k = 0; k < i; k++) y[i] += a[i][k];", "the bounds of loop `k` depend on `i`"),
    (
        "int e = m / 2; for (int k = 0; k < e; k++) y[i] += a[i][k];",
        "the bounds of loop `k` depend on `i`",
    ),
    (
        "if (n > 3) { for (int k = 0; k < m; k++) y[i] += a[i][k]; }",
        "it is not directly inside a nest of parallel loops",
    ),
];

#[test]
fn what_is_no_sum() {
    for (inner, why) in NO_SUMS {
        let said = message(&nest(inner), "split_k k by 4");
        assert!(said.ends_with(&format!(": {why}")), "{inner}\n{said}");
    }
}

#[test]
fn loops_that_are_not_ready() {
    let sum = nest("for (int k = 0; k < m; k++) y[i] += a[i][k];");
    refused(
        &sum,
        "split_k k by 1",
        expect!["error[W265]: cannot split the sum of loop `k`: the parts must be 2 to 1024"],
    );
    refused(
        &sum,
        "split_k i by 4",
        expect![
            "error[W263]: loop `i` is shared by threads: only a serial loop can be cut or unrolled"
        ],
    );
    refused(
        &sum,
        "bind i -> x block 32\nsplit_k k by 4",
        expect!["error[W222]: loop `i` is bound already"],
    );
    refused(&sum, "split_k q by 4", expect!["error[W231]: no loop is called `q`"]);
    refused(
        "for (int k = 0; k < m; k++) y[0] += a[0][k];\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] = 0;",
        "split_k k by 4",
        expect!["error[W265]: cannot split the sum of loop `k`: it is not inside a parallel loop"],
    );
    refused(
        "float s = 0;\n#pragma omp parallel for reduction(+: s)\nfor (int i = 0; i < n; i++) for (int k = 0; k < m; k++) s += a[i][k];\ny[0] = s;",
        "split_k k by 4",
        expect!["error[W224]: loop `i` reduces `s`"],
    );
}

/// What runs on one thread because no step binds it is no statement that needs values of the device.
#[test]
fn nests_that_nothing_binds_are_said_to_be_such() {
    let schedule = "split_k l by 8\nbind i#2, j#2 -> y, x block 8x4\n";
    let text = check(GEMM, schedule, PRODUCTS);
    has(&text, &["// nothing binds its loops to threads: one runs them all"]);
}
