//! A file made ready to run: parsed, planned, and the kernels of each step lowered to IR.

use std::collections::HashMap;
use std::path::Path;

use warpsmith_emu::LaunchConfig;
use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, FunctionAddress, KernelSelection, Libraries, Request};
use warpsmith_ir::{Diagnostic, FuncId, Module, SourceMap, Span, Type};

use super::args::{LaunchArgs, SourceArgs};
use super::memory::{ArgContext, Buffers, Tried};
use super::plan::{self, Allow, Planned, Step};
use super::variables::Variables;
use super::{directive, files, functions, shown};
use crate::data::{ArgSpec, NamedSpec, parse_scalar, scalars_of};
use crate::status::Failure;

/// All steps of a file.
#[derive(Debug)]
pub struct Loaded {
    /// The steps, in order.
    pub steps: Vec<StepProgram>,
    /// The syntax of the file, for its host code.
    pub unit: TranslationUnit,
    /// Findings that comments of the source allow.
    pub allows: Vec<Allow>,
}

/// Launches in order on shared buffers, with the module that holds their kernels.
#[derive(Debug)]
pub struct StepProgram {
    /// Warnings of the front end.
    pub warnings: Vec<Diagnostic>,
    /// Its kernels, with the functions and variables that they use.
    pub module: Module,
    /// The launches, in order.
    pub launches: Vec<Planned>,
    /// Variables of the device that options set.
    pub variables: Variables,
    /// What a pointer to a function may hold.
    pub functions: Vec<FunctionAddress>,
    kernels: HashMap<String, FuncId>,
}

/// Reads, parses, plans and lowers a file. No steps: the file has kernels but no launch.
///
/// # Errors
/// Whatever is wrong with the input.
pub fn load(
    path: &Path,
    launch: &LaunchArgs,
    source: &SourceArgs,
    libraries: &Libraries<'_>,
    sources: &mut SourceMap,
) -> Result<Loaded, Failure> {
    let text = files::read(path)?;
    let mut unit = match parse_with(path, &text, source, sources) {
        Ok(unit) => unit,
        // To find the launches the file must be parsed, which may need the options of a launch.
        Err(failure) => match directive::source_options(&text) {
            Some(own) => parse_with(path, &text, &source.with(&own), sources)?,
            None => return Err(failure),
        },
    };
    let for_verifiers = plan::is_for_verifiers(&unit);
    if for_verifiers {
        sema::read_as_verifiers_do(&mut unit);
    }
    let plan = plan::make(&unit, launch, source)?;
    let mut steps = vec![];
    for step in plan.steps {
        let mut step = compile(path, &text, (&unit, libraries), source, step, sources)?;
        if for_verifiers {
            if !step.keep_fitting(launch) {
                continue;
            }
            step.functions.extend(functions::nulls(&step.module));
        }
        steps.push(step);
    }
    Ok(Loaded { steps, unit, allows: plan.allows })
}

/// Lowers the kernels of a step. All launches of one step are compiled with the options of its first.
fn compile(
    path: &Path,
    text: &[u8],
    (unit, libraries): (&TranslationUnit, &Libraries<'_>),
    common: &SourceArgs,
    step: Step,
    sources: &mut SourceMap,
) -> Result<StepProgram, Failure> {
    let own = step.launches.first().map_or(common, |l| &l.source);
    let reparsed;
    let unit = if own == common {
        unit
    } else {
        let mut again = parse_with(path, text, own, sources)?;
        if plan::is_for_verifiers(&again) {
            sema::read_as_verifiers_do(&mut again);
        }
        reparsed = again;
        &reparsed
    };
    let mut names: Vec<String> = vec![];
    for launch in &step.launches {
        if !names.contains(&launch.kernel) {
            names.push(launch.kernel.clone());
        }
    }
    let asked = names.iter().map(|name| (name.clone(), name_span(name, &step.launches, sources)));
    let kernels = KernelSelection::Asked(asked.collect());
    let request = Request { kernels, host_functions: vec![] };
    let lowered =
        sema::lower_with(unit, libraries, &request).map_err(|list| with_headers(list, unit))?;
    let kernels = names.into_iter().zip(lowered.kernels.iter().map(|k| k.id)).collect();
    let variables = Variables::of(unit);
    let warnings = lowered.warnings;
    Ok(StepProgram {
        warnings,
        module: lowered.module,
        launches: step.launches,
        variables,
        functions: lowered.function_addresses,
        kernels,
    })
}

/// Errors, with the headers that were not found: what is not declared may be in one of them.
pub fn with_headers(mut errors: Vec<Diagnostic>, unit: &TranslationUnit) -> Vec<Diagnostic> {
    if let Some(first) = errors.first_mut() {
        *first = with_notes(first.clone(), unit);
    }
    errors
}

/// As [`with_headers`], for one error.
pub fn with_notes(error: Diagnostic, unit: &TranslationUnit) -> Diagnostic {
    let add = |error: Diagnostic, header: &Diagnostic| error.note(sought(header));
    unit.missing_headers.iter().fold(error, add)
}

/// Which header was not found, where it was sought, and what to do about it.
pub fn sought(header: &Diagnostic) -> String {
    let places = header.notes.first().map_or("", String::as_str);
    format!("{}, {places}: give the folder it is in with `-I`", header.message)
}

/// Where a kernel is named: in its directive, or in the command line, which is shown like a file.
fn name_span(name: &str, launches: &[Planned], sources: &mut SourceMap) -> Span {
    let directive = launches.iter().filter(|l| l.kernel == name).find_map(|l| l.span);
    directive.unwrap_or_else(|| {
        let file = sources.add("--kernel", name);
        Span { file, start: 0, end: name.len() as u32 }
    })
}

fn parse_with(
    path: &Path,
    text: &[u8],
    source: &SourceArgs,
    sources: &mut SourceMap,
) -> Result<TranslationUnit, Failure> {
    parse_as(false, path, text, source, sources)
}

/// Parses a file that may be a part of a program without any kernel.
///
/// # Errors
/// Syntax that a compiler would not take either.
pub fn parse_part(
    path: &Path,
    text: &[u8],
    source: &SourceArgs,
    sources: &mut SourceMap,
) -> Result<TranslationUnit, Failure> {
    parse_as(true, path, text, source, sources)
}

fn parse_as(
    part_of_program: bool,
    path: &Path,
    text: &[u8],
    source: &SourceArgs,
    sources: &mut SourceMap,
) -> Result<TranslationUnit, Failure> {
    let options = ParseOptions {
        part_of_program,
        defines: source.defines(),
        include_dirs: source.include.clone(),
        without_missing: true,
        ..ParseOptions::new(Language::Cuda)
    };
    let parsed = parse::parse(&shown(path), text, &options, &DiskLoader, sources)?;
    Ok(parsed.unit)
}

impl StepProgram {
    /// Leaves out numbers of conditions and comparisons that their parameters' types do not hold; others are `given`.
    /// False: the step is for one of them.
    fn keep_fitting(&mut self, given: &LaunchArgs) -> bool {
        for planned in &mut self.launches {
            let Some(kernel) = self.kernels.get(&planned.kernel) else { continue };
            let function = self.module.function(*kernel);
            let fits = |a: &NamedSpec| {
                let ArgSpec::Number(text) = &a.spec else { return true };
                let var = function.params.iter().map(|p| function.var(*p));
                match var.map(|v| (&v.name, &v.ty)).find(|(name, _)| **name == a.name) {
                    Some((_, Type::Pointer { .. })) => text == "0",
                    Some((_, ty)) => match scalars_of(&self.module, ty, 0).as_slice() {
                        [(_, only)] => parse_scalar(text, *only).is_ok(),
                        _ => false,
                    },
                    None => false,
                }
            };
            planned.args.args.retain(|a| given.spec(&a.name).is_some() || fits(a));
        }
        let tries = |p: &Planned| p.tries.as_ref().is_none_or(|name| p.args.spec(name).is_some());
        self.launches.iter().all(tries)
    }

    /// How many ways there are to choose functions for pointers that nobody gives one.
    pub fn choices_of_functions(&self) -> usize {
        let each = self.launches.iter().filter_map(|planned| {
            let kernel = *self.kernels.get(&planned.kernel)?;
            Some(functions::choices(&self.module, kernel, &planned.args, &self.functions))
        });
        each.max().unwrap_or(1)
    }

    /// The functions that a launch tries, as an option would give them.
    pub fn functions_tried(&self, planned: &Planned, tried: Tried<'_>) -> Vec<String> {
        let Some(kernel) = self.kernels.get(&planned.kernel) else { return vec![] };
        let (args, functions) = (&planned.args, &self.functions);
        let chosen = functions::chosen(&self.module, *kernel, args, functions, tried.function);
        chosen.into_iter().map(|(name, f)| functions::as_option(name, f)).collect()
    }

    /// The launch as the emulator takes it; makes the buffers that are not there yet.
    ///
    /// # Errors
    /// W306 when grid, block or an argument is missing or does not fit.
    pub fn config(
        &self,
        planned: &Planned,
        buffers: &mut Buffers,
        seed: u64,
        tried: Tried<'_>,
        max_memory: u64,
    ) -> Result<LaunchConfig, Failure> {
        let kernel = *self.kernels.get(&planned.kernel).ok_or_else(|| {
            Failure::input("W304", format!("there is no kernel `{}`", planned.kernel))
        })?;
        let need = |what: &str| -> Failure {
            let error = Diagnostic::error(
                "W306",
                format!("the launch of `{}` has no {what}", planned.kernel),
            );
            let error = match planned.span {
                Some(span) => error.label(span, "in this launch"),
                None => error,
            };
            error.help(format!("add --{what} X[,Y[,Z]]")).into()
        };
        let grid = planned.args.grid.ok_or_else(|| need("grid"))?.0;
        let block = planned.args.block.ok_or_else(|| need("block"))?.0;
        let cx = ArgContext {
            module: &self.module,
            kernel,
            args: &planned.args,
            span: planned.span,
            seed,
            tried,
            max_memory,
            variables: &self.variables,
            functions: &self.functions,
        };
        let args = buffers.arguments(&cx)?;
        Ok(LaunchConfig {
            kernel,
            grid,
            block,
            dynamic_shared: planned.args.shared.unwrap_or(0),
            cluster: None,
            args,
        })
    }
}
