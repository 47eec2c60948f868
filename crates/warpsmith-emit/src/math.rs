//! Library functions in the spelling of their type.

use warpsmith_ir::{Expr, MathFn, Scalar, Type};

use crate::context::{Printer, Target};
use crate::doc::{cat, list, text};
use crate::error::{EmitError, Result};
use crate::expr::{Printed, half, infix, prec};
use crate::types;

/// The permutation that turns a word round.
fn swaps_bytes(args: &[Expr]) -> bool {
    let is = |e: Option<&Expr>, n| e.and_then(Expr::as_const).is_some_and(|v| v.bits == n);
    is(args.get(1), 0) && is(args.get(2), 0x0123)
}

impl Printer<'_> {
    pub fn math(&self, f: MathFn, args: &[Expr], e: &Expr) -> Result<Printed> {
        let operand = args.first().and_then(|a| a.ty.scalar());
        if self.target == Target::Host {
            self.cx.include("math.h");
        }
        let operand = operand.ok_or_else(|| {
            EmitError::new(format!("`{}` without a scalar operand", f.name()), &e.origin)
        })?;
        match operand {
            Scalar::F16 | Scalar::BF16 => self.half_math(f, args, operand, e),
            Scalar::F32 | Scalar::F64 => self.float_math(f, args, operand, e),
            _ => self.integer_math(f, args, operand, e),
        }
    }

    /// `name(args…)`. A function of one signature converts its arguments itself.
    fn call(&self, name: &str, args: &[Expr], overloaded: bool, ty: Type) -> Result<Printed> {
        let mut docs = vec![];
        for a in args {
            docs.push(if overloaded { self.exact(a)?.doc } else { self.implicit(a)?.doc });
        }
        Ok(Printed::new(list(&format!("{name}("), docs, ")"), prec::POSTFIX, ty))
    }

    fn float_math(&self, f: MathFn, args: &[Expr], s: Scalar, e: &Expr) -> Result<Printed> {
        use MathFn::*;
        let single = s == Scalar::F32;
        let name = match f {
            IsNan | IsInf | IsFinite | SignBit => {
                // Macros or overloads, which give `bool` or `int`: a condition in either case.
                return self.call(f.name(), args, true, e.ty.clone());
            }
            Rcp => return self.reciprocal(&args[0], single),
            Saturate if self.target == Target::Device && single => {
                return self.call("__saturatef", args, false, e.ty.clone());
            }
            Saturate => return self.saturate(&args[0], single),
            Rsqrt if self.target == Target::Host => {
                let root =
                    self.call(if single { "sqrtf" } else { "sqrt" }, args, !single, e.ty.clone())?;
                let doc = infix(text(if single { "1.0f" } else { "1.0" }), "/", root.doc);
                return Ok(Printed::new(doc, prec::PRODUCT, e.ty.clone()));
            }
            Abs => "fabs",
            Min => "fmin",
            Max => "fmax",
            Popc | Clz | Ffs | Brev | MulHi | Mul24 | Sad | BytePerm | FunnelShiftLeft
            | FunnelShiftRight | Dp4a | Settled | MapShared | SharedRank => {
                let what = format!("`{}` of a `{}`", f.name(), types::scalar(s));
                return Err(EmitError::new(what, &e.origin));
            }
            other => other.name(),
        };
        // The plain names are overloaded in C++, the ones with `f` are not.
        let name = if single { format!("{name}f") } else { name.to_string() };
        self.call(&name, args, !single, e.ty.clone())
    }

    fn reciprocal(&self, x: &Expr, single: bool) -> Result<Printed> {
        let (one, ty) = if single { ("1.0f", Type::F32) } else { ("1.0", Type::F64) };
        let doc = infix(text(one), "/", self.exact(x)?.at_least(prec::UNARY));
        Ok(Printed::new(doc, prec::PRODUCT, ty))
    }

    /// Clamped to [0, 1]; NaN becomes 0.
    fn saturate(&self, x: &Expr, single: bool) -> Result<Printed> {
        let (min, max, zero, one) = if single {
            ("fminf", "fmaxf", "0.0f", "1.0f")
        } else {
            ("fmin", "fmax", "0.0", "1.0")
        };
        let inner = list(&format!("{max}("), vec![self.exact(x)?.doc, text(zero)], ")");
        Ok(Printed::new(
            list(&format!("{min}("), vec![inner, text(one)], ")"),
            prec::POSTFIX,
            x.ty.clone(),
        ))
    }

    /// Device functions of half precision where there are any; else `float`'s, rounded once.
    fn half_math(&self, f: MathFn, args: &[Expr], s: Scalar, e: &Expr) -> Result<Printed> {
        use MathFn::*;
        self.include_half(s);
        let name = match f {
            Sqrt => "hsqrt",
            Rsqrt => "hrsqrt",
            Rcp => "hrcp",
            Exp => "hexp",
            Exp2 => "hexp2",
            Exp10 => "hexp10",
            Log => "hlog",
            Log2 => "hlog2",
            Log10 => "hlog10",
            Sin => "hsin",
            Cos => "hcos",
            Floor => "hfloor",
            Ceil => "hceil",
            Trunc => "htrunc",
            Rint => "hrint",
            Abs => "__habs",
            Min => "__hmin",
            Max => "__hmax",
            Fma => "__hfma",
            IsNan => "__hisnan",
            _ => "",
        };
        let everywhere = matches!(f, Abs | Min | Max | IsNan);
        if !name.is_empty() && (self.target == Target::Device || everywhere) {
            return self.call(name, args, true, e.ty.clone());
        }
        let single = |x: &Expr| {
            if x.ty.scalar().is_some_and(half) { x.clone().cast(Type::F32) } else { x.clone() }
        };
        let args: Vec<Expr> = args.iter().map(single).collect();
        let ty = if e.ty.scalar().is_some_and(half) { Type::F32 } else { e.ty.clone() };
        let inner = Expr { ty, ..e.clone() };
        let printed = self.float_math(f, &args, Scalar::F32, &inner)?;
        self.coerce(printed, &e.ty)
    }

    fn integer_math(&self, f: MathFn, args: &[Expr], s: Scalar, e: &Expr) -> Result<Printed> {
        use MathFn::*;
        let wide = s.bytes() == 8;
        let device = self.target == Target::Device;
        let signed = s.is_signed();
        let name = match f {
            Min | Max => return self.integer_min_max(f.name(), args, e),
            Abs if !device => {
                self.cx.include("stdlib.h");
                if wide { "llabs" } else { "abs" }
            }
            Abs if wide => "llabs",
            Abs => "abs",
            Popc | Clz | Ffs if !device => return self.host_bits(f, &args[0], wide, e),
            Popc if wide => "__popcll",
            Popc => "__popc",
            Clz if wide => "__clzll",
            Clz => "__clz",
            Ffs if wide => "__ffsll",
            Ffs => "__ffs",
            BytePerm if !device && swaps_bytes(args) => {
                return self.call("__builtin_bswap32", &args[..1], false, Type::U32);
            }
            // As a schedule leaves a nest, to be read: no launcher multiplies so.
            Dp4a => "__dp4a",
            _ if !device => {
                let what = format!("`{}` on the host", f.name());
                return Err(EmitError::new(what, &e.origin));
            }
            Brev if wide => "__brevll",
            Brev => "__brev",
            MulHi => high_product(wide, signed),
            Mul24 if signed => "__mul24",
            Mul24 => "__umul24",
            Sad if signed => "__sad",
            Sad => "__usad",
            BytePerm => "__byte_perm",
            FunnelShiftLeft => "__funnelshift_l",
            FunnelShiftRight => "__funnelshift_r",
            other => {
                let what = format!("`{}` of a `{}`", other.name(), types::scalar(s));
                return Err(EmitError::new(what, &e.origin));
            }
        };
        let overloaded = matches!(f, Abs | Dp4a);
        let unsigned = matches!(f, Popc | Clz | Ffs | Brev) && s.bytes() < 4;
        if unsigned && signed {
            // A sign extended to 32 bits would be counted.
            let what = format!("`{}` of a `{}`", f.name(), types::scalar(s));
            return Err(EmitError::new(what, &e.origin));
        }
        let result = match f {
            Brev if wide => Type::U64,
            Brev | BytePerm | FunnelShiftLeft | FunnelShiftRight => Type::U32,
            Sad => Type::U32,
            _ => e.ty.clone(),
        };
        self.call(name, args, overloaded, result)
    }

    /// `min` and `max` are overloaded: both arguments must have the type, small integers as `int`.
    fn integer_min_max(&self, name: &str, args: &[Expr], e: &Expr) -> Result<Printed> {
        let mut docs = vec![];
        let mut ty = e.ty.clone();
        for a in args {
            let p = self.exact(a)?;
            let p = match p.ty.scalar() {
                Some(s) if s.bytes() < 4 => {
                    ty = Type::I32;
                    self.coerce(p, &Type::I32)?
                }
                _ => p,
            };
            docs.push(p.doc);
        }
        let std = self.target == Target::Host;
        if std {
            self.cx.include("algorithm");
        }
        let open = format!("{}{name}(", if std { "std::" } else { "" });
        Ok(Printed::new(list(&open, docs, ")"), prec::POSTFIX, ty))
    }

    /// Bit counts in the host compiler's spelling.
    fn host_bits(&self, f: MathFn, x: &Expr, wide: bool, e: &Expr) -> Result<Printed> {
        let suffix = if wide { "ll" } else { "" };
        let operand = self.implicit(x)?;
        let name = match f {
            MathFn::Popc => "popcount",
            MathFn::Clz => "clz",
            _ => "ffs",
        };
        let call = list(&format!("__builtin_{name}{suffix}("), vec![operand.doc.clone()], ")");
        let call = Printed::new(call, prec::POSTFIX, Type::I32);
        if f != MathFn::Clz {
            return Ok(call);
        }
        // The host's function is undefined at zero.
        let bits = if wide { "64" } else { "32" };
        let zero = infix(operand.at_least(prec::SHIFT), "==", text("0"));
        let doc = cat([zero, text(format!(" ? {bits} : ")), call.doc]);
        Ok(Printed::new(doc, prec::SELECT, e.ty.clone()))
    }
}

fn high_product(wide: bool, signed: bool) -> &'static str {
    match (wide, signed) {
        (false, true) => "__mulhi",
        (false, false) => "__umulhi",
        (true, true) => "__mul64hi",
        (true, false) => "__umul64hi",
    }
}
