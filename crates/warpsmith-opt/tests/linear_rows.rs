//! Copies of arrays that are pointers: rows of rows by one subscript.

mod common;

use common::{Input, Points as Sizes, check_scheduled as check, refused_text};
use expect_test::expect;
use warpsmith_opt::schedule::{StepKind, template};

/// Scores of attention: heads lie side by side in a row of three parts.
const SCORES: &str = "
void scores(int b, int t, int c, int h, int w, int z, const float x[w], float y[z]) {
    int d = c / h;
    int c3 = 3 * c;
    #pragma omp parallel for collapse(4)
    for (int s = 0; s < b; s++)
        for (int g = 0; g < h; g++)
            for (int i = 0; i < t; i++)
                for (int j = 0; j < t; j++) {
                    float sum = 0.0f;
                    for (int k = 0; k < d; k++)
                        sum += x[s * t * c3 + i * c3 + g * d + k] * x[s * t * c3 + j * c3 + g * d + c + k];
                    y[s * h * t * t + g * t * t + i * t + j] = sum;
                }
}
";

const SIZES: Sizes<'_> = &[
    &[("b", 0), ("t", 3), ("c", 4), ("h", 2), ("w", 0), ("z", 0)],
    &[("b", 1), ("t", 1), ("c", 5), ("h", 5), ("w", 10), ("z", 5)],
    &[("b", 2), ("t", 9), ("c", 12), ("h", 3), ("w", 636), ("z", 486)],
    &[("b", 2), ("t", 8), ("c", 16), ("h", 2), ("w", 752), ("z", 256)],
];

#[test]
fn heads_that_a_size_is_multiplied_with() {
    let steps = "bind g, i, j -> z, y, x block 4x4x1\nregister_tile i by 2\nstage x at k tile 4";
    let text = check(SCORES, steps, SIZES);
    for part in ["x_shared[TILE_Y][TILE_K]", "x_shared_2[BX][TILE_K]"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let two = "bind g, i, j -> z, y, x block 4x4x2\nstage x at k tile 4";
    let expected =
        expect!["error[W261]: cannot stage `x`: a subscript is not a constant times `g`"];
    expected.assert_eq(refused_text(SCORES, two).lines().next().unwrap_or_default());
}

#[test]
fn heads_between_rows_and_columns_are_planes_of_products() {
    let source = SCORES.replace(
        "for (int g = 0; g < h; g++)\n            for (int i = 0; i < t; i++)",
        "for (int i = 0; i < t; i++)\n            for (int g = 0; g < h; g++)",
    );
    assert_ne!(source, SCORES);
    let input = Input::new(&source);
    let kernel = input.kernel();
    let offered = template::alternatives(&kernel, kernel.marked_roots()[0], &input.sources);
    let text =
        |steps: &Vec<StepKind>| -> Vec<String> { steps.iter().map(StepKind::to_string).collect() };
    let products: Vec<Vec<String>> = offered.iter().map(text).collect();
    let planes = |steps: &Vec<String>| {
        steps[0].starts_with("bind i, g, j -> y, z, x")
            && [
                "stage x#1 at k tile 16 pad 4 transposed",
                "stage x#2 at k tile 16 pad 4 transposed",
                "warp i, j by 8x4",
            ]
            .iter()
            .all(|step| steps.iter().any(|s| s == step))
    };
    let found =
        products.iter().find(|steps| planes(steps)).unwrap_or_else(|| panic!("{products:#?}"));
    check(&source, &found.join("\n"), &SIZES[..3]);
}

#[test]
fn rows_of_rows_have_dimensions_of_their_own() {
    let source = "
void mean(int b, int n, int m, int w, int z, const float x[w], float y[z]) {
    #pragma omp parallel for collapse(3)
    for (int s = 0; s < b; s++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                float sum = 0.0f;
                for (int k = 0; k < m; k++)
                    sum += x[s * n * m + i * m + k] * x[2 * s * n * m + 2 * i * m + k + j];
                y[s * n * m + i * m + j] = sum;
            }
}
";
    let sizes: Sizes<'_> = &[
        &[("b", 1), ("n", 1), ("m", 1), ("w", 1), ("z", 1)],
        &[("b", 3), ("n", 5), ("m", 9), ("w", 287), ("z", 135)],
        &[("b", 4), ("n", 8), ("m", 8), ("w", 511), ("z", 256)],
    ];
    for block in ["4x4x2", "8x4x1", "8x1x2"] {
        check(
            source,
            &format!("bind s, i, j -> z, y, x block {block}\nstage x#1 at k tile 4"),
            sizes,
        );
        check(
            source,
            &format!("bind s, i, j -> z, y, x block {block}\nstage x at k tile 4"),
            sizes,
        );
    }
}

#[test]
fn corners_that_no_iteration_reads() {
    let source = "
void skewed(int n, int m, int w, const float x[w], float y[w]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = x[i * m - i + j];
}
";
    let expected = expect![
        "error[W261]: cannot stage `x`: a counter moves its rows and its columns, and its shape is not declared"
    ];
    let text = refused_text(source, "bind i, j -> y, x block 8x32\nstage x");
    expected.assert_eq(text.lines().next().unwrap_or_default());
}
