//! What plans cost: staged, compared with the file as it was, counted in the emulator at a larger launch.

use super::costs::Costs;
use super::cut::{AXES, Cut};
use super::launches::File;
use super::plans::Plan;
use super::temporal::Overlap;
use super::vectors::Wide;
use super::{Best, COUNTED_BLOCKS, COUNTED_DEPTH, NewLaunch, with_depth};
use crate::counting::{self, Asked};
use crate::launch::{Fit, Launch};
use crate::program;
use crate::session::{Input, Refusal, Session, Steps, Suited};
use crate::source::patch::{Patch, indentation};
use crate::source::{scope, shape, values};
use crate::stage;
use crate::verify::check::Checker;

/// The size that kernels with a loop to cut are ranked for: too few blocks are a matter of size.
#[derive(Clone, Debug)]
pub struct Meant {
    /// Blocks of the kernel as it is.
    pub blocks: f64,
    /// Iterations of the loop, and those of the launch that is counted.
    pub iterations: f64,
    pub counted: i64,
    /// In words.
    pub said: String,
}

/// Positions an axis where nothing says how many: of volumes, and of planes.
const POSITIONS: [i64; 2] = [256, 4096];
/// Iterations that a block may go through.
pub const RUNS: [i64; 7] = [2, 4, 8, 12, 16, 24, 48];
/// Of these, the best predicted ones that are measured, beside the shortest: what more blocks under way gain is hard to predict.
const MEASURED_RUNS: usize = 3;

/// By how much a short run may be predicted slower than the best one and is taken all the same. Blocks beside each other along the
/// loop are under way together and find the planes that both read in the cache, which is not predicted: of predictions so near,
/// the shortest run was the fastest that was measured (heat and Himeno, H200).
const NEAR: f64 = 1.04;

/// The best predicted first; of runs that are nearly as good as that, the shortest.
pub fn by_cost(all: &mut [(Option<f64>, Form)]) {
    let cost = |(cost, _): &(Option<f64>, Form)| cost.unwrap_or(f64::MAX);
    all.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let Some(best) = all.first().and_then(|(cost, _)| *cost) else { return };
    let run = |f: &Form| f.run.map_or(i64::MAX, |(_, run)| run);
    let near = all.iter().enumerate().filter(|(_, e)| cost(e) <= best * NEAR);
    if let Some((at, _)) = near.min_by_key(|(_, (_, f))| run(f)) {
        all[..=at].rotate_right(1);
    }
}

/// By how much predictions have to differ to tell plans apart.
const ALIKE: f64 = 1.01;

/// The best of those that are left. Of plans that are predicted alike, the one that was tried first is the simplest.
pub fn next(left: &mut Vec<(f64, Entrant)>, measured: bool) -> Option<Entrant> {
    let least = left.iter().map(|(s, _)| *s).fold(f64::MAX, f64::min);
    let alike = if measured { 1.0 } else { ALIKE };
    let at = left.iter().position(|(s, _)| *s <= least * alike)?;
    Some(left.remove(at).1)
}

/// The size that a kernel is meant for: what the launch in the file passes, or usual ones.
///
/// # Errors
/// What cannot be compiled.
pub fn meant(session: &mut Session, cut: &Cut, large: &Suited) -> Result<Meant, Refusal> {
    let usual = POSITIONS[usize::from(!session.usage.axes[1])];
    let mut given = host_sizes(session)?;
    given.extend(session.input.meant.clone());
    let roles = &session.usage.roles;
    let block = large.launch.block;
    let mut blocks = 1.0;
    let mut positions = vec![];
    for a in (0..3).filter(|a| session.usage.axes[*a]) {
        let bound = roles.iter().find(|(_, r)| r.axes[a]).map(|(n, _)| n);
        let n = bound.and_then(|n| given.get(n)).copied().unwrap_or(usual);
        blocks *= (n as f64 / f64::from(block[a])).ceil();
        positions.push(n);
    }
    let depth = |n: &&String| roles.get(*n).is_some_and(|r| r.depth);
    let names = cut.count.as_deref().map(scope::names).unwrap_or_default();
    let name = names.iter().find(depth);
    let constant = cut.count.as_deref().and_then(|c| host_value(session, c));
    let given = name.and_then(|n| given.get(n)).copied();
    let iterations = constant.or(given).unwrap_or(usual);
    positions.push(iterations);
    let counted = name.and_then(|n| large.launch.integers.get(n)).copied();
    let counted = constant.or(counted).unwrap_or(COUNTED_DEPTH);
    let said = positions.iter().map(i64::to_string).collect::<Vec<_>>().join(" × ");
    Ok(Meant { blocks, iterations: iterations as f64, counted, said })
}

/// A number that constants of the file make.
fn host_value(session: &Session, text: &str) -> Option<i64> {
    let mut value = None;
    let see = &mut |kernel: &super::plans::Kernel<'_>| value = values::value_of(kernel.unit, text);
    super::in_kernel(session, see).ok()?;
    value
}

/// Sizes that the host code of the file passes as numbers.
///
/// # Errors
/// What cannot be compiled.
pub fn host_sizes(session: &Session) -> Result<std::collections::BTreeMap<String, i64>, Refusal> {
    let mut sizes = Default::default();
    super::in_kernel(session, &mut |kernel| sizes = file(session, kernel).sizes())?;
    Ok(sizes)
}

/// The file of a kernel, as launches are looked for in it.
pub fn file<'a>(session: &'a Session, kernel: &super::plans::Kernel<'a>) -> File<'a> {
    File {
        text: kernel.text,
        unit: kernel.unit,
        sources: kernel.sources,
        kernel: kernel.function,
        name: shape::base_name(&session.kernel),
    }
}

/// A kernel whose plans are tried.
pub struct Ranking<'a> {
    pub session: &'a mut Session,
    pub input: &'a Input,
    pub checker: Checker,
    /// The launch that is counted.
    pub large: Suited,
    /// Iterations of its loops.
    pub depth: i64,
    pub meant: Option<Meant>,
    pub costs: &'a dyn Costs,
}

/// How a text is launched other than the kernel as it is.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// Runs of a cut loop along an axis.
    pub run: Option<(usize, i64)>,
    /// Blocks that overlap, of a kernel that does two steps.
    pub overlap: Option<Overlap>,
    /// Several neighbours a thread.
    pub wide: Option<Wide>,
    /// Iterations that it reads ahead.
    pub ahead: u32,
}

impl Form {
    /// The kernel that is launched in the place of this one.
    pub fn kernel<'a>(&'a self, own: &'a String) -> &'a String {
        match (&self.overlap, &self.wide) {
            (Some(o), _) => &o.kernel,
            (None, Some(w)) => &w.kernel,
            (None, None) => own,
        }
    }

    /// The kernel that is launched, and its grid in the place of the grid of the kernel as it is; `None`: there is no such grid.
    pub fn launched<'a>(
        &'a self,
        kernel: &'a String,
        grid: [u32; 3],
        block: [u32; 3],
    ) -> Option<(&'a String, [u32; 3])> {
        let own = self.kernel(kernel);
        match (&self.overlap, &self.wide) {
            (Some(o), _) => Some((own, o.grid(grid, block)?)),
            (None, Some(w)) => Some((own, w.grid(grid))),
            (None, None) => Some((own, grid)),
        }
    }
}

/// A result with what it costs and how it is launched.
#[derive(Debug)]
pub struct Entrant {
    /// Seconds a step, as predicted.
    pub cost: Option<f64>,
    /// The name of its plan; the result's tells more.
    pub plan: String,
    pub made: Best,
    pub form: Form,
    /// The only block that it is for.
    pub block: Option<[u32; 3]>,
}

impl Ranking<'_> {
    /// Seconds of the kernel as it is.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn before(&mut self) -> Result<Option<f64>, Refusal> {
        let text = self.session.plan.text.clone();
        self.seconds(&text, &self.large.clone(), &Form::default())
    }

    /// Stages a plan and compares its result with the file as it was, without proofs: those of plans that are not taken would take
    /// most of the time.
    ///
    /// # Errors
    /// Why it is not used.
    pub fn result(&mut self, plan: &Plan, steps: &Steps) -> Result<Best, String> {
        self.staged(plan, steps, false)
    }

    /// A result once more, with proofs where a solver is there, and with many more launches where nothing proves it. Of plans of one name it is the first that works, as before.
    ///
    /// # Errors
    /// What cannot be compiled; within, what speaks against the result.
    pub(super) fn proved(
        &mut self,
        plans: &[Plan],
        taken: Entrant,
    ) -> Result<Result<Entrant, String>, Refusal> {
        let mut marked = plans.iter().filter(|p| p.marked && p.name == taken.plan).peekable();
        // A plan without marks may have the name of one that has some.
        if taken.made.staged.is_none() || marked.peek().is_none() {
            return Ok(Ok(taken));
        }
        let steps = self.input.steps.within(&taken.plan);
        let mut failed = String::new();
        for plan in marked {
            let made = match (self.staged(plan, &steps, true), &plan.cut, taken.form.run) {
                (Ok(made), Some(cut), Some((_, run))) => self.launched(cut, run, &made)?,
                (Ok(made), ..) => made,
                (Err(why), ..) => {
                    failed = why;
                    continue;
                }
            };
            return Ok(Ok(Entrant { made, ..taken }));
        }
        Ok(Err(failed))
    }

    fn staged(&mut self, plan: &Plan, steps: &Steps, chosen: bool) -> Result<Best, String> {
        // What is wrong with a plan is said with the launch that shows it.
        let said = |r: Refusal| {
            let shown = r.diagnostics.first().filter(|d| d.code == "W713");
            let launch = shown.and_then(|d| d.notes.first());
            let launch = launch.map_or(String::new(), |n| format!(": {n}"));
            program::first_message(&r.diagnostics) + &launch
        };
        let staged = match plan.marked {
            true => {
                let block = plan.block.or(self.input.block);
                let (text, steps) = (plan.text.clone(), steps.clone());
                let solver = self.input.solver.clone().filter(|_| chosen);
                let quick = Input { text, block, steps, solver, quick: true, ..self.input.clone() };
                let marked = Input { chosen, ..quick };
                Some(std::rc::Rc::new(stage::stage(marked).map_err(said)?))
            }
            false => None,
        };
        // The kernel without marks does not show that data decide on what it reads.
        self.session.mixed |= staged.as_ref().is_some_and(|s| s.mixed);
        let text = staged.as_ref().map_or(plan.text.clone(), |s| s.text.clone());
        let checked = self.equal(&text, plan).map_err(said)??;
        Ok(Best { name: plan.name.clone(), text, staged, checked, launch: None })
    }

    /// The launches in which a text computes the same as the file as it was.
    fn equal(&mut self, text: &str, plan: &Plan) -> Result<Result<Vec<String>, String>, Refusal> {
        let patch = self.in_place(text);
        // What the tool writes as a whole may read what no thread does where there are more blocks than sizes need, or sizes are tiny.
        let fits = |s: &&Suited| !s.loose && plan.block.is_none_or(|b| s.launch.block == b);
        let mut launches: Vec<Suited> =
            self.checker.launches.iter().filter(fits).cloned().collect();
        if plan.asserts {
            // What a `static_assert` keeps together is not meant to be launched otherwise.
            let session = &self.session;
            let compiles = |s: &Suited| {
                session.compiler.compile(text, &s.launch.constants, &session.kernel).is_ok()
            };
            launches.retain(compiles);
        }
        let cut = plan.cut.as_ref().map(|c| c.axis);
        let checker = Checker { launches, tiny: vec![], dropped: vec![], cut };
        let checked = checker.check(self.session, &patch, 1)?;
        Ok(match checked.problems.first() {
            None if !checked.launches.is_empty() => {
                Ok(checked.launches.iter().map(Launch::describe).collect())
            }
            Some(problem) => Err(problem.said()),
            None => Err(match plan.block {
                Some([x, y, _]) => format!(
                    "no launch with blocks of {x}x{y} is known in which the kernel stores anything"
                ),
                None => "in no launch that was tried does the kernel store anything".into(),
            }),
        })
    }

    /// A text in the place of the file's.
    pub(super) fn in_place(&self, text: &str) -> Patch {
        let mut patch = Patch::default();
        patch.replace(0..self.session.plan.text.len(), text);
        patch
    }

    /// What a result costs, for each number of blocks where that is free: the best one, or all where times are measured.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn ranked(&mut self, plan: &Plan, made: Best) -> Result<Vec<Entrant>, Refusal> {
        let own = match plan.block {
            Some(block) => {
                with_depth(self.session, (self.depth, COUNTED_BLOCKS), Fit::Exact, Some(block))?
            }
            None => None,
        };
        let large = own.unwrap_or_else(|| self.large.clone());
        let ahead = plan.ahead;
        let Some(cut) = &plan.cut else {
            let form = Form { ahead, ..Form::default() };
            let cost = self.seconds(&made.text, &large, &form)?;
            return Ok(vec![Entrant {
                cost,
                plan: plan.name.clone(),
                made,
                form,
                block: plan.block,
            }]);
        };
        let mut all = self.runs(&made.text, &large, |run| Form {
            run: Some((cut.axis, run)),
            ahead,
            ..Form::default()
        })?;
        by_cost(&mut all);
        let shortest = all.iter().find(|(_, f)| f.run.is_some_and(|(_, run)| run == RUNS[0]));
        let shortest = shortest.cloned();
        all.truncate(if self.costs.measures() { MEASURED_RUNS } else { 1 });
        all.extend(
            shortest.filter(|s| self.costs.measures() && all.iter().all(|(_, f)| f.run != s.1.run)),
        );
        let mut entrants = vec![];
        for (cost, form) in all {
            let run = form.run.map_or(1, |(_, run)| run);
            let made = self.launched(cut, run, &made)?;
            entrants.push(Entrant { cost, plan: plan.name.clone(), made, form, block: plan.block });
        }
        Ok(entrants)
    }

    /// What runs cost: where nothing is measured, every other one is counted, and those beside the best of them.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub(super) fn runs(
        &mut self,
        text: &str,
        large: &Suited,
        form: impl Fn(i64) -> Form,
    ) -> Result<Vec<(Option<f64>, Form)>, Refusal> {
        let mut all: Vec<(Option<f64>, Form)> = vec![];
        let mut count = |ranking: &mut Self, n: usize| {
            let form = form(RUNS[n]);
            let cost = ranking.seconds(text, large, &form)?;
            all.push((cost, form));
            Ok::<f64, Refusal>(cost.unwrap_or(f64::MAX))
        };
        let mut best = (f64::MAX, 0);
        let step = if self.costs.measures() { 1 } else { 2 };
        for n in (0..RUNS.len()).step_by(step) {
            let cost = count(self, n)?;
            if cost < best.0 {
                best = (cost, n);
            }
        }
        for n in [best.1.wrapping_sub(1), best.1 + 1] {
            if step > 1 && n < RUNS.len() {
                count(self, n)?;
            }
        }
        Ok(all)
    }

    /// Seconds that a text takes a step.
    pub(super) fn seconds(
        &mut self,
        text: &str,
        suited: &Suited,
        form: &Form,
    ) -> Result<Option<f64>, Refusal> {
        let session = &*self.session;
        let launch: &Launch = &suited.launch;
        let launched = form.launched(&session.kernel, launch.grid, launch.block);
        let Some((kernel, mut grid)) = launched else { return Ok(None) };
        if let (Some((axis, run)), Some(meant)) = (form.run, &self.meant) {
            grid[axis] = (meant.counted as u64).div_ceil(run as u64).max(1) as u32;
        }
        let own_blocks = f64::from(launch.grid.iter().product::<u32>());
        // A block of the cut kernel goes through one run whatever the size; one of the others through all iterations.
        let longer = self.meant.as_ref().map_or(1.0, |m| m.iterations / m.counted as f64);
        let wider = self.meant.as_ref().map(|m| m.blocks / own_blocks);
        let (times, longer) = match form.run {
            Some(_) => (wider.map(|w| w * longer), 1.0),
            None => (wider, longer),
        };
        let asked = Asked { text, kernel, suited, grid, times, ahead: form.ahead };
        let steps = if form.overlap.is_some() { 2.0 } else { 1.0 };
        let seconds = counting::seconds(session, &asked, self.costs)?;
        Ok(seconds.map(|s| s * longer / steps))
    }

    /// The result with launches that have as many blocks as are best.
    fn launched(&mut self, cut: &Cut, run: i64, made: &Best) -> Result<Best, Refusal> {
        let input = Input { plain: true, text: made.text.clone(), ..self.input.clone() };
        let session = Session::new(input)?;
        let usual = self.meant.as_ref().map_or(1.0, |m| m.iterations / run as f64).ceil() as i64;
        let mut edited = None;
        super::with_function(&session, &mut |kernel| {
            let file = file(&session, kernel);
            edited = Some(file.with_blocks(cut.axis, cut.count.as_deref(), run, usual));
        })?;
        let edited = edited.unwrap_or_default();
        let axis = AXES[cut.axis];
        let by_hand = (edited.grids.is_empty() || edited.missed > 0).then(|| {
            let blocks = match &cut.count {
                Some(count) => format!("({count}) / {run} + 1"),
                None => usual.to_string(),
            };
            format!("launch it with gridDim.{axis} = {blocks}")
        });
        let mut patch = edited.patch;
        if let (Some(why), Some(at)) = (&by_hand, made.text.find(&cut.comment())) {
            let at = at + cut.comment().len();
            let indent = indentation(&made.text, at);
            patch.replace(at..at, format!("\n{indent}// To be fast, {why}."));
        }
        let text = patch.apply(&made.text).unwrap_or_else(|_| made.text.clone());
        let name = format!("{}, runs of {run} along {axis}", made.name);
        let launch = Some(NewLaunch { axis: cut.axis, run, grids: edited.grids, by_hand });
        let (staged, checked) = (made.staged.clone(), made.checked.clone());
        Ok(Best { name, text, staged, checked, launch })
    }
}
