//! Accesses to several neighbouring elements at a time, and the groups of statements that are made of them.

use std::collections::BTreeMap;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    Block, Expr, ExprKind, Place, PlaceKind, Space, Stmt, StmtKind, Type, VarId, visit,
};

use crate::analysis::access::{Base, base_of};
use crate::analysis::axes::Axes;
use crate::build::arithmetic::offset;
use crate::build::stmts::declare;
use crate::build::vectors::has_vector;
use crate::build::vectors::{part, wide};
use crate::kernel::{Nest, Stage};
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::rewrite::register_tile::tile::{Replica, Tile};
use crate::rewrite::stage::copies::UseCopies;
use crate::walk;
use crate::walk::always_read;

impl Draft<'_> {
    /// Shared arrays that are accessed in vectors begin at a multiple of the widest; 0: nothing special.
    pub(crate) fn shared_alignment(&self, nest: &Nest, stage: &Stage) -> u32 {
        if stage.vector > 1 || !nest.vectors.is_empty() { 16 } else { 0 }
    }

    /// The elements that a place names for `width` neighbouring values of a counter are one aligned vector.
    pub(crate) fn is_wide(&self, nest: &Nest, place: &Place, counter: VarId, width: u32) -> bool {
        let (PlaceKind::Elem { index, dims, .. }, Base::Var(array)) =
            (&*place.kind, base_of(place))
        else {
            return false;
        };
        let Some(element) = place.ty.scalar().filter(|s| has_vector(*s, width)) else {
            return false;
        };
        let bytes = element.bytes() * width;
        let mentions = |e: &Expr| walk::mentions(e, counter);
        let Some((last, before)) = index.split_last() else { return false };
        // What is left without the counter itself must not move with it.
        let rest = Poly::from_expr(last).and_then(|p| p.sub(&Poly::var(counter)));
        let beside = rest.is_some_and(|p| {
            !p.atoms().iter().any(|a| a.mentions(counter))
                && nest.multiples.divide(&p, width.into())
        });
        beside
            && nest.multiples.aligned(array, bytes)
            && !before.iter().chain(dims).any(mentions)
            && dims.last().is_none_or(|d| nest.multiples.divide_expr(d, width))
            && !self.scope.constants.contains_key(&array)
    }
}

impl Expansion<'_, '_> {
    /// A group of statements that each store an element of a global array, with the elements of neighbouring iterations
    /// stored together; `None` where that is not possible.
    pub(crate) fn vector_group(
        &mut self,
        stmts: &[Stmt],
        axes: Axes,
        alone: bool,
    ) -> Option<Vec<Stmt>> {
        if !self.pinned.is_empty() {
            return None;
        }
        let along = |(k, tile): &(usize, &Tile)| {
            tile.width > 1
                && tile.begin.is_none()
                && self.nest.multiples.whole_groups(&tile.source, tile.width)
                && self.stores_along(stmts, tile)
                && axes >> k & 1 == 1
        };
        let (at, tile) = self.chosen(axes).into_iter().find(along)?;
        let mut replicas = self.replicas(axes);
        if let Some(replica) = replicas.get_mut(&at) {
            replica.at = Some(0);
        }
        let mut body = vec![];
        for stmt in stmts {
            let StmtKind::Assign { place, value } = &stmt.kind else { return None };
            let value = self.vector_value(value, (at, tile), &replicas, &mut body);
            let place = wide(place.clone(), Space::Global, tile.width, false);
            let kind = StmtKind::Assign { place, value };
            let (origin, comment) = (stmt.origin.clone(), stmt.comment.clone());
            body.push(Stmt { kind, origin, comment });
        }
        let body = Block::new(body);
        let guard = self.guard(&body, &replicas);
        let guard = if alone { self.first_member(guard) } else { guard };
        Some(self.wrapped(body, guard, &replicas))
    }

    /// Every statement stores to a global array, neighbours along the loop side by side, and reads nothing else of it.
    fn stores_along(&self, stmts: &[Stmt], tile: &Tile) -> bool {
        let mut stored: Vec<&Place> = vec![];
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Assign { place, .. } if self.is_wide(place, tile) => stored.push(place),
                _ => return false,
            }
        }
        let mut alone = true;
        for stmt in stmts {
            walk::operands(stmt).reads.into_iter().for_each(|e| {
                walk::each_expr(e, &mut |e| {
                    if let ExprKind::Read(p) = &*e.kind
                        && !matches!(&*p.kind, PlaceKind::Var(_))
                    {
                        alone &= stored.iter().all(|s| base_of(s) != base_of(p) || **s == *p);
                    }
                });
            });
        }
        let same = |a: &Place, b: &Place| base_of(a) != base_of(b) || a == b;
        self.draft.scope.distinct_pointers
            && alone
            && stored.iter().all(|a| stored.iter().all(|b| same(a, b)))
    }

    /// The elements of neighbouring iterations of the loop are one aligned vector.
    pub(crate) fn is_wide(&self, place: &Place, tile: &Tile) -> bool {
        self.draft.is_wide(self.nest, place, tile.source.var, tile.width)
            && !self.moves_with_others(place, tile)
    }

    /// Whether a place moves with variables that have another value in each iteration of the loop, beside the counter.
    pub(crate) fn moves_with_others(&self, place: &Place, tile: &Tile) -> bool {
        let counter = tile.source.var;
        let axis = self.axes_of_var(counter);
        let mut moves = false;
        walk::each_expr_of_place(place, &mut |e| {
            walk::each_var(e, &mut |v| moves |= v != counter && self.axes_of_var(v) & axis != 0);
        });
        moves
    }

    /// The values of neighbouring iterations as a vector; what they read side by side is read before.
    fn vector_value(
        &mut self,
        value: &Expr,
        (at, tile): (usize, &Tile),
        replicas: &BTreeMap<usize, Replica>,
        before: &mut Vec<Stmt>,
    ) -> Expr {
        let mut vectors: Vec<(Place, VarId)> = vec![];
        // What only some iterations read, by a condition, may lie outside of its array for the others.
        always_read(value, &mut |p| {
            if vectors.iter().all(|(known, _)| known != p)
                && self.staged_read(p).is_none()
                && self.is_wide(p, tile)
            {
                vectors.push((p.clone(), VarId(0)));
            }
        });
        for (place, var) in &mut vectors {
            let read = Expr::read(wide(place.clone(), Space::Global, tile.width, true));
            let Base::Var(array) = base_of(place) else { continue };
            let name = format!("{}{}", self.draft.scope.host.var(array).name, tile.width);
            *var = self.draft.scope.local(&name, read.ty.clone());
            self.draft.scope.host.vars[var.0 as usize].constant = true;
            before.push(declare(*var, read));
        }
        let mut parts = vec![];
        for k in 0..tile.width {
            let mut own = replicas.clone();
            if let Some(replica) = own.get_mut(&at) {
                replica.at = Some(k);
            }
            let mut e = value.clone();
            visit::map_subexprs(&mut e, &mut |e| {
                let ExprKind::Read(p) = &*e.kind else { return };
                if let Some((place, var)) = vectors.iter().find(|(known, _)| known == p) {
                    let ty = Type::Vector(
                        place.ty.scalar().unwrap_or(warpsmith_ir::Scalar::I32),
                        tile.width as u8,
                    );
                    *e = part(&Expr::var(*var, ty), k).with_origin(e.origin.clone());
                }
            });
            visit::Rewriter::expr(&mut UseCopies { all: self, replicas: &own }, &mut e);
            visit::Rewriter::expr(&mut self.arrays_rewriter(&own), &mut e);
            if k > 0 {
                let counter = tile.source.var;
                let next = offset(Expr::var(counter, Type::Scalar(tile.ty)), k.into());
                visit::substitute_var_in_expr(&mut e, counter, &next);
            }
            parts.push(e);
        }
        let element = value.ty.scalar().unwrap_or(warpsmith_ir::Scalar::I32);
        let ty = Type::Vector(element, tile.width as u8);
        Expr::new(ExprKind::Make(parts), ty, value.origin.clone())
    }
}
