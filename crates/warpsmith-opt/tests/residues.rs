//! Loops over the iterations only in which a remainder is zero.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> =
    &[&[("n", 0), ("m", 3)], &[("n", 1), ("m", 1)], &[("n", 7), ("m", 4)], &[("n", 33), ("m", 9)]];

/// A function of a row, twice as long as its argument.
fn up(body: &str) -> String {
    format!(
        "
void up(int n, int m, const float w[m + 5], const float x[n], float y[2 * n]) {{
    #pragma omp parallel for
    for (int i = 0; i < 2 * n; i++) {{
        float s = 0.0f;
        {body}
        y[i] = s;
    }}
}}
"
    )
}

#[test]
fn half_of_a_window_is_left() {
    let source = up(
        "for (int k = 0; k < 4; k++) { int a = i + 1 - k; if (a >= 0 && a % 2 == 0 && a / 2 < n) s += w[k] * x[a / 2]; }",
    );
    let text = check(&source, "residue k\nbind i -> x block 32\nunroll k", SIZES);
    has(&text, &["k < 2", "const int k_kept = ((i + 1) & 1) + k * 2;", "if (a >= 0 && a / 2 < n)"]);
}

#[test]
fn iterations_are_skipped_by_continue_or_bits_as_well() {
    let skipped = up(
        "for (int k = -3; k <= 2; k++) { if ((i + k) % 3 != 0) continue; int a = (i + k) / 3; if (a < 0 || a >= n) continue; s += w[k + 3] * x[a]; }",
    );
    let text = check(&skipped, "residue k\nbind i -> x block 32", SIZES);
    has(&text, &["k < 2", "% 3 + 3) % 3"]);
    assert!(!text.contains("!= 0"), "{text}");
    let bits = up(
        "for (int k = 0; k < 5; k++) if (((i - k) & 3) == 0 && i >= k) s += w[k] * x[(i - k) / 4];",
    );
    let text = check(&bits, "residue k\nbind i -> x block 32", SIZES);
    // Of five iterations one or two remain.
    has(&text, &["k < 2", "if (k_kept < 5)"]);
}

#[test]
fn the_number_of_iterations_may_be_a_size() {
    for m in ["m", "m + 1 < 9 ? m : 3"] {
        let source = up(&format!(
            "int e = {m}; for (int k = 1; k < e; k++) if ((k + i) % 2 == 0 && i >= k) s += w[k] * x[(i - k) / 2];"
        ));
        let text = check(&source, "residue k\nbind i -> x block 32", SIZES);
        has(&text, &["if (k_kept < "]);
    }
}

#[test]
fn remainders_are_taken_in_their_own_type() {
    let source = "
void far(int n, long base, const float x[8], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 7; k++)
            if (!((base + i - k) % 3))
                y[i] += x[k];
}
";
    let sizes: Sizes<'_> = &[&[("n", 9), ("base", 5_000_000_000)], &[("n", 9), ("base", -50)]];
    let text = check(source, "residue k\nbind i -> x block 32", sizes);
    has(&text, &["(int)(((base + i) % 3"]);
}

/// What is computed again in each iteration has to be the same in all.
#[test]
fn ends_that_change_are_refused() {
    let cases = [
        "for (int k = (int)x[i]; k < 4; k++) if (k % 2 == 0) s += w[k];",
        "for (int k = x[i] > 0.5f; k < 4; k++) if (k % 2 == 0) s += w[k];",
        "int lo = 0; for (int k = lo; k < 4; k++) if ((i + k) % 2 == 0) { s += w[k]; lo = x[i] > 0.5f ? 2 : lo; }",
    ];
    for body in cases {
        let said = refused_text(&up(body), "residue k");
        assert!(said.contains("its ends"), "{body}: {said}");
    }
    // What was below zero is far above it in a type without a sign.
    let body =
        "for (int k = 0; k < 4; k++) if ((long)(unsigned)(m - 9 + i + k) % 3 == 0) s += w[k];";
    assert!(refused_text(&up(body), "residue k").contains("no condition"));
}

#[test]
fn two_loops_of_a_window() {
    let source = "
void up2(int n, int m, const float w[4][4], const float x[m][n], float y[2 * m][2 * n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < 2 * m; i++)
        for (int j = 0; j < 2 * n; j++) {
            float s = 0.0f;
            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 4; q++) {
                    int a = i + 1 - p, b = j + 1 - q;
                    if (a >= 0 && b >= 0 && a % 2 == 0 && b % 2 == 0 && a / 2 < m && b / 2 < n)
                        s += w[p][q] * x[a / 2][b / 2];
                }
            y[i][j] = s;
        }
}
";
    let steps = "residue p\nresidue q\nbind i, j -> y, x block 8x4\nregister_tile i by 2\nunroll p\nunroll q";
    let text = check(source, steps, SIZES);
    assert!(!text.contains("% 2"), "{text}");
}

#[test]
fn what_it_is_refused_for() {
    let cases = [
        // An iteration does something else.
        (
            "for (int k = 0; k < 4; k++) { s += 1.0f; if ((i - k) % 2 == 0 && i >= k) s += x[(i - k) / 2]; }",
            "no condition",
        ),
        (
            "for (int k = 0; k < 4; k++) { if ((i - k) % 2 == 0 && i >= k) s += x[(i - k) / 2]; else s += 1.0f; }",
            "no condition",
        ),
        // Twice the counter is always even.
        ("for (int k = 0; k < 4; k++) if ((i - 2 * k) % 2 == 0) s += w[k];", "no condition"),
        // Another remainder than zero has a sign.
        ("for (int k = 0; k < 4; k++) if ((i - k) % 2 == 1) s += w[k];", "no condition"),
        ("for (int k = 0; k < 4; k++) if ((i - k) % m == 0) s += w[k];", "no condition"),
        // The sum changes what is asked for.
        (
            "int c = 0; for (int k = 0; k < 4; k++) if ((c + k) % 2 == 0) { s += w[k]; c++; }",
            "no condition",
        ),
        ("for (int k = 0; k < 4; k += 3) if ((i - k) % 2 == 0) s += w[k];", "count up by one"),
        ("for (unsigned k = 0; k < 4; k++) if ((i - k) % 2 == 0) s += w[k];", "unsigned"),
        (
            "int k; for (k = 0; k < 4; k++) if ((i - k) % 2 == 0) s += w[k]; s += k;",
            "more than counting",
        ),
        (
            "for (int k = 0; k < 4; k++) { if ((i - k) % 2 == 0) s += w[k]; if (s > 3.0f) break; }",
            "leaves",
        ),
    ];
    for (body, why) in cases {
        let said = refused_text(&up(body), "residue k");
        assert!(said.contains(why), "{body}: {said}");
    }
}
