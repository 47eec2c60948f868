//! Which of a thread's rows and columns something holds for: asked once, before the planes.

use warpsmith_ir::{BinaryOp, Expr, Stmt, Type, Var, VarId, VarKind};

use super::super::pair::{Sweep, Window};
use super::super::text::Maker;
use super::counters::Counters;
use crate::build::arithmetic::plus;
use crate::build::conditions::all_of;
use crate::build::stmts::{declare, element_of, set, undefined};

/// Truths for each of a thread's places along each axis, the innermost loop's first; `None`: it holds for all.
pub(super) struct Parts(Vec<Option<VarId>>);

/// A condition on a place of the thread along an axis.
pub(super) type Asked<'a> = &'a dyn Fn(&Maker<'_, '_>, usize, Expr) -> Vec<Expr>;

impl Parts {
    /// Declares them.
    pub fn ask(
        maker: &mut Maker<'_, '_>,
        name: &str,
        asked: Asked<'_>,
        text: &mut Vec<Stmt>,
    ) -> Parts {
        let names = ["column", "row"];
        let mut parts = vec![];
        for (axis, of) in names.iter().enumerate().take(maker.across.len()) {
            let counters = Counters::along(maker, axis);
            let at = counters.at[0].clone();
            let Some(holds) = all_of(asked(maker, axis, at.clone())) else {
                parts.push(None);
                continue;
            };
            let ty = Type::array(Type::BOOL, maker.legal.shape.each(axis).into());
            let var = Var::new(format!("{name}_{of}"), ty, VarKind::Local);
            let var = maker.kernel.func_mut().add_var(var);
            text.push(undefined(var));
            let place = element_of(maker.kernel.func(), var, at);
            text.extend(counters.around(maker, vec![set(place, holds)]));
            parts.push(Some(var));
        }
        Parts(parts)
    }

    /// It holds for the thread's place along an axis.
    pub fn along(&self, maker: &Maker<'_, '_>, axis: usize, at: Expr) -> Option<Expr> {
        self.0[axis].map(|var| Expr::read(element_of(maker.kernel.func(), var, at)))
    }

    /// It holds for an element of the thread, whose places are given outermost first.
    pub fn of(&self, maker: &Maker<'_, '_>, at: &[Expr]) -> Option<Expr> {
        let axes = (0..self.0.len()).rev().zip(at);
        all_of(axes.filter_map(|(axis, at)| self.along(maker, axis, at.clone())))
    }
}

impl Maker<'_, '_> {
    /// The iteration at a place of the thread along an axis, in 64 bits.
    pub(super) fn position(&self, axis: usize, at: Expr) -> Expr {
        plus(self.number(self.across[axis].at).cast(Type::I64), at.cast(Type::I64))
    }

    /// A place of the thread lies in the range of a nest along an axis, made larger by a window.
    pub(super) fn in_range(
        &self,
        sweep: &Sweep,
        axis: usize,
        at: Expr,
        window: Window,
    ) -> [Expr; 2] {
        let depth = self.legal.pair.rank() - 1 - axis;
        self.within(&sweep.loops[depth], self.position(axis, at), window)
    }

    /// A place of the thread is none of such a border of the tile.
    pub(super) fn inside(&self, axis: usize, at: Expr, border: Window) -> Vec<Expr> {
        let place = self.of_tile(axis, at);
        let last = i64::from(self.legal.extent(axis)) - border.high;
        let low = Expr::i32(-border.low as i32);
        let first = Expr::binary(BinaryOp::Ge, place.clone(), low);
        let last = Expr::binary(BinaryOp::Lt, place, Expr::i32(last as i32));
        let wanted = [(border.low != 0, first), (border.high != 0, last)];
        wanted.into_iter().filter(|(wanted, _)| *wanted).map(|(_, e)| e).collect()
    }

    /// A variable of a thread that keeps its value.
    pub(super) fn constant(&mut self, name: &str, value: Expr, text: &mut Vec<Stmt>) -> VarId {
        let mut var = Var::new(name, value.ty.clone(), VarKind::Local);
        var.constant = true;
        let var = self.kernel.func_mut().add_var(var);
        text.push(declare(var, value));
        var
    }
}
