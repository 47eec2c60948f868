//! `--same-as`: whether a kernel computes what another one, or a C function, computes.
//!
//! Both run on the same data at launches around the constants of either ([`launches`]), the kernel with all checks on. An
//! array is compared bit for bit; where it differs, sums may differ by what their order explains (specification,
//! Arithmetic), with Σ|terms| from a second run of the reference in the interpreter ([`shadow`]).

mod extents;
mod host_numbers;
mod launches;
mod launching;
mod pairs;
mod run;
mod shadow;
mod side;
mod verdict;

use std::collections::BTreeMap;
use std::rc::Rc;

use warpsmith_emu::{self as emu, EmuError, Limit};
use warpsmith_front::prelude;
use warpsmith_ir::interp::Limits;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Diagnostic, SourceMap};

use self::extents::Formula;
use self::launching::{Launching, NoShape, Shape};
use self::pairs::{Map, Pairs, Place};
use self::run::{Computed, Data, Inputs, Nothing};
use self::side::{Code, Reading, Side};
use self::verdict::Differs;
use super::args::CheckArgs;
use super::runner::Runner;
use crate::data::{self, ArgSpec, Init, NamedSpec};
use crate::report::{Item, Place as At, Report, SameAs, stable_id};
use crate::status::{Failure, Status};
use crate::tune::points::summary;
use crate::tune::sizes::Point;

/// Thread instructions of one launch of either side, and of all together where no option says otherwise.
const LAUNCH_STEPS: u64 = 40_000_000;
const ALL_STEPS: u64 = 300_000_000;
/// Launches of the reference that tell how long its arrays are.
const PROBES: usize = 6;

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
    let prelude = Rc::new(prelude::unit(sources));
    let reading = Reading { source: &args.source, prelude: &prelude, specs: &args.launch.args };
    let new = Side::kernel(path, &args.launch, &reading, sources)?;
    let reference = Side::reference(reference, &reading, sources)?;
    let map: Vec<Map> = args.map.clone();
    let pairs = pairs::pair(&new, &reference, &map)?;
    let specs = specs(args, &new, &reference, &pairs)?;
    all_told(&new, &reference, &pairs, &specs)?;
    let mut comparison = Comparison {
        data: Data {
            new: &new,
            reference: &reference,
            pairs: &pairs,
            specs: &specs,
            max_memory: args.max_memory,
        },
        runner: Runner::new(args),
        formulas: BTreeMap::new(),
        steps_left: args.max_total_steps.unwrap_or(ALL_STEPS),
        left: Left::default(),
        ran: vec![],
        compared: vec![false; pairs.arrays.len()],
        exact: true,
        found: false,
    };
    let points = launches::points(&new, &reference, &pairs, &args.launch);
    comparison.probe(&points)?;
    comparison.all(&points, sources)?;
    Ok(comparison.report(sources))
}

/// `--arg`, then those of the directives; every name must be a parameter or a variable of either side.
fn specs(
    args: &CheckArgs,
    new: &Side,
    reference: &Side,
    pairs: &Pairs,
) -> Result<Vec<NamedSpec>, Failure> {
    let numbers = pairs.numbers.iter().flat_map(|n| &n.names);
    let arrays = pairs.arrays.iter().flat_map(|a| &a.names);
    let variables =
        [new, reference].into_iter().flat_map(|s| s.module.globals.iter().map(|g| &g.name));
    let known: Vec<&String> = numbers.chain(arrays).chain(variables).collect();
    if let Some(bad) = args.launch.args.iter().find(|a| !known.contains(&&a.name)) {
        let names: Vec<&str> = known.iter().map(|n| n.as_str()).collect();
        let d = Diagnostic::error("W306", format!("neither side has a parameter `{}`", bad.name));
        return Err(d.help(format!("there are {}", names.join(", "))).into());
    }
    let mut all = args.launch.args.clone();
    // Of directives the numbers say for what the launch was written, and arrays how long they were there.
    for spec in new.args.args.iter().chain(&reference.args.args) {
        let whole = pairs.numbers.iter().any(|n| n.ty.is_integer() && n.names.contains(&spec.name));
        let spec = match &spec.spec {
            ArgSpec::Array { init, dims, .. } if dims.iter().all(|d| d.parse::<u64>().is_ok()) => {
                NamedSpec { spec: ArgSpec::Init(init.clone()), ..spec.clone() }
            }
            _ => spec.clone(),
        };
        if !whole && spec.filled && all.iter().all(|a| a.name != spec.name) {
            all.push(spec);
        }
    }
    Ok(all)
}

/// Numbers that only one side has must be given: nothing tells what they are.
fn all_told(
    new: &Side,
    reference: &Side,
    pairs: &Pairs,
    specs: &[NamedSpec],
) -> Result<(), Failure> {
    for n in pairs.numbers.iter().filter(|n| n.new.is_none() || n.reference.is_none()) {
        if specs.iter().any(|s| n.names.contains(&s.name)) {
            continue;
        }
        let (has, lacks) = if n.new.is_some() { (new, reference) } else { (reference, new) };
        let message =
            format!("`{}` of `{}` has no counterpart in `{}`", n.name, has.name, lacks.name);
        return Err(Diagnostic::error("W309", message)
            .help(format!(
                "give its value, --arg {}=256, or say what it is called there: --map NEW=REFERENCE",
                n.name
            ))
            .into());
    }
    Ok(())
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
}

impl Comparison<'_> {
    fn options(&self) -> emu::Options {
        let own = self.runner.options(&self.data.new.args);
        emu::Options { max_total_steps: LAUNCH_STEPS.min(self.steps_left), ..own }
    }

    fn limits(&self) -> Limits {
        Limits { deadline: self.runner.deadline, ..Limits::default() }
    }

    fn shape(&self, inputs: &Inputs, of_new: bool) -> Result<Option<Shape>, NoShape> {
        let side = if of_new { self.data.new } else { self.data.reference };
        let Code::Kernel(launching) = &side.code else { return Ok(None) };
        let sizes = self.data.sizes(inputs, of_new);
        launching.at(&side.unit, side.ir(), &sizes).map(Some)
    }

    /// Launches the reference to see how long its arrays are.
    fn probe(&mut self, points: &[Point]) -> Result<(), Failure> {
        let apart = |p: &&Point| {
            let mut values: Vec<i64> = p.values().copied().filter(|v| *v > 2).collect();
            values.sort_unstable();
            values.dedup();
            values.len() == p.len()
        };
        let names: Vec<String> = points.first().map_or(vec![], |p| p.keys().cloned().collect());
        let mut touched: BTreeMap<usize, Vec<(Point, u64)>> = BTreeMap::new();
        let chosen: Vec<&Point> = points.iter().filter(apart).take(PROBES).collect();
        let chosen = if chosen.is_empty() { points.iter().take(PROBES).collect() } else { chosen };
        for point in chosen {
            let inputs = match self.data.inputs(point, 0) {
                Ok(inputs) => inputs,
                Err(Nothing::Failed(failure)) => return Err(failure),
                Err(_) => continue,
            };
            if !self.data.reference.is_kernel() {
                for (i, count) in self.inferred(&inputs) {
                    touched.entry(i).or_default().push((point.clone(), count));
                }
                continue;
            }
            let Ok(Some(shape)) = self.shape(&inputs, false) else { continue };
            let Ok(computed) = self.reference_kernel(&inputs, &shape) else { continue };
            for (i, bytes) in computed.arrays.iter().enumerate() {
                if let (Some(bytes), run::Content::Grows(_)) = (bytes, &inputs.arrays[i]) {
                    let count = bytes.len() as u64 / self.element_size(i);
                    touched.entry(i).or_default().push((point.clone(), count));
                }
            }
        }
        for (i, touched) in touched {
            let Some(formula) = extents::fit(&names, &touched) else { continue };
            let name = &self.data.pairs.arrays[i].name;
            self.runner.assume(format!(
                "`{name}` has {} elements: so many does the reference touch",
                formula.text()
            ));
            self.formulas.insert(i, formula);
        }
        Ok(())
    }

    /// Elements of the arrays of a C function of which nobody but its accesses says how long they are.
    fn inferred(&self, inputs: &Inputs) -> Vec<(usize, u64)> {
        let f = self.data.reference.ir();
        let arrays = self.data.pairs.arrays.iter().zip(&inputs.arrays).enumerate();
        let counts = arrays.filter_map(|(i, (a, content))| match (a.reference, content) {
            (Some(Place::Param(at)), run::Content::Bytes(bytes))
                if f.var(f.params[at]).inferred =>
            {
                Some((i, bytes.len() as u64 / self.element_size(i)))
            }
            _ => None,
        });
        counts.collect()
    }

    /// Makes arrays as long as they are at sizes at which the reference touches all of them.
    fn lengthen(&self, inputs: &mut Inputs) {
        for (i, formula) in &self.formulas {
            let want = formula.at(&inputs.point);
            let (module, element) = self.data.element(&self.data.pairs.arrays[*i]);
            if let run::Content::Bytes(bytes) = &mut inputs.arrays[*i] {
                let all = data::fill(module, &element, want, &Init::Random(None), inputs.seed);
                let known = bytes.len().min(all.len());
                bytes.extend_from_slice(&all[known..]);
            }
        }
    }

    fn element_size(&self, array: usize) -> u64 {
        let (module, element) = self.data.element(&self.data.pairs.arrays[array]);
        layout_of(module, &element).size.max(1)
    }

    /// Runs the reference kernel, whose findings say that it has no meaning there.
    fn reference_kernel(&self, inputs: &Inputs, shape: &Shape) -> Result<Computed, Nothing> {
        let run = self.data.kernel(false, inputs, shape, &[], &self.options());
        let (outcome, mut arrays) = run.map_err(refused)?;
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
        for (i, bytes) in arrays.iter_mut().enumerate() {
            let Some(bytes) = bytes else { continue };
            let known = self.formulas.get(&i).map_or(0, |f| f.at(&inputs.point));
            let length = (known * self.element_size(i)).max(bytes.len() as u64);
            let all = inputs.arrays[i].bytes(length);
            bytes.extend_from_slice(&all[bytes.len().min(all.len())..]);
        }
        Ok(Computed { arrays, steps: outcome.stats.thread_instructions })
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
            let seed = self.data.new.args.seed.unwrap_or(0).wrapping_add(nth as u64);
            match self.point(point, seed, sources) {
                Ok(()) => {}
                Err(Nothing::Failed(failure)) => return Err(failure),
                Err(Nothing::Excluded) => self.left.excluded += 1,
                Err(Nothing::TooLarge) => self.left.too_large += 1,
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

    /// Both sides at one point.
    fn point(&mut self, point: &Point, seed: u64, sources: &SourceMap) -> Result<(), Nothing> {
        let mut inputs = self.data.inputs(point, seed)?;
        self.lengthen(&mut inputs);
        let shapes =
            self.shape(&inputs, true).and_then(|new| Ok((new, self.shape(&inputs, false)?)));
        let (shape, reference_shape) = match shapes {
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
        let computed = match &reference_shape {
            Some(shape) => self.reference_kernel(&inputs, shape)?,
            None => self.data.c_function(&inputs, false, &self.limits())?.1,
        };
        self.steps_left = self.steps_left.saturating_sub(computed.steps);
        let label = self.label(&inputs, &shape, reference_shape.as_ref());
        let lengths: Vec<Option<u64>> =
            computed.arrays.iter().map(|a| a.as_ref().map(|b| b.len() as u64)).collect();
        let options = self.options();
        let (outcome, arrays) = match self.data.kernel(true, &inputs, &shape, &lengths, &options) {
            Ok(run) => run,
            Err(EmuError::BadLaunch(message)) => {
                let at = self.data.new.ir().origin.span;
                self.runner.launched(&label);
                self.runner.refused("invalid-launch", message, at, &label, false, sources);
                self.found = true;
                return Ok(());
            }
            Err(error) => return Err(refused(error)),
        };
        self.steps_left = self.steps_left.saturating_sub(outcome.stats.thread_instructions);
        match outcome.limit {
            Some(Limit::TotalSteps) => return Err(Nothing::TooLarge),
            _ if outcome.assumption_failed => return Err(Nothing::Excluded),
            _ => {}
        }
        self.runner.launched(&label);
        self.ran.push(point.clone());
        self.found |= outcome.findings.iter().any(|f| !f.rule.is_note());
        let stopped = outcome.limit.is_some();
        self.runner.record(outcome, &label, None, sources);
        if !stopped {
            self.compare(
                &inputs,
                (&shape, reference_shape.as_ref()),
                &computed,
                &arrays,
                &label,
                sources,
            );
        }
        Ok(())
    }

    fn compare(
        &mut self,
        inputs: &Inputs,
        (shape, reference_shape): (&Shape, Option<&Shape>),
        computed: &Computed,
        arrays: &[Option<Vec<u8>>],
        label: &str,
        sources: &SourceMap,
    ) {
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
                self.data.shadow(inputs, reference_shape, &computed.arrays, &self.limits())
            });
            let differs = match memory {
                Ok((memory, at)) => {
                    let allowed = |byte, ty| match (array.reference, at[i]) {
                        (Some(Place::Result), _) => memory
                            .result_bound
                            .map_or(0.0, |b| crate::tune::compare::of_a_sum(ty, b)),
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
            self.exact = false;
            if let Some(differs) = differs {
                let item = self.different(i, &differs, inputs, shape, label, sources);
                self.runner.add(item);
                self.found = true;
                return;
            }
        }
    }

    /// The finding, with the threads that wrote the element: the launch is run once more to see them.
    fn different(
        &self,
        array: usize,
        d: &Differs,
        inputs: &Inputs,
        shape: &Shape,
        label: &str,
        sources: &SourceMap,
    ) -> Item {
        let buffer = self.data.buffer_of(array);
        let options = emu::Options { jobs: 1, written: Some((buffer, d.byte)), ..self.options() };
        let lengths: Vec<Option<u64>> =
            (0..inputs.arrays.len()).map(|i| self.length(i, inputs, array, d)).collect();
        let writers = self
            .data
            .kernel(true, inputs, shape, &lengths, &options)
            .map_or(vec![], |(o, _)| o.writers);
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

    /// How long an array of the new kernel is.
    fn length(&self, i: usize, inputs: &Inputs, array: usize, d: &Differs) -> Option<u64> {
        let formula = self.formulas.get(&i).map(|f| f.at(&inputs.point) * self.element_size(i));
        let least = if i == array { d.byte + u64::from(d.ty.bytes()) } else { 0 };
        formula.map(|n| n.max(least))
    }

    fn label(&self, inputs: &Inputs, shape: &Shape, reference: Option<&Shape>) -> String {
        let dims = |d: [u32; 3]| match d {
            [x, 1, 1] => format!("{x}"),
            [x, y, 1] => format!("({x},{y})"),
            [x, y, z] => format!("({x},{y},{z})"),
        };
        let launch = |s: &Shape| format!("<<<{}, {}>>>", dims(s.grid), dims(s.block));
        let sizes: Vec<String> = inputs.point.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let with =
            if sizes.is_empty() { String::new() } else { format!(" with {}", sizes.join(", ")) };
        let beside = reference.map_or(String::new(), |s| format!(", the reference {}", launch(s)));
        format!("{}{}{with}{beside}", self.data.new.describe(), launch(shape))
    }

    fn report(mut self, sources: &SourceMap) -> Report {
        self.say_what_it_rests_on();
        let same = !self.found && !self.ran.is_empty() && self.left.undecided.is_none();
        let something = self.compared.contains(&true);
        if !self.found {
            if self.ran.is_empty() {
                self.runner.lost.push(self.nothing_ran());
            } else if !something {
                self.runner
                    .lost
                    .push("neither side wrote anything: nothing was compared".to_string());
            }
            self.runner.lost.extend(self.left.undecided.take());
        }
        let names = self.data.pairs.arrays.iter().zip(&self.compared).filter(|(_, c)| **c);
        let compared: Vec<String> = names.map(|(a, _)| a.name.clone()).collect();
        let limited = self.ran.is_empty() && (self.left.too_large > 0 || self.left.not_reached > 0);
        let same_as = SameAs {
            reference: self.data.reference.describe(),
            verdict: match (self.found, same && something, self.exact) {
                (true, ..) => "different",
                (_, false, _) => "unknown",
                (_, _, true) => "equal",
                (_, _, false) => "equal within rounding",
            },
            compared,
            sizes: summary(&self.ran),
        };
        let mut report = self.runner.finish(sources);
        if limited && report.status == Status::BadInput {
            report.status = Status::Limit;
        }
        report.same_as = Some(same_as);
        report
    }

    fn nothing_ran(&self) -> String {
        match &self.left {
            Left { undefined: Some((_, why)), .. } => format!("the reference has no meaning at any of the sizes: {why}"),
            Left { other_sizes: 1.., .. } => {
                "the host code is written for none of the sizes that were tried: give them with --scalars".to_string()
            }
            Left { excluded: 1.., .. } => "assumptions of the kernels exclude every launch".to_string(),
            Left { too_large: 1.., .. } => "every launch takes too many steps (--max-total-steps)".to_string(),
            _ => "there is no launch that both sides have".to_string(),
        }
    }

    fn say_what_it_rests_on(&mut self) {
        let pairs = self.data.pairs;
        let mut all = pairs.assumed.clone();
        for (side, what) in [(self.data.new, "kernel"), (self.data.reference, "reference")] {
            if let Code::Kernel(Launching::Rule(rule)) = &side.code
                && rule.derived
            {
                all.push(format!("nobody says how the {what} `{}` is launched: it got as many blocks as its positions need", side.name));
            }
        }
        if let Code::C(input) = &self.data.reference.code {
            all.extend(input.assumed.iter().cloned());
        }
        for a in &pairs.arrays {
            match (a.new, a.reference) {
                (Some(_), None) => all.push(format!("`{}` has no counterpart in the reference: it was not compared, nor its bounds checked", a.name)),
                (None, Some(_)) => all.push(format!("`{}` of the reference has no counterpart: it was not compared", a.name)),
                _ => {}
            }
        }
        let left = &self.left;
        let points = [
            (left.other_sizes, "the host code does not cover: they are no multiples of its blocks"),
            (left.excluded, "the kernels' own assumptions exclude"),
            (left.too_large, "take too many steps"),
            (left.not_reached, "were not reached (--max-total-steps, --timeout)"),
            (left.undefined.as_ref().map_or(0, |(n, _)| *n), "the reference has no meaning at"),
        ];
        for (n, why) in points.into_iter().filter(|(n, _)| *n > 0) {
            all.push(format!("{n} of the sizes were left out, which {why}"));
        }
        all.into_iter().for_each(|text| self.runner.assume(text));
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
