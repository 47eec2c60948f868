//! The groups of elements that a thread has of a row: all of them unrolled, or those of one strip after the other.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, LoopKind, Origin, Scalar, Stmt, StmtKind, Type, VarId,
};

use super::text::{Maker, local, when};
use crate::build::{counters, stmts, trips};

impl Maker<'_, '_> {
    /// `for each group of the thread's elements { element = …; if it exists { body } }`
    pub(super) fn groups(
        &mut self,
        group: VarId,
        body: impl FnOnce(&mut Self, &Expr) -> Vec<Stmt>,
    ) -> Stmt {
        self.each_group(group, |own, element| {
            let body = body(own, element);
            vec![own.where_inside(element, body)]
        })
    }

    /// `if (the row and its element exist) { stmts }`
    pub(super) fn where_inside(&self, element: &Expr, stmts: Vec<Stmt>) -> Stmt {
        let inside = (!self.has_whole_strips()).then(|| self.inside(element));
        when(self.exists().into_iter().chain(inside), stmts)
    }

    /// Every strip of a row has all its elements, whatever the sizes are.
    fn has_whole_strips(&self) -> bool {
        let shape = self.legal.shape;
        let strip = i128::from(shape.threads) * i128::from(shape.each);
        let length = trips::sum_if_it_runs(&self.range).and_then(|n| n.as_constant());
        self.legal.strips && length.is_some_and(|n| n % strip == 0)
    }

    /// `for each group of the thread's elements { element = …; body }`, for those that do not exist, too.
    pub(super) fn each_group(
        &mut self,
        group: VarId,
        body: impl FnOnce(&mut Self, &Expr) -> Vec<Stmt>,
    ) -> Stmt {
        let shape = self.legal.shape;
        // Rows that go by in strips have any length.
        let ty = if self.legal.strips { Type::I64 } else { Type::I32 };
        let element = local(self.kernel, "element", ty.clone());
        let groups = shape.each / shape.vector;
        let vector = Expr::i32(shape.vector as i32);
        let thread = Expr::var(self.thread, Type::I32);
        let counter = Expr::var(group, ty.clone());
        let number = match self.legal.strips {
            true => {
                let own = counters::times(thread, &vector).cast(Type::I64);
                Expr::binary(BinaryOp::Add, counter, own)
            }
            false if groups > 1 => {
                let before = Expr::binary(BinaryOp::Mul, counter, self.threads.clone());
                counters::times(Expr::binary(BinaryOp::Add, before, thread), &vector)
            }
            false => counters::times(thread, &vector),
        };
        let at = Expr::var(element, ty);
        let mut stmts = vec![stmts::declare(element, number)];
        stmts.extend(body(self, &at));
        match groups {
            _ if self.legal.strips => self.strips(group, stmts),
            1 => Stmt::new(StmtKind::Scope(Block::new(stmts)), Origin::default()),
            _ => stmts::unrolled(self.kernel.func_mut(), group, groups, stmts),
        }
    }

    /// `for (strip = 0; strip < elements; strip += elements that the threads have together) body`
    fn strips(&mut self, strip: VarId, body: Vec<Stmt>) -> Stmt {
        let (_, limit) = self.row_limit();
        let kind = LoopKind::Serial;
        let l = stmts::counted(self.kernel.func_mut(), strip, limit.cast(Type::I64), kind, body);
        let vector = Expr::i32(self.legal.shape.vector as i32);
        let step = counters::times(self.threads.clone(), &vector).cast(Type::I64);
        let (first, compare) = (Expr::int(Scalar::I64, 0), self.range.compare);
        stmts::looped(ForLoop { first, compare, step, ..l })
    }

    /// The row has an element of this number.
    fn inside(&self, number: &Expr) -> Expr {
        let (ty, limit) = self.row_limit();
        let ty = if self.legal.strips { Type::I64 } else { ty };
        Expr::binary(self.range.compare, number.clone().cast(ty.clone()), limit.cast(ty))
    }

    /// What numbers of elements are compared with.
    fn row_limit(&self) -> (Type, Expr) {
        match self.length {
            Some(length) => (Type::I64, Expr::var(length, Type::I64)),
            None => self.row_end(),
        }
    }

    /// The end of a row, counted from its first element.
    pub(super) fn row_end(&self) -> (Type, Expr) {
        let l = &self.range;
        match l.first.as_const().is_some_and(|v| v.as_i64() == 0) {
            true => (l.limit.ty.clone(), l.limit.clone()),
            false => {
                let wide = |e: &Expr| e.clone().cast(Type::I64);
                (Type::I64, Expr::binary(BinaryOp::Sub, wide(&l.limit), wide(&l.first)))
            }
        }
    }
}
