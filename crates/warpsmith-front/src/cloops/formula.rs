//! Functions that compute a subscript: `static int at(int i, int j, int m) { return i * m + j; }`.
//!
//! A sum or product of integers is put in place of its call, so that the subscript is seen for what it is.

use std::collections::HashMap;

use warpsmith_ir::{Expr, ExprKind, PlaceKind, Span, Var, VarKind, visit};

use super::cx::{Binding, Cx, Low};
use super::types::{self, CType};
use super::unit::Unit;
use crate::ast::{self, FunctionDecl};

/// The expression that a function gives back, if it is a sum or product of its parameters, all integers.
fn formula<'u>(unit: &'u Unit<'u>, name: &str) -> Option<(&'u FunctionDecl, &'u ast::Expr)> {
    let f = unit.function(name)?;
    let [only] = f.body.as_ref()?.stmts.as_slice() else { return None };
    let ast::StmtKind::Return(Some(ast::Initializer::Expr(e))) = &only.kind else { return None };
    let integer = |t: &'u ast::TypeName| matches!(types::read(unit, t, true), Ok(CType::Scalar(s)) if s.is_integer() && s.bytes() >= 4);
    let integers = f.ret.as_ref().is_some_and(&integer) && f.params.iter().all(|p| integer(&p.ty));
    (integers && !f.variadic && is_polynomial(f, e)).then_some((f, e))
}

/// Whether calls of the function are replaced.
pub fn is_formula(unit: &Unit<'_>, name: &str) -> bool {
    formula(unit, name).is_some()
}

fn is_polynomial(f: &FunctionDecl, e: &ast::Expr) -> bool {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => is_polynomial(f, inner),
        ast::ExprKind::Number(_) => true,
        ast::ExprKind::Path(path) => {
            path.as_name().is_some_and(|n| f.params.iter().any(|p| p.name.as_deref() == Some(n)))
        }
        ast::ExprKind::Binary { op, left, right } => {
            matches!(op.as_str(), "+" | "-" | "*")
                && is_polynomial(f, left)
                && is_polynomial(f, right)
        }
        _ => false,
    }
}

/// The value of a call of such a function; `None` for any other.
pub fn value<'u>(cx: &mut Cx<'u>, name: &str, args: &[ast::Expr], span: Span) -> Low<Option<Expr>> {
    let unit = cx.unit;
    let Some((f, e)) = formula(unit, name) else { return Ok(None) };
    if args.len() != f.params.len() {
        let message = format!("`{name}` takes {} arguments, not {}", f.params.len(), args.len());
        return Err(cx.error("W147", message, span, "this call"));
    }
    let mut values = vec![];
    for (param, arg) in f.params.iter().zip(args) {
        let value = cx.scalar(arg)?;
        values.push(match types::read(unit, &param.ty, true) {
            Ok(CType::Scalar(s)) => cx.convert(value, s),
            _ => value,
        });
    }
    let own = cx.function.vars.len();
    let scopes = std::mem::replace(&mut cx.scopes, vec![HashMap::new()]);
    let mut given = vec![];
    for (param, value) in f.params.iter().zip(values) {
        let Some(name) = param.name.as_deref() else { continue };
        if let ExprKind::Read(place) = &*value.kind
            && let PlaceKind::Var(id) = &*place.kind
        {
            cx.bind(name, Binding::Var(*id));
            continue;
        }
        // A name for the argument while the formula is read; the value takes its place below.
        let id = cx.function.add_var(Var::new(name, value.ty.clone(), VarKind::Local));
        cx.bind(name, Binding::Var(id));
        given.push((id, value));
    }
    let result = cx.scalar(e);
    cx.scopes = scopes;
    let mut result = result?;
    for (id, value) in &given {
        visit::substitute_var_in_expr(&mut result, *id, value);
    }
    cx.function.vars.truncate(own);
    let result = match f.ret.as_ref().map(|t| types::read(unit, t, false)) {
        Some(Ok(CType::Scalar(s))) => cx.convert(result, s),
        _ => result,
    };
    Ok(Some(result.with_origin(span)))
}
