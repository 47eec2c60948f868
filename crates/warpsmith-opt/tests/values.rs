//! What integer arrays may hold, by what functions do with them.

mod common;

use common::Input;
use expect_test::{Expect, expect};
use warpsmith_ir::poly::Poly;
use warpsmith_opt::analysis::values;

fn check(source: &str, expected: Expect) {
    let input = Input::new(source);
    let function = input.module.function(input.function);
    let name = |v| function.var(v).name.clone();
    let list =
        |bounds: &[Poly]| bounds.iter().map(|p| p.display(&name)).collect::<Vec<_>>().join(" and ");
    let mut lines: Vec<String> = values::of_arrays(&input.module, function)
        .iter()
        .map(|((v, fields), found)| {
            let (low, high) = (list(&found.at_least), list(&found.at_most));
            let fraction = if found.fraction { ", a fraction" } else { "" };
            let fields: String = fields.iter().map(|f| format!(".{f}")).collect();
            format!("{}{fields}: {low} … {high}, {:?}{fraction}\n", name(*v), found.order)
        })
        .collect();
    lines.sort();
    expected.assert_eq(&lines.concat());
}

#[test]
fn rows_of_a_sparse_matrix_and_its_columns() {
    check(
        "void f(int n, int m, int nnz, const int rp[n + 1], const int ci[nnz], const float v[nnz],
                const float x[m], float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                float s = 0;
                for (int k = rp[i]; k < rp[i + 1]; k++)
                    s += v[k] * x[ci[k]];
                y[i] = s;
            }
        }",
        expect![[r#"
            ci: 0 … m - 1, Any
            rp: 0 … nnz, Rising
        "#]],
    );
}

#[test]
fn names_for_bounds_and_indices_are_followed() {
    check(
        "void f(int n, int m, int nnz, const int rp[n + 1], const int ci[nnz], const float x[m],
                float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                float s = 0;
                const int begin = rp[i], end = rp[i + 1];
                for (int k = begin; k < end; k++) {
                    int column = ci[k];
                    s += x[column];
                }
                y[i] = s;
            }
        }",
        expect![[r#"
            ci: 0 … m - 1, Any
            rp: 0 … nnz, Rising
        "#]],
    );
}

#[test]
fn what_a_marked_loop_writes_by_index_is_its_own() {
    check(
        "void f(int n, int m, const int p[n], const int row[n], const float x[n][m], float y[n][m],
                float z[n * m]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                y[p[i]][0] = x[n - 1 - row[i]][m - 1];
                for (int j = 0; j < m; j++)
                    z[p[i] * m + j] = 1.0f;
            }
        }",
        expect![[r#"
            p: 0 … n - 1, Distinct
            row: 0 … n - 1, Any
        "#]],
    );
}

#[test]
fn divisors_shifts_cases_and_short_loops() {
    check(
        "void f(int n, const int d[n], const unsigned s[n], const int kind[n], const int count[n],
                const float t[64], const float u[n], const int h[n], float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                float a = 100 / d[i] + (1 << s[i]);
                switch (kind[i]) { case 0: a += 1; break; case 3: a += 2; break; default: a = 0; }
                for (int j = 0; j < count[i]; j++) a += 0.5f;
                int bin = (int)(u[i] * 64);
                y[i] = a + t[bin] + t[h[i] / 4] + t[h[i] % 8];
            }
        }",
        expect![[r#"
            count: 0 … 16, Any
            d: 1 … , Any
            h: 0 … 255, Any
            kind: 0 … 4, Any
            s: 0 … 31, Any
            u:  … , Any, a fraction
        "#]],
    );
}

/// Little but roundings would be left of sums whose terms cancel.
#[test]
fn what_is_divided_by_does_not_cancel() {
    check(
        "void f(int n, int m, const float x[n][m], const float z[n][m], float y[n][m], float v[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                float s = 0, q = 0, p = 0;
                for (int j = 0; j < m; j++) { s += x[i][j]; q += z[i][j] * z[i][j]; p += z[i][j]; }
                float r = 1.0f / (s + 1e-6f);
                for (int j = 0; j < m; j++) y[i][j] = x[i][j] * r / q;
                v[i] = p / m;
            }
        }",
        expect![[r#"
            x:  … , Any, a fraction
        "#]],
    );
}

#[test]
fn a_condition_meets_values_that_it_keeps_away() {
    check(
        "void f(int n, const int a[n], const int b[n], const int c[n], const float x[n], float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                int at = a[i];
                if (at >= 0 && at < n) y[i] = x[at];
                y[i] += b[i] < n ? x[b[i]] : 0.0f;
                if (x[i] > 0) y[i] += x[c[i]];
            }
        }",
        expect![[r#"
            a: -49 … 49, Any
            c: 0 … n - 1, Any
        "#]],
    );
}

#[test]
fn targets_of_atomic_updates_are_subscripts() {
    check(
        "void f(int n, int k, int d, const int member[n], const float pts[n * d], float centers[k * d],
                int count[k]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                int m = member[i];
                #pragma omp atomic
                count[m]++;
                for (int j = 0; j < d; j++) {
                    #pragma omp atomic
                    centers[m * d + j] += pts[i * d + j];
                }
            }
        }",
        expect![[r#"
            member: 0 … k - 1, Any
        "#]],
    );
}

#[test]
fn both_ways_of_a_choice_are_subscripts() {
    check(
        "void f(int n, const int at[3 * n], const float x[2 * n + 6], float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                y[i] = 0.0f;
                for (int k = 0; k < 4; k++) {
                    int p = k == 0 ? i + 3 : at[i * 3 + k - 1];
                    y[i] += x[2 * p + 1];
                }
            }
        }",
        expect![[r#"
            at: 0 … n + 2, Any
        "#]],
    );
}

#[test]
fn fields_of_structures_are_indices_of_their_own() {
    check(
        "typedef struct { int n, other[3]; float w; } Box;
        void f(int n, const Box b[n], const float x[n], float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                y[i] = 0.0f;
                for (int k = 0; k < b[i].n; k++) y[i] += b[i].w * x[b[i].other[k]];
            }
        }",
        expect![[r#"
            b.0: 0 … 3, Any
            b.1: 0 … n - 1, Any
        "#]],
    );
}

#[test]
fn what_a_function_asks_of_the_arrays_it_is_handed() {
    check(
        "static float corner(const int *nodes, const float *x, int m) {
            int at = nodes[m - 1];
            return x[at];
        }
        void f(int n, const int nodes[8 * n], const float x[n], float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) y[i] = corner(&nodes[8 * i], x, 8);
        }",
        expect![[r#"
            nodes: 0 … , Any
        "#]],
    );
}

#[test]
fn rows_by_local_pointers() {
    check(
        "void f(int n, int m, const int y[n], const float x[n * m], float z[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                const float *row = x + i * m;
                int at = y[i];
                z[i] = row[at];
            }
        }",
        expect![[r#"
            y: 0 … m - 1, Any
        "#]],
    );
    check(
        "typedef unsigned long size_t;
        void f(size_t n, size_t m, const int y[n], const float x[n * m], float z[n]) {
            #pragma omp parallel for
            for (size_t i = 0; i < n; i++) {
                const float *row = x + i * m;
                z[i] = 0;
                z[i] += row[y[i]];
            }
        }",
        expect![[r#"
            y: 0 … m - 1, Any
        "#]],
    );
}

/// Both sides of a condition are met: small numbers above zero would be on one of them.
#[test]
fn what_elements_are_compared_with_lies_among_them() {
    check(
        "void f(int n, int m, const int flag[m], const unsigned char v[n][m], const int kind[n],
                const int p[n], const int small[n], float y[n]) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                int k = kind[i];
                if (k == -1 || p[i] < 0 || small[i] > 50) continue;
                float s = 0;
                for (int j = 0; j < m; j++) {
                    if (flag[j] <= 0 || v[i][j] >= 128) continue;
                    s += v[i][j];
                }
                y[p[i] < n ? p[i] : 0] = s;
            }
        }",
        expect![[r#"
            flag: -49 … 49, Any
            kind: -50 … 48, Any
            p: 0 … n - 1, Any
            v: 79 … 177, Any
        "#]],
    );
}
