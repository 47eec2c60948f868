//! How the sums of warps, blocks and threads come together in memory.

use warpsmith_ir::{
    AtomicOp, Axis, BinaryOp, BindLevel, Block, Collective, Combine, Expr, ExprKind, LoopKind,
    Origin, Place, PlaceKind, ReduceOp, Scope, Stmt, StmtKind, Type, Var, VarKind, visit,
};

use super::text::{Maker, counted_from, local};
use crate::build::arithmetic::{plus, times};
use crate::build::stmts::{element_of, set, when};
use crate::build::{counters, stmts};
use crate::rewrite::edit::runs;

impl Maker<'_, '_> {
    /// What the threads of a warp have of each row of the group goes to shared memory.
    pub(super) fn combined(&mut self) -> Vec<Stmt> {
        let mut stmts = vec![];
        for (at, (own, warps)) in self.sums.clone().into_iter().zip(self.warps.clone()).enumerate()
        {
            let scalar = self.legal.parts.sums[at].scalar;
            let name = format!("{}_part", self.legal.kernel.name_of(self.legal.parts.sums[at].var));
            let part = Var::new(name, Type::Scalar(scalar), VarKind::Local);
            let part = self.kernel.func_mut().add_var(part);
            let value = Expr::read(element_of(self.kernel.func(), own, self.of_group_number()));
            let combine = Combine {
                op: ReduceOp::Add,
                value: part,
                at: None,
                before: None,
                slope: None,
                over: vec![(BindLevel::Block, Axis::X)],
            };
            let kind = StmtKind::Collective(Collective::Combine(combine));
            let slot = self.slot(self.of_block(), self.number(self.counters.warp));
            let store = set(
                element_of(self.kernel.func(), warps, slot),
                Expr::var(part, Type::Scalar(scalar)),
            );
            let first = Expr::binary(BinaryOp::Eq, self.number(self.counters.lane), Expr::i32(0));
            let body = vec![
                stmts::declare(part, value),
                Stmt::new(kind, Origin::default()),
                when(first, vec![store]),
            ];
            stmts.push(match self.legal.shape.group {
                1 => Stmt::new(StmtKind::Scope(Block::new(body)), Origin::default()),
                n => self.unrolled(self.counters.at, n, body),
            });
        }
        stmts
    }

    /// Where a warp has its part of a row.
    pub(super) fn slot(&self, row: Expr, warp: Expr) -> Expr {
        plus(times(row, self.counts.warps.clone()), warp)
    }

    /// The thread's sums of columns go to memory.
    pub(super) fn columns_added(&mut self) -> Vec<Stmt> {
        let changed = self.changed.clone();
        let Some(own) = self.iteration(&changed) else { return vec![] };
        let width = self.legal.shape.vector;
        let ty = self.kernel.func().var(own.inner.var).ty.clone();
        let mut number = self.number(self.column);
        if width > 1 {
            number = plus(number, self.number(self.counters.lane_column));
        }
        let mut stmts =
            vec![stmts::declare(own.inner.var, counters::counter_of(&own.inner, number.cast(ty)))];
        for (column, sum) in self.legal.parts.columns.iter().zip(&self.columns) {
            let mut place = Block::new(vec![set(column.place.clone(), Expr::i32(0))]);
            let (from, to) = (self.legal.inner.var, own.inner.var);
            visit::rename_vars(&mut place, &mut |v| if v == from { to } else { v });
            if let StmtKind::Assign { place, .. } = &place.stmts[0].kind {
                let value = Expr::read(element_of(self.kernel.func(), *sum, self.lane_number()));
                stmts.push(self.update(place, value));
            }
        }
        let body = match width {
            1 => stmts,
            _ => vec![self.unrolled(self.counters.lane_column, width, stmts)],
        };
        vec![when(self.column_exists(), body).comment("the sums of the thread's columns")]
    }

    /// What all warps have of each row goes to memory, thread by thread.
    pub(super) fn rows_added(&mut self) -> Vec<Stmt> {
        let old = self.old.clone();
        let Some(own) = self.iteration(&old) else { return vec![] };
        let names = ["own_row", "row", "part"];
        let [at, row, part] = names.map(|name| local(self.kernel, name));
        let mut inside = counted_from(&own.outer, self.number(row), self.kernel);
        inside.extend(own.before.iter().cloned());
        let mut updates = vec![];
        for (sum, warps) in own.sums.iter().zip(self.warps.clone()) {
            let of = |own: &Self, warp: Expr| {
                let slot = own.slot(own.number(at), warp);
                Expr::read(element_of(own.kernel.func(), warps, slot))
            };
            let ty = Type::Scalar(sum.scalar);
            inside.push(stmts::declare(sum.var, of(self, Expr::i32(0))));
            let total = Place::var(sum.var, ty.clone());
            if self.legal.shape.warps() > 1 {
                let more = Expr::binary(
                    BinaryOp::Add,
                    Expr::read(total.clone()),
                    of(self, self.number(part)),
                );
                let limit = self.counts.warps.clone();
                let (body, function) = (vec![set(total.clone(), more)], self.kernel.func_mut());
                let mut l = stmts::counted(function, part, limit, LoopKind::Serial, body);
                l.first = Expr::i32(1);
                inside.push(stmts::looped(l));
            }
            updates.push(self.update(&sum.home, Expr::read(total)));
        }
        inside.extend(updates);
        let mut inside = Block::new(inside);
        runs::drop_unread(&mut inside);
        let number = plus(self.number(self.first_row), self.number(at));
        let body = vec![stmts::declare(row, number), when(self.exists(row), inside.stmts)];
        let limit = self.counts.rows_each.clone();
        let function = self.kernel.func_mut();
        let mut l = stmts::counted(function, at, limit, LoopKind::Serial, body);
        (l.first, l.step) = (self.number(self.thread), self.counts.threads.clone());
        vec![stmts::looped(l).comment("the sums of the block's rows")]
    }

    pub(super) fn update(&self, place: &Place, value: Expr) -> Stmt {
        let pointer = match &*place.kind {
            PlaceKind::Elem { pointer, .. } => pointer.ty.clone(),
            _ => Type::Void,
        };
        let pointer = Expr::new(ExprKind::AddressOf(place.clone()), pointer, place.origin.clone());
        let (op, compare, result) = (AtomicOp::Add, None, None);
        let kind = StmtKind::Atomic { op, pointer, value, compare, result, scope: Scope::Device };
        Stmt::new(kind, self.old.origin.by("keep_sums"))
    }
}
