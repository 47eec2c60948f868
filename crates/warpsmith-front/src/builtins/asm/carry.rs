//! PTX additions and subtractions in several words: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.lo.cc`, `madc.hi`.
//!
//! The carry is a register of its own. PTX promises nothing between two `asm` statements, but people count on the
//! compiler to keep those of one function together, and it does: the carry goes on within a function.

use warpsmith_ir::{BinaryOp, Diagnostic, Expr, ExprKind, MathFn, Scalar, Type};

use super::text::Instruction;
use super::{Machine, scalar};

/// The register that holds the carry, 0 or 1.
pub const CARRY: &str = "%cc";

/// Executes the instruction if it reads or writes the carry; false otherwise.
pub fn run(m: &mut Machine<'_>, i: &Instruction) -> Result<bool, Diagnostic> {
    let (takes, subtracts, multiplies) = match i.name() {
        "add" => (false, false, false),
        "addc" => (true, false, false),
        "sub" => (false, true, false),
        "subc" => (true, true, false),
        "mad" => (false, false, true),
        "madc" => (true, false, true),
        _ => return Ok(false),
    };
    let gives = i.has("cc");
    let Some((to, from)) = i.operands.split_first().filter(|_| takes || gives) else {
        return Ok(false);
    };
    let s = match scalar(i.suffix()) {
        Some(Scalar::U32 | Scalar::I32) => Scalar::U32,
        Some(Scalar::U64 | Scalar::I64) => Scalar::U64,
        _ => return Ok(false),
    };
    let signed = matches!(scalar(i.suffix()), Some(Scalar::I32 | Scalar::I64));
    let (x, y) = match (from, multiplies) {
        ([a, b], false) => (m.operand(a, s)?, m.operand(b, s)?),
        ([a, b, c], true) => {
            let high = i.has("hi");
            let of = if high && signed { signed_like(s) } else { s };
            let (a, b) = (m.operand(a, of)?, m.operand(b, of)?);
            let product = product(m, high, a, b);
            (m.as_type(product, &Type::Scalar(s)), m.operand(c, s)?)
        }
        _ => return Ok(false),
    };
    let (x, y) = (m.cx.hold(x, m.span), m.cx.hold(y, m.span));
    let carry = match takes {
        true => m.operand(CARRY, s)?,
        false => Expr::int(s, 0),
    };
    let op = if subtracts { BinaryOp::Sub } else { BinaryOp::Add };
    let part = Expr::binary(op, x.clone(), y.clone()).with_origin(m.span);
    let part = m.cx.hold(part, m.span);
    let value = Expr::binary(op, part.clone(), carry.clone()).with_origin(m.span);
    let value = m.cx.hold(value, m.span);
    if gives {
        let less = |a: &Expr, b: &Expr| Expr::binary(BinaryOp::Lt, a.clone(), b.clone());
        let (first, second) = match subtracts {
            true => (less(&x, &y), less(&part, &carry)),
            false => (less(&part, &x), less(&value, &part)),
        };
        let one = |e: Expr| Expr::new(ExprKind::Cast(e), Type::U32, m.span);
        let over = Expr::binary(BinaryOp::BitOr, one(first), one(second)).with_origin(m.span);
        m.write(CARRY, over);
    }
    m.write(to, value);
    Ok(true)
}

fn signed_like(s: Scalar) -> Scalar {
    if s == Scalar::U32 { Scalar::I32 } else { Scalar::I64 }
}

/// The low or high half of a product.
fn product(m: &Machine<'_>, high: bool, a: Expr, b: Expr) -> Expr {
    match high {
        true => {
            let ty = a.ty.clone();
            Expr::new(ExprKind::Call(MathFn::MulHi, vec![a, b]), ty, m.span)
        }
        false => Expr::binary(BinaryOp::Mul, a, b).with_origin(m.span),
    }
}
