//! Copies of nests, and of arrays in the workspace.

use std::collections::BTreeMap;

use warpsmith_ir::visit::Access;
use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Binding, Block, Expr, ExprKind, ForLoop, Function, LoopId, LoopKind,
    Origin, Parallel, Place, PlaceKind, Scalar, Stmt, StmtKind, Type, Value, Var, VarId, VarKind,
    visit,
};

use crate::build::conditions::{all_of, select};
use crate::build::stmts::{looped, set};
use crate::kernel::{Kernel, Nest};
use crate::names;
use crate::walk;

/// Threads of the blocks that copy, by the number of bound loops.
const BLOCKS: [[u32; 3]; 3] = [[256, 1, 1], [32, 8, 1], [32, 4, 2]];

/// The nest once more, with loops and variables of its own, and which loop and which variable became which.
pub(in crate::rewrite) fn general_copy(
    kernel: &mut Kernel,
    stmt: &Stmt,
) -> (Stmt, BTreeMap<LoopId, LoopId>, BTreeMap<VarId, VarId>) {
    let mut block = Block::new(vec![stmt.clone()]);
    let function = kernel.func_mut();
    let ids: BTreeMap<LoopId, LoopId> =
        visit::renew_loops(function, &mut block).into_iter().collect();
    let mut vars = BTreeMap::new();
    for v in walk::declared(&block) {
        let var = function.var(v).clone();
        vars.entry(v).or_insert_with(|| function.add_var(var));
    }
    visit::rename_vars(&mut block, &mut |v| vars.get(&v).copied().unwrap_or(v));
    (block.stmts.remove(0), ids, vars)
}

/// The element of an array with declared extents that a place is: its subscripts.
pub fn element_of<'p>(place: &'p Place, array: VarId, shape: &[Expr]) -> Option<&'p [Expr]> {
    let PlaceKind::Elem { pointer, index, dims } = &*place.kind else { return None };
    let ExprKind::Read(p) = &*pointer.kind else { return None };
    let found = *p.kind == PlaceKind::Var(array)
        && index.len() == shape.len()
        && shape.get(1..) == Some(dims.as_slice());
    found.then_some(index.as_slice())
}

/// How a block uses an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Some element is read.
    pub reads: bool,
    /// Some element is written.
    pub writes: bool,
    /// In another way than by its elements, with all subscripts.
    pub otherwise: bool,
}

/// Looks at all uses of an array with declared extents.
pub fn uses(block: &Block, array: VarId, shape: &[Expr]) -> Uses {
    let mut uses = Uses::default();
    let mut elements = 0;
    visit::for_each_place(block, &mut |place, access| {
        let index = element_of(place, array, shape).filter(|_| access != Access::Address);
        if index.is_some_and(|index| !runs_over_rows(index)) {
            elements += 1;
            uses.reads |= access == Access::Read;
            uses.writes |= access == Access::Write;
        }
    });
    uses.otherwise = walk::times_mentioned(block, array) != elements;
    uses
}

/// `A[0][i]` is also what a pointer to the first element reads, which goes on in the next row.
fn runs_over_rows(index: &[Expr]) -> bool {
    let zero = |e: &Expr| e.as_const().is_some_and(|v| v.as_i64() == 0);
    match index.split_last() {
        Some((last, rows)) => {
            !rows.is_empty() && rows.iter().all(zero) && last.as_const().is_none()
        }
        None => false,
    }
}

/// Puts elements of a copy in place of those of an array.
pub fn use_copy(kernel: &Kernel, block: &mut Block, from: VarId, to: VarId) {
    let extents = kernel.func().var(to).shape.clone().unwrap_or_default();
    replace_elements(kernel, block, from, to, &extents);
}

/// Gives all elements of an array other extents, which the array is to have.
pub fn use_rows(kernel: &Kernel, block: &mut Block, array: VarId, extents: &[Expr]) {
    replace_elements(kernel, block, array, array, extents);
}

/// Puts elements of an array with these extents in place of those of another.
fn replace_elements(kernel: &Kernel, block: &mut Block, from: VarId, to: VarId, extents: &[Expr]) {
    struct Use<'a> {
        from: VarId,
        shape: &'a [Expr],
        to: VarId,
        ty: Type,
        dims: &'a [Expr],
    }
    impl visit::Rewriter for Use<'_> {
        fn place(&mut self, place: &mut Place) {
            visit::rewrite_place(self, place);
            if element_of(place, self.from, self.shape).is_none() {
                return;
            }
            if let PlaceKind::Elem { pointer, dims, .. } = &mut *place.kind {
                *pointer = Expr::var(self.to, self.ty.clone());
                *dims = self.dims.to_vec();
            }
        }
    }
    let function = kernel.func();
    let shape = function.var(from).shape.clone().unwrap_or_default();
    let ty = function.var(to).ty.clone();
    let dims = extents.get(1..).unwrap_or_default();
    let mut rewriter = Use { from, shape: &shape, to, ty, dims };
    visit::Rewriter::block(&mut rewriter, block);
}

/// One side of a copy: elements of `array`; those with subscripts beyond `extents` are zero.
#[derive(Clone, Debug)]
pub struct Side {
    /// The array.
    pub array: VarId,
    /// Its extents, outermost first.
    pub extents: Vec<Expr>,
}

/// A bound nest that copies all elements of `to` from the elements of `from` with the same subscripts, and zeros where
/// there are none.
pub fn copy_nest(kernel: &mut Kernel, to: &Side, from: &Side, comment: String) -> Stmt {
    let assigned = |kernel: &mut Kernel, index: &[Expr]| {
        let target = element(kernel.func(), to.array, index.to_vec());
        let read = Expr::read(element(kernel.func(), from.array, index.to_vec()));
        let inside = index.iter().zip(&from.extents).zip(&to.extents);
        let inside = inside.filter(|((_, have), wanted)| have != wanted).map(|((at, have), _)| {
            Expr::binary(BinaryOp::Lt, at.clone(), have.clone().cast(at.ty.clone()))
        });
        let value = match all_of(inside) {
            None => read,
            Some(cond) => {
                let zero = Value::int(read.ty.scalar().unwrap_or(Scalar::I32), 0);
                select(cond, read, Expr::constant(zero))
            }
        };
        vec![set(target, value)]
    };
    nest_of(kernel, &to.extents, assigned).comment(comment)
}

/// A bound nest that does something for each element of an array with these extents, given its subscripts.
pub fn nest_of(
    kernel: &mut Kernel,
    extents: &[Expr],
    does: impl FnOnce(&mut Kernel, &[Expr]) -> Vec<Stmt>,
) -> Stmt {
    let counters = counters(kernel, extents);
    let index: Vec<Expr> =
        counters.iter().map(|c| Expr::var(*c, kernel.func().var(*c).ty.clone())).collect();
    let body = does(kernel, &index);
    bound_nest(kernel, &counters, extents, body)
}

/// The element of an array with declared extents that has these subscripts.
pub fn element(function: &Function, array: VarId, index: Vec<Expr>) -> Place {
    let var = function.var(array);
    let dims = var.shape.as_deref().and_then(|s| s.get(1..)).unwrap_or_default().to_vec();
    let pointer = Expr::var(array, var.ty.clone());
    let ty = var.ty.pointee().cloned().unwrap_or(Type::Void);
    Place::new(PlaceKind::Elem { pointer, index, dims }, ty, Origin::default())
}

/// Statements in loops from zero to the extents, the three innermost bound.
fn bound_nest(kernel: &mut Kernel, counters: &[VarId], extents: &[Expr], body: Vec<Stmt>) -> Stmt {
    let bound = counters.len().min(3);
    let block = BLOCKS[bound.max(1) - 1];
    let mut axes = vec![];
    let mut stmts = body;
    let mut root = LoopId(0);
    for (k, (counter, extent)) in counters.iter().zip(extents).enumerate().rev() {
        let ty = kernel.func().var(*counter).ty.scalar().unwrap_or(Scalar::I32);
        let from_inside = counters.len() - 1 - k;
        root = kernel.func_mut().fresh_loop();
        let kind = match Axis::ALL.get(from_inside) {
            Some(axis) => {
                axes.insert(0, (root, *axis));
                let extent = Some(block[axis.index()]);
                LoopKind::Bound(Binding { level: BindLevel::Thread, axis: *axis, extent })
            }
            None => LoopKind::Serial,
        };
        let l = ForLoop {
            id: root,
            var: *counter,
            declares: true,
            first: Expr::int(ty, 0),
            compare: BinaryOp::Lt,
            limit: extent.clone().cast(Type::Scalar(ty)),
            step: Expr::int(ty, 1),
            kind,
            body: Block::new(stmts),
        };
        stmts = vec![looped(l)];
    }
    let nest = Nest::bound(axes, block, Parallel::default());
    kernel.nests.insert(root, nest);
    stmts.remove(0)
}

/// A counter for each extent, of its type, by the names of rows and columns.
fn counters(kernel: &mut Kernel, extents: &[Expr]) -> Vec<VarId> {
    let names: &[&str] = match extents.len() {
        1 => &["element"],
        2 => &["row", "column"],
        3 => &["plane", "row", "column"],
        _ => &[],
    };
    let mut counters = vec![];
    for (k, extent) in extents.iter().enumerate() {
        let wanted = names.get(k).map_or_else(|| format!("at_{k}"), |n| (*n).to_string());
        let ty = extent.ty.clone();
        // Copies in other kernels have the same counters.
        let ours = |v: &Var| v.name == wanted && v.ty == ty && v.origin.rewrite == Some("copy");
        let known = kernel.func().vars.iter().position(ours);
        counters.push(match known {
            Some(at) => VarId(at as u32),
            None => {
                let name = names::fresh_name(kernel.func(), &wanted);
                let mut var = Var::new(name, ty, VarKind::Local);
                var.origin = Origin::default().by("copy");
                kernel.func_mut().add_var(var)
            }
        });
    }
    counters
}

/// Puts statements before and after the counted loop `id`.
pub fn put_around(kernel: &mut Kernel, id: LoopId, before: Vec<Stmt>, after: Vec<Stmt>) {
    fn place(block: &mut Block, id: LoopId, around: &mut Option<(Vec<Stmt>, Vec<Stmt>)>) {
        let here = |s: &Stmt| matches!(&s.kind, StmtKind::For(l) if l.id == id);
        if let Some(at) = block.stmts.iter().position(here) {
            let Some((before, after)) = around.take() else { return };
            block.stmts.splice(at + 1..at + 1, after);
            block.stmts.splice(at..at, before);
            return;
        }
        for stmt in &mut block.stmts {
            for inner in walk::blocks_mut(stmt) {
                place(inner, id, around);
            }
        }
    }
    place(&mut kernel.func_mut().body, id, &mut Some((before, after)));
}

/// Puts statements in place of the counted loop `id`.
pub fn replace_loop(kernel: &mut Kernel, id: LoopId, stmts: Vec<Stmt>) {
    fn remove(block: &mut Block, id: LoopId) {
        block.stmts.retain(|s| !matches!(&s.kind, StmtKind::For(l) if l.id == id));
        block.stmts.iter_mut().flat_map(walk::blocks_mut).for_each(|b| remove(b, id));
    }
    // What the statements hold may have the loop's number.
    let old = LoopId(u32::MAX);
    walk::with_loop(&mut kernel.func_mut().body, id, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.id = old;
        }
    });
    put_around(kernel, old, stmts, vec![]);
    remove(&mut kernel.func_mut().body, old);
}

/// Puts one place in place of another.
pub fn replace_place(block: &mut Block, from: &Place, to: &Place) {
    visit::Rewriter::block(&mut Replace(from, to), block);
}

/// The same in an expression.
pub fn replace_place_in(value: &mut Expr, from: &Place, to: &Place) {
    visit::Rewriter::expr(&mut Replace(from, to), value);
}

struct Replace<'a>(&'a Place, &'a Place);

impl visit::Rewriter for Replace<'_> {
    fn place(&mut self, place: &mut Place) {
        if place == self.0 {
            *place = self.1.clone();
        } else {
            visit::rewrite_place(self, place);
        }
    }
}
