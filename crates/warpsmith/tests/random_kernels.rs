//! Random CUDA kernels: no finding, and the outputs of the same computation in C, bit for bit; without one of their
//! barriers, a finding. Random threads: the emulator's outputs are the interpreter's.
//!
//! `WARPSMITH_RANDOM_KERNELS=N` looks at N kernels instead of CI's few, from the seed `WARPSMITH_RANDOM_SEED`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith::check::args::{LaunchArgs, SourceArgs};
use warpsmith::check::memory::Buffers;
use warpsmith::check::program;
use warpsmith_emu::{self as emu, Finding, Options};
use warpsmith_ir::interp::{self, Arg, Limits, Memory, NoLaunch};
use warpsmith_ir::{Module, SourceMap, Value};
use warpsmith_testgen::{CudaKernel, PARAMS, THREADS, c_prelude, cuda_kernel, cuda_threads};

/// Kernels compiled by one call of the host compiler.
const BATCH: u64 = 20;
const MAX_MEMORY: u64 = 1 << 30;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn noise(seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; 2000];
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

fn kernel(seed: u64) -> CudaKernel {
    cuda_kernel(&noise(seed), &format!("reference_{seed}"))
}

/// What a run in the emulator starts from and leaves, and what is found.
struct Run {
    /// The parameters' contents in order.
    before: Vec<Vec<u8>>,
    after: Vec<Vec<u8>>,
    findings: Vec<Finding>,
    module: Module,
}

fn emulate(text: &str, folder: &Path, seed: u64) -> Result<Run, String> {
    let file = folder.join("kernel.cu");
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    let mut sources = SourceMap::new();
    let prelude = warpsmith_front::prelude::unit(&mut sources);
    let libraries = warpsmith_front::sema::Libraries::new(&prelude);
    let loaded = program::load(
        &file,
        &LaunchArgs::default(),
        &SourceArgs::default(),
        &libraries,
        &mut sources,
    )
    .map_err(|e| e.render(&sources, false))?;
    let step = loaded.steps.first().ok_or("no launch")?;
    let launch = step.launches.first().ok_or("no launch")?;
    let mut buffers = Buffers::new(&step.module);
    let config = step
        .config(launch, &mut buffers, seed, Default::default(), MAX_MEMORY)
        .map_err(|e| e.render(&sources, false))?;
    let contents = |buffers: &Buffers| -> Vec<Vec<u8>> {
        let bytes =
            |(name, ..): &(&str, _, _, _)| buffers.find(name).map_or(vec![], |b| b.bytes.clone());
        PARAMS.iter().map(bytes).collect()
    };
    let before = contents(&buffers);
    let result = emu::run(&step.module, &config, &mut buffers.memory, &Options::default());
    let result = result.map_err(|e| format!("{e:?}"))?;
    let findings = result.findings.into_iter().filter(|f| !f.rule.is_note()).collect();
    Ok(Run { before, after: contents(&buffers), findings, module: step.module.clone() })
}

/// A program that reads the parameters of all kernels, calls their references, and writes the parameters.
fn c_program(kernels: &[CudaKernel], first: u64, runs: &[Run]) -> String {
    let mut text = format!("#include <stdio.h>\n{}", c_prelude());
    let mut main = String::from("int main(void)\n{\n");
    for (k, (kernel, run)) in kernels.iter().zip(runs).enumerate() {
        text += &kernel.c;
        let mut call = format!("reference_{}({}", first + k as u64, kernel.n);
        for (p, (_, ty, ..)) in PARAMS.iter().enumerate() {
            let bytes = run.before[p].len();
            let _ = writeln!(main, "  static {ty} p{k}_{p}[{bytes} / sizeof({ty}) + 1];");
            let _ =
                writeln!(main, "  if (fread(p{k}_{p}, 1, {bytes}, stdin) != {bytes}) return 2;");
            let _ = write!(call, ", p{k}_{p}");
        }
        let _ = writeln!(main, "  {call});");
    }
    for (k, run) in runs.iter().enumerate() {
        for (p, bytes) in run.before.iter().enumerate() {
            let _ = writeln!(main, "  fwrite(p{k}_{p}, 1, {}, stdout);", bytes.len());
        }
    }
    text + &main + "  return 0;\n}\n"
}

/// The bytes the C program writes; `None` when there is no C compiler.
fn run_c(program: &str, folder: &Path, input: &[u8]) -> Option<Vec<u8>> {
    let (source, binary) = (folder.join("batch.c"), folder.join("batch"));
    std::fs::write(&source, program).expect("a writable folder");
    let compiler = std::env::var("CC").unwrap_or("cc".to_string());
    let output = Command::new(compiler)
        .args(["-O0", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-std=gnu11", "-o"])
        .arg(&binary)
        .arg(&source)
        .arg("-lm")
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut child = Command::new(&binary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program was just built");
    let mut stdin = child.stdin.take().expect("a pipe");
    // All input is read before any output is written, so that neither side can block the other.
    stdin.write_all(input).expect("the program reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success(), "{}", output.status);
    Some(output.stdout)
}

/// The first element that differs, any two NaNs being equal.
fn difference(ty: &str, emulated: &[u8], host: &[u8]) -> Option<String> {
    let size = match ty {
        "double" | "unsigned long long" => 8,
        _ => 4,
    };
    let is_nan = |bytes: &[u8]| match (ty, bytes.try_into(), bytes.try_into()) {
        ("float", Ok(four), _) => f32::from_le_bytes(four).is_nan(),
        ("double", _, Ok(eight)) => f64::from_le_bytes(eight).is_nan(),
        _ => false,
    };
    let pairs = emulated.chunks(size).zip(host.chunks(size)).enumerate();
    pairs
        .filter(|(_, (a, b))| a != b && !(is_nan(a) && is_nan(b)))
        .map(|(i, (a, b))| format!("[{i}]: emulator {a:02x?}, reference {b:02x?} (little-endian)"))
        .next()
}

/// Failures of one batch, and whether a host compiler took part.
fn batch(seeds: std::ops::Range<u64>, folder: &Path) -> (Vec<String>, bool) {
    let mut failures = vec![];
    let kernels: Vec<CudaKernel> = seeds.clone().map(kernel).collect();
    let mut runs = vec![];
    for (seed, kernel) in seeds.clone().zip(&kernels) {
        let run = emulate(&kernel.cuda, folder, seed).unwrap_or_else(|e| {
            failures.push(format!("seed {seed}: {e}\n{}", kernel.cuda));
            let (before, after) = (vec![vec![]; PARAMS.len()], vec![]);
            Run { before, after, findings: vec![], module: Module::default() }
        });
        if let Some(finding) = run.findings.first() {
            failures.push(format!("seed {seed}: {finding:?}\n{}", kernel.cuda));
        }
        runs.push(run);
    }
    if !failures.is_empty() {
        return (failures, false);
    }
    let input: Vec<u8> = runs.iter().flat_map(|r| r.before.concat()).collect();
    let Some(output) = run_c(&c_program(&kernels, seeds.start, &runs), folder, &input) else {
        return (failures, false);
    };
    let mut rest = output.as_slice();
    for ((seed, kernel), run) in seeds.zip(&kernels).zip(&runs) {
        let mut what = None;
        for ((name, ty, ..), emulated) in PARAMS.iter().zip(&run.after) {
            let (host, after) = rest.split_at(emulated.len());
            rest = after;
            what = what.or(difference(ty, emulated, host).map(|d| format!("{name}{d}")));
        }
        if let Some(what) = what {
            failures.push(format!("seed {seed}: {what}\n{}\n{}", kernel.cuda, kernel.c));
        }
    }
    (failures, true)
}

#[test]
fn random_kernels_agree_with_serial_c() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (count, first) =
        (number("WARPSMITH_RANDOM_KERNELS", 40), number("WARPSMITH_RANDOM_SEED", 1));
    let mut failures = vec![];
    let mut with_host = false;
    for start in (first..first + count).step_by(BATCH as usize) {
        let (wrong, host) = batch(start..(start + BATCH).min(first + count), folder.path());
        failures.extend(wrong);
        with_host |= host;
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    if !with_host {
        println!("not compared with a host compiler: none was found");
    }
}

#[test]
fn a_missing_barrier_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (count, first) =
        (number("WARPSMITH_RANDOM_KERNELS", 40), number("WARPSMITH_RANDOM_SEED", 1));
    let mut tried = 0;
    let mut silent = vec![];
    for seed in first..first + count {
        let kernel = kernel(seed);
        if kernel.barriers() == 0 {
            continue;
        }
        tried += 1;
        let text = kernel.without_barrier(seed as usize % kernel.barriers());
        match emulate(&text, folder.path(), seed) {
            Ok(run) if !run.findings.is_empty() => {}
            Ok(_) => silent.push(format!("seed {seed}: nothing found in\n{text}")),
            Err(e) => silent.push(format!("seed {seed}: {e}")),
        }
    }
    assert!(silent.is_empty(), "{} of {tried}:\n{}", silent.len(), silent.join("\n"));
    assert!(tried * 2 > count, "too few kernels have barriers");
}

/// The parameters after the interpreter ran all threads of [`cuda_threads`] one after the other.
fn interpreted(run: &Run) -> Result<Vec<Vec<u8>>, String> {
    let body = run.module.find_function("body").ok_or("no device function")?;
    let mut memory = Memory::new(run.before.clone());
    let [threads, blocks] = THREADS;
    for block in 0..blocks {
        for tid in 0..threads {
            let numbers = [tid, block, threads * blocks].map(|v| Arg::Value(Value::i32(v as i32)));
            let buffers = (0..PARAMS.len()).map(|buffer| Arg::Pointer { buffer, offset: 0 });
            let args: Vec<Arg> = numbers.into_iter().chain(buffers).collect();
            let limits = Limits::default();
            interp::call(&run.module, body, &args, &mut memory, &limits, &mut NoLaunch)
                .map_err(|e| e.to_string())?;
        }
    }
    Ok(memory.buffers)
}

/// How the two differ on the threads of a seed, or what one of them could not do.
fn threads_differ(text: &str, folder: &Path, seed: u64) -> Option<String> {
    let run = match emulate(text, folder, seed) {
        Ok(run) => run,
        Err(e) => return Some(e),
    };
    if let Some(finding) = run.findings.first() {
        return Some(format!("{finding:?}"));
    }
    let expected = match interpreted(&run) {
        Ok(expected) => expected,
        Err(e) => return Some(e),
    };
    let both = PARAMS.iter().zip(run.after.iter().zip(&expected));
    both.filter_map(|((name, ty, ..), (emulated, interpreted))| {
        Some(format!("{name}{}", difference(ty, emulated, interpreted)?))
    })
    .next()
}

#[test]
fn random_threads_agree_with_the_interpreter() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (count, first) =
        (number("WARPSMITH_RANDOM_KERNELS", 40), number("WARPSMITH_RANDOM_SEED", 1));
    let mut failures = vec![];
    for seed in first..first + count {
        let text = cuda_threads(&noise(seed));
        if let Some(what) = threads_differ(&text, folder.path(), seed) {
            failures.push(format!("seed {seed}: {what}\n{text}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}
