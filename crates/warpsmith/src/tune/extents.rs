//! How many elements an array parameter has at given sizes.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Function, Module, PlaceKind, UnaryOp, Var};

use super::sizes::{self, Point};

/// The product of the declared extents; `None` when none are declared.
///
/// # Errors
/// A sentence when an extent needs something else than the sizes, is negative, or the product overflows.
pub fn elements(
    module: &Module,
    function: &Function,
    var: &Var,
    point: &Point,
) -> Result<Option<u64>, String> {
    let Some(shape) = extents(module, function, var, point)? else { return Ok(None) };
    let product = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    product.map(Some).ok_or_else(|| format!("the size of `{}` overflows", var.name))
}

/// The declared extents, outermost first.
///
/// # Errors
/// As [`elements`].
pub fn extents(
    module: &Module,
    function: &Function,
    var: &Var,
    point: &Point,
) -> Result<Option<Vec<u64>>, String> {
    let Some(shape) = &var.shape else { return Ok(None) };
    let mut extents = vec![];
    for extent in shape {
        let value = evaluate(module, function, extent, point)
            .ok_or_else(|| format!("an extent of `{}` depends on more than the sizes", var.name))?;
        // A negative extent is undefined in C; no launch has it, and an empty array stands for it.
        extents.push(value.max(0) as u64);
    }
    Ok(Some(extents))
}

/// The value of an integer expression over parameters; `None` when it is not one, or overflows.
fn evaluate(module: &Module, function: &Function, expr: &Expr, point: &Point) -> Option<i64> {
    match &*expr.kind {
        ExprKind::Const(v) => Some(v.as_i64()),
        ExprKind::Named(id) => module.constants.get(id.0 as usize).map(|c| c.value.as_i64()),
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(id) => point.get(&function.var(*id).name).copied(),
            PlaceKind::Field(..) => {
                point.get(&sizes::field_name(module, function, place)?).copied()
            }
            _ => None,
        },
        ExprKind::Cast(inner) if expr.ty.is_integer() => evaluate(module, function, inner, point),
        ExprKind::Unary(UnaryOp::Neg, inner) => {
            evaluate(module, function, inner, point)?.checked_neg()
        }
        ExprKind::Binary(op, a, b) => {
            let (a, b) =
                (evaluate(module, function, a, point)?, evaluate(module, function, b, point)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                BinaryOp::Div => a.checked_div(b),
                BinaryOp::Rem => a.checked_rem(b),
                BinaryOp::Shl => a.checked_mul(1i64.checked_shl(u32::try_from(b).ok()?)?),
                BinaryOp::Shr => a.checked_shr(u32::try_from(b).ok()?),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The elements of all array parameters together; `None` when an extent has no value or the sum overflows.
pub fn total_elements(module: &Module, function: &Function, point: &Point) -> Option<u64> {
    let vars = function.params.iter().map(|p| function.var(*p));
    vars.filter(|v| v.ty.is_pointer()).try_fold(0u64, |sum, var| {
        sum.checked_add(elements(module, function, var, point).ok()?.unwrap_or(1))
    })
}
