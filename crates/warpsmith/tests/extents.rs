//! `warpsmith tune` on loops over plain pointers, as strangers write them: no extents, no pragma of ours. What the arrays
//! need is found from the accesses, and every kernel is verified.

use std::path::Path;
use std::process::{Command, Output};

use expect_test::expect;
use warpsmith_testgen::sampled;

/// A loop nest and sizes to tune it for.
struct Case {
    source: &'static str,
    sizes: &'static str,
    /// What the header says of its arrays.
    extents: &'static [&'static str],
}

fn tune(folder: &Path, source: &str, options: &[&str]) -> Output {
    std::fs::write(folder.join("nest.c"), source).expect("a writable folder");
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .args(["tune", "nest.c", "--out", "out"])
        .args(options)
        .output()
        .expect("the program starts")
}

/// The header, of which comments are joined to one line.
fn header(folder: &Path) -> String {
    let files = std::fs::read_dir(folder.join("out")).expect("output files");
    let path =
        files.map(|f| f.expect("a file").path()).find(|p| p.extension().is_some_and(|e| e == "h"));
    let text = std::fs::read_to_string(path.expect("a header")).expect("its text");
    text.replace("\n//  ", "")
}

fn accepted(case: &Case, more: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sizes = case.sizes.split(' ').filter(|s| !s.is_empty()).flat_map(|s| ["--size", s]);
    let options: Vec<&str> = sizes.chain(more.iter().copied()).collect();
    let output = tune(folder.path(), case.source, &options);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}\n{}", case.source);
    let header = header(folder.path());
    for extent in case.extents {
        assert!(header.contains(extent), "no `{extent}` in {header}\n{}", case.source);
    }
}

fn all(cases: &[Case]) {
    let some = sampled(cases.iter().collect());
    some.into_iter().for_each(|case| accepted(case, &["--strategy", "direct"]));
}

fn refused(source: &str, options: &[&str], expected: &expect_test::Expect) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = tune(folder.path(), source, options);
    assert_ne!(output.status.code(), Some(0), "{source}");
    expected.assert_eq(&String::from_utf8_lossy(&output.stderr));
}

#[test]
fn rows_and_planes() {
    all(&[
        Case {
            source: r"
void f(int n, int m, float *x) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i*m+j] *= 2.0f;
}
",
            sizes: "n=64 m=48",
            extents: &["`x` has n * m elements"],
        },
        Case {
            source: r"
void gemm(int ni, int nj, int nk, float alpha, float beta, float *A, float *B, float *C) {
    int i, j, k;
    #pragma omp parallel for private(j,k)
    for (i = 0; i < ni; i++) {
        for (j = 0; j < nj; j++) {
            C[i*nj+j] *= beta;
            for (k = 0; k < nk; ++k) C[i*nj+j] += alpha*A[i*nk+k]*B[k*nj+j];
        }
    }
}
",
            sizes: "ni=32 nj=32 nk=32",
            extents: &["`A` has ni * nk elements", "`B` has nk * nj elements"],
        },
        Case {
            source: r"
void p(int n, int m, int k, double *x, const double *y) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int l = 0; l < k; l++) x[(i*m+j)*k+l] = y[(i*m+j)*k+l]+1.0;
}
",
            sizes: "n=8 m=9 k=10",
            extents: &["`x` has n * m * k elements", "`y` has n * m * k elements"],
        },
        Case {
            source: r"
void bt(int b, int n, const float*A, const float*B, float*C) {
    #pragma omp parallel for
    for (int t = 0; t < b; t++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += A[t*n*n+i*n+k]*B[t*n*n+k*n+j];
        C[t*n*n+i*n+j] = s;
    }
}
",
            sizes: "b=3 n=12",
            extents: &["`A` has b * n * n elements", "`B` has b * n * n elements"],
        },
        Case {
            source: r"
void tr(int n, int m, const float*a, float*b) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[j*n+i] = a[i*m+j];
}
",
            sizes: "n=30 m=20",
            extents: &["`a` has n * m elements", "`b` has m * n elements"],
        },
        Case {
            source: r"
#include <stddef.h>
void sz(size_t n, size_t m, double*a) {
    #pragma omp parallel for
    for (size_t i = 0; i < n; i++) for (size_t j = 0; j < m; j++) a[i*m+j] *= 0.5;
}
",
            sizes: "n=30 m=20",
            extents: &["`a` has n * m elements"],
        },
        Case {
            source: r"
void s(int n, int m, int ldc, float *C) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) C[i*ldc+j] = 1.0f;
}
",
            sizes: "n=16 m=16 ldc=20",
            extents: &["`C` has max(n * ldc + m - ldc, 0) elements"],
        },
    ]);
}

#[test]
fn stencils_and_filters() {
    all(&[
        Case {
            source: r"
void jac(int n, int m, const float *a, float *b) {
    #pragma omp parallel for
    for (int i = 1; i < n-1; i++) for (int j = 1; j < m-1; j++) b[i*m+j] = 0.25f*(a[(i-1) *m+j]+a[(i+1) *m+j]+a[i*m+j-1]+a[i*m+j+1]);
}
",
            sizes: "n=64 m=64",
            extents: &["`a` has n * m elements", "`b` has max(n - 1, 0) * m elements"],
        },
        Case {
            source: r"
void h3(int nx, int ny, int nz, const float*u, float*v) {
    #pragma omp parallel for collapse(2)
    for (int k = 1; k < nz-1; k++) for (int j = 1; j < ny-1; j++) for (int i = 1; i < nx-1; i++) {
        int c = i+nx*(j+ny*k);
        v[c] = u[c]+0.1f*(u[c-1]+u[c+1]+u[c-nx]+u[c+nx]+u[c-nx*ny]+u[c+nx*ny]-6.0f*u[c]);
    }
}
",
            sizes: "nx=12 ny=12 nz=12",
            extents: &[
                "`u` has nz * ny * nx elements",
                "`v` has max(nz - 1, 0) * ny * nx elements",
            ],
        },
        Case {
            source: r"
void conv(int h, int w, int k, const float*in, const float*f, float*out) {
    int oh = h-k+1, ow = w-k+1;
    #pragma omp parallel for
    for (int y = 0; y < oh; y++) for (int x = 0; x < ow; x++) {
        float s = 0;
        for (int i = 0; i < k; i++) for (int j = 0; j < k; j++) s += in[(y+i)*w+x+j]*f[i*k+j];
        out[y*ow+x] = s;
    }
}
",
            sizes: "h=40 w=40 k=3",
            extents: &["`in` has h * w elements", "`f` has k * k elements"],
        },
        Case {
            source: r"
void mp(int h, int w, const float*x, float*y) {
    int oh = h/2, ow = w/2;
    #pragma omp parallel for
    for (int i = 0; i < oh; i++) for (int j = 0; j < ow; j++) {
        float m = x[(2*i)*w+2*j];
        for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++) {
            float v = x[(2*i+a)*w+2*j+b];
            if (v > m) m = v;
        }
        y[i*ow+j] = m;
    }
}
",
            sizes: "h=30 w=20",
            extents: &[
                "`x` has max(2 * w * (h / 2) - w + 2 * (w / 2), 0) elements",
                "`y` has h / 2 * (w / 2) elements",
            ],
        },
        Case {
            source: r"
void up(int n, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (i == 0) {
            y[i] = x[0];
            continue;
        }
        y[i] = x[i]-x[i-1];
    }
}
",
            sizes: "n=30",
            extents: &["`x` has n elements", "`y` has n elements"],
        },
    ]);
}

#[test]
fn images() {
    all(&[
        Case {
            source: r"
void blur(const unsigned char *in, unsigned char *out, int w, int h) {
    #pragma omp parallel for
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
        int s = 0;
        for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
            int yy = y+dy, xx = x+dx;
            if (yy < 0) yy = 0;
            if (yy >= h) yy = h-1;
            if (xx < 0) xx = 0;
            if (xx >= w) xx = w-1;
            s += in[yy*w+xx];
        }
        out[y*w+x] = (unsigned char)(s/9);
    }
}
",
            sizes: "w=40 h=30",
            extents: &["`in` has h * w elements", "`out` has h * w elements"],
        },
        Case {
            source: r"
void blur(const float *in, float *out, int w, int h, int r) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
        float s = 0;
        for (int dy = -r; dy <= r; dy++) for (int dx = -r; dx <= r; dx++) {
            int yy = y+dy, xx = x+dx;
            if (yy >= 0 && yy < h && xx >= 0 && xx < w) s += in[yy*w+xx];
        }
        out[y*w+x] = s;
    }
}
",
            sizes: "w=40 h=30 r=2",
            extents: &["`in` has h * w elements", "`out` has h * w elements"],
        },
        Case {
            source: r"
void gray(const unsigned char*rgb, unsigned char*g, int w, int h) {
    #pragma omp parallel for
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
        const int p = (y*w+x) *3;
        g[y*w+x] = (unsigned char)((rgb[p]*77+rgb[p+1]*150+rgb[p+2]*29)>>8);
    }
}
",
            sizes: "w=40 h=30",
            extents: &["`rgb` has h * (3 * w) elements", "`g` has h * w elements"],
        },
        Case {
            source: r"
void lut(int n, const unsigned char*in, const float*t, float*out) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) out[i] = t[in[i]];
}
",
            sizes: "n=100",
            extents: &["`in` has n elements", "`t` has 256 elements"],
        },
        Case {
            source: r"
void md(int w, int h, int it, int*out) {
    #pragma omp parallel for
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
        float a = 0, b = 0;
        int k = 0;
        while (k < it && a*a+b*b < 4.0f) {
            float t = a*a-b*b+x*0.01f;
            b = 2*a*b+y*0.01f;
            a = t;
            k++;
        }
        out[y*w+x] = k;
    }
}
",
            sizes: "w=30 h=20 it=20",
            extents: &["`out` has h * w elements"],
        },
    ]);
}

#[test]
fn triangles_and_bands() {
    all(&[
        Case {
            source: r"
void t(int n, const float *L, const float *x, float *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j <= i; j++) s += L[i*n+j]*x[j];
        y[i] = s;
    }
}
",
            sizes: "n=40",
            extents: &["`L` has n * n elements", "`x` has n elements"],
        },
        Case {
            source: r"
void t(int n, const float *L, const float *x, float *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j <= i; j++) s += L[i*(i+1)/2+j]*x[j];
        y[i] = s;
    }
}
",
            sizes: "n=40",
            extents: &["`L` has max(n + (n * n - n) / 2, 0) elements", "`x` has n elements"],
        },
        Case {
            source: r"
void band(int n, int b, const float*A, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int lo = i-b < 0?0:i-b;
        int hi = i+b >= n?n-1:i+b;
        float s = 0;
        for (int j = lo; j <= hi; j++) s += A[i*(2*b+1)+j-i+b]*x[j];
        y[i] = s;
    }
}
",
            sizes: "n=40 b=3",
            extents: &["`A` has max(2 * n * b + n - b, 0) elements", "`x` has n elements"],
        },
        Case {
            source: r"
void dn(int n, float*a) {
    #pragma omp parallel for
    for (int i = n-1; i >= 0; i--) a[i] = a[i]+1;
}
",
            sizes: "n=33",
            extents: &["`a` has n elements"],
        },
        Case {
            source: r"
void mi(int n, int m, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k = i < m?i:m-1;
        y[i] = x[k];
    }
}
",
            sizes: "n=33 m=20",
            extents: &["`x` has min(n, m) elements", "`y` has n elements"],
        },
        Case {
            source: r"
void wr(int n, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[(i+1)%n]+x[(i+n-1)%n];
    }
}
",
            sizes: "n=33",
            extents: &["`x` has n elements", "`y` has n elements"],
        },
        Case {
            source: r"
void rg(int n, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[i%16]*x[16+(i&7)];
    }
}
",
            sizes: "n=33",
            extents: &["`x` has 24 elements", "`y` has n elements"],
        },
        Case {
            source: r"
void st(int n, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[2*i] = x[i];
        y[2*i+1] = -x[i];
    }
}
",
            sizes: "n=50",
            extents: &["`x` has n elements", "`y` has 2 * n elements"],
        },
    ]);
}

#[test]
fn pointers_as_names() {
    all(&[
        Case {
            source: r"
void rp(int n, int m, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const float*p = x+i*m;
        float s = 0;
        for (int j = 0; j < m; j++) s += p[j];
        y[i] = s;
    }
}
",
            sizes: "n=30 m=20",
            extents: &["`x` has n * m elements", "`y` has n elements"],
        },
        Case {
            source: r"
void pi(int n, int m, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const float*p = x+i*m;
        float s = 0;
        for (int j = 0; j < m; j++) s += *p++;
        y[i] = s;
    }
}
",
            sizes: "n=30 m=20",
            extents: &["`x` has n * m elements", "`y` has n elements"],
        },
        Case {
            source: r"
void ps(int n, int m, const float*x, float*y) {
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        const float*p = x+j;
        float s = 0;
        for (int i = 0; i < n; i++) {
            s += *p;
            p += m;
        }
        y[j] = s;
    }
}
",
            sizes: "n=30 m=20",
            extents: &["`x` has n * m elements", "`y` has m elements"],
        },
        Case {
            source: r"
void ip(int n, int m, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k = i*m;
        float s = 0;
        for (int j = 0; j < m; j++) s += x[k++];
        y[i] = s;
    }
}
",
            sizes: "n=30 m=20",
            extents: &[],
        },
        Case {
            source: r"
void sf(int b, int n, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < b; i++) {
        const float*r = x+i*n;
        float*o = y+i*n;
        float mx = r[0];
        for (int j = 1; j < n; j++) if (r[j] > mx) mx = r[j];
        for (int j = 0; j < n; j++) o[j] = r[j]-mx;
    }
}
",
            sizes: "b=10 n=20",
            extents: &[
                "`x` has max(max(b * n, b * n - n + 1), 0) elements",
                "`y` has b * n elements",
            ],
        },
        Case {
            source: r"
void sm(int n, const float*x, float*out) {
    float s = 0;
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < n; i++) s += x[i];
    *out = s;
}
",
            sizes: "n=100",
            extents: &["`x` has n elements"],
        },
    ]);
}

#[test]
fn pointers_to_rows() {
    all(&[
        Case {
            source: r"
#define N 24
void pa(int n, float (*A)[N]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < N; j++) A[i][j] += 1.0f;
}
",
            sizes: "n=30",
            extents: &["`A` has n * 24 elements"],
        },
        Case {
            source: r"
void pv(int n, int m, float (*A)[m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] += 1.0f;
}
",
            sizes: "n=30 m=20",
            extents: &["`A` has n * m elements"],
        },
        Case {
            source: r"
#define M 20
void of(int n, float A[][M]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < M; j++) A[i][j] += 1.0f;
}
",
            sizes: "n=30",
            extents: &["`A` has n * 20 elements"],
        },
    ]);
}

#[test]
fn helpers_and_quotients() {
    all(&[
        Case {
            source: r"
static int at(int i, int j, int m) {
    return i*m+j;
}
void hl(int n, int m, float*x) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[at(i, j, m)] = 1.0f;
}
",
            sizes: "n=30 m=4",
            extents: &[],
        },
        Case {
            source: r"
static float dot(const float*a, const float*b, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) s += a[i]*b[i];
    return s;
}
void h2(int n, int m, const float*A, const float*x, float*y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = dot(A+i*m, x, m);
}
",
            sizes: "n=30 m=4",
            extents: &["`A` has n * m elements", "`x` has m elements"],
        },
        Case {
            source: r"
void dm(int n, int m, float*x) {
    #pragma omp parallel for
    for (int t = 0; t < n*m; t++) {
        int i = t/m, j = t%m;
        x[i*m+j] = i-j;
    }
}
",
            sizes: "n=30 m=20",
            extents: &["`x` has n * m elements"],
        },
        Case {
            source: r"
void nb(int n, const float*p, float*a) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float ax = 0, ay = 0;
        for (int j = 0; j < n; j++) {
            float dx = p[2*j]-p[2*i], dy = p[2*j+1]-p[2*i+1];
            float r = 1.0f/(dx*dx+dy*dy+0.01f);
            ax += dx*r;
            ay += dy*r;
        }
        a[2*i] = ax;
        a[2*i+1] = ay;
    }
}
",
            sizes: "n=30",
            extents: &["`p` has 2 * n elements", "`a` has 2 * n elements"],
        },
    ]);
}

/// Rows that were found are tiled, staged and vectorised like declared ones.
#[test]
fn rows_are_seen_by_rewrites() {
    let product = r"
void gemm(int n, int m, int l, const float *A, const float *B, float *C) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0.0f;
            for (int k = 0; k < l; k++) s += A[i * l + k] * B[k * m + j];
            C[i * m + j] = s;
        }
}
";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let schedule = "bind i, j -> y, x block 16x16\nstage A at k tile 16\nstage B at k tile 16\n";
    std::fs::write(folder.path().join("x.sched"), schedule).expect("a writable folder");
    let sizes = ["--size", "n=64", "--size", "m=64", "--size", "l=64"];
    let output = tune(folder.path(), product, &[&sizes[..], &["--schedule", "x.sched"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_default_search_takes_plain_pointers() {
    let case = Case {
        source: r"
void heat(int n, int m, const float *a, float *b) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            b[i * m + j] = 0.25f * (a[(i - 1) * m + j] + a[(i + 1) * m + j]
                + a[i * m + j - 1] + a[i * m + j + 1]);
}
",
        sizes: "n=1024 m=1024",
        extents: &["`a` has n * m elements, from its accesses"],
    };
    accepted(&case, &[]);
}

const SPMV: &str = r"
void spmv(int n, const int *rp, const int *ci, const float *v, const float *x, float *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int e = rp[i]; e < rp[i + 1]; e++) s += v[e] * x[ci[e]];
        y[i] = s;
    }
}
";

/// Where data decide, arrays that are given have the extents they are given with.
#[test]
fn given_arrays_have_their_own_extents() {
    let case = Case { source: SPMV, sizes: "n=64", extents: &["`rp` has n + 1 elements"] };
    let given = ["rp=iota", "ci=int[4096]", "v=float[4096]", "x=float[4096]"];
    let mut options = vec!["--strategy", "direct"];
    options.extend(given.iter().flat_map(|g| ["--arg", g]));
    accepted(&case, &options);
    let bounds = SPMV.replace("\nvoid", "\n#pragma ws bounds(ci: 4096; v: 4096; x: 1)\nvoid");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output =
        tune(folder.path(), &bounds, &["--size", "n=64", "--arg", "rp=iota", "--arg", "ci=zeros"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Where data decide, the kernel needs no count; what would copy the array does.
#[test]
fn what_data_choose_is_run_without_a_host_function() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = tune(folder.path(), SPMV, &["--size", "n=64", "--strategy", "direct"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let header = header(folder.path());
    let stated = "`x` has the elements that data choose; how many that are, nothing tells.";
    assert!(header.contains(stated) && !header.contains("spmv_host("), "{header}");
}

/// Other accesses tell how large an array is; those that data decide stay inside.
#[test]
fn what_data_choose_lies_inside_what_others_need() {
    let source = r"
void spread(int n, int m, float *x, const int *north, float *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) y[i * m + j] = x[north[i] * m + j] - x[i * m + j];
}
";
    let case = Case {
        source,
        sizes: "n=64 m=64",
        extents: &[
            "`x` has n * m elements, from its accesses",
            "where data decide which element of `x` is touched, it is one of these",
        ],
    };
    accepted(&case, &["--strategy", "direct"]);
}

/// What data decide on one way only needs what the other way does.
#[test]
fn a_choice_between_a_counter_and_data_needs_what_the_counter_does() {
    let source = r"
void near(int n, const int *at, const float *x, float *y) {
    #pragma omp parallel for
    for (int l = 0; l < n; l++) {
        float s = 0.0f;
        for (int k = 0; k < 4; k++) {
            int p = k == 0 ? l + 3 : at[l * 3 + k - 1];
            s += x[2 * p + 1];
        }
        y[l] = s;
    }
}
";
    let extents = &[
        "`x` has 2 * n + 6 elements, from its accesses",
        "where data decide which element of `x` is touched, it is one of these",
    ];
    let case = Case { source, sizes: "n=64", extents };
    accepted(&case, &["--strategy", "direct"]);
}

#[test]
fn what_nothing_tells_is_asked_for() {
    let search = r"
void find(int n, const float *x, const float *y, int *at) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (x[k] < y[i]) k++;
        at[i] = k;
    }
}
";
    refused(
        search,
        &["--size", "n=64"],
        &expect![[r#"
        error[W154]: how many elements does `x` have?
         --> nest.c:6:16
          |
        2 | void find(int n, const float *x, const float *y, int *at) {
          |                  -------------- no extents are declared
        ...
        6 |         while (x[k] < y[i]) k++;
          |                ^^^^ nothing bounds `k` here
          |
          = help: write `#pragma ws bounds(x: n)` before the function, or give the array: `--arg x=@x.npy`, `--arg 'x=float[4096]'`
    "#]],
    );
}

#[test]
fn a_subscript_before_the_array_is_no_extent() {
    let source = r"
void diff(int n, const float *x, float *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = x[i] - x[i - 1];
}
";
    refused(
        source,
        &["--size", "n=64"],
        &expect![[r#"
        error[W155]: `x` is read or written before its first element
         --> nest.c:4:47
          |
        4 |     for (int i = 0; i < n; i++) y[i] = x[i] - x[i - 1];
          |                                               ^^^^^^^^ the subscript begins at -1
          |
          = help: begin the loop later, or guard the access with a condition
    "#]],
    );
}

#[test]
fn rows_of_their_own_are_refused_with_a_way_out() {
    let source = r"
void add(int n, int m, float **A) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) A[i][j] += 1.0f;
}
";
    refused(
        source,
        &["--size", "n=64", "--size", "m=4"],
        &expect![[r#"
        error[W144]: arrays of pointers are not supported
         --> nest.c:2:31
          |
        2 | void add(int n, int m, float **A) {
          |                               ^^ this type
          |
          = help: keep the rows in one block: `float *A` with `A[i*m + j]` for `A[i][j]`, or `float A[n][m]`; a program that allocates each row by itself can allocate `n*m` elements at once and let `A[i]` point to `&block[i*m]`
    "#]],
    );
}

/// What is touched through one pointer is touched in each array that it may lead to.
#[test]
fn arrays_whose_pointers_are_exchanged_need_the_same() {
    all(&[Case {
        source: r"
void heat(double *u, double *un, int nx, int ny, int steps) {
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for collapse(2)
        for (int i = 1; i < nx - 1; i++)
            for (int j = 1; j < ny - 1; j++)
                un[i * ny + j] = 0.25 * (u[(i - 1) * ny + j] + u[(i + 1) * ny + j] + u[i * ny + j - 1] + u[i * ny + j + 1]);
        double *tmp = u;
        u = un;
        un = tmp;
    }
}
",
        sizes: "nx=30 ny=20 steps=3",
        extents: &["`u` has nx * ny elements", "`un` has nx * ny elements"],
    }]);
}

/// A size that was asked for and that the C function does not survive is no success.
#[test]
fn an_asked_size_at_which_the_function_leaves_its_arrays_is_refused() {
    refused(
        r"
void crop(int n, int m, const float *x, float *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = x[i % m] + x[m - 3];
}
",
        &["--size", "n=30", "--size", "m=2", "--strategy", "direct"],
        &expect_test::expect![[r#"
            error[W328]: `crop` leaves its arrays at the sizes asked for
             --> nest.c:4:51
              |
            4 |     for (int i = 0; i < n; i++) y[i] = x[i % m] + x[m - 3];
              |                                                   ^^^^^^^^ here it leaves its array
              |
              = note: m=2, n=30: `x` has 2 elements, and element -1 is accessed
              = help: check bounds and extents; where data decides what is accessed, give representative data with --arg NAME=@file.npy
        "#]],
    );
}
