//! `warpsmith stage`: reads of global memory are served from shared memory where the user's plan puts their elements.

pub mod args;
mod automatic;
mod device_text;
mod measure;
mod report;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_stage::auto;
use warpsmith_stage::predicted::{self, Predicted};
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal, Steps};
use warpsmith_stage::several;
use warpsmith_stage::stage::{Access, Staged};
use warpsmith_stage::verify::proof::solver;

use crate::check::files;
use crate::data::{ArgSpec, NamedSpec};
use crate::output::{Outputs, check_folder};
use crate::progress::{Phase, Progress};
use crate::status::{Failure, Status};
use crate::terminal::{Format, Reported, inert_json};
use crate::wrong_file;
use args::StageArgs;
use warpsmith_translate::tune::device;

/// Runs the command.
pub fn run(args: &StageArgs) -> Status {
    let json = args.format == Format::Json;
    let done = if args.auto { automatic(args) } else { planned(args) };
    let Failed { failure, sources, accesses } = match done {
        Ok((human, value)) => {
            match json {
                true => println!("{}", inert_json(&value.to_string())),
                false => print!("{human}"),
            }
            return Status::Done;
        }
        Err(failed) => *failed,
    };
    if accesses.is_empty() {
        return failure.report("stage", json, &sources);
    }
    let status = failure.report("stage", false, &sources);
    eprint!("{}", report::verdicts(&accesses, &sources, args.explain));
    if json {
        let mut value = failure.json("stage", &sources);
        value["accesses"] = report::accesses(&accesses, &sources).into();
        println!("{}", inert_json(&value.to_string()));
    }
    status
}

/// Profiles, search and proofs.
const STEPS: usize = 3;

/// What is said, for people and for machines.
type Said = (String, Value);

fn planned(args: &StageArgs) -> Result<Said, Box<Failed>> {
    let (input, out) = prepared(args)?;
    let text = input.text.clone();
    let done = several::stage(input).map_err(|r| explained(args, &text, refused(r)))?;
    let mut all = vec![];
    for (input, mut staged) in done.kernels {
        staged.notes.extend(slower(args, &input, &staged)?);
        all.push(staged);
    }
    let outputs = written(args, &out, done.text)?;
    Ok(report::of_all(&all, &outputs, args.explain))
}

/// By how much a kernel has to be predicted slower with its plan for that to be said.
const SLOWER: f64 = 1.05;

/// What speaks against a plan that is right: the device model expects the kernel to be slower with it.
fn slower(args: &StageArgs, input: &Input, staged: &Staged) -> Result<Option<String>, Box<Failed>> {
    let place = device::measured_on("emulator", args.arch.as_deref(), false).map_err(plain)?;
    let device = automatic::Device::new(&place, &input.settings);
    // What cannot be counted is no reason against a result that was checked.
    let Ok(Some(times)) = predicted::predicted(input, staged, &device) else { return Ok(None) };
    let Predicted { before, after, counted } = times;
    let us = |s: f64| format!("{:.1} us", s * 1e6);
    Ok((after > before * SLOWER).then(|| {
        format!(
            "the device model predicts {} on {} for this and {} for the kernel without the plan, counted at {counted} and made large: it may be \
             slower with it",
            us(after),
            device.gpu.name,
            us(before)
        )
    }))
}

/// Finds a plan, or says that there is none worth it; the file is written either way.
fn automatic(args: &StageArgs) -> Result<Said, Box<Failed>> {
    let (input, out) = prepared(args)?;
    let place =
        device::measured_on(&args.device, args.arch.as_deref(), args.measure).map_err(plain)?;
    let costs = automatic::Device::new(&place, &input.settings);
    let chosen = auto::choose(&input, &costs);
    let chosen = chosen.map_err(|r| explained(args, &input.text, refused(r)))?;
    let text = chosen.best.as_ref().map_or(input.text.clone(), |b| b.text.clone());
    let outputs = written(args, &out, text)?;
    let mut human = automatic::human(&chosen, &costs);
    let mut value = automatic::json(&chosen, &costs, &outputs);
    match chosen.best.as_ref().and_then(|b| b.staged.as_deref()) {
        Some(staged) => {
            human += &report::human(staged, &outputs, args.explain);
            let plans = value["auto"].take();
            value = report::json(staged, &outputs);
            value["auto"] = plans;
        }
        None => outputs.iter().for_each(|o| human += &format!("wrote {}\n", o.display())),
    }
    Ok((human, value))
}

/// Why a file is not staged, and what is known of its reads.
#[derive(Debug)]
struct Failed {
    failure: Failure,
    sources: SourceMap,
    accesses: Vec<Access>,
}

fn plain(failure: Failure) -> Box<Failed> {
    Box::new(Failed { failure, sources: SourceMap::new(), accesses: vec![] })
}

/// What is asked for, and the folder that the result goes to.
fn prepared(args: &StageArgs) -> Result<(Input, PathBuf), Box<Failed>> {
    let input = input(args).map_err(plain)?;
    let folder = args.out.clone().unwrap_or_else(|| Path::new("warpsmith-out").join(name(args)));
    if !args.dry_run {
        check_folder(&folder).map_err(plain)?;
    }
    Ok((input, folder))
}

fn name(args: &StageArgs) -> String {
    args.file.file_stem().map_or("kernel".into(), |n| n.to_string_lossy().into_owned())
}

fn written(args: &StageArgs, folder: &Path, text: String) -> Result<Vec<PathBuf>, Box<Failed>> {
    if args.dry_run {
        return Ok(vec![]);
    }
    let mut files = Outputs::default();
    files.add(format!("{}.cu", name(args)), text);
    files.write(folder).map_err(plain)
}

fn refused(refusal: Refusal) -> Box<Failed> {
    let Refusal { no, diagnostics, sources, accesses } = refusal;
    let failure =
        Failure::from(diagnostics).with_status(if no { Status::No } else { Status::BadInput });
    Box::new(Failed { failure, sources, accesses })
}

/// With a hint where the file is one for another command.
fn explained(args: &StageArgs, text: &str, mut failed: Box<Failed>) -> Box<Failed> {
    failed.failure = wrong_file::explained(failed.failure, "stage", &args.file, text.as_bytes());
    failed
}

/// Shows the steps of what takes more than a second.
fn steps() -> Steps {
    let progress = RefCell::new(Progress::new("stage: step", STEPS));
    Steps::new(Rc::new(move |name| progress.borrow_mut().step(name)))
}

/// The same for plans that are found, which say themselves how many they are.
fn plans() -> Steps {
    let phase = Phase::new("stage:");
    Steps::new(Rc::new(move |name| phase.say(name)))
}

/// What is asked for, from the options.
///
/// # Errors
/// W301 for a file that cannot be read, W306 for arguments that are no whole numbers.
fn input(args: &StageArgs) -> Result<Input, Failure> {
    let bytes = files::read(&args.file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::input("W001", format!("`{}` is not UTF-8 text", args.file.display()))
    })?;
    let integers = numbers(&args.args)?;
    let sizes = numbers(&args.sizes)?;
    if let Some(block) = args.block.filter(|d| threads(d.0) > MOST_THREADS) {
        let message = format!("--block has {} threads", threads(block.0));
        let error = Diagnostic::error("W306", message);
        return Err(error.help(format!("a block has {MOST_THREADS} at most")).into());
    }
    let settings = Settings {
        path: args.file.display().to_string(),
        defines: args.source.defines(),
        include_dirs: args.source.include.clone(),
    };
    Ok(Input {
        settings,
        text,
        kernel: args.kernel.clone(),
        grid: args.grid.map(|d| d.0),
        block: args.block.map(|d| d.0),
        integers,
        meant: sizes,
        shared: args.shared.map(|b| b.min(256 << 10) as u32),
        fix: args.fix,
        plain: false,
        reference: args.reference.clone(),
        steps: if args.auto { plans() } else { steps() },
        quick: false,
        chosen: false,
        hosts: Default::default(),
        solver: solver::program().filter(|_| !args.no_proof),
    })
}

/// Threads of a block, at most.
const MOST_THREADS: u64 = 1024;

fn threads(block: [u32; 3]) -> u64 {
    block.into_iter().map(u64::from).product()
}

/// Values of whole-number arguments by name.
fn numbers(args: &[NamedSpec]) -> Result<BTreeMap<String, i64>, Failure> {
    let mut integers = BTreeMap::new();
    for arg in args {
        let number = match &arg.spec {
            ArgSpec::Number(n) => n.parse().ok(),
            _ => None,
        };
        let Some(value) = number else {
            let given = match &arg.spec {
                ArgSpec::Number(text) => format!(", but `{text}`"),
                _ => String::new(),
            };
            let message = format!("argument `{}` is no whole number{given}", arg.name);
            let error = Diagnostic::error("W306", message)
                .note("arrays are as long as the unmodified kernel needs, and hold values that tell elements apart");
            return Err(error.into());
        };
        integers.insert(arg.name.clone(), value);
    }
    Ok(integers)
}
