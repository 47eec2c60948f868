//! How the counters of a serial loop and of a bound loop around it make up rows of an array.

use warpsmith_ir::poly::{Atom, Poly, gcd};
use warpsmith_ir::{LoopId, VarId};

use super::access::{Scope, View};
use crate::kernel::Kernel;

/// Most iterations of the serial loop.
pub const MOST: i128 = 64;

/// How the counters of a streamed loop make up its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Rows from one iteration of the bound loop to the next; positive.
    pub along: i128,
    /// Rows from one iteration of the serial loop to the next; not 0.
    pub inner: i128,
    /// First value and number of iterations of the serial loop.
    pub first: i128,
    /// Iterations of the serial loop.
    pub count: i128,
}

impl Rows {
    /// Rows that `factor` neighbouring iterations of the bound loop pass.
    pub fn number(&self, factor: i128) -> i128 {
        self.along * (factor - 1) + self.inner.abs() * (self.count - 1) + 1
    }
}

/// How a serial loop and a bound one make up rows, by the first read whose subscript moves with both; `None`: there is
/// none, or the range of the serial loop is not constant and short.
pub fn of(kernel: &Kernel, inner: LoopId, along: LoopId) -> Option<Rows> {
    let (l, bound) = (kernel.find_loop(inner)?, kernel.find_loop(along)?);
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(inner), l);
    let (low, high) = scope.range(l);
    let (first, last) = (low?.as_constant()?, high?.as_constant()?);
    let count = last - first + 1;
    if !(2..=MOST).contains(&count) {
        return None;
    }
    let accesses = scope.accesses();
    let subscripts = accesses.iter().flat_map(|a| match &a.view {
        View::Affine { index, .. } => index.as_slice(),
        View::Unknown(_) => &[],
    });
    subscripts.filter_map(|p| moves(p, bound.var, l.var)).next().map(|(along, inner)| {
        let common = gcd(along, inner);
        Rows { along: along / common, inner: inner / common, first, count }
    })
}

/// The factors of two counters in a subscript, the first of them positive.
fn moves(p: &Poly, along: VarId, inner: VarId) -> Option<(i128, i128)> {
    let factor = |var: VarId| {
        let mut terms = p.terms().filter(|(m, _)| m.iter().any(|a| a.mentions(var)));
        match (terms.next(), terms.next()) {
            (Some(([Atom::Var(v)], f)), None) if *v == var => Some(f),
            _ => None,
        }
    };
    let (along, inner) = (factor(along)?, factor(inner)?);
    (along > 0 && inner != 0).then_some((along, inner))
}
