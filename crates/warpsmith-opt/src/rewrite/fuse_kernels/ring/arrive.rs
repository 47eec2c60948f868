//! Planes of what the first nest reads, copied ahead of the step that needs them.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, MathFn, Origin, Place, PlaceKind, Scalar, Space, Stmt,
    StmtKind, Type, VarId,
};

use super::super::text::Maker;
use super::counters::Counters;
use super::step::{Source, Step};
use crate::build::arithmetic::{offset, plus, times};
use crate::build::stmts::{element_at, element_of, set, undefined, when};
use crate::build::vectors;

/// A number moved into a range from 0 on.
fn clamped(e: Expr, last: Expr) -> Expr {
    let ty = e.ty.clone();
    let call = |f, a: Expr, b: Expr| {
        Expr::new(ExprKind::Call(f, vec![a, b]), ty.clone(), Origin::default())
    };
    let zero = Expr::int(e.ty.scalar().unwrap_or(Scalar::I64), 0);
    call(MathFn::Min, call(MathFn::Max, e, zero), last)
}

impl Maker<'_, '_> {
    /// Declares where a thread's vectors of an array come from. What lies outside of the array is in the place of nothing that is
    /// used.
    pub(super) fn source(&mut self, array: VarId, text: &mut Vec<Stmt>) -> Source {
        let ty = self.legal.place_type();
        let extents = self.extents(array).into_iter().map(|e| e.cast(ty.clone()));
        let extents: Vec<Expr> = extents.rev().collect();
        let last = offset(extents[0].clone(), -i64::from(self.legal.shape.each(0)));
        let column = clamped(self.number(self.across[0].at), last);
        let column = self.constant("from_column", column, text);
        if self.across.len() < 2 {
            return Source { column, rows: None };
        }
        let count = self.legal.shape.each(1);
        let rows = Type::array(ty.clone(), count.into());
        let rows = crate::build::stmts::local(self.kernel.func_mut(), "from_row", rows);
        text.push(undefined(rows));
        let counters = Counters::along(self, 1);
        let y = plus(self.number(self.across[1].at), counters.at[0].clone().cast(ty));
        let row = times(clamped(y, offset(extents[1].clone(), -1)), extents[0].clone());
        let place = element_of(self.kernel.func(), rows, counters.at[0].clone());
        text.extend(counters.around(self, vec![set(place, row)]));
        Source { column, rows: Some(rows) }
    }

    pub(super) fn extents(&self, array: VarId) -> Vec<Expr> {
        self.kernel.func().var(array).shape.clone().unwrap_or_default()
    }

    /// Lets the thread's part of the plane of a step be copied; `most` steps more than the block has planes need one.
    pub(super) fn arriving(&mut self, step: &Step<'_>, of: Expr, most: i64) -> Vec<Stmt> {
        let wide = |e: &Expr| e.clone().cast(Type::I64);
        let extents = self.extents(step.input.array);
        let elements = extents[1..].iter().map(wide).reduce(times);
        let plane = plus(self.number(self.begin), wide(&of));
        let first = clamped(plane, offset(wide(&extents[0]), -1));
        let first = elements.into_iter().fold(first, times);
        let mut copies = vec![];
        let next = self.constant("next", first, &mut copies);
        let rows = Counters::of_rows(self);
        let body = self.row_arriving(step, next, &rows.at, &of);
        copies.extend(rows.around(self, body));
        // A block has a plane at least.
        let always = of.as_const().is_some_and(|n| n.as_i64() <= most);
        let needed = Expr::binary(BinaryOp::Lt, of, offset(self.grid.planes.clone(), most));
        let copies = match always {
            true => Stmt::new(StmtKind::Scope(Block::new(copies)), Origin::default()),
            false => when(needed, copies),
        };
        vec![copies, Stmt::new(StmtKind::AsyncCommit, Origin::default())]
    }

    /// The same of a row: in one vector, or element by element.
    fn row_arriving(
        &mut self,
        step: &Step<'_>,
        next: VarId,
        rows: &[Expr],
        of: &Expr,
    ) -> Vec<Stmt> {
        let (array, source) = (step.input.array, &step.source);
        let pointer = Expr::var(array, self.kernel.func().var(array).ty.clone());
        let element = Type::Scalar(step.ring.element);
        let row = match source.rows {
            Some(var) => {
                let place = element_of(self.kernel.func(), var, rows[0].clone());
                plus(self.number(next), Expr::read(place).cast(Type::I64))
            }
            None => self.number(next),
        };
        let from = |column: Expr| {
            let index = vec![plus(row.clone(), column.cast(Type::I64))];
            let kind = PlaceKind::Elem { pointer: pointer.clone(), index, dims: vec![] };
            Place::new(kind, element.clone(), Origin::default())
        };
        let Some((planes, slots)) = step.input.shared else { return vec![] };
        let slot = Expr::binary(BinaryOp::Rem, of.clone(), self.steps(slots.into()));
        let target = |this: &Self, column: Expr| {
            let of_tile = rows.iter().map(|r| this.of_tile(1, r.clone()));
            let column = offset(this.of_tile(0, column), step.input.shift);
            let index = [slot.clone()].into_iter().chain(of_tile).chain([column]);
            element_at(this.kernel.func(), planes, index)
        };
        let bytes = step.ring.element.bytes();
        let copied = |to: Place, from: Place, elements: u32| {
            let kind = StmtKind::AsyncCopy {
                destination: vectors::address(to, Space::Shared, false),
                source: vectors::address(from, Space::Global, true),
                bytes: Expr::i32((elements * bytes) as i32),
                zero_fill: None,
            };
            Stmt::new(kind, Origin::default())
        };
        if self.vectors {
            let whole = from(self.number(source.column));
            return vec![copied(target(self, Expr::i32(0)), whole, self.legal.shape.each(0))];
        }
        let of_row = Counters::along(self, 0);
        let c = of_row.at[0].clone();
        let columns = self.extents(array).last().cloned().unwrap_or_else(|| Expr::i32(1));
        let x = clamped(self.position(0, c.clone()), offset(columns.cast(Type::I64), -1));
        of_row.around(self, vec![copied(target(self, c), from(x), 1)])
    }
}
