//! A plane of what the first nest computes.

use warpsmith_ir::{BinaryOp, Expr, Place, PlaceKind, Scalar, Space, Stmt, StmtKind, Type, VarId};

use super::super::text::{ITSELF, Maker};
use super::counters::Counters;
use super::parts::Parts;
use super::step::{Left, Step};
use crate::build::arithmetic::{offset, plus, times};
use crate::build::conditions::{all_of, select};
use crate::build::stmts::{self, set, when};
use crate::rewrite::edit::copy;

fn bit(at: &[Expr], each: [u32; 3]) -> Expr {
    let number = at
        .iter()
        .cloned()
        .reduce(|rows, column| plus(times(rows, Expr::i32(each[0] as i32)), column));
    number.unwrap_or_else(|| Expr::i32(0))
}

impl Maker<'_, '_> {
    /// Declares which elements come from memory; `None` where the first nest computes all that is read.
    pub(super) fn left(&mut self, text: &mut Vec<Stmt>) -> Option<Left> {
        if self.covers() {
            return None;
        }
        let beside = self.bits("left", true, text);
        let all = self.bits("all", false, text);
        let now = stmts::local(self.kernel.func_mut(), "from_memory", Type::U32);
        Some(Left { beside, all, now })
    }

    /// A bit for each element of the thread that the second nest reads, with `beside` those alone that lie beside the first nest's.
    fn bits(&mut self, name: &str, beside: bool, text: &mut Vec<Stmt>) -> VarId {
        let pair = &self.legal.pair;
        let counters = Counters::new(self);
        let at = counters.at.clone();
        let axes = || (0..self.across.len()).rev().zip(at.clone());
        let depth = |axis| pair.rank() - 1 - axis;
        let mut conditions: Vec<Expr> = axes()
            .flat_map(|(axis, at)| {
                self.in_range(&pair.second, axis, at, pair.reads.read_along(depth(axis)))
            })
            .collect();
        let own = axes().flat_map(|(axis, at)| self.in_range(&pair.first, axis, at, ITSELF));
        conditions.extend(all_of(own).filter(|_| beside).map(not));
        let var = stmts::local(self.kernel.func_mut(), name, Type::U32);
        let one = Expr::int(Scalar::U32, 1);
        let own = Expr::binary(BinaryOp::Shl, one, bit(&at, self.legal.shape.elements()));
        let place = Place::var(var, Type::U32);
        let with = Expr::binary(BinaryOp::BitOr, Expr::var(var, Type::U32), own);
        let mut body = vec![set(place, with)];
        if let Some(cond) = all_of(conditions) {
            body = vec![when(cond, body)];
        }
        text.push(stmts::declare(var, Expr::int(Scalar::U32, 0)));
        text.extend(counters.around(self, body));
        var
    }

    /// Loads what the first nest does not compute of a plane, before the step waits for others.
    pub(super) fn loaded(&mut self, step: &Step<'_>, computes: [VarId; 2], text: &mut Vec<Stmt>) {
        let Some(left) = &step.left else { return };
        let pair = &self.legal.pair;
        let plane = offset(self.number(self.plane), -step.input.newest);
        let bits = |var| Expr::var(var, Type::U32);
        let read = self.within(&pair.second.loops[0], plane.clone(), pair.reads.read_along(0));
        let own = all_of(self.within(&pair.first.loops[0], plane.clone(), ITSELF)).map(not);
        let none = || Expr::int(Scalar::U32, 0);
        let all = match all_of(read.into_iter().chain(own)) {
            Some(cond) => select(cond, bits(left.all), none()),
            None => bits(left.all),
        };
        let now = select(self.is_at(computes), bits(left.beside), all);
        text.push(stmts::declare(left.now, now));
        let counters = Counters::new(self);
        let at = counters.at.clone();
        let mut loads = vec![];
        let element = self.between_at(plane, &at, &mut loads);
        let newest = step.between.own_at(self, step.between.newest, &at);
        let load = set(newest, Expr::read(element));
        let load = when(self.is_left(left, &at), vec![load]);
        loads.extend(counters.around(self, vec![load]));
        let some = Expr::binary(BinaryOp::Ne, bits(left.now), none());
        let comment = "what the second nest reads beside what the first one computes";
        text.push(when(some, loads).comment(comment));
    }

    /// An element of the array between the nests, from the number of the thread's first one on.
    fn between_at(&mut self, plane: Expr, at: &[Expr], text: &mut Vec<Stmt>) -> Place {
        let pair = &self.legal.pair;
        let ty = self.legal.place_type();
        let first = (0..self.across.len()).rev().map(|axis| self.position(axis, Expr::i32(0)));
        let index = [plane].into_iter().chain(first).zip(&pair.stored_at);
        let index: Vec<Expr> = index.map(|(e, n)| offset(e, *n)).collect();
        let mut place = copy::element(self.kernel.func(), pair.array, index);
        if let PlaceKind::Elem { index, dims, .. } = &mut *place.kind {
            let dims = std::mem::take(dims);
            let wide = |e: Expr| e.cast(Type::I64);
            let mut digits = std::mem::take(index).into_iter();
            let number = digits.next().unwrap_or_else(|| Expr::i32(0));
            let number = digits.zip(&dims).fold(wide(number), |number, (digit, extent)| {
                plus(times(number, wide(extent.clone())), wide(digit))
            });
            let number = self.constant("first", number, text);
            let near = at.iter().zip(&dims[dims.len() + 1 - at.len()..]).map(|(at, extent)| {
                times(at.clone().cast(ty.clone()), extent.clone().cast(ty.clone()))
            });
            let near = near.chain(at.last().map(|c| c.clone().cast(ty.clone()))).reduce(plus);
            *index = vec![plus(self.number(number), wide(near.unwrap_or_else(|| Expr::i32(0))))];
        }
        place
    }

    fn is_left(&self, left: &Left, at: &[Expr]) -> Expr {
        let number = bit(at, self.legal.shape.elements());
        let down = Expr::binary(BinaryOp::Shr, Expr::var(left.now, Type::U32), number);
        let last = Expr::binary(BinaryOp::BitAnd, down, Expr::int(Scalar::U32, 1));
        Expr::binary(BinaryOp::Ne, last, Expr::int(Scalar::U32, 0))
    }

    /// A plane of what the first nest computes.
    pub(super) fn computed(
        &mut self,
        step: &Step<'_>,
        nest: &Stmt,
        computes: [VarId; 2],
    ) -> Vec<Stmt> {
        let plane = offset(self.number(self.plane), -step.input.newest);
        let counters = Counters::new(self);
        let at = counters.at.clone();
        let mut nest = nest.clone();
        step.input.replace(self, &mut nest, &at);
        let loops = self.loops_of(&nest);
        let mut body = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        let newest = step.between.own_at(self, step.between.newest, &at);
        for stmt in std::mem::take(&mut body.stmts) {
            match stmt.kind {
                StmtKind::Assign { place, mut value } if place.root_var().is_none() => {
                    if let Some(left) = step.left.as_ref().filter(|_| step.computes.is_none()) {
                        let held = Expr::read(newest.clone());
                        value = select(self.is_left(left, &at), held, value);
                    }
                    body.stmts.push(Stmt { origin: stmt.origin, ..set(newest.clone(), value) });
                    body.stmts.extend(self.kept(step, place, &newest, &at));
                }
                _ => body.stmts.push(stmt),
            }
        }
        let mut iteration = self.at_element(&loops, body, plane, &at);
        if let Some(cond) = step.computes.as_ref().and_then(|parts| parts.of(self, &at)) {
            iteration = vec![when(cond, iteration)];
        }
        let mut stmts = step.input.fill(self);
        stmts.extend(counters.around(self, iteration));
        let mut all = vec![when(self.is_at(computes), stmts).comment("the first nest")];
        all.extend(self.shared_row(step));
        all
    }

    /// What the thread has of the newest plane goes to shared memory.
    fn shared_row(&mut self, step: &Step<'_>) -> Vec<Stmt> {
        let rows = Counters::of_rows(self);
        let tile = rows.at.iter().map(|r| self.of_tile(1, r.clone()));
        let tile = tile.chain([self.of_tile(0, Expr::i32(0))]).collect();
        let newest = step.between.newest;
        let Some(to) = step.between.shared_at(self, newest, tile) else { return vec![] };
        let at = [rows.at.clone(), vec![Expr::i32(0)]].concat();
        let from = step.between.own_at(self, newest, &at);
        let store = self.row_moved((to, Space::Shared), (from, Space::Local));
        rows.around(self, vec![store])
    }

    /// The store of the first nest by the thread whose element it is, where somebody may read it later.
    fn kept(&self, step: &Step<'_>, place: Place, newest: &Place, at: &[Expr]) -> Option<Stmt> {
        let parts = step.keeps.as_ref()?;
        let input = step.ring.reads.along(0);
        let first = i64::from(input.width()) - self.legal.pair.along(0).low;
        let number = || self.number(self.step);
        let planes = offset(self.grid.planes.clone(), first);
        let mut conditions = vec![
            Expr::binary(BinaryOp::Ge, number(), self.steps(first)),
            Expr::binary(BinaryOp::Lt, number(), planes),
        ];
        conditions.extend(parts.of(self, at));
        let store = set(place, Expr::read(newest.clone()));
        all_of(conditions).map(|cond| when(cond, vec![store]))
    }

    /// Which elements the first nest has iterations for, with all that they read in the tile.
    pub(super) fn computing(&mut self, step: &Step<'_>, text: &mut Vec<Stmt>) -> Parts {
        let reads = step.ring.reads.clone();
        let asked = |maker: &Maker<'_, '_>, axis: usize, at: Expr| {
            let border = reads.along(maker.legal.pair.rank() - 1 - axis);
            let inside = maker.inside(axis, at.clone(), border).into_iter();
            inside.chain(maker.in_range(&maker.legal.pair.first, axis, at, ITSELF)).collect()
        };
        Parts::ask(self, "computes", &asked, text)
    }

    /// Which elements of the first nest the thread stores.
    pub(super) fn keeping(&mut self, text: &mut Vec<Stmt>) -> Option<Parts> {
        let asked = |maker: &Maker<'_, '_>, axis: usize, at: Expr| {
            let inside = maker.inside(axis, at.clone(), maker.legal.border(axis)).into_iter();
            inside.chain(maker.in_range(&maker.legal.pair.first, axis, at, ITSELF)).collect()
        };
        self.legal.stores().then(|| Parts::ask(self, "keeps", &asked, text))
    }
}

fn not(e: Expr) -> Expr {
    let kind = warpsmith_ir::ExprKind::Unary(warpsmith_ir::UnaryOp::Not, e);
    Expr::new(kind, Type::BOOL, warpsmith_ir::Origin::default())
}

/// A place that a nest stores to.
pub(super) fn in_memory(place: &Place) -> bool {
    place.root_var().is_none() && matches!(&*place.kind, PlaceKind::Elem { .. })
}
