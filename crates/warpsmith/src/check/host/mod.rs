//! Launches from host code: the program of a file is run as far as it is understood, its kernels in the emulator.

mod argv;
mod clock;
mod devices;
mod effort;
mod launcher;
pub(super) mod lent;
mod repeats;
mod several;
mod streams;
mod tries;
mod unequal;
mod uneven;
mod unfinished;
mod variants;
mod words;

use std::path::Path;
use std::sync::atomic::Ordering;

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::sema;
use warpsmith_ir::interp::{self, InterpErrorKind, Limits, Memory};
use warpsmith_ir::visit::Visitor;
use warpsmith_ir::{Diagnostic, FuncId, Module, SourceMap, Span};

pub(super) use self::effort::Effort;
use self::launcher::HostLauncher;
use self::words::kernel_at;
use super::args::LaunchArgs;
use super::plan::Allow;
use super::program::{with_headers, with_notes};
use super::runner::Runner;
use super::shown;
use super::variables::{self, Variables};
use crate::interrupt;
use crate::status::Failure;

/// Statements and expressions of the host that are run, at most.
const HOST_STEPS: u64 = 20_000_000_000;
/// Places of host code that was left out, as many as a report lists.
const MOST_LEFT_OUT: usize = 20;

/// A file's `main`, ready to run.
pub struct Program {
    pub warnings: Vec<Diagnostic>,
    pub module: Module,
    entry: FuncId,
}

impl Program {
    /// Its `main` does something with them; the program's own name is none.
    fn reads_arguments(&self) -> bool {
        let main = self.module.function(self.entry);
        let [count, words, ..] = main.params[..] else { return false };
        let mut reads = argv::Reads { count, words, found: false };
        reads.block(&main.body);
        reads.found
    }
}

/// Bytes of host and device in a run with sizes that nobody gave: a product of several numbers is soon too large.
const BYTES_OF_TRIES: u64 = 1 << 28;

/// A program to be run, and what every run of it has in common.
#[derive(Clone, Copy)]
struct Running<'t> {
    path: &'t Path,
    program: &'t Program,
    unit: &'t TranslationUnit,
    seed: u64,
    /// Statements and expressions of the host that are run, at most.
    host_steps: u64,
    /// Bytes that host and device have, at most.
    most_bytes: u64,
    /// The run ends where something takes too long and nothing has been found: others take its place.
    impatient: bool,
    /// So it does where the launches do, once the time has come to hurry.
    tires: bool,
    /// An assertion that fails before anything was launched ends the run: its arguments do not suit the program.
    asserts: bool,
    /// The run ends soon after something was found.
    ends_after_finding: bool,
    sources: &'t SourceMap,
}

/// The extents of one launch, as often as it was run with them.
#[derive(Clone, PartialEq)]
pub(super) struct Shape {
    /// The launch as reports name it.
    pub label: String,
    /// Where it stands.
    pub at: Option<Span>,
    pub kernel: FuncId,
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

/// How one run of the program went.
#[derive(Default)]
pub(super) struct Ran {
    /// Launches that were run.
    pub launched: usize,
    /// Those of them that a device refuses.
    pub refused: usize,
    /// Statements with launches that were left out, and why.
    pub lost: Vec<(Option<Span>, String)>,
    /// Repetitions of launches that were left out, in words.
    pub left_out: Vec<String>,
    /// Other statements that were left out.
    pub skipped: Vec<(Option<Span>, String)>,
    /// Some of all these because they take too long.
    pub slow: bool,
    /// It ended at an assertion that its arguments do not meet.
    pub asserted: bool,
    /// Kernels that ran, by name, of launches that a device takes.
    pub kernels: Vec<String>,
    /// Where the program ended by `exit` or an error it saw itself.
    pub ended: Option<Span>,
    /// What `main` returned.
    pub status: Option<i64>,
    /// The extents of what was launched.
    pub shapes: Vec<Shape>,
    /// Scalars that no option gave, by kernel.
    pub missing: Vec<(String, String)>,
}

impl Ran {
    /// Something ran that a device would run.
    fn worked(&self) -> bool {
        self.launched > self.refused
    }

    /// Kernels that it launched.
    fn distinct(&self) -> usize {
        let names: std::collections::HashSet<&str> =
            self.kernels.iter().map(|k| kernel_at(k)).collect();
        names.len()
    }

    /// How far it came, to be compared.
    fn progress(&self) -> (usize, usize, usize) {
        (self.launched, self.lost.len(), self.skipped.len())
    }
}

/// Lowers the program of a file; `None` when the file has no `main` that launches something.
///
/// # Errors
/// Kernels that the program launches and that are not supported.
pub fn load(
    unit: &TranslationUnit,
    libraries: &sema::Libraries<'_>,
) -> Result<Option<Program>, Failure> {
    if !sema::has_host_function(unit, "main") || sema::launches_of(unit).is_empty() {
        return Ok(None);
    }
    let lowered =
        sema::lower_program(unit, libraries, "main").map_err(|list| with_headers(list, unit))?;
    let entry = lowered.host_functions.first().copied();
    Ok(entry.map(|entry| Program { module: lowered.module, entry, warnings: lowered.warnings }))
}

impl Runner<'_> {
    /// Runs a program and its launches; what was left out of it is among the assumptions.
    ///
    /// # Errors
    /// W309 when nothing was launched, with what stood in the way.
    pub(super) fn program(
        &mut self,
        path: &Path,
        program: &Program,
        unit: &TranslationUnit,
        allows: &[Allow],
        sources: &SourceMap,
    ) -> Result<(), Failure> {
        let args = self.args.launch.clone();
        check_names(program, &args)?;
        self.not_run(path, &program.warnings, sources);
        let first_item = self.items.len();
        let seeds = args.seeds.unwrap_or(1);
        let unlimited = self.args.all_repeats || self.args.max_total_steps.is_some();
        let most = if unlimited { u64::MAX } else { self.effort.program };
        let times = (!unlimited && self.args.timeout.is_none()).then_some(self.effort.times);
        let run = |runner: &mut Self| {
            for repetition in 0..seeds {
                let seed = args.seed.unwrap_or(0).wrapping_add(u64::from(repetition));
                let of = Running {
                    path,
                    program,
                    unit,
                    seed,
                    host_steps: HOST_STEPS,
                    most_bytes: runner.args.max_memory,
                    impatient: false,
                    tires: false,
                    asserts: false,
                    ends_after_finding: !unlimited,
                    sources,
                };
                let ran = runner.on_enough_devices(&of)?;
                runner.account(path, unit, &ran, sources)?;
            }
            Ok::<(), Failure>(())
        };
        self.timed(times, |runner| runner.within(most, run))?;
        self.kernel_was_run(path)?;
        for text in variables::never_set(&program.module, &Variables::of(unit), &[&args]) {
            self.assume(format!("{}: {text}", shown(path)));
        }
        self.apply_allows(allows, first_item, sources);
        Ok(())
    }

    /// The kernel that `--kernel` names is among those that the program launched.
    fn kernel_was_run(&self, path: &Path) -> Result<(), Failure> {
        let is_late = self.interrupted || !self.limits.is_empty();
        let Some(kernel) =
            self.args.launch.kernel.as_ref().filter(|_| self.launches.is_empty() && !is_late)
        else {
            return Ok(());
        };
        let message = format!("the host code of `{}` launches no `{kernel}`", shown(path));
        let error = Diagnostic::error("W304", message);
        Err(error
            .help("leave --kernel out to see what it launches, or give --grid and --block")
            .into())
    }

    /// Does something with so many of the thread instructions that are left, at most.
    fn within<T>(&mut self, most: u64, run: impl FnOnce(&mut Self) -> T) -> T {
        let kept = self.steps_left.saturating_sub(most);
        self.steps_left -= kept;
        let result = run(self);
        self.steps_left += kept;
        result
    }

    /// One run of a program with these arguments; nobody gave them where they are invented.
    fn run_with(
        &mut self,
        of: &Running<'_>,
        arguments: &[String],
        invented: bool,
    ) -> Result<Ran, Failure> {
        if self.interrupted {
            return Ok(Ran::default());
        }
        let Running { path, program, .. } = *of;
        let args = &self.args.launch.clone();
        let mut memory = Memory::default();
        let name = path.file_stem().map_or("program".into(), |n| n.to_string_lossy().into_owned());
        let words: Vec<String> = std::iter::once(name).chain(arguments.iter().cloned()).collect();
        let entry = program.module.function(program.entry);
        let values = memory.main_arguments(entry, &words);
        let limits = Limits {
            max_steps: of.host_steps,
            deadline: self.deadline,
            interrupt: Some(interrupt::flag()),
            ..Limits::default()
        };
        let buffers = memory.buffers.len();
        let limits_before = self.limits.len();
        let mut launcher = HostLauncher::new(self, of, args, invented, buffers);
        let result = interp::call(
            &program.module,
            program.entry,
            &values,
            &mut memory,
            &limits,
            &mut launcher,
        );
        let (mut ran, failure) = launcher.finish();
        self.interrupted |= interrupt::flag().load(Ordering::Relaxed);
        if let Some(failure) = failure {
            return Err(failure);
        }
        if result.is_err() && self.is_late() && self.limits.len() == limits_before {
            self.ended_late(path);
        }
        match result {
            Err(error) if error.kind == InterpErrorKind::Trap => {
                ran.ended = error
                    .span
                    .or(Some(program.module.function(program.entry).origin.span).flatten());
            }
            Err(error) if !matches!(error.kind, InterpErrorKind::Launch(_)) => {
                ran.lost.push((error.span, error.to_string()));
            }
            Ok(Some(value)) => ran.status = Some(value.as_i64()),
            _ => {}
        }
        Ok(ran)
    }

    /// Says what of the program was not run, and refuses when that was all of it.
    fn account(
        &mut self,
        path: &Path,
        unit: &TranslationUnit,
        ran: &Ran,
        sources: &SourceMap,
    ) -> Result<(), Failure> {
        if ran.launched == 0 && self.limits.is_empty() && self.is_late() {
            self.ended_late(path);
        }
        if ran.launched == 0 && !self.interrupted && self.limits.is_empty() {
            return Err(with_notes(nothing_launched(path, ran), unit).into());
        }
        for (span, why) in &ran.lost {
            let at = place(*span, sources, path);
            self.lost.push(format!("{at}: a launch was not run: {why}"));
        }
        self.left_out.extend(ran.left_out.iter().cloned());
        self.missing_headers(unit, !ran.skipped.is_empty());
        for (span, why) in ran.skipped.iter().take(MOST_LEFT_OUT) {
            let at = place(*span, sources, path);
            self.assume(format!("{at}: host code was left out: {why}"));
        }
        if let Some(more) = ran.skipped.len().checked_sub(MOST_LEFT_OUT).filter(|n| *n > 0) {
            self.assume(format!("{}: more host code was left out at {more} places", shown(path)));
        }
        let launched = |name: &str| ran.kernels.iter().any(|k| kernel_at(k) == kernel_at(name));
        for kernel in sema::kernels_of(unit) {
            if !launched(&kernel.base) {
                self.assume(format!(
                    "{}: `{}` was not launched and not checked",
                    shown(path),
                    kernel.name
                ));
            }
        }
        Ok(())
    }
}

/// Why a program launched nothing.
fn nothing_launched(path: &Path, ran: &Ran) -> Diagnostic {
    let message = format!("the host code of `{}` launches nothing that could be run", shown(path));
    let mut error = Diagnostic::error("W309", message);
    let stood = ran.lost.iter().chain(&ran.skipped).take(4);
    for (span, why) in stood {
        error = match span {
            Some(span) => error.label(*span, why.clone()),
            None => error.note(why.clone()),
        };
    }
    if let Some(span) = ran.ended {
        error = error.label(span, "the program ends here");
    }
    for (kernel, name) in &ran.missing {
        error = error.note(format!("`{kernel}` needs a value for `{name}`"));
    }
    let names: Vec<String> =
        ran.missing.iter().map(|(_, name)| format!("--arg {name}=256")).collect();
    let help = match names.as_slice() {
        [] => "give variables of the host with --arg NAME=VALUE, the program's arguments with --host-args, or a launch with --kernel, --grid and --block".to_string(),
        names => format!("add {}", names.join(" ")),
    };
    error.help(help)
}

/// A place as `file:line`.
pub(super) fn place(span: Option<Span>, sources: &SourceMap, path: &Path) -> String {
    match span.and_then(|s| Some((sources.get(s.file)?.path.clone(), s))) {
        Some((file, s)) => format!("{file}:{}", sources.line_column(s.file, s.start).0),
        None => shown(path),
    }
}

/// Every `--arg` means something in the program: a variable, a parameter of a kernel, a variable of the device.
fn check_names(program: &Program, args: &LaunchArgs) -> Result<(), Failure> {
    let module = &program.module;
    let known = |name: &str| {
        module.functions.iter().any(|f| f.vars.iter().any(|v| v.name == name))
            || module.globals.iter().any(|g| g.name == name)
    };
    match args.args.iter().find(|a| !known(a.name.split('.').next().unwrap_or(&a.name))) {
        None => Ok(()),
        Some(arg) => {
            let message = format!("there is no variable or parameter `{}`", arg.name);
            Err(Diagnostic::error("W306", message)
                .help("--arg gives a variable of the host, a kernel's parameter or a variable of the device")
                .into())
        }
    }
}
