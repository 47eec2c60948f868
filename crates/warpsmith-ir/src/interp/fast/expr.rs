//! Translates expressions and places.

use super::code::{Address, Index, Op, Reg};
use super::compile::{Compiler, Fit, Label, Unfit};
use super::scalar;
use crate::eval;
use crate::expr::{BinaryOp, Builtin, Expr, ExprKind, MathFn, Place, PlaceKind, UnaryOp};
use crate::layout::{field_of, layout_of};
use crate::types::{Scalar, Type};
use crate::value::Value;

impl<'m> Compiler<'m, '_> {
    /// A register that holds the value.
    pub(super) fn expr(&mut self, e: &'m Expr) -> Fit<Reg> {
        match &*e.kind {
            ExprKind::Const(v) => Ok(self.constant(v.bits)),
            ExprKind::Named(id) => {
                let named = self.module.constants.get(id.0 as usize).ok_or(Unfit)?;
                Ok(self.constant(named.value.bits))
            }
            ExprKind::Builtin(Builtin::WarpSize) => Ok(self.constant(32)),
            ExprKind::Read(place) => match self.register_of(place) {
                Some(variable) => {
                    self.check(variable);
                    Ok(variable)
                }
                None => self.expr_to(e, None),
            },
            ExprKind::Cast(a) if e.ty.pointee().is_some() && a.ty.pointee().is_some() => {
                self.expr(a)
            }
            _ => self.expr_to(e, None),
        }
    }

    /// The value in the register `to`, or in a new one.
    pub(super) fn expr_to(&mut self, e: &'m Expr, to: Option<Reg>) -> Fit<Reg> {
        let op = match &*e.kind {
            ExprKind::Binary(op, a, b) if !op.is_logical() => {
                let op = self.operator(*op, a, b)?;
                return Ok(self.emit_to(to, op));
            }
            ExprKind::Binary(op, a, b) => return self.logical(*op, a, b, to),
            ExprKind::Select(c, a, b) => return self.select(c, [a, b], to),
            ExprKind::Read(place) if self.register_of(place).is_none() => {
                let ty = scalar_of(&place.ty)?;
                let at = self.address(place, false)?;
                Op::Load { ty, to: 0, at }
            }
            ExprKind::AddressOf(place) => Op::Offset { to: 0, at: self.address(place, true)? },
            ExprKind::Unary(op, a) => {
                Op::Unary { op: *op, ty: scalar_of(&a.ty)?, to: 0, a: self.expr(a)? }
            }
            ExprKind::PtrOffset(p, i) => {
                let size = self.size(e.ty.pointee().unwrap_or(&Type::Void));
                let base = self.expr(p)?;
                let index = Some(self.index(i, size)?);
                Op::Offset { to: 0, at: Address { base, index, offset: 0 } }
            }
            ExprKind::PtrDiff(a, b) => {
                let size = self.size(a.ty.pointee().unwrap_or(&Type::Void)).max(1);
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                Op::Difference { to: 0, a, b, size }
            }
            ExprKind::Cast(a) => self.cast(a, &e.ty)?,
            ExprKind::Bitcast(a) => match (&a.ty, &e.ty) {
                (Type::Scalar(from), Type::Scalar(ty)) if from.bytes() == ty.bytes() => {
                    Op::Bits { ty: *ty, to: 0, a: self.expr(a)? }
                }
                _ => return Err(Unfit),
            },
            ExprKind::Call(function, args) => self.math(*function, args)?,
            ExprKind::Builtin(_) if !matches!(*e.kind, ExprKind::Builtin(Builtin::WarpSize)) => {
                return Err(Unfit);
            }
            ExprKind::Make(_) | ExprKind::Member(..) => return Err(Unfit),
            _ => Op::Copy { to: 0, a: self.expr(e)? },
        };
        Ok(self.emit_to(to, op))
    }

    fn operator(&mut self, op: BinaryOp, a: &'m Expr, b: &'m Expr) -> Fit<Op> {
        let types = [scalar_of(&a.ty)?, scalar_of(&b.ty)?];
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        Ok(match scalar::binary(op, types[0]).filter(|_| types[0] == types[1]) {
            Some(f) => Op::Binary { f, to: 0, a, b },
            None => Op::AnyBinary { op, types, to: 0, a, b },
        })
    }

    fn cast(&mut self, a: &'m Expr, to: &Type) -> Fit<Op> {
        let from = scalar_of(&a.ty)?;
        let ty = match (to, &a.ty) {
            (Type::Pointer { .. }, Type::Pointer { .. }) => {
                return Ok(Op::Copy { to: 0, a: self.expr(a)? });
            }
            // An integer becomes a pointer with its sign.
            (Type::Pointer { .. }, _) => Scalar::I64,
            _ => scalar_of(to)?,
        };
        Ok(Op::Cast { from, ty, to: 0, a: self.expr(a)? })
    }

    fn math(&mut self, function: MathFn, args: &'m [Expr]) -> Fit<Op> {
        if function == MathFn::Settled || args.is_empty() || args.len() > 3 {
            return Err(Unfit);
        }
        let mut operands = [(0, Scalar::I32); 3];
        for (to, arg) in operands.iter_mut().zip(args) {
            *to = (self.expr(arg)?, scalar_of(&arg.ty)?);
        }
        Ok(Op::Math { function, to: 0, args: operands, count: args.len() as u8 })
    }

    fn logical(&mut self, op: BinaryOp, a: &'m Expr, b: &'m Expr, to: Option<Reg>) -> Fit<Reg> {
        let stops = op == BinaryOp::LogicalOr;
        let [stopped, went_on] = [stops, !stops].map(|v| self.constant(Value::bool(v).bits));
        // Not in `to` itself: `b` may read the variable that is assigned.
        let result = self.temporary();
        let end = self.label();
        self.emit(Op::Copy { to: result, a: stopped });
        self.branch(a, stops, end)?;
        self.branch(b, stops, end)?;
        self.emit(Op::Copy { to: result, a: went_on });
        self.bind(end);
        Ok(self.moved(result, to))
    }

    fn select(&mut self, c: &'m Expr, [a, b]: [&'m Expr; 2], to: Option<Reg>) -> Fit<Reg> {
        let result = self.temporary();
        let (otherwise, end) = (self.label(), self.label());
        self.branch(c, false, otherwise)?;
        self.expr_to(a, Some(result))?;
        self.emit(Op::Jump { to: end });
        self.bind(otherwise);
        self.expr_to(b, Some(result))?;
        self.bind(end);
        Ok(self.moved(result, to))
    }

    fn moved(&mut self, from: Reg, to: Option<Reg>) -> Reg {
        match to {
            Some(to) => {
                self.emit(Op::Copy { to, a: from });
                to
            }
            None => from,
        }
    }

    /// Jumps to the label when the condition is `when`.
    pub(super) fn branch(&mut self, c: &'m Expr, when: bool, to: Label) -> Fit<()> {
        if c.ty != Type::Scalar(Scalar::Bool) {
            return Err(Unfit);
        }
        match &*c.kind {
            ExprKind::Unary(UnaryOp::Not, a) => return self.branch(a, !when, to),
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                // Either operand decides alone, or both have to agree.
                if (*op == BinaryOp::LogicalOr) == when {
                    self.branch(a, when, to)?;
                    return self.branch(b, when, to);
                }
                let not = self.label();
                self.branch(a, !when, not)?;
                self.branch(b, when, to)?;
                self.bind(not);
                return Ok(());
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                if let Op::Binary { f, a, b, .. } = self.operator(*op, a, b)? {
                    self.emit(Op::Branch { f, a, b, when, to });
                    return Ok(());
                }
            }
            _ => {}
        }
        let a = self.expr(c)?;
        self.emit(Op::JumpIf { a, when, to });
        Ok(())
    }

    /// Where the place lies; with `end` it may be one past the end of an array, whose address is taken.
    pub(super) fn address(&mut self, place: &'m Place, end: bool) -> Fit<Address> {
        match &*place.kind {
            PlaceKind::Var(var) => {
                let base = self.address_of_var(*var)?;
                Ok(Address { base, index: None, offset: 0 })
            }
            PlaceKind::Global(id) => {
                let base = self.address_register(Err(id.0));
                Ok(Address { base, index: None, offset: 0 })
            }
            PlaceKind::Deref(p) => Ok(Address { base: self.expr(p)?, index: None, offset: 0 }),
            PlaceKind::Elem { pointer, index, dims } => {
                let base = self.expr(pointer)?;
                let size = self.size(&place.ty);
                match &index[..] {
                    [i] => {
                        let index = Some(self.index(i, size)?);
                        Ok(Address { base, index, offset: 0 })
                    }
                    _ => self.rows(base, size, (index, dims), end),
                }
            }
            PlaceKind::Index(inner, i) => {
                let Type::Array(_, length) = inner.ty else { return Err(Unfit) };
                // An array of length 0 ends its object, which knows how long it really is.
                if length > 0 {
                    let index = self.wide(i)?;
                    let length = self.constant(length);
                    self.emit(Op::InRange { index, length, end });
                }
                let mut at = self.address(inner, false)?;
                if at.index.is_some() {
                    at = self.flat(at);
                }
                let size = self.size(&place.ty);
                Ok(Address { index: Some(self.index(i, size)?), ..at })
            }
            PlaceKind::Field(inner, n) => {
                let Type::Struct(id) = inner.ty else { return Err(Unfit) };
                let (offset, _) = field_of(self.module, id, *n).ok_or(Unfit)?;
                let at = self.address(inner, false)?;
                Ok(Address { offset: at.offset.wrapping_add(offset as i64), ..at })
            }
            PlaceKind::Component(inner, n) => {
                let bytes = i64::from(*n) * self.size(&place.ty);
                let at = self.address(inner, false)?;
                Ok(Address { offset: at.offset.wrapping_add(bytes), ..at })
            }
        }
    }

    /// An element of an array of rows: each subscript after the first stays inside its row.
    fn rows(
        &mut self,
        base: Reg,
        size: i64,
        (index, dims): (&'m [Expr], &'m [Expr]),
        end: bool,
    ) -> Fit<Address> {
        let (first, rest) = index.split_first().ok_or(Unfit)?;
        let mut linear = self.wide(first)?;
        for (k, i) in rest.iter().enumerate() {
            let i = self.wide(i)?;
            if let Some(dim) = dims.get(k) {
                let length = self.wide(dim)?;
                self.emit(Op::InRange { index: i, length, end });
                linear = self.wide_operation(BinaryOp::Mul, linear, length)?;
            }
            linear = self.wide_operation(BinaryOp::Add, linear, i)?;
        }
        let index = Some(Index { of: linear, scale: size, narrow: false });
        Ok(Address { base, index, offset: 0 })
    }

    fn wide_operation(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Fit<Reg> {
        let f = scalar::binary(op, Scalar::I64).ok_or(Unfit)?;
        Ok(self.emit_to(None, Op::Binary { f, to: 0, a, b }))
    }

    fn flat(&mut self, at: Address) -> Address {
        let base = self.emit_to(None, Op::Offset { to: 0, at });
        Address { base, index: None, offset: 0 }
    }

    fn index(&mut self, e: &'m Expr, scale: i64) -> Fit<Index> {
        if scalar_of(&e.ty)? == Scalar::I32 && !matches!(*e.kind, ExprKind::Const(_)) {
            return Ok(Index { of: self.expr(e)?, scale, narrow: true });
        }
        Ok(Index { of: self.wide(e)?, scale, narrow: false })
    }

    /// An integer as one of 64 bits.
    fn wide(&mut self, e: &'m Expr) -> Fit<Reg> {
        let from = scalar_of(&e.ty)?;
        if let ExprKind::Const(v) = &*e.kind {
            return Ok(self.constant(eval::cast(*v, Scalar::I64).bits));
        }
        let a = self.expr(e)?;
        Ok(match from {
            Scalar::I32 => self.emit_to(None, Op::Extend { to: 0, a }),
            Scalar::I8 | Scalar::I16 => {
                self.emit_to(None, Op::Cast { from, ty: Scalar::I64, to: 0, a })
            }
            _ if from.is_float() => return Err(Unfit),
            _ => a,
        })
    }

    fn size(&self, ty: &Type) -> i64 {
        layout_of(self.module, ty).size as i64
    }
}

/// The type whose bits a register holds; pointers are numbers of 64 bits.
pub(super) fn scalar_of(ty: &Type) -> Fit<Scalar> {
    match ty {
        Type::Scalar(s) => Ok(*s),
        Type::Pointer { .. } => Ok(Scalar::U64),
        _ => Err(Unfit),
    }
}
