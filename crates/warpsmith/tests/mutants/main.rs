//! Mutation testing of `check`: small defects planted in the correct kernels of the corpus must be noticed.
//!
//! A mutant is killed by a finding, or by outputs that differ from the original's in one of up to five launches:
//! those of the file, then the same with other data and with smaller sizes. A barrier mutant that creates a race must
//! be killed by a finding: one whose outputs differ without a finding is an error. Survivors are listed with a reason in
//! `tests/corpus/survivors.txt`; one that is not listed fails the test, and so does an entry that is killed.
//!
//! CI looks at a sample of each file; `WARPSMITH_ALL_MUTANTS=1` looks at all of them and is the way to make the list.
//! `WARPSMITH_MUTANTS_OF=TEXT` looks only at the files whose names contain the text.

mod mutate;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use mutate::{Kind, Site};
use warpsmith::check::args::{LaunchArgs, SourceArgs};
use warpsmith::check::memory::Buffers;
use warpsmith::check::program::{self, StepProgram};
use warpsmith::data::{ArgSpec, NamedSpec};
use warpsmith_emu::{self as emu, Buffer, Options};
use warpsmith_ir::{Module, SourceMap};
use warpsmith_testgen::on_all_cores;

/// Mutants of one file that CI looks at.
const SAMPLE: usize = 10;
const MAX_MEMORY: u64 = 1 << 30;

/// One way to run a step.
#[derive(Clone, Debug)]
struct Variant {
    seed: u64,
    /// Replaces the value of one scalar argument in all launches.
    size: Option<(String, i64)>,
}

/// What a run left behind.
#[derive(PartialEq)]
struct Outcome {
    findings: Vec<&'static str>,
    buffers: Vec<Vec<u8>>,
    printed: String,
}

#[derive(PartialEq)]
enum Verdict {
    Finding,
    Output,
    Survived,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// Runs all launches of a step on one set of buffers; `None` when it cannot be run with this variant.
fn run(step: &StepProgram, module: &Module, variant: &Variant, steps: u64) -> Option<Outcome> {
    let mut buffers = Buffers::new(module);
    let mut outcome = Outcome { findings: vec![], buffers: vec![], printed: String::new() };
    for planned in &step.launches {
        let mut planned = planned.clone();
        if let Some((name, value)) = &variant.size
            && let Some(arg) = planned.args.args.iter_mut().find(|a| a.name == *name)
        {
            *arg = NamedSpec::new(name, ArgSpec::Number(value.to_string()));
        }
        let config = step
            .config(&planned, &mut buffers, variant.seed, Default::default(), MAX_MEMORY)
            .ok()?;
        let options = Options {
            warp_lockstep: planned.args.warp_sync,
            jobs: 1,
            max_steps: steps,
            ..Options::default()
        };
        let result = emu::run(module, &config, &mut buffers.memory, &options).ok()?;
        outcome
            .findings
            .extend(result.findings.iter().filter(|f| !f.rule.is_note()).map(|f| f.rule.name()));
        outcome.printed += &result.printed;
        if result.limit.is_some() {
            outcome.findings.push("limit");
        }
    }
    let bytes = |b: &Buffer| b.bytes.clone();
    outcome.buffers =
        buffers.memory.buffers.iter().chain(&buffers.memory.globals).map(bytes).collect();
    Some(outcome)
}

/// Up to five variants in which the original is clean, with what it leaves.
fn baselines(step: &StepProgram) -> Vec<(Variant, Outcome)> {
    let mut variants = vec![Variant { seed: 0, size: None }, Variant { seed: 1, size: None }];
    for planned in &step.launches {
        for arg in &planned.args.args {
            let ArgSpec::Number(text) = &arg.spec else { continue };
            let Ok(n) = text.parse::<i64>() else { continue };
            for smaller in [n - 1, n / 2 + 1, n - 2] {
                if smaller > 0 && smaller < n {
                    variants.push(Variant { seed: 2, size: Some((arg.name.clone(), smaller)) });
                }
            }
        }
    }
    let mut kept = vec![];
    for variant in variants {
        if kept.len() == 5 {
            break;
        }
        match run(step, &step.module, &variant, 1_000_000) {
            Some(outcome) if outcome.findings.is_empty() => kept.push((variant, outcome)),
            _ => {}
        }
    }
    kept
}

fn judge(step: &StepProgram, mutant: &Module, baselines: &[(Variant, Outcome)]) -> Verdict {
    let mut verdict = Verdict::Survived;
    for (variant, expected) in baselines {
        let Some(outcome) = run(step, mutant, variant, 300_000) else { continue };
        if !outcome.findings.is_empty() {
            return Verdict::Finding;
        }
        if outcome != *expected {
            verdict = Verdict::Output;
        }
    }
    verdict
}

/// The sites CI looks at: some of the barriers and some of the others, at even distances. Sites with one place in the
/// source (instances of a template, comparisons inside a built-in function) are taken or left together, as they are
/// judged together.
fn sample(sites: Vec<Site>, all: bool) -> Vec<Site> {
    if all {
        return sites;
    }
    let (barriers, others): (Vec<Site>, Vec<Site>) =
        sites.into_iter().partition(|s| s.kind.concerns_barrier());
    let pick = |list: Vec<Site>, n: usize| -> Vec<Site> {
        let place = |s: &Site| (s.kind.name(), s.span.map(|s| (s.file.0, s.start, s.end)));
        let mut places: Vec<_> = list.iter().map(place).collect();
        let mut seen = HashSet::new();
        places.retain(|p| seen.insert(*p));
        let stride = places.len().div_ceil(n.max(1)).max(1);
        let chosen: HashSet<_> = places.into_iter().step_by(stride).collect();
        list.into_iter().filter(|s| chosen.contains(&place(s))).collect()
    };
    let mut chosen = pick(barriers, SAMPLE / 2);
    chosen.extend(pick(others, SAMPLE / 2));
    chosen
}

/// `file: line L: kind` for every survivor known and explained.
fn known_survivors() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(root().join("survivors.txt")).unwrap_or_default();
    text.lines()
        .filter(|l| !l.starts_with('#') && !l.trim().is_empty())
        .map(|l| {
            let (name, reason) = l.split_once(" -- ").expect("NAME -- REASON");
            assert!(!reason.trim().is_empty(), "`{name}` has no reason");
            (name.trim().to_string(), reason.trim().to_string())
        })
        .collect()
}

fn site_name(file: &Path, site: &Site, sources: &SourceMap) -> String {
    let (line, column) = site.span.map_or((0, 0), |s| sources.line_column(s.file, s.start));
    let file = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{file}:{line}:{column}: {}", site.kind.name())
}

/// A site as the source has it: instances of one template share it, `a[i]` and `a[i][j]` do not.
fn site_key(file: &Path, site: &Site, sources: &SourceMap) -> (String, u32) {
    (site_name(file, site, sources), site.span.map_or(0, |s| s.end))
}

#[derive(Default)]
struct Tally {
    killed_by_finding: usize,
    barriers_killed_by_finding: usize,
    killed_by_output: usize,
    survivors: Vec<String>,
    /// Barrier mutants that change outputs and are not reported.
    missed_races: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.killed_by_finding += other.killed_by_finding;
        self.barriers_killed_by_finding += other.barriers_killed_by_finding;
        self.killed_by_output += other.killed_by_output;
        self.survivors.extend(other.survivors);
        self.missed_races.extend(other.missed_races);
    }
}

fn look_at(file: &Path, all: bool) -> Tally {
    let mut tally = Tally::default();
    let mut sources = SourceMap::new();
    let prelude = warpsmith_front::prelude::unit(&mut sources);
    let libraries = warpsmith_front::sema::Libraries::new(&prelude);
    let loaded = program::load(
        file,
        &LaunchArgs::default(),
        &SourceArgs::default(),
        &libraries,
        &mut sources,
    )
    .unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    // A site survives only if it survives in every step of the file.
    let mut verdicts: BTreeMap<(String, u32), (Kind, Vec<Verdict>)> = BTreeMap::new();
    for step in &loaded.steps {
        let baselines = baselines(step);
        if baselines.is_empty() {
            continue;
        }
        for site in sample(mutate::sites(&step.module), all) {
            let key = site_key(file, &site, &sources);
            let mutant = mutate::mutate(&step.module, &site);
            let verdict = judge(step, &mutant, &baselines);
            verdicts.entry(key).or_insert((site.kind, vec![])).1.push(verdict);
        }
    }
    for ((name, _), (kind, verdicts)) in verdicts {
        if verdicts.contains(&Verdict::Finding) {
            tally.killed_by_finding += 1;
            tally.barriers_killed_by_finding += usize::from(kind.concerns_barrier());
        } else if verdicts.contains(&Verdict::Output) {
            tally.killed_by_output += 1;
            if kind.concerns_barrier() {
                tally.missed_races.push(name);
            }
        } else {
            tally.survivors.push(name);
        }
    }
    tally
}

/// Looks at all files, on all cores.
fn look_at_all(files: &[PathBuf], all: bool) -> Tally {
    let tallies = on_all_cores(files, |file| {
        let start = Instant::now();
        let tally = look_at(file, all);
        println!(
            "{:6.1} s, {} survivors: {}",
            start.elapsed().as_secs_f64(),
            tally.survivors.len(),
            file.file_name().unwrap_or_default().display()
        );
        tally
    });
    let mut tally = Tally::default();
    tallies.into_iter().for_each(|one| tally.add(one));
    tally.survivors.sort();
    tally.missed_races.sort();
    tally
}

#[test]
fn mutants_are_killed() {
    let all = std::env::var_os("WARPSMITH_ALL_MUTANTS").is_some();
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("correct"))
        .expect("the corpus is part of the repository")
        .map(|e| e.expect("a readable entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "cu"))
        .collect();
    files.sort();
    let only = std::env::var("WARPSMITH_MUTANTS_OF").unwrap_or_default();
    files.retain(|f| f.to_string_lossy().contains(&only));
    let tally = look_at_all(&files, all);
    let known = known_survivors();
    let new: Vec<&String> = tally.survivors.iter().filter(|s| !known.contains_key(*s)).collect();
    println!(
        "mutants: {} killed by a finding ({} of them of barriers), {} by their outputs, \
         {} survived ({} not explained)",
        tally.killed_by_finding,
        tally.barriers_killed_by_finding,
        tally.killed_by_output,
        tally.survivors.len(),
        new.len()
    );
    assert!(
        tally.missed_races.is_empty() && new.is_empty(),
        "outputs changed without a finding:\n{:#?}\nsurvivors without a reason:\n{new:#?}",
        tally.missed_races
    );
    if all && only.is_empty() {
        let killed: Vec<&String> = known.keys().filter(|k| !tally.survivors.contains(k)).collect();
        assert!(killed.is_empty(), "listed as survivors, but killed:\n{killed:#?}");
    }
}
