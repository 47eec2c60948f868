//! The parameters that predefined functions have for given arguments, so that overloads of the user's can be weighed against
//! them.

use warpsmith_ir::{Scalar, Type};

use super::c_math::Shape;
use super::{atomic, c_math, integer, math};

/// The overload of a predefined function that suits some arguments best.
pub struct Overload {
    pub params: Vec<Type>,
    /// It is a template of the standard library, which loses against a function that fits as well.
    pub is_template: bool,
}

/// The overload of `name` for arguments of these types; `None` where there is none, or its parameters are not listed here.
pub fn overload(name: &str, args: &[Type]) -> Option<Overload> {
    let plain = |params: Vec<Type>| Some(Overload { params, is_template: false });
    if let Some(params) = atomic::parameters(name, args) {
        return plain(params);
    }
    let scalars: Vec<Scalar> = args.iter().map(Type::scalar).collect::<Option<_>>()?;
    let all = |ty: Scalar| vec![Type::Scalar(ty); args.len()];
    if matches!(name, "min" | "max") {
        let [a, b] = scalars[..] else { return None };
        let half = |s| matches!(s, Scalar::F16 | Scalar::BF16);
        return (!half(a) && !half(b)).then(|| all(crate::arith::usual(a, b))).and_then(plain);
    }
    if let Some((ty, arity)) = math::intrinsic_type(name).or_else(|| integer::parameter(name)) {
        return (arity == args.len()).then(|| all(ty)).and_then(plain);
    }
    let math = c_math::lookup(name).filter(|m| m.shape == Shape::Plain)?;
    if math.function.arity() != args.len() || scalars.is_empty() {
        return None;
    }
    match math.ty {
        Some(Scalar::F32) => plain(all(Scalar::F32)),
        // `pow(double, int)` and the like are templates for any numbers.
        Some(Scalar::F64) => {
            let function = scalars.iter().all(|s| *s == scalars[0])
                && matches!(scalars[0], Scalar::F32 | Scalar::F64);
            Some(Overload { params: args.to_vec(), is_template: !function })
        }
        _ => None,
    }
}
