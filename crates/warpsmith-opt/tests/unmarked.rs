//! Functions without a mark: which of their loops are taken as marked, and under which clauses.

mod common;

use common::Input;
use warpsmith_ir::{ForLoop, Function, LoopKind};
use warpsmith_opt::rewrite::question::independence;
use warpsmith_opt::walk;

/// The loops that are taken as marked, by counter, each with its private variables; and what the user is told.
fn marked(source: &str) -> (Vec<String>, Vec<String>) {
    let Input { mut module, function, .. } = Input::new(source);
    let notes = independence::mark_proved(&mut module, function);
    let f = module.function(function);
    let marked = |l: &&ForLoop| match &l.kind {
        LoopKind::Parallel(p) => {
            let private = p.private.iter().map(|v| format!(" {}", f.var(*v).name));
            Some(f.var(l.var).name.clone() + &private.collect::<String>())
        }
        _ => None,
    };
    let loops = walk::for_loops(&f.body);
    (loops.iter().filter_map(marked).collect(), notes.iter().map(|d| d.message.clone()).collect())
}

fn loops(source: &str) -> Vec<String> {
    marked(source).0
}

#[test]
fn the_outermost_parallel_loops_are_taken_with_what_is_nested_perfectly() {
    let product = "void f(int n, float *a, float *b, float *c) {
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
            c[i * n + j] = 0;
            for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
    }";
    let (taken, told) = marked(product);
    assert_eq!(taken, ["i", "j"]);
    let message = "loop `i` is not marked; its iterations are independent, and it runs in parallel";
    assert_eq!(told, [message]);
    // A time loop runs its steps one after the other.
    let steps = "void f(int t, int n, float a[n], float b[n]) {
        for (int s = 0; s < t; s++) {
            for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
            for (int j = 1; j < n - 1; j++) a[j] = b[j];
        }
    }";
    assert_eq!(loops(steps), ["i", "j"]);
}

/// A recursive filter of four taps launched a kernel for each element, and no candidate had all of its paths run.
#[test]
fn few_iterations_inside_of_a_serial_loop_are_no_launch() {
    let filter = |taps: &str| {
        format!(
            "void f(int n, int m, const float a[9], float y[n]) {{
                for (int i = 9; i < n; i++) {{
                    float s = 0;
                    for (int k = 0; k < {taps}; k++) s += a[k] * y[i - 1 - k];
                    y[i] = s;
                }}
            }}"
        )
    };
    assert!(loops(&filter("4")).is_empty());
    assert_eq!(loops(&filter("m")), ["k"]);
    let window = filter("4").replace("s += a[k]", "for (int j = 0; j < 17; j++) s += a[j / 2]");
    assert_eq!(loops(&window), ["k", "j"]);
    assert_eq!(loops("void f(float a[4]) { for (int k = 0; k < 4; k++) a[k] *= 2; }"), ["k"]);
}

#[test]
fn loops_that_carry_something_are_not_taken() {
    for body in [
        "for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i];",
        "float s = 0; for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; }",
        "for (int i = 0; i < n; i++) b[k[i]] = a[i];",
        // Two operations, a value that other updates need, and a sum whose value decides.
        "for (int i = 0; i < n; i++) { b[k[i]] += a[i]; b[k[i] / 2] *= a[i]; }",
        "for (int i = 0; i < n; i++) { b[k[i]] += a[i]; a[i] = b[0]; }",
        "float s = 0; for (int i = 0; i < n; i++) if (s < 9) s += a[i]; b[0] = s;",
        "int s = 0; for (int i = 0; i < n; i++) s += 1.5f * a[i]; k[0] = s;",
        "float s = 0; for (int i = 0; i < n; i++) s = a[i] - s; b[0] = s;",
        "float m = 0; int at = 0; for (int i = 0; i < n; i++) if (a[i] > m) { m = a[i]; at = i; } k[0] = at;",
        "for (int i = 0; i < n; i++) { b[k[i]] += a[i]; k[i] = 0; if (k[0]) b[0] += 1; }",
        "for (int i = 1; i < n; i++) b[i] += b[i - 1];",
        "int i; for (i = 0; i < n; i++) b[i] = a[i]; k[0] = i;",
        "for (int i = 0; i < n; i++) { if (a[i] < 0) break; b[i] = a[i]; }",
        // What was written unrolled is one thread's.
        "\n#pragma unroll 4\nfor (int i = 0; i < n; i++) b[i] = a[i];",
    ] {
        let source = format!("void f(int n, int k[n], float a[n], float b[n]) {{ {body} }}");
        assert_eq!(loops(&source), [""; 0], "{body}");
    }
}

#[test]
fn variables_that_each_iteration_sets_first_are_private() {
    let f = |body: &str| {
        loops(&format!(
            "void f(int n, int m, float a[n][m], float b[n][m]) {{ int i, j, t = 0; float v = 1; {body} }}"
        ))
    };
    let outer = "for (i = 0; i < n; i++)";
    assert_eq!(
        f(&format!("{outer} for (j = 0; j < m; j++) {{ v = a[i][j]; v *= v; b[i][j] = v; }}")),
        ["i v", "j v"]
    );
    assert_eq!(f(&format!("{outer} if (n > 3) {{ v = a[i][0]; b[i][0] = v; }}")), ["i v"]);
    for (why, body) in [
        ("read before", format!("{outer} {{ b[i][0] = v; v = a[i][0]; }}")),
        ("set in one case alone", format!("{outer} {{ if (a[i][0] > 0) v = 2; b[i][0] = v; }}")),
        (
            "read in a nested block before",
            format!("{outer} {{ if (a[i][0] > 0) b[i][0] = v; v = 2; }}"),
        ),
        (
            "set by a loop that may be empty",
            format!("{outer} {{ for (j = 0; j < m; j++) v = a[i][j]; b[i][0] = v; }}"),
        ),
        ("read after the loop", format!("{outer} {{ v = a[i][0]; b[i][0] = v; }} a[0][0] = v;")),
        ("reads itself", format!("{outer} {{ v = v + 1; b[i][0] = v; }}")),
        (
            "set in a case that is jumped over",
            format!("{outer} switch (i % 2) {{ case 0: v = a[i][0]; case 1: b[i][0] = v; }}"),
        ),
    ] {
        assert_eq!(f(&body), [""; 0], "{why}: {body}");
    }
}

/// The clauses of the loops that are taken as marked, then which arrays are updated atomically.
fn combined(source: &str) -> (Vec<String>, Vec<String>) {
    let Input { mut module, function, .. } = Input::new(&format!("#include <math.h>\n{source}"));
    let told = independence::mark_proved(&mut module, function);
    let found = clauses_and_atomics(module.function(function));
    assert_eq!(told.is_empty(), found.is_empty());
    (found, told.iter().map(|d| d.help[0].clone()).collect())
}

fn clauses_and_atomics(f: &Function) -> Vec<String> {
    let mut found = vec![];
    for l in walk::for_loops(&f.body) {
        if let LoopKind::Parallel(p) = &l.kind {
            let reduced = p.reductions.iter().map(|r| format!(" {:?} {}", r.op, f.var(r.var).name));
            found.push(f.var(l.var).name.clone() + &reduced.collect::<String>());
        }
    }
    walk::each_stmt(&f.body, &mut |s| {
        if let warpsmith_ir::StmtKind::Atomic { op, pointer, .. } = &s.kind {
            let base = warpsmith_ir::updates::base_of_pointer(pointer);
            found.push(format!("{op:?} {}", base.map_or("?", |v| &f.var(v).name)));
        }
    });
    found
}

/// The same of marked loops that set flags.
fn flagged(body: &str) -> Vec<String> {
    let mark = "#pragma omp parallel for";
    let Input { mut module, function, .. } = Input::new(&format!(
        "void f(int n, int m, const int k[n], float *t, short *w, const float a[n][m], int b[m]) {{ int c = 0, d = b[0]; \n{mark}\nfor (int i = 0; i < n; i++) {{ {body} }} b[0] = c + d; }}"
    ));
    let told = independence::allow_flags(&mut module, function);
    let found = clauses_and_atomics(module.function(function));
    assert_eq!(told.is_empty(), found == ["i"], "{body}");
    found
}

#[test]
fn flags_of_marked_loops_are_reduced_or_stored_atomically() {
    for (body, wanted) in [
        ("if (a[i][0] > 3) *t = 1;", &["i", "Store t"][..]),
        (
            "if (a[i][0] > 3) t[0] = 2.5f; else if (a[i][0] < 1) *t = 2.5f;",
            &["i", "Store t", "Store t"],
        ),
        ("for (int j = 0; j < m; j++) if (a[i][j] > 3) t[j] = 1;", &["i", "Store t"]),
        ("if (a[i][0] > 3) { c = 1; *t = 1; }", &["i LogicalOr c", "Store t"]),
        // The mark is believed where data decide.
        ("t[k[i]] = 1;", &["i"]),
        // Two numbers, a number that is read, one that is too narrow, and a variable that may hold another before.
        ("if (a[i][0] > 3) *t = 1; else *t = 0;", &["i"]),
        ("if (a[i][0] > *t) *t = 1;", &["i"]),
        ("if (a[i][0] > 3) *w = 1;", &["i"]),
        ("if (a[i][0] > 3) d = 1;", &["i"]),
        ("if (a[i][0] > c) c = 1;", &["i"]),
    ] {
        assert_eq!(flagged(body), wanted, "{body}");
    }
}

#[test]
fn what_iterations_only_combine_is_reduced() {
    let of = |body: &str| {
        combined(&format!(
            "void f(int n, int m, float g, const int k[n], float *t, float a[n][m], float b[m]) {{ float s = 0; int c = 0; {body} b[0] = s + c; }}"
        ))
    };
    let rows = "for (int i = 0; i < n; i++)";
    let columns = "for (int j = 0; j < m; j++)";
    for (body, wanted) in [
        (format!("{rows} s += a[i][0];"), &["i Add s"][..]),
        (format!("{rows} {{ s += a[i][0]; c += k[i] > 0; }}"), &["i Add s Add c"]),
        (format!("{rows} if (a[i][0] > s) s = a[i][0];"), &["i Max s"]),
        (format!("{rows} s = a[i][0] < s ? a[i][0] : s;"), &["i Min s"]),
        (format!("{rows} s = s < a[i][0] ? s : a[i][0];"), &[]),
        // All loops of a nest that combines.
        (format!("{rows} {columns} s += a[i][j];"), &["i Add s", "j Add s"]),
        (format!("{rows} *t += a[i][0];"), &["i Add t"]),
        (format!("{rows} t[k[i]] += 1;"), &["i", "Add t"]),
        // One number, whoever stores it.
        (format!("{rows} if (a[i][0] > 3) *t = 1;"), &["i", "Store t"]),
        (
            format!("{rows} {columns} if (a[i][j] > 3) {{ t[k[j]] = 1; c = 1; }}"),
            &["i LogicalOr c", "j LogicalOr c", "Store t"],
        ),
        (format!("{rows} {{ t[k[i]] = 1; t[0] = 2; }}"), &[]),
        (format!("{rows} if (*t < a[i][0]) *t = 1;"), &[]),
        // The inner loop has elements of its own.
        (format!("{rows} {columns} t[j] -= a[i][j];"), &["i", "Sub t"]),
        (format!("{rows} {columns} t[k[i] % (j + 1)] += a[i][j];"), &["i", "j", "Add t"]),
        // Parallel loops first.
        // What is read after the loop is no iteration's own.
        (format!("{rows} {{ s = 0; {columns} s += a[i][j]; a[i][0] = s; }}"), &["j Add s"]),
        (format!("{rows} {{ float r = 0; {columns} r += a[i][j]; a[i][0] = r; }}"), &["i"]),
        // What the iterations of the inner loop alone have in common is the outer one's.
        (format!("{rows} {columns} {{ s += a[i][j]; a[i][0] += 1; }}"), &["i Add s"]),
        (format!("{rows} {columns} {{ s += a[i][j]; a[i][k[j]] += 1; }}"), &["i Add s"]),
        (format!("{rows} {columns} {{ s += a[i][j]; t[i] += 1; }}"), &["i Add s"]),
        // No number is passed over, wherever it stands.
        (format!("c = 0; s = -1e30f; {rows} if (a[i][0] > s) s = a[i][0];"), &["i Max s"]),
        (format!("s = a[0][0]; {rows} if (a[i][0] > s) s = a[i][0];"), &[]),
        (format!("s = 0; {rows} s = a[i][0] < s ? s : a[i][0];"), &[]),
        (format!("s = a[0][0]; {rows} s = fmaxf(s, a[i][0]);"), &["i Max s"]),
        (format!("c = k[0]; {rows} c = k[i] < c ? c : k[i];"), &["i Max c"]),
        // A number that is passed is a variable, too.
        (format!("{rows} g += a[i][0]; s = g;"), &["i Add g"]),
        // Two sums at different levels, and a row that is written.
        (
            format!(
                "{rows} {{ float r = 0; {columns} r += a[i][j]; {columns} {{ a[i][j] /= r; t[j] += a[i][j]; }} s += r; }}"
            ),
            &["i Add s", "Add t"],
        ),
    ] {
        assert_eq!(of(&body).0, wanted, "{body}");
    }
    let (_, told) = of("for (int i = 0; i < n; i++) { s += a[i][0]; t[k[i]] += 1; }");
    let wanted = "mark it to say so: `#pragma omp parallel for reduction(+: s)`, with `#pragma omp atomic` before the updates";
    assert_eq!(told, [wanted]);
}

#[test]
fn loops_beside_marked_ones_are_taken_and_those_around_them_are_not() {
    let source = "void f(int n, int t, float a[n][n], float b[n]) {
    for (int c = 0; c < n; c++) b[c] = 0;
    for (int r = 0; r < n; r++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) a[r][i] += b[j];
    }
    for (int s = 0; s < t; s++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) a[0][i] += b[i];
        for (int k = 0; k < n; k++) b[k] = a[0][k];
    }
}";
    let (taken, told) = marked(source);
    assert_eq!(taken, ["c", "i", "i", "k"]);
    assert_eq!(told.len(), 2, "{told:?}");
}

/// An inner loop goes on with what the outer one has found.
#[test]
fn extremes_begin_before_all_loops_of_a_nest() {
    let of = |first: &str| {
        combined(&format!(
            "void f(int n, int m, float a[n][m], float b[m]) {{
                float s = {first};
                for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (a[i][j] > s) s = a[i][j];
                b[0] = s;
            }}"
        ))
    };
    assert_eq!(of("-1e30f").0, ["i Max s", "j Max s"]);
    assert_eq!(of("a[0][0]").0, [""; 0]);
}
