//! Arrays in shared memory that together are more than every architecture gives unasked: parts of dynamic shared memory.

use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Block, Expr, ExprKind, Origin, Place, PlaceKind, Scalar, Space, Stmt, StmtKind, Type, Var,
    VarId, VarKind, layout::layout_of,
};

use super::Lowering;
use crate::build::stmts::{declare, undefined};
use crate::kernel::STATIC_SHARED;
use crate::walk;

/// Where parts begin: vectors of any kind are aligned there.
const ALIGN: u64 = 16;

impl Lowering<'_> {
    /// Lets the arrays that a thread's text declares lie one behind the other in dynamic shared memory, if they are too many.
    pub(super) fn carve(&mut self, body: &mut Block) {
        let arrays: Vec<VarId> = walk::declared(body)
            .into_iter()
            .filter(|v| {
                let var = self.scope.host.var(*v);
                var.kind == VarKind::Shared && matches!(var.ty, Type::Array(..))
            })
            .collect();
        let size = |v: &VarId| layout_of(&self.scope.module, &self.scope.host.var(*v).ty).size;
        let sizes: Vec<u64> = arrays.iter().map(size).collect();
        if sizes.iter().sum::<u64>() <= STATIC_SHARED.into() {
            return;
        }
        let all: u64 = sizes.iter().map(|n| n.next_multiple_of(ALIGN)).sum();
        let ty = Type::array(Type::Scalar(Scalar::U8), all);
        let name = self.scope.fresh_name("arrays");
        let mut whole = Var::new(name, ty.clone(), VarKind::DynamicShared);
        whole.align = ALIGN as u32;
        let whole = self.scope.host.add_var(whole);
        let mut parts = vec![];
        let mut at = 0;
        for (var, size) in arrays.iter().zip(sizes) {
            let Type::Array(first, _) = self.scope.host.var(*var).ty.clone() else { continue };
            let pointer = Type::pointer(first.as_ref().clone(), Space::Shared);
            let own = &mut self.scope.host.vars[var.0 as usize];
            (own.kind, own.ty, own.align) = (VarKind::Local, pointer.clone(), 0);
            own.constant = true;
            let byte = PlaceKind::Index(Place::var(whole, ty.clone()), Expr::int(Scalar::I32, at));
            let byte = Place::new(byte, Type::Scalar(Scalar::U8), Origin::default());
            let bytes = Type::pointer(Type::Scalar(Scalar::U8), Space::Shared);
            let address = Expr::new(ExprKind::AddressOf(byte), bytes, Origin::default());
            parts.push((*var, address.cast(pointer)));
            at += size.next_multiple_of(ALIGN) as i64;
        }
        let mut carved = Carved { whole: Some(whole), parts };
        carved.block(body);
    }
}

/// Puts pointers in the place of arrays.
struct Carved {
    /// Until it is declared.
    whole: Option<VarId>,
    /// What points to each of the arrays.
    parts: Vec<(VarId, Expr)>,
}

impl Carved {
    fn part(&self, var: VarId) -> Option<&Expr> {
        self.parts.iter().find(|(v, _)| *v == var).map(|(_, e)| e)
    }
}

impl Rewriter for Carved {
    fn block(&mut self, block: &mut Block) {
        let mut stmts: Vec<Stmt> = vec![];
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &stmt.kind {
                StmtKind::Decl { var, init: None } if self.part(*var).is_some() => {
                    stmts.extend(self.whole.take().map(undefined));
                    let address = self.part(*var).cloned();
                    let declared = address.map(|address| declare(*var, address));
                    stmts.extend(declared.map(|d| Stmt { kind: d.kind, ..stmt }));
                }
                _ => {
                    visit::rewrite_stmt(self, &mut stmt);
                    stmts.push(stmt);
                }
            }
        }
        block.stmts = stmts;
    }

    fn place(&mut self, place: &mut Place) {
        visit::rewrite_place(self, place);
        let PlaceKind::Index(array, index) = &*place.kind else { return };
        let PlaceKind::Var(var) = &*array.kind else { return };
        let Some(address) = self.part(*var) else { return };
        let pointer = Expr::var(*var, address.ty.clone());
        *place.kind = PlaceKind::Elem { pointer, index: vec![index.clone()], dims: vec![] };
    }
}
