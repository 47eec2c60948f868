//! Elements that a kernel does not read as `a[i]`: members of structures (`f.u[i]`), arrays of several extents (`a[i][j]`), macros
//! (`AT(a, i, j)`) and functions of the file (`at(a, i, j, nx)`).
//!
//! A plan needs of an element where it stands, what it is written with, and its address. What a macro or a function makes of its
//! arguments stays theirs: the whole of `at(a, i, j, nx)` is the element, and copies call the function, too.

use warpsmith_front::ast::{self, ExprKind, StmtKind, TranslationUnit, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::Span;

use super::elements;
use super::find::{Access, Finder, Named};
use super::{outer, temporal};
use crate::source::{marks, scope};

/// All such elements of a function, in the order of the text.
pub fn accesses(finder: &Finder<'_>, body: &ast::Block, unit: &TranslationUnit) -> Vec<Access> {
    let (mut inner, mut all) = (vec![], vec![]);
    let mut calls: Vec<(&ast::FunctionDecl, Named, Span)> = vec![];
    walk::block(body, &mut |e| match &*e.kind {
        ExprKind::Index { base, .. } if !inner.contains(&e.span) || from_macro(finder, e) => {
            inner.extend(subscripted(base));
            if let Some(written) = element(finder, e) {
                let mut access = finder.access(written, e.span, finder.at(e.span.start));
                access.by_data |= access.index.replace("][", "").contains('[');
                all.push(access);
            }
        }
        ExprKind::Call { callee, args } => {
            if let Some((function, written)) = called(finder, unit, e, callee, args) {
                calls.push((function, written, e.span));
            }
        }
        _ => {}
    });
    let sites: Vec<(Span, Option<Span>)> =
        calls.iter().map(|(f, _, at)| (*at, f.body.as_ref().and_then(|b| b.span))).collect();
    for (n, (_, written, span)) in calls.into_iter().enumerate() {
        let at = through(finder, &sites, n);
        all.push(finder.access(written, span, at));
    }
    all.sort_by_key(|a| a.whole.start);
    all
}

/// Whether a macro brings an element.
fn from_macro(finder: &Finder<'_>, e: &ast::Expr) -> bool {
    e.span.file.0 == 0 && !finder.sources.text(e.span).contains('[')
}

/// The subscripts that an element of an array of several extents is made of, without the last.
fn subscripted(base: &ast::Expr) -> Vec<Span> {
    match &*base.kind {
        ExprKind::Index { base: next, .. } => [vec![base.span], subscripted(next)].concat(),
        ExprKind::Paren(e) => subscripted(e),
        _ => vec![],
    }
}

/// What all subscripts of an element are of, and how many they are.
fn subject(e: &ast::Expr) -> (&ast::Expr, usize) {
    match &*e.kind {
        ExprKind::Index { base, .. } => {
            let (of, count) = subject(base);
            (of, count + 1)
        }
        ExprKind::Paren(inner) if matches!(&*inner.kind, ExprKind::Index { .. }) => subject(inner),
        _ => (e, 0),
    }
}

/// An element with subscripts: of a member, with several of them, or out of a macro.
fn element(finder: &Finder<'_>, e: &ast::Expr) -> Option<Named> {
    let (of, count) = subject(e);
    let root = outer::root(of).filter(|n| finder.params.iter().any(|p| p == n))?;
    let text = finder.sources.text(e.span);
    if e.span.file.0 != 0 {
        return None;
    }
    if from_macro(finder, e) {
        let name = outer::name(of)?;
        return use_of_macro(finder, e.span, name);
    }
    let array = finder.sources.text(of.span).to_string();
    let member = matches!(&*of.kind, ExprKind::Member { .. });
    if !(member && count == 1 || outer::name(of) == Some(root) && count > 1)
        || !text.starts_with(&format!("{array}["))
        || !text.ends_with(']')
    {
        return None;
    }
    let (open, close) = (format!("{array}["), "]".to_string());
    let index = text[open.len()..text.len() - 1].to_string();
    let whole = e.span.start as usize..e.span.end as usize;
    Some(Named { array, open, index, close, whole, value: None })
}

/// `AT(a, i, j)`, where an element of `a` comes from.
fn use_of_macro(finder: &Finder<'_>, at: Span, array: &str) -> Option<Named> {
    let name = finder.sources.text(at);
    let end = marks::closing(finder.text, at.end as usize)?;
    let whole = at.start as usize..end;
    let index = finder.text[at.end as usize..end].trim().strip_prefix('(')?.strip_suffix(')')?;
    let index = index.to_string();
    // A macro that reads several elements, or another array than its use names, is not one element.
    (marks::mentions(&index, array) == 1).then(|| Named {
        array: array.to_string(),
        open: format!("{name}("),
        index,
        close: ")".into(),
        whole,
        value: None,
    })
}

/// A call of a function of the file that reads an element of the only array that it is given.
fn called<'a>(
    finder: &Finder<'_>,
    unit: &'a TranslationUnit,
    e: &ast::Expr,
    callee: &ast::Expr,
    args: &[ast::Expr],
) -> Option<(&'a ast::FunctionDecl, Named)> {
    let text = finder.sources.text(e.span);
    if e.span.file.0 != 0 || !text.ends_with(')') {
        return None;
    }
    let given = |a: &&ast::Expr| outer::name(a).is_some_and(|n| finder.is_pointer(n));
    let mut arrays = args.iter().enumerate().filter(|(_, a)| given(a));
    let (Some((n, array)), None) = (arrays.next(), arrays.next()) else { return None };
    let array = outer::name(array)?;
    let function = function(&unit.items, outer::name(callee)?, args.len())?;
    reads_only(function, n).then_some(())?;
    let open = format!("{}(", finder.sources.text(callee.span));
    let index = text.strip_prefix(&open)?.strip_suffix(')')?.to_string();
    let whole = e.span.start as usize..e.span.end as usize;
    let value = function.ret.as_ref().filter(|_| function.template.is_none());
    let value = value.map(|ty| elements::plain_type(ty, finder.sources));
    let close = ")".to_string();
    Some((function, Named { array: array.to_string(), open, index, close, whole, value }))
}

/// The only function of a file with a name and a number of parameters that runs on the device.
fn function<'a>(items: &'a [ast::Item], name: &str, count: usize) -> Option<&'a ast::FunctionDecl> {
    match scope::device_functions(items, name).as_slice() {
        [only] if only.params.len() == count => Some(only),
        _ => None,
    }
}

/// Whether a function returns something and touches a parameter by subscripts that it does not store to.
fn reads_only(f: &ast::FunctionDecl, parameter: usize) -> bool {
    let (Some(body), Some(param)) = (&f.body, f.params.get(parameter)) else { return false };
    let Some(name) = &param.name else { return false };
    let returns = f.ret.as_ref().is_some_and(|r| !matches!(r.kind, TypeKind::Void));
    let pointer = matches!(param.ty.kind, TypeKind::Pointer { .. });
    let changed = outer::assignments(&body.stmts).iter().any(|(n, _)| n == name || n.is_empty());
    let mut loops = false;
    temporal::statements(&body.stmts, false, &mut |s, _| {
        loops |= matches!(
            s.kind,
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. }
        );
    });
    returns && pointer && !changed && !loops
}

/// The address that a call reads: calls of a function that reads one place do so in the order of the text.
fn through(
    finder: &Finder<'_>,
    sites: &[(Span, Option<Span>)],
    n: usize,
) -> Option<crate::verify::proof::formula::Sum> {
    let body = sites[n].1?;
    let mut same: Vec<Span> =
        sites.iter().filter(|(_, b)| *b == Some(body)).map(|(at, _)| *at).collect();
    same.sort_by_key(|s| s.start);
    let inside = |s: &Span| s.file == body.file && s.start >= body.start && s.end <= body.end;
    let loads: Vec<_> = finder.loads.iter().filter(|(s, _)| inside(s)).collect();
    let one = loads.iter().all(|(s, _)| *s == loads[0].0);
    let place = same.iter().position(|s| *s == sites[n].0)?;
    (one && loads.len() == same.len()).then(|| loads[place].1.clone())
}
