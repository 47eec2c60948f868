//! Arrays in whole tiles and rows at multiples: what becomes of a program, and that it still computes the same.

mod common;

use common::{GEMM, Input, Points as Sizes, check_scheduled as check, has, refused_text};
use expect_test::{Expect, expect};

const PRODUCTS: Sizes<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 17), ("m", 9), ("k", 5)],
    &[("n", 9), ("m", 17), ("k", 0)],
    &[("n", 16), ("m", 32), ("k", 64)],
    &[("n", 5), ("m", 6), ("k", 37)],
];

const TILED: &str = "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 8\nstage B at l tile 8\nregister_tile i by 2\n";

#[test]
fn a_product_in_whole_tiles_asks_nothing() {
    let text = check(GEMM, &format!("{TILED}bounds pad"), PRODUCTS);
    has(&text, &["A_padded", "B_padded", "C_padded"]);
    let kernel = text.split("__global__").find(|k| k.contains("A_padded_shared")).unwrap();
    assert!(!kernel.contains("if ("), "no guards:\n{kernel}");
    assert!(!kernel.contains(" ? "), "no guarded loads:\n{kernel}");
    has(&text, &["const int n_padded = (n + 7) / 8 * 8;"]);
    // C is set entirely: only A and B are copied before.
    assert_eq!(text.matches("__global__").count(), 4, "{text}");
}

#[test]
fn square_products_share_one_length() {
    let square =
        GEMM.replace("int n, int m, int k", "int n").replace("[k]", "[n]").replace("[m]", "[n]");
    let square = square.replace("j < m", "j < n").replace("l < k", "l < n");
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 23)], &[("n", 24)], &[("n", 47)]];
    let schedule = "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 6\nstage B at l tile 6\nbounds pad";
    let text = check(&square, schedule, sizes);
    has(&text, &["const int n_padded = (n + 23) / 24 * 24;"]);
}

#[test]
fn what_is_added_to_keeps_its_guards_along_the_sum() {
    // Beginning with -0, zeros that are added would change the result.
    let source = GEMM.replace("            C[i][j] = 0.0f;\n", "");
    let text = check(&source, &format!("{TILED}bounds pad"), PRODUCTS);
    has(&text, &["l_left"]);
    assert!(!text.contains("k_padded"), "{text}");
    // C is read, so that it is copied before as well.
    assert_eq!(text.matches("__global__").count(), 5, "{text}");
    // Integers have no minus zero.
    let whole = source.replace("float", "int");
    let text = check(&whole, &format!("{TILED}bounds pad"), PRODUCTS);
    has(&text, &["k_padded"]);
}

/// Which elements a copy has is asked of its extents where a read stands under a condition.
#[test]
fn copies_with_rows_apart_are_staged_under_conditions() {
    let source = "
void most(int n, int m, int k, const unsigned A[k][n], const unsigned B[k][m], unsigned C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0u;
            for (int l = 0; l < k; l++)
                C[i][j] = C[i][j] > A[l][i] + B[l][j] ? C[i][j] : A[l][i] + B[l][j];
        }
}";
    let schedule = "bind i, j -> x, y block 8x4\npitch B 32\nstage B_pitched at l tile 8 turned";
    let text = check(source, schedule, PRODUCTS);
    has(&text, &["number < (long long)k * B_pitch"]);
}

#[test]
fn convolutions_and_stencils_have_room_for_their_halo() {
    let convolution = "
void conv(int n, int m, const float u[n + 4][m + 2], const float f[5][3], float v[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int a = 0; a < 5; a++)
                for (int b = 0; b < 3; b++)
                    s += u[i + a][j + b] * f[a][b];
            v[i][j] = s;
        }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 5)],
        &[("n", 1), ("m", 1)],
        &[("n", 19), ("m", 35)],
        &[("n", 32), ("m", 16)],
    ];
    let text = check(
        convolution,
        "bind i, j -> y, x block 8x4\nstage u\nregister_tile i by 2\nconstant f\nbounds pad",
        sizes,
    );
    has(&text, &["u_padded", "f_constant"]);
    assert!(!text.contains("f_padded"), "{text}");
    let box_filter = "
void blur(int n, int m, const int u[n][m], int v[n - 2][m - 2]) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i - 1][j - 1] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 2), ("m", 2)],
        &[("n", 3), ("m", 3)],
        &[("n", 19), ("m", 35)],
        &[("n", 34), ("m", 18)],
    ];
    check(box_filter, "bind i, j -> y, x block 8x4\nstage u\nbounds pad", sizes);
    check(box_filter, "bind i, j -> y, x block 8x4\nregister_tile j by 4\nbounds pad", sizes);
}

#[test]
fn padding_goes_with_parts_and_with_a_pitch() {
    let parts = "split_k l by 2\nbind l_part, i, j -> z, y, x block 8x4x1\nbind i#2, j#2 -> y, x block 8x4\naccumulate C_parts\nstage A at l tile 4\nstage B at l tile 4\n";
    check(GEMM, parts, PRODUCTS);
    check(GEMM, &format!("{parts}bounds pad"), PRODUCTS);
    check(GEMM, &format!("pitch A 16\n{}", TILED.replace("stage A", "stage A_pitched")), PRODUCTS);
    let all = format!("pitch A 16\n{}bounds pad", TILED.replace("stage A", "stage A_pitched"));
    check(GEMM, &all, PRODUCTS);
}

#[test]
fn rows_begin_at_multiples() {
    let text = check(
        GEMM,
        "pitch A 8\npitch C 32\nbind i, j -> y, x block 8x4\naccumulate C_pitched",
        PRODUCTS,
    );
    has(
        &text,
        &[
            "T &element_at(T *matrix, size_t pitch, size_t row, size_t column) {",
            "return matrix[row * pitch + column];",
            "element_at(A_pitched, A_pitch, row, column) =",
            "element_at(A_pitched, A_pitch, i, l)",
        ],
    );
    has(
        &text,
        &["const int A_pitch = (k + 7) / 8 * 8;", "const int C_pitch = (m + 31) / 32 * 32;"],
    );
    let planes = "
double f(int n, long m, double u[n][3][m]) {
    double total = 0;
    for (int t = 0; t < 2; t++) {
        #pragma omp parallel for collapse(2)
        for (int i = 0; i < n; i++)
            for (long j = 0; j < m; j++)
                u[i][1][j] += u[i][0][j] - u[i][2][j];
    }
    #pragma omp parallel for reduction(+: total)
    for (int i = 0; i < n; i++) total += u[i][1][0];
    return total;
}
";
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 3)], &[("n", 1), ("m", 1)], &[("n", 9), ("m", 17)]];
    let text = check(
        planes,
        "pitch u 4\nbind i, j -> y, x block 8x4\nreduce total block 32 grid 4",
        sizes,
    );
    has(
        &text,
        &[
            "T &element_at(T *box, size_t rows, size_t pitch, size_t plane,",
            "return box[(plane * rows + row) * pitch + column];",
            "element_at(u_pitched, 3, u_pitch, plane, row, column)",
            "const long long u_pitch = (m + 3) / 4 * 4;",
        ],
    );
}

#[test]
fn arrays_in_whole_tiles_get_a_pitch_where_they_are() {
    let pitches = "pitch A_padded 16\npitch B_padded 64\npitch C_padded 32";
    let text = check(GEMM, &format!("{TILED}bounds pad\n{pitches}"), PRODUCTS);
    // No further copies.
    assert_eq!(text.matches("__global__").count(), 4, "{text}");
    has(&text, &["element_at(C_padded, C_padded_pitch, i, j) = acc[ti];"]);
    has(&text, &["const int B_padded_pitch = (m_padded + 63) / 64 * 64;"]);
    // The pitch is a multiple that later steps may use.
    let known = "specialise A_padded%16=0\nvectorise A_padded by 4";
    let rows = check(GEMM, &format!("{TILED}bounds pad\n{pitches}\n{known}"), PRODUCTS);
    has(&rows, &["reinterpret_cast<const float4 *>(&element_at(A_padded,"]);
}

#[test]
fn an_array_seen_as_one_row() {
    let source = "
void f(int n, int m, const float a[n][m], float x[n * m]) {
    const float *q = &a[0][0];
    #pragma omp parallel for
    for (int i = 0; i < n * m; i++) x[i] = q[i];
}
";
    // `q[i]` goes on in the next row.
    for schedule in [
        "pitch a 8\nbind i -> x block 32",
        "bind i -> x block 32\nregister_tile i by 2\nbounds pad",
    ] {
        assert!(Input::new(source).scheduled(schedule).is_err(), "{schedule}");
    }
}

/// The first line of the message of a schedule.
fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(refused_text(source, schedule).lines().next().unwrap_or_default());
}

#[test]
fn what_cannot_be_pitched() {
    let f = |body: &str, step: &str, e: Expect| {
        let source = format!(
            "void f(int n, int m, float a[n][m], float *p, float x[n], int e[n][m], const float c[2][2]) {{\n{body}\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) x[i] = c[0][1];\n}}\n"
        );
        refused(&source, step, e);
    };
    f(
        "",
        "pitch q 32",
        expect!["error[W269]: cannot pitch `q`: the function has no array parameter of this name"],
    );
    f(
        "",
        "pitch n 32",
        expect!["error[W269]: cannot pitch `n`: the function has no array parameter of this name"],
    );
    f(
        "",
        "pitch x 32",
        expect![
            "error[W269]: cannot pitch `x`: it has no rows: an array with two extents or more is wanted"
        ],
    );
    f(
        "",
        "pitch p 32",
        expect![
            "error[W269]: cannot pitch `p`: it has no rows: an array with two extents or more is wanted"
        ],
    );
    f(
        "",
        "pitch a 1",
        expect![
            "error[W269]: cannot pitch `a`: its rows can begin at multiples of 2 to 1024 elements"
        ],
    );
    f(
        "if (n > 3) return; a[0][0] = 1;",
        "pitch a 32",
        expect!["error[W269]: cannot pitch `a`: the function may return before the copy goes back"],
    );
    f(
        "",
        "bind i -> x block 32\nconstant c\npitch c 32",
        expect!["error[W269]: cannot pitch `c`: it is read from constant memory"],
    );
    f(
        "",
        "pitch a 8\npitch a_pitched 32",
        expect!["error[W269]: cannot pitch `a_pitched`: its rows lie apart already"],
    );
    refused(
        GEMM,
        &format!("{TILED}pitch A 32"),
        expect!["error[W269]: cannot pitch `A`: it is staged already: pitch it first"],
    );
}

/// What an iteration does, and why one past the end cannot work on zeros.
const NOT_PADDED: &[(&str, &str)] = &[
    ("x[i] = s[2 * i];", "a subscript is not `i` plus something that stays"),
    ("x[i] = s[n - 1 - i];", "a subscript is not `i` plus something that stays"),
    ("x[i] = a[0][s[i]];", "a subscript is not `i` plus something that stays"),
    ("x[i] = p[i];", "the extents of `p` are not known when the launcher starts"),
    ("y[i] = s[i];", "an iteration of `i` past the end would write an element of the array"),
    ("if (n > 3) x[i] = s[i];", "an array is used under a condition"),
    ("x[i] = m / s[i];", "an integer is divided by something that may be zero there"),
    ("x[i] = g(s[i]);", "an iteration calls a function"),
    (
        "int t = 0; for (int k = 0; k < i; k++) t += a[0][k]; x[i] = t;",
        "a loop depends on the iteration or on data",
    ),
    ("int t = s[i]; while (t < 9) t = 2 * t + 1; x[i] = t;", "a loop depends on data"),
];

#[test]
fn what_cannot_be_padded() {
    for (inner, why) in NOT_PADDED {
        let source = format!(
            "int g(int t) {{ int u = 0; for (int k = 0; k < 3; k++) u += t; return u; }}\nvoid f(int n, int m, const int a[n][m], const int s[2 * n], int x[n], int y[n + 1], int *p) {{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {{\n{inner}\n    }}\n}}\n"
        );
        let text = refused_text(&source, "bind i -> x block 32\nregister_tile i by 2\nbounds pad");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.ends_with(&format!("of the nest of `i`: {why}")), "{inner}\n{text}");
    }
}

#[test]
fn nests_that_cannot_be_padded() {
    refused(
        GEMM,
        "bind i, j -> y, x block 8x4\nbounds pad",
        expect!["error[W268]: no nest is computed in tiles"],
    );
    refused(
        GEMM,
        "bind i, j -> y, x block 8x4\nregister_tile i by 7\nregister_tile j by 11\nbounds pad\nbounds pad",
        expect![
            "error[W270]: cannot pad the arrays of the nest of `i`: all its blocks are full already"
        ],
    );
    let constant = "void f(const int a[64], int x[64]) {\n    #pragma omp parallel for\n    for (int i = 0; i < 64; i++) x[i] = a[i];\n}\n";
    refused(
        constant,
        "bind i -> x block 32\nregister_tile i by 2\nbounds pad",
        expect![
            "error[W270]: cannot pad the arrays of the nest of `i`: all its blocks are full already"
        ],
    );
    let square = "void f(int n, const int a[n], const int b[n], int x[n][n]) {\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) x[i][j] = a[i] + b[j];\n}\n";
    refused(
        square,
        "bind i, j -> y, x block 127x3\nregister_tile i by 43\nbounds pad",
        expect![
            "error[W270]: cannot pad the arrays of the nest of `i`: its tiles fit together only every 16383 elements"
        ],
    );
    let other = "void f(int n, int m, const int a[n + m], int x[n], int y[m][n]) {\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < m; i++)\n        for (int j = 0; j < n; j++) y[i][j] = a[i] + a[j];\n}\n";
    refused(
        other,
        "bind i, j -> y, x block 32x2\nregister_tile i by 2\nbounds pad",
        expect![
            "error[W270]: cannot pad the arrays of the nest of `i`: loops of different lengths run over one dimension of `a`"
        ],
    );
    let start = "void f(int n, int m, const int a[n], int x[n]) {\n    for (int t = 0; t < 3; t++) {\n    #pragma omp parallel for\n    for (int i = t; i < n; i++) x[i] = a[i];\n    }\n}\n";
    refused(
        start,
        "bind i -> x block 32\nregister_tile i by 2\nbounds pad",
        expect![
            "error[W270]: cannot pad the arrays of the nest of `i`: the length of loop `i` is not known when the launcher starts"
        ],
    );
}
