//! `#pragma ws bounds(A: n, m)`: extents of arrays passed as plain pointers.

use warpsmith_ir::{BinaryOp, Diagnostic, Expr, PlaceKind, VarId, visit};

use super::cx::{Binding, Cx, Low, Reported};
use super::literal;
use super::pragma::{Bounds, Token};

impl<'u> Cx<'u> {
    /// Gives each named parameter its extents.
    pub fn apply_bounds(&mut self, list: &[Bounds]) {
        for bounds in list {
            // Reported where it arose.
            let _ = self.bound(bounds);
        }
    }

    fn bound(&mut self, bounds: &Bounds) -> Low<()> {
        let name = &bounds.array;
        let id = match self.lookup_quietly(&name.text)? {
            Some(Binding::Var(id)) if self.is_param(id) && self.var_type(id).is_pointer() => id,
            Some(_) => {
                let d = Diagnostic::error("W150", format!("`{}` is no array parameter", name.text));
                return Err(self.fail(d.label(name.span, "named here")));
            }
            None => {
                let mut d =
                    Diagnostic::error("W150", format!("no parameter is called `{}`", name.text))
                        .label(name.span, "unknown array");
                let known = self.names_in_scope();
                if let Some(near) =
                    crate::spelling::nearest(&name.text, known.iter().map(String::as_str))
                {
                    d = d.help(format!("did you mean `{near}`?"));
                }
                return Err(self.fail(d));
            }
        };
        if self.function.var(id).shape.is_some() {
            let d = Diagnostic::error(
                "W150",
                format!("the extents of `{}` are already declared", name.text),
            );
            return Err(self.fail(d.label(name.span, "given a second time")));
        }
        let mut extents = vec![];
        for tokens in &bounds.extents {
            let mut parser = ExtentParser { cx: self, rest: tokens, depth: 0 };
            let extent = parser.sum()?;
            if let Some(extra) = parser.rest.first().cloned() {
                return Err(self.bad(&extra));
            }
            extents.push(extent);
        }
        let dims = self.dims.get(&id).map_or(0, Vec::len);
        if dims > 0 && extents.len() != dims + 1 {
            let message =
                format!("`{}` has {} dimensions, not {}", name.text, dims + 1, extents.len());
            return Err(self.error("W150", message, name.span, "this array"));
        }
        self.freeze(&extents, &name.text);
        self.function.vars[id.0 as usize].shape = Some(extents);
        Ok(())
    }

    /// Variables that extents mention must keep their values.
    pub fn freeze(&mut self, extents: &[Expr], array: &str) {
        for extent in extents {
            visit::for_each_place_in_expr(extent, &mut |place, _| {
                if let PlaceKind::Var(id) = &*place.kind {
                    self.frozen.entry(*id).or_insert_with(|| array.to_string());
                }
            });
        }
    }

    fn bad(&mut self, token: &Token) -> Reported {
        let d = Diagnostic::error("W150", format!("`{}` cannot stand in an extent", token.text));
        self.fail(
            d.label(token.span, "here")
                .help("extents are sums and products of parameters and numbers"),
        )
    }
}

/// Sums and products of parameters and numbers.
struct ExtentParser<'c, 'u, 't> {
    cx: &'c mut Cx<'u>,
    rest: &'t [Token],
    depth: usize,
}

/// Parentheses deeper than this are no extent a person would write.
const MAX_DEPTH: usize = 32;

impl ExtentParser<'_, '_, '_> {
    fn sum(&mut self) -> Low<Expr> {
        let mut left = self.product()?;
        while let Some(op) = self.operator(&[("+", BinaryOp::Add), ("-", BinaryOp::Sub)]) {
            let right = self.product()?;
            left = self.combine(op, left, right)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Low<Expr> {
        let mut left = self.factor()?;
        while let Some(op) = self.operator(&[("*", BinaryOp::Mul), ("/", BinaryOp::Div)]) {
            let right = self.factor()?;
            left = self.combine(op, left, right)?;
        }
        Ok(left)
    }

    fn combine(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Low<Expr> {
        let span = a.origin.span.or(b.origin.span);
        match span {
            Some(span) => self.cx.combine(op, a, b, span),
            None => Err(Reported),
        }
    }

    fn operator(&mut self, known: &[(&str, BinaryOp)]) -> Option<BinaryOp> {
        let first = self.rest.first()?;
        let (_, op) = known.iter().find(|(text, _)| *text == first.text)?;
        self.rest = &self.rest[1..];
        Some(*op)
    }

    fn factor(&mut self) -> Low<Expr> {
        let Some((token, rest)) = self.rest.split_first() else {
            let d = Diagnostic::error("W150", "an extent ends with an operator");
            return Err(self
                .cx
                .fail(d.help("extents are sums and products of parameters and numbers")));
        };
        self.rest = rest;
        if token.text == "(" && self.depth < MAX_DEPTH {
            self.depth += 1;
            let inside = self.sum()?;
            self.depth -= 1;
            return match self.rest.split_first() {
                Some((close, rest)) if close.text == ")" => {
                    self.rest = rest;
                    Ok(inside)
                }
                _ => Err(self.cx.bad(token)),
            };
        }
        if token.is_word() {
            return self.name(token);
        }
        match literal::parse_number(&token.text) {
            Ok(v) if v.ty.is_integer() => Ok(Expr::constant(v).with_origin(token.span)),
            _ => Err(self.cx.bad(token)),
        }
    }

    fn name(&mut self, token: &Token) -> Low<Expr> {
        match self.cx.lookup(&token.text, token.span)? {
            Binding::Var(id) if is_integer(self.cx, id) => {
                Ok(Expr::var(id, self.cx.var_type(id).clone()).with_origin(token.span))
            }
            Binding::Const(id) => Ok(self.cx.constant(id).with_origin(token.span)),
            _ => Err(self.cx.bad(token)),
        }
    }
}

fn is_integer(cx: &Cx<'_>, id: VarId) -> bool {
    cx.var_type(id).is_integer()
}
