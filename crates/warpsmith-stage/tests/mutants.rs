//! No false proof: rewritten kernels with a small damage are proved only if they are right.
//!
//! Damage is done to conditions, subscripts, copies, sizes and barriers of staged examples. What is proved all the same is
//! emulated at many sizes, those around every multiple of the block among them, and has to be equal and without findings.
//! `WARPSMITH_STAGE_MUTANTS=10000` looks at that many, `WARPSMITH_RANDOM_SEED` at others.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_emu::Checks;
use warpsmith_stage::launch::Launch;
use warpsmith_stage::memory::{self, Data, Values};
use warpsmith_stage::program::{self, Compiler, Program, Settings};
use warpsmith_stage::session::Input;
use warpsmith_stage::source::{marks, shape};
use warpsmith_stage::stage;
use warpsmith_stage::verify::proof::{self, Proof, solver::Solver};

const BLOCK: [u32; 3] = [5, 4, 1];

/// An example that is proved, and how its kernel is called.
struct Case {
    kernel: &'static str,
    constants: Vec<(String, i64)>,
    block: [u32; 3],
    compiler: Compiler,
    reference: Program,
    /// The kernel as it was rewritten.
    text: String,
    /// Sizes along x and y.
    sizes: [&'static str; 2],
    overlap: u32,
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

fn case(file: &str, kernel: &'static str, names: [&str; 2], block: [u32; 3], overlap: u32) -> Case {
    let folder = if file.contains('/') { "tests" } else { "../../examples/stage" };
    let path = format!("{}/{folder}/{file}.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the example is there");
    let settings = Settings { path: "case.cu".into(), ..Settings::default() };
    let input = Input { settings: settings.clone(), text: text.clone(), ..Input::default() };
    let staged = stage::stage(input).expect("the example is staged");
    let compiler = Compiler::new(settings);
    let constants: Vec<(String, i64)> =
        names.iter().zip(block).map(|(n, v)| ((*n).to_string(), i64::from(v))).collect();
    let found = marks::find(&text, warpsmith_ir::FileId(0)).expect("marks");
    let plain = marks::reference(&text, &found);
    let reference = compiler.compile(&plain, &constants, kernel).expect("it compiles");
    let end = staged.text.find("#include").unwrap_or(staged.text.len());
    let body = staged.text[..end].to_string();
    let text = shape::constants(&body, &constants).apply(&body).expect("constants");
    let sizes = if file.starts_with("matmul") { ["n", "n"] } else { ["nx", "ny"] };
    Case { kernel, constants, block, compiler, reference, text, sizes, overlap }
}

fn cases() -> Vec<Case> {
    let b = ["BX", "BY"];
    vec![
        case("five_point", "five_point", b, BLOCK, 0),
        case("five_point_sleeve", "five_point", b, BLOCK, 0),
        case("nine_point_sleeve", "diffuse", b, BLOCK, 0),
        case("heat", "heat", b, BLOCK, 0),
        case("heat_sleeve", "heat", b, BLOCK, 0),
        case("himeno", "jacobi", b, BLOCK, 0),
        case("himeno_sleeve", "jacobi", b, BLOCK, 0),
        case("conv5", "conv", b, BLOCK, 0),
        case("matmul", "multiply", ["T", "T"], [4, 4, 1], 0),
        case("five_point_temporal", "two_steps", ["DX", "DY"], [6, 5, 1], 2),
        case("heat_planes_temporal", "two_steps", ["DX", "DY"], [6, 5, 1], 2),
        case("himeno_temporal", "two_steps", b, [6, 5, 1], 2),
        case("kernels/edges", "edges", b, BLOCK, 0),
        case("kernels/ends", "ends", b, BLOCK, 0),
    ]
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Words that are taken for one another.
const SWAPS: [(&str, &str); 34] = [
    ("==", "!="),
    ("!=", "=="),
    ("<", "<="),
    (">=", ">"),
    ("&&", "||"),
    ("||", "&&"),
    (" + ", " - "),
    (" - ", " + "),
    ("threadIdx.x", "threadIdx.y"),
    ("threadIdx.y", "threadIdx.x"),
    ("BX", "BY"),
    ("BY", "BX"),
    ("nx", "ny"),
    ("ny", "nx"),
    ("i == ", "j == "),
    (" 1", " 2"),
    (" 1", " 0"),
    (" 2", " 1"),
    (" 0", " 1"),
    ("c + ", "c - "),
    ("DX - 2", "DX - 1"),
    ("min(", "max("),
    ("% 3", "% 2"),
    ("k + 2", "k + 1"),
    ("k + 1", "k + 2"),
    ("k % 3", "(k + 1) % 3"),
    ("k < nz", "k <= nz"),
    ("k > 0", "k > 1"),
    ("k == 1", "k == 2"),
    (" R", " 0"),
    (" R", " 2 * R"),
    (" < 0", " < 1"),
    (" 2 * nx", " nx"),
    ("ok", "true"),
];

/// A text with one damage; `None` when the choice does not suit it.
fn damaged(text: &str, random: &mut Random) -> Option<String> {
    if random.below(8) == 0 {
        // A statement of one line is gone: a barrier, a copy.
        let lines: Vec<&str> = text.lines().collect();
        let gone: Vec<usize> = (0..lines.len())
            .filter(|i| lines[*i].contains("__syncthreads") || lines[*i].contains("] = "))
            .collect();
        let at = gone[random.below(gone.len())];
        let kept =
            lines.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, l)| format!("{l}\n"));
        return Some(kept.collect());
    }
    let (from, to) = SWAPS[random.below(SWAPS.len())];
    let start = text.find("__global__")?;
    let places: Vec<usize> =
        text.match_indices(from).map(|(i, _)| i).filter(|i| *i > start).collect();
    let at = *places.get(random.below(places.len()))?;
    Some(format!("{}{to}{}", &text[..at], &text[at + from.len()..]))
}

fn proof_of(case: &Case, solver: &mut Solver, text: &str) -> Option<(Program, Proof)> {
    let rewritten = case.compiler.compile(text, &[], case.kernel).ok()?;
    let bounds = [(0, case.sizes[0].to_string()), (1, case.sizes[1].to_string())];
    let dropped: &[String] = if case.overlap > 0 { &["mid".to_string()] } else { &[] };
    let known = proof::Known { bounds: &bounds, ties: &[], dropped };
    let proof = proof::prove(solver, &case.reference, &rewritten, case.block, known).ok()?;
    proof.reads.iter().all(|r| r.1.is_none()).then_some((rewritten, proof))
}

/// Sizes up to a little over two blocks, and one more.
fn sizes(block: u32) -> Vec<i64> {
    let b = i64::from(block);
    vec![1, 2, 3, b - 1, b, b + 1, 2 * b - 1, 2 * b, 2 * b + 1, 3 * b + 2]
}

/// Emulates a proved text at many sizes; what is wrong with it.
fn refuted(case: &Case, rewritten: &Program) -> Option<String> {
    let step = |a: usize| case.block[a].saturating_sub(case.overlap).max(1);
    for x in sizes(case.block[0]) {
        for y in sizes(case.block[1]) {
            let y = if case.sizes[0] == case.sizes[1] { x } else { y };
            let size = [x as u32, y as u32];
            let grid = [0, 1].map(|a| size[a].div_ceil(step(a)));
            // Planes that are kept in turn come round.
            let z = if case.overlap > 0 { 1 + (x + y) % 7 } else { 4 };
            let mut integers: BTreeMap<String, i64> = [("nz".to_string(), z)].into();
            integers.insert(case.sizes[0].into(), x);
            integers.insert(case.sizes[1].into(), y);
            let launch = Launch {
                block: case.block,
                grid: [grid[0], grid[1], 1],
                constants: case.constants.clone(),
                integers,
                dynamic_shared: 0,
                ..Launch::default()
            };
            if let Some(what) = wrong_at(case, rewritten, &launch) {
                return Some(format!("{}: {what}", launch.describe()));
            }
        }
    }
    None
}

fn wrong_at(case: &Case, rewritten: &Program, launch: &Launch) -> Option<String> {
    let data = Data { seed: 3, tagged: &[], kind: Values::Tagged };
    let lengths = memory::needed(&case.reference, launch, data).ok()?.lengths;
    let run = |program: &Program, checks| {
        let mut p = memory::prepare(program, launch, Some(&lengths), data).expect("memory");
        let outcome = program::run(program, &p.config, &mut p.memory, checks).expect("it runs");
        (outcome, p)
    };
    let (outcome, actual) = run(rewritten, Checks::ALL);
    let (before, expected) = run(&case.reference, Checks::ALL);
    let known = |f: &warpsmith_emu::Finding| before.findings.iter().any(|b| b.rule == f.rule);
    if let Some(f) = outcome.findings.iter().find(|f| !f.rule.is_note() && !known(f)) {
        return Some(f.message.clone());
    }
    let arrays = expected.memory.buffers.iter().zip(&actual.memory.buffers).zip(&expected.arrays);
    let differs = arrays.filter(|(_, n)| *n != "mid").find(|((a, b), _)| a.bytes != b.bytes);
    differs.map(|(_, name)| format!("`{name}` differs"))
}

#[test]
fn damaged_kernels_are_proved_only_if_they_are_right() {
    let Some(program) = proof::solver::program() else { return };
    let count = number("WARPSMITH_STAGE_MUTANTS", 100) as usize;
    let mut random = Random(number("WARPSMITH_RANDOM_SEED", 1));
    let mut solver = Solver::start(&program).expect("the solver starts");
    let cases = cases();
    for case in &cases {
        let (rewritten, _) =
            proof_of(case, &mut solver, &case.text).expect("the example is proved");
        assert_eq!(refuted(case, &rewritten), None, "{}", case.text);
    }
    let (mut seen, mut proved) = (0, 0);
    let mut right: BTreeSet<String> = BTreeSet::new();
    while seen < count {
        let case = &cases[seen % cases.len()];
        let Some(text) = damaged(&case.text, &mut random) else { continue };
        seen += 1;
        let Some((rewritten, _)) = proof_of(case, &mut solver, &text) else { continue };
        proved += 1;
        let wrong = right.contains(&text).then_some(None);
        let wrong = wrong.unwrap_or_else(|| refuted(case, &rewritten));
        assert_eq!(wrong, None, "proved, and wrong:\n{text}");
        right.insert(text);
    }
    println!("{seen} damaged kernels, {proved} of them proved and equal");
}
