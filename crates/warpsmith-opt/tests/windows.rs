//! Windows at the edges of an image: copies of what is read under a condition, and the weights of all results side by side.

mod common;

use common::{Input, Points as Sizes, check_scheduled as check, refused_text};
use expect_test::expect;
use warpsmith_opt::schedule::{StepKind, template};

/// A convolution of c planes to k results, with zeros around the image.
const CONVOLUTION: &str = "
void convolution(int c, int k, int h, int w, const float x[c][h][w], const float a[k][c][3][3], float y[k][h][w]) {
    #pragma omp parallel for collapse(3)
    for (int o = 0; o < k; o++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                float sum = 0.0f;
                for (int p = 0; p < c; p++)
                    for (int r = 0; r < 3; r++)
                        for (int q = 0; q < 3; q++) {
                            int u = i + r - 1, v = j + q - 1;
                            if (u >= 0 && u < h && v >= 0 && v < w)
                                sum += x[p][u][v] * a[o][p][r][q];
                        }
                y[o][i][j] = sum;
            }
}
";

const SIZES: Sizes<'_> = &[
    &[("c", 0), ("k", 1), ("h", 2), ("w", 2)],
    &[("c", 1), ("k", 1), ("h", 1), ("w", 1)],
    &[("c", 3), ("k", 5), ("h", 7), ("w", 9)],
    &[("c", 4), ("k", 8), ("h", 8), ("w", 8)],
];

const STAGED: &str =
    "bind o, i, j -> z, y, x block 4x4x1\nregister_tile o by 2\nregister_tile j by 2\n";

#[test]
fn a_box_past_the_image_is_copied_as_far_as_there_are_elements() {
    let text = check(CONVOLUTION, &format!("{STAGED}stage x at p tile 2"), SIZES);
    let number = "number >= 0 && number < (long long)c * h * w";
    assert!(text.contains(number), "no `{number}` in\n{text}");
    assert!(text.contains("x_shared[TILE_P][BY + 2][TILE_X + 2]"), "{text}");
    // All weights are elements, whatever the condition says.
    let text = check(CONVOLUTION, &format!("{STAGED}stage a at p tile 2"), SIZES);
    assert!(!text.contains("long long number"), "{text}");
}

/// Rows that follow each other: what is left of a row is the end of the one before, which the condition allows to be read.
#[test]
fn an_element_past_a_row_is_that_of_the_next_row() {
    let source = "
void columns(int h, int w, int n, const float x[n], float y[h * w]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            float sum = 0.0f;
            for (int q = -1; q <= 1; q++)
                if (i * w + j + q >= 0 && i * w + j + q < n)
                    sum += x[i * w + j + q];
            y[i * w + j] = sum;
        }
}
";
    let sizes: Sizes<'_> = &[
        &[("h", 3), ("w", 5), ("n", 15)],
        &[("h", 9), ("w", 7), ("n", 63)],
        &[("h", 2), ("w", 8), ("n", 12)],
    ];
    let text = check(source, "bind i, j -> y, x block 4x4\nstage x", sizes);
    assert!(text.contains("number >= 0 && number < n"), "{text}");
}

#[test]
fn windows_that_go_on_at_the_edge_are_copied_alike() {
    let source = CONVOLUTION.replace(
        "if (u >= 0 && u < h && v >= 0 && v < w)",
        "if (u < 0 || u >= h || v < 0 || v >= w) continue;",
    );
    assert_ne!(source, CONVOLUTION);
    check(&source, &format!("{STAGED}stage x at p tile 2\nstage a at p tile 2"), SIZES);
}

#[test]
fn strips_stand_in_no_loop_that_threads_leave_apart() {
    let source = CONVOLUTION.replace(
        "for (int p = 0; p < c; p++)
                    for (int r = 0; r < 3; r++)
                        for (int q = 0; q < 3; q++) {
                            int u = i + r - 1, v = j + q - 1;
                            if (u >= 0 && u < h && v >= 0 && v < w)
                                sum",
        "for (int r = 0; r < 3; r++)
                    for (int q = 0; q < 3; q++) {
                        int u = i + r - 1, v = j + q - 1;
                        if (u < 0 || u >= h || v < 0 || v >= w) continue;
                        for (int p = 0; p < c; p++)
                            sum",
    );
    assert_ne!(source, CONVOLUTION);
    let expected =
        expect!["error[W261]: cannot stage `x`: not all threads of a block run loop `p` alike"];
    let text = refused_text(&source, &format!("{STAGED}stage x at p tile 2"));
    expected.assert_eq(text.lines().next().unwrap_or_default());
}

#[test]
fn the_weights_of_all_results_lie_side_by_side() {
    let steps = format!("{STAGED}stage a at p tile 2 pad 2 turned\nvectorise o by 2");
    let text = check(CONVOLUTION, &steps, SIZES);
    assert!(text.contains("a_shared[TILE_P][3][3][TILE_Z + 2]"), "{text}");
    assert!(text.contains("float2"), "{text}");
    let twice =
        refused_text(CONVOLUTION, &format!("{STAGED}stage a at p tile 2 turned transposed"));
    assert!(twice.starts_with("error[W230]"), "{twice}");
}

#[test]
fn results_are_the_rows_of_the_product_that_a_convolution_is() {
    let input = Input::new(CONVOLUTION);
    let kernel = input.kernel();
    let offered = template::alternatives(&kernel, kernel.marked_roots()[0], &input.sources);
    let text = |steps: &Vec<StepKind>| steps.iter().map(|s| format!("{s}\n")).collect::<String>();
    let offered: Vec<String> = offered.iter().map(text).collect();
    let turned = |steps: &&String| {
        steps.starts_with("bind o, i, j -> y, z, x")
            && steps.contains("stage a at p tile 8 pad 4 turned")
            && steps.contains("vectorise o by 4")
    };
    assert!(offered.iter().any(|s| turned(&s)), "{offered:#?}");
}
