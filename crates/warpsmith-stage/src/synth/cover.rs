//! Few comparisons that together hold on some rows and on none of others.

use std::collections::HashSet;

use super::bits::Bits;
use super::condition::{Atom, Comparison};

/// Comparisons that are tried in pairs.
const MAX_PAIRED: usize = 500;
/// Comparisons that a condition may have, and that one may have which keeps a subscript inside of a tile: two for each axis.
pub const MAX_COMPARISONS: usize = 4;
pub const MAX_INSIDE: usize = 7;
/// A clause of one or two comparisons that holds on all of `yes`.
struct Clause<'a> {
    atoms: Vec<&'a Atom>,
    excludes: Bits,
    cost: u32,
}

/// Clauses that together hold on all of `yes` and on none of `no`, of least cost, with so many comparisons at most.
pub fn search(
    atoms: &[&Atom],
    yes: &Bits,
    no: &Bits,
    most: usize,
) -> Option<(u32, Vec<Vec<Comparison>>)> {
    if no.is_empty() {
        return None;
    }
    let mut clauses: Vec<Clause<'_>> = vec![];
    let mut partial: Vec<&Atom> = vec![];
    for atom in atoms {
        let excludes = no.minus(&atom.bits);
        if yes.is_subset(&atom.bits) {
            if !excludes.is_empty() {
                clauses.push(Clause { atoms: vec![atom], excludes, cost: atom.cost });
            }
        } else if partial.len() < MAX_PAIRED && !excludes.is_empty() && !yes.is_disjoint(&atom.bits)
        {
            partial.push(atom);
        }
    }
    for (i, a) in partial.iter().enumerate() {
        let rest = yes.minus(&a.bits);
        for b in &partial[i + 1..] {
            if rest.is_subset(&b.bits) {
                let excludes = no.minus(&a.bits).minus(&b.bits);
                if !excludes.is_empty() {
                    clauses.push(Clause { atoms: vec![a, b], excludes, cost: a.cost + b.cost });
                }
            }
        }
    }
    clauses.sort_by_key(|c| c.cost);
    let mut seen = HashSet::new();
    clauses.retain(|c| seen.insert(c.excludes.clone()));
    let mut best = Best { cost: u32::MAX, clauses: vec![], tried: 0 };
    // Few clauses first: more of them may be cheaper, but say less.
    for count in 1..=most {
        let room = Room { clauses: count, comparisons: most };
        cover(&clauses, no, &mut vec![], room, 0, &mut best);
        if best.cost < u32::MAX {
            break;
        }
    }
    if best.cost == u32::MAX && most > MAX_COMPARISONS {
        best = greedy(&clauses, no, most)?;
    }
    if best.cost == u32::MAX {
        return None;
    }
    let groups = best
        .clauses
        .iter()
        .map(|c| clauses[*c].atoms.iter().map(|a| a.comparison.clone()).collect());
    Some((best.cost, groups.collect()))
}

/// Clauses one after the other, each the one that excludes most of what is left: not always the fewest, but soon found.
fn greedy(clauses: &[Clause<'_>], no: &Bits, most: usize) -> Option<Best> {
    let (mut left, mut chosen, mut cost) = (no.clone(), vec![], 0);
    while !left.is_empty() && chosen.len() < most {
        let gain = |c: &Clause<'_>| left.count() - left.minus(&c.excludes).count();
        let single = clauses.iter().enumerate().filter(|(_, c)| c.atoms.len() == 1);
        let (at, best) = single.max_by_key(|&(_, c)| (gain(c), u32::MAX - c.cost))?;
        if gain(best) == 0 {
            return None;
        }
        left = left.minus(&best.excludes);
        cost += best.cost;
        chosen.push(at);
    }
    left.is_empty().then_some(Best { cost, clauses: chosen, tried: 0 })
}

struct Best {
    cost: u32,
    clauses: Vec<usize>,
    tried: u32,
}

/// Clauses that are tried in all, so that a search ends.
const MAX_TRIED: u32 = 6_000;

/// What a condition may still have.
#[derive(Clone, Copy)]
struct Room {
    clauses: usize,
    comparisons: usize,
}

fn cover(
    clauses: &[Clause<'_>],
    left: &Bits,
    chosen: &mut Vec<usize>,
    room: Room,
    cost: u32,
    best: &mut Best,
) {
    let Some(row) = left.first() else {
        if cost < best.cost {
            best.cost = cost;
            best.clauses = chosen.clone();
        }
        return;
    };
    for (i, clause) in clauses.iter().enumerate() {
        if cost + clause.cost >= best.cost || best.tried > MAX_TRIED {
            return;
        }
        let last = room.clauses == 1;
        let useful = if last { left.is_subset(&clause.excludes) } else { clause.excludes.get(row) };
        if clause.atoms.len() > room.comparisons || !useful {
            continue;
        }
        best.tried += u32::from(!last);
        chosen.push(i);
        let rest =
            Room { clauses: room.clauses - 1, comparisons: room.comparisons - clause.atoms.len() };
        cover(clauses, &left.minus(&clause.excludes), chosen, rest, cost + clause.cost, best);
        chosen.pop();
    }
}
