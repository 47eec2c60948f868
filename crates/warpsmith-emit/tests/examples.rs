//! The C examples, printed again.

mod build;

use std::path::{Path, PathBuf};

use warpsmith_front::cloops::{CInput, lower_c};
use warpsmith_front::parse::{Language, ParseOptions, parse};
use warpsmith_front::pp::DiskLoader;
use warpsmith_ir::{Diagnostic, SourceMap};

fn examples() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    files.sort();
    files
}

fn lowered(path: &Path) -> Result<CInput, String> {
    let mut sources = SourceMap::new();
    let text = std::fs::read(path).unwrap();
    let options = ParseOptions::new(Language::C);
    let said = |errors: Vec<Diagnostic>, sources: &SourceMap| {
        errors.iter().map(|e| e.render(sources, false)).collect::<String>()
    };
    let unit = parse(&path.to_string_lossy(), &text, &options, &DiskLoader, &mut sources);
    let unit = unit.map_err(|e| said(e, &sources))?;
    lower_c(&unit.unit, None).map_err(|e| said(e, &sources))
}

#[test]
fn every_example_prints_as_plain_cpp() {
    let files = examples();
    assert!(files.len() >= 30);
    let mut failures = String::new();
    for path in files {
        match lowered(&path) {
            Ok(input) => check(&input, &path),
            Err(messages) => failures += &messages,
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

fn check(input: &CInput, path: &Path) {
    let text = warpsmith_emit::reference_file(&input.module, input.function).unwrap();
    build::keep("sm_75", &text);
    assert!(text.contains(&format!("{}(", input.name)), "{text}");
    let long = text.lines().find(|l| l.chars().count() > 100);
    assert_eq!(long, None, "{}", path.display());
}
