//! Where a thread has the elements of its columns.

use std::collections::BTreeMap;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Block, Expr, Origin, Place, PlaceKind, Scalar, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::text::Maker;
use super::{LegalKeepSums, Row, parts};
use crate::analysis::access::Scope;
use crate::build::arithmetic::{plus, times};
use crate::build::stmts::element_of;
use crate::kernel::Kernel;
use crate::rewrite::edit::{copy, runs};
use crate::rewrite::keep_rows;
use crate::rewrite::keep_rows::elements;
use crate::walk::with_loop;

/// Where a thread has elements side by side.
pub(super) struct Home {
    pub row: Row,
    pub var: VarId,
    /// The number of the first element of all threads.
    pub first: VarId,
    /// It is the same for all rows.
    pub steady: bool,
}

/// The variables that hold what a thread's columns read and write.
pub(super) fn homes(kernel: &mut Kernel, legal: &LegalKeepSums<'_>) -> Vec<Home> {
    let shape = legal.shape;
    let mut homes = vec![];
    for row in &legal.rows {
        let at_start = row.rest.to_expr(Scalar::I64, &|v| runs::scalar_of(legal.kernel, v));
        let steady = row.stored.is_none() && legal.kernel.known_at_start(&at_start);
        let count = if steady { shape.vector } else { shape.vector * shape.group };
        let name = kernel.name_of(row.array).to_string();
        let var = elements(kernel, (format!("{name}_own"), row.element), count, shape.vector);
        let mut first = Var::new(format!("{name}_first"), Type::I64, VarKind::Local);
        first.constant = true;
        let first = kernel.func_mut().add_var(first);
        homes.push(Home { row: row.clone(), var, first, steady });
    }
    homes
}

impl Maker<'_, '_> {
    /// The nest with the thread's own sums and elements in the inner loop.
    pub(super) fn with_own(&self) -> Stmt {
        let source = self.legal.kernel;
        let function = self.kernel.func();
        let mut block = Block::new(vec![self.old.clone()]);
        let place = |v: VarId, at: Expr| element_of(function, v, at);
        let columns: Vec<Place> =
            self.columns.iter().map(|v| place(*v, self.lane_number())).collect();
        let scope = Scope::new(
            &source.module,
            source.func(),
            source.loops_around(self.legal.root),
            self.legal.outer,
        );
        let mut to_home = ToHome { scope: &scope, maker: self };
        with_loop(&mut block, self.legal.inner.id, &mut |s| {
            if let StmtKind::For(l) = &mut s.kind {
                to_home.block(&mut l.body);
                parts::add_to(&mut l.body, &self.legal.parts.columns, &columns);
                for (sum, own) in self.legal.parts.sums.iter().zip(&self.sums) {
                    let var = Place::var(sum.var, Type::Scalar(sum.scalar));
                    let own = place(*own, self.of_group_number());
                    copy::replace_place(&mut l.body, &var, &own);
                }
            }
        });
        block.stmts.remove(0)
    }

    /// The number of the element of the first column.
    pub(super) fn first_of(&self, home: &Home, names: &BTreeMap<VarId, VarId>) -> Expr {
        let rest = home.row.rest.rename(&|v| names.get(&v).copied().unwrap_or(v));
        let first = Poly::from_expr(&self.legal.inner.first).and_then(|f| f.add(&rest));
        let scalar = |v: VarId| runs::scalar_of(self.kernel, v);
        first.unwrap_or(rest).to_expr(Scalar::I64, &scalar)
    }

    /// Loads or stores the elements of a thread's columns.
    pub(super) fn moved(&self, home: &Home, load: bool) -> Vec<Stmt> {
        let array = home.row.array;
        let pointer = Expr::var(array, self.kernel.func().var(array).ty.clone());
        let memory = |k: u32| {
            let column = self.number(self.column).cast(Type::I64);
            let first = plus(Expr::var(home.first, Type::I64), column);
            let index = vec![plus(first, Expr::int(Scalar::I64, k.into()))];
            let kind = PlaceKind::Elem { pointer: pointer.clone(), index, dims: vec![] };
            Place::new(kind, Type::Scalar(home.row.element), Origin::default())
        };
        let own = |k: u32| {
            element_of(self.kernel.func(), home.var, self.slot_of(home, Expr::i32(k as i32)))
        };
        let elements = (home.row.element, self.legal.shape.vector);
        runs::moved(elements, (load, load && home.row.stored.is_none()), memory, own)
    }

    /// Where a thread has the element of one of its columns, in the row that it is at.
    pub(super) fn slot_of(&self, home: &Home, column: Expr) -> Expr {
        if home.steady || self.legal.shape.group == 1 {
            return column;
        }
        let row = times(self.number(self.counters.at), Expr::i32(self.legal.shape.vector as i32));
        plus(row, column)
    }
}

/// Puts the thread's elements in place of those of arrays.
struct ToHome<'a> {
    scope: &'a Scope<'a>,
    maker: &'a Maker<'a, 'a>,
}

impl Rewriter for ToHome<'_> {
    fn place(&mut self, place: &mut Place) {
        let maker = self.maker;
        let own = keep_rows::own_element(self.scope, place, maker.legal.inner.var);
        let home = own.and_then(|own| {
            maker
                .homes
                .iter()
                .find(|h| h.row.array == own.array && h.row.is_at(&own.rest, own.back))
        });
        match home {
            Some(home) => {
                let slot = maker.slot_of(home, maker.lane_number());
                *place = element_of(maker.kernel.func(), home.var, slot);
            }
            None => visit::rewrite_place(self, place),
        }
    }
}
