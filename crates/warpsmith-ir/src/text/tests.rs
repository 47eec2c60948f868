//! Tests of the text form.

use proptest::prelude::*;

use super::arbitrary::random_module;
use super::{parse, print};
use crate::span::SourceMap;

/// A module with every construct, as it is printed.
const EVERYTHING: &str = "\
struct pair size 8 align 4 {
    a: f32 @ 0,
    b: i32 @ 4,
}

struct node size 16 align 8 {
    next: *global node @ 0,
    p: pair @ 8,
}

static constant weights: [f32; 2] = \"0000803f00000040\";
static global counter: u32;
const BM = 64 \"rows of a tile\";
const eps = 1e-6f32;

device fn helper(ref r: *f32, v: f32x4) -> f32 {
    *r = v.x + member(make f32x4 { 1.0f32, v.y, v.z, v.w }, w);
    return *r;
}

kernel fn `everything<float,32>`(n: i32, const restrict x: *global const f32 shape [n, n + 1], y: *global volatile f32) launch_bounds(256, 2) {
    var i: i32;
    var i.1: i32;
    var sum: f32;
    shared tile: [[f32; 33]; 32] align 16;
    dynamic_shared raw: [u8; 0];
    var s: node;
    var flag: bool;
    var old: u32;
    var `for`: f32x4;

    // Two lines
    //
    //  of comment.
    let i = (blockIdx.x * blockDim.x + threadIdx.x) as i32;
    let sum;
    for i.1 in 0..n {
        sum = sum + x[i, i.1; n] * x[i.1];
    }
    unroll(4) for i.1 in n..>=-3 by -1 {
        tile[threadIdx.y][i.1] = -(1.5f32);
        continue;
    }
    parallel(group '0, reduce + sum, reduce min sum, private i, firstprivate flag, lastprivate old) for outer i.1 in 0..=$BM by 2 {
    }
    bind(block.x, 32) for i.1 in 0..32 {
        break;
    }
    unroll for i.1 in 0..!=n {
    }
    '9: loop {
        break;
    } step {
        i = i + 1;
    }
    while before {
        old = atomic cas device(&@counter, 1u32, 2u32);
    } old != 0u32 {
        return;
    }
    do {
        trap;
    } while i < 3 && !flag || (i & 1) == 0;
    if flag {
        fence system;
    } else if i > 2 {
        async_copy(&tile[0][1], x as *f32, 16u64, 4u64);
        async_commit;
        async_wait 1;
    } else {
        barrier block;
        flag = barrier block_or(flag);
    }
    switch i {
        case 1, -2 {
            break;
        }
        case 3, default {
        }
        case default {
            sum = warp shuffle_down(4294967295u32; sum, 1u32, 32);
        }
    }
    {
        `for`.x = call helper(&sum, `for`);
        call helper(offset(y, 3) as *f32, make f32x4 { 0.0f32, 0.0f32, 0.0f32, 0.0f32 });
    }
    (*s.next).p.b = bitcast<i32>(s.p.a);
    s.p.#0 = fma(sum, -2.5f32, bits(f32, \"7fc00000\"));
    y[diff(x, x)] = select(flag, sqrt(sum), (1.0f32 - 2.0f32) - -3.0f32);
    printf(\"%d \\\"x\\\"\\n\", i, popc(7u32));
    assert(i < 5, \"i < 5\");
    assume(true, \"\");
    sum = (i << 2 | 3 : f32);
    y[0u64] = (x[1] :: f32) * 1e300 as f32 + 0.1f16 as f32 + @weights[1];
}

host fn run(p: *f32) -> i32 {
    launch `everything<float,32>` grid(1u32, 1u32, 1u32) block(32u32, 1u32, 1u32) shared(0u64) args(3, p, p);
    return 0;
}
";

#[test]
fn everything_round_trips() {
    let m = parse(EVERYTHING).unwrap_or_else(|d| panic!("{}", rendered(EVERYTHING, d)));
    let text = print(&m);
    assert_eq!(parse(&text).as_ref(), Ok(&m), "{text}");
    // What was written by hand is in the printer's own style but for redundant parts.
    let normal = EVERYTHING.replace("s.p.#0", "s.p.a").replace("(x[1] :: f32)", "x[1]");
    assert_eq!(text, normal.replace("(1.0f32 - 2.0f32)", "1.0f32 - 2.0f32"));
}

fn rendered(text: &str, diagnostics: Vec<crate::Diagnostic>) -> String {
    let mut sources = SourceMap::new();
    sources.add("test.ir", text);
    diagnostics.iter().map(|d| d.render(&sources, false)).collect()
}

fn error(text: &str) -> String {
    match parse(text) {
        Ok(m) => panic!("accepted: {}", print(&m)),
        Err(d) => rendered(text, d),
    }
}

#[test]
fn errors_point_at_the_place() {
    expect_test::expect![[r#"
        error[W901]: expected an expression
         --> test.ir:3:1
          |
        3 | }
          | ^ here"#]]
    .assert_eq(&error("host fn f() {\n    return\n}\n"));
    expect_test::expect![[r#"
        error[W901]: there is no variable `j`
         --> test.ir:2:16
          |
        2 |     return 1 + j;
          |                ^ here"#]]
    .assert_eq(&error("host fn f() -> i32 {\n    return 1 + j;\n}\n"));
    expect_test::expect![[r#"
        error[W901]: no token starts here
         --> test.ir:1:6
          |
        1 | host ? fn
          |      ^ unknown character"#]]
    .assert_eq(&error("host ? fn"));
}

#[test]
fn parts_of_a_module_print_alone() {
    let m = parse(EVERYTHING).unwrap();
    let helper = super::print_function(&m, &m.functions[0]);
    assert!(EVERYTHING.contains(&helper), "{helper}");
    let run = &m.functions[2];
    assert_eq!(super::print_block(&m, run, &run.body).lines().last(), Some("return 0;"));
    assert_eq!(super::print_type(&m, &m.structs[1].fields[0].ty), "*global node");
    let mut first = None;
    crate::visit::for_each_expr(&m.functions[0].body, &mut |e| {
        first.get_or_insert(super::print_expr(&m, &m.functions[0], e));
    });
    assert_eq!(first.as_deref(), Some("r"));
}

#[test]
fn each_function_reports_its_first_error() {
    let text = "host fn f() { break }\nhost fn g() { x = 1; }\n";
    assert_eq!(parse(text).unwrap_err().len(), 2);
}

#[test]
fn numbers_must_fit_their_types() {
    for bad in ["300u8", "-1u32", "2147483648", "1.5i32", "1bool", "99999999999999999999"] {
        assert!(error(&format!("const c = {bad};")).contains("no value of its type"), "{bad}");
    }
    for good in ["255u8", "-2147483648", "-0.0f32", "1f16", "18446744073709551615u64"] {
        parse(&format!("const c = {good};")).unwrap();
    }
}

#[test]
fn depth_is_limited() {
    let deep = format!(
        "const c = 1;\nhost fn f() -> i32 {{ return {}1{}; }}",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    assert!(error(&deep).contains("nested too deeply"));
    let blocks = format!("host fn f() {{ {} {} }}", "{".repeat(5000), "}".repeat(5000));
    assert!(error(&blocks).contains("nested too deeply"));
    let minus = format!("host fn f() -> i32 {{ return {}i; }}", "~".repeat(100_000));
    assert!(error(&minus).contains("nested too deeply"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_modules_round_trip(seed in any::<u64>()) {
        let m = random_module(seed);
        let text = print(&m);
        match parse(&text) {
            Ok(back) => prop_assert_eq!(back, m, "{}", text),
            Err(d) => prop_assert!(false, "{}\n{}", rendered(&text, d), text),
        }
    }

    #[test]
    fn damaged_text_is_refused_without_panic(seed in any::<u64>(), at in any::<prop::sample::Index>(), with in ".{0,3}") {
        let mut text = print(&random_module(seed));
        let mut from = at.index(text.len() + 1);
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        let mut to = (from + 3).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        text.replace_range(from..to, &with);
        if let Err(d) = parse(&text) {
            rendered(&text, d);
        }
    }
}
