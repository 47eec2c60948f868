//! What each thread of a block makes of the values of the threads before it: by lanes whose distance doubles, and through
//! shared memory where they are more than a warp.

use warpsmith_ir::{Axis, BinaryOp, Combine, Expr, Place, Scalar, Stmt, Type, VarId, WarpOp};

use super::Lowering;
use super::combine::{first_part, thread_along};
use crate::build::operators::{combine, identity};
use crate::build::pairs::{doubling, from_lane};
use crate::build::stmts::{barrier, declare, element_of, set, undefined, unrolled, when};
use crate::build::threads::WARP;

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
        let width = extents[0].min(WARP);
        let number = |n: u32| Expr::i32(n as i32);
        let x = thread_along(Axis::X);
        let warps = extents[0] / WARP;
        let lane = match warps > 1 {
            true => Expr::binary(BinaryOp::Rem, x.clone(), number(WARP)),
            false => x.clone(),
        };
        let mut stmts = self.inclusive(wanted, &lane, width);
        let earlier = self.another(wanted.value, "below");
        stmts.extend(self.lane_below(wanted.value, earlier, (Expr::i32(1), width)));
        let later = Expr::binary(BinaryOp::Gt, lane.clone(), Expr::i32(0));
        let lanes = when(later, vec![self.joined(wanted, before, earlier)]);
        if warps <= 1 {
            stmts.push(lanes);
            let whole = (self.scope.value(wanted.value), wanted.value);
            stmts.push(from_lane(WarpOp::Shuffle, whole, (number(width - 1), width)));
            return stmts;
        }
        let parts = self.parts(wanted.value, warps * extents[1] * extents[2]);
        shared.push(parts);
        let row = first_part(extents, warps);
        let of_row = |at: Expr| match &row {
            Some(row) => Expr::binary(BinaryOp::Add, row.clone(), at),
            None => at,
        };
        let warp = Expr::binary(BinaryOp::Div, x, number(WARP));
        let own = element_of(&self.scope.host, parts, of_row(warp.clone()));
        let last = Expr::binary(BinaryOp::Eq, lane, number(WARP - 1));
        stmts.push(when(last, vec![set(own, self.scope.value(wanted.value))]));
        stmts.push(barrier("the sums of all warps are there"));
        let at = self.scope.local("earlier", Type::I32);
        let part = self.another(wanted.value, "there");
        let counter = Expr::var(at, Type::I32);
        let element = Expr::read(element_of(&self.scope.host, parts, of_row(counter.clone())));
        let body = vec![
            declare(part, element),
            when(
                Expr::binary(BinaryOp::Lt, counter, warp),
                vec![self.joined(wanted, before, part)],
            ),
            self.joined(wanted, wanted.value, part),
        ];
        let ty = self.scope.host.var(wanted.value).ty.clone();
        let none = Expr::constant(identity(wanted.op, self.scalar(wanted.value)));
        stmts.push(set(Place::var(wanted.value, ty), none));
        stmts.push(unrolled(&mut self.scope.host, at, warps, body));
        stmts.push(lanes);
        if again {
            stmts.push(barrier("everyone has the whole before the next sums take their place"));
        }
        stmts
    }

    /// The value of each lane with those of the lanes before it.
    fn inclusive(&mut self, wanted: &Combine, lane: &Expr, width: u32) -> Vec<Stmt> {
        let offset = self.scope.local("offset", Type::I32);
        let other = self.another(wanted.value, "before");
        let distance = Expr::var(offset, Type::I32);
        let has_one = Expr::binary(BinaryOp::Ge, lane.clone(), distance.clone());
        let mut body = self.lane_below(wanted.value, other, (distance, width)).to_vec();
        body.push(when(has_one, vec![self.joined(wanted, wanted.value, other)]));
        doubling(&mut self.scope.host, offset, Expr::i32(width as i32), body).to_vec()
    }

    /// Declares `other` and gives it what the lane so far below has.
    fn lane_below(&self, value: VarId, other: VarId, by: (Expr, u32)) -> [Stmt; 2] {
        [undefined(other), from_lane(WarpOp::ShuffleUp, (self.scope.value(value), other), by)]
    }

    fn joined(&self, wanted: &Combine, to: VarId, with: VarId) -> Stmt {
        let ty = self.scope.host.var(to).ty.clone();
        let (own, other) = (self.scope.value(to), self.scope.value(with));
        set(Place::var(to, ty), combine(wanted.op, self.scalar(to), own, other))
    }

    fn scalar(&self, v: VarId) -> Scalar {
        self.scope.host.var(v).ty.scalar().unwrap_or(Scalar::F64)
    }

    /// A constant of a value's type, for what another thread has of it.
    fn another(&mut self, v: VarId, whose: &str) -> VarId {
        let known = self.scope.host.var(v).clone();
        let other = self.scope.local(&format!("{}_{whose}", known.name), known.ty);
        self.scope.host.vars[other.0 as usize].constant = true;
        other
    }
}
