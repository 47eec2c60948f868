//! What integers may be in a launcher, whatever the sizes are.

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, Function, Place, PlaceKind, Scalar, StmtKind, UnaryOp, VarId,
};
use warpsmith_opt::walk;

/// The least and the greatest value that a number may have.
pub type Range = (i128, i128);

/// Whether one number is always, or never, above another.
pub fn above(a: Range, b: Range) -> Option<bool> {
    if a.0 > b.1 { Some(true) } else { (a.1 <= b.0).then_some(false) }
}

/// What an integer may be in the launcher: its parameters are sizes from 0 on, all else has the range of its type.
pub fn range(function: &Function, e: &Expr) -> Option<Range> {
    let ty = e.ty.scalar().filter(|s| s.is_integer() && *s != Scalar::Bool)?;
    let bits = 8 * ty.bytes();
    let whole = match ty.is_signed() {
        true => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    let found = match &*e.kind {
        ExprKind::Const(v) if ty != Scalar::U64 || v.as_i64() >= 0 => {
            Some((v.as_i64().into(), v.as_i64().into()))
        }
        ExprKind::Unary(UnaryOp::Neg, a) => range(function, a).map(|(low, high)| (-high, -low)),
        // A size that does not fit is none to be asked about.
        ExprKind::Cast(a) if is_size(function, a) => {
            range(function, a).map(|(low, high)| (low, high.min(whole.1)))
        }
        ExprKind::Cast(a) => range(function, a),
        ExprKind::Read(_) if is_size(function, e) => Some((0, whole.1)),
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(v) => value_of(function, *v).and_then(|e| range(function, e)),
            _ => None,
        },
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            let ((low, high), (least, most)) = (range(function, a)?, range(function, b)?);
            let add = *op == BinaryOp::Add;
            Some(if add { (low + least, high + most) } else { (low - most, high - least) })
        }
        _ => None,
    };
    Some(found.filter(|(low, high)| whole.0 <= *low && *high <= whole.1).unwrap_or(whole))
}

/// What a variable is declared with that nothing sets afterwards.
fn value_of(function: &Function, var: VarId) -> Option<&Expr> {
    let (mut set, mut value) = (0, None);
    walk::each_stmt(&function.body, &mut |s| {
        let o = walk::operands(s);
        let written = o.results.into_iter().chain(o.writes.and_then(Place::root_var));
        set += written.filter(|v| *v == var).count();
        if let StmtKind::Decl { var: own, init: Some(e) } = &s.kind
            && *own == var
        {
            value = Some(e);
        }
    });
    value.filter(|e| set == 1 && !walk::mentions(e, var))
}

/// A parameter that is an integer: a size.
fn is_size(function: &Function, e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Cast(inner) => is_size(function, inner),
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(v) => function.params.contains(v) && place.ty.is_integer(),
            _ => false,
        },
        _ => false,
    }
}
