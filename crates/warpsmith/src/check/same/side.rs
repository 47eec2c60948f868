//! The two sides of a comparison: a kernel, or a C function.

use std::path::{Path, PathBuf};

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::cloops::{self, CInput};
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_front::sema::{self, KernelSelection, Request};
use warpsmith_ir::{Diagnostic, FuncId, Function, Module, SourceMap, Span};
use warpsmith_opt::analysis::extents as accesses;
use warpsmith_stage::source::shape;

use super::host_numbers;
use super::launching::{Kernel, Launching};
use crate::check::args::{LaunchArgs, SourceArgs};
use crate::check::plan::{self, base_name};
use crate::check::{directive, files, program, shown};
use crate::data::{ArgSpec, NamedSpec};
use crate::status::Failure;
use crate::tune::extents;

/// A function that is run on the data.
pub struct Side {
    pub path: PathBuf,
    /// With template arguments.
    pub name: String,
    pub module: Module,
    pub function: FuncId,
    pub unit: TranslationUnit,
    pub code: Code,
    /// Options and directives that belong to it.
    pub args: LaunchArgs,
}

pub enum Code {
    Kernel(Launching),
    /// Run by the interpreter.
    C(Box<CInput>),
}

/// What both sides are read with.
pub struct Reading<'a> {
    pub source: &'a SourceArgs,
    pub prelude: &'a TranslationUnit,
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
        matches!(self.code, Code::Kernel(_))
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
        let (name, args, span) = chosen(&unit, options, reading, sources)?;
        let file = sources.add("--kernel", name.as_str());
        let span = span.unwrap_or(Span { file, start: 0, end: name.len() as u32 });
        let kernels = KernelSelection::Asked(vec![(name.clone(), span)]);
        let request = Request { kernels, host_functions: vec![] };
        let lowered = sema::lower_with(&unit, reading.prelude, &request)
            .map_err(|list| program::with_headers(list, &unit))?;
        let Some(info) = lowered.kernels.first() else {
            return Err(Failure::input("W304", format!("there is no kernel `{name}`")));
        };
        let (module, function) = (lowered.module, info.id);
        let kernel = Kernel { unit: &unit, module: &module, function, name: base_name(&name) };
        let launching = kernel.launching(&args)?;
        let (path, code) = (path.to_path_buf(), Code::Kernel(launching));
        Ok(Side { path, name, module, function, unit, code, args })
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
            let named = |n: &String| kernels.iter().any(|k| k.base == base_name(n));
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
        extents::assume(&mut input);
        let (module, function) = (input.module.clone(), input.function);
        Ok(Side {
            path: path.to_path_buf(),
            name: input.name.clone(),
            module,
            function,
            unit,
            code: Code::C(input.into()),
            args: LaunchArgs::default(),
        })
    }
}

/// The kernel that is meant, with its options and where they stand.
fn chosen(
    unit: &TranslationUnit,
    options: &LaunchArgs,
    reading: &Reading<'_>,
    sources: &SourceMap,
) -> Result<(String, LaunchArgs, Option<Span>), Failure> {
    let plan = plan::make(unit, options, reading.source)?;
    let mut launches = plan.steps.iter().filter_map(|step| match step.launches.as_slice() {
        [only] => Some(only),
        _ => None,
    });
    if let Some(first) = launches.next() {
        let instance = instance(unit, &first.kernel, sources);
        return Ok((instance, first.args.clone(), first.span));
    }
    if !plan.steps.is_empty() {
        return Err(Diagnostic::error(
            "W309",
            "kernels that run one after the other cannot be compared as one",
        )
        .help("name one kernel with --kernel, or compare what each computes")
        .into());
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
                    "choose one with --kernel (of the reference: FILE:NAME): {}",
                    names.join(", ")
                ))
                .into());
        }
    };
    Ok((instance(unit, name, sources), options.clone(), None))
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
