//! Remainders that only wrap around the ends of a range.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> =
    &[&[("n", 0), ("m", 3)], &[("n", 1), ("m", 1)], &[("n", 2), ("m", 2)], &[("n", 7), ("m", 4)]];

fn row(body: &str) -> String {
    format!(
        "
void row(int n, int m, const int x[n], int y[n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        {body}
    }}
}}
"
    )
}

#[test]
fn neighbours_in_a_ring_are_compared() {
    let source = row("y[i] = x[(i + 1) % n] - x[(i + n - 1) % n];");
    let text = check(&source, "wrap i\nbind i -> x block 32", SIZES);
    has(&text, &["i + 1 >= n ? i - n + 1 : i + 1"]);
    assert!(!text.contains('%'), "{text}");
}

#[test]
fn sizes_of_memory_wrap_as_well() {
    let source = "
#include <stddef.h>
void row(size_t n, int m, const int x[n], int y[n]) {
    #pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        size_t before = i - 1;
        y[i] = x[(i + 1) % n] - x[(before + n) % n];
    }
}
";
    let text = check(source, "wrap i\nbind i -> x block 32", SIZES);
    assert!(!text.contains('%'), "{text}");
    let negative = source.replace("(before + n) % n", "before % n % n");
    let text =
        check(&negative.replace("size_t before = i - 1", "size_t before = i"), "wrap i", SIZES);
    assert!(!text.contains('%'), "{text}");
    let wrapped =
        source.replace("y[i] = x[(i + 1) % n] - x[(before + n) % n]", "y[i] = (int)(before % n)");
    assert!(refused_text(&wrapped, "wrap i").contains("no remainder"));
}

#[test]
fn of_a_window_both_ends_are_asked_for() {
    let source = "
void life(int n, int m, const int a[n][m], int b[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int c = 0;
            for (int p = -1; p <= 1; p++)
                for (int q = -1; q <= 1; q++) {
                    int r = i + p;
                    c += (p + 3 * q) * a[(r + n) % n][(j + q + m) % m];
                }
            b[i][j] = c;
        }
}
";
    let text = check(source, "wrap i\nbind i, j -> y, x block 8x4\nunroll p\nunroll q", SIZES);
    has(&text, &["? j - m + q : "]);
    assert!(!text.contains('%'), "{text}");
}

#[test]
fn shifts_may_come_from_a_table() {
    let source = "
static const int dx[5] = {0, 1, 0, -1, 0};
void pull(int n, int m, const int f[5][n], int g[5][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 5; k++) {
            int from = (i - dx[k] + n) % n;
            g[k][i] = f[k][from];
        }
}
";
    let text = check(source, "wrap i\nbind i -> x block 32", SIZES);
    assert!(!text.contains('%'), "{text}");
}

#[test]
fn what_is_less_than_the_divisor_stays() {
    for body in ["y[i] = x[i % n];", "y[i] = ((i - 1) % n + n) % n;", "y[i] = (-i) % n;"] {
        let text = check(&row(body), "wrap i\nbind i -> x block 32", SIZES);
        assert!(!text.contains('%'), "{text}");
    }
}

#[test]
fn what_may_wrap_twice_keeps_its_division() {
    let cases = [
        // Beyond three times the divisor, and negative.
        "y[i] = x[(i + 3 * n) % n];",
        "y[i] = (i - n - 1) % n;",
        // Another divisor.
        "if (m > 0) y[i] = x[i] + (i + 1) % m;",
        // What it depends on is not known.
        "y[i] = x[(x[i] + n) % n];",
        "for (int k = 0; k < m; k++) y[i] = (i + k) % n;",
        // The divisor, or a part of the dividend, changes.
        "int s = 1; for (int k = 0; k < 3; k++) { y[i] = (i + s) % n; s += n; }",
        "y[i] = (i + 5) % 7;",
        "y[i] = ((i - 2 * n + 1) % n + n) % n;",
    ];
    for body in cases {
        let said = refused_text(&row(body), "wrap i");
        assert!(said.contains("no remainder"), "{body}: {said}");
    }
    let unsigned = "
void row(unsigned n, const int x[n], int y[n]) {
    #pragma omp parallel for
    for (unsigned i = 0; i < n; i++)
        y[i] = x[(i + n - 1) % n];
}
";
    assert!(refused_text(unsigned, "wrap i").contains("no remainder"));
}

/// A value that was taken before its counter went on.
#[test]
fn values_are_those_of_their_own_iteration() {
    let source = row(
        "int j; for (j = 0; j < 2 * m; j++) y[i] = j; int a = j; for (j = 0; j < 1; j++) y[i] = (a + j + n) % n;",
    );
    let said = refused_text(&source, "wrap i");
    assert!(said.contains("no remainder"), "{said}");
}

#[test]
fn tables_and_ends_that_change_are_refused() {
    let table = "static const int d[5] = {0, 1, -1, 1, -1};";
    let moved = "int q = 0; int a = i + d[q]; q = x[i] > 5 ? 2 : 0; y[i] = x[(a - d[q] + n) % n];";
    let source = format!("{table}{}", row(moved));
    assert!(refused_text(&source, "wrap i").contains("no remainder"));
    let around = "
void f(int n, int m, const int x[n], int y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int s = 0, lo = 0;
        for (int t = lo; t < n; t++) {
            lo = x[i] > 5 ? n + 1 : 0;
            for (int r = 0; r < 1; r++)
                s += (t - lo) % (n - lo);
        }
        y[i] = s;
    }
}
";
    assert!(refused_text(around, "wrap r").contains("no remainder"));
}

/// Sides of a comparison that the source never computes may overflow.
#[test]
fn sums_of_large_numbers_are_left_alone() {
    let body = "int p = 2 * m, q = 3 * m; for (int t = p; t < p + n; t++) for (int u = q; u < q + n; u++) y[i] += x[((t - p) + (u - q)) % n];";
    assert!(refused_text(&row(body), "wrap i").contains("no remainder"));
}

/// A choice that always goes one way cannot be tested.
#[test]
fn what_always_wraps_asks_nothing() {
    let body = "for (int t = i; t < n; t++) y[i] += x[(t - i + n) % n];";
    let text = check(&row(body), "wrap i\nbind i -> x block 32", SIZES);
    has(&text, &["x[t - i]"]);
}
