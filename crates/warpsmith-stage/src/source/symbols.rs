//! Variables of the device that a kernel reads: `__constant__ int radius;`, which host code sets before it launches the kernel. What a
//! plan is made for one value of them is wrong for the next, so that launches give them values as they do parameters.

use std::collections::BTreeSet;

use warpsmith_front::ast::{self, ExprKind, ItemKind, TranslationUnit};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::{constants, scope, shape, ties};

/// Names of the variables of the device that a kernel depends on and that nothing on the device changes.
pub fn of_kernel(
    unit: &TranslationUnit,
    kernel: &str,
    text: &str,
    sources: &SourceMap,
) -> Vec<String> {
    let declared = declared(&unit.items);
    if declared.is_empty() {
        return vec![];
    }
    let function = scope::kernel(unit, shape::base_name(kernel));
    let Some(span) = function.and_then(|f| f.body.as_ref()).and_then(|b| b.span) else {
        return vec![];
    };
    let reached = constants::reached(unit, text, sources, sources.text(span));
    let changed = changed(&unit.items);
    declared.into_iter().filter(|n| reached.contains(n) && !changed.contains(n)).collect()
}

/// Variables in memory of the device that are not constant for the compiler.
fn declared(items: &[ast::Item]) -> Vec<String> {
    let one = |item: &ast::Item| match &item.kind {
        ItemKind::Vars(v) if v.attrs.constant || v.attrs.device || v.attrs.managed => {
            let fixed = |d: &&ast::Declarator| v.attrs.is_constexpr || d.ty.is_const;
            v.declarators.iter().filter(|d| !fixed(d)).map(|d| d.name.clone()).collect()
        }
        ItemKind::Namespace { items, .. } => declared(items),
        _ => vec![],
    };
    items.iter().flat_map(one).collect()
}

/// Names that functions of the device assign to, count up, or take the address of.
fn changed(items: &[ast::Item]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for item in items {
        match &item.kind {
            ItemKind::Function(f) if f.attrs.global || f.attrs.device => {
                let mut see = |e: &ast::Expr| {
                    let place = match &*e.kind {
                        ExprKind::Assign { target, .. } | ExprKind::AssignList { target, .. } => {
                            target
                        }
                        ExprKind::IncDec { operand, .. } => operand,
                        ExprKind::Unary { op, operand } if op == "&" => operand,
                        _ => return,
                    };
                    all.extend(ties::whole_variable(place).map(str::to_string));
                };
                f.body.iter().for_each(|b| walk::block(b, &mut see));
            }
            ItemKind::Namespace { items, .. } => all.extend(changed(items)),
            _ => {}
        }
    }
    all
}
