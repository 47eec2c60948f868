//! The translated program computes what the C function computes, and the emulator finds nothing wrong with it.

mod common;

use common::check;

#[test]
fn products_at_sizes_around_the_block() {
    let source = "
void gemm(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0;
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        }
}";
    check(
        source,
        &[
            &[("n", 0), ("m", 5), ("k", 3)],
            &[("n", 1), ("m", 1), ("k", 0)],
            &[("n", 9), ("m", 33), ("k", 7)],
            &[("n", 7), ("m", 31), ("k", 1)],
        ],
    );
}

#[test]
fn loops_of_every_direction_and_step() {
    let source = "
void f(int n, int s, float a[3 * n + 9], float b[3 * n + 9]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += 3) a[i] += 1;
    #pragma omp parallel for
    for (int i = 2; i <= n; i += 2) a[i] *= 2;
    #pragma omp parallel for
    for (int i = n - 1; i >= 0; i--) b[i] += a[i];
    #pragma omp parallel for
    for (int i = n; i > 3; i -= 4) b[n - i] += 5;
    #pragma omp parallel for
    for (int i = 1; i != n + 1; i++) b[i] += 7;
    #pragma omp parallel for
    for (int i = 0; i < 3 * n; i += s) a[i] -= b[i];
}";
    for n in [0, 1, 2, 3, 4, 5, 255, 256, 257, 770] {
        check(source, &[&[("n", n), ("s", 1)], &[("n", n), ("s", 5)]]);
    }
}

#[test]
fn reductions_with_start_values_and_several_variables() {
    let source = "
float f(int n, const float x[n], const int v[n], float out[4], int *bits) {
    float sum = 10, least = 3, most = x[0] - 1;
    int all = 1, any = 0, mask = 5, both = 255;
    #pragma omp parallel for reduction(+: sum) reduction(min: least) reduction(max: most)
    for (int i = 0; i < n; i++) {
        sum += x[i];
        if (x[i] < least) least = x[i];
        if (x[i] > most) most = x[i];
    }
    #pragma omp parallel for reduction(&&: all) reduction(||: any) reduction(^: mask) reduction(&: both)
    for (int i = 0; i < n; i++) {
        all = all && v[i] > 0;
        any = any || v[i] == 3;
        mask ^= v[i];
        both &= v[i] | 64;
    }
    out[0] = least;
    out[1] = most;
    *bits = all + 2 * any + 4 * mask + 1024 * both;
    return sum + 1;
}";
    check(
        &with_extent(source, "bits", 1),
        &[&[("n", 1)], &[("n", 2)], &[("n", 255)], &[("n", 1000)], &[("n", 70000)]],
    );
}

/// An array parameter in place of a pointer, so that the data have a size.
fn with_extent(source: &str, name: &str, extent: u32) -> String {
    source
        .replacen(&format!("*{name})"), &format!("{name}[{extent}])"), 1)
        .replace(&format!("*{name} ="), &format!("{name}[0] ="))
}

#[test]
fn a_reduction_over_a_rectangle_visits_every_cell_once() {
    let source = "
int count(int n, int m, const int a[n][m], int seen[n][m]) {
    int total = 0;
    #pragma omp parallel for collapse(2) reduction(+: total)
    for (int i = 1; i < n - 1; i++)
        for (int j = m - 1; j >= 0; j -= 2) {
            seen[i][j] += 1;
            total += a[i][j];
        }
    return total;
}";
    check(
        source,
        &[
            &[("n", 0), ("m", 0)],
            &[("n", 3), ("m", 1)],
            &[("n", 9), ("m", 40)],
            &[("n", 300), ("m", 301)],
        ],
    );
}

#[test]
fn triangles_and_four_dimensions() {
    let source = "
void f(int n, float x[n][n], float y[n][n][n][n], float *t) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            x[i][j] = x[i][j] * 2 + j;
    #pragma omp parallel for collapse(4)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 1; l < n; l++)
                    y[i][j][k][l] += i + 2 * j + 3 * k + 4 * l;
    float s = 0;
    #pragma omp parallel for collapse(2) reduction(+: s)
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            s += x[i][j];
    *t = s;
}";
    check(&with_extent(source, "t", 1), &[&[("n", 0)], &[("n", 1)], &[("n", 5)], &[("n", 10)]]);
}

#[test]
fn host_loops_device_scalars_and_private_variables() {
    let source = "
void f(int n, int steps, float a[n + 2], float b[n + 2], float last[1]) {
    float scale = 1;
    int i, t;
    float edge, w = 2;
    for (int s = 0; s < steps; s++) {
        float shift = s * 2;
        #pragma omp parallel for private(t)
        for (i = 1; i <= n; i++) {
            t = i + s;
            if (t % 3 == 0) continue;
            b[i] = a[i - 1] + a[i + 1] + t * scale + shift;
        }
        scale = b[1];
        a[0] = scale;
        if (s % 2 == 1) {
            #pragma omp parallel for lastprivate(edge) firstprivate(w)
            for (i = 0; i < n; i++) {
                w = w + i;
                edge = b[i] + w - i;
                a[i] = edge;
            }
            last[0] += edge + i;
        }
        for (int k = 1; k < n; k++) b[k] = b[k - 1] - a[k];
    }
}";
    // Each iteration changes its copy of `w`, which C without OpenMP does not have.
    let source = source.replace("w = w + i;", "").replace("+ w - i", "+ w");
    check(
        &source,
        &[
            &[("n", 1), ("steps", 0)],
            &[("n", 1), ("steps", 3)],
            &[("n", 30), ("steps", 4)],
            &[("n", 300), ("steps", 2)],
        ],
    );
}

#[test]
fn called_functions_and_values_that_stay_on_the_device() {
    let source = "
#include <math.h>
static double power(double x, int k) {
    double r = 1;
    for (int i = 0; i < k; i++) { if (r > 1e6) return r; r *= x; }
    return r;
}
double f(int n, const double x[n], double y[n]) {
    double s = 0, t = 2;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) { y[i] = power(x[i], 3); s += y[i]; }
    double mean = s + 1;
    #pragma omp parallel for reduction(+: t)
    for (int i = 0; i < n; i++) t += (y[i] - mean) * (y[i] - mean);
    if (n == 4) return t * 2;
    return t + mean;
}";
    check(source, &[&[("n", 0)], &[("n", 1)], &[("n", 4)], &[("n", 600)]]);
}

#[test]
fn wide_counters_and_local_arrays() {
    let source = "
void f(long n, long m, double a[n][m], unsigned k, unsigned c[k]) {
    double weights[3];
    for (int i = 0; i < 3; i++) weights[i] = i + 1;
    #pragma omp parallel for collapse(2)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++) {
            double row[3];
            for (int l = 0; l < 3; l++) row[l] = weights[l] * a[i][j];
            a[i][j] = row[0] + row[1] + row[2];
        }
    #pragma omp parallel for
    for (unsigned i = 0; i < k; i++) c[i] = c[i] * 3 + i;
}";
    check(
        source,
        &[
            &[("n", 0), ("m", 3), ("k", 0)],
            &[("n", 3), ("m", 65), ("k", 1)],
            &[("n", 20), ("m", 20), ("k", 300)],
        ],
    );
}
