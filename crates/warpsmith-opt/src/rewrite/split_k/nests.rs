//! The two nests: one leaves partial results in the workspace, the other one combines them.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, LoopKind, Origin, Parallel, Place, ReduceOp, Scalar, Stmt,
    StmtKind, Type, Value, Var, VarId, VarKind,
};

use super::{LegalSplitK, Sum};
use crate::analysis::access::{Base, base_of};
use crate::analysis::presence;
use crate::build::operators;
use crate::build::stmts::when;
use crate::kernel::Kernel;
use crate::names::fresh_name;
use crate::rewrite::Rewritten;
use crate::rewrite::edit::copy::general_copy;
use crate::rewrite::edit::part_ranges::Ranges;
use crate::rewrite::edit::{copy, slots};
use crate::walk;

/// Makes the nest of partial sums, and lets the other one combine them.
pub fn apply(legal: LegalSplitK<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let loops: Vec<ForLoop> =
        legal.group.iter().filter_map(|id| kernel.find_loop(*id).cloned()).collect();
    let (Some(l), Some(stmt)) = (
        kernel.find_loop(legal.target).cloned(),
        walk::loop_stmt(&kernel.func().body, legal.root).cloned(),
    ) else {
        return Rewritten::same_loops(kernel);
    };
    kernel.numbers.push(legal.parts);
    let counter = kernel.name_of(l.var).to_string();
    let extents = slots::extents(&mut kernel, &loops);
    let parts: Vec<Parts> = legal
        .sums
        .iter()
        .map(|sum| Parts::of(&mut kernel, sum, extents.clone(), legal.parts))
        .collect();
    let ty = kernel.func().var(l.var).ty.clone();
    let what = format!("a sum over `{counter}`");
    let ranges = Ranges::new(&mut kernel, &l, (legal.parts, 1), &what);
    let name = fresh_name(kernel.func(), &format!("{counter}_part"));
    let mut var = Var::new(name, ty.clone(), VarKind::Local);
    let origin = stmt.origin.by("split_k");
    var.origin = origin.clone();
    let part = kernel.func_mut().add_var(var);
    let first = first_nest(&mut kernel, &legal, &loops, (&l, &ranges), (&parts, part), &origin);
    let first = general_copy(&mut kernel, &first).0;
    combine(&mut kernel, &legal, &loops, &parts, part);
    copy::put_around(&mut kernel, legal.root, vec![first], vec![]);
    Rewritten::same_loops(kernel)
}

/// The array of the partial results of a sum.
struct Parts<'l> {
    sum: &'l Sum,
    array: VarId,
}

/// The nest that computes the partial results, with the loops and variables of the old one.
fn first_nest(
    kernel: &mut Kernel,
    legal: &LegalSplitK<'_>,
    loops: &[ForLoop],
    (l, ranges): (&ForLoop, &Ranges),
    (parts, part): (&[Parts<'_>], VarId),
    origin: &Origin,
) -> Stmt {
    let ty = kernel.func().var(part).ty.clone();
    let scalar = ty.scalar().unwrap_or(Scalar::I32);
    let number = Expr::var(part, ty);
    let (first, limit) = ranges.bounds(kernel, &number);
    let mut body = l.body.clone();
    let mut stmts = legal.needed.clone();
    for part_of in parts {
        let element = part_of.element(kernel, number.clone(), loops);
        copy::replace_place(&mut body, &part_of.sum.place, &element);
        stmts.push(Stmt::new(part_of.cleared(element), origin.clone()));
    }
    let share = ForLoop { first, compare: BinaryOp::Lt, limit, body, declares: true, ..l.clone() };
    stmts.push(Stmt::new(StmtKind::For(share), origin.clone()));
    let stmts = inside(loops, stmts, origin);
    let all = ForLoop {
        id: kernel.func_mut().fresh_loop(),
        var: part,
        declares: true,
        first: Expr::int(scalar, 0),
        compare: BinaryOp::Lt,
        limit: Expr::int(scalar, legal.parts.into()),
        step: Expr::int(scalar, 1),
        kind: LoopKind::Parallel(Parallel::default()),
        body: Block::new(stmts),
    };
    Stmt::new(StmtKind::For(all), origin.clone())
}

/// The statements inside of the loops.
fn inside(loops: &[ForLoop], mut stmts: Vec<Stmt>, origin: &Origin) -> Vec<Stmt> {
    for outer in loops.iter().rev() {
        let own = ForLoop { body: Block::new(stmts), ..outer.clone() };
        stmts = vec![Stmt::new(StmtKind::For(own), origin.clone())];
    }
    stmts
}

/// Puts the sum over the parts in place of the loop.
fn combine(
    kernel: &mut Kernel,
    legal: &LegalSplitK<'_>,
    loops: &[ForLoop],
    parts: &[Parts<'_>],
    part: VarId,
) {
    let var = kernel.func().var(part).clone();
    let ty = var.ty.clone();
    let scalar = ty.scalar().unwrap_or(Scalar::I32);
    let own = kernel.func_mut().add_var(var);
    let id = kernel.func_mut().fresh_loop();
    let number = Expr::var(own, ty);
    let function = kernel.func();
    let target = kernel.find_loop(legal.target);
    let there = |p: &Parts<'_>| presence::condition(function, &[target?], &p.sum.place).ok()?;
    let there: Option<Expr> = parts.iter().find_map(there);
    let added: Vec<StmtKind> =
        parts.iter().map(|p| p.added(p.element(kernel, number.clone(), loops))).collect();
    walk::with_loop(&mut kernel.func_mut().body, legal.target, &mut |stmt| {
        let origin = stmt.origin.by("split_k");
        let added = added.iter().map(|kind| Stmt::new(kind.clone(), origin.clone())).collect();
        stmt.kind = StmtKind::For(ForLoop {
            id,
            var: own,
            declares: true,
            first: Expr::int(scalar, 0),
            compare: BinaryOp::Lt,
            limit: Expr::constant(Value::int(scalar, legal.parts.into())),
            step: Expr::int(scalar, 1),
            kind: LoopKind::Serial,
            body: Block::new(added),
        });
        stmt.origin = origin;
        if let Some(cond) = there.clone() {
            *stmt = when(cond, vec![stmt.clone()]);
        }
    });
}

impl Parts<'_> {
    /// In the workspace, `count` for each iteration of loops with these extents.
    fn of<'l>(kernel: &mut Kernel, sum: &'l Sum, own: Vec<Expr>, count: u32) -> Parts<'l> {
        let name = match base_of(&sum.place) {
            Base::Var(v) => kernel.name_of(v).to_string(),
            _ => "sum".into(),
        };
        let mut extents = vec![Expr::i32(i32::try_from(count).unwrap_or(i32::MAX))];
        extents.extend(own);
        let comment = format!("partial results of `{name}`");
        let element = Type::Scalar(sum.scalar);
        let array = kernel.add_scratch(&format!("{name}_parts"), element, extents, comment);
        if sum.scalar.is_float() && matches!(sum.op, ReduceOp::Add | ReduceOp::Mul) {
            kernel.reassociated.insert(array);
        }
        Parts { sum, array }
    }

    /// The partial result of an iteration.
    fn element(&self, kernel: &Kernel, part: Expr, loops: &[ForLoop]) -> Place {
        let numbers = slots::numbers(kernel, loops);
        copy::element(kernel.func(), self.array, [part].into_iter().chain(numbers).collect())
    }

    /// A partial result before anything is added to it.
    fn cleared(&self, element: Place) -> StmtKind {
        let value = Expr::constant(operators::identity(self.sum.op, self.sum.scalar));
        StmtKind::Assign { place: element, value }
    }

    /// A partial result added to the sum.
    fn added(&self, element: Place) -> StmtKind {
        let place = self.sum.place.clone();
        let before = Expr::read(place.clone());
        let value = operators::combine(self.sum.op, self.sum.scalar, before, Expr::read(element));
        StmtKind::Assign { place, value }
    }
}
