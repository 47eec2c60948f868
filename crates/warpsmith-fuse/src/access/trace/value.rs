//! Values of expressions.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Scalar, Type, UnaryOp, Value, eval};

use super::{Frame, Run, Stop, Val};
use crate::access::affine::Affine;

impl Run<'_> {
    pub(super) fn expr(&mut self, e: &Expr, frame: &mut Frame) -> Result<Val, Stop> {
        match &*e.kind {
            ExprKind::Const(v) if !v.ty.is_float() => Ok(Val::Int(Affine::constant(v.as_i64()))),
            ExprKind::Const(_) => Ok(Val::Other),
            ExprKind::Named(id) => {
                let value = self.module.constants[id.0 as usize].value;
                let float = value.ty.is_float();
                Ok(if float { Val::Other } else { Val::Int(Affine::constant(value.as_i64())) })
            }
            ExprKind::Read(place) => self.read(place, frame),
            ExprKind::AddressOf(place) => {
                let address = self.address(place, frame)?;
                Ok(address.map_or(Val::Other, |(base, at)| Val::Pointer(base, at)))
            }
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.ty, frame),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, frame),
            ExprKind::PtrOffset(pointer, index) => self.offset(pointer, index, &e.ty, frame),
            ExprKind::Cast(a) => self.cast(a, &e.ty, frame),
            ExprKind::Select(cond, a, b) => match self.expr(cond, frame)? {
                Val::Int(n) => match n.as_constant() {
                    Some(0) => self.expr(b, frame),
                    Some(_) => self.expr(a, frame),
                    None => self.linear_or(None),
                },
                _ => {
                    let (a, b) = (self.expr(a, frame)?, self.expr(b, frame)?);
                    Ok(if a == b { a } else { Val::Other })
                }
            },
            ExprKind::Call(_, args) => {
                for arg in args {
                    self.expr(arg, frame)?;
                }
                self.trace.functions += 1;
                Ok(Val::Other)
            }
            ExprKind::Make(parts) => {
                for part in parts {
                    self.expr(part, frame)?;
                }
                Ok(Val::Other)
            }
            ExprKind::PtrDiff(a, b) => {
                self.expr(a, frame)?;
                self.expr(b, frame)?;
                Ok(Val::Other)
            }
            ExprKind::Bitcast(a) | ExprKind::Member(a, _) => {
                self.expr(a, frame)?;
                Ok(Val::Other)
            }
            ExprKind::Builtin(_) => Err(Stop::Refused(
                "it asks the hardware for coordinates, which are others in a fused kernel",
            )),
        }
    }

    fn unary(&mut self, op: UnaryOp, a: &Expr, ty: &Type, frame: &mut Frame) -> Result<Val, Stop> {
        let value = self.expr(a, frame)?;
        self.count(ty);
        match (op, value) {
            (UnaryOp::Neg, Val::Int(n)) => self.linear_or(n.times(-1)),
            (_, Val::Int(n)) => match (n.as_constant(), a.ty.scalar()) {
                (Some(n), Some(ty)) => Ok(int(eval::unary(op, Value::int(ty, n)))),
                _ => self.linear_or(None),
            },
            _ => Ok(Val::Other),
        }
    }

    fn offset(
        &mut self,
        pointer: &Expr,
        index: &Expr,
        ty: &Type,
        frame: &mut Frame,
    ) -> Result<Val, Stop> {
        let size = self.size(ty.pointee());
        let (pointer, index) = (self.expr(pointer, frame)?, self.expr(index, frame)?);
        match (pointer, index) {
            (Val::Pointer(base, at), Val::Int(n)) => {
                let moved = n.times(size).and_then(|n| at.plus(&n));
                match moved {
                    Some(at) => Ok(Val::Pointer(base, at)),
                    None => self.linear_or(None),
                }
            }
            _ => Ok(Val::Other),
        }
    }

    fn count(&mut self, ty: &Type) {
        self.trace.flops += u64::from(ty.is_float());
    }

    /// A linear value; where it is none, each thread must be run for itself, or the value is not known.
    fn linear_or(&self, value: Option<Affine>) -> Result<Val, Stop> {
        match (value, self.linear) {
            (Some(n), _) => Ok(Val::Int(n)),
            (None, true) => Err(Stop::NotLinear),
            (None, false) => Ok(Val::Other),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, frame: &mut Frame) -> Result<Val, Stop> {
        let left = self.expr(a, frame)?;
        if op.is_logical()
            && let Val::Int(n) = left
            && let Some(n) = n.as_constant()
            && (n != 0) == (op == BinaryOp::LogicalOr)
        {
            return Ok(left);
        }
        let right = self.expr(b, frame)?;
        self.count(&a.ty);
        let (Val::Int(x), Val::Int(y)) = (left, right) else { return Ok(Val::Other) };
        if let (Some(x), Some(y), Some(s), Some(t)) =
            (x.as_constant(), y.as_constant(), a.ty.scalar(), b.ty.scalar())
        {
            return Ok(int(eval::binary(op, Value::int(s, x), Value::int(t, y))));
        }
        let linear = match op {
            BinaryOp::Add => x.plus(&y),
            BinaryOp::Sub => x.minus(&y),
            BinaryOp::Mul => match (x.as_constant(), y.as_constant()) {
                (Some(n), _) => y.times(n),
                (_, Some(n)) => x.times(n),
                _ => None,
            },
            BinaryOp::Shl => {
                let shift = y.as_constant().filter(|n| (0..31).contains(n));
                shift.and_then(|n| x.times(1 << n))
            }
            _ => None,
        };
        self.linear_or(linear)
    }

    fn cast(&mut self, a: &Expr, to: &Type, frame: &mut Frame) -> Result<Val, Stop> {
        let value = self.expr(a, frame)?;
        Ok(match (value, to.scalar()) {
            (Val::Int(n), Some(ty)) if !ty.is_float() => match (n.as_constant(), a.ty.scalar()) {
                (Some(n), Some(from)) => int(eval::cast(Value::int(from, n), ty)),
                // Coordinates and offsets are small: no conversion changes them, but that to `bool` does.
                _ if ty == Scalar::Bool => return self.linear_or(None),
                _ => value,
            },
            (Val::Pointer(..), None) if to.is_pointer() => value,
            (Val::Element { .. }, _) if a.ty == *to => value,
            _ => Val::Other,
        })
    }
}

fn int(value: Value) -> Val {
    Val::Int(Affine::constant(value.as_i64()))
}
