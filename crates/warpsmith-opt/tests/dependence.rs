//! The verdict on the usual forms of subscripts.

mod common;

use common::Input;
use warpsmith_opt::Refusal;
use warpsmith_opt::rewrite::question::independence;

#[derive(Debug, PartialEq)]
enum Verdict {
    Proved,
    /// Data decide.
    Trusted,
    /// Right where this holds.
    Under(String),
    Carried,
    Undecided,
    Shared,
}
use Verdict::*;

/// The verdict on the first loop of `for (int i = …) …` in a function with arrays of generous size.
fn verdict(nest: &str) -> Verdict {
    let source = format!(
        "void f(int n, int m, int k, int lda, float a[4 * n + 4], float b[n][m], float c[n * m], int idx[n]) {{
    float s = 0;
    #pragma omp parallel for
    {nest}
    a[0] = s;
}}
"
    );
    of_first_loop(&source)
}

fn of_first_loop(source: &str) -> Verdict {
    let input = Input::new(source);
    let kernel = input.kernel();
    let id = kernel.marked_roots()[0];
    let (group, clauses) = independence::group_of(&kernel, id);
    match independence::check(&kernel, id, &group, &clauses) {
        Ok(found) if found.proved() => Proved,
        Ok(found) if found.unproved.is_empty() => {
            let texts: Vec<String> = found.requires.iter().map(|r| r.text(kernel.func())).collect();
            Under(texts.join(", "))
        }
        Ok(_) => Trusted,
        Err(Refusal::Carried(_)) => Carried,
        Err(Refusal::Undecided(_)) => Undecided,
        Err(Refusal::SharedVariable { .. }) => Shared,
        Err(other) => panic!("{other:?}"),
    }
}

fn under(condition: &str) -> Verdict {
    Under(condition.into())
}

#[test]
fn constant_distances() {
    assert_eq!(verdict("for (int i = 1; i < n; i++) a[i] = a[i - 1];"), Carried);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i] = a[i] * 2;"), Proved);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[2 * i] = a[2 * i + 1];"), Proved);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i] = a[i + n];"), Proved);
    assert_eq!(verdict("for (int i = 0; i < n; i += 2) a[i] = a[i + 1];"), Proved);
    assert_eq!(verdict("for (int i = 0; i < n; i += 2) a[i] = a[i + 2];"), Carried);
    assert_eq!(verdict("for (int i = 100; i < n; i++) a[i] = a[i - 100];"), Carried);
    assert_eq!(verdict("for (int i = n - 2; i >= 0; i--) a[i] = a[i + 1];"), Carried);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i] = a[i + k];"), under("k >= n"));
}

#[test]
fn several_dimensions() {
    assert_eq!(
        verdict(
            "for (int i = 1; i < n; i++) for (int j = 0; j < m - 1; j++) b[i][j] = b[i-1][j+1];"
        ),
        Carried
    );
    assert_eq!(
        verdict("for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) b[i][j] = b[i][j-1];"),
        Proved
    );
    assert_eq!(
        verdict("for (int j = 1; j < m; j++) for (int i = 0; i < n; i++) b[i][j] += c[i * m + j];"),
        Proved
    );
    assert_eq!(
        verdict("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i][j] = b[j][i];"),
        Carried
    );
    assert_eq!(
        verdict("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[0][j] += 1;"),
        Carried
    );
    assert_eq!(
        verdict("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) b[i][j] = b[i][i] + 1;"),
        Proved
    );
}

#[test]
fn flattened_arrays() {
    let row = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)";
    assert_eq!(verdict(&format!("{row} c[i * m + j] *= 2;")), Proved);
    assert_eq!(verdict(&format!("{row} {{ int at = i * m + j; c[at] *= 2; }}")), Proved);
    assert_eq!(verdict(&format!("{row} c[i * lda + j] *= 2;")), under("lda >= m"));
    assert_eq!(verdict(&format!("{row} c[i + j] = 0;")), Carried);
    assert_eq!(
        verdict("for (int i = 0; i < n; i += 4) for (int u = 0; u < 4; u++) a[i + u] = 1;"),
        Proved
    );
    assert_eq!(
        verdict("for (int i = 0; i < n; i += 4) for (int u = 0; u < 5; u++) a[i + u] = 1;"),
        Carried
    );
    assert_eq!(verdict("for (int i = 0; i < n; i++) b[i / 4][i % 4] = 1;"), Proved);
}

#[test]
fn folded_and_reversed_subscripts() {
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[n - 1 - i] = i;"), Proved);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i] = a[n - 1 - i];"), Carried);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i / 2] = i;"), Carried);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i % 4] = i;"), Carried);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[0] = i;"), Carried);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[idx[i]] = i;"), Trusted);
    assert_eq!(verdict("for (int i = 0; i < n; i++) if (i % 2 == 0) a[i] = a[i + 1];"), Proved);
    assert_eq!(verdict("for (int i = 0; i < n; i++) { a[i] = 1; if (i > n) a[0] = 2; }"), Proved);
}

/// The verdict on the first loop of a function whose arrays are plain pointers.
fn plain(nest: &str) -> Verdict {
    of_first_loop(&format!(
        "void f(int n, int m, int k, int s, int t, unsigned u, float *a, float *b, const int *idx, const int *rp) {{
    #pragma omp parallel for
    {nest}
}}
"
    ))
}

#[test]
fn distances_that_only_large_sizes_have() {
    assert_eq!(plain("for (int i = 0; i < n; i++) a[i + 2000] = 0.5f * a[i] + 1.0f;"), Carried);
    assert_eq!(plain("for (int i = 0; i < n; i++) b[i & 4095] += a[i];"), Carried);
    assert_eq!(plain("for (int i = 0; i < n; i++) b[i % 1024] += a[i];"), Carried);
    assert_eq!(
        plain("for (int i = 0; i < n; i++) if (i >= 2000) a[i] = 0.5f * a[i - 2000];"),
        Carried
    );
    assert_eq!(plain("for (int i = 0; i < 1024; i++) b[i & 4095] += a[i];"), Proved);
    assert_eq!(plain("for (int i = 0; i < 4097; i++) b[i & 4095] += a[i];"), Carried);
    assert_eq!(plain("for (int i = 0; i < n; i++) b[i ^ 1] = a[i];"), Proved);
    assert_eq!(plain("for (int i = 0; i < n; i++) b[i ^ 1] = b[i];"), Carried);
    assert_eq!(plain("for (int i = 0; i < n; i++) b[(i << 3) | 5] = b[(i << 3) + 4];"), Proved);
}

#[test]
fn unsigned_values_wrap_around() {
    // A hash: the product exceeds 32 bits, so that its upper bits repeat.
    let hash = "b[((unsigned)i * 2654435761u) >> 20] = a[i];";
    assert_eq!(plain(&format!("for (int i = 0; i < n; i++) {hash}")), Undecided);
    assert_eq!(plain("for (unsigned i = 0; i < u; i++) b[(i + 1) % u] = a[i];"), Proved);
    assert_eq!(plain("for (unsigned i = 0; i < u; i++) b[(unsigned char)i] = a[i];"), Carried);
}

#[test]
fn guards_count() {
    let row = "for (int i = 0; i < n; i++) { if (i == k) continue;";
    let warshall = format!("{row} for (int j = 0; j < n; j++) a[i*n+j] += a[i*n+k] * a[k*n+j]; }}");
    assert_eq!(plain(&warshall), under("k >= 0, k <= n - 1"));
    assert_eq!(
        of_first_loop(&format!(
            "void f(int n, float *a) {{
    for (int k = 0; k < n; k++) {{
        #pragma omp parallel for
        {warshall}
    }}
}}
"
        )),
        Proved
    );
    let swap = "if (l > i) { float x = a[i]; if (x > a[l]) { a[i] = a[l]; a[l] = x; } }";
    assert_eq!(plain(&format!("for (int i = 0; i < n; i++) {{ int l = i ^ k; {swap} }}")), Proved);
    assert_eq!(plain("for (int i = 0; i < n; i++) { int l = i ^ k; a[i] = a[l]; }"), Carried);
    assert_eq!(plain("for (int i = 0; i < n; i++) a[i] = i > 0 ? a[i - 1] : 0;"), Carried);
    assert_eq!(plain("for (int i = 0; i < n; i++) a[i] = i < 0 ? a[i - 1] : 0;"), Proved);
    assert_eq!(
        plain("for (int c = 0; c < k; c++) for (int p = 0; p < n; p++) if (idx[p] == c) a[p] = c;"),
        Proved
    );
}

#[test]
fn shapes_of_plain_pointers() {
    let planes =
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int l = 0; l < k; l++)";
    assert_eq!(plain(&format!("{planes} a[(i * m + j) * k + l] *= 2;")), Proved);
    assert_eq!(plain(&format!("{planes} a[i * m * k + j * k + l] = a[i * m * k + l];")), Proved);
    assert_eq!(plain(&format!("{planes} a[i * s + j * t + l] *= 2;")), under("s >= m * t, t >= k"));
    // With a border of its own around each row.
    assert_eq!(
        plain(
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[(i + k) * (m + 2 * k) + j + k] = 0;"
        ),
        under("k >= 0")
    );
    assert_eq!(
        plain(
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[(i + k) * (m + k) + j + k] = 0;"
        ),
        under("k >= 0")
    );
    // Whichever parameter comes first, strides grow as the loops nest.
    assert_eq!(plain(&format!("{planes} a[i * t + j * s + l] *= 2;")), under("s >= k, t >= m * s"));
    assert_eq!(plain(&format!("{planes} a[i * s + j * k + l] *= 2;")), under("s >= m * k"));
    assert_eq!(plain("for (int i = 0; i < n; i++) a[i * s] *= 2;"), under("s >= 1"));
    let flat = "for (int p = 0; p < n * m; p++) { int y = p / m, x = p % m;";
    assert_eq!(plain(&format!("{flat} b[y * m + x] = a[p]; }}")), Proved);
    let lower = "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)";
    assert_eq!(plain(&format!("{lower} a[i * (i + 1) / 2 + j] = b[j];")), Proved);
    assert_eq!(plain(&format!("{lower} a[i * (i - 1) / 2 + j] = b[j];")), Carried);
    let pairs = "for (int i = 0; i < n; i += 2 * k) for (int j = 0; j < k; j++)";
    assert_eq!(
        plain(&format!("{pairs} {{ a[i + j] += a[i + j + k]; a[i + j + k] = 0; }}")),
        Proved
    );
}

#[test]
fn data_decide() {
    assert_eq!(
        plain("for (int i = 0; i < n; i++) for (int e = rp[i]; e < rp[i + 1]; e++) b[e] = a[i];"),
        Trusted
    );
    assert_eq!(plain("for (int i = 0; i < n; i++) b[idx[0]] = a[i];"), Carried);
    assert_eq!(plain("for (int i = 0; i < n; i++) b[idx[0] + i] = a[i];"), Proved);
    assert_eq!(
        plain("for (int i = 0; i < n; i++) { int at = (int)(a[i] * 16); b[at] += 1; }"),
        Trusted
    );
}

#[test]
fn what_is_not_understood_is_not_believed() {
    let loop_ = "for (int i = 0; i < n; i++) b[(int)sqrt((double)i)] = a[i];";
    assert_eq!(plain(loop_), Undecided);
    assert_eq!(plain(&format!("#pragma ws independent\n    {loop_}")), Trusted);
    assert_eq!(
        plain("\n#pragma ws independent\nfor (int i = 1; i < n; i++) a[i] = a[i - 1];"),
        Carried
    );
}

#[test]
fn scalars() {
    assert_eq!(verdict("for (int i = 0; i < n; i++) s += a[i];"), Shared);
    assert_eq!(verdict("for (int i = 0; i < n; i++) { s = a[i]; a[i] = s * s; }"), Shared);
    assert_eq!(verdict("for (int i = 0; i < n; i++) { float t = a[i]; a[i] = t * t; }"), Proved);
}

#[test]
fn an_unmarked_loop_that_is_parallel_is_suggested() {
    let input = Input::new(
        "void f(int n, float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 0;
    for (int j = 0; j < n; j++) b[j] = a[j];
    for (int k = 1; k < n; k++) b[k] = b[k - 1];
}
",
    );
    let notes = independence::suggestions(&input.kernel());
    let messages: Vec<&str> = notes.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["loop `j` is not marked, but its iterations are independent"]);
}

#[test]
fn exclusive_or_of_two_values_of_an_iteration() {
    // A Gray code meets nobody; the solver does not know that, and invents no meeting.
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i ^ (i >> 1)] = i;"), Undecided);
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i ^ (i & 2)] = i;"), Carried);
}

#[test]
fn examples_have_values_of_their_types() {
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i % 3000000000u] = i;"), Proved);
}

#[test]
fn bounds_that_were_computed_before() {
    let diagonal = |lo: &str| {
        of_first_loop(&format!(
            "void f(int n, int m, int D[(n + 1) * (m + 1)]) {{
                for (int d = 2; d <= n + m; d++) {{
                    int lo = {lo};
                    int hi = d - 1 < n ? d - 1 : n;
                    #pragma omp parallel for
                    for (int i = lo; i <= hi; i++)
                        D[i * (m + 1) + d - i] = D[(i - 1) * (m + 1) + d - i] + 1;
                }}
            }}"
        ))
    };
    // Only with m = 1 could two of them meet, and then a diagonal has one: an example with any `lo` would be none.
    assert_eq!(diagonal("d - m > 1 ? d - m : 1"), Undecided);
    let shifted = "void f(int n, float a[2 * n]) {
        for (int d = 2; d < n; d++) {
            int lo = d > 3 ? d : 3;
            #pragma omp parallel for
            for (int i = lo; i < 2 * lo; i++) a[i] = a[DISTANCE];
        }
    }";
    let by = |distance: &str| of_first_loop(&shifted.replace("DISTANCE", distance));
    assert_eq!(by("i - lo"), Proved);
    assert_eq!(by("i - d + 1"), Carried);
}
