//! What `check` refuses: each construct has one diagnostic that names what to write instead, and `docs/refused.md` lists them.

use std::path::{Path, PathBuf};

use clap::Parser;
use warpsmith::check::{self, args::CheckArgs};
use warpsmith_ir::SourceMap;

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    check: CheckArgs,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files() -> Vec<PathBuf> {
    let folder = root().join("tests/corpus/refused");
    let entries = std::fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a readable entry").path()).collect();
    files.sort();
    files
}

/// One line of the table: the construct, the code, what is said, and what to write instead.
fn row(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let what = text.lines().next().and_then(|l| l.strip_prefix("// ")).expect("a title");
    let line = Line::try_parse_from([file.as_os_str()]).expect("a path is a command line");
    let mut sources = SourceMap::new();
    let failure = match check::check(&line.check, &mut sources) {
        Ok(_) => panic!("{} is not refused any more", file.display()),
        Err(failure) => failure,
    };
    let first = failure.diagnostics.first().expect("a refusal says why");
    assert!(!first.labels.is_empty(), "{}: no place", file.display());
    let instead = first.help.first();
    let instead =
        instead.unwrap_or_else(|| panic!("{}: no help: {}", file.display(), first.message));
    let said = first.message.replace('|', "\\|");
    format!("| {what} | {} | {said} | {} |\n", first.code, instead.replace('|', "\\|"))
}

/// Whether a line of the table is about this refusal; `{}` in its texts is whatever was written.
fn shows(row: &str, refusal: &warpsmith_front::sema::Refusal) -> bool {
    let parts: Vec<&str> = row.split(" | ").collect();
    let [_, code, said, instead] = parts.as_slice() else { return false };
    let fits = |text: &str, pattern: &str| match pattern.split_once("{}") {
        Some((before, after)) => text.starts_with(before) && text.ends_with(after),
        None => text == pattern,
    };
    *code == refusal.code
        && fits(said, refusal.says)
        && fits(instead.trim_end_matches(" |"), refusal.instead)
}

/// What the code refuses by a message of its own has an example, and so stands in the list.
#[test]
fn every_refusal_of_the_code_has_an_example() {
    let rows: String = files().iter().map(|file| row(file)).collect();
    for refusal in warpsmith_front::sema::REFUSALS {
        let shown = rows.lines().any(|row| shows(row, refusal));
        let (says, instead) = (refusal.says, refusal.instead);
        assert!(shown, "no file in tests/corpus/refused shows `{says}`, {instead}");
    }
}

#[test]
fn the_list_of_what_is_refused_is_up_to_date() {
    let mut page = String::from(
        "# What `warpsmith check` refuses\n\n\
         CUDA that kernels may use and that is not understood, each with what is said and what to write instead. In host code it is\n\
         left out and named. The test `refused` writes this page with `WARPSMITH_BLESS=1`.\n\n\
         | construct | code | message | instead |\n|---|---|---|---|\n",
    );
    files().iter().for_each(|file| page += &row(file));
    let path = root().join("docs/refused.md");
    if std::env::var_os("WARPSMITH_BLESS").is_some() {
        std::fs::write(&path, &page).expect("a writable folder");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "run the test with WARPSMITH_BLESS=1");
}
