//! Functions and schedules that together take every kind of step. Blocks are small, so that few elements need several.

pub struct Case {
    pub name: &'static str,
    pub source: &'static str,
    pub schedule: &'static str,
}

const PRODUCT: &str = "
// warpsmith: size n=20 m=20 k=20
void f(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0f;
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
        }
}
";

const ROWS: &str = "
// warpsmith: size n=20 m=70
void f(int n, int m, const float A[n][m], const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i] += A[i][j] * x[j];
}
";

const SQUARE: &str = "
// warpsmith: size n=20
void f(int n, const float A[n][n], float C[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += A[i][k] * A[k][j];
            C[i][j] = s;
        }
}
";

pub const CASES: &[Case] = &[
    Case { name: "product", source: PRODUCT, schedule: "bind i, j -> y, x block 8x4" },
    Case {
        name: "product in tiles",
        source: PRODUCT,
        schedule: "bind i, j -> y, x block 8x4
accumulate C
register_tile i by 2
register_tile j by 2
stage A at l tile 8 pad 1 transposed
stage B at l tile 8
unroll l",
    },
    Case {
        name: "product with peeled edges",
        source: PRODUCT,
        schedule: "bind i, j -> y, x block 4x8
accumulate C
register_tile i by 2
stage A at l tile 4
bounds peel",
    },
    Case {
        name: "an array times itself",
        source: SQUARE,
        schedule: "bind i, j -> y, x block 8x4
register_tile i by 2
stage A#1 at k tile 8 pad 1 transposed
stage A#2 at k tile 8",
    },
    Case {
        name: "rows shared by lanes",
        source: ROWS,
        schedule: "bind i -> y block 1x4
accumulate y
share j -> x by 8
register_tile i by 2
specialise m%4=0, A%16=0, x%16=0
vectorise j by 4",
    },
    Case {
        name: "rows shared by warps",
        source: ROWS,
        schedule: "bind i -> y block 1x2
accumulate y
share j -> x by 64
register_tile i by 2",
    },
    Case {
        name: "rows shared along y",
        source: ROWS,
        schedule: "bind i -> x block 8
accumulate y
share j -> y by 4",
    },
    Case {
        name: "batch with bias",
        source: "
// warpsmith: size n=20 m=20 k=20
void f(int n, int m, int k, const double A[3][k][n], const double B[3][m][k],
       const double bias[m], double C[3][n][m]) {
    #pragma omp parallel for collapse(3)
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                double s = 0;
                for (int l = 0; l < k; l++)
                    s += A[b][l][i] * B[b][j][l];
                s = 0.7 * s + bias[j];
                C[b][i][j] = s > 0.1 ? s : 0.1;
            }
}
",
        schedule: "bind b, i, j -> z, y, x block 4x4x2
stage A at l tile 4 transposed
stage B at l tile 4",
    },
    Case {
        name: "five points",
        source: "
// warpsmith: size n=20 m=20
void f(int n, int m, const float U[n][m], float V[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            V[i][j] = 0.2f * (U[i][j] + U[i - 1][j] + U[i + 1][j] + U[i][j - 1] + U[i][j + 1]);
}
",
        schedule: "bind i, j -> y, x block 8x4
stage U
register_tile i by 2",
    },
    Case {
        name: "seven points",
        source: "
// warpsmith: size n=9 m=9 k=9
void f(int n, int m, int k, const double U[n][m][k], double V[n][m][k]) {
    #pragma omp parallel for collapse(3)
    for (int a = 1; a < n - 1; a++)
        for (int b = 1; b < m - 1; b++)
            for (int c = 1; c < k - 1; c++)
                V[a][b][c] = U[a][b][c] * 0.4 + 0.1 * (U[a - 1][b][c] + U[a + 1][b][c]
                    + U[a][b - 1][c] + U[a][b + 1][c] + U[a][b][c - 1] + U[a][b][c + 1]);
}
",
        schedule: "bind a, b, c -> z, y, x block 4x2x2
stage U pad 1",
    },
    Case {
        name: "window",
        source: "
// warpsmith: size n=20 m=20
void f(int n, int m, const float I[n + 4][m + 4], const float F[5][5], float O[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int a = 0; a < 5; a++)
                for (int b = 0; b < 5; b++)
                    s += I[i + a][j + b] * F[a][b];
            O[i][j] = s;
        }
}
",
        schedule: "bind i, j -> y, x block 8x4
constant F
stage I
register_tile j by 2
unroll b",
    },
    Case {
        name: "rows in registers",
        source: "
// warpsmith: size h=20 w=20
void f(int h, int w, const float image[h + 2][w + 3], const float taps[3][4], float out[h][w]) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int dy = 0; dy < 3; dy++)
                for (int dx = 0; dx < 4; dx++)
                    sum += taps[dy][dx] * image[y + dy][x + dx];
            out[y][x] = sum;
        }
}
",
        schedule: "bind y, x -> y, x block 4x4
constant taps
register_tile y by 2
register_tile x by 4
vectorise x by 4
stage image pad 1 async
unroll dx
stream dy along y",
    },
    Case {
        name: "rows that begin at one",
        source: "
// warpsmith: size nx=24 ny=7
void f(int nx, int ny, const float u[ny][nx], float v[ny][nx]) {
    #pragma omp parallel for collapse(2)
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            float centre = u[j][i];
            v[j][i] = centre + 2.0f * (u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1]);
        }
}
",
        schedule: "bind j, i -> y, x block 2x2
specialise nx%4=0, u%16=0, v%16=0
register_tile j by 2
register_tile i by 4
align i by 4
vectorise i by 4
bounds peel",
    },
    Case {
        name: "rows that begin at three",
        source: "
// warpsmith: size n=50
void f(int n, const double x[n], double y[n]) {
    #pragma omp parallel for
    for (int i = 3; i < n - 1; i++)
        y[i] = x[i - 2] + 3.0 * x[i + 1];
}
",
        schedule: "bind i -> x block 4
register_tile i by 2
align i by 4",
    },
    Case {
        name: "sums",
        source: "
// warpsmith: size n=100
unsigned f(int n, const unsigned x[n], const unsigned y[n], unsigned least[1]) {
    unsigned s = 1, low = 1000;
    #pragma omp parallel for reduction(+: s) reduction(min: low)
    for (int i = 0; i < n; i++) {
        s += x[i] * y[i];
        if (x[i] < low) low = x[i];
    }
    least[0] = low;
    return s;
}
",
        schedule: "reduce s block 64 grid 3",
    },
    Case {
        name: "sum of reals",
        source: "
// warpsmith: size n=40 m=40
void f(int n, int m, const float x[n][m], float total[1]) {
    float s = 0;
    #pragma omp parallel for collapse(2) reduction(+: s)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += x[i][j];
    total[0] += s;
}
",
        schedule: "reduce s block 32 grid 4",
    },
    Case {
        name: "steps",
        source: "
// warpsmith: size n=60
void f(int n, int x[n], int y[2 * n + 1]) {
    #pragma omp parallel for
    for (int i = 1; i < n; i += 3)
        x[i] = x[i] / 3 + i % 7;
    #pragma omp parallel for
    for (int j = n - 1; j >= 0; j -= 2)
        y[2 * j + 1] -= x[j] * 5;
}
",
        schedule: "bind i -> x block 8
indexing i sparse
bind j -> x block 8",
    },
    Case {
        name: "known sizes",
        source: "
// warpsmith: size n=40 m=40
void f(int n, int m, const float A[n][m], const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = y[i];
        for (int j = 0; j < m; j++)
            s += A[i][j] * x[j];
        y[i] = s;
    }
}
",
        schedule: "bind i -> x block 8
specialise n%16=0, m=24",
    },
    Case {
        name: "tiles of serial loops",
        source: "
// warpsmith: size n=10 m=10 k=10
void f(int n, int m, int k, const unsigned X[n][k][m], unsigned Y[n][m][k]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                Y[i][j][l] += X[i][l][j] * 3u;
}
",
        schedule: "bind i -> x block 4
tile j, l by 4x3
interchange j
unroll l by 2",
    },
    Case {
        name: "triangle",
        source: "
// warpsmith: size n=20
void f(int n, const float L[n][n], const float b[n], float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j <= i; j++)
            x[i] -= L[i][j] * 0.3f;
    }
}
",
        schedule: "bind i -> x block 8
accumulate x
register_tile i by 2",
    },
    Case {
        name: "rows",
        source: "
#include <math.h>
// warpsmith: size n=20 m=20
void f(int n, int m, const float X[n][m], float Y[n][m], double S[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float most = -2.0f;
        for (int j = 0; j < m; j++)
            most = fmaxf(most, X[i][j]);
        double s = 0;
        for (int j = 0; j < m; j++) {
            Y[i][j] = sqrtf(most - X[i][j]);
            s += Y[i][j];
        }
        S[i] = s / 1.7;
    }
}
",
        schedule: "bind i -> x block 16
register_tile i by 2
split j by 4",
    },
    Case {
        name: "turns",
        source: "
// warpsmith: size n=20 m=20
void f(int n, int m, float A[n][m], float B[n][m], float last[1]) {
    float scale = 0.5f;
    for (int t = 0; t < 3; t++) {
        #pragma omp parallel for collapse(2)
        for (int i = 1; i < n; i++)
            for (int j = 0; j < m; j++)
                B[i][j] = A[i - 1][j] * scale + A[i][j];
        scale = scale + 0.25f * B[1][0];
        #pragma omp parallel for collapse(2)
        for (int i = 1; i < n; i++)
            for (int j = 0; j < m; j++)
                A[i][j] = B[i][j] - scale;
    }
    last[0] = scale;
}
",
        schedule: "bind i, j -> y, x block 8x2
bind i#2, j#2 -> x, y block 4x4",
    },
    Case {
        name: "rows of a sparse matrix",
        source: "
// warpsmith: size n=20 m=30 nnz=70
void f(int n, int m, int nnz, const int start[n + 1], const int column[nnz], const float value[nnz],
       const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            s += value[k] * x[column[k]];
        y[i] = s;
    }
}
",
        schedule: "bind i -> x block 8",
    },
    Case {
        name: "a permutation",
        source: "
// warpsmith: size n=20
void f(int n, const int to[n], const int from[n], const double x[n], double y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[to[i]] = x[n - 1 - from[i]] + 1.0;
}
",
        schedule: "bind i -> x block 8",
    },
];
