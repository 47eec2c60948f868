//! Bit functions that C compilers have under `__builtin_` names.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, MathFn, Scalar, Span, Type};

use super::cx::{Cx, Low};
use crate::ast;

/// What a function makes of its operand.
#[derive(Clone, Copy)]
enum Bits {
    Count,
    Parity,
    LeadingZeros,
    TrailingZeros,
    FirstSet,
    SwapBytes,
}

/// Names without `__builtin_` and without the suffix for a wider operand.
const TABLE: &[(&str, Bits)] = &[
    ("popcount", Bits::Count),
    ("parity", Bits::Parity),
    ("clz", Bits::LeadingZeros),
    ("ctz", Bits::TrailingZeros),
    ("ffs", Bits::FirstSet),
];

fn lookup(name: &str) -> Option<(Bits, Scalar)> {
    let find = |n: &str| TABLE.iter().find(|(k, _)| *k == n).map(|(_, b)| *b);
    if let Some(bits) = find(name) {
        return Some((bits, Scalar::U32));
    }
    match name {
        "bswap16" => return Some((Bits::SwapBytes, Scalar::U16)),
        "bswap32" => return Some((Bits::SwapBytes, Scalar::U32)),
        "bswap64" => return Some((Bits::SwapBytes, Scalar::U64)),
        _ => {}
    }
    // `long` has 64 bits here, as `long long`.
    let wide = name.strip_suffix("ll").or_else(|| name.strip_suffix('l'))?;
    find(wide).map(|bits| (bits, Scalar::U64))
}

impl<'u> Cx<'u> {
    /// `name` without `__builtin_`; `None` for another function.
    pub fn bit_call(&mut self, name: &str, args: &[ast::Expr], span: Span) -> Low<Option<Expr>> {
        let Some((bits, ty)) = lookup(name) else { return Ok(None) };
        let [arg] = args else {
            return Err(self.wrong_count(&format!("__builtin_{name}"), 1, args.len(), span));
        };
        let value = self.scalar(arg)?;
        let x = self.convert(value, ty);
        let call = |f| Expr::new(ExprKind::Call(f, vec![x.clone()]), Type::I32, span);
        Ok(Some(match bits {
            Bits::Count => call(MathFn::Popc),
            Bits::Parity => Expr::binary(BinaryOp::BitAnd, call(MathFn::Popc), Expr::i32(1)),
            Bits::LeadingZeros => call(MathFn::Clz),
            Bits::TrailingZeros => Expr::binary(BinaryOp::Sub, call(MathFn::Ffs), Expr::i32(1)),
            Bits::FirstSet => call(MathFn::Ffs),
            Bits::SwapBytes => self.swapped(x, ty, span),
        }))
    }

    fn swapped(&mut self, x: Expr, ty: Scalar, span: Span) -> Expr {
        let shift = |op, x: Expr, by| Expr::binary(op, x, Expr::i32(by)).with_origin(span);
        match ty {
            Scalar::U16 => {
                let wide = x.cast(Type::I32);
                let (up, down) = (BinaryOp::Shl, BinaryOp::Shr);
                let (up, down) = (shift(up, wide.clone(), 8), shift(down, wide, 8));
                Expr::binary(BinaryOp::BitOr, up, down).cast(Type::Scalar(ty))
            }
            Scalar::U32 => swapped_word(x, span),
            _ => {
                let x = self.temp("word", Type::U64, Some(x), span);
                let low = swapped_word(x.clone().cast(Type::U32), span).cast(Type::U64);
                let high = shift(BinaryOp::Shr, x, 32).cast(Type::U32);
                let high = swapped_word(high, span).cast(Type::U64);
                Expr::binary(BinaryOp::BitOr, shift(BinaryOp::Shl, low, 32), high)
            }
        }
    }
}

/// The four bytes in the other order.
fn swapped_word(x: Expr, span: Span) -> Expr {
    let args = vec![x, Expr::int(Scalar::U32, 0), Expr::int(Scalar::U32, 0x0123)];
    Expr::new(ExprKind::Call(MathFn::BytePerm, args), Type::U32, span)
}
