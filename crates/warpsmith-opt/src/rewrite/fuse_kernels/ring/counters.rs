//! Loops over a thread's elements of a plane.

use warpsmith_ir::{Expr, Stmt, Type, VarId};

use super::super::text::Maker;
use crate::build::stmts;

/// Loops over a thread's elements of a plane, or over its rows.
pub(super) struct Counters {
    /// Outermost first.
    pub at: Vec<Expr>,
    loops: Vec<(VarId, u32)>,
}

impl Counters {
    /// Over all elements.
    pub fn new(maker: &mut Maker<'_, '_>) -> Counters {
        let axes = 0..maker.across.len();
        Counters::of(maker, axes.rev().collect())
    }

    /// Over rows.
    pub fn of_rows(maker: &mut Maker<'_, '_>) -> Counters {
        let axes = 1..maker.across.len();
        Counters::of(maker, axes.rev().collect())
    }

    /// Over places along an axis.
    pub fn along(maker: &mut Maker<'_, '_>, axis: usize) -> Counters {
        Counters::of(maker, vec![axis])
    }

    fn of(maker: &mut Maker<'_, '_>, axes: Vec<usize>) -> Counters {
        let names = ["c", "r"];
        let var = |axis: usize| {
            let name = names[axis.min(1)];
            (stmts::local(maker.kernel.func_mut(), name, Type::I32), maker.legal.shape.each(axis))
        };
        let loops: Vec<(VarId, u32)> = axes.into_iter().map(var).collect();
        let at = loops.iter().map(|(var, n)| match n {
            1 => Expr::i32(0),
            _ => Expr::var(*var, Type::I32),
        });
        Counters { at: at.collect(), loops }
    }

    /// The statements for each of them.
    pub fn around(self, maker: &mut Maker<'_, '_>, body: Vec<Stmt>) -> Vec<Stmt> {
        self.loops.into_iter().rev().filter(|(_, n)| *n != 1).fold(body, |body, (var, n)| {
            vec![stmts::unrolled(maker.kernel.func_mut(), var, n, body)]
        })
    }
}
