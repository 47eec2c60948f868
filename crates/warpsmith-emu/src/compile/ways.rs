//! Instructions that take down where threads go, see [`crate::Options::ways`].

use warpsmith_ir::{BinaryOp, Block, Builtin, Expr, ExprKind, Scalar, Span, Turn, visit};

use super::lir::{Divide, Op, Opd};
use super::lower::{Lower, Result};

/// What a loop has that goes on in strides of the whole grid: a register that holds whether its first round is over.
#[derive(Clone, Copy)]
pub(super) struct Strides {
    pub span: Option<Span>,
    over: Option<Opd>,
}

impl Strides {
    pub fn register(self) -> Option<u32> {
        match self.over {
            Some(Opd::R(r)) => Some(r),
            _ => None,
        }
    }
}

impl Lower<'_> {
    /// Takes down whether the condition holds, where anybody wants to know.
    pub(super) fn decide(&mut self, span: Option<Span>, cond: Opd) -> Result<()> {
        self.divide(span, cond, None)
    }

    /// Takes down that threads come to a case of a `switch`, or past all of them.
    pub(super) fn comes_to(&mut self, span: Option<Span>) -> Result<()> {
        self.divide(span, Opd::K(1), Some(Turn::Case))
    }

    fn divide(&mut self, span: Option<Span>, cond: Opd, only: Option<Turn>) -> Result<()> {
        let Some(span) = span.filter(|_| self.ways) else { return Ok(()) };
        let place = Divide { span, only };
        let next = self.out.divides.len() as u32;
        let divide = *self.divides.entry(place).or_insert(next);
        if divide == next {
            self.out.divides.push(place);
        }
        self.emit(Op::Decide { cond, divide })
    }

    /// Before a loop.
    pub(super) fn strides(&mut self, span: Option<Span>, by_the_grid: bool) -> Result<Strides> {
        if !by_the_grid || !self.ways {
            return Ok(Strides { span, over: None });
        }
        let over = self.register(Scalar::Bool);
        self.assign(Scalar::Bool, over, Opd::K(0))?;
        Ok(Strides { span, over: Some(over) })
    }

    /// At its condition.
    pub(super) fn decide_again(&mut self, strides: Strides, goes_on: Opd) -> Result<()> {
        let Some(over) = strides.over else { return Ok(()) };
        let again = self.bin(BinaryOp::BitAnd, Scalar::Bool, over, goes_on)?;
        self.divide(strides.span, again, Some(Turn::Again))
    }

    /// At the end of a round.
    pub(super) fn stride_ends(&mut self, strides: Strides) -> Result<()> {
        match strides.over {
            Some(over) => self.assign(Scalar::Bool, over, Opd::K(1)),
            None => Ok(()),
        }
    }
}

/// Whether a step depends on how many blocks there are.
pub(super) fn goes_by_the_grid(step: &Expr) -> bool {
    let mut found = false;
    visit::for_each_subexpr(step, &mut |e| found |= is_grid(e));
    found
}

/// Whether the statements that end a round have such a step.
pub(super) fn steps_by_the_grid(step: &Block) -> bool {
    let mut found = false;
    visit::for_each_expr(step, &mut |e| found |= is_grid(e));
    found
}

fn is_grid(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Builtin(Builtin::GridDim(_)))
}
