//! The README: every command in it is run, and the output that it shows is what comes out (`WARPSMITH_BLESS=1` writes it).

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("there is a README")
}

/// A folder in which the paths of the README lead somewhere.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let examples = root().join("examples");
    let copied = Command::new("cp").arg("-r").args([&examples, folder.path()]).status().unwrap();
    assert!(copied.success());
    folder
}

/// The lines of all blocks of shell commands.
fn commands(text: &str) -> Vec<String> {
    let mut lines = vec![];
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            _ if inside => {
                lines.push(line.split('#').next().unwrap_or_default().trim().to_string())
            }
            _ => {}
        }
    }
    lines
}

/// What the commands of the README end with, where that is not 0: the example for `check` has a race.
fn status(line: &str) -> i32 {
    if line.starts_with("warpsmith check") { 1 } else { 0 }
}

#[test]
fn every_command_of_the_readme_runs() {
    let folder = folder();
    let text = readme();
    let mut run = 0;
    for line in commands(&text) {
        let Some(typed) = line.strip_prefix("warpsmith ") else {
            // What builds warpsmith itself is what this test was built with.
            assert!(line.starts_with("cargo "), "`{line}` is neither ours nor cargo's");
            continue;
        };
        let mut words: Vec<&str> = typed.split_whitespace().collect();
        // A ladder verifies a dozen kernels, which the test `ladder` waits for: here it must begin.
        let is_long = words[0] == "ladder";
        if is_long {
            words.extend(["--timeout", "4s"]);
        }
        let output = command(folder.path(), &words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if is_long && output.status.code() == Some(3) {
            assert!(said.contains("error[W470]"), "{line}: {said}");
        } else {
            assert_eq!(output.status.code(), Some(status(&line)), "{line}: {said}");
            assert!(!output.stdout.is_empty(), "{line} says nothing");
        }
        run += 1;
    }
    assert!(run >= 10, "only {run} commands were found");
}

/// `<!-- output: ARGUMENTS -->` before a block: what these arguments print.
#[test]
fn the_output_in_the_readme_is_real() {
    let folder = folder();
    let text = readme();
    let (before, rest) = text.split_once("<!-- output: ").expect("a marked output");
    let (typed, rest) = rest.split_once(" -->\n```text\n").expect("a block behind the mark");
    let (shown, after) = rest.split_once("```\n").expect("the end of the block");
    let words: Vec<&str> = typed.split_whitespace().collect();
    let output = command(folder.path(), &words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let real = String::from_utf8_lossy(&output.stdout);
    if std::env::var_os("WARPSMITH_BLESS").is_some() {
        let text = format!("{before}<!-- output: {typed} -->\n```text\n{real}```\n{after}");
        std::fs::write(root().join("README.md"), text).unwrap();
    } else {
        assert_eq!(shown, real, "WARPSMITH_BLESS=1 writes what comes out");
    }
}

/// Links and pictures lead to files that are there, also those of the pages.
#[test]
fn links_lead_somewhere() {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|e| e.unwrap().path());
    let pages = docs.filter(|p| p.extension().is_some_and(|e| e == "md"));
    for page in pages.chain([root().join("README.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap_or_default();
            if target.starts_with("http") || target.contains(char::is_whitespace) {
                continue;
            }
            let file = page.parent().unwrap().join(target.split('#').next().unwrap_or_default());
            assert!(file.exists(), "{}: `{target}` leads nowhere", page.display());
        }
    }
}

/// A section of the README is short; the pages in `docs` say the rest.
#[test]
fn sections_are_short() {
    for section in readme().split("\n## ").skip(1).filter(|s| s.starts_with("`warpsmith")) {
        let lines = section.lines().skip(1).filter(|l| !l.is_empty()).count();
        assert!(lines <= 10, "{lines} lines: {section}");
    }
}
