//! Few comparisons that together hold on some rows and on none of others.

use super::bits::{Bits, SeenBits};
use super::comparison::Comparison;
use super::condition::Atom;

/// Comparisons that are tried in pairs.
const MAX_PAIRED: usize = 500;
/// Comparisons that a condition may have, and that one may have which keeps a subscript inside of a tile: two for each axis.
pub const MAX_COMPARISONS: usize = 4;
pub const MAX_INSIDE: usize = 7;
/// A clause of one or two comparisons that holds on all of `yes`.
struct Clause<'a> {
    first: &'a Atom,
    second: Option<&'a Atom>,
    excludes: Bits,
    cost: u32,
}

impl<'a> Clause<'a> {
    fn atoms(&self) -> impl Iterator<Item = &'a Atom> {
        std::iter::once(self.first).chain(self.second)
    }

    fn len(&self) -> usize {
        1 + usize::from(self.second.is_some())
    }
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
    let clauses = clauses(atoms, yes, no)?;
    let mut searched = Searched { clauses: &clauses, by_row: vec![None; no.len()] };
    let mut best = Best { cost: u32::MAX, clauses: vec![], tried: 0 };
    // Few clauses first: more of them may be cheaper, but say less.
    for count in 1..=most {
        let room = Room { clauses: count, comparisons: most };
        searched.cover(no, &mut vec![], room, 0, &mut best);
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
    let groups =
        best.clauses.iter().map(|c| clauses[*c].atoms().map(|a| a.comparison.clone()).collect());
    Some((best.cost, groups.collect()))
}

/// All clauses by cost, each for other rows that it excludes; `None` where they leave rows that all of them hold on.
fn clauses<'a>(atoms: &[&'a Atom], yes: &Bits, no: &Bits) -> Option<Vec<Clause<'a>>> {
    let mut clauses: Vec<Clause<'_>> = vec![];
    // With what each leaves of the rows that it has to hold on, and what it excludes.
    let mut partial: Vec<(&Atom, Bits, Bits)> = vec![];
    for atom in atoms {
        if no.is_subset(&atom.bits) {
            continue;
        }
        if yes.is_subset(&atom.bits) {
            let excludes = no.minus(&atom.bits);
            clauses.push(Clause { first: atom, second: None, excludes, cost: atom.cost });
        } else if partial.len() < MAX_PAIRED && !yes.is_disjoint(&atom.bits) {
            partial.push((atom, yes.minus(&atom.bits), no.minus(&atom.bits)));
        }
    }
    // Pairs exclude nothing that none of their two does.
    let mut most = Bits::none(no.len());
    clauses.iter().for_each(|c| most.include(&c.excludes));
    partial.iter().for_each(|(.., excluded)| most.include(excluded));
    if !no.is_subset(&most) {
        return None;
    }
    for (i, (a, left, excluded)) in partial.iter().enumerate() {
        // Most others fail on the first row already that is left.
        let Some(first) = left.first() else { continue };
        for (b, _, others) in partial[i + 1..].iter().filter(|(b, ..)| b.bits.get(first)) {
            if left.is_subset(&b.bits) && !excluded.is_disjoint(others) {
                let excludes = excluded.and(others);
                let cost = a.cost + b.cost;
                clauses.push(Clause { first: a, second: Some(b), excludes, cost });
            }
        }
    }
    let mut all = Bits::none(no.len());
    clauses.iter().for_each(|c| all.include(&c.excludes));
    if !no.is_subset(&all) {
        return None;
    }
    clauses.sort_by_key(|c| c.cost);
    let mut seen = SeenBits::default();
    let kept: Vec<bool> = clauses.iter().map(|c| seen.insert(&c.excludes)).collect();
    let mut kept = kept.into_iter();
    clauses.retain(|_| kept.next() == Some(true));
    Some(clauses)
}

/// Clauses one after the other, each the one that excludes most of what is left: not always the fewest, but soon found.
fn greedy(clauses: &[Clause<'_>], no: &Bits, most: usize) -> Option<Best> {
    let (mut left, mut chosen, mut cost) = (no.clone(), vec![], 0);
    while !left.is_empty() && chosen.len() < most {
        let gain = |c: &Clause<'_>| left.count() - left.minus(&c.excludes).count();
        let single = clauses.iter().enumerate().filter(|(_, c)| c.second.is_none());
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

/// What is searched, with what was asked for by row.
struct Searched<'a> {
    clauses: &'a [Clause<'a>],
    by_row: Vec<Option<Excluding>>,
}

/// The clauses that exclude a row, and what they exclude together.
type Excluding = (Vec<u32>, Bits);

impl Searched<'_> {
    fn excluding(&mut self, row: usize) -> &mut Excluding {
        let clauses = self.clauses;
        self.by_row[row].get_or_insert_with(|| {
            let all = clauses.iter().enumerate().filter(|(_, c)| c.excludes.get(row));
            let all: Vec<u32> = all.map(|(i, _)| i as u32).collect();
            let len = clauses.first().map_or(0, |c| c.excludes.len());
            let mut together = Bits::none(len);
            all.iter().for_each(|i| together.include(&clauses[*i as usize].excludes));
            (all, together)
        })
    }

    /// Whether more than so many clauses are needed: rows of which no clause excludes two need one each.
    fn exceeds(&mut self, left: &Bits, most: usize) -> bool {
        let mut left = left.clone();
        for _ in 0..most {
            let Some(row) = left.first() else { return false };
            left = left.minus(&self.excluding(row).1);
        }
        !left.is_empty()
    }

    fn cover(
        &mut self,
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
        if self.exceeds(left, room.clauses) {
            return;
        }
        let last = room.clauses == 1;
        // Whatever else is chosen, one of these is. Rows that are left by then are others.
        let candidates = std::mem::take(&mut self.excluding(row).0);
        for i in candidates.iter().map(|i| *i as usize) {
            let clause = &self.clauses[i];
            if cost + clause.cost >= best.cost || best.tried > MAX_TRIED {
                break;
            }
            let useful = !last || left.is_subset(&clause.excludes);
            if clause.len() > room.comparisons || !useful {
                continue;
            }
            best.tried += u32::from(!last);
            chosen.push(i);
            let rest =
                Room { clauses: room.clauses - 1, comparisons: room.comparisons - clause.len() };
            self.cover(&left.minus(&clause.excludes), chosen, rest, cost + clause.cost, best);
            chosen.pop();
        }
        self.excluding(row).0 = candidates;
    }
}
