//! How the value of an expression depends on the variable that is reduced.

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, MathFn, PlaceKind, ReduceOp, Scalar, Type, UnaryOp, VarId,
};

use super::{Follow, Form};
use crate::walk;

impl Follow<'_> {
    pub(super) fn form(&self, e: &Expr) -> Form {
        match &*e.kind {
            ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => Form::Free,
            ExprKind::Read(place) if self.is_target(place) => Form::Own,
            ExprKind::Read(place) => match place.root_var().and_then(|v| self.forms.get(&v)) {
                Some(form) if matches!(*place.kind, PlaceKind::Var(_)) => *form,
                Some(_) => Form::Mixed,
                None => self.parts(e),
            },
            ExprKind::Cast(a) => match self.form(a) {
                Form::Own if self.keeps(&a.ty, &e.ty) && self.narrows_rightly(a, &e.ty) => {
                    Form::Own
                }
                Form::Free => Form::Free,
                _ => Form::Mixed,
            },
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Select(c, a, b) => self.choice(c, a, b),
            ExprKind::Call(f, args) => self.function(*f, args),
            _ => self.parts(e),
        }
    }

    /// Of an expression that is no contribution whatever is in it.
    fn parts(&self, e: &Expr) -> Form {
        let mut free = true;
        walk::each_expr(e, &mut |inner| {
            free &= match &*inner.kind {
                ExprKind::Read(place) | ExprKind::AddressOf(place) => {
                    !self.is_target(place)
                        && place
                            .root_var()
                            .is_none_or(|v| Some(v) != self.target && !self.forms.contains_key(&v))
                }
                _ => true,
            };
        });
        if free { Form::Free } else { Form::Mixed }
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Form {
        let (left, right) = (self.form(a), self.form(b));
        let other = match (left, right) {
            (Form::Free, Form::Free) => return Form::Free,
            (Form::Own, Form::Free) => b,
            (Form::Free, Form::Own) => a,
            _ => return Form::Mixed,
        };
        let truth = || is_truth(other, &|_| false);
        // A sum of `bool` is none.
        let number = self.ty != Scalar::Bool;
        let right = match (self.op, op) {
            (ReduceOp::Add, BinaryOp::Add) | (ReduceOp::Mul, BinaryOp::Mul) => number,
            (ReduceOp::Add, BinaryOp::Sub) => number && left == Form::Own,
            (ReduceOp::BitAnd, BinaryOp::BitAnd) | (ReduceOp::BitOr, BinaryOp::BitOr) => true,
            (ReduceOp::BitXor, BinaryOp::BitXor) => number || truth(),
            (ReduceOp::LogicalAnd, BinaryOp::BitAnd) | (ReduceOp::LogicalOr, BinaryOp::BitOr) => {
                truth()
            }
            (ReduceOp::LogicalAnd, BinaryOp::LogicalAnd)
            | (ReduceOp::LogicalOr, BinaryOp::LogicalOr) => true,
            (ReduceOp::LogicalAnd | ReduceOp::LogicalOr, BinaryOp::Ne) => is_zero(other),
            _ => false,
        };
        if right { Form::Own } else { Form::Mixed }
    }

    pub(super) fn choice(&self, c: &Expr, a: &Expr, b: &Expr) -> Form {
        match (self.form(c), self.form(a), self.form(b)) {
            (Form::Free, a, b) if a == b => a,
            (Form::Free, Form::Own, Form::Free) if self.absorbs(b) => Form::Own,
            (Form::Free, Form::Free, Form::Own) if self.absorbs(a) => Form::Own,
            (Form::Own, Form::Free, Form::Own) if self.prefers(c, a) => Form::Own,
            (_, Form::Free, Form::Own) if self.prefers(c, a) && self.is_variable(b) => Form::Own,
            (_, Form::Own, Form::Free) if self.rejects(c, b) && self.is_variable(a) => Form::Own,
            // `ok ? e : 0` and `found ? 1 : e`.
            (Form::Own, Form::Free, Form::Free) => {
                let truth = |e: &Expr| is_truth(e, &|_| false);
                let right = match self.op {
                    ReduceOp::LogicalAnd => truth(a) && self.absorbs(b),
                    ReduceOp::LogicalOr => self.absorbs(a) && truth(b),
                    _ => false,
                };
                if right { Form::Own } else { Form::Mixed }
            }
            _ => Form::Mixed,
        }
    }

    fn function(&self, f: MathFn, args: &[Expr]) -> Form {
        let forms: Vec<Form> = args.iter().map(|a| self.form(a)).collect();
        if forms.iter().all(|f| *f == Form::Free) {
            return Form::Free;
        }
        let one =
            forms.iter().filter(|f| **f == Form::Own).count() == 1 && !forms.contains(&Form::Mixed);
        let right = match (self.op, f) {
            (ReduceOp::Min, MathFn::Min) | (ReduceOp::Max, MathFn::Max) => one,
            (ReduceOp::Add, MathFn::Fma) => one && forms.last() == Some(&Form::Own),
            _ => false,
        };
        if right { Form::Own } else { Form::Mixed }
    }

    /// Whether a conversion leaves what was combined with the variable as it is, rounding aside.
    fn keeps(&self, from: &Type, to: &Type) -> bool {
        let (Some(from), Some(to)) = (from.scalar(), to.scalar()) else { return false };
        let logical = matches!(self.op, ReduceOp::LogicalAnd | ReduceOp::LogicalOr);
        if to == self.ty {
            return from.is_float() == to.is_float();
        }
        if to == Scalar::Bool || from == Scalar::Bool {
            return logical || from == self.ty;
        }
        if self.ty.is_float() {
            return to.is_float() && to.bytes() >= self.ty.bytes();
        }
        let ordered = to.is_signed() || !self.ty.is_signed();
        let extreme = matches!(self.op, ReduceOp::Min | ReduceOp::Max);
        let wide = match extreme && to.is_signed() != self.ty.is_signed() {
            true => to.bytes() > self.ty.bytes(),
            false => to.bytes() >= self.ty.bytes(),
        };
        to.is_integer() && wide && (!extreme || ordered)
    }

    /// Of a least or greatest integer in a wider type: what it was compared with must fit into the type of the variable.
    fn narrows_rightly(&self, e: &Expr, to: &Type) -> bool {
        let extreme = matches!(self.op, ReduceOp::Min | ReduceOp::Max);
        let narrower = match (e.ty.scalar(), to.scalar()) {
            (Some(from), Some(to)) => to.is_integer() && from != to && to == self.ty,
            _ => false,
        };
        !(extreme && narrower) || self.fits(e)
    }

    /// Whether all values of an expression are values of the variable's type.
    fn fits(&self, e: &Expr) -> bool {
        if self.form(e) == Form::Own && self.is_variable(e) {
            return true;
        }
        match &*e.kind {
            ExprKind::Const(v) => {
                warpsmith_ir::Value::int(self.ty, v.as_i64()).as_i64() == v.as_i64()
            }
            ExprKind::Cast(inner) => inner.ty.scalar() == Some(self.ty) || self.fits(inner),
            ExprKind::Select(_, a, b) => self.fits(a) && self.fits(b),
            ExprKind::Call(MathFn::Min | MathFn::Max, args) => args.iter().all(|a| self.fits(a)),
            _ => e.ty.scalar() == Some(self.ty),
        }
    }

    /// Whether an expression is the variable combined with others, conversions aside.
    fn is_variable(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Read(_) => self.form(e) == Form::Own,
            ExprKind::Cast(inner) => self.form(e) == Form::Own && self.is_variable(inner),
            _ => false,
        }
    }

    /// Whether a condition holds where a value is better than the variable, for the least and the greatest.
    pub(super) fn prefers(&self, cond: &Expr, value: &Expr) -> bool {
        self.compares(cond, value, false)
    }

    /// Whether a condition fails there.
    fn rejects(&self, cond: &Expr, value: &Expr) -> bool {
        self.compares(cond, value, true)
    }

    fn compares(&self, cond: &Expr, value: &Expr, fails: bool) -> bool {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &*cond.kind {
            return self.compares(inner, value, !fails);
        }
        let ExprKind::Binary(op, a, b) = &*cond.kind else { return false };
        let greater = match op {
            BinaryOp::Gt | BinaryOp::Ge => true,
            BinaryOp::Lt | BinaryOp::Le => false,
            _ => return false,
        };
        let is_value = |e: &Expr| monotone(e) == monotone(value) && self.form(e) == Form::Free;
        let value_greater = if is_value(a) && self.stands_for(b) {
            greater
        } else if is_value(b) && self.stands_for(a) {
            !greater
        } else {
            return false;
        };
        let wanted = if self.op == ReduceOp::Max { !fails } else { fails };
        let extreme = matches!(self.op, ReduceOp::Min | ReduceOp::Max);
        let fits = !value.ty.is_integer()
            || value.ty.scalar() != Some(self.ty)
            || match &*value.kind {
                ExprKind::Cast(inner) if inner.ty.is_integer() => {
                    ordered(&inner.ty, &value.ty) || self.fits(inner)
                }
                _ => true,
            };
        extreme && value_greater == wanted && fits
    }

    /// The variable in a type that orders its values alike.
    fn stands_for(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Cast(inner) => ordered(&inner.ty, &e.ty) && self.stands_for(inner),
            _ => self.is_variable(e),
        }
    }

    /// Whether a value makes all others not count: 0 of `&&`, 1 of `||`.
    pub(super) fn absorbs(&self, value: &Expr) -> bool {
        let constant =
            value.without_casts().as_const().filter(|v| v.ty.is_integer()).map(|v| v.as_i64());
        match self.op {
            ReduceOp::LogicalAnd => constant == Some(0),
            ReduceOp::LogicalOr => constant == Some(1),
            _ => false,
        }
    }

    /// Whether a condition says that the variable is not decided yet: `ok` of a conjunction, `!found` of a disjunction.
    pub(super) fn undecided(&self, e: &Expr) -> bool {
        match (&*e.kind, self.op) {
            (ExprKind::Unary(UnaryOp::Not, inner), ReduceOp::LogicalOr) => self.is_set(inner),
            (ExprKind::Binary(BinaryOp::Eq, a, b), ReduceOp::LogicalOr) => {
                is_zero(b) && self.is_set(a)
            }
            (_, ReduceOp::LogicalAnd) => self.is_set(e),
            _ => false,
        }
    }

    fn is_set(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Read(place) => self.is_target(place),
            ExprKind::Cast(inner) => self.is_set(inner),
            ExprKind::Binary(BinaryOp::Ne, a, b) => is_zero(b) && self.is_set(a),
            _ => false,
        }
    }
}

/// Whether an expression is 0 or 1, where variables that `known` names are.
pub(super) fn is_truth(e: &Expr, known: &dyn Fn(VarId) -> bool) -> bool {
    if e.ty == Type::BOOL {
        return true;
    }
    match &*e.kind {
        ExprKind::Const(v) => v.ty.is_integer() && matches!(v.as_i64(), 0 | 1),
        ExprKind::Read(place) => matches!(*place.kind, PlaceKind::Var(v) if known(v)),
        ExprKind::Cast(inner) => is_truth(inner, known),
        ExprKind::Binary(BinaryOp::BitAnd, a, b) => {
            let one = |e: &Expr| e.as_const().is_some_and(|v| v.ty.is_integer() && v.as_i64() == 1);
            one(a) || one(b) || (is_truth(a, known) && is_truth(b, known))
        }
        ExprKind::Binary(BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Mul, a, b) => {
            is_truth(a, known) && is_truth(b, known)
        }
        ExprKind::Select(_, a, b) => is_truth(a, known) && is_truth(b, known),
        _ => false,
    }
}

fn is_zero(e: &Expr) -> bool {
    e.without_casts().as_const().is_some_and(|v| v.ty.is_integer() && v.as_i64() == 0)
}

/// An expression without conversions that keep the order of values, as far as they are outermost.
fn monotone(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Cast(inner) if ordered(&inner.ty, &e.ty) => monotone(inner),
        _ => e,
    }
}

/// Whether a conversion never puts a smaller value after a greater one. A real that is too large for an integer becomes
/// the greatest one.
fn ordered(from: &Type, to: &Type) -> bool {
    let (Some(from), Some(to)) = (from.scalar(), to.scalar()) else { return false };
    if from.is_float() || to.is_float() {
        return to != Scalar::Bool && (to.is_float() || to.is_signed());
    }
    match (from.is_signed(), to.is_signed()) {
        _ if from == to => true,
        (false, true) => to.bytes() > from.bytes(),
        (true, false) => false,
        _ => to.bytes() >= from.bytes(),
    }
}
