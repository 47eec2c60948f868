//! Stars: one loop whose counter moves reads along several axes, `u[i - r] + u[i + r] + u[i - r * nx] + u[i + r * nx]`.
//!
//! Addresses say along which axis an iteration moves a read, and where it is with the counter at zero: reads outside of the loop are
//! compared with those in it.

use super::sum::{Sum, compared};
use super::{FAR, Read, Ways, Window};
use crate::auto::find::Access;

impl Window<'_> {
    /// The reads of a star whose loop the first one stands in.
    pub(super) fn star<'a>(&self, all: &[&'a Access], first: &'a Access) -> Option<Vec<Read<'a>>> {
        let [counter] = self.counters.as_slice() else { return None };
        // What is asked in the loop is asked of each read differently.
        let plain = counter.around.is_none() && self.turns.is_empty() && self.inner.is_empty();
        let begin = self.kernel.value(&counter.first.text()).filter(|_| plain)?;
        // The loop further in is counted later.
        let around = first.loops()?;
        let name = around.iter().max_by_key(|n| (n.len(), n.as_str()))?;
        let others = |a: &Access| Some(a.loops()?.into_iter().filter(|l| l != name).collect());
        let outer: Vec<String> = others(first)?;
        let read = |a: &&'a Access| {
            let [arm, offset] = a.moves(first, name, begin)?;
            let near = arm.iter().all(|d| d.abs() <= 1) && offset.iter().all(|d| d.abs() <= FAR);
            (near && others(a)? == outer).then_some(Read { access: a, offset, arm })
        };
        let reads: Vec<Read<'_>> = all.iter().filter_map(read).collect();
        let mut arms = reads.iter().map(|r| r.arm).filter(|a| *a != [0; 3]);
        let one = arms.next()?;
        arms.any(|a| a != one).then_some(reads)
    }

    /// The reads along each axis; those that do not move go with the first ones.
    pub(super) fn arms(&self) -> Vec<Vec<&Read<'_>>> {
        let mut arms: Vec<Vec<&Read<'_>>> = vec![];
        let moving = |r: &&Read<'_>| r.arm != [0; 3];
        for read in self.all.iter().filter(moving) {
            let along = |r: &Read<'_>| r.arm.map(|d| d != 0);
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
