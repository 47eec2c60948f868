//! Whatever the number of workers, a launch has the same findings, notes, output, memory and statistics.
//!
//! `WARPSMITH_RANDOM_KERNELS=N` looks at N random kernels and mutants instead of CI's few.

mod support;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use support::{Memory, directives, launch, lower};
use warpsmith_emu::{Buffer, Checks, Finding, Limit, Options, Rule, Stats, Touched};
use warpsmith_testgen::{cuda_kernel, mutate_source};

/// Everything that a caller can see of a launch.
#[derive(Debug, PartialEq)]
struct Seen {
    findings: Vec<Finding>,
    printed: String,
    limit: Option<Limit>,
    assumption_failed: bool,
    stats: Stats,
    counters: Option<warpsmith_emu::counters::Counters>,
    touched: Vec<Touched>,
    memory: Vec<(Vec<u8>, Vec<bool>)>,
}

/// Launches that several workers have run since the test began.
fn spread() -> usize {
    SPREAD.with(std::cell::Cell::get)
}

thread_local! {
    static SPREAD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The launches of a text, each on memory of its own unless the text says otherwise.
fn run(text: &str, options: &Options) -> Result<Vec<Seen>, String> {
    let (all, order) = directives(text);
    let named = all.iter().map(|d| d.kernel.clone()).filter(|k| k.contains('<'));
    let source = lower("kernel.cu", text, &named.collect::<Vec<_>>())?;
    let mut seen = vec![];
    let mut memory = Memory::new(&source.module);
    let listed = order.iter().filter_map(|name| all.iter().find(|d| d.kernel == *name));
    let list: Vec<_> = if order.is_empty() { all.iter().collect() } else { listed.collect() };
    for d in list {
        if order.is_empty() {
            memory = Memory::new(&source.module);
        }
        let outcome = launch(&source, d, &mut memory, options)?;
        SPREAD.with(|n| n.set(n.get() + usize::from(outcome.workers > 1)));
        let buffers = memory.device.buffers.iter().chain(&memory.device.globals);
        let content = |b: &Buffer| (b.bytes.clone(), b.poison.clone());
        seen.push(Seen {
            findings: outcome.findings,
            printed: outcome.printed,
            limit: outcome.limit,
            assumption_failed: outcome.assumption_failed,
            stats: outcome.stats,
            counters: outcome.counters,
            touched: outcome.touched,
            memory: buffers.map(content).collect(),
        });
    }
    Ok(seen)
}

fn options(jobs: usize, checks: Checks) -> Options {
    Options {
        jobs,
        checks,
        parallel_from: 0,
        max_steps: 30_000,
        max_memory: 1 << 28,
        counters: true,
        touched: checks.races,
        ..Options::default()
    }
}

/// Runs a text with one worker and with several.
fn compare(name: &str, text: &str) {
    for checks in [Checks::ALL, Checks::NONE] {
        let one = run(text, &options(1, checks));
        for jobs in [2, 5] {
            let several = run(text, &options(jobs, checks));
            assert!(
                one == several,
                "{name} with {jobs} workers, {checks:?}\n{text}\none: {one:#?}\nseveral: {several:#?}"
            );
        }
    }
}

fn corpus() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut list = vec![];
    for folder in ["correct", "defects"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("the corpus") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|e| e == "cu") {
                let text = std::fs::read_to_string(&path).expect("a text file");
                list.push((path.display().to_string(), text));
            }
        }
    }
    list.sort();
    list
}

fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..2000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

fn count(default: u64) -> u64 {
    let n = std::env::var("WARPSMITH_RANDOM_KERNELS").ok().and_then(|v| v.parse().ok());
    n.unwrap_or(default)
}

#[test]
fn the_corpus_has_the_same_reports() {
    for (name, text) in corpus() {
        compare(&name, &text);
    }
    assert!(spread() >= 100, "{} launches were spread", spread());
}

#[test]
fn random_kernels_have_the_same_reports() {
    let kernels = count(40);
    for seed in 0..kernels {
        let kernel = cuda_kernel(&noise(seed + 1), "reference");
        compare(&format!("kernel {seed}"), &kernel.cuda);
        // Without one of its barriers it has races.
        if let Some(at) = kernel.cuda.rfind("__syncthreads();") {
            let mut text = kernel.cuda.clone();
            text.replace_range(at..at + "__syncthreads();".len(), "");
            compare(&format!("kernel {seed} without a barrier"), &text);
        }
    }
    assert!(spread() as u64 >= kernels, "{} launches were spread", spread());
}

#[test]
fn mutants_have_the_same_reports() {
    let corpus = corpus();
    let n = corpus.len() as u64;
    // Most mutants do not compile: further ones are tried until some launches were spread.
    for seed in 0..count(150) + 2000 {
        if seed >= count(150) && spread() >= 5 {
            break;
        }
        let (name, text) = &corpus[(seed % n) as usize];
        let (_, donor) = &corpus[(seed * 7 % n) as usize];
        let mutant = mutate_source(text, donor, &noise(seed + 99));
        if let Ok(mutant) = String::from_utf8(mutant) {
            compare(&format!("mutant {seed} of {name}"), &mutant);
        }
    }
    assert!(spread() >= 5, "{} launches were spread", spread());
}

/// 64 blocks, with work enough for each.
const LAUNCH: &str =
    "// warpsmith: grid=64 block=64 arg n=4096 arg x=int[4096]=iota arg y=int[4096]\n";

/// Compares a kernel of the body; `side_by_side`: whether its blocks can be run by several workers.
fn compare_body(side_by_side: bool, body: &str) -> Vec<Seen> {
    let text = format!("{LAUNCH}__global__ void k(int *x, int *y, int n) {{\n{body}\n}}\n");
    compare(body, &text);
    let before = spread();
    let seen = run(&text, &options(5, Checks::ALL)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(spread() - before, usize::from(side_by_side), "{body}");
    seen
}

#[test]
fn blocks_that_do_not_touch_each_other() {
    let seen =
        compare_body(true, "int i = blockIdx.x * 64 + threadIdx.x; y[i] = 3 * x[i]; x[i] += 1;");
    assert!(seen[0].findings.is_empty());
    assert_eq!(seen[0].memory[1].0[400..404], 300i32.to_le_bytes());
}

#[test]
fn blocks_that_read_what_others_write() {
    let seen = compare_body(
        false,
        "int i = blockIdx.x * 64 + threadIdx.x; y[i] = x[(i + 64) % n]; x[i] = -1;",
    );
    assert_eq!(seen[0].findings[0].rule, Rule::RaceGlobal);
    let seen =
        compare_body(false, "int i = blockIdx.x * 64 + threadIdx.x; x[i] = x[(i + 64) % n];");
    assert_eq!(seen[0].findings[0].rule, Rule::RaceGlobal);
}

#[test]
fn blocks_that_write_the_same_elements() {
    let seen = compare_body(false, "y[threadIdx.x] = blockIdx.x;");
    assert_eq!(seen[0].findings[0].rule, Rule::RaceGlobal);
    let seen = compare_body(false, "y[threadIdx.x] = 7;");
    assert_eq!(seen[0].findings[0].rule, Rule::RaceBenign);
    // Only the last block finds out.
    let seen =
        compare_body(false, "int b = blockIdx.x; y[(b == 63 ? 0 : b) * 64 + threadIdx.x] = b;");
    assert_eq!(seen[0].findings[0].rule, Rule::RaceGlobal);
}

#[test]
fn counters_of_all_blocks() {
    for op in ["atomicAdd(y + t % 16, x[t])", "atomicSub(y + 1, t)", "atomicMax(y + t % 3, t)"] {
        let seen = compare_body(true, &format!("int t = blockIdx.x * 64 + threadIdx.x; {op};"));
        assert!(seen[0].findings.is_empty(), "{op}");
    }
    for op in
        ["atomicMin(y, -t)", "atomicXor(y, t * t)", "atomicOr(y, 1 << t % 31)", "atomicAnd(x, t)"]
    {
        compare_body(true, &format!("int t = blockIdx.x * 64 + threadIdx.x; {op};"));
    }
    // The order shows in what the atomic gives back, and in what is read.
    compare_body(false, "y[atomicAdd(x, 1) % 4096] = blockIdx.x;");
    compare_body(false, "atomicAdd(x, 1); if (threadIdx.x == 0) y[blockIdx.x] = x[0];");
    compare_body(false, "atomicAdd(y, 1); atomicMax(y, (int)blockIdx.x);");
    compare_body(false, "atomicExch(y, (int)blockIdx.x);");
    compare_body(false, "atomicAdd((float *)y, 0.1f * x[threadIdx.x]);");
    compare_body(
        true,
        "atomicAdd((unsigned long long *)y + threadIdx.x % 2, (unsigned long long)-x[threadIdx.x]);",
    );
}

#[test]
fn notes_findings_and_text_of_some_blocks() {
    let seen = compare_body(
        true,
        "int i = blockIdx.x * 64 + threadIdx.x; if (i > 2000) return; __syncthreads(); y[i] = 1;",
    );
    assert_eq!(seen[0].findings[0].rule, Rule::ExitedBeforeBarrier);
    let seen = compare_body(false, "y[blockIdx.x * 64 + threadIdx.x + (blockIdx.x == 40)] = 1;");
    assert_eq!(seen[0].findings[0].rule, Rule::RaceBenign);
    let seen = compare_body(true, "if (threadIdx.x == 5) printf(\"%d \", blockIdx.x);");
    assert!(seen[0].printed.starts_with("0 1 2 3 ") && seen[0].printed.ends_with("63 "));
    let seen = compare_body(false, "y[blockIdx.x * 64 + threadIdx.x + 64] = 1;");
    assert_eq!(seen[0].findings[0].rule, Rule::OutOfBounds);
    compare_body(
        false,
        "for (int k = 0; k < 100; ++k) printf(\"%d %d: a line of some length\\n\", threadIdx.x, k);",
    );
}

#[test]
fn blocks_that_wait_for_others() {
    compare_body(
        false,
        "volatile int *f = y; if (threadIdx.x == 0) { if (blockIdx.x) while (!f[blockIdx.x - 1]); f[blockIdx.x] = 1; }",
    );
    compare_body(false, "x[threadIdx.x + 64 * blockIdx.x] = (int)clock();");
}

#[test]
fn buffers_grow_as_with_one_worker() {
    let text = "// warpsmith: grid=40 block=32 arg n=5\n\
        __global__ void k(int *x, const int *y, int n) {\n\
        int i = blockIdx.x * 32 + threadIdx.x; x[i] = y[2 * i] + n; }\n";
    compare("growing", text);
    let seen = run(text, &options(5, Checks::ALL)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(seen[0].memory.iter().map(|m| m.0.len()).collect::<Vec<_>>(), [8192, 16384]);
}

#[test]
fn limits_are_those_of_one_worker() {
    let body = "int i = blockIdx.x * 64 + threadIdx.x; int s = 0; for (int k = 0; k < 50; ++k) s += x[(i + k) % n]; y[i] = s;";
    let text = format!("{LAUNCH}__global__ void k(int *x, int *y, int n) {{\n{body}\n}}\n");
    for max_total_steps in [100_000, 1_000_000, 3_000_000] {
        let limited = |jobs| {
            let options = Options { max_total_steps, ..options(jobs, Checks::ALL) };
            run(&text, &options).unwrap_or_else(|e| panic!("{e}"))
        };
        assert_eq!(limited(1), limited(3), "{max_total_steps}");
    }
    for max_memory in [40_000, 60_000, 150_000, 200_000, 250_000, 20_000_000] {
        let limited = |jobs| {
            let options = Options { max_memory, ..options(jobs, Checks::ALL) };
            run(&text, &options).unwrap_or_else(|e| panic!("{e}"))
        };
        assert_eq!(limited(1), limited(3), "{max_memory}");
    }
}

#[test]
fn a_run_ends_soon_after_it_is_interrupted() {
    // Lanes that part and meet in each iteration, over and over.
    let body = "int s = 0; for (long long k = 0; k < 1000000000000LL; ++k) { if ((threadIdx.x + k) % 2) s += k; else s ^= 3; } y[blockIdx.x * 64 + threadIdx.x] = s;";
    let text = format!("{LAUNCH}__global__ void k(int *x, int *y, int n) {{\n{body}\n}}\n");
    for jobs in [1, 2] {
        let flag = Arc::new(AtomicBool::new(false));
        let endless = Options { max_steps: u64::MAX, ..options(jobs, Checks::NONE) };
        let interrupted = Options { interrupt: Some(flag.clone()), ..endless.clone() };
        let later = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let seen = run(&text, &interrupted).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(seen[0].limit, Some(Limit::Interrupted));
        later.join().expect("a thread that ends");
        let deadline = Some(Instant::now() + Duration::from_millis(200));
        let seen = run(&text, &Options { deadline, ..endless }).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(seen[0].limit, Some(Limit::Timeout));
    }
}
