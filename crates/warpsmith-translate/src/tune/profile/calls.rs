//! What small functions of integers return: the clamps and subscripts that people write for themselves.

use warpsmith_ir::{Block, Expr, FuncId, Module, Place, PlaceKind, StmtKind, VarId};

use super::values::{Extents, Number, Thread};

/// Calls within calls, at most.
const DEEPEST: u32 = 4;

/// The variable that a place is, if it is one as a whole.
pub fn variable(place: &Place) -> Option<VarId> {
    if let PlaceKind::Var(var) = &*place.kind { Some(*var) } else { None }
}

/// How a block ends.
enum End<N> {
    After,
    Returned(Option<N>),
}

impl<N: Number> Thread<N> {
    /// What a call returns, where that follows from sizes and position by assignments and known branches alone.
    pub fn call(&self, module: &Module, at: Extents, callee: FuncId, args: &[Expr]) -> Option<N> {
        self.called_with(module, at, callee, &self.values(module, at, args))
    }

    /// The same with values for the arguments, those that are known.
    pub fn called_with(
        &self,
        module: &Module,
        at: Extents,
        callee: FuncId,
        args: &[Option<N>],
    ) -> Option<N> {
        self.called(module, at, callee, args, DEEPEST)
    }

    /// Of expressions.
    pub fn values(&self, module: &Module, at: Extents, args: &[Expr]) -> Vec<Option<N>> {
        args.iter().map(|arg| self.eval(module, at, arg)).collect()
    }

    fn called(
        &self,
        module: &Module,
        at: Extents,
        callee: FuncId,
        args: &[Option<N>],
        deep: u32,
    ) -> Option<N> {
        let function = module.function(callee);
        let thread = self.thread.clone();
        let mut inner = Thread { thread, block: self.block, ..Thread::default() };
        for (param, value) in function.params.iter().zip(args) {
            inner.vars.set(*param, value.clone());
        }
        match inner.goes_through(module, at, &function.body, deep.checked_sub(1)?)? {
            End::Returned(value) => value,
            End::After => None,
        }
    }

    /// `None`: there is something that this does not follow.
    fn goes_through(
        &mut self,
        module: &Module,
        at: Extents,
        block: &Block,
        deep: u32,
    ) -> Option<End<N>> {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Decl { init: None, .. } => {}
                StmtKind::Decl { var, init: Some(e) } => self.assign(module, at, *var, e),
                StmtKind::Assign { place, value } => {
                    self.assign(module, at, variable(place)?, value);
                }
                StmtKind::Call { function, args, result } => {
                    let args = self.values(module, at, args);
                    let value = self.called(module, at, *function, &args, deep);
                    self.vars.set(variable(result.as_ref()?)?, value);
                }
                StmtKind::If { cond, then, otherwise } => {
                    let holds = self.eval(module, at, cond)?.same()?.is_true();
                    let taken = if holds { then } else { otherwise };
                    if let End::Returned(value) = self.goes_through(module, at, taken, deep)? {
                        return Some(End::Returned(value));
                    }
                }
                StmtKind::Scope(inner) => {
                    if let End::Returned(value) = self.goes_through(module, at, inner, deep)? {
                        return Some(End::Returned(value));
                    }
                }
                StmtKind::Return(value) => {
                    let value = value.as_ref().and_then(|e| self.eval(module, at, e));
                    return Some(End::Returned(value));
                }
                _ => return None,
            }
        }
        Some(End::After)
    }
}
