//! The type that an expression or place has by its parts.
//!
//! The text form leaves these types out, and the verifier compares them with the ones that nodes carry.

use std::sync::Arc;

use crate::eval::math_result;
use crate::expr::{Builtin, ExprKind, Place, PlaceKind};
use crate::layout::field_of;
use crate::module::{Module, Var, VarKind};
use crate::types::{Scalar, Space, Type};

/// What names mean: the module and the variables of one function.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    /// Structures, globals, constants and functions.
    pub module: &'a Module,
    /// Variables of the function, by [`crate::VarId`].
    pub vars: &'a [Var],
}

impl Env<'_> {
    /// The type an expression must have, from the types that its parts carry. `None` where the
    /// expression states its own (casts, aggregates), or where the parts make no sense.
    ///
    /// The address of a place points into the space that the place is known to be in, and keeps the
    /// qualifiers of the pointer it came through.
    pub fn expr(&self, kind: &ExprKind) -> Option<Type> {
        match kind {
            ExprKind::Const(v) => Some(Type::Scalar(v.ty)),
            ExprKind::Named(id) => {
                let c = self.module.constants.get(id.0 as usize)?;
                Some(Type::Scalar(c.value.ty))
            }
            ExprKind::Read(place) => Some(place.ty.clone()),
            ExprKind::AddressOf(place) => Some(self.address(place)),
            ExprKind::Unary(_, a) | ExprKind::PtrOffset(a, _) | ExprKind::Select(_, a, _) => {
                Some(a.ty.clone())
            }
            ExprKind::Binary(op, ..) if op.is_comparison() || op.is_logical() => Some(Type::BOOL),
            ExprKind::Binary(_, a, _) => Some(a.ty.clone()),
            ExprKind::PtrDiff(..) => Some(Type::I64),
            ExprKind::Cast(_) | ExprKind::Bitcast(_) | ExprKind::Make(_) => None,
            ExprKind::Call(function, args) => {
                let operand = args.first()?.ty.scalar()?;
                Some(Type::Scalar(math_result(*function, operand)))
            }
            ExprKind::Builtin(Builtin::Clock64) => Some(Type::U64),
            ExprKind::Builtin(_) => Some(Type::U32),
            ExprKind::Member(a, n) => self.part(&a.ty, *n),
        }
    }

    /// The type a place must have.
    pub fn place(&self, kind: &PlaceKind) -> Option<Type> {
        match kind {
            PlaceKind::Var(id) => Some(self.vars.get(id.0 as usize)?.ty.clone()),
            PlaceKind::Global(id) => Some(self.module.globals.get(id.0 as usize)?.ty.clone()),
            PlaceKind::Deref(pointer) | PlaceKind::Elem { pointer, .. } => {
                pointer.ty.pointee().cloned()
            }
            PlaceKind::Index(inner, _) => match &inner.ty {
                Type::Array(element, _) => Some((**element).clone()),
                _ => None,
            },
            PlaceKind::Field(inner, n) => match &inner.ty {
                Type::Struct(_) => self.part(&inner.ty, *n),
                _ => None,
            },
            PlaceKind::Component(inner, n) => match &inner.ty {
                Type::Vector(..) => self.part(&inner.ty, (*n).into()),
                _ => None,
            },
        }
    }

    /// The type of a component of a vector or a field of a struct.
    pub fn part(&self, ty: &Type, n: u32) -> Option<Type> {
        match ty {
            Type::Vector(s, count) if n < u32::from(*count) => Some(Type::Scalar(*s)),
            Type::Struct(id) => field_of(self.module, *id, n).map(|(_, ty)| ty.clone()),
            _ => None,
        }
    }

    fn address(&self, place: &Place) -> Type {
        let (space, volatile, readonly) = self.qualifiers(place);
        Type::Pointer { pointee: Arc::new(place.ty.clone()), space, volatile, readonly }
    }

    /// Space, volatile and readonly of the memory that a place is in.
    fn qualifiers(&self, place: &Place) -> (Space, bool, bool) {
        match &*place.kind {
            PlaceKind::Var(id) => match self.vars.get(id.0 as usize).map(|v| v.kind) {
                Some(VarKind::Shared | VarKind::DynamicShared) => (Space::Shared, false, false),
                _ => (Space::Local, false, false),
            },
            PlaceKind::Global(id) => {
                let space =
                    self.module.globals.get(id.0 as usize).map_or(Space::Global, |g| g.space);
                (space, false, space == Space::Constant)
            }
            PlaceKind::Deref(pointer) | PlaceKind::Elem { pointer, .. } => match &pointer.ty {
                Type::Pointer { space, volatile, readonly, .. } => (*space, *volatile, *readonly),
                _ => (Space::Generic, false, false),
            },
            PlaceKind::Index(inner, _)
            | PlaceKind::Field(inner, _)
            | PlaceKind::Component(inner, _) => self.qualifiers(inner),
        }
    }
}

/// `f32x4` and its like.
pub(crate) fn vector_name(s: Scalar, n: u8) -> String {
    format!("{s}x{n}")
}
