//! The two sides of a comparison: a kernel, several that run one after the other, or a C function.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, KernelSelection, Libraries, Request};
use warpsmith_ir::{Diagnostic, FuncId, Function, Module, SourceMap, Span, Type};
use warpsmith_opt::analysis::extents as accesses;
use warpsmith_stage::source::shape;

use super::calls::{self, Bind, Slot, Stage};
use super::host_function::HostFunction;
use super::host_numbers;
use super::host_runs::{self, HostRun, HostStep, Passed};
use super::launching::{Kernel, Launching, NoShape, Shape};
use super::measured;
use crate::check::args::{LaunchArgs, SourceArgs};
use crate::check::plan::{self, base_name};
use crate::check::{directive, files, program, shown};
use crate::data::{ArgSpec, NamedSpec};
use crate::status::Failure;
use warpsmith_translate::tune::extents;
use warpsmith_translate::tune::sizes::Point;

/// What is run on the data.
pub struct Side {
    pub path: PathBuf,
    /// With template arguments; of several kernels all names.
    pub name: String,
    pub module: Module,
    /// The C function, or the first kernel.
    pub function: FuncId,
    pub unit: TranslationUnit,
    /// Arrays and numbers that it is called with.
    pub slots: Vec<Slot>,
    pub code: Code,
    /// Options and directives that belong to it.
    pub args: LaunchArgs,
    /// Where a host function runs it: names that it has for arrays and sizes, and what they are called here.
    pub of_host: Option<BTreeMap<String, String>>,
}

pub enum Code {
    Kernels(Vec<Step>),
    /// Run by the interpreter; what each of its parameters gets.
    C(Box<CInput>, Vec<Bind>),
    /// A function of the host that launches kernels as its control flow says.
    Host(HostFunction),
}

/// What happens one after the other.
pub enum Step {
    Launch(Box<Stage>),
    /// All bytes of an array become one value.
    Fill {
        slot: usize,
        value: u8,
    },
}

/// What both sides are read with.
pub struct Reading<'a> {
    pub source: &'a SourceArgs,
    pub libraries: &'a Libraries<'a>,
    /// `--arg`.
    pub specs: &'a [NamedSpec],
}

/// `FILE` or `FILE:NAME`.
pub fn split(reference: &str) -> (PathBuf, Option<String>) {
    if Path::new(reference).is_file() {
        return (reference.into(), None);
    }
    // A drive letter and the `::` of a namespace are no separators.
    let colon = reference.char_indices().find(|(i, c)| {
        *c == ':'
            && *i > 1
            && !reference[..*i].ends_with(':')
            && !reference[i + 1..].starts_with(':')
    });
    match colon {
        Some((at, _)) => (reference[..at].into(), Some(reference[at + 1..].to_string())),
        None => (reference.into(), None),
    }
}

impl Side {
    pub fn ir(&self) -> &Function {
        self.module.function(self.function)
    }

    pub fn is_kernel(&self) -> bool {
        matches!(self.code, Code::Kernels(_) | Code::Host(_))
    }

    /// Its kernels in order; none of a C function.
    pub fn stages(&self) -> impl Iterator<Item = &Stage> {
        let steps = match &self.code {
            Code::Kernels(steps) => steps.as_slice(),
            Code::C(..) | Code::Host(_) => &[],
        };
        steps.iter().filter_map(|s| match s {
            Step::Launch(stage) => Some(&**stage),
            Step::Fill { .. } => None,
        })
    }

    /// `old.cu: k` of one of its kernels.
    pub fn describe_stage(&self, stage: &Stage) -> String {
        format!("{}: {}", shown(&self.path), stage.name)
    }

    /// The launch of one of its kernels at the sizes of its slots.
    ///
    /// # Errors
    /// [`NoShape`].
    pub fn shape(&self, stage: &Stage, sizes: &Point) -> Result<Shape, NoShape> {
        let f = self.module.function(stage.function);
        let of_host = self.sizes_of_host(sizes);
        stage.launching.at(&self.unit, f, &stage.sizes(f, &self.slots, sizes), &of_host)
    }

    /// Sizes by the names that the host function has for them.
    pub fn sizes_of_host(&self, sizes: &Point) -> Point {
        let Some(names) = &self.of_host else { return Point::new() };
        let renamed = names.iter().filter_map(|(own, here)| Some((own.clone(), *sizes.get(here)?)));
        sizes.iter().map(|(n, v)| (n.clone(), *v)).chain(renamed).collect()
    }

    /// The parameter of the C function that a slot is, and its place in it.
    pub fn place_in_c(&self, slot: usize) -> Option<(usize, u64)> {
        let Code::C(_, binds) = &self.code else { return None };
        binds.iter().enumerate().find_map(|(at, bind)| match bind {
            Bind::Slots(places) => {
                places.iter().find(|(_, s)| *s == slot).map(|(offset, _)| (at, *offset))
            }
            Bind::Host => None,
        })
    }

    /// `old.cu: k`, for reports.
    pub fn describe(&self) -> String {
        format!("{}: {}", shown(&self.path), self.name)
    }

    /// The kernel that is checked.
    ///
    /// # Errors
    /// Whatever is wrong with the file, or W309 where nothing tells how it is launched.
    pub fn kernel(
        path: &Path,
        options: &LaunchArgs,
        reading: &Reading<'_>,
        sources: &mut SourceMap,
    ) -> Result<Side, Failure> {
        let text = files::read(path)?;
        let unit = match program::parse_part(path, &text, reading.source, sources) {
            Ok(unit) => unit,
            Err(failure) => match directive::source_options(&text) {
                Some(own) => program::parse_part(path, &text, &reading.source.with(&own), sources)?,
                None => return Err(failure),
            },
        };
        Side::kernel_of(path, unit, options, reading, sources)
    }

    fn kernel_of(
        path: &Path,
        unit: TranslationUnit,
        options: &LaunchArgs,
        reading: &Reading<'_>,
        sources: &mut SourceMap,
    ) -> Result<Side, Failure> {
        if let Some(name) = host_function_meant(&unit, options) {
            return Side::host(path, unit, &name, options, reading);
        }
        let chosen = chosen(&unit, options, reading, sources)?;
        let mut asked = vec![];
        for name in chosen.kernels() {
            let file = sources.add("--kernel", name.as_str());
            let own = Span { file, start: 0, end: name.len() as u32 };
            let asked_already = asked.iter().any(|(n, _): &(String, Span)| n == name);
            if !asked_already {
                asked.push((name.clone(), chosen.span.unwrap_or(own)));
            }
        }
        let request =
            Request { kernels: KernelSelection::Asked(asked.clone()), host_functions: vec![] };
        let lowered = sema::lower_with(&unit, reading.libraries, &request)
            .map_err(|list| program::with_headers(list, &unit))?;
        let module = lowered.module;
        let ids: Vec<(String, FuncId)> =
            asked.into_iter().map(|(n, _)| n).zip(lowered.kernels.iter().map(|k| k.id)).collect();
        let mut side = Side {
            path: path.to_path_buf(),
            name: chosen.kernels().map(String::as_str).collect::<Vec<_>>().join(", "),
            module,
            function: FuncId(0),
            unit,
            slots: vec![],
            code: Code::Kernels(vec![]),
            args: chosen.args.clone(),
            of_host: chosen.of_host.then(|| chosen.names.clone()),
        };
        let mut steps = vec![];
        for step in &chosen.steps {
            let Planned::Kernel { name, args, launch } = step else { continue };
            let Some((_, function)) = ids.iter().find(|(n, _)| n == name) else {
                return Err(Failure::input("W304", format!("there is no kernel `{name}`")));
            };
            steps.push(side.stage(name, *function, args, launch.as_deref(), &chosen)?);
        }
        let mut stages = steps.into_iter();
        let mut all = vec![];
        for step in &chosen.steps {
            match step {
                Planned::Kernel { .. } => all.extend(stages.next().map(|s| Step::Launch(s.into()))),
                Planned::Fill { array, value } => {
                    let name = chosen.names.get(array).unwrap_or(array);
                    let slot = side.slots.iter().position(|s| s.name == *name);
                    all.extend(slot.map(|slot| Step::Fill { slot, value: *value }));
                }
            }
        }
        side.code = Code::Kernels(all);
        let first = side.stages().next().map(|s| s.function);
        side.function = first.unwrap_or(FuncId(0));
        side.add_sizes_of_host(&chosen);
        Ok(side)
    }

    /// A function of the host with the kernels that it launches.
    fn host(
        path: &Path,
        unit: TranslationUnit,
        name: &str,
        options: &LaunchArgs,
        reading: &Reading<'_>,
    ) -> Result<Side, Failure> {
        let lowered = sema::lower_program(&unit, reading.libraries, name)
            .map_err(|list| program::with_headers(list, &unit))?;
        let Some(function) = lowered.host_functions.first().copied() else {
            return Err(Failure::input("W304", format!("there is no function `{name}`")));
        };
        let module = lowered.module;
        let mut slots = vec![];
        let own = |_: usize, name: &str| Some(name.to_string());
        let binds = calls::bind(&module, module.function(function), &own, &mut slots)?;
        let code = Code::Host(HostFunction::new(&module, function, binds));
        Ok(Side {
            path: path.to_path_buf(),
            name: name.to_string(),
            module,
            function,
            unit,
            slots,
            code,
            args: options.clone(),
            of_host: None,
        })
    }

    /// One of the kernels, with what its parameters get.
    fn stage(
        &mut self,
        name: &str,
        function: FuncId,
        args: &LaunchArgs,
        launch: Option<&host_numbers::HostLaunch>,
        chosen: &Chosen,
    ) -> Result<Stage, Failure> {
        let f = self.module.function(function);
        let launching = match launch {
            Some(launch) => Launching::Host(launch.clone().into()),
            None => {
                let (unit, module) = (&self.unit, &self.module);
                Kernel { unit, module, function, name: base_name(name) }.launching(args)?
            }
        };
        let mut unknown = None;
        for (at, param) in f.params.iter().enumerate().filter(|_| launch.is_some()) {
            let passed = launch
                .map(|l| l.passed(&self.unit, at, f.var(*param).ty.is_pointer(), &chosen.sizes));
            if passed == Some(Passed::Unknown) {
                unknown = Some(f.var(*param).name.clone());
            }
        }
        if let Some(param) = unknown {
            let message =
                format!("nothing tells which array the host code passes for `{param}` of `{name}`");
            return Err(Diagnostic::error("W309", message)
                .help("pass variables that hold one array all along, or name the kernels in a directive, `// warpsmith: run first, second`: those share what has one name")
                .into());
        }
        let named = |at: usize, own: &str| {
            let Some(launch) = launch else { return Some(own.to_string()) };
            let array = f.var(f.params[at]).ty.is_pointer();
            match launch.passed(&self.unit, at, array, &chosen.sizes) {
                Passed::Name(n) => Some(chosen.names.get(&n).cloned().unwrap_or(n)),
                _ => None,
            }
        };
        let mut slots = std::mem::take(&mut self.slots);
        let binds = calls::bind(&self.module, f, &named, &mut slots);
        self.slots = slots;
        Ok(Stage { name: name.to_string(), function, launching, binds: binds? })
    }

    /// Sizes that the host function computes with and passes to no kernel as they are.
    fn add_sizes_of_host(&mut self, chosen: &Chosen) {
        let known = |name: &String| self.slots.iter().any(|s| s.name == *name);
        let missing: Vec<&String> = chosen.sizes.iter().filter(|n| !known(n)).collect();
        let more = missing.into_iter().map(|name| Slot {
            name: name.clone(),
            ty: Type::I32,
            span: None,
            inferred: false,
        });
        let more: Vec<Slot> = more.collect();
        self.slots.extend(more);
    }

    /// The reference: a kernel where the file has one of that name, else a function of the host.
    ///
    /// # Errors
    /// As [`Side::kernel`].
    pub fn reference(
        reference: &str,
        reading: &Reading<'_>,
        sources: &mut SourceMap,
    ) -> Result<Side, Failure> {
        let (path, name) = split(reference);
        let text = files::read(&path)?;
        let is_c = path.extension().is_some_and(|e| e == "c" || e == "h");
        if !is_c {
            let unit = program::parse_part(&path, &text, reading.source, sources);
            let unit = match (unit, directive::source_options(&text)) {
                (Err(_), Some(own)) => {
                    program::parse_part(&path, &text, &reading.source.with(&own), sources)?
                }
                (unit, _) => unit?,
            };
            let kernels = sema::kernels_of(&unit);
            let launching = host_runs::launching(&unit);
            let named = |n: &String| {
                kernels.iter().any(|k| k.base == base_name(n)) || launching.contains(n)
            };
            if name.as_ref().map_or(!kernels.is_empty(), named) {
                let options = LaunchArgs { kernel: name, ..LaunchArgs::default() };
                return Side::kernel_of(&path, unit, &options, reading, sources);
            }
            return Side::c(&path, unit, name.as_deref(), reading);
        }
        let options = ParseOptions {
            defines: reading.source.defines(),
            include_dirs: reading.source.include.clone(),
            ..ParseOptions::new(Language::C)
        };
        let parsed = parse::parse(&shown(&path), &text, &options, &DiskLoader, sources)?;
        Side::c(&path, parsed.unit, name.as_deref(), reading)
    }

    fn c(
        path: &Path,
        unit: TranslationUnit,
        name: Option<&str>,
        reading: &Reading<'_>,
    ) -> Result<Side, Failure> {
        let mut input = cloops::lower_c(&unit, name)?;
        warpsmith_opt::inline::writers(&mut input.module, input.function);
        accesses::infer(&mut input.module, input.function)?;
        // Extents that are made of sizes are worked out for each launch.
        let plain = |s: &&NamedSpec| match &s.spec {
            ArgSpec::Array { dims, .. } => dims.iter().all(|d| d.parse::<u64>().is_ok()),
            _ => true,
        };
        let specs: Vec<NamedSpec> = reading.specs.iter().filter(plain).cloned().collect();
        extents::take_given(&mut input, &specs)?;
        extents::assume(&mut input, &specs)?;
        measured::open_extents(&mut input);
        let (module, function) = (input.module.clone(), input.function);
        let mut slots = vec![];
        let own = |_: usize, name: &str| Some(name.to_string());
        let binds = calls::bind(&module, module.function(function), &own, &mut slots)?;
        Ok(Side {
            path: path.to_path_buf(),
            name: input.name.clone(),
            module,
            function,
            unit,
            slots,
            code: Code::C(input.into(), binds),
            args: LaunchArgs::default(),
            of_host: None,
        })
    }
}

/// What is to be run of a file.
struct Chosen {
    steps: Vec<Planned>,
    /// Options and directives, of several kernels those of the first.
    args: LaunchArgs,
    /// Where it is asked for.
    span: Option<Span>,
    /// Sizes of the host function that runs the kernels.
    sizes: Vec<String>,
    /// What arrays and sizes of the host function are called here.
    names: BTreeMap<String, String>,
    /// A host function says what is run.
    of_host: bool,
}

enum Planned {
    Kernel { name: String, args: Box<LaunchArgs>, launch: Option<Box<host_numbers::HostLaunch>> },
    Fill { array: String, value: u8 },
}

impl Chosen {
    fn one(name: String, args: LaunchArgs, span: Option<Span>) -> Chosen {
        let steps = vec![Planned::Kernel { name, args: args.clone().into(), launch: None }];
        Chosen { steps, args, span, sizes: vec![], names: BTreeMap::new(), of_host: false }
    }

    fn kernels(&self) -> impl Iterator<Item = &String> {
        self.steps.iter().filter_map(|s| match s {
            Planned::Kernel { name, .. } => Some(name),
            Planned::Fill { .. } => None,
        })
    }
}

/// The kernels that are meant, with their options and where they stand.
fn chosen(
    unit: &TranslationUnit,
    options: &LaunchArgs,
    reading: &Reading<'_>,
    sources: &SourceMap,
) -> Result<Chosen, Failure> {
    let plan = plan::for_comparison(unit, options, reading.source)?;
    if let Some(step) = plan.steps.into_iter().next() {
        let named = |p: &plan::Planned| Planned::Kernel {
            name: instance(unit, &p.kernel, sources),
            args: p.args.clone().into(),
            launch: None,
        };
        let first = step.launches.first().map(|p| (p.args.clone(), p.span));
        let (args, span) = first.unwrap_or_default();
        let steps = step.launches.iter().map(named).collect();
        return Ok(Chosen {
            steps,
            args,
            span,
            sizes: vec![],
            names: BTreeMap::new(),
            of_host: false,
        });
    }
    if options.kernel.is_none()
        && let Some(chosen) = run_of_host(unit, options, sources)?
    {
        return Ok(chosen);
    }
    let kernels = sema::kernels_of(unit);
    let launched = kernels.iter().filter(|k| !host_numbers::launches(unit, &k.base).is_empty());
    let launched: Vec<&str> = launched.map(|k| k.name.as_str()).collect();
    let name = match (kernels.as_slice(), launched.as_slice()) {
        ([only], _) => only.name.as_str(),
        (_, [only]) => only,
        _ => {
            let names: Vec<String> = kernels.iter().map(|k| format!("`{}`", k.name)).collect();
            let message = "the file has several kernels: which one is to be compared?";
            return Err(Diagnostic::error("W304", message)
                .help(format!(
                    "choose one with --kernel (of the reference: FILE:NAME): {}; or say that they run one after the other, `// warpsmith: run first, second`",
                    names.join(", ")
                ))
                .into());
        }
    };
    Ok(Chosen::one(instance(unit, name, sources), options.clone(), None))
}

/// The function of the host that is run as it stands: one that is named, or the only one that launches in loops, under
/// conditions, or what nobody can tell without running it.
fn host_function_meant(unit: &TranslationUnit, options: &LaunchArgs) -> Option<String> {
    let launching = host_runs::launching(unit);
    if let Some(name) = &options.kernel {
        let kernel = sema::kernels_of(unit).iter().any(|k| k.base == base_name(name));
        return launching.contains(name).then(|| name.clone()).filter(|_| !kernel);
    }
    if options.grid.is_some() || directive::any_launch(unit) {
        return None;
    }
    host_runs::to_be_run(unit)
}

/// The host function that launches several kernels, or one behind something that it clears.
fn run_of_host(
    unit: &TranslationUnit,
    options: &LaunchArgs,
    sources: &SourceMap,
) -> Result<Option<Chosen>, Failure> {
    let runs = host_runs::runs(unit);
    let [run] = runs.as_slice() else { return Ok(None) };
    let launches = run.steps.iter().filter(|s| matches!(s, HostStep::Launch { .. })).count();
    if launches + usize::from(run.tangled.is_some()) < 2 && run.steps.len() < 2 {
        return Ok(None);
    }
    if let Some(span) = run.tangled {
        if launches == 0 {
            return Ok(None);
        }
        return Err(Diagnostic::error("W309", format!("`{}` launches kernels in a loop or under a condition", run.name))
            .label(span, "here")
            .help("choose one kernel with --kernel, or name those that run one after the other, `// warpsmith: run first, second`")
            .into());
    }
    let mut steps = vec![];
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    for step in &run.steps {
        steps.push(match step {
            HostStep::Launch { kernel, launch, .. } => {
                let nth = met.entry(kernel.clone()).or_default();
                let instances = shape::instances(unit, kernel, sources);
                let name = instances.get(*nth).map_or(kernel.clone(), |i| i.name.clone());
                *nth += 1;
                Planned::Kernel { name, args: options.clone().into(), launch: Some(launch.clone()) }
            }
            HostStep::Fill { array, value } => {
                Planned::Fill { array: array.clone(), value: *value }
            }
        });
    }
    let names = names_of_arrays(unit, run);
    let (args, sizes) = (options.clone(), run.sizes.clone());
    Ok(Some(Chosen { steps, args, span: None, sizes, names, of_host: true }))
}

/// Arrays of the host function are called as the kernels call them, where all that get one agree and no other is called so.
fn names_of_arrays(unit: &TranslationUnit, run: &HostRun) -> BTreeMap<String, String> {
    let mut called: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in &run.steps {
        let HostStep::Launch { kernel, launch, .. } = step else { continue };
        for (at, param) in host_runs::params(unit, kernel).into_iter().enumerate() {
            if let Passed::Name(n) = launch.passed(unit, at, param.array, &run.sizes) {
                called.entry(n).or_default().push(param.name);
            }
        }
    }
    let agreed = |names: &Vec<String>| names.iter().all(|n| *n == names[0]);
    let of = |name: &str| called.iter().filter(|(_, n)| n.iter().any(|x| x == name)).count();
    let unique = called.iter().filter(|(own, names)| {
        agreed(names)
            && of(&names[0]) == 1
            && (**own == names[0] || !called.contains_key(&names[0]))
            && !run.sizes.contains(own)
    });
    unique.map(|(own, names)| (own.clone(), names[0].clone())).collect()
}

/// A kernel with the template arguments that the host code launches it with, where none are given.
fn instance(unit: &TranslationUnit, name: &str, sources: &SourceMap) -> String {
    if name.contains('<') {
        return name.to_string();
    }
    let launched = shape::instances(unit, base_name(name), sources);
    let named = launched.into_iter().find(|i| i.name.contains('<'));
    named.map_or_else(|| name.to_string(), |i| i.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_files_and_functions() {
        assert_eq!(split("ref.c:gemm"), ("ref.c".into(), Some("gemm".into())));
        assert_eq!(split("a/old.cu"), ("a/old.cu".into(), None));
        assert_eq!(
            split("old.cu:ns::k<float,32>"),
            ("old.cu".into(), Some("ns::k<float,32>".into()))
        );
    }
}
