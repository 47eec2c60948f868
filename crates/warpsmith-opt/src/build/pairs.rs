//! Values that lanes combine in pairs.

use warpsmith_ir::{
    BinaryOp, Block, Expr, Function, LoopCondition, Origin, Place, ReduceOp, Scalar, Stmt,
    StmtKind, Type, VarId, WarpOp,
};

use super::operators::{better, combine};
use super::stmts::{declare, set, undefined, when};
use super::threads::WARP;

/// `a = a op b`, or, with places, the better of two values with its place; of equal ones the first.
pub fn join(
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
pub fn halving(host: &mut Function, offset: VarId, width: Expr, body: Vec<Stmt>) -> [Stmt; 2] {
    let half = |e: Expr| Expr::binary(BinaryOp::Div, e, Expr::i32(2));
    let now = Expr::var(offset, Type::I32);
    let goes_on = Expr::binary(BinaryOp::Gt, now.clone(), Expr::i32(0));
    let why = "lanes combine their parts in pairs, until all of them have the whole";
    stepping(host, offset, (half(width), goes_on, half(now)), body, why)
}

/// `for (offset = 1; offset < width; offset *= 2) body`
pub fn doubling(host: &mut Function, offset: VarId, width: Expr, body: Vec<Stmt>) -> [Stmt; 2] {
    let now = Expr::var(offset, Type::I32);
    let goes_on = Expr::binary(BinaryOp::Lt, now.clone(), width);
    let twice = Expr::binary(BinaryOp::Mul, now, Expr::i32(2));
    let why = "each lane takes what those before it have, from twice as many with each step";
    stepping(host, offset, (Expr::i32(1), goes_on, twice), body, why)
}

/// `for (offset = first; goes_on; offset = next) body`
fn stepping(
    host: &mut Function,
    offset: VarId,
    (first, goes_on, next): (Expr, Expr, Expr),
    body: Vec<Stmt>,
    why: &str,
) -> [Stmt; 2] {
    let condition = LoopCondition { before: Block::default(), expr: goes_on, at_end: false };
    let kind = StmtKind::Loop {
        id: host.fresh_loop(),
        condition: Some(condition),
        body: Block::new(body),
        step: Block::new(vec![set(Place::var(offset, Type::I32), next)]),
    };
    [declare(offset, first), Stmt::new(kind, Origin::default()).comment(why)]
}

/// Declares `other` and gives it what the lane whose number differs in the bits of `offset` has.
pub fn exchanged(value: Expr, other: VarId, offset: VarId) -> [Stmt; 2] {
    let by = (Expr::var(offset, Type::I32), WARP);
    [undefined(other), from_lane(WarpOp::ShuffleXor, (value, other), by)]
}

/// `result` = the value of another lane among `width` neighbours.
pub fn from_lane(op: WarpOp, (value, result): (Expr, VarId), (by, width): (Expr, u32)) -> Stmt {
    let mask = Expr::int(Scalar::U32, 0xffff_ffff);
    let args = vec![value, by, Expr::i32(width as i32)];
    let kind = StmtKind::Warp { op, mask, args, result: Some(result) };
    Stmt::new(kind, Origin::default())
}
