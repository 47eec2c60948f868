//! The way from a C file to verified output files.

use std::path::{Path, PathBuf};

use warpsmith_emit::{Emit, Fill, TestProgram, cuda_file, header_file, test_file};
use warpsmith_emu as emu;
use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::{BinaryOp, Diagnostic, Expr, Function, SourceMap, Type, VarId};
use warpsmith_opt::rewrite::{independence, precision};
use warpsmith_opt::{Kernel, Program, Schedule, lower, schedule};

use super::arch::{self, Arch};
use super::args::{RegisterSource, Strategy, TuneArgs};
use super::choice::{self, Choice, Model};
use super::choices::{self, Fact};
use super::compiled::Compiler;
use super::device::{self, Place};
use super::host_c::{HostReference, NoReference};
use super::inputs::Sources;
use super::made::{Job, Made};
use super::search::Measured;
use super::sizes::{self, Point, SizeSpec};
use super::verify::{Failed, Verified, Verifier, Written};
use super::witness::Witness;
use super::{extents, points, result, space};
use crate::data::{ArgSpec, Init, NamedSpec};
use crate::interrupt;
use crate::output::check_folder;
use crate::status::{Failure, Status};

/// A verified kernel and everything that is written about it.
#[derive(Debug)]
pub struct Tuned {
    pub name: String,
    pub source: String,
    pub arch: &'static str,
    /// The GPU that predictions are for.
    pub gpu: &'static str,
    /// The sizes asked for.
    pub sizes: Vec<Point>,
    pub schedule: String,
    /// File names and contents, in the order they are listed.
    pub files: Vec<(String, String)>,
    pub folder: PathBuf,
    pub verified: Verified,
    /// How the schedule was chosen; `None`: it was given, or is the direct translation.
    pub planned: Option<Planned>,
    /// How it was measured.
    pub measured: Option<Measured>,
    /// What the device model predicts, for each of the sizes.
    pub seconds: Option<Vec<f64>>,
    /// What the result rests on.
    pub assumptions: Vec<String>,
    /// Ctrl-C came before all was done.
    pub interrupted: bool,
    /// Warnings and suggestions about the user's source.
    pub messages: Vec<Diagnostic>,
}

/// Translates, verifies and prints; writes nothing.
///
/// # Errors
/// Bad input (status 2), a refused loop or a failed verification (1), a limit (3), or a bug of ours (70).
pub fn tune(args: &TuneArgs, sources: &mut SourceMap) -> Result<Tuned, Failure> {
    tune_as(args, None, sources)
}

/// As [`tune`], with the steps that are given in place of those that the options ask for.
///
/// # Errors
/// As [`tune`].
pub fn tune_as(
    args: &TuneArgs,
    given: Option<&Schedule>,
    sources: &mut SourceMap,
) -> Result<Tuned, Failure> {
    let place = match given {
        Some(_) => Place::Model { arch: named_arch(args)?, notes: vec![] },
        None => device::find(args)?,
    };
    let arch = match &place {
        Place::Model { arch, .. } => *arch,
        Place::Measure(stations) => stations.arch,
    };
    let input = read(args, sources)?;
    let out = args.out.clone().unwrap_or_else(|| Path::new("warpsmith-out").join(&input.name));
    check_folder(&out)?;
    let specs = argument_specs(args, &input)?;
    let sizes = chosen_sizes(args, &input, &specs, arch)?;
    let job = Job { args, input: &input, specs: &specs, sizes: &sizes, arch };
    let Made { chosen, files, verified, mut messages, measured } = match &place {
        Place::Model { .. } => job.by_model(given, sources)?,
        Place::Measure(stations) => job.by_measurement(stations, sources)?,
    };
    if let Place::Model { notes, .. } = place {
        messages.extend(notes);
    }
    let (program, steps, planned) = chosen;
    messages.extend(program.notes.iter().cloned());
    messages.extend(independence::suggestions(&Kernel::new(input.module.clone(), input.function)));
    let mut assumptions = assumptions(&program);
    assumptions.extend(verified.assumptions());
    let seconds = sizes.iter().map(|point| choice::seconds(&program, arch.gpu(), point)).collect();
    let mut tuned = Tuned {
        name: input.name.clone(),
        source: args.file.display().to_string(),
        arch: arch.name,
        gpu: arch.gpu().name,
        schedule: steps.print(),
        sizes,
        files,
        folder: out,
        verified,
        planned,
        measured,
        seconds,
        assumptions,
        interrupted: args.stop().is_flagged(),
        messages,
    };
    let names: Vec<PathBuf> = tuned.files.iter().map(|(n, _)| n.into()).collect();
    let result = serde_json::to_string_pretty(&result::json(&tuned, &names));
    let result =
        result.map_err(|e| Failure::input("W322", e.to_string()).with_status(Status::Bug))?;
    tuned.files.push(("result.json".to_string(), result + "\n"));
    Ok(tuned)
}

/// What a program rests on: what its schedule takes for granted, and the rounding errors that it may make otherwise.
fn assumptions(program: &Program) -> Vec<String> {
    let launcher = program.module.function(program.launcher);
    let mut all = program.assumptions.clone();
    let params = launcher.params.iter().filter(|p| program.reassociated.contains(p));
    let names: Vec<String> = params.map(|p| format!("`{}`", launcher.var(*p).name)).collect();
    if !names.is_empty() {
        all.push(format!(
            "the sums in {} may be added in another order than in C: they were compared within 4 L u times the sum of \
             the absolute values of their terms, L the number of terms, u the unit roundoff",
            names.join(", ")
        ));
    }
    if let Some(real) = program.precision {
        all.push(format!(
            "reals may have the type {real}: results were compared with those of the types in C within 4 L u times the \
             sum of the absolute values of their terms, u the unit roundoff of the less precise type"
        ));
    }
    all
}

/// The input with its reals in the type that the program computes in.
pub(super) fn in_its_types(input: &CInput, program: &Program) -> CInput {
    let mut input = input.clone();
    if let Some(to) = program.precision {
        input.module = precision::retyped(&input.module, to);
    }
    input
}

/// The function of a C file, with nothing done to it.
///
/// # Errors
/// As [`tune`], for input that cannot be read.
pub fn kernel(args: &TuneArgs, sources: &mut SourceMap) -> Result<Kernel, Failure> {
    let input = read(args, sources)?;
    Ok(Kernel::new(input.module, input.function))
}

/// Chooses a schedule by the device model, and does nothing else.
///
/// # Errors
/// As [`tune`], for input that cannot be read or whose marks are wrong.
pub fn plan(args: &TuneArgs, sources: &mut SourceMap) -> Result<Choice, Failure> {
    let arch = named_arch(args)?;
    let input = read(args, sources)?;
    let specs = argument_specs(args, &input)?;
    let sizes = chosen_sizes(args, &input, &specs, arch)?;
    let kernel = arch.kernel(input.module, input.function);
    let compiler = compiler(args);
    let (compiler, gpu, sizes) = (compiler.as_ref(), arch.gpu(), &sizes[..]);
    choice::choose(&Model { kernel: &kernel, gpu, sizes, sources, compiler, stop: &args.stop() })
}

/// What says how many registers a kernel takes, where it is wanted and installed.
fn compiler(args: &TuneArgs) -> Option<Compiler> {
    match args.registers {
        RegisterSource::Auto => Compiler::find(),
        RegisterSource::Estimate => None,
    }
}

/// The architecture of the options, where nothing is measured.
pub(super) fn named_arch(args: &TuneArgs) -> Result<Arch, Failure> {
    arch::find(args.arch.as_deref().unwrap_or("sm_90"))
}

/// Reads, parses and lowers the C file.
pub(super) fn read(args: &TuneArgs, sources: &mut SourceMap) -> Result<CInput, Failure> {
    let text = crate::check::read_file(&args.file)?;
    let defines = args.define.iter().map(|d| {
        let (name, value) = d.split_once('=').unwrap_or((d, "1"));
        (name.to_string(), value.to_string())
    });
    let options = ParseOptions {
        defines: defines.collect(),
        include_dirs: args.include.clone(),
        ..ParseOptions::new(Language::C)
    };
    let path = args.file.display().to_string();
    let parsed = parse::parse(&path, &text, &options, &DiskLoader, sources)?;
    Ok(cloops::lower_c(&parsed.unit, args.function.as_deref())?)
}

/// `--arg`, else the file's own defaults; every name must be a parameter.
pub(super) fn argument_specs(args: &TuneArgs, input: &CInput) -> Result<Vec<NamedSpec>, Failure> {
    let function = function_of(input);
    let names: Vec<&str> = function.params.iter().map(|p| function.var(*p).name.as_str()).collect();
    let mut specs = args.args.clone();
    if let Some(bad) = specs.iter().find(|s| !names.contains(&s.name.as_str())) {
        let message = format!("`{}` has no parameter `{}`", function.name, bad.name);
        let help = format!("its parameters are {}", names.join(", "));
        return Err(Diagnostic::error("W306", message).help(help).into());
    }
    for default in &input.args {
        if specs.iter().all(|s| s.name != default.name) {
            let spec = default.spec.parse().map_err(|why: String| {
                Diagnostic::error("W306", why).label(default.span, "in this directive")
            })?;
            specs.push(NamedSpec { name: default.name.clone(), spec });
        }
    }
    Ok(specs)
}

pub(super) fn function_of(input: &CInput) -> &Function {
    input.module.function(input.function)
}

/// The points to tune for, checked against the parameters and the memory of the architecture.
pub(super) fn chosen_sizes(
    args: &TuneArgs,
    input: &CInput,
    specs: &[NamedSpec],
    arch: Arch,
) -> Result<Vec<Point>, Failure> {
    if let Some((_, missing)) = cloops::missing_extents(input).into_iter().next() {
        return Err(missing.into());
    }
    let given: Vec<SizeSpec> =
        args.sizes.iter().map(|s| sizes::parse(s)).collect::<Result<_, _>>()?;
    sizes::check_once(&given)?;
    let given = with_defaults(given, input);
    let fixed: Vec<String> = specs.iter().map(|s| s.name.clone()).collect();
    let function = function_of(input);
    let points = sizes::points(function, &given, &fixed)?;
    for point in &points {
        for param in &function.params {
            let var = function.var(*param);
            let elements = extents::elements(&input.module, function, var, point);
            elements.map_err(|why| Failure::input("W312", why))?;
        }
        sizes::check_memory(&input.module, function, point, arch.memory, arch.name)?;
    }
    Ok(points)
}

/// The sizes of the command line, and the file's own where it gives none.
fn with_defaults(mut given: Vec<SizeSpec>, input: &CInput) -> Vec<SizeSpec> {
    for default in &input.sizes {
        if given.iter().all(|g| g.name != default.name) {
            let values = default.values.iter().map(|v| i64::try_from(*v).unwrap_or(i64::MAX));
            given.push(SizeSpec { name: default.name.clone(), values: values.collect() });
        }
    }
    given
}

/// Applies the given schedule or the derived one.
pub(super) fn translate(
    args: &TuneArgs,
    given: Option<&Schedule>,
    input: &CInput,
    sizes: &[Point],
    arch: Arch,
    sources: &mut SourceMap,
) -> Result<Chosen, Failure> {
    // What is wrong with the user's file or schedule is "no"; a malformed schedule is bad input.
    let no = Failure::no;
    let stop = &args.stop();
    let kernel = arch.kernel(input.module.clone(), input.function);
    let mut planned = None;
    let steps = match (given, &args.schedule) {
        (Some(steps), _) => steps.clone(),
        (None, Some(path)) => {
            let text = crate::check::read_file(path)?;
            let text = String::from_utf8(text).map_err(|_| {
                Failure::input("W301", format!("`{}` is not a text file", path.display()))
            })?;
            let file = sources.add(path.display().to_string(), text);
            let mut space = schedule::space::parse(sources, file)?;
            space::fix(&mut space, &args.params)?;
            if space.size() == 1 || args.strategy == Some(Strategy::Direct) {
                space::plain(&space)?
            } else {
                let (gpu, compiler) = (arch.gpu(), compiler(args));
                let compiler = compiler.as_ref();
                let model = Model { kernel: &kernel, gpu, sizes, sources, compiler, stop };
                let choice = space::choose(&space, &model)?;
                let steps = choice.schedule.clone();
                planned = Some(Planned { gpu: gpu.name, choice });
                steps
            }
        }
        (None, None) if args.strategy == Some(Strategy::Direct) => {
            schedule::derive(&kernel, sources).map_err(no)?
        }
        (None, None) => {
            let (gpu, compiler) = (arch.gpu(), compiler(args));
            let compiler = compiler.as_ref();
            let model = Model { kernel: &kernel, gpu, sizes, sources, compiler, stop };
            let choice = choice::choose(&model)?;
            let steps = choice.schedule.clone();
            planned = Some(Planned { gpu: gpu.name, choice });
            steps
        }
    };
    let kernel = schedule::replay(&kernel, &steps, sources).map_err(no)?;
    let program = lower::lower(&kernel, sources).map_err(no)?;
    Ok((program, steps, planned))
}

/// A program with the steps that made it.
pub(super) type Chosen = (Program, Schedule, Option<Planned>);

/// How the schedule was chosen, when the model did it.
#[derive(Clone, Debug)]
pub struct Planned {
    pub gpu: &'static str,
    pub choice: Choice,
}

/// What emission and verification need.
pub(super) struct Work<'a> {
    pub args: &'a TuneArgs,
    pub input: &'a CInput,
    /// The same as the user wrote it, where the program computes in another type.
    pub written: &'a CInput,
    pub program: &'a Program,
    pub arch: Arch,
    pub specs: &'a [NamedSpec],
    pub sizes: &'a [Point],
    /// Ctrl-C ends the verification. Where it ended the search, what was found is verified all the same.
    pub interruptible: bool,
}

/// For messages.
const VERIFYING: &str = "while the kernel was verified";

pub(super) type Files = Vec<(String, String)>;

impl Work<'_> {
    /// Emits, parses what was emitted, verifies that, and emits again with the verdict in the comments.
    pub(super) fn verified_files(
        &self,
        steps: &str,
        measured: &[String],
        sources: &mut SourceMap,
    ) -> Result<(Files, Verified, Vec<Diagnostic>), Failure> {
        let draft = self.print(&[], &[], steps)?;
        if self.interruptible && self.args.stop().is_flagged() {
            return Err(Failure::interrupted(VERIFYING));
        }
        let mut messages = vec![];
        // The compiler knows the types of the user's file only.
        let host = match self.program.precision {
            None => self.host_reference(&mut messages),
            Some(_) => None,
        };
        let (witness, verified) = self.verify(&draft, host.as_ref(), sources)?;
        let paragraphs = [verified.paragraphs(host.is_some()), measured.to_vec()].concat();
        let files = self.print(&paragraphs, &verified.preconditions(), steps)?;
        let again = self.witness(&files, sources)?;
        if !witness.same_program(&again) {
            let what = "the verdict in the comments changed the emitted program";
            return Err(Failure::input("W321", what).with_status(Status::Bug));
        }
        Ok((files, verified, messages))
    }

    /// Parses what was emitted and compares it with the C function.
    pub(super) fn verify(
        &self,
        draft: &Files,
        host: Option<&HostReference>,
        sources: &mut SourceMap,
    ) -> Result<(Witness, Verified), Failure> {
        let witness = self.witness(draft, sources)?;
        let written = self.program.precision.map(|precision| Written {
            module: &self.written.module,
            function: self.written.function,
            precision,
        });
        let verifier = Verifier {
            sources: Sources {
                module: &self.input.module,
                function: function_of(self.input),
                specs: self.specs,
                seed: self.args.seed,
                max_memory: self.args.max_memory,
            },
            function: self.input.function,
            host,
            written,
            witness: &witness,
            reassociated: self.reassociated(),
            // Iterations that are taken on trust may write one value to one element.
            same_writes: self.program.assumptions.iter().any(|a| a.contains("assumed independent")),
            options: self.options(),
            total_steps: self.args.verify_steps,
            tuned: self.sizes,
        };
        let verified = verifier.verify(&self.candidates()).map_err(|e| self.explain(e))?;
        Ok((witness, verified))
    }

    fn options(&self) -> emu::Options {
        emu::Options {
            jobs: self.args.jobs,
            max_memory: self.args.max_memory,
            deadline: self.args.deadline(),
            interrupt: self.interruptible.then(interrupt::flag),
            checks: emu::Checks { redundant_barriers: false, ..emu::Checks::ALL },
            ..emu::Options::default()
        }
    }

    /// For each parameter, and last for the result, whether it depends on the order of a sum.
    fn reassociated(&self) -> Vec<bool> {
        let launcher = self.program.module.function(self.program.launcher);
        let params = &launcher.params[..function_of(self.input).params.len()];
        let flags = params.iter().map(|p| self.program.reassociated.contains(p));
        let result =
            self.program.result_param.is_some_and(|r| self.program.reassociated.contains(&r));
        flags.chain([result]).collect()
    }

    /// The numbers in the kernels around which guards change: block extents and other named constants.
    fn special_sizes(&self) -> Vec<i64> {
        let constants = self.program.module.constants.iter();
        let named = constants.filter(|c| c.value.ty.is_integer()).map(|c| c.value.as_i64());
        named.chain(self.program.numbers.iter().map(|n| i64::from(*n))).collect()
    }

    /// Sizes around every number the kernel treats specially.
    fn candidates(&self) -> Vec<Point> {
        let fixed: Vec<&str> = self.specs.iter().map(|s| s.name.as_str()).collect();
        let params: Vec<String> = sizes::size_params(function_of(self.input))
            .into_iter()
            .map(|(_, name, _)| name)
            .filter(|n| !fixed.contains(&n.as_str()))
            .collect();
        let launcher = self.program.module.function(self.program.launcher);
        let (told_apart, offsets) = (choices::of_launcher(launcher), choices::offsets(launcher));
        let mut numbers = self.special_sizes();
        numbers.extend(told_apart.iter().flatten().map(|fact| match fact {
            Fact::Equals(_, n) | Fact::Multiple(_, n) => *n,
        }));
        let mut first: Vec<Point> =
            told_apart.iter().flat_map(|facts| choices::points(&params, facts)).collect();
        for limit in choices::block_limits(&self.program.module, launcher) {
            let threads = numbers.iter().copied().filter(|n| *n != limit).max().unwrap_or(limit);
            first.extend(choices::strided(&params, limit, threads));
        }
        points::candidates(&params, &numbers, &offsets, &first, self.sizes)
    }

    /// The texts of all files.
    pub(super) fn print(
        &self,
        verification: &[String],
        preconditions: &[String],
        steps: &str,
    ) -> Result<Files, Failure> {
        let name = &self.input.name;
        let emit = Emit {
            module: &self.program.module,
            name: name.clone(),
            launcher: self.program.launcher,
            description: vec![format!(
                "CUDA translation of `{name}` in {}.",
                self.args
                    .file
                    .file_name()
                    .map_or(String::new(), |f| f.to_string_lossy().into_owned())
            )],
            assumptions: [&assumptions(self.program)[..], preconditions].concat(),
            verification: verification.to_vec(),
            arch: self.arch.name.to_string(),
            result: self.program.result_param,
            workspace: self
                .program
                .workspace
                .as_ref()
                .map(|w| warpsmith_emit::Workspace { param: w.param, bytes: w.bytes.clone() }),
        };
        let test = TestProgram {
            module: &self.input.module,
            function: self.input.function,
            defaults: self.test_defaults(),
            extents: vec![],
            fills: self.test_fills(),
            terms: self.test_terms(),
        };
        let ours = |e: warpsmith_emit::EmitError| {
            Failure::input("W322", e.to_string()).with_status(Status::Bug)
        };
        Ok(vec![
            (format!("{name}.cu"), cuda_file(&emit).map_err(ours)?),
            (format!("{name}.h"), header_file(&emit).map_err(ours)?),
            (format!("{name}_test.cu"), test_file(&emit, &test).map_err(ours)?),
            (format!("{name}.sched"), steps.to_string()),
        ])
    }

    /// What `--arg` and the file's own defaults say about the contents of arrays. Files are not carried along: they
    /// need not exist where the test program runs.
    fn test_fills(&self) -> Vec<(VarId, Fill)> {
        let function = function_of(self.input);
        let arrays = function.params.iter().filter(|p| function.var(**p).ty.is_pointer());
        let fills = arrays.filter_map(|p| {
            let spec = self.specs.iter().find(|s| s.name == function.var(*p).name)?;
            let (ArgSpec::Init(init) | ArgSpec::Array { init, .. }) = &spec.spec else {
                return None;
            };
            let fill = match init {
                Init::Zeros => Fill::Zeros,
                Init::Iota => Fill::Iota,
                Init::Random(_) | Init::File(_) => return None,
            };
            Some((*p, fill))
        });
        fills.collect()
    }

    /// A bound of the number of terms of any sum in a single loop: all sizes together. Sums over several loops have
    /// more terms, but their rounding errors do not all point the same way.
    fn test_terms(&self) -> Option<Expr> {
        let function = function_of(self.input);
        let params = sizes::size_params(function).into_iter();
        let real =
            params.map(|(id, _, scalar)| Expr::var(id, Type::Scalar(scalar)).cast(Type::F64));
        real.reduce(|a, b| Expr::binary(BinaryOp::Add, a, b))
    }

    /// The first tuned sizes, and the numbers of `--arg`.
    fn test_defaults(&self) -> Vec<(String, f64)> {
        let mut defaults: Vec<(String, f64)> = vec![];
        if let Some(point) = self.sizes.first() {
            defaults.extend(point.iter().map(|(n, v)| (n.clone(), *v as f64)));
        }
        for spec in self.specs {
            if let ArgSpec::Number(text) = &spec.spec
                && let Ok(value) = crate::data::parse_scalar(text, warpsmith_ir::Scalar::F64)
            {
                defaults.push((spec.name.clone(), value.as_f64()));
            }
        }
        defaults
    }

    /// The emitted text as a program. That it cannot be read is a bug of ours, shown with the text.
    pub(super) fn witness(
        &self,
        files: &Files,
        sources: &mut SourceMap,
    ) -> Result<Witness, Failure> {
        let (name, text) = &files[0];
        let launcher = format!("{}_launch", self.input.name);
        Witness::parse(name, text, &launcher, &files[1..], sources)
            .map_err(|errors| Failure::from(errors).with_status(Status::Bug))
    }

    /// The user's C, compiled; a message says why it is missing.
    fn host_reference(&self, messages: &mut Vec<Diagnostic>) -> Option<HostReference> {
        let mut options: Vec<String> = self.args.define.iter().map(|d| format!("-D{d}")).collect();
        options.extend(self.args.include.iter().map(|i| format!("-I{}", i.display())));
        match HostReference::build(&self.args.file, function_of(self.input), &options) {
            Ok(host) => Some(host),
            Err(NoReference::NoCompiler) => {
                let text =
                    "no C compiler found: the kernel is compared with the IR interpreter only";
                messages.push(
                    Diagnostic::warning("W323", text).help("install a C compiler, or set CC"),
                );
                None
            }
            Err(NoReference::Refused(why)) => {
                let first: Vec<&str> = why.lines().take(5).collect();
                let text = "the C compiler refused the file: the kernel is compared with the IR interpreter only";
                messages.push(Diagnostic::warning("W324", text).note(first.join("\n")));
                None
            }
        }
    }

    /// A failed verification in the user's words.
    fn explain(&self, failed: Failed) -> Failure {
        let name = &self.input.name;
        match failed {
            Failed::Wrong { point, message, notes } => {
                let mut d = Diagnostic::error(
                    "W325",
                    format!("the kernel for `{name}` is wrong at {point}"),
                )
                .note(message);
                for note in notes {
                    d = d.note(note);
                }
                Failure::from(d.note("nothing was written")).with_status(Status::No)
            }
            Failed::References { point, message } => {
                let text = format!("the two references for `{name}` disagree at {point}");
                Failure::from(
                    Diagnostic::error("W326", text)
                        .note(message)
                        .help("look for undefined behaviour: signed overflow, division by zero, overlapping arrays, uninitialised values, real numbers converted to an integer type that they do not fit")
                        .help("where the data is to blame, give representative data with --arg NAME=SPEC"),
                )
                .with_status(Status::No)
            }
            Failed::Precision { point, message } => {
                let text = format!("in its new types `{name}` computes something else at {point}");
                let d = Diagnostic::error("W330", text).note(message);
                Failure::from(d.help("rounding errors do not explain this: numbers leave the range of the type, or decisions depend on their last bits"))
                    .with_status(Status::No)
            }
            Failed::Interrupted => Failure::interrupted(VERIFYING),
            Failed::Limit(limit) => {
                let text = format!("verification stopped: {limit} was reached");
                Failure::from(Diagnostic::error("W327", text).help(
                    "allow more with --max-memory or --timeout, or make the constant extents smaller",
                ))
                .with_status(Status::Limit)
            }
            Failed::Nothing { why, at } => {
                let mut d =
                    Diagnostic::error("W328", format!("`{name}` could not be run at any size"));
                if let Some(span) = at {
                    d = d.label(span, "here it leaves its array");
                }
                Failure::from(d.note(why).help(
                    "check bounds and extents; where data decides what is accessed, give representative data with --arg NAME=@file.npy",
                ))
            }
            Failed::Input(why) => why.failure(),
        }
    }
}

impl Verified {
    /// What the header of the emitted file says.
    fn paragraphs(&self, with_host: bool) -> Vec<String> {
        let against = if with_host {
            "the C function, by its compiler and by an interpreter"
        } else {
            "the C function, by an interpreter"
        };
        let mut text = vec![format!(
            "Level: checked. This text was emulated, with every check on, and compared with {against} at {}.",
            points::summary(&self.points)
        )];
        if !self.idle.is_empty() {
            let names: Vec<String> = self.idle.iter().map(|k| format!("`{k}`")).collect();
            text.push(format!(
                "Not run at any of these sizes, so not checked: {}.",
                names.join(", ")
            ));
        }
        if !self.host_only.is_empty() {
            text.push(format!(
                "Compared with the compiler's code alone, as too large for the interpreter: {}.",
                self.host_only.join("; ")
            ));
        }
        if !self.one_block.is_empty() {
            text.push(format!("No second block was run of {}.", self.one_block.join(", ")));
        }
        text
    }

    /// Where the C function itself must not be called, for the header of the emitted file.
    fn preconditions(&self) -> Vec<String> {
        let first = self.outside.first().map(|first| {
            let more = match self.outside.len() - 1 {
                0 => String::new(),
                n => format!(" (and at {n} more of the sizes tried)"),
            };
            format!("no size at which the C function leaves its own extents, as at {first}{more}")
        });
        first.into_iter().collect()
    }

    fn assumptions(&self) -> Vec<String> {
        let idle = |k: &String| format!("kernel `{k}` is right: no size that was tried runs it");
        self.preconditions().into_iter().chain(self.idle.iter().map(idle)).collect()
    }
}
