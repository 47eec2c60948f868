//! `warpsmith clean`: removes what warpsmith keeps between runs, and nothing else.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use warpsmith_gpu::cache::{Cache, Contents};
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_tune::store::Store;

use crate::search::store;
use crate::status::{Failure, Status};
use crate::terminal::{Format, Reported, inert_json, say};

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

    /// How the result is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The command.
pub fn run(args: &CleanArgs) -> Status {
    let json = args.format == Format::Json;
    let text = match clean(args) {
        Ok(cleaned) if json => {
            inert_json(&self::json(args, &cleaned).to_string()).into_owned() + "\n"
        }
        Ok(cleaned) => human(args, &cleaned),
        Err(failure) => return failure.report("clean", json, &SourceMap::new()),
    };
    say(&text);
    Status::Done
}

/// What was removed, or would be.
struct Cleaned {
    /// Compiled kernels; `None` where no variable says where they are kept.
    cache: Option<(PathBuf, Contents)>,
    /// Results, where they were asked for and there are some.
    store: Option<Found>,
}

fn clean(args: &CleanArgs) -> Result<Cleaned, Failure> {
    // Asked first: a store that is none of ours stops the command before anything is gone.
    let store = if args.results { results(&store::path(args.store.as_deref())?)? } else { None };
    let mut cache = None;
    if let Some(found) = Cache::of_user() {
        let held = if args.dry_run { found.contents() } else { found.clean() };
        let held = held.map_err(|e| cannot_remove(found.folder(), &e))?;
        cache = Some((found.folder().to_path_buf(), held));
    }
    for file in store.iter().filter(|_| !args.dry_run).flat_map(|found| files(&found.path)) {
        std::fs::remove_file(&file).map_err(|e| cannot_remove(&file, &e))?;
    }
    Ok(Cleaned { cache, store })
}

fn human(args: &CleanArgs, cleaned: &Cleaned) -> String {
    let verb = if args.dry_run { "would remove" } else { "removed" };
    let mut text = match &cleaned.cache {
        None => {
            "there is no cache: neither WARPSMITH_CACHE nor XDG_CACHE_HOME nor HOME is set\n".into()
        }
        Some((folder, held)) => {
            let what = plural(held.entries, "compiled kernel");
            format!("{verb} {what}, {}: {}\n", size(held.bytes), folder.display())
        }
    };
    if let Some(found) = &cleaned.store {
        let (problems, results) =
            (plural(found.problems, "problem"), plural(found.results, "result"));
        let (bytes, path) = (size(found.bytes), found.path.display());
        text += &format!("{verb} {results} of {problems}, {bytes}: {path}\n");
    } else if args.results {
        text += "there are no results\n";
    }
    text
}

/// One object, schema 1.
fn json(args: &CleanArgs, cleaned: &Cleaned) -> Value {
    let cache = cleaned.cache.as_ref().map(|(folder, held)| {
        json!({
            "folder": folder.display().to_string(), "kernels": held.entries, "bytes": held.bytes,
        })
    });
    let results = cleaned.store.as_ref().map(|found| {
        json!({
            "store": found.path.display().to_string(), "problems": found.problems,
            "results": found.results, "bytes": found.bytes,
        })
    });
    json!({
        "schema": 1, "command": "clean", "status": Status::Done.name(), "exit": Status::Done.code(),
        "complete": true, "findings": [], "notes": [], "outputs": [],
        "dry_run": args.dry_run, "cache": cache, "results": results,
    })
}

/// A store that can be removed.
struct Found {
    path: PathBuf,
    problems: u64,
    results: u64,
    /// Of the file and those beside it.
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
