//! Arrays with an element for each iteration of a nest.

use warpsmith_ir::{BinaryOp, Expr, ForLoop, Type};

use crate::build::{counters, trips};
use crate::kernel::Kernel;
use crate::sizes;

/// The extents of such an array: how many iterations each loop has.
pub(in crate::rewrite) fn extents(kernel: &mut Kernel, loops: &[ForLoop]) -> Vec<Expr> {
    loops.iter().map(|l| extent(kernel, l)).collect()
}

/// A number of the launcher where the distance between the bounds may be another one: it is no size of memory where the loop does not run.
fn extent(kernel: &mut Kernel, l: &ForLoop) -> Expr {
    if counters::is_const(&l.first, 0) || kernel.goes_on(l) {
        return trips::distance(kernel.func(), l);
    }
    let value = sizes::over_parameters(kernel.func(), &trips::length(kernel.func(), l));
    let name = kernel.name_of(l.var).to_string();
    let comment = format!("iterations of the loop over `{name}`");
    let known =
        kernel.lengths.iter().find(|known| known.comment == comment && known.value == value);
    let var = known.map(|known| known.var);
    let var = var.unwrap_or_else(|| kernel.add_length(&format!("{name}_count"), value, comment));
    Expr::var(var, kernel.func().var(var).ty.clone())
}

/// The subscripts of an iteration's element: its number in each loop.
pub(in crate::rewrite) fn numbers(kernel: &Kernel, loops: &[ForLoop]) -> Vec<Expr> {
    let number = |l: &ForLoop| {
        let at = Expr::var(l.var, kernel.func().var(l.var).ty.clone());
        if counters::is_const(&l.first, 0) {
            return at;
        }
        let ty = match kernel.goes_on(l) {
            true => at.ty.clone(),
            false => Type::Scalar(trips::length_type(kernel.func(), l)),
        };
        Expr::binary(BinaryOp::Sub, trips::in_type(at, &ty), trips::in_type(l.first.clone(), &ty))
    };
    loops.iter().map(number).collect()
}
