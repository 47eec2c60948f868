//! `warpsmith clean`: removes what warpsmith keeps between runs, and nothing else.

use std::path::{Path, PathBuf};

use clap::Args;
use warpsmith_gpu::cache::Cache;
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_tune::store::Store;

use crate::cli::color_on_stderr;
use crate::search::store;
use crate::status::{Failure, Status};

/// Options of `clean`.
#[derive(Args, Debug)]
pub struct CleanArgs {
    /// Remove the results, too
    #[arg(long)]
    pub results: bool,

    /// The file of results [default: $WARPSMITH_STORE, else warpsmith/results.sqlite where the user's data are]
    #[arg(long, value_name = "FILE", requires = "results")]
    pub store: Option<PathBuf>,

    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// The command.
pub fn run(args: &CleanArgs) -> Status {
    match clean(args) {
        Ok(text) => {
            print!("{text}");
            Status::Done
        }
        Err(failure) => {
            eprint!("{}", failure.render(&SourceMap::new(), color_on_stderr()));
            failure.status
        }
    }
}

fn clean(args: &CleanArgs) -> Result<String, Failure> {
    // Asked first: a store that is none of ours stops the command before anything is gone.
    let store = if args.results { results(&store::path(args.store.as_deref())?)? } else { None };
    let verb = if args.dry_run { "would remove" } else { "removed" };
    let mut text = String::new();
    match Cache::of_user() {
        None => {
            text +=
                "there is no cache: neither WARPSMITH_CACHE nor XDG_CACHE_HOME nor HOME is set\n"
        }
        Some(cache) => {
            let failed = |e: std::io::Error| cannot_remove(cache.folder(), &e);
            let held = if args.dry_run { cache.contents() } else { cache.clean() };
            let held = held.map_err(failed)?;
            let (what, folder) =
                (plural(held.entries, "compiled kernel"), cache.folder().display());
            text += &format!("{verb} {what}, {}: {folder}\n", size(held.bytes));
        }
    }
    if let Some(found) = store {
        let problems = plural(found.problems, "problem");
        let results = plural(found.results, "result");
        let (bytes, path) = (size(found.bytes), found.path.display());
        if !args.dry_run {
            for file in files(&found.path) {
                std::fs::remove_file(&file).map_err(|e| cannot_remove(&file, &e))?;
            }
        }
        text += &format!("{verb} {results} of {problems}, {bytes}: {path}\n");
    } else if args.results {
        text += "there are no results\n";
    }
    Ok(text)
}

/// A store that can be removed.
struct Found {
    path: PathBuf,
    problems: u64,
    results: u64,
    bytes: u64,
}

/// What a store holds; `None` where there is no file.
fn results(path: &Path) -> Result<Option<Found>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let problems = Store::open(path)?.problems()?;
    let length = |file: &PathBuf| std::fs::metadata(file).map_or(0, |m| m.len());
    Ok(Some(Found {
        problems: problems.len() as u64,
        results: problems.iter().map(|p| p.results).sum(),
        bytes: files(path).iter().map(length).sum(),
        path: path.to_path_buf(),
    }))
}

/// The files of a store that are there: SQLite keeps two beside the database.
fn files(path: &Path) -> Vec<PathBuf> {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_os_string();
        name.push(end);
        PathBuf::from(name)
    };
    let all = [path.to_path_buf(), beside("-wal"), beside("-shm")];
    all.into_iter().filter(|file| file.exists()).collect()
}

fn cannot_remove(path: &Path, error: &std::io::Error) -> Failure {
    let text = format!("cannot remove `{}`: {error}", path.display());
    Diagnostic::error("W434", text).into()
}

fn plural(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
