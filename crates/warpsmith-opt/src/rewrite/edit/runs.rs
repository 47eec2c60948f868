//! Runs of neighbouring iterations of one thread, in nests that are bound in the tree: what the iterations of a run read
//! side by side comes in vectors.
//!
//! ```text
//!     for it in strides of all threads { S(a[it + c]) }
//!       ==> run 16
//!     for run in strides of all threads, run < runs {
//!         part = a[16 * run + c ..]                              vectors of 16 bytes
//!         for at in 0..16 { S(part[at]) }
//!     }
//!     for it in 16 * runs .., strides of all threads { S(a[it + c]) }
//! ```
//!
//! The launcher computes `runs`: the iterations divided by 16 where all vectors are aligned, and 0 elsewhere, so that the
//! second loop is right for every address and length.
//!
//! Legal where iterations may be run by any thread in any order, which callers know; where each iteration reads the
//! element whatever its conditions come to, so that all elements of a vector are there; and where nothing in the nest writes
//! the array.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopKind, Origin, Place, PlaceKind, Scalar, Space,
    Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::copy::general_copy;
use crate::analysis::access::{Base, Scope, base_of};
use crate::build::arithmetic::plus;
use crate::build::conditions::{all_of, select};
use crate::build::stmts::{element_of, set};
use crate::build::vectors::{WIDEST, has_vector};
use crate::build::{counters, vectors};
use crate::kernel::Kernel;
use crate::walk;

/// An array of which neighbouring iterations read neighbouring elements.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::rewrite) struct Side {
    array: VarId,
    element: Scalar,
    /// The subscript without the counter.
    rest: Poly,
    /// What the elements are loaded as, and how many each.
    vector: Type,
    own: u32,
}

/// The arrays that runs of so many iterations of a loop load in vectors; each once, in order of the first read.
pub(in crate::rewrite) fn sides(kernel: &Kernel, l: &ForLoop, width: u32) -> Vec<Side> {
    let one = l.step.as_const().is_some_and(|v| v.as_i64() == 1) && counters::counts_up(l);
    let mut found: Vec<Side> = vec![];
    if !one {
        return found;
    }
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(l.id), l);
    always_in_block(&l.body, &mut |place| {
        let side = side_of(kernel, &scope, place, width);
        found.extend(side.filter(|s| found.iter().all(|known| known.array != s.array)));
    });
    found
}

fn side_of(kernel: &Kernel, scope: &Scope<'_>, place: &Place, width: u32) -> Option<Side> {
    let base = base_of(place);
    let Base::Var(array) = base else { return None };
    let element = place.ty.scalar()?;
    let param = kernel.func().params.contains(&array);
    let rest = rest_of(place, scope.root.var).filter(|_| param && !scope.is_written(base))?;
    let at_start = rest.to_expr(Scalar::I64, &|v| scalar_of(kernel, v));
    let (vector, own) = vector(element, width)?;
    let side = Side { array, element, rest, vector, own };
    kernel.known_at_start(&at_start).then_some(side)
}

pub(in crate::rewrite) fn scalar_of(kernel: &Kernel, v: VarId) -> Scalar {
    kernel.func().var(v).ty.scalar().unwrap_or(Scalar::I32)
}

/// What is beside the counter in the subscript of an array of one dimension.
fn rest_of(place: &Place, counter: VarId) -> Option<Poly> {
    let PlaceKind::Elem { index, dims, .. } = &*place.kind else { return None };
    let [index] = index.as_slice() else { return None };
    let rest = Poly::from_expr(index)?.sub(&Poly::var(counter))?;
    (dims.is_empty() && !rest.atoms().iter().any(|a| a.mentions(counter))).then_some(rest)
}

/// Calls `f` with the places that running a block reads, whatever its conditions come to.
pub(in crate::rewrite) fn always_in_block(block: &Block, f: &mut dyn FnMut(&Place)) {
    for stmt in &block.stmts {
        let operands = walk::operands(stmt);
        // A loop may have no iteration, a condition no branch that is taken: only what they themselves evaluate.
        if !matches!(stmt.kind, StmtKind::For(_) | StmtKind::Loop { .. }) {
            operands.reads.into_iter().for_each(|e| always(e, f));
            operands.writes.into_iter().for_each(|p| always_in_subscripts(p, f));
        }
        if let StmtKind::Scope(inner) = &stmt.kind {
            always_in_block(inner, f);
        }
        let alone = Block::new(vec![stmt.clone()]);
        if walk::continues(&alone).or(walk::leaves(&alone)).or(walk::returns(&alone)).is_some() {
            return;
        }
    }
}

fn always(e: &Expr, f: &mut dyn FnMut(&Place)) {
    if let ExprKind::AddressOf(place) = &*e.kind {
        always_in_subscripts(place, f);
    }
    walk::always_read(e, &mut |place| {
        f(place);
        always_in_subscripts(place, f);
    });
}

fn always_in_subscripts(place: &Place, f: &mut dyn FnMut(&Place)) {
    walk::subscripts(place).into_iter().for_each(|e| always(e, f));
}

/// The vector type that the elements of a run are loaded as, and how many elements it has; `None` where there is none.
pub(in crate::rewrite) fn vector(element: Scalar, width: u32) -> Option<(Type, u32)> {
    let size = element.bytes();
    let bytes = (size * width).min(WIDEST);
    let own = bytes / size;
    let whole = bytes.is_power_of_two() && own > 1 && own * size == bytes;
    if !whole || !width.is_multiple_of(own) || element == Scalar::Bool {
        return None;
    }
    match bytes {
        _ if matches!(own, 2 | 4) && has_vector(element, own) => {
            Some((Type::Vector(element, own as u8), own))
        }
        8 | 16 => Some((Type::Vector(Scalar::U32, (bytes / 4) as u8), own)),
        4 => Some((Type::U32, own)),
        _ => None,
    }
}

/// The loops over runs and over what is left.
pub(in crate::rewrite) struct Runs<'k> {
    pub kernel: &'k mut Kernel,
    /// The loop whose iterations are distributed, as in the source.
    pub source: &'k ForLoop,
    pub width: u32,
    pub sides: Vec<Side>,
}

impl Runs<'_> {
    /// In place of a loop over the iterations' numbers, in strides of all threads from a thread's own number on.
    pub(in crate::rewrite) fn of(mut self, all: ForLoop) -> Vec<Stmt> {
        let statement = |l: ForLoop| Stmt::new(StmtKind::For(l), Origin::default());
        let value = self.number_of_runs(&all.limit);
        let comment = format!("runs of {} iterations, loaded as vectors", self.width);
        let runs = Expr::var(self.kernel.add_length("runs", value, comment), Type::I64);
        let mut parts = vec![];
        let (copy, _, vars) = general_copy(self.kernel, &statement(all.clone()));
        let StmtKind::For(copy) = copy.kind else { return vec![] };
        let own = vars.get(&self.source.var).copied().unwrap_or(self.source.var);
        let counter = Var::new("run", Type::I64, VarKind::Local);
        let counter = self.kernel.func_mut().add_var(counter);
        let mut body = vec![];
        for side in self.sides.clone() {
            let part = self.part(&side);
            body.extend(self.loads(&side, part, counter));
            parts.push((side, part));
        }
        body.push(self.iterations(copy, own, &parts, counter));
        let id = self.kernel.func_mut().fresh_loop();
        let (limit, body) = (runs.clone(), Block::new(body));
        let of_runs = ForLoop { id, var: counter, limit, body, ..all.clone() };
        let before = Expr::binary(BinaryOp::Mul, runs, self.number(self.width));
        let first = Expr::binary(BinaryOp::Add, before, all.first.clone());
        let rest = statement(ForLoop { first, ..all }).comment("what is left, one by one");
        vec![statement(of_runs), rest]
    }

    fn number(&self, value: u32) -> Expr {
        Expr::int(Scalar::I64, value.into())
    }

    /// `all vectors aligned ? iterations / width : 0`.
    fn number_of_runs(&self, iterations: &Expr) -> Expr {
        let number = |n: u32| Expr::int(Scalar::U64, n.into());
        let aligned = self.sides.iter().map(|side| {
            let address = Expr::var(side.array, self.kernel.func().var(side.array).ty.clone());
            let (first, size) = (self.first_element(side), side.element.bytes());
            let past = Expr::binary(BinaryOp::Mul, first.cast(Type::U64), number(size));
            let vector = plus(address.cast(Type::U64), past);
            let past = Expr::binary(BinaryOp::Rem, vector, number(side.own * size));
            Expr::binary(BinaryOp::Eq, past, number(0))
        });
        let all = all_of(aligned);
        let whole = Expr::binary(BinaryOp::Div, iterations.clone(), self.number(self.width));
        let Some(cond) = all else { return whole };
        select(cond, whole, self.number(0))
    }

    /// The subscript of the first iteration.
    fn first_element(&self, side: &Side) -> Expr {
        let first = Poly::from_expr(&self.source.first).and_then(|f| f.add(&side.rest));
        let first = first.unwrap_or_else(Poly::zero);
        first.to_expr(Scalar::I64, &|v| scalar_of(self.kernel, v))
    }

    /// The variable that holds a run's elements of an array.
    fn part(&mut self, side: &Side) -> VarId {
        let name = format!("{}_run", self.kernel.name_of(side.array));
        let ty = Type::array(Type::Scalar(side.element), self.width.into());
        let mut var = Var::new(name, ty, VarKind::Local);
        var.align = WIDEST;
        self.kernel.func_mut().add_var(var)
    }

    /// Declares the elements of a run of an array, and loads them.
    fn loads(&self, side: &Side, part: VarId, run: VarId) -> Vec<Stmt> {
        let mut stmts =
            vec![Stmt::new(StmtKind::Decl { var: part, init: None }, Origin::default())];
        let of_run =
            Expr::binary(BinaryOp::Mul, Expr::var(run, Type::I64), self.number(self.width));
        let first = plus(of_run, self.first_element(side));
        let pointer = Expr::var(side.array, self.kernel.func().var(side.array).ty.clone());
        for at in (0..self.width).step_by(side.own as usize) {
            let index = vec![plus(first.clone(), self.number(at))];
            let kind = PlaceKind::Elem { pointer: pointer.clone(), index, dims: vec![] };
            let from = Place::new(kind, Type::Scalar(side.element), Origin::default());
            let from = vectors::wide_as(from, side.vector.clone(), Space::Global, true);
            let to = element_of(self.kernel.func(), part, Expr::i32(at as i32));
            let place = vectors::wide_as(to, side.vector.clone(), Space::Local, false);
            let kind = StmtKind::Assign { place, value: Expr::read(from) };
            stmts.push(Stmt::new(kind, Origin::default()));
        }
        stmts
    }

    /// The iterations of a run, which read what was loaded.
    fn iterations(
        &mut self,
        all: ForLoop,
        counter: VarId,
        parts: &[(Side, VarId)],
        run: VarId,
    ) -> Stmt {
        let mut at = Var::new("at", Type::I32, VarKind::Local);
        at.constant = true;
        let at = self.kernel.func_mut().add_var(at);
        let number = Expr::binary(
            BinaryOp::Add,
            Expr::binary(BinaryOp::Mul, Expr::var(run, Type::I64), self.number(self.width)),
            Expr::var(at, Type::I32).cast(Type::I64),
        );
        let mut body = all.body;
        for (side, part) in parts {
            let place = element_of(self.kernel.func(), *part, Expr::var(at, Type::I32));
            ToPart { side: side.clone(), counter, place }.block(&mut body);
        }
        let number = StmtKind::Decl { var: all.var, init: Some(number) };
        body.stmts.insert(0, Stmt::new(number, Origin::default()));
        drop_unread(&mut body);
        let id = self.kernel.func_mut().fresh_loop();
        let (first, limit) = (Expr::i32(0), Expr::i32(self.width as i32));
        let kind = LoopKind::Unrolled(None);
        let (compare, step) = (BinaryOp::Lt, Expr::i32(1));
        let of_run =
            ForLoop { id, var: at, declares: true, first, compare, limit, step, kind, body };
        Stmt::new(StmtKind::For(of_run), Origin::default())
    }
}

/// Loads or stores so many neighbouring elements of a thread, in vectors where there are any; `memory` and `own` say where
/// each of them lies. With `constant` nothing in the kernel writes the memory.
pub(in crate::rewrite) fn moved(
    (element, width): (Scalar, u32),
    (load, constant): (bool, bool),
    memory: impl Fn(u32) -> Place,
    own: impl Fn(u32) -> Place,
) -> Vec<Stmt> {
    let wide = vector(element, width);
    let each = wide.as_ref().map_or(1, |(_, own)| *own);
    let move_from = |k: u32| {
        let (memory, own) = match &wide {
            Some((ty, _)) => (
                vectors::wide_as(memory(k), ty.clone(), Space::Global, constant),
                vectors::wide_as(own(k), ty.clone(), Space::Local, !load),
            ),
            None => (memory(k), own(k)),
        };
        let (place, value) = if load { (own, memory) } else { (memory, own) };
        set(place, Expr::read(value))
    };
    (0..width).step_by(each as usize).map(move_from).collect()
}

/// Declarations at the top of a block whose variables nothing there mentions, the last ones first.
pub(in crate::rewrite) fn drop_unread(body: &mut Block) {
    for at in (0..body.stmts.len()).rev() {
        let StmtKind::Decl { var, .. } = body.stmts[at].kind else { continue };
        let mut mentioned = false;
        let others = body.stmts.iter().enumerate().filter(|(k, _)| *k != at);
        for (_, s) in others {
            walk::each_var_of_block(&Block::new(vec![s.clone()]), &mut |v| mentioned |= v == var);
        }
        if !mentioned {
            body.stmts.remove(at);
        }
    }
}

/// Puts the loaded elements in place of the array's.
struct ToPart {
    side: Side,
    counter: VarId,
    place: Place,
}

impl Rewriter for ToPart {
    fn expr(&mut self, e: &mut Expr) {
        visit::rewrite_expr(self, e);
        if let ExprKind::Read(p) = &mut *e.kind
            && base_of(p) == Base::Var(self.side.array)
            && rest_of(p, self.counter).as_ref() == Some(&self.side.rest)
        {
            *p = self.place.clone();
        }
    }
}
