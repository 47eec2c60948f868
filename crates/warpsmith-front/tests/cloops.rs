//! The C front end of `tune`: what it accepts, what it refuses, and where the caret stands.

use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::{Diagnostic, ForLoop, LoopKind, ReduceOp, SourceMap, StmtKind, visit};

fn lower(text: &str, function: Option<&str>) -> (Result<CInput, Vec<Diagnostic>>, SourceMap) {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::C);
    let parsed = parse::parse("t.c", text.as_bytes(), &options, &DiskLoader, &mut sources);
    let result = parsed.and_then(|p| cloops::lower_c(&p.unit, function));
    (result, sources)
}

fn accepted(text: &str) -> CInput {
    match lower(text, None) {
        (Ok(input), _) => {
            let printed = warpsmith_ir::text::print(&input.module);
            if let Err(list) = warpsmith_ir::verify::verify(&input.module) {
                panic!("{list:#?}\n{printed}");
            }
            input
        }
        (Err(list), sources) => {
            let all: Vec<String> = list.iter().map(|d| d.render(&sources, false)).collect();
            panic!("{text}\n{}", all.join("\n"));
        }
    }
}

fn printed(text: &str) -> String {
    warpsmith_ir::text::print(&accepted(text).module)
}

/// The counted loops of the function, outermost first.
fn loops(input: &CInput) -> Vec<ForLoop> {
    let mut found = vec![];
    visit::for_each_stmt(&input.module.function(input.function).body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            found.push(l.clone());
        }
    });
    found
}

/// A function `f(int n, int m, float A[n][m], float x[n], float *p)` with this body.
fn body(text: &str) -> String {
    format!("void f(int n, int m, float A[n][m], float x[n], float *p)\n{{\n{text}\n}}\n")
}

const MARK: &str = "#pragma omp parallel for\n";

/// One diagnostic with this code, whose caret covers exactly `caret`.
#[track_caller]
fn refused(text: &str, code: &str, caret: &str) {
    let (result, sources) = lower(text, None);
    let Err(list) = result else { panic!("accepted:\n{text}") };
    let all: Vec<String> = list.iter().map(|d| d.render(&sources, false)).collect();
    assert_eq!(list.len(), 1, "{}", all.join("\n"));
    assert_eq!(list[0].code, code, "{}", all[0]);
    let under = list[0].labels.first().map_or("", |l| sources.text(l.span));
    assert_eq!(under, caret, "{}", all[0]);
}

#[test]
fn pragmas_are_refused_at_the_word_that_is_wrong() {
    let loop_text = "for (int i = 0; i < n; i++) x[i] = 0;";
    for (pragma, code, caret) in [
        ("omp paralel for", "W132", "paralel"),
        ("omp parallel for colapse(2)", "W134", "colapse"),
        ("omp parallel for   collapse(0)", "W136", "0"),
        ("omp parallel for collapse(two)", "W136", "two"),
        ("omp parallel for collapse", "W132", "collapse"),
        ("omp parallel for collapse(1", "W132", "collapse"),
        ("omp parallel for reduction(sum)", "W132", "reduction"),
        ("omp parallel for reduction(?: n)", "W136", "?"),
        ("omp parallel for private(zz)", "W135", "zz"),
        ("omp parallel for \\\n    schedule(static) private(n, zz)", "W135", "zz"),
        ("omp parallel for shared(x, yy)", "W135", "yy"),
        ("omp parallel for schedule(often)", "W136", "often"),
        ("omp parallel for reduction(+: x)", "W136", "x"),
        ("omp parallel for reduction(+: x[2])", "W132", "x[2]"),
        ("omp parallel for reduction(&&: x[0:n])", "W136", "x"),
        ("omp parallel for reduction(^: p[:1])", "W136", "p"),
        ("omp parallel for ordered(1)", "W134", "ordered"),
        ("omp task", "W133", "task"),
        ("omp parallel sections", "W133", "parallel sections"),
        ("omp atomic upgrade", "W134", "upgrade"),
        ("opm parallel for", "W132", "opm"),
    ] {
        refused(&body(&format!("#pragma {pragma}\n{loop_text}")), code, caret);
    }
}

#[test]
fn marked_loops_that_are_not_counted_are_refused_with_the_reason() {
    for (text, caret) in [
        ("for (int i = 0; i < n; i *= 2) x[0] = 1;", "i *= 2"),
        ("for (int i = 0; i < n && x[i] > 0; i++) x[i] = 1;", "i < n && x[i] > 0"),
        ("for (int i = 0; i < n; i++) { x[i] = 1; i = i + 1; }", "int i = 0"),
        ("for (float t = 0; t < n; t++) x[0] = t;", "float t = 0"),
        ("for (int i = 0; i < n; i--) x[i] = 1;", "i--"),
        ("for (int i = 0; i != n; i += n) x[i] = 1;", "i += n"),
        ("for (int i = 0, j = 0; i < n; i++) x[i] = j;", "int i = 0, j = 0;"),
        ("for (unsigned i = 9; i > 0; i--) x[i] = 1;", "i--"),
    ] {
        let source = body(&format!("{MARK}{text}"));
        let (result, sources) = lower(&source, None);
        let list = result.expect_err(&source);
        assert_eq!((list.len(), list[0].code), (1, "W138"), "{}", list[0].render(&sources, false));
        let under = sources.text(list[0].labels[0].span);
        assert!(caret.contains(under) && !under.is_empty(), "{}", list[0].render(&sources, false));
    }
}

#[test]
fn constructs_outside_the_language_have_one_diagnostic_each() {
    let marked = format!("{MARK}for (int i = 0; i < n; i++) x[i] = 0;\n");
    for (text, code, caret) in [
        ("goto out; out: ;", "W141", "goto out;"),
        ("union s { int a; float b; } v; v.a = 1;", "W144", ""),
        ("long double d = 1; x[0] = d;", "W144", ""),
        ("float *q = p; q = x; q[0] = 1;", "W143", ""),
        ("float t[n]; t[0] = 1;", "W149", "n"),
        ("x[0] = y;", "W145", "y"),
        ("x[0] = foo(1);", "W147", "foo"),
        ("x[0] = sqrtf(1, 2);", "W147", "sqrtf(1, 2)"),
        ("n = 3;", "W151", "n"),
        ("x = p;", "W143", "x"),
        ("x[0] = x;", "W148", "x"),
        ("x[0.5] = 1;", "W148", "0.5"),
        ("x[0] = 1.5 % 2;", "W148", "1.5 % 2"),
        ("volatile float v = 1; x[0] = v;", "W144", ""),
        ("volatile float *q = x; q[0] = 1;", "W144", ""),
    ] {
        let source = body(&format!("{marked}{text}"));
        let (result, sources) = lower(&source, None);
        let list = result.expect_err(&source);
        let all: Vec<String> = list.iter().map(|d| d.render(&sources, false)).collect();
        assert_eq!(list[0].code, code, "{}", all.join("\n"));
        if !caret.is_empty() {
            assert_eq!(sources.text(list[0].labels[0].span), caret, "{}", all[0]);
        }
    }
}

#[test]
fn accesses_that_must_be_made_as_written_are_refused() {
    for parameter in
        ["volatile float *y", "float *volatile y", "const volatile float y[restrict n]", "flag *y"]
    {
        let text = format!(
            "typedef volatile int flag;\nvoid f(int n, {parameter})\n{{\n    {MARK}    for (int i = 0; i < n; i++) y[i] = 0;\n}}\n"
        );
        let (result, sources) = lower(&text, None);
        let list = result.expect_err(&text);
        assert_eq!(list[0].code, "W144", "{}", list[0].render(&sources, false));
    }
}

#[test]
fn jumps_out_of_marked_loops_are_refused() {
    refused(
        &body(&format!("{MARK}for (int i = 0; i < n; i++) {{ if (x[i] > 0) break; }}")),
        "W140",
        "break;",
    );
    refused(
        &body(&format!("{MARK}for (int i = 0; i < n; i++) {{ if (x[i] > 0) return; }}")),
        "W140",
        "return;",
    );
}

#[test]
fn collapse_needs_a_perfect_nest_of_that_depth() {
    let two = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = 0;";
    refused(&body(&format!("#pragma omp parallel for collapse(3)\n{two}")), "W139", "collapse");
    let torn = "for (int i = 0; i < n; i++) { x[i] = 0; for (int j = 0; j < m; j++) A[i][j] = 0; }";
    refused(&body(&format!("#pragma omp parallel for collapse(2)\n{torn}")), "W139", "collapse");
    let input = accepted(&body(&format!("#pragma omp parallel for collapse(2)\n{two}")));
    let groups: Vec<_> = loops(&input)
        .iter()
        .map(|l| match &l.kind {
            LoopKind::Parallel(p) => p.group,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(groups, [Some(loops(&input)[0].id); 2]);
}

#[test]
fn clauses_become_variables() {
    let text =
        "float s = 0, t; #pragma_here\nfor (int i = 0; i < n; i++) { t = x[i]; s += t; }\n*p = s;";
    let text = text.replace(
        "#pragma_here",
        "\n#pragma omp parallel for reduction(+: s) private(t) num_threads(4)",
    );
    let input = accepted(&body(&text));
    let f = input.module.function(input.function);
    let LoopKind::Parallel(p) = &loops(&input)[0].kind else { panic!("not parallel") };
    assert_eq!(p.reductions.len(), 1);
    assert_eq!(
        (p.reductions[0].op, f.var(p.reductions[0].var).name.as_str()),
        (ReduceOp::Add, "s")
    );
    assert_eq!(f.var(p.private[0]).name, "t");
    let pointer = f.params.iter().map(|p| f.var(*p)).find(|v| v.name == "p").unwrap();
    assert_eq!(pointer.shape.as_ref().map(Vec::len), Some(1), "`*p` is one element");
}

#[test]
fn every_spelling_of_a_mark_is_understood() {
    for mark in [
        "#pragma omp parallel for",
        "#pragma omp parallel for simd schedule(static, 4)",
        "#pragma omp target teams distribute parallel for map(tofrom: x[0:n]) thread_limit(64)",
        "#pragma omp parallel \\\n  for",
        "#pragma simd",
        "//SIMD",
    ] {
        let input = accepted(&body(&format!("{mark}\nfor (int i = 0; i < n; i++) x[i] = 0;")));
        assert!(matches!(loops(&input)[0].kind, LoopKind::Parallel(_)), "{mark}");
    }
    let serial = body(&format!(
        "#pragma omp simd\nfor (int i = 0; i < n; i++) x[i] = 0;\n{MARK}for (int i = 0; i < n; i++) x[i] = 1;"
    ));
    assert_eq!(loops(&accepted(&serial))[0].kind, LoopKind::Serial);
}

#[test]
fn counters_of_older_c_belong_to_their_loops() {
    let text = "int i, j;\n#pragma omp parallel for private(j)\nfor (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = 0;";
    let input = accepted(&body(text));
    assert!(loops(&input).iter().all(|l| l.declares));
    // Used after the loop: it stays the function's.
    let text = format!(
        "int i; {MARK}for (i = 0; i < n; i++) x[i] = 0;\nint k; for (k = 0; k < n; k++) if (x[k] > 0) break;\n*p = k;"
    );
    let input = accepted(&body(&text.replace("int i; #", "int i;\n#")));
    assert_eq!(loops(&input).iter().map(|l| l.declares).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn loops_whose_limit_changes_are_general_loops() {
    for text in [
        "int k = n; for (int i = 0; i < k; i++) k--;",
        "for (int i = 0; i < x[0]; i++) x[i] = 0;",
        "for (int i = 0; i < n; i++) if (x[i] > 0) i++;",
        "for (int i = 0, j = n; i < j; i++, j--) x[i] = x[j];",
    ] {
        let input =
            accepted(&body(&format!("{text}\n{MARK}for (int q = 0; q < n; q++) x[q] = 1;")));
        assert_eq!(loops(&input).len(), 1, "{text}");
    }
}

#[test]
fn limits_of_wider_types_keep_their_values() {
    let text = |limit: &str, body: &str| {
        format!(
            "void f(int n, long w, unsigned u, long e, float x[n], float y[e]) {{\n{MARK}for (int q = 0; q < n; q++)\n\
             for (int j = 0; j < {limit}; j++) {{ {body} }} }}\n"
        )
    };
    // Below every `int` none is below it.
    let raised = printed(&text("w", "x[q] += j;"));
    assert!(raised.contains("max(w, -2147483648"), "{raised}");
    // Extents are above zero, and so is what has no sign.
    for limit in ["e", "u", "n"] {
        let plain = printed(&text(limit, "x[q] += j;"));
        assert!(!plain.contains("max("), "{plain}");
    }
    // Who leaves early need not come to a limit above every `int`.
    for (limit, counted) in [("w", 1), ("u", 1), ("e", 1), ("n", 2)] {
        for leave in ["if (x[q] > j) break;", "switch (n) { case 1: break; } if (j > 3) break;"] {
            let input = accepted(&text(limit, leave));
            assert_eq!(loops(&input).len(), counted, "{limit}: {leave}");
        }
        let inner = accepted(&text(limit, "for (int k = 0; k < n; k++) if (x[k] > j) break;"));
        assert_eq!(loops(&inner).len(), 3, "{limit}");
    }
}

#[test]
fn constant_limits_of_other_types_are_compared_as_in_c() {
    for (head, counted) in [
        ("int i = 0; i < 10u", true),
        ("int i = 0; i < sizeof(double)", true),
        ("long i = m; i < 100u", true),
        // `-2` is larger than 10 there.
        ("int i = -2; i < 10u", false),
        ("int i = m; i < sizeof(double)", false),
        ("int i = 0; i < (unsigned long)-1", false),
        ("long i = 0; i < 0xffffffffffffffffu", false),
        ("int i = 0; i < 3000000000", false),
    ] {
        let text = format!("for ({head}; i++) {{ if (p[i] > 2) break; x[q] += i; }}");
        let input = accepted(&body(&format!("{MARK}for (int q = 0; q < n; q++) {{ {text} }}")));
        assert_eq!(loops(&input).len(), 1 + usize::from(counted), "{head}");
    }
}

#[test]
fn conditions_of_sums_are_limits() {
    let text = |ty: &str, cond: &str| {
        format!(
            "void f(int n, int m, unsigned u, float x[n][m], float *p) {{\n{MARK}for (int q = 0; q < n; q++) {{\n\
             for ({ty} i = 0; {cond}; i++) x[q][0] += i; }} }}\n"
        )
    };
    for (cond, limit) in [
        ("i + m <= n", "0..=n - m"),
        ("i + 2 < n", "0..n - 2"),
        ("n > 1 + i", "0..n - 1"),
        ("i - m < n", "max("),
        ("i + q < n", "max("),
    ] {
        let input = accepted(&text("int", cond));
        assert_eq!(loops(&input).len(), 2, "{cond}");
        let printed = warpsmith_ir::text::print(&input.module);
        assert!(printed.contains(limit), "{cond}: {printed}");
    }
    for (ty, cond) in [
        ("unsigned", "i + m <= u"),
        ("int", "i + u <= n"),
        ("long", "i + m <= n"),
        ("int", "i + i < n"),
        ("int", "m - i > 0"),
        ("int", "i + x[0][0] < n"),
    ] {
        assert_eq!(loops(&accepted(&text(ty, cond))).len(), 1, "{ty} {cond}");
    }
}

#[test]
fn fixed_pointers_are_other_names_of_their_array() {
    let direct = printed(&body(&format!(
        "{MARK}for (int i = 0; i < n; i++) {{ for (int j = 0; j < m; j++) A[i][j] = 2; }}"
    )));
    let alias = printed(&body(&format!(
        "{MARK}for (int i = 0; i < n; i++) {{ float *row = A[i]; for (int j = 0; j < m; j++) row[j] = 2; }}"
    )));
    assert_eq!(direct, alias);
}

#[test]
fn marked_loops_in_called_functions_come_to_the_caller() {
    let text = "static void half(int n, float x[n]) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] *= 0.5f;\n}\n\
                void both(int n, float a[n], float b[n]) { half(n, a); half(n, b); }\n";
    let input = accepted(text);
    assert_eq!(input.name, "both");
    assert_eq!(loops(&input).len(), 2);
}

#[test]
fn recursion_is_refused() {
    let text = "int g(int n) { return n ? g(n - 1) : 0; }\nvoid f(int n, int x[n]) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] = g(i);\n}\n";
    refused(text, "W142", "g(n - 1)");
}

#[test]
fn the_function_is_the_named_one_or_the_only_one() {
    let one = |name: &str| {
        format!(
            "void {name}(int n, float x[n]) {{\n{MARK}for (int i = 0; i < n; i++) x[i] = 0;\n}}\n"
        )
    };
    let text = one("a") + &one("b");
    let (result, _) = lower(&text, None);
    let list = result.expect_err("two candidates");
    assert!(list[0].code == "W130" && list[0].help[0].contains("--function a"), "{list:?}");
    assert_eq!(lower(&text, Some("b")).0.expect("b").name, "b");
    let near = lower(&text, Some("bb")).0.expect_err("no bb");
    assert!(near[0].help[0].contains("did you mean"), "{near:?}");
    assert_eq!(lower("int x;", None).0.expect_err("nothing")[0].code, "W130");
}

#[test]
fn directives_give_default_sizes() {
    let text = format!(
        "// warpsmith: size n=1024,2048 m=7\n{}",
        body(&format!("{MARK}for (int i = 0; i < n; i++) x[i] = 0;"))
    );
    let input = accepted(&text);
    let sizes: Vec<_> = input.sizes.iter().map(|s| (s.name.as_str(), s.values.clone())).collect();
    assert_eq!(sizes, [("n", vec![1024, 2048]), ("m", vec![7])]);
    refused(&text.replace("m=7", "k=7"), "W131", "k=7");
    refused(&text.replace("m=7", "m=-7"), "W131", "m=-7");
}

#[test]
fn bounds_give_plain_pointers_their_extents() {
    let text = "#pragma ws bounds(a: n, m + 1; b: 4)\nvoid f(int n, int m, float *a, float *b)\n{\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i * (m + 1)] = b[0] + b[1];\n}\n";
    let input = accepted(text);
    assert!(cloops::missing_extents(&input).is_empty());
    let apart = accepted(&text.replace("; b: 4", ") bounds(b: 4"));
    assert!(cloops::missing_extents(&apart).is_empty());
    refused(&text.replace("; b: 4)", ") bound(b: 4)"), "W150", "bound");
    let open = accepted(&text.replace("; b: 4", ""));
    assert_eq!(cloops::missing_extents(&open).len(), 1);
    refused(&text.replace("b: 4", "c: 4"), "W150", "c");
    refused(&text.replace("b: 4", "n: 4"), "W150", "n");
}

#[test]
fn shared_writes_of_a_region_are_refused_outside_work_sharing_loops() {
    let region = |inside: &str| {
        body(&format!(
            "float s = 0;\n#pragma omp parallel\n{{\n{inside}\n#pragma omp for\nfor (int i = 0; i < n; i++) x[i] = s;\n}}"
        ))
    };
    refused(&region("s = 1;"), "W152", "s");
    accepted(&region("#pragma omp single\ns = 1;"));
    accepted(&region("float own = 2; own += 1;"));
}

#[test]
fn a_cast_to_a_type_the_grammar_does_not_know_is_no_call() {
    accepted(&body(&format!(
        "{MARK}for (int i = 0; i < n; i++) x[i] = (float)(_Float16)(x[i] + 1);"
    )));
}

#[test]
fn a_function_that_calls_itself_twice_is_one_error() {
    let text = "static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n";
    let use_it = body(&format!("{MARK}for (int i = 0; i < n; i++) x[i] = fib(i);"));
    refused(&format!("{text}{use_it}"), "W142", "fib(n - 1)");
}

/// The marked loop's clauses as `op name` and `private name`, in order.
fn clauses(text: &str) -> Vec<String> {
    let input = accepted(text);
    let function = input.module.function(input.function);
    let name = |v: &warpsmith_ir::VarId| function.var(*v).name.clone();
    let mut found = vec![];
    for l in loops(&input) {
        if let LoopKind::Parallel(p) = l.kind {
            found.extend(p.reductions.iter().map(|r| format!("{:?} {}", r.op, name(&r.var))));
            found.extend(p.private.iter().map(|v| format!("private {}", name(v))));
        }
    }
    found
}

#[test]
fn updates_of_one_variable_are_reductions() {
    for (update, expected) in [
        ("#pragma omp atomic\ns += x[i];", "Add s"),
        ("#pragma omp atomic update\ns = x[i] * s;", "Mul s"),
        ("#pragma omp critical\n{ if (x[i] > s) s = x[i]; }", "Max s"),
        ("#pragma omp critical (name)\ns = x[i] < s ? x[i] : s;", "Min s"),
        ("#pragma omp atomic compare\nif (s > x[i]) { s = x[i]; }", "Min s"),
        ("#pragma omp atomic\n*p -= x[i];", "Add p"),
        ("#pragma omp critical\np[0] = fmaxf(p[0], x[i]);", "Max p"),
    ] {
        let text =
            format!("float s = 0;\n{MARK}for (int i = 0; i < n; i++) {{\n{update}\n}}\nx[0] = s;");
        assert_eq!(clauses(&body(&text)), [expected], "{update}");
    }
}

#[test]
fn updates_of_elements_are_atomic() {
    let text = |update: &str| {
        let update = format!("{MARK}for (int i = 0; i < n; i++) {{\n{update}\n}}");
        printed(&body(&update))
    };
    for (update, expected) in [
        ("#pragma omp atomic\nx[n - i]++;", "atomic add device"),
        ("#pragma omp atomic\nA[i][0] -= 2;", "atomic sub device"),
        (
            "#pragma omp critical\n{ if (x[i % 7] < A[i][1]) x[i % 7] = A[i][1]; }",
            "atomic raise device",
        ),
        ("#pragma omp critical\nx[i % 7] = fminf(x[i % 7], A[i][1]);", "atomic min device"),
        ("#pragma omp atomic write\nx[i % 7] = 1;", "atomic store device"),
    ] {
        let printed = text(update);
        assert!(printed.contains(expected), "{update}: {printed}");
    }
}

#[test]
fn variables_of_a_region_belong_to_its_threads() {
    let region = |inside: &str| {
        let text =
            format!("float c, t;\n#pragma omp parallel private(c, t)\n{{\nc = 2;\n{inside}\n}}");
        body(&text)
    };
    let read = "#pragma omp for\nfor (int i = 0; i < n; i++) x[i] = c * x[i];";
    assert_eq!(clauses(&region(read)), [""; 0]);
    let set = "#pragma omp for\nfor (int i = 0; i < n; i++) { t = c * x[i]; x[i] = t; }";
    assert_eq!(clauses(&region(set)), ["private t"]);
    let summed = "t = 0;\n#pragma omp for\nfor (int i = 0; i < n; i++) t += x[i];\n#pragma omp atomic\n*p += t;";
    assert_eq!(clauses(&region(summed)), ["Add t"]);
    let kept = "#pragma omp for\nfor (int i = 0; i < n; i++) { if (x[i] > 0) t = x[i]; x[i] = t; }";
    refused(&region(kept), "W161", "t = x[i]");
}

#[test]
fn threads_that_do_not_wait_need_nothing_of_each_other() {
    let region = |first: &str, second: &str| {
        body(&format!(
            "#pragma omp parallel\n{{\n#pragma omp for {first}\nfor (int i = 0; i < n; i++) x[i] = i;\n{second}\n}}"
        ))
    };
    let own = "#pragma omp for\nfor (int k = 0; k < n; k++) A[k][0] = x[k];";
    accepted(&region("nowait", own));
    let other = own.replace("x[k]", "x[n - 1 - k]");
    accepted(&region("", &other));
    accepted(&region("nowait", &format!("#pragma omp barrier\n{other}")));
    refused(&region("nowait", &other), "W162", "x[n - 1 - k]");
    refused(&region("nowait schedule(dynamic)", own), "W162", "x[k]");
    refused(&region("nowait", "#pragma omp single\n*p = x[0];"), "W162", "x[0]");
    let shorter = own.replace("k < n", "k < m");
    refused(&region("nowait", &shorter), "W162", "x[k]");
}

/// `(i) + (j) * ld` of a macro is no cast of a product.
#[test]
fn parentheses_of_macros_are_no_casts() {
    let text = "#define AT(a, i, j) a[(i) + (j) * (ld)]\n#define DET(p, q) ((p) * (q) - (q) * (p))\n\
        void f(int n, int ld, float *x) {\n#pragma omp parallel for\n\
        for (int i = 0; i < n; i++) AT(x, i, n) = DET(i, ld) - (i) - (ld);\n}\n";
    let printed = printed(text);
    assert!(printed.contains("i + n * ld") && printed.contains("i * ld - ld * i"), "{printed}");
}

#[test]
fn variables_of_the_file_are_parameters_behind_those_of_the_function() {
    let input = accepted(
        "int n; static float w[3][4]; static const int two = 2; double unused;\n\
         static float at(int i) { return w[i % 3][1]; }\n\
         void f(float *x) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] = two * at(i);\n}\n",
    );
    let function = input.module.function(input.function);
    let names: Vec<&str> = function.params.iter().map(|p| &*function.var(*p).name).collect();
    assert_eq!(names, ["x", "n", "w"]);
    assert_eq!(input.globals, 2);
}

#[test]
fn steps_of_several_parts_count_once() {
    let text = "void f(int n, const float *x, float *y) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n\
        float s = 0; int k, q;\nfor (k = 0, q = 1; k < 4; k++, q += 2) s += x[q * n + i];\ny[i] = s;\n}\n}\n";
    assert_eq!(loops(&accepted(text)).len(), 2);
}

#[test]
fn atomic_functions_of_the_compiler_are_updates() {
    let text = "void f(int n, const int *x, int *h) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n\
        __sync_fetch_and_add(&h[x[i]], 1); __atomic_fetch_sub(h + x[i], 2, 0);\n}\n}\n";
    let mut atomics = 0;
    let input = accepted(text);
    visit::for_each_stmt(&input.module.function(input.function).body, &mut |s| {
        atomics += usize::from(matches!(s.kind, StmtKind::Atomic { .. }));
    });
    assert_eq!(atomics, 2);
}

/// Constants of enumerations are numbers; what is no `int` is not made one without a word.
#[test]
fn enumerators_are_ints() {
    let loop_with = |constants: &str, value: &str| {
        format!(
            "{constants}\nvoid f(int n, long long y[n]) {{\n#pragma omp parallel for\nfor (int i = 0; i < n; i++)\ny[i] = {value};\n}}\n"
        )
    };
    let chosen = loop_with("enum { A = 2, B = A > 1 ? 10 : 20, C };", "i + C");
    assert!(lower(&chosen, None).0.is_ok());
    for constants in [
        "enum { BIG = 3000000000 };",
        "enum { BIG = 0xffffffffu };",
        "enum : unsigned { BIG = 5 };",
        "enum : long long { BIG = 1099511627776ll };",
    ] {
        refused(&loop_with(constants, "(i - BIG) / 2"), "W149", "BIG");
    }
}
