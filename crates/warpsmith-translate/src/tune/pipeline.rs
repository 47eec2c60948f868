//! The way from a C file to verified output files.

use std::path::{Path, PathBuf};

use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_ir::{Diagnostic, Function, SourceMap, StructDef};
use warpsmith_opt::analysis::extents as accesses;
use warpsmith_opt::kernel::is_marked;
use warpsmith_opt::rewrite::{precision, question::independence};
use warpsmith_opt::schedule::fusions;
use warpsmith_opt::schedule::space::Space;
use warpsmith_opt::{Kernel, Program, Schedule, lower, schedule, walk};

use super::arch::{self, Arch};
use super::barred::Barred;
use super::choice::{self, Choice, Model};
use super::compiled::Compiler;
use super::device::{self, Place};
use super::extents;
use super::fitting;
use super::job::{Job, Made};
use super::request::{RegisterSource, Strategy, TuneRequest};
use super::result;
use super::search::Measured;
use super::sizes::{self, Point, SizeSpec};
use super::space;
use super::steps::{self as shown, Shown};
use super::verified_files;
use super::verify::Verified;
use crate::data::{ArgSpec, NamedSpec};
use crate::output::check_folder;
use crate::status::{self, Failure, Status};

/// A verified kernel and everything that is written about it.
#[derive(Debug)]
pub struct Tuned {
    /// Name of the C function.
    pub name: String,
    /// Path of the C file as the user wrote it.
    pub source: String,
    /// The architecture that the kernel is made for, such as `sm_90`.
    pub arch: &'static str,
    /// The GPU that predictions are for.
    pub gpu: &'static str,
    /// The sizes asked for.
    pub sizes: Vec<Point>,
    /// The steps, as a schedule file has them; empty for the direct translation.
    pub schedule: String,
    /// File names and contents, in the order they are listed.
    pub files: Vec<(String, String)>,
    /// The folder that the files belong into.
    pub folder: PathBuf,
    /// What was compared with what, and where all agreed.
    pub verified: Verified,
    /// How the schedule was chosen; `None`: it was given, or is the direct translation.
    pub planned: Option<Planned>,
    /// How it was measured.
    pub measured: Option<Measured>,
    /// What the device model predicts, for each of the sizes.
    pub seconds: Option<Vec<f64>>,
    /// What the result rests on.
    pub assumptions: Vec<String>,
    /// With `--show-steps`: what each step made of the function.
    pub shown: Vec<Shown>,
    /// Ctrl-C came before all was done.
    pub interrupted: bool,
    /// Warnings and suggestions about the user's source.
    pub messages: Vec<Diagnostic>,
    /// The same for reports.
    pub findings: Vec<serde_json::Value>,
}

/// Translates, verifies and prints; writes nothing.
///
/// # Errors
/// Bad input (status 2), a refused loop or a failed verification (1), a limit (3), or a bug of ours (70).
pub fn tune(request: &TuneRequest, sources: &mut SourceMap) -> Result<Tuned, Failure> {
    tune_as(request, None, sources)
}

/// As [`tune`], with the steps that are given in place of those that the options ask for.
///
/// # Errors
/// As [`tune`].
pub fn tune_as(
    request: &TuneRequest,
    given: Option<&Schedule>,
    sources: &mut SourceMap,
) -> Result<Tuned, Failure> {
    let request = &TuneRequest { limits: request.limits.begun(), ..request.clone() };
    let place = match given {
        Some(_) => Place::Model { arch: named_arch(request)?, notes: vec![] },
        None => device::find(request)?,
    };
    let arch = match &place {
        Place::Model { arch, .. } => *arch,
        Place::Measure(stations) => stations.arch,
    };
    let mut input = read(request, sources)?;
    let out = request.out.clone().unwrap_or_else(|| Path::new("warpsmith-out").join(&input.name));
    check_folder(&out)?;
    let mut specs = argument_specs(request, &input)?;
    let sizes = chosen_sizes(request, &input, &specs, arch)?;
    if let Some((fitting, note)) = fitting::specs(request, &input, &specs, &sizes) {
        specs.extend(fitting);
        input.notes.push(note);
    }
    let kernel = arch.kernel(input.module.clone(), input.function);
    check_marks(&kernel, &specs, &sizes)?;
    let job = Job { request, input: &input, specs: &specs, sizes: &sizes, arch };
    let Made { chosen, files, verified, mut messages, measured } = match &place {
        Place::Model { .. } => job.by_model(given, sources)?,
        Place::Measure(stations) => job.by_measurement(stations, sources)?,
    };
    if let Place::Model { notes, .. } = place {
        messages.extend(notes);
    }
    let (program, steps, planned) = chosen;
    messages.extend(notes(&input, &program));
    let mut assumptions = assumptions(&program);
    assumptions.extend(input.assumed.iter().cloned());
    assumptions.extend(verified.assumptions());
    let seconds = sizes.iter().map(|point| choice::seconds(&program, arch.gpu(), point)).collect();
    let tuned = Tuned {
        name: input.name.clone(),
        source: request.source.file.display().to_string(),
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
        shown: match request.show_steps {
            true => shown::show(&kernel, &steps, sources),
            false => vec![],
        },
        interrupted: request.limits.stop().is_flagged(),
        findings: status::findings(&messages.iter().collect::<Vec<_>>(), sources),
        messages,
    };
    with_result(tuned)
}

/// Refuses sizes, and numbers of `--arg`, at which marks are not known to be right.
fn check_marks(kernel: &Kernel, specs: &[NamedSpec], sizes: &[Point]) -> Result<(), Failure> {
    let function = kernel.func();
    let with_numbers = |p: &Point| sizes::with_numbers(&kernel.module, function, specs, p);
    let all: Vec<Point> = sizes.iter().map(with_numbers).collect();
    sizes::check_requirements(function, &kernel.requires, &all)
}

/// What is said about a function and what was made of it.
fn notes(input: &CInput, program: &Program) -> Vec<Diagnostic> {
    let mut notes: Vec<Diagnostic> = input.notes.iter().chain(&program.notes).cloned().collect();
    notes.extend(verified_files::no_host_entry(input, program).map(|why| {
        Diagnostic::warning("W341", format!("no `{}_host` is written: {why}", input.name))
    }));
    notes.extend(independence::suggestions(&Kernel::new(input.module.clone(), input.function)));
    notes
}

/// Adds the file that says what came of it.
fn with_result(mut tuned: Tuned) -> Result<Tuned, Failure> {
    let names: Vec<PathBuf> = tuned.files.iter().map(|(n, _)| n.into()).collect();
    let result = serde_json::to_string_pretty(&result::json(&tuned, &names));
    let result =
        result.map_err(|e| Failure::input("W322", e.to_string()).with_status(Status::Bug))?;
    tuned.files.push(("result.json".to_string(), result + "\n"));
    Ok(tuned)
}

/// What a program rests on: what its schedule takes for granted, and the rounding errors that it may make otherwise.
pub(super) fn assumptions(program: &Program) -> Vec<String> {
    let launcher = program.module.function(program.launcher);
    let mut all: Vec<String> = program.assumptions.iter().map(ToString::to_string).collect();
    let params = launcher.params.iter().filter(|p| program.reassociated.contains(p));
    let names: Vec<String> = params.map(|p| format!("`{}`", launcher.var(*p).name)).collect();
    if !names.is_empty() {
        all.push(format!(
            "the sums in {} may be added in another order than in C: they were compared within 4 L u times the sum of \
             the absolute values of their terms, L the number of terms, u the unit roundoff; neither a part of them nor a \
             product of their coefficients overflows",
            names.join(", ")
        ));
    }
    let complex = |s: &StructDef| s.origin.span.is_none() && s.name.ends_with("_complex");
    if program.module.structs.iter().any(complex) {
        all.push(
            "products and quotients of complex numbers are the usual formulas, as C has them under `#pragma STDC \
             CX_LIMITED_RANGE ON`: where parts of a result overflow, infinities are not made of them"
                .to_string(),
        );
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
pub fn kernel(request: &TuneRequest, sources: &mut SourceMap) -> Result<Kernel, Failure> {
    let input = read(request, sources)?;
    Ok(Kernel::new(input.module, input.function))
}

/// Chooses a schedule by the device model, and does nothing else.
///
/// # Errors
/// As [`tune`], for input that cannot be read or whose marks are wrong.
pub fn plan(request: &TuneRequest, sources: &mut SourceMap) -> Result<Choice, Failure> {
    let arch = named_arch(request)?;
    let input = read(request, sources)?;
    let specs = argument_specs(request, &input)?;
    let sizes = chosen_sizes(request, &input, &specs, arch)?;
    let kernel = arch.kernel(input.module, input.function);
    let compiler = compiler(request);
    let (compiler, gpu, sizes) = (compiler.as_ref(), arch.gpu(), &sizes[..]);
    let (barred, stop) = (&Barred::default(), &request.limits.stop());
    let (kernel, enough) = (&kernel, &stop.half_way());
    choice::choose(&Model { kernel, gpu, sizes, sources, compiler, barred, stop, enough })
}

/// What says how many registers a kernel takes, where it is wanted and installed.
fn compiler(request: &TuneRequest) -> Option<Compiler> {
    match request.choosing.registers {
        RegisterSource::Auto => Compiler::find(),
        RegisterSource::Estimate => None,
    }
}

/// The architecture of the options, where nothing is measured.
pub(super) fn named_arch(request: &TuneRequest) -> Result<Arch, Failure> {
    arch::find(request.arch.as_deref().unwrap_or("sm_90"))
}

/// Reads, parses and lowers the C file.
///
/// # Errors
/// W301 for a file that cannot be read, the messages of the parser and of the lowering, W306 for a bad `--arg`.
pub fn read(request: &TuneRequest, sources: &mut SourceMap) -> Result<CInput, Failure> {
    let text = crate::files::read(&request.source.file)?;
    read_text(request, &text, sources).map_err(|failure| Failure { unread: true, ..failure })
}

fn read_text(
    request: &TuneRequest,
    text: &[u8],
    sources: &mut SourceMap,
) -> Result<CInput, Failure> {
    let defines = request.source.defines.iter().map(|d| {
        let (name, value) = d.split_once('=').unwrap_or((d, "1"));
        (name.to_string(), value.to_string())
    });
    let options = ParseOptions {
        defines: defines.collect(),
        include_dirs: request.source.include_dirs.clone(),
        ..ParseOptions::new(Language::C)
    };
    let path = request.source.file.display().to_string();
    let parsed = parse::parse(&path, text, &options, &DiskLoader, sources)?;
    let mut input = cloops::lower_c(&parsed.unit, request.source.function.as_deref())?;
    let specs = argument_specs(request, &input)?;
    warpsmith_opt::inline::writers(&mut input.module, input.function);
    accesses::infer(&mut input.module, input.function)?;
    extents::take_given(&mut input, &specs)?;
    extents::assume(&mut input, &specs)?;
    mark_unmarked(&mut input, sources)?;
    Ok(input)
}

/// Loops that are not marked run in parallel where that can be shown to be right: one thread of a device is slow. Marked ones
/// may set flags.
///
/// # Errors
/// W130: no loop is marked, none can be, blocks cannot go through parts of one, and nobody named the function; W161: nor of one that
/// keeps what atomic updates found.
fn mark_unmarked(input: &mut CInput, sources: &SourceMap) -> Result<(), Failure> {
    let has_mark = |f: &Function| walk::for_loops(&f.body).into_iter().any(is_marked);
    let is_marked = input.module.functions.iter().any(has_mark);
    if is_marked {
        input.notes.extend(independence::allow_flags(&mut input.module, input.function));
    }
    let proved = independence::mark_proved(&mut input.module, input.function);
    let nothing = !is_marked && proved.is_empty();
    input.notes.extend(proved);
    let why = input.unmarked.take().filter(|_| nothing).or(input.in_order.take());
    let kernel = || Kernel::new(input.module.clone(), input.function);
    match why {
        Some(why) if !fusions::splits_scans(&kernel(), sources) => Err(why.into()),
        _ => Ok(()),
    }
}

/// `--arg`, else the file's own defaults; every name must be a parameter.
///
/// # Errors
/// W306 for a name that is no parameter, or a default of the file that cannot be read.
pub fn argument_specs(request: &TuneRequest, input: &CInput) -> Result<Vec<NamedSpec>, Failure> {
    let function = function_of(input);
    let mut names: Vec<String> = vec![];
    for var in function.params.iter().map(|p| function.var(*p)) {
        names.push(var.name.clone());
        let fields = sizes::fields(&input.module, &var.name, &var.ty, 0).into_iter();
        names.extend(fields.map(|f| f.name).filter(|n| *n != var.name));
    }
    let mut specs = request.data.arguments.clone();
    specs.iter_mut().for_each(|s| s.name = input.parameter(&s.name));
    if let Some(bad) = specs.iter().find(|s| !names.contains(&s.name)) {
        let message = format!("`{}` has no parameter `{}`", function.name, bad.name);
        let help = format!("its parameters are {}", names.join(", "));
        return Err(Diagnostic::error("W306", message).help(help).into());
    }
    for default in &input.args {
        if specs.iter().all(|s| s.name != default.name) {
            let spec = default.spec.parse().map_err(|why: String| {
                Diagnostic::error("W306", why).label(default.span, "in this directive")
            })?;
            specs.push(NamedSpec::new(&default.name, spec));
        }
    }
    Ok(specs)
}

pub(super) fn function_of(input: &CInput) -> &Function {
    input.module.function(input.function)
}

/// The points to tune for, checked against the parameters and the memory of the architecture.
///
/// # Errors
/// W154 for an array of unknown extents; W311 for a size that is missing, given twice, unknown or too large for its type; W312
/// for sizes at which an array has no size or the arrays do not fit the memory.
pub fn chosen_sizes(
    request: &TuneRequest,
    input: &CInput,
    specs: &[NamedSpec],
    arch: Arch,
) -> Result<Vec<Point>, Failure> {
    if let Some(open) = accesses::open(&input.module, input.function).first() {
        return Err(extents::unknown(function_of(input), open).into());
    }
    let mut given: Vec<SizeSpec> = request.data.sizes.clone();
    given.iter_mut().for_each(|s| s.name = input.parameter(&s.name));
    sizes::check_once(&given)?;
    given_one_way(request, input, &given)?;
    let function = function_of(input);
    let given = with_data(given, input, specs)?;
    let given = with_defaults(given, input, specs);
    let fixed: Vec<String> = specs.iter().map(|s| s.name.clone()).collect();
    let points = sizes::points(&input.module, function, &given, &fixed)?;
    for point in points.iter().map(|p| sizes::with_numbers(&input.module, function, specs, p)) {
        for param in &function.params {
            let var = function.var(*param);
            let elements = extents::elements(&input.module, function, var, &point);
            elements.map_err(|why| {
                let help = format!(
                    "give what it is made of by --size, or write `#pragma ws bounds({}: n)` before the function",
                    var.name
                );
                Failure::from(Diagnostic::error("W312", why).help(help))
            })?;
        }
        sizes::check_memory(&input.module, function, &point, arch.memory, arch.name)?;
    }
    Ok(points)
}

/// A number of `--arg` is the only one, so that a size of that name would say the opposite.
fn given_one_way(request: &TuneRequest, input: &CInput, sizes: &[SizeSpec]) -> Result<(), Failure> {
    let number = |s: &&NamedSpec| matches!(s.spec, ArgSpec::Number(_));
    let mut names = request.data.arguments.iter().filter(number).map(|s| input.parameter(&s.name));
    match names.find(|name| sizes.iter().any(|s| s.name == *name)) {
        None => Ok(()),
        Some(name) => {
            let message = format!("`{name}` is given by --size and by --arg");
            let help = "leave one away: --size is what is tuned for, --arg the one value where that is done";
            Err(Diagnostic::error("W311", message).help(help).into())
        }
    }
}

/// The sizes of the command line, and those that given data determine where it gives none.
fn with_data(
    mut given: Vec<SizeSpec>,
    input: &CInput,
    specs: &[NamedSpec],
) -> Result<Vec<SizeSpec>, Failure> {
    let function = function_of(input);
    let known: Point =
        given.iter().filter_map(|g| Some((g.name.clone(), *g.values.first()?))).collect();
    let data = super::given::sizes(&input.module, function, specs, &Point::new())?;
    for (name, size) in &data.fixed {
        if let Some(asked) = known.get(name).filter(|asked| *asked != size) {
            let message =
                format!("`--size {name}={asked}`, but the arrays that are given make it {size}");
            let help = "leave the size away, or give the arrays of that size";
            return Err(Diagnostic::error("W311", message).help(help).into());
        }
    }
    for (name, size) in super::given::sizes(&input.module, function, specs, &known)?.sizes {
        if !known.contains_key(&name) && size > 0 {
            given.push(SizeSpec { name, values: vec![size] });
        }
    }
    Ok(given)
}

/// The sizes of the command line, and the file's own where it gives neither a size nor a number.
fn with_defaults(mut given: Vec<SizeSpec>, input: &CInput, specs: &[NamedSpec]) -> Vec<SizeSpec> {
    for default in &input.sizes {
        let number = specs.iter().any(|s| s.name == default.name);
        if !number && given.iter().all(|g| g.name != default.name) {
            let values = default.values.iter().map(|v| i64::try_from(*v).unwrap_or(i64::MAX));
            given.push(SizeSpec { name: default.name.clone(), values: values.collect() });
        }
    }
    given
}

/// Applies the given schedule or the derived one.
pub(super) fn translate(
    request: &TuneRequest,
    given: Option<&Schedule>,
    input: &CInput,
    sizes: &[Point],
    arch: Arch,
    sources: &mut SourceMap,
) -> Result<Chosen, Failure> {
    translate_but(&Barred::default(), request, given, (input, sizes, arch), sources)
}

/// As [`translate`]; of schedules that nobody gave none is chosen that is barred.
pub(super) fn translate_but(
    barred: &Barred,
    request: &TuneRequest,
    given: Option<&Schedule>,
    (input, sizes, arch): (&CInput, &[Point], Arch),
    sources: &mut SourceMap,
) -> Result<Chosen, Failure> {
    let kernel = arch.kernel(input.module.clone(), input.function);
    let (steps, planned) = match given {
        Some(steps) => (steps.clone(), None),
        None => steps_for(&kernel, (barred, request, sizes, arch), sources)?,
    };
    // What is wrong with the user's file or schedule is "no"; a malformed schedule is bad input.
    let program = schedule::replay(&kernel, &steps, sources)
        .and_then(|scheduled| lower::lower(&scheduled, sources))
        .map_err(|d| with_steps(Failure::no(d), request, &kernel, &steps, sources))?;
    // What was chosen by the model has been compiled.
    if let (None, Some(compiler)) = (&planned, compiler(request)) {
        let stop = request.limits.stop();
        choice::compiles(&compiler, &program, |_| true, arch.gpu().arch, &stop)?;
    }
    Ok((program, steps, planned))
}

/// The schedule that the request asks for, and how it was chosen where the model did that.
fn steps_for(
    kernel: &Kernel,
    (barred, request, sizes, arch): (&Barred, &TuneRequest, &[Point], Arch),
    sources: &mut SourceMap,
) -> Result<(Schedule, Option<Planned>), Failure> {
    let direct = request.choosing.strategy == Some(Strategy::Direct);
    let space = match &request.choosing.schedule {
        Some(path) => Some(given_space(path, request, sources)?),
        None => None,
    };
    match &space {
        Some(space) if space.size() == 1 || direct => return Ok((space::plain(space)?, None)),
        None if direct => {
            return Ok((schedule::derive(kernel, sources).map_err(Failure::no)?, None));
        }
        _ => {}
    }
    let (gpu, compiler, stop) = (arch.gpu(), compiler(request), &request.limits.stop());
    let (compiler, enough) = (compiler.as_ref(), &stop.half_way());
    let model = Model { kernel, gpu, sizes, sources, compiler, barred, stop, enough };
    let choice = match &space {
        Some(space) => space::choose(space, &model)?,
        None => choice::choose(&model)?,
    };
    Ok((choice.schedule.clone(), Some(Planned { gpu: gpu.name, choice })))
}

/// The schedule file, its parameters fixed where the request says so.
fn given_space(
    path: &Path,
    request: &TuneRequest,
    sources: &mut SourceMap,
) -> Result<Space, Failure> {
    let text = String::from_utf8(crate::files::read(path)?)
        .map_err(|_| Failure::input("W301", format!("`{}` is not a text file", path.display())))?;
    let file = sources.add(path.display().to_string(), text);
    let mut space = schedule::space::parse(sources, file)?;
    space::fix(&mut space, &request.choosing.params)?;
    Ok(space)
}

/// With what each step made of the function, where that was asked for: a schedule that fails is one to look at.
pub(super) fn with_steps(
    failure: Failure,
    request: &TuneRequest,
    kernel: &Kernel,
    steps: &Schedule,
    sources: &SourceMap,
) -> Failure {
    match request.show_steps {
        true => Failure { made: shown::human(&shown::show(kernel, steps, sources)), ..failure },
        false => failure,
    }
}

/// A program with the steps that made it.
pub(super) type Chosen = (Program, Schedule, Option<Planned>);

/// How the schedule was chosen, when the model did it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The GPU that times were predicted for.
    pub gpu: &'static str,
    /// The schedule with its predicted times.
    pub choice: Choice,
}
