//! From a text to a kernel that the emulator runs.

use std::path::PathBuf;
use std::sync::OnceLock;

use warpsmith_emu::{self as emu, Checks, DeviceMemory, LaunchConfig, Outcome};
use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::deep;
use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith_front::prelude;
use warpsmith_front::sema::{self, KernelSelection, Libraries, Request};
use warpsmith_ir::{Diagnostic, FuncId, Function, Module, SourceMap, Span, VarId, VarKind, visit};

use crate::recording;
use crate::source::constants;
use crate::source::host_bodies::HostBodies;
use crate::source::shape;

/// How texts are compiled.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The path that messages name.
    pub path: String,
    /// `-D`: names and values.
    pub defines: Vec<(String, String)>,
    /// `-I`, in order.
    pub include_dirs: Vec<PathBuf>,
}

/// A kernel, with what its text was parsed to.
#[derive(Debug)]
pub struct Program {
    /// The IR of the whole file.
    pub module: Module,
    /// The kernel in `module`.
    pub kernel: FuncId,
    /// The syntax tree, that of headers included.
    pub unit: TranslationUnit,
    /// The text, then headers: what spans point into.
    pub sources: SourceMap,
    /// Steps of all threads after which a launch is given up.
    pub max_steps: u64,
}

/// Steps that a launch may take, and one of a plan that nobody wrote: small launches need a hundredth of it, unless values
/// that only tell elements apart are taken for numbers of iterations.
pub const MAX_STEPS: u64 = 2_000_000_000;
const FEW_STEPS: u64 = 30_000_000;

/// Compiles texts of one file, again and again with small differences.
#[derive(Debug)]
pub struct Compiler {
    settings: Settings,
    libraries: &'static Libraries<'static>,
    max_steps: u64,
    /// What kernels do not need of the file.
    host: HostBodies,
}

/// What stands in for libraries, and what records profiles: parsed and declared once, since every answer is compiled at
/// several block shapes and `--auto` makes a compiler for every plan.
static PRELUDE: OnceLock<TranslationUnit> = OnceLock::new();
static LIBRARIES: OnceLock<Libraries<'static>> = OnceLock::new();

impl Compiler {
    /// Compiles whole files and gives launches the steps of [`MAX_STEPS`].
    pub fn new(settings: Settings) -> Compiler {
        let prelude = PRELUDE.get_or_init(|| {
            let mut unit = prelude::unit(&mut SourceMap::new());
            unit.items.extend(recording::common().items);
            unit
        });
        let libraries = LIBRARIES.get_or_init(|| Libraries::new(prelude));
        Compiler { settings, libraries, max_steps: MAX_STEPS, host: HostBodies::default() }
    }

    /// For plans that nobody wrote.
    pub fn quick(self, quick: bool) -> Compiler {
        Compiler { max_steps: if quick { FEW_STEPS } else { self.max_steps }, ..self }
    }

    /// Leaves the bodies of host functions out of what is compiled; [`Compiler::parse`] reads them still.
    pub fn without_host(self, host: HostBodies) -> Compiler {
        Compiler { host, ..self }
    }

    /// What stands in for libraries.
    pub fn libraries(&self) -> &'static Libraries<'static> {
        self.libraries
    }

    /// What texts are compiled with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Parses a text in which constants have other values.
    ///
    /// # Errors
    /// What is wrong with it; the main file is the first of `sources`.
    pub fn parse(
        &self,
        text: &str,
        constants: &[(String, i64)],
        sources: &mut SourceMap,
    ) -> Result<TranslationUnit, Vec<Diagnostic>> {
        self.parsed(&with_constants(text, constants), constants, sources)
    }

    /// Parses a text in which constants have been given their values but for those of the command line.
    fn parsed(
        &self,
        text: &str,
        constants: &[(String, i64)],
        sources: &mut SourceMap,
    ) -> Result<TranslationUnit, Vec<Diagnostic>> {
        let given = |name: &str| constants.iter().any(|(n, _)| n == name);
        let mut defines = self.settings.defines.clone();
        defines.retain(|(n, _)| !given(n));
        let named = |name: &str| self.settings.defines.iter().any(|(n, _)| n == name);
        defines.extend(
            constants.iter().filter(|(n, _)| named(n)).map(|(n, v)| (n.clone(), v.to_string())),
        );
        let options = ParseOptions {
            defines,
            include_dirs: self.settings.include_dirs.clone(),
            without_missing: true,
            ..ParseOptions::new(Language::Cuda)
        };
        let parsed =
            parse::parse(&self.settings.path, text.as_bytes(), &options, &DiskLoader, sources)?;
        Ok(parsed.unit)
    }

    /// Compiles one kernel of a text.
    ///
    /// # Errors
    /// As [`Compiler::parse`], and what cannot be lowered.
    pub fn compile(
        &self,
        text: &str,
        constants: &[(String, i64)],
        kernel: &str,
    ) -> Result<Program, Vec<Diagnostic>> {
        deep::with_room(|| self.compiled(text, constants, kernel))
    }

    fn compiled(
        &self,
        text: &str,
        constants: &[(String, i64)],
        kernel: &str,
    ) -> Result<Program, Vec<Diagnostic>> {
        let mut sources = SourceMap::new();
        let text = with_constants(text, constants);
        let unit = self.parsed(&self.host.left_out(&text), constants, &mut sources)?;
        let place = Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 };
        let kernel = &constants::instance(kernel, constants);
        let kernels = KernelSelection::Asked(vec![(kernel.clone(), place)]);
        let lowered =
            sema::lower_with(&unit, self.libraries, &Request { kernels, host_functions: vec![] })?;
        let Some(info) = lowered.kernels.first() else {
            return Err(vec![Diagnostic::error("W304", format!("there is no kernel `{kernel}`"))]);
        };
        let (kernel, module) = (info.id, lowered.module);
        Ok(Program { kernel, module, unit, sources, max_steps: self.max_steps })
    }
}

fn with_constants(text: &str, constants: &[(String, i64)]) -> String {
    let edited = shape::constants(text, constants).apply(text);
    edited.unwrap_or_else(|_| text.to_string())
}

/// Runs a launch on memory that it changes.
///
/// # Errors
/// What the emulator refuses, as a message.
pub fn run(
    program: &Program,
    config: &LaunchConfig,
    memory: &mut DeviceMemory,
    checks: Checks,
) -> Result<Outcome, Diagnostic> {
    let max_total_steps = program.max_steps;
    emulate(program, config, memory, emu::Options { checks, max_total_steps, ..options() })
}

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps of all threads.
    pub steps: u64,
    /// Bytes of arrays and of what checks know of them.
    pub memory: u64,
}

impl Limits {
    /// As much as it likes of the memory that the emulator has.
    pub const NONE: Limits = Limits { steps: MAX_STEPS, memory: 8 << 30 };
    /// A launch that comes to a number of the text: there may be many.
    pub const BEYOND: Limits = Limits { steps: 20_000_000, memory: 48 << 20 };
    /// Sizes of nothing, or less: a loop up to one less goes on for all that an unsigned number holds.
    pub const EMPTY: Limits = Limits { steps: 1_000_000, memory: 8 << 30 };
    /// Data near numbers of the text: what a loop goes up to may be no number.
    pub const NEAR: Limits = Limits { steps: 20_000_000, memory: 8 << 30 };
    /// Some blocks that lie far from each other: arrays are long.
    pub const FAR: Limits = Limits { steps: 20_000_000, memory: 1 << 30 };
    /// A launch of the file itself: it is looked at beside many small ones.
    pub const OF_FILE: Limits = Limits { steps: 60_000_000, memory: 192 << 20 };

    /// As many steps as a program may take.
    pub fn of(program: &Program) -> Limits {
        Limits { steps: program.max_steps, ..Limits::NONE }
    }
}

/// What speaks against a text that was run with all checks, if anything does.
///
/// # Errors
/// The limit that was reached, or the first finding.
pub fn nothing_found(outcome: &Outcome) -> Result<(), String> {
    if outcome.limit.is_some() {
        return Err("it takes too long to emulate".into());
    }
    match outcome.findings.iter().find(|f| !f.rule.is_note()) {
        Some(finding) => Err(finding.message.clone()),
        None => Ok(()),
    }
}

/// The first of some messages, as a reason.
pub fn first_message(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or(String::new(), |d| d.message.clone())
}

/// As [`run`], with the counters of the machine.
///
/// # Errors
/// As [`run`].
pub fn count(
    program: &Program,
    config: &LaunchConfig,
    memory: &mut DeviceMemory,
    checks: Checks,
) -> Result<Outcome, Diagnostic> {
    emulate(program, config, memory, emu::Options { checks, counters: true, ..options() })
}

/// Runs one block of a launch, or all, without checks.
///
/// # Errors
/// As [`run`].
pub fn run_blocks(
    program: &Program,
    config: &LaunchConfig,
    memory: &mut DeviceMemory,
    block: Option<u32>,
) -> Result<Outcome, Diagnostic> {
    let blocks = block.map(|b| [b].into());
    emulate(program, config, memory, emu::Options { checks: Checks::NONE, blocks, ..options() })
}

/// Shared arrays of a kernel.
pub fn shared_arrays(function: &Function) -> Vec<VarId> {
    let shared = |v: &VarId| matches!(function.var(*v).kind, VarKind::Shared);
    (0..function.vars.len() as u32).map(VarId).filter(shared).collect()
}

/// Shared arrays of a kernel that it stores to and never reads.
pub fn unread(program: &Program) -> Vec<VarId> {
    let function = program.module.function(program.kernel);
    let mut unread = shared_arrays(function);
    visit::for_each_place(&function.body, &mut |place, access| {
        if access != visit::Access::Write {
            unread.retain(|v| Some(*v) != place.root_var());
        }
    });
    unread
}

fn options() -> emu::Options {
    emu::Options { max_total_steps: MAX_STEPS, ..emu::Options::default() }
}

/// Runs a launch.
///
/// # Errors
/// What the emulator refuses, as a message.
pub fn emulate(
    program: &Program,
    config: &LaunchConfig,
    memory: &mut DeviceMemory,
    options: emu::Options,
) -> Result<Outcome, Diagnostic> {
    emu::run(&program.module, config, memory, &options).map_err(|e| match e {
        emu::EmuError::Unsupported { message, span } => {
            let error = Diagnostic::error("W308", message);
            match span {
                Some(span) => error.label(span, "here"),
                None => error,
            }
        }
        emu::EmuError::BadArgument { message, .. } | emu::EmuError::BadLaunch(message) => {
            Diagnostic::error("W306", message)
        }
    })
}
