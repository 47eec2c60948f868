//! One file with a plan: what is compiled, launched and profiled for it.

pub mod ahead;
mod choice;
mod own;
mod parameters;
mod steps;
mod suiting;
pub mod varied;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::{Mutex, OnceLock, PoisonError};

use warpsmith_emu::{Checks, Finding};
use warpsmith_front::ast::TranslationUnit;
use warpsmith_ir::{Diagnostic, FileId, Scalar, SourceMap, Span, Type, VarKind};

use crate::launch::Launch;
use crate::memory::{self, Data, Lengths, Values};
use crate::plan::Plan;
use crate::profile::instrument::Instrumented;
use crate::profile::rows::{self, Profile};
use crate::program::{self, Compiler, Program, Settings};
use crate::source::blocks::Blocks;
use crate::source::constants::{self, Constant};
use crate::source::forks::Choices;
use crate::source::host_bodies::HostBodies;
use crate::source::shape::Extent;
use crate::source::ties::{self, Made, Tie};
use crate::source::{aliased, marks, scope, symbols};
use crate::stage::Access;
use crate::strides::{self, Strides};
use crate::synth::reads::Effort;
use crate::usage::{self, Usage};
use ahead::{Asked, Ran};
pub use steps::{Hear, Steps};

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// What the file is compiled with.
    pub settings: Settings,
    /// The file as the user wrote it.
    pub text: String,
    /// The kernel, with template arguments; `None`: the one that holds the marks.
    pub kernel: Option<String>,
    /// The grid of every launch; `None`: chosen by the sizes.
    pub grid: Option<[u32; 3]>,
    /// The block that the kernel is launched with; `None`: read from the file, else chosen.
    pub block: Option<[u32; 3]>,
    /// Values of integer parameters.
    pub integers: BTreeMap<String, i64>,
    /// Sizes that plans which are found are ranked for, by parameter.
    pub meant: BTreeMap<String, i64>,
    /// Bytes of dynamic shared memory.
    pub shared: Option<u32>,
    /// Remove barriers that no launch needs.
    pub fix: bool,
    /// The file needs no plan: it is what others are compared with.
    pub plain: bool,
    /// The kernel that a sketch with holes is compared with.
    pub reference: Option<String>,
    /// The program that proves; without one nothing is proved.
    pub solver: Option<std::path::PathBuf>,
    /// Who hears of the steps.
    pub steps: Steps,
    /// The plan is one of many that nobody wrote: launches that take long are given up.
    pub quick: bool,
    /// It is such a plan, and the one that was chosen: what is not proved of it is checked at many launches.
    pub chosen: bool,
    /// What is known of the host code, whatever kernels are made.
    pub hosts: aliased::Hosts,
}

/// Why a file is not staged. The first source of the map is the file as the user wrote it.
#[derive(Debug)]
pub struct Refusal {
    /// The plan cannot work, in contrast to input that is wrong.
    pub no: bool,
    /// What is to be said, with places in `sources`.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that diagnostics point into.
    pub sources: SourceMap,
    /// What is known of each marked read, where the plan was tried.
    pub accesses: Vec<Access>,
}

/// A launch that suits the unmodified kernel, with the lengths of its arrays.
#[derive(Clone, Debug)]
pub struct Suited {
    /// The launch.
    pub launch: Launch,
    /// Elements of each array.
    pub lengths: Lengths,
    /// The kernel stores nothing in it.
    pub idle: bool,
    /// Its sizes and blocks are without pattern.
    pub loose: bool,
    /// Its loops go through many planes.
    pub deep: bool,
}

/// The programs of one block shape.
#[derive(Debug)]
pub struct Shaped {
    /// The unmodified kernel at this block shape.
    pub reference: Program,
    /// How far positions move, by the block: where the kernel asks for it, one program serves several.
    strides: Mutex<HashMap<[u32; 3], Strides>>,
    /// What takes down profiles, once one is asked for.
    probes: OnceLock<Probes>,
}

/// The instrumented text, compiled.
#[derive(Debug)]
struct Probes {
    instrumented: Instrumented,
    program: Program,
}

impl Shaped {
    fn strides(&self, block: [u32; 3]) -> Strides {
        let mut known = self.strides.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(block).or_insert_with(|| strides::of(&self.reference, block))
    }
}

/// How a launch is profiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How<'a> {
    /// Mixed data send branches both ways, each way half of the threads.
    pub way: Option<u64>,
    /// All visits are taken down.
    pub whole: bool,
    /// What is put in the place of what data decide.
    pub choices: Option<&'a Choices>,
    /// Data go far, as in [`Values::Wide`].
    pub wide: bool,
}

/// By how much values that tell elements apart may make a launch longer before a plan that nobody wrote is given up.
const LONGER: u64 = 10;

/// Constants, the block where extents ask for it, and what dynamic arrays have.
type ShapeKey = (Vec<(String, i64)>, Option<[u32; 3]>, u32);

/// A file with a plan that was understood.
#[derive(Debug)]
pub struct Session {
    /// What compiles the texts of the file.
    pub compiler: Compiler,
    /// What the marks ask for.
    pub plan: Plan,
    /// The kernel, with template arguments.
    pub kernel: String,
    /// Its template has types for parameters.
    pub typed: bool,
    /// How the kernel uses its integers and axes.
    pub usage: Usage,
    /// What the extents of the block are.
    pub extents: [Extent; 3],
    /// The same as the file has it, whichever blocks are looked at.
    of_file: [Extent; 3],
    /// The block that the file or the user means, where it is known.
    pub own: Option<[u32; 3]>,
    /// What is known of its extents.
    pub own_extents: [Option<u32>; 3],
    /// What was asked for.
    pub input: Input,
    /// The user's text, then headers.
    pub sources: SourceMap,
    parameters: Vec<String>,
    /// Parameters that launches of the file pass one array for.
    pub aliased: aliased::Shared,
    /// The blocks that host code launches.
    pub blocks: Blocks,
    /// Arrays that marked reads name.
    pub tagged: Vec<String>,
    /// Data decide whether some marks are come to: launches are run with values of both kinds.
    pub mixed: bool,
    /// No other block than that of the file is looked at, because what suits it suits no others.
    pub pinned: bool,
    /// What is wrong with the text in the smallest of blocks.
    pub in_tiny: Option<String>,
    /// Values of constants that make the only block, where options of the user give them.
    given: Vec<(String, i64)>,
    /// How much is tried to find expressions.
    pub effort: Effort,
    /// Constants that the kernel depends on.
    constants: Vec<Constant>,
    /// What host code makes parameters of, and whether launches keep to it.
    ties: Vec<Tie>,
    tied: bool,
    /// Larger launches were no help where the kernel stores nothing.
    idle: bool,
    shapes: HashMap<ShapeKey, Rc<Shaped>>,
    /// What launches need whichever way data send threads.
    mixed_lengths: Vec<(Launch, Lengths)>,
    /// Launches that were run before they are asked for.
    ahead: Vec<Ran>,
    /// Blocks that were asked whether the constants of the file go together in them.
    misfits: HashMap<[u32; 3], bool>,
    /// The file's own launches, once they were looked at, and those that were too large.
    of_file_known: Option<own::OfFile>,
    too_large: Vec<String>,
    /// The largest block that the unmodified kernel was found to be right with.
    largest: Option<[u32; 3]>,
    /// Constants with values that the unmodified kernel was found to be right with.
    pub suited: BTreeSet<(String, i64)>,
    /// Findings of the unmodified kernel in launches that were not used.
    pub unsuited: Vec<(Launch, Vec<Finding>)>,
    /// A race of the unmodified kernel in a launch that was used, because the order of blocks made no difference in it.
    pub raced: Option<String>,
}

/// Iterations of marked reads by all threads of a block that are looked at one by one, at most.
const MAX_TURNS: usize = 1 << 13;

/// A file whose marks and kernel are known.
struct Understood {
    compiler: Compiler,
    unit: TranslationUnit,
    /// The unmodified text, then headers.
    parsed: SourceMap,
    /// The user's text in the place of that.
    sources: SourceMap,
    found: marks::Marks,
    plain: String,
    kernel: String,
}

impl Understood {
    fn new(input: &Input) -> Result<Understood, Refusal> {
        let mut sources = SourceMap::new();
        sources.add(input.settings.path.clone(), input.text.clone());
        let found = marks::find(&input.text, FileId(0)).map_err(|d| {
            let no = d.iter().any(|d| d.code == "W702");
            Refusal { no, ..bad(d, &sources) }
        })?;
        if found.reads.is_empty() && !input.plain {
            let error = Diagnostic::error("W705", "the file has no plan")
                .help("mark the reads that are to come from shared memory: `__opt__(in[c - 1])`");
            return Err(bad(vec![error], &sources));
        }
        let compiler = Compiler::new(input.settings.clone()).quick(input.quick);
        let plain = marks::reference(&input.text, &found);
        let mut parsed = SourceMap::new();
        let unit = compiler
            .parse(&plain, &[], &mut parsed)
            .map_err(|d| bad(d, &shown(&parsed, &input.text)))?;
        sources = shown(&parsed, &input.text);
        let compiler = compiler.without_host(HostBodies::of(&unit, &parsed));
        let kernel =
            choice::kernel(input, &unit, &parsed, &found).map_err(|d| bad(vec![d], &sources))?;
        choice::one_kernel(&unit, &parsed, &found, &kernel).map_err(|d| bad(vec![d], &sources))?;
        Ok(Understood { compiler, unit, parsed, sources, found, plain, kernel })
    }
}

/// Input that is wrong.
fn bad(diagnostics: Vec<Diagnostic>, sources: &SourceMap) -> Refusal {
    Refusal { no: false, diagnostics, sources: sources.clone(), accesses: vec![] }
}

impl Session {
    /// Reads a file and its plan.
    ///
    /// # Errors
    /// What is wrong with the file or its plan.
    pub fn new(input: Input) -> Result<Session, Refusal> {
        let Understood { compiler, unit, parsed, sources, found, plain, kernel } =
            Understood::new(&input)?;
        let symbols = symbols::of_kernel(&unit, &kernel, &plain, &parsed);
        let usage = usage::with_constants(&unit, &kernel, &symbols);
        let defines = &input.settings.defines;
        let constants = constants::of_kernel(&unit, &kernel, &plain, &parsed, defines);
        let mut plan = Plan::new(&input.text, found, &unit, &parsed, (&usage, &constants))
            .map_err(|d| bad(d, &sources))?;
        let find = || aliased::of_file(&unit, &kernel, &parsed, compiler.libraries());
        let (aliased, blocks) = input.hosts.of(&kernel, find);
        let file = (&unit, &parsed, &blocks);
        let extents = choice::extents(&input, &plan, file, &kernel, &usage);
        let own_extents = choice::own_extents(&input, &extents, &unit);
        let own = choice::own_block(&own_extents);
        if own.is_some_and(|b| b.iter().product::<u32>() as usize * plan.turns.len() > MAX_TURNS) {
            plan.turns.retain(|t| t.counters.is_empty());
        }
        let mut ties = ties::of_host(&unit, &kernel, &parsed, &usage.shifts);
        ties.retain(|t| !input.integers.contains_key(&t.parameter));
        let mut tagged = vec![];
        for i in 0..plan.reads.len() {
            tagged.extend(scope::names(plan.slice(&plan.mark(i).global())));
        }
        let mut session = Session {
            compiler,
            plan,
            typed: scope::has_types(&unit, &kernel),
            kernel,
            usage,
            of_file: extents.clone(),
            extents,
            own,
            own_extents,
            sources,
            parameters: vec![],
            aliased,
            blocks,
            tagged,
            mixed: false,
            pinned: false,
            in_tiny: None,
            given: vec![],
            effort: Effort::Usual,
            constants,
            ties,
            tied: false,
            idle: false,
            shapes: HashMap::new(),
            mixed_lengths: vec![],
            ahead: vec![],
            misfits: HashMap::new(),
            of_file_known: None,
            too_large: vec![],
            largest: None,
            suited: BTreeSet::new(),
            unsuited: vec![],
            raced: None,
            input,
        };
        session.read_parameters(&symbols)?;
        Ok(session)
    }

    /// A refusal of this file; `no` as in [`Refusal::no`].
    pub fn refuse(&self, no: bool, diagnostics: Vec<Diagnostic>) -> Refusal {
        Refusal { no, diagnostics, sources: self.sources.clone(), accesses: vec![] }
    }

    /// Looks at no other block than that of the file any more. False: that is so already, or there is none.
    pub fn pin(&mut self) -> bool {
        let Some(own) = self.own.filter(|_| !self.pinned) else { return false };
        let free = self.extents.iter().any(|e| !matches!(e, Extent::Number(_)));
        // Constants that make the block have other values in the file where the user's options say so.
        let given = |n: &String| self.input.settings.defines.iter().any(|(d, _)| d == n);
        let named = self.extents.iter().zip(own);
        let named =
            named.filter_map(|(e, n)| Some((e.constant().filter(|c| given(c))?.clone(), n.into())));
        self.given = named.collect();
        self.extents = own.map(Extent::Number);
        self.of_file_known = None;
        self.pinned = free;
        free
    }

    /// Keeps to what host code makes parameters of, or does not any more. False: it says nothing of them.
    pub fn tie(&mut self, tied: bool) -> bool {
        self.tied = tied && !self.ties.is_empty();
        self.ahead.clear();
        self.misfits.clear();
        self.of_file_known = None;
        self.tied
    }

    /// Whether host code makes parameters of others.
    pub fn makes_sizes(&self) -> bool {
        self.ties.iter().any(|t| matches!(t.value, Made::Of(..)))
    }

    /// What launches keep to, beside what the kernel says.
    pub fn ties(&self) -> &[Tie] {
        if self.tied { &self.ties } else { &[] }
    }

    /// Looks for expressions with more effort, at all blocks that these extents allow.
    pub fn try_harder(&mut self, extents: [Extent; 3], effort: Effort) {
        (self.extents, self.pinned, self.effort) = (extents, false, effort);
        self.in_tiny = None;
        self.given.clear();
        self.of_file_known = None;
    }

    /// Takes parts of what is read for positions, too.
    pub fn record_parts(&mut self) {
        if self.plan.record_parts() {
            // What takes down profiles has other symbols.
            self.shapes.clear();
            self.ahead.clear();
        }
    }

    /// The programs of a launch's block shape.
    ///
    /// # Errors
    /// What cannot be compiled.
    pub fn shaped(&mut self, launch: &Launch) -> Result<Rc<Shaped>, Refusal> {
        let key = self.asked().key(launch);
        if let Some(known) = self.shapes.get(&key) {
            return Ok(known.clone());
        }
        let shaped = self.asked().reference(launch).map_err(|d| self.refuse(false, d))?;
        let shaped = Rc::new(shaped);
        self.shapes.insert(key, shaped.clone());
        Ok(shaped)
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            compiler: &self.compiler,
            plan: &self.plan,
            kernel: &self.kernel,
            usage: &self.usage,
            extents: &self.extents,
            parameters: &self.parameters,
            integers: &self.input.integers,
            grid: self.input.grid,
            shared: self.input.shared,
            tagged: &self.tagged,
            ties: self.ties(),
            given: &self.given,
        }
    }

    /// The program that takes down the profiles of a launch's block shape.
    fn probes<'s>(&self, shaped: &'s Shaped, launch: &Launch) -> Result<&'s Probes, Refusal> {
        if let Some(known) = shaped.probes.get() {
            return Ok(known);
        }
        let made = self.asked().probes(&shaped.reference, launch);
        let probes = made.map_err(|d| self.unrecordable(d))?;
        Ok(shaped.probes.get_or_init(|| probes))
    }

    /// The instrumented text is not the user's: say which mark it is about as well as possible.
    fn unrecordable(&self, list: Vec<Diagnostic>) -> Refusal {
        let at = marks::span(FileId(0), &self.plan.mark(0).whole);
        let mut error =
            Diagnostic::error("W706", "what is in scope at the marks cannot be recorded")
                .label(at, "the first mark");
        for d in list.iter().take(2) {
            error = error.note(d.message.clone());
        }
        self.refuse(false, vec![error])
    }

    /// Whether a launch takes far longer with values that tell elements apart: they are taken for numbers of iterations.
    fn is_longer_with_tags(&self, reference: &Program, suited: &Suited) -> Result<bool, Refusal> {
        let run = |tagged| {
            let data = Data { seed: 1, tagged, kind: Values::Tagged };
            let mut p = memory::prepare(reference, &suited.launch, Some(&suited.lengths), data)?;
            let outcome = program::run(reference, &p.config, &mut p.memory, Checks::NONE)?;
            Ok(outcome.stats.thread_instructions)
        };
        let refuse = |d: Diagnostic| self.refuse(false, vec![d]);
        let (plain, tagged) = (run(&[]).map_err(refuse)?, run(&self.tagged).map_err(refuse)?);
        Ok(tagged > LONGER * plain)
    }

    fn given_up(&self) -> Refusal {
        let error = Diagnostic::error(
            "W707",
            "elements of a marked array say how often loops run: no values tell them apart and let launches end soon",
        );
        self.refuse(true, vec![error])
    }

    /// Adds what a launch does at the marks to a profile.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn profile(
        &mut self,
        suited: &Suited,
        number: usize,
        how: How<'_>,
        profile: &mut Profile,
    ) -> Result<(), Refusal> {
        let mixed = how.way.is_some();
        let shaped = self.shaped(&suited.launch)?;
        if self.input.quick && self.is_longer_with_tags(&shaped.reference, suited)? {
            return Err(self.given_up());
        }
        if let Some(rows) = self.rows_ahead(&suited.launch).filter(|_| how == How::default()) {
            rows::append(rows, number, profile);
            return Ok(());
        }
        let lengths = self.lengths(suited, mixed)?;
        let probes = self.probes(&shaped, &suited.launch)?;
        let none = Choices::new();
        let run = rows::Run {
            program: &probes.program,
            instrumented: &probes.instrumented,
            launch: &suited.launch,
            lengths: &lengths,
            tagged: &self.tagged,
            reads: self.plan.reads.len(),
            runs: runs(&shaped.reference, &self.tagged, mixed),
            seed: 1 + how.way.unwrap_or(0) * memory::SEEDS_A_WAY,
            kind: if how.wide { Values::Wide } else { Values::mixed(mixed) },
            whole: how.whole,
            choices: (how.choices.unwrap_or(&none), self.plan.forks.forks.len()),
        };
        let rows = run.taken().map_err(|d| self.refuse(false, vec![d]))?;
        rows::append(rows, number, profile);
        Ok(())
    }

    /// The largest extent of a shared array, in a launch.
    pub fn widest(&mut self, launch: &Launch) -> i64 {
        let Ok(shaped) = self.shaped(launch) else { return 0 };
        let of = |a: &scope::SharedArray| array_extents(&shaped.reference, &a.name);
        self.plan.arrays().into_iter().flat_map(of).max().unwrap_or(0)
    }

    /// The extents of a shared array without the outermost, in a launch.
    pub fn inner_extents(&mut self, launch: &Launch, array: &str) -> Vec<i64> {
        let Ok(shaped) = self.shaped(launch) else { return vec![] };
        array_extents(&shaped.reference, array).into_iter().skip(1).collect()
    }
}

/// How often a launch is profiled, so that no two elements of a marked array are equal by accident every time. Where data decide on the
/// way of threads, as often as they take the same.
fn runs(reference: &Program, tagged: &[String], mixed: bool) -> u64 {
    let function = reference.module.function(reference.kernel);
    let vars = function.params.iter().map(|p| function.var(*p));
    let marked = vars.filter(|v| tagged.contains(&v.name));
    let fields = |t: &Type| match t {
        Type::Struct(id) => {
            reference.module.structs[id.0 as usize].fields.iter().map(|f| f.ty.clone()).collect()
        }
        t => vec![t.clone()],
    };
    let bits = |t: Type| match t.pointee().and_then(|t| t.innermost().scalar())? {
        Scalar::Bool => Some(1),
        scalar => Some(8 * scalar.bytes()),
    };
    let types = marked.flat_map(|v| {
        fields(v.ty.pointee().filter(|t| matches!(t, Type::Struct(_))).unwrap_or(&v.ty))
    });
    match types.filter_map(bits).min() {
        Some(1) if mixed => memory::SEEDS_A_WAY,
        Some(1) => 24,
        Some(8) => 4,
        Some(16) => 3,
        _ => 1,
    }
}

/// The extents of a shared array of a program, outermost first; empty when there is none of that name.
fn array_extents(program: &Program, array: &str) -> Vec<i64> {
    let mut vars = program.module.functions.iter().flat_map(|f| &f.vars);
    let shared = |k| matches!(k, VarKind::Shared | VarKind::DynamicShared);
    let found = vars.find(|v| shared(v.kind) && v.name.trim_start_matches("::") == array);
    found.map_or(vec![], |v| v.ty.extents().iter().map(|e| *e as i64).collect())
}

/// The sources of a parse, with the user's text in the place of the main file.
fn shown(parsed: &SourceMap, text: &str) -> SourceMap {
    let mut sources = SourceMap::new();
    for (id, file) in parsed.files() {
        match id.0 {
            0 => sources.add(file.path.clone(), text.to_string()),
            _ => sources.add(file.path.clone(), file.text.clone()),
        };
    }
    sources
}

/// A place in the user's text.
pub fn place(at: &marks::Bytes) -> Span {
    marks::span(FileId(0), at)
}
