//! Where the C function writes an array that the threads of its kernel race for.

use warpsmith_ir::{Function, LoopKind, Module, Span, StmtKind, visit};
use warpsmith_opt::analysis::access::{Base, base_of, base_of_pointer};

/// The first write in a marked loop, as labels of a message: where a function that it calls writes, the call and the write
/// inside.
pub fn labels(module: &Module, function: &Function, array: &str) -> Vec<(Span, String)> {
    let mut found = vec![];
    visit::for_each_stmt(&function.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind
            && matches!(l.kind, LoopKind::Parallel(_))
            && found.is_empty()
        {
            found = writes(module, function, &l.body, array, DEEPEST);
        }
    });
    found
}

/// Calls that are followed into one another.
const DEEPEST: u32 = 8;

fn writes(
    module: &Module,
    function: &Function,
    block: &warpsmith_ir::Block,
    array: &str,
    depth: u32,
) -> Vec<(Span, String)> {
    let named = |base: Base| matches!(base, Base::Var(v) if function.var(v).name == array);
    let mut found = vec![];
    visit::for_each_stmt(block, &mut |s| {
        if !found.is_empty() {
            return;
        }
        match &s.kind {
            StmtKind::Assign { place, .. } if named(base_of(place)) => {
                let at = place.origin.span.or(s.origin.span);
                found.extend(at.map(|at| (at, format!("`{array}` is written here"))));
            }
            StmtKind::Call { function: callee, args, .. } if depth > 0 => {
                let callee = module.function(*callee);
                let handed =
                    |a: &warpsmith_ir::Expr| a.ty.is_pointer() && named(base_of_pointer(a));
                let Some(k) = args.iter().position(handed) else { return };
                let Some(param) = callee.params.get(k) else { return };
                let own = &callee.var(*param).name;
                let inside = writes(module, callee, &callee.body, own, depth - 1);
                if let (Some(at), false) = (s.origin.span, inside.is_empty()) {
                    found.push((at, format!("`{}` is called with `{array}`", callee.name)));
                    found.extend(inside);
                }
            }
            _ => {}
        }
    });
    found
}
