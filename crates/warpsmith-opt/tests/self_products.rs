//! Arrays that a nest reads in several ways: every group of reads that differ by constants has its own copy in shared
//! memory.

mod common;

use common::{Points, check_scheduled as check, has_flat as has, refused_text};

const GRAM: &str = "
void gram(int n, int m, const float A[n][m], float C[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < m; k++)
                s += A[i][k] * A[j][k];
            C[i][j] = s;
        }
}
";

const SQUARE: &str = "
void square(int n, const float A[n][n], float C[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += A[i][k] * A[k][j];
            C[i][j] = s;
        }
}
";

const BODIES: &str = "
void bodies(int n, const float x[n], float force[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < n; j++) {
            float d = x[j] - x[i];
            s += d / (1 + d * d);
        }
        force[i] = s;
    }
}
";

const SIZES: Points<'_> = &[
    &[("n", 0), ("m", 0)],
    &[("n", 1), ("m", 1)],
    &[("n", 17), ("m", 9)],
    &[("n", 24), ("m", 8)],
    &[("n", 32), ("m", 16)],
];
const SQUARES: Points<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 17)], &[("n", 32)]];

#[test]
fn rows_times_rows() {
    let text = check(GRAM, "bind i, j -> y, x block 8x8\nstage A at k tile 8", SIZES);
    has(&text, &["A_shared[BY][TILE_K];", "A_shared_2[BX][TILE_K];"]);
    check(
        GRAM,
        "bind i, j -> y, x block 8x4\nspecialise m%4=0, A%16=0\nregister_tile i by 4\nregister_tile j by 2\nstage A at k tile 8 transposed pad 4\nunroll k\npipeline k stages 2\ndouble_buffer k",
        SIZES,
    );
    check(
        GRAM,
        "bind i, j -> y, x block 8x8\nspecialise m%4=0, A%16=0\nstage A at k tile 8\nvectorise A by 4",
        SIZES,
    );
    check(GRAM, "bind i, j -> y, x block 8x8\nstage A#2 at k tile 4", SIZES);
}

#[test]
fn copies_have_layouts_of_their_own() {
    let steps = "bind i, j -> y, x block 8x8\nspecialise n%4=0, A%16=0\nstage A#1 at k tile 8 transposed\nstage A#2 at k tile 8 pad 1\n";
    check(SQUARE, steps, SQUARES);
    check(
        SQUARE,
        "bind i, j -> y, x block 8x8\nspecialise n%4=0, A%16=0\nstage A#1 at k tile 8 transposed\nstage A#2 at k tile 8\nvectorise A#2 by 4",
        SQUARES,
    );
    check(SQUARE, "bind i, j -> y, x block 8x8\nstage A at k tile 8\nbounds pad", SQUARES);
}

#[test]
fn what_a_thread_keeps_is_not_copied() {
    let text = check(BODIES, "bind i -> x block 16\nstage x at j tile 16", SQUARES);
    has(&text, &["x_shared[TILE_J]"]);
    assert!(!text.contains("x_shared_2"), "{text}");
}

#[test]
fn strides_of_their_own() {
    let source = "void f(int n, const float a[2 * n], float b[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) b[i] = a[i] + a[2 * i];\n}\n";
    let text = check(source, "bind i -> x block 8\nstage a", SQUARES);
    has(&text, &["a_shared_2[element] ="]);
}

#[test]
fn groups_that_become_one_are_checked_again() {
    let source = "void f(int n, int m, const float x[n + m], float y[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) y[i] = x[i] + x[i + m];\n}\n";
    let sizes: Points<'_> = &[&[("n", 20), ("m", 3)], &[("n", 20), ("m", 4)]];
    check(source, "bind i -> x block 8\nstage x", sizes);
    check(source, "bind i -> x block 8\nspecialise m=4\nstage x", sizes);
    let text = refused_text(source, "bind i -> x block 8\nstage x\nspecialise m=4");
    assert!(text.contains("cannot stage `x`: nothing reads it there"), "{text}");
}

#[test]
fn options_of_a_copy_come_in_any_order() {
    let bind = "bind i, j -> y, x block 8x8\n";
    let one = check(GRAM, &format!("{bind}stage A at k tile 8 pad 1 transposed"), SIZES);
    let other = check(GRAM, &format!("{bind}stage A at k tile 8 transposed pad 1"), SIZES);
    assert_eq!(one, other);
    let text = refused_text(GRAM, &format!("{bind}stage A at k tile 8 pad 1 pad 2"));
    assert!(text.contains("not understood"), "{text}");
}

#[test]
fn groups_are_named_by_their_number() {
    let first = |schedule: &str| {
        let text = refused_text(GRAM, &format!("bind i, j -> y, x block 8x8\n{schedule}"));
        text.lines().next().unwrap_or_default().to_string()
    };
    assert_eq!(
        first("stage A#3 at k tile 8"),
        "error[W261]: cannot stage `A#3`: it has 2 groups of reads that differ by more than a constant"
    );
    assert_eq!(
        first("stage A at k tile 8\nstage A#2 at k tile 8"),
        "error[W261]: cannot stage `A#2`: it is staged already"
    );
    assert_eq!(
        first("stage A#0 at k tile 8"),
        "error[W261]: cannot stage `A#0`: the function has no array parameter of this name"
    );
}
