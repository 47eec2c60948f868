//! Reals of another type: what becomes of a program.

mod common;

use common::check_scheduled as check;

const MIXED: &str = "
#include <math.h>
static double scaled(double x, float y) { return 0.1 * x + (double)y; }
double f(int n, const double a[n], float b[n], double c) {
    double total = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float t = (float)sqrt(fabs(a[i]) + 0.5) * 2.0f;
        b[i] = t + (float)scaled(a[i] * c, b[i]) + i;
    }
    #pragma omp parallel for reduction(max: total)
    for (int i = 0; i < n; i++) total = fmax(total, a[i] + b[i]);
    return total;
}
";

#[test]
fn everything_has_the_new_type() {
    let sizes: &[&[(&str, i64)]] =
        &[&[("n", 0), ("c", 3)], &[("n", 1), ("c", 0)], &[("n", 77), ("c", 2)]];
    let steps = "bind i -> x block 32\nreduce total block 32 grid 4";
    let text = check(MIXED, &format!("precision float\n{steps}"), sizes);
    assert!(!text.contains("double"), "{text}");
    assert!(text.contains("0.1f"), "{text}");
    let text = check(MIXED, &format!("precision double\n{steps}"), sizes);
    assert!(!text.contains("float"), "{text}");
    let text = check(MIXED, &format!("precision half\n{steps}"), sizes);
    assert!(text.contains("half *") && !text.contains("double"), "{text}");
}

#[test]
fn precision_goes_with_tiles() {
    let source = "
void gemm(int n, int m, int k, const double A[n][k], const double B[k][m], double C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0;
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        }
}
";
    let sizes: &[&[(&str, i64)]] =
        &[&[("n", 5), ("m", 7), ("k", 0)], &[("n", 17), ("m", 9), ("k", 13)]];
    let steps = "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 4\nstage B at l tile 4\nregister_tile i by 2";
    for name in ["half", "float"] {
        for more in ["", "\nbounds peel", "\nbounds pad"] {
            check(source, &format!("precision {name}\n{steps}{more}"), sizes);
        }
    }
}
