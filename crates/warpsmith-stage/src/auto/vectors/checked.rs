//! Kernels of vectors beside the kernel as it is: compared, and ranked.

use std::collections::BTreeMap;

use warpsmith_emu::Checks;

use super::{Wide, launching};
use crate::auto::cut::AXES;
use crate::auto::launches::Edited;
use crate::auto::ranking::{self, Entrant, Form, RUNS, Ranking};
use crate::auto::{Best, NewLaunch};
use crate::launch::{Fit, Launch};
use crate::memory::{self, Data, Lengths, Values};
use crate::program::{self, Limits, Program, first_message, nothing_found};
use crate::session::{Refusal, Session, Suited};
use crate::source::patch::{Patch, indentation};
use crate::stage::overlaps;

/// Blocks along the axis of a cut loop that are tried.
const CUTS: [u32; 3] = [1, 3, 9];
/// What values come from.
const SEED: u64 = 7;
/// Launches beside those of all plans: how sizes lie to blocks, and blocks a side.
const MORE: [(Fit, u32); 4] =
    [(Fit::Exact, 2), (Fit::Ragged(5), 2), (Fit::Ragged(9), 4), (Fit::Exact, 4)];
/// Launches that have to be equal at least.
const ENOUGH: usize = 4;

/// Kernels that are right, with what they cost, and the names of others with what speaks against them.
type Tried = (Vec<Entrant>, Vec<(String, String)>);

impl Ranking<'_> {
    /// The kernels of vectors that compute what the kernel does, with what they cost; and why others do not.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn wide(&mut self, all: &[Wide]) -> Result<Tried, Refusal> {
        let (mut entrants, mut failed) = (vec![], vec![]);
        let passed = self.passed()?;
        for wide in all {
            self.input.steps.begin(&wide.name);
            if let Some(why) = wide.never_fits(&passed) {
                failed.push((wide.name.clone(), why));
                continue;
            }
            match self.wide_equal(wide) {
                Ok(checked) => entrants.extend(self.wide_ranked(wide, &checked)?),
                Err(why) => failed.push((wide.name.clone(), why)),
            }
        }
        Ok((entrants, failed))
    }

    /// The sizes that are meant for each launch of the file.
    fn passed(&mut self) -> Result<Vec<BTreeMap<String, i64>>, Refusal> {
        let mut all = vec![];
        super::super::in_kernel(self.session, &mut |kernel| {
            all = ranking::file(self.session, kernel).all_sizes();
        })?;
        all.resize(all.len().max(1), BTreeMap::new());
        all.iter_mut().for_each(|sizes| sizes.extend(self.session.input.meant.clone()));
        Ok(all)
    }

    /// The launches in which a kernel of vectors computes the same.
    fn wide_equal(&mut self, wide: &Wide) -> Result<Vec<String>, String> {
        let text = self.beside(wide);
        let mut seen: Vec<Launch> = vec![];
        let mut checked = vec![];
        let said = |r: Refusal| first_message(&r.diagnostics);
        let launches = self.whole_launches().map_err(said)?;
        for suited in launches {
            let Some(launch) = whole(self.session, wide, &suited.launch) else { continue };
            if seen.contains(&launch) {
                continue;
            }
            seen.push(launch.clone());
            let Some(suited) = self.session.suit(launch).map_err(said)? else { continue };
            same_text(self.session, wide, &text, &suited)?;
            checked.push(suited.launch.describe());
        }
        match checked.len() >= ENOUGH {
            true => Ok(checked),
            false => Err(format!(
                "too few launches were found whose rows are multiples of {}",
                wide.lanes
            )),
        }
    }

    /// Pairs of pointers that a kernel of vectors is wrong with where both lead to one array.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub(in crate::auto) fn wide_differing(
        &mut self,
        wide: &Wide,
    ) -> Result<Vec<[String; 2]>, Refusal> {
        let text = self.beside(wide);
        let launches = self.whole_launches()?.into_iter();
        let whole = launches.filter_map(|s| {
            let launch = whole(self.session, wide, &s.launch)?;
            Some(Suited { launch, ..s })
        });
        let whole: Vec<Suited> = whole.collect();
        overlaps::differing(self.session, &whole, &mut |session, suited| {
            let takes = whole_as_it_is(session, wide, &suited.launch);
            Ok(takes && same_text(session, wide, &text, &suited).is_err())
        })
    }

    /// The launches of all plans, and more of the block of the file: of those that are there few have whole vectors as rows.
    fn whole_launches(&mut self) -> Result<Vec<Suited>, Refusal> {
        let mut all = self.checker.whole();
        let block = self.large.launch.block;
        for (fit, blocks) in MORE {
            all.extend(self.session.suited(block, blocks, fit)?);
        }
        Ok(all)
    }

    /// The file with both kernels.
    fn beside(&self, wide: &Wide) -> String {
        let text = &self.session.plan.text;
        let mut end = text.len();
        let _ = crate::auto::with_function(self.session, &mut |kernel| {
            end = kernel.body.span.map_or(end, |s| s.end as usize);
        });
        wide.beside(text, end)
    }

    fn wide_ranked(&mut self, wide: &Wide, checked: &[String]) -> Result<Vec<Entrant>, Refusal> {
        let text = self.beside(wide);
        let large = self.large.clone();
        let form =
            |run| Form { run, wide: Some(wide.clone()), ahead: wide.ahead, ..Form::default() };
        let mut all = match &wide.cut {
            Some(cut) => self.runs(&text, &large, |run| form(Some((cut.axis, run))))?,
            None => vec![(self.seconds(&text, &large, &form(None))?, form(None))],
        };
        ranking::by_cost(&mut all);
        all.truncate(if self.costs.measures() { RUNS.len() } else { 1 });
        let mut entrants = vec![];
        for (cost, form) in all {
            let made = self.wide_launched(wide, form.run.map(|(_, run)| run), checked)?;
            entrants.push(Entrant { cost, plan: made.name.clone(), made, form, block: None });
        }
        Ok(entrants)
    }

    /// The file with launches that choose.
    fn wide_launched(
        &mut self,
        wide: &Wide,
        run: Option<i64>,
        checked: &[String],
    ) -> Result<Best, Refusal> {
        let usual = |run: i64| {
            let all = self.meant.as_ref().map_or(1.0, |m| m.iterations);
            (all / run as f64).ceil() as i64
        };
        let runs = run.map(|run| (run, usual(run)));
        let (mut edited, mut end) = (Edited::default(), 0);
        crate::auto::with_function(self.session, &mut |kernel| {
            edited = launching::edited(wide, &ranking::file(self.session, kernel), runs);
            end = kernel.body.span.map_or(0, |s| s.end as usize);
        })?;
        let own = &self.session.plan.text;
        let by_hand = (edited.grids.is_empty() || edited.missed > 0).then(|| wide.by_hand(run));
        let indent = indentation(own, end);
        let said = by_hand.as_ref().map_or(String::new(), |why| format!("{indent}// {why}\n"));
        let mut patch = Patch::default();
        patch.replace(end..end, format!("\n\n{said}{}", wide.made));
        patch.extend(&edited.patch);
        let text = patch.apply(own).map_err(|_| {
            let error = warpsmith_ir::Diagnostic::error("W720", "two edits of the text overlap");
            self.session.refuse(false, vec![error])
        })?;
        let axis = wide.cut.as_ref().map_or(0, |c| c.axis);
        let name = match run {
            Some(run) => format!("{}, runs of {run} along {}", wide.name, AXES[axis]),
            None => wide.name.clone(),
        };
        let run = run.unwrap_or(wide.lanes);
        let launch = Some(NewLaunch { axis, run, grids: edited.grids, by_hand });
        Ok(Best { name, text, staged: None, checked: checked.to_vec(), launch })
    }
}

/// A launch whose rows are whole vectors, all of which its blocks cover.
fn whole(session: &Session, wide: &Wide, launch: &Launch) -> Option<Launch> {
    let mut launch = launch.clone();
    let size = wide.size.as_ref().and_then(|n| launch.integers.get(n)).copied();
    let products = session.usage.roles.values().any(|r| r.product.contains(&true));
    for name in &wide.multiples {
        let n = launch.integers.get_mut(name)?;
        if *n % wide.lanes == 0 {
            continue;
        }
        if products || session.input.integers.contains_key(name) {
            return None;
        }
        *n -= n.rem_euclid(wide.lanes);
        // Rows are no shorter than what is computed of them.
        *n = (*n).max(wide.lanes);
    }
    if let (Some(size), Some(old)) = (&wide.size, size) {
        let new = launch.integers.get(size).copied()?;
        let covered = i64::from(launch.grid[0]) * i64::from(launch.block[0]);
        (new <= old.max(wide.lanes) && covered >= new).then_some(())?;
    } else if wide.size.is_none() {
        (i64::from(launch.grid[0]) % wide.lanes == 0).then_some(())?;
    }
    Some(launch)
}

/// Whether a launch is one that a kernel of vectors is for.
fn whole_as_it_is(session: &Session, wide: &Wide, launch: &Launch) -> bool {
    whole(session, wide, launch).is_some_and(|w| w == *launch)
}

/// A kernel of vectors in a text does the same in a launch.
///
/// # Errors
/// What it does otherwise.
fn same_text(session: &Session, wide: &Wide, text: &str, suited: &Suited) -> Result<(), String> {
    let first = |d: Vec<warpsmith_ir::Diagnostic>| first_message(&d);
    let (constants, compiler) = (&suited.launch.constants, &session.compiler);
    let own = &session.plan.text;
    let before = compiler.compile(own, constants, &session.kernel).map_err(first)?;
    let after = compiler.compile(text, constants, &wide.kernel).map_err(first)?;
    let mixed = session.mixed.then_some((SEED, Values::Mixed));
    let near = memory::near_seeds(SEED).map(|seed| (seed, Values::Near));
    let mut kinds = [(SEED, Values::Tagged)].into_iter().chain(mixed).chain(near);
    kinds.try_for_each(|kind| same(session, wide, [&before, &after], suited, kind))
}

fn same(
    session: &Session,
    wide: &Wide,
    [before, after]: [&Program; 2],
    suited: &Suited,
    (seed, kind): (u64, Values),
) -> Result<(), String> {
    let said = |d: warpsmith_ir::Diagnostic| d.message;
    let data = Data { seed, tagged: &session.tagged, kind };
    let prepared = |program: &Program, lengths: &Lengths| {
        memory::prepare_beside(program, before, &suited.launch, lengths, data)
    };
    let mut lengths = suited.lengths.clone();
    let (outcome, expected) =
        memory::run_within((before, Limits::of(before)), &mut lengths, |l| prepared(before, l))
            .map_err(said)?;
    // The kernel itself is wrong with such data, or takes too long.
    if kind == Values::Near && (nothing_found(&outcome).is_err() || outcome.limit.is_some()) {
        return Ok(());
    }
    let cuts: &[u32] = if wide.cut.is_some() { &CUTS } else { &[1] };
    for blocks in cuts {
        let mut actual = prepared(after, &lengths).map_err(said)?;
        actual.config.grid = wide.grid(actual.config.grid);
        if let Some(cut) = &wide.cut {
            actual.config.grid[cut.axis] = *blocks;
        }
        let outcome = program::run(after, &actual.config, &mut actual.memory, Checks::ALL);
        nothing_found(&outcome.map_err(said)?)?;
        let pairs = expected.memory.buffers.iter().zip(&actual.memory.buffers);
        if pairs.into_iter().any(|(a, b)| !memory::holds_same(a, b)) {
            return Err("it computes something else".into());
        }
    }
    Ok(())
}

impl Wide {
    /// Why no launch of the file would take it: sizes that are known are no multiples of its lanes.
    fn never_fits(&self, passed: &[BTreeMap<String, i64>]) -> Option<String> {
        let odd = |sizes: &BTreeMap<String, i64>| {
            let size = |n: &String| Some((n.clone(), *sizes.get(n)?));
            self.multiples.iter().filter_map(size).find(|(_, v)| v % self.lanes != 0)
        };
        let found: Vec<_> = passed.iter().filter_map(odd).collect();
        let (name, size) = found.first().filter(|_| found.len() == passed.len())?;
        Some(format!("`{name}` is {size}, which is no multiple of {}", self.lanes))
    }

    /// How it is launched, where that is to be done by hand.
    fn by_hand(&self, run: Option<i64>) -> String {
        let sizes: Vec<String> =
            self.multiples.iter().map(|n| format!("{n} % {} == 0", self.lanes)).collect();
        let sizes =
            if sizes.is_empty() { String::new() } else { format!("{}, ", sizes.join(", ")) };
        let runs = match (run, &self.cut) {
            (Some(run), Some(cut)) => {
                format!(" and gridDim.{} of iterations / {run} + 1", AXES[cut.axis])
            }
            _ => String::new(),
        };
        let covers = match &self.size {
            Some(size) => format!("gridDim.x * blockDim.x covers {size}"),
            None => format!("gridDim.x % {} == 0", self.lanes),
        };
        let base = crate::source::shape::base_name(&self.kernel);
        format!(
            "launch {base} where {sizes}{covers}, addresses are multiples of 16, with gridDim.x / {} rounded up{runs}",
            self.lanes
        )
    }
}
