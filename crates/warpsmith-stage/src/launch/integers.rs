//! Values of the integer parameters of a launch: sizes, depths of loops, shifts, masks.

use std::collections::{BTreeMap, BTreeSet};

use super::{APART, Fit, Wanted, any_size, beyond};
use crate::mix::Mix;
use crate::usage::{Role, Usage};

/// Iterations of a loop: some tiles of it, the last of which is whole or cut off as the blocks are.
fn depth(wanted: &Wanted<'_>, blocks: u32, fit: Fit) -> i64 {
    // What loops leave out at their ends, beyond a plane at each.
    let margin = (wanted.usage.margin - 2).max(0);
    match (wanted.strides.turns, fit) {
        // Loops that go through nothing leave out barriers in them.
        (_, Fit::Loose(seed)) if seed % 11 == 7 => i64::from(seed % 3 / 2),
        (n, Fit::Deep(planes)) => n.max(1) * i64::from(planes) + margin,
        (0 | 1, _) => 4 + i64::from(blocks % 3) + margin,
        (n, Fit::Exact | Fit::Apart) => 2 * n,
        (n, Fit::Single | Fit::Part) => n + 1,
        (n, _) => 3 * n - 1 - n / 3,
    }
}

/// A size along an axis. Where no launch says that several are the same, the grid is made for one of them in turn.
fn along(wanted: &Wanted<'_>, name: &String, axis: usize, (size, fit): (i64, Fit)) -> i64 {
    let (Fit::Random(seed)
    | Fit::Loose(seed)
    | Fit::Within(seed)
    | Fit::Each(seed)
    | Fit::Beyond(seed)) = fit
    else {
        return size;
    };
    let bounds = |n: &&String| wanted.usage.roles.get(*n).is_some_and(|r| r.axes[axis]);
    let all: Vec<&String> = wanted.parameters.iter().filter(bounds).collect();
    let number = all.iter().position(|n| *n == name).unwrap_or(0) as u32;
    match number == seed % all.len().max(1) as u32 {
        own if matches!(fit, Fit::Beyond(_)) => beyond::sizes(seed, size)[usize::from(!own)],
        true => size,
        false => {
            let mut mix = Mix::of(&[seed, axis as u32, number + 1]);
            // Nothing is a size, too, and few positions may be how far apart elements are.
            match mix.below(12) {
                0 => 0,
                1..=3 => 1 + mix.below(3) as i64,
                _ => any_size(&mut mix, size),
            }
        }
    }
}

/// By how much a size that is compared with nothing is longer than what blocks cover.
fn farther(wanted: &Wanted<'_>, fit: Fit, number: usize) -> i64 {
    match fit {
        Fit::Loose(seed) => Mix::of(&[seed, 3, number as u32]).below(5) as i64,
        _ if wanted.apart => APART,
        _ => 0,
    }
}

/// How far elements are apart, where that is no size of its own: few positions, as tiles are small. What bounds positions as well is one
/// of several sizes in other launches.
fn shift(
    wanted: &Wanted<'_>,
    name: &String,
    (role, fit): (&Role, Fit),
    blocks: u32,
) -> Option<i64> {
    let other = |(n, r): (&String, &Role)| n != name && (0..3).any(|a| r.axes[a] && role.axes[a]);
    let bounds = role.axes.contains(&true);
    let shifts = wanted.usage.shifts.contains(name) && !role.depth && !role.product.contains(&true);
    if !shifts || bounds && !wanted.usage.roles.iter().any(other) {
        return None;
    }
    match fit {
        Fit::Exact | Fit::Apart => Some(2),
        Fit::Single => Some(3),
        Fit::Random(_) | Fit::Loose(_) | Fit::Within(_) | Fit::Each(_) | Fit::Beyond(_)
            if bounds =>
        {
            None
        }
        // Elements may lie before a position.
        Fit::Loose(seed) => Some([0, 1, 2, 3, 4, -1, -3][Mix::of(&[seed, 4]).below(7) as usize]),
        Fit::Random(seed) | Fit::Within(seed) | Fit::Each(seed) => {
            Some(Mix::of(&[seed, 4]).below(5) as i64)
        }
        _ => Some([2, 3, 1][blocks as usize % 3]),
    }
}

/// Whether a parameter is compared with numbers, and is nothing that positions are multiplied with.
fn is_choice(usage: &Usage, name: &String) -> bool {
    usage.choices.contains_key(name) && !usage.rows.contains(name) && !usage.leaps.contains(name)
}

/// What tells positions apart by a remainder differs from launch to launch.
fn colour(fit: Fit, blocks: u32) -> i64 {
    let kind = match fit {
        Fit::Exact | Fit::Apart => 1,
        Fit::Single | Fit::Part | Fit::Thin(_) | Fit::Least(_) | Fit::Ends(_, true) => 2,
        Fit::Ragged(_) | Fit::Overlapping(_) | Fit::Strided | Fit::Spare | Fit::Ends(..) => 0,
        Fit::Beyond(_) | Fit::Deep(_) | Fit::Far(_) => 0,
        Fit::Random(seed) | Fit::Loose(seed) | Fit::Within(seed) | Fit::Each(seed) => {
            i64::from(seed % 3)
        }
    };
    kind + i64::from(blocks)
}

/// A number that nothing is counted with may be a mask: all its bits, the sign alone, one bit, or any.
fn bits(mix: &mut Mix) -> i64 {
    match mix.below(6) {
        0 => -1,
        1 => i64::from(i32::MIN),
        2 => -2 - mix.below(6) as i64,
        3 | 4 => 1 << mix.below(8),
        _ => i64::from(mix.next() as i32),
    }
}

/// What a parameter that the text compares with numbers is: each of these in some launch, one beside them, or any other.
fn choice(numbers: &BTreeSet<i64>, fit: Fit, at: usize) -> i64 {
    let turn = match fit {
        Fit::Loose(n) | Fit::Random(n) | Fit::Within(n) | Fit::Each(n) | Fit::Beyond(n) => n,
        Fit::Ragged(n) | Fit::Thin(n) | Fit::Least(n) | Fit::Deep(n) | Fit::Far(n) => n,
        Fit::Exact | Fit::Apart => 1,
        _ => 2,
    };
    let any = [3, 1, 7, 2];
    let at = at + turn as usize;
    let beside = i64::from(matches!(fit, Fit::Loose(n) if n % 4 == 1));
    match numbers.iter().nth(at % (numbers.len() + 1)) {
        Some(number) => number + beside,
        None => any[at % any.len()],
    }
}

/// A parameter that bounds no positions, where so many others have values already.
fn unbounded(
    wanted: &Wanted<'_>,
    (name, role): (&String, &Role),
    (size, used): ([i64; 3], usize),
    (blocks, fit): (u32, Fit),
) -> i64 {
    let usage = wanted.usage;
    // A row is shorter than what is read of it now and then.
    if let Fit::Loose(seed) = fit
        && seed % 7 == 3
        && (usage.rows.contains(name) || usage.leaps.contains(name))
    {
        return any_size(&mut Mix::of(&[seed, 5]), size[0].max(1));
    }
    if let Fit::Loose(seed) = fit
        && seed % 3 == 2
        && !role.depth
        && !usage.rows.contains(name)
        && !usage.leaps.contains(name)
    {
        return bits(&mut Mix::of(&[seed, 6, used as u32]));
    }
    let bounded = usage.roles.values().any(|r| r.axes[0] || r.product[0]);
    match role.depth {
        // Nothing else says how far rows go.
        true if usage.rows.contains(name) && !bounded => size[0],
        true => depth(wanted, blocks, fit),
        // What all blocks before one have, however they lie.
        false if usage.leaps.contains(name) => {
            let rows = size.iter().max().copied().unwrap_or(1).max(depth(wanted, blocks, fit));
            match fit {
                Fit::Far(_) => rows + APART,
                _ => (rows + APART) * (rows + APART),
            }
        }
        // What the text compares with a number is no length.
        false if is_choice(usage, name) => {
            choice(&usage.choices[name], fit, blocks as usize + used)
        }
        // A row of an array, say.
        false => size[0] + farther(wanted, fit, used),
    }
}

/// The values of all integer parameters.
pub(super) fn integers(
    wanted: &Wanted<'_>,
    (size, factors): ([i64; 3], &BTreeMap<&String, i64>),
    blocks: u32,
    fit: Fit,
) -> BTreeMap<String, i64> {
    let mut used: Vec<i64> = vec![];
    let mut all = BTreeMap::new();
    for name in wanted.parameters {
        if let Some(v) = wanted.pinned.get(name) {
            all.insert(name.clone(), *v);
            continue;
        }
        let role = wanted.usage.roles.get(name).cloned().unwrap_or_default();
        if let (Some(colours), true) = (wanted.usage.residues.get(name), role == Role::default()) {
            all.insert(name.clone(), colour(fit, blocks) % colours);
            continue;
        }
        if let Some(value) = shift(wanted, name, (&role, fit), blocks) {
            used.push(value);
            all.insert(name.clone(), value);
            continue;
        }
        let first = (0..3).find(|a| role.axes[*a]);
        let value = match (first, role.product.contains(&true)) {
            _ if factors.contains_key(name) => factors[name],
            // Blocks along an axis without threads share a loop: it has iterations for all of them.
            (Some(a), _) if wanted.usage.strides && !wanted.usage.threads[a] => {
                size[a] + depth(wanted, blocks, fit)
            }
            (Some(a), _) => {
                let whole = matches!(fit, Fit::Loose(_) | Fit::Within(_) | Fit::Each(_));
                let times = if whole || beyond::is_whole(fit) { 1 } else { role.times.max(1) };
                let share = if beyond::is_whole(fit) { role.share.max(1) } else { 1 };
                along(wanted, name, a, ((size[a] / times).max(1), fit)) * share
            }
            (None, true) => (0..3).filter(|a| role.product[*a]).map(|a| size[a]).product(),
            (None, false) => unbounded(wanted, (name, &role), (size, used.len()), (blocks, fit)),
        };
        let loose = first.is_none() && !role.product.contains(&true);
        let mut value = value;
        while loose && role.depth && used.contains(&value) {
            value += 1;
        }
        used.push(value);
        all.insert(name.clone(), value);
    }
    all
}
