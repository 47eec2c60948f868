//! Access views are what the emulator counts: sectors, wavefronts and bank conflicts of every access of the emitted
//! text, for every example, with the direct translation and with the schedule that the model chooses; and the rule of
//! shared memory, for random addresses.
//!
//! The two sides share no code: views follow from sizes and positions, counters from the addresses of a run.

use std::path::{Path, PathBuf};

use warpsmith::device::TrafficKind;
use warpsmith::emu::counters::{AccessCounters, AccessKind, MemoryKind};
use warpsmith::tune::counters::{CountedLaunch, View, counted};
use warpsmith::tune::sizes::Point;
use warpsmith::tune::{Strategy, TuneRequest, tune};
use warpsmith_ir::SourceMap;
use warpsmith_testgen::sampled;

/// Example, array: accesses of which it depends on data where they go, or whether they happen.
const BY_DATA: [(&str, &str); 8] = [
    // The bins that pixels fall into; bins that nothing fell into are not added.
    ("histogram", "bins"),
    ("histogram", "bins_shared"),
    // The second read of `x[i] < lo ? x[i] : lo`.
    ("minmax", "x"),
    // Iterations until the step is small.
    ("newton", "mean"),
    // The entries of a row, and the columns that they stand in; the end of a row where its loop asks for it each time.
    ("spmv", "column"),
    ("spmv", "start"),
    ("spmv", "value"),
    ("spmv", "x"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn examples() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("examples"))
        .expect("the examples are part of the repository")
        .map(|e| e.expect("a readable entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    files
}

/// Two sizes like the default ones: one of which blocks are full, and one at which they end in the middle.
fn points(default: &Point) -> [Point; 2] {
    let large = default.values().filter(|v| **v > 16).count();
    let [full, odd] = match large {
        0..=2 => [64, 45],
        _ => [32, 21],
    };
    [full, odd].map(|n| {
        let size =
            |(name, v): (&String, &i64)| (name.clone(), if *v > 16 { n } else { *v.min(&3) });
        default.iter().map(size).collect()
    })
}

fn kind(k: AccessKind) -> TrafficKind {
    match k {
        AccessKind::Load => TrafficKind::Load,
        AccessKind::Store => TrafficKind::Store,
        AccessKind::Atomic => TrafficKind::Atomic,
        AccessKind::AsyncCopy => TrafficKind::AsyncCopy,
    }
}

fn same_access(v: &View, c: &AccessCounters) -> bool {
    (v.span, &v.array, v.shared, v.kind, v.bytes)
        == (c.span, &c.array, c.memory == MemoryKind::Shared, kind(c.kind), c.bytes)
}

/// What differs in one launch.
fn differences(launch: &CountedLaunch, by_data: &[&str]) -> Vec<String> {
    let Some(views) = &launch.views else { return vec!["too long for views".to_string()] };
    let counted = launch.counters.accesses.iter();
    let counted: Vec<&AccessCounters> =
        counted.filter(|c| matches!(c.memory, MemoryKind::Global | MemoryKind::Shared)).collect();
    let mut found = vec![];
    for c in &counted {
        let Some(v) = views.iter().find(|v| same_access(v, c)) else {
            found.push(format!("{:?} of `{}`: counted, but no view", c.kind, c.array));
            continue;
        };
        if v.by_data {
            if !by_data.contains(&c.array.as_str()) {
                found.push(format!("{:?} of `{}` depends on data", c.kind, c.array));
            }
            continue;
        }
        let view = (v.requests, v.threads, v.sectors, v.wavefronts, v.conflicts);
        let (warps, threads) = (c.requests.warps, c.requests.threads);
        let counter = (warps, threads, c.sectors, c.wavefronts, c.bank_conflicts());
        if view != counter {
            found.push(format!(
                "{:?} of `{}`, {} bytes: requests, lanes, sectors, wavefronts, conflicts are {view:?} by the view, {counter:?} by the emulator",
                c.kind, c.array, c.bytes
            ));
        }
    }
    for v in views.iter().filter(|v| !v.by_data) {
        if !counted.iter().any(|c| same_access(v, c)) {
            found.push(format!("{:?} of `{}`: a view, but not counted", v.kind, v.array));
        }
    }
    found
}

#[test]
fn views_of_all_examples_are_what_the_emulator_counts() {
    let (mut problems, mut compared) = (vec![], 0);
    let files = sampled(examples());
    // Of all examples together more than 500 accesses are compared.
    let least = 8 * files.len();
    for file in files {
        for strategy in [Strategy::Direct, Strategy::Model] {
            // That the kernels are right is for other tests.
            let request = TuneRequest::new(&file).strategy(strategy).verify_steps(1_000_000);
            let mut sources = SourceMap::new();
            let tuned = match tune(&request, &mut sources) {
                Ok(tuned) => tuned,
                Err(e) => panic!("{}", e.render(&sources, false)),
            };
            for point in points(&tuned.sizes[0]) {
                let launches = counted(&request, &tuned, &point, &mut sources);
                let launches = launches.unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
                let name = &tuned.name;
                assert!(!launches.is_empty(), "{name} launches nothing at {point:?}");
                let of_it = BY_DATA.iter().filter(|(n, _)| n == name);
                let by_data: Vec<&str> = of_it.map(|(_, array)| *array).collect();
                for launch in &launches {
                    compared += launch.views.iter().flatten().filter(|v| !v.by_data).count();
                    let wrong = differences(launch, &by_data).into_iter();
                    problems.extend(wrong.map(|w| format!("{name}, {strategy:?}, {point:?}: {w}")));
                }
            }
        }
    }
    problems.dedup();
    assert!(problems.is_empty(), "{} differ:\n{}", problems.len(), problems.join("\n"));
    assert!(compared > least, "only {compared} accesses compared");
}

/// Numbers that look random, the same every time.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

#[test]
fn the_rule_of_shared_memory_is_the_emulators() {
    let (mut state, mut tables, mut body, mut expected) = (7, vec![], String::new(), vec![]);
    for (ty, bytes) in [("float", 4), ("double", 8), ("float4", 16), ("short", 2)] {
        for round in 0..24 {
            // Few different elements conflict less than many, and neighbours are often alike.
            let range = [2, 8, 64, 512][round % 4];
            let group = [1, 2, 4][round % 3];
            let drawn: Vec<u64> = (0..32).map(|_| next(&mut state) % range).collect();
            let table: Vec<u64> = (0..32).map(|k| drawn[k / group]).collect();
            let lanes: Vec<Option<u64>> = table.iter().map(|i| Some(i * bytes)).collect();
            expected.push((ty, warpsmith::device::shared_wavefronts(&lanes, bytes, false)));
            let zero = if ty == "float4" { "make_float4(0, 0, 0, 0)" } else { "0" };
            let row = tables.len();
            body += &format!("    of_{ty}[table[{row}][threadIdx.x]] = {zero};\n");
            let numbers: Vec<String> = table.iter().map(u64::to_string).collect();
            tables.push(format!("{{{}}}", numbers.join(", ")));
        }
    }
    let text = format!(
        "__constant__ int table[{}][32] = {{{}}};\n// warpsmith: grid=1 block=32\n__global__ void k()\n{{\n    \
         __shared__ float of_float[512];\n    __shared__ double of_double[512];\n    __shared__ float4 of_float4[512];\n    \
         __shared__ short of_short[512];\n{body}}}\n",
        tables.len(),
        tables.join(",\n"),
    );
    let first = text.lines().position(|l| l.contains("[table[0]")).expect("an access") + 1;
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("k.cu"), &text).expect("a writable folder");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(["check", "k.cu", "--counters", "--format", "json"])
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    let accesses = json["counters"][0]["accesses"].as_array().expect("a list");
    let mut seen = 0;
    for a in accesses.iter().filter(|a| a["memory"] == "shared") {
        let line = a["location"]["line"].as_u64().expect("a line") as usize;
        let (ty, used) = expected[line - first];
        seen += 1;
        assert_eq!(
            a["wavefronts"].as_f64(),
            Some(used.wavefronts.into()),
            "{ty}: {}",
            tables[line - first]
        );
    }
    assert_eq!(seen, expected.len());
}
