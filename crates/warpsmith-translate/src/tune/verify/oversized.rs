//! Sizes that are too large for the interpreter, where smaller ones do not show enough: no point at all could be run, or
//! none had a second block along an axis.
//!
//! The reference is then the user's C alone, which its compiler makes fast; without one, or where the comparison needs
//! error bounds, the interpreter is given more time. What is wrong there counts only if the interpreter does not find
//! that the C function itself leaves its arrays at that size.

use std::collections::BTreeSet;
use std::time::Duration;

use warpsmith_emu as emu;
use warpsmith_ir::interp::Memory;

use super::against::HostSays;
use super::asked::Asked;
use super::host_c::ArgBytes;
use super::inputs;
use super::points;
use super::sampled::{self, Sampled};
use super::variant::Variant;
use super::witness::{CONSTANT_MEMORY, Grids};
use super::{
    Failed, Left, Outside, Reference, TIME_LIMIT, Verified, Verifier, is_empty,
    uses_inexact_functions,
};
use crate::tune::sizes::Point;

/// Elements of all arrays at a point that is run for a second block.
const ELEMENTS: u64 = 1 << 24;
/// Threads of all launches together at such a point, and at one that is run for the sake of a path.
pub(in crate::tune) const THREADS: u64 = 1 << 24;
/// Elements of all arrays up to which the interpreter comes first.
const SMALL: u64 = 1 << 16;
/// Runs for the sake of second blocks: one that has them everywhere, or one along each axis.
const TRIES: usize = 3;
/// What a large point may cost: steps of the interpreter, and thread instructions, for each step that all usual points have
/// together.
pub(in crate::tune) struct Budget {
    steps: u64,
    instructions: u64,
    host: Duration,
}

impl Budget {
    /// The only point that there is.
    pub const ONLY_POINT: Budget =
        Budget { steps: 20, instructions: 500, host: Duration::from_secs(60) };

    /// One more of several.
    pub const ONE_MORE: Budget =
        Budget { steps: 1, instructions: 20, host: Duration::from_secs(5) };
}

/// A kernel and an axis.
type Axis = (String, usize);

/// Runs large points where they are needed.
///
/// # Errors
/// [`Failed`], where the kernel is wrong at one.
pub fn verify(
    verifier: &Verifier<'_>,
    candidates: &[Point],
    verified: &mut Verified,
) -> Result<(), Failed> {
    let large = Large { verifier, variant: Variant::Plain };
    if verified.vacuous() && verified.outside.is_empty() {
        let some = candidates.iter().filter(|p| !is_empty(p));
        let least = match verifier.with_data {
            true => candidates.first(),
            false => some.min_by_key(|p| large.elements(p)),
        };
        let Some(point) = least else { return Ok(()) };
        only_point(&large, point, verified)?;
    }
    if !verified.points.is_empty() {
        large.second_blocks(candidates, verified)?;
    }
    Ok(())
}

/// The only point that there is, or the least of several that are too large: whole where that ends soon, else some blocks.
fn only_point(large: &Large<'_>, point: &Point, verified: &mut Verified) -> Result<(), Failed> {
    match sampled::verify(large.verifier, point, Variant::Plain)? {
        Sampled::Agrees { run, name, with_host } => {
            verified.agreed_in_part(point, &name, &run);
            verified.with_host += usize::from(with_host);
            Ok(())
        }
        Sampled::RunWhole | Sampled::Unknown => {
            large.at_point(point, &Budget::ONLY_POINT, verified)
        }
    }
}

/// Runs at points that cost more than the usual ones.
pub(in crate::tune) struct Large<'a> {
    pub verifier: &'a Verifier<'a>,
    pub variant: Variant<'a>,
}

impl Large<'_> {
    fn elements(&self, point: &Point) -> u64 {
        self.verifier.sources.total_elements(point).unwrap_or(u64::MAX)
    }

    /// Runs the smallest points with several blocks along axes that had one so far; takes down what is left.
    ///
    /// # Errors
    /// [`Failed`], where the kernel is wrong at one.
    pub fn second_blocks(
        &self,
        candidates: &[Point],
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let mut seen: Vec<(u64, Point, BTreeSet<Axis>)> = vec![];
        for point in candidates.iter().chain(self.verifier.tuned) {
            seen.push(self.several(point.clone()));
        }
        let affordable = |(cost, _, _): &&(u64, Point, BTreeSet<Axis>)| *cost <= ELEMENTS;
        let mut sought: BTreeSet<Axis> =
            seen.iter().filter(affordable).flat_map(|(_, _, axes)| axes.clone()).collect();
        for (_, point, axes) in seen.clone() {
            for axis in axes.into_iter().filter(|axis| sought.insert(axis.clone())) {
                seen.push(self.several(self.least(&point, &axis)));
            }
        }
        seen.sort_by_key(|(elements, _, _)| *elements);
        let all: BTreeSet<Axis> = seen.iter().flat_map(|(_, _, axes)| axes.clone()).collect();
        let mut tried: Vec<&Point> = vec![];
        loop {
            let run = several_blocks(&verified.grids);
            let missing: BTreeSet<Axis> = all.difference(&run).cloned().collect();
            let gain = |axes: &BTreeSet<Axis>| axes.intersection(&missing).count();
            let useful = seen.iter().filter(affordable).filter(|(_, p, _)| !tried.contains(&p));
            // `max_by_key` takes the last of equals; the smallest point comes first.
            let best = useful.rev().max_by_key(|(_, _, axes)| gain(axes));
            match best {
                Some((_, point, axes)) if gain(axes) > 0 && tried.len() < TRIES => {
                    tried.push(point);
                    self.one_more(point, verified)?;
                }
                _ => {
                    let name = |(kernel, axis): &Axis| format!("`{kernel}` along {}", AXES[*axis]);
                    verified.one_block = missing.iter().map(name).collect();
                    return Ok(());
                }
            }
        }
    }

    /// What a point costs, and the axes along which it has several blocks.
    fn several(&self, point: Point) -> (u64, Point, BTreeSet<Axis>) {
        let asked = self.asked(&point).unwrap_or_default();
        let cost = if asked.threads <= THREADS { self.elements(&point) } else { u64::MAX };
        (cost, point, several_blocks(&asked.grids))
    }

    /// The point with each size in turn about as small as a second block along the axis allows. Divisibility decides
    /// which kernel is launched, so it stays as it is.
    fn least(&self, point: &Point, axis: &Axis) -> Point {
        const UNIT: i64 = 16;
        let mut point = point.clone();
        for name in point.keys().cloned().collect::<Vec<_>>() {
            let given = point[&name];
            let (mut less, mut too_small) = (0, given / UNIT + 1);
            while too_small - less > 1 {
                let middle = less + (too_small - less) / 2;
                point.insert(name.clone(), given - UNIT * middle);
                match self.several(point.clone()).2.contains(axis) {
                    true => less = middle,
                    false => too_small = middle,
                }
            }
            point.insert(name, given - UNIT * less);
        }
        point
    }

    fn asked(&self, point: &Point) -> Option<Asked> {
        let sources = &self.verifier.sources;
        let args = inputs::without_contents(sources, point, CONSTANT_MEMORY)?;
        let text = self.variant.text(self.verifier.witness);
        text.asks_for(&args, self.verifier.result_type(), false).ok()
    }

    /// A point that is not needed: that it costs too much is no error.
    fn one_more(&self, point: &Point, verified: &mut Verified) -> Result<(), Failed> {
        match self.at_point(point, &Budget::ONE_MORE, verified) {
            Err(Failed::Limit(_) | Failed::Input(_)) => Ok(()),
            other => other,
        }
    }

    pub fn at_point(
        &self,
        point: &Point,
        budget: &Budget,
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let inputs = self.verifier.inputs(point)?;
        let compare = &mut |inputs: &[ArgBytes], verified: &mut Verified| {
            self.with_inputs(point, inputs, budget, verified)
        };
        self.verifier.comparable(point, inputs, verified, compare).map(Option::unwrap_or_default)
    }

    fn with_inputs(
        &self,
        point: &Point,
        inputs: &[ArgBytes],
        budget: &Budget,
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let name = points::name(point);
        // Small ones are for the interpreter, which also sees what the C function does wrong.
        let small = self.elements(point) <= SMALL;
        let known = small.then(|| self.interpreted(inputs, budget)).and_then(Result::ok);
        if let Some(reference) = &known {
            if !self.beside_host(inputs, reference, point, verified)? {
                return Ok(());
            }
            verified.source_ways.extend(&reference.ways);
            return self.compared(point, inputs, reference, budget, verified);
        }
        if let Some(reference) = compiled(self.verifier, inputs, budget.host) {
            match self.compared(point, inputs, &reference, budget, verified) {
                Ok(()) => {
                    verified.with_host += 1;
                    verified.host_only.push(name);
                    return Ok(());
                }
                Err(
                    wrong @ (Failed::Wrong { .. } | Failed::Differs { .. } | Failed::Race { .. }),
                ) => {
                    return match self.interpreted(inputs, budget) {
                        Err(Outside::Leaves(left)) => {
                            verified.leaves(point, left);
                            Ok(())
                        }
                        _ => Err(wrong),
                    };
                }
                other => return other,
            }
        }
        match self.interpreted(inputs, budget) {
            Ok(reference) => match self.beside_host(inputs, &reference, point, verified)? {
                true => self.compared(point, inputs, &reference, budget, verified),
                false => Ok(()),
            },
            Err(Outside::TooLarge(_)) => match self.verifier.late() {
                true => Err(Failed::Limit(TIME_LIMIT)),
                false => Ok(()),
            },
            Err(Outside::Leaves(left)) => {
                verified.leaves(point, left);
                Ok(())
            }
            Err(Outside::Unsupported(why)) => {
                Err(Failed::Wrong { point: name, message: why, notes: vec![] })
            }
        }
    }

    /// Compares the two references, where there are two; false where the C function has no meaning.
    fn beside_host(
        &self,
        inputs: &[ArgBytes],
        reference: &Reference,
        point: &Point,
        verified: &mut Verified,
    ) -> Result<bool, Failed> {
        let host = self.verifier.host.filter(|_| self.verifier.written.is_none());
        let Some(host) = host else { return Ok(true) };
        let says = self.verifier.against_host(host, inputs, reference, &points::name(point))?;
        if let HostSays::Undefined(why) = says {
            verified.leaves(point, Left::undefined(why, reference.ways.clone()));
        }
        verified.with_host += usize::from(says == HostSays::Same);
        Ok(!matches!(says, HostSays::Undefined(_)))
    }

    fn compared(
        &self,
        point: &Point,
        inputs: &[ArgBytes],
        reference: &Reference,
        budget: &Budget,
        verified: &mut Verified,
    ) -> Result<(), Failed> {
        let name = points::name(point);
        let max_total_steps = self.verifier.total_steps.saturating_mul(budget.instructions);
        let options = emu::Options { max_total_steps, ..self.verifier.options.clone() };
        let name = self.variant.name(&name);
        let run = self.verifier.run(self.variant, inputs, &options, &name)?;
        self.verifier.against_witness(&run, reference, &name)?;
        verified.agreed_as(self.variant, point, &run);
        Ok(())
    }

    fn interpreted(&self, inputs: &[ArgBytes], budget: &Budget) -> Result<Reference, Outside> {
        self.verifier.interpret(inputs, self.verifier.total_steps.saturating_mul(budget.steps))
    }
}

/// What the host compiler's code makes of the inputs, where the kernel must give the same bits.
pub(in crate::tune) fn compiled(
    verifier: &Verifier<'_>,
    inputs: &[ArgBytes],
    limit: Duration,
) -> Option<Reference> {
    let host = verifier.host.filter(|_| {
        verifier.written.is_none()
            && !verifier.reassociated.contains(&true)
            && !uses_inexact_functions(verifier.module())
    })?;
    let mut args = inputs.to_vec();
    let result = host.call(&mut args, verifier.patience(limit)).ok()?;
    let arrays = args.into_iter().filter_map(|a| match a {
        ArgBytes::Array(bytes) => Some(bytes),
        ArgBytes::Value(_) => None,
    });
    let memory = Memory::new(arrays.collect());
    let result = verifier.result_type().map(|_| result);
    Some(Reference { memory, result, steps: 0, ways: BTreeSet::new() })
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// The axes along which kernels have more than one block.
fn several_blocks(grids: &Grids) -> BTreeSet<Axis> {
    let axes = grids.iter().flat_map(|(kernel, grid)| {
        let several = (0..3).filter(|axis| grid[*axis] > 1);
        several.map(|axis| (kernel.clone(), axis))
    });
    axes.collect()
}
