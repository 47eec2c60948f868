//! Which elements a function touches: of any function of the IR, a kernel of the user's included.
//!
//! Every access is a set of elements: subscripts that are sums over parameters, numbers of threads and blocks and
//! iterations of loops, with the conditions under which it happens. Early returns are conditions, subscripts that are
//! clamped become unions, scalars are followed through their definitions and, in loops, through constant increments; the size
//! of blocks stays a symbol. Where something is not known the set is too large and says so; it is never too small,
//! as long as the function keeps inside the types of its integers and the arrays it is given do not overlap.

mod cases;
mod rows;
mod values;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{Builtin, Function, Module, Origin, VarId};

use super::access::{AccessKind, Base};
use cases::Case;

/// More iterations of one loop are not counted through.
const MOST_ITERATIONS: i128 = 1 << 20;

/// The elements that one access touches.
#[derive(Clone, Debug)]
pub struct Touched {
    /// What is accessed.
    pub base: Base,
    /// What happens to it.
    pub kind: AccessKind,
    /// The element, outermost dimension first; `None`: it may be any.
    pub index: Option<Vec<Poly>>,
    /// Lengths of the inner dimensions, one fewer.
    pub rows: Vec<Poly>,
    /// Neighbouring elements from there on.
    pub width: u64,
    /// Loops around it, outermost first.
    pub iterations: Vec<Iterations>,
    /// When it happens.
    pub case: Case,
    /// Where it stands in the source.
    pub origin: Origin,
}

/// A loop: it counts from 0 as long as one of the cases holds.
#[derive(Clone, Debug)]
pub struct Iterations {
    /// What counts the iterations.
    pub counter: VarId,
    /// Values of the counter, with their conditions.
    pub runs: Vec<Case>,
}

/// A launch of the function, with the values of its parameters.
pub struct Launch<'v> {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// The value of a parameter, where it has one.
    pub parameter: &'v dyn Fn(VarId) -> Option<i128>,
}

/// Elements of an array, counted from its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    /// `None`: any.
    pub found: Option<BTreeSet<i128>>,
    /// No element is in it that is not touched.
    pub exact: bool,
}

/// The accesses of a function, in program order.
pub fn of(module: &Module, function: &Function) -> Vec<Touched> {
    walk::accesses(module, function)
}

/// What a block touches by those accesses together.
pub fn by_block<'t>(
    accesses: impl IntoIterator<Item = &'t Touched>,
    launch: &Launch<'_>,
    block: [u32; 3],
) -> Elements {
    let mut all = Elements { found: Some(BTreeSet::new()), exact: true };
    for access in accesses {
        for thread in numbers(launch.block) {
            let mut at = At { launch, block, thread, counters: BTreeMap::new(), exact: true };
            at.collect(access, &access.iterations, &mut all.found);
            all.exact &= at.exact;
        }
    }
    all.exact &= all.found.is_some();
    all
}

fn numbers(extents: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = extents;
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

/// One thread in one iteration of its loops.
struct At<'l> {
    launch: &'l Launch<'l>,
    block: [u32; 3],
    thread: [u32; 3],
    counters: BTreeMap<VarId, i128>,
    exact: bool,
}

impl At<'_> {
    fn value(&self, sum: &Poly) -> Option<i128> {
        sum.eval(&|atom| match atom {
            Atom::Var(v) => self.counters.get(v).copied().or_else(|| (self.launch.parameter)(*v)),
            _ => Some(i128::from(match cases::builtin(atom)? {
                Builtin::ThreadIdx(axis) => self.thread[axis.index()],
                Builtin::BlockIdx(axis) => self.block[axis.index()],
                Builtin::BlockDim(axis) => self.launch.block[axis.index()],
                Builtin::GridDim(axis) => self.launch.grid[axis.index()],
                _ => return None,
            })),
        })
    }

    /// Whether a case holds, as far as that is known; and whether it is.
    fn holds(&self, case: &Case) -> (bool, bool) {
        let values = case.when.iter().map(|sum| self.value(sum));
        let (mut holds, mut sure) = (true, !case.open);
        for value in values {
            holds &= value.is_none_or(|v| v >= 0);
            sure &= value.is_some();
        }
        (holds, sure)
    }

    fn collect(
        &mut self,
        access: &Touched,
        loops: &[Iterations],
        found: &mut Option<BTreeSet<i128>>,
    ) {
        let Some((outer, inner)) = loops.split_first() else { return self.note(access, found) };
        for k in 0..=MOST_ITERATIONS {
            self.counters.insert(outer.counter, k);
            let cases: Vec<(bool, bool)> = outer.runs.iter().map(|c| self.holds(c)).collect();
            if !cases.iter().any(|(holds, _)| *holds) {
                break;
            }
            if k == MOST_ITERATIONS || !cases.contains(&(true, true)) {
                // How long it goes on is not known.
                self.exact = false;
                *found = None;
                break;
            }
            self.collect(access, inner, found);
        }
        self.counters.remove(&outer.counter);
    }

    fn note(&mut self, access: &Touched, found: &mut Option<BTreeSet<i128>>) {
        let (holds, sure) = self.holds(&access.case);
        if !holds {
            return;
        }
        self.exact &= sure;
        let first = access.index.as_ref().and_then(|index| {
            let (first, rest) = index.split_first()?;
            rest.iter().zip(&access.rows).try_fold(self.value(first)?, |sum, (i, length)| {
                sum.checked_mul(self.value(length)?)?.checked_add(self.value(i)?)
            })
        });
        match (first, found.as_mut()) {
            (Some(first), Some(found)) => found.extend(first..first + i128::from(access.width)),
            (None, _) => *found = None,
            _ => {}
        }
    }
}
