//! Boxes of the elements of an array that a block reads or writes.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{LoopId, Place, VarId};

use crate::kernel::Nest;

/// More elements along a dimension than any shared memory holds.
const MOST: u64 = 1 << 20;

/// What a block reads of an array: a box of elements.
#[derive(Clone, Debug)]
pub struct Footprint {
    /// Along each extent of the array, outermost first.
    pub dims: Vec<Dim>,
    /// Lengths of the rows of the array seen in these dimensions (one fewer), where they are not those of the place.
    pub rows: Option<Vec<Poly>>,
    /// The accesses, each with the constants of its subscripts.
    pub reads: Vec<(Place, Vec<i128>)>,
    /// The nest writes it, so that the block copies the box back.
    pub written: bool,
    /// The box is filled before it is used: not every element is written before it is read.
    pub filled: bool,
    /// The nest accesses the array outside of the strips, too.
    pub elsewhere: bool,
    /// Reads stand under conditions, and the box may reach past the array: only what lies in the array is copied.
    pub partial: bool,
}

impl Footprint {
    /// Takes the reads of another one up, which differ by constants.
    pub(super) fn join(&mut self, other: Footprint) {
        for (x, y) in self.dims.iter_mut().zip(&other.dims) {
            x.constants.0 = x.constants.0.min(y.constants.0);
            x.constants.1 = x.constants.1.max(y.constants.1);
        }
        self.reads.extend(other.reads);
        self.partial |= other.partial;
    }

    /// Whether no counter is in several dimensions, so that every element of the box is accessed by some iteration.
    pub(super) fn independent(&self) -> bool {
        let mut counters = self.dims.iter().flat_map(|d| &d.terms).map(|(c, _)| c.id());
        let mut seen = std::collections::BTreeSet::new();
        counters.all(|id| seen.insert(id))
    }

    /// Makes one dimension of the outer ones of which the box has one row each, where the shape is not that of the place; `counter`: the
    /// variable of a bound loop. `None` on overflow.
    pub(super) fn join_fixed_rows(
        &mut self,
        counter: impl Fn(LoopId) -> Option<VarId>,
    ) -> Option<()> {
        let Some(lengths) = &mut self.rows else { return Some(()) };
        let single = |c: &Counter| matches!(c, Counter::Bound(_, 1));
        while let [outer, next, ..] = &mut self.dims[..]
            && outer.extent == 1
            && outer.terms.iter().all(|(c, _)| single(c))
        {
            let mut row = outer.invariant.add(&Poly::constant(outer.constants.0))?;
            for (c, factor) in &outer.terms {
                row = row.add(&Poly::var(counter(c.id())?).scale(*factor)?)?;
            }
            next.invariant = next.invariant.add(&row.mul(&lengths.remove(0))?)?;
            self.dims.remove(0);
            for (_, constants) in &mut self.reads {
                constants.remove(0);
            }
        }
        if lengths.is_empty() {
            self.rows = None;
        }
        Some(())
    }

    /// Sets the extents; tells whether any shared memory holds them.
    pub(super) fn measured(&mut self) -> bool {
        self.dims.iter_mut().all(|d| {
            let constants = d.constants.1 - d.constants.0 + 1;
            let spread = d.terms.iter().try_fold(constants, |n, (c, factor)| {
                factor.abs().checked_mul(i128::from(c.count()) - 1)?.checked_add(n)
            });
            let extent = spread.and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= MOST);
            d.extent = extent.unwrap_or(0);
            extent.is_some()
        })
    }

    /// Whether some thread of a block reads what another one or another iteration reads, too.
    pub fn is_reused(&self, nest: &Nest) -> bool {
        let terms = || self.dims.iter().flat_map(|d| &d.terms);
        let used = |id: LoopId| terms().any(|(counter, _)| counter.id() == id);
        let several = |id: LoopId| nest.block_extent(id).is_none_or(|n| n > 1);
        let own = self.reads.len() == 1
            && self.dims.iter().all(|d| d.terms.len() < 2)
            && nest.axes.iter().all(|(id, _)| used(*id) || !several(*id));
        !own
    }
}

/// One dimension of a footprint: `Σ factor · counter + invariant + constant`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dim {
    /// Counters with their factors.
    pub terms: Vec<(Counter, i128)>,
    /// What does not change in a block and strip; it may mention counters of which these have one value.
    pub invariant: Poly,
    /// Least and greatest constant of the reads.
    pub constants: (i128, i128),
    /// Elements.
    pub extent: u64,
}

/// A counter that a subscript may depend on.
#[derive(Clone, Debug, PartialEq)]
pub enum Counter {
    /// A bound loop; the iterations of a block.
    Bound(LoopId, u32),
    /// The strip loop; the iterations of a strip.
    Strip(LoopId, u32),
    /// A serial loop with constant first value and number of iterations.
    Constant(LoopId, i128, u32),
}

impl Counter {
    /// Iterations of the counter.
    pub fn count(&self) -> u32 {
        match self {
            Counter::Bound(_, n) | Counter::Strip(_, n) | Counter::Constant(_, _, n) => *n,
        }
    }

    /// The loop that it counts.
    pub fn id(&self) -> LoopId {
        match self {
            Counter::Bound(id, _) | Counter::Strip(id, _) | Counter::Constant(id, ..) => *id,
        }
    }
}
