//! One program from its text to verified files: printed, parsed again, compared with the C function, and printed with the
//! verdict.

use warpsmith_emit::{
    Emit, Fill, HostEntry, Moved, Packed, TestProgram, cuda_file, header_file, test_file,
};
use warpsmith_emu as emu;
use warpsmith_front::cloops::{CInput, Held, Record, RecordField};
use warpsmith_ir::{Diagnostic, Scalar, SourceMap, Type, VarId};
use warpsmith_opt::analysis::transfers;
use warpsmith_opt::analysis::values::{self, Slot};
use warpsmith_opt::{Program, assumption};

use super::arch::Arch;
use super::given;
use super::pipeline::{assumptions, function_of};
use super::recompute;
use super::request::TuneRequest;
use super::sizes::{self, Point};
use super::verify::coverage::Coverage;
use super::verify::host_c::{HostReference, NoReference};
use super::verify::inputs::Sources;
use super::verify::launcher_cases::{self, Fact};
use super::verify::points;
use super::verify::suited;
use super::verify::witness::Witness;
use super::verify::{Verified, Verifier, Written};
use crate::data::{ArgSpec, Init, NamedSpec};
use crate::interrupt;
use crate::status::{Failure, Status};

/// What emission and verification need.
pub(super) struct Translation<'a> {
    pub request: &'a TuneRequest,
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

/// Paths of a kernel were run at no size.
pub const NOT_RUN: &str = "W337";
/// What to do where a path cannot be run.
pub(super) const LET_IT_RUN: &str = "only what was run is handed out: with smaller blocks, tiles and grids in --schedule, sizes that can be run get \
                       there; else leave out the step that the path is of, or let larger arrays be run with --max-memory";

/// For messages.
pub(super) const VERIFYING: &str = "while the kernel was verified";

pub(super) type Files = Vec<(String, String)>;

impl Translation<'_> {
    /// Emits, parses what was emitted, verifies that, and emits again with the verdict in the comments.
    pub(super) fn verified_files(
        &self,
        steps: &str,
        measured: &[String],
        sources: &mut SourceMap,
    ) -> Result<(Files, Verified, Vec<Diagnostic>), Failure> {
        let draft = self.print(&[], &[], &[], steps)?;
        if self.interruptible && self.request.limits.stop().is_flagged() {
            return Err(Failure::interrupted(VERIFYING));
        }
        let mut messages = vec![];
        // The compiler knows the types of the user's file only.
        let host = match self.program.precision {
            None => self.host_reference(&mut messages),
            Some(_) => None,
        };
        let (witness, mut verified) = self.verify(&draft, host.as_ref(), sources)?;
        let paragraphs = [verified.paragraphs(host.is_some(), sources), measured.to_vec()].concat();
        let points = self.test_points(&verified);
        let files = self.print(&paragraphs, &verified.preconditions(), &points, steps)?;
        let again = self.witness(&files, sources)?;
        verified.coverage_json = self.coverage_of(&verified, &again, sources);
        if !witness.same_program(&again) {
            let what = "the verdict in the comments changed the emitted program";
            return Err(Failure::input("W321", what).with_status(Status::Bug));
        }
        Ok((files, verified, messages))
    }

    /// What was run, with the lines of the text as it is handed out.
    fn coverage_of(
        &self,
        verified: &Verified,
        printed: &Witness,
        sources: &SourceMap,
    ) -> serde_json::Value {
        let given: Vec<String> = self.specs.iter().map(|s| s.name.clone()).collect();
        let there = Coverage::of(printed.module(), printed.launcher(), &given);
        verified.coverage.json(&there, sources)
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
        let (candidates, with_data) = self.candidates();
        let verifier = Verifier {
            sources: Sources {
                module: &self.input.module,
                function: function_of(self.input),
                specs: self.specs,
                seed: self.request.data.seed,
                max_memory: self.request.limits.max_memory,
            },
            function: self.input.function,
            host,
            written,
            witness: &witness,
            reassociated: self.reassociated(),
            // Iterations that are taken on trust may write one value to one element.
            same_writes: assumption::trusts_marks(&self.program.assumptions),
            options: self.options(),
            total_steps: self.request.limits.verify_steps,
            tuned: self.sizes,
            special: &self.special_sizes(),
            with_data,
            requires: (self.program.module.function(self.program.launcher), &self.program.requires),
            texts: sources,
        };
        let verified = verifier.verify(&candidates).map_err(|e| self.explain(e, sources))?;
        Ok((witness, verified))
    }

    pub(super) fn options(&self) -> emu::Options {
        emu::Options {
            jobs: self.request.limits.jobs,
            max_memory: self.request.limits.max_memory,
            deadline: self.request.limits.deadline(),
            interrupt: self.interruptible.then(interrupt::flag),
            checks: emu::Checks::STRICT,
            ways: true,
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
    fn candidates(&self) -> (Vec<Point>, bool) {
        let launcher = self.program.module.function(self.program.launcher);
        let (params, numbers) = (self.free_sizes(), self.numbers());
        let data =
            given::sizes(&self.input.module, function_of(self.input), self.specs, &Point::new());
        let data = data.map(|d| d.fixed).unwrap_or_default();
        if !data.is_empty() {
            return (self.right(points::with_data(&params, &data, self.sizes)), true);
        }
        let offsets = launcher_cases::offsets(launcher);
        let first = self.another_way();
        (self.right(points::candidates(&params, &numbers, &offsets, &first, self.sizes)), false)
    }

    /// The same points with values that the marks' conditions on sizes ask for, those left out that numbers of `--arg` keep from it.
    fn right(&self, points: Vec<Point>) -> Vec<Point> {
        let launcher = self.program.module.function(self.program.launcher);
        let mut right: Vec<Point> = vec![];
        for point in points {
            let point = sizes::satisfying(launcher, &self.program.requires, point);
            let (module, function) = (&self.input.module, function_of(self.input));
            let all = sizes::with_numbers(module, function, self.specs, &point);
            if !right.contains(&point) && sizes::hold(launcher, &self.program.requires, &all) {
                right.push(point);
            }
        }
        right
    }

    /// The parameters whose values are chosen.
    fn free_sizes(&self) -> Vec<String> {
        let fixed: Vec<&str> = self.specs.iter().map(|s| s.name.as_str()).collect();
        let params = sizes::size_params(&self.input.module, function_of(self.input)).into_iter();
        params.map(|(_, name, _)| name).filter(|n| !fixed.contains(&n.as_str())).collect()
    }

    /// The numbers around which guards change, those that the launcher tells sizes apart by included.
    fn numbers(&self) -> Vec<i64> {
        let launcher = self.program.module.function(self.program.launcher);
        let mut numbers = self.special_sizes();
        numbers.extend(launcher_cases::of_launcher(launcher).iter().flatten().map(
            |fact| match fact {
                Fact::Equals(_, n) | Fact::Multiple(_, n) => *n,
            },
        ));
        numbers
    }

    /// Sizes of which it is known that they go another way than others.
    fn another_way(&self) -> Vec<Point> {
        let launcher = self.program.module.function(self.program.launcher);
        let (params, numbers) = (self.free_sizes(), self.numbers());
        let told_apart = launcher_cases::of_launcher(launcher);
        let mut found: Vec<Point> =
            told_apart.iter().flat_map(|facts| launcher_cases::points(&params, facts)).collect();
        for limit in launcher_cases::block_limits(&self.program.module, launcher) {
            let threads = numbers.iter().copied().filter(|n| *n != limit).max().unwrap_or(limit);
            found.extend(launcher_cases::strided(&params, limit, threads));
        }
        let large = self.program.numbers.iter().map(|n| i64::from(*n));
        let large = large.filter(|n| points::LARGEST < *n && *n <= launcher_cases::MOST_AROUND);
        found.extend(large.flat_map(|n| launcher_cases::around(&params, n)));
        found
    }

    /// Sizes at which the test program compares all elements.
    pub(super) fn test_points(&self, verified: &Verified) -> Vec<Point> {
        points::for_test(&verified.points, &self.right(self.another_way()))
    }

    /// The texts of all files.
    pub(super) fn print(
        &self,
        verification: &[String],
        preconditions: &[String],
        points: &[Point],
        steps: &str,
    ) -> Result<Files, Failure> {
        let name = &self.input.name;
        let emit = Emit {
            module: &self.program.module,
            name: name.clone(),
            launcher: self.program.launcher,
            description: vec![format!(
                "CUDA translation of `{name}` in {}.",
                self.request
                    .source
                    .file
                    .file_name()
                    .map_or(String::new(), |f| f.to_string_lossy().into_owned())
            )],
            assumptions: [&assumptions(self.program)[..], &self.input.assumed, preconditions]
                .concat(),
            verification: verification.to_vec(),
            arch: self.arch.name.to_string(),
            spellings: self.input.spellings.clone(),
            result: self.program.result_param,
            workspace: self
                .program
                .workspace
                .as_ref()
                .map(|w| warpsmith_emit::Workspace { param: w.param, bytes: w.bytes.clone() }),
            host: self.host_entry(),
        };
        let test = TestProgram {
            module: &self.input.module,
            function: self.input.function,
            defaults: self.test_defaults(),
            extents: vec![],
            fills: self.test_fills(),
            reordered: self.test_reordered(),
            independent: recompute::alone(function_of(self.input)).is_ok(),
            points: points.iter().map(|p| p.clone().into_iter().collect()).collect(),
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

    /// The function with the C function's parameters beside the launcher.
    fn host_entry(&self) -> Option<HostEntry> {
        if no_host_entry(self.input, self.program).is_some() {
            return None;
        }
        let function = function_of(self.input);
        let launcher = self.program.module.function(self.program.launcher);
        let moved = transfers::of(function).into_iter().filter_map(|(array, t)| {
            let at = function.params.iter().position(|p| *p == array)?;
            let array = *launcher.params.get(at)?;
            // Copies of whole arrays to the workspace read what the function itself does not.
            let to_device = t.to_device || self.program.workspace.is_some();
            Some(Moved { array, to_device, to_host: t.to_host })
        });
        let records = self.input.records.iter().map(packed).collect::<Option<_>>()?;
        Some(HostEntry { ret: function.ret.clone(), arrays: moved.collect(), records })
    }

    /// What arrays hold in the test program: what `--arg` and the file's own defaults say, else what suits the function.
    /// Files are not carried along: they need not exist where the test program runs.
    fn test_fills(&self) -> Vec<(Slot, Fill)> {
        let function = function_of(self.input);
        let given = self.specs.iter().filter_map(|s| {
            let array = *function.params.iter().find(|p| function.var(**p).name == s.name)?;
            let element = function.var(array).ty.pointee()?.innermost().scalar();
            let whole = element.is_some_and(|s| !s.is_float());
            let fill = match &s.spec {
                ArgSpec::Init(Init::Zeros) | ArgSpec::Array { init: Init::Zeros, .. } => {
                    Fill::Zeros
                }
                ArgSpec::Init(Init::Iota) | ArgSpec::Array { init: Init::Iota, .. } => Fill::Iota,
                ArgSpec::Init(Init::Uniform(low, high))
                | ArgSpec::Array { init: Init::Uniform(low, high), .. } => {
                    // Whole numbers go up to the last one there, below the second number.
                    match whole {
                        true => Fill::Between(low.ceil(), high.ceil() - 1.0),
                        false => Fill::Between(*low, *high),
                    }
                }
                _ => return None,
            };
            Some(((array, vec![]), fill))
        });
        let given: Vec<(Slot, Fill)> = given.collect();
        let values = values::of_arrays(&self.input.module, function);
        let open = values.iter().filter(|(slot, _)| given.iter().all(|((a, _), _)| *a != slot.0));
        let suited = open.filter_map(|(slot, values)| {
            Some((slot.clone(), suited::fill(&self.input.module, function, slot, values)?))
        });
        suited.chain(given.iter().cloned()).collect()
    }

    /// The arrays of which the kernels take sums in another order, and whether the result is one.
    fn test_reordered(&self) -> (Vec<VarId>, bool) {
        let flags = self.reassociated();
        let params = function_of(self.input).params.iter().zip(&flags);
        let arrays = params.filter(|(_, reassociated)| **reassociated).map(|(p, _)| *p).collect();
        (arrays, flags.last().is_some_and(|r| *r))
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
        let launcher = format!("{}_launch", warpsmith_emit::identifier(&self.input.name));
        Witness::parse(name, text, &launcher, &files[1..], sources)
            .map_err(|errors| Failure::from(errors).with_status(Status::Bug))
    }

    /// The user's C, compiled; a message says why it is missing.
    fn host_reference(&self, messages: &mut Vec<Diagnostic>) -> Option<HostReference> {
        let mut options: Vec<String> =
            self.request.source.defines.iter().map(|d| format!("-D{d}")).collect();
        options
            .extend(self.request.source.include_dirs.iter().map(|i| format!("-I{}", i.display())));
        match HostReference::build(&self.request.source.file, self.input, &options) {
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
            Err(NoReference::NoFolder(why)) => {
                let text = "the C file cannot be compiled here: the kernel is compared with the IR interpreter only";
                let help = "let TMPDIR name a folder that has space and can be written to";
                messages.push(Diagnostic::warning("W324", text).note(why).help(help));
                None
            }
        }
    }
}

/// Why nothing can be written that stands in the C function's place.
pub(super) fn no_host_entry(input: &CInput, program: &Program) -> Option<&'static str> {
    let function = function_of(input);
    let half = |ty: &Type| matches!(ty.scalar(), Some(Scalar::F16 | Scalar::BF16));
    let mut by_value = function.params.iter().map(|p| &function.var(*p).ty).chain([&function.ret]);
    match () {
        () if function.ret.is_aggregate() => Some("the function returns a structure"),
        () if input.uncounted => Some(
            "the function does not say how many elements an array has, write `#pragma ws bounds(NAME: n)` before it",
        ),
        () if program.precision.is_some() => Some("the kernel computes in another type than C"),
        () if by_value.any(half) => Some("C and C++ pass halves in different ways"),
        () if input.records.iter().flat_map(|r| &r.fields).any(is_set) => {
            Some("it would have to set pointers in a structure as the C function does")
        }
        () if input.records.iter().any(|r| packed(r).is_none()) => {
            Some("a structure has a layout that cannot be written down")
        }
        () => None,
    }
}

fn is_set(field: &RecordField) -> bool {
    field.written && field.held == Held::Pointer
}

/// A structure for the host function; `None` where C++ cannot be told what it looks like.
fn packed(record: &Record) -> Option<Packed> {
    let definition = record.definition.clone()?;
    let given_by_address = |held: Held| matches!(held, Held::Address);
    Some(Packed {
        name: record.name.clone(),
        c_type: record.c_type.clone(),
        by_address: record.by_address,
        readonly: record.readonly,
        at: record.at,
        fields: record.fields.iter().map(|f| (f.path.clone(), given_by_address(f.held))).collect(),
        definition,
    })
}
