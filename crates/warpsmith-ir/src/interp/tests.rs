//! Tests of the interpreter, on programs in text form.

use super::*;
use crate::text::parse;
use crate::types::Type;

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn as_floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|c| f32::from_le_bytes(*c)).collect()
}

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|d| panic!("{d:?}"))
}

/// Calls the first function of the text.
fn run_with(
    text: &str,
    args: &[Arg],
    memory: &mut Memory,
    limits: &Limits,
) -> Result<Option<Value>, InterpError> {
    call(&module(text), FuncId(0), args, memory, limits, &mut NoLaunch)
}

fn run(text: &str, args: &[Arg], memory: &mut Memory) -> Result<Option<Value>, InterpError> {
    run_with(text, args, memory, &Limits::default())
}

fn i32(x: i32) -> Arg {
    Arg::Value(Value::i32(x))
}

fn at(buffer: usize) -> Arg {
    Arg::Pointer { buffer, offset: 0 }
}

fn fault(text: &str, args: &[Arg], memory: &mut Memory) -> InterpErrorKind {
    run(text, args, memory).expect_err("must fail").kind
}

const PRODUCT: &str = "host fn gemm(n: i32, a: *const f32 shape [n, n], b: *const f32, c: *f32) {
    var i: i32; var j: i32; var k: i32; var s: f32;
    parallel(group '0) for i in 0..n {
        parallel(group '0) for j in 0..n {
            let s = 0.0f32;
            for k in 0..n { s = s + a[i, k; n] * b[k, j; n]; }
            c[i * n + j] = s;
        }
    }
}";

#[test]
fn a_matrix_product() {
    let a = [1.0, 2.0, 3.0, 4.0];
    let mut memory =
        Memory::new(vec![floats(&a), floats(&[5.0, 6.0, 7.0, 8.0]), floats(&[0.0; 4])]);
    let args = [i32(2), at(0), at(1), at(2)];
    assert_eq!(run(PRODUCT, &args, &mut memory), Ok(None));
    assert_eq!(as_floats(&memory.buffers[2]), [19.0, 22.0, 43.0, 50.0]);
}

#[test]
fn bounds_count_terms_and_sum_magnitudes() {
    let limits = Limits { track_bounds: true, ..Limits::default() };
    let a = [1.0, -2.0, 3.0, 4.0];
    let mut memory =
        Memory::new(vec![floats(&a), floats(&[5.0, 6.0, 7.0, 8.0]), floats(&[0.0; 4])]);
    run_with(PRODUCT, &[i32(2), at(0), at(1), at(2)], &mut memory, &limits).unwrap();
    // 0 + 1*5 + -2*7: magnitude 5 + 14, three terms with the zero.
    assert_eq!(
        memory.bound(2, 0, Scalar::F32),
        Some(Bound { magnitude: 19.0, terms: 3, factors: 2, slack: 0.0 })
    );
    assert_eq!(
        memory.bound(0, 4, Scalar::F32),
        Some(Bound { magnitude: 2.0, terms: 1, factors: 1, slack: 0.0 })
    );
    assert_eq!(memory.bound(2, 16, Scalar::F32), None);
    let text = "host fn f(x: f32) -> f32 { return exp(x) / 2.0f32; }";
    let x = Arg::Value(Value::float(Scalar::F32, 3.0));
    run_with(text, &[x], &mut memory, &limits).unwrap();
    let bound = memory.result_bound.unwrap();
    let e = 3f64.exp();
    // exp's own error, x's relative error times 3, and the division's.
    assert!(bound.magnitude > 2.0 * e && bound.magnitude < 3.0 * e, "{bound:?}");
    assert_eq!(bound.terms, 3);
}

#[test]
fn bounds_cover_reassociation() {
    // Summing from the smallest to the largest must stay inside the bound of summing in order.
    let values: Vec<f32> = (0..1000).map(|i| (i as f32).sin() * (1.0 + i as f32)).collect();
    let text = "host fn sum(n: i32, x: *f32) -> f32 {
        var i: i32; var s: f32;
        let s = 0.0f32;
        for i in 0..n { s = s + x[i]; }
        return s;
    }";
    let limits = Limits { track_bounds: true, ..Limits::default() };
    let mut memory = Memory::new(vec![floats(&values)]);
    let got = run_with(text, &[i32(1000), at(0)], &mut memory, &limits).unwrap().unwrap();
    let mut sorted = values.clone();
    sorted.sort_by(f32::total_cmp);
    let reordered = sorted.iter().fold(0f32, |s, x| s + x);
    let bound = memory.result_bound.unwrap();
    let difference = (got.as_f64() - f64::from(reordered)).abs();
    let allowed = 4.0 * bound.length() as f64 * 2f64.powi(-24) * bound.magnitude;
    assert!(difference > 0.0 && difference <= allowed, "{difference} {allowed}");
}

#[test]
fn bounds_cover_products_in_another_order() {
    // Factors that are inputs, and factors that are sums themselves.
    let values: Vec<f32> = (0..1000).map(|i| 1.0 + 0.01 * (i as f32).sin()).collect();
    for (factor, least) in [("x[i]", 1000), ("(x[i] + 0.001f32)", 2000)] {
        let text = format!(
            "host fn product(n: i32, x: *f32) -> f32 {{
                var i: i32; var p: f32;
                let p = 1.0f32;
                for i in 0..n {{ p = p * {factor}; }}
                return p;
            }}"
        );
        let limits = Limits { track_bounds: true, ..Limits::default() };
        let mut memory = Memory::new(vec![floats(&values)]);
        let got = run_with(&text, &[i32(1000), at(0)], &mut memory, &limits).unwrap().unwrap();
        let own = |x: f32| if least == 1000 { x } else { x + 0.001 };
        let reordered = values.iter().rev().fold(1f32, |p, x| p * own(*x));
        let bound = memory.result_bound.unwrap();
        assert!((least - 1..=least + 2).contains(&bound.length()), "{bound:?}");
        let difference = (got.as_f64() - f64::from(reordered)).abs();
        let unit = 2f64.powi(-24) * bound.magnitude;
        // A few roundings, as of a sum of two terms, would not explain it.
        assert!(least > 1000 || difference > 8.0 * unit, "{difference} {unit}");
        assert!(difference <= 4.0 * bound.length() as f64 * unit, "{difference} {unit}");
    }
}

#[test]
fn faults_say_what_and_where() {
    let text = "host fn f(p: *f32, i: i32) { p[i] = 1.0f32; }";
    let mut memory = Memory::new(vec![floats(&[0.0; 4])]);
    let error = run(text, &[at(0), i32(4)], &mut memory).unwrap_err();
    let span = error.span.unwrap();
    assert_eq!(&text[span.start as usize..span.end as usize], "p[i]");
    let kind = InterpErrorKind::OutOfBounds {
        object: "buffer 0".into(),
        buffer: Some(0),
        offset: 16,
        bytes: 4,
        size: 16,
    };
    assert_eq!(error.kind, kind);
    let mut sources = crate::SourceMap::new();
    sources.add("f.ir", text);
    let shown = error.to_diagnostic().render(&sources, false);
    assert!(shown.contains("^^^^ while running this"), "{shown}");
    assert!(
        error
            .to_string()
            .contains("access of 4 bytes at offset 16 of buffer 0, which has 16 bytes")
    );
    assert!(matches!(
        fault(text, &[at(0), i32(-1)], &mut memory),
        InterpErrorKind::OutOfBounds { offset: -4, .. }
    ));
    assert_eq!(fault(text, &[Arg::Null, i32(0)], &mut memory), InterpErrorKind::NullPointer);
    assert!(matches!(fault(text, &[at(1), i32(0)], &mut memory), InterpErrorKind::BadCall(_)));
    let text = "host fn f() -> i32 { var a: [[i32; 4]; 2]; a[0][3] = 1; return a[0][4]; }";
    assert!(matches!(fault(text, &[], &mut memory), InterpErrorKind::OutOfBounds { size: 16, .. }));
}

#[test]
fn reads_of_unset_variables_are_found() {
    let mut memory = Memory::default();
    let text = "host fn f() -> i32 { var x: i32; let x; return x; }";
    assert_eq!(fault(text, &[], &mut memory), InterpErrorKind::Uninitialized("`x`".into()));
    let text = "host fn f() -> i32 { var a: [i32; 2]; a[0] = 1; return a[1]; }";
    assert_eq!(fault(text, &[], &mut memory), InterpErrorKind::Uninitialized("`a`".into()));
    // Carrying poison is fine.
    let text = "struct s { a: i32, b: i32 } host fn f() -> i32 { var p: s; var q: s; p.a = 4; q = p; return q.a; }";
    assert_eq!(run(text, &[], &mut memory), Ok(Some(Value::i32(4))));
    let text = "static constant c: i32; host fn f() -> i32 { return @c; }";
    assert!(matches!(fault(text, &[], &mut memory), InterpErrorKind::Uninitialized(_)));
    let text = "static global c: i32; host fn f() -> i32 { return @c; }";
    assert_eq!(run(text, &[], &mut memory), Ok(Some(Value::i32(0))));
}

#[test]
fn loops_of_every_kind() {
    let text = "host fn f(n: i32) -> i32 {
        var i: i32; var s: i32;
        let s = 0;
        for i in 0..n { if i == 2 { continue; } if i == 5 { break; } s = s * 10 + i; }
        for outer i in n..>=0 by -3 { s = s + 1; }
        s = s * 100 - i;
        while i < 0 { i = i + 1; continue; } step { s = s + 1000; }
        do { s = s + 5; break; } while true;
        for i in 0..!=6 by 2 { s = s + 1; }
        return s;
    }";
    // 0,1,3,4 -> 134; then 10,7,4,1 -> +4 and i = -2: 13802; two steps; 5; 3.
    assert_eq!(run(text, &[i32(10)], &mut Memory::default()), Ok(Some(Value::i32(15810))));
}

#[test]
fn switches_fall_through() {
    let text = "host fn f(x: i32) -> i32 {
        var s: i32;
        let s = 0;
        switch x {
            case 1 { s = s + 1; }
            case 2, 3 { s = s + 10; break; }
            case default { s = s + 100; }
            case 7 { s = s + 1000; }
        }
        return s;
    }";
    for (x, expected) in [(1, 11), (2, 10), (3, 10), (7, 1000), (9, 1100)] {
        assert_eq!(
            run(text, &[i32(x)], &mut Memory::default()),
            Ok(Some(Value::i32(expected))),
            "{x}"
        );
    }
}

#[test]
fn clauses_keep_their_serial_meaning() {
    let text = "host fn f(n: i32) -> i32 {
        var i: i32; var a: i32; var b: i32; var c: i32; var s: i32;
        a = 7; b = 5; s = 0;
        parallel(reduce + s, private a, firstprivate b, lastprivate c) for i in 0..n {
            a = i; b = b + i; c = b; s = s + c;
        }
        return s * 1000 + a * 100 + b * 10 + c;
    }";
    // c = 5, 6, 7; afterwards a and b are as before.
    assert_eq!(run(text, &[i32(3)], &mut Memory::default()), Ok(Some(Value::i32(18000 + 757))));
    let text = "host fn f() -> i32 { var i: i32; var a: i32; a = 7; parallel(private a) for i in 0..2 { a = a + 1; } return a; }";
    assert!(matches!(fault(text, &[], &mut Memory::default()), InterpErrorKind::Uninitialized(_)));
}

#[test]
fn references_structs_vectors_and_calls() {
    let text = "
        struct pair { a: f32, v: f32x4 }
        host fn main(x: f32) -> f32 {
            var p: pair; var q: *local pair; var r: f32; var t: f32;
            p.a = x;
            p.v = make f32x4 { 1.0f32, 2.0f32, 3.0f32, 4.0f32 };
            q = &p;
            (*q).v.z = 30.0f32;
            r = 0.0f32;
            t = call twice(&r, p);
            return t + r + member(p.v, w) + (bitcast<i32>(1.0f32) >> 23) as f32;
        }
        device fn twice(ref out: *local f32, p: pair) -> f32 {
            p.a = p.a * 2.0f32;
            *out = p.v.z;
            return p.a;
        }";
    let x = Arg::Value(Value::float(Scalar::F32, 8.0));
    let got = run(text, &[x], &mut Memory::default()).unwrap().unwrap();
    assert_eq!(got.as_f64(), 16.0 + 30.0 + 4.0 + 127.0);
}

#[test]
fn pointers_can_be_stored_and_compared() {
    let text = "host fn f(p: *i32, table: **i32) -> i32 {
        var q: *i32;
        table[1] = offset(p, 2);
        q = table[1];
        *q = 9;
        return diff(q, p) as i32 + (q > p) as i32 * 10 + (p == 0u64 as *i32) as i32 * 100 + *(((p as u64) + 8u64) as *i32);
    }";
    let mut memory = Memory::new(vec![vec![0; 16], vec![0; 16]]);
    assert_eq!(run(text, &[at(0), at(1)], &mut memory), Ok(Some(Value::i32(21))));
    assert_eq!(memory.buffers[0][8], 9);
}

#[test]
fn limits_and_messages() {
    let limits = Limits { max_steps: 1000, ..Limits::default() };
    let text = "host fn f() { loop { } }";
    let error = run_with(text, &[], &mut Memory::default(), &limits).unwrap_err();
    assert_eq!(error.kind, InterpErrorKind::StepLimit(1000));
    let text = "host fn f() { var i: u32; for i in 3u32..>=0u32 by 4294967295u32 { } }";
    let error = run_with(text, &[], &mut Memory::default(), &limits).unwrap_err();
    assert_eq!(error.kind, InterpErrorKind::StepLimit(1000));
    let text = "host fn f() { var a: [f64; 100000000000]; a[0] = 1.0; }";
    assert!(matches!(fault(text, &[], &mut Memory::default()), InterpErrorKind::MemoryLimit(_)));
    let text = "host fn f() { call f(); }";
    assert!(matches!(fault(text, &[], &mut Memory::default()), InterpErrorKind::Unsupported(_)));
    let text = "host fn f(x: i32) { printf(\"x = %d\\n\", x); assert(x < 3, \"x < 3\"); assume(x < 2, \"x < 2\"); trap; }";
    let mut memory = Memory::default();
    assert_eq!(fault(text, &[i32(5)], &mut memory), InterpErrorKind::AssertFailed("x < 3".into()));
    assert_eq!(fault(text, &[i32(2)], &mut memory), InterpErrorKind::AssumeFailed("x < 2".into()));
    assert_eq!(fault(text, &[i32(1)], &mut memory), InterpErrorKind::Trap);
    assert_eq!(memory.printed, "x = 5\nx = 2\nx = 1\n");
}

#[test]
fn atomics_run_serially() {
    let text = "device fn f(p: *u32) -> u32 {
        var a: u32; var b: u32;
        a = atomic add device(p, 5u32);
        b = atomic cas device(p, 7u32, 15u32);
        atomic max block(p, 3u32);
        a = atomic inc device(p, 100u32);
        return a * 100u32 + b;
    }";
    let mut memory = Memory::new(vec![vec![10, 0, 0, 0]]);
    let got = run(text, &[at(0)], &mut memory).unwrap().unwrap();
    // After the add 15; the exchange takes place: 7; max keeps it; inc gives 8.
    assert_eq!(got.as_i64(), 715);
    assert_eq!(memory.buffers[0][0], 8);
}

/// Adds 1 to each byte of the first argument, and keeps the request.
struct Recorder(Vec<LaunchRequest>);

impl Launcher for Recorder {
    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        if let Some(Arg::Pointer { buffer, .. }) = request.args.first() {
            memory.buffers[*buffer].iter_mut().for_each(|b| *b += 1);
        }
        self.0.push(request);
        Ok(())
    }
}

#[test]
fn launches_go_to_the_launcher() {
    let text = "host fn f(n: i32, p: *u8) -> i32 {
        launch k grid((n as u32 + 31u32) / 32u32, 1u32, 2u32) block(32u32, 1u32, 1u32) shared(64u64) args(offset(p, 1), n, 0u64 as *u8);
        return p[0] as i32;
    }
    kernel fn k(p: *u8, n: i32, q: *u8) { }";
    let m = module(text);
    let mut memory = Memory::new(vec![vec![1, 2]]);
    let mut recorder = Recorder(vec![]);
    let limits = Limits::default();
    let got = call(&m, FuncId(0), &[i32(33), at(0)], &mut memory, &limits, &mut recorder);
    assert_eq!(got, Ok(Some(Value::i32(2))));
    let request = LaunchRequest {
        kernel: FuncId(1),
        grid: [2, 1, 2],
        block: [32, 1, 1],
        shared: 64,
        cluster: None,
        args: vec![Arg::Pointer { buffer: 0, offset: 1 }, i32(33), Arg::Null],
    };
    assert_eq!(recorder.0, [request]);
    let refused = call(&m, FuncId(0), &[i32(33), at(0)], &mut memory, &limits, &mut NoLaunch);
    assert!(matches!(refused.unwrap_err().kind, InterpErrorKind::Launch(_)));
    let kernel = call(&m, FuncId(1), &[], &mut memory, &limits, &mut NoLaunch);
    assert!(matches!(kernel.unwrap_err().kind, InterpErrorKind::BadCall(_)));
}

#[test]
fn what_only_threads_can_do_is_refused() {
    for stmt in [
        "x = threadIdx.x;",
        "barrier block;",
        "x = warp ballot(1u32; true);",
        "async_copy(&x, &x, 4u64);",
    ] {
        let text = format!("device fn f() {{ var x: u32; {stmt} }}");
        let kind = fault(&text, &[], &mut Memory::default());
        assert!(matches!(kind, InterpErrorKind::Unsupported(_)), "{stmt}: {kind:?}");
    }
}

/// A GPU with little memory.
struct Small;

impl Launcher for Small {
    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        NoLaunch.launch(memory, request)
    }

    fn most_bytes(&self) -> Option<u64> {
        Some(1 << 20)
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn nonsense_is_an_error_not_a_panic(seed in proptest::prelude::any::<u64>()) {
        let m = crate::text::arbitrary::random_module(seed);
        let limits = Limits { max_steps: 2000, track_bounds: seed % 2 == 0, max_local_bytes: 1 << 20, ..Limits::default() };
        for (i, f) in m.functions.iter().enumerate() {
            let args: Vec<Arg> = f.params.iter().map(|p| match &f.var(*p).ty {
                Type::Scalar(s) => Arg::Value(Value::int(*s, 3)),
                Type::Pointer { .. } => at(0),
                ty => Arg::Bytes(vec![1; crate::layout::layout_of(&m, ty).size as usize]),
            }).collect();
            let mut memory = Memory::new(vec![vec![1; 64]]);
            let _ = call(&m, FuncId(i as u32), &args, &mut memory, &limits, &mut Small);
        }
        // The verifier must survive it, too; it almost never likes what it sees.
        let _ = crate::verify::verify(&m);
    }
}

/// A matrix product of a few million steps; run with `--ignored --nocapture` to see its speed.
#[test]
#[ignore = "measures"]
fn speed() {
    let n = 200;
    let m = module(PRODUCT);
    for track_bounds in [false, true] {
        let zeros = floats(&vec![1.0; n * n]);
        let mut memory = Memory::new(vec![zeros.clone(), zeros.clone(), zeros]);
        let args = [i32(n as i32), at(0), at(1), at(2)];
        let limits = Limits { track_bounds, ..Limits::default() };
        let start = std::time::Instant::now();
        call(&m, FuncId(0), &args, &mut memory, &limits, &mut NoLaunch).unwrap();
        let each = start.elapsed().as_secs_f64() / (n * n * n) as f64 * 1e9;
        println!("bounds {track_bounds}: {each:.0} ns an inner iteration");
    }
}

struct Variables(Vec<(u32, Vec<u8>)>);

impl Launcher for Variables {
    fn launch(&mut self, _: &mut Memory, _: LaunchRequest) -> Result<(), String> {
        Err("no kernels here".into())
    }

    fn copy_to_global(&mut self, global: crate::GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        self.0.push((global.0, bytes));
        Ok(())
    }
}

#[test]
fn variables_of_the_device_are_filled_from_memory() {
    let text = "static constant c: [i32; 2];
host fn f(p: *i32) { copy_to_global(@c, offset(p, 1)); }";
    let m = module(&crate::text::print(&module(text)));
    let run = |ints: usize, launcher: &mut dyn Launcher| {
        let bytes: Vec<u8> = (0..ints as u32).flat_map(|k| k.to_le_bytes()).collect();
        let mut memory = Memory::new(vec![bytes]);
        let args = [Arg::Pointer { buffer: 0, offset: 0 }];
        call(&m, FuncId(0), &args, &mut memory, &Limits::default(), launcher)
    };
    let mut variables = Variables(vec![]);
    run(3, &mut variables).unwrap();
    assert_eq!(variables.0, [(0, vec![1, 0, 0, 0, 2, 0, 0, 0])]);
    let short = run(2, &mut Variables(vec![])).unwrap_err().to_string();
    assert!(short.contains("past the end"), "{short}");
    assert!(run(3, &mut NoLaunch).unwrap_err().to_string().contains("cannot be filled"));
}
