//! Math functions: C's names with C++'s overloads, and CUDA's intrinsics of single and double precision.

use warpsmith_ir::{BinaryOp, Diagnostic, Expr, ExprKind, MathFn, Scalar, Type};

use super::c_math::{self, Shape};
use super::call::{Call, Lowered};
use crate::arith::usual;
use crate::sema::refused;

/// What an intrinsic computes.
#[derive(Clone, Copy)]
enum Op {
    Fn(MathFn),
    Bin(BinaryOp),
}

use Op::{Bin, Fn};

impl Op {
    fn arity(self) -> usize {
        match self {
            Fn(f) => f.arity(),
            Bin(_) => 2,
        }
    }
}

/// Intrinsics of one precision. Fast ones are computed exactly: their error is allowed, not required.
const INTRINSICS: &[(&str, Scalar, Op)] = &[
    ("__fsqrt_rn", Scalar::F32, Fn(MathFn::Sqrt)),
    ("__frsqrt_rn", Scalar::F32, Fn(MathFn::Rsqrt)),
    ("__frcp_rn", Scalar::F32, Fn(MathFn::Rcp)),
    ("__expf", Scalar::F32, Fn(MathFn::Exp)),
    ("__exp10f", Scalar::F32, Fn(MathFn::Exp10)),
    ("__logf", Scalar::F32, Fn(MathFn::Log)),
    ("__log2f", Scalar::F32, Fn(MathFn::Log2)),
    ("__log10f", Scalar::F32, Fn(MathFn::Log10)),
    ("__sinf", Scalar::F32, Fn(MathFn::Sin)),
    ("__cosf", Scalar::F32, Fn(MathFn::Cos)),
    ("__tanf", Scalar::F32, Fn(MathFn::Tan)),
    ("__tanhf", Scalar::F32, Fn(MathFn::Tanh)),
    ("__powf", Scalar::F32, Fn(MathFn::Pow)),
    ("__fmaf_rn", Scalar::F32, Fn(MathFn::Fma)),
    ("__fmaf_ieee_rn", Scalar::F32, Fn(MathFn::Fma)),
    ("__saturatef", Scalar::F32, Fn(MathFn::Saturate)),
    ("__fadd_rn", Scalar::F32, Bin(BinaryOp::Add)),
    ("__fsub_rn", Scalar::F32, Bin(BinaryOp::Sub)),
    ("__fmul_rn", Scalar::F32, Bin(BinaryOp::Mul)),
    ("__fdiv_rn", Scalar::F32, Bin(BinaryOp::Div)),
    ("__fdividef", Scalar::F32, Bin(BinaryOp::Div)),
    ("fdividef", Scalar::F32, Bin(BinaryOp::Div)),
    ("__dsqrt_rn", Scalar::F64, Fn(MathFn::Sqrt)),
    ("__drcp_rn", Scalar::F64, Fn(MathFn::Rcp)),
    ("__fma_rn", Scalar::F64, Fn(MathFn::Fma)),
    ("__dadd_rn", Scalar::F64, Bin(BinaryOp::Add)),
    ("__dsub_rn", Scalar::F64, Bin(BinaryOp::Sub)),
    ("__dmul_rn", Scalar::F64, Bin(BinaryOp::Mul)),
    ("__ddiv_rn", Scalar::F64, Bin(BinaryOp::Div)),
    ("fdivide", Scalar::F64, Bin(BinaryOp::Div)),
    ("umin", Scalar::U32, Fn(MathFn::Min)),
    ("umax", Scalar::U32, Fn(MathFn::Max)),
    ("llmin", Scalar::I64, Fn(MathFn::Min)),
    ("llmax", Scalar::I64, Fn(MathFn::Max)),
    ("ullmin", Scalar::U64, Fn(MathFn::Min)),
    ("ullmax", Scalar::U64, Fn(MathFn::Max)),
];

/// Functions composed of others; with an `f` appended they are single.
const COMPOSED: &[&str] = &[
    "norm3d", "norm4d", "rnorm3d", "rnorm4d", "rhypot", "sincos", "sincospi", "modf", "frexp",
    "ilogb", "logb", "scalbln",
];

pub fn names() -> impl Iterator<Item = &'static str> {
    INTRINSICS
        .iter()
        .map(|(n, ..)| *n)
        .chain(c_math::names())
        .chain(COMPOSED.iter().copied())
        .chain(["min", "max", "abs"])
}

/// The type of an intrinsic's operands, and how many there are.
pub fn intrinsic_type(name: &str) -> Option<(Scalar, usize)> {
    INTRINSICS.iter().find(|(n, ..)| *n == name).map(|(_, ty, op)| (*ty, op.arity()))
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    let name =
        c.name.strip_prefix("__builtin_").filter(|n| c_math::lookup(n).is_some()).unwrap_or(c.name);
    match name {
        "min" | "max" => {
            return Some(min_max(c, if name == "min" { MathFn::Min } else { MathFn::Max }));
        }
        "abs" | "labs" | "llabs" => return Some(absolute(c)),
        "__sincosf" => return Some(sincos(c, Scalar::F32, MathFn::Sin, MathFn::Cos)),
        _ => {}
    }
    if let Some((_, ty, op)) = INTRINSICS.iter().find(|(n, ..)| *n == name) {
        return Some(intrinsic(c, *ty, *op));
    }
    if let Some(refused) = other_rounding(c, name) {
        return Some(refused);
    }
    if let Some((base, ty)) = composed_name(name) {
        return Some(composed(c, base, ty));
    }
    let math = c_math::lookup(name)?;
    // A plain name is overloaded; one with the `f` is single whatever it gets.
    let fixed = math.ty.filter(|t| *t == Scalar::F32);
    Some(library(c, math.function, math.shape, fixed))
}

fn intrinsic(c: &mut Call<'_>, ty: Scalar, op: Op) -> Lowered {
    c.arity(op.arity())?;
    let args = c.all(ty)?;
    Ok(Some(match op {
        Fn(f) => c.same(f, args),
        Bin(op) => {
            let mut rest = args.into_iter();
            match (rest.next(), rest.next()) {
                (Some(a), Some(b)) => c.binary(op, a, b),
                _ => return Err(c.error("W101", format!("`{}` takes 2 arguments", c.path))),
            }
        }
    }))
}

/// `__fadd_rz` and the like: only rounding to nearest is computed.
fn other_rounding(c: &Call<'_>, name: &str) -> Option<Lowered> {
    let base = name
        .strip_suffix("_rz")
        .or_else(|| name.strip_suffix("_rd"))
        .or_else(|| name.strip_suffix("_ru"))?;
    let nearest = format!("{base}_rn");
    INTRINSICS.iter().any(|(n, ..)| *n == nearest).then(|| Err(rounding(c, &nearest)))
}

/// W106.
pub fn rounding(c: &Call<'_>, nearest: &str) -> Diagnostic {
    let d = c.error("W106", format!("the rounding mode of `{}` is not supported", c.path));
    d.help(format!("use `{nearest}`, which rounds to nearest"))
}

/// The precision of an overloaded call: single when all arguments are; half is computed in single; integers are double.
fn overload(c: &Call<'_>, count: usize) -> Result<Scalar, Diagnostic> {
    let mut ty = None;
    for i in 0..count {
        let own = match c.scalar_of(i)? {
            Scalar::F32 | Scalar::F16 | Scalar::BF16 => Scalar::F32,
            _ => Scalar::F64,
        };
        ty = Some(ty.map_or(own, |t| usual(t, own)));
    }
    Ok(ty.unwrap_or(Scalar::F64))
}

fn library(c: &mut Call<'_>, f: MathFn, shape: Shape, fixed: Option<Scalar>) -> Lowered {
    c.arity(f.arity())?;
    let deciding = if shape == Shape::IntSecond { 1 } else { c.args.len() };
    let ty = match fixed {
        Some(t) => t,
        None => overload(c, deciding)?,
    };
    let mut args = vec![];
    for i in 0..c.args.len() {
        let to = if shape == Shape::IntSecond && i == 1 { Scalar::I32 } else { ty };
        args.push(c.scalar_arg(i, to)?);
    }
    Ok(Some(match shape {
        Shape::Plain | Shape::IntSecond => c.math(f, args, Type::Scalar(ty)),
        Shape::Predicate => c.math(f, args, Type::BOOL),
        Shape::ToInteger(to) => c.math(f, args, Type::Scalar(ty)).cast(Type::Scalar(to)),
    }))
}

/// CUDA's `min` and `max` for every mix of numbers; `std::min` wants one type and orders by `<`.
fn min_max(c: &mut Call<'_>, f: MathFn) -> Lowered {
    c.arity(2)?;
    let (a, b) = (c.scalar_of(0)?, c.scalar_of(1)?);
    if !c.is_std {
        let ty = usual(a, b);
        let args = c.all(ty)?;
        return Ok(Some(c.same(f, args)));
    }
    let ty = match super::stdlib::type_arg(c.template_args) {
        Some(ty) => ty,
        None if a == b => a,
        None => {
            let d = c.error(
                "W102",
                format!("`{}` needs two arguments of one type, not `{a}` and `{b}`", c.path),
            );
            return Err(d.help("convert one of them, or name the type as in `std::max<int>(a, b)`"));
        }
    };
    let args = c.all(ty)?;
    let [a, b] = [c.held(args[0].clone()), c.held(args[1].clone())];
    let swap = match f {
        MathFn::Min => c.binary(BinaryOp::Lt, b.clone(), a.clone()),
        _ => c.binary(BinaryOp::Lt, a.clone(), b.clone()),
    };
    Ok(Some(c.select(swap, b, a)))
}

fn absolute(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    let ty = match (c.name, c.scalar_of(0)?) {
        ("labs" | "llabs", _) => Scalar::I64,
        (_, s) => crate::arith::promote(s),
    };
    let args = c.all(ty)?;
    Ok(Some(c.same(MathFn::Abs, args)))
}

fn composed_name(name: &str) -> Option<(&'static str, Option<Scalar>)> {
    let find = |n: &str| COMPOSED.iter().find(|k| **k == n).copied();
    match find(name) {
        Some(n) => Some((n, None)),
        None => find(name.strip_suffix('f')?).map(|n| (n, Some(Scalar::F32))),
    }
}

fn composed(c: &mut Call<'_>, base: &str, fixed: Option<Scalar>) -> Lowered {
    let count = match base {
        "norm3d" | "rnorm3d" | "sincos" | "sincospi" => 3,
        "norm4d" | "rnorm4d" => 4,
        "rhypot" | "modf" | "frexp" | "scalbln" => 2,
        _ => 1,
    };
    c.arity(count)?;
    let reals = if base.contains("norm") || base == "rhypot" { count } else { 1 };
    let ty = match fixed {
        Some(t) => t,
        None => overload(c, reals)?,
    };
    match base {
        "sincos" => sincos(c, ty, MathFn::Sin, MathFn::Cos),
        "sincospi" => sincos(c, ty, MathFn::Sinpi, MathFn::Cospi),
        "modf" => modf(c, ty),
        "frexp" => frexp(c, ty),
        "ilogb" | "logb" => Err(unsupported(c)),
        "scalbln" => {
            let x = c.scalar_arg(0, ty)?;
            let n = c.scalar_arg(1, Scalar::I32)?;
            Ok(Some(c.same(MathFn::Ldexp, vec![x, n])))
        }
        "rhypot" => {
            let args = c.all(ty)?;
            let h = c.same(MathFn::Hypot, args);
            Ok(Some(c.same(MathFn::Rcp, vec![h])))
        }
        _ => norm(c, base, ty),
    }
}

pub fn unsupported(c: &Call<'_>) -> Diagnostic {
    c.refused(refused::UNKNOWN_LIBRARY, c.path)
}

fn norm(c: &mut Call<'_>, base: &str, ty: Scalar) -> Lowered {
    let args = c.all(ty)?;
    let mut sum: Option<Expr> = None;
    for a in args {
        let a = c.held(a);
        let square = c.binary(BinaryOp::Mul, a.clone(), a);
        sum = Some(match sum {
            None => square,
            Some(s) => c.binary(BinaryOp::Add, s, square),
        });
    }
    let f = if base.starts_with('r') { MathFn::Rsqrt } else { MathFn::Sqrt };
    Ok(sum.map(|s| c.same(f, vec![s])))
}

fn sincos(c: &mut Call<'_>, ty: Scalar, sine: MathFn, cosine: MathFn) -> Lowered {
    c.arity(3)?;
    let x = c.scalar_arg(0, ty)?;
    let x = c.held(x);
    let (s, k) = (c.same(sine, vec![x.clone()]), c.same(cosine, vec![x]));
    c.store_through(1, s)?;
    c.store_through(2, k)?;
    Ok(None)
}

/// The whole part goes through the pointer; the fraction has the sign of the argument.
fn modf(c: &mut Call<'_>, ty: Scalar) -> Lowered {
    let x = c.scalar_arg(0, ty)?;
    let x = c.held(x);
    let whole = c.same(MathFn::Trunc, vec![x.clone()]);
    c.store_through(1, whole.clone())?;
    let rest = c.binary(BinaryOp::Sub, x.clone(), whole);
    // Infinity minus infinity is no number, but the fraction of infinity is zero.
    let infinite = c.math(MathFn::IsInf, vec![x.clone()], Type::BOOL);
    let fraction = c.select(infinite, Expr::int(ty, 0), rest);
    Ok(Some(c.same(MathFn::Copysign, vec![fraction, x])))
}

/// Takes the exponent out of the bits; numbers without an implicit bit are scaled first.
fn frexp(c: &mut Call<'_>, ty: Scalar) -> Lowered {
    let (int, shift, mask, bias, scale) = match ty {
        Scalar::F32 => (Scalar::I32, 23, 0xff_i64, 126_i64, 25),
        _ => (Scalar::I64, 52, 0x7ff_i64, 1022_i64, 54),
    };
    let lit = |v: i64| Expr::int(int, v);
    let x = c.scalar_arg(0, ty)?;
    let x = c.held(x);
    let field = |c: &Call<'_>, v: Expr| {
        let shifted = c.binary(BinaryOp::Shr, c.bitcast(v, Type::Scalar(int)), Expr::i32(shift));
        c.binary(BinaryOp::BitAnd, shifted, lit(mask))
    };
    let tiny = c.binary(BinaryOp::Eq, field(c, x.clone()), lit(0));
    let tiny = c.held(tiny);
    let scaled = c.same(MathFn::Ldexp, vec![x.clone(), Expr::i32(scale)]);
    let y = c.select(tiny.clone(), scaled, x.clone());
    let y = c.held(y);
    let zero = c.binary(BinaryOp::Eq, x.clone(), Expr::int(ty, 0));
    let finite = c.math(MathFn::IsFinite, vec![x.clone()], Type::BOOL);
    let plain = c.binary(BinaryOp::LogicalOr, zero, c.not(finite));
    let plain = c.held(plain);
    let correction = c.select(tiny, lit(bias + i64::from(scale)), lit(bias));
    let exponent = c.binary(BinaryOp::Sub, field(c, y.clone()), correction);
    let exponent = c.select(plain.clone(), lit(0), exponent);
    c.store_through(1, exponent.cast(Type::I32))?;
    let cleared =
        c.binary(BinaryOp::BitAnd, c.bitcast(y, Type::Scalar(int)), lit(!(mask << shift)));
    let half = c.binary(BinaryOp::BitOr, cleared, lit(bias << shift));
    let fraction = Expr::new(ExprKind::Bitcast(half), Type::Scalar(ty), c.span);
    Ok(Some(c.select(plain, x, fraction)))
}
