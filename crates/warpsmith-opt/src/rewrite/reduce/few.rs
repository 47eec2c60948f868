//! Loops that have no more iterations than a reduction has threads, whatever the sizes are: no thread comes to a second one, and there are
//! never more blocks wanted than there may be.

use warpsmith_ir::{BinaryOp, Block, Expr, ExprKind, ForLoop, Function, PlaceKind, Stmt};

use crate::build::stmts::{declare, when};
use crate::build::{counters, trips};
use crate::kernel::{Kernel, Reduce};
use crate::walk;

/// Whether a loop is one.
pub(super) fn is_few(source: &Kernel, l: &ForLoop, shape: Reduce) -> bool {
    let most = trips::constant_count(source.func(), l).or_else(|| most_of_length(source, l));
    most.is_some_and(|n| n <= shape.threads() * shape.blocks())
        && walk::continues(&l.body).is_none()
}

/// The most iterations of a loop over a number of the launcher.
fn most_of_length(source: &Kernel, l: &ForLoop) -> Option<u64> {
    let ExprKind::Read(place) = &*l.limit.kind else { return None };
    let PlaceKind::Var(limit) = *place.kind else { return None };
    let from_zero = counters::is_const(&l.first, 0) && counters::is_const(&l.step, 1);
    let known = source.lengths.iter().find(|known| known.var == limit)?;
    if from_zero && l.compare == BinaryOp::Lt { known.most.map(u64::from) } else { None }
}

/// The one iteration of a thread, in place of a loop in strides of all of them.
pub(super) fn once(strides: ForLoop, host: &Function) -> [Stmt; 2] {
    let counter = Expr::var(strides.var, host.var(strides.var).ty.clone());
    let inside = counters::inside(&strides, counter);
    let Block { stmts } = strides.body;
    [declare(strides.var, strides.first), when(inside, stmts)]
}
