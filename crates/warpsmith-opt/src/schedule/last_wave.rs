//! Products whose last wave of blocks is poorly filled: a schedule with the sums of the tiles of that wave split.

use warpsmith_ir::{Axis, LoopId, SourceMap};

use super::candidates::accumulated;
use super::{StepKind, derive, take};
use crate::kernel::Kernel;
use crate::rewrite::bounds::Edges;
use crate::rewrite::specialise::Fact;
use crate::rewrite::{bind, bounds, specialise, stream_k};
use crate::walk;

/// Bytes at a multiple of which the widest accesses are.
const WIDEST: u32 = 16;

/// The steps of a nest whose blocks compute tiles in strips, after a `stream_k` for `wave` tiles at a time and sums in so many
/// parts: whole waves and parts are computed as before. `None` where the steps are others, or one is not legal any more.
pub fn split_last_wave(
    kernel: &Kernel,
    root: LoopId,
    steps: &[StepKind],
    (wave, parts): (u32, u32),
    sources: &SourceMap,
) -> Option<Vec<StepKind>> {
    let StepKind::Bind(bind) = steps.first()? else { return None };
    let target = steps.iter().find_map(|s| match s {
        StepKind::Stage(stage) => stage.strip.as_ref().map(|(l, _)| l.clone()),
        _ => None,
    })?;
    let tile = bind.loops.iter().zip(&bind.axes).map(|(l, axis)| {
        let factor = steps.iter().find_map(|s| match s {
            StepKind::RegisterTile(t) if t.target == *l => Some(t.factor),
            _ => None,
        });
        bind.block[axis.index()] * factor.unwrap_or(1)
    });
    let tile = tile.collect();
    let at = kernel.marked_roots().iter().position(|id| *id == root)?;
    let mut state = Taken { kernel: kernel.clone(), steps: vec![], sources };
    state.take(StepKind::StreamK(stream_k::Args { target, parts, tile, wave }))?;
    let roots = state.kernel.marked_roots();
    let [whole, rest, sum] = *roots.get(at..at + 3)? else { return None };
    let names = names(kernel, root);
    let renamed = |to: &Kernel, root: LoopId| Renaming::new(&names, &self::names(to, root));
    let own = renamed(&state.kernel, whole)?;
    for step in steps {
        state.take(own.step(step)?)?;
    }
    let own = renamed(&state.kernel, rest)?;
    state.take(in_parts(bind, &own, state.kernel.loop_name(rest))?)?;
    for step in accumulated(&state.kernel, rest) {
        state.take(step)?;
    }
    let array = state.kernel.scratch.last().map(|s| state.kernel.name_of(s.var).to_string())?;
    for step in &steps[1..] {
        match step {
            StepKind::Accumulate(_) | StepKind::Rasterise(_) | StepKind::Bounds(_) => {}
            StepKind::Specialise(known) => {
                state.take(StepKind::Specialise(facts_of_parts(kernel, known, &array)))?;
            }
            step => state.take(own.step(step)?)?,
        }
    }
    state.take(derive::step_for(&state.kernel, sum))?;
    for step in accumulated(&state.kernel, sum) {
        state.take(step)?;
    }
    Some(state.steps)
}

/// Steps that were legal, and where they led.
struct Taken<'a> {
    kernel: Kernel,
    steps: Vec<StepKind>,
    sources: &'a SourceMap,
}

impl Taken<'_> {
    fn take(&mut self, step: StepKind) -> Option<()> {
        self.kernel = take(&self.kernel, &step, self.sources).ok()?.kernel;
        self.steps.push(step);
        Some(())
    }
}

/// The loop over parts on the first axis that the others leave.
fn in_parts(bind: &bind::Args, own: &Renaming, part: String) -> Option<StepKind> {
    let axis = Axis::ALL.into_iter().find(|a| !bind.axes.contains(a))?;
    let loops = [part].into_iter().chain(own.all(&bind.loops)?).collect();
    let axes = [axis].into_iter().chain(bind.axes.iter().copied()).collect();
    Some(StepKind::Bind(bind::Args { loops, axes, block: bind.block }))
}

/// What the nest of the parts must know: of its arrays, and of the one with the parts.
fn facts_of_parts(kernel: &Kernel, known: &specialise::Args, parts: &str) -> specialise::Args {
    let array = |name: &String| {
        let function = kernel.func();
        let mut pointers = function.params.iter().filter(|v| function.var(**v).ty.is_pointer());
        pointers.any(|v| function.var(*v).name == *name)
    };
    let source = parts.strip_suffix("_parts").unwrap_or(parts);
    let mut facts: Vec<_> = known.facts.iter().filter(|(n, _)| n != source).cloned().collect();
    if known.facts.iter().any(|(name, _)| array(name)) {
        facts.push((parts.to_string(), Fact::Multiple(WIDEST)));
    }
    specialise::Args { facts }
}

/// The counters of a nest's loops, and the names of the loops.
fn names(kernel: &Kernel, root: LoopId) -> Vec<(String, String)> {
    let Some(l) = kernel.find_loop(root) else { return vec![] };
    let all = [l].into_iter().chain(walk::for_loops(&l.body));
    all.map(|l| (kernel.name_of(l.var).to_string(), kernel.loop_name(l.id))).collect()
}

/// Names of the loops of one nest for those of another with the same counters.
struct Renaming(Vec<(String, String)>);

impl Renaming {
    /// `None` where a nest has two loops with the same counter.
    fn new(from: &[(String, String)], to: &[(String, String)]) -> Option<Renaming> {
        let twice = |names: &[(String, String)]| {
            names.iter().enumerate().any(|(k, (n, _))| names[..k].iter().any(|(m, _)| m == n))
        };
        if twice(from) || twice(to) {
            return None;
        }
        let to = |counter: &String| to.iter().find(|(n, _)| n == counter).map(|(_, l)| l.clone());
        let pairs = from.iter().filter_map(|(counter, old)| Some((old.clone(), to(counter)?)));
        Some(Renaming(pairs.collect()))
    }

    fn of(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(old, _)| old == name).map(|(_, new)| new.clone())
    }

    fn all(&self, names: &[String]) -> Option<Vec<String>> {
        names.iter().map(|n| self.of(n)).collect()
    }

    /// The step for the other nest; `None` for one that a product in strips does not take.
    fn step(&self, step: &StepKind) -> Option<StepKind> {
        let mut step = step.clone();
        match &mut step {
            StepKind::Bind(s) => s.loops = self.all(&s.loops)?,
            StepKind::Warp(s) => s.loops = self.all(&s.loops)?,
            StepKind::RegisterTile(s) => s.target = self.of(&s.target)?,
            StepKind::Unroll(s) => s.target = self.of(&s.target)?,
            StepKind::Pipeline(s) => s.target = self.of(&s.target)?,
            StepKind::DoubleBuffer(s) => s.target = self.of(&s.target)?,
            StepKind::Rasterise(s) => s.target = self.of(&s.target)?,
            // Loops, or arrays, which keep their names.
            StepKind::Vectorise(s) => s.target = self.of(&s.target).unwrap_or(s.target.clone()),
            StepKind::Stage(s) => match &mut s.strip {
                Some((name, _)) => *name = self.of(name)?,
                None => return None,
            },
            StepKind::Accumulate(_)
            | StepKind::Specialise(_)
            | StepKind::Bounds(bounds::Args { edges: Edges::Guard | Edges::Peel }) => {}
            _ => return None,
        }
        Some(step)
    }
}
