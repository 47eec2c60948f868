//! How the threads of a block share the elements of a box between them.

use warpsmith_ir::{BinaryOp, Block, Expr, ForLoop, LoopKind, Origin, Stmt, StmtKind, Type, VarId};

use crate::analysis::footprint::Dim;
use crate::build::arithmetic::product;
use crate::build::stmts::declare;
use crate::rewrite::register_tile::expansion::Expansion;

/// Threads with at most this many elements each go through them in unrolled steps.
const UNROLL: u64 = 16;

/// A box whose rows are counted in elements, or in vectors of them.
pub(crate) struct Elements {
    pub dims: Vec<Dim>,
    /// The extents as the text has them.
    pub extents: Vec<Expr>,
    /// Elements of a vector; 1: elements are counted.
    pub width: u32,
}

impl Elements {
    fn total(&self) -> u64 {
        self.after(0)
    }

    /// Elements of a part of the box with the same coordinates before `k`.
    fn after(&self, k: usize) -> u64 {
        self.dims[k..].iter().map(|d| d.extent).product()
    }

    fn name(&self) -> &'static str {
        if self.width > 1 { "vector" } else { "element" }
    }
}

/// The elements of a thread.
pub(crate) enum Way {
    /// From its own number on in strides of as many as there are threads; the counter is the element's number. How often a
    /// thread does so the compiler does not know, so that it keeps a loop.
    Strides(VarId),
    /// Each thread has as many: the counter of the steps.
    Steps(VarId),
    /// Each thread has one.
    One,
}

/// The number of an element, and what it is less than, where that is known.
struct Number {
    value: Expr,
    below: Option<u64>,
}

impl Expansion<'_, '_> {
    pub(crate) fn way(&mut self, elements: &Elements) -> Way {
        let threads = u64::from(self.block_threads.count);
        let each = elements.total() / threads;
        match elements.total().is_multiple_of(threads) {
            true if each == 1 => Way::One,
            true if each <= UNROLL => Way::Steps(self.draft.scope.local("step", Type::I32)),
            _ => Way::Strides(self.draft.scope.local(elements.name(), Type::I32)),
        }
    }

    /// Does the same for all elements of a thread.
    pub(crate) fn each(&mut self, way: &Way, elements: &Elements, body: Vec<Stmt>) -> Stmt {
        let (all, threads) = (product(&elements.extents), self.threads_expr());
        let (var, first, limit, step, kind) = match way {
            Way::One => return Stmt::new(StmtKind::Scope(Block::new(body)), Origin::default()),
            Way::Steps(step) => {
                let steps = Expr::binary(BinaryOp::Div, all, threads);
                (*step, Expr::i32(0), steps, Expr::i32(1), LoopKind::Unrolled(None))
            }
            Way::Strides(element) => (
                *element,
                Expr::var(self.block_threads.own, Type::I32),
                all,
                threads,
                LoopKind::Serial,
            ),
        };
        let l = ForLoop {
            id: self.draft.scope.host.fresh_loop(),
            var,
            declares: true,
            first,
            compare: BinaryOp::Lt,
            limit,
            step,
            kind,
            body: Block::new(body),
        };
        Stmt::new(StmtKind::For(l), Origin::default())
    }

    /// The coordinates of an element in the box, the last one that of a vector's first element.
    pub(crate) fn coordinates(
        &mut self,
        way: &Way,
        elements: &Elements,
        body: &mut Vec<Stmt>,
    ) -> Vec<Expr> {
        let thread = Expr::var(self.block_threads.own, Type::I32);
        let count = u64::from(self.block_threads.count);
        let step = match way {
            Way::Strides(element) => {
                let number = Number { value: Expr::var(*element, Type::I32), below: None };
                return self.places(&number, None, elements, body);
            }
            Way::One => {
                let number = Number { value: thread, below: Some(count) };
                return self.places(&number, None, elements, body);
            }
            Way::Steps(step) => Expr::var(*step, Type::I32),
        };
        let threads = self.threads_expr();
        let row = elements.after(1);
        if elements.dims.len() > 1 && count.is_multiple_of(row) {
            // A step goes down some rows and stays in its column.
            let rows = Expr::binary(BinaryOp::Div, threads, product(&elements.extents[1..]));
            let further = match count == row {
                true => step,
                false => Expr::binary(BinaryOp::Mul, step, rows),
            };
            let number = Number { value: thread, below: Some(count) };
            return self.places(&number, Some(further), elements, body);
        }
        let further = Expr::binary(BinaryOp::Mul, step, threads);
        let value = Expr::binary(BinaryOp::Add, thread, further);
        let element = self.named(elements.name(), value, body);
        self.places(&Number { value: element, below: None }, None, elements, body)
    }

    /// Coordinates from a number that counts row by row; the first one lies `further` on.
    fn places(
        &mut self,
        number: &Number,
        further: Option<Expr>,
        elements: &Elements,
        body: &mut Vec<Stmt>,
    ) -> Vec<Expr> {
        let wide = |e: Expr| match elements.width {
            1 => e,
            w => Expr::binary(BinaryOp::Mul, e, Expr::i32(w as i32)),
        };
        let names: &[&str] = match elements.dims.len() {
            1 => return vec![wide(number.value.clone())],
            2 => &["row", "column"],
            3 => &["plane", "row", "column"],
            _ => &[],
        };
        let last = elements.dims.len() - 1;
        let mut out = vec![];
        for k in 0..elements.dims.len() {
            let mut value = coordinate(number, elements, k);
            if let (0, Some(further)) = (k, &further) {
                value = value
                    .into_iter()
                    .chain([further.clone()])
                    .reduce(|a, b| Expr::binary(BinaryOp::Add, a, b));
            }
            let value = value.unwrap_or_else(|| Expr::i32(0));
            let value = if k == last { wide(value) } else { value };
            let name = names.get(k).map_or_else(|| format!("at_{k}"), |n| (*n).to_string());
            out.push(self.named(&name, value, body));
        }
        out
    }

    /// A constant with the value.
    pub(super) fn named(&mut self, name: &str, value: Expr, body: &mut Vec<Stmt>) -> Expr {
        let ty = value.ty.clone();
        let var = self.draft.scope.local(name, ty.clone());
        self.draft.scope.host.vars[var.0 as usize].constant = true;
        body.push(declare(var, value));
        Expr::var(var, ty)
    }
}

/// A coordinate of the element with the number; `None`: it is always 0.
fn coordinate(number: &Number, elements: &Elements, k: usize) -> Option<Expr> {
    let after = elements.after(k + 1);
    let fits = |n: u64| number.below.is_some_and(|below| below <= n);
    if elements.dims[k].extent == 1 && k > 0 || fits(after) {
        return None;
    }
    let mut value = number.value.clone();
    if after > 1 {
        value = Expr::binary(BinaryOp::Div, value, product(&elements.extents[k + 1..]));
    }
    if k > 0 && !fits(elements.after(k)) {
        value = Expr::binary(BinaryOp::Rem, value, elements.extents[k].clone());
    }
    Some(value)
}
