//! What the user reads when a step of a schedule cannot be taken, word for word.

#[path = "../common/mod.rs"]
mod common;

mod bounds;
mod constants;
mod indexing;
mod sizes;
mod stages;
mod tiles;

use common::refused_text;
use expect_test::Expect;

#[track_caller]
fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(source, schedule));
}

const PLAIN: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            b[i] += a[i] * k;
}
";

const GEMM: &str = "\
void f(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
}
";

const SUM: &str = "\
float f(int n, const float a[n]) {
    float s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
";

const STEP: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += 2)
        for (int k = 0; k < n; k += 3)
            b[i] += a[k];
}
";

const LAST: &str = "\
int f(int n, const int a[n], int b[n]) {
    int t = 0;
    #pragma omp parallel for lastprivate(t)
    for (int i = 0; i < n; i++) {
        t = a[i];
        b[i] = t * t;
    }
    return t;
}
";

const LASTSTEP: &str = "\
int f(int n, const int a[n], int b[n]) {
    int t = 0;
    #pragma omp parallel for lastprivate(t)
    for (int i = 0; i < n; i += 2) {
        t = a[i];
        b[i] = t * t;
    }
    return t;
}
";

const EARLY: &str = "\
void f(int n, const int a[n], int b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (a[i] < 0)
            continue;
        b[i] = a[i];
    }
}
";

const STENCIL: &str = "\
void f(int n, const float a[n + 2], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = a[i] + a[i + 2];
}
";

const GATHER: &str = "\
void f(int n, const int at[n], const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = a[at[i]];
}
";

const CONDITION: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            b[i] = a[i];
}
";

const WHILE: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            if (b[i] > 9)
                break;
            b[i] += a[k];
        }
}
";

const AFTER: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k;
        for (k = 0; k < n; k++)
            b[i] += a[k];
        b[i] += k;
    }
}
";

const BOUNDS: &str = "\
void f(int n, const int a[n], int b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < a[i]; k++)
            b[i] += k;
}
";

const DIAGONAL: &str = "\
void f(int n, int m, float a[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        a[0][i] = i;
    for (int k = 1; k < n; k++)
        for (int l = 0; l < m - 1; l++)
            a[k][l] = a[k - 1][l + 1];
}
";

const UNKNOWN: &str = "\
void f(int n, int s, float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += s)
        b[i] = i;
}
";

const COUNTER: &str = "\
int f(int n, float b[n]) {
    int i;
    #pragma omp parallel for
    for (i = 0; i < n; i += 2)
        b[i] = i;
    return i;
}
";

const CHANGED: &str = "\
void f(int n, int m, float b[m]) {
    n = n / 2;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = i;
}
";
