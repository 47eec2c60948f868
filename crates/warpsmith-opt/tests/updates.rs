//! Atomic updates by threads that have several iterations, or share loops: rows and columns of a matrix in one pass.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

/// Both products of a step of the bi-conjugate gradient method.
const BOTH: &str = "
void both(int n, int m, const float A[n][m], const float r[n], const float p[m], float s[m], float q[n]) {
    #pragma omp parallel for reduction(+: s[:m])
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            s[j] += r[i] * A[i][j];
            sum += A[i][j] * p[j];
        }
        q[i] = sum;
    }
}
";

const PLANES: Sizes<'_> = &[
    &[("n", 0), ("m", 3)],
    &[("n", 3), ("m", 0)],
    &[("n", 1), ("m", 1)],
    &[("n", 5), ("m", 31)],
    &[("n", 33), ("m", 70)],
    &[("n", 64), ("m", 130)],
];

#[test]
fn columns_are_added_up_for_all_rows_of_a_thread() {
    let text =
        check(BOTH, "bind i -> y block 1x1\nshare j -> x by 64\nregister_tile i by 8", PLANES);
    has(
        &text,
        &[
            "float s_part = 0.0f;",
            "for (int ti = 0; ti < TY; ++ti) {",
            "s_part += r[i] * A[(size_t)i * m + j];",
            "sum[ti] += A[(size_t)i * m + j] * p_own;",
            "atomicAdd(&s[j], s_part);",
        ],
    );
    for rows in [2, 4] {
        let steps = format!("bind i -> y block 1x{rows}\nshare j -> x by 32\nregister_tile i by 4");
        check(BOTH, &steps, PLANES);
    }
    check(BOTH, "bind i -> y block 1x4\nshare j -> x by 16", PLANES);
    check(BOTH, "bind i -> x block 32\nregister_tile i by 4", PLANES);
}

fn planes(body: &str) -> String {
    format!(
        "
void f(int n, int m, const int x[n][m], int row[n], int column[m], int all[2]) {{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {{
            {body}
        }}
}}
"
    )
}

const TILES: [&str; 4] = [
    "bind i, j -> y, x block 8x4\nregister_tile i by 4",
    "bind i, j -> y, x block 8x4\nregister_tile j by 2",
    "bind i, j -> y, x block 4x2\nregister_tile i by 2\nregister_tile j by 4",
    "bind i, j -> y, x block 8x4",
];

#[test]
fn every_operation_begins_at_what_leaves_values_alone() {
    for op in ["+", "-", "|", "&", "^"] {
        let body = format!(
            "#pragma omp atomic\n row[i] {op}= x[i][j];\n #pragma omp atomic\n column[j] {op}= x[i][j] + 1;"
        );
        for steps in TILES {
            check(&planes(&body), steps, PLANES);
        }
    }
}

/// Nothing in the update says which iteration it is of: each of them does it all the same.
#[test]
fn updates_that_mention_no_counter_are_done_by_every_iteration() {
    for body in [
        "#pragma omp atomic\n all[n & 1]++;",
        "#pragma omp atomic\n all[n & 1] += n;",
        "if (n > 4) {\n #pragma omp atomic\n all[n & 1] += 3;\n }",
        "if (x[i][j] > 2) {\n #pragma omp atomic\n all[n & 1]++;\n }",
        "for (int k = 0; k < 3; k++) {\n #pragma omp atomic\n all[n & 1] += k;\n }",
        "for (int k = 0; k < 1; k++) {\n #pragma omp atomic\n all[k + (n & 1)] += x[i][j];\n }",
    ] {
        for steps in TILES {
            check(&planes(body), steps, PLANES);
        }
    }
}

/// What data decide, and what is updated in two ways, is done iteration by iteration.
#[test]
fn elements_that_move_are_updated_one_by_one() {
    for body in [
        "int k = x[i][j] < 0 ? 0 : x[i][j] % n;\n #pragma omp atomic\n row[k] += 1;",
        "int k = (i + j) % m;\n #pragma omp atomic\n column[k] += x[i][j];",
        "#pragma omp atomic\n column[j] += x[i][j];\n #pragma omp atomic\n column[j] += 2 * i;",
    ] {
        for steps in TILES {
            check(&planes(body), steps, PLANES);
        }
    }
}

/// One thread of those that share a loop updates what stands outside of it.
#[test]
fn updates_beside_a_shared_loop_are_done_once() {
    let source = "
void f(int n, int m, const int x[n][m], int sum[2], int most[2]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int j = 0; j < m; j++) s += x[i][j];
        #pragma omp atomic
        sum[n & 1] += s;
        if (s > 5) {
            #pragma omp atomic
            most[n & 1]++;
        }
    }
}
";
    for steps in [
        "bind i -> y block 1x2\nshare j -> x by 32",
        "bind i -> y block 1x2\nshare j -> x by 32\nregister_tile i by 4",
        "bind i -> y block 1x1\nshare j -> x by 64\nregister_tile i by 8",
    ] {
        check(source, steps, PLANES);
    }
}

/// Copies to shared memory stay apart from updates.
#[test]
fn steps_that_do_not_know_updates_refuse_them() {
    let text = refused_text(BOTH, "bind i -> y block 1x8\nstage p");
    assert!(text.contains("works on more than this iteration's values"), "{text}");
}
