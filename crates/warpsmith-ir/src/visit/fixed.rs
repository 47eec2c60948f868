//! What a text says once and for all.

use std::collections::BTreeSet;

use super::for_each_subexpr;
use crate::expr::{Expr, ExprKind, PlaceKind};
use crate::module::VarId;

/// Whether a value is made of constants: of nothing that is read, and no number of a thread or a block.
pub fn is_fixed(value: &Expr) -> bool {
    is_fixed_beside(value, &BTreeSet::new())
}

/// Whether a value is made of constants and these variables.
pub fn is_fixed_beside(value: &Expr, vars: &BTreeSet<VarId>) -> bool {
    let mut fixed = true;
    for_each_subexpr(value, &mut |e| {
        fixed &= match &*e.kind {
            ExprKind::Read(place) => matches!(&*place.kind, PlaceKind::Var(v) if vars.contains(v)),
            ExprKind::Builtin(_) => false,
            _ => true,
        };
    });
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, BinaryOp, Builtin, Scalar, Type};

    #[test]
    fn constants_are_fixed_and_what_is_read_is_not() {
        let int = Type::Scalar(Scalar::I32);
        let sum = |b: Expr| Expr::binary(BinaryOp::Add, Expr::i32(2), b);
        let read = Expr::var(VarId(3), int);
        let thread = Expr::builtin(Builtin::ThreadIdx(Axis::X));
        assert!(is_fixed(&sum(Expr::i32(1))));
        assert!(!is_fixed(&sum(read.clone())));
        assert!(!is_fixed(&sum(thread)));
        assert!(is_fixed_beside(&sum(read.clone()), &BTreeSet::from([VarId(3)])));
        assert!(!is_fixed_beside(&sum(read), &BTreeSet::from([VarId(4)])));
    }
}
