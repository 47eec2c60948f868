//! Serial loops that threads of a block share: sums over rows and columns, and what they go on with.

mod common;

use common::{Points as Sizes, check_scheduled as check, has_flat as has, refused_text};

const GEMV: &str = "\
void gemv(int n, int m, const float A[n][m], const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int j = 0; j < m; j++) {
            s += A[i][j] * x[j];
        }
        y[i] = s;
    }
}
";

const PLANES: Sizes<'_> = &[
    &[("n", 0), ("m", 3)],
    &[("n", 1), ("m", 1)],
    &[("n", 3), ("m", 0)],
    &[("n", 5), ("m", 31)],
    &[("n", 9), ("m", 33)],
    &[("n", 8), ("m", 128)],
    &[("n", 17), ("m", 100)],
    &[("n", 66), ("m", 260)],
];

#[test]
fn a_warp_sums_a_row() {
    let text = check(GEMV, "bind i -> y block 1x4\nshare j -> x by 32", PLANES);
    has(
        &text,
        &[
            "const int lane = threadIdx.x;",
            "for (long long j = lane; j < m; j += LANES) {",
            "for (int offset = LANES / 2; offset > 0; offset /= 2) {",
            "if (lane == 0 && i_thread < i_left) { y[i] = s; }",
        ],
    );
}

#[test]
fn fewer_lanes_than_a_warp_and_more_threads_than_one() {
    for threads in [2, 8, 16] {
        let rows = 64 / threads;
        check(GEMV, &format!("bind i -> y block 1x{rows}\nshare j -> x by {threads}"), PLANES);
    }
    for threads in [64, 256] {
        let text =
            check(GEMV, &format!("bind i -> y block 1x2\nshare j -> x by {threads}"), PLANES);
        has(&text, &["__shared__ float s_shared"]);
    }
}

/// `KEEP` is a statement that keeps the least or greatest of `best` and `a[i][j]`.
const NEAREST: &str = "\
void nearest(int n, int m, const float a[n][m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float best = a[i][0];
        for (int j = 1; j < m; j++) {
            float d = a[i][j] * a[i][j] - a[i][j];
            KEEP;
        }
        y[i] = best;
    }
}
";

#[test]
fn extremes_that_are_chosen() {
    let sizes: Sizes<'_> = &[
        &[("n", 1), ("m", 1)],
        &[("n", 5), ("m", 31)],
        &[("n", 9), ("m", 33)],
        &[("n", 8), ("m", 128)],
    ];
    for keep in [
        "if (d < best) best = d",
        "if (best <= d) { best = d; }",
        "best = d > best ? d : best",
        "best = d > best ? best : d",
    ] {
        let source = NEAREST.replace("KEEP", keep);
        for threads in [8, 64] {
            check(&source, &format!("bind i -> y block 1x4\nshare j -> x by {threads}"), sizes);
        }
        check(&source, "bind i -> x block 8\nshare j -> y by 4", sizes);
    }
    let text = check(
        &NEAREST.replace("KEEP", "if (d < best) best = d"),
        "bind i -> y block 1x4\nshare j -> x by 32",
        sizes,
    );
    has(&text, &["float best_part = INFINITY;", "best = best_part < best ? best_part : best;"]);
}

#[test]
fn a_team_computes_several_rows() {
    for threads in [32, 128] {
        check(
            GEMV,
            &format!(
                "bind i -> y block 1x2\nshare j -> x by {threads}\nregister_tile i by 4\nunroll j by 2"
            ),
            PLANES,
        );
    }
}

#[test]
fn rows_are_read_in_vectors() {
    let text = check(
        GEMV,
        "bind i -> y block 1x4\nshare j -> x by 32\nregister_tile i by 2\nspecialise m%4=0, A%16=0, x%16=0\nvectorise j by 4\nunroll j by 2",
        PLANES,
    );
    has(&text, &["const float4 A4"]);
}

const TRANSPOSED: &str = "\
void gemv(int n, int m, const float A[n][m], const float t[n], float y[m]) {
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        float s = 0.0f;
        for (int i = 0; i < n; i++) {
            s += A[i][j] * t[i];
        }
        y[j] = s;
    }
}
";

#[test]
fn columns_are_shared_along_y() {
    let text = check(TRANSPOSED, "bind j -> x block 32\nshare i -> y by 8\nunroll i by 4", PLANES);
    has(&text, &["__shared__ float s_shared"]);
    let text = check(
        TRANSPOSED,
        "bind j -> x block 32\nshare i -> y by 8\nspecialise m%4=0, A%16=0\nregister_tile j by 4\nvectorise j by 4\nunroll i by 4",
        PLANES,
    );
    has(&text, &["float4"]);
}

const GESUMMV: &str = "\
void gesummv(int n, int m, float alpha, float beta, const float A[n][m], const float B[n][m],
             const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float a = 0.0f;
        float b = 0.0f;
        for (int j = 0; j < m; j++) {
            a += A[i][j] * x[j];
            b += B[i][j] * x[j];
        }
        y[i] = alpha * a + beta * b;
    }
}
";

const SCALED: Sizes<'_> = &[
    &[("n", 3), ("m", 0), ("alpha", 2), ("beta", 3)],
    &[("n", 5), ("m", 31), ("alpha", 2), ("beta", 3)],
    &[("n", 16), ("m", 128), ("alpha", 1), ("beta", 2)],
    &[("n", 17), ("m", 100), ("alpha", 2), ("beta", 1)],
];

#[test]
fn several_sums_of_one_loop_are_combined_together() {
    for threads in [32, 64] {
        check(
            GESUMMV,
            &format!(
                "bind i -> y block 1x4\nshare j -> x by {threads}\nregister_tile i by 2\nunroll j by 4\nspecialise n%8=0, m%4=0, A%16=0, B%16=0, x%16=0\nvectorise j by 4"
            ),
            SCALED,
        );
    }
}

const ADDS: &str = "\
void f(int n, int m, float beta, const float A[n][m], const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            y[i] += beta * A[i][j] * x[j];
        }
    }
}
";

#[test]
fn what_a_sum_begins_with_is_added_once() {
    let sizes: Sizes<'_> = &[
        &[("n", 5), ("m", 31), ("beta", 2)],
        &[("n", 9), ("m", 64), ("beta", 3)],
        &[("n", 4), ("m", 0), ("beta", 3)],
    ];
    let text = check(ADDS, "bind i -> y block 1x4\naccumulate y\nshare j -> x by 32", sizes);
    has(&text, &["float acc_part = 0.0f;", "if (lane == 0 && i_thread < i_left) {"]);
    assert!(!text.contains("__syncwarp"), "{text}");
    check(
        ADDS,
        "bind i -> y block 1x4\naccumulate y\nshare j -> x by 64\nregister_tile i by 2",
        sizes,
    );
}

const NORM: &str = "\
void norm(int n, int m, const float A[n][m], float B[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float most = A[i][0];
        for (int j = 1; j < m; j++) most = fmaxf(most, A[i][j]);
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            B[i][j] = A[i][j] - most;
            sum += B[i][j];
        }
        s[i] = sum;
        for (int j = 0; j < m; j++) B[i][j] = B[i][j] * 2.0f - s[i];
    }
}
";

const ROWS: Sizes<'_> = &[
    &[("n", 0), ("m", 3)],
    &[("n", 1), ("m", 1)],
    &[("n", 5), ("m", 31)],
    &[("n", 9), ("m", 33)],
    &[("n", 16), ("m", 128)],
    &[("n", 17), ("m", 100)],
];

#[test]
fn several_loops_of_a_nest_are_shared_and_see_what_the_others_stored() {
    for threads in [8, 32, 128] {
        for tile in ["", "\nregister_tile i by 2"] {
            let text = check(
                NORM,
                &format!("bind i -> y block 1x4\nshare j, j#2, j#3 -> x by {threads}{tile}"),
                ROWS,
            );
            assert!(text.contains("sum"), "{text}");
        }
    }
    let text = check(
        NORM,
        "bind i -> y block 1x4\nshare j, j#2, j#3 -> x by 32\nspecialise m%4=0, A%16=0, B%16=0\nvectorise j#2 by 4\nvectorise j#3 by 4",
        ROWS,
    );
    has(&text, &["*reinterpret_cast<float4 *>(&B["]);
}

#[test]
fn sums_over_two_loops_are_combined_after_both() {
    let text = check(
        "\
void frobenius(int n, int m, int k, const double A[n][m][k], double s[n]) {
    #pragma omp parallel for
    for (int b = 0; b < n; b++) {
        double sum = 0.0;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < k; j++)
                sum += A[b][i][j] * A[b][i][j];
        s[b] = sum;
    }
}
",
        "bind b -> y block 1x2\nshare j -> x by 64\nunroll j by 2",
        &[&[("n", 3), ("m", 5), ("k", 7)], &[("n", 2), ("m", 3), ("k", 130)]],
    );
    assert_eq!(text.matches("__syncthreads").count(), 1, "{text}");
}

#[test]
fn products_in_a_batch_are_shared_in_double() {
    let source = "\
void batch(int b, int n, int m, const double A[b][n][m], const double x[b][m], double y[b][n]) {
    #pragma omp parallel for collapse(2)
    for (int k = 0; k < b; k++)
        for (int i = 0; i < n; i++) {
            double s = 0.0;
            for (int j = 0; j < m; j++) s += A[k][i][j] * x[k][j];
            y[k][i] = s;
        }
}
";
    let sizes: Sizes<'_> = &[
        &[("b", 3), ("n", 5), ("m", 7)],
        &[("b", 2), ("n", 8), ("m", 66)],
        &[("b", 1), ("n", 9), ("m", 64)],
    ];
    check(
        source,
        "bind k, i -> z, y block 1x4x1\nshare j -> x by 32\nregister_tile i by 2\nspecialise m%2=0, A%16=0, x%16=0\nvectorise j by 2",
        sizes,
    );
    check(source, "bind k, i -> y, x block 8x4\nshare j -> z by 4", sizes);
}

#[test]
fn bounds_may_depend_on_the_row() {
    check(
        "\
void f(int n, const float A[n][n], const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int j = 0; j <= i; j++) s += A[i][j] * x[j];
        y[i] = s;
    }
}
",
        "bind i -> y block 1x4\nshare j -> x by 32\nregister_tile i by 2",
        &[&[("n", 1)], &[("n", 7)], &[("n", 70)]],
    );
}

#[test]
fn every_operation_is_combined_in_its_way() {
    let source = "\
void f(int n, int m, const int A[n][m], int y[n], unsigned z[n], int p[n], long long q[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int most = 3;
        unsigned bits = 0;
        int any = 0;
        long long product = 1;
        for (int j = 0; j < m; j++) {
            if (A[i][j] > 1) any |= A[i][j];
            bits ^= (unsigned)A[i][j];
            product *= A[i][j] % 2 + 2;
        }
        y[i] = most;
        z[i] = bits;
        p[i] = any;
        q[i] = product;
    }
}
";
    for threads in [16, 64] {
        check(source, &format!("bind i -> y block 1x4\nshare j -> x by {threads}"), ROWS);
    }
    check(source, "bind i -> x block 16\nshare j -> y by 8\nregister_tile i by 2", ROWS);
}

#[test]
fn a_step_shared_reads_as_it_was_written() {
    let mut input = common::Input::new(NORM);
    let text = "bind i -> y block 1x4\nshare j, j#2 -> x by 32\n";
    let file = input.sources.add("shared.sched", text);
    let schedule = warpsmith_opt::schedule::parse(&input.sources, file).unwrap();
    assert_eq!(schedule.print(), text);
}

/// Few different values, so that the least and the greatest are found many times. `BEGIN` is how the search begins,
/// `COMPARE` is `<` or `>`.
const FIRST: &str = "\
void first(int n, int m, const int a[n][m], long at[n], int best[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        BEGIN
        for (long j = 0; j < m; j++) {
            int v = a[i][j] & 3;
            if (v COMPARE top) {
                where = j;
                top = v;
            }
        }
        at[i] = where;
        best[i] = top;
    }
}
";

#[test]
fn the_first_of_equal_extremes_is_found() {
    let begins = ["int top = 2; long where = -7;", "int top = BOUND; long where = -1;"];
    for (compare, bound) in [("<", "2147483647"), (">", "(-2147483647 - 1)")] {
        for begin in begins {
            let source = FIRST.replace("BEGIN", &begin.replace("BOUND", bound));
            let source = source.replace("COMPARE", compare);
            for steps in [
                "bind i -> y block 1x4\nshare j -> x by 8",
                "bind i -> y block 1x2\nshare j -> x by 64\nregister_tile i by 2",
                "bind i -> x block 32\nshare j -> y by 8",
                "bind i -> y block 1x4\nshare j -> x by 32\nunroll j by 4",
            ] {
                check(&source, steps, PLANES);
            }
        }
    }
    // A counter may be kept in a wider type.
    for ty in ["long", "unsigned"] {
        let source = FIRST.replace("BEGIN", &begins[0].replace("long", ty));
        let source = source.replace("long j", "int j").replace("COMPARE", "<");
        check(&source, "bind i -> y block 1x4\nshare j -> x by 8", PLANES);
    }
    let source = FIRST.replace("BEGIN", begins[0]).replace("COMPARE", "<");
    let text = check(&source, "bind i -> y block 1x4\nshare j -> x by 32", PLANES);
    has(
        &text,
        &[
            "// of equal values the first one is kept",
            "if (top_part_other < top_part || (top_part_other == top_part && where_part_other < where_part)) {",
            "if (top_part < top) { top = top_part; where = where_part; }",
        ],
    );
}

#[test]
fn the_place_of_an_extreme_that_begins_in_memory() {
    let source = "\
void largest(int n, int m, const float a[n][m], int at[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float top = a[i][0];
        int where = 0;
        for (int j = 1; j < m; j++)
            if (top < a[i][j]) {
                top = a[i][j];
                where = j;
            }
        at[i] = where;
    }
}
";
    let sizes: Sizes<'_> =
        &[&[("n", 1), ("m", 1)], &[("n", 5), ("m", 31)], &[("n", 9), ("m", 133)]];
    for steps in
        ["bind i -> y block 1x4\nshare j -> x by 8", "bind i -> x block 32\nshare j -> y by 4"]
    {
        check(source, steps, sizes);
    }
}

#[test]
fn iterations_of_a_triangle_do_not_share_its_sums() {
    let source = "
void symmetric(int n, int m, const float a[m][n], float c[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            float s = 0.0f;
            for (int k = 0; k < m; k++) s += a[k][i] * a[k][j];
            c[i][j] = s * 0.5f;
            c[j][i] = c[i][j];
        }
}
";
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 1)], &[("n", 7), ("m", 3)], &[("n", 9), ("m", 40)]];
    let steps = "bind i -> y block 1x1\nshare k -> x by 32";
    check(source, steps, sizes);
    let text = refused_text(source, &format!("{steps}\nregister_tile i by 2"));
    assert!(text.contains("come to loop `k`, which threads share, at different times"), "{text}");
}
