//! Every example, lowered and interpreted, computes what the host's C compiler makes of the same file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::interp::{self, Arg, Limits, Memory, NoLaunch};
use warpsmith_ir::{ExprKind, PlaceKind, Scalar, SourceMap, Type, Value, eval};

fn examples() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .expect("the examples' folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    files
}

fn lower(path: &Path) -> CInput {
    let text = std::fs::read(path).expect("the example");
    let mut sources = SourceMap::new();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let options = ParseOptions::new(Language::C);
    let fail = |list: Vec<warpsmith_ir::Diagnostic>, sources: &SourceMap| -> ! {
        let all: Vec<String> = list.iter().map(|d| d.render(sources, false)).collect();
        panic!("{}", all.join("\n"));
    };
    let parsed = match parse::parse(&name, &text, &options, &DiskLoader, &mut sources) {
        Ok(p) => p,
        Err(list) => fail(list, &sources),
    };
    match cloops::lower_c(&parsed.unit, None) {
        Ok(input) => input,
        Err(list) => fail(list, &sources),
    }
}

#[test]
fn all_examples_lower_to_verified_ir_that_round_trips() {
    for path in examples() {
        let input = lower(&path);
        let text = warpsmith_ir::text::print(&input.module);
        if let Err(list) = warpsmith_ir::verify::verify(&input.module) {
            panic!("{}: {list:#?}\n{text}", path.display());
        }
        let again = warpsmith_ir::text::parse(&text).expect("printed IR is read again");
        assert_eq!(warpsmith_ir::text::print(&again), text, "{}", path.display());
    }
}

#[test]
fn all_examples_state_sizes_and_extents() {
    for path in examples() {
        let input = lower(&path);
        assert!(!input.sizes.is_empty(), "{}: no default size", path.display());
        let missing = cloops::missing_extents(&input);
        assert!(missing.is_empty(), "{}: {missing:?}", path.display());
    }
}

/// The value of an integer parameter at a test: small, different for each, within what the examples need.
fn size_of(index: usize) -> i64 {
    [5, 7, 6][index % 3]
}

fn scalar_value(ty: Scalar, index: usize) -> Value {
    if ty.is_float() { Value::float(ty, 0.5) } else { Value::int(ty, size_of(index)) }
}

/// An extent at the test's sizes.
fn extent(e: &warpsmith_ir::Expr, values: &[(warpsmith_ir::VarId, Value)]) -> i64 {
    match &*e.kind {
        ExprKind::Const(v) => v.as_i64(),
        ExprKind::Read(p) => match &*p.kind {
            PlaceKind::Var(id) => {
                values.iter().find(|(v, _)| v == id).expect("a parameter").1.as_i64()
            }
            other => panic!("an extent reads {other:?}"),
        },
        ExprKind::Cast(inner) => extent(inner, values),
        ExprKind::Binary(op, a, b) => {
            let [a, b] = [a, b].map(|e| Value::int(Scalar::I64, extent(e, values)));
            eval::binary(*op, a, b).as_i64()
        }
        other => panic!("an extent is {other:?}"),
    }
}

/// Element `i` of an array: small numbers of both signs; never zero, so that quotients stay finite.
fn element(ty: Scalar, i: usize) -> Value {
    match ty {
        _ if ty.is_float() => Value::float(ty, ((i * 37 + 11) % 17) as f64 / 8.0 - 0.9375),
        Scalar::U8 => Value::int(ty, (i * 5 + i / 3).is_multiple_of(3).into()),
        _ => Value::int(ty, (i % 5) as i64),
    }
}

struct Parameter {
    name: String,
    scalar: Scalar,
    /// `None`: a value.
    length: Option<usize>,
    value: Value,
    readonly: bool,
}

fn parameters(input: &CInput) -> Vec<Parameter> {
    let f = input.module.function(input.function);
    let mut ints = 0;
    let mut values = vec![];
    for p in &f.params {
        if let Type::Scalar(s) = f.var(*p).ty {
            values.push((*p, scalar_value(s, ints)));
            ints += usize::from(s.is_integer());
        }
    }
    let value_of = |id| values.iter().find(|(v, _)| *v == id).map(|(_, v)| *v);
    f.params
        .iter()
        .map(|p| {
            let var = f.var(*p);
            let (scalar, length, readonly) = match &var.ty {
                Type::Scalar(s) => (*s, None, true),
                Type::Pointer { pointee, readonly, .. } => {
                    let shape = var.shape.as_ref().expect("extents");
                    let n: i64 = shape.iter().map(|e| extent(e, &values)).product();
                    (pointee.scalar().expect("a number"), Some(n as usize), *readonly)
                }
                other => panic!("parameter of type {other:?}"),
            };
            let value = value_of(*p).unwrap_or(Value::int(scalar, 0));
            Parameter { name: var.name.clone(), scalar, length, value, readonly }
        })
        .collect()
}

fn c_type(s: Scalar) -> &'static str {
    match s {
        Scalar::I8 => "signed char",
        Scalar::U8 => "unsigned char",
        Scalar::I32 => "int",
        Scalar::U32 => "unsigned",
        Scalar::I64 => "long",
        Scalar::U64 => "unsigned long",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        other => panic!("no C type for {other}"),
    }
}

/// A C literal with exactly this value.
fn literal(v: Value) -> String {
    if v.ty.is_float() {
        format!("({})({:?})", c_type(v.ty), v.as_f64())
    } else {
        format!("({})({})", c_type(v.ty), v.as_i64())
    }
}

/// A program that calls the function and prints the bytes of everything it may have written.
fn driver(file: &Path, input: &CInput, parameters: &[Parameter]) -> String {
    let f = input.module.function(input.function);
    let mut out =
        format!("#include <stdio.h>\n#include \"{}\"\nint main(void) {{\n", file.display());
    for (i, p) in parameters.iter().enumerate() {
        let ty = c_type(p.scalar);
        match p.length {
            Some(n) => {
                let values: Vec<String> = (0..n).map(|k| literal(initial(p, i, k))).collect();
                writeln!(out, "static {ty} arg{i}[] = {{{}}};", values.join(",")).unwrap();
            }
            None => writeln!(out, "{ty} arg{i} = {};", literal(p.value)).unwrap(),
        }
    }
    let args: Vec<String> = parameters
        .iter()
        .enumerate()
        // Arrays of several dimensions are handed over as untyped memory.
        .map(
            |(i, p)| if p.length.is_some() { format!("(void *)arg{i}") } else { format!("arg{i}") },
        )
        .collect();
    let call = format!("{}({})", input.name, args.join(", "));
    match f.ret {
        Type::Scalar(s) => writeln!(
            out,
            "{} result = {call}; for (unsigned b = 0; b < sizeof result; b++) printf(\"%02x\", ((unsigned char *)&result)[b]); puts(\"\");",
            c_type(s)
        ),
        _ => writeln!(out, "{call};"),
    }
    .unwrap();
    for (i, _) in parameters.iter().enumerate().filter(|(_, p)| p.length.is_some()) {
        writeln!(out, "for (unsigned b = 0; b < sizeof arg{i}; b++) printf(\"%02x\", ((unsigned char *)arg{i})[b]); puts(\"\");").unwrap();
    }
    out.push_str("return 0;\n}\n");
    out
}

/// Element `k` of argument `i`. The row starts of a sparse matrix must rise, its columns lie inside the vector.
fn initial(p: &Parameter, i: usize, k: usize) -> Value {
    match p.name.as_str() {
        "start" => Value::int(p.scalar, (k + k / 4).min(6) as i64),
        _ => element(p.scalar, k + i),
    }
}

fn run_c(file: &Path, source: &str, dir: &Path) -> String {
    let stem = file.file_stem().unwrap().to_string_lossy();
    let (main, program) = (dir.join(format!("{stem}.c")), dir.join(stem.as_ref()));
    std::fs::write(&main, source).expect("the driver");
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(&cc)
        .args(["-std=c99", "-O1", "-ffp-contract=off", "-o"])
        .arg(&program)
        .arg(&main)
        .arg("-lm")
        .output()
        .expect("a C compiler");
    assert!(
        status.status.success(),
        "{}: {}",
        file.display(),
        String::from_utf8_lossy(&status.stderr)
    );
    let run = Command::new(&program).output().expect("the program");
    assert!(run.status.success(), "{} failed", file.display());
    String::from_utf8(run.stdout).expect("hexadecimal digits")
}

fn to_bytes(v: Value) -> impl Iterator<Item = u8> {
    v.bits.to_le_bytes().into_iter().take(v.ty.bytes() as usize)
}

fn run_interpreter(input: &CInput, parameters: &[Parameter]) -> Vec<(Scalar, Vec<u8>)> {
    let mut buffers = vec![];
    let mut args = vec![];
    for (i, p) in parameters.iter().enumerate() {
        match p.length {
            Some(n) => {
                args.push(Arg::Pointer { buffer: buffers.len(), offset: 0 });
                buffers.push((0..n).flat_map(|k| to_bytes(initial(p, i, k))).collect());
            }
            None => args.push(Arg::Value(p.value)),
        }
    }
    let mut memory = Memory::new(buffers);
    let result = interp::call(
        &input.module,
        input.function,
        &args,
        &mut memory,
        &Limits::default(),
        &mut NoLaunch,
    );
    let result = match result {
        Ok(r) => r,
        Err(e) => panic!("{}: {e:?}\n{}", input.name, warpsmith_ir::text::print(&input.module)),
    };
    let mut all: Vec<(Scalar, Vec<u8>)> =
        result.into_iter().map(|v| (v.ty, to_bytes(v).collect())).collect();
    let arrays = parameters.iter().filter(|p| p.length.is_some());
    all.extend(arrays.zip(memory.buffers).map(|(p, b)| (p.scalar, b)));
    all
}

fn from_hex(line: &str) -> Vec<u8> {
    (0..line.len() / 2)
        .map(|i| u8::from_str_radix(&line[2 * i..2 * i + 2], 16).expect("digits"))
        .collect()
}

/// Values of one array: equal bits, or within a few units in the last place for results of math functions, which the
/// C library and the interpreter may round differently.
fn same(ty: Scalar, a: &[u8], b: &[u8]) -> bool {
    let width = ty.bytes() as usize;
    let value = |bytes: &[u8]| {
        let mut full = [0; 8];
        full[..width].copy_from_slice(bytes);
        Value { ty, bits: u64::from_le_bytes(full) }.as_f64()
    };
    let unit = if ty == Scalar::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    a.len() == b.len()
        && a.chunks(width).zip(b.chunks(width)).all(|(x, y)| {
            let (p, q) = (value(x), value(y));
            x == y
                || (p.is_nan() && q.is_nan())
                || (ty.is_float() && (p - q).abs() <= 8.0 * unit * p.abs().max(q.abs()))
        })
}

#[test]
fn the_interpreter_agrees_with_the_c_compiler() {
    let dir = tempdir();
    for path in examples() {
        let input = lower(&path);
        let parameters = parameters(&input);
        assert!(
            parameters.iter().any(|p| !p.readonly)
                || input.module.function(input.function).ret != Type::Void
        );
        let path = path.canonicalize().expect("an absolute path");
        let expected = run_c(&path, &driver(&path, &input, &parameters), &dir);
        let got = run_interpreter(&input, &parameters);
        assert_eq!(expected.lines().count(), got.len(), "{}", path.display());
        for (line, (ty, bytes)) in expected.lines().zip(&got) {
            let expected = from_hex(line);
            assert!(
                same(*ty, &expected, bytes),
                "{}: {expected:?} from C, {bytes:?} here",
                path.display()
            );
        }
    }
    std::fs::remove_dir_all(&dir).expect("the folder can be removed");
}

fn tempdir() -> PathBuf {
    let dir = std::env::temp_dir().join(format!("warpsmith-examples-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary folder");
    dir
}
