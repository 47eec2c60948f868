//! Conversions between types, as C needs them.

use warpsmith_ir::{Scalar, Type};

use super::{Printed, half, infix, prec};
use crate::context::Printer;
use crate::convert::lossless;
use crate::doc::{cat, list, text};
use crate::error::Result;
use crate::literal;
use crate::types;

impl Printer<'_> {
    /// Adds the cast that C needs.
    pub fn coerce(&self, p: Printed, to: &Type) -> Result<Printed> {
        if p.ty == *to {
            return Ok(p);
        }
        if let (Some(value), Some(s)) = (p.literal, to.scalar())
            && s == value.ty
            && s.is_integer()
        {
            let l = literal::exact(value);
            if l.ty == s {
                let level = if l.negative { prec::UNARY } else { prec::PRIMARY };
                return Ok(Printed {
                    literal: None,
                    ..Printed::new(text(l.text), level, to.clone())
                });
            }
        }
        match (p.ty.scalar(), to.scalar()) {
            (Some(from), Some(to)) => self.convert(p, from, to),
            (None, Some(Scalar::Bool)) if p.ty.is_pointer() => {
                let doc = infix(p.at_least(prec::SHIFT), "!=", text("nullptr"));
                Ok(Printed::new(doc, prec::EQUALITY, Type::BOOL))
            }
            _ if p.ty.is_pointer() || to.is_pointer() => self.pointer_cast(p, to),
            _ => Ok(p),
        }
    }

    /// An explicit conversion between scalars.
    pub(super) fn convert(&self, p: Printed, from: Scalar, to: Scalar) -> Result<Printed> {
        let ty = Type::Scalar(to);
        if half(from) || half(to) {
            return self.convert_half(p, from, to);
        }
        if to == Scalar::Bool {
            let zero = if from.is_float() { "0.0f" } else { "0" };
            let doc = infix(p.at_least(prec::SHIFT), "!=", text(zero));
            return Ok(Printed::new(doc, prec::EQUALITY, ty));
        }
        let doc = cat([
            text(format!("({})", types::scalar_in(to, self.cx.names))),
            p.at_least(prec::UNARY),
        ]);
        Ok(Printed::new(doc, prec::UNARY, ty))
    }

    /// Half precision converts through functions, and through `float` where there is none.
    pub(super) fn convert_half(&self, p: Printed, from: Scalar, to: Scalar) -> Result<Printed> {
        use Scalar::*;
        self.include_half(from);
        self.include_half(to);
        let call = |name: &str, p: Printed, ty: Scalar| {
            Printed::new(
                list(&format!("{name}("), vec![p.doc], ")"),
                prec::POSTFIX,
                Type::Scalar(ty),
            )
        };
        Ok(match (from, to) {
            (F16, F32) => call("__half2float", p, F32),
            (BF16, F32) => call("__bfloat162float", p, F32),
            (F32, F16) => call("__float2half", p, F16),
            (F32, BF16) => call("__float2bfloat16", p, BF16),
            (F64, F16) => call("__double2half", p, F16),
            (F64, BF16) => call("__double2bfloat16", p, BF16),
            (I32, F16) => call("__int2half_rn", p, F16),
            (U32, F16) => call("__uint2half_rn", p, F16),
            (I64, F16) => call("__ll2half_rn", p, F16),
            (U64, F16) => call("__ull2half_rn", p, F16),
            (F16, I32) => call("__half2int_rz", p, I32),
            (F16, U32) => call("__half2uint_rz", p, U32),
            (F16, I64) => call("__half2ll_rz", p, I64),
            (F16, U64) => call("__half2ull_rz", p, U64),
            (from, _) if half(from) => {
                let single = self.convert_half(p, from, F32)?;
                self.convert(single, F32, to)?
            }
            // Every small integer is a value of `float`, so that this rounds once.
            (from, to) if lossless(from, F32) => {
                let single = self.convert(p, from, F32)?;
                self.convert_half(single, F32, to)?
            }
            (from, to) => {
                let double = self.convert(p, from, F64)?;
                self.convert_half(double, F64, to)?
            }
        })
    }

    pub fn include_half(&self, s: Scalar) {
        match s {
            Scalar::F16 => self.cx.include("cuda_fp16.h"),
            Scalar::BF16 => self.cx.include("cuda_bf16.h"),
            _ => {}
        }
    }
}
