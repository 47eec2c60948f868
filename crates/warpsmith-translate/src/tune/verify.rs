//! Verification of an emitted kernel: the re-parsed text in the emulator against the IR interpreter and
//! the user's own C, at several sizes.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use warpsmith_emu as emu;
use warpsmith_ir::interp::{self, Arg, InterpError, InterpErrorKind, Limits, Memory};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{
    ExprKind, FuncId, Function, Module, Scalar, SourceMap, Span, Turn, Type, Var, Way, visit,
};

use super::beyond;
use super::compare::{self, Difference, first_difference};
use super::coverage::Coverage;
use super::extents;
use super::host_c::{ArgBytes, HostReference, NoAnswer};
use super::inputs::{self, NoData, Sources};
use super::large;
use super::points;
use super::reach::{self, FEWER_BLOCKS};
use super::sizes::Point;
use super::variant::Variant;
use super::witness::{self, Grids, How, Witness, WitnessError, WitnessRun};
use crate::data::{scalar_bytes, scalar_from_bytes, scalars_of};
use crate::progress::Progress;

/// Elements of all arrays at one point, as long as other points could be run.
const POINT_ELEMENTS: u64 = 1 << 20;
/// Elements at all points that have more, together: arrays of a fixed size take as many at every point.
const LARGE_ELEMENTS: u64 = 1 << 25;
/// Steps of the reference at all points together, unless less is asked for.
pub const TOTAL_STEPS: u64 = 20_000_000;

/// For differences that are seen there.
const THROUGH_HOST_ENTRY: &str = "seen through the function for arrays of the host";

/// Points that are run so.
const STRIDED_POINTS: usize = 8;
/// Points with iterations at which the function for arrays of the host is run.
const HOST_ENTRY_POINTS: usize = 3;

pub(super) const TIME_LIMIT: &str = "the time limit (--timeout)";

/// What is compared with what.
pub struct Verifier<'a> {
    pub sources: Sources<'a>,
    pub function: FuncId,
    pub host: Option<&'a HostReference>,
    /// The function as it was written, where `function` is the same with reals of another type.
    pub written: Option<Written<'a>>,
    pub witness: &'a Witness,
    /// For each parameter, and last for the result: it may differ by the bound of a reassociated sum.
    pub reassociated: Vec<bool>,
    /// Two threads may write the same value to an element; otherwise one of them does work that is not its own.
    pub same_writes: bool,
    pub options: emu::Options,
    /// Steps of the reference at all points together.
    pub total_steps: u64,
    /// The sizes that the kernel is made for.
    pub tuned: &'a [Point],
    /// The numbers that the kernel treats specially.
    pub special: &'a [i64],
    /// The first candidates are the sizes of given data, the others less of it.
    pub with_data: bool,
    /// Where the texts are, of the C file and of what was emitted.
    pub texts: &'a SourceMap,
}

/// A function before its reals changed their type.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    pub module: &'a Module,
    pub function: FuncId,
    /// The type that they have now.
    pub precision: Scalar,
}

/// A verified kernel: where, and on which grounds.
#[derive(Debug, Default)]
pub struct Verified {
    /// Points at which all agreed.
    pub sizes: Vec<String>,
    /// The same points, as numbers.
    pub points: Vec<Point>,
    /// Points at which the C function itself leaves its arrays, with the reason.
    pub outside: Vec<String>,
    /// Where in the C function the first of them does.
    pub left_at: Option<Span>,
    /// The points of `outside`, with where in the C function.
    left_points: Vec<(Point, Option<Span>)>,
    /// Points compared with the host compiler's code.
    pub with_host: usize,
    /// Points run once more with a few blocks along y and z, as if there could not be more: threads go on in strides.
    pub in_strides: usize,
    /// Runs of the function for arrays of the host, and whether no iteration ran.
    pub host_entry: Vec<bool>,
    pub thread_instructions: u64,
    /// What of the emitted text was run.
    pub coverage: Coverage,
    /// The same for reports, with the lines of the text that is handed out.
    pub coverage_json: serde_json::Value,
    /// For each kernel that was launched, the most blocks along x, y and z.
    pub grids: Grids,
    /// Kernels and axes along which larger sizes have several blocks and no point had, such as "`k` along x".
    pub one_block: Vec<String>,
    /// The ways that control took in the C function.
    pub source_ways: BTreeSet<Way>,
    /// The same where it then left its arrays.
    left_ways: BTreeSet<Way>,
    /// Points compared with tamer data than usual, as those were ill-conditioned.
    pub tamed: Vec<String>,
    /// Points at which no data were found that are not.
    pub ill_conditioned: Vec<String>,
    /// Elements of all arrays at large points, together.
    large_elements: u64,
    /// Points of which some blocks alone were run.
    pub in_part: Vec<String>,
    /// Points that were too large for the interpreter: compared with the host compiler's code alone.
    pub host_only: Vec<String>,
}

/// Why a kernel is not handed out.
#[derive(Debug)]
pub enum Failed {
    /// The kernel is wrong at a point: one sentence, and more lines.
    Wrong { point: String, message: String, notes: Vec<String> },
    /// Two of its threads touch an element of this array of the C function without an order.
    Race { point: String, message: String, notes: Vec<String>, array: Option<String> },
    /// Its numbers differ from those of the C function.
    Differs { point: String, message: String, notes: Vec<String> },
    /// With all data that were tried rounding errors grow beyond what can be compared: the first sizes.
    IllConditioned { points: Vec<String> },
    /// The interpreter and the host compiler disagree about the C function.
    References { point: String, message: String },
    /// In its new types the function says something else than as it was written.
    Precision { point: String, message: String },
    /// A limit was reached.
    Limit(&'static str),
    /// Ctrl-C.
    Interrupted,
    /// Paths that hang on sizes and were not run at any that could be tried.
    NotRun(Box<Verified>),
    /// No point could be run at all: why the first could not, and where in the C function.
    Nothing { why: String, at: Option<Span> },
    /// At sizes that were asked for, or wherever a part of it ran, the C function left its arrays: the first time.
    Leaves { why: String, at: Option<Span>, asked: bool },
    /// The data given with `--arg` is not usable.
    Input(NoData),
}

impl Verified {
    /// All agreed at a point.
    pub(super) fn agreed(&mut self, point: &Point, run: &WitnessRun) {
        self.thread_instructions += run.thread_instructions;
        self.coverage.add(&points::name(point), run.grids.keys(), &run.ways);
        for (kernel, grid) in &run.grids {
            witness::enlarge(&mut self.grids, kernel, *grid);
        }
        self.sizes.push(points::name(point));
        self.points.push(point.clone());
    }

    /// What some blocks wrote at a point agreed.
    pub(super) fn agreed_in_part(&mut self, point: &Point, name: &str, run: &WitnessRun) {
        self.thread_instructions += run.thread_instructions;
        self.coverage.add(name, run.grids.keys(), &run.ways);
        for (kernel, grid) in &run.grids {
            witness::enlarge(&mut self.grids, kernel, *grid);
        }
        self.sizes.push(name.to_string());
        self.points.push(point.clone());
        self.in_part.push(name.to_string());
    }

    /// All agreed at a point that was run in some way.
    pub(super) fn agreed_as(&mut self, variant: Variant<'_>, point: &Point, run: &WitnessRun) {
        if let Variant::Plain = variant {
            return self.agreed(point, run);
        }
        let name = variant.name(&points::name(point));
        self.coverage.add(&name, run.grids.keys(), &run.ways);
        self.in_strides += usize::from(matches!(variant, Variant::FewBlocks(..)));
    }

    /// The C function leaves its arrays at a point.
    pub(super) fn leaves(&mut self, point: &Point, left: Left) {
        if self.outside.is_empty() {
            self.left_at = left.at;
        }
        self.outside.push(format!("{}: {}", points::name(point), left.why));
        self.left_points.push((point.clone(), left.at));
        // Without elements there is nothing to stay inside of: no way of getting there is to blame.
        if !(left.without_elements && is_empty(point)) {
            self.left_ways.extend(&left.ways);
        }
    }

    /// Whether nothing was shown: sizes without a single iteration show nothing.
    pub(super) fn vacuous(&self) -> bool {
        self.points.iter().all(|p| !p.is_empty() && is_empty(p))
    }
}

/// Whether no iteration runs at a point.
pub(super) fn is_empty(point: &Point) -> bool {
    point.values().any(|v| *v == 0)
}

impl Verifier<'_> {
    /// Compares at every candidate point that the C function can run.
    ///
    /// # Errors
    /// [`Failed`], at the first point that is wrong.
    pub fn verify(&self, candidates: &[Point]) -> Result<Verified, Failed> {
        let given: Vec<String> = self.sources.specs.iter().map(|s| s.name.clone()).collect();
        let (module, launcher) = (self.witness.module(), self.witness.launcher());
        let coverage = Coverage::of(module, launcher, &given);
        let mut verified = Verified { coverage, ..Verified::default() };
        let mut steps_left = self.total_steps;
        let mut progress = Progress::new("verifying", candidates.len());
        let empty = candidates.iter().find(|p| is_empty(p));
        let large = empty.and_then(|p| self.sources.total_elements(p));
        let ordered = match large.is_some_and(|n| n > POINT_ELEMENTS) && !self.with_data {
            true => points::telling_first(candidates),
            false => candidates.to_vec(),
        };
        // Steps of the reference at the largest point so far, with the product of its sizes.
        let mut largest = (1, 0);
        for point in &ordered {
            if steps_left < self.point_steps() {
                break;
            }
            if self.interrupted() {
                return Err(Failed::Interrupted);
            }
            if self.late() {
                return Err(Failed::Limit(TIME_LIMIT));
            }
            progress.step(&points::name(point));
            let product = points::product(point);
            let steps = match self.is_hopeless(product, largest) {
                true => self.point_steps(),
                false => self.at_point(point, &mut verified)?,
            };
            if product > largest.0 && steps < self.point_steps() {
                largest = (product, steps);
            }
            steps_left = steps_left.saturating_sub(steps);
        }
        beyond::verify(self, candidates, &mut verified)?;
        reach::verify(self, candidates, &mut verified)?;
        if self.late() {
            return Err(Failed::Limit(TIME_LIMIT));
        }
        let only_size = candidates.iter().all(Point::is_empty);
        if only_size && !verified.sizes.is_empty() {
            verified.coverage.excuse_the_rest(verified.in_part.is_empty());
        }
        let vacuous = verified.vacuous();
        if !verified.ill_conditioned.is_empty() && (verified.sizes.is_empty() || vacuous) {
            return Err(Failed::IllConditioned { points: verified.ill_conditioned });
        }
        if verified.sizes.is_empty() || vacuous && !verified.outside.is_empty() {
            let why =
                verified.outside.first().cloned().unwrap_or("every size is too large".to_string());
            return Err(Failed::Nothing { why, at: verified.left_at });
        }
        let never_inside =
            |way: &&Way| way.turn == Turn::Yes && !verified.source_ways.contains(way);
        if verified.left_ways.iter().any(|way| never_inside(&way))
            && let Some(why) = verified.outside.first().cloned()
        {
            return Err(Failed::Leaves { why, at: verified.left_at, asked: false });
        }
        let left = verified.left_points.iter().zip(&verified.outside);
        if let Some(((_, at), why)) = { left }.find(|((p, _), _)| self.tuned.contains(p)) {
            return Err(Failed::Leaves { why: why.clone(), at: *at, asked: true });
        }
        if !verified.coverage.is_complete() {
            let mut source = Coverage::of(self.module(), self.function, &given);
            source.add("", [].iter(), &verified.source_ways);
            verified.coverage.excuse_as_in(&source, self.texts);
        }
        self.at_large_sizes()?;
        // Who asks for less than the usual work is told what it did not reach.
        match verified.coverage.is_complete() || self.total_steps < TOTAL_STEPS {
            true => Ok(verified),
            false => Err(Failed::NotRun(Box::new(verified))),
        }
    }

    /// What no run shows: numbers that are too large for their type, at sizes that are too large to be run.
    fn at_large_sizes(&self) -> Result<(), Failed> {
        let (module, launcher) = (self.witness.module(), self.witness.launcher());
        match large::wrong(&self.sources, self.function, module, launcher) {
            None => Ok(()),
            Some((point, o)) => Err(Failed::Wrong {
                point: points::name(&point),
                message: format!("overflow: {}", o.what),
                notes: vec!["this size was not run: numbers were followed without memory".into()],
            }),
        }
    }

    /// Whether the time limit has passed.
    pub(super) fn late(&self) -> bool {
        self.options.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// So long, but no longer than until the time limit.
    pub(super) fn patience(&self, most: Duration) -> Duration {
        let left = self.options.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        left.map_or(most, |left| left.min(most))
    }

    fn interrupted(&self) -> bool {
        self.options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// One point; returns the steps that the reference took.
    fn at_point(&self, point: &Point, verified: &mut Verified) -> Result<u64, Failed> {
        // Several sizes that are large together would cost more than they say. Where nothing else ran, they must do.
        let all = self.sources.numbers(point);
        if let Some(why) = extents::undefined(self.module(), self.function(), &all) {
            verified.leaves(point, Left { why, ..Left::undefined(BTreeSet::new()) });
            return Ok(0);
        }
        let elements = self.sources.total_elements(point);
        let large = elements.is_none_or(|n| n > POINT_ELEMENTS);
        if large && !verified.sizes.is_empty() {
            let all = verified.large_elements.saturating_add(elements.unwrap_or(u64::MAX));
            if all > LARGE_ELEMENTS {
                return Ok(0);
            }
            verified.large_elements = all;
        }
        let inputs = self.inputs(point)?;
        let compare = &mut |inputs: &[ArgBytes], verified: &mut Verified| {
            self.with_inputs(point, inputs, verified)
        };
        Ok(self.comparable(point, inputs, verified, compare)?.unwrap_or(0))
    }

    /// One point with some data; returns the steps that the reference took.
    fn with_inputs(
        &self,
        point: &Point,
        inputs: &[ArgBytes],
        verified: &mut Verified,
    ) -> Result<u64, Failed> {
        let name = points::name(point);
        let reference = match self.interpret(inputs, self.point_steps()) {
            Ok(reference) => reference,
            Err(Outside::TooLarge(steps)) => return Ok(steps),
            Err(Outside::Leaves(left)) => {
                // Less of given data is another problem; what it selects may lie beyond.
                if !self.with_data || verified.sizes.is_empty() {
                    verified.leaves(point, left);
                }
                return Ok(0);
            }
            Err(Outside::Unsupported(why)) => {
                return Err(Failed::Wrong { point: name, message: why, notes: vec![] });
            }
        };
        if let Some(written) = self.written {
            self.against_written(written, inputs, &reference, &name)?;
        } else if let Some(host) = self.host {
            match self.against_host(host, inputs, &reference, &name)? {
                HostSays::Undefined => {
                    verified.leaves(point, Left::undefined(reference.ways));
                    return Ok(reference.steps);
                }
                says => verified.with_host += usize::from(says == HostSays::Same),
            }
        }
        let options =
            emu::Options { max_steps: thread_steps(reference.steps), ..self.options.clone() };
        let run = self.run(Variant::Plain, inputs, &options, &name)?;
        self.against_witness(&run, &reference, &name)?;
        let blocks_yz = run.grids.values().map(|g| g[1].max(g[2])).max().unwrap_or(0);
        if blocks_yz > FEWER_BLOCKS
            && verified.in_strides < STRIDED_POINTS
            && let Some(fewer) = self.witness.with_fewer_blocks(i64::from(FEWER_BLOCKS))
        {
            let variant = Variant::FewBlocks(&fewer, FEWER_BLOCKS);
            let run = self.run(variant, inputs, &options, &name)?;
            self.against_witness(&run, &reference, &name)?;
            verified.agreed_as(variant, point, &run);
        }
        self.through_host_entry(inputs, &reference, &options, &name, point, verified)?;
        verified.source_ways.extend(&reference.ways);
        verified.agreed(point, &run);
        Ok(reference.steps)
    }

    /// What stands in place of the C function does no more than its launcher, with arrays of the host: a few sizes tell,
    /// an empty one among them.
    fn through_host_entry(
        &self,
        inputs: &[ArgBytes],
        reference: &Reference,
        options: &emu::Options,
        name: &str,
        point: &Point,
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let empty = is_empty(point);
        let enough = verified.host_entry.iter().filter(|e| **e == empty).count();
        if enough >= if empty { 1 } else { HOST_ENTRY_POINTS } {
            return Ok(());
        }
        let run = self.outcome(self.witness.run_host_entry(inputs, options), name)?;
        let Some(run) = run else { return Ok(()) };
        verified.host_entry.push(empty);
        self.against_witness(&run, reference, name).map_err(|failed| match failed {
            Failed::Wrong { point, message, mut notes } => {
                notes.push(THROUGH_HOST_ENTRY.into());
                Failed::Wrong { point, message, notes }
            }
            Failed::Differs { point, message, mut notes } => {
                notes.push(THROUGH_HOST_ENTRY.into());
                Failed::Differs { point, message, notes }
            }
            other => other,
        })
    }

    /// Arguments at a point.
    pub(super) fn inputs(&self, point: &Point) -> Result<Vec<ArgBytes>, Failed> {
        inputs::arguments(&self.sources, point).map_err(Failed::Input)
    }

    pub(super) fn run(
        &self,
        variant: Variant<'_>,
        inputs: &[ArgBytes],
        options: &emu::Options,
        point: &str,
    ) -> Result<WitnessRun, Failed> {
        let how = How { unaligned: variant.is_unaligned(), part: None };
        self.run_as(variant.text(self.witness), inputs, options, point, how)
    }

    pub(super) fn run_as(
        &self,
        text: &Witness,
        inputs: &[ArgBytes],
        options: &emu::Options,
        point: &str,
        how: How,
    ) -> Result<WitnessRun, Failed> {
        self.outcome(text.run_as(inputs, self.result_type(), options, how), point)
    }

    fn outcome<T>(&self, run: Result<T, WitnessError>, point: &str) -> Result<T, Failed> {
        run.map_err(|e| match e {
            WitnessError::Failed(message) => {
                Failed::Wrong { point: point.to_string(), message, notes: vec![] }
            }
            WitnessError::Limit(_) if self.interrupted() => Failed::Interrupted,
            WitnessError::Limit(limit) => Failed::Limit(limit),
        })
    }

    /// Whether a point is too large by far if its steps grow with the product of its sizes, as they did up to the largest.
    fn is_hopeless(&self, product: u64, (largest, steps): (u64, u64)) -> bool {
        let told = steps > self.point_steps() / 4 && !self.with_data;
        let steps = u128::from(steps) * u128::from(product) / u128::from(largest.max(1));
        told && steps > u128::from(self.point_steps()) * 4 / 3
    }

    /// Steps of the reference at one point; a point that needs more is too large to be worth it.
    fn point_steps(&self) -> u64 {
        self.total_steps / 10
    }

    pub(super) fn function(&self) -> &Function {
        self.sources.function
    }

    pub(super) fn module(&self) -> &Module {
        self.sources.module
    }

    pub(super) fn result_type(&self) -> Option<Scalar> {
        self.function().ret.scalar()
    }

    /// The C function by the IR interpreter.
    pub(super) fn interpret(
        &self,
        inputs: &[ArgBytes],
        max_steps: u64,
    ) -> Result<Reference, Outside> {
        let mut memory = Memory::default();
        let mut args = vec![];
        for (input, param) in inputs.iter().zip(&self.function().params) {
            args.push(match input {
                ArgBytes::Array(bytes) => {
                    memory.buffers.push(bytes.clone());
                    Arg::Pointer { buffer: memory.buffers.len() - 1, offset: 0 }
                }
                ArgBytes::Value(bytes) => match self.function().var(*param).ty.scalar() {
                    Some(scalar) => Arg::Value(scalar_from_bytes(scalar, bytes)),
                    None => Arg::Bytes(bytes.clone()),
                },
            });
        }
        let limits = Limits {
            max_steps,
            track_bounds: self.reassociated.contains(&true)
                || (self.host.is_some() && uses_inexact_functions(self.module())),
            deadline: self.options.deadline,
            ..Limits::default()
        };
        memory.take_ways();
        let outcome = interp::call(
            self.module(),
            self.function,
            &args,
            &mut memory,
            &limits,
            &mut interp::NoLaunch,
        );
        match outcome {
            Ok(result) => {
                let ways = memory.take_ways();
                let result = result.map(scalar_bytes);
                Ok(Reference { steps: memory.steps, memory, result, ways })
            }
            Err(error) => Err(match &error.kind {
                InterpErrorKind::StepLimit(steps) => Outside::TooLarge(*steps),
                InterpErrorKind::Unsupported(_) | InterpErrorKind::BadCall(_) => {
                    Outside::Unsupported(error.to_string())
                }
                _ => Outside::Leaves(self.left(&error, memory.take_ways())),
            }),
        }
    }

    /// Why a run of the C function ended early: in elements of the user's arrays, where it left one.
    fn left(&self, error: &InterpError, ways: BTreeSet<Way>) -> Left {
        let pointers = self.function().params.iter().map(|p| self.function().var(*p));
        let pointers: Vec<&Var> = pointers.filter(|v| v.ty.is_pointer()).collect();
        let mut without_elements = false;
        let why = match error.kind {
            InterpErrorKind::OutOfBounds { buffer: Some(buffer), offset, size, .. }
                if buffer < pointers.len() =>
            {
                let array = pointers[buffer];
                without_elements = size == 0;
                let element = array.ty.pointee();
                let bytes = element.map_or(1, |ty| layout_of(self.module(), ty).size.max(1));
                let count = match size / bytes {
                    1 => "1 element".to_string(),
                    n => format!("{n} elements"),
                };
                let at = offset.div_euclid(i64::try_from(bytes).unwrap_or(1));
                format!("`{}` has {count}, and element {at} is accessed", array.name)
            }
            InterpErrorKind::OutOfRow { ref array, subscript, extent } => format!(
                "a row of {array} has {extent} elements, and element {subscript} of one is accessed: it lies in another row, \
                 or behind the last"
            ),
            _ => error.to_string(),
        };
        Left { why, at: error.span, ways, without_elements }
    }

    /// The function in its new types must say what it says as it was written, but for the rounding errors of the less
    /// precise of both.
    fn against_written(
        &self,
        written: Written<'_>,
        inputs: &[ArgBytes],
        reference: &Reference,
        point: &str,
    ) -> Result<(), Failed> {
        let sources = Sources {
            module: written.module,
            function: written.module.function(written.function),
            specs: self.sources.specs,
            seed: self.sources.seed,
            max_memory: self.sources.max_memory,
        };
        let old = Verifier {
            sources,
            function: written.function,
            host: None,
            written: None,
            witness: self.witness,
            // Rounding errors are bounded for everything.
            reassociated: vec![true; self.function().params.len() + 1],
            same_writes: self.same_writes,
            options: self.options.clone(),
            total_steps: self.total_steps,
            tuned: self.tuned,
            special: self.special,
            with_data: self.with_data,
            texts: self.texts,
        };
        let types = |f: &Function| -> Vec<Scalar> {
            let element = |ty: &Type| ty.pointee().unwrap_or(ty).scalar().unwrap_or(Scalar::U8);
            f.params.iter().map(|p| element(&f.var(*p).ty)).collect()
        };
        let (new_types, old_types) = (types(self.function()), types(old.function()));
        let converted: Vec<ArgBytes> = inputs
            .iter()
            .zip(new_types.iter().zip(&old_types))
            .map(|(input, (from, to))| match input {
                ArgBytes::Array(bytes) => ArgBytes::Array(compare::converted(*from, *to, bytes)),
                ArgBytes::Value(bytes) => ArgBytes::Value(compare::converted(*from, *to, bytes)),
            })
            .collect();
        let before = match old.interpret(&converted, self.point_steps()) {
            Ok(before) => before,
            Err(Outside::TooLarge(_)) => return Ok(()),
            Err(Outside::Leaves(Left { why, .. }) | Outside::Unsupported(why)) => {
                return Err(Failed::References { point: point.to_string(), message: why });
            }
        };
        let wrong = |what: &str, d: &Difference| Failed::Precision {
            point: point.to_string(),
            message: describe(what, d, "the function as written", "in the new type it"),
        };
        let against = Against::Written(written.precision);
        let arrays = (0..self.function().params.len())
            .filter(|k| self.function().var(self.function().params[*k]).ty.is_pointer());
        for (buffer, param) in arrays.enumerate() {
            let Some(bytes) = reference.memory.buffers.get(buffer) else { continue };
            let bytes = compare::converted(new_types[param], old_types[param], bytes);
            if let Some((name, d)) = old.compare_array(buffer, &before, &bytes, against) {
                return Err(wrong(&name, &d));
            }
        }
        if let (Some(to), Some(from), Some(result)) =
            (old.result_type(), self.result_type(), &reference.result)
        {
            let result = compare::converted(from, to, result);
            if let Some(d) = old.compare_result(&before, &result, against) {
                return Err(wrong("the result", &d));
            }
        }
        Ok(())
    }

    /// The user's C must say what the interpreter says, or one of the two misunderstands the source. Both run the sums
    /// in source order: what they may differ by is what their math functions do.
    pub(super) fn against_host(
        &self,
        host: &HostReference,
        inputs: &[ArgBytes],
        reference: &Reference,
        point: &str,
    ) -> Result<HostSays, Failed> {
        let wrong = |message: String| Failed::References { point: point.to_string(), message };
        let mut args = inputs.to_vec();
        let result = match host.call(&mut args, self.patience(Duration::from_secs(60))) {
            Ok(result) => result,
            Err(NoAnswer::DividesByZero) => return Ok(HostSays::Undefined),
            Err(_) if self.late() => return Err(Failed::Limit(TIME_LIMIT)),
            Err(NoAnswer::Failed(why)) => {
                return Err(wrong(format!("the program made from the C file failed: {why}")));
            }
        };
        if reference.memory.doubtful {
            return Ok(HostSays::Nothing);
        }
        let arrays = args.iter().filter_map(|a| match a {
            ArgBytes::Array(bytes) => Some(bytes.as_slice()),
            ArgBytes::Value(_) => None,
        });
        for (buffer, actual) in arrays.enumerate() {
            if let Some((name, d)) = self.compare_array(buffer, reference, actual, Against::Host) {
                return Err(wrong(describe(&name, &d, "the interpreter", "the host compiler")));
            }
        }
        match self.compare_result(reference, &result, Against::Host) {
            Some(d) => {
                Err(wrong(describe("the result", &d, "the interpreter", "the host compiler")))
            }
            None => Ok(HostSays::Same),
        }
    }

    /// What the emulator found.
    pub(super) fn findings(&self, run: &WitnessRun, point: &str) -> Result<(), Failed> {
        let wrong = |message: String, notes: Vec<String>| Failed::Wrong {
            point: point.to_string(),
            message,
            notes,
        };
        let allowed = |f: &&emu::Finding| !(self.same_writes && f.rule == emu::Rule::RaceBenign);
        if let Some(finding) = run.findings.iter().find(allowed) {
            let more = run.findings.iter().skip(1).take(4).map(|f| f.message.clone());
            let mut notes: Vec<String> = more.collect();
            if finding.rule == emu::Rule::RaceGlobal {
                notes.push("where a subscript comes from data, iterations that share an element are not independent: remove the mark, put `#pragma omp atomic` before an update that they share, or give the data that the loop is made for, as with --arg NAME=iota".to_string());
            }
            let message = format!("{}: {}", finding.rule.name(), finding.message);
            if finding.rule == emu::Rule::RaceGlobal {
                let (point, array) = (point.to_string(), finding.array.clone());
                return Err(Failed::Race { point, message, notes, array });
            }
            return Err(wrong(message, notes));
        }
        Ok(())
    }

    pub(super) fn against_witness(
        &self,
        run: &WitnessRun,
        reference: &Reference,
        point: &str,
    ) -> Result<(), Failed> {
        self.findings(run, point)?;
        let wrong =
            |message: String| Failed::Differs { point: point.to_string(), message, notes: vec![] };
        let arrays = run.args.iter().filter_map(|a| match a {
            ArgBytes::Array(bytes) => Some(bytes.as_slice()),
            ArgBytes::Value(_) => None,
        });
        for (buffer, actual) in arrays.enumerate() {
            if let Some((name, d)) = self.compare_array(buffer, reference, actual, Against::Kernel)
            {
                return Err(wrong(describe(&name, &d, "the C function", "the kernel")));
            }
        }
        if let Some(actual) = &run.result
            && let Some(d) = self.compare_result(reference, actual, Against::Kernel)
        {
            return Err(wrong(describe("the result", &d, "the C function", "the kernel")));
        }
        Ok(())
    }

    /// The `buffer`-th array parameter: its name and the first difference.
    fn compare_array(
        &self,
        buffer: usize,
        reference: &Reference,
        actual: &[u8],
        against: Against,
    ) -> Option<(String, Difference)> {
        let function = self.function();
        let vars = function.params.iter().map(|p| function.var(*p)).enumerate();
        let (param, var) = vars.filter(|(_, v)| v.ty.is_pointer()).nth(buffer)?;
        let reassociated = self.reassociated.get(param).is_some_and(|r| *r);
        let element = var.ty.pointee()?;
        let expected = reference.memory.buffers.get(buffer)?;
        let allowed = |offset: u64, scalar: Scalar| {
            let bound = reference.memory.bound(buffer, offset, scalar);
            bound.map_or(0.0, |b| against.allowed(scalar, b, reassociated))
        };
        let Some(scalar) = element.scalar() else {
            return self.compare_structures(var, element, (expected, actual), &allowed);
        };
        let width = u64::from(scalar.bytes());
        let allowed = |i: u64| allowed(i * width, scalar);
        first_difference(scalar, expected, actual, &allowed).map(|d| (format!("`{}`", var.name), d))
    }

    /// Structures number by number; what lies between them has no value.
    fn compare_structures(
        &self,
        var: &Var,
        element: &Type,
        (expected, actual): (&[u8], &[u8]),
        allowed: &dyn Fn(u64, Scalar) -> f64,
    ) -> Option<(String, Difference)> {
        let size = layout_of(self.module(), element).size.max(1);
        let mut first: Option<(String, Difference)> = None;
        for (k, (offset, scalar)) in scalars_of(self.module(), element, 0).into_iter().enumerate() {
            let of = |bytes: &[u8]| -> Vec<u8> {
                let range = offset as usize..(offset + u64::from(scalar.bytes())) as usize;
                let elements = bytes.chunks_exact(size as usize);
                elements.flat_map(|e| e[range.clone()].iter().copied()).collect()
            };
            let allowed = |i: u64| allowed(i * size + offset, scalar);
            if let Some(d) = first_difference(scalar, &of(expected), &of(actual), &allowed)
                && first.as_ref().is_none_or(|(_, f)| d.index < f.index)
            {
                first = Some((format!("number {k} of the elements of `{}`", var.name), d));
            }
        }
        first
    }

    fn compare_result(
        &self,
        reference: &Reference,
        actual: &[u8],
        against: Against,
    ) -> Option<Difference> {
        let scalar = self.result_type()?;
        let expected = reference.result.as_ref()?;
        let reassociated = self.reassociated.last().is_some_and(|r| *r);
        let bound = reference.memory.result_bound;
        let allowed = |_| bound.map_or(0.0, |b| against.allowed(scalar, b, reassociated));
        first_difference(scalar, expected, actual, &allowed)
    }
}

/// The steps after which a thread is in an infinite loop, when the whole function took so many: a thread may run all of
/// it alone, and copy all of a block's shared memory besides.
fn thread_steps(reference: u64) -> u64 {
    reference.saturating_mul(1_000).saturating_add(2_000_000).min(emu::Options::default().max_steps)
}

/// With whom the interpreter is compared.
#[derive(Clone, Copy)]
pub(super) enum Against {
    /// Another order of sums, but the same math functions.
    Kernel,
    /// Other math functions, but the same order.
    Host,
    /// Reals of this type instead of those of the function.
    Written(Scalar),
}

impl Against {
    pub(super) fn allowed(self, scalar: Scalar, bound: interp::Bound, reassociated: bool) -> f64 {
        match self {
            Against::Kernel if reassociated => compare::of_a_sum(scalar, bound),
            Against::Kernel => 0.0,
            Against::Host => compare::of_math_functions(bound),
            Against::Written(new) => compare::of_precision(scalar, new, bound),
        }
    }
}

/// Whether a function is called whose last bits differ between math libraries.
pub(super) fn uses_inexact_functions(module: &Module) -> bool {
    let mut found = false;
    for function in &module.functions {
        visit::for_each_expr(&function.body, &mut |e| {
            found |= matches!(&*e.kind, ExprKind::Call(f, _) if !f.is_exact());
        });
    }
    found
}

/// What the interpreter computed.
pub(super) struct Reference {
    pub memory: Memory,
    pub result: Option<Vec<u8>>,
    pub steps: u64,
    /// The ways that control took in the C function.
    pub ways: BTreeSet<Way>,
}

/// Why a point has no reference.
pub(super) enum Outside {
    TooLarge(u64),
    /// The C function is undefined there.
    Leaves(Left),
    Unsupported(String),
}

/// Why a run of the C function ended before its end, and where in its text.
pub(super) struct Left {
    why: String,
    at: Option<Span>,
    /// The ways that control took before.
    ways: BTreeSet<Way>,
    /// The array that it left has no elements.
    without_elements: bool,
}

impl Left {
    /// Of a run in which an integer was divided by zero, wherever that was.
    pub(super) fn undefined(ways: BTreeSet<Way>) -> Left {
        let why = "an integer is divided by zero".to_string();
        Left { why, at: None, ways, without_elements: false }
    }
}

/// What the host compiler's code says about a point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HostSays {
    Same,
    /// A decision hangs on the last bit of a math function.
    Nothing,
    /// The C function has no meaning there.
    Undefined,
}

fn describe(what: &str, d: &Difference, expected: &str, actual: &str) -> String {
    let within =
        if d.allowed > 0.0 { format!(" (allowed: {:e})", d.allowed) } else { String::new() };
    format!(
        "{what} differs at index {}: {expected} computes {}, {actual} {}{within}; {} differ in all",
        d.index, d.expected, d.actual, d.count
    )
}
