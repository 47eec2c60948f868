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

/// The same with channels last: the sum over them is under the conditions of the window, asked at two levels.
const CHANNELS_LAST: &str = "
void last(int h, int w, int c, int k, const float x[h * w * c], const float a[9 * c * k], float y[h * w * k]) {
    #pragma omp parallel for collapse(3)
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            for (int o = 0; o < k; o++) {
                float sum = 0.0f;
                for (int r = -1; r <= 1; r++) {
                    int u = i + r;
                    if (u < 0 || u >= h) continue;
                    for (int q = -1; q <= 1; q++) {
                        if (j + q < 0 || j + q >= w) continue;
                        int row = (u * w + j + q) * c;
                        for (int p = 0; p < c; p++)
                            sum += x[row + p] * a[((3 * r + q + 4) * c + p) * k + o];
                    }
                }
                y[(i * w + j) * k + o] = sum;
            }
}
";

#[test]
fn sums_over_channels_come_out_of_the_conditions_of_a_window() {
    let out = "rectangle p\nrectangle q\nrectangle p\n";
    let text = check(CHANNELS_LAST, &format!("{out}bind i, j, o -> z, y, x block 4x4x1"), SIZES);
    let all = "if (u >= 0 && u < h && (int)j + q >= 0 && (int)j + q < w) {";
    assert!(!text.contains(") continue;") && text.contains(all), "{text}");
    // Strips are copied for each place of the window by itself.
    let tiles = "bind i, j, o -> z, y, x block 4x4x1\nregister_tile j by 2\nregister_tile o by 2\nstage x at p tile 4\nstage a at p tile 4";
    let text = check(CHANNELS_LAST, &format!("{out}{tiles}"), SIZES);
    for piece in [
        "x_shared[TILE_Y][TILE_P]",
        "a_shared[TILE_P][TILE_X]",
        "number >= 0 && number < h * w * c",
    ] {
        assert!(text.contains(piece), "no `{piece}` in\n{text}");
    }
    check(CHANNELS_LAST, &format!("{out}{tiles}\nunroll r\nunroll q\nunroll p"), SIZES);
    check(CHANNELS_LAST, &format!("{out}{tiles}\npipeline p stages 2"), SIZES);
}

/// What is asked for each row, and not for each element of it.
fn rows_with(body: &str) -> String {
    format!(
        "
void rows(int n, int m, const int use[n], const float x[n][m], float y[n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        float sum = 0.0f;
        int k = 0, last = m;
        {body}
        y[i] = sum + k;
    }}
}}
"
    )
}

#[test]
fn what_cannot_go_into_a_loop_stays_around_it() {
    let cases = [
        ("if (use[i]) for (k = 0; k < m; k++) sum += x[i][k];", "may change"),
        (
            "if (i < 7) { sum = 1.0f; for (int q = 0; q < m; q++) sum += x[i][q]; }",
            "other statements stand under the same condition",
        ),
        (
            "if (i < 7) { for (int q = 0; q < m; q++) sum += x[i][q]; sum *= 2.0f; }",
            "other statements stand under the same condition",
        ),
        ("if (i < last) for (int q = 0; q < m; q++) { sum += x[i][q]; last = 0; }", "may change"),
        ("if (i < 7) for (k = 0; k < m; k++) sum += x[i][k];", "its counter is read after it"),
        ("if (m > 0) for (int q = 0; q < 8 / m; q++) sum += q;", "its ends may not exist"),
        (
            "if (m > 3) for (unsigned long q = 0; q < (unsigned long)m - 3; q++) sum += x[i][q];",
            "it may not end",
        ),
        ("int w = 30; if (w <= m) for (int q = w; q != m; q++) sum += x[i][q];", "it may not end"),
        (
            "int w = i - 1; if (w > 0) for (int q = 0; q < m; q += w) sum += x[i][q];",
            "it may not end",
        ),
        (
            "for (int r = 0; r < 3; r++) { if (i > 2) { if (i >= r + 5) continue; for (int q = 0; q < m; q++) sum += x[i][q]; } k += 1; }",
            "other statements stand under the same condition",
        ),
    ];
    for (body, why) in cases {
        let name = if body.contains("(k = 0") { "k" } else { "q" };
        let text = refused_text(&rows_with(body), &format!("rectangle {name}"));
        assert!(text.contains(why), "{body}:\n{text}");
    }
}

#[test]
fn what_is_done_besides_where_a_condition_does_not_hold_is_done() {
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 3)], &[("n", 9), ("m", 5)]];
    let text = check(
        &rows_with("if (!(i == 3 || i > m)) for (int q = 0; q < m; q++) sum += x[i][q];"),
        "rectangle q\nbind i -> x block 4",
        sizes,
    );
    assert!(text.contains("if (!(i == 3 || i > m))"), "{text}");
    // What else there is to do where a condition does not hold is done.
    let other = "for (int r = 0; r < 3; r++) { if (r == 1) continue; else k += 1; if (i < 7) for (int q = 0; q < m; q++) sum += x[i][q]; }";
    let text = check(&rows_with(other), "rectangle q\nbind i -> x block 4", sizes);
    assert!(text.contains("++k;") || text.contains("k += 1;"), "{text}");
    // What ends an iteration of the bound loop has an effect on all that comes after it.
    let text = refused_text(
        &rows_with("if (i == 3) continue; for (int q = 0; q < m; q++) sum += x[i][q];"),
        "rectangle q",
    );
    assert!(text.contains("other statements stand under the same condition"), "{text}");
}

/// With planes first the sum over channels is outermost: as innermost it is one over products, whatever place of the window it is for.
#[test]
fn sums_over_channels_come_inside_of_the_window() {
    let inside = "interchange p\ninterchange p\n";
    let tiles = "bind o, i, j -> y, z, x block 4x4x1\nregister_tile j by 2\nregister_tile o by 2\nstage x at p tile 2\nstage a at p tile 2 turned";
    let text = check(CONVOLUTION, &format!("{inside}{tiles}"), SIZES);
    for piece in [
        "x_shared[TILE_P][1][TILE_X]",
        "for (int q = 0; q < 3; ++q) {\n            for (int p_block = 0;",
    ] {
        assert!(text.contains(piece), "no `{piece}` in\n{text}");
    }
    // What is read in between depends on the order.
    let read = CONVOLUTION.replace("a[o][p][r][q];", "a[o][p][r][q] - 0.5f * sum;");
    let text = refused_text(&read, "interchange p");
    assert!(text.contains("every iteration writes the variable `sum`"), "{text}");
    let shown = CONVOLUTION.replace("int u = i", "y[o][i][j] = sum;\nint u = i");
    let text = refused_text(&shown, "interchange p");
    assert!(text.contains("every iteration writes the variable `sum`"), "{text}");
}

/// What is rounded to integers at each step is no sum, and a counter may be read after loops of which one has no iteration.
#[test]
fn loops_of_no_sum_keep_their_order() {
    let source = |body: &str| {
        format!(
            "
void rows(int n, int m, const float x[n][m], float y[n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        float s = 0.0f;
        int k = 0, q = 7;
        {body}
        y[i] = s + k + q;
    }}
}}
"
        )
    };
    let loops = "for (int p = 0; p < m; p++) for (int r = 0; r < 3; r++)";
    let cases = [
        (
            format!("{loops} k += x[i][p] * (r + 1) * 1.7f - 0.8f;"),
            "every iteration writes the variable `k`",
        ),
        (
            format!("{loops} s = (int)(s + x[i][p] * 3.0f);"),
            "every iteration writes the variable `s`",
        ),
        (
            format!("{loops} s = (int)s + x[i][p] * 3.0f;"),
            "every iteration writes the variable `s`",
        ),
        (
            "for (int p = 0; p < m; p++) for (q = 0; q < 3; q++) s += x[i][p];".into(),
            "the counter `q` is read after the loops",
        ),
    ];
    for (body, why) in cases {
        let text = refused_text(&source(&body), "interchange p");
        assert!(text.contains(why), "{body}:\n{text}");
    }
    let sizes: Sizes<'_> = &[&[("n", 3), ("m", 0)], &[("n", 9), ("m", 5)]];
    check(
        &source(&format!("{loops} {{ s += x[i][p]; k += r; }}")),
        "interchange p\nbind i -> x block 4",
        sizes,
    );
}
