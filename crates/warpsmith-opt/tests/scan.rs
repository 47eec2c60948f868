//! Running sums and extremes, which threads of a block go through together.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 0), ("m", 5)],
    &[("n", 3), ("m", 0)],
    &[("n", 1), ("m", 1)],
    &[("n", 7), ("m", 31)],
    &[("n", 5), ("m", 64)],
    &[("n", 4), ("m", 65)],
    &[("n", 9), ("m", 128)],
    &[("n", 2), ("m", 900)],
];

fn running(update: &str) -> String {
    format!(
        "
void running(int n, int m, const float x[n][m], float y[n][m], float last[n])
{{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        float s = 0.5f;
        for (int j = 0; j < m; j++) {{
            {update}
        }}
        last[i] = s;
    }}
}}
"
    )
}

const SHAPES: [&str; 8] = [
    "by 32",
    "by 64",
    "by 256",
    "by 128 vector 4",
    "by 32 vector 2 rows 3",
    "by 8 vector 4 rows 4",
    "by 64 rows 2",
    "by 2 rows 16",
];

/// The step in a shape; what it leaves is bound plainly.
fn scheduled(shape: &str) -> String {
    let left = shape.contains("vector") || shape.contains("rows");
    format!("scan j {shape}{}", if left { "\nbind i -> x block 32" } else { "" })
}

#[test]
fn blocks_of_any_shape_scan() {
    for shape in SHAPES {
        check(&running("s += x[i][j]; y[i][j] = s;"), &scheduled(shape), SIZES);
    }
}

#[test]
fn values_before_and_after_an_update_are_used() {
    for update in [
        "y[i][j] = s; s += x[i][j];",
        "if (x[i][j] > s) s = x[i][j]; y[i][j] = s - x[i][j];",
        "s = s < x[i][j] ? s : x[i][j]; y[i][j] = s;",
        "float t = 2.0f * x[i][j]; if (t > 0.0f) { s += t; } else { t = -t; } y[i][j] = s * t;",
        "float t = 0.0f; for (int k = 0; k < 3; k++) t += k * x[i][j]; s -= t; y[i][j] = s + t;",
    ] {
        for shape in ["by 64", "by 32 vector 4"] {
            check(&running(update), &scheduled(shape), SIZES);
        }
    }
}

/// What is always so is no condition: nothing could run the other way.
#[test]
fn rows_of_whole_strips_ask_nothing() {
    let source =
        running("s += x[i][j]; y[i][j] = s;").replace("m]", "128]").replace("j < m", "j < 128");
    for (shape, asks) in [("by 64", false), ("by 32 vector 4", false), ("by 256", true)] {
        let left = if shape.contains("vector") { "\nbind i -> x block 32" } else { "" };
        let text = check(&source, &format!("scan j {shape}{left}"), SIZES);
        assert_eq!(text.contains("if (element < 128)"), asks, "{shape}\n{text}");
    }
}

/// Windows by running sums, each begun by the sum of the first.
const BLUR: &str = "
void blur(int n, int m, int r, const float x[n][m], float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int k = -r; k <= r; k++)
            s += x[i][k < 0 ? 0 : k < m ? k : m - 1];
        for (int j = 0; j < m; j++) {
            y[i][j] = s / (2 * r + 1);
            s += x[i][j + r + 1 < m ? j + r + 1 : m - 1] - x[i][j < r ? 0 : j - r];
        }
    }
}
";

#[test]
fn a_loop_over_another_range_may_stand_before() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3), ("r", 1)],
        &[("n", 3), ("m", 1), ("r", 4)],
        &[("n", 7), ("m", 31), ("r", 0)],
        &[("n", 5), ("m", 64), ("r", 3)],
        &[("n", 2), ("m", 900), ("r", 20)],
    ];
    for shape in SHAPES {
        let text = check(BLUR, &scheduled(shape), sizes);
        has(&text, &["for (int k = -r; k <= r; ++k)", "s_before"]);
    }
    let text = refused_text(BLUR, "scan k by 32");
    has(&text, &["a statement of it both stores and sets `s`, which others use"]);
}

/// The largest fall from what was the greatest so far, where it ended, and how often there was a new greatest one.
const FALL: &str = "
void fall(int n, int m, const float x[n][m], float most[n], int day[n], int highs[n], double sum[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float peak = x[i][0], fall = 0.0f;
        int at = -1, times = 3;
        double s = 0.25;
        for (int j = 1; j < m; j++) {
            if (x[i][j] > peak) times++;
            if (x[i][j] > peak) peak = x[i][j];
            float f = peak - x[i][j];
            if (f > fall) { fall = f; at = j; }
            s += f;
        }
        most[i] = fall;
        day[i] = at;
        highs[i] = times;
        sum[i] = s;
    }
}
";

#[test]
fn sums_of_what_is_made_of_running_ones_are_combined_at_the_end() {
    for shape in SHAPES {
        let text = check(FALL, &scheduled(shape), NOT_EMPTY);
        has(&text, &["peak_before", "fall_part"]);
    }
}

/// Each element from the one before it in the array.
const CHAINED: &str = "
void chained(int n, int m, const float x[n][m], float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i][0] = x[i][0];
        for (int j = 1; j < m; j++)
            y[i][j] = y[i][j - 1] + x[i][j];
    }
}
";

/// In place, and begun by what is there.
const IN_PLACE: &str = "
void in_place(int n, int m, float y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++) {
            y[i][j] += y[i][j - 1];
            y[i][j] *= 1.0f;
        }
}
";

const NOT_EMPTY: Sizes<'_> = &[
    &[("n", 1), ("m", 1)],
    &[("n", 3), ("m", 2)],
    &[("n", 7), ("m", 31)],
    &[("n", 5), ("m", 64)],
    &[("n", 4), ("m", 65)],
    &[("n", 2), ("m", 900)],
];

#[test]
fn elements_before_are_carried_in_registers() {
    for shape in SHAPES {
        check(CHAINED, &format!("carry j\n{}", scheduled(shape)), NOT_EMPTY);
    }
    let text = check(CHAINED, "carry j\nscan j by 64", NOT_EMPTY);
    has(&text, &["float y_last = x["]);
    let in_place = IN_PLACE.replace("            y[i][j] *= 1.0f;\n", "");
    for schedule in ["carry j\nscan j by 32", "carry j\nbind i -> x block 32"] {
        check(&in_place, schedule, SIZES);
    }
    let decaying = CHAINED.replace("y[i][j - 1] +", "0.5f * y[i][j - 1] +");
    check(&decaying, "carry j\nbind i -> x block 32", NOT_EMPTY);
}

/// Slopes of 1, 0 and -1 keep small integers exact.
#[test]
fn linear_recurrences_are_scanned() {
    for update in [
        "s = x[i][j] - s; y[i][j] = s;",
        "s += 2.0f * (x[i][j] - s); y[i][j] = s;",
        "y[i][j] = s; s = x[i][j] - s / 1.0f;",
        "s = (x[i][j] < 1.0f ? -1.0f : 1.0f) * s + (1.0f - x[i][j]); y[i][j] = 2.0f * s - x[i][j];",
        "float t = -s; t += x[i][j]; y[i][j] = t; s = t;",
        "s = fmaf(s, -1.0f, x[i][j]); y[i][j] = s;",
        "if (x[i][j] < -2.0f) s = 0.0f; s += x[i][j]; y[i][j] = s;",
        "s = (x[i][j] > 0.5f ? s : -s) + x[i][j]; y[i][j] = s;",
        "for (int k = 0; k < 3; k++) s = k * x[i][j] - s; y[i][j] = s;",
        "s = 1.0 * x[i][j] - s; y[i][j] = s;",
        "float t = s; s -= 2.0f * t; s += x[i][j]; y[i][j] = t;",
        "s = x[i][j] - s;",
    ] {
        for shape in ["by 64", "by 32 vector 4", "by 8 vector 2 rows 4", "by 256 vector 4"] {
            check(&running(update), &scheduled(shape), SIZES);
        }
    }
    let text = check(&running("s = x[i][j] - s; y[i][j] = s;"), "scan j by 64", SIZES);
    has(&text, &["float s_slope = 1.0f;", "s_slope = -s_slope;"]);
}

/// Of numbers that wrap every map is exact.
#[test]
fn numbers_without_sign_carry_on_linearly() {
    let unsigned =
        |update: &str| running(update).replace("float", "unsigned").replace("0.5f", "5381u");
    for update in [
        "s = s * 33u + x[i][j]; y[i][j] = s;",
        "s += x[i][j] * (7u - s); y[i][j] = s;",
        "unsigned t = 3u * s; if (x[i][j] > 4u) t = x[i][j]; t -= 2u; y[i][j] = s; s = t * 5u;",
        "unsigned t = s; for (int k = 0; k < 3; k++) t = t * x[i][j] + k; s = t - s; y[i][j] = t;",
    ] {
        for shape in SHAPES {
            check(&unsigned(update), &scheduled(shape), SIZES);
        }
    }
    // Products of parts may leave the range of a signed type where the values do not.
    let signed = unsigned("s = s * 33 + x[i][j]; y[i][j] = s;").replace("unsigned", "int");
    let text = refused_text(&signed.replace("5381u", "5381"), "scan j by 64");
    assert!(text.contains("is changed by more than one operation"), "{text}");
}

#[test]
fn several_variables_are_carried_on_beside_each_other() {
    let two = running("s = x[i][j] - s; y[i][j] = s + t; t = -t - x[i][j]; k += 0.5f;")
        .replace("float s = 0.5f;", "float s = 0.5f, t = 1.0f, k = 0.0f;")
        .replace("last[i] = s;", "last[i] = s - t + k;");
    for shape in ["by 64", "by 32 vector 4", "by 8 vector 2 rows 4"] {
        check(&two, &scheduled(shape), SIZES);
    }
    for coupled in ["t = s - t", "t += s", "s = t - s, t = -t - x[i][j]"] {
        let text = refused_text(&two.replace("t = -t - x[i][j]", coupled), "scan j by 64");
        let said = text.contains("more than one operation") || text.contains("depends on");
        assert!(said, "{coupled}\n{text}");
    }
}

/// From the end of a row to its beginning.
fn backwards(update: &str) -> String {
    running(update).replace("int j = 0; j < m; j++", "int j = m - 1; j >= 0; j--")
}

#[test]
fn rows_are_scanned_from_their_end() {
    for update in [
        "s += x[i][j]; y[i][j] = s;",
        "s = x[i][j] - s; y[i][j] = s;",
        "y[i][j] = s; s = x[i][j] > s ? x[i][j] : s;",
        "s += j < m - 1 ? x[i][j + 1] : 0.0f; y[i][j] = s;",
    ] {
        for shape in SHAPES {
            let sizes = &SIZES[1..];
            check(&backwards(update), &format!("normalise j\n{}", scheduled(shape)), sizes);
        }
    }
    let text = refused_text(&backwards("s += x[i][j]; y[i][j] = s;"), "scan j by 64");
    assert!(text.contains("no loop in it has a range that the launcher knows"), "{text}");
    // What is there already is added from behind.
    let in_place = IN_PLACE
        .replace("            y[i][j] *= 1.0f;\n", "")
        .replace("int j = 1; j < m; j++", "int j = m - 2; j >= 0; j--")
        .replace("y[i][j - 1]", "y[i][j + 1]");
    for schedule in ["scan j by 32", "bind i -> x block 32"] {
        check(&in_place, &format!("normalise j\ncarry j\n{schedule}"), NOT_EMPTY);
    }
}

#[test]
fn loops_that_count_otherwise_are_not_normalised() {
    let refused = |head: &str| {
        let source = running("s += x[i][j]; y[i][j] = s;");
        let source = source.replace("int j = 0; j < m; j++", head);
        refused_text(&source, "normalise j\nbind i -> x block 32")
    };
    let cases = [
        ("int j = 0; j < m; j++", "it does not count down by one"),
        ("int j = m - 1; j >= 0; j -= 2", "it does not count down by one"),
        ("int j = m; j >= 0; j--", "may be beyond its type"),
        ("int j = m - 1; j > i; j--", "may be beyond its type"),
        ("int j = 2 * m - 1; j >= 0; j--", "may be beyond its type"),
    ];
    for (head, why) in cases {
        let found = refused(head);
        assert!(found.contains(why), "{head}\n{found}");
    }
}

#[test]
fn what_other_threads_would_need_is_refused() {
    let refused = |source: &str, schedule: &str| refused_text(source, schedule);
    let text = |update: &str| refused(&running(update), "scan j by 64");
    let cases = [
        (
            "y[i][j] += x[i][j]; s += y[i][j]; y[i][j] = s;",
            "what is added follows from `y`, which would be changed twice",
        ),
        (
            "s = 0.5f * s * s + x[i][j]; y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        (
            "s = 0.5f * s + (s > 1.0f ? 1.0f : x[i][j]); y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        (
            "s = 0.5f * s + x[i][j]; if (s > 1.0f) s = 1.0f; y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        (
            "float t = s; if (t > 2.0f) t = 2.0f; s = 0.5f * t + x[i][j]; y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        (
            "int t = (int)s; s = 0.5f * t + x[i][j]; y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        (
            "s = x[i][j] / (s + 2.0f); y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        (
            "y[i][j] = 0.5f * s; s = y[i][j] + x[i][j];",
            "`s` is changed by more than one operation that combines it",
        ),
        ("if (s < 9.0f) s += x[i][j]; y[i][j] = s;", "what is added depends on `s` so far"),
        (
            "if (x[i][j] < 0.0f) continue; s += x[i][j]; y[i][j] = s;",
            "an iteration may go on early",
        ),
        ("s += x[i][j]; y[i][0] = s;", "touch the same element of `y`"),
        ("s += x[i][j];", "its iterations do not use what a sum is so far"),
    ];
    for (update, why) in cases {
        let found = text(update);
        assert!(found.contains(why), "{update}\n{found}");
    }
}

#[test]
fn other_elements_are_not_carried() {
    let carried = |from: &str, to: &str| {
        refused_text(&IN_PLACE.replace(from, to), "carry j\nbind i -> x block 32")
    };
    let cases = [
        ("y[i][j] *= 1.0f;", "if (j > 3) y[i][j] = 0.0f;", "more than these places"),
        ("y[i][j] *= 1.0f;", "y[i][0] = 1.0f;", "more than these places"),
        ("y[i][j - 1]", "y[i][j]", "no iteration reads what the one before writes"),
        ("y[i][j] += y[i][j - 1];", "y[i][j] += y[i][j - 1] * y[i][0];", "more than these places"),
    ];
    for (from, to, why) in cases {
        let found = carried(from, to);
        assert!(found.contains(why), "{to}\n{found}");
    }
}

#[test]
fn a_thread_reads_beside_a_row_what_it_has_stored_itself_only() {
    // Thread 0 stores the first element, which all others would read in the loop.
    let of_others = CHAINED.replace("+ x[i][j];", "+ y[i][0] * x[i][j];");
    let text = refused_text(&of_others, "carry j\nscan j by 64");
    assert!(text.contains("more than these places"), "{text}");
    let first = "
void first(int n, int m, const float x[n][m], float y[n][m], float z[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        z[i][0] = x[i][0];
        for (int j = 1; j < m; j++) {
            s += x[i][j] * z[i][0] + z[i][j];
            y[i][j] = s;
        }
    }
}
";
    let text = refused_text(first, "scan j by 64");
    assert!(
        text.contains("threads would have to see what others of the row store in `z`"),
        "{text}"
    );
}
