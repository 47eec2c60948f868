//! Accesses that move several elements at once.

use warpsmith_ir::{Expr, ExprKind, Origin, Place, PlaceKind, Scalar, Space, Type};

/// The widest access in bytes.
pub const WIDEST: u32 = 16;

/// Whether there is a vector type of so many elements that one access can move.
pub fn has_vector(element: Scalar, width: u32) -> bool {
    let odd = matches!(element, Scalar::Bool | Scalar::F16 | Scalar::BF16);
    width > 1 && !odd && element.bytes() * width <= WIDEST
}

/// The type of pointers to memory of a space.
pub fn pointer(pointee: Type, space: Space, readonly: bool) -> Type {
    Type::Pointer { pointee: pointee.into(), space, volatile: false, readonly }
}

/// The vector that begins with an element.
pub fn wide(place: Place, space: Space, width: u32, readonly: bool) -> Place {
    let Some(element) = place.ty.scalar() else { return place };
    wide_as(place, Type::Vector(element, width as u8), space, readonly)
}

/// The address of an element.
pub fn address(place: Place, space: Space, readonly: bool) -> Expr {
    let ty = pointer(place.ty.clone(), space, readonly);
    Expr::new(ExprKind::AddressOf(place), ty, Origin::default())
}

/// What begins with an element, as of another type.
pub fn wide_as(place: Place, ty: Type, space: Space, readonly: bool) -> Place {
    let first = address(place, space, readonly).cast(pointer(ty.clone(), space, readonly));
    Place::new(PlaceKind::Deref(first), ty, Origin::default())
}

/// An element of a vector.
pub fn part(vector: &Expr, at: u32) -> Expr {
    let Type::Vector(element, _) = vector.ty else { return vector.clone() };
    let kind = ExprKind::Member(vector.clone(), at);
    Expr::new(kind, Type::Scalar(element), Origin::default())
}

/// What a vector of so many elements is called.
pub fn name(width: u32) -> &'static str {
    if width == 2 { "pair" } else { "four" }
}
