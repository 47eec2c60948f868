//! The kernel corpus: correct kernels have no findings, defects have the expected ones.

mod support;

use std::path::PathBuf;

use support::{line, run_text};
use warpsmith_emu::{Finding, Options, Outcome};

fn files(folder: &str) -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(folder);
    let mut list: Vec<PathBuf> = std::fs::read_dir(&root)
        .unwrap_or_else(|e| panic!("{}: {e}", root.display()))
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "cu"))
        .filter(|p| std::env::var("CASE").map_or(true, |c| p.to_string_lossy().contains(&c)))
        .collect();
    list.sort();
    list
}

/// Defects whose launches only the command makes: it gives kernels the functions that their file has, textures and surfaces.
const LAUNCHED_BY_THE_COMMAND: [&str; 2] =
    ["out-of-bounds-function-given.cu", "race-global-surface-neighbours.cu"];

fn options() -> Options {
    Options { jobs: 1, max_steps: 3_000_000, ..Options::default() }
}

fn describe(text: &str, f: &Finding) -> String {
    let at = |a: &warpsmith_emu::Access| {
        let l = a.span.map_or(0, |s| line(text, s.start));
        format!("{} line {l} {:?}", a.what, a.thread.map(|t| (t.block, t.thread)))
    };
    let places: Vec<String> = f.accesses.iter().map(at).collect();
    format!(
        "{} {:?}: {} [{}] x{} {:?}{:?} interval {:?}",
        f.rule.name(),
        f.kind,
        f.message,
        places.join("; "),
        f.count,
        f.array,
        f.index,
        f.interval
    )
}

#[test]
fn correct_kernels_have_no_findings() {
    let mut failures = vec![];
    for path in files("correct") {
        let text = std::fs::read_to_string(&path).expect("a corpus file");
        let name = path.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
        match run_text(&name, &text, &options()) {
            Err(e) => failures.push(format!("{name}: {e}")),
            Ok(outcomes) => {
                for o in &outcomes {
                    let found: Vec<String> = o
                        .findings
                        .iter()
                        .filter(|f| !f.rule.is_note())
                        .map(|f| describe(&text, f))
                        .collect();
                    if !found.is_empty() || o.limit.is_some() {
                        failures.push(format!("{name}: {:?} {}", o.limit, found.join("\n    ")));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// `// expect: RULE line=N [array=NAME]`.
struct Expectation {
    rule: String,
    line: usize,
    array: Option<String>,
}

fn expectations(text: &str) -> Vec<Expectation> {
    let lines = text.lines().filter_map(|l| l.trim().strip_prefix("// expect:"));
    lines
        .filter(|l| !l.contains("status="))
        .map(|l| {
            let mut e = Expectation { rule: String::new(), line: 0, array: None };
            for w in l.split_whitespace() {
                match w.split_once('=') {
                    Some(("line", n)) => e.line = n.parse().expect("a line number"),
                    Some(("array", n)) => e.array = Some(n.to_string()),
                    _ => e.rule = w.to_string(),
                }
            }
            e
        })
        .collect()
}

fn meets(text: &str, e: &Expectation, f: &Finding) -> bool {
    f.rule.name() == e.rule
        && (e.array.is_none() || e.array == f.array)
        && f.accesses.iter().any(|a| a.span.is_some_and(|s| line(text, s.start) == e.line))
}

fn compare(text: &str, outcomes: &[Outcome]) -> Vec<String> {
    let expected = expectations(text);
    let found: Vec<&Finding> = outcomes.iter().flat_map(|o| &o.findings).collect();
    let mut wrong = vec![];
    for e in &expected {
        if !found.iter().any(|f| meets(text, e, f)) {
            wrong.push(format!("missing: {} line {} {:?}", e.rule, e.line, e.array));
        }
    }
    for f in found {
        if !f.rule.is_note() && !expected.iter().any(|e| meets(text, e, f)) {
            wrong.push(format!("unexpected: {}", describe(text, f)));
        }
    }
    wrong
}

#[test]
fn planted_defects_are_found() {
    let mut failures = vec![];
    for path in files("defects") {
        let text = std::fs::read_to_string(&path).expect("a corpus file");
        let name = path.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
        if LAUNCHED_BY_THE_COMMAND.contains(&name.as_str()) {
            continue;
        }
        let wrong = match run_text(&name, &text, &options()) {
            Err(e) => vec![e],
            Ok(outcomes) => compare(&text, &outcomes),
        };
        if !wrong.is_empty() {
            failures.push(format!("{name}:\n    {}", wrong.join("\n    ")));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
