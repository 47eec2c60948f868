//! Declarations that nothing needs any more once lanes know what their neighbours have.

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind};
use warpsmith_front::sema::walk;

use super::plans::Kernel;
use super::{outer, temporal};
use crate::source::marks::{self, Bytes};
use crate::source::patch::Patch;

/// Takes variables out of an edited kernel that its text does not mention any more. `hidden` are uses that the new text of the
/// region makes of a name where it has declared that name itself.
pub fn without(
    kernel: &Kernel<'_>,
    region: &Bytes,
    hidden: &dyn Fn(&str) -> usize,
    patch: &mut Patch,
) {
    let mut candidates: Vec<(&ast::Stmt, &ast::VarDecl)> = vec![];
    temporal::statements(&kernel.body.stmts, false, &mut |s, _| {
        if let StmtKind::Vars(vars) = &s.kind
            && !region.contains(&(s.span.start as usize))
            && s.span.file.0 == 0
        {
            candidates.push((s, vars));
        }
    });
    let left = |patch: &Patch, s: &ast::Stmt, v: &ast::VarDecl| kept(kernel, patch, hidden, s, v);
    // What only such variables mention is not needed either.
    while let Some(n) = candidates.iter().position(|(s, v)| left(patch, s, v).is_some()) {
        let (s, vars) = candidates.remove(n);
        if let Some((at, text)) = left(patch, s, vars) {
            patch.replace(at, text);
        }
    }
}

/// What is left of a declaration, if that is less than there is.
fn kept(
    kernel: &Kernel<'_>,
    patch: &Patch,
    hidden: &dyn Fn(&str) -> usize,
    s: &ast::Stmt,
    vars: &ast::VarDecl,
) -> Option<(Bytes, String)> {
    let at = s.span.start as usize..s.span.end as usize;
    let inside = |place: usize| patch.covers(place);
    if at.clone().any(inside) {
        return None;
    }
    let body = kernel.body.span?;
    let (start, rest) = (body.start as usize, kernel.text.len() - body.end as usize);
    let edited = patch.apply(kernel.text).ok()?;
    let edited = &edited[start..edited.len() - rest];
    let whole = marks::tokens(edited);
    let before = marks::tokens(&kernel.text[start..body.end as usize]);
    let own = &kernel.text[at.clone()];
    let tokens = marks::tokens(own);
    let count = |text: &str, all: &[marks::Tok], name: &str| {
        all.iter().filter(|t| text[t.at.clone()] == *name).count()
    };
    let mut parts = vec![];
    for d in &vars.declarators {
        let Some(Initializer::Expr(e)) = &d.init else { return None };
        let here = count(own, &tokens, &d.name);
        let used = count(edited, &whole, &d.name) > here + hidden(&d.name);
        let was = count(&kernel.text[start..], &before, &d.name) > here;
        if used || !was || !pure(e) {
            parts.push(format!("{} = {}", d.name, kernel.sources.text(e.span)));
        }
    }
    if parts.len() == vars.declarators.len() {
        return None;
    }
    if parts.is_empty() {
        return Some((with_line(kernel.text, &at), String::new()));
    }
    let first = &vars.declarators.first()?.name;
    let name = tokens.iter().find(|t| own[t.at.clone()] == **first)?;
    Some((at, format!("{}{};", &own[..name.at.start], parts.join(", "))))
}

/// A statement with the beginning of its line, where it stands alone there.
fn with_line(text: &str, at: &Bytes) -> Bytes {
    let line = text[..at.start].trim_end_matches([' ', '\t']).len();
    let start = if text[..line].ends_with('\n') { line - 1 } else { at.start };
    start..at.end
}

/// Takes out statements that do nothing but change variables, where nothing else asks for these any more.
pub fn without_changes(kernel: &Kernel<'_>, changes: &[(&str, &ast::Stmt)], patch: &mut Patch) {
    let body = kernel.body.span.map_or(0..0, |s| s.start as usize..s.end as usize);
    let tokens = marks::tokens(kernel.text);
    let bytes = |s: &ast::Stmt| s.span.start as usize..s.span.end as usize;
    let mut left: Vec<(&str, &ast::Stmt)> = changes.to_vec();
    left.retain(|(_, s)| {
        let mut fine = true;
        walk::stmt(s, &mut |e| fine &= matches!(&*e.kind, ExprKind::Assign { .. }) || pure(e));
        fine && s.span.file.0 == 0
    });
    loop {
        let own = |name: &str, at: usize| {
            changes.iter().any(|(n, s)| *n == name && bytes(s).contains(&at))
        };
        let asked = |name: &str| {
            let mentions = tokens.iter().filter(|t| {
                let at = t.at.start;
                let named = body.contains(&at) && kernel.text[t.at.clone()] == *name;
                named && !patch.covers(at) && !own(name, at)
            });
            // The declaration.
            mentions.count() > 1
        };
        let Some(n) = left.iter().position(|(name, _)| !asked(name)) else { return };
        let (_, s) = left.remove(n);
        patch.replace(with_line(kernel.text, &bytes(s)), "");
    }
}

/// Whether an expression does nothing but compute.
fn pure(e: &ast::Expr) -> bool {
    let mut pure = true;
    walk::expr(e, &mut |e| match &*e.kind {
        ExprKind::Call { callee, .. } => {
            pure &= matches!(outer::name(callee), Some("min" | "max" | "abs"));
        }
        ExprKind::Assign { .. } | ExprKind::IncDec { .. } => pure = false,
        _ => {}
    });
    pure
}
