//! Rules 1 to 5 and 7: expressions and places.

use super::{Checker, same};
use crate::expr::{BinaryOp, Expr, ExprKind, MathFn, Place, PlaceKind, UnaryOp};
use crate::layout::{field_of, layout_of};
use crate::span::Origin;
use crate::types::{Scalar, Type};
use crate::value::{Value, mask};

/// Whether the bits are those of a value of the type.
pub(super) fn fits(v: Value) -> bool {
    v.bits & mask(v.ty) == v.bits && (v.ty != Scalar::Bool || v.bits <= 1)
}

impl Checker<'_> {
    /// An expression with all its parts.
    pub fn expr(&mut self, e: &Expr) {
        self.parts(e);
        match &*e.kind {
            ExprKind::Const(v) => {
                let right = e.ty == Type::Scalar(v.ty) && fits(*v);
                let name = self.type_name(&e.ty);
                self.require(right, 2, &e.origin, format!("this is no constant of type {name}"));
            }
            ExprKind::Named(id) => match self.module.constants.get(id.0 as usize) {
                Some(c) => {
                    let right = e.ty == Type::Scalar(c.value.ty);
                    let name = c.name.clone();
                    self.require(right, 2, &e.origin, format!("`{name}` has another type"));
                }
                None => self.report(1, &e.origin, format!("there is no constant {}", id.0)),
            },
            _ => {
                if let Some(ty) = self.env().expr(&e.kind)
                    && !same(&ty, &e.ty)
                {
                    let (own, carried) = (self.type_name(&ty), self.type_name(&e.ty));
                    self.report(3, &e.origin, format!("this is {own} but says {carried}"));
                }
            }
        }
        if let Some(wrong) = self.wrong_operands(e) {
            self.report(4, &e.origin, wrong);
        }
    }

    fn parts(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Const(_) | ExprKind::Named(_) => {}
            ExprKind::Builtin(_) => {
                let device = self.is_device();
                self.require(device, 13, &e.origin, "a hardware value in a host function");
            }
            ExprKind::Read(p) => self.place(p),
            ExprKind::AddressOf(p) => {
                self.place(p);
                self.not_a_counter(p, "has its address taken");
            }
            ExprKind::Unary(_, a)
            | ExprKind::Cast(a)
            | ExprKind::Bitcast(a)
            | ExprKind::Member(a, _) => self.expr(a),
            ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Select(c, a, b) => {
                self.condition(c);
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Call(_, args) | ExprKind::Make(args) => {
                args.iter().for_each(|a| self.expr(a));
            }
        }
    }

    /// What is wrong with the types of the operands.
    fn wrong_operands(&self, e: &Expr) -> Option<String> {
        let wrong = |holds: bool, message: &str| (!holds).then(|| message.to_string());
        match &*e.kind {
            ExprKind::Unary(UnaryOp::Not, a) => wrong(a.ty == Type::BOOL, "`!` needs a bool"),
            ExprKind::Unary(UnaryOp::BitNot, a) => wrong(a.ty.is_integer(), "`~` needs an integer"),
            ExprKind::Unary(UnaryOp::Neg, a) => {
                wrong(a.ty.scalar().is_some(), "`-` needs a scalar")
            }
            ExprKind::Binary(op, a, b) => {
                let message = format!(
                    "`{}` cannot take {} and {}",
                    op.symbol(),
                    self.type_name(&a.ty),
                    self.type_name(&b.ty)
                );
                wrong(binary_operands(*op, &a.ty, &b.ty), &message)
            }
            ExprKind::PtrOffset(p, i) => wrong(
                p.ty.is_pointer() && i.ty.is_integer(),
                "an offset needs a pointer and an integer",
            ),
            ExprKind::PtrDiff(p, q) => {
                let right = p.ty.is_pointer() && same(&p.ty, &q.ty);
                wrong(right, "a difference needs two pointers of one type")
            }
            ExprKind::Cast(a) => {
                let message = format!(
                    "no conversion from {} to {}",
                    self.type_name(&a.ty),
                    self.type_name(&e.ty)
                );
                wrong(converts(&a.ty, &e.ty), &message)
            }
            ExprKind::Bitcast(a) => {
                let size = |ty| layout_of(self.module, ty).size;
                let right = size(&a.ty) == size(&e.ty) && a.ty != Type::Void && e.ty != Type::Void;
                wrong(right, "a bit cast needs types of one size")
            }
            ExprKind::Select(_, a, b) => wrong(same(&a.ty, &b.ty), "the two values differ in type"),
            ExprKind::Call(function, args) => {
                let message = format!("wrong operands for `{}`", function.name());
                wrong(math_operands(*function, args), &message)
            }
            ExprKind::Make(parts) => {
                wrong(self.makes(&e.ty, parts), "the parts do not fit the type")
            }
            ExprKind::Member(a, n) => {
                wrong(self.env().part(&a.ty, *n).is_some(), "the value has no such part")
            }
            ExprKind::Const(_)
            | ExprKind::Named(_)
            | ExprKind::Read(_)
            | ExprKind::AddressOf(_)
            | ExprKind::Builtin(_) => None,
        }
    }

    fn makes(&self, ty: &Type, parts: &[Expr]) -> bool {
        let fit = |part: &Expr, ty: &Type| same(&part.ty, ty);
        match ty {
            Type::Vector(s, n) => {
                parts.len() == usize::from(*n) && parts.iter().all(|p| fit(p, &Type::Scalar(*s)))
            }
            Type::Array(element, n) => {
                parts.len() as u64 == *n && parts.iter().all(|p| fit(p, element))
            }
            Type::Struct(id) => {
                let fields = self.module.structs.get(id.0 as usize).map(|s| &s.fields);
                fields.is_some_and(|f| {
                    f.len() == parts.len() && parts.iter().zip(f).all(|(p, f)| fit(p, &f.ty))
                })
            }
            _ => false,
        }
    }

    /// A condition: `bool`.
    pub fn condition(&mut self, e: &Expr) {
        self.expr(e);
        self.require(e.ty == Type::BOOL, 7, &e.origin, "a condition must be bool");
    }

    /// An integer for the given purpose.
    pub fn integer(&mut self, e: &Expr, rule: u8, what: &str) {
        self.expr(e);
        self.require(e.ty.is_integer(), rule, &e.origin, format!("{what} must be an integer"));
    }

    /// A place with all its parts.
    pub fn place(&mut self, p: &Place) {
        let wrong = match &*p.kind {
            PlaceKind::Var(id) => {
                self.use_var(*id, &p.origin);
                None
            }
            PlaceKind::Global(id) => {
                if id.0 as usize >= self.module.globals.len() {
                    self.report(1, &p.origin, format!("there is no global {}", id.0));
                }
                None
            }
            PlaceKind::Deref(pointer) => {
                self.expr(pointer);
                (!points_to_data(&pointer.ty)).then_some("only a pointer to data has a target")
            }
            PlaceKind::Elem { pointer, index, dims } => {
                self.elem(p, pointer, index, dims);
                (!points_to_data(&pointer.ty)).then_some("only a pointer to data has elements")
            }
            PlaceKind::Index(inner, i) => {
                self.place(inner);
                self.integer(i, 5, "an index");
                (!matches!(inner.ty, Type::Array(..))).then_some("only an array has elements")
            }
            PlaceKind::Field(inner, n) => {
                self.place(inner);
                match &inner.ty {
                    Type::Struct(id) if field_of(self.module, *id, *n).is_some() => None,
                    _ => Some("there is no such field"),
                }
            }
            PlaceKind::Component(inner, n) => {
                self.place(inner);
                match &inner.ty {
                    Type::Vector(_, count) if n < count => None,
                    _ => Some("there is no such component"),
                }
            }
        };
        if let Some(message) = wrong {
            self.report(5, &p.origin, message);
        } else if let Some(ty) = self.env().place(&p.kind)
            && !same(&ty, &p.ty)
        {
            let (own, carried) = (self.type_name(&ty), self.type_name(&p.ty));
            self.report(5, &p.origin, format!("this place is {own} but says {carried}"));
        }
    }

    fn elem(&mut self, p: &Place, pointer: &Expr, index: &[Expr], dims: &[Expr]) {
        self.expr(pointer);
        index.iter().for_each(|i| self.integer(i, 5, "an index"));
        dims.iter().for_each(|d| self.integer(d, 5, "an extent"));
        let counts = dims.len() + 1 == index.len();
        self.require(counts, 5, &p.origin, "there must be one extent fewer than indices");
    }

    /// A place that is written.
    pub fn written(&mut self, p: &Place) {
        self.place(p);
        self.not_a_counter(p, "is assigned");
        if self.is_constant(p) {
            self.report(24, &p.origin, "this is constant and cannot be written");
        }
    }

    fn is_constant(&self, p: &Place) -> bool {
        match &*p.kind {
            PlaceKind::Var(_) => false,
            PlaceKind::Global(id) => self
                .module
                .globals
                .get(id.0 as usize)
                .is_some_and(|g| g.space == crate::types::Space::Constant),
            PlaceKind::Deref(pointer) | PlaceKind::Elem { pointer, .. } => is_readonly(&pointer.ty),
            PlaceKind::Index(inner, _)
            | PlaceKind::Field(inner, _)
            | PlaceKind::Component(inner, _) => self.is_constant(inner),
        }
    }

    fn not_a_counter(&mut self, p: &Place, what: &str) {
        if let Some(var) = p.root_var() {
            self.counter_is_free(var, what, &p.origin);
        }
    }

    /// Rule 11: a variable that is set is not the counter of a loop around.
    pub fn counter_is_free(&mut self, var: crate::VarId, what: &str, origin: &Origin) {
        if self.counters.contains(&var) {
            let name = self.var_name(var);
            self.report(11, origin, format!("the loop counter {name} {what}"));
        }
    }
}

pub(super) fn is_readonly(ty: &Type) -> bool {
    matches!(ty, Type::Pointer { readonly: true, .. })
}

fn points_to_data(ty: &Type) -> bool {
    ty.pointee().is_some_and(|p| *p != Type::Void)
}

fn binary_operands(op: BinaryOp, a: &Type, b: &Type) -> bool {
    use BinaryOp::*;
    match op {
        LogicalAnd | LogicalOr => *a == Type::BOOL && *b == Type::BOOL,
        Shl | Shr => a.is_integer() && b.is_integer(),
        Rem | BitAnd | BitOr | BitXor => a.is_integer() && a == b,
        Add | Sub | Mul | Div => a.scalar().is_some() && a == b,
        Lt | Le | Gt | Ge | Eq | Ne => {
            (a.scalar().is_some() && a == b) || (a.is_pointer() && b.is_pointer())
        }
    }
}

fn converts(from: &Type, to: &Type) -> bool {
    let wide = |ty: &Type| matches!(ty, Type::Scalar(Scalar::I64 | Scalar::U64));
    match (from, to) {
        (Type::Scalar(_), Type::Scalar(_)) | (Type::Pointer { .. }, Type::Pointer { .. }) => true,
        (Type::Pointer { .. }, ty) | (ty, Type::Pointer { .. }) => wide(ty),
        _ => false,
    }
}

fn math_operands(function: MathFn, args: &[Expr]) -> bool {
    use MathFn::*;
    if args.len() != function.arity() {
        return false;
    }
    let Some(first) = args.first().and_then(|a| a.ty.scalar()) else {
        return false;
    };
    let others = if function == Ldexp { Scalar::I32 } else { first };
    let alike = args[1..].iter().all(|a| a.ty == Type::Scalar(others));
    let word = matches!(first, Scalar::I32 | Scalar::U32);
    alike
        && match function {
            Abs | Min | Max => first != Scalar::Bool,
            Popc | Clz | Ffs | Brev | MulHi | Mul24 | Sad | Settled => {
                first.is_integer() && first != Scalar::Bool
            }
            BytePerm | FunnelShiftLeft | FunnelShiftRight | Dp4a => word,
            MapShared | SharedRank => first == Scalar::U64,
            _ => first.is_float(),
        }
}
