//! PTX arithmetic: what gives a value from registers alone.

use warpsmith_ir::{BinaryOp, Diagnostic, Expr, ExprKind, MathFn, Scalar, Space, Type, UnaryOp};

use super::text::{self, Instruction};
use super::{Machine, scalar};
use crate::builtins::memory::{shared_address, shared_pointer, underlying_pointer};

/// Executes the instruction if it is one of these; false otherwise.
pub fn run(m: &mut Machine<'_>, i: &Instruction) -> Result<bool, Diagnostic> {
    match i.name() {
        "mov" => return mov(m, i).map(|()| true),
        "setp" => return compare(m, i).map(|()| true),
        _ => {}
    }
    let Some((to, from)) = i.operands.split_first() else { return Ok(false) };
    let Some(value) = value(m, i, from)? else { return Ok(false) };
    m.write(to, value);
    Ok(true)
}

fn math(m: &Machine<'_>, f: MathFn, args: Vec<Expr>) -> Expr {
    let ty = args.first().map_or(Type::U32, |a| a.ty.clone());
    Expr::new(ExprKind::Call(f, args), ty, m.span)
}

fn binary(m: &Machine<'_>, op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(op, a, b).with_origin(m.span)
}

fn cast(m: &Machine<'_>, e: Expr, to: Scalar) -> Expr {
    Expr::new(ExprKind::Cast(e), Type::Scalar(to), m.span)
}

fn select(m: &Machine<'_>, c: Expr, a: Expr, b: Expr) -> Expr {
    let ty = a.ty.clone();
    Expr::new(ExprKind::Select(c, a, b), ty, m.span)
}

/// The value of the instruction; `None` when it is not known.
fn value(
    m: &mut Machine<'_>,
    i: &Instruction,
    from: &[String],
) -> Result<Option<Expr>, Diagnostic> {
    let Some(s) = scalar(i.suffix()) else { return Ok(None) };
    if let Some(v) = conversion(m, i, from, s)? {
        return Ok(Some(v));
    }
    if let Some(v) = bits(m, i, from, s)? {
        return Ok(Some(v));
    }
    let args: Result<Vec<Expr>, _> = match i.name() {
        "selp" => from.iter().take(2).map(|o| m.operand(o, s)).collect(),
        _ => from.iter().map(|o| m.operand(o, s)).collect(),
    };
    let args = args?;
    let mut args = args.into_iter();
    let (a, b, c) = (args.next(), args.next(), args.next());
    Ok(match (i.name(), a, b, c) {
        ("selp", Some(a), Some(b), None) => {
            let Some(p) = from.get(2) else { return Ok(None) };
            let p = m.read(p)?;
            let p = m.truth(p);
            Some(select(m, p, a, b))
        }
        (name, Some(a), None, None) => unary(m, name, a, s),
        (name, Some(a), Some(b), None) => two(m, i, name, a, b, s),
        ("fma", Some(a), Some(b), Some(c)) => Some(math(m, MathFn::Fma, vec![a, b, c])),
        ("mad", Some(a), Some(b), Some(c)) if s.is_float() => {
            Some(math(m, MathFn::Fma, vec![a, b, c]))
        }
        ("mad", Some(a), Some(b), Some(_)) => {
            let product = two(m, i, "mul", a, b, s);
            match (product, from.get(2)) {
                (Some(p), Some(c)) => {
                    let wide = p.ty.scalar().unwrap_or(s);
                    let c = m.operand(c, wide)?;
                    Some(binary(m, BinaryOp::Add, p, c))
                }
                _ => None,
            }
        }
        ("sad", Some(a), Some(b), Some(c)) => Some(math(m, MathFn::Sad, vec![a, b, c])),
        _ => None,
    })
}

fn unary(m: &Machine<'_>, name: &str, a: Expr, s: Scalar) -> Option<Expr> {
    let f = match name {
        "neg" => return Some(Expr::new(ExprKind::Unary(UnaryOp::Neg, a), Type::Scalar(s), m.span)),
        "not" if s == Scalar::Bool => {
            return Some(binary(m, BinaryOp::Eq, a, super::bool_value(false)));
        }
        "not" => return Some(binary(m, BinaryOp::BitXor, a, Expr::int(s, -1))),
        "abs" => MathFn::Abs,
        "sqrt" if s.is_float() => MathFn::Sqrt,
        "rsqrt" if s.is_float() => MathFn::Rsqrt,
        "rcp" if s.is_float() => MathFn::Rcp,
        "ex2" if s.is_float() => MathFn::Exp2,
        "lg2" if s.is_float() => MathFn::Log2,
        "sin" if s.is_float() => MathFn::Sin,
        "cos" if s.is_float() => MathFn::Cos,
        "tanh" if s.is_float() => MathFn::Tanh,
        _ => return None,
    };
    Some(math(m, f, vec![a]))
}

fn two(m: &Machine<'_>, i: &Instruction, name: &str, a: Expr, b: Expr, s: Scalar) -> Option<Expr> {
    // The address of a variable of another block of the cluster.
    if name == "mapa" && s == Scalar::U64 && !i.has("shared::cluster") {
        let rank = cast(m, b, Scalar::U64);
        return Some(math(m, MathFn::MapShared, vec![a, rank]));
    }
    // The same as a number of 32 bits, which names the other block's variable.
    if name == "mapa" && s == Scalar::U32 && i.has("shared::cluster") {
        let rank = cast(m, b, Scalar::U64);
        let own = cast(m, shared_pointer(a, Space::Generic), Scalar::U64);
        let mapped = math(m, MathFn::MapShared, vec![own, rank]);
        let bytes = Type::pointer(Type::Scalar(Scalar::U8), Space::Generic);
        return Some(shared_address(mapped.cast(bytes)).cast(Type::U32).with_origin(m.span));
    }
    let op = match name {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        "mul" if i.has("wide") => {
            let wide = match s {
                Scalar::I32 => Scalar::I64,
                Scalar::U32 => Scalar::U64,
                Scalar::I16 => Scalar::I32,
                Scalar::U16 => Scalar::U32,
                _ => return None,
            };
            return Some(binary(m, BinaryOp::Mul, cast(m, a, wide), cast(m, b, wide)));
        }
        "mul" if i.has("hi") => return Some(math(m, MathFn::MulHi, vec![a, b])),
        "mul" => BinaryOp::Mul,
        "mul24" => return Some(math(m, MathFn::Mul24, vec![a, b])),
        "div" => BinaryOp::Div,
        "rem" if !s.is_float() => BinaryOp::Rem,
        "min" => return Some(math(m, MathFn::Min, vec![a, b])),
        "max" => return Some(math(m, MathFn::Max, vec![a, b])),
        "copysign" => return Some(math(m, MathFn::Copysign, vec![b, a])),
        "and" => BinaryOp::BitAnd,
        "or" => BinaryOp::BitOr,
        "xor" => BinaryOp::BitXor,
        _ => return None,
    };
    Some(binary(m, op, a, b))
}

/// `cvt.rn.f16.f32`, `cvta.to.global.u64`.
fn conversion(
    m: &mut Machine<'_>,
    i: &Instruction,
    from: &[String],
    s: Scalar,
) -> Result<Option<Expr>, Diagnostic> {
    if let ("cvt", [high, low]) = (i.name(), from) {
        return pair(m, i, high, low);
    }
    let [source] = from else { return Ok(None) };
    match i.name() {
        // An address keeps its pointer: the emulator's spaces have one numbering.
        "cvta" => address(m, i, source).map(Some),
        "cvt" if i.suffix() == "f32" && i.words.len() > 2 && i.has("tf32") => {
            tf32(m, source).map(Some)
        }
        "cvt" => {
            let to = i.words.iter().rev().nth(1).and_then(|w| scalar(w));
            let Some(to) = to else { return Ok(None) };
            let value = m.read(source)?;
            if !to.is_float()
                && !s.is_float()
                && crate::builtins::memory::underlying_pointer(&value).is_some()
            {
                return Ok(Some(cast(m, value, to)));
            }
            let value = m.as_type(value, &Type::Scalar(s));
            let value = match i.words.iter().find_map(|w| rounding(w)) {
                Some(f) if s.is_float() && !to.is_float() => math(m, f, vec![value]),
                _ => value,
            };
            let value = cast(m, value, to);
            Ok(Some(if i.has("sat") && to.is_float() {
                math(m, MathFn::Saturate, vec![value])
            } else {
                value
            }))
        }
        _ => Ok(None),
    }
}

/// `cvt.rna.tf32.f32`: the nearest number with 10 bits behind the point, as the bits of a float.
fn tf32(m: &mut Machine<'_>, source: &str) -> Result<Expr, Diagnostic> {
    let value = m.operand(source, Scalar::F32)?;
    let bits = m.as_type(value, &Type::U32);
    let number = |n: i64| Expr::int(Scalar::U32, n);
    let sum = binary(m, BinaryOp::Add, bits, number(0x1000));
    Ok(binary(m, BinaryOp::BitAnd, sum, number(0xffff_e000)))
}

/// `cvt.rn.f16x2.f32 d, a, b`: two floats as halves of a word, `a` in the upper one.
fn pair(
    m: &mut Machine<'_>,
    i: &Instruction,
    high: &str,
    low: &str,
) -> Result<Option<Expr>, Diagnostic> {
    let to = match (i.has("f16x2"), i.has("bf16x2"), i.suffix()) {
        (true, _, "f32") => Scalar::F16,
        (_, true, "f32") => Scalar::BF16,
        _ => return Ok(None),
    };
    if !i.has("rn") || i.words.len() != 4 {
        return Ok(None);
    }
    let mut half = |name: &str| -> Result<Expr, Diagnostic> {
        let value = m.operand(name, Scalar::F32)?;
        let value = cast(m, value, to);
        let bits = m.as_type(value, &Type::Scalar(Scalar::U16));
        Ok(cast(m, bits, Scalar::U32))
    };
    let (high, low) = (half(high)?, half(low)?);
    let high = binary(m, BinaryOp::Shl, high, Expr::int(Scalar::U32, 16));
    Ok(Some(binary(m, BinaryOp::BitOr, high, low)))
}

/// `cvta.to.shared.u64` makes a generic address one of shared memory, `cvta.shared.u64` goes back.
fn address(m: &mut Machine<'_>, i: &Instruction, source: &str) -> Result<Expr, Diagnostic> {
    let value = m.read(source)?;
    if !i.has("shared") && !i.has("shared::cta") {
        return Ok(value);
    }
    let known = underlying_pointer(&value).cloned();
    if i.has("to") {
        let pointer = match known {
            Some(p) => p,
            None => {
                let bytes = Type::pointer(Type::Scalar(Scalar::U8), Space::Shared);
                let bits = m.as_type(value, &Type::U64);
                Expr::new(ExprKind::Cast(bits), bytes, m.span)
            }
        };
        let pointer = m.cx.hold(pointer, m.span);
        return Ok(shared_address(pointer));
    }
    Ok(known.unwrap_or_else(|| shared_pointer(value, Space::Generic)))
}

/// How a float becomes an integer.
fn rounding(word: &str) -> Option<MathFn> {
    match word {
        "rni" => Some(MathFn::Rint),
        "rzi" => Some(MathFn::Trunc),
        "rmi" => Some(MathFn::Floor),
        "rpi" => Some(MathFn::Ceil),
        _ => None,
    }
}

/// Instructions on bits, whose operands have types of their own.
fn bits(
    m: &mut Machine<'_>,
    i: &Instruction,
    from: &[String],
    s: Scalar,
) -> Result<Option<Expr>, Diagnostic> {
    let unsigned = if s.bytes() == 8 { Scalar::U64 } else { Scalar::U32 };
    Ok(match (i.name(), from) {
        ("shl" | "shr", [a, n]) => {
            let (a, n) = (m.operand(a, s)?, m.operand(n, Scalar::U32)?);
            Some(shift(m, i.name() == "shl", a, n, s))
        }
        ("popc" | "clz", [a]) => {
            let f = if i.name() == "popc" { MathFn::Popc } else { MathFn::Clz };
            let a = m.operand(a, unsigned)?;
            Some(Expr::new(ExprKind::Call(f, vec![a]), Type::I32, m.span))
        }
        ("brev", [a]) => {
            let a = m.operand(a, unsigned)?;
            Some(math(m, MathFn::Brev, vec![a]))
        }
        ("bfind", [a]) if s == Scalar::U32 => {
            let a = m.operand(a, Scalar::U32)?;
            let zeros = Expr::new(ExprKind::Call(MathFn::Clz, vec![a]), Type::I32, m.span);
            let top = binary(m, BinaryOp::Sub, Expr::i32(31), zeros);
            Some(cast(m, top, Scalar::U32))
        }
        ("bfe", [a, at, n]) if matches!(s, Scalar::U32 | Scalar::I32) => {
            let a = m.operand(a, s)?;
            let (at, n) = (m.operand(at, Scalar::U32)?, m.operand(n, Scalar::U32)?);
            Some(extract(m, a, at, n, s))
        }
        ("bfi", [a, b, at, n]) if s == Scalar::U32 => {
            let (a, b) = (m.operand(a, s)?, m.operand(b, s)?);
            let (at, n) = (m.operand(at, s)?, m.operand(n, s)?);
            Some(insert(m, a, b, at, n))
        }
        ("prmt", [a, b, c]) if i.words.len() == 2 => {
            let args: Result<Vec<Expr>, _> =
                [a, b, c].into_iter().map(|o| m.operand(o, Scalar::U32)).collect();
            Some(math(m, MathFn::BytePerm, args?))
        }
        ("shf", [a, b, n]) if i.has("wrap") => {
            let f = if i.has("l") { MathFn::FunnelShiftLeft } else { MathFn::FunnelShiftRight };
            let args: Result<Vec<Expr>, _> =
                [a, b, n].into_iter().map(|o| m.operand(o, Scalar::U32)).collect();
            Some(math(m, f, args?))
        }
        ("lop3", [a, b, c, table]) => {
            let table = m.constant(table)?;
            let (a, b) = (m.operand(a, Scalar::U32)?, m.operand(b, Scalar::U32)?);
            let c = m.operand(c, Scalar::U32)?;
            Some(lookup(m, [a, b, c], table))
        }
        ("dp4a", [a, b, c]) => {
            let args: Result<Vec<Expr>, _> =
                [a, b, c].into_iter().map(|o| m.operand(o, s)).collect();
            Some(math(m, MathFn::Dp4a, args?))
        }
        _ => None,
    })
}

/// Shifts by more than the width give zero, or the sign.
fn shift(m: &mut Machine<'_>, left: bool, a: Expr, n: Expr, s: Scalar) -> Expr {
    let width = i64::from(8 * s.bytes());
    let (a, n) = (m.cx.hold(a, m.span), m.cx.hold(n, m.span));
    let over = binary(m, BinaryOp::Ge, n.clone(), Expr::int(Scalar::U32, width));
    let op = if left { BinaryOp::Shl } else { BinaryOp::Shr };
    let within = binary(m, BinaryOp::BitAnd, n, Expr::int(Scalar::U32, width - 1));
    let shifted = binary(m, op, a.clone(), within);
    let rest = match (left, s.is_signed()) {
        (false, true) => binary(m, op, a, Expr::int(Scalar::U32, width - 1)),
        _ => Expr::int(s, 0),
    };
    select(m, over, rest, shifted)
}

/// The `n` bits of `a` from `at` on, with the sign of the highest for signed types.
fn extract(m: &mut Machine<'_>, a: Expr, at: Expr, n: Expr, s: Scalar) -> Expr {
    let n = binary(m, BinaryOp::BitAnd, n, Expr::int(Scalar::U32, 255));
    let n = m.cx.hold(n, m.span);
    let at = binary(m, BinaryOp::BitAnd, at, Expr::int(Scalar::U32, 255));
    // In 64 bits, nothing that matters is shifted out.
    let wide = if s == Scalar::I32 { Scalar::I64 } else { Scalar::U64 };
    let a = cast(m, a, wide);
    let right = math(m, MathFn::Min, vec![at, Expr::int(Scalar::U32, 63)]);
    let moved = binary(m, BinaryOp::Shr, a, right);
    let left = math(m, MathFn::Min, vec![n.clone(), Expr::int(Scalar::U32, 32)]);
    let left = binary(m, BinaryOp::Sub, Expr::int(Scalar::U32, 64), left);
    let left = math(m, MathFn::Min, vec![left, Expr::int(Scalar::U32, 63)]);
    let left = m.cx.hold(left, m.span);
    let cut = binary(m, BinaryOp::Shl, moved, left.clone());
    let back = binary(m, BinaryOp::Shr, cut, left);
    let none = binary(m, BinaryOp::Eq, n, Expr::int(Scalar::U32, 0));
    let value = cast(m, back, s);
    select(m, none, Expr::int(s, 0), value)
}

/// `b` with its `n` bits from `at` on replaced by the low ones of `a`.
fn insert(m: &mut Machine<'_>, a: Expr, b: Expr, at: Expr, n: Expr) -> Expr {
    let small = |m: &Machine<'_>, e: Expr| {
        let low = binary(m, BinaryOp::BitAnd, e, Expr::int(Scalar::U32, 255));
        math(m, MathFn::Min, vec![low, Expr::int(Scalar::U32, 32)])
    };
    let (at, n) = (small(m, at), small(m, n));
    let at = m.cx.hold(at, m.span);
    let one = Expr::int(Scalar::U64, 1);
    let ones = binary(m, BinaryOp::Shl, one.clone(), n);
    let ones = binary(m, BinaryOp::Sub, ones, one);
    let mask = binary(m, BinaryOp::Shl, ones, at.clone());
    let mask = m.cx.hold(cast(m, mask, Scalar::U32), m.span);
    let moved = binary(m, BinaryOp::Shl, cast(m, a, Scalar::U64), at);
    let moved = binary(m, BinaryOp::BitAnd, cast(m, moved, Scalar::U32), mask.clone());
    let others = binary(m, BinaryOp::BitXor, mask, Expr::int(Scalar::U32, -1));
    let kept = binary(m, BinaryOp::BitAnd, b, others);
    binary(m, BinaryOp::BitOr, kept, moved)
}

/// Any function of three bits, by its table: bit 4a + 2b + c of the table is the result.
fn lookup(m: &mut Machine<'_>, args: [Expr; 3], table: i64) -> Expr {
    let args = args.map(|a| m.cx.hold(a, m.span));
    let mut sum = Expr::int(Scalar::U32, 0);
    for row in 0..8 {
        if table >> row & 1 == 0 {
            continue;
        }
        let mut term = Expr::int(Scalar::U32, -1);
        for (k, a) in args.iter().enumerate() {
            let wanted = row >> (2 - k) & 1 == 1;
            let a = match wanted {
                true => a.clone(),
                false => binary(m, BinaryOp::BitXor, a.clone(), Expr::int(Scalar::U32, -1)),
            };
            term = binary(m, BinaryOp::BitAnd, term, a);
        }
        sum = binary(m, BinaryOp::BitOr, sum, term);
    }
    sum
}

/// `mov.b64 {lo, hi}, x`, `mov.b64 x, {lo, hi}`, or a plain copy.
fn mov(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let ([to, from], Some(s)) = (i.operands.as_slice(), scalar(i.suffix())) else {
        return Err(m.unsupported());
    };
    let (targets, sources) = (text::parts(to), text::parts(from));
    let half = match s.bytes() {
        8 => Scalar::U32,
        _ => Scalar::U16,
    };
    let wide = if s.bytes() == 8 { Scalar::U64 } else { Scalar::U32 };
    let by = Expr::int(Scalar::U32, i64::from(4 * s.bytes()));
    match (targets.as_slice(), sources.as_slice()) {
        ([to], [from]) => {
            let value = m.read(from)?;
            let is_address = crate::builtins::memory::underlying_pointer(&value).is_some();
            let value = if is_address { value } else { m.as_type(value, &Type::Scalar(s)) };
            m.write(to, value);
        }
        ([to], [low, high]) if matches!(s.bytes(), 4 | 8) => {
            let (low, high) = (m.operand(low, half)?, m.operand(high, half)?);
            let high = binary(m, BinaryOp::Shl, cast(m, high, wide), by);
            let both = binary(m, BinaryOp::BitOr, cast(m, low, wide), high);
            m.write(to, both);
        }
        ([low, high], [from]) if matches!(s.bytes(), 4 | 8) => {
            let value = m.operand(from, wide)?;
            let value = m.cx.hold(value, m.span);
            let upper = binary(m, BinaryOp::Shr, value.clone(), by);
            let (a, b) = (cast(m, value, half), cast(m, upper, half));
            m.write(low, a);
            m.write(high, b);
        }
        _ => return Err(m.unsupported()),
    }
    Ok(())
}

/// `setp.lt.s32 p, a, b`.
fn compare(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Diagnostic> {
    let op = match i.words.get(1).map_or("", String::as_str) {
        "eq" => BinaryOp::Eq,
        "ne" => BinaryOp::Ne,
        "lt" | "lo" => BinaryOp::Lt,
        "le" | "ls" => BinaryOp::Le,
        "gt" | "hi" => BinaryOp::Gt,
        "ge" | "hs" => BinaryOp::Ge,
        _ => return Err(m.unsupported()),
    };
    let ([to, a, b], Some(s)) = (i.operands.as_slice(), scalar(i.suffix())) else {
        return Err(m.unsupported());
    };
    let (a, b) = (m.operand(a, s)?, m.operand(b, s)?);
    let value = binary(m, op, a, b);
    m.write(to, value);
    Ok(())
}
