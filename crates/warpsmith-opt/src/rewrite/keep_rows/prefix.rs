//! Loops over a row whose iterations use what its sums are so far: running sums, products and extremes, linear recurrences.
//!
//! Threads first combine what their elements contribute; each then goes through its elements again and begins with what the
//! threads before it have. Sums that nothing uses so far may depend on those that are: they are added up on this second way.

use std::collections::BTreeSet;

use warpsmith_ir::visit;
use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Block, Collective, Combine, Expr, ForLoop, Origin, Place, ReduceOp,
    Stmt, StmtKind, Type, VarId,
};

use super::recurrence;
use super::slice::slice;
use super::text::Maker;
use crate::analysis::access::{Base, base_of};
use crate::analysis::{extremes, scalars};
use crate::build::{operators, stmts};
use crate::kernel::{Kernel, Sum};
use crate::rewrite::edit::copy::general_copy;
use crate::rewrite::share;
use crate::walk;

/// The sums of a loop whose values so far its iterations use, and the others.
pub(super) fn apart(l: &ForLoop, sums: Vec<Sum>) -> (Vec<Sum>, Vec<Sum>) {
    let body = extremes::as_calls(&l.body);
    sums.into_iter().partition(|sum| share::seen_before_the_end(&body, &[*sum]).is_some())
}

/// What an iteration adds to running sums can be computed without knowing them.
///
/// # Errors
/// Why not.
pub(in crate::rewrite) fn check(
    kernel: &Kernel,
    l: &ForLoop,
    (sums, carried): (&[Sum], &BTreeSet<VarId>),
) -> Result<(), String> {
    if walk::continues(&l.body).is_some() {
        return Err("an iteration may go on early, and sums are used with the values so far".into());
    }
    if let Some(at) = sums.iter().find_map(|s| s.at) {
        return Err(format!("`{}` is a place, and used so far", kernel.name_of(at)));
    }
    let adding = contributions(&l.body, sums);
    if let Some(array) = changed_from_itself(&adding) {
        let name = kernel.name_of(array);
        return Err(format!("what is added follows from `{name}`, which would be changed twice"));
    }
    let is_sum = |v: VarId| carried.contains(&v) || sums.iter().any(|s| s.var == v);
    let mut wrong = None;
    walk::each_stmt(&extremes::as_calls(&adding), &mut |s| {
        let own = match &s.kind {
            StmtKind::Assign { place, value } => place
                .root_var()
                .filter(|v| is_sum(*v) && scalars::accumulation(value, *v).is_some()),
            _ => None,
        };
        walk::each_var_of_stmt(s, &mut |v| {
            if is_sum(v) && Some(v) != own {
                wrong = wrong.or(Some(v));
            }
        });
    });
    match wrong {
        Some(v) => Err(format!("what is added depends on `{}` so far", kernel.name_of(v))),
        None => Ok(()),
    }
}

/// An array of which a block stores elements after it has read some: what it does twice is not what it does once.
fn changed_from_itself(block: &Block) -> Option<VarId> {
    let (mut read, mut changed) = (BTreeSet::new(), None);
    walk::each_stmt(block, &mut |s| {
        let o = walk::operands(s);
        for e in o.reads.into_iter().chain(o.writes.into_iter().flat_map(walk::subscripts)) {
            visit::for_each_place_in_expr(e, &mut |p, _| {
                read.extend((p.root_var().is_none()).then(|| base_of(p)));
            });
        }
        let stored = o.writes.filter(|p| p.root_var().is_none()).map(base_of);
        if let Some(Base::Var(v)) = stored.filter(|base| read.contains(base)) {
            changed = changed.or(Some(v));
        }
    });
    changed
}

/// The statements of an iteration that say what it adds to sums.
pub(in crate::rewrite) fn contributions(body: &Block, sums: &[Sum]) -> Block {
    slice(body, &mut sums.iter().map(|s| s.var).collect())
}

/// A sum of a loop, and a thread's parts of it.
struct Running {
    sum: Sum,
    ty: Type,
    /// What the thread's elements add, and those of all threads together.
    part: VarId,
    /// What the threads before add.
    before: VarId,
    /// The sum as far as the thread's elements.
    own: VarId,
    /// The source chooses the better of two values.
    chosen: bool,
    /// What the thread's elements, and then all threads, multiply it by, where it is carried on linearly.
    slope: Option<VarId>,
}

impl Running {
    fn new(kernel: &mut Kernel, l: &ForLoop, sum: Sum, carried: bool) -> Running {
        let (name, ty) =
            (kernel.name_of(sum.var).to_string(), kernel.func().var(sum.var).ty.clone());
        let [part, before, own] = ["part", "before", "here"]
            .map(|of| stmts::local(kernel.func_mut(), &format!("{name}_{of}"), ty.clone()));
        let chosen = extremes::is_chosen(&l.body, sum.var);
        let slope = || stmts::local(kernel.func_mut(), &format!("{name}_slope"), ty.clone());
        let slope = carried.then(slope);
        Running { sum, ty, part, before, own, chosen, slope }
    }

    fn joined(&self, a: VarId, b: VarId) -> Expr {
        let value = |v| Expr::var(v, self.ty.clone());
        match self.ty.scalar() {
            Some(scalar) => share::joined(self.sum.op, (scalar, self.chosen), value(a), value(b)),
            None => value(a),
        }
    }

    /// Declares a variable with the value that changes nothing in an operation.
    fn nothing(&self, part: VarId, op: ReduceOp) -> Option<Stmt> {
        let none = operators::identity(op, self.ty.scalar()?);
        Some(stmts::declare(part, Expr::constant(none)))
    }

    /// Declares the thread's part, nothing added.
    fn begin(&self) -> impl Iterator<Item = Stmt> {
        let slope = self.slope.and_then(|v| self.nothing(v, ReduceOp::Mul));
        slope.into_iter().chain(self.nothing(self.part, self.sum.op))
    }

    /// What all threads add, and the sum with what those before a thread add.
    fn combined(&self) -> Vec<Stmt> {
        let (slope, own) = (self.slope, Expr::var(self.sum.var, self.ty.clone()));
        let before = if slope.is_some() { self.own } else { self.before };
        let (op, value) = (self.sum.op, self.part);
        let over = vec![(BindLevel::Block, Axis::X)];
        let combine = Combine { op, value, at: None, before: Some(before), slope, over };
        let combine = StmtKind::Collective(Collective::Combine(combine));
        let combine = Stmt::new(combine, Origin::default());
        match slope {
            Some(_) => vec![stmts::declare(before, own), combine],
            None => self.nothing(before, op).into_iter().chain([combine]).collect(),
        }
    }

    /// Where a thread's elements begin, unless `combined` has declared that.
    fn begun(&self) -> Option<Stmt> {
        let begun = || stmts::declare(self.own, self.joined(self.sum.var, self.before));
        self.slope.is_none().then(begun)
    }

    /// The sum with what all threads add.
    fn ended(&self) -> Stmt {
        let value = |v| Expr::var(v, self.ty.clone());
        let ended = match self.slope {
            None => self.joined(self.sum.var, self.part),
            Some(slope) => {
                let scaled = Expr::binary(BinaryOp::Mul, value(slope), value(self.sum.var));
                Expr::binary(BinaryOp::Add, scaled, value(self.part))
            }
        };
        stmts::set(Place::var(self.sum.var, self.ty.clone()), ended)
    }
}

impl Maker<'_, '_> {
    /// A loop over a row, group by group: what the elements of a group add, and then its iterations.
    pub(super) fn running(&mut self, l: &ForLoop, at: usize) -> Stmt {
        let sums = self.loops[at].running.clone();
        let carried = self.loops[at].carried.clone();
        let new = |sum: Sum| Running::new(self.kernel, l, sum, carried.contains(&sum.var));
        let running: Vec<Running> = sums.into_iter().map(new).collect();
        let adding = with_parts(self.kernel, l, &running);
        let whole = renamed(l, &running, |r| r.own);
        let group = self.loops[at].group;
        self.each_group(group, |maker, element| {
            let mut body: Vec<Stmt> = maker.of_group(at).map(stmts::undefined).collect();
            body.extend(running.iter().flat_map(Running::begin));
            let mut first = maker.loads(at, group, element);
            first.extend(maker.elements(&adding, at, element));
            body.push(maker.where_inside(element, first));
            body.extend(running.iter().flat_map(Running::combined));
            body.extend(running.iter().filter_map(Running::begun));
            let mut second = maker.elements(&whole, at, element);
            second.extend(maker.stores(at, group, element));
            body.push(maker.where_inside(element, second));
            body.extend(running.iter().map(Running::ended));
            body
        })
    }
}

/// A loop that only adds, to the parts of a thread.
fn with_parts(kernel: &mut Kernel, l: &ForLoop, running: &[Running]) -> ForLoop {
    let sums: Vec<Sum> = running.iter().map(|r| r.sum).collect();
    let mut only = ForLoop { body: contributions(&l.body, &sums), ..l.clone() };
    for (r, slope) in running.iter().filter_map(|r| Some((r, r.slope?))) {
        recurrence::with_slopes(kernel, &mut only.body, r.sum.var, slope);
    }
    let (copy, _, _) = general_copy(kernel, &stmts::looped(renamed(&only, running, |r| r.part)));
    match copy.kind {
        StmtKind::For(l) => l,
        _ => only,
    }
}

fn renamed(l: &ForLoop, running: &[Running], to: impl Fn(&Running) -> VarId) -> ForLoop {
    let mut block = Block::new(vec![stmts::looped(l.clone())]);
    visit::rename_vars(&mut block, &mut |v| running.iter().find(|r| r.sum.var == v).map_or(v, &to));
    match block.stmts.remove(0).kind {
        StmtKind::For(l) => l,
        _ => l.clone(),
    }
}
