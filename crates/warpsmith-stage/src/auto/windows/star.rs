//! Windows whose addresses say along which axes loops move each read: `left[y * w + x + dx - d]` by two along one, and stars,
//! whose only loop goes along several, `u[i - r] + u[i + r] + u[i - r * nx] + u[i + r * nx]`.
//!
//! Reads outside of the loops are compared with those in them, with all counters at zero.

use super::sum::{Sum, compared};
use super::way::Counter;
use super::{FAR, Read, Ways, Window};
use crate::auto::access::{Access, Moves};

/// Whether loops do not move all reads alike.
pub fn is_star(reads: &[Read<'_>]) -> bool {
    let moving = |r: &&Read<'_>| r.arms.iter().any(|a| *a != [0; 3]);
    let mut all = reads.iter().filter(moving).map(|r| &r.arms);
    let first = all.next();
    all.any(|a| Some(a) != first)
}

impl Window<'_> {
    /// The reads with how they are moved, where the first one stands in loops that all have addresses.
    pub(super) fn exact<'a>(&self, all: &[&'a Access], first: &'a Access) -> Option<Vec<Read<'a>>> {
        // What is asked in the loops is asked of each read differently.
        let plain = self.turns.is_empty() && self.inner.is_empty() && !self.counters.is_empty();
        let known = plain && self.counters.iter().all(|c| c.around.is_none());
        // Loops further in are counted later, and others stand around those of constant length.
        let mut names = first.loops().filter(|_| known)?;
        names.sort_by_key(|n| (n.len(), n.clone()));
        let names = names.split_off(names.len().checked_sub(self.counters.len())?);
        let begin = |c: &Counter| self.kernel.value(&c.first.text());
        let begins = self.counters.iter().map(begin).collect::<Option<Vec<_>>>()?;
        let loops: Vec<(String, i64)> = names.into_iter().zip(begins).collect();
        let others = |a: &Access| -> Option<Vec<String>> {
            let own = |l: &String| loops.iter().any(|(name, _)| name == l);
            Some(a.loops()?.into_iter().filter(|l| !own(l)).collect())
        };
        let outer = others(first)?;
        let read = |a: &&'a Access| {
            let Moves { steps: arms, offset } = a.moves(first, &loops)?;
            let near = arms.iter().flatten().all(|d| d.abs() <= 1);
            let near = near && offset.iter().all(|d| d.abs() <= FAR);
            (near && others(a)? == outer).then_some(Read { access: a, offset, arms })
        };
        let reads: Vec<Read<'_>> = all.iter().filter_map(read).collect();
        // All loops move the first read, else it is not known which is which.
        let mine = reads.iter().find(|r| std::ptr::eq(r.access, first))?;
        mine.arms.iter().all(|a| *a != [0; 3]).then_some(reads)
    }

    /// The reads along each axis; those that do not move go with the first ones.
    pub(super) fn arms(&self) -> Vec<Vec<&Read<'_>>> {
        let along = |r: &Read<'_>| [0, 1, 2].map(|axis| r.arms.iter().any(|a| a[axis] != 0));
        let moving = |r: &&Read<'_>| along(r) != [false; 3];
        let mut arms: Vec<Vec<&Read<'_>>> = vec![];
        for read in self.all.iter().filter(moving) {
            match arms.iter_mut().find(|a| along(a[0]) == along(read)) {
                Some(arm) => arm.push(read),
                None => arms.push(vec![read]),
            }
        }
        if let Some(arm) = arms.first_mut() {
            arm.extend(self.all.iter().filter(|r| !moving(r)));
        }
        arms
    }

    /// That a place of the tile is in the rows or columns that some reads are in.
    pub(super) fn beside(
        &self,
        way: &Ways,
        reads: &[&Read<'_>],
        block: Option<[u32; 3]>,
    ) -> Option<Vec<String>> {
        let mut all = vec![];
        for axis in (0..3).filter(|a| self.kernel.axes[*a]) {
            let [low, high] = self.range(way, axis, reads)?;
            let [first, length] = self.span(way, axis)?;
            let (before, after) = (low.minus(&first), first.plus(1, &length).minus(&high));
            let cell = Sum::of(&self.cell(way, axis));
            let end = Sum::of(&self.kernel.extent(axis, block)?).plus(1, &high.minus(&first));
            if !before.is_zero() {
                all.push(compared(&cell, ">=", &before));
            }
            if !after.is_zero() {
                all.push(compared(&cell, "<", &end));
            }
        }
        Some(all)
    }
}
