//! Arrays that the threads of a block write in shared memory and copy back together.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 0), ("m", 5)],
    &[("n", 3), ("m", 0)],
    &[("n", 1), ("m", 1)],
    &[("n", 7), ("m", 15)],
    &[("n", 32), ("m", 16)],
    &[("n", 33), ("m", 17)],
    &[("n", 65), ("m", 50)],
    &[("n", 9), ("m", 64)],
];

/// Sums of the elements so far, row by row.
const RUNNING: &str = "
void running(int n, int m, const float x[n][m], float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int j = 0; j < m; j++) {
            s += x[i][j];
            y[i][j] = s;
        }
    }
}
";

const STRIPS: &str = "bind i -> x block 32\nstage x at j tile 16 pad 1\nstage y at j tile 16 pad 1";

#[test]
fn rows_of_running_sums_leave_by_neighbours() {
    let text = check(RUNNING, &format!("{STRIPS}\nunroll j"), SIZES);
    has(
        &text,
        &[
            "// the block copies 32 x 16 elements of x",
            "__syncthreads();",
            "y_shared[i_thread][j_strip] = s;",
            "__syncthreads();",
            "// 32 x 16 elements of y go back",
            "] = y_shared[",
            "__syncthreads();",
        ],
    );
    assert!(!text.contains("copies 32 x 16 elements of y"), "nothing of it is read:\n{text}");
    let flat = RUNNING.replace("[n][m]", "[n * m]");
    check(&flat.replace("[i][j]", "[i * m + j]"), STRIPS, SIZES);
    check(RUNNING, "bind i -> x block 16\nregister_tile i by 3\nstage y at j tile 8", SIZES);
}

#[test]
fn what_is_read_before_it_is_written_is_copied_first() {
    let decay = RUNNING
        .replace("s += x[i][j];", "if (x[i][j] > 0.5f) s += 1.0f;")
        .replace("y[i][j] = s", "y[i][j] = y[i][j] * 0.5f + s");
    let text = check(&decay, STRIPS, SIZES);
    has(&text, &["the block copies 32 x 16 elements of y", "elements of y go back"]);
    // The element before belongs to the strip before, or to nobody's.
    let before = RUNNING
        .replace("int j = 0", "int j = 1")
        .replace("float s = 0.0f;", "if (m > 0) y[i][0] = x[i][0];")
        .replace("s += x[i][j];", "")
        .replace("y[i][j] = s", "y[i][j] = 0.5f * y[i][j - 1] + x[i][j]");
    let text = check(&before, STRIPS, SIZES);
    has(
        &text,
        &[
            "// what threads wrote before is seen by those that copy it",
            "the block copies 32 x 17 elements of y",
            "32 x 17 elements of y go back",
        ],
    );
}

#[test]
fn what_only_some_iterations_write_keeps_its_old_value() {
    // An element of a dozen is not touched, one is written last.
    let points = "
void points(int n, const float a[3 * n], float b[4 * n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = a[3 * i] + a[3 * i + 1] - a[3 * i + 2];
        b[4 * i] = s;
        b[4 * i + 2] = s * s;
        b[4 * i + 3] = 2.0f;
    }
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 31)], &[("n", 64)], &[("n", 100)]];
    let steps = "bind i -> x block 32\nstage a\nstage b";
    let text = check(points, steps, sizes);
    has(&text, &["the block copies 128 elements of b", "128 elements of b go back"]);
    let whole = points.replace("b[4 * i] = s;", "b[4 * i] = s; b[4 * i + 1] = -s;");
    let text = check(&whole, steps, sizes);
    assert!(!text.contains("copies 128 elements of b"), "{text}");
    has(&text, &["b_shared[", "// 128 elements of b go back"]);
    let looped = points.replace(
        "b[4 * i] = s;\n        b[4 * i + 2] = s * s;\n        b[4 * i + 3] = 2.0f;",
        "for (int c = 0; c < 4; c++) b[4 * i + c] = s + c;",
    );
    let text = check(&looped, steps, sizes);
    assert!(!text.contains("copies 128 elements of b"), "{text}");
    let perhaps =
        looped.replace("b[4 * i + c] = s + c;", "{ b[4 * i + c] = s; if (s > 0) break; }");
    has(&check(&perhaps, steps, sizes), &["copies 128 elements of b"]);
}

#[test]
fn what_others_may_write_is_not_copied_back() {
    let refused = |source: &str, steps: &str, why: &str| has(&refused_text(source, steps), &[why]);
    let ahead = |step: &str| format!("{STRIPS}\nunroll j\n{step}");
    refused(
        RUNNING,
        &ahead("pipeline j stages 2"),
        "filled and written back one element at a time",
    );
    refused(RUNNING, &ahead("double_buffer j"), "what its strips write goes back");
    let tiled =
        "bind i -> x block 32\nregister_tile i by 4\nstage y at j tile 16\nvectorise i by 4";
    refused(RUNNING, tiled, "one element at a time");
    // Two bound loops along one dimension: a block has no box of its own.
    let together = "
void rows(int n, const float x[n], float y[16 * n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 16; j++) y[16 * i + j] = x[i];
    }
}
";
    refused(together, "bind i, j -> y, x block 32x4\nstage y", "might have elements in common");
    // Between the elements of a block are those of another in another iteration of the loop around the strips.
    let moved = "
void moved(int n, int m, const float x[n][m], float y[4 * n + 16])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 2; r++)
            for (int p = 0; p < m; p++) y[4 * i + 6 * r] += x[i][p];
}
";
    let steps = "bind i -> x block 2\nstage y at p tile 4";
    refused(moved, steps, "might have elements in common");
    let outside =
        RUNNING.replace("float s = 0.0f;", "float s = 0.0f; if (i > 0 && n < 0) y[i - 1][0] = s;");
    let outside = outside.replace("#pragma omp", "#pragma ws independent\n    #pragma omp");
    refused(&outside, STRIPS, "blocks would write back what others may write");
    let several = RUNNING.replace("y[i][j] = s;", "y[i][j] = s; if (s > 2) y[i][m - 1 - j] = s;");
    refused(&several, STRIPS, "accesses it in several ways");
}

#[test]
fn what_is_written_before_anything_is_read_is_not_copied_first() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3), ("l", 2)],
        &[("n", 1), ("m", 8), ("l", 3)],
        &[("n", 2), ("m", 9), ("l", 1)],
        &[("n", 7), ("m", 15), ("l", 2)],
        &[("n", 33), ("m", 66), ("l", 3)],
    ];
    let planes = "
void planes(int n, int m, int l, const float x[m][l][n], float y[m][l][n])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        for (int j = 0; j < l; j++)
            for (int p = 0; p < n; p++)
                y[i][j][p] = 2 * x[i][j][p];
}
";
    let steps = "bind i -> x block 8\nstage y at p tile 3";
    let marked = planes.replace("parallel for", "parallel for collapse(3)");
    let three = planes.replace("[l]", "[3]").replace("j < l", "j < 3");
    let inner = planes.replace("i = 0; i < m", "i = 1; i < m - 1");
    for source in [planes.into(), marked, inner, three] {
        let text = check(&source, steps, sizes);
        assert!(!text.contains("elements of y\n"), "{text}");
        has(&text, &["8 x 1 x 3 elements of y go back"]);
    }
    for (steps, size) in
        [("bind p -> x block 4\nstage y", "4"), ("bind j -> y block 1x1\nstage y at p tile 8", "8")]
    {
        let text = check(planes, steps, sizes);
        assert!(!text.contains("elements of y\n"), "{text}");
        has(&text, &[&format!("1 x 1 x {size} elements of y go back")]);
    }
    let inside = planes.replace("p = 0; p < n", "p = 1; p < n - 1");
    has(&check(&inside, steps, sizes), &["8 x 1 x 3 elements of y go back"]);
    let sums = "
void sums(int n, int m, const float x[m][n], float s[m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        s[i] = 3;
        for (int j = 0; j < n; j++) s[i] += x[i][j];
    }
}
";
    let steps = "bind i -> x block 64\nstage s";
    let text = check(sums, steps, sizes);
    assert!(!text.contains("elements of s\n"), "{text}");
    check(sums, &format!("{steps}\nbounds pad"), sizes);
    let some = sums.replace("s[i] = 3;", "for (int j = 0; j < n; j++) s[i] = j;");
    has(&check(&some, steps, sizes), &["copies 64 elements of s", "64 elements of s go back"]);
}
