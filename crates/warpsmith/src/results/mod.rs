//! `warpsmith results`: what the store holds, and its way out of and into the files of other tuners.

mod exchange;
mod list;

use std::path::PathBuf;

use clap::Args;
use warpsmith_ir::{Diagnostic, SourceMap, printable};
use warpsmith_tune::store::{Damaged, Filter, Store, Summary};

use crate::progress::Phase;
use crate::search::store;
use crate::status::{Failure, Status};
use crate::terminal::{Format, Reported, color_on_stderr, inert_json, say};

pub use self::exchange::{Export, t4_text};

/// Options of `results`.
#[derive(Args, Debug)]
pub struct ResultsArgs {
    /// The file of results [default: $WARPSMITH_STORE, else warpsmith/results.sqlite where the user's data are]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,

    /// The results of one problem: its number in the list, or its kernel
    #[arg(long, value_name = "N|KERNEL")]
    pub problem: Option<String>,

    /// Only results of this kind: correct, constraints, compile, runtime, correctness or timeout
    #[arg(long, value_name = "STATUS", value_parser = parse_status)]
    pub status: Option<warpsmith_tune::outcome::Status>,

    /// Only so many, the fastest first
    #[arg(long, value_name = "N")]
    pub fastest: Option<u32>,

    /// Write a problem's results as t4, t4=ktt (T4 for KTT's reader), kt-cache (Kernel Tuner's cache) or t1 (the problem)
    #[arg(long, value_name = "FORMAT", value_parser = Export::named)]
    pub export: Option<Export>,

    /// Where to write it [default: stdout]
    #[arg(long, value_name = "FILE", requires = "export")]
    pub out: Option<PathBuf>,

    /// Take the results of a file into the store: T4, a cache of Kernel Tuner or KTT's own results, compressed or not
    #[arg(long, value_name = "FILE", conflicts_with_all = ["export", "problem", "status", "fastest"])]
    pub import: Vec<PathBuf>,

    /// How the result is written to stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

fn parse_status(name: &str) -> Result<warpsmith_tune::outcome::Status, String> {
    warpsmith_tune::outcome::Status::named(name).ok_or_else(|| {
        let all = warpsmith_tune::outcome::Status::ALL.map(|s| s.name()).join(", ");
        format!("`{name}` is none of {all}")
    })
}

/// The command.
pub fn run(args: &ResultsArgs) -> Status {
    let mut sources = SourceMap::new();
    let phase = Phase::new("results");
    let answer = answer(args, &mut sources);
    drop(phase);
    match answer {
        Ok(text) => {
            // What files of others and other users have put in the store is shown, and not obeyed.
            let json = args.export.is_some() || args.format == Format::Json;
            let text = if json { inert_json(&text) } else { printable(&text) };
            say(&text);
            Status::Done
        }
        Err(failure) => failure.report("results", args.format == Format::Json, &sources),
    }
}

/// What stdout gets.
fn answer(args: &ResultsArgs, sources: &mut SourceMap) -> Result<String, Failure> {
    let path = store::path(args.store.as_deref())?;
    if !args.import.is_empty() {
        return exchange::import(args, &path, sources);
    }
    // Looking makes no file.
    if !path.exists() {
        if args.store.is_some() || args.problem.is_some() || args.export.is_some() {
            let text = format!("there is no store `{}`", path.display());
            return Err(Diagnostic::error("W430", text)
                .help("`warpsmith tune` on a device makes it, and so does `warpsmith results --import`")
                .into());
        }
        return Ok(match args.format {
            Format::Human => {
                format!("there are no results yet; they will be in {}\n", path.display())
            }
            Format::Json => list::problems_json(&path, &[]),
        });
    }
    if args.export.is_some() && args.out.is_none() && args.format == Format::Json {
        let d =
            Diagnostic::error("W435", "stdout cannot hold the exported file and a report of it");
        return Err(d.help("name a file with --out, or leave --format away").into());
    }
    let store = Store::open_to_read(&path)?;
    let problems = store.as_ref().map_or_else(|| Ok(vec![]), Store::problems)?;
    if let Some(format) = args.export {
        let problem = chosen(&problems, args.problem.as_deref())?;
        let Some(store) = &store else { return Err(no_problem()) };
        warn_of(&store.damaged(problem.id)?);
        return exchange::export(args, format, &path, store, problem);
    }
    let one = args.problem.is_some() || args.status.is_some() || args.fastest.is_some();
    if !one {
        return Ok(match args.format {
            Format::Human => list::problems(&path, &problems),
            Format::Json => list::problems_json(&path, &problems),
        });
    }
    let problem = chosen(&problems, args.problem.as_deref())?;
    let Some(store) = &store else { return Err(no_problem()) };
    let records = store.dated_results(problem.id, filter(args))?;
    let damaged = store.damaged(problem.id)?;
    warn_of(&damaged);
    Ok(match args.format {
        Format::Human => list::rows(problem, &records),
        Format::Json => list::rows_json(&path, problem, &records, &damaged),
    })
}

/// Rows that cannot be read do not keep the others from being listed.
fn warn_of(damaged: &[Damaged]) {
    /// More of them are counted.
    const NAMED: usize = 12;
    let Some(first) = damaged.first() else { return };
    let column = |d: &Damaged| format!("{} (column `{}`)", d.row, d.column);
    let text = match damaged.len() {
        1 => format!("result {} of the store is damaged", column(first)),
        n => format!("{n} results of the store are damaged"),
    };
    let mut d = Diagnostic::warning("W422", text);
    if damaged.len() > 1 {
        let list: Vec<String> = damaged.iter().take(NAMED).map(column).collect();
        let more = if damaged.len() > NAMED { ", …" } else { "" };
        d = d.note(format!("their rows are {}{more}", list.join(", ")));
    }
    let d = d.help("the others are there; `tune --resume` measures what is lost again");
    eprintln!("{}", d.render(&SourceMap::new(), color_on_stderr()));
}

fn no_problem() -> Failure {
    Diagnostic::error("W432", "there is no problem in the store").into()
}

fn filter(args: &ResultsArgs) -> Filter {
    Filter { status: args.status, fastest: args.fastest }
}

/// The problem that is meant: by number, by kernel, or the only one.
fn chosen<'p>(problems: &'p [Summary], given: Option<&str>) -> Result<&'p Summary, Failure> {
    let found: Vec<&Summary> = match given {
        None => problems.iter().collect(),
        Some(text) => match text.parse::<i64>() {
            Ok(number) => problems.iter().filter(|p| p.id.number() == number).collect(),
            Err(_) => problems.iter().filter(|p| p.key.kernel == text).collect(),
        },
    };
    match (found.as_slice(), given) {
        ([only], _) => Ok(only),
        ([], Some(text)) => {
            Err(Diagnostic::error("W432", format!("there is no problem `{text}` in the store"))
                .help("`warpsmith results` lists them; take a number or the name of a kernel")
                .into())
        }
        ([], None) => Err(no_problem()),
        (several, _) => {
            let numbers: Vec<String> =
                several.iter().take(12).map(|p| p.id.number().to_string()).collect();
            let more = if several.len() > 12 { ", …" } else { "" };
            let text = match given {
                Some(text) => format!("several problems have the kernel `{text}`"),
                None => "the store has several problems".to_string(),
            };
            Err(Diagnostic::error("W432", text)
                .note(format!("their numbers are {}{more}", numbers.join(", ")))
                .help("say which one with --problem N; `warpsmith results` lists them")
                .into())
        }
    }
}
