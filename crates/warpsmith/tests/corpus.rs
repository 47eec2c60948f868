//! `check` over the corpus: nothing is found in correct kernels, and every planted defect is.

use std::path::{Path, PathBuf};

use clap::Parser;
use warpsmith::check::{self, args::CheckArgs};
use warpsmith::report::{Item, Report};
use warpsmith_ir::SourceMap;
use warpsmith_testgen::sampled;

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    check: CheckArgs,
}

fn corpus(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the corpus is part of the repository")
        .map(|e| e.expect("a readable entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "cu"))
        .collect();
    files.sort();
    files
}

fn run(file: &Path) -> Result<(Report, SourceMap), String> {
    let mut sources = SourceMap::new();
    let line = Line::try_parse_from([file.as_os_str()]).expect("a path is a command line");
    match check::check(&line.check, &mut sources) {
        Ok(report) => Ok((report, sources)),
        Err(failure) => Err(failure.render(&sources, false)),
    }
}

/// One `// expect: RULE line=N [array=NAME]`.
struct Expectation {
    rule: String,
    line: u32,
    array: Option<String>,
}

/// The expectations of a file and the exit status it names.
fn expectations(text: &str) -> (Vec<Expectation>, Option<i32>) {
    let (mut list, mut status) = (vec![], None);
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("// expect:")) {
        let mut words = line.split_whitespace();
        let first = words.next().expect("an expectation names something");
        if let Some(code) = first.strip_prefix("status=") {
            status = Some(code.parse().expect("a status is a number"));
            continue;
        }
        let mut e = Expectation { rule: first.to_string(), line: 0, array: None };
        for word in words {
            match word.split_once('=') {
                Some(("line", n)) => e.line = n.parse().expect("a line is a number"),
                Some(("array", name)) => e.array = Some(name.to_string()),
                _ => panic!("`{word}` is no part of an expectation"),
            }
        }
        list.push(e);
    }
    (list, status)
}

fn fits(item: &Item, e: &Expectation, sources: &SourceMap) -> bool {
    let line = |s: warpsmith_ir::Span| sources.line_column(s.file, s.start).0;
    item.rule == e.rule
        && item.places.iter().filter_map(|p| p.span).any(|s| line(s) == e.line)
        && e.array.as_ref().is_none_or(|a| item.array.as_ref() == Some(a))
}

fn describe(report: &Report, sources: &SourceMap) -> String {
    warpsmith::report::human(report, sources, false)
}

#[test]
fn nothing_is_found_in_correct_kernels() {
    let folders = ["correct", "scopes/correct", "programs/correct", "language"];
    let files = folders.map(corpus).concat();
    assert!(files.len() >= 40, "the corpus holds {} correct kernels", files.len());
    let mut problems = vec![];
    let files = sampled(files);
    for file in &files {
        match run(file) {
            Ok((report, _))
                if report.findings.is_empty()
                    && report.complete
                    && report.assumptions.iter().all(|a| !a.contains("left out"))
                    && !report.launches.is_empty() => {}
            Ok((report, sources)) => problems.push(describe(&report, &sources)),
            Err(text) => problems.push(text),
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {} files:\n{}",
        problems.len(),
        files.len(),
        problems.join("\n")
    );
}

#[test]
fn every_planted_defect_is_found_and_nothing_else() {
    let mut problems = vec![];
    for file in sampled(["defects", "scopes/defects", "programs/defects"].map(corpus).concat()) {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let (expected, status) = expectations(&text);
        assert!(!expected.is_empty(), "{} expects nothing", file.display());
        let (report, sources) = match run(&file) {
            Ok(ran) => ran,
            Err(text) => {
                problems.push(format!("{}:\n{text}", file.display()));
                continue;
            }
        };
        let all: Vec<&Item> = report.findings.iter().chain(&report.notes).collect();
        for e in &expected {
            if !all.iter().any(|i| fits(i, e, &sources)) {
                let shown = describe(&report, &sources);
                problems.push(format!(
                    "{}: {} at line {} not found in\n{shown}",
                    file.display(),
                    e.rule,
                    e.line
                ));
            }
        }
        for item in &report.findings {
            if !expected.iter().any(|e| fits(item, e, &sources)) {
                problems.push(format!(
                    "{}: unexpected {}: {}",
                    file.display(),
                    item.rule,
                    item.message
                ));
            }
        }
        if status.is_some_and(|s| s != report.status.code()) {
            problems.push(format!("{}: exit status {}", file.display(), report.status.code()));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn each_rule_has_three_kernels_with_that_defect() {
    for rule in warpsmith_emu::Rule::ALL {
        // Assertions and invalid pointers are not among the rules the specification lists.
        if matches!(rule, warpsmith_emu::Rule::AssertFailed | warpsmith_emu::Rule::InvalidPointer) {
            continue;
        }
        let count = [corpus("defects"), corpus("programs/defects")]
            .concat()
            .iter()
            .filter(|f| {
                let text = std::fs::read_to_string(f).expect("a readable file");
                expectations(&text).0.iter().any(|e| e.rule == rule.name())
            })
            .count();
        assert!(count >= 3, "{} has {count} kernels", rule.name());
    }
}

/// Kernels of defects and correct ones in which blocks or warps hand something on by atomics and fences of some scope.
#[test]
fn scoped_synchronisation_has_as_many_kernels_as_the_published_suite() {
    let (racy, right) = (corpus("scopes/defects"), corpus("scopes/correct"));
    assert!(racy.len() >= 43 && right.len() >= 25, "{} racy, {} right", racy.len(), right.len());
}
