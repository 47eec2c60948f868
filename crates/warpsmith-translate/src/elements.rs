//! Scalars of ours as the elements that workers compare, and back.

use warpsmith_gpu::protocol::Element;
use warpsmith_ir::Scalar;

/// How an output of this type is compared.
pub fn element(ty: Scalar) -> Element {
    match ty {
        Scalar::F16 => Element::F16,
        Scalar::BF16 => Element::Bf16,
        Scalar::F32 => Element::F32,
        Scalar::F64 => Element::F64,
        other => Element::Bits(u8::try_from(other.bytes()).unwrap_or(1)),
    }
}

/// A type with that comparison: integers of its width where bits are compared.
pub fn scalar_of(element: Element) -> Scalar {
    match element {
        Element::F16 => Scalar::F16,
        Element::Bf16 => Scalar::BF16,
        Element::F32 => Scalar::F32,
        Element::F64 => Scalar::F64,
        Element::Bits(2) => Scalar::U16,
        Element::Bits(4) => Scalar::U32,
        Element::Bits(8) => Scalar::U64,
        Element::Bits(_) => Scalar::U8,
    }
}

/// The unit roundoff of a type of reals; 0 of others.
pub fn roundoff(ty: Scalar) -> f64 {
    match ty {
        Scalar::F64 => f64::EPSILON / 2.0,
        Scalar::F32 => f64::from(f32::EPSILON) / 2.0,
        Scalar::F16 => 2f64.powi(-11),
        Scalar::BF16 => 2f64.powi(-8),
        _ => 0.0,
    }
}
