//! Threads of blocks at the edge, whose iterations do not exist: they copy and wait with the others, and do nothing else.

mod common;

use common::{Points as Sizes, check_scheduled as check};

const SIZES: Sizes<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 3), ("m", 9), ("k", 5)],
    &[("n", 17), ("m", 7), ("k", 8)],
    &[("n", 16), ("m", 16), ("k", 16)],
];

const SCHEDULES: [&str; 5] = [
    "stage A at l tile 8\nstage B at l tile 8",
    "stage A at l tile 8\nstage B at l tile 8\nregister_tile i by 4\nregister_tile j by 2",
    "register_tile i by 4\nstage B at l tile 4 transposed\nstage A at l tile 4 pad 1",
    "register_tile j by 2\nregister_tile i by 2\nstage A at l tile 8\nstage B at l tile 8\nunroll l\nbounds peel",
    "register_tile i by 2\nstage A at l tile 4\nstage B at l tile 4\npipeline l stages 2",
];

/// A nest over i and j with these statements, under all schedules.
fn all(statements: &str) -> Vec<String> {
    let source = format!(
        "
void f(int n, int m, int k, const int A[n][k], const int B[k][m], int C[n][m], const int D[n][m], const int E[n]) {{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {{
{statements}
        }}
}}
"
    );
    let schedules = SCHEDULES.map(|s| format!("bind i, j -> y, x block 8x8\n{s}"));
    schedules.iter().map(|s| check(&source, s, SIZES)).collect()
}

#[test]
fn nothing_is_decided_by_what_they_did_not_read() {
    all("int w = D[i][j], s = 0;
        for (int l = 0; l < k; l++) s += A[i][l] * B[l][j] > w ? A[i][l] : w;
        C[i][j] = s;");
    all("int best = D[i][j], at = 0;
        for (int l = 0; l < k; l++) {
            int t = A[i][l] + B[l][j];
            if (t < best) { best = t; at = l; }
        }
        C[i][j] = best + at;");
    all("int w = D[i][j], s = 0;
        for (int l = 0; l < k; l++) {
            int t = A[i][l] * B[l][j];
            int u = w + t;
            if (u > 3 && t > w) s += t; else s -= u;
        }
        C[i][j] = s;");
}

#[test]
fn no_element_is_chosen_by_what_they_did_not_read() {
    all("int q = D[i][j] % 2;
        int s[2] = {0, 1};
        for (int l = 0; l < k; l++) s[q * q] += A[i][l] * B[l][j];
        C[i][j] = s[0] + s[1];");
}

#[test]
fn loops_that_such_values_bound_are_theirs_alone() {
    all("int s = 0;
        for (int l = 0; l < k; l++) s += A[i][l] * B[l][j];
        for (int q = 0; q < E[i] % 5; q++) s += q * D[i][j];
        C[i][j] = s;");
    all("int s = 0, most = E[i] % 5;
        for (int l = 0; l < k; l++) s += A[i][l] * B[l][j];
        for (int q = 0; q < most; q++) s += q + j;
        C[i][j] = s;");
}

#[test]
fn sums_stay_without_conditions() {
    let texts = all("int s = D[i][j];
        for (int l = 0; l < k; l++) s += A[i][l] * B[l][j];
        C[i][j] = s;");
    // Of excess threads they are sums of what they have from shared memory, from zero on.
    for text in &texts {
        let sums = text.match_indices("s += ").chain(text.match_indices("s[ti] += "));
        let sums = sums.chain(text.match_indices("s[ti][tj] += "));
        let asked = |at: usize| text[..at].trim_end().ends_with("_left) {");
        let asked = sums.filter(|(at, _)| asked(*at)).count();
        assert_eq!(asked, 0, "{text}");
    }
}

/// A nest over i and j, under a schedule without copies.
fn tiled(statements: &str) -> String {
    let source = format!(
        "
void f(int n, int m, int k, const int A[n][k], const int B[k][m], int C[n][m], const int D[n][m]) {{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {{
{statements}
        }}
}}
"
    );
    let schedules = ["register_tile i by 4", "register_tile j by 2\nregister_tile i by 2"];
    let bound = schedules.map(|s| format!("bind i, j -> y, x block 8x8\n{s}"));
    bound.iter().map(|s| check(&source, s, SIZES)).collect()
}

/// A sum of what an excess thread has not read would be undefined, and nvcc has been seen to spoil the sums beside it.
#[test]
fn nothing_is_summed_that_they_did_not_read() {
    let texts = tiled(
        "int s = 0, t = 1;
        for (int l = -1; l <= 1; l++) {
            int v = D[i][(j + l + m) % m];
            if (l != 0) s += v; else t += v * v;
        }
        C[i][j] = s - t;",
    );
    assert!(texts.contains("v[ti] = 0;") && texts.contains("v[ti][tj] = 0;"), "{texts}");
}

/// Elements of arrays of a thread's own are many: their sums are under the condition instead.
#[test]
fn nothing_is_summed_of_arrays_that_they_did_not_fill() {
    let texts = tiled(
        "int t[3], s = 0;
        for (int l = 0; l < 3; l++) t[l] = D[i][j] + l;
        for (int l = 0; l < 3; l++) if (l != 1) s += t[l];
        C[i][j] = s;",
    );
    assert!(!texts.contains("t[ti][l] = 0;"), "{texts}");
}

/// What an iteration takes over from the one before holds nothing in the first, and is not set to zero later.
#[test]
fn nothing_is_summed_that_the_iteration_before_did_not_read() {
    let statements = "int before, s = 0;
        for (int l = 0; l < k; l++) {
            if (l > 0) s += before * A[i][l];
            before = B[l][j] + D[i][j];
        }
        C[i][j] = s;";
    all(statements);
    tiled(statements);
}

/// What only some iterations set keeps its value in the others.
#[test]
fn what_may_be_set_keeps_its_value() {
    tiled(
        "int t = 1, u, s = 0;
        for (int l = 0; l < k; l++) {
            if (l % 2 == 0) u = B[l][j];
            if (D[i][j] > 1) t = u;
            s += t * u;
        }
        C[i][j] = s;",
    );
}

/// What a condition on the data excludes is excluded in excess threads only where they have the data.
#[test]
fn nothing_is_read_that_zeros_make_them_read() {
    let carried = "int last, s = 0;
        int fresh = (D[i][j] & 7) + 1;
        for (int l = 0; l < k; l++) {
            s += fresh > 0 ? 0 : last;
            last = A[i][l] * B[l][j];
            fresh = 0;
        }
        C[i][j] = s;";
    all(carried);
    tiled(carried);
}

/// Loops whose ends are data are under a condition, and so are the zeros in them.
#[test]
fn zeros_that_they_do_not_come_to_are_none() {
    tiled(
        "int v, s = 0;
        for (int q = 0; q < (A[i][0] & 3) + 1; q++) { v = A[i][q % k] * B[q % k][j]; s += v; }
        int t = v * 2;
        for (int l = 0; l < k; l++) t += A[i][l] * B[l][j];
        C[i][j] = s + t;",
    );
}

/// One element, or one way through a condition, is not all.
#[test]
fn what_is_set_in_part_is_not_set() {
    tiled(
        "int t[4], s = 0;
        t[0] = j;
        for (int q = 1; q < 4; q++) t[q] = D[i][j] + q;
        for (int l = 0; l < k; l++) s += t[l & 3] * A[i][l];
        C[i][j] = s;",
    );
    tiled(
        "int v, s = 0;
        if (j > 2) v = 1;
        if (j <= 2) v = D[i][j];
        int w = v * 3;
        for (int l = 0; l < k; l++) s += A[i][l] * B[l][j] * v + w;
        C[i][j] = s;",
    );
}

/// A side of a choice that no thread takes is no arithmetic.
#[test]
fn choices_may_have_sides_without_a_value() {
    tiled(
        "int v, has = D[i][j] > 0;
        if (has) v = A[i][0];
        int r = has ? v * 2 : 7;
        if (has && v + 1 > 5) r += 4;
        C[i][j] = r;",
    );
    let source = "void f(int n, const int A[n], int C[n]) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            int v, has = A[i] > 0;
            if (has) v = A[i];
            C[i] = has && v * 2 > 3 ? v * 2 : 7;
        }
    }";
    check(source, "bind i -> x block 32", &[&[("n", 70)]]);
}

/// What a condition keeps from threads is not computed ahead of the loop that the condition stands in.
#[test]
fn addresses_behind_a_condition_stay_there() {
    let source = "
static int near(int i, int limit) { return i < 0 ? 0 : i < limit ? i : limit - 1; }
void blur(int h, int w, const float a[h][w], float b[h][w]) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float s = 0.0f;
            for (int d = -2; d <= 2; d++)
                s += a[near(y + d, h)][x];
            b[y][x] = s;
        }
}
";
    let steps = "bind y, x -> y, x block 8x32\nspecialise w%4=0, a%16=0, b%16=0\nregister_tile x by 8\nvectorise x by 4";
    check(source, steps, &[&[("h", 3), ("w", 4)], &[("h", 40), ("w", 72)]]);
}
