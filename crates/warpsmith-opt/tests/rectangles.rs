//! Loops whose range depends on the loops around them, over all values that they take.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 0), ("m", 3)],
    &[("n", 1), ("m", 1)],
    &[("n", 5), ("m", 7)],
    &[("n", 19), ("m", 0)],
    &[("n", 33), ("m", 18)],
];

/// The products of the columns of a matrix; the result is symmetric, and both halves are stored.
const COVARIANCE: &str = "
void covariance(int n, int m, const float a[m][n], float c[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            c[i][j] = 0.0f;
            for (int k = 0; k < m; k++)
                c[i][j] += a[k][i] * a[k][j];
            c[i][j] *= 0.5f;
            c[j][i] = c[i][j];
        }
}
";

#[test]
fn a_triangle_is_computed_in_tiles() {
    let start = "accumulate c; rectangle j; bind i, j -> y, x block 8x4";
    let text = check(COVARIANCE, &start.replace("; ", "\n"), SIZES);
    has(&text, &["for (int k", "if (j >= "]);
    let tiled = format!(
        "{start}; register_tile i by 2; register_tile j by 2; stage a#1 at k tile 4; stage a#2 at k tile 4"
    );
    let text = check(COVARIANCE, &tiled.replace("; ", "\n"), SIZES);
    has(
        &text,
        &["a_shared", "if ((long long)j_block + TILE_X <= i_block) return;", "__syncthreads();"],
    );
}

#[test]
fn what_has_effects_stays_under_the_condition() {
    // The sum is stored before the second one begins: the second loop is not run outside the shape.
    let source = "
void two(int n, int m, const float a[n][m], float c[n][n], float d[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            float s = 1.0f;
            for (int k = 0; k < m; k++) s += a[i][k] * a[j][k];
            c[i][j] = s;
            float t = 0.0f;
            for (int k = 0; k < m; k++) t += a[i][k] - a[j][k];
            d[i][j] = t;
        }
}
";
    let text = check(source, "rectangle j\nbind i, j -> y, x block 8x4", SIZES);
    let (before, after) = text.split_once("if (j <= ").expect("a condition");
    assert!(before.contains("s +=") && after.contains("t +="), "{text}");
}

#[test]
fn elements_outside_an_array_are_not_read() {
    // Packed rows: outside the triangle there is nothing to read.
    let source = "
void packed(int n, int m, const float a[n * (n + 1) / 2], float c[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            float s = a[i * (i + 1) / 2 + j];
            c[i][j] = s + m;
        }
}
";
    let text = check(source, "rectangle j\nbind i, j -> y, x block 8x4", SIZES);
    let (before, after) = text.split_once("if (j <= ").expect("a condition");
    assert!(!before.contains("= a[") && after.contains("a["), "{text}");
}

#[test]
fn elements_that_others_write_are_not_read() {
    let source = "
void own(int n, int m, float c[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            float s = c[i][j] + m;
            c[i][j] = 2 * s;
        }
}
";
    let text = check(source, "rectangle j\nbind i, j -> y, x block 8x4", SIZES);
    let (before, after) = text.split_once("if (j >= ").expect("a condition");
    assert!(!before.contains("= c[") && after.contains("c["), "{text}");
}

#[test]
fn bands_and_trapezoids_have_rectangles_too() {
    let band = "
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void band(int n, int m, const float a[n][m], float c[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = MAX(0, i - 3); j < MIN(n, i + 4); j++) {
            float s = 0.0f;
            for (int k = 0; k < m; k++) s += a[i][k] * a[j][k];
            c[i][j] = s;
        }
}
";
    let text = check(band, "rectangle j\nbind i, j -> y, x block 8x4", SIZES);
    let (before, _) = text.split_once("c[").expect("a store");
    assert!(before.contains("s +="), "{text}");
    let three = "
void three(int n, int m, float c[n][n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            for (int k = j; k <= n - 1; k++)
                c[i][j][k] = m + i * j - k;
}
";
    check(three, "rectangle k\nrectangle j\nbind i, j, k -> z, y, x block 4x2x2", SIZES);
    check(three, "rectangle j\nrectangle k\nbind i, j, k -> z, y, x block 4x2x2", SIZES);
}

#[test]
fn what_is_no_triangle_is_refused() {
    let source = |bounds: &str| {
        format!(
            "void f(int n, int m, const int p[n], float c[n][n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = {bounds}; j++)
            c[i][j] = m;
}}"
        )
    };
    let cases = [
        ("0; j < n", "its range is the same for all iterations"),
        ("p[i]; j < n", "its bounds change inside the nest"),
        ("i % 3; j < n", "its bounds are no sums of the counters around it"),
        ("i * m; j < n", "its bounds are no sums of the counters around it"),
    ];
    for (bounds, why) in cases {
        let text = refused_text(&source(bounds), "rectangle j");
        assert!(text.contains(why), "{bounds}:\n{text}");
    }
    let text = refused_text(COVARIANCE, "bind i -> x block 32\nrectangle i");
    assert!(text.contains("bound"), "{text}");
    let unsigned_bound = "
void f(unsigned n, int m, float c[n][n]) {
    #pragma omp parallel for
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i - 1; j++)
            c[i][j] = m;
}
";
    let text = refused_text(unsigned_bound, "rectangle j");
    assert!(text.contains("wrap around"), "{text}");
}

/// Products with a triangular matrix: the sum runs over what is beside the diagonal, on either side.
const BESIDE: &str = "
void beside(int m, int n, const float A[m][m], const float B[m][n], float C[m][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float s = B[i][j];
            for (int k = i + 1; k < m; k++)
                s += A[k][i] * B[k][j];
            C[i][j] = 0.5f * s;
        }
}
";

const SHAPES: Sizes<'_> = &[
    &[("m", 0), ("n", 3)],
    &[("m", 1), ("n", 1)],
    &[("m", 7), ("n", 5)],
    &[("m", 16), ("n", 33)],
    &[("m", 37), ("n", 16)],
    &[("m", 70), ("n", 20)],
];

#[test]
fn strips_beside_the_diagonal_are_left_out() {
    let tiles = "bind i, j -> y, x block 8x8\nregister_tile i by 2\nstage A at k tile 8\nstage B#2 at k tile 8\n";
    let text = check(BESIDE, &format!("rectangle k\n{tiles}"), SHAPES);
    has(
        &text,
        &[
            "const int k_first = i_block > 0 ? 1 + i_block / TILE_K * TILE_K : 1;",
            "for (int k_block = k_first; k_block < m; k_block += TILE_K)",
            "A_value",
            "if (k >= i + 1)",
        ],
    );
    // Away from the diagonal nobody asks.
    let (inside, beside) = text.split_once("} else {").expect("two kinds of strips");
    has(
        inside,
        &["in this strip every iteration counts", "(long long)i_block + TILE_Y <= k_block"],
    );
    assert!(!inside.contains("if (k >= i + 1)") && beside.contains("if (k >= i + 1)"), "{text}");
    check(BESIDE, &format!("rectangle k\n{tiles}pipeline k stages 3\n"), SHAPES);
    check(
        BESIDE,
        &format!("rectangle k\n{tiles}unroll k\npipeline k stages 2\ndouble_buffer k\n"),
        SHAPES,
    );
    let up_to = BESIDE.replace("int k = i + 1; k < m", "int k = 0; k <= i");
    let text = check(&up_to, &format!("rectangle k\n{tiles}"), SHAPES);
    // The first strip is there in every block: nobody asks.
    has(&text, &["const int k_end = (long long)i_block + TILE_Y < m ? ", "k_block < k_end"]);
    check(&up_to, &format!("rectangle k\n{tiles}pipeline k stages 2\n"), SHAPES);
    let right = BESIDE
        .replace("int k = i + 1; k < m", "int k = 0; k < j")
        .replace("A[k][i]", "A[i][k]")
        .replace("B[k][j]", "B[i][k]");
    let right = right.replace("float A[m][m]", "float A[m][n]");
    check(
        &right,
        "rectangle k\nbind i, j -> y, x block 8x8\nregister_tile i by 2\nstage A at k tile 8\n",
        SHAPES,
    );
    // A band has both ends.
    let band = BESIDE
        .replace("int k = i + 1; k < m", "int k = i; k < min(i + 3, m)")
        .replace("\nvoid", "\n#define min(a, b) ((a) < (b) ? (a) : (b))\nvoid");
    let text = check(&band, &format!("rectangle k\n{tiles}"), SHAPES);
    has(&text, &["k_first"]);
    assert!(!text.contains("every iteration counts"), "{text}");
}

#[test]
fn sums_whose_elements_may_not_exist_stay_under_the_condition() {
    // Before the diagonal the subscript is negative.
    let short = BESIDE.replace("A[k][i]", "A[k - i - 1][i]");
    let text = check(&short, "rectangle k\nbind i, j -> y, x block 8x8\n", SHAPES);
    has(&text, &["if (k >= (int)i + 1)", "s += A["]);
}

/// Rows of an array by linear subscripts: nothing says that it has as many elements as rows have together.
const SCORES: &str = "
void scores(int n, int m, int w, const float x[w], float s[n][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            float t = 0.0f;
            for (int k = 0; k < m; k++)
                t += x[i * m + k] * x[j * m + k];
            s[i][j] = t;
        }
}
";

#[test]
fn what_the_longest_row_reads_may_be_read_by_all() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3), ("w", 0)],
        &[("n", 1), ("m", 1), ("w", 1)],
        &[("n", 5), ("m", 7), ("w", 35)],
        &[("n", 33), ("m", 18), ("w", 594)],
    ];
    let steps = "rectangle j\nbind i, j -> y, x block 8x4";
    let is_guarded = |text: &str| {
        let (guard, sum) = (text.find("if (j <"), text.find("for (int k"));
        guard.expect("a condition") < sum.expect("a loop")
    };
    assert!(!is_guarded(&check(SCORES, steps, sizes)));
    let staged = "\nstage x#1 at k tile 4\nstage x#2 at k tile 4";
    check(SCORES, &format!("{steps}\nregister_tile j by 2{staged}"), sizes);
    for (from, to) in [
        // Row 0 has no column, and nothing else reads its elements.
        ("j <= i", "j < i"),
        // Not every row reads what its columns name.
        ("t += x[i * m + k] * x[j * m + k];", "t += k < i ? x[j * m + k] : 0.0f;"),
        ("t += x[i * m + k] * x[j * m + k];", "if (k < i) t += x[j * m + k];"),
        ("k < m", "k < i && k < m"),
        ("x[j * m + k]", "x[(i - j) * m + k]"),
    ] {
        let source = SCORES.replace(from, to);
        assert_ne!(source, SCORES);
        assert!(is_guarded(&check(&source, steps, sizes)), "{to}");
    }
    // The longest row may have been left before.
    let left = SCORES.replace("s[i][j] = t;", "s[i][j] = t; if (t > 9.0f) break;");
    has(&refused_text(&left, steps), &["error"]);
}

#[test]
fn what_the_longest_row_reads_may_be_read_beside_other_statements() {
    let source = "
void weighted(int n, int m, int w, int z, const float a[w], const float v[z], float o[z])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            float t = o[i * m + k];
            for (int j = 0; j <= i; j++)
                t += a[j] * v[j * m + k];
            o[i * m + k] = t;
        }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3), ("w", 0), ("z", 0)],
        &[("n", 1), ("m", 1), ("w", 1), ("z", 1)],
        &[("n", 5), ("m", 7), ("w", 5), ("z", 35)],
        &[("n", 33), ("m", 18), ("w", 33), ("z", 594)],
    ];
    let steps = "rectangle j\nbind i, k -> y, x block 8x4\nstage v at j tile 4";
    check(source, steps, sizes);
    // A row that does not always run the sum need not be the longest.
    let sometimes = source.replace("for (int j = 0", "if (t > 0.0f) for (int j = 0");
    has(&refused_text(&sometimes, steps), &["error"]);
}
