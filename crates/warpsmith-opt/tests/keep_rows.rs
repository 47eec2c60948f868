//! Rows that stay in registers from one loop over them to the next.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 0), ("m", 5)],
    &[("n", 3), ("m", 0)],
    &[("n", 1), ("m", 1)],
    &[("n", 7), ("m", 63)],
    &[("n", 5), ("m", 64)],
    &[("n", 4), ("m", 65)],
    &[("n", 9), ("m", 128)],
    &[("n", 2), ("m", 300)],
];

/// Reads each row twice and writes it twice, so that all of it can stay where it is.
const CENTRED: &str = "
void centred(int n, int m, const float x[n][m], float y[n][m], float most[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float top = x[i][0];
        for (int j = 0; j < m; j++) {
            if (x[i][j] > top) top = x[i][j];
        }
        float sum = 1.0f;
        for (int j = 0; j < m; j++) {
            y[i][j] = x[i][j] - top;
            sum += y[i][j];
        }
        for (int j = 0; j < m; j++) {
            y[i][j] *= sum;
        }
        most[i] = top;
    }
}
";

/// As above, where rows may be empty.
fn centred() -> String {
    CENTRED.replace("float top = x[i][0]", "float top = -1000.0f")
}

#[test]
fn rows_are_read_once_and_written_once() {
    let text = check(&centred(), "keep_rows i by 32 each 2\nbind i -> x block 64", SIZES);
    has(
        &text,
        &[
            "float x_row[2];",
            "x_row[group] = x[x_first + element];",
            "__shfl_xor_sync",
            "float y_row[2];",
            "y_row[group] = x_row[group] - top;",
            "y_row[group] *= sum;",
            "y[y_first + element] = y_row[group];",
            "if (thread == 0)",
            "most[i] = top;",
            "if (m <= 64)",
        ],
    );
    // What is left is the nest as it was.
    has(&text, &["y[(size_t)i * m + j] *= sum;"]);
}

#[test]
fn blocks_of_any_shape_keep_rows() {
    for shape in [
        "by 64 each 1",
        "by 128 each 2",
        "by 16 each 8 rows 2",
        "by 4 each 16 rows 16",
        "by 32 each 4 vector 2 rows 3",
        "by 32 each 4 vector 4",
        "by 64 each 8 vector 4 rows 2",
        "by 2 each 64 vector 16 rows 16",
    ] {
        let schedule = format!("keep_rows i by {} {}\nbind i -> x block 32", &shape[3..], "");
        check(&centred(), schedule.trim_end(), SIZES);
    }
}

#[test]
fn loops_that_begin_later_leave_out_the_first_elements() {
    let sizes: Sizes<'_> = &SIZES[2..];
    let late = CENTRED.replacen("int j = 0", "int j = 1", 1);
    assert_ne!(late, CENTRED);
    for shape in ["by 32 each 2", "by 32 each 4 vector 4", "by 16 each 8 rows 2"] {
        let text = check(&late, &format!("keep_rows i {shape}\nbind i -> x block 32"), sizes);
        has(&text, &[">= 1) {", "x_row["]);
    }
    // A loop that leaves elements out does not write all of a row.
    let last = CENTRED.replace("y[i][j] *= sum", "y[i][j] += sum");
    let at = last.rfind("int j = 0").unwrap();
    let last = format!("{}int j = 1{}", &last[..at], &last[at + 9..]);
    let text = check(&last, "keep_rows i by 32 each 4 vector 4\nbind i -> x block 32", sizes);
    has(&text, &["y_row[", ">= 1) {"]);
}

/// A softmax in place, as many write it.
const IN_PLACE: &str = "
void in_place(int n, int m, float x[n * m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float *row = x + i * m;
        float top = row[0];
        for (int j = 1; j < m; j++) {
            if (row[j] > top) top = row[j];
        }
        float sum = 0.0f;
        for (int j = 0; j < m; j++) {
            row[j] = row[j] - top;
            sum += row[j];
        }
        for (int j = 0; j < m; j++) row[j] /= sum - 1.0f;
    }
}
";

#[test]
fn what_is_read_before_threads_have_waited_is_the_old_value() {
    let sizes: Sizes<'_> = &SIZES[2..];
    for shape in ["by 32 each 2", "by 64 each 4", "by 32 each 4 vector 4 rows 3"] {
        let text = check(IN_PLACE, &format!("keep_rows i {shape}\nbind i -> x block 32"), sizes);
        has(&text, &["x_row["]);
    }
    // Without a loop to wait after, one thread may have written what another one still has to read.
    let early = IN_PLACE.replace("if (row[j] > top) top = row[j];", "row[j] += 1.0f;");
    has(&refused_text(&early, "keep_rows i by 32 each 2"), &["of the row store in `x`"]);
}

#[test]
fn longer_rows_are_kept_by_more_threads() {
    let schedule = "keep_rows i by 32 each 2 rows 2\nkeep_rows i by 64 each 4 vector 4\nbind i -> y block 1x4\nshare j, j#2, j#3 -> x by 32";
    let text = check(&centred(), schedule, SIZES);
    has(&text, &["&& m <= 64)", "if (m <= 256 && m % 4 == 0"]);
}

#[test]
fn nests_of_several_loops_and_ranges_that_do_not_begin_at_zero() {
    let source = "
void norms(int a, int b, int c, const double x[a][b][c], double y[a][b][c], long at[a][b], double w[c])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < a; i += 2) {
        for (int k = 0; k < b; k++) {
            double top = -1e30;
            long where = -1;
            for (int j = 2; j <= c - 2; j++) {
                if (x[i][k][j] > top) {
                    top = x[i][k][j];
                    where = j;
                }
            }
            at[i][k] = where;
            for (int j = 2; j <= c - 2; j++) {
                if (w[j] > 0.5) y[i][k][j] = 1.0;
                y[i][k][j] = x[i][k][j] * w[j] - top;
            }
        }
    }
}
";
    let sizes: Sizes<'_> = &[
        &[("a", 0), ("b", 3), ("c", 9)],
        &[("a", 4), ("b", 1), ("c", 3)],
        &[("a", 5), ("b", 3), ("c", 4)],
        &[("a", 6), ("b", 3), ("c", 40)],
        &[("a", 3), ("b", 2), ("c", 67)],
        &[("a", 3), ("b", 2), ("c", 68)],
        &[("a", 3), ("b", 2), ("c", 200)],
    ];
    for schedule in [
        "keep_rows i by 32 each 2\nbind i, k -> y, x block 8x4",
        "keep_rows i by 64 each 2 rows 2\nbind i, k -> y, x block 8x4",
        "keep_rows i by 32 each 2 vector 2\nbind i, k -> y, x block 8x4",
    ] {
        check(source, schedule, sizes);
    }
}

#[test]
fn variables_declared_before_the_nest() {
    let source = "
void scaled(int n, int m, int x[n * m], const int w[m])
{
    int i, j, sum;
    #pragma omp parallel for private(j, sum)
    for (i = 0; i < n; i++) {
        sum = 3;
        for (j = 0; j < m; j++) sum += x[i * m + j] * w[j];
        for (j = 0; j < m; j++) x[i * m + j] -= sum;
    }
}
";
    for shape in ["by 32 each 2", "by 32 each 4 vector 4 rows 2"] {
        check(source, &format!("keep_rows i {shape}\nbind i -> x block 32"), SIZES);
    }
}

#[test]
fn rows_of_known_length_leave_nothing() {
    let source = centred().replace("int m,", "").replace("[m]", "[96]").replace("j < m", "j < 96");
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 10)]];
    let text = check(&source, "keep_rows i by 32 each 3", sizes);
    assert!(!text.contains("else"), "{text}");
    let text = refused_text(&source, "keep_rows i by 32 each 2");
    has(&text, &["its rows are longer than what the threads would keep"]);
}

#[test]
fn iterations_that_go_on_early_store_what_they_have() {
    let source =
        centred().replace("y[i][j] *= sum;", "if (y[i][j] > -3) continue; y[i][j] *= sum;");
    for shape in ["by 32 each 1", "by 32 each 2", "by 32 each 4 vector 4"] {
        check(&source, &format!("keep_rows i {shape}\nbind i -> x block 32"), SIZES);
    }
}

#[test]
fn reals_keep_their_type_once_rows_are_kept() {
    let text = refused_text(&centred(), "keep_rows i by 32 each 2\nprecision double");
    has(&text, &["loops are bound already"]);
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let one = "keep_rows i by 32 each 2";
    let refused = |from: &str, to: &str, why: &str| {
        let source = centred().replace(from, to);
        assert_ne!(source, centred(), "{from}");
        has(&refused_text(&source, one), &[why]);
    };
    refused("y[i][j] *= sum", "y[i][j] = y[i][m - 1 - j]", "two of its iterations touch");
    refused("most[i] = top", "most[i] = y[i][0]", "see what others of the row store in `y`");
    refused("sum += y[i][j]", "most[i] += y[i][j]", "two of its iterations touch");
    refused("y[i][j] *= sum", "if (sum > 0) y[i][j] *= sum; else break", "may end early");
    refused("float sum = 1.0f;", "if (top < 0) continue; float sum = 1.0f;", "may end early");
    refused("sum += y[i][j]", "sum = sum * sum + y[i][j]", "`sum`");
    let linear = centred().replace("sum += y[i][j]", "sum = y[i][j] - sum");
    has(&check(&linear, one, SIZES), &["sum_slope", "y_row[group] *= sum;"]);
    let conditional = centred().replace("y[i][j] = x", "if (j > 2) y[i][j] = x");
    has(&check(&conditional, one, SIZES), &["y_row[group] = y[y_first + element]"]);
    let never_sure = conditional.replace("y[i][j] *=", "if (j > 2) y[i][j] *=");
    has(&refused_text(&never_sure, one), &["not every iteration of its loops writes"]);
    let source = "
void copy(int n, int m, const float x[n][m], float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { y[i][j] = x[i][j]; }
}
";
    has(&refused_text(source, one), &["no two loops in it access the same elements"]);
    let text = refused_text(&centred(), "keep_rows j by 32 each 2");
    has(&text, &["not marked"]);
    for (shape, why) in [
        ("by 48 each 2", "power of two"),
        ("by 32 each 0", "1 to 64"),
        ("by 32 each 65", "1 to 64"),
        ("by 32 each 6 vector 4", "whole vectors"),
        ("by 16 each 2", "whole warps"),
        ("by 1024 each 2 rows 2", "threads"),
    ] {
        has(&refused_text(&centred(), &format!("keep_rows i {shape}")), &[why]);
    }
}
