//! What the threads of a block make of values that each of them has: in pairs of lanes, and through shared memory where they
//! are more than a warp.

use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Block, Builtin, Combine, Diagnostic, Expr, Function, LoopCondition,
    Origin, Place, ReduceOp, Scalar, Stmt, StmtKind, Type, Var, VarId, VarKind, WarpOp,
};

use super::copies::barrier;
use super::{Lowered, Lowering};
use crate::build::operators::{better, combine};
use crate::build::stmts::set;
use crate::build::stmts::{declare, element_of, when};
use crate::rewrite::share::WARP;

/// `a = a op b`, or, with places, the better of two values with its place; of equal ones the first.
pub(super) fn join(
    op: ReduceOp,
    scalar: Scalar,
    (value, at): (Place, Option<Place>),
    (other, other_at): (Expr, Option<Expr>),
) -> Stmt {
    let own = |place: &Place| Expr::read(place.clone());
    let (Some(at), Some(other_at)) = (at, other_at) else {
        let joined = combine(op, scalar, own(&value), other);
        return set(value, joined);
    };
    let better = Expr::binary(better(op), other.clone(), own(&value));
    let same = Expr::binary(BinaryOp::Eq, other.clone(), own(&value));
    let sooner = Expr::binary(BinaryOp::Lt, other_at.clone(), own(&at));
    let first = Expr::binary(BinaryOp::LogicalAnd, same, sooner);
    let taken = vec![set(value, other), set(at, other_at)];
    when(Expr::binary(BinaryOp::LogicalOr, better, first), taken)
        .comment("of equal values the first one is kept")
}

/// `for (offset = width / 2; offset > 0; offset /= 2) body`
pub(super) fn halving(
    host: &mut Function,
    offset: VarId,
    width: Expr,
    body: Vec<Stmt>,
) -> [Stmt; 2] {
    let half = |e: Expr| Expr::binary(BinaryOp::Div, e, Expr::i32(2));
    let now = || Expr::var(offset, Type::I32);
    let goes_on = Expr::binary(BinaryOp::Gt, now(), Expr::i32(0));
    let before = Block::default();
    let condition = LoopCondition { before, expr: goes_on, at_end: false };
    let step = set(Place::var(offset, Type::I32), half(now()));
    let kind = StmtKind::Loop {
        id: host.fresh_loop(),
        condition: Some(condition),
        body: Block::new(body),
        step: Block::new(vec![step]),
    };
    let why = "lanes combine their parts in pairs, until all of them have the whole";
    [declare(offset, half(width)), Stmt::new(kind, Origin::default()).comment(why)]
}

/// Declares `other` and gives it what the lane whose number differs in the bits of `offset` has.
pub(super) fn exchanged(value: Expr, other: VarId, offset: VarId) -> [Stmt; 2] {
    let args = vec![value, Expr::var(offset, Type::I32), Expr::i32(WARP as i32)];
    let mask = Expr::int(Scalar::U32, 0xffff_ffff);
    let kind = StmtKind::Warp { op: WarpOp::ShuffleXor, mask, args, result: Some(other) };
    let declared = StmtKind::Decl { var: other, init: None };
    [declared, kind].map(|kind| Stmt::new(kind, Origin::default()))
}

impl Lowering<'_> {
    /// Writes a combination out for a block of these extents. `again`: the block comes to it several times. New arrays in
    /// shared memory are added to `shared`.
    pub(super) fn combined(
        &mut self,
        wanted: &Combine,
        extents: [u32; 3],
        again: bool,
        shared: &mut Vec<VarId>,
    ) -> Lowered<Vec<Stmt>> {
        let [threads, rows, planes] = extents;
        let along_x = wanted.over == [(BindLevel::Block, Axis::X)];
        if !along_x || !threads.is_power_of_two() || !(threads * rows * planes).is_multiple_of(WARP)
        {
            let what = "a value is combined over threads that are no power of two along x";
            return Err(Box::new(Diagnostic::error("W299", what)));
        }
        let vars: Vec<VarId> = [wanted.value].into_iter().chain(wanted.at).collect();
        let mut stmts = self.in_pairs(wanted, threads.min(WARP));
        let warps = threads / WARP;
        if warps <= 1 {
            return Ok(stmts);
        }
        let thread = |axis| Expr::builtin(Builtin::ThreadIdx(axis)).cast(Type::I32);
        let number = |n: u32| Expr::i32(n as i32);
        let both = |op, a: Expr, b: Expr| Expr::binary(op, a, b);
        let row = (rows * planes > 1).then(|| {
            let plane = both(BinaryOp::Mul, thread(Axis::Z), number(rows));
            let row = if planes > 1 {
                both(BinaryOp::Add, plane, thread(Axis::Y))
            } else {
                thread(Axis::Y)
            };
            both(BinaryOp::Mul, row, number(warps))
        });
        let of_row = |at: Expr| match &row {
            Some(row) => both(BinaryOp::Add, row.clone(), at),
            None => at,
        };
        let arrays: Vec<VarId> =
            vars.iter().map(|v| self.parts(*v, warps * rows * planes)).collect();
        shared.extend(&arrays);
        let pairs = || vars.iter().copied().zip(arrays.iter().copied());
        let warp_size = self.constant("WARP", WARP, "threads of a warp");
        let x = thread(Axis::X);
        let warp = both(BinaryOp::Div, x.clone(), warp_size.clone());
        let lane = both(BinaryOp::Rem, x.clone(), warp_size);
        let store = pairs()
            .map(|(v, a)| set(element_of(&self.host, a, of_row(warp.clone())), self.value_of(v)));
        let store = store.collect();
        stmts.push(when(both(BinaryOp::Eq, lane, Expr::i32(0)), store));
        stmts.push(barrier("the parts of all warps are there"));
        for (v, a) in pairs() {
            let at = of_row(both(BinaryOp::Rem, x.clone(), number(warps)));
            let ty = self.host.var(v).ty.clone();
            stmts.push(set(Place::var(v, ty), Expr::read(element_of(&self.host, a, at))));
        }
        stmts.extend(self.in_pairs(wanted, warps));
        if again {
            stmts.push(barrier("everyone has the whole before the next parts take their place"));
        }
        Ok(stmts)
    }

    fn value_of(&self, v: VarId) -> Expr {
        Expr::var(v, self.host.var(v).ty.clone())
    }

    /// An array in shared memory with so many of a variable's values.
    fn parts(&mut self, v: VarId, count: u32) -> VarId {
        let var = self.host.var(v).clone();
        let name = self.fresh_name(&format!("{}_shared", var.name));
        let mut array = Var::new(name, Type::array(var.ty, count.into()), VarKind::Shared);
        array.origin = var.origin;
        self.host.add_var(array)
    }

    /// The values of `width` neighbouring lanes.
    fn in_pairs(&mut self, wanted: &Combine, width: u32) -> Vec<Stmt> {
        if width == 1 {
            return vec![];
        }
        let offset = self.local("offset", Type::I32);
        let scalar = self.host.var(wanted.value).ty.scalar().unwrap_or(Scalar::F64);
        let mut body = vec![];
        let mut others = vec![];
        for v in [wanted.value].into_iter().chain(wanted.at) {
            let ty = self.host.var(v).ty.clone();
            let other = self.local(&format!("{}_other", self.host.var(v).name), ty.clone());
            self.host.vars[other.0 as usize].constant = true;
            body.extend(exchanged(self.value_of(v), other, offset));
            others.push((Place::var(v, ty.clone()), Expr::var(other, ty)));
        }
        let mut others = others.into_iter();
        if let Some((value, other)) = others.next() {
            let (at, other_at) = others.next().unzip();
            body.push(join(wanted.op, scalar, (value, at), (other, other_at)));
        }
        halving(&mut self.host, offset, Expr::i32(width as i32), body).to_vec()
    }
}
