//! The same programs by operations and one statement at a time: nothing may come out differently.

use crate::interp::{
    Arg, HostMemory, InterpError, InterpErrorKind, LaunchRequest, Launcher, Limits, Memory,
    Skipped, Unknown, call,
};
use crate::module::{FuncId, Module};
use crate::stmt::{Runtime, StmtKind};
use crate::text::parse;
use crate::types::{Scalar, Type};
use crate::value::Value;
use crate::visit::for_each_stmt;

/// Goes on after whatever fails, and keeps what that was.
#[derive(Default)]
struct Tolerant(Vec<Skipped>);

impl Launcher for Tolerant {
    fn launch(&mut self, _: &mut Memory, _: LaunchRequest) -> Result<(), String> {
        Ok(())
    }

    fn tolerant(&self) -> bool {
        true
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.0.push(skipped);
    }

    fn value_of(&mut self, name: &str, ty: Scalar) -> Option<Value> {
        (name == "given").then(|| Value::int(ty, 4))
    }
}

/// What a run leaves behind.
#[derive(Debug, PartialEq)]
struct Outcome {
    result: Result<Option<Value>, InterpError>,
    buffers: Vec<Vec<u8>>,
    unknown: Vec<Vec<bool>>,
    printed: String,
    skipped: Vec<Skipped>,
}

const BUFFERS: [usize; 3] = [256, 256, 64];

/// Runs the first function, with operations or, since somebody watches the ways it takes, without; and how many loops were
/// translated can be told from the steps it took.
fn outcome(m: &Module, args: &[Arg], fast: bool) -> (Outcome, u64) {
    let bytes = |n: usize| (0..n).map(|i| (i % 7) as u8).collect::<Vec<u8>>();
    let mut memory = Memory::new(BUFFERS.map(bytes).to_vec());
    memory.host = HostMemory { host: [0, 1].into_iter().collect(), ..HostMemory::default() };
    memory.host.unknown.insert(1, (0..BUFFERS[1]).map(|i| i >= 128).collect::<Vec<_>>().into());
    if !fast {
        memory.take_ways();
    }
    let mut launcher = Tolerant::default();
    let limits = Limits { max_steps: 200_000, ..Limits::default() };
    let result = call(m, FuncId(0), args, &mut memory, &limits, &mut launcher);
    let host = &memory.host;
    let unknown =
        BUFFERS.iter().enumerate().map(|(b, n)| (0..*n).map(|i| !host.knows(b, i, 1)).collect());
    let unknown = unknown.collect();
    let (buffers, printed) = (memory.buffers, memory.printed);
    (Outcome { result, buffers, unknown, printed, skipped: launcher.0 }, memory.steps)
}

fn same(text: &str) -> Outcome {
    let m = parse(text).unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    let args = [0, 1, 2].map(|buffer| Arg::Pointer { buffer, offset: 0 });
    let (slow, steps) = outcome(&m, &args, false);
    let (fast, fewer) = outcome(&m, &args, true);
    assert_eq!(slow, fast, "{text}");
    assert_ne!(fewer, steps, "nothing was translated: {text}");
    fast
}

/// A program whose function `f` does what the text says before it launches something.
fn program(body: &str) -> String {
    format!(
        "host fn main(a: *i32, b: *f32, d: *f32) {{ call f(a, b, d); launch k grid(1u32, 1u32, 1u32) block(1u32, 1u32, 1u32) shared(0u64) args(); }}
        host fn f(a: *i32, b: *f32, d: *f32) {{ {body} }}
        host fn square(x: i32) -> i32 {{ var y: i32; if x < 0 {{ return 0 - x; }} let y = x * x; return y; }}
        host fn picks(p: *i32, i: i32) -> *i32 {{ return &p[i]; }}
        host fn perhaps(p: *i32, i: i32) -> i32 {{ if p[i] > 200 {{ return p[i]; }} return p[i + 60]; }}
        host fn noted(p: *i32) {{ p[0] = p[0] + 1; printf(\"%d\\n\", p[0]); }}
        kernel fn k() {{ }}"
    )
}

#[test]
fn arithmetic_of_all_kinds() {
    let out = same(&program(
        "var i: i32; var j: i32; var s: f32; var t: f64; var u: u32;
        for i in 0..8 {
            let s = 0.5f32; let t = 0.0; let u = 7u32;
            for j in 0..4 {
                s = s + b[i * 4 + j] * 3.0f32;
                t = t + (s as f64) / 3.0;
                u = (u << (j as u32)) ^ (u >> 3u32) % 5u32;
                if s > 2.0f32 && j != 2 || u == 0u32 { a[i] = a[i] + select(j < 2, j, -(i)); } else { a[i] = a[i] & 255; }
            }
            b[i] = sqrt(s) + (t as f32) + (u as f32) + fma(s, s, 1.0f32);
        }",
    ));
    assert!(out.skipped.is_empty(), "{:?}", out.skipped);
}

#[test]
fn nothing_leaves_from_before_a_condition() {
    let m = parse(&program(
        "var i: i32; let i = 0; while before { a[1] = i; if i == 3 { return; } } i < 7 { a[0] = i; i = i + 1; }",
    ));
    let args = [0, 1, 2].map(|buffer| Arg::Pointer { buffer, offset: 0 });
    let m = m.unwrap();
    assert_eq!(outcome(&m, &args, false).0, outcome(&m, &args, true).0);
}

/// The condition at the end is asked after it, too.
#[test]
fn steps_that_go_on() {
    let out = same(&program(
        "var i: i32; let i = 0; do { a[i] = i; } step { i = i + 1; if i % 2 == 0 { continue; } a[0] = a[0] + 1; } while i < 6;",
    ));
    assert!(out.result.is_ok() && out.skipped.is_empty(), "{out:?}");
}

#[test]
fn loops_that_end_anywhere() {
    same(&program(
        "var i: i32; var j: u64; var n: i32;
        let i = 0;
        while i < 40 {
            i = i + 1;
            if i % 3 == 0 { continue; }
            if i > 33 { break; }
            let j = 0u64;
            loop { if j >= 5u64 { break; } a[(j as i32) + i] = i; j = j + 2u64; }
            switch i % 5 { case 1 { a[0] = a[0] + 1; } case 2, 3 { a[1] = i; break; } case default { continue; } }
            let n = i;
            do { n = n - 7; } while n > 0;
            a[2] = n;
        }
        for i in 10..>0 by -3 { for outer n in 0..i { if n == 4 { break; } } a[3] = a[3] + n; }",
    ));
}

#[test]
fn what_fails_is_left_out_and_the_loop_goes_on() {
    let out = same(&program(
        "var i: i32; var x: i32; var y: i32; var given: i32;
        for i in 0..5 {
            let x;
            if i == 1 { x = 3; }
            a[i] = x;
            a[i + 62] = i;
            y = a[i * 30];
            a[10 + i] = y;
            b[20 + i * 8] = b[30 + i] + 1.0f32;
            d[i] = 1.0f32;
            a[20 + i] = given;
        }
        for i in 0..a[100] { a[5] = 1; }
        while a[i * 50] < i { i = i + 1; while a[i * 40] < 9 { a[i * 40] = a[i * 40] + 1; i = i + 1; } }",
    ));
    let why = |part: &str| out.skipped.iter().filter(|s| s.why.contains(part)).count();
    assert!(why("`x` is not known") >= 3, "{:?}", out.skipped);
    assert!(why("access of 4 bytes") >= 5, "{:?}", out.skipped);
    assert!(why("memory of the device") == 5, "{:?}", out.skipped);
}

#[test]
fn a_loop_whose_condition_fails_leaves_its_variables_unknown() {
    let out = same(&program(
        "var i: i32; var x: i32;
        for i in 0..3 {
            let x = 1;
            while a[i * 40] < 9 { x = x + 1; a[i * 40] = a[i * 40] / 2 + 8; }
            a[10 + i] = x;
        }",
    ));
    let why: Vec<&str> = out.skipped.iter().map(|s| s.why.as_str()).collect();
    assert!(matches!(why[..], [_, "`x` is not known here"]), "{why:?}");
}

#[test]
fn calls_are_put_in_place_with_their_errors() {
    let out = same(&program(
        "var i: i32; var x: i32; var p: *i32; var on: [i32; 4]; var w: i32;
        for i in 0..6 {
            x = call square(i - 2);
            p = call picks(a, i);
            *p = x + diff(p, a) as i32;
            x = call perhaps(a, i);
            a[30 + i] = x;
            call noted(a);
            on[i] = i;
            on[i % 4] = on[i % 3] + 1;
            let w = i;
            call noted(&w);
            a[40 + i] = w;
        }",
    ));
    assert!(out.printed.starts_with("3\n1\n"), "{}", out.printed);
    assert!(
        out.skipped.iter().any(|s| s.why.contains("a function that returned nothing")),
        "{:?}",
        out.skipped
    );
}

#[test]
fn returns_leave_the_function_of_the_loop() {
    same(&program("var i: i32; for i in 0..9 { a[i] = i; if i == 4 { return; } } a[8] = 1;"));
}

/// A function on buffers of so many bytes, of which the host knows the first half of the second.
fn long(body: &str, bytes: usize) -> Outcome {
    let m = parse(&program(body)).unwrap_or_else(|d| panic!("{d:?}\n{body}"));
    let args = [0, 1, 2].map(|buffer| Arg::Pointer { buffer, offset: 0 });
    let run = |fast: bool| {
        let content = |b: usize| (0..bytes).map(|i| (i * (b + 3) % 61) as u8).collect::<Vec<u8>>();
        let mut memory = Memory::new((0..3).map(content).collect());
        let host = [0, 1, 2].into_iter().collect();
        memory.host = HostMemory { host, ..HostMemory::default() };
        memory
            .host
            .unknown
            .insert(1, (0..bytes).map(|i| i >= bytes / 2).collect::<Vec<_>>().into());
        if !fast {
            memory.take_ways();
        }
        let mut launcher = Tolerant::default();
        let limits = Limits { max_steps: 50_000_000, ..Limits::default() };
        let result = call(&m, FuncId(0), &args, &mut memory, &limits, &mut launcher);
        let unknown =
            (0..3).map(|b| (0..bytes).map(|i| !memory.host.knows(b, i, 1)).collect()).collect();
        let (buffers, printed) = (memory.buffers, memory.printed);
        (Outcome { result, buffers, unknown, printed, skipped: launcher.0 }, memory.steps)
    };
    let ((slow, steps), (fast, fewer)) = (run(false), run(true));
    assert!(slow == fast, "{body}: {:?} {:?}", slow.skipped.first(), fast.skipped.first());
    assert_ne!(steps, fewer, "nothing was translated: {body}");
    fast
}

#[test]
fn many_iterations_at_once() {
    let all = [
        // Counters, casts, elements beside each other; a part that nobody has set, and the end of the array.
        "for i in 0..1100 { a[i] = i * 3; d[i] = (i as f32) * 0.5f32 + 1.0f32; }",
        "for i in 0..1100 { b[i] = d[i] * 2.0f32; }",
        "for i in 0..1100 { d[i] = b[i]; }",
        "for i in 1000..>=0 by -1 { a[i] = i; }",
        "for i in 0..300 by 3 { a[i] = i; a[i + 1] = -(i); a[i + 2] = a[i]; }",
        // Sums in their order, of elements that everybody uses, too.
        "let s = 0.0f32; for i in 0..900 { s = s + d[i] * 0.1f32; } d[3] = s;",
        "for i in 0..900 { d[1000] = d[1000] + d[i] / 3.0f32; }",
        "for i in 0..900 { d[500] = d[500] + d[i] / 3.0f32; }",
        "for i in 0..900 { s = d[i]; if i > 0 { d[i] = t; } t = s; }",
        // States that go on.
        "let x = 12345u32; for i in 0..1000 { x = x * 1664525u32 + 1013904223u32; a[i] = (x >> 8u32) as i32; }",
        "for i in 0..1000 { a[0] = a[0] * 17 + 3; a[i] = a[0]; }",
        "for i in 1..1000 { a[i] = a[1000] + a[0]; a[0] = a[0] + 1; a[1000] = i; }",
        "let j = 0; let x = 1u32; let u = 2u32; for i in 0..1000 { let y = x; x = u; u = y + x; a[j] = y as i32; j = j + 1; }",
        // What iterations before have written, earlier in the array, later, and anywhere.
        "for i in 1..1000 { a[i] = a[i - 1] + a[i]; }",
        "for i in 0..1000 { a[i] = a[i + 1] + a[i]; }",
        "for i in 1000..>0 by -1 { a[i] = a[i - 1] + a[i]; }",
        "for i in 1000..>0 by -1 { a[i - 1] = a[i - 1] + a[i]; }",
        "for i in 0..1000 { a[a[i] & 255] = a[i] + i; }",
        "for i in 0..1000 { j = a[i] & 63; a[1024 + j] = a[1024 + j] + 1; }",
        "for i in 0..1000 { a[i * 7 % 1000] = i; a[i] = a[i] + a[i * 7 % 1000]; }",
        "for i in 0..500 { a[i] = a[i + 500]; a[i + 500] = a[i] + 2; }",
        "for i in 0..1000 { a[i] = i; a[i + 1] = 0 - i; }",
        // Branches that change, loops in loops, pointers, functions, local arrays.
        "for i in 0..1000 { if i % 100 < 50 { a[i] = 1; } else { d[i] = 2.0f32; } }",
        "for i in 0..1000 { if a[i] % 90 == 7 { break; } a[i] = a[i] / 2; }",
        "for i in 0..40 { for j in 0..40 { let s = 0.0f32; for k in 0..40 { s = s + d[i * 40 + k] * d[k * 40 + j]; } a[j] = a[j] + (s as i32); } }",
        "for i in 1..30 { for j in 0..40 { d[1200] = d[1200] + d[i * 40 + j] - d[i * 40 - j]; } }",
        "for i in 0..600 { for j in 0..3 { a[i] = a[i] + a[i * 2 + j]; } }",
        "let p = a; while diff(p, a) < 700i64 { *p = 5; p = &p[1]; }",
        "let p = a; let j = 0; while j < 3000 { *p = j; p = &p[1]; j = j + 1; }",
        "for i in 0..1000 { x2 = call square(i - 500); a[i] = x2; }",
        "for i in 0..1000 { on[i % 50] = i; on[7] = on[7] + on[i % 50]; } a[0] = on[7] + on[8];",
        "for i in 0..1000 { if i == 0 { z = 4; } a[i] = z; let z; }",
        "for i in 0..1000 { let z; if i < 700 { z = 1; } a[i] = z; }",
        "for i in 0..1000 { call noted(&on[3]); }",
        // Conditions at the very end of an iteration, behind which the next one begins.
        "let j = 0; let k = 0; while j < 500 { j = j + 1; if j % 2 == 1 { k = k + 1; } } a[0] = k;",
        "let j = 0; loop { j = j + 1; if j >= 27 { break; } } a[1] = j;",
        "let j = 0; loop { j = j + 1; a[j] = j; if j >= 28 { break; } }",
        "let j = 0; while j < 900 { j = j + 1; if a[j] > 300 { continue; } a[j] = 0; }",
    ];
    let vars = "var i: i32; var j: i32; var k: i32; var s: f32; var t: f32; var x: u32; var u: u32; var y: u32; var z: i32;
        var x2: i32; var p: *i32; var on: [i32; 64]; for i in 0..64 { on[i] = i; } ";
    for body in all {
        long(&format!("{vars}{body}"), 4800);
        long(&format!("{vars}for k in 0..3 {{ {} }}", body.replace("for k", "for i")), 4800);
    }
    long(&format!("{vars}{}", all.join(" ")), 12000);
}

/// Where a value is missing the loop goes on with the translation that asks, in the same registers, whatever the order in which
/// somebody lists them.
#[test]
fn both_translations_have_the_same_registers() {
    let body = "for k in 0..3 { for i in 0..40 { for j in 0..40 { let s = 0.0f32;
        for i in 0..40 { s = s + d[i * 40 + k] * d[k * 40 + j]; } a[j] = a[j] + (s as i32); } } }";
    for _ in 0..10 {
        long(&format!("var i: i32; var j: i32; var k: i32; var s: f32; {body}"), 4800);
    }
}

/// Which loops go in strips at all, and how much of each.
#[test]
fn strips_are_made_of_what_programs_are_full_of() {
    let done = |body: &str| {
        let before = super::strips::DONE.get();
        long(
            &format!(
                "var i: i32; var j: i32; var s: f32; var x: u32; let s = 0.0f32; let x = 1u32; {body}"
            ),
            4800,
        );
        super::strips::DONE.get() - before
    };
    let most = [
        "for i in 0..1000 { a[i] = i * 3; d[i] = (i as f32) * 0.5f32; }",
        "for i in 0..1000 { s = s + d[i] * 0.1f32; } d[3] = s;",
        "for i in 0..1000 { if abs(d[i] - 1.0f32) > 1000000.0f32 { a[0] = a[0] + 1; } }",
        "for i in 0..1000 { x = x * 1664525u32 + 1013904223u32; a[i] = x as i32; }",
        "for i in 0..1000 { d[1100] = d[1100] + d[i]; }",
        "for i in 0..1000 { a[i] = a[i + 1] + a[i]; }",
        "for i in 0..300 { for j in 0..4 { a[i * 4 + j] = i; } }",
    ];
    for body in most {
        assert!(done(body) > 200, "{body}: {}", done(body));
    }
    assert_eq!(done("for i in 1..1000 { a[i] = a[i - 1] + 1; }"), 0);
    assert_eq!(done("for i in 0..1000 { j = a[i] & 63; a[1024 + j] = a[1024 + j] + 1; }"), 0);
}

/// Loops of one statement whose subscripts are any: what iterations have from each other is found, or does not matter.
#[test]
fn any_subscripts_at_once() {
    let terms = ["i", "i + 1", "i + 256", "i * 2", "i * 3 % 257", "7", "600 - i", "a[i] & 511"];
    for to in terms {
        for from in terms {
            for more in ["a[9]", "a[i]", "i"] {
                let loops = "for i in 3..290 { a[TO] = a[FROM] * 3 + MORE; }";
                let body = loops.replace("TO", to).replace("FROM", from).replace("MORE", more);
                long(&format!("var i: i32; {body} {body}"), 4000);
            }
        }
    }
}

/// Memory comes from the interpreter either way, and of nonsense may be more than there is.
fn allocates(m: &Module) -> bool {
    let mut found = false;
    for f in &m.functions {
        for_each_stmt(&f.body, &mut |s| {
            found |= matches!(
                s.kind,
                StmtKind::Runtime(Runtime::Allocate { .. } | Runtime::AllocateHost { .. })
            );
        });
    }
    found
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn nonsense_fails_in_the_same_way(seed in proptest::prelude::any::<u64>()) {
        let m = crate::text::arbitrary::random_module(seed);
        let Some(f) = m.functions.first().filter(|_| !allocates(&m)) else { return Ok(()) };
        let args: Vec<Arg> = f.params.iter().map(|p| match &f.var(*p).ty {
            Type::Scalar(s) => Arg::Value(Value::int(*s, 3)),
            Type::Pointer { .. } => Arg::Pointer { buffer: 0, offset: 0 },
            ty => Arg::Bytes(vec![1; crate::layout::layout_of(&m, ty).size as usize]),
        }).collect();
        let (slow, _) = outcome(&m, &args, false);
        let stopped = |o: &Outcome| matches!(&o.result, Err(e) if matches!(e.kind, InterpErrorKind::StepLimit(_)));
        if !stopped(&slow) {
            let (fast, _) = outcome(&m, &args, true);
            proptest::prop_assert!(format!("{slow:?}") == format!("{fast:?}"), "{slow:#?}\n{fast:#?}");
        }
    }
}

/// A matrix product on arrays of which the host knows all; run with `--release --ignored --nocapture` to see both speeds.
#[test]
#[ignore = "measures"]
fn speed() {
    let n = 200usize;
    let text = "host fn main(a: *f32, b: *f32, c: *f32) { call f(a, b, c, 200); launch k grid(1u32, 1u32, 1u32) block(1u32, 1u32, 1u32) shared(0u64) args(); }
        host fn f(a: *f32, b: *f32, c: *f32, n: i32) { var i: i32; var j: i32; var k: i32; var s: f32;
            for i in 0..n { for j in 0..n { let s = 0.0f32; for k in 0..n { s = s + a[i * n + k] * b[k * n + j]; } c[i * n + j] = s; } } }
        kernel fn k() { }";
    let m = parse(text).unwrap();
    for fast in [false, true] {
        let mut memory = Memory::new(vec![vec![0; 4 * n * n]; 3]);
        memory.host.host = [0, 1, 2].into_iter().collect();
        for buffer in 0..3 {
            memory.host.unknown.insert(buffer, Unknown::none(4 * n * n));
        }
        if !fast {
            memory.take_ways();
        }
        let args = [0, 1, 2].map(|buffer| Arg::Pointer { buffer, offset: 0 });
        let start = std::time::Instant::now();
        let mut launcher = Tolerant::default();
        call(&m, FuncId(0), &args, &mut memory, &Limits::default(), &mut launcher).unwrap();
        let each = start.elapsed().as_secs_f64() / (n * n * n) as f64 * 1e9;
        println!("fast {fast}: {each:.1} ns an inner iteration, {:?}", launcher.0);
    }
}
