//! Arrays that kernels read from constant memory, and the copies that bring them there.

use warpsmith_ir::{
    Block, Expr, Global, GlobalId, Origin, Place, PlaceKind, Space, Stmt, StmtKind, Type, VarId,
    visit,
};

use super::Lowering;
use crate::analysis::arrays;

impl Lowering<'_> {
    /// Puts variables in constant memory in place of arrays, and returns the host's copies to those that are used.
    pub(super) fn read_constants(&mut self, stmts: &mut Vec<Stmt>) -> Vec<Stmt> {
        let mut copies = vec![];
        for array in self.source.constants.clone() {
            let var = self.source.func().var(array);
            let Some(extents) = var.shape.as_deref().and_then(arrays::extents) else { continue };
            let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
            let ty = extents.iter().rev().fold(element, |ty, n| Type::array(ty, *n));
            let pointer = Expr::var(array, var.ty.clone());
            let (name, origin) = (format!("{}_constant", var.name), var.origin.clone());
            let global = match self.scope.constants.get(&array) {
                Some(global) => *global,
                None => GlobalId(self.scope.module.globals.len() as u32),
            };
            let mut body = Block::new(std::mem::take(stmts));
            let mut reads = Reads {
                array,
                rank: extents.len(),
                variable: global,
                ty: ty.clone(),
                found: false,
            };
            visit::Rewriter::block(&mut reads, &mut body);
            *stmts = body.stmts;
            if !reads.found {
                continue;
            }
            if self.scope.constants.insert(array, global).is_none() {
                let space = Space::Constant;
                let variable = Global { name, ty: ty.clone(), space, init: None, origin };
                self.scope.module.globals.push(variable);
            }
            let kind = PlaceKind::Global(global);
            let destination = Place::new(kind, ty, Origin::default());
            let kind = StmtKind::CopyToGlobal { destination, source: pointer };
            copies.push(Stmt::new(kind, Origin::default()));
        }
        copies
    }
}

/// Replaces elements of an array.
struct Reads {
    array: VarId,
    rank: usize,
    variable: GlobalId,
    ty: Type,
    found: bool,
}

impl visit::Rewriter for Reads {
    fn place(&mut self, place: &mut Place) {
        visit::rewrite_place(self, place);
        let Some(index) = arrays::subscripts(place, self.array, self.rank) else { return };
        self.found = true;
        let origin = place.origin.clone();
        let kind = PlaceKind::Global(self.variable);
        let mut at = Place::new(kind, self.ty.clone(), origin.clone());
        for i in index {
            if let Type::Array(element, _) = at.ty.clone() {
                let kind = PlaceKind::Index(at, i.clone());
                at = Place::new(kind, element.as_ref().clone(), origin.clone());
            }
        }
        *place = at;
    }
}
