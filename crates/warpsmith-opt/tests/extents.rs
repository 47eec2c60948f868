//! Extents and rows that accesses tell, as text.

mod common;

use common::Input;
use warpsmith_ir::{Diagnostic, Function};
use warpsmith_opt::analysis::extents;
use warpsmith_opt::show;

/// What is found of the array parameters of `void f(int n, int m, int k, …)`: `x[n][m]`, or why nothing is.
fn found(params: &str, body: &str) -> String {
    let source =
        format!("void f(int n, int m, int k, {params}) {{\n#pragma omp parallel for\n{body}\n}}\n");
    let mut input = Input::new(&source);
    let open = match extents::infer(&mut input.module, input.function) {
        Ok(open) => open,
        Err(list) => return negative(&list),
    };
    warpsmith_ir::verify::verify(&input.module).expect("sound IR");
    let f: &Function = input.module.function(input.function);
    let arrays = f.params.iter().filter(|p| f.var(**p).ty.is_pointer());
    let text = |p: &warpsmith_ir::VarId| {
        let var = f.var(*p);
        if let Some(open) = open.iter().find(|o| o.array == *p) {
            let at = open.access.map_or("?", |s| input.sources.text(s));
            return format!("{}: {}, at {at}", var.name, open.reason);
        }
        let shape = var.shape.iter().flatten();
        let shape = shape.map(|e| format!("[{}]", show::expr(&input.module, f, e)));
        format!("{}{}", var.name, shape.collect::<String>())
    };
    arrays.map(text).collect::<Vec<String>>().join(", ")
}

fn negative(list: &[Diagnostic]) -> String {
    let texts = list.iter().map(|d| format!("{}: {}", d.code, d.labels[0].text));
    texts.collect::<Vec<String>>().join(", ")
}

/// Each case: parameters, body, what is found.
#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    let wrong = cases.iter().filter_map(|(params, body, expected)| {
        let found = found(params, body);
        (found != *expected).then(|| format!("{params}\n{body}\n  {found}\n  {expected}\n"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rows_and_planes() {
    check(&[
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i*m + j] = 0;",
            "x[n][m]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int l = 0; l < k; l++) x[(i*m + j)*k + l] = 0;",
            "x[n][m][k]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i*m + m - 1 - j] = 0;",
            "x[n][m]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < 64; j++) x[64*i + j] = 0;",
            "x[n][64]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) x[3*i + j] = 0;",
            "x[3 * n]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < m + 2*k; j++) x[i*(m + 2*k) + j] = 0;",
            "x[n][m + 2 * k]",
        ),
        (
            "float *x",
            "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) x[(i + 1)*m + j - 1] = x[(i - 1)*m + j + 1];",
            "x[n][m]",
        ),
    ]);
}

/// A row that is not proved to hold its columns is none.
#[test]
fn what_leaves_its_row_stays_flat() {
    check(&[
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i*k + j] = 0;",
            "x[max(n * k + m - k, 0)]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j <= m; j++) x[i*m + j] = 0;",
            "x[n * m + 1]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) x[i*m + j] = x[(i*m + j) + 1];",
            "x[n * m + 1]",
        ),
        (
            "float *x",
            "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) x[i*m + j - 1] = 0;",
            "x[max(n * m - 1, 0)]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (j < k) x[i*m + j + k] = 0;",
            "x[max(min(n * m + k, n * m - m + 2 * k), 0)]",
        ),
    ]);
}

#[test]
fn loops_of_other_forms() {
    check(&[
        ("float *x", "for (int i = n - 1; i >= 0; i--) x[i] = 0;", "x[n]"),
        ("float *x", "for (int i = 0; i < n; i += 4) x[i] = 0;", "x[n]"),
        (
            "float *x, float *y",
            "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) y[i*(i + 1)/2 + j] = x[i*n + j];",
            "x[n][n], y[max(n + (n * n - n) / 2, 0)]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { int lo = i - k < 0 ? 0 : i - k; int hi = i + k >= n ? n - 1 : i + k; for (int j = lo; j <= hi; j++) x[j] = 0; }",
            "x[n]",
        ),
        (
            "float *x",
            "for (int t = 0; t < n * m; t++) { int i = t / m, j = t % m; x[i*m + j] = 0; }",
            "x[n * m]",
        ),
        ("float *x", "for (int t = 0; t < n * m; t++) { int i = t / m; x[i] = 0; }", "x[n]"),
        ("float *x", "for (int i = 0; i < n; i++) { x[i % 16] = 0; x[i & 31] = 1; }", "x[32]"),
        ("float *x", "for (int i = 0; i < n; i++) x[i / 2] = 0;", "x[max((n - 1) / 2 + 1, 0)]"),
    ]);
}

#[test]
fn conditions_count() {
    check(&[
        (
            "float *x",
            "for (int i = 0; i < n; i++) if (i > 0 && i < n - 1) x[i + 1] = x[i - 1];",
            "x[n]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { if (i == 0) continue; x[i - 1] = 0; }",
            "x[max(n - 1, 0)]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { int j = i - k; if (j < 0) j = 0; if (j >= m) j = m - 1; x[j] = 0; }",
            "x[min(n, m)]",
        ),
        ("float *x", "for (int i = 0; i < n; i++) x[i < m ? i : m - 1] = 0;", "x[min(n, m)]"),
        (
            "float *x, float *y",
            "for (int i = 0; i < n; i++) { y[i] = x[0]; if (i + 5 < n) y[i] = x[i + 5]; }",
            "x[n], y[n]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { x[i] = 0; if (i < m) x[k] = 1; }",
            "x[max(k + 1, n)]",
        ),
        (
            "float *x, float *y",
            "for (int i = 0; i < (n < m ? n : m); i++) x[i] = y[i];",
            "x[min(m, n)], y[min(m, n)]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { if (i >= m) continue; x[i] = 0; }",
            "x[min(m, n)]",
        ),
    ]);
}

#[test]
fn quotients_and_remainders_by_sizes_need_no_more_than_they_reach() {
    check(&[
        (
            "float *y, const float *x",
            "for (int i = 0; i < n; i++) y[i] = x[i / m];",
            "y[n], x[max((n + m - 1) / m, 0)]",
        ),
        ("float *y, const float *x", "for (int i = 0; i < n; i++) y[i] = x[i % m];", "y[n], x[m]"),
        (
            "float *y, const float *x",
            "for (int i = 0; i < n * m; i++) y[i] = x[i / m];",
            "y[n * m], x[n]",
        ),
    ]);
}

#[test]
fn variables_that_are_one_of_several_counters() {
    check(&[
        (
            "float *x, float *y",
            "for (int k = 0; k < n - 1; k++) { int p = k; \
             for (int i = k + 1; i < n; i++) if (y[i * n + k] > 1.0f) p = i; \
             for (int j = 0; j < n; j++) x[p * n + j] = y[k * n + j]; }",
            "x[n][n], y[n][n]",
        ),
        (
            "float *x, const float *y",
            "for (int k = 0; k < 2; k++) { int p = 0; for (int i = 0; i < n; i++) \
             for (int j = 0; j < m; j++) if (y[i * m + j] > 1.0f) p = i + j; x[p] = 0; }",
            "x: nothing bounds `p` here, at x[p], y[n][m]",
        ),
        (
            "float *x, const float *y",
            "for (int k = 0; k < 2; k++) { int p = 0; for (int i = 0; i < n; i++) \
             { if (y[i] > 1.0f) p = p + i; x[p] = 0; } }",
            "x: nothing bounds `p` here, at x[p], y[n]",
        ),
    ]);
}

/// A counter that an iteration raises by so much at most.
#[test]
fn elements_that_a_counter_fills() {
    let kept = |inner: &str| format!("for (int r = 0; r < 1; r++) {{ int c = 0; {inner} }}");
    let one = kept("for (int i = 0; i < n; i++) if (a[i] > 3) x[c++] = i;");
    let two =
        kept("for (int i = 2; i <= m; i++) if (a[i] > 3) { x[c] = i; x[c + 1] = 0; c += 2; }");
    let rows =
        kept("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (a[j] > i) x[c++] = j;");
    let inner = kept(
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) if (a[j] > i) x[c++] = j;",
    );
    let down = kept("c = n; for (int i = 0; i < n; i++) if (a[i] > 3) x[--c] = i;");
    let set = kept("for (int i = 0; i < n; i++) { if (a[i] > 3) x[c++] = i; else c = k; }");
    check(&[
        ("const int *a, int *x", &one, "a[n], x[n]"),
        ("const int *a, int *x", &two, "a[m + 1], x[max(2 * m - 2, 0)]"),
        ("const int *a, int *x", &rows, "a[m], x[n * m]"),
        ("const int *a, int *x", &inner, "a[max(m - 1, 0)], x[max(n * m - 2 * m - 2, 0)]"),
        ("const int *a, int *x", &down, "a[n], x[n]"),
        ("const int *a, int *x", &set, "a[n], x: nothing bounds `c` here, at x[c++]"),
    ]);
}

#[test]
fn pointers_that_move() {
    check(&[
        (
            "float *x",
            "for (int i = 0; i < n; i++) { float *p = x + i*m; for (int j = 0; j < m; j++) *p++ = 0; }",
            "x[n][m]",
        ),
        (
            "float *x",
            "for (int j = 0; j < m; j++) { float *p = x + j; for (int i = 0; i < n; i++) { *p = 0; p += m; } }",
            "x[n][m]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { int at = i*m; for (int j = 0; j < m; j++) x[at++] = 0; }",
            "x[n][m]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { float *p = x + i*m*k; for (int j = 0; j < m; j++) for (int l = 0; l < k; l++) *p++ = 0; }",
            "x[n][m][k]",
        ),
        (
            "float (*x)[m]",
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] = 0;",
            "x[n][m]",
        ),
        (
            "float x[][8]",
            "for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) x[i + 1][j] = 0;",
            "x[n + 1][8]",
        ),
        ("float *x, float *y", "for (int i = 0; i < n; i++) x[i] = *y;", "x[n], y[1]"),
    ]);
}

#[test]
fn what_data_decide_is_left_open() {
    check(&[
        (
            "const int *p, float *x",
            "for (int i = 0; i < n; i++) x[p[i]] = 0;",
            "p[n], x: data decide: it is read from `p`, at x[p[i]]",
        ),
        (
            "const unsigned char *p, float *x",
            "for (int i = 0; i < n; i++) x[p[i]] = 0;",
            "p[n], x[256]",
        ),
        (
            "const int *p, float *x",
            "for (int i = 0; i < n; i++) { int b = p[i]; if (b >= 0 && b < k) x[b] = 0; }",
            "p[n], x[k]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { int j = i; while (j * j < m) { x[j] = 0; j = j * 3; } }",
            "x: nothing bounds `j` here, at x[j]",
        ),
        (
            "float *x",
            "for (int i = 0; i < n; i++) { int j = 0; while (j < m) { x[j] = 0; j = j + 2; } }",
            "x[m]",
        ),
        (
            "const float *x, int *y",
            "for (int i = 0; i < n; i++) { int lo = 0, hi = m; while (lo < hi) { int mid = (lo + hi) / 2; if (x[mid] < 0.5f) lo = mid + 1; else hi = mid; } y[i] = lo; }",
            "x[m], y[n]",
        ),
    ]);
}

#[test]
fn negative_subscripts_are_named() {
    check(&[
        (
            "float *x, float *y",
            "for (int i = 0; i < n; i++) y[i] = x[i - 1];",
            "W155: the subscript begins at -1",
        ),
        (
            "float *x, float *y",
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] = x[i - j];",
            "W155: the subscript begins at 1 - n",
        ),
        (
            "float *x, float *y",
            "for (int i = 0; i < n; i++) for (int j = 1; j < i; j++) y[i] = x[i - 1];",
            "x[max(n - 1, 0)], y[n]",
        ),
        (
            "float *x, float *y",
            "for (int i = 0; i < n; i++) y[i] = x[i - k];",
            "W155: the subscript begins at -k",
        ),
    ]);
}

#[test]
fn conditions_on_quotients_and_remainders() {
    check(&[
        (
            "const float *u, float *y",
            "for (int l = 0; l < n * m; l++) {
                int x = l % n, j = l / n;
                float s = 0;
                if (j < m - 1) s += u[l + n];
                if (x < n - 1) s += u[l + 1];
                if (j > 0) s += u[l - n];
                y[l] = s;
            }",
            "u[n * m], y[n * m]",
        ),
        (
            "const float *u, float *y",
            "for (int l = 0; l < n * m * k; l++) {
                int x = l % n, j = (l / n) % m, z = l / (n * m);
                float s = 0;
                if (j < m - 1) s += u[l + n];
                if (x + 1 < n) s += u[l + 1];
                if (z < k - 1) s += u[l + n * m];
                y[l] = s;
            }",
            "u[n * m * k], y[n * m * k]",
        ),
        (
            "const float *u, float *y",
            "for (int l = 0; l < n * m * k; l++) {
                int x = l % n, j = (l / n) % m, z = l / (n * m);
                y[l] = u[x < n - 1 ? l + 1 : l] + u[j < m - 1 ? l + n : l] + u[z < k - 1 ? l + n * m : l];
            }",
            "u[n * m * k], y[n * m * k]",
        ),
    ]);
}

#[test]
fn neighbours_kept_inside_by_choices() {
    check(&[(
        "const float *u, float *y",
        "for (int i = 0; i < n; i++) y[i] = u[i - 1 > 0 ? i - 1 : 0] + u[i + 1 < n - 1 ? i + 1 : n - 1];",
        "u[n], y[n]",
    )]);
}
