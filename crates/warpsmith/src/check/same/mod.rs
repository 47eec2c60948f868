//! `--same-as`: whether a kernel computes what another one, or a C function, computes.
//!
//! Both run on the same data at launches around the constants of either ([`launches`]), the kernel with all checks on. An
//! array is compared bit for bit; where it differs, sums may differ by what their order explains (specification,
//! Arithmetic), with Σ|terms| from a second run of the reference in the interpreter ([`shadow`]).

mod arguments;
mod blocks;
mod calls;
mod extents;
mod given;
mod host_function;
mod host_numbers;
mod host_runs;
mod host_text;
mod launched;
mod launches;
mod launching;
mod lengths;
mod measured;
mod on_device;
mod pairs;
mod run;
mod selecting;
mod shadow;
mod side;
mod told;
mod variety;
mod verdict;

use std::collections::BTreeMap;

use warpsmith_emu::{self as emu, EmuError, Limit, Outcome};
use warpsmith_front::{prelude, sema};
use warpsmith_ir::interp::Limits;
use warpsmith_ir::{Diagnostic, Scalar, SourceMap};

use self::extents::Formula;
use self::launched::{Launched, NoRun, Run};
use self::launching::{NoShape, Shape};
use self::pairs::{Map, Place};
use self::run::{Computed, Data, Inputs, Nothing, REFERENCE_STEPS};
use self::side::{Reading, Side};
use self::variety::{Constants, Sort};
use self::verdict::Differs;
use super::args::CheckArgs;
use super::runner::Runner;
use crate::data::{self, ArgSpec};
use crate::report::{Item, OnDevice, Place as At, Report, stable_id};
use crate::status::Failure;
use warpsmith_translate::tune::sizes::Point;

/// Thread instructions of one launch of either side, and of all together where no option says otherwise.
const LAUNCH_STEPS: u64 = 40_000_000;
const ALL_STEPS: u64 = 300_000_000;
/// Launches with NaN and infinities.
const SPECIAL: usize = 3;
/// Steps of the reference at sizes far from all others.
const FAR_STEPS: f64 = 8e6;

/// The rule of an element that differs.
const DIFFERENT: &str = "different-value";

/// Compares the kernel of the file with the reference.
///
/// # Errors
/// Bad input: files, names, parameters without a counterpart, no launch that both sides have.
pub fn check(
    args: &CheckArgs,
    reference: &str,
    sources: &mut SourceMap,
) -> Result<Report, Failure> {
    let [path] = args.paths.as_slice() else {
        return Err(
            Diagnostic::error("W309", "--same-as compares one file with its reference").into()
        );
    };
    let prelude = prelude::unit(sources);
    let libraries = sema::Libraries::new(&prelude);
    let reading = Reading { source: &args.source, libraries: &libraries, specs: &args.launch.args };
    let new = Side::kernel(path, &args.launch, &reading, sources)?;
    let reference = Side::reference(reference, &reading, sources)?;
    let map: Vec<Map> = args.map.clone();
    let worked_out = args.launch.args.iter().filter(|s| match &s.spec {
        ArgSpec::Number(text) => data::parse_scalar(text, Scalar::F64).is_err(),
        _ => false,
    });
    let worked_out: Vec<String> = worked_out.map(|s| s.name.clone()).collect();
    let pairs = pairs::pair(&new, &reference, &map, &worked_out)?;
    let specs = given::specs(args, &new, &reference, &pairs)?;
    given::all_told(&new, &reference, &pairs, &specs)?;
    let mut comparison = Comparison {
        data: Data {
            new: &new,
            reference: &reference,
            pairs: &pairs,
            specs: &specs,
            max_memory: args.max_memory,
            constants: Constants::of([&new.module, &reference.module]),
            selects: given::selecting(&reference, &pairs),
        },
        runner: Runner::new(args),
        formulas: BTreeMap::new(),
        steps_left: args.max_total_steps.unwrap_or(ALL_STEPS),
        left: Left::default(),
        ran: vec![],
        compared: vec![false; pairs.arrays.len()],
        exact: true,
        found: false,
        special: args.special,
        costs: vec![],
        touched: BTreeMap::new(),
        device: None,
        beyond: vec![],
    };
    let points = launches::points(&new, &reference, &pairs, &args.launch);
    comparison.probe(&points)?;
    comparison.all(&points, sources)?;
    comparison.special(sources)?;
    comparison.on_device(args, sources)?;
    Ok(comparison.report(sources))
}

/// Points that say nothing, by why.
#[derive(Default)]
struct Left {
    excluded: u64,
    empty: u64,
    other_sizes: u64,
    too_large: u64,
    not_reached: u64,
    undefined: Option<(u64, String)>,
    undecided: Option<String>,
}

/// A launch of both sides.
struct Launch<'a> {
    inputs: &'a Inputs,
    shapes: &'a [Shape],
    /// None of a C function.
    reference: Option<&'a [Shape]>,
}

struct Comparison<'a> {
    data: Data<'a>,
    runner: Runner<'a>,
    /// How long arrays are of which nobody says it.
    formulas: BTreeMap<usize, Formula>,
    steps_left: u64,
    left: Left,
    ran: Vec<Point>,
    /// Arrays that some side wrote.
    compared: Vec<bool>,
    /// Everything was the same bit for bit.
    exact: bool,
    found: bool,
    /// `--special`: what only NaN and infinities show counts.
    special: bool,
    /// Work and steps of the reference at the points that ran.
    costs: Vec<(f64, f64)>,
    /// Bytes that the kernels touch of arrays that they alone have.
    touched: BTreeMap<usize, Vec<(Point, u64)>>,
    device: Option<OnDevice>,
    /// Points that took too many steps.
    beyond: Vec<Point>,
}

impl Comparison<'_> {
    fn options(&self) -> emu::Options {
        let own = self.runner.options(&self.data.new.args);
        emu::Options { max_total_steps: LAUNCH_STEPS.min(self.steps_left), ..own }
    }

    fn limits(&self) -> Limits {
        Limits { deadline: self.runner.deadline, ..Limits::default() }
    }

    /// The launches of a side as far as they are known before it runs; `None` for a C function.
    fn shapes(&self, inputs: &Inputs, of_new: bool) -> Result<Option<Vec<Shape>>, NoShape> {
        let side = if of_new { self.data.new } else { self.data.reference };
        if !side.is_kernel() {
            return Ok(None);
        }
        let sizes = self.data.sizes(inputs, of_new);
        side.stages().map(|stage| side.shape(stage, &sizes)).collect::<Result<_, _>>().map(Some)
    }

    /// Runs the reference kernels, whose findings say that they have no meaning there.
    fn reference_kernels(&self, inputs: &Inputs, shapes: &[Shape]) -> Result<Computed, Nothing> {
        let lengths: Vec<Option<u64>> =
            (0..inputs.arrays.len()).map(|i| self.assumed_length(i, &inputs.point)).collect();
        let run = self.data.kernels(false, inputs, shapes, &lengths, &self.options());
        let run = run.map_err(|why| why.of_reference(self.data.reference))?;
        for launched in &run.launches {
            self.has_meaning(&launched.outcome)?;
        }
        Ok(Computed::from(run))
    }

    fn has_meaning(&self, outcome: &Outcome) -> Result<(), Nothing> {
        if outcome.assumption_failed {
            return Err(Nothing::Excluded);
        }
        if let Some(finding) = outcome.findings.iter().find(|f| !f.rule.is_note()) {
            return Err(Nothing::Undefined(format!(
                "{}: {}",
                finding.rule.name(),
                finding.message
            )));
        }
        if outcome.limit.is_some() {
            return Err(Nothing::TooLarge);
        }
        Ok(())
    }

    fn all(&mut self, points: &[Point], sources: &SourceMap) -> Result<(), Failure> {
        for (nth, point) in points.iter().enumerate() {
            let late = self.runner.deadline.is_some_and(|d| std::time::Instant::now() >= d);
            if late || self.steps_left == 0 || self.runner.interrupted {
                self.left.not_reached = (points.len() - nth) as u64;
                if late {
                    self.runner.limits.push("the time limit was reached (--timeout)".to_string());
                }
                break;
            }
            if launches::is_far(point) && self.expected_steps(point) > FAR_STEPS {
                continue;
            }
            let seed = self.data.new.args.seed.unwrap_or(0).wrapping_add(nth as u64);
            // What took too much at smaller sizes takes too much here.
            let beyond = |p: &Point| p.iter().all(|(n, v)| point.get(n).is_some_and(|w| w >= v));
            if self.beyond.iter().any(beyond) {
                self.left.too_large += 1;
                continue;
            }
            let result = match self.point(point, seed, Sort::of(nth), sources) {
                // The reference may have no meaning for other data than plain ones.
                Err(Nothing::Undefined(_) | Nothing::Excluded) if Sort::of(nth) != Sort::Plain => {
                    self.point(point, seed, Sort::Plain, sources)
                }
                result => result,
            };
            match result {
                Ok(()) => {}
                Err(Nothing::Failed(failure)) => return Err(failure),
                Err(Nothing::Excluded) => self.left.excluded += 1,
                Err(Nothing::TooLarge) => {
                    self.left.too_large += 1;
                    self.steps_left = self.steps_left.saturating_sub(REFERENCE_STEPS);
                    self.beyond.push(point.clone());
                }
                Err(Nothing::Undefined(why)) => {
                    self.left.undefined.get_or_insert((0, why)).0 += 1;
                }
            }
            if self.found {
                break;
            }
        }
        Ok(())
    }

    /// What the reference will take at a size far from the others, as its steps grew so far.
    fn expected_steps(&self, point: &Point) -> f64 {
        let mut costs = self.costs.clone();
        costs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((&(small, few), &(large, many))) = costs.get(costs.len() / 2).zip(costs.last())
        else {
            return f64::INFINITY;
        };
        let grows = (many.max(1.0) / few.max(1.0)).ln() / (large / small).max(1.01).ln();
        many * (launches::work(point) as f64 / large).powf(grows.clamp(1.0, 4.0))
    }

    /// A few launches with NaN and infinities: people mean different things by them, so that a difference is a note.
    fn special(&mut self, sources: &SourceMap) -> Result<(), Failure> {
        let real = self.data.pairs.arrays.iter().any(|a| {
            let (module, element) = self.data.element(a);
            data::scalars_of(module, &element, 0).iter().any(|(_, s)| s.is_float())
        });
        let decided = self.found || self.left.undecided.is_some() || self.left.not_reached > 0;
        if !real || decided || self.ran.is_empty() {
            return Ok(());
        }
        let points = self.ran.clone();
        let near: Vec<&Point> = points.iter().filter(|p| !launches::is_far(p)).collect();
        for k in 1..=SPECIAL {
            let Some(point) = near.get(k * near.len() / (SPECIAL + 1)) else { continue };
            if let Err(Nothing::Failed(failure)) =
                self.point(point, k as u64, Sort::Special, sources)
            {
                return Err(failure);
            }
            if self.found {
                break;
            }
        }
        // Sizes are listed once.
        self.ran = points;
        Ok(())
    }

    /// Both sides at the full size, where a device is named.
    fn on_device(&mut self, args: &CheckArgs, sources: &mut SourceMap) -> Result<(), Failure> {
        if args.device.is_none() || self.found || self.ran.is_empty() {
            return Ok(());
        }
        let length = |i: usize, inputs: &Inputs| -> Option<u64> {
            if let run::Content::Bytes(bytes) = &inputs.arrays[i] {
                return Some(bytes.len() as u64);
            }
            if let Some(formula) = self.formulas.get(&i) {
                return Some(formula.at(&inputs.point) * self.element_size(i));
            }
            let touched = self.touched.get(&i)?;
            let names: Vec<String> = inputs.point.keys().cloned().collect();
            extents::fit(&names, touched).map(|f| f.at(&inputs.point))
        };
        let on = on_device::compare(args, &self.data, &length, self.exact, sources)?;
        if let Some(why) = &on.differs {
            let span = self.data.new.ir().origin.span;
            let label = format!("{} on {} with {}", self.data.new.describe(), on.device, on.sizes);
            self.runner.refused(DIFFERENT, why.clone(), span, &label, false, sources);
            self.found = true;
        }
        self.device = Some(on);
        Ok(())
    }

    /// Both sides at one point.
    fn point(
        &mut self,
        point: &Point,
        seed: u64,
        sort: Sort,
        sources: &SourceMap,
    ) -> Result<(), Nothing> {
        let mut inputs = self.data.inputs(point, seed, sort)?;
        self.lengthen(&mut inputs);
        let shapes =
            self.shapes(&inputs, true).and_then(|new| Ok((new, self.shapes(&inputs, false)?)));
        let (shapes, reference_shapes) = match shapes {
            Ok((Some(new), reference)) => (new, reference),
            Err(NoShape::OtherSizes) => {
                self.left.other_sizes += 1;
                return Ok(());
            }
            Ok((None, _)) | Err(_) => {
                self.left.empty += 1;
                return Ok(());
            }
        };
        let computed = match &reference_shapes {
            Some(shapes) => self.reference_kernels(&inputs, shapes)?,
            None => self.data.c_function(&inputs, false, &self.limits())?.1,
        };
        self.steps_left = self.steps_left.saturating_sub(computed.steps);
        self.costs.push((launches::work(point) as f64, computed.steps as f64));
        let launch =
            Launch { inputs: &inputs, shapes: &shapes, reference: reference_shapes.as_deref() };
        let options = self.options();
        let run = self.data.kernels(true, &inputs, &shapes, &computed.lengths(), &options);
        let Run { launches, arrays, complete } = match run {
            Ok(run) => run,
            Err(why) => return self.not_run(why, &launch, sources),
        };
        let steps = launches.iter().map(|l| l.outcome.stats.thread_instructions).sum();
        self.steps_left = self.steps_left.saturating_sub(steps);
        if launches.iter().any(|l| l.outcome.limit == Some(Limit::TotalSteps)) {
            return Err(Nothing::TooLarge);
        }
        if launches.iter().any(|l| l.outcome.assumption_failed) {
            return Err(Nothing::Excluded);
        }
        self.ran.push(point.clone());
        let stopped = launches.iter().any(|l| l.outcome.limit.is_some()) || !complete;
        for Launched { kernel, shape, outcome } in launches {
            let label = self.label(&launch, kernel, &shape);
            self.runner.launched(&label);
            self.found |= outcome.findings.iter().any(|f| !f.rule.is_note());
            self.runner.record(outcome, &label, None, sources);
        }
        for i in 0..self.data.pairs.arrays.len() {
            if self.data.pairs.arrays[i].reference.is_some() {
                continue;
            }
            if let (Some(Some(bytes)), run::Content::Grows(_)) = (arrays.get(i), &inputs.arrays[i])
            {
                self.touched.entry(i).or_default().push((point.clone(), bytes.len() as u64));
            }
        }
        if !stopped {
            self.compare(&launch, &computed, &arrays, sources);
        }
        Ok(())
    }

    /// The kernels of the new side were refused, or its host code goes wrong.
    fn not_run(
        &mut self,
        why: NoRun,
        launch: &Launch<'_>,
        sources: &SourceMap,
    ) -> Result<(), Nothing> {
        let new = self.data.new;
        let (rule, message, span, label) = match why {
            NoRun::Refused { kernel, shape, error: EmuError::BadLaunch(message) } => {
                let span = new.module.function(kernel).origin.span;
                ("invalid-launch", message, span, self.label(launch, kernel, &shape))
            }
            NoRun::Beyond { message, span } => ("out-of-bounds", message, span, new.describe()),
            why => return Err(why.of_reference(new)),
        };
        self.runner.launched(&label);
        self.runner.refused(rule, message, span, &label, false, sources);
        self.found = true;
        Ok(())
    }

    fn compare(
        &mut self,
        launch: &Launch<'_>,
        computed: &Computed,
        arrays: &[Option<Vec<u8>>],
        sources: &SourceMap,
    ) {
        let inputs = launch.inputs;
        let mut shadow = None;
        for (i, array) in self.data.pairs.arrays.iter().enumerate() {
            let (Some(expected), Some(actual)) = (&computed.arrays[i], &arrays[i]) else {
                continue;
            };
            let before = inputs.arrays[i].bytes(expected.len() as u64);
            self.compared[i] |= before != *expected || before != *actual;
            let (module, element) = self.data.element(array);
            let pair = (expected.as_slice(), actual.as_slice());
            let Some(bitwise) = verdict::differs(module, &element, pair, &|_, _| 0.0) else {
                continue;
            };
            let memory = shadow.get_or_insert_with(|| {
                self.data.shadow(inputs, launch.reference, &computed.arrays, &self.limits())
            });
            let differs = match memory {
                Ok((memory, at)) => {
                    let allowed = |byte, ty| match (array.reference, at[i]) {
                        (Some(Place::Result), _) => memory.result_bound.map_or(0.0, |b| {
                            warpsmith_translate::tune::verify::compare::of_a_sum(ty, b)
                        }),
                        (_, Some(buffer)) => verdict::allowed_by(memory, buffer, byte, ty),
                        _ => 0.0,
                    };
                    verdict::differs(module, &element, pair, &allowed)
                }
                Err(why) if verdict::is_small(&bitwise.difference, bitwise.ty) => {
                    let text = format!(
                        "`{}` differs by no more than rounding may explain, and how much that is nothing tells: of the reference, {why}",
                        array.name
                    );
                    self.left.undecided.get_or_insert(text);
                    continue;
                }
                Err(_) => Some(bitwise),
            };
            let is_note = inputs.sort == Sort::Special && !self.special;
            self.exact &= is_note;
            if let Some(differs) = differs {
                let mut item = self.different(i, &differs, launch, &computed.lengths(), sources);
                if is_note {
                    item.is_note = true;
                    item.message +=
                        "; only where data hold NaN or infinities (--special makes this an error)";
                }
                self.runner.add(item);
                self.found |= !is_note;
                return;
            }
        }
    }

    /// The finding, with the threads that wrote the element: the launch is run once more to see them.
    fn different(
        &self,
        array: usize,
        d: &Differs,
        launch: &Launch<'_>,
        lengths: &[Option<u64>],
        sources: &SourceMap,
    ) -> Item {
        let inputs = launch.inputs;
        let buffer = self.data.buffer_of(array);
        let options = emu::Options { jobs: 1, written: Some((buffer, d.byte)), ..self.options() };
        let again = self.data.kernels(true, inputs, launch.shapes, lengths, &options);
        let mut launches = again.map_or(vec![], |run| run.launches);
        // The last kernel that wrote the element.
        let last = launches.iter().rposition(|l| !l.outcome.writers.is_empty());
        let at = last.unwrap_or(launches.len().saturating_sub(1));
        let (writers, label) = match launches.get_mut(at) {
            Some(l) => {
                let writers = std::mem::take(&mut l.outcome.writers);
                (writers, self.label(launch, l.kernel, &l.shape))
            }
            None => (vec![], self.data.new.describe()),
        };
        let places: Vec<At> = writers
            .iter()
            .map(|w| At {
                span: w.span,
                what: w.what,
                thread: w.thread.map(|t| (t.block, t.thread)),
            })
            .collect();
        let pair = &self.data.pairs.arrays[array];
        let name = pair.names.first().unwrap_or(&pair.name);
        let size = self.element_size(array);
        let (index, part) = (d.byte / size, (d.byte % size) / u64::from(d.ty.bytes()));
        let part = if size > u64::from(d.ty.bytes()) {
            format!(", number {part} of it,")
        } else {
            String::new()
        };
        let [expected, actual] =
            [d.difference.expected, d.difference.actual].map(|v| verdict::text(d.ty, v));
        let within = match d.difference.allowed {
            a if a > 0.0 => format!(" (rounding explains {a:e})"),
            _ => String::new(),
        };
        let nobody = if places.is_empty() { "; no thread wrote it" } else { "" };
        let count = d.difference.count;
        let message = format!(
            "`{name}[{index}]`{part} is {actual}, in the reference {expected}{within}{nobody}; {count} {} in all",
            if count == 1 { "differs" } else { "differ" }
        );
        Item {
            id: stable_id(DIFFERENT, &places, Some(name), sources),
            fingerprint: String::new(),
            rule: DIFFERENT,
            is_note: false,
            kind: None,
            message,
            count: d.difference.count,
            places,
            array: Some(name.clone()),
            index: vec![index as i64],
            interval: None,
            launch: label.to_string(),
        }
    }
}

/// An error of the emulator as bad input.
fn refused(error: EmuError) -> Nothing {
    let (message, span) = match error {
        EmuError::BadArgument { message, .. } | EmuError::BadLaunch(message) => (message, None),
        EmuError::Unsupported { message, span } => (message, span),
    };
    let d = Diagnostic::error("W308", message);
    Nothing::Failed(match span {
        Some(span) => d.label(span, "here").into(),
        None => d.into(),
    })
}
