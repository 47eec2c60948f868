//! What the user reads when something is wrong: whole rendered messages.

mod parse_support;

use expect_test::{Expect, expect};
use parse_support::{errors, files, rendered, run, show, unit};
use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_ir::SourceMap;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&errors(text, Language::Cuda));
}

fn check_c(text: &str, expected: Expect) {
    expected.assert_eq(&errors(text, Language::C));
}

#[test]
fn a_missing_semicolon_is_pointed_at() {
    check(
        "__global__ void k(int *a) {\n  int i = threadIdx.x\n  a[i] = 1;\n}\n",
        expect![[r#"
        error[W020]: unexpected `a`
         --> t.cu:3:3
          |
        2 |   int i = threadIdx.x
          |                      - a `;` may be missing here
        3 |   a[i] = 1;
          |   ^ not understood after `x`
    "#]],
    );
    check(
        "__global__ void k(int *a) {\n  a[0] = 1\n}\n",
        expect![[r#"
            error[W021]: expected `;`
             --> t.cu:2:11
              |
            2 |   a[0] = 1
              |           ^ after `1`
        "#]],
    );
    check(
        "__global__ void k(int *a) {\n  __syncthreads()\n  a[0] = 1;\n}\n",
        expect![[r#"
        error[W020]: unexpected `a`
         --> t.cu:3:3
          |
        2 |   __syncthreads()
          |                  - a `;` may be missing here
        3 |   a[0] = 1;
          |   ^ not understood after `)`
    "#]],
    );
}

#[test]
fn brackets_that_do_not_match_are_named() {
    check(
        "__global__ void k(int *a) {\n  if (a[0]) {\n    a[1] = 2;\n}\n",
        expect![[r#"
        error[W022]: this `{` is never closed
         --> t.cu:1:27
          |
        1 | __global__ void k(int *a) {
          |                           ^ opened here
          |
          = help: add the missing `}`
    "#]],
    );
    check(
        "__global__ void k(int *a) {\n  a[0 = 1;\n}\n",
        expect![[r#"
        error[W022]: `}` does not close `[`
         --> t.cu:3:1
          |
        2 |   a[0 = 1;
          |    - opened here
        3 | }
          | ^ expected `]` before this
    "#]],
    );
    check(
        "__global__ void k(int *a) {\n  a[0] = (1 + 2;\n}\n",
        expect![[r#"
        error[W022]: `}` does not close `(`
         --> t.cu:3:1
          |
        2 |   a[0] = (1 + 2;
          |          - opened here
        3 | }
          | ^ expected `)` before this
    "#]],
    );
    check(
        "__global__ void k(int *a) {\n  a[0] = 1;\n}\n}\n",
        expect![[r#"
        error[W022]: no bracket is open for this `}`
         --> t.cu:4:1
          |
        4 | }
          | ^ not expected here
          |
          = help: remove it, or add the missing `{`
    "#]],
    );
}

#[test]
fn unexpected_tokens_are_shown() {
    check(
        "__global__ void k(int *a) {\n  a[0] = * ;\n}\n",
        expect![[r#"
        error[W021]: expected a name
         --> t.cu:2:11
          |
        2 |   a[0] = * ;
          |           ^ after `*`
    "#]],
    );
    check(
        "__global__ void k(int *a, int) {\n  int 3x = 4;\n}\n",
        expect![[r#"
        error[W020]: unexpected `3x`
         --> t.cu:2:7
          |
        2 |   int 3x = 4;
          |       ^^ not understood after `int`
    "#]],
    );
    check(
        "__global__ void k(int *a) {\n  for (int i = 0; i < 3, i++) a[i] = 0;\n}\n",
        expect![[r#"
        error[W021]: expected `;`
         --> t.cu:2:29
          |
        2 |   for (int i = 0; i < 3, i++) a[i] = 0;
          |                             ^ after `++`
    "#]],
    );
    check(
        "__global__ void k(int *a) {\n  a[0] = 1 @ 2;\n}\n",
        expect![[r#"
        error[W020]: unexpected `@`
         --> t.cu:2:12
          |
        2 |   a[0] = 1 @ 2;
          |            ^ not understood after `1`
    "#]],
    );
    check(
        "__global__ void k(int *a {\n  a[0] = 1;\n}\n",
        expect![[r#"
        error[W022]: this `(` is never closed
         --> t.cu:1:18
          |
        1 | __global__ void k(int *a {
          |                  ^ opened here
          |
          = help: add the missing `)`
    "#]],
    );
    check_c(
        "void f(int n, float a[n]) {\n  for (int i = 0; i < n; i++\n    a[i] = 0;\n}\n",
        expect![[r#"
        error[W022]: `}` does not close `(`
         --> t.c:4:1
          |
        2 |   for (int i = 0; i < n; i++
          |       - opened here
        3 |     a[i] = 0;
        4 | }
          | ^ expected `)` before this
    "#]],
    );
    check_c(
        "this is not a program\n",
        expect![[r#"
        error[W020]: unexpected `is`
         --> t.c:1:6
          |
        1 | this is not a program
          |      ^^ not understood after `this`
        error[W021]: expected `;`
         --> t.c:1:22
          |
        1 | this is not a program
          |                      ^ after `program`
    "#]],
    );
}

#[test]
fn host_code_does_not_matter_to_a_kernel() {
    let text =
        "__global__ void k(int *a) { a[0] = 1; }\nint main() {\n  auto x = [ ;\n  return 0;\n}\n";
    let (parsed, sources) = unit(text, Language::Cuda);
    assert!(show(&parsed.unit).starts_with("global fn k"));
    expect![[r#"
        error[W020]: unexpected `=`
         --> t.cu:3:10
          |
        3 |   auto x = [ ;
          |          ^ not understood after `x`
    "#]]
    .assert_eq(&rendered(&parsed.suppressed, &sources));
    // Without a kernel in the file there is nothing else to say.
    check(
        "int main() {\n  int x = ;\n}\n",
        expect![[r#"
        error[W020]: unexpected `=`
         --> t.cu:2:9
          |
        2 |   int x = ;
          |         ^ not understood after `x`
    "#]],
    );
    // A kernel that the damage swallows is not lost silently.
    check(
        "int main() {\n  int x = (;\n__global__ void k(int *a) { a[0] = 1; }\n",
        expect![[r#"
        error[W022]: this `(` is never closed
         --> t.cu:2:11
          |
        2 |   int x = (;
          |           ^ opened here
          |
          = help: add the missing `)`
    "#]],
    );
}

#[test]
fn preprocessor_errors_have_their_place() {
    check(
        "#if 1\n__global__ void k() {}\n",
        expect![[r#"
            error[W009]: this conditional is never closed
             --> t.cu:1:1
              |
            1 | #if 1
              | ^^^^^ opened here
              |
              = help: add the missing `#endif`
        "#]],
    );
    check(
        "__global__ void k() {}\n#endif\n",
        expect![[r#"
            error[W009]: `#endif` without `#if`
             --> t.cu:2:1
              |
            2 | #endif
              | ^^^^^^ no `#if` is open for it
        "#]],
    );
    check(
        "#error please define N\n",
        expect![[r#"
        error[W008]: #error: please define N
         --> t.cu:1:8
          |
        1 | #error please define N
          |        ^^^^^^^^^^^^^^^ this line is reached
          |
          = help: define what it asks for with `-D NAME=VALUE`
    "#]],
    );
    check(
        "#ifndef N\n#error define N\n#endif\n__global__ void k() {}\n",
        expect![[r#"
        error[W008]: #error: define N
         --> t.cu:2:8
          |
        2 | #error define N
          |        ^^^^^^^^ this line is reached
          |
          = help: define what it asks for with `-D NAME=VALUE`
    "#]],
    );
    check(
        "#include \"nope.h\"\n__global__ void k() {}\n",
        expect![[r#"
            error[W007]: cannot include `nope.h`
             --> t.cu:1:1
              |
            1 | #include "nope.h"
              | ^^^^^^^^^^^^^^^^^ not found
              |
              = help: give the folder it is in with `-I`
        "#]],
    );
    check(
        "#bogus x\n__global__ void k() {}\n",
        expect![[r#"
        error[W010]: `#bogus` is no directive
         --> t.cu:1:2
          |
        1 | #bogus x
          |  ^^^^^ not understood
    "#]],
    );
    check(
        "#define F(x) x\n__global__ void k() { F(1, 2); }\n",
        expect![[r#"
        error[W010]: too many arguments to macro `F`, expected 1, got 2
         --> t.cu:2:23
          |
        2 | __global__ void k() { F(1, 2); }
          |                       ^ here
    "#]],
    );
    check(
        "#define 3 x\n",
        expect![[r#"
        error[W010]: macro name must be an identifier
         --> t.cu:1:9
          |
        1 | #define 3 x
          |         ^ here
    "#]],
    );
    check(
        "#if 1 +\nint x;\n#endif\n",
        expect![[r#"
            error[W010]: expected a value in a `#if` expression
             --> t.cu:1:1
              |
            1 | #if 1 +
              | ^^^^^^^ here
        "#]],
    );
    check(
        "__global__ void k() { char *s = \"abc; }\n",
        expect![[r#"
            error[W012]: this string literal is never closed
             --> t.cu:1:33
              |
            1 | __global__ void k() { char *s = "abc; }
              |                                 ^^^^^^^ the line ends before the closing quote
        "#]],
    );
}

#[test]
fn an_error_out_of_a_macro_is_shown_at_its_use() {
    check(
        "#define BAD(x) x +* ;\n__global__ void k(int *a) {\n  a[0] = BAD(1)\n}\n",
        expect![[r#"
        error[W021]: expected a name
         --> t.cu:3:13
          |
        3 |   a[0] = BAD(1)
          |             ^ after `*`
    "#]],
    );
}

#[test]
fn comments_in_another_encoding_do_not_matter() {
    let text = b"// r\xe9duction par blocs de threads\n__global__ void k(int *x) { x[0] = 1; }\n";
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    assert!(parse("a.cu", text, &options, &DiskLoader, &mut sources).is_ok());
}

#[test]
fn files_that_are_no_text_are_refused() {
    let mut all = String::new();
    for bytes in [&b""[..], b" \n\t\n", b"\xff\xfe\x00", b"x\n\xc3\x28\n", b"\x7fELF\0\0"] {
        let mut sources = SourceMap::new();
        let result =
            parse("bad.cu", bytes, &ParseOptions::new(Language::Cuda), &DiskLoader, &mut sources);
        let list = result.expect_err("no text");
        assert_eq!(list.len(), 1);
        all += &rendered(&list, &sources);
    }
    expect![[r#"
        error[W003]: this file is empty
         --> bad.cu:1:1
          |
        1 |
          | ^
          |
          = help: save what belongs there, or name another file
        error[W003]: this file is empty
         --> bad.cu:1:1
          |
        1 |
          | ^
          |
          = help: save what belongs there, or name another file
        error[W001]: this is a binary file, not source text
         --> bad.cu:1:1
          |
        1 |
          | ^
          |
          = help: it contains NUL bytes
        error[W022]: this `(` is never closed
         --> bad.cu:2:2
          |
        2 | ?(
          |  ^ opened here
          |
          = help: add the missing `)`
        error[W001]: this is a binary file, not source text
         --> bad.cu:1:1
          |
        1 |
          | ^
          |
          = help: it contains NUL bytes
    "#]]
    .assert_eq(&all);
    let huge = vec![b' '; (64 << 20) + 1];
    let mut sources = SourceMap::new();
    let list = parse("huge.c", &huge, &ParseOptions::new(Language::C), &DiskLoader, &mut sources)
        .expect_err("too large");
    expect![[r#"
        error[W004]: this file is larger than 64 MiB
         --> huge.c:1:1
          |
        1 |
          | ^
    "#]]
    .assert_eq(&rendered(&list, &sources));
}

#[test]
fn work_without_bound_is_refused() {
    let mut laughs = String::from("#define A0 x\n");
    for i in 1..40 {
        laughs += &format!("#define A{i} A{} A{}\n", i - 1, i - 1);
    }
    check(
        &format!("{laughs}int y = A39;\n"),
        expect![[r#"
        error[W006]: the macros of this file expand to too much text
         --> t.cu:1:1
          |
        1 | #define A0 x
          | ^ in this file or one it includes
          |
          = note: more than a million tokens, or macros nested more than 200 deep
    "#]],
    );
    let deep =
        format!("__global__ void k(int *a) {{ a[0] = {}1{}; }}", "(".repeat(900), ")".repeat(900));
    check(
        &deep,
        expect![[r#"
        error[W023]: this is nested too deep
         --> t.cu:1:545
          |
        1 | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((...
          |                                                       ^ more than 512 levels here
          |
          = help: split the expression or statement into parts
    "#]],
    );
    let deeper = format!("int a = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
    assert!(
        errors(&deeper, Language::Cuda).starts_with("error[W005]: brackets are nested too deep")
    );
    let chain =
        format!("__global__ void k(int *a) {{ {} a[0] = 1; }}", "if (a[0]) ; else ".repeat(5_000));
    assert!(errors(&chain, Language::Cuda).starts_with("error[W023]"));
    let sum = format!("__global__ void k(int *a) {{ a[0] = 1{}; }}", " + 1".repeat(100_000));
    assert!(errors(&sum, Language::Cuda).starts_with("error[W023]"));
    let not = format!("__global__ void k(int *a) {{ a[0] = {}1; }}", "!".repeat(100_000));
    assert!(errors(&not, Language::Cuda).starts_with("error[W023]"));
    let stars = format!("__global__ void k(int {}a) {{ }}", "*".repeat(50_000));
    assert!(errors(&stars, Language::Cuda).starts_with("error[W023]"));
    let condition = format!("#if {}1\n#endif\nint x;", "!".repeat(100_000));
    assert!(errors(&condition, Language::C).starts_with("error[W005]"));
}

#[test]
fn headers_are_found_and_cycles_end() {
    let all = files(&[
        ("sub/a.h", "#pragma once\n#include \"b.h\"\n#define FROM_A 3\n"),
        ("sub/b.h", "struct B { int x; };\n"),
        ("cycle.h", "#include \"cycle.h\"\n"),
        ("twice.h", "#include \"twice.h\"\n#include \"twice.h\"\n"),
        ("bad.h", "int ok;\n__device__ int f( { }\n"),
    ]);
    let (result, sources) = run(
        "#include \"sub/a.h\"\n#include \"sub/a.h\"\n__global__ void k(B b) { b.x = FROM_A; }\n",
        Language::Cuda,
        &all,
    );
    let parsed = result.unwrap_or_else(|e| panic!("{}", rendered(&e, &sources)));
    expect![[r#"
        struct B
          field x: int
        global fn k(b: B) -> void
          (= b.x 3)
    "#]]
    .assert_eq(&show(&parsed.unit));
    let paths: Vec<&str> = sources.files().map(|(_, f)| f.path.as_str()).collect();
    assert_eq!(paths[0], "t.cu");
    assert!(paths.contains(&"sub/a.h") && paths.contains(&"sub/b.h"), "{paths:?}");
    for name in ["cycle.h", "twice.h"] {
        let (result, sources) = run(&format!("#include \"{name}\"\nint x;\n"), Language::C, &all);
        let shown = rendered(&result.expect_err("a cycle"), &sources);
        assert!(shown.starts_with("error[W0"), "{shown}");
    }
    let (result, sources) =
        run("#include \"bad.h\"\n__global__ void k() { }\n", Language::Cuda, &all);
    expect![[r#"
        error[W022]: this `(` is never closed
         --> bad.h:2:17
          |
        2 | __device__ int f( { }
          |                 ^ opened here
          |
          = help: add the missing `)`
    "#]]
    .assert_eq(&rendered(&result.expect_err("an error in a header"), &sources));
}

#[test]
fn spans_are_exact_in_the_users_file() {
    let text = "#define ONE 1\n__global__ void k(float *__restrict p, int n) {\n  if (n < 3) p[n] = ONE + n;\n}\n";
    let (parsed, sources) = unit(text, Language::Cuda);
    let warpsmith_front::ast::ItemKind::Function(f) = &parsed.unit.items[0].kind else {
        panic!("a function");
    };
    let texts: Vec<&str> = f.params.iter().map(|p| sources.text(p.span)).collect();
    assert_eq!(texts, ["float *__restrict p", "int n"]);
    let body = f.body.as_ref().expect("a body");
    assert_eq!(sources.text(body.stmts[0].span), "if (n < 3) p[n] = ONE + n;");
    assert!(parsed.expansions.touches(body.stmts[0].span));
    assert!(!parsed.expansions.touches(f.params[0].span));
    let place = text.find("ONE + n").expect("the use") as u32;
    let one = warpsmith_ir::Span { file: body.stmts[0].span.file, start: place, end: place + 3 };
    let chain = parsed.expansions.chain(one);
    assert_eq!(chain.len(), 2);
    assert_eq!(sources.text(chain[1]), "1");
}

#[test]
fn comments_are_kept_with_their_places() {
    let (parsed, _) = unit(
        "// warpsmith: grid=1 block=32\n__global__ void k() {} /* step: x */\n",
        Language::Cuda,
    );
    let texts: Vec<&str> = parsed.unit.comments.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(texts, ["warpsmith: grid=1 block=32", "step: x"]);
    assert_eq!(parsed.unit.comments[0].span.start, 0);
}

#[test]
fn definitions_come_from_the_options() {
    let mut options = ParseOptions::new(Language::C);
    options.defines = vec![("N".into(), "4".into()), ("SQ(x)".into(), "((x)*(x))".into())];
    let mut sources = SourceMap::new();
    let parsed =
        parse("t.c", b"int a[SQ(N)];", &options, &DiskLoader, &mut sources).expect("parses");
    assert_eq!(show(&parsed.unit), "vars a: array(paren (* paren 4 paren 4), int)\n");
    options.defines = vec![("3N".into(), "4".into())];
    let errors = parse("t.c", b"int a;", &options, &DiskLoader, &mut sources).expect_err("no name");
    expect![[r#"
        error[W013]: `-D 3N=4` does not define a name
         --> t.c:1:1
          |
        1 | int a;
          | ^
          |
          = help: write `-D NAME` or `-D NAME=VALUE`
    "#]]
    .assert_eq(&rendered(&errors, &sources));
}
