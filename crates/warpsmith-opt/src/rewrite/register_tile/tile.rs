//! Bound loops whose blocks compute several iterations, and which of a thread's iterations is meant.

use warpsmith_ir::{Axis, BinaryOp, Expr, ForLoop, Scalar, Type, VarId};

use crate::build::arithmetic::offset;
use crate::build::counters;

/// A bound loop in a tiled nest.
#[derive(Clone)]
pub(crate) struct Tile {
    pub source: ForLoop,
    pub axis: Axis,
    pub ty: Scalar,
    /// Iterations of a thread.
    pub factor: u32,
    /// The same as a named constant; 1 where it is one.
    pub factor_expr: Expr,
    /// Neighbouring iterations that a thread has together.
    pub width: u32,
    /// Threads whose groups of iterations lie side by side, as a named constant: those of the block along the axis, or
    /// the lanes of a warp.
    pub abreast: Expr,
    /// Threads of the block along the axis, as a named constant.
    pub threads: Expr,
    /// Iterations of a block.
    pub extent: Expr,
    /// The loop's iterations fill all blocks.
    pub filled: bool,
    /// Blocks begin at a multiple of a vector, and the first iteration comes after that.
    pub begin: Option<Begin>,
    /// Of each group of neighbouring iterations at least one exists.
    pub groups: bool,
    /// Variable: the thread's first iteration, counted from the block's; `None`: a block has one thread along the loop.
    pub own: Option<VarId>,
    pub place: BlockPlace,
}

/// Variables for where a block stands along a loop.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlace {
    /// The first iteration of the block.
    pub first: VarId,
    /// Iterations from there to the end of the loop.
    pub left: VarId,
    /// The block's number along the loop.
    pub number: VarId,
}

/// Where a loop begins whose blocks begin before it.
#[derive(Clone)]
pub(crate) struct Begin {
    pub first: Expr,
    /// Iterations from the start of the first block to the first, if that is known.
    pub past: Option<u32>,
    /// Blocks begin at multiples of it.
    pub width: u32,
}

impl Tile {
    pub(crate) fn value(&self, var: VarId) -> Expr {
        Expr::var(var, Type::Scalar(self.ty))
    }

    /// How far a thread's iteration is from its first one, as terms of a sum.
    fn offset(&self, replica: &Replica) -> Vec<Expr> {
        let r = Expr::var(replica.var, Type::I32);
        let times = |a: Expr, b: Expr| match counters::is_const(&b, 1) {
            true => a,
            false => Expr::binary(BinaryOp::Mul, a, b),
        };
        let terms = match replica.at {
            // The variable counts from group to group.
            Some(0) => vec![times(r, self.abreast.clone())],
            Some(at) => vec![times(r, self.abreast.clone()), Expr::i32(at as i32)],
            None if self.width == self.factor => vec![r],
            None if self.width == 1 => vec![times(r, self.abreast.clone())],
            None => {
                let width = || Expr::i32(self.width as i32);
                let group = Expr::binary(BinaryOp::Div, r.clone(), width());
                let groups = Expr::binary(BinaryOp::Mul, width(), self.abreast.clone());
                let inside = Expr::binary(BinaryOp::Rem, r, width());
                vec![Expr::binary(BinaryOp::Mul, group, groups), inside]
            }
        };
        terms.into_iter().map(|t| t.cast(Type::Scalar(self.ty))).collect()
    }

    /// The terms of [`local`].
    fn terms(&self, replica: Option<&Replica>) -> Vec<Expr> {
        let own = self.own.map(|v| self.value(v));
        own.into_iter().chain(replica.into_iter().flat_map(|r| self.offset(r))).collect()
    }

    /// The iteration's number in the block, for one of the thread's iterations.
    pub fn local(&self, replica: Option<&Replica>) -> Expr {
        let sum = self.terms(replica).into_iter().reduce(|a, b| Expr::binary(BinaryOp::Add, a, b));
        sum.unwrap_or_else(|| Expr::int(self.ty, 0))
    }

    /// The loop's counter.
    pub fn counter(&self, replica: Option<&Replica>) -> Expr {
        let add = |a, b| Expr::binary(BinaryOp::Add, a, b);
        self.terms(replica).into_iter().fold(self.value(self.place.first), add)
    }

    /// The iteration exists; of a group, the last iterations may not.
    pub fn inside(&self, replica: Option<&Replica>) -> Expr {
        let ended = Expr::binary(BinaryOp::Lt, self.local(replica), self.value(self.place.left));
        match &self.begin {
            Some(begin) if replica.is_none_or(|r| r.at.is_none()) => {
                let counter = self.value(self.source.var);
                let begun = Expr::binary(BinaryOp::Ge, counter, begin.first.clone());
                Expr::binary(BinaryOp::LogicalAnd, begun, ended)
            }
            _ => ended,
        }
    }
}

/// One of a thread's iterations of a tiled loop.
#[derive(Clone, Copy)]
pub(crate) struct Replica {
    /// Variable: its number among the thread's; or, with `at`, that of the first of its group.
    pub var: VarId,
    /// Its place in the group.
    pub at: Option<u32>,
}

impl Tile {
    /// The ends of rows are treated apart where the iterations of a thread come in groups.
    fn ends_apart(&self) -> bool {
        self.begin.is_some() && self.width > 1
    }

    /// The conditions under which all iterations of a block exist, or one of each group where the ends of rows are
    /// treated apart.
    pub(crate) fn whole_block(&self) -> Vec<Expr> {
        let ty = Type::Scalar(self.ty);
        let (left, extent) = (self.value(self.place.left), self.extent.clone().cast(ty));
        if self.ends_apart() {
            let before_last = offset(extent, -i64::from(self.width));
            return vec![Expr::binary(BinaryOp::Gt, left, before_last)];
        }
        let begun = self.begin.as_ref().map(|begin| {
            Expr::binary(BinaryOp::Ge, self.value(self.place.first), begin.first.clone())
        });
        let ended = Expr::binary(BinaryOp::Ge, left, extent);
        begun.into_iter().chain([ended]).collect()
    }

    /// The loop in such a block.
    pub(crate) fn in_whole_block(&self) -> Tile {
        match self.ends_apart() {
            true => Tile { groups: true, ..self.clone() },
            false => Tile { filled: true, begin: None, ..self.clone() },
        }
    }
}

impl Replica {
    /// The iteration's number among the thread's.
    pub fn number(&self) -> Expr {
        offset(Expr::var(self.var, Type::I32), self.at.unwrap_or(0).into())
    }
}
