//! What a thread holds of planes: its own elements in registers, and where neighbours are read, a box of them around its own.

use std::collections::BTreeMap;

use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, MathFn, Origin, Place, PlaceKind, Scalar, Space, Stmt, Type, Var,
    VarId, VarKind,
};

use super::super::pair::{Reads, Window};
use super::super::text::Maker;
use super::counters::Counters;
use crate::analysis::access::{Base, base_of};
use crate::build::arithmetic::{offset, plus, times};
use crate::build::stmts::{declare, element_at, set, undefined};
use crate::build::vectors::{self, WIDEST};

/// Planes of an array that a block goes through.
pub(super) struct Planes {
    /// Where the nests read it.
    pub array: VarId,
    pub reads: Reads,
    pub element: Scalar,
    /// The thread's own elements, plane by plane, and how far the newest plane is ahead of the iteration's.
    pub own: VarId,
    pub own_planes: u32,
    pub newest: i64,
    /// The block's planes in turns; `None`: nobody reads beside its own.
    pub shared: Option<(VarId, u32)>,
    /// Elements before the tile's first in a row of shared memory: addresses there and in memory are equal modulo a sector.
    pub shift: i64,
    /// Boxes of elements for planes at such distances.
    pub boxes: BTreeMap<i64, VarId>,
}

/// An element that a place stands for: distances from the iteration, outermost first.
type Distance = Vec<i64>;

impl Planes {
    /// Makes the variables of boxes.
    pub fn with_boxes(mut self, maker: &mut Maker<'_, '_>) -> Planes {
        let name = maker.kernel.name_of(self.array).to_string();
        for plane in self.reads.beside() {
            let mut ty = Type::Scalar(self.element);
            for axis in 0..maker.across.len() {
                let width = self.window(plane, maker.across.len() - axis).width();
                ty = Type::array(ty, (maker.legal.shape.each(axis) + width).into());
            }
            let var = Var::new(format!("{name}_near"), ty, VarKind::Local);
            self.boxes.insert(plane, maker.kernel.func_mut().add_var(var));
        }
        self
    }

    /// What is read of a plane along a loop.
    fn window(&self, plane: i64, depth: usize) -> Window {
        let of_plane = self.reads.0.iter().filter(|(_, d)| d[0] == plane);
        Reads(of_plane.cloned().collect()).along(depth)
    }

    /// The number of a plane among the thread's own ones.
    fn own_plane(&self, plane: i64) -> Expr {
        Expr::i32((i64::from(self.own_planes) - 1 - (self.newest - plane)) as i32)
    }

    /// The thread's element of a plane.
    pub fn own_at(&self, maker: &Maker<'_, '_>, plane: i64, at: &[Expr]) -> Place {
        let index = [self.own_plane(plane)].into_iter().chain(at.iter().cloned());
        element_at(maker.kernel.func(), self.own, index)
    }

    /// The place of an element at a distance from the thread's element `at`.
    fn place(&self, maker: &Maker<'_, '_>, d: &Distance, at: &[Expr]) -> Place {
        let Some(near) = self.boxes.get(&d[0]) else { return self.own_at(maker, d[0], at) };
        let index = at
            .iter()
            .zip(&d[1..])
            .enumerate()
            .map(|(k, (i, far))| offset(i.clone(), far - self.window(d[0], k + 1).low));
        element_at(maker.kernel.func(), *near, index)
    }

    /// Puts what the thread holds in the place of elements that a nest reads.
    pub fn replace(&self, maker: &Maker<'_, '_>, nest: &mut Stmt, at: &[Expr]) {
        let places = self.reads.0.iter().map(|(p, d)| (p.clone(), self.place(maker, d, at)));
        let mut held = Held { array: self.array, places: places.collect() };
        held.stmt(nest);
    }

    /// The thread holds elements in this variable.
    pub fn holds(&self, var: Option<VarId>) -> bool {
        var.is_some_and(|var| var == self.own || self.boxes.values().any(|near| *near == var))
    }

    /// An element of the block's plane, at a place of the tile.
    pub fn shared_at(
        &self,
        maker: &Maker<'_, '_>,
        plane: i64,
        mut tile: Vec<Expr>,
    ) -> Option<Place> {
        let (var, slots) = self.shared?;
        let step = offset(maker.number(maker.step), i64::from(slots) - (self.newest - plane));
        let step = if self.newest == plane { maker.number(maker.step) } else { step };
        let slot = Expr::binary(BinaryOp::Rem, step, maker.steps(slots.into()));
        if let Some(column) = tile.last_mut() {
            *column = offset(column.clone(), self.shift);
        }
        Some(element_at(maker.kernel.func(), var, [slot].into_iter().chain(tile)))
    }

    /// Sets the boxes that a nest reads.
    pub fn fill(&self, maker: &mut Maker<'_, '_>) -> Vec<Stmt> {
        let mut stmts = vec![];
        for (plane, near) in &self.boxes {
            stmts.push(undefined(*near));
            let filling = Filling { planes: self, plane: *plane, near: *near };
            stmts.extend(filling.own(maker));
            stmts.extend(filling.rows(maker));
            stmts.extend(filling.sides(maker));
        }
        stmts
    }
}

/// One box that is set.
struct Filling<'a> {
    planes: &'a Planes,
    plane: i64,
    near: VarId,
}

impl Filling<'_> {
    fn window(&self, depth: usize) -> Window {
        self.planes.window(self.plane, depth)
    }

    /// An element of the box, by its distance from the thread's first one.
    fn near_at(&self, maker: &Maker<'_, '_>, at: &[Expr]) -> Place {
        let index = at.iter().enumerate().map(|(k, i)| match i.as_const() {
            Some(n) => Expr::i32((n.as_i64() - self.window(k + 1).low) as i32),
            None => offset(i.clone(), -self.window(k + 1).low),
        });
        element_at(maker.kernel.func(), self.near, index)
    }

    fn own(&self, maker: &mut Maker<'_, '_>) -> Vec<Stmt> {
        let counters = Counters::new(maker);
        let at = counters.at.clone();
        let own = Expr::read(self.planes.own_at(maker, self.plane, &at));
        let stmt = set(self.near_at(maker, &at), own);
        counters.around(maker, vec![stmt])
    }

    /// Positions before the thread's own elements along an axis, and behind them.
    fn beyond(&self, maker: &Maker<'_, '_>, axis: usize) -> Vec<i64> {
        let window = self.window(maker.across.len() - axis);
        let each = i64::from(maker.legal.shape.each(axis));
        (window.low..0).chain(each..each + window.high).collect()
    }

    /// A place of the tile from the thread's first element on, or the last one in the tile: only what nobody uses differs.
    fn in_tile(&self, maker: &Maker<'_, '_>, axis: usize, at: i64) -> Expr {
        let place = offset(maker.of_tile(axis, Expr::i32(0)), at);
        let call = |f, limit| {
            let limit = Expr::i32(limit);
            Expr::new(ExprKind::Call(f, vec![place.clone(), limit]), Type::I32, Origin::default())
        };
        let each = i64::from(maker.legal.shape.each(axis));
        match at {
            at if at < 0 => call(MathFn::Max, 0),
            at if at >= each => call(MathFn::Min, maker.legal.extent(axis) as i32 - 1),
            _ => place,
        }
    }

    /// Rows above and below the thread's own.
    fn rows(&self, maker: &mut Maker<'_, '_>) -> Vec<Stmt> {
        let mut stmts = vec![];
        if maker.across.len() < 2 {
            return stmts;
        }
        let reads = &self.planes.reads.0;
        let corners =
            reads.iter().any(|(_, d)| d[0] == self.plane && d[1..].iter().all(|n| *n != 0));
        let width = maker.legal.shape.each(0);
        for row in self.beyond(maker, 1) {
            let of_tile = self.in_tile(maker, 1, row);
            let number = |n: i64| Expr::i32(n as i32);
            let first = maker.of_tile(0, Expr::i32(0));
            let tile = vec![of_tile.clone(), first];
            let Some(place) = self.planes.shared_at(maker, self.plane, tile) else { continue };
            let to = |c: u32| self.near_at(maker, &[number(row), number(c.into())]);
            if width == 1 {
                stmts.push(set(to(0), Expr::read(place)));
            } else {
                let wide = vectors::wide(place, Space::Shared, width, true);
                let ty = wide.ty.clone();
                let places: Vec<Place> = (0..width).map(to).collect();
                let mut var = Var::new(vectors::name(width), ty.clone(), VarKind::Local);
                var.constant = true;
                let var = maker.kernel.func_mut().add_var(var);
                stmts.push(declare(var, Expr::read(wide)));
                let whole = Expr::var(var, ty);
                let parts = (0..width).map(|c| vectors::part(&whole, c));
                stmts.extend(places.into_iter().zip(parts).map(|(to, part)| set(to, part)));
            }
            for column in self.beyond(maker, 0).into_iter().filter(|_| corners) {
                let tile = vec![of_tile.clone(), self.in_tile(maker, 0, column)];
                let to = self.near_at(maker, &[number(row), number(column)]);
                let from = self.planes.shared_at(maker, self.plane, tile);
                stmts.extend(from.map(|from| set(to, Expr::read(from))));
            }
        }
        stmts
    }

    /// Elements before and behind each of the thread's own rows.
    fn sides(&self, maker: &mut Maker<'_, '_>) -> Vec<Stmt> {
        let columns = self.beyond(maker, 0);
        if columns.is_empty() {
            return vec![];
        }
        let counters = Counters::of_rows(maker);
        let mut stmts = vec![];
        for column in columns {
            let mut tile: Vec<Expr> =
                counters.at.iter().map(|r| maker.of_tile(1, r.clone())).collect();
            tile.push(self.in_tile(maker, 0, column));
            let at = [counters.at.clone(), vec![Expr::i32(column as i32)]].concat();
            let to = self.near_at(maker, &at);
            let from = self.planes.shared_at(maker, self.plane, tile);
            stmts.extend(from.map(|from| set(to, Expr::read(from))));
        }
        counters.around(maker, stmts)
    }
}

impl Maker<'_, '_> {
    /// The place in the tile of one of the thread's elements along an axis.
    pub(super) fn of_tile(&self, axis: usize, at: Expr) -> Expr {
        let each = Expr::i32(self.legal.shape.each(axis) as i32);
        plus(times(self.number(self.across[axis].thread), each), at)
    }

    /// Moves a row of the thread's elements between two places, in one access where it is a vector.
    pub(super) fn row_moved(&self, (to, space): (Place, Space), from: (Place, Space)) -> Stmt {
        match self.legal.shape.each(0) {
            1 => set(to, Expr::read(from.0)),
            width => {
                let value = Expr::read(vectors::wide(from.0, from.1, width, true));
                set(vectors::wide(to, space, width, false), value)
            }
        }
    }

    /// A variable of a thread that vectors of elements may be moved to and from.
    pub(super) fn row_variable(&mut self, name: &str, ty: Type) -> VarId {
        let mut var = Var::new(name, ty, VarKind::Local);
        var.align = WIDEST;
        self.kernel.func_mut().add_var(var)
    }
}

/// Puts what threads hold in the place of elements of an array.
struct Held {
    array: VarId,
    places: Vec<(Place, Place)>,
}

fn same_element(a: &Place, b: &Place) -> bool {
    match (&*a.kind, &*b.kind) {
        (PlaceKind::Elem { index: a, .. }, PlaceKind::Elem { index: b, .. }) => a == b,
        _ => false,
    }
}

impl Rewriter for Held {
    fn place(&mut self, place: &mut Place) {
        let own = base_of(place) == Base::Var(self.array);
        match self.places.iter().find(|(from, _)| own && same_element(from, place)) {
            Some((_, to)) => *place = to.clone(),
            None => visit::rewrite_place(self, place),
        }
    }
}
