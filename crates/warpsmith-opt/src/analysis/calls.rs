//! What a called function does with what its pointer arguments lead to.

use warpsmith_ir::{ExprKind, FuncId, Module, PlaceKind, StmtKind, Type, VarId};

use super::access::{Base, base_of, base_of_pointer};
use crate::walk;

/// Calls inside calls are followed this far; beyond it everything may be written.
const MAX_DEPTH: usize = 8;

/// Whether a function may write through a pointer parameter, itself or in functions that it calls.
pub fn writes_through(module: &Module, function: FuncId, param: usize) -> bool {
    through(module, function, param, MAX_DEPTH)
}

fn through(module: &Module, function: FuncId, param: usize, depth: usize) -> bool {
    let Some(callee) = module.functions.get(function.0 as usize) else { return true };
    let Some(&var) = callee.params.get(param) else { return true };
    if matches!(&callee.var(var).ty, Type::Pointer { readonly: true, .. }) {
        return false;
    }
    if depth == 0 {
        return true;
    }
    // What is written through a variable that holds a pointer may be what the parameter leads to.
    let may_be = |base: Base| match base {
        Base::Var(v) => v == var || is_local_pointer(callee, v),
        Base::Global(_) => false,
        Base::Anything => true,
    };
    let mut found = false;
    walk::each_stmt(&callee.body, &mut |stmt| {
        let o = walk::operands(stmt);
        if let Some(place) = o.writes {
            found |= match &*place.kind {
                PlaceKind::Var(v) => *v == var,
                _ => may_be(base_of(place)),
            };
        }
        match &stmt.kind {
            StmtKind::Atomic { pointer, .. } => found |= may_be(base_of_pointer(pointer)),
            StmtKind::AsyncCopy { .. } => found = true,
            StmtKind::Call { function, args, .. } => {
                for (k, arg) in args.iter().enumerate() {
                    found |= arg.ty.is_pointer()
                        && may_be(base_of_pointer(arg))
                        && through(module, *function, k, depth - 1);
                }
            }
            _ => {}
        }
    });
    found
}

fn is_local_pointer(function: &warpsmith_ir::Function, v: VarId) -> bool {
    function.var(v).ty.is_pointer() && !function.params.contains(&v)
}

/// Whether an expression means the same after statements that write memory and variables whose addresses are passed on.
pub fn is_stable(e: &warpsmith_ir::Expr, passed: &dyn Fn(VarId) -> bool) -> bool {
    let mut stable = true;
    walk::each_expr(e, &mut |e| {
        if let ExprKind::Read(place) = &*e.kind {
            stable &= matches!(&*place.kind, PlaceKind::Var(v) if !passed(*v));
        }
    });
    stable
}
