//! Conversions that are called by name, `x.operator T()`, which the grammar does not read: they are written as calls of a method
//! with the type as its argument, and read as casts.

use std::collections::HashSet;

use crate::ast::{Expr, ExprKind, TemplateArg, TypeKind, TypeName};
use crate::pp::{Token, TokenKind};

/// The name of that method.
pub const CONVERSION: &str = "__0conversion";
/// Tokens of such a type, at most.
const LONGEST: usize = 64;

/// Where such calls have their `operator`, and the last tokens of their types.
#[derive(Default)]
pub struct Conversions {
    pub begins: HashSet<usize>,
    pub ends: HashSet<usize>,
}

pub fn find(tokens: &[Token]) -> Conversions {
    let text = |at: usize| tokens.get(at).map_or("", |t| &*t.text);
    let mut found = Conversions::default();
    for at in (1..tokens.len()).filter(|at| text(*at) == "operator") {
        let of_object = matches!(text(at - 1), "." | "->");
        let named = tokens.get(at + 1).is_some_and(|t| t.kind == TokenKind::Word);
        let end = (at + 1..tokens.len()).take(LONGEST).find(|end| text(*end) == "(");
        if let (true, true, Some(end)) = (of_object, named, end) {
            found.begins.insert(at);
            found.ends.insert(end - 1);
        }
    }
    found
}

/// What a call of that method means; any other call as it is.
pub fn cast_of(callee: Expr, args: Vec<Expr>) -> ExprKind {
    let (base, arrow, ty) = match *callee.kind {
        ExprKind::Member { base, arrow, member, .. }
            if member.name == CONVERSION && args.is_empty() =>
        {
            (base, arrow, member.args.unwrap_or_default().first().and_then(named_type))
        }
        kind => {
            let callee = Expr { kind: Box::new(kind), span: callee.span };
            return ExprKind::Call { callee, args };
        }
    };
    let Some(ty) = ty else {
        return ExprKind::Unsupported { what: "this call of a conversion".to_owned() };
    };
    let span = base.span;
    let operand = match arrow {
        true => Expr { kind: Box::new(ExprKind::Unary { op: "*".into(), operand: base }), span },
        false => base,
    };
    ExprKind::Cast { style: "static", ty, operand }
}

fn named_type(arg: &TemplateArg) -> Option<TypeName> {
    match arg {
        TemplateArg::Type(ty) => Some(ty.clone()),
        TemplateArg::Name(path) => Some(TypeName {
            kind: TypeKind::Named(path.clone()),
            is_const: false,
            is_volatile: false,
            span: path.span,
        }),
        TemplateArg::Value(_) | TemplateArg::Each(..) => None,
    }
}
