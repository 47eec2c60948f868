//! Shared arrays that a function gets as parameters: `f(tile, …)`, where every call passes an array of the same extents.

use warpsmith_front::ast::{self, ExprKind, ItemKind, TranslationUnit, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::scope::{self, SharedArray};

/// Functions that pass an array on to others which are followed.
const MAX_CALLS: u32 = 4;

/// The parameters of a function that are shared arrays, whoever calls it.
pub fn arrays(
    function: &ast::FunctionDecl,
    unit: &TranslationUnit,
    sources: &SourceMap,
    depth: u32,
) -> Vec<SharedArray> {
    let ast::FunctionName::Plain(path) = &function.name else { return vec![] };
    let Some(name) = path.segments.last().map(|s| &s.name) else { return vec![] };
    let pointers = function.params.iter().enumerate().filter(|(_, p)| rank(&p.ty) > 0);
    if depth >= MAX_CALLS || scope::device_functions(&unit.items, name).len() != 1 {
        return vec![];
    }
    let calls = calls(&unit.items, name);
    let of = |(n, param): (usize, &ast::Param)| {
        let given = |(at, args): &(u32, Vec<ast::Expr>)| {
            let ExprKind::Path(p) = &*scope::plain(args.get(n)?).kind else { return None };
            let site = scope::site_in(unit, sources, *at as usize, depth + 1)?;
            site.arrays.into_iter().find(|a| Some(&*a.name) == p.as_name())
        };
        let mut all = calls.iter().map(given);
        let first = all.next()??;
        let same = all.all(|a| a.is_some_and(|a| a.extents == first.extents));
        // Extents have to mean the same where the function stands.
        let constant =
            |e: &String| scope::names(e).iter().all(|n| !scope::constants(unit, n).is_empty());
        let known = !first.is_dynamic() && first.extents.iter().all(constant);
        let fits = same && known && rank(&param.ty) == first.rank;
        let name = param.name.clone().filter(|_| fits)?;
        let passed = Some(first.declared().to_string());
        Some(SharedArray { name, extent_spans: vec![], passed, ..first })
    };
    pointers.filter_map(of).collect()
}

/// Subscripts that an element of a parameter has.
fn rank(ty: &ast::TypeName) -> usize {
    match &ty.kind {
        TypeKind::Pointer { to, .. } => 1 + rank(to),
        TypeKind::Array { element, .. } => 1 + rank(element),
        TypeKind::Reference { to, .. } if matches!(to.kind, TypeKind::Array { .. }) => rank(to),
        _ => 0,
    }
}

/// Where the bodies of a file call a function, and with what.
fn calls(items: &[ast::Item], name: &str) -> Vec<(u32, Vec<ast::Expr>)> {
    let mut all = vec![];
    let mut called = |f: &ast::FunctionDecl| {
        let Some(body) = &f.body else { return };
        walk::block(body, &mut |e| {
            let ExprKind::Call { callee, args } = &*e.kind else { return };
            let ExprKind::Path(p) = &*scope::plain(callee).kind else { return };
            if p.segments.last().is_some_and(|s| s.name == name) && e.span.file.0 == 0 {
                all.push((e.span.start, args.clone()));
            }
        });
    };
    let mut nested = vec![];
    for item in items {
        match &item.kind {
            ItemKind::Function(f) => called(f),
            ItemKind::Struct(s) => s.members.iter().flatten().for_each(|m| {
                if let ast::Member::Method(f) = m {
                    called(f);
                }
            }),
            ItemKind::Namespace { items, .. } => nested.extend(calls(items, name)),
            _ => {}
        }
    }
    all.extend(nested);
    all
}
