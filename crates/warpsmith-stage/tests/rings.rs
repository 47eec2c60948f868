//! Proofs of planes that a loop keeps in shared memory in turn: what is right is proved, and what a small change makes wrong is not.

mod common;

use common::{both_proved, has_solver, planned};

const BLOCK: [u32; 3] = [8, 1, 1];

/// Three rows around a point, each loaded once. The reads beside the thread are `LAST` and `BEFORE`.
const ROWS: &str = "\
__global__ void rows(const float *u, float *v, int n, int rows) {
    __shared__ float p[3][8];
    int t = threadIdx.x, i = blockIdx.x * 8 + t;
    bool ok = i < n;
    for (int k = 0; k < rows; k++) {
        if (ok) p[k % 3][t] = u[k * n + i];
        __syncthreads();
        if (ok && k > 1 && t > 0) v[k * n + i] = LAST + BEFORE;
        __syncthreads();
    }
}
";

/// The first two rows are there before the loop.
const AHEAD: &str = "\
__global__ void rows(const float *u, float *v, int n, int rows) {
    __shared__ float p[3][8];
    int t = threadIdx.x, i = blockIdx.x * 8 + t;
    bool ok = i < n;
    if (ok) { p[0][t] = u[i]; p[1][t] = u[n + i]; }
    __syncthreads();
    for (int k = 2; k < rows; k++) {
        if (ok) p[k % 3][t] = u[k * n + i];
        __syncthreads();
        if (ok && t > 0) v[k * n + i] = LAST + BEFORE;
        __syncthreads();
    }
}
";

const LAST: &str = "p[(k + 2) % 3][t - 1]";
const BEFORE: &str = "p[(k + 1) % 3][t - 1]";

/// Whether the ring is proved to hold what the unmodified kernel reads.
fn is_proved(text: &str, last: &str, before: &str) -> bool {
    let with = |last: &str, before: &str| text.replace("LAST", last).replace("BEFORE", before);
    let old = with("u[(k - 1) * n + i - 1]", "u[(k - 2) * n + i - 1]");
    let new = with(last, before);
    both_proved("rows", (&old, &new), BLOCK)
}

#[test]
fn rows_in_turn_are_followed() {
    if !has_solver() {
        return;
    }
    let four = ROWS.replace("p[3][8]", "p[4][8]").replace("% 3", "% 4");
    let backwards = ROWS
        .replace("int k = 0; k < rows; k++", "int m = 0; m < rows; m++")
        .replace("        if (ok) p", "        int k = m;\n        if (ok) p");
    let cleared = ROWS.replace("    for", "    p[2][t] = 0;\n    __syncthreads();\n    for");
    let inside = ROWS.replace("    for", "    for (int q = 0; q < n; q++)\n    for");
    // The row that is stored is not one of those that are read.
    let barrier = "        __syncthreads();\n        if (ok && k";
    let one_barrier = ROWS.replace(barrier, "        if (ok && k");
    // The next iteration stores to another row than any that is read, where one of them is not read.
    let behind = ROWS.replace("        __syncthreads();\n    }", "    }");
    assert!(is_proved(ROWS, LAST, BEFORE));
    assert!(is_proved(&one_barrier, LAST, BEFORE), "one barrier");
    let last = behind.replace("BEFORE", "LAST");
    assert!(is_proved(&last, LAST, BEFORE), "one barrier, behind the store");
    assert!(!is_proved(&behind, LAST, BEFORE), "the next row is stored where the oldest is read");
    assert!(is_proved(&four, "p[(k + 3) % 4][t - 1]", "p[(k + 2) % 4][t - 1]"), "four");
    assert!(is_proved(&backwards, LAST, BEFORE), "another counter");
    assert!(is_proved(&cleared, LAST, BEFORE), "cleared");
    assert!(is_proved(&inside, LAST, BEFORE), "in a loop");
    assert!(is_proved(AHEAD, LAST, BEFORE), "rows ahead");
}

#[test]
fn no_wrong_ring_is_proved() {
    if !has_solver() {
        return;
    }
    let store = "if (ok) p[k % 3][t] = u[k * n + i];";
    let end = "        __syncthreads();\n    }";
    let wrong = [
        (ROWS, store, "if (ok && k != 70) p[k % 3][t] = u[k * n + i];"),
        (ROWS, store, "if (ok && t != 5) p[k % 3][t] = u[k * n + i];"),
        (ROWS, store, "if (i < n - 2) p[k % 3][t] = u[k * n + i];"),
        (ROWS, store, "if (ok) p[k % 3][t] = u[k * n + i + 1];"),
        (ROWS, store, "if (ok) p[k % 3][t] = u[i];"),
        (ROWS, store, "if (ok) p[k % 3][t] = k == 9 ? 0 : u[k * n + i];"),
        (ROWS, store, "if (ok) p[k % 2][t] = u[k * n + i];"),
        (ROWS, store, "if (ok) p[(k + 1) % 3][t] = u[k * n + i];"),
        (ROWS, store, "if (ok && u[i] > 0) p[k % 3][t] = u[k * n + i];"),
        (ROWS, "k++", "k += 2"),
        (ROWS, "k++", "k += n"),
        (ROWS, "k > 1", "k > 0"),
        (ROWS, end, "    }"),
        (ROWS, end, "        __syncthreads();\n        if (ok && k == 90) p[0][t] = 0;\n    }"),
        (ROWS, end, "        __syncthreads();\n        if (ok) p[(k + 2) % 3][t] = 0;\n    }"),
        (
            ROWS,
            end,
            "        __syncthreads();\n        if (k == 7 && t == 0) p[n % 3][3] = 0;\n    }",
        ),
        (AHEAD, "p[0][t] = u[i]", "p[0][t] = u[n + i]"),
        (AHEAD, "p[1][t] = u[n + i];", ""),
        (AHEAD, "if (ok) { p[0]", "if (i < n - 2) { p[0]"),
        (AHEAD, "int k = 2", "int k = 3"),
        (AHEAD, "    for", "    for (int q = 0; q < 2; q++)\n    for"),
    ];
    let mut proved = vec![];
    for (text, from, to) in wrong {
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        if is_proved(&text, LAST, BEFORE) {
            proved.push((from, to));
        }
    }
    assert!(proved.is_empty(), "{proved:#?}");
    let swapped =
        [(BEFORE, LAST), (LAST, LAST), (LAST, "p[k % 3][t - 1]"), (LAST, "p[(k + 1) % 3][t]")];
    for (last, before) in swapped {
        assert!(!is_proved(ROWS, last, before), "{last}, {before}");
    }
}

/// Rows of which few launches have enough: what is right for the first ones only is not handed out.
#[test]
fn rings_come_round_in_some_launch() {
    let kernel = |slots: u32, back: u32, counter: &str, next: &str| {
        format!(
            "__global__ void k(const float *u, float *v, int n, int rows) {{
    __shared__ float p[{slots}][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    {counter} slot = 0;
    for (int k = 0; k < rows; k++) {{
        if (i < n) p[slot % {slots}][t] = u[k * n + i];
        __syncthreads();
        if (k >= {back} && t > 0 && i < n) v[k * n + i] = __opt__(u[(k - {back}) * n + i - 1]);
        __syncthreads();
        {next};
    }}
}}
"
        )
    };
    for (slots, back, counter, next, wrong) in [
        (3, 1, "int", "slot++", "k - 4"),
        (5, 3, "int", "slot = (slot + 1) % 5", "p[k - 3]"),
        // 256 is no multiple of three.
        (3, 1, "unsigned char", "slot++", "= p[(slot + 2) % 3]"),
    ] {
        if let Ok(staged) = planned(&kernel(slots, back, counter, next)) {
            assert!(!staged.text.contains(wrong), "{counter}, {next}: {}", staged.text);
        }
    }
}

/// An array between two steps whose elements get another value in an iteration that small launches do not come to.
#[test]
fn what_a_changing_array_holds_is_looked_at() {
    let text = "__global__ void k(const float *u, float *mid, float *v, int n, int rows) {
    __shared__ float p[3][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int k = 0; k < rows; k++) {
        if (i < n) { mid[k * n + i] = u[k * n + i] + 1; p[k % 3][t] = u[k * n + i] + 1; }
        __syncthreads();
        if (i < n && k == 90) mid[(k - 1) * n + i] = 1;
        __syncthreads();
        if (k > 0 && t > 0 && i < n) v[k * n + i] = __opt__(mid[(k - 1) * n + i - 1]);
        __syncthreads();
    }
}
";
    if let Ok(staged) = planned(text) {
        assert!(!staged.text.contains("= p[(k + 2) % 3][t - 1];"), "{}", staged.text);
    }
}

/// Places that are counted by the last bits of a number: two in turn, filled ahead of their use, and four.
#[test]
fn places_by_the_last_bits() {
    let ahead = "\
__global__ void ahead(const float *u, float *out, int n, int m) {
    __shared__ float p[2][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i < n) p[0][t] = u[i];
    __syncthreads();
    for (int k = 0; k < m; k++) {
        if (k + 1 < m && i < n) p[(k + 1) & 1][t] = u[(k + 1) * n + i];
        if (t > 0 && i < n) out[k * n + i] = __opt__(u[k * n + i - 1]);
        __syncthreads();
    }
}
";
    let four = "\
__global__ void four(const float *u, float *out, int n, int m) {
    __shared__ float p[4][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int k = 1; k <= m; k++) {
        if (i < n) p[(k - 1) & 3][t] = u[k * n + i];
        __syncthreads();
        if (k > 2 && t > 0 && i < n) out[k * n + i] = __opt__(u[(k - 2) * n + i - 1]);
        __syncthreads();
    }
}
";
    for (text, place) in [(ahead, "p[k % 2][t - 1]"), (four, "p[(k + 1) % 4][t - 1]")] {
        let staged = planned(text).unwrap_or_else(|(_, m)| panic!("{m}"));
        assert_eq!(staged.accesses[0].replacement, place);
        assert!(!has_solver() || staged.accesses[0].unproved.is_none(), "{:?}", staged.accesses[0]);
    }
}
