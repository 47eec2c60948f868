//! Registers that hold arrays of a thread.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{
    Block, Expr, ExprKind, Function, Module, Place, PlaceKind, Stmt, StmtKind, Type, VarId, VarKind,
};
use warpsmith_opt::walk;

/// Words of all arrays of a thread that are there at the same time: those of one branch or of another. Elements that are plain
/// copies of other arrays' share their registers.
pub(super) fn words(module: &Module, kernel: &Function) -> u64 {
    let arrays = Arrays { module, kernel };
    arrays.of_block(&kernel.body)
}

struct Arrays<'a> {
    module: &'a Module,
    kernel: &'a Function,
}

impl Arrays<'_> {
    fn of_block(&self, block: &Block) -> u64 {
        let declared = block.stmts.iter().filter_map(|s| match s.kind {
            StmtKind::Decl { var, .. } if self.is_array(var) => Some(var),
            _ => None,
        });
        let own: u64 =
            declared.map(|var| self.words(var).saturating_sub(self.copies(block, var))).sum();
        let inner = block.stmts.iter().flat_map(walk::blocks).map(|b| self.of_block(b));
        own + inner.max().unwrap_or(0)
    }

    fn is_array(&self, var: VarId) -> bool {
        let var = self.kernel.var(var);
        var.kind == VarKind::Local && matches!(var.ty, Type::Array(..))
    }

    fn words(&self, var: VarId) -> u64 {
        layout_of(self.module, &self.kernel.var(var).ty).size.div_ceil(4)
    }

    /// How many elements of an array statements set to those of another one.
    fn copies(&self, block: &Block, array: VarId) -> u64 {
        block.stmts.iter().map(|s| self.copies_of(s, array)).sum()
    }

    fn copies_of(&self, stmt: &Stmt, array: VarId) -> u64 {
        let element = |p: &Place| match &*p.kind {
            PlaceKind::Index(..) => p.root_var().filter(|var| self.is_array(*var)),
            _ => None,
        };
        match &stmt.kind {
            StmtKind::Assign { place, value } if element(place) == Some(array) => {
                let from = match &*value.kind {
                    ExprKind::Read(p) => element(p),
                    _ => None,
                };
                u64::from(from.is_some_and(|from| from != array))
            }
            StmtKind::For(l) => {
                let number = |e: &Expr| e.as_const().map_or(0, |n| n.as_i64());
                let trips = number(&l.limit).saturating_sub(number(&l.first)).max(0) as u64;
                trips * self.copies(&l.body, array)
            }
            _ => walk::blocks(stmt).into_iter().map(|b| self.copies(b, array)).sum(),
        }
    }
}
