//! Variables that a few statements behind their declaration adjust: `int j = i + d; if (j < 0) j = -j;`.

use std::ops::Range;

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::put::put;
use super::{counted, scope};

/// Letters of such an expression, at most: what is longer nobody reads.
const MAX_LENGTH: usize = 300;

/// What a variable is at a byte of a body, where the statements between its declaration and that one do nothing to it but set it,
/// each time to what follows from itself and from variables that keep their values.
pub fn adjusted(
    body: &ast::Block,
    (name, byte): (&str, usize),
    sources: &SourceMap,
) -> Option<String> {
    let stmts = list_with(&body.stmts, name, byte)?;
    let declared = stmts.iter().position(|s| initial(s, name).is_some())?;
    let end = stmts.iter().position(|s| bytes(s).contains(&byte)).filter(|e| *e > declared)?;
    let other = |n: &str| n == name || keeps(body, n, byte);
    let text = |e: &ast::Expr| is_fixed(e, &other).then(|| sources.text(e.span).trim().to_string());
    let mut value = text(initial(&stmts[declared], name)?)?;
    for s in &stmts[declared + 1..end] {
        value = after(s, name, value, &text)?;
    }
    (!sets(&stmts[end], name) && value.len() <= MAX_LENGTH).then_some(value)
}

fn bytes(s: &ast::Stmt) -> Range<usize> {
    s.span.start as usize..s.span.end as usize
}

/// The innermost statements around a byte that declare a name.
fn list_with<'a>(stmts: &'a [ast::Stmt], name: &str, byte: usize) -> Option<&'a [ast::Stmt]> {
    let around = stmts.iter().find(|s| bytes(s).contains(&byte))?;
    let mut inner = None;
    let mut into = |s: &'a ast::Stmt| {
        let list = match &s.kind {
            StmtKind::Block(b) => &b.stmts,
            _ => std::slice::from_ref(s),
        };
        inner = inner.or_else(|| list_with(list, name, byte));
    };
    match &around.kind {
        StmtKind::Block(b) => inner = list_with(&b.stmts, name, byte),
        StmtKind::If { then, otherwise, .. } => {
            into(then);
            otherwise.iter().for_each(|o| into(o));
        }
        StmtKind::For { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. } => {
            into(body);
        }
        _ => {}
    }
    inner.or_else(|| stmts.iter().any(|s| initial(s, name).is_some()).then_some(stmts))
}

/// What a statement declares a variable as.
fn initial<'a>(s: &'a ast::Stmt, name: &str) -> Option<&'a ast::Expr> {
    let StmtKind::Vars(vars) = &s.kind else { return None };
    match &vars.declarators.iter().find(|d| d.name == name)?.init {
        Some(Initializer::Expr(e)) => Some(e),
        _ => None,
    }
}

/// The value behind a statement.
fn after(
    s: &ast::Stmt,
    name: &str,
    value: String,
    text: &dyn Fn(&ast::Expr) -> Option<String>,
) -> Option<String> {
    if !sets(s, name) {
        return Some(value);
    }
    match &s.kind {
        StmtKind::Expr(e) => {
            let ExprKind::Assign { op, target, value: e } = &*e.kind else { return None };
            let e = put(&text(e).filter(|_| counted::name(target) == Some(name))?, name, &value);
            match op.strip_suffix('=')? {
                "" => Some(e),
                op => Some(put(&put(&format!("{name} {op} __e"), name, &value), "__e", &e)),
            }
        }
        StmtKind::Block(b) => b.stmts.iter().try_fold(value, |v, s| after(s, name, v, text)),
        StmtKind::If { init: None, cond, then, otherwise, .. } => {
            let cond = put(&text(cond)?, name, &value);
            let yes = after(then, name, value.clone(), text)?;
            let no = match otherwise {
                Some(s) => after(s, name, value, text)?,
                None => value,
            };
            Some(format!("{cond} ? {yes} : {no}"))
        }
        _ => None,
    }
}

/// Whether a statement changes a variable.
fn sets(s: &ast::Stmt, name: &str) -> bool {
    let mut found = false;
    walk::stmt(s, &mut |e| found |= counted::changes(e, name));
    found
}

/// Whether an expression changes nothing and reads but variables that keep their values.
fn is_fixed(e: &ast::Expr, keeps: &dyn Fn(&str) -> bool) -> bool {
    let mut fixed = true;
    walk::expr(e, &mut |e| {
        fixed &= counted::changed(e).is_none();
        if let ExprKind::Path(path) = &*e.kind {
            fixed &= path.as_name().is_some_and(keeps);
        }
    });
    fixed
}

/// Whether a variable keeps its value: nothing changes it but the steps of loops around a byte.
fn keeps(body: &ast::Block, name: &str, byte: usize) -> bool {
    let mut changes = 0;
    walk::block(body, &mut |e| changes += usize::from(counted::changes(e, name)));
    scope::each_stmt(&body.stmts, &mut |s| {
        if let StmtKind::For { step: Some(step), .. } = &s.kind
            && bytes(s).contains(&byte)
        {
            walk::expr(step, &mut |e| changes -= usize::from(counted::changes(e, name)));
        }
    });
    changes == 0
}
