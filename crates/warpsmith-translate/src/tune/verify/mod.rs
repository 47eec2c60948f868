//! Verification of an emitted kernel: the re-parsed text in the emulator against the IR interpreter and
//! the user's own C, at several sizes.

mod against;
pub(in crate::tune) mod asked;
mod by_data;
pub mod compare;
mod condition;
pub(in crate::tune) mod coverage;
pub(in crate::tune) mod culprit;
mod emulated;
pub mod host_c;
pub mod inputs;
mod large;
pub(in crate::tune) mod launcher_cases;
mod lowered;
mod oversized;
mod part;
pub mod points;
mod ranges;
mod reach;
mod sampled;
pub(in crate::tune) mod suited;
mod variant;
mod varied;
mod verdict;
pub mod witness;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use warpsmith_emu as emu;
use warpsmith_ir::interp::{self, InterpError, InterpErrorKind, Limits, Memory};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{
    ExprKind, FuncId, Function, Module, Scalar, SourceMap, Span, Turn, Var, Way, visit,
};
use warpsmith_opt::requirement::Requirement;

pub(in crate::tune) use self::verdict::Failed;
pub use self::verdict::Verified;

use self::against::HostSays;
use self::coverage::Coverage;
use self::host_c::{ArgBytes, HostReference};
use self::inputs::{NoData, Sources};
use self::reach::FEWER_BLOCKS;
use self::variant::Variant;
use self::witness::{How, Witness, WitnessError, WitnessRun};
use super::extents;
use super::sizes::Point;
use crate::data::scalar_bytes;
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

/// Parts, rows, and steps that a thread may need for each part of a row.
const MOST_PARTS: u64 = 1 << 10;
const MOST_ROWS: u64 = 1 << 11;
const PART_STEPS: u64 = 32;

pub(in crate::tune) const TIME_LIMIT: &str = "the time limit (--timeout)";

/// What is compared with what.
pub(in crate::tune) struct Verifier<'a> {
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
    /// What the launcher asks of the sizes, by its own parameters.
    pub requires: (&'a Function, &'a [Requirement]),
    /// Where the texts are, of the C file and of what was emitted.
    pub texts: &'a SourceMap,
}

/// A function before its reals changed their type.
#[derive(Clone, Copy)]
pub(in crate::tune) struct Written<'a> {
    pub module: &'a Module,
    pub function: FuncId,
    /// The type that they have now.
    pub precision: Scalar,
}

/// Whether no iteration runs at a point.
pub(in crate::tune) fn is_empty(point: &Point) -> bool {
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
        varied::verify(self, &mut verified)?;
        oversized::verify(self, candidates, &mut verified)?;
        reach::verify(self, candidates, &mut verified)?;
        reach::second_blocks(self, candidates, &mut verified)?;
        if self.late() {
            return Err(Failed::Limit(TIME_LIMIT));
        }
        let only_size = candidates.iter().all(Point::is_empty);
        if only_size && !verified.sizes.is_empty() {
            verified.coverage.excuse_the_rest(verified.in_part.is_empty());
        }
        self.in_bounds(&verified)?;
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

    /// Something was compared, and the function itself stays in its arrays where that was asked for, and at some size in each
    /// of its parts.
    fn in_bounds(&self, verified: &Verified) -> Result<(), Failed> {
        if let Some(none) = verified.no_memory.clone().filter(|_| verified.sizes.is_empty()) {
            return Err(Failed::Input(none));
        }
        let vacuous = verified.vacuous();
        if !verified.ill_conditioned.is_empty() && (verified.sizes.is_empty() || vacuous) {
            let points = verified.ill_conditioned.iter().map(points::name).collect();
            return Err(Failed::IllConditioned { points });
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
        Ok(())
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
    pub(in crate::tune) fn late(&self) -> bool {
        self.options.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// So long, but no longer than until the time limit.
    pub(in crate::tune) fn patience(&self, most: Duration) -> Duration {
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
            verified.leaves(point, Left::undefined(&why, BTreeSet::new()));
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
        let inputs = match self.inputs(point) {
            // Other sizes may take less.
            Err(Failed::Input(none @ NoData::Memory { .. })) => {
                verified.no_memory.get_or_insert(none);
                return Ok(0);
            }
            other => other?,
        };
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
                HostSays::Undefined(why) => {
                    verified.leaves(point, Left::undefined(why, reference.ways));
                    return Ok(reference.steps);
                }
                says => verified.with_host += usize::from(says == HostSays::Same),
            }
        }
        let options = emu::Options {
            max_steps: self.thread_steps(reference.steps, point),
            ..self.options.clone()
        };
        let run = self.run(Variant::Plain, inputs, &options, &name)?;
        self.against_witness(&run, &reference, &name)?;
        let along = |axis: usize| run.grids.values().map(|g| g[axis]).max().unwrap_or(0);
        let several = |axis| along(axis) > FEWER_BLOCKS;
        if verified.in_strides < STRIDED_POINTS
            && (several(1) || several(2) || several(0) && self.witness.limits_along_x())
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

    /// The steps after which a thread is in an infinite loop, when the whole function took so many: a thread may run all of
    /// it alone, and copy all of a block's shared memory besides; where nothing binds them, all parts of all rows.
    fn thread_steps(&self, reference: u64, point: &Point) -> u64 {
        let largest = |all: &mut dyn Iterator<Item = i64>, most: u64| {
            all.filter_map(|n| u64::try_from(n).ok()).max().unwrap_or(1).min(most)
        };
        let parts = largest(&mut self.special.iter().copied(), MOST_PARTS);
        let rows = largest(&mut point.values().copied(), MOST_ROWS);
        let steps =
            reference.saturating_mul(1_000).saturating_add(2_000_000 + PART_STEPS * parts * rows);
        steps.min(emu::Options::default().max_steps)
    }

    /// Arguments at a point.
    pub(in crate::tune) fn inputs(&self, point: &Point) -> Result<Vec<ArgBytes>, Failed> {
        inputs::arguments(&self.sources, point).map_err(Failed::Input)
    }

    pub(in crate::tune) fn run(
        &self,
        variant: Variant<'_>,
        inputs: &[ArgBytes],
        options: &emu::Options,
        point: &str,
    ) -> Result<WitnessRun, Failed> {
        let how = How { unaligned: variant.is_unaligned(), part: None };
        self.run_as(variant.text(self.witness), inputs, options, point, how)
    }

    pub(in crate::tune) fn run_as(
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

    pub(in crate::tune) fn function(&self) -> &Function {
        self.sources.function
    }

    pub(in crate::tune) fn module(&self) -> &Module {
        self.sources.module
    }

    pub(in crate::tune) fn result_type(&self) -> Option<Scalar> {
        self.function().ret.scalar()
    }

    /// The C function by the IR interpreter.
    pub(in crate::tune) fn interpret(
        &self,
        inputs: &[ArgBytes],
        max_steps: u64,
    ) -> Result<Reference, Outside> {
        let (mut memory, args) = inputs::bound(self.function(), inputs);
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
}

/// Whether a function is called whose last bits differ between math libraries.
pub(in crate::tune) fn uses_inexact_functions(module: &Module) -> bool {
    let mut found = false;
    for function in &module.functions {
        visit::for_each_expr(&function.body, &mut |e| {
            found |= matches!(&*e.kind, ExprKind::Call(f, _) if !f.is_exact());
        });
    }
    found
}

/// What the interpreter computed.
pub(in crate::tune) struct Reference {
    pub memory: Memory,
    pub result: Option<Vec<u8>>,
    pub steps: u64,
    /// The ways that control took in the C function.
    pub ways: BTreeSet<Way>,
}

/// Why a point has no reference.
pub(in crate::tune) enum Outside {
    TooLarge(u64),
    /// The C function is undefined there.
    Leaves(Left),
    Unsupported(String),
}

/// Why a run of the C function ended before its end, and where in its text.
pub(in crate::tune) struct Left {
    why: String,
    at: Option<Span>,
    /// The ways that control took before.
    ways: BTreeSet<Way>,
    /// The array that it left has no elements.
    without_elements: bool,
}

impl Left {
    /// Of a run in which something happened that C leaves undefined, wherever that was.
    pub(in crate::tune) fn undefined(why: &str, ways: BTreeSet<Way>) -> Left {
        Left { why: why.to_string(), at: None, ways, without_elements: false }
    }
}
