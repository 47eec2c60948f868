//! Excess threads: those of blocks at the edge whose iterations do not exist. They stay for the barriers; what they must
//! not do is under a condition.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, Place, PlaceKind, Space, Stmt, StmtKind, Type, Value, VarId,
    VarKind,
};

use crate::analysis::access::{Base, base_of};
use crate::analysis::axes::Axes;
use crate::build::conditions::all_of;
use crate::build::stmts::set;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::rewrite::register_tile::tile::{Replica, Tile};
use crate::rewrite::register_tile::unset::read_first;
use crate::walk;

impl Expansion<'_, '_> {
    /// The condition under which a thread may run a group: its iterations of the loops that matter exist.
    pub(crate) fn guard(&self, body: &Block, replicas: &BTreeMap<usize, Replica>) -> Option<Expr> {
        let group = |k: &usize| replicas.get(k).is_some_and(|r| r.at.is_some());
        let chosen = self.chosen(self.needed(body)).into_iter();
        // A block begins at an iteration that exists.
        let begins = |k: &usize, tile: &Tile| {
            tile.own.is_none() && tile.begin.is_none() && !replicas.contains_key(k)
        };
        let open = chosen.filter(|(k, tile)| !(begins(k, tile) || tile.groups && group(k)));
        let conditions = open.map(|(k, tile)| tile.inside(replicas.get(&k)));
        all_of(conditions)
    }

    /// The loops whose excess iterations must not run a group: they would touch memory that is not theirs, divide by
    /// what does not exist, call, or compute with a variable that holds nothing.
    pub(crate) fn needed(&self, body: &Block) -> Axes {
        let mut needed: Axes = 0;
        let mut acts = false;
        let first = read_first(body);
        let own = |p: &Place| match base_of(p) {
            Base::Var(v) => {
                let var = self.draft.scope.host.var(v);
                let local = matches!(var.kind, VarKind::Shared | VarKind::Local);
                let elsewhere =
                    matches!(&var.ty, Type::Pointer { space, .. } if *space != Space::Shared);
                local && !elsewhere
            }
            _ => false,
        };
        walk::each_stmt(body, &mut |s| {
            let o = walk::operands(s);
            acts |= o.writes.is_some_and(|p| p.root_var().is_none() || self.is_copied_back(p));
            acts |= self.adds_for_update(s);
            acts |= matches!(
                s.kind,
                StmtKind::Call { .. }
                    | StmtKind::Atomic { .. }
                    | StmtKind::Assert { .. }
                    | StmtKind::Loop { .. }
            );
            let mut look = |e: &Expr| match &*e.kind {
                ExprKind::Read(p) if matches!(&*p.kind, PlaceKind::Var(_)) || own(p) => {}
                ExprKind::Read(_) => needed |= self.axes_of_expr(e),
                ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..) if e.ty.is_integer() => {
                    needed |= self.axes_of_expr(e);
                }
                _ => {}
            };
            o.writes.into_iter().for_each(|p| walk::each_expr_of_place(p, &mut look));
            o.reads.iter().for_each(|e| walk::each_expr(e, &mut look));
            let subscripts = o.writes.into_iter().flat_map(walk::subscripts);
            for e in o.reads.into_iter().chain(subscripts) {
                needed |= self.variables.unset.of(e, &first);
            }
        });
        if acts {
            needed = Axes::MAX;
        }
        let needed = self.chosen(needed & !self.guarded).into_iter();
        let open = needed.filter(|(_, tile)| !tile.filled);
        open.fold(0, |axes, (k, _)| axes | 1 << k)
    }

    /// Gives variables that a group sets under a condition a value in excess threads: what is computed from them later needs no
    /// condition then. Not those that it may set, and not those that it has from an iteration before: they keep
    /// their values.
    pub(crate) fn zeros_first(&mut self, group: &Block) -> Vec<Stmt> {
        let mut zeros = vec![];
        let mut mentioned = BTreeSet::new();
        for stmt in &group.stmts {
            let assigned = match &stmt.kind {
                StmtKind::Decl { var, init: Some(value) } => Some((*var, value)),
                StmtKind::Assign { place, value } => match *place.kind {
                    PlaceKind::Var(v) => Some((v, value)),
                    _ => None,
                },
                _ => None,
            };
            if let Some((var, value)) = assigned
                && let Some(scalar) = value.ty.scalar()
                && self.is_array(var)
                && !mentioned.contains(&var)
                && !walk::mentions(value, var)
            {
                // A condition around keeps some threads from the zero, too.
                if self.guarded == 0 {
                    self.variables.unset.set_by_all(var);
                }
                let place = Place::var(var, value.ty.clone());
                let value = Expr::constant(Value::int(scalar, 0));
                zeros.push(set(place, value));
            }
            let alone = Block::new(vec![stmt.clone()]);
            walk::each_var_of_block(&alone, &mut |v| _ = mentioned.insert(v));
        }
        zeros
    }

    /// An element in shared memory that goes back to its array.
    fn is_copied_back(&self, place: &Place) -> bool {
        let shared = |v: VarId| self.draft.scope.host.var(v).kind == VarKind::Shared;
        place.root_var().is_some_and(shared) && self.copies.iter().any(|c| c.footprint.written)
    }
}
