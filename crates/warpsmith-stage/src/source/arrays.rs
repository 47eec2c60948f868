//! Shared arrays as they are declared, and pointers into them.

use std::collections::HashSet;

use warpsmith_front::ast::{self, ExprKind, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::scope::{SharedArray, plain};

/// The shared array of a declaration.
pub(super) fn shared(d: &ast::Declarator, sources: &SourceMap) -> Option<SharedArray> {
    let mut extents = vec![];
    let mut extent_spans = vec![];
    let mut rank = 0;
    let mut ty = &d.ty;
    while let TypeKind::Array { element, extent } = &ty.kind {
        rank += 1;
        if let Some(e) = extent {
            extents.push(sources.text(e.span).to_string());
            extent_spans.push(e.span);
        }
        ty = element;
    }
    (rank > 0).then(|| SharedArray {
        name: d.name.clone(),
        extents,
        extent_spans,
        rank,
        passed: None,
        within: None,
    })
}

/// The variable that a pointer is made from: `(int *)(a + n)`, `&a[n]`.
pub(super) fn pointed(e: &ast::Expr) -> Option<&str> {
    match &*plain(e).kind {
        ExprKind::Path(path) => path.as_name(),
        ExprKind::Cast { operand, .. } => pointed(operand),
        ExprKind::Unary { op, operand } if op == "&" => pointed(operand),
        ExprKind::Binary { op, left, .. } if op == "+" => pointed(left),
        ExprKind::Index { base, .. } => pointed(base),
        _ => None,
    }
}

/// Variables that a function assigns to after their declarations.
pub(super) fn assigned(body: &ast::Block) -> HashSet<String> {
    let mut all = HashSet::new();
    walk::block(body, &mut |e| match &*e.kind {
        ExprKind::Assign { target: e, .. } | ExprKind::IncDec { operand: e, .. } => {
            if let ExprKind::Path(path) = &*plain(e).kind {
                all.extend(path.as_name().map(str::to_string));
            }
        }
        _ => {}
    });
    all
}
