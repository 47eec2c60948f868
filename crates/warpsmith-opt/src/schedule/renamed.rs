//! Other steps for one nest among others: the loops of the nests behind it have other names where these steps make or spare
//! loops of the same name.

use warpsmith_ir::SourceMap;

use super::fusions::Start;
use super::parse::parse_line;
use super::{StepKind, take};
use crate::kernel::Kernel;

/// The steps of a start and lists for its nests, with those at `at` in place of what stands there for a nest; the lists behind name the
/// loops that they named before. Where these cannot be told, they are as they were, and need not be legal.
pub fn with_part(
    start: &Start,
    parts: &[Vec<StepKind>],
    (at, steps): (usize, &[StepKind]),
    sources: &SourceMap,
) -> Vec<Vec<StepKind>> {
    let mut all = parts.to_vec();
    all[at] = steps.to_vec();
    if parts[at] != steps && [&parts[at], steps].iter().any(|s| s.iter().any(makes_nests)) {
        let mut before = parts[1..at].iter().flatten();
        let kernel = start.kernel.clone();
        let before = before.try_fold(kernel, |state, step| taken(&state, step, sources));
        let behind = before.and_then(|before| behind(&before, parts, (at, steps), sources));
        all.splice(at + 1.., behind.unwrap_or_else(|| parts[at + 1..].to_vec()));
    }
    all
}

/// Whether nests behind may have other names after a step.
fn makes_nests(step: &StepKind) -> bool {
    use StepKind::*;
    let parts = matches!(step, SplitK(_) | StreamK(_) | Distribute(_));
    // Blocks of threads stand in the place of loops.
    parts || matches!(step, Privatise(_) | Scan(_) | KeepRows(_) | KeepSums(_))
}

fn taken(kernel: &Kernel, step: &StepKind, sources: &SourceMap) -> Option<Kernel> {
    Some(take(kernel, step, sources).ok()?.kernel)
}

/// The step lists behind those at `at`, taken behind other steps.
fn behind(
    before: &Kernel,
    parts: &[Vec<StepKind>],
    (at, steps): (usize, &[StepKind]),
    sources: &SourceMap,
) -> Option<Vec<Vec<StepKind>>> {
    let after = |steps: &[StepKind]| {
        let mut steps = steps.iter();
        steps.try_fold(before.clone(), |state, step| taken(&state, step, sources))
    };
    let (mut old, mut new) = (after(&parts[at])?, after(steps)?);
    let mut found = vec![];
    for part in &parts[at + 1..] {
        let mut own = vec![];
        // What stands before the nest in one and the other does not change while it gets its steps.
        let (passed_old, passed_new) = (before_open(&old)?, before_open(&new)?);
        for step in part {
            let names = [names_from(&old, passed_old), names_from(&new, passed_new)];
            let step_there = renamed(step, &names)?;
            (old, new) = (taken(&old, step, sources)?, taken(&new, &step_there, sources)?);
            own.push(step_there);
        }
        found.push(own);
    }
    Some(found)
}

/// How many loops stand before the first nest that has no steps yet.
fn before_open(kernel: &Kernel) -> Option<usize> {
    let first = kernel.open_roots().first().copied()?;
    kernel.loop_names().iter().position(|(_, id)| *id == first)
}

fn names_from(kernel: &Kernel, first: usize) -> Vec<String> {
    kernel.loop_names().into_iter().skip(first).map(|(name, _)| name).collect()
}

/// A step with the names of loops of one list in place of those at the same places in the other.
fn renamed(step: &StepKind, [old, new]: &[Vec<String>; 2]) -> Option<StepKind> {
    if old == new {
        return Some(step.clone());
    }
    if old.len() != new.len() {
        return None;
    }
    let text = step.to_string();
    let (verb, rest) = text.split_once(' ')?;
    // Behind the arrow are axes.
    let (loops, axes) = rest.split_at(rest.find("->").unwrap_or(rest.len()));
    let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '#';
    let words = loops.split_inclusive(|c: char| !in_name(c));
    let line = words.map(|word| {
        let name = word.trim_end_matches(|c: char| !in_name(c));
        match old.iter().position(|n| n == name) {
            Some(k) => format!("{}{}", new[k], &word[name.len()..]),
            None => word.to_string(),
        }
    });
    let line = [format!("{verb} ")].into_iter().chain(line).chain([axes.to_string()]);
    parse_line(&line.collect::<String>()).ok()?.map(|(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str) -> StepKind {
        parse_line(text).unwrap().unwrap().0
    }

    #[test]
    fn names_of_loops_change_and_nothing_else() {
        let names = ["x", "i", "x#2"].map(String::from).to_vec();
        let there = ["x#3", "i", "x#4"].map(String::from).to_vec();
        let both = [names, there];
        let renamed = |text: &str| renamed(&step(text), &both).unwrap().to_string();
        assert_eq!(renamed("bind i, x -> y, x block 32x8"), "bind i, x#3 -> y, x block 32x8");
        assert_eq!(renamed("share x, x#2 -> x by 32"), "share x#3, x#4 -> x by 32");
        assert_eq!(renamed("stage A at x#2 tile 8 pad 1"), "stage A at x#4 tile 8 pad 1");
        assert_eq!(renamed("accumulate s"), "accumulate s");
    }
}
