//! Variants of the nests that templates are made for, and other nests: `tune` gives each a verified kernel, with the
//! steps that the file's `expect` comment names.
//!
//! No other code knows these files. CI looks at a part of them, by hand all run. With `WARPSMITH_EMITTED=DIR` what was emitted is left there for a CUDA compiler.

use std::path::{Path, PathBuf};

use warpsmith::tune::{RegisterSource, TuneRequest, Tuned, tune};
use warpsmith_ir::SourceMap;
use warpsmith_testgen::{on_all_cores, sampled};

fn variants() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/variants");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the variants are part of the repository")
        .map(|e| e.expect("a readable entry").path())
        .collect();
    files.sort();
    files
}

fn run(file: &Path) -> Result<Tuned, String> {
    let mut sources = SourceMap::new();
    // Several files at a time keep the cores busy.
    let request = TuneRequest::new(file).registers(RegisterSource::Estimate).jobs(1);
    tune(&request.verify_steps(500_000), &mut sources).map_err(|f| f.render(&sources, false))
}

fn keep(tuned: &Tuned) {
    let Some(dir) = std::env::var_os("WARPSMITH_EMITTED") else { return };
    let folder = Path::new(&dir).join("variants").join(&tuned.name);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for (name, text) in &tuned.files {
        std::fs::write(folder.join(name), text).expect("a writable folder");
    }
}

/// The steps that a file expects; a comma inside a step is written as it is, with `bind` before it.
fn expected(text: &str) -> Vec<String> {
    let line = text.lines().find_map(|l| l.strip_prefix("// expect: "));
    let mut steps: Vec<String> = vec![];
    for part in line.expect("a line that starts with `// expect: `").split(", ") {
        match steps.last_mut() {
            Some(last) if last.starts_with("bind ") && !part.contains(' ') => {
                *last += ", ";
                *last += part;
            }
            _ => steps.push(part.to_string()),
        }
    }
    steps
}

/// What is wrong with the result for a file.
fn problems(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
    let tuned = match run(file) {
        Ok(tuned) => tuned,
        Err(text) => return vec![format!("{name}: {text}")],
    };
    keep(&tuned);
    let taken = |step: &String| tuned.schedule.lines().any(|l| l.starts_with(step));
    let missing = expected(&text).into_iter().filter(|step| !taken(step));
    let mut problems: Vec<String> =
        missing.map(|step| format!("{name}: no `{step}` in\n{}", tuned.schedule)).collect();
    if tuned.messages.iter().any(|m| m.code == "W329") {
        problems.push(format!("{name}: the chosen schedule is wrong\n{}", tuned.schedule));
    }
    if tuned.verified.sizes.len() < 3 {
        problems.push(format!("{name}: verified at {:?} only", tuned.verified.sizes));
    }
    problems
}

#[test]
fn variants_get_the_steps_of_their_kind() {
    let files = variants();
    assert!(files.len() >= 30);
    let files = sampled(files);
    let found = on_all_cores(&files, |file| problems(file)).concat();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
