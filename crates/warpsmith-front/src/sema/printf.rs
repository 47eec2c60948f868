//! `printf`: a format, and what is printed with it.

use warpsmith_ir::{Expr, Scalar, Span, StmtKind, Type};

use super::Sema;
use super::convert::{cast_scalar, promoted};
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// A text with numbers, of a kernel or of the host.
    pub(crate) fn printf(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        let Some((first, rest)) = args.split_first() else {
            return fail("W063", span, "`printf` needs a format");
        };
        let Operand::Str(format) = self.expr(first)? else {
            return fail("W082", first.span, "the format of `printf` has to be a string literal");
        };
        let mut values = vec![];
        let mut text = String::new();
        let mut pieces = format_pieces(&format).into_iter();
        for arg in rest {
            let (before, spec) = pieces.next().unwrap_or_default();
            text.push_str(&before);
            match self.expr(arg)? {
                // A literal argument becomes part of the format.
                Operand::Str(s) if spec.ends_with('s') => text.push_str(&s.replace('%', "%%")),
                other => {
                    let value = self.rvalue_of(other, arg.span)?;
                    let value = match value.ty {
                        Type::Scalar(Scalar::F32 | Scalar::F16 | Scalar::BF16) => {
                            cast_scalar(value, Scalar::F64, arg.span)
                        }
                        Type::Scalar(s) if s.is_integer() => {
                            cast_scalar(value, promoted(s), arg.span)
                        }
                        Type::Scalar(_) | Type::Pointer { .. } => value,
                        _ => return fail("W082", arg.span, "`printf` takes numbers and pointers"),
                    };
                    text.push_str(&spec);
                    values.push(value);
                }
            }
        }
        for (before, spec) in pieces {
            text.push_str(&before);
            text.push_str(&spec);
        }
        self.emit(StmtKind::Printf { format: text, args: values }, span);
        Ok(Operand::Value(Expr::i32(0).with_origin(span)))
    }
}

/// A format cut before each conversion: the text up to it, and the conversion. A last piece has no conversion.
fn format_pieces(format: &str) -> Vec<(String, String)> {
    let mut pieces = vec![];
    let mut before = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            before.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            before.push_str("%%");
            continue;
        }
        let mut spec = String::from('%');
        for c in chars.by_ref() {
            spec.push(c);
            if c.is_ascii_alphabetic() && !matches!(c, 'l' | 'h' | 'z' | 't' | 'j') {
                break;
            }
        }
        pieces.push((std::mem::take(&mut before), spec));
    }
    pieces.push((before, String::new()));
    pieces
}
