//! Four products of bytes at a time.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 3), ("m", 2), ("k", 0)],
    &[("n", 5), ("m", 7), ("k", 4)],
    &[("n", 9), ("m", 6), ("k", 13)],
    &[("n", 17), ("m", 33), ("k", 19)],
];

/// `C += A B` of bytes, or what stands in its place.
fn product(ty: &str, b: &str, sum: &str) -> String {
    format!(
        "
#include <stdint.h>
void product(int n, int m, int k, const {ty} A[n][k], const {ty} {b}, int32_t C[n][m]) {{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                {sum}
}}
"
    )
}

#[test]
fn words_are_staged_and_multiplied_in_tiles() {
    let tiles = "dp4a l\nbind i, j -> y, x block 8x8\naccumulate C\nregister_tile i by 2\nregister_tile j by 2\nstage A_words at l tile 2\nstage B_words at l tile 2\nunroll l";
    let source = product("int8_t", "B[k][m]", "C[i][j] += A[i][l] * B[l][j];");
    let text = check(&source, tiles, SIZES);
    has(&text, &["__dp4a(a_words[ti], b_words[tj], acc[ti][tj])", "k / 4 + (k % 4 > 0)"]);
    assert!(!text.contains("+= __dp4a"), "{text}");
    let rows = product("uint8_t", "B[m][k]", "C[i][j] += (int)A[i][l] * (int)B[j][l];");
    let text = check(&rows, tiles, SIZES);
    has(&text, &["unsigned B_words_shared", "acc[ti][tj] = __dp4a("]);
}

#[test]
fn lanes_share_the_words_of_a_sum() {
    let source = "
#include <stdint.h>
void rows(int n, int k, const int8_t A[n][k], const int8_t x[k], const float s[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int32_t sum = 0, all = 0;
        for (int l = 0; l < k; l++) {
            sum += (int16_t)A[i][l] * x[l];
            all = all + x[l] * A[i][l];
        }
        y[i] = s[i] * (float)(sum + all);
    }
}
";
    let text = check(
        source,
        "dp4a l\nbind i -> y block 1x4\nshare l -> x by 32",
        &[&[("n", 3), ("k", 1)], &[("n", 6), ("k", 131)], &[("n", 5), ("k", 256)]],
    );
    has(&text, &["sum = __dp4a(", "all = __dp4a("]);
}

/// What is missing of the last word has no zero point either.
#[test]
fn zero_points_are_sums_of_their_own() {
    let source = "
#include <stdint.h>
void offsets(int n, int m, int k, const uint8_t A[n][k], int za, const uint8_t B[k][m], int zb, int32_t C[n][m], int32_t D[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int32_t c = 0, d = 0;
            for (int l = 0; l < k; l++) {
                c += ((int32_t)A[i][l] - za) * (B[l][j] - zb);
                d += (za + i + A[i][l]) * B[l][j];
            }
            C[i][j] = c;
            D[i][j] = d;
        }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 1), ("m", 1), ("k", 1), ("za", 3), ("zb", -7)],
        &[("n", 5), ("m", 7), ("k", 4), ("za", 0), ("zb", 9)],
        &[("n", 9), ("m", 6), ("k", 15), ("za", 128), ("zb", 1)],
    ];
    let text = check(
        source,
        "dp4a l\nbind i, j -> y, x block 8x8\nregister_tile j by 2\nstage A_words at l tile 2\nunroll l",
        sizes,
    );
    has(&text, &["16843009u", "__dp4a("]);
}

#[test]
fn extents_may_be_numbers() {
    let source = "
#include <stdint.h>
void fixed(int n, const int8_t A[n][10], const int8_t B[10], int C[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int l = 0; l < 10; l++)
            C[i] += A[i][l] * B[l];
}
";
    let text = check(source, "dp4a l\nbind i -> x block 32", &[&[("n", 1)], &[("n", 40)]]);
    has(&text, &["l < 3"]);
}

#[test]
fn refusals_say_what_is_in_the_way() {
    let refused = |ty: &str, b: &str, sum: &str, why: &str| {
        let text = refused_text(&product(ty, b, sum), "dp4a l");
        assert!(text.contains(why), "{sum}\n{text}");
    };
    let sum = "C[i][j] += A[i][l] * B[l][j];";
    refused("int16_t", "B[k][m]", sum, "a factor is no byte");
    refused("int8_t", "B[k + 1][m]", sum, "it does not go through all of an array's extent");
    let rest = "it does more than adding products of two bytes to 32-bit integers";
    refused("int8_t", "B[k][m]", "C[i][j] += A[i][l] + B[l][j];", rest);
    refused("int8_t", "B[k][m]", "C[i][j] -= A[i][l] * B[l][j];", rest);
    refused("int8_t", "B[k][m]", "C[i][j] += A[i][l] * B[l][j] * 2;", rest);
    // The sign of a byte is changed on the way.
    refused("uint8_t", "B[k][m]", "C[i][j] += (int8_t)A[i][l] * B[l][j];", "a factor is no byte");
    refused("int8_t", "B[k][m]", "C[i][j] += (uint16_t)A[i][l] * B[l][j];", "a factor is no byte");
    let moving = "a subscript is more than its counter";
    refused("int8_t", "B[k][m]", "C[i][j] += A[i][k - 1 - l] * B[l][j];", moving);
    let several = "its counter is in no subscript of a factor, or in several";
    refused("int8_t", "B[k][m]", "C[i][j] += A[i][0] * B[l][j];", several);
    let signs = "
#include <stdint.h>
void signs(int n, int k, const int8_t A[n][k], const uint8_t x[k], int y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int l = 0; l < k; l++)
            y[i] += A[i][l] * x[l];
}
";
    let text = refused_text(signs, "dp4a l");
    assert!(text.contains("one of the arrays has a sign and the other has not"), "{text}");
    let bound =
        refused_text(&product("int8_t", "B[k][m]", sum), "bind i, j -> y, x block 8x8\ndp4a l");
    assert!(bound.contains("bound"), "{bound}");
}

/// The subscript of a factor is what another statement of the loop adds to.
#[test]
fn subscripts_that_change_are_refused() {
    let source = "
#include <stdint.h>
void moving(int n, int k, const int8_t A[n][k], const int8_t x[k], int y[n]) {
    for (int i = 0; i < n; i++) {
        int at = 0;
        for (int l = 0; l < k; l++) {
            at += A[i][l] * x[l];
            y[i] += A[at][l] * x[l];
        }
    }
}
";
    let text = refused_text(source, "dp4a l");
    assert!(text.contains("a subscript or a zero point depends on what it adds to"), "{text}");
}
