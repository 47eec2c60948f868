//! An `Emulator`, which keeps the programs of launches, gives the outcome of `run` for launches that differ in anything.

mod support;

use std::time::{Duration, Instant};

use support::{Source, lower};
use warpsmith_emu::{
    Arg, Buffer, BufferId, Checks, DeviceMemory, Emulator, LaunchConfig, Options, Outcome, Rule,
    Sampled, run,
};
use warpsmith_ir::{Scalar, Type};

/// The last thread writes behind the array where `n` is one too large; findings name array and element.
const TEXT: &str = "\
__device__ int total;
__global__ void add(int n, int by, int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += by;
    if (i == 0) atomicAdd(&total, by);
}
__global__ void scale(int n, int by, int *a) {
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = by;
    if (i < n) a[i] *= part[threadIdx.x];
}";

fn memory(module: &warpsmith_ir::Module, names: [&str; 2], element: Scalar) -> DeviceMemory {
    let mut memory = DeviceMemory::new(module);
    for name in names {
        let element = Some(Type::Scalar(element));
        let bytes = (0..40 * 4).map(|i| i as u8).collect();
        memory.buffers.push(Buffer { name: name.into(), element, bytes, ..Buffer::default() });
    }
    memory
}

fn seen(outcome: &Outcome, memory: &DeviceMemory) -> String {
    let bytes: Vec<&Vec<u8>> =
        memory.buffers.iter().chain(&memory.globals).map(|b| &b.bytes).collect();
    format!("{:?} {:?} {:?} {bytes:?}", outcome.findings, outcome.stats, outcome.ways)
}

#[test]
fn launches_in_turns_give_what_each_gives_by_itself() {
    let source = lower("kernel.cu", TEXT, &[]).unwrap();
    let module = &source.module;
    let config = |kernel: &str, n: i32, by: i32, buffer: u32, block: u32| LaunchConfig {
        kernel: source.names[kernel],
        grid: [64 / block, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: if kernel == "scale" { 4 * block } else { 0 },
        cluster: None,
        args: vec![
            Arg::Bytes(n.to_le_bytes().to_vec()),
            Arg::Bytes(by.to_le_bytes().to_vec()),
            Arg::Pointer { buffer: BufferId(buffer), offset: 0 },
        ],
    };
    let launches: Vec<LaunchConfig> = ["add", "scale"]
        .iter()
        .flat_map(|kernel| {
            let one = config(kernel, 40, 3, 0, 32);
            let less_shared =
                LaunchConfig { dynamic_shared: one.dynamic_shared / 2, ..one.clone() };
            [
                one,
                config(kernel, 40, 5, 0, 32),
                config(kernel, 41, 3, 1, 32),
                config(kernel, 40, 3, 0, 16),
                less_shared,
            ]
        })
        .collect();
    let with_ways = Options { ways: true, ..Options::default() };
    let mut emulator = Emulator::new(module);
    let mut differing = std::collections::BTreeSet::new();
    for round in 0..3 {
        for launch in &launches {
            for (names, element) in
                [(["a", "b"], Scalar::I32), (["b", "a"], Scalar::I32), (["a", "b"], Scalar::U8)]
            {
                for options in [&Options::default(), &with_ways] {
                    let (mut kept, mut fresh) =
                        (memory(module, names, element), memory(module, names, element));
                    let a = emulator.run(launch, &mut kept, options).unwrap();
                    let b = run(module, launch, &mut fresh, options).unwrap();
                    let (a, b) = (seen(&a, &kept), seen(&b, &fresh));
                    assert_eq!(a, b, "round {round}: {launch:?} {names:?}");
                    differing.insert(a);
                }
            }
        }
        // Two launches in turns, as a loop in time has them: the second time they are kept.
        for launch in launches[..2].iter().cycle().take(6) {
            let mut kept = memory(module, ["a", "b"], Scalar::I32);
            let mut fresh = kept.clone();
            let a = emulator.run(launch, &mut kept, &with_ways).unwrap();
            let b = run(module, launch, &mut fresh, &with_ways).unwrap();
            assert_eq!(seen(&a, &kept), seen(&b, &fresh));
        }
    }
    assert!(differing.len() >= 12, "{}: launches differ too little to tell", differing.len());
}

/// Launches a kernel of an array of so many integers and a number, with so many blocks and threads in each.
fn run_with_number(
    source: &Source,
    kernel: &str,
    ([grid, block], length): ([u32; 2], usize),
    number: i32,
    options: &Options,
) -> Outcome {
    let mut memory = memory(&source.module, ["a", "b"], Scalar::I32);
    memory.buffers[0].bytes = vec![0; 4 * length];
    let config = LaunchConfig {
        kernel: source.names[kernel],
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        cluster: None,
        args: vec![
            Arg::Pointer { buffer: BufferId(0), offset: 0 },
            Arg::Bytes(number.to_le_bytes().to_vec()),
        ],
    };
    run(&source.module, &config, &mut memory, options).expect("a launch")
}

/// Where time is short, the first block is run and those at the corners of the grid, so that a guard that is missing shows.
#[test]
fn blocks_that_begin_too_late_are_left_out_but_for_corners() {
    // Sums whose order shows in their last bits are no reason to wait for anybody.
    for update in ["a[i] = i", "atomicAdd((float *)a + i, 0.1f)"] {
        leaves_out_all_but_corners(update);
    }
}

fn leaves_out_all_but_corners(update: &str) {
    let text = format!(
        "__global__ void set(int *a, int n) {{\
            int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) {update}; }}"
    );
    let source = lower("kernel.cu", &text, &[]).unwrap();
    let run_with = |from: Option<Instant>, jobs| {
        let n = 64 * 1000;
        let options =
            Options { leave_out_from: from, jobs, parallel_from: 0, ..Options::default() };
        run_with_number(&source, "set", ([1001, 64], n as usize), n, &options)
    };
    let now = Instant::now();
    for jobs in [1, 2] {
        let whole = run_with(None, jobs);
        assert_eq!((whole.sampled, whole.findings.len()), (None, 1));
        assert_eq!(run_with(Some(now + Duration::from_secs(3600)), jobs).sampled, None);
        let part = run_with(Some(now), jobs);
        assert_eq!(
            (part.sampled, part.findings.len()),
            (Some(Sampled { blocks: 6, late: true, ended: false }), 1)
        );
        assert_eq!(part.findings[0].accesses, whole.findings[0].accesses);
    }
}

/// A grid far larger than its work: the guard that lets one thread too many through is wrong in a block at no edge of the grid.
#[test]
fn the_block_where_the_work_ends_is_in_a_sample() {
    let text = "__global__ void set(int *a, int n) {\
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) a[i] = i; }";
    let source = lower("kernel.cu", text, &[]).unwrap();
    let n = 64 * 1117;
    for jobs in [1, 2] {
        let options =
            Options { sample_beyond: Some(1), jobs, parallel_from: 0, ..Options::default() };
        let wrong = run_with_number(&source, "set", ([100_000, 64], n), n as i32, &options);
        assert_eq!((wrong.findings.len(), wrong.findings[0].rule), (1, Rule::OutOfBounds));
        let right = run_with_number(&source, "set", ([100_000, 64], n), n as i32 - 1, &options);
        assert!(right.findings.is_empty() && right.sampled.is_some_and(|s| s.blocks < 100));
    }
}

/// Once a launch has a finding, blocks that begin long after it are left out, if that is wanted; the finding is the same.
#[test]
fn blocks_long_after_a_finding_are_left_out() {
    let text = "__global__ void add(int *a, int shift) {\
        int i = blockIdx.x * blockDim.x + threadIdx.x; a[i >> shift] += i; }";
    let source = lower("kernel.cu", text, &[]).unwrap();
    let run_with = |shift: i32, after_finding| {
        let options = Options { after_finding, ..Options::default() };
        run_with_number(&source, "add", ([64, 32], 64 * 32), shift, &options)
    };
    let whole = run_with(1, None);
    assert_eq!((whole.sampled, whole.findings.len()), (None, 2));
    let each = whole.stats.thread_instructions / 64;
    let part = run_with(1, Some(4 * each));
    assert_eq!(part.sampled, Some(Sampled { blocks: 6, late: false, ended: false }));
    assert_eq!(part.findings[0].accesses, whole.findings[0].accesses);
    assert_eq!(run_with(1, Some(64 * each)).sampled, None);
    let right = run_with(0, Some(4 * each));
    assert_eq!((right.sampled, right.findings.len()), (None, 0));
}

/// What is computed from a variable without a value and stored by nobody is other people's affair, but not of text that is ours.
#[test]
fn arithmetic_with_nothing_is_a_finding_where_it_is_asked_for() {
    let text = "__global__ void add(int *a, int n) {
        int v, w, s = 0;
        if (threadIdx.x < n) v = a[threadIdx.x];
        w = v;
        s += w;
        if (threadIdx.x < n) a[threadIdx.x] = s; }";
    let source = lower("kernel.cu", text, &[]).unwrap();
    let found = |checks: Checks, n: i32| {
        let options = Options { checks, ..Options::default() };
        run_with_number(&source, "add", ([1, 32], 32), n, &options).findings
    };
    assert!(found(Checks::ALL, 20).is_empty());
    assert!(found(Checks::STRICT, 32).is_empty());
    let strict = found(Checks::STRICT, 20);
    assert_eq!(strict.len(), 1);
    assert_eq!((strict[0].rule, strict[0].count), (Rule::UninitializedLocal, 12));
    assert_eq!(strict[0].message, "`v` is used in arithmetic before it has a value");
}

/// What two lanes of a warp write in different iterations of a loop is compared with what the first of them has written, not with
/// what it writes now.
#[test]
fn equal_values_are_those_that_were_written() {
    let found = |value: &str| {
        let text = format!(
            "__global__ void fill(int *a, int n) {{
                for (int i = 0; i < n; i++) a[4 * threadIdx.x + i] = {value}; }}"
        );
        let source = lower("kernel.cu", &text, &[]).unwrap();
        let rules = |n| {
            let outcome = run_with_number(&source, "fill", ([1, 32], 129), n, &Options::default());
            outcome.findings.iter().map(|f| f.rule).collect::<Vec<_>>()
        };
        assert!(rules(4).is_empty());
        rules(5)
    };
    assert_eq!(found("4 * threadIdx.x + i"), [Rule::RaceBenign]);
    assert_eq!(found("i"), [Rule::RaceGlobal]);
    assert_eq!(found("threadIdx.x"), [Rule::RaceGlobal]);
}
