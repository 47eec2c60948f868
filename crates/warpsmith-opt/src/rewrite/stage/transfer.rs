//! How the threads of a block move a box of elements to shared memory: one by one, in vectors, or without waiting.

use warpsmith_ir::{
    BinaryOp, Block, DimOrder, Expr, ExprKind, Origin, Place, PlaceKind, Scalar, Space, Stmt,
    StmtKind, Type, Value,
};

use crate::build::arithmetic::{offset, plus, product, times};
use crate::build::conditions::select;
use crate::build::counters;
use crate::build::stmts::barrier;
use crate::build::stmts::declare;
use crate::build::vectors;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::rewrite::stage::elements::Elements;

fn assign(place: Place, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Assign { place, value }, Origin::default())
}

fn only_if(cond: Option<Expr>, stmt: Stmt) -> Stmt {
    let Some(cond) = cond else { return stmt };
    let then = Block::new(vec![stmt]);
    let kind = StmtKind::If { cond, then, otherwise: Block::default() };
    Stmt::new(kind, Origin::default())
}

impl Expansion<'_, '_> {
    /// All threads of the block copy the elements of a footprint, neighbours by neighbours.
    pub(crate) fn copy(&mut self, at: usize) -> Vec<Stmt> {
        match self.copies[at].footprint.filled {
            true => self.transfer(at, false),
            false => vec![],
        }
    }

    /// The block's threads copy back what they wrote of these arrays in shared memory.
    pub(crate) fn copied_back(&mut self, copies: &[usize]) -> Vec<Stmt> {
        let written: Vec<usize> =
            copies.iter().copied().filter(|k| self.copies[*k].footprint.written).collect();
        let mut stmts = vec![];
        if !written.is_empty() {
            stmts.push(barrier("everything is written before it is copied back"));
        }
        stmts.extend(written.into_iter().flat_map(|k| self.transfer(k, true)));
        stmts
    }

    /// Moves the elements of a footprint to shared memory, or back.
    fn transfer(&mut self, at: usize, back: bool) -> Vec<Stmt> {
        let copy = &self.copies[at];
        let (stage, f) = (copy.stage.clone(), copy.footprint.clone());
        let array = self.draft.scope.host.var(stage.array).name.clone();
        let shape: Vec<String> = f.dims.iter().map(|d| d.extent.to_string()).collect();
        let mut extents = self.draft.extents(&f, self.tiles);
        let width = stage.vector;
        let mut counted = f.dims.clone();
        if let (Some(d), Some(e), true) = (counted.last_mut(), extents.last_mut(), width > 1) {
            // Rows are counted in vectors.
            d.extent /= u64::from(width);
            *e = Expr::binary(BinaryOp::Div, e.clone(), Expr::i32(width as i32));
        }
        let elements = Elements { dims: counted, extents, width };
        let way = self.way(&elements);
        let mut body = vec![];
        let coordinates = self.coordinates(&way, &elements, &mut body);
        let mut global = vec![];
        let mut exists: Option<Expr> = None;
        for (d, c) in f.dims.iter().zip(&coordinates) {
            let ty = self.index_type(d);
            let own = c.clone().cast(Type::Scalar(ty));
            let low = self.lowest(d, ty);
            global.push(match counters::is_const(&low, 0) {
                true => own.clone(),
                false => Expr::binary(BinaryOp::Add, low, own.clone()),
            });
            let above = self.missing(d, ty).map(|n| Expr::binary(BinaryOp::Ge, own.clone(), n));
            let below = self.valid(d, ty).map(|n| Expr::binary(BinaryOp::Lt, own, n));
            exists = exists
                .into_iter()
                .chain(above)
                .chain(below)
                .reduce(|a, b| Expr::binary(BinaryOp::LogicalAnd, a, b));
        }
        let source = self.global_place(at, global);
        let (source, exists) = match f.partial {
            true => self.in_array(&source, &mut body),
            false => (source, exists),
        };
        let comment = match back {
            true => format!("{} elements of {array} go back", shape.join(" x ")),
            false => format!("the block copies {} elements of {array}", shape.join(" x ")),
        };
        match back {
            true => {
                let stored = assign(source, Expr::read(self.target(at, &coordinates, 0)));
                body.push(only_if(exists, stored));
            }
            false => body.extend(self.copied(at, source, &coordinates, exists)),
        }
        vec![self.each(&way, &elements, body).comment(comment)]
    }

    /// The element by its number from the first of the array on, and whether the array has it.
    fn in_array(&mut self, source: &Place, body: &mut Vec<Stmt>) -> (Place, Option<Expr>) {
        let PlaceKind::Elem { pointer, index, dims } = &*source.kind else {
            return (source.clone(), None);
        };
        let wide = |e: &Expr| e.clone().cast(Type::I64);
        let mut indices = index.iter().map(wide);
        let first = indices.next().unwrap_or_else(|| Expr::int(Scalar::I64, 0));
        let number = indices.zip(dims).fold(first, |sum, (i, n)| plus(times(sum, wide(n)), i));
        let number = self.named("number", number, body);
        let extents: Vec<Expr> = self.extents_of_array(pointer).iter().map(wide).collect();
        let after = Expr::binary(BinaryOp::Ge, number.clone(), Expr::int(Scalar::I64, 0));
        let before = Expr::binary(BinaryOp::Lt, number.clone(), product(&extents));
        let inside = Expr::binary(BinaryOp::LogicalAnd, after, before);
        let (pointer, dims) = (pointer.clone(), vec![]);
        let kind = PlaceKind::Elem { pointer, index: vec![number], dims };
        (Place::new(kind, source.ty.clone(), source.origin.clone()), Some(inside))
    }

    fn extents_of_array(&self, pointer: &Expr) -> Vec<Expr> {
        let ExprKind::Read(place) = &*pointer.kind else { return vec![] };
        // The launcher makes the arrays of the workspace itself: its variables for them have no extents.
        let array = place.root_var().map(|v| self.draft.source.func().var(v));
        array.and_then(|v| v.shape.clone()).unwrap_or_default()
    }

    /// Where the element `after` the one with these coordinates goes.
    fn target(&self, at: usize, coordinates: &[Expr], after: u32) -> Place {
        let mut order = coordinates.to_vec();
        if let Some(last) = order.last_mut() {
            *last = offset(last.clone(), after.into());
        }
        self.laid_out(at, order)
    }

    /// Copies an element, or the vector that begins with it; zeros where it does not exist.
    fn copied(
        &mut self,
        at: usize,
        source: Place,
        coordinates: &[Expr],
        exists: Option<Expr>,
    ) -> Vec<Stmt> {
        let stage = self.copies[at].stage.clone();
        let element = source.ty.scalar().unwrap_or(Scalar::I32);
        if stage.asynchronous
            || stage.strip.is_some_and(|(id, _)| self.strips.slots.contains_key(&id))
        {
            let bytes = (element.bytes() * stage.vector) as i32;
            let zero_fill = exists.map(|cond| {
                let kind = ExprKind::Select(cond, Expr::i32(0), Expr::i32(bytes));
                Expr::new(kind, Type::I32, Origin::default())
            });
            let target = self.target(at, coordinates, 0);
            let kind = StmtKind::AsyncCopy {
                destination: vectors::address(target, Space::Shared, false),
                source: vectors::address(source, Space::Global, true),
                bytes: Expr::i32(bytes),
                zero_fill,
            };
            return vec![Stmt::new(kind, Origin::default())];
        }
        if stage.vector > 1 {
            return self.copied_vector(at, source, coordinates, exists);
        }
        let read = Expr::read(source);
        let value = match exists {
            None => read,
            Some(cond) => select(cond, read, Expr::constant(Value::int(element, 0))),
        };
        vec![assign(self.target(at, coordinates, 0), value)]
    }

    /// Through a register, which holds zeros where the vector does not exist.
    fn copied_vector(
        &mut self,
        at: usize,
        source: Place,
        coordinates: &[Expr],
        exists: Option<Expr>,
    ) -> Vec<Stmt> {
        let stage = &self.copies[at].stage;
        let (straight, width) = (stage.layout.order == DimOrder::Straight, stage.vector);
        let element = source.ty.scalar().unwrap_or(Scalar::I32);
        let ty = Type::Vector(element, width as u8);
        let read = Expr::read(vectors::wide(source, Space::Global, width, true));
        let vector = self.draft.scope.local(vectors::name(width), ty.clone());
        let mut stmts = match exists {
            None => {
                self.draft.scope.host.vars[vector.0 as usize].constant = true;
                vec![declare(vector, read)]
            }
            Some(cond) => {
                let zeros = vec![Expr::constant(Value::int(element, 0)); width as usize];
                let zeros = Expr::new(ExprKind::Make(zeros), ty.clone(), Origin::default());
                let then = Block::new(vec![assign(Place::var(vector, ty.clone()), read)]);
                let kind = StmtKind::If { cond, then, otherwise: Block::default() };
                vec![declare(vector, zeros), Stmt::new(kind, Origin::default())]
            }
        };
        let value = Expr::var(vector, ty);
        let row = self.copies[at].ty.extents();
        if straight && row.last().is_some_and(|n| n.is_multiple_of(width.into())) {
            let target = self.target(at, coordinates, 0);
            stmts.push(assign(vectors::wide(target, Space::Shared, width, false), value));
        } else {
            let part = |k| assign(self.target(at, coordinates, k), vectors::part(&value, k));
            stmts.extend((0..width).map(part));
        }
        stmts
    }
}
