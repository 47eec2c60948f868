//! The functions of C's `<math.h>` and `<stdlib.h>` that have a counterpart on the device.
//!
//! Both front ends read this table: C takes the name as it is (`sqrt` is double), CUDA C++ overloads the plain name.

use warpsmith_ir::{MathFn, Scalar};

/// How a call of the function maps to its [`MathFn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All operands and the result have one type.
    Plain,
    /// The result is converted to an integer type (`lround`).
    ToInteger(Scalar),
    /// The second operand is an `int` (`ldexp`).
    IntSecond,
    /// The result is a truth value (`isnan`).
    Predicate,
}

/// A function of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CMath {
    pub function: MathFn,
    /// The operands' type; `None` for the macros that take any real (`isnan`).
    pub ty: Option<Scalar>,
    pub shape: Shape,
}

/// Names of the double-precision functions of one result type; with an `f` appended they are single.
pub const REAL: &[(&str, MathFn)] = &[
    ("sqrt", MathFn::Sqrt),
    ("rsqrt", MathFn::Rsqrt),
    ("cbrt", MathFn::Cbrt),
    ("rcbrt", MathFn::Rcbrt),
    ("exp", MathFn::Exp),
    ("exp2", MathFn::Exp2),
    ("exp10", MathFn::Exp10),
    ("expm1", MathFn::Expm1),
    ("log", MathFn::Log),
    ("log2", MathFn::Log2),
    ("log10", MathFn::Log10),
    ("log1p", MathFn::Log1p),
    ("sin", MathFn::Sin),
    ("cos", MathFn::Cos),
    ("tan", MathFn::Tan),
    ("sinpi", MathFn::Sinpi),
    ("cospi", MathFn::Cospi),
    ("asin", MathFn::Asin),
    ("acos", MathFn::Acos),
    ("atan", MathFn::Atan),
    ("atan2", MathFn::Atan2),
    ("sinh", MathFn::Sinh),
    ("cosh", MathFn::Cosh),
    ("tanh", MathFn::Tanh),
    ("asinh", MathFn::Asinh),
    ("acosh", MathFn::Acosh),
    ("atanh", MathFn::Atanh),
    ("pow", MathFn::Pow),
    ("fmod", MathFn::Fmod),
    ("remainder", MathFn::Remainder),
    ("hypot", MathFn::Hypot),
    ("erf", MathFn::Erf),
    ("erfc", MathFn::Erfc),
    ("tgamma", MathFn::Tgamma),
    ("lgamma", MathFn::Lgamma),
    ("normcdf", MathFn::Normcdf),
    ("floor", MathFn::Floor),
    ("ceil", MathFn::Ceil),
    ("trunc", MathFn::Trunc),
    ("round", MathFn::Round),
    ("rint", MathFn::Rint),
    ("nearbyint", MathFn::Rint),
    ("fabs", MathFn::Abs),
    ("fmin", MathFn::Min),
    ("fmax", MathFn::Max),
    ("fma", MathFn::Fma),
    ("copysign", MathFn::Copysign),
    ("fdim", MathFn::Fdim),
    ("nextafter", MathFn::Nextafter),
];

/// Rounding functions with an integer result.
pub const TO_INTEGER: &[(&str, MathFn)] = &[
    ("lround", MathFn::Round),
    ("llround", MathFn::Round),
    ("lrint", MathFn::Rint),
    ("llrint", MathFn::Rint),
];

/// Tests of a real, macros in C and overloads in C++.
pub const PREDICATES: &[(&str, MathFn)] = &[
    ("isnan", MathFn::IsNan),
    ("isinf", MathFn::IsInf),
    ("isfinite", MathFn::IsFinite),
    ("signbit", MathFn::SignBit),
];

/// The function a C program means by `name`; `None` when the library has none, or none that runs on the device.
pub fn lookup(name: &str) -> Option<CMath> {
    let find =
        |table: &[(&str, MathFn)], n: &str| table.iter().find(|(k, _)| *k == n).map(|(_, f)| *f);
    let real = |n: &str, ty: Scalar| {
        let of = |function, shape| CMath { function, ty: Some(ty), shape };
        find(REAL, n)
            .map(|f| of(f, Shape::Plain))
            .or_else(|| find(TO_INTEGER, n).map(|f| of(f, Shape::ToInteger(Scalar::I64))))
            .or_else(|| {
                (matches!(n, "ldexp" | "scalbn")).then(|| of(MathFn::Ldexp, Shape::IntSecond))
            })
    };
    let integer = |ty| CMath { function: MathFn::Abs, ty: Some(ty), shape: Shape::Plain };
    match name {
        "abs" => return Some(integer(Scalar::I32)),
        "labs" | "llabs" => return Some(integer(Scalar::I64)),
        _ => {}
    }
    if let Some(function) = find(PREDICATES, name) {
        return Some(CMath { function, ty: None, shape: Shape::Predicate });
    }
    real(name, Scalar::F64).or_else(|| real(name.strip_suffix('f')?, Scalar::F32))
}

/// A `long double` function, such as `sqrtl`.
pub fn is_long_double(name: &str) -> bool {
    name.strip_suffix('l').is_some_and(|n| {
        lookup(name).is_none() && lookup(n).is_some_and(|m| m.ty == Some(Scalar::F64))
    })
}

/// All names, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    REAL.iter().chain(TO_INTEGER).chain(PREDICATES).map(|(n, _)| *n)
}

/// Operands the call takes.
impl CMath {
    pub fn arity(&self) -> usize {
        self.function.arity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_names_carry_their_precision() {
        assert_eq!(lookup("sqrt").unwrap().ty, Some(Scalar::F64));
        assert_eq!(lookup("sqrtf").unwrap().ty, Some(Scalar::F32));
        assert_eq!(
            lookup("erf").unwrap(),
            CMath { function: MathFn::Erf, ty: Some(Scalar::F64), shape: Shape::Plain }
        );
        assert_eq!(lookup("erff").unwrap().ty, Some(Scalar::F32));
        assert_eq!(lookup("lroundf").unwrap().shape, Shape::ToInteger(Scalar::I64));
        assert_eq!(lookup("labs").unwrap().ty, Some(Scalar::I64));
        assert!(lookup("frobnicate").is_none() && lookup("f").is_none());
    }

    #[test]
    fn long_double_functions_are_recognised_only_to_be_refused() {
        assert!(is_long_double("sqrtl") && !is_long_double("ceil") && !is_long_double("labs"));
    }
}
