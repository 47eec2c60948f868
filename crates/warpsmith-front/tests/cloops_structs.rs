//! Structures and complex numbers in the C front end: layout, values, fields, and what is refused.

use std::process::Command;

use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::{Diagnostic, SourceMap};

fn lower(text: &str) -> (Result<CInput, Vec<Diagnostic>>, SourceMap) {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::C);
    let parsed = parse::parse("t.c", text.as_bytes(), &options, &DiskLoader, &mut sources);
    let result = parsed.and_then(|p| cloops::lower_c(&p.unit, None));
    (result, sources)
}

#[track_caller]
fn accepted(text: &str) -> CInput {
    match lower(text) {
        (Ok(input), _) => {
            if let Err(list) = warpsmith_ir::verify::verify(&input.module) {
                panic!("{list:#?}\n{}", warpsmith_ir::text::print(&input.module));
            }
            input
        }
        (Err(list), sources) => {
            let all: Vec<String> = list.iter().map(|d| d.render(&sources, false)).collect();
            panic!("{text}\n{}", all.join("\n"));
        }
    }
}

/// Declarations, and a marked loop over `i` with this body.
fn program(declarations: &str, params: &str, body: &str) -> String {
    format!(
        "{declarations}\nvoid f(int n, {params})\n{{\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
    )
}

/// One diagnostic with this message, this code and this text under the caret.
#[track_caller]
fn refused(text: &str, code: &str, message: &str, caret: &str) {
    let (result, sources) = lower(text);
    let Err(list) = result else { panic!("accepted:\n{text}") };
    let all: Vec<String> = list.iter().map(|d| d.render(&sources, false)).collect();
    assert_eq!(list.len(), 1, "{}", all.join("\n"));
    assert_eq!((list[0].code, list[0].message.as_str()), (code, message), "{}", all[0]);
    let under = list[0].labels.first().map_or("", |l| sources.text(l.span));
    assert_eq!(under, caret, "{}", all[0]);
    assert!(all[0].contains("help"), "no hint: {}", all[0]);
}

const LAYOUTS: &str = "
struct a { char c; double d; short s; };
struct b { char c[3]; short s; char t; };
typedef struct { struct a in; float v[2][3]; _Bool ok; } c_t;
struct d { long l; struct { int x; char y; } at, to[2]; unsigned char z; };
typedef struct e { float x, y, z, w; } e_t;
struct __attribute__((aligned(32))) g { int i; };
typedef struct { int i; } __attribute__((aligned(16))) h_t;
enum { N = 2 };
struct k { unsigned short u[N * 2 + 1]; unsigned long long q; };
";

/// Size, and the offset of a field, as the host's C compiler has them.
#[test]
fn the_layout_is_that_of_the_hosts_compiler() {
    let fields = [
        ("struct a", "d"),
        ("struct b", "t"),
        ("c_t", "ok"),
        ("struct d", "z"),
        ("struct d", "to"),
        ("e_t", "w"),
        ("struct g", "i"),
        ("h_t", "i"),
        ("struct k", "q"),
    ];
    let mut printed =
        format!("#include <stdio.h>\n#include <stddef.h>\n{LAYOUTS}\nint main() {{\n");
    for (ty, field) in fields {
        printed += &format!("printf(\"%zu %zu\\n\", sizeof({ty}), offsetof({ty}, {field}));\n");
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, out) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&source, printed + "}\n").unwrap();
    let built = Command::new("cc").arg("-o").arg(&out).arg(&source).status();
    if !built.is_ok_and(|s| s.success()) {
        eprintln!("no C compiler");
        return;
    }
    let theirs = Command::new(&out).output().unwrap();
    let theirs = String::from_utf8(theirs.stdout).unwrap();
    let mut ours = String::new();
    for (ty, field) in fields {
        let input = accepted(&program(LAYOUTS, &format!("{ty} *p, float *x"), "x[i] = 0;"));
        let spelled = if ty == "e_t" { "struct e" } else { ty };
        let at = input.structs.iter().position(|s| s == spelled).unwrap();
        let def = &input.module.structs[at];
        let field = def.fields.iter().find(|f| f.name == field).unwrap();
        ours += &format!("{} {}\n", def.size, field.offset);
    }
    assert_eq!(ours, theirs);
}

#[test]
fn fields_are_read_and_written_wherever_they_lie() {
    let p = "typedef struct { float x, y; } V; struct P { V at; float w[3]; int k; };";
    for body in [
        "p[i].at.x = p[i].w[2] + q->at.y;",
        "struct P t = p[i]; t.at = (V){1.0f, t.w[0]}; t.k++; p[i] = t;",
        "struct P t = {{1, 2}, {3}, 4}; p[i] = t;",
        "struct P t = {.k = 2, .w = {[1] = 5}}; p[i] = t;",
        "struct P t = {1, 2, 3, 4, 5, 6}; p[i] = t;",
        "struct P *r = &p[i]; r->w[1] *= 2; (*r).k -= 1;",
        "V a[2] = {{1, 2}, {3, 4}}; p[i].at = a[i & 1];",
        "p[i].at = i > 3 ? p[i].at : q->at;",
        "float *w = p[i].w; w[0] = w[1];",
        "p[i].k = (int)(sizeof(struct P) + sizeof p[i].w);",
    ] {
        accepted(&program(p, "struct P p[n], const struct P *q", body));
    }
}

#[test]
fn numbers_of_a_structure_passed_by_value_become_variables() {
    let text = program(
        "struct G { int nx; struct { float h; } step; };",
        "struct G g, float a[n]",
        "if (i < g.nx) a[i] *= g.step.h;",
    );
    let printed = warpsmith_ir::text::print(&accepted(&text).module);
    assert!(printed.contains("g_nx") && printed.contains("g_step_h"), "{printed}");
    // One that changes stays as it is.
    let text = program(
        "struct G { int nx; };",
        "struct G g, float a[n]",
        "struct G h = g; h.nx = i; a[i] = h.nx;",
    );
    accepted(&text);
}

/// What is used as `*q` has one element, whatever is taken of it.
#[test]
fn a_pointer_to_one_structure_has_one_element() {
    let declarations = "struct P { float x, v[2]; };";
    let text =
        program(declarations, "struct P p[n], const struct P *q", "p[i].x = q->x + q->v[1];");
    assert_eq!(cloops::missing_extents(&accepted(&text)).len(), 0);
    let text = program(declarations, "struct P p[n], const struct P *q", "p[i].x = q[i].x;");
    assert_eq!(cloops::missing_extents(&accepted(&text)).len(), 1);
}

#[test]
fn complex_numbers_are_structures_of_two_reals() {
    for body in [
        "a[i] = a[i] * b[i] + 2.0f;",
        "a[i] += b[i] / a[i]; a[i] *= -b[i]; a[i]++;",
        "a[i] = conjf(b[i]) - I; if (a[i] != b[i]) a[i] = 0;",
        "r[i] = cabsf(a[i]) + crealf(b[i]) * cimagf(a[i] * b[i]);",
        "double complex z = a[i]; z = z * z + cexp(z); a[i] = z; r[i] = carg(z);",
        "a[i] = CMPLXF(r[i], 1.0f); _Complex float w = r[i]; a[i] += w ? w : b[i];",
    ] {
        let text = program(
            "#include <complex.h>",
            "float complex a[n], const float complex *restrict b, float r[n]",
            body,
        );
        let input = accepted(&text.replace("*restrict b", "b[n]"));
        assert_eq!(input.structs[0], "float _Complex");
    }
}

#[test]
fn bits_and_names_of_the_headers() {
    let text = "#include <stdint.h>\n#include <stddef.h>\nvoid f(size_t n, const int8_t a[n], uint64_t b[n], long c[n], const char d[n], const signed char e[n])\n{\n#pragma omp parallel for\nfor (size_t i = 0; i < n; i++) b[i] = __builtin_popcountll(b[i]) + __builtin_clz(7u) + __builtin_ctzl(c[i]) + __builtin_bswap32(a[i]);\n}\n";
    let input = accepted(text);
    let names = ["size_t", "int8_t", "uint64_t"].map(Some);
    assert_eq!(input.spellings, [&names[..], &[None, Some("char"), None]].concat());
}

#[test]
fn what_has_no_counterpart_is_refused_where_it_stands() {
    let case = |declarations: &str, code, message, caret| {
        refused(&program(declarations, "struct S p[n]", "p[i].x = 0;"), code, message, caret);
    };
    case("struct S { int x : 3; };", "W144", "bit-fields are not supported", "3");
    case(
        "struct S { float x; float *next; };",
        "W144",
        "a structure with a pointer in it cannot go to the device",
        "*next",
    );
    case(
        "struct S { float x; struct { float a; }; };",
        "W144",
        "a structure inside another needs a name",
        "struct { float a; };",
    );
    case(
        "struct __attribute__((packed)) S { char c; float x; };",
        "W144",
        "packed structures are not supported",
        "struct __attribute__((packed)) S { char c; float x; }",
    );
    case("struct S { float y; };", "W145", "`struct S` has no field `x`", "p[i].x");
    case("struct S;", "W144", "`S` is declared but not defined", "struct S");
    let union = program("union S { int x; float f; };", "union S p[n]", "p[i].x = 0;");
    refused(
        &union,
        "W144",
        "unions are not part of the loop language",
        "union S { int x; float f; }",
    );
    let pack =
        program("#pragma pack(1)\nstruct S { char c; int x; };", "struct S p[n]", "p[i].x = 0;");
    let (result, _) = lower(&pack);
    assert_eq!(result.unwrap_err()[0].message, "structures under `#pragma pack` are not supported");
    let s = "struct S { int x; };";
    refused(
        &program(s, "struct S p[n]", "p[i].x = p[i];"),
        "W148",
        "a structure is used as a number",
        "p[i]",
    );
    refused(&program(s, "struct S p[n]", "p.x = 0;"), "W148", "a pointer has no fields", "p");
    refused(
        &program(s, "struct S p[n]", "p[i] += 1;"),
        "W148",
        "arithmetic on a structure",
        "p[i]",
    );
    refused(
        &program("#include <complex.h>", "float complex p[n]", "p[i] = p[i] % 2;"),
        "W148",
        "`%` on complex numbers",
        "p[i] % 2",
    );
}

#[test]
fn loops_nested_too_deep_are_refused_with_and_without_braces() {
    for braces in [true, false] {
        let mut text =
            "void f(int n, float x[n])\n{\n#pragma omp parallel for\nfor (int i = 0; i < n; i++)\n"
                .to_string();
        for k in 0..100 {
            text += &format!(
                "for (int a{k} = 0; a{k} < 1; a{k}++){}\n",
                if braces { " {" } else { "" }
            );
        }
        text +=
            &format!("x[i] += 1.0f;\n{}}}\n", if braces { "}".repeat(100) } else { String::new() });
        let (result, _) = lower(&text);
        let list = result.expect_err("accepted");
        assert_eq!(
            (list.len(), list[0].message.as_str()),
            (1, "loops are nested more than 32 deep")
        );
    }
}
