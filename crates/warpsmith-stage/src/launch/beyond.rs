//! Launches in which positions or sizes come to a number of the text.

use std::collections::BTreeMap;

use super::{Fit, Wanted};
use crate::usage::{Limit, Met, Usage};

/// Launches for each number. First such that go beyond it by more than a block: one of two sizes along the axis says so, or is several times as
/// large, since the text may compare it with multiples of positions, while the other is the same, nothing, or half of it. Then such that
/// come to it, while the other is larger, or nothing; and the same with sizes of which there are several positions for each, as the text
/// divides or multiplies.
const WAYS: u32 = FAR + 2 * NEAR.len() as u32;
const FAR: u32 = 12;
const LARGER: i64 = 6;
/// Numbers of parameters that positions go beyond, at most.
const LONGEST: i64 = 4096;
/// Iterations beyond the number.
const TURNS: i64 = 5;
const NEAR: [i64; 14] = [-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0];

/// The launches of a kernel that differ.
pub(super) fn all(usage: &Usage) -> Vec<Fit> {
    let several = super::has_several(usage);
    let divided = usage.roles.values().any(|r| r.times > 1);
    let last = if divided { WAYS } else { WAYS - NEAR.len() as u32 };
    let mut all = vec![];
    let deep = usage.roles.values().any(|r| r.depth);
    let comes = |limit: &Limit| match limit.of {
        // Blocks say how many threads there are.
        Met::Thread(_) => false,
        Met::Turns => deep,
        _ => true,
    };
    let limits = usage.limits.iter().enumerate();
    for (number, limit) in limits.filter(|(_, l)| comes(l)) {
        let many = several || matches!(&limit.of, Met::Size(name) if !bounds(usage, name));
        let differs = |way: &u32| match limit.of {
            // Sizes along axes do not matter: beyond, just below, at, and just above the number.
            Met::Turns => *way == 0 || (FAR..FAR + 12).contains(way) && way.is_multiple_of(4),
            _ => many || way.is_multiple_of(2) && (*way >= FAR || way.is_multiple_of(6)),
        };
        all.extend((0..last).filter(differs).map(|way| Fit::Beyond(number as u32 * WAYS + way)));
    }
    all
}

fn bounds(usage: &Usage, name: &str) -> bool {
    usage.roles.get(name).is_some_and(|r| r.axes.contains(&true))
}

/// How many times as large the size is that is to come to the number, and another one along its axis.
pub(super) fn sizes(number: u32, size: i64) -> [i64; 2] {
    let way = number % WAYS;
    match way.checked_sub(FAR) {
        None => {
            [size * [1, LARGER][(way / 6) as usize], [size, 0, size / 2][(way / 2 % 3) as usize]]
        }
        Some(near) => [
            size * [1, 2][(near % NEAR.len() as u32 / 12) as usize],
            [2 * size, 0][(near / 2 % 2) as usize],
        ],
    }
}

/// Positions along an axis in a launch whose number is that of a parameter: others without pattern.
pub(super) fn free(number: u32, axis: usize, threads: i64) -> i64 {
    super::any_size(&mut super::Mix::of(&[number, axis as u32, 7]), threads).max(1)
}

/// The number that a launch comes to, and how far from it; `None`: beyond.
fn meant<'w>(wanted: &Wanted<'w>, fit: Fit) -> Option<(&'w Limit, Option<i64>)> {
    let Fit::Beyond(number) = fit else { return None };
    let limit = wanted.usage.limits.get((number / WAYS) as usize)?;
    let near = (number % WAYS).checked_sub(FAR);
    Some((limit, near.map(|way| NEAR[way as usize % NEAR.len()])))
}

/// Whether sizes are as many as there are positions, though the text has several for each.
pub(super) fn is_whole(fit: Fit) -> bool {
    let Fit::Beyond(number) = fit else { return false };
    (FAR..FAR + NEAR.len() as u32).contains(&(number % WAYS))
}

/// Blocks along an axis, and positions, that come to the number. Each block has so many threads and begins `step` positions after the one
/// before; 0: as many as it has threads.
pub(super) fn size(
    wanted: &Wanted<'_>,
    fit: Fit,
    axis: usize,
    (threads, step): (u32, i64),
) -> Option<(u32, i64)> {
    let (limit, apart) = meant(wanted, fit)?;
    // Elements may lie further apart than the positions that the number is of.
    let step = if step > 0 { step.min(threads.into()) } else { threads.into() };
    let apart = apart.unwrap_or(step + 2);
    let size = match &limit.of {
        Met::Axis(a) if *a == axis => limit.value + apart,
        Met::Blocks(a) if *a == axis => limit.value * step + apart,
        Met::Size(name) => {
            let Fit::Beyond(number) = fit else { return None };
            match wanted.usage.roles.get(name).filter(|r| r.axes[axis]) {
                Some(role) => (limit.value + apart) * role.times.max(1),
                // Other sizes may be compared with it, too.
                None if number.is_multiple_of(3) && limit.value <= LONGEST => {
                    limit.value + step + 2
                }
                None => free(number, axis, step.min(threads.into())),
            }
        }
        _ => return None,
    };
    let blocks = u32::try_from(size.max(1)).ok()?.div_ceil(step as u32);
    Some((blocks, size))
}

/// Sets the parameter that comes to the number, where it bounds no axis alone.
pub(super) fn set(wanted: &Wanted<'_>, fit: Fit, integers: &mut BTreeMap<String, i64>) {
    let Some((Limit { of, value }, apart)) = meant(wanted, fit) else { return };
    let Met::Size(name) = of else {
        let deep = |n: &String| wanted.usage.roles.get(n).is_some_and(|r| r.depth);
        for (name, known) in integers.iter_mut().filter(|_| *of == Met::Turns) {
            if deep(name) && !wanted.pinned.contains_key(name) {
                *known = value + apart.unwrap_or(TURNS);
            }
        }
        return;
    };
    let Fit::Beyond(number) = fit else { return };
    if let Some(known) = integers.get_mut(name)
        && !bounds(wanted.usage, name)
        && !wanted.pinned.contains_key(name)
    {
        // Mostly at it: what is done for one value alone is done at no other.
        let far = if number.is_multiple_of(4) { *value } else { 0 };
        *known = value + apart.unwrap_or(far);
    }
}
