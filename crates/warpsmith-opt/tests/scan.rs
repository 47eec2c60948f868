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

#[test]
fn blocks_of_any_shape_scan() {
    for shape in SHAPES {
        let schedule = format!("scan j by {}\nbind i -> x block 32", &shape[3..]);
        check(&running("s += x[i][j]; y[i][j] = s;"), &schedule, SIZES);
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
            let schedule = format!("scan j {shape}\nbind i -> x block 32");
            check(&running(update), &schedule, SIZES);
        }
    }
}
#[test]
fn show() {
    let text = check(&running("s += x[i][j]; y[i][j] = s;"), "scan j by 256 vector 4\nbind i -> x block 32", SIZES);
    println!("{text}");
}
