//! Declarations that go into the loop behind them, and updates that become sums.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> =
    &[&[("n", 0), ("m", 3)], &[("n", 1), ("m", 1)], &[("n", 5), ("m", 7)], &[("n", 9), ("m", 4)]];

/// Columns of a matrix with a body for the rows.
fn columns(clause: &str, ty: &str, body: &str) -> String {
    format!(
        "
void columns(int n, int m, const {ty} A[n][m], const {ty} r[n], {ty} s[m]) {{
    #pragma omp parallel for reduction({clause}: s[:m])
    for (int i = 0; i < n; i++) {{
        {body}
    }}
}}
"
    )
}

#[test]
fn updates_become_sums_of_the_loops_inside() {
    for (clause, ty, body, wanted) in [
        ("+", "float", "for (int j = 0; j < m; j++) s[j] += r[i] * A[i][j];", "s[j] += r[i] *"),
        (
            "+",
            "float",
            "float w = 2.0f * r[i]; for (int j = 0; j < m; j++) s[j] -= w * A[i][j];",
            "s[j] -= w *",
        ),
        ("max", "int", "for (int j = 0; j < m; j++) if (A[i][j] > s[j]) s[j] = A[i][j];", "max("),
        ("^", "int", "for (int j = 0; j < m; j++) s[j] ^= A[i][j];", "s[j] ^= "),
        ("+", "double", "for (int j = i % 3; j < m; j += 2) s[j] += A[i][j];", "atomicAdd"),
    ] {
        let source = columns(clause, ty, body);
        let steps = "gather i\nbind j -> x block 32";
        match wanted {
            "atomicAdd" => {
                let text = refused_text(&source, steps);
                assert!(text.contains("no loop inside it has elements of its own"), "{text}");
            }
            _ => has(&check(&source, steps, SIZES), &["for (int i = 0; i < n; ++i)", wanted]),
        }
    }
}

#[test]
fn all_loops_inside_move_out_that_have_elements_of_their_own() {
    let source = "
void product(int n, int m, const float A[n][m], const float B[n][m], float C[m][m]) {
    #pragma omp parallel for reduction(+: C[:m * m])
    for (int k = 0; k < n; k++)
        for (int i = 0; i < m; i++) {
            float a = A[k][i];
            for (int j = 0; j < m; j++)
                C[i][j] += a * B[k][j];
        }
}
";
    let text = check(source, "gather k\nbind i, j -> y, x block 8x4\naccumulate C", SIZES);
    has(&text, &["+= a * B["]);
    assert!(!text.contains("atomicAdd"), "{text}");
    // Rows alone have elements of their own: the sum over `j` stays inside.
    let rows = source.replace("C[i][j] +=", "C[i][0] +=");
    let text = check(&rows, "gather k\nbind i -> x block 8", SIZES);
    assert!(!text.contains("atomicAdd"), "{text}");
}

#[test]
fn what_cannot_be_gathered_is_refused() {
    let plain = "for (int j = 0; j < m; j++) s[j] += A[i][j];";
    let serial = columns("+", "float", plain).replace("#pragma omp", "//");
    assert!(refused_text(&serial, "gather i").contains("it is not marked as parallel"));
    let bound = columns("+", "float", plain);
    assert!(refused_text(&bound, "bind i -> x block 32\ngather i").contains("bound"));
    for (body, why) in [
        ("s[i % m] += r[i];", "no loop inside it has elements of its own"),
        ("for (int j = 0; j <= i; j++) s[j % m] += A[i][0];", "no loop inside it"),
        // With `i` inside, what an iteration of `j` adds depends on the others.
        ("for (int j = 0; j < m; j++) s[m - 1] += A[i][j];", "no loop inside it"),
        // Its bounds change with `i`.
        ("for (int j = 0; j < (i < m ? i : m); j++) s[j] += A[i][j];", "no loop inside it"),
    ] {
        let text = refused_text(&columns("+", "float", body), "gather i");
        assert!(text.contains(why), "{body}: {text}");
    }
    let max =
        columns("max", "float", "for (int j = 0; j < m; j++) if (A[i][j] > s[j]) s[j] = A[i][j];");
    assert!(refused_text(&max, "gather i").contains("in their order"));
}

/// Rows of a matrix with a body for each.
fn rows(body: &str) -> String {
    format!(
        "
void rows(int n, int m, int k[n], const float A[n][m], float B[n][m]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        {body}
    }}
}}
"
    )
}

#[test]
fn declarations_go_into_the_loop_behind_them() {
    for body in [
        "int row = n - 1 - i; for (int j = 0; j < m; j++) B[i][j] = A[row][j];",
        "int h = i / 2; float s = A[h][0], t = s + 1; for (int j = 0; j < m; j++) B[i][j] = t * A[i][j];",
    ] {
        let text = check(&rows(body), "sink i\nbind i, j -> y, x block 8x4", SIZES);
        has(&text, &["const int j = ", "for (long long i = "]);
    }
}

#[test]
fn what_the_inner_loop_changes_or_needs_stays_in_front_of_it() {
    let again = "cannot be computed there again";
    for (body, why) in [
        ("for (int j = 0; j < m; j++) B[i][j] = A[i][j];", "nothing stands before the loop"),
        // The loop changes what the value is made of.
        ("float s = B[i][0]; for (int j = 0; j < m; j++) B[i][j] = s + A[i][j];", again),
        ("int row = k[i]; for (int j = 0; j < m; j++) { k[i] = j; B[i][j] = row; }", again),
        // A sum begins once.
        ("float s = 0; for (int j = 0; j < m; j++) { s += A[i][j]; B[i][j] = s; }", again),
        // The bounds need it.
        ("int e = m - i % 2; for (int j = 0; j < e; j++) B[i][j] = A[i][j];", again),
        ("B[i][0] = 1; for (int j = 1; j < m; j++) B[i][j] = A[i][j];", again),
        ("int row = i; for (int j = 0; j < m; j++) B[i][j] = A[row][j]; k[i] = row;", again),
    ] {
        let text = refused_text(&rows(body), "sink i");
        assert!(text.contains(why), "{body}: {text}");
    }
    let bound = rows("int row = i; for (int j = 0; j < m; j++) B[i][j] = A[row][j];");
    assert!(refused_text(&bound, "bind i -> x block 8\nsink i").contains("bound"));
}
