//! A plane of the second nest's iterations, and what it stores.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, Origin, Place, Scalar, Space, Stmt, StmtKind, Type, Value,
    VarId,
};

use super::super::text::{ITSELF, Maker};
use super::super::{LegalFuseKernels, pair};
use super::compute;
use super::counters::Counters;
use super::parts::Parts;
use super::step::{Results, Step};
use crate::build::arithmetic::offset;
use crate::build::conditions::{all_of, select};
use crate::build::stmts::{element_at, set, undefined, when};
use crate::walk;

/// The element of an array that the second nest stores to as its last statement, at its counters but for constants.
pub(super) fn stored_last(
    legal: &LegalFuseKernels<'_>,
    second: &Stmt,
) -> Option<(Place, Vec<i64>)> {
    let sweep = &legal.pair.second;
    let mut loops = vec![];
    let mut stmt = second;
    while let StmtKind::For(l) = &stmt.kind
        && loops.len() < sweep.loops.len()
    {
        loops.push(l);
        stmt = l.body.stmts.last()?;
    }
    let StmtKind::Assign { place, .. } = &stmt.kind else { return None };
    let mut stores = 0;
    walk::each_stmt(&loops.last()?.body, &mut |s| {
        stores += usize::from(walk::changed(s).is_some_and(|p| p.root_var().is_none()));
    });
    let scope = pair::scope(legal.kernel, sweep);
    let distances = pair::distances(&scope, place, &sweep.loops)?;
    let whole = distances.len() == sweep.loops.len() && place.ty.scalar().is_some();
    (stores == 1 && whole && compute::in_memory(place)).then(|| (place.clone(), distances))
}

impl Maker<'_, '_> {
    /// Declares what results are collected in; with `freely` those of all elements are computed, in an iteration or not.
    pub(super) fn results(
        &mut self,
        stored: Option<(Place, Vec<i64>)>,
        (stores, freely): (&Parts, bool),
        inner: &super::Ring,
        text: &mut Vec<Stmt>,
    ) -> Option<Results> {
        let (place, distances) = stored?;
        let width = self.legal.shape.each(0);
        let last = distances.last().copied().unwrap_or(0);
        let vectors = self.vectors && width > 1 && last.rem_euclid(width.into()) == 0;
        let back = -self.legal.pair.behind();
        let held = distances.iter().all(|n| *n == 0) && inner.reads.along(0).low <= back;
        let turned = self.legal.turns.as_ref().is_some_and(|turns| turns.array == inner.array);
        let kept = (freely && vectors && held && turned).then(|| {
            let asked = |maker: &Maker<'_, '_>, axis: usize, at: Expr| match axis {
                0 => maker.in_range(&maker.legal.pair.second, 0, at, ITSELF).into(),
                _ => vec![],
            };
            Parts::ask(self, "finishes", &asked, text)
        });
        let ends = [Expr::i32(0), Expr::i32(width as i32 - 1)];
        let whole = match &kept {
            None => {
                let conditions = ends.map(|c| stores.along(self, 0, c));
                all_of(conditions.into_iter().flatten())
            }
            Some(_) => {
                let extents = self.extents(inner.array);
                let [first, last] = ends;
                let mut conditions = self.inside(0, first.clone(), self.legal.border(0));
                let (low, high) = (self.position(0, first), self.position(0, last));
                let row = extents.last().cloned().unwrap_or(Expr::i32(0)).cast(Type::I64);
                let zero = Expr::int(Scalar::I64, 0);
                conditions.push(Expr::binary(BinaryOp::Ge, low, zero));
                conditions.push(Expr::binary(BinaryOp::Lt, high, row));
                all_of(conditions)
            }
        };
        let whole = whole.unwrap_or_else(|| Expr::constant(Value::bool(true)));
        let whole = self.constant("whole", whole, text);
        let axes = 0..self.across.len();
        let ty = axes
            .fold(place.ty.clone(), |ty, axis| Type::array(ty, self.legal.shape.each(axis).into()));
        Some(Results { var: self.row_variable("result", ty), vectors, whole, kept })
    }

    /// Which elements of the second nest the thread has.
    pub(super) fn storing(&mut self, text: &mut Vec<Stmt>) -> Parts {
        let asked = |maker: &Maker<'_, '_>, axis: usize, at: Expr| {
            let inside = maker.inside(axis, at.clone(), maker.legal.border(axis)).into_iter();
            inside.chain(maker.in_range(&maker.legal.pair.second, axis, at, ITSELF)).collect()
        };
        Parts::ask(self, "stores", &asked, text)
    }

    /// The second nest's iterations, planes behind.
    pub(super) fn finished(
        &mut self,
        step: &Step<'_>,
        mut nest: Stmt,
        finishes: [VarId; 2],
    ) -> Vec<Stmt> {
        let late = step.input.newest + self.legal.pair.behind();
        let plane = offset(self.number(self.plane), -late);
        let counters = Counters::new(self);
        let at = counters.at.clone();
        step.between.replace(self, &mut nest, &at);
        let loops = self.loops_of(&nest);
        let mut body = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        let stored = self.collect(step, &mut body, &at);
        let mut iteration = self.at_element(&loops, body, plane.clone(), &at);
        if !step.finishes_freely
            && let Some(cond) = step.stores.of(self, &at)
        {
            iteration = vec![when(cond, iteration)];
        }
        let results = step.results.as_ref();
        let mut stmts: Vec<Stmt> = results.map(|r| undefined(r.var)).into_iter().collect();
        stmts.extend(step.between.fill(self));
        stmts.extend(counters.around(self, iteration));
        if let (Some(results), Some(place)) = (results, stored) {
            stmts.extend(self.stored_rows(step, results, (&loops, place), plane));
        }
        vec![when(self.is_at(finishes), stmts).comment("the second nest")]
    }

    /// Lets the last statement set the result of an element instead of what it stores to, which is given back.
    fn collect(&self, step: &Step<'_>, body: &mut Block, at: &[Expr]) -> Option<Place> {
        let results = step.results.as_ref()?;
        let StmtKind::Assign { place, value } = &mut body.stmts.last_mut()?.kind else {
            return None;
        };
        let inside = results.kept.as_ref().and_then(|parts| parts.of(self, at));
        if let Some(inside) = inside {
            let kept = step.input.own_at(self, -self.legal.pair.behind(), at);
            *value = select(inside, value.clone(), Expr::read(kept));
        }
        let own = element_at(self.kernel.func(), results.var, at.iter().cloned());
        Some(std::mem::replace(place, own))
    }

    /// Stores results: rows as vectors where all of their elements are the tile's.
    fn stored_rows(
        &mut self,
        step: &Step<'_>,
        results: &Results,
        (loops, place): (&[ForLoop], Place),
        plane: Expr,
    ) -> Vec<Stmt> {
        if !results.vectors {
            return self.rows_stored(step, &mut |this, row| {
                this.elements_stored(step, results, (loops, &place), row, &plane)
            });
        }
        self.rows_stored(step, &mut |this, row| {
            let at = [row.to_vec(), vec![Expr::i32(0)]].concat();
            let own = element_at(this.kernel.func(), results.var, at.iter().cloned());
            let vector = this.row_moved((place.clone(), Space::Global), (own, Space::Local));
            let vector = this.at_element(loops, Block::new(vec![vector]), plane.clone(), &at);
            let whole = Expr::var(results.whole, Type::BOOL);
            if results.kept.is_some() {
                return vec![when(whole, vector)];
            }
            let each = this.elements_stored(step, results, (loops, &place), row, &plane);
            let (then, otherwise) = (Block::new(vector), Block::new(each));
            let kind = StmtKind::If { cond: whole, then, otherwise };
            vec![Stmt::new(kind, Origin::default())]
        })
    }

    fn rows_stored(
        &mut self,
        step: &Step<'_>,
        stored: &mut dyn FnMut(&mut Self, &[Expr]) -> Vec<Stmt>,
    ) -> Vec<Stmt> {
        let rows = Counters::of_rows(self);
        let mut body = stored(self, &rows.at);
        let in_rows = rows.at.first().and_then(|r| step.stores.along(self, 1, r.clone()));
        if let Some(cond) = in_rows {
            body = vec![when(cond, body)];
        }
        rows.around(self, body)
    }

    fn elements_stored(
        &mut self,
        step: &Step<'_>,
        results: &Results,
        (loops, place): (&[ForLoop], &Place),
        row: &[Expr],
        plane: &Expr,
    ) -> Vec<Stmt> {
        let counters = Counters::along(self, 0);
        let at = [row.to_vec(), counters.at.clone()].concat();
        let own = element_at(self.kernel.func(), results.var, at.iter().cloned());
        let store = Block::new(vec![set(place.clone(), Expr::read(own))]);
        let mut store = self.at_element(loops, store, plane.clone(), &at);
        if let Some(cond) = step.stores.along(self, 0, counters.at[0].clone()) {
            store = vec![when(cond, store)];
        }
        counters.around(self, store)
    }
}
