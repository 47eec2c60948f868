//! Threads with several elements of each plane, and planes of what the first nest reads in a ring in shared memory.
//!
//! In a step of the block a plane of that array has arrived, others are on their way. From it and those before it threads compute
//! a plane of the first nest, and from planes of that the second nest's, which is so far behind that one barrier a plane is
//! enough: what it reads beside a thread's own elements was written in the step before.

mod alignment;
mod around;
mod arrive;
mod compute;
mod counters;
mod finish;
mod parts;
mod step;
mod text;

pub(super) use alignment::chosen;

use std::collections::BTreeMap;

use warpsmith_ir::visit;
use warpsmith_ir::{Expr, Place, PlaceKind, Scalar, VarId};

use super::pair::{self, Pair, Reads, Window};
use super::text::Nests;
use super::{Each, LegalFuseKernels, launch, refused};
use crate::analysis::access::{Base, base_of};
use crate::build::vectors::{WIDEST, has_vector};
use crate::kernel::Kernel;
use crate::refusal::Refusal;

/// The array that the first nest reads around its iterations, planes of which are copied ahead.
pub(super) struct Ring {
    pub array: VarId,
    pub element: Scalar,
    pub reads: Reads,
    pub each: Each,
}

/// Bytes that the L2 cache reads at a time.
const SECTOR: u32 = 32;

/// Most planes on their way, and most elements of a thread in a plane.
const MOST_AHEAD: u32 = 8;
const MOST_ELEMENTS: u32 = 32;

impl Ring {
    /// Finds the array.
    ///
    /// # Errors
    /// That there is none, or that elements or planes of such a number are not possible.
    pub fn found(kernel: &Kernel, pair: &Pair, each: Each) -> Result<Ring, Refusal> {
        let root = pair.first.root;
        let mut arrays = around(kernel, pair);
        arrays.retain(|array, reads| reads.is_some() && is_whole(kernel, *array, pair.array));
        let reads = arrays.into_iter().filter_map(|(array, reads)| Some((array, reads?)));
        let Some((array, reads)) = reads.max_by_key(|(_, reads)| reads.len()) else {
            let name = kernel.name_of(pair.array);
            let why = format!(
                "it reads no array with the extents of `{name}` around its counters only, whose planes could be copied"
            );
            return refused(root, why);
        };
        let ty = kernel.func().var(array).ty.pointee().and_then(|ty| ty.scalar());
        let element = ty.unwrap_or(pair.element);
        check_each(pair, element, each)?;
        Ok(Ring { array, element, reads: Reads(reads), each })
    }

    /// The array that stands in its place in nests that go back.
    fn array_of(&self, nests: &Nests) -> VarId {
        match nests.copy {
            Some([from, to]) if from == self.array => to,
            _ => self.array,
        }
    }

    /// What a tile has around the second nest's iterations along an axis of its threads: whole vectors along the innermost loop.
    pub fn border(&self, pair: &Pair, axis: usize) -> Window {
        let depth = pair.rank() - 1 - axis;
        let (own, input) = (pair.along(depth), self.reads.along(depth));
        let unit = if axis == 0 { i64::from(self.each.elements[0]) } else { 1 };
        let whole = |n: i64| (n + unit - 1) / unit * unit;
        Window { low: -whole(-own.low - input.low), high: whole(own.high + input.high) }
    }

    /// Elements before the tile's first in a row of shared memory: a sector of memory is then copied to one of shared memory, where
    /// the first column of all tiles is a constant. On an H200 the L2 cache else reads twice as many.
    pub fn shift(&self, legal: &LegalFuseKernels<'_>, first: &[Expr]) -> i64 {
        let first = first.last().and_then(|e| e.as_const()).map_or(0, |n| n.as_i64());
        let of_sector = i64::from(SECTOR / self.element.bytes());
        (first + legal.border(0).low).rem_euclid(of_sector)
    }

    /// What rows of shared memory have beside the tile's elements: room for such a shift.
    pub fn more(&self, legal: &LegalFuseKernels<'_>, axis: usize) -> u32 {
        let of_sector = SECTOR / self.element.bytes();
        let most = of_sector - self.each.elements[0].min(of_sector);
        let row = legal.extent(0) + most;
        if axis == 0 { row.next_multiple_of(of_sector) - legal.extent(0) } else { 0 }
    }

    /// Planes in shared memory: from the last that is read beside a thread's own elements to the last on its way.
    pub fn slots(&self) -> u32 {
        let newest = self.reads.along(0).high;
        let oldest = self.reads.beside().first().copied().unwrap_or(newest);
        self.each.ahead + (newest - oldest) as u32 + 1
    }

    /// Planes of a thread's own elements.
    pub fn own_planes(&self) -> u32 {
        self.reads.along(0).width() + 1
    }

    /// All planes of a block fit in shared memory.
    ///
    /// # Errors
    /// That they do not.
    pub fn check_room(&self, legal: &LegalFuseKernels<'_>) -> Result<(), Refusal> {
        let axes = || 0..legal.pair.rank() - 1;
        let plane = |more: &dyn Fn(usize) -> u32| -> u64 {
            axes().map(|axis| u64::from(legal.extent(axis) + more(axis))).product()
        };
        let input = u64::from(self.slots()) * u64::from(self.element.bytes());
        let input = input * plane(&|axis| self.more(legal, axis));
        let between = u64::from(legal.pair.ring_slots()) * u64::from(legal.pair.element.bytes());
        let (bytes, most) = (input + between * plane(&|_| 0), legal.kernel.gpu.shared);
        match bytes > most.into() {
            true => refused(
                legal.pair.second.root,
                format!(
                    "the planes of a block would take {bytes} bytes of shared memory, of which there are {most}"
                ),
            ),
            false => Ok(()),
        }
    }
}

type Distances = Vec<(Place, Vec<i64>)>;

/// The arrays that the first nest reads, with the distances; `None` where some are not known.
fn around(kernel: &Kernel, pair: &Pair) -> BTreeMap<VarId, Option<Distances>> {
    let scope = pair::scope(kernel, &pair.first);
    let mut found: BTreeMap<VarId, Option<Distances>> = BTreeMap::new();
    visit::for_each_place(pair.first.body(), &mut |p, _| {
        let Base::Var(array) = base_of(p) else { return };
        if array == pair.array || !matches!(&*p.kind, PlaceKind::Elem { .. }) {
            return;
        }
        let all = found.entry(array).or_insert_with(|| Some(vec![]));
        let distances = pair::distances(&scope, p, &pair.first.loops);
        match (distances.filter(|d| d.len() == pair.rank()), all.as_mut()) {
            (Some(d), Some(list)) => {
                if list.iter().all(|(known, _)| known != p) {
                    list.push((p.clone(), d));
                }
            }
            _ => *all = None,
        }
    });
    found
}

/// The array has the extents of the other one, which the launcher knows, and lies in memory row by row.
fn is_whole(kernel: &Kernel, array: VarId, other: VarId) -> bool {
    let (var, other) = (kernel.func().var(array), kernel.func().var(other));
    let (Some(own), Some(wanted)) = (&var.shape, &other.shape) else { return false };
    own.len() == wanted.len()
        && own.iter().zip(wanted).all(|(a, b)| launch::apart(a, b) == Some(0))
        && own.iter().all(|e| kernel.known_at_start(e))
        && !var.pitched
        && !kernel.constants.contains(&array)
        && var.ty.pointee().is_some_and(|ty| ty.scalar().is_some())
}

fn check_each(pair: &Pair, element: Scalar, each: Each) -> Result<(), Refusal> {
    let root = pair.second.root;
    let width = each.elements[0];
    if each.elements[pair.rank() - 1..].iter().any(|n| *n != 1) {
        return refused(root, "a thread has elements along its loops but the outermost only");
    }
    if each.elements.contains(&0) || each.elements.iter().product::<u32>() > MOST_ELEMENTS {
        return refused(root, format!("a thread has 1 to {MOST_ELEMENTS} elements of a plane"));
    }
    if each.ahead == 0 || each.ahead > MOST_AHEAD {
        return refused(root, format!("1 to {MOST_AHEAD} planes are on their way"));
    }
    let vectors = matches!(width, 1 | 2 | 4)
        && [element, pair.element].iter().all(|e| width == 1 || has_vector(*e, width));
    match vectors && element.bytes() >= 4 && width * element.bytes() <= WIDEST {
        true => Ok(()),
        false => refused(
            root,
            format!(
                "neighbours along the innermost loop, 1, 2 or 4, make up a vector of {WIDEST} bytes at most, of elements of 4 bytes or more"
            ),
        ),
    }
}
