//! Serial loops made one.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const IMAGES: Sizes<'_> = &[
    &[("n", 0), ("c", 3), ("h", 2), ("w", 2)],
    &[("n", 2), ("c", 3), ("h", 0), ("w", 4)],
    &[("n", 2), ("c", 3), ("h", 3), ("w", -2)],
    &[("n", 2), ("c", 5), ("h", 7), ("w", 9)],
    &[("n", 3), ("c", 2), ("h", 1), ("w", 33)],
];

/// Sums and sums of squares of the channels of images, stored flat.
const STATISTICS: &str = "
void statistics(int n, int c, int h, int w, const float *x, float sum[c], float squares[c]) {
#pragma ws bounds(x: n * c * h * w)
    #pragma omp parallel for
    for (int k = 0; k < c; k++) {
        float s = 0.0f, q = 0.0f;
        for (int i = 0; i < n; i++)
            for (int y = 0; y < h; y++)
                for (int z = 0; z < w; z++) {
                    float v = x[((i * c + k) * h + y) * w + z];
                    s += v;
                    q += v * v;
                }
        sum[k] = s;
        squares[k] = q;
    }
}
";

/// The same of an array with dimensions, and a weight for each row.
const WEIGHTED: &str = "
void weighted(int n, int h, int w, const float A[n][h][w], const float p[h], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int y = 0; y < h; y++)
            for (int z = 0; z < w; z++)
                sum += A[i][y][z] * p[y];
        s[i] = sum;
    }
}
";

const PLANES: Sizes<'_> = &[
    &[("n", 3), ("h", 0), ("w", 3)],
    &[("n", 3), ("h", 3), ("w", 0)],
    &[("n", 2), ("h", 1), ("w", 1)],
    &[("n", 5), ("h", 6), ("w", 31)],
];

#[test]
fn rows_of_a_flat_array_are_one_row() {
    let text =
        check(STATISTICS, "collapse y\nbind k -> y block 1x1\nshare y_z -> x by 64\n", IMAGES);
    has(&text, &["y_z"]);
    assert!(!text.contains("% w") && !text.contains("/ w"), "no division is left: {text}");
    check(STATISTICS, "collapse y\nbind k -> x block 32\n", IMAGES);
    // The images are not behind each other: their number is computed.
    let text = check(STATISTICS, "collapse y\ncollapse i\nbind k -> x block 32\n", IMAGES);
    has(&text, &["i_y_z", "/"]);
}

#[test]
fn counters_that_are_wanted_are_computed() {
    let text = check(WEIGHTED, "collapse y\nbind i -> x block 32\n", PLANES);
    has(&text, &["const int y = y_z / w;", "A[i * ((long long)h * w) + y_z] * p[y]"]);
    check(WEIGHTED, "collapse y\nbind i -> y block 1x1\nshare y_z -> x by 32\n", PLANES);
}

#[test]
fn other_loops_are_refused() {
    let triangle = WEIGHTED.replace("z < w", "z < y");
    let text = refused_text(&triangle, "collapse y\nbind i -> x block 32\n");
    has(&text, &["bounds"]);
    let from_one = WEIGHTED.replace("int y = 0", "int y = 1");
    has(&refused_text(&from_one, "collapse y\n"), &["does not count from 0"]);
    has(&refused_text(WEIGHTED, "collapse i\n"), &["its body is more or other than one loop"]);
    has(&refused_text(WEIGHTED, "bind i -> x block 32\ncollapse y\n"), &["before `bind`"]);
    has(&refused_text(WEIGHTED, "collapse z\n"), &["no loop is directly inside"]);
    let marked = "collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            A[i][j] = 0.0f;\n}\n";
    let marked =
        format!("void f(int n, int m, float A[n][m]) {{\n    #pragma omp parallel for {marked}");
    has(&refused_text(&marked, "collapse i\n"), &["only a serial loop"]);
}
