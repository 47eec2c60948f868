//! The verdict on the usual forms of subscripts.

mod common;

use common::Input;
use warpsmith_opt::Refusal;
use warpsmith_opt::rewrite::independence;
use warpsmith_opt::walk;

#[derive(Debug, PartialEq)]
enum Verdict {
    Proved,
    Assumed,
    Carried,
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
    let input = Input::new(&source);
    let kernel = input.kernel();
    let id = walk::for_loops(&kernel.func().body)[0].id;
    let (group, clauses) = independence::group_of(&kernel, id);
    match independence::check(&kernel, id, &group, &clauses) {
        Ok(found) if found.unproved.is_empty() => Proved,
        Ok(_) => Assumed,
        Err(Refusal::Carried(_)) => Carried,
        Err(Refusal::SharedVariable { .. }) => Shared,
        Err(other) => panic!("{other:?}"),
    }
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
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[i] = a[i + k];"), Assumed);
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
    assert_eq!(verdict(&format!("{row} c[i * lda + j] *= 2;")), Assumed);
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
    assert_eq!(verdict("for (int i = 0; i < n; i++) a[idx[i]] = i;"), Assumed);
    assert_eq!(verdict("for (int i = 0; i < n; i++) if (i % 2 == 0) a[i] = a[i + 1];"), Assumed);
    assert_eq!(verdict("for (int i = 0; i < n; i++) { a[i] = 1; if (i > n) a[0] = 2; }"), Proved);
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
