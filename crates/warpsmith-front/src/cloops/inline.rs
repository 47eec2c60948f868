//! Calls of functions that hold marked loops: their bodies take the place of the call.
//!
//! A nest in a called function is a kernel of its own, started by the caller; only in the caller's body can its place in
//! the order of the other nests be seen.

use std::collections::HashMap;

use warpsmith_ir::{Diagnostic, Expr, ExprKind, PlaceKind, Span, StmtKind, Type};

use super::access::Pointer;
use super::cx::{Binding, Cx, Low};
use super::scan;
use super::types::CType;
use super::unit::Unit;
use crate::ast::{self, FunctionDecl, Param, Stmt};

/// Does the function hold a marked loop or an update that iterations share, itself or through the functions it calls?
pub fn is_needed(unit: &Unit<'_>, name: &str) -> bool {
    unit.candidates().contains(&name) || unit.updates_atomically(name)
}

/// What an argument is before the callee's names are in force.
enum Argument {
    Scalar(Expr),
    Pointer(Pointer),
}

/// Puts the callee's body in place of the call.
///
/// # Errors
/// W153 when the function gives a value or returns early; W147 for wrong arguments.
pub fn call<'u>(cx: &mut Cx<'u>, name: &str, args: &[ast::Expr], span: Span) -> Low<()> {
    let unit = cx.unit;
    let Some(f) = unit.function(name) else { return Err(super::cx::Reported) };
    let Some(body) = &f.body else { return Err(super::cx::Reported) };
    check_form(cx, f, &body.stmts, span)?;
    if args.len() != f.params.len() {
        let message = format!("`{name}` takes {} arguments, not {}", f.params.len(), args.len());
        return Err(cx.error("W147", message, span, "this call"));
    }
    let mut values = vec![];
    for (param, arg) in f.params.iter().zip(args) {
        values.push(argument(cx, param, arg)?);
    }
    let caller_scopes = std::mem::replace(&mut cx.scopes, vec![HashMap::new()]);
    cx.inlining.push(name.to_string());
    let mut result = Ok(());
    let block = cx.block(|cx| {
        result = bind_all(cx, f, values, &body.stmts, span);
        if result.is_ok() {
            cx.stmts(&body.stmts);
        }
    });
    cx.inlining.pop();
    cx.scopes = caller_scopes;
    result?;
    cx.push(StmtKind::Scope(block), span);
    if let Some(last) = cx.out.last_mut() {
        last.comment.push(format!(
            "{name}({})",
            f.params.iter().filter_map(|p| p.name.as_deref()).collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(())
}

fn check_form(cx: &mut Cx<'_>, f: &FunctionDecl, body: &[Stmt], span: Span) -> Low<()> {
    let void = matches!(f.ret.as_ref().map(|t| &t.kind), Some(ast::TypeKind::Void));
    let returns = |s: &Stmt| matches!(s.kind, ast::StmtKind::Return(_)) || holds_return(s);
    let early = body.iter().rev().skip(1).any(returns) || body.last().is_some_and(holds_return);
    if void && !early {
        return Ok(());
    }
    let what = if void { "returns early" } else { "gives a value" };
    let d = Diagnostic::error(
        "W153",
        format!("a called function with marked loops or atomic updates {what}"),
    )
    .label(span, "called here")
    .label(f.head_span, "this function");
    Err(cx.fail(d.help("make it `void`, with the result behind a pointer, and a single way out")))
}

/// A `return` below the top level of the statement.
fn holds_return(s: &Stmt) -> bool {
    use ast::StmtKind as S;
    let within = |s: &Stmt| matches!(s.kind, S::Return(_)) || holds_return(s);
    match &s.kind {
        S::Block(b) => b.stmts.iter().any(within),
        S::If { then, otherwise, .. } => within(then) || otherwise.as_deref().is_some_and(within),
        S::For { body, .. }
        | S::While { body, .. }
        | S::DoWhile { body, .. }
        | S::Switch { body, .. } => within(body),
        _ => false,
    }
}

fn argument(cx: &mut Cx<'_>, param: &Param, arg: &ast::Expr) -> Low<Argument> {
    match cx.read_type(&param.ty, true)? {
        CType::Scalar(s) => {
            let value = cx.scalar(arg)?;
            Ok(Argument::Scalar(cx.convert(value, s)))
        }
        CType::Struct(id) => cx.value_as(arg, &Type::Struct(id)).map(Argument::Scalar),
        CType::Pointer { element, .. } => match cx.decayed(arg)? {
            Some(p) if p.element == element => Ok(Argument::Pointer(p)),
            _ => {
                let name = param.name.as_deref().unwrap_or("the parameter");
                let message = format!("`{name}` is an array of another type");
                Err(cx.error("W147", message, arg.span, "this argument"))
            }
        },
        _ => Err(cx.error(
            "W144",
            "this parameter's type is not supported",
            param.span,
            "this parameter",
        )),
    }
}

/// Scalars first, because extents mention them.
fn bind_all<'u>(
    cx: &mut Cx<'u>,
    f: &'u FunctionDecl,
    values: Vec<Argument>,
    body: &'u [Stmt],
    span: Span,
) -> Low<()> {
    let changed = scan::effects_of(body).assigned;
    let mut pointers = vec![];
    for (param, value) in f.params.iter().zip(values) {
        let Some(name) = param.name.as_deref() else { continue };
        match value {
            Argument::Scalar(value) => bind_scalar(cx, name, value, changed.contains(name), span),
            Argument::Pointer(p) => pointers.push((name, param, p)),
        }
    }
    for (name, param, p) in pointers {
        let p = with_extents(cx, param, p, span)?;
        cx.bind(name, Binding::Alias(p));
    }
    Ok(())
}

/// A parameter the callee leaves alone is another name of a variable, or a variable with the argument's value.
fn bind_scalar(cx: &mut Cx<'_>, name: &str, value: Expr, changed: bool, span: Span) {
    if !changed
        && let ExprKind::Read(place) = &*value.kind
        && let PlaceKind::Var(id) = &*place.kind
    {
        cx.bind(name, Binding::Var(*id));
        return;
    }
    let folded = cx.fold(&value);
    let var = cx.declare(name, value.ty.clone(), span);
    if let Some(v) = folded.filter(|_| !changed) {
        cx.constants.insert(var, v);
    }
    cx.push(StmtKind::Decl { var, init: Some(value) }, span);
}

/// The argument seen with the extents of the parameter.
fn with_extents<'u>(cx: &mut Cx<'u>, param: &'u Param, p: Pointer, span: Span) -> Low<Pointer> {
    let CType::Pointer { extents, readonly, .. } = cx.read_type(&param.ty, true)? else {
        return Err(super::cx::Reported);
    };
    let mut dims = vec![];
    for extent in extents.iter().skip(1) {
        match extent {
            Some(e) => dims.push(cx.index_value(e)?),
            None => return Err(cx.unknown_base(param.span)),
        }
    }
    let readonly = p.readonly || readonly;
    if p.index.is_empty() && p.offset.is_none() {
        return Ok(Pointer { dims, readonly, ..p });
    }
    if dims.is_empty() && p.index.len() == p.dims.len() {
        return Ok(Pointer { readonly, ..p });
    }
    let d = Diagnostic::error(
        "W153",
        "part of an array is passed to a function with marked loops under other extents",
    )
    .label(span, "this call")
    .label(param.span, "this parameter");
    Err(cx.fail(d.help("pass the whole array")))
}
