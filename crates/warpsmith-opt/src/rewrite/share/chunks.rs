//! Iterations of a shared loop that a thread runs in groups of neighbours: what they read and store side by side is one
//! access.
//!
//! ```text
//!     for j { s += A[i][j] * x[j] }
//!       ==>
//!     for j step 4 { A4 = (float4 at) A[i][j]; x4 = (float4 at) x[j]; s += A4.x * x4.x; … s += A4.w * x4.w; }
//! ```

use std::collections::BTreeSet;

use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, Origin, Place, PlaceKind, Space, Stmt, StmtKind, Type, VarId,
    visit,
};

use crate::analysis::access::{Base, base_of};
use crate::build::arithmetic::offset;
use crate::build::stmts::declare;
use crate::build::vectors;
use crate::build::vectors::part;
use crate::kernel::Nest;
use crate::rewrite::edit::draft::Draft;
use crate::walk;
use crate::walk::always_read;
use crate::walk::set_in;

/// Neighbouring elements that stand in a variable.
struct Chunk {
    place: Place,
    var: VarId,
    ty: Type,
    reads: bool,
    stores: bool,
}

impl Draft<'_> {
    /// The body of a loop for `width` neighbouring iterations.
    pub(crate) fn chunked(&mut self, nest: &Nest, l: &ForLoop, width: u32) -> Block {
        let chunks = self.chunks(nest, l, width);
        let mut stmts = vec![];
        for c in &chunks {
            let init = match c.reads {
                true => {
                    Some(Expr::read(vectors::wide(c.place.clone(), Space::Global, width, true)))
                }
                false => None,
            };
            self.scope.host.vars[c.var.0 as usize].constant = !c.stores;
            stmts.push(match init {
                Some(value) => declare(c.var, value),
                None => Stmt::new(StmtKind::Decl { var: c.var, init: None }, Origin::default()),
            });
        }
        for k in 0..width {
            stmts.extend(self.iteration_of(l, k, &chunks));
        }
        for c in chunks.iter().filter(|c| c.stores) {
            let place = vectors::wide(c.place.clone(), Space::Global, width, false);
            let value = Expr::var(c.var, c.ty.clone());
            stmts.push(Stmt::new(StmtKind::Assign { place, value }, Origin::default()));
        }
        Block::new(stmts)
    }

    /// One of the iterations.
    fn iteration_of(&mut self, l: &ForLoop, k: u32, chunks: &[Chunk]) -> Vec<Stmt> {
        struct Use<'c>(&'c [Chunk], u32);
        impl visit::Rewriter for Use<'_> {
            fn expr(&mut self, e: &mut Expr) {
                if let ExprKind::Read(p) = &*e.kind
                    && let Some(c) = self.0.iter().find(|c| c.place == *p)
                {
                    let own = Expr::var(c.var, c.ty.clone());
                    *e = part(&own, self.1).with_origin(e.origin.clone());
                    return;
                }
                visit::rewrite_expr(self, e);
            }

            fn place(&mut self, place: &mut Place) {
                match self.0.iter().find(|c| c.place == *place) {
                    Some(c) => {
                        let whole = Place::var(c.var, c.ty.clone());
                        *place.kind = PlaceKind::Component(whole, self.1 as u8);
                    }
                    None => visit::rewrite_place(self, place),
                }
            }
        }
        let mut block = l.body.clone();
        visit::Rewriter::block(&mut Use(chunks, k), &mut block);
        if k > 0 {
            let counter = Expr::var(l.var, self.scope.host.var(l.var).ty.clone());
            visit::substitute_var(&mut block, l.var, &offset(counter, k.into()));
            visit::renew_loops(&mut self.scope.host, &mut block);
            self.renew_variables(&mut block);
        }
        let declares = block.stmts.iter().any(|s| matches!(s.kind, StmtKind::Decl { .. }));
        match declares {
            true => vec![Stmt::new(StmtKind::Scope(block), Origin::default())],
            false => block.stmts,
        }
    }

    /// What neighbouring iterations read or store side by side, whatever their conditions come to.
    fn chunks(&mut self, nest: &Nest, l: &ForLoop, width: u32) -> Vec<Chunk> {
        let set: BTreeSet<VarId> = set_in(&l.body);
        let mut found: Vec<(Place, bool, bool)> = vec![];
        let mut note = |place: &Place, reads: bool| {
            match found.iter_mut().find(|(p, ..)| p == place) {
                // What is stored before it is read need not be read from memory.
                Some((_, r, s)) => (*r, *s) = (*r || (reads && !*s), *s || !reads),
                None => found.push((place.clone(), reads, !reads)),
            }
        };
        for stmt in &l.body.stmts {
            let (StmtKind::Assign { .. } | StmtKind::Decl { .. }) = &stmt.kind else { continue };
            let o = walk::operands(stmt);
            o.reads.into_iter().for_each(|e| always_read(e, &mut |p| note(p, true)));
            o.writes.into_iter().for_each(|p| note(p, false));
        }
        let mut chunks = vec![];
        for (place, reads, stores) in found {
            let mut free = true;
            walk::each_expr_of_place(&place, &mut |e| {
                walk::each_var(e, &mut |v| free &= !set.contains(&v));
            });
            let Base::Var(array) = base_of(&place) else { continue };
            if !free || !self.alone_there(&l.body, &place, stores) {
                continue;
            }
            let Some(element) = place.ty.scalar() else { continue };
            if self.is_wide(nest, &place, l.var, width) {
                let ty = Type::Vector(element, width as u8);
                let mut name = format!("{}{width}", self.scope.host.var(array).name);
                if chunks.iter().any(|c: &Chunk| self.scope.host.var(c.var).name == name) {
                    name = self.scope.fresh_name(&name);
                }
                let var = self.scope.local(&name, ty.clone());
                chunks.push(Chunk { place, var, ty, reads, stores });
            }
        }
        // What all iterations of a thread have in common comes first.
        let bound: Vec<VarId> = self.bound_loops(nest).iter().map(|l| l.var).collect();
        chunks.sort_by_key(|c| {
            let mut own = false;
            walk::each_expr_of_place(&c.place, &mut |e| {
                walk::each_var(e, &mut |v| own |= bound.contains(&v));
            });
            own
        });
        chunks
    }

    /// Nothing in the body writes the array but through this place, and where this place is written, nothing but it
    /// touches the array.
    fn alone_there(&self, body: &Block, place: &Place, stores: bool) -> bool {
        let mut alone = self.scope.distinct_pointers;
        let mut inside = 0usize;
        visit::for_each_place(body, &mut |p, access| {
            let same = base_of(p) == base_of(place) || base_of(p) == Base::Anything;
            let harmless = access == visit::Access::Read && !stores;
            alone &= p.root_var().is_some() || !same || p == place || harmless;
            inside += usize::from(p == place && access != visit::Access::Read);
        });
        // A store under a condition must not become one that is always made.
        let direct = |s: &&Stmt| matches!(&s.kind, StmtKind::Assign { place: p, .. } if p == place);
        alone && inside == body.stmts.iter().filter(direct).count() && inside <= 1
    }
}
