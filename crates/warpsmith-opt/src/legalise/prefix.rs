//! What each thread of a block makes of the values of the threads before it: by lanes whose distance doubles, and through
//! shared memory where they are more than a warp. Values may be maps `x -> slope * x + value`, which are applied one after the
//! other.

use warpsmith_ir::{
    Axis, BinaryOp, Combine, Expr, Place, ReduceOp, Scalar, Stmt, Type, VarId, WarpOp,
};

use super::Lowering;
use super::combine::{first_part, thread_along};
use crate::build::operators::{combine, identity};
use crate::build::pairs::{doubling, from_lane};
use crate::build::stmts::{barrier, declare, element_of, set, undefined, unrolled, when};
use crate::build::threads::WARP;

/// What one thread, or several of them, have.
#[derive(Clone, Copy)]
struct Part {
    op: ReduceOp,
    value: VarId,
    /// Of a map.
    slope: Option<VarId>,
}

impl Part {
    fn vars(self) -> impl Iterator<Item = VarId> {
        [self.value].into_iter().chain(self.slope)
    }
}

impl Lowering<'_> {
    /// Writes out a combination whose threads want what those before them have, too. `before` is combined with that, the
    /// value becomes the whole.
    pub(super) fn prefixed(
        &mut self,
        wanted: &Combine,
        before: VarId,
        (extents, again): ([u32; 3], bool),
        shared: &mut Vec<VarId>,
    ) -> Vec<Stmt> {
        let own = Part { op: wanted.op, value: wanted.value, slope: wanted.slope };
        let width = extents[0].min(WARP);
        let x = thread_along(Axis::X);
        let warps = extents[0] / WARP;
        let lane = match warps > 1 {
            true => Expr::binary(BinaryOp::Rem, x.clone(), number(WARP)),
            false => x,
        };
        let mut stmts = self.inclusive(own, &lane, width);
        let earlier = self.another(own, "below");
        stmts.extend(self.lanes_below(own, earlier, (Expr::i32(1), width)));
        let later = Expr::binary(BinaryOp::Gt, lane.clone(), Expr::i32(0));
        let lanes = when(later, vec![self.through(earlier, before)]);
        if warps <= 1 {
            stmts.push(lanes);
            let last = |v| {
                from_lane(WarpOp::Shuffle, (self.scope.value(v), v), (number(width - 1), width))
            };
            stmts.extend(own.vars().map(last));
            return stmts;
        }
        stmts.extend(self.warps_before(own, (before, &lane), (extents, warps), shared));
        stmts.push(lanes);
        if again {
            stmts.push(barrier("everyone has the whole before the next sums take their place"));
        }
        stmts
    }

    /// The parts of whole warps: those before the own one are in `before` afterwards, all of them in `own`.
    fn warps_before(
        &mut self,
        own: Part,
        (before, lane): (VarId, &Expr),
        (extents, warps): ([u32; 3], u32),
        shared: &mut Vec<VarId>,
    ) -> Vec<Stmt> {
        let count = warps * extents[1] * extents[2];
        let arrays: Vec<VarId> = own.vars().map(|v| self.parts(v, count)).collect();
        shared.extend(&arrays);
        let row = first_part(extents, warps);
        let of_row = |at: Expr| match &row {
            Some(row) => Expr::binary(BinaryOp::Add, row.clone(), at),
            None => at,
        };
        let warp = Expr::binary(BinaryOp::Div, thread_along(Axis::X), number(WARP));
        let place = |own: &Self, array, at| element_of(&own.scope.host, array, of_row(at));
        let stored = own.vars().zip(&arrays);
        let stored = stored.map(|(v, a)| set(place(self, *a, warp.clone()), self.scope.value(v)));
        let last = Expr::binary(BinaryOp::Eq, lane.clone(), number(WARP - 1));
        let mut stmts = vec![when(last, stored.collect())];
        stmts.push(barrier("the sums of all warps are there"));
        let at = self.scope.local("earlier", Type::I32);
        let counter = Expr::var(at, Type::I32);
        let part = self.another(own, "there");
        let read = part.vars().zip(&arrays);
        let read = read.map(|(v, a)| declare(v, Expr::read(place(self, *a, counter.clone()))));
        let mut body: Vec<Stmt> = read.collect();
        body.push(when(
            Expr::binary(BinaryOp::Lt, counter, warp),
            vec![self.through(part, before)],
        ));
        body.push(self.through(part, own.value));
        body.extend(own.slope.zip(part.slope).map(|(to, with)| self.scaled(to, with)));
        let none = identity(own.op, self.scalar(own.value));
        stmts.push(set(self.whole(own.value), Expr::constant(none)));
        let one = |v| set(self.whole(v), Expr::constant(identity(ReduceOp::Mul, self.scalar(v))));
        stmts.extend(own.slope.map(one));
        stmts.push(unrolled(&mut self.scope.host, at, warps, body));
        stmts
    }

    /// What each lane has after those of the lanes before it.
    fn inclusive(&mut self, own: Part, lane: &Expr, width: u32) -> Vec<Stmt> {
        let offset = self.scope.local("offset", Type::I32);
        let other = self.another(own, "before");
        let distance = Expr::var(offset, Type::I32);
        let has_one = Expr::binary(BinaryOp::Ge, lane.clone(), distance.clone());
        let mut body = self.lanes_below(own, other, (distance, width));
        body.push(when(has_one, self.after(own, other)));
        doubling(&mut self.scope.host, offset, Expr::i32(width as i32), body).to_vec()
    }

    /// Declares `other` and gives it what the lane so far below has.
    fn lanes_below(&self, own: Part, other: Part, by: (Expr, u32)) -> Vec<Stmt> {
        let below = |(v, o)| {
            let fetched = from_lane(WarpOp::ShuffleUp, (self.scope.value(v), o), by.clone());
            [undefined(o), fetched]
        };
        own.vars().zip(other.vars()).flat_map(below).collect()
    }

    /// Puts what comes earlier before a part.
    fn after(&self, own: Part, earlier: Part) -> Vec<Stmt> {
        match own.slope.zip(earlier.slope) {
            None => vec![self.through(earlier, own.value)],
            Some((slope, with)) => {
                let moved = self.mapped(slope, earlier.value, own.value);
                vec![set(self.whole(own.value), moved), self.scaled(slope, with)]
            }
        }
    }

    /// What a part makes of a variable.
    fn through(&self, part: Part, x: VarId) -> Stmt {
        let value = match part.slope {
            None => {
                let (own, other) = (self.scope.value(x), self.scope.value(part.value));
                combine(part.op, self.scalar(x), own, other)
            }
            Some(slope) => self.mapped(slope, x, part.value),
        };
        set(self.whole(x), value)
    }

    /// `slope * x + value`
    fn mapped(&self, slope: VarId, x: VarId, value: VarId) -> Expr {
        let times = Expr::binary(BinaryOp::Mul, self.scope.value(slope), self.scope.value(x));
        Expr::binary(BinaryOp::Add, times, self.scope.value(value))
    }

    /// `to *= with`
    fn scaled(&self, to: VarId, with: VarId) -> Stmt {
        let product = Expr::binary(BinaryOp::Mul, self.scope.value(to), self.scope.value(with));
        set(self.whole(to), product)
    }

    fn whole(&self, v: VarId) -> Place {
        Place::var(v, self.scope.host.var(v).ty.clone())
    }

    fn scalar(&self, v: VarId) -> Scalar {
        self.scope.host.var(v).ty.scalar().unwrap_or(Scalar::F64)
    }

    /// Constants of a part's types, for what another thread has of it.
    fn another(&mut self, own: Part, whose: &str) -> Part {
        let mut constant = |v: VarId| {
            let known = self.scope.host.var(v).clone();
            let other = self.scope.local(&format!("{}_{whose}", known.name), known.ty);
            self.scope.host.vars[other.0 as usize].constant = true;
            other
        };
        Part { op: own.op, value: constant(own.value), slope: own.slope.map(constant) }
    }
}

fn number(n: u32) -> Expr {
    Expr::i32(n as i32)
}
