//! Types of arguments, by the names that T1 and C have for them.

use warpsmith_gpu::protocol::{Element, Tolerance};
use warpsmith_ir::{Scalar, Type};

use crate::data;
use warpsmith_translate::elements::element;

/// What a buffer consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// So many scalars an element.
    Numbers(Scalar, u64),
    /// An element of so many bytes that nobody but the kernel understands.
    Opaque(u64),
}

impl Kind {
    /// By name; `bytes` is the size of an element that the problem states.
    pub fn named(name: &str, bytes: Option<u64>) -> Option<Kind> {
        if name == "custom" {
            return bytes.filter(|n| *n > 0).map(Kind::Opaque);
        }
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let lanes = match &name[digits.len()..] {
            "" => Some(1),
            text @ ("2" | "4" | "8" | "16") => text.parse().ok(),
            _ => None,
        };
        let real = match digits {
            "half" => Some(Scalar::F16),
            "float" => Some(Scalar::F32),
            "double" => Some(Scalar::F64),
            _ => None,
        };
        if let (Some(scalar), Some(lanes)) = (real, lanes) {
            return Some(Kind::Numbers(scalar, lanes));
        }
        let integer = match name {
            "bool" => Some(Scalar::Bool),
            "int8" => Some(Scalar::I8),
            "uint8" => Some(Scalar::U8),
            "int16" => Some(Scalar::I16),
            "uint16" => Some(Scalar::U16),
            "int32" => Some(Scalar::I32),
            "uint32" => Some(Scalar::U32),
            "int64" => Some(Scalar::I64),
            "uint64" => Some(Scalar::U64),
            _ => None,
        };
        if let Some(scalar) = integer {
            return Some(Kind::Numbers(scalar, 1));
        }
        match data::Element::from_name(name) {
            data::Element::Type(Type::Scalar(scalar)) => Some(Kind::Numbers(scalar, 1)),
            data::Element::Type(Type::Vector(scalar, n)) => Some(Kind::Numbers(scalar, n.into())),
            _ => None,
        }
    }

    /// Of an element, in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Kind::Numbers(scalar, lanes) => u64::from(scalar.bytes()) * lanes,
            Kind::Opaque(bytes) => bytes,
        }
    }

    /// How outputs of this type are compared.
    pub fn compared(self) -> Element {
        match self {
            Kind::Numbers(scalar, _) => element(scalar),
            Kind::Opaque(_) => Element::Bits(1),
        }
    }
}

/// How far an output may be off where the problem does not say: configurations add in different orders.
pub fn usual_tolerance(element: Element) -> Tolerance {
    let near =
        |epsilon: f64| Tolerance { absolute: epsilon, relative: epsilon, ..Tolerance::default() };
    match element {
        Element::F64 => near(1e-10),
        Element::F32 => near(1e-4),
        Element::F16 => near(1e-2),
        Element::Bf16 => near(5e-2),
        Element::Bits(_) => Tolerance::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_the_names_of_both_worlds() {
        let kind = |name| Kind::named(name, None);
        assert_eq!(kind("float"), Some(Kind::Numbers(Scalar::F32, 1)));
        assert_eq!(kind("float16"), Some(Kind::Numbers(Scalar::F32, 16)));
        assert_eq!(kind("half4").map(Kind::bytes), Some(8));
        assert_eq!(kind("int16"), Some(Kind::Numbers(Scalar::I16, 1)));
        assert_eq!(kind("unsigned int"), Some(Kind::Numbers(Scalar::U32, 1)));
        assert_eq!(kind("int4"), Some(Kind::Numbers(Scalar::I32, 4)));
        assert_eq!(Kind::named("custom", Some(12)), Some(Kind::Opaque(12)));
        for name in ["custom", "float5", "quad", ""] {
            assert_eq!(kind(name), None, "{name}");
        }
    }
}
