//! What is printed is read again: printing that gives the same text, and the reference functions the
//! same values.

mod build;

use std::path::{Path, PathBuf};

use warpsmith_front::cloops::{CInput, lower_c};
use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_front::sema::{KernelSelection, Request, lower_cuda};
use warpsmith_ir::interp::{Arg, Limits, Memory, NoLaunch, call};
use warpsmith_ir::{Diagnostic, FuncId, Module, Scalar, SourceMap, Type, Value, Var};

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

fn said(errors: &[Diagnostic], sources: &SourceMap) -> String {
    errors.iter().map(|e| e.render(sources, false) + "\n").collect()
}

/// Lowers CUDA text: all kernels, and the host functions of the given names.
fn read_cuda(name: &str, text: &str, host: &[&str]) -> Result<Module, String> {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let unit = parse(name, text.as_bytes(), &options, &DiskLoader, &mut sources);
    let unit = unit.map_err(|e| said(&e, &sources))?;
    let request = Request {
        kernels: KernelSelection::All,
        host_functions: host.iter().map(|s| s.to_string()).collect(),
    };
    let lowered = lower_cuda(&unit.unit, &request).map_err(|e| said(&e, &sources))?;
    Ok(lowered.module)
}

fn read_c(path: &Path) -> Result<CInput, String> {
    let mut sources = SourceMap::new();
    let text = std::fs::read(path).unwrap();
    let options = ParseOptions::new(Language::C);
    let unit = parse(&path.to_string_lossy(), &text, &options, &DiskLoader, &mut sources);
    let unit = unit.map_err(|e| said(&e, &sources))?;
    lower_c(&unit.unit, None).map_err(|e| said(&e, &sources))
}

fn narrow(text: &str) -> Result<(), String> {
    match text.lines().find(|l| l.chars().count() > 100) {
        Some(line) => Err(format!("a line over 100 columns: {}\n{text}", line.trim())),
        None => Ok(()),
    }
}

/// Runs `check` on every file and reports all failures at once.
fn for_all(files: Vec<PathBuf>, least: usize, check: impl Fn(&Path) -> Result<(), String>) {
    assert!(files.len() >= least, "only {} files", files.len());
    let failures: Vec<String> = files
        .iter()
        .filter_map(|p| check(p).err().map(|e| format!("{}: {e}", p.display())))
        .collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

const NEVER_PRINTED: [&str; 3] =
    ["a barrier whose number is not constant", "`map_shared`", "`shared_rank`"];

#[test]
fn printed_kernels_are_read_again_as_what_they_were() {
    let with_kernels = std::cell::Cell::new(0);
    for_all(files("tests/corpus/correct", "cu"), 40, |path| {
        let source = std::fs::read_to_string(path).unwrap();
        let module = read_cuda(&path.to_string_lossy(), &source, &[])?;
        if module.functions.is_empty() {
            // Templates only: nothing was asked to be instantiated.
            return Ok(());
        }
        with_kernels.set(with_kernels.get() + 1);
        let once = match printed(&module) {
            // Nothing that is printed has such a barrier, or asks for shared memory of other blocks.
            Err(e) if NEVER_PRINTED.iter().any(|what| e.contains(what)) => return Ok(()),
            once => once?,
        };
        build::keep("sm_90", &once);
        narrow(&once)?;
        // What reading simplifies, the second print shows; the third has nothing to add.
        let twice = printed(&read_cuda("printed.cu", &once, &[]).map_err(|e| e + &once)?)?;
        let thrice = printed(&read_cuda("printed.cu", &twice, &[]).map_err(|e| e + &twice)?)?;
        let (once, twice, thrice) =
            (one_spelling(&once), one_spelling(&twice), one_spelling(&thrice));
        if once != twice && twice != thrice { Err(difference(&once, &twice)) } else { Ok(()) }
    });
    assert!(with_kernels.get() > 50, "{}", with_kernels.get());
}

#[test]
fn shared_memory_of_the_file_stays_one_for_all_functions() {
    let source = "__shared__ float slot[32];
        __device__ void put(float v) { slot[threadIdx.x] = v; }
        __global__ void turn(float *a) {
            put(a[threadIdx.x]);
            __syncthreads();
            a[threadIdx.x] = slot[31 - threadIdx.x];
        }";
    let text = printed(&read_cuda("turn.cu", source, &[]).unwrap()).unwrap();
    assert_eq!(text.matches("__shared__").count(), 1, "{text}");
    assert!(text.starts_with("__shared__ float slot[32];\n\n"), "{text}");
}

fn printed(module: &Module) -> Result<String, String> {
    warpsmith_emit::module_file(module).map_err(|e| e.to_string())
}

/// The words around the first difference.
fn difference(a: &str, b: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split(' ').collect(), b.split(' ').collect());
    let at = a.iter().zip(&b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
    let around = |s: &[&str]| s[at.saturating_sub(4)..s.len().min(at + 12)].join(" ");
    format!("\n- {}\n+ {}", around(&a), around(&b))
}

#[test]
fn printed_references_compute_what_the_originals_do() {
    for_all(files("examples", "c"), 30, |path| {
        let input = read_c(path)?;
        let printed = warpsmith_emit::reference_file(&input.module, input.function);
        let printed = printed.map_err(|e| e.to_string())?;
        build::keep("sm_75", &printed);
        narrow(&printed)?;
        if printed.contains("__constant__") {
            return Err(format!("the processor cannot read the device's memory\n{printed}"));
        }
        let again = read_cuda("printed.cu", &printed, &[&input.name])
            .map_err(|e| format!("{e}{printed}"))?;
        let id = again.find_function(&input.name).ok_or("the function is gone")?;
        let twice = warpsmith_emit::reference_file(&again, id).map_err(|e| e.to_string())?;
        if one_spelling(&printed) != one_spelling(&twice) {
            // What reading simplifies, the second print shows; the third has nothing to add.
            let read = read_cuda("printed.cu", &twice, &[&input.name]).map_err(|e| e + &twice)?;
            let id = read.find_function(&input.name).ok_or("the function is gone")?;
            let thrice = warpsmith_emit::reference_file(&read, id).map_err(|e| e.to_string())?;
            if one_spelling(&twice) != one_spelling(&thrice) {
                return Err(difference(&one_spelling(&printed), &one_spelling(&twice)));
            }
        }
        let expected = run(&input.module, input.function, &input)?;
        let got = run(&again, id, &input).map_err(|e| format!("{e}\n{printed}"))?;
        if expected != got { Err(format!("other values\n{printed}")) } else { Ok(()) }
    });
}

/// Without layout; `size_t` is one of the names of a 64-bit type, and is declared in a header.
fn one_spelling(text: &str) -> String {
    let text = text.replace("(unsigned long long)", "(size_t)").replace("#include <stddef.h>", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All memory after a run at a small size, and what the function returned.
fn run(
    module: &Module,
    function: FuncId,
    input: &CInput,
) -> Result<(Vec<Vec<u8>>, Option<Value>), String> {
    // Shapes are those of the original: the printed function has none.
    let original = input.module.function(input.function);
    let mut args = vec![];
    let mut buffers = vec![];
    for (i, id) in original.params.iter().enumerate() {
        let v = original.var(*id);
        args.push(match v.ty.scalar() {
            Some(s) if s.is_float() => Arg::Value(Value::float(s, 0.625)),
            Some(s) => Arg::Value(Value::int(s, 6 + i as i64)),
            None => {
                buffers.push(contents(v, buffers.len()));
                Arg::Pointer { buffer: buffers.len() - 1, offset: 0 }
            }
        });
    }
    let mut memory = Memory::new(buffers);
    let result = call(module, function, &args, &mut memory, &Limits::default(), &mut NoLaunch);
    let result = result.map_err(|e| format!("{e:?}"))?;
    Ok((memory.buffers, result))
}

/// Data for an array, larger than any shape of the examples at the sizes above.
fn contents(v: &Var, seed: usize) -> Vec<u8> {
    let s = v.ty.pointee().map(Type::innermost).and_then(Type::scalar).unwrap_or(Scalar::F32);
    let value = |i: usize| {
        let n = (i * 7 + seed * 3) % 11;
        if s.is_float() { Value::float(s, n as f64 / 4.0 - 1.0) } else { Value::int(s, n as i64) }
    };
    (0..8192).flat_map(|i| value(i).bits.to_le_bytes()[..s.bytes() as usize].to_vec()).collect()
}
