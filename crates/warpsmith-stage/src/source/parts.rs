//! Parts of the subscripts of a marked read, and of extents, that are numbers without a name: `clampi(x + dx, 0, w - 1)`, `(x + dx + w) % w`.

use warpsmith_front::ast::{self, ExprKind, FunctionName, ItemKind, TranslationUnit, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::marks::Bytes;
use super::scope;

/// Parts of one read that are recorded, at most.
const MAX_PARTS: usize = 6;

/// The parts of what stands at some bytes of a function, in the text of whole numbers that conditions and subscripts can name.
pub fn positions(
    unit: &TranslationUnit,
    body: &ast::Block,
    at: &Bytes,
    sources: &SourceMap,
) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    let mut add = |e: &ast::Expr| {
        let text = sources.text(e.span);
        let found = match &*e.kind {
            ExprKind::Binary { op, .. } if op == "%" => vec![format!("({text})")],
            ExprKind::Conditional { .. } => vec![format!("({text})")],
            ExprKind::Call { callee, .. } => called(unit, callee, text),
            _ => vec![],
        };
        all.extend(found);
    };
    walk::block(body, &mut |e| {
        let span = e.span;
        let inside =
            span.file.0 == 0 && at.start <= span.start as usize && span.end as usize <= at.end;
        match &*e.kind {
            ExprKind::Index { index, .. } if inside => walk::expr(index, &mut add),
            // `*(a + row * lda + col)`
            ExprKind::Unary { op, operand } if inside && op == "*" => {
                walk::expr(operand, &mut add);
            }
            _ => {}
        }
    });
    // What a macro stands for is in no text of the read.
    all.retain(|t| !t.contains(['\n', ';', '"']));
    let mut seen = std::collections::HashSet::new();
    all.retain(|t| seen.insert(t.clone()));
    all.truncate(MAX_PARTS);
    all
}

/// The extents of shared arrays that are sums or products of names, each once.
pub fn sums(arrays: &[scope::SharedArray]) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    for extent in arrays.iter().flat_map(|a| &a.extents) {
        let is_sum = extent.contains(['+', '-', '*', '/']) && !extent.contains(['(', ',', '\n']);
        let own = !scope::names(extent).is_empty() && !extent.contains("blockDim");
        if is_sum && own && !all.contains(extent) {
            all.push(extent.clone());
        }
    }
    all
}

/// Numbers of which one function divides by several, at most.
const MAX_DIVISORS: usize = 3;
/// The largest of them.
const MAX_DIVISOR: i64 = 64;

/// Numbers that a function divides by, in its order: `x / 3`, `x % 3`, and 2 of `x >> 1`.
pub fn divisors(body: &ast::Block) -> Vec<i64> {
    let mut all = vec![];
    walk::block(body, &mut |e| {
        let ExprKind::Binary { op, right, .. } = &*e.kind else { return };
        let ExprKind::Number(text) = &*scope::plain(right).kind else { return };
        let Ok(number) = text.trim_end_matches(['u', 'U', 'l', 'L']).parse::<i64>() else { return };
        let by = match op.as_str() {
            "/" | "%" => number,
            ">>" if (0..6).contains(&number) => 1 << number,
            // What is left of a division.
            "&" if (number as u64).wrapping_add(1).is_power_of_two() => number.saturating_add(1),
            _ => return,
        };
        if (2..=MAX_DIVISOR).contains(&by) && !all.contains(&by) {
            all.push(by);
        }
    });
    all.truncate(MAX_DIVISORS);
    all
}

/// A call as whole numbers: itself, or the components of the vector that it gives.
fn called(unit: &TranslationUnit, callee: &ast::Expr, text: &str) -> Vec<String> {
    let ExprKind::Path(path) = &*scope::plain(callee).kind else { return vec![] };
    let Some(name) = path.as_name() else { return vec![] };
    if !text.starts_with(name) {
        return vec![];
    }
    let components = |names: &[&str]| names.iter().map(|n| format!("{text}.{n}")).collect();
    match result(&unit.items, name) {
        None if matches!(name, "min" | "max" | "abs") => vec![text.to_string()],
        None => vec![],
        Some(TypeKind::Builtin(words)) => {
            let whole = |w: &String| matches!(w.as_str(), "int" | "unsigned" | "long" | "short");
            let counts = words.iter().any(whole) && !words.iter().any(|w| w == "double");
            counts.then(|| text.to_string()).into_iter().collect()
        }
        Some(TypeKind::Named(path)) => match path.as_name() {
            Some("size_t" | "ptrdiff_t") => vec![text.to_string()],
            Some("int2" | "uint2") => components(&["x", "y"]),
            Some("int3" | "uint3" | "dim3") => components(&["x", "y", "z"]),
            _ => vec![],
        },
        Some(_) => vec![],
    }
}

/// What a function of the file gives back.
fn result<'a>(items: &'a [ast::Item], name: &str) -> Option<&'a TypeKind> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Function(f) => match &f.name {
            FunctionName::Plain(p) if p.as_name().is_some_and(|n| n == name) => {
                f.ret.as_ref().map(|t| &t.kind)
            }
            _ => None,
        },
        ItemKind::Namespace { items, .. } => result(items, name),
        _ => None,
    })
}
