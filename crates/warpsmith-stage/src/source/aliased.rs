//! Parameters that host code passes the same array for. Whoever stages a kernel assumes that pointers do not overlap; where the file says
//! that they do, launches have to as well.

use warpsmith_front::ast::{ExprKind, TranslationUnit, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::{hosts, scope, shape};

/// Pairs of parameters, the first one before the other, for each launch of the kernel that passes one text for both.
pub fn of_host(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Vec<Vec<[String; 2]>> {
    let base = shape::base_name(kernel);
    let Some(function) = scope::kernel(unit, base) else { return vec![] };
    let mut all: Vec<Vec<[String; 2]>> = vec![];
    hosts::each_function(unit, sources, &mut |body, _| {
        walk::block(body, &mut |e| {
            let ExprKind::Launch { callee, args, .. } = &*e.kind else { return };
            if shape::base_name(sources.text(callee.span)) != base {
                return;
            }
            let pointer = |p: &warpsmith_front::ast::Param| {
                matches!(p.ty.kind, TypeKind::Pointer { .. } | TypeKind::Array { .. })
            };
            let passed: Vec<(&String, &str)> = (function.params.iter().zip(args))
                .filter(|(p, _)| pointer(p))
                .filter_map(|(p, a)| Some((p.name.as_ref()?, sources.text(scope::plain(a).span))))
                .collect();
            let mut pairs = vec![];
            for (n, (own, text)) in passed.iter().enumerate() {
                let same = passed[..n].iter().find(|(_, t)| t == text && is_array(t));
                pairs.extend(same.map(|(first, _)| [(*first).clone(), (*own).clone()]));
            }
            if !pairs.is_empty() && !all.contains(&pairs) {
                all.push(pairs);
            }
        });
    });
    all
}

/// Whether what is passed is no null pointer.
fn is_array(text: &str) -> bool {
    !matches!(text, "0" | "NULL" | "nullptr")
}
