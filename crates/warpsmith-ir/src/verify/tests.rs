//! For each rule modules that break it and nothing else, and modules that are valid.

use std::collections::BTreeSet;

use super::{Violation, verify};
use crate::expr::{Expr, ExprKind, Place, PlaceKind};
use crate::module::{ConstId, FuncId, GlobalId, Module, VarId};
use crate::span::Origin;
use crate::stmt::{Stmt, StmtKind};
use crate::text::parse;
use crate::types::{Scalar, Type};
use crate::value::Value;

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|d| panic!("{text}: {d:?}"))
}

fn violations(m: &Module) -> Vec<Violation> {
    verify(m).err().unwrap_or_default()
}

/// Asserts that the module breaks the rule, once, and no other.
fn breaks(rule: u8, m: &Module, text: &str) {
    let found = violations(m);
    let rules: Vec<u8> = found.iter().map(|v| v.rule).collect();
    let shown: Vec<String> = found.iter().map(|v| v.to_string()).collect();
    assert_eq!(rules, [rule], "{text}\n{shown:?}");
}

/// (rule, text) of modules that break one rule.
const BROKEN: &[(u8, &str)] = &[
    (3, "host fn f() { var x: i32; let x = (1i64 + 2i64 : i32); }"),
    (3, "device fn f() { var x: i32; let x = (threadIdx.x : i32); }"),
    (4, "host fn f() { var x: i32; let x = (~1.0) as i32; }"),
    (4, "host fn f(p: *f32) { var x: i32; let x = p as i32; }"),
    (4, "host fn f(a: i32, b: i64) { var x: bool; let x = a < b; }"),
    (4, "host fn f(a: f32) { var x: f32; let x = a % a; }"),
    (4, "host fn f(a: i32) { var x: i32; let x = sqrt(a); }"),
    (4, "host fn f(a: f32) { var x: f32; let x = pow(a); }"),
    (4, "host fn f(a: i32) { var x: f32x2; let x = make f32x2 { 1.0f32, a }; }"),
    (4, "host fn f(a: f32) { var x: f64; let x = bitcast<f64>(a); }"),
    (4, "host fn f(p: *f32, a: f32) { var q: *f32; let q = offset(p, a); }"),
    (5, "host fn f(p: *f32, i: f32) { p[i] = 0.0f32; }"),
    (5, "host fn f(p: *f32) { p[0, 1] = 0.0f32; }"),
    (5, "host fn f(i: i32) { var x: i32; let x = (*i :: i32); }"),
    (5, "host fn f(v: f32x2) { var x: f32; let x = (v.#3 :: f32); }"),
    (5, "host fn f(p: *void) { var x: f32; let x = (*p :: f32); }"),
    (6, "host fn f() { var x: f32; let x = 1; }"),
    (6, "host fn f(p: *f32) { p[0] = 1.0; }"),
    (7, "host fn f(i: i32) { if i { } }"),
    (7, "host fn f(i: i32) { while i { } }"),
    (7, "host fn f(i: i32) { assume(i, \"i\"); }"),
    (7, "host fn f(i: i32) { var x: i32; let x = select(i, 1, 2); }"),
    (8, "host fn f() { break; }"),
    (8, "host fn f(i: i32) { switch i { case 1 { continue; } } }"),
    (9, "host fn f() { '0: loop { '0: loop { } } }"),
    (9, "host fn f() loops(1) { '4: loop { } }"),
    (9, "host fn f() { var i: i32; parallel(group '7) for i in 0..3 { } }"),
    (10, "host fn f(n: i64) { var i: i32; for i in 0..n { } }"),
    (10, "host fn f(n: f32) { var i: f32; for i in n..n { } }"),
    (11, "host fn f() { var i: i32; for i in 0..3 { i = 4; } }"),
    (11, "host fn f() { var i: i32; var p: *i32; for i in 0..3 { let p = &i; } }"),
    (11, "host fn f() { var i: i32; let i; for outer i in 0..3 { for outer i in 0..3 { } } }"),
    (12, "host fn f() { var x: i32; { let x = 1; } x = 2; }"),
    (12, "host fn f() { var x: i32; x = 2; }"),
    (12, "host fn f() { var i: i32; var x: i32; for i in 0..3 { } let x = i; }"),
    (12, "host fn f() { var x: i32; let x; if true { let x; } }"),
    (12, "host fn f(x: i32) { let x = 1; }"),
    (12, "host fn f() { var x: i32; do { let x = 1; } while x < 3; }"),
    (13, "host fn f() { barrier block; }"),
    (13, "host fn f() { var x: u32; let x = threadIdx.x; }"),
    (13, "host fn f() { fence device; }"),
    (13, "host fn f() { barrier block; }"),
    (13, "host fn f() { async_commit; }"),
    (
        14,
        "device fn f() { launch k grid(1u32, 1u32, 1u32) block(1u32, 1u32, 1u32) shared(0) args(); } kernel fn k() { }",
    ),
    (
        14,
        "host fn f() { launch f grid(1u32, 1u32, 1u32) block(1u32, 1u32, 1u32) shared(0) args(); }",
    ),
    (
        14,
        "host fn f() { launch k grid(1, 1u32, 1u32) block(1u32, 1u32, 1u32) shared(0) args(); } kernel fn k() { }",
    ),
    (
        14,
        "host fn f() { launch k grid(1u32, 1u32, 1u32) block(1u32, 1u32, 1u32) shared(0) args(); } kernel fn k(n: i32) { }",
    ),
    (14, "static constant c: [i32; 2]; kernel fn f(p: *i32) { copy_to_global(@c, p); }"),
    (14, "static constant c: [i32; 2]; host fn f(p: *i32) { copy_to_global(@c[0], p); }"),
    (14, "static constant c: [i32; 2]; host fn f(n: i32) { copy_to_global(@c, n); }"),
    (15, "host fn f() { call k(); } kernel fn k() { }"),
    (15, "device fn f() { call g(); } host fn g() { }"),
    (15, "host fn f() { call g(1); } host fn g() { }"),
    (15, "host fn f() { call g(1); } host fn g(x: f32) { }"),
    (15, "host fn f() { var x: i32; let x; x = call g(); } host fn g() { }"),
    (16, "host fn f() { call f(); }"),
    (17, "host fn f() -> i32 { return; }"),
    (17, "host fn f() { return 1; }"),
    (17, "host fn f() -> i32 { return 1.0; }"),
    (
        18,
        "host fn f() { var i: i32; var a: [i32; 3]; let a; parallel(reduce + a) for i in 0..3 { } }",
    ),
    (18, "host fn f() { var i: i32; var p: *i32; let p; parallel(reduce + p) for i in 0..3 { } }"),
    (19, "host fn f() { shared x: i32; let x; }"),
    (19, "host fn f() { shared x: i32; var i: i32; bind(block.x, 2) for i in 0..2 { let x; } }"),
    (19, "host fn f(p: *f32 layout pad 1) { }"),
    (19, "device fn f() { dynamic_shared x: [i32; 3]; }"),
    (20, "host fn f() { param x: i32; }"),
    (20, "host fn f(ref x: i32) { }"),
    (21, "device fn f(p: *u32) { atomic add device(p, 1); }"),
    (21, "device fn f(p: *u32) { atomic cas device(p, 1u32); }"),
    (21, "device fn f(p: *i32) { atomic inc device(p, 1); }"),
    (21, "device fn f(p: *f32) { atomic or device(p, 1.0f32); }"),
    (21, "device fn f() { var x: i32; let x; x = warp ballot(1u32; true); }"),
    (21, "device fn f() { warp all(1; true); }"),
    (21, "device fn f() { warp reduce_add(1u32; 1.0f32); }"),
    (21, "device fn f() { barrier block(true); }"),
    (21, "device fn f() { barrier block_count; }"),
    (21, "device fn f(p: *f32) { async_copy(p, p, 5); }"),
    (22, "host fn f(x: f32) { switch x { } }"),
    (22, "host fn f(x: i32) { switch x { case 1 { } case 1 { } } }"),
    (22, "host fn f(x: i32) { switch x { case default { } case default { } } }"),
    (23, "host fn f() { var x: void; }"),
    (23, "host fn f(x: f32x9) { }"),
    (23, "struct s size 4 align 4 { x: [s; 2] } host fn f() { }"),
    (23, "static global x: i32 = \"00\";"),
    (23, "static shared x: i32;"),
    (24, "host fn f(p: *const f32) { p[0] = 1.0f32; }"),
    // From the grid inwards, each axis once, counted from 0.
    (
        25,
        "host fn f() { var i: i32; var j: i32;
            bind(block.x, 2) for i in 0..2 { bind(grid.x) for j in 0..2 { } } }",
    ),
    (
        25,
        "host fn f() { var i: i32; var j: i32;
            bind(grid.x) for i in 0..2 { bind(grid.x) for j in 0..2 { } } }",
    ),
    (25, "host fn f(n: i32) { var i: i32; bind(block.x, 2) for i in 0..n { } }"),
    (25, "host fn f() { var i: i32; bind(block.x, 2) for i in 1..2 { } }"),
    (25, "host fn f() { var i: i32; bind(block.x, 2048) for i in 0..2048 { } }"),
    (25, "host fn f() { var i: i32; bind(lane.x, 64) for i in 0..64 { } }"),
    (
        25,
        "host fn f(p: *f32) { var i: i32; var j: i32;
            bind(grid.x) for i in 0..2 { p[0] = 1.0f32; bind(block.x, 2) for j in 0..2 { } } }",
    ),
    (
        25,
        "host fn f(p: *f32) { var i: i32; var j: i32;
            bind(block.y, 2) for i in 0..2 { p[0] = 1.0f32; bind(block.x, 2) for j in 0..2 { } } }",
    ),
    (25, "host fn f() { var i: i32; bind(block.x, 2) for i in 0..2 { break; } }"),
    (25, "host fn f() { var i: i32; bind(block.x, 2) for i in 0..2 { return; } }"),
    // What threads do together, and lanes.
    (
        26,
        "host fn f() { var s: i32; var i: i32; let s = 0; bind(block.x, 2) for i in 0..2 { s = 1; } }",
    ),
    (26, "host fn f(p: *f32) { var i: i32; fill(i < 4) p[i] = 0.0f32; }"),
    (
        26,
        "host fn f(p: *f32) { var t: i32; var i: i32;
            bind(block.x, 2) for t in 0..2 { fill(i < 6) p[i] = 0.0f32 vector 4; } }",
    ),
    (
        26,
        "host fn f() { var t: i32; var s: f32;
            bind(block.x, 2) for t in 0..2 { let s = 0.0f32; combine + s over(block.y); } }",
    ),
    (
        26,
        "host fn f() { var t: i32; var s: f32; var p: i32; bind(block.x, 2) for t in 0..2 {
            let s = 0.0f32; let p = 0; combine + s at p over(block.x); } }",
    ),
    (
        26,
        "host fn f() { var t: i32; var s: f32;
            bind(block.x, 2) for t in 0..2 { let s = 0.0f32; combine & s over(block.x); } }",
    ),
    (26, "host fn f(n: i32) { var i: i32; vector for i in 0..n { } }"),
    (26, "host fn f() { var i: i32; var j: i32; vector for i in 0..4 { for j in 0..2 { } } }"),
    (24, "static constant c: [f32; 4]; host fn f() { @c[1] = 1.0f32; }"),
    (24, "device fn f(p: *const u32) { atomic add device(p, 1u32); }"),
];

#[test]
fn each_broken_module_breaks_its_rule_only() {
    for (rule, text) in BROKEN {
        breaks(*rule, &module(text), text);
    }
}

#[test]
fn ids_out_of_range() {
    let base = "host fn f() { var x: i32; let x = 1; }";
    let origin = Origin::default;
    let with = |kind: StmtKind| {
        let mut m = module(base);
        m.functions[0].body.stmts.push(Stmt::new(kind, origin()));
        m
    };
    let assign = |value: Expr| StmtKind::Assign { place: Place::var(VarId(0), Type::I32), value };
    let read = |kind: PlaceKind| assign(Expr::read(Place::new(kind, Type::I32, origin())));
    breaks(1, &with(read(PlaceKind::Var(VarId(9)))), "variable");
    breaks(1, &with(read(PlaceKind::Global(GlobalId(9)))), "global");
    let named = Expr::new(ExprKind::Named(ConstId(9)), Type::I32, origin());
    breaks(1, &with(assign(named)), "constant");
    breaks(1, &with(StmtKind::Decl { var: VarId(9), init: None }), "declared variable");
    let call = StmtKind::Call { function: FuncId(9), args: vec![], result: None };
    breaks(1, &with(call), "function");
    let mut m = module(base);
    m.functions[0].vars[0].ty =
        Type::pointer(Type::Struct(crate::StructId(3)), crate::Space::Generic);
    m.functions[0].body.stmts.clear();
    breaks(1, &m, "struct");
    let mut m = module(base);
    m.functions[0].params.push(VarId(7));
    breaks(1, &m, "parameter");
}

#[test]
fn constants_of_another_type() {
    let mut m = module("host fn f() { var x: i32; let x = 1; }");
    let wrong =
        Expr::new(ExprKind::Const(Value::int(Scalar::I64, 1)), Type::I32, Origin::default());
    m.functions[0].body.stmts[0].kind = StmtKind::Decl { var: VarId(0), init: Some(wrong) };
    breaks(2, &m, "type");
    breaks(2, &module("const c = bits(bool, \"7\");"), "bits");
    breaks(2, &module("const c = 1; host fn f() { var x: i64; let x = ($c : i64); }"), "named");
}

#[test]
fn every_rule_has_a_test() {
    // Rules 1 and 2 cannot be broken in the text form and have tests of their own.
    let rules: BTreeSet<u8> = BROKEN.iter().map(|(rule, _)| *rule).chain([1, 2]).collect();
    assert_eq!(rules, (1..=26).collect());
}

#[test]
fn valid_modules_pass() {
    for text in [
        "host fn f(n: i32, a: *const f32 shape [n, n], s: *f32) -> i32 {
            var i: i32; var j: i32; var x: f32; var t: i32;
            let x;
            parallel(group '0, reduce + s, private x) for i in 0..n {
                parallel(group '0) for j in 0..n by 2 { x = a[i, j; n]; *s = *s + x; }
            }
            let t = 0;
            while before { t = t + 1; } t < n { if t == 3 { continue; } } step { t = t + 2; }
            switch t { case 1 { break; } case 2, default { return 1; } }
            return t;
        }",
        "struct pair { a: f32, v: f32x4 }
        static constant c: [f32; 2] = \"0000000000000000\";
        const BM = 64;
        kernel fn k(p: *global pair, n: i32) launch_bounds(128) {
            shared tile: [[f32; 33]; 32];
            dynamic_shared raw: [u8; 0];
            var i: i32; var i.1: i32; var old: f32; var m: u32; var q: *shared f32;
            let i = (blockIdx.x * blockDim.x + threadIdx.x) as i32;
            let old; let m; let q = &raw[0] as *shared f32;
            bind(block.x, 32) for i.1 in 0..$BM { tile[i.1][0] = @c[i.1 & 1] + q[i.1]; }
            old = atomic add device(&p[i].a, 1.0f32);
            m = warp match_any(4294967295u32; old);
            barrier block;
            async_copy(&tile[0][0], &p[0].v as *f32, 16u64);
            async_commit; async_wait 0; fence device;
            call helper(&old, p[i].v);
            '7: loop { break; }
        }
        device fn helper(ref r: *local f32, v: f32x4) { *r = fma(v.x, v.y, exp(*r)); }
        host fn run(p: *pair) { launch k grid(1u32, 1u32, 1u32) block(1u32, 1u32, 1u32) shared(8u64) args(p, 3); }",
    ] {
        let found = violations(&module(text));
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn violations_render_with_their_place() {
    let text = "host fn f() {\n    var x: f32;\n    let x = 1;\n}\n";
    let mut sources = crate::SourceMap::new();
    sources.add("f.ir", text);
    let found = violations(&module(text));
    assert_eq!(found[0].to_string(), "rule 6, function `f`: the variable is f32, the value i32");
    expect_test::expect![[r#"
        error[W902]: the IR is not valid: the variable is f32, the value i32
         --> f.ir:3:13
          |
        3 |     let x = 1;
          |             ^ here
          |
          = note: verifier rule 6 in function `f`"#]]
    .assert_eq(&found[0].to_diagnostic().render(&sources, false));
}
