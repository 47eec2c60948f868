//! Tiled nests: register tiles and stages, in many shapes, against the C function.

mod common;

use common::{GEMM, check_scheduled as check};

const PRODUCT_SIZES: &[&[(&str, i64)]] = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 8), ("m", 8), ("k", 4)],
    &[("n", 17), ("m", 9), ("k", 5)],
    &[("n", 33), ("m", 31), ("k", 0)],
    &[("n", 32), ("m", 64), ("k", 16)],
];

#[test]
fn products_in_tiles() {
    for schedule in [
        "bind i, j -> y, x block 8x4\nregister_tile i by 2",
        "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nregister_tile j by 2",
        "bind i, j -> y, x block 8x8\naccumulate C\nstage A at l tile 4\nstage B at l tile 4",
        "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 4 pad 1\nstage B at l tile 4\nregister_tile i by 4\nregister_tile j by 2\nunroll l",
        "accumulate C\nbind i, j -> y, x block 4x8\nregister_tile j by 3\nstage A at l tile 3 transposed\nstage B at l tile 3",
    ] {
        check(GEMM, schedule, PRODUCT_SIZES);
    }
}

const SQUARES: &[&[(&str, i64)]] = &[
    &[("n", 0), ("m", 5)],
    &[("n", 1), ("m", 1)],
    &[("n", 3), ("m", 3)],
    &[("n", 8), ("m", 16)],
    &[("n", 19), ("m", 35)],
];

#[test]
fn stencils_with_a_halo() {
    let five = "
void five(int n, int m, const float u[n][m], float v[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = 4 * u[i][j] - u[i - 1][j] - u[i + 1][j] - u[i][j - 1] - u[i][j + 1];
}
";
    for schedule in [
        "bind i, j -> y, x block 8x4\nstage u",
        "bind i, j -> y, x block 8x4\nstage u pad 1\nregister_tile i by 2",
        "bind i, j -> y, x block 8x4\nregister_tile j by 2\nregister_tile i by 3\nstage u transposed",
    ] {
        check(five, schedule, SQUARES);
    }
    let seven = "
void heat(int n, int m, const double u[n][m][m], double v[n][m][m]) {
    #pragma omp parallel for collapse(3)
    for (int k = 1; k < n - 1; k++)
        for (int i = 1; i <= m - 2; i++)
            for (int j = 2; j < m - 1; j++)
                v[k][i][j] = u[k][i][j] + u[k + 1][i][j] + u[k - 1][i][j] + u[k][i + 1][j]
                           + u[k][i - 1][j] + u[k][i][j + 1] + u[k][i][j - 2];
}
";
    for schedule in [
        "bind k, i, j -> z, y, x block 8x2x2\nstage u",
        "bind k, i, j -> z, y, x block 4x4x2\nregister_tile k by 2\nstage u",
    ] {
        check(
            seven,
            schedule,
            &[&[("n", 2), ("m", 2)], &[("n", 5), ("m", 7)], &[("n", 6), ("m", 11)]],
        );
    }
}

#[test]
fn convolutions_with_constant_filters() {
    let source = "
void convolve(int n, int m, const float in[n + 4][m + 2], const float f[5][3], float out[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0.0f;
            for (int a = 0; a < 5; a++)
                for (int b = 0; b < 3; b++)
                    sum += in[i + a][j + b] * f[a][b];
            out[i][j] = sum;
        }
}
";
    for schedule in [
        "bind i, j -> y, x block 8x4\nstage in",
        "bind i, j -> y, x block 8x4\nstage in\nstage f\nregister_tile i by 2\nunroll a\nunroll b",
        "bind i, j -> y, x block 8x4\nstage in at a tile 2\nregister_tile j by 2",
        "bind i, j -> y, x block 8x4\nstage in at a tile 1\nstage f at a tile 1",
    ] {
        check(source, schedule, SQUARES);
    }
    let dilated = "
void dilated(int n, int m, const int in[n + 8][2 * m + 6], const int f[3][3], int out[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int sum = 1;
            for (int a = 0; a < 3; a++)
                for (int b = -1; b < 2; b++)
                    sum += in[i + 4 * a][2 * j + 3 * b + 3] / (f[a][b + 1] + 1);
            out[i][j] = sum;
        }
}
";
    let schedule = "bind i, j -> y, x block 4x4\nregister_tile i by 2\nstage in\nstage f";
    check(dilated, schedule, SQUARES);
}

#[test]
fn one_and_three_loops_flat_arrays_and_falling_subscripts() {
    let flat = "
#pragma ws bounds(A: n, k) bounds(x: k) bounds(y: n)
void gemv(int n, int k, const float *A, const float *x, float *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int l = 0; l < k; l++)
            s += A[i * k + l] * x[l];
        y[i] = s;
    }
}
";
    let sizes: &[&[(&str, i64)]] = &[
        &[("n", 0), ("k", 1)],
        &[("n", 1), ("k", 0)],
        &[("n", 40), ("k", 9)],
        &[("n", 64), ("k", 8)],
    ];
    for schedule in [
        "bind i -> x block 32\nstage x at l tile 4",
        "bind i -> x block 32\nstage A at l tile 4 pad 1\nstage x at l tile 4\nregister_tile i by 2",
    ] {
        check(flat, schedule, sizes);
    }
    let backwards = "
void mirror(int n, int m, const float a[n + m], const float w[4], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int t = 0; t < 4; t++)
            s += a[n - 1 - i + t] * w[3 - t];
        b[i] = s;
    }
}
";
    let sizes: &[&[(&str, i64)]] =
        &[&[("n", 1), ("m", 3)], &[("n", 37), ("m", 4)], &[("n", 64), ("m", 3)]];
    for schedule in [
        "bind i -> x block 32\nstage a\nstage w",
        "bind i -> x block 32\nregister_tile i by 2\nstage a",
    ] {
        check(backwards, schedule, sizes);
    }
    let batched = "
void batched(int n, int m, int k, const double A[n][m][k], const double B[n][k][m], double C[n][m][m]) {
    #pragma omp parallel for collapse(3)
    for (int b = 0; b < n; b++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                double best = 1e30;
                for (int l = 0; l < k; l++) {
                    double sum = A[b][i][l] + B[b][l][j];
                    if (sum < best) best = sum;
                }
                C[b][i][j] = best;
            }
}
";
    let schedule = "bind b, i, j -> z, y, x block 4x4x1\nregister_tile i by 2\nstage A at l tile 4\nstage B at l tile 4";
    check(batched, schedule, PRODUCT_SIZES);
}

#[test]
fn what_iterations_write_before_they_jump_is_their_own() {
    let sizes: &[&[(&str, i64)]] =
        &[&[("n", 0), ("m", 3)], &[("n", 5), ("m", 1)], &[("n", 9), ("m", 37)]];
    let bodies = [
        // The jump of the data is rare, but what is counted before it belongs to the iteration all the same.
        "int c = 0; for (int i = 0; i < n; i++) { if (a[i][j] > 3) break; c = i; } o[j] = c;",
        "int c = 0; for (int i = 0; i < n; i++) { if (a[i][j] == 100) break; c++; } o[j] = c;",
        "int c = 0; for (int i = 0; i < n; i++) { if (a[i][j] < 2) continue; c += 2; } o[j] = c;",
        "int k = n, s = 0; do { k -= 2; if (k > 0) s += a[k][j]; } while (k > 0); o[j] = s + k;",
        "int c = 0, s = 0; if (n > 3) { c++; s = j; } o[j] = c + s;",
        "int c = 0, s = 1; switch (n & 3) { case 1: c++; s += j; break; default: c += 2; } o[j] = c * s;",
        "int best = 0; for (int i = 1; i < n; i++) if (a[i][j] > a[best][j]) best = i; o[j] = best;",
        "int c = 0; if (a[0][0] > 1) { c++; o[j] = c + j; } else o[j] = c;",
    ];
    for body in bodies {
        let source = format!(
            "void f(int n, int m, const int a[n + 1][m], int o[m]) {{
                #pragma omp parallel for
                for (int j = 0; j < m; j++) {{ {body} }}
            }}"
        );
        check(&source, "bind j -> x block 32\nregister_tile j by 2", sizes);
    }
    let both = "
void g(int n, int m, const int a[n], const int b[m], int o[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int c = 0, s = 0;
            if (i > 3) { c++; s += b[j]; }
            o[i][j] = c * 100 + s + a[i];
        }
}
";
    check(both, "bind i, j -> y, x block 8x4\nregister_tile i by 2\nregister_tile j by 2", sizes);
}

/// A sum over two loops of which neither has a constant number of iterations.
const TWO_SUMS: &str = "\
void two_sums(int n, int m, int b, int d, int e, const float X[n][d][e], const float Y[e][b][d][m], float Z[n][b][m]) {
    #pragma omp parallel for collapse(3)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < b; j++)
            for (int k = 0; k < m; k++) {
                float s = 0.0f;
                for (int p = 0; p < d; p++)
                    for (int q = 0; q < e; q++)
                        s += X[i][p][q] * Y[q][j][p][k];
                Z[i][j][k] = s;
            }
}
";

#[test]
fn strips_inside_of_another_sum() {
    let sizes: &[&[(&str, i64)]] = &[
        &[("n", 3), ("m", 0), ("b", 1), ("d", 2), ("e", 2)],
        &[("n", 1), ("m", 1), ("b", 1), ("d", 1), ("e", 1)],
        &[("n", 5), ("m", 9), ("b", 2), ("d", 3), ("e", 7)],
        &[("n", 17), ("m", 33), ("b", 3), ("d", 0), ("e", 8)],
        &[("n", 9), ("m", 20), ("b", 1), ("d", 2), ("e", 20)],
        &[("n", 32), ("m", 16), ("b", 2), ("d", 2), ("e", 16)],
    ];
    let tiles = "bind i, j, k -> y, z, x block 8x4x1\nregister_tile i by 4\nregister_tile k by 2\nstage X at q tile 8 pad 4 transposed\nstage Y at q tile 8\nunroll q";
    for more in
        ["", "\npipeline q stages 2", "\npipeline q stages 2\ndouble_buffer q", "\nbounds pad"]
    {
        check(TWO_SUMS, &format!("{tiles}{more}"), sizes);
    }
}

/// Rows whose ends are read from memory are gone through once for all columns of a thread, by threads that have a row.
#[test]
fn rows_of_a_sparse_matrix_meet_several_columns_at_a_time() {
    let source = "
void rows(int n, int m, int k, const int start[n + 1], const int at[m], const float x[m], const float b[m][k], float c[n][k]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            float s = 0.0f;
            for (int e = start[i]; e < start[i + 1]; e++)
                s += x[e] * b[e][j];
            c[i][j] = s;
        }
}
";
    let sizes: &[&[(&str, i64)]] = &[
        &[("n", 0), ("m", 1), ("k", 3)],
        &[("n", 5), ("m", 40), ("k", 7)],
        &[("n", 8), ("m", 64), ("k", 16)],
    ];
    let tiles = "bind i, j -> y, x block 4x4\nregister_tile j by 2";
    let text = check(source, tiles, sizes);
    let once = [
        "if (i_thread < i_left) {",
        "for (int e = start[i]; e < start[i + 1]; ++e) {",
        "const float x_own = x[e];",
        "s[tj] += x_own * b[",
    ];
    let mut rest = text.as_str();
    for piece in once {
        let found = rest.find(piece);
        rest = &rest[found.unwrap_or_else(|| panic!("no `{piece}` in\n{text}"))..];
    }
    assert_eq!(text.matches("i_thread < i_left").count(), 2, "asked once around the row:\n{text}");
    // Copies of the ends are read there, too.
    let text = check(source, &format!("{tiles}\nstage start"), sizes);
    assert!(text.contains("e < start_shared[i_thread + 1]"), "{text}");
    check(source, "bind i, j -> y, x block 4x4\nregister_tile i by 2\nregister_tile j by 2", sizes);
    let wide = "bind i, j -> y, x block 2x4\nspecialise k%4=0, b%16=0, c%16=0\nregister_tile j by 4\nvectorise j by 4";
    check(source, wide, sizes);
}
