//! Faults planted in rewrites and in the emitter: the verification of `tune` must catch them all.
//!
//! A fault is one change to a lowered program, which is then emitted, or to the emitted text; what verifies the result is
//! what verifies every kernel that `tune` hands out. Faults that change nothing a run could show are listed with a reason
//! in `survivors.txt`; one that is not listed fails the test, and so does an entry that is caught.
//!
//! CI plants some of each kind in some of the cases; `WARPSMITH_ALL_FAULTS=1` plants all of them and is the way to make the list,
//! `WARPSMITH_ALL_FAULTS=listed` those that the list describes, `WARPSMITH_FAULTS_OF=TEXT` those of cases whose names
//! contain the text.

mod cases;
mod host_build;
mod program;
mod text;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use cases::{CASES, Case};
use host_build::{HostBuild, Said};
use warpsmith::ir::SourceMap;
use warpsmith::opt::Program;
use warpsmith::status::{Failure, Status};
use warpsmith::tune::TuneRequest;
use warpsmith::tune::faults::Prepared;
use warpsmith_testgen::{on_all_cores, sampled};

/// Faults of one case that CI plants.
const SAMPLE: usize = 24;
/// The fewest that CI must plant and see caught.
const LEAST: usize = 250;

/// The cases whose names contain a text, of which CI takes some.
fn chosen(only: &str) -> Vec<&'static Case> {
    sampled(CASES.iter().filter(|c| c.name.contains(only)).collect())
}

/// What of a number for all cases falls on those that were chosen.
fn share(least: usize, chosen: &[&Case]) -> usize {
    least * chosen.len() / CASES.len()
}

/// A changed text, with what was changed.
struct Fault {
    /// `CASE: WHAT: OLD LINE -> NEW LINE`, lines without blanks around them.
    name: String,
    what: &'static str,
    text: String,
}

fn prepare(case: &Case, folder: &Path) -> Prepared {
    let path = |suffix: &str| folder.join(format!("{}.{suffix}", case.name.replace(' ', "_")));
    let (source, schedule) = (path("c"), path("sched"));
    std::fs::write(&source, case.source).expect("a writable folder");
    std::fs::write(&schedule, case.schedule).expect("a writable folder");
    let request = TuneRequest::new(source).schedule(schedule).jobs(1);
    let mut sources = SourceMap::new();
    Prepared::new(&request.timeout(Duration::from_secs(300)), &mut sources)
        .unwrap_or_else(|e| panic!("{}: {}", case.name, e.render(&sources, false)))
}

/// All faults of a case with different texts.
fn faults(case: &Case, prepared: &Prepared) -> Vec<Fault> {
    let right = prepared.text(&prepared.program).expect("the program has a text");
    let of_rewrites =
        program::faults(&prepared.program.module).into_iter().filter_map(|(what, module)| {
            let program = Program { module, ..prepared.program.clone() };
            Some((what, prepared.text(&program).ok()?))
        });
    let mut seen = HashSet::from([right.clone()]);
    let mut found = vec![];
    for (what, text) in of_rewrites.chain(text::faults(&right)) {
        if seen.insert(text.clone()) {
            let (old, new) = first_difference(&right, &text);
            let name = format!("{}: {what}: {old} -> {new}", case.name);
            found.push(Fault { name, what, text });
        }
    }
    found
}

/// The first lines that differ, without blanks around them.
fn first_difference(right: &str, wrong: &str) -> (String, String) {
    let mut pairs = right.lines().zip(wrong.lines());
    let (old, new) = pairs.find(|(a, b)| a != b).unwrap_or_default();
    (old.trim().to_string(), new.trim().to_string())
}

/// Of every kind some, at even distances.
fn sample(mut faults: Vec<Fault>, most: usize) -> Vec<Fault> {
    faults.sort_by(|a, b| a.what.cmp(b.what));
    let stride = faults.len().div_ceil(most).max(1);
    faults.into_iter().step_by(stride).collect()
}

/// What caught a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Oracle {
    /// The text is not a program: nothing was planted.
    NoProgram,
    /// A finding of the emulator.
    Finding,
    /// Other contents of an array, or another result.
    Output,
    /// The launcher or a launch cannot be run.
    Launch,
    /// The run does not end.
    Limit,
    /// Nothing.
    Survived,
}

fn oracle(verdict: Result<(), Failure>) -> Oracle {
    let Err(failure) = verdict else { return Oracle::Survived };
    let note = |d: &warpsmith::ir::Diagnostic| format!("{d:?}");
    let said: String = failure.diagnostics.iter().map(note).collect();
    let code = failure.diagnostics.first().map_or("", |d| d.code);
    match (failure.status, code) {
        (Status::Limit, _) => Oracle::Limit,
        (Status::No, "W325") if said.contains("differs at index") => Oracle::Output,
        (Status::No, "W325") if RULES.iter().any(|r| said.contains(&format!("{r}: "))) => {
            Oracle::Finding
        }
        (Status::No, "W325") => Oracle::Launch,
        _ => Oracle::NoProgram,
    }
}

/// The emulator's rules that a wrong kernel can break.
const RULES: [&str; 12] = [
    "race-benign",
    "race-shared",
    "race-global",
    "out-of-bounds",
    "uninitialized-shared",
    "uninitialized-local",
    "divergent-barrier",
    "exited-before-barrier",
    "misaligned",
    "infinite-loop",
    "invalid-pointer",
    "overflow",
];

/// `NAME -- REASON` for every survivor known and explained; `…` in a name stands for any text.
fn known_survivors() -> Vec<&'static str> {
    known_of(include_str!("survivors.txt"))
}

fn known_of(list: &'static str) -> Vec<&'static str> {
    list.lines()
        .filter(|l| !l.starts_with('#') && !l.trim().is_empty())
        .map(|l| {
            let (name, reason) = l.rsplit_once(" -- ").expect("NAME -- REASON");
            assert!(!reason.trim().is_empty(), "`{name}` has no reason");
            name.trim()
        })
        .collect()
}

/// Whether a name is one that the pattern describes.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last.is_some_and(|part| part.is_empty() || rest.ends_with(part))
}

#[test]
fn planted_faults_are_caught() {
    let all = std::env::var("WARPSMITH_ALL_FAULTS").ok();
    let (all, listed) = (all.is_some(), all.as_deref() == Some("listed"));
    let known = known_survivors();
    let only = std::env::var("WARPSMITH_FAULTS_OF").unwrap_or_default();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let chosen = chosen(&only);
    let prepared: Vec<Prepared> = chosen.iter().map(|c| prepare(c, folder.path())).collect();
    let mut planted: Vec<(&Prepared, Fault)> = vec![];
    for (case, prepared) in chosen.iter().zip(&prepared) {
        let right = prepared.text(&prepared.program).expect("the program has a text");
        let verdict = prepared.verify(&right, &mut SourceMap::new());
        assert!(verdict.is_ok(), "{} is wrong before anything is planted:\n{right}", case.name);
        let faults = faults(case, prepared);
        let mut faults = if all { faults } else { sample(faults, SAMPLE) };
        if listed {
            faults.retain(|f| known.iter().any(|k| fits(k, &f.name)));
        }
        planted.extend(faults.into_iter().map(|f| (prepared, f)));
    }
    let oracles = on_all_cores(&planted, |(prepared, fault)| {
        oracle(prepared.verify(&fault.text, &mut SourceMap::new()).map(drop))
    });
    let verdicts: Vec<(Oracle, &Fault)> =
        oracles.into_iter().zip(planted.iter().map(|(_, fault)| fault)).collect();
    report(&verdicts, all && only.is_empty());
    let caught = |o: &Oracle| !matches!(o, Oracle::NoProgram | Oracle::Survived);
    let count = verdicts.iter().filter(|(o, _)| caught(o)).count();
    assert!(
        listed || !only.is_empty() || count >= share(LEAST, &chosen),
        "only {count} faults were planted and caught"
    );
}

/// Faults of one case that CI runs the test program with.
const TEST_SAMPLE: usize = 8;
/// The fewest of them that the test programs must see.
const TEST_LEAST: usize = 120;

/// What a test program showed of a fault.
fn shown(said: &Said) -> Oracle {
    match said.status {
        Some(1) if said.text.contains("DIFFERENT") => Oracle::Output,
        None => Oracle::Limit,
        _ if said.error.is_some() => Oracle::Launch,
        Some(0) if !said.races.is_empty() => Oracle::Finding,
        Some(0) => Oracle::Survived,
        // Killed: what it was given back broke it.
        _ => Oracle::Limit,
    }
}

/// The emitted test program is evidence, too: of each fault that the verification catches it prints a difference, or the
/// emulated device that it runs on reports an error or shows a race.
#[test]
fn test_programs_show_planted_faults() {
    let all = std::env::var("WARPSMITH_ALL_FAULTS").is_ok();
    let only = std::env::var("WARPSMITH_FAULTS_OF").unwrap_or_default();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let chosen = chosen(&only);
    let found = on_all_cores(&chosen, |case| shown_of(case, folder.path(), all)).concat();
    let mut by_oracle: BTreeMap<Oracle, usize> = BTreeMap::new();
    found.iter().for_each(|(oracle, _)| *by_oracle.entry(*oracle).or_default() += 1);
    println!("faults by what showed them: {by_oracle:?}");
    let known = known_of(include_str!("unshown.txt"));
    let unshown = found.iter().filter(|(o, _)| *o == Oracle::Survived).map(|(_, name)| name);
    let mut new: Vec<&String> =
        unshown.clone().filter(|s| !known.iter().any(|k| fits(k, s))).collect();
    new.sort();
    assert!(new.is_empty(), "{} are not shown, without a reason:\n{}", new.len(), lines(&new));
    if all && only.is_empty() {
        let shown: Vec<&&str> =
            known.iter().filter(|k| !unshown.clone().any(|s| fits(k, s))).collect();
        assert!(shown.is_empty(), "listed as not shown, but shown:\n{}", lines(&shown));
    }
    assert!(
        !only.is_empty() || found.len() >= share(TEST_LEAST, &chosen),
        "only {} faults were planted",
        found.len()
    );
}

/// Builds a case's test program and runs it with faults that are none by `survivors.txt`.
fn shown_of(case: &Case, folder: &Path, all: bool) -> Vec<(Oracle, String)> {
    let prepared = prepare(case, folder);
    let right = prepared.text(&prepared.program).expect("the program has a text");
    let verified = prepared.verify(&right, &mut SourceMap::new());
    let verified = verified.unwrap_or_else(|_| panic!("{} is wrong by itself", case.name));
    let [header, test] = prepared.test_program(&verified).expect("the program has a test");
    let own = folder.join(case.name.replace(' ', "_"));
    let build = HostBuild::new(&own, "f", &header, &test);
    let device = prepared.device(&right).expect("the emitted text is a program");
    let said = build.run(&device, 0);
    let equal = said.status == Some(0) && said.text.contains("f: equal") && said.races.is_empty();
    assert!(
        equal,
        "{}: the test program of a right kernel says: {} {:?} {:?}",
        case.name, said.text, said.error, said.races
    );
    let known = known_survivors();
    let mut faults = faults(case, &prepared);
    faults.retain(|f| !known.iter().any(|k| fits(k, &f.name)));
    let faults = if all { faults } else { sample(faults, TEST_SAMPLE) };
    let run = |(k, fault): (usize, Fault)| {
        let device = prepared.device(&fault.text).ok()?;
        Some((shown(&build.run(&device, k + 1)), fault.name))
    };
    faults.into_iter().enumerate().filter_map(run).collect()
}

/// Prints what caught how many; nothing may survive without a reason, nor be listed and caught.
fn report(verdicts: &[(Oracle, &Fault)], all: bool) {
    let mut by_oracle: BTreeMap<Oracle, usize> = BTreeMap::new();
    let mut by_kind: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (oracle, fault) in verdicts.iter().filter(|(o, _)| *o != Oracle::NoProgram) {
        *by_oracle.entry(*oracle).or_default() += 1;
        by_kind.entry(fault.what).or_default()[usize::from(*oracle == Oracle::Survived)] += 1;
    }
    println!("faults by what caught them: {by_oracle:?}");
    println!("by kind, caught and not: {by_kind:?}");
    let known = known_survivors();
    let survivors: HashSet<&str> = verdicts
        .iter()
        .filter(|(o, _)| *o == Oracle::Survived)
        .map(|(_, fault)| fault.name.as_str())
        .collect();
    let mut new: Vec<&&str> =
        survivors.iter().filter(|s| !known.iter().any(|k| fits(k, s))).collect();
    new.sort();
    assert!(new.is_empty(), "{} survive without a reason:\n{}", new.len(), lines(&new));
    if all {
        let caught: Vec<&&str> =
            known.iter().filter(|k| !survivors.iter().any(|s| fits(k, s))).collect();
        assert!(caught.is_empty(), "listed as survivors, but caught:\n{}", lines(&caught));
    }
}

fn lines<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(|i| format!("{i}\n")).collect()
}

/// A case's text with something else in it, verified.
fn verdict(name: &str, change: impl Fn(&str) -> String) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let case = CASES.iter().find(|c| c.name == name).expect("a case");
    let prepared = prepare(case, folder.path());
    let right = prepared.text(&prepared.program).expect("the program has a text");
    let wrong = change(&right);
    assert_ne!(right, wrong, "nothing was changed");
    let mut sources = SourceMap::new();
    match prepared.verify(&wrong, &mut sources) {
        Ok(_) => "right".to_string(),
        Err(failure) => failure.render(&sources, false),
    }
}

#[test]
fn numbers_that_only_large_sizes_show_are_followed() {
    let address = verdict("known sizes", |t| t.replace("(size_t)i * m", "i * m"));
    let said = "overflow: the byte of `A` that is accessed is ";
    assert!(address.contains(said), "{address}");
    assert!(address.contains("is wrong at m=11, n=2147418117"), "{address}");
    let counted = verdict("sum of reals", |t| t.replace("(long long)n * m", "n * m"));
    assert!(counted.contains("overflow: "), "{counted}");
    let blocks = verdict("product", |t| t.replace("blocks_y = MAX_BLOCKS;", ""));
    assert!(blocks.contains("blocks along y or z are launched, of 65535 at most"), "{blocks}");
}

#[test]
fn strides_are_taken_at_small_sizes() {
    let said =
        verdict("product", |t| t.replace("i += (long long)gridDim.y", "i = (long long)gridDim.y"));
    assert!(said.contains("the kernel for `f` is wrong at"), "{said}");
}

#[test]
fn the_least_of_integers_stands_in_one_place() {
    let other =
        |t: &str| t.replace("low_shared[threadIdx.x + offset]", "low_shared[threadIdx.y + offset]");
    let said = verdict("sums", other);
    assert!(said.contains("differs at index 0"), "{said}");
    let guard = verdict("sums", |t| t.replace("if (x[i] < low) ", ""));
    assert!(guard.contains("differs at index 0"), "{guard}");
}
