//! The parts of the C++ library that kernels use: `numeric_limits`, `swap`, `clamp`, operators as objects.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Scalar, StmtKind, Value};

use super::call::{Call, Lowered};
use crate::sema::builtin_api::BuiltinTemplateArg;

/// The number type a template argument names.
pub fn type_arg(args: &[BuiltinTemplateArg]) -> Option<Scalar> {
    match args.first()? {
        BuiltinTemplateArg::Type(t) => t.scalar(),
        BuiltinTemplateArg::Value(_) => None,
    }
}

pub fn names() -> impl Iterator<Item = &'static str> {
    ["swap", "clamp", "move", "forward"].into_iter()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    if let Some(what) = c.name.strip_prefix("numeric_limits").and_then(|n| n.rsplit("::").next()) {
        let ty = type_arg(c.template_args)?;
        let value = limit(what, ty)?;
        return Some(c.arity(0).map(|()| Some(Expr::constant(value).with_origin(c.span))));
    }
    match c.name {
        "swap" => Some(swap(c)),
        "clamp" if c.is_std => Some(clamp(c)),
        "move" | "forward" if c.is_std => Some(c.arity(1).map(|()| Some(c.args[0].clone()))),
        _ => None,
    }
}

/// `numeric_limits<T>::what()`.
fn limit(what: &str, ty: Scalar) -> Option<Value> {
    let real = |f16: f64, bf16: f64, f32: f64, f64: f64| {
        Value::float(
            ty,
            match ty {
                Scalar::F16 => f16,
                Scalar::BF16 => bf16,
                Scalar::F32 => f32,
                _ => f64,
            },
        )
    };
    let bits = 8 * ty.bytes();
    let top = |ty: Scalar| match ty {
        Scalar::Bool => 1,
        t if t.is_signed() => (u64::MAX >> 1 >> (64 - bits)) as i64,
        _ => (u64::MAX >> (64 - bits)) as i64,
    };
    let max = |ty: Scalar| match ty {
        t if t.is_float() => real(65504.0, 3.389_531_389_251_535_5e38, f32::MAX.into(), f64::MAX),
        t => Value::int(t, top(t)),
    };
    Some(match (what, ty.is_float()) {
        ("max", _) => max(ty),
        ("lowest", true) => Value::float(ty, -max(ty).as_f64()),
        ("lowest" | "min", false) if ty.is_signed() => Value::int(ty, !top(ty)),
        ("lowest" | "min", false) => Value::int(ty, 0),
        ("min", true) => real(
            2f64.powi(-14),
            f32::MIN_POSITIVE.into(),
            f32::MIN_POSITIVE.into(),
            f64::MIN_POSITIVE,
        ),
        ("epsilon", true) => real(2f64.powi(-10), 2f64.powi(-7), f32::EPSILON.into(), f64::EPSILON),
        ("epsilon", false) => Value::int(ty, 0),
        ("infinity", true) => Value::float(ty, f64::INFINITY),
        ("quiet_NaN" | "signaling_NaN", true) => Value::float(ty, f64::NAN),
        ("denorm_min", true) => {
            real(2f64.powi(-24), 2f64.powi(-133), f32::from_bits(1).into(), f64::from_bits(1))
        }
        ("round_error", true) => Value::float(ty, 0.5),
        ("infinity" | "quiet_NaN" | "signaling_NaN" | "denorm_min" | "round_error", false) => {
            Value::int(ty, 0)
        }
        _ => return None,
    })
}

/// A value that is no call: macros of the headers, and static members of `numeric_limits`.
pub fn constant(name: &str, template_args: &[BuiltinTemplateArg]) -> Option<Value> {
    if let Some(what) = name.strip_prefix("numeric_limits").and_then(|n| n.rsplit("::").next()) {
        let ty = type_arg(template_args)?;
        return match what {
            "digits" => digits(ty).map(Value::i32),
            "is_signed" => Some(Value::bool(ty.is_float() || ty.is_signed())),
            "is_integer" => Some(Value::bool(ty.is_integer())),
            "has_infinity" => Some(Value::bool(ty.is_float())),
            _ => None,
        };
    }
    match name {
        // `true` and `false` are words of the language here.
        "true" | "false" => None,
        "CUDART_INF_F" => Some(Value::float(Scalar::F32, f64::INFINITY)),
        "CUDART_INF" => Some(Value::float(Scalar::F64, f64::INFINITY)),
        "CUDART_NAN_F" => Some(Value::float(Scalar::F32, f64::NAN)),
        "CUDART_NAN" => Some(Value::float(Scalar::F64, f64::NAN)),
        "CUDART_PI_F" => Some(Value::float(Scalar::F32, std::f64::consts::PI)),
        "CUDART_PI" => Some(Value::float(Scalar::F64, std::f64::consts::PI)),
        _ => crate::header_constants::constant(name),
    }
}

fn digits(ty: Scalar) -> Option<i32> {
    Some(match ty {
        Scalar::F64 => 53,
        Scalar::F32 => 24,
        Scalar::F16 => 11,
        Scalar::BF16 => 8,
        Scalar::Bool => 1,
        t if t.is_signed() => 8 * t.bytes() as i32 - 1,
        t => 8 * t.bytes() as i32,
    })
}

/// Exchanges two variables or elements.
fn swap(c: &mut Call<'_>) -> Lowered {
    c.arity(2)?;
    let places: Vec<_> = c
        .args
        .iter()
        .filter_map(|a| match &*a.kind {
            ExprKind::Read(place) => Some(place.clone()),
            _ => None,
        })
        .collect();
    let [a, b] = places.as_slice() else {
        return Err(c.error("W102", format!("`{}` needs two variables or elements", c.path)));
    };
    if a.ty != b.ty {
        return Err(c.error("W102", format!("`{}` needs two values of one type", c.path)));
    }
    let var = c.cx.temp(a.ty.clone(), c.span);
    let kept = warpsmith_ir::Place::var(var, a.ty.clone());
    c.emit(StmtKind::Assign { place: kept.clone(), value: Expr::read(a.clone()) });
    c.emit(StmtKind::Assign { place: a.clone(), value: Expr::read(b.clone()) });
    c.emit(StmtKind::Assign { place: b.clone(), value: Expr::read(kept) });
    Ok(None)
}

fn clamp(c: &mut Call<'_>) -> Lowered {
    c.arity(3)?;
    let ty = match type_arg(c.template_args) {
        Some(t) => t,
        None => c.scalar_of(0)?,
    };
    let args = c.all(ty)?;
    let [v, lo, hi] = [0, 1, 2].map(|i| args[i].clone());
    let (v, lo, hi) = (c.held(v), c.held(lo), c.held(hi));
    let below = c.binary(BinaryOp::Lt, v.clone(), lo.clone());
    let above = c.binary(BinaryOp::Lt, hi.clone(), v.clone());
    let upper = c.select(above, hi, v);
    Ok(Some(c.select(below, lo, upper)))
}
