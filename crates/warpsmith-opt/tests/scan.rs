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

#[test]
fn what_other_threads_would_need_is_refused() {
    let refused = |source: &str, schedule: &str| refused_text(source, schedule);
    let text = |update: &str| refused(&running(update), "scan j by 64");
    let cases = [
        (
            "s = 0.5f * s + x[i][j]; y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        (
            "s += x[i][j] * s; y[i][j] = s;",
            "`s` is changed by more than one operation that combines it",
        ),
        ("float t = s; s += t * x[i][j]; y[i][j] = s;", "what is added depends on `s` so far"),
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
