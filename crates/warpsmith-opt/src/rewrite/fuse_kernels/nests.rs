//! What is left of the two nests in a thread: their iterations at a plane of its column.

use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, Origin, Place, Stmt, StmtKind, Var, VarId, VarKind,
};

use super::text::Maker;
use super::{elements, launch};
use crate::build::arithmetic::offset;
use crate::build::conditions::all_of;
use crate::build::stmts::{declare, set, when};
use crate::build::trips;
use crate::kernel::only_loop;
use crate::rewrite::edit::copy::general_copy;
use crate::rewrite::edit::{copy, runs};
use crate::walk;

impl Maker<'_, '_> {
    /// Declarations of a nest's counters at a plane and the thread's column.
    fn counters(&self, loops: &[ForLoop], plane: Expr) -> Vec<Stmt> {
        let across = self.across.iter().rev().map(|of| self.number(of.at));
        let positions = [plane].into_iter().chain(across);
        let counter = |(l, at): (&ForLoop, Expr)| {
            declare(l.var, at.cast(self.kernel.func().var(l.var).ty.clone()))
        };
        loops.iter().zip(positions).map(counter).collect()
    }

    /// The first nest's iteration, or what the array has where it has none.
    pub(super) fn first(&mut self, nest: &Stmt, computes: [VarId; 2]) -> Vec<Stmt> {
        let window = self.legal.pair.along(0);
        let newest = self.own_at(window.high - window.low, &self.at());
        let mut loops = self.loops_of(nest);
        if let Some(innermost) = loops.last_mut() {
            self.keep(&mut innermost.body, &newest);
        }
        let then = self.iteration(&loops, self.number(self.plane));
        let (cond, otherwise) = (self.is_at(computes), self.stale(&newest));
        let kind = StmtKind::If { cond, then, otherwise };
        let mut stmts = vec![Stmt::new(kind, Origin::default()).comment("the first nest")];
        if self.planes.is_some() {
            stmts.push(set(self.shared_at(window.high, &[]), Expr::read(newest)));
        }
        stmts
    }

    /// The body of a nest at a plane and the thread's column.
    fn iteration(&mut self, loops: &[ForLoop], plane: Expr) -> Block {
        let mut body = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        let mut stmts = self.counters(loops, plane);
        stmts.extend(elements::by_distance(self.kernel, loops, &mut body));
        stmts.extend(body.stmts);
        let mut block = Block::new(stmts);
        runs::drop_unread(&mut block);
        block
    }

    /// The value that is stored goes to a variable, and on to the array by the thread whose column it is.
    fn keep(&self, body: &mut Block, newest: &Place) {
        for stmt in std::mem::take(&mut body.stmts) {
            match stmt.kind {
                StmtKind::Assign { place, value } if place.root_var().is_none() => {
                    body.stmts.push(Stmt { origin: stmt.origin, ..set(newest.clone(), value) });
                    if self.legal.stores() {
                        body.stmts.push(self.stored(place, newest));
                    }
                }
                _ => body.stmts.push(stmt),
            }
        }
    }

    fn stored(&self, place: Place, newest: &Place) -> Stmt {
        let window = self.legal.pair.along(0);
        let step = || self.number(self.step);
        let mut conditions: Vec<Expr> =
            self.across.iter().flat_map(|of| self.in_tile(of)).collect();
        if window.low != 0 {
            conditions.push(Expr::binary(BinaryOp::Ge, step(), self.steps(-window.low)));
        }
        if window.high != 0 || self.legal.shape.group > 1 {
            let last = offset(self.grid.planes.clone(), -window.low);
            conditions.push(Expr::binary(BinaryOp::Lt, step(), last));
        }
        let store = set(place, Expr::read(newest.clone()));
        match all_of(conditions) {
            Some(cond) => when(cond, vec![store]),
            None => store,
        }
    }

    /// The first nest computes all that the second one reads.
    pub(super) fn covers(&self) -> bool {
        let pair = &self.legal.pair;
        let function = self.kernel.func();
        let loops = pair.first.loops.iter().zip(&pair.second.loops);
        loops.enumerate().all(|(depth, (a, b))| {
            let (own, read) = (launch::range(function, a), launch::range(function, b));
            let window = pair.reads.read_along(depth);
            let low = launch::apart(&own.0, &read.0);
            let high = launch::apart(&read.1, &own.1);
            low.is_some_and(|n| n + i128::from(window.low) >= 0)
                && high.is_some_and(|n| n - i128::from(window.high) >= 0)
        })
    }

    /// What the array has where the second nest reads and the first one has no iteration.
    fn stale(&self, newest: &Place) -> Block {
        if self.covers() {
            return Block::default();
        }
        let pair = &self.legal.pair;
        let b = &pair.second.loops;
        let function = self.kernel.func();
        let rank = pair.rank();
        let mut conditions = vec![];
        // A group may go past the slice, where other blocks compute.
        if self.legal.shape.group > 1 {
            let end = offset(self.grid.planes.clone(), pair.along(0).width().into());
            conditions.push(Expr::binary(BinaryOp::Lt, self.number(self.step), end));
        }
        // Blocks that only store for others may run where the second nest reads nothing.
        if self.legal.stores() {
            conditions.extend(trips::all_run(function, b));
        }
        let mut index = vec![];
        for (depth, l) in b.iter().enumerate() {
            let at = match depth {
                0 => self.number(self.plane),
                _ => self.number(self.across[rank - 1 - depth].at),
            };
            conditions.extend(self.within(l, at.clone(), pair.reads.read_along(depth)));
            index.push(offset(at, pair.stored_at[depth]));
        }
        let element = copy::element(function, pair.array, index);
        let load = set(newest.clone(), Expr::read(element));
        Block::new(match all_of(conditions) {
            Some(cond) => vec![when(cond, vec![load])],
            None => vec![load],
        })
    }

    /// The second nest's iteration, as far behind as it reads ahead.
    pub(super) fn second(&mut self, nest: Stmt, finishes: [VarId; 2]) -> Vec<Stmt> {
        let pair = &self.legal.pair;
        let window = pair.along(0);
        let places = pair.reads.0.iter().map(|(place, d)| {
            let own = d[1..].iter().all(|n| *n == 0);
            let held = if own {
                self.own_at(d[0] - window.low, &self.at())
            } else {
                self.shared_at(d[0], &d[1..])
            };
            (place.clone(), held)
        });
        let mut held = Held { places: places.collect() };
        let mut block = Block::new(vec![nest]);
        held.block(&mut block);
        let loops = self.loops_of(&block.stmts[0]);
        let inside = self.iteration(&loops, offset(self.number(self.plane), -window.high));
        vec![when(self.is_at(finishes), inside.stmts).comment("the second nest")]
    }

    /// The loops of a nest once more, with loops and variables of their own.
    pub(super) fn loops_of(&mut self, nest: &Stmt) -> Vec<ForLoop> {
        let (copied, ..) = general_copy(self.kernel, nest);
        let mut block = Block::new(vec![copied]);
        let mut outside = vec![];
        walk::each_stmt(&block, &mut |s| {
            if let StmtKind::For(l) = &s.kind
                && !l.declares
            {
                outside.push(l.var);
            }
        });
        for v in outside {
            let var = Var { kind: VarKind::Local, ..self.kernel.func().var(v).clone() };
            let own = self.kernel.func_mut().add_var(var);
            visit::rename_vars(&mut block, &mut |w| if w == v { own } else { w });
        }
        declare_counters(&mut block);
        let outermost = match block.stmts.first().map(|s| &s.kind) {
            Some(StmtKind::For(l)) => Some(l.clone()),
            _ => None,
        };
        let inner = |l: &ForLoop| only_loop(&l.body).cloned();
        std::iter::successors(outermost, inner).take(self.legal.pair.rank()).collect()
    }
}

fn declare_counters(block: &mut Block) {
    for stmt in &mut block.stmts {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.declares = true;
        }
        walk::blocks_mut(stmt).into_iter().for_each(declare_counters);
    }
}

/// Puts what threads and blocks hold in the place of elements of the array.
struct Held {
    places: Vec<(Place, Place)>,
}

impl Rewriter for Held {
    fn place(&mut self, place: &mut Place) {
        match self.places.iter().find(|(from, _)| from == place) {
            Some((_, to)) => *place = to.clone(),
            None => visit::rewrite_place(self, place),
        }
    }
}
