//! Arithmetic and conversions of `half`, `half2` and their bfloat16 kin.
//!
//! Packed functions work on both components; what they do to one is the scalar function of the same name.

use warpsmith_ir::{BinaryOp, Diagnostic, Expr, MathFn, Scalar, Type};

use super::call::{Call, Lowered};

#[derive(Clone, Copy)]
enum Op {
    Bin(BinaryOp),
    Fn(MathFn),
    Neg,
    /// The arithmetic of the first, clamped to [0, 1].
    SatBin(BinaryOp),
    SatFma,
    /// max(fma(a, b, c), 0).
    FmaRelu,
    /// A comparison; gives `bool`, or 1 and 0 a component when packed.
    Cmp(BinaryOp),
    Is(MathFn),
}

use Op::*;

/// Functions of one half; the packed one has a `2` after the operation: `__hadd2`, `__hadd2_rn`, `h2sqrt`.
const TABLE: &[(&str, &str, Op)] = &[
    ("__hadd", "__hadd2", Bin(BinaryOp::Add)),
    ("__hadd_rn", "__hadd2_rn", Bin(BinaryOp::Add)),
    ("__hsub", "__hsub2", Bin(BinaryOp::Sub)),
    ("__hsub_rn", "__hsub2_rn", Bin(BinaryOp::Sub)),
    ("__hmul", "__hmul2", Bin(BinaryOp::Mul)),
    ("__hmul_rn", "__hmul2_rn", Bin(BinaryOp::Mul)),
    ("__hdiv", "__h2div", Bin(BinaryOp::Div)),
    ("__hadd_sat", "__hadd2_sat", SatBin(BinaryOp::Add)),
    ("__hsub_sat", "__hsub2_sat", SatBin(BinaryOp::Sub)),
    ("__hmul_sat", "__hmul2_sat", SatBin(BinaryOp::Mul)),
    ("__hfma", "__hfma2", Fn(MathFn::Fma)),
    ("__hfma_sat", "__hfma2_sat", SatFma),
    ("__hfma_relu", "__hfma2_relu", FmaRelu),
    ("__hneg", "__hneg2", Neg),
    ("__habs", "__habs2", Fn(MathFn::Abs)),
    ("__hmax", "__hmax2", Fn(MathFn::Max)),
    ("__hmin", "__hmin2", Fn(MathFn::Min)),
    ("__heq", "__heq2", Cmp(BinaryOp::Eq)),
    ("__hne", "__hne2", Cmp(BinaryOp::Ne)),
    ("__hlt", "__hlt2", Cmp(BinaryOp::Lt)),
    ("__hle", "__hle2", Cmp(BinaryOp::Le)),
    ("__hgt", "__hgt2", Cmp(BinaryOp::Gt)),
    ("__hge", "__hge2", Cmp(BinaryOp::Ge)),
    ("__hisnan", "__hisnan2", Is(MathFn::IsNan)),
    ("__hisinf", "", Is(MathFn::IsInf)),
    ("hsqrt", "h2sqrt", Fn(MathFn::Sqrt)),
    ("hrsqrt", "h2rsqrt", Fn(MathFn::Rsqrt)),
    ("hrcp", "h2rcp", Fn(MathFn::Rcp)),
    ("hexp", "h2exp", Fn(MathFn::Exp)),
    ("hexp2", "h2exp2", Fn(MathFn::Exp2)),
    ("hexp10", "h2exp10", Fn(MathFn::Exp10)),
    ("hlog", "h2log", Fn(MathFn::Log)),
    ("hlog2", "h2log2", Fn(MathFn::Log2)),
    ("hlog10", "h2log10", Fn(MathFn::Log10)),
    ("hsin", "h2sin", Fn(MathFn::Sin)),
    ("hcos", "h2cos", Fn(MathFn::Cos)),
    ("htanh", "h2tanh", Fn(MathFn::Tanh)),
    ("hfloor", "h2floor", Fn(MathFn::Floor)),
    ("hceil", "h2ceil", Fn(MathFn::Ceil)),
    ("htrunc", "h2trunc", Fn(MathFn::Trunc)),
    ("hrint", "h2rint", Fn(MathFn::Rint)),
];

/// Conversions that make or take apart packed values.
const PACKING: &[&str] = &[
    "__float2half2_rn",
    "__floats2half2_rn",
    "__float22half2_rn",
    "__half22float2",
    "__halves2half2",
    "__half2half2",
    "__low2half",
    "__high2half",
    "__low2float",
    "__high2float",
    "__low2half2",
    "__high2half2",
    "__lows2half2",
    "__highs2half2",
    "__lowhigh2highlow",
    "__float2bfloat162_rn",
    "__floats2bfloat162_rn",
    "__float22bfloat162_rn",
    "__bfloat1622float2",
    "__halves2bfloat162",
    "__bfloat162bfloat162",
    "__low2bfloat16",
    "__high2bfloat16",
    "__low2bfloat162",
    "__high2bfloat162",
];

pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE
        .iter()
        .flat_map(|(a, b, _)| [*a, *b])
        .chain(PACKING.iter().copied())
        .filter(|n| !n.is_empty())
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    if let Some((.., op)) = TABLE.iter().find(|(n, ..)| *n == c.name) {
        return Some(scalar(c, *op));
    }
    if let Some((.., op)) = TABLE.iter().find(|(_, n, _)| *n == c.name && !n.is_empty()) {
        return Some(packed(c, *op));
    }
    if PACKING.contains(&c.name) {
        return Some(packing(c));
    }
    // `__hbeq2` and its like: all components satisfy the comparison.
    let base = c.name.strip_prefix("__hb").map(|rest| format!("__h{rest}"))?;
    let op = TABLE.iter().find_map(|(_, n, op)| if *n == base { Some(*op) } else { None })?;
    match op {
        Cmp(cmp) => Some(all_components(c, cmp)),
        _ => None,
    }
}

fn count(op: Op) -> usize {
    match op {
        Bin(_) | SatBin(_) | Cmp(_) => 2,
        Fn(f) | Is(f) => f.arity(),
        SatFma | FmaRelu => 3,
        Neg => 1,
    }
}

/// half, or bfloat16 if an argument is.
fn kind(c: &Call<'_>) -> Scalar {
    let bf = |e: &Expr| matches!(e.ty, Type::Scalar(Scalar::BF16) | Type::Vector(Scalar::BF16, _));
    if c.args.iter().any(bf) { Scalar::BF16 } else { Scalar::F16 }
}

fn scalar(c: &mut Call<'_>, op: Op) -> Lowered {
    c.arity(count(op))?;
    let ty = kind(c);
    let args = c.all(ty)?;
    Ok(Some(apply(c, op, args)))
}

/// One application; comparisons give `bool`. `args` has as many elements as `count` says.
fn apply(c: &Call<'_>, op: Op, args: Vec<Expr>) -> Expr {
    match op {
        Bin(op) => c.binary(op, args[0].clone(), args[1].clone()),
        Cmp(op) => c.binary(op, args[0].clone(), args[1].clone()),
        SatBin(op) => {
            let r = c.binary(op, args[0].clone(), args[1].clone());
            c.same(MathFn::Saturate, vec![r])
        }
        Fn(f) => c.same(f, args),
        Is(f) => c.math(f, args, Type::BOOL),
        Neg => c.negate(args[0].clone()),
        SatFma => {
            let r = c.same(MathFn::Fma, args);
            c.same(MathFn::Saturate, vec![r])
        }
        FmaRelu => {
            let ty = args[0].ty.scalar().unwrap_or(Scalar::F16);
            let r = c.same(MathFn::Fma, args);
            c.same(MathFn::Max, vec![r, Expr::int(ty, 0)])
        }
    }
}

/// The packed arguments, held, and their component type.
fn pairs(c: &mut Call<'_>) -> Result<(Vec<Expr>, Scalar), Diagnostic> {
    let ty = kind(c);
    let mut held = vec![];
    for i in 0..c.args.len() {
        let e = c.arg(i, &Type::Vector(ty, 2))?;
        held.push(c.held(e));
    }
    Ok((held, ty))
}

fn component(c: &Call<'_>, pair: &Expr, i: u32, ty: Scalar) -> Expr {
    c.member(pair.clone(), i, Type::Scalar(ty))
}

fn packed(c: &mut Call<'_>, op: Op) -> Lowered {
    c.arity(count(op))?;
    let (args, ty) = pairs(c)?;
    let parts = (0..2)
        .map(|i| {
            let own = args.iter().map(|a| component(c, a, i, ty)).collect();
            let r = apply(c, op, own);
            if r.ty == Type::BOOL { c.select(r, Expr::int(ty, 1), Expr::int(ty, 0)) } else { r }
        })
        .collect();
    Ok(Some(c.make(parts, Type::Vector(ty, 2))))
}

fn all_components(c: &mut Call<'_>, op: BinaryOp) -> Lowered {
    c.arity(2)?;
    let (args, ty) = pairs(c)?;
    let [low, high] =
        [0, 1].map(|i| c.binary(op, component(c, &args[0], i, ty), component(c, &args[1], i, ty)));
    Ok(Some(c.binary(BinaryOp::LogicalAnd, low, high)))
}

fn packing(c: &mut Call<'_>) -> Lowered {
    let ty = if c.name.contains("bfloat16") { Scalar::BF16 } else { kind(c) };
    let name = c.name.replace("bfloat162", "half2").replace("bfloat16", "half");
    let one = |c: &mut Call<'_>, i: usize| -> Result<Expr, Diagnostic> { c.scalar_arg(i, ty) };
    let pair = Type::Vector(ty, 2);
    let float2 = Type::Vector(Scalar::F32, 2);
    let parts = match name.as_str() {
        "__float2half2_rn" | "__half2half2" => {
            c.arity(1)?;
            let v = one(c, 0)?;
            let v = c.held(v);
            vec![v.clone(), v]
        }
        "__floats2half2_rn" | "__halves2half2" => {
            c.arity(2)?;
            vec![one(c, 0)?, one(c, 1)?]
        }
        "__float22half2_rn" => {
            c.arity(1)?;
            let v = c.arg(0, &float2)?;
            let v = c.held(v);
            let narrow = |c: &Call<'_>, i| c.member(v.clone(), i, Type::F32).cast(Type::Scalar(ty));
            vec![narrow(c, 0), narrow(c, 1)]
        }
        "__half22float2" => {
            c.arity(1)?;
            let (v, ty) = pairs(c)?;
            let wide = |c: &Call<'_>, i| component(c, &v[0], i, ty).cast(Type::F32);
            let parts = vec![wide(c, 0), wide(c, 1)];
            return Ok(Some(c.make(parts, float2)));
        }
        _ => return taking_apart(c, &name),
    };
    Ok(Some(c.make(parts, pair)))
}

fn taking_apart(c: &mut Call<'_>, name: &str) -> Lowered {
    let pick: &[(usize, u32)] = match name {
        "__low2half" | "__low2float" => &[(0, 0)],
        "__high2half" | "__high2float" => &[(0, 1)],
        "__low2half2" => &[(0, 0), (0, 0)],
        "__high2half2" => &[(0, 1), (0, 1)],
        "__lowhigh2highlow" => &[(0, 1), (0, 0)],
        "__lows2half2" => &[(0, 0), (1, 0)],
        _ => &[(0, 1), (1, 1)],
    };
    c.arity(if name.contains("lows2") || name.contains("highs2") { 2 } else { 1 })?;
    let (args, ty) = pairs(c)?;
    let parts: Vec<Expr> = pick.iter().map(|(a, i)| component(c, &args[*a], *i, ty)).collect();
    Ok(Some(match parts.as_slice() {
        [only] if name.ends_with("float") => only.clone().cast(Type::F32),
        [only] => only.clone(),
        _ => c.make(parts, Type::Vector(ty, 2)),
    }))
}
