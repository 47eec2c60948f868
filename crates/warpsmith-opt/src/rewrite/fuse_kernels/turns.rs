//! Iterations of a serial loop around both nests, two at a time: there into a copy, and back.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, LoopId, LoopKind, PlaceKind, Scalar, Stmt, StmtKind, Type,
    VarId,
};

use super::launch::Grid;
use super::pair::Pair;
use super::ring;
use super::text::Nests;
use super::{LegalFuseKernels, refused};
use crate::analysis::access::{Base, base_of};
use crate::analysis::loops::{touched_bases, unit_step, written_bases};
use crate::build::conditions::{all_of, select};
use crate::build::stmts;
use crate::build::{arithmetic, counters, trips};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::rewrite::edit::copy::{self, Side};
use crate::walk;

/// A serial loop that holds both nests and nothing else.
pub(super) struct Turns {
    around: LoopId,
    /// What the second nest writes for the first one of the next iteration.
    pub(super) array: VarId,
}

/// Asks whether the second nest writes what the first reads, and whether two iterations of the loop around both can then be
/// run there and back. `None`: it does not.
pub(super) fn wanted(kernel: &Kernel, pair: &Pair) -> Result<Option<Turns>, Refusal> {
    let root = pair.second.root;
    let read = touched_bases(pair.first.body());
    let written = written_bases(pair.second.body());
    let mut both = written.iter().filter(|base| read.contains(base));
    let Some(base) = both.next() else { return Ok(None) };
    let Base::Var(array) = *base else {
        return refused(root, "it writes what the first nest reads, without a name");
    };
    let name = kernel.name_of(array);
    if both.next().is_some() || written.len() != 1 {
        return refused(root, format!("it writes more than `{name}`, which the first nest reads"));
    }
    let around = kernel.loops_around(root).into_iter().next_back();
    let Some(around) = around.filter(|l| holds_only(l, pair)) else {
        let why = format!(
            "it writes `{name}`, which the first nest reads, and no loop holds just both nests"
        );
        return refused(root, why);
    };
    check_around(kernel, around, pair)?;
    let last = pair.second.body().stmts.last().map(|s| &s.kind);
    let stored = match last {
        Some(StmtKind::Assign { place, .. }) => base_of(place) == Base::Var(array),
        _ => false,
    };
    let mut stores = 0;
    walk::each_stmt(pair.second.body(), &mut |s| {
        stores += usize::from(walk::changed(s).is_some_and(|p| p.root_var().is_none()));
    });
    if !stored || stores != 1 {
        return refused(root, format!("it does not store to `{name}` once, at its end"));
    }
    let shape = kernel.func().var(array).shape.clone().unwrap_or_default();
    let known = !shape.is_empty() && shape.iter().all(|e| kernel.known_at_start(e));
    if !known || copy::uses(&kernel.func().body, array, &shape).otherwise {
        return refused(root, format!("`{name}` cannot be copied"));
    }
    if kernel.constants.contains(&array) || kernel.func().var(array).pitched {
        return refused(root, format!("`{name}` is laid out in another way already"));
    }
    Ok(Some(Turns { around: around.id, array }))
}

fn holds_only(l: &ForLoop, pair: &Pair) -> bool {
    let is = |s: &Stmt, id: LoopId| matches!(&s.kind, StmtKind::For(l) if l.id == id);
    matches!(l.body.stmts.as_slice(), [a, b] if is(a, pair.first.root) && is(b, pair.second.root))
}

fn check_around(kernel: &Kernel, l: &ForLoop, pair: &Pair) -> Result<(), Refusal> {
    if !matches!(l.kind, LoopKind::Serial) || !unit_step(l) {
        return refused(l.id, "it is not serial, or does not count up by one");
    }
    if ![&l.first, &l.limit].iter().all(|e| kernel.known_at_start(e)) {
        return refused(l.id, "the launcher does not know its bounds when it starts");
    }
    if counters::counter_type(kernel.func(), l).bytes() > 4 {
        return refused(l.id, "its counter has more than 32 bits");
    }
    let body = [pair.first.body(), pair.second.body()];
    match body.iter().any(|b| walk::times_mentioned(b, l.var) > 0) {
        true => refused(l.id, "its counter is used in the nests"),
        false => Ok(()),
    }
}

/// Puts kernels there and back before what is left of the loop.
pub(super) fn apply(kernel: &mut Kernel, legal: &LegalFuseKernels<'_>, turns: &Turns, grid: &Grid) {
    let (old, there) = (turns.array, copied(kernel, turns.array));
    let Some(around) = kernel.find_loop(turns.around).cloned() else { return };
    let pairs = pairs(kernel, &around, fits(kernel, legal));
    let Some(nests) = Nests::of(kernel, &legal.pair) else { return };
    let go = nests.clone().stored(old, there);
    let back = nests.with(kernel, old, there).stored(there, old);
    let body = vec![
        ring::chosen(kernel, legal, go, grid).comment("there"),
        ring::chosen(kernel, legal, back, grid).comment("and back"),
    ];
    let counter = stmts::local(kernel.func_mut(), "turn", Type::I32);
    let l = stmts::counted(kernel.func_mut(), counter, pairs.clone(), LoopKind::Serial, body);
    let shape = kernel.func().var(old).shape.clone().unwrap_or_default();
    let side = |array: VarId| Side { array, extents: shape.clone() };
    let comment = "what no iteration writes is the same in both".to_string();
    let copy = copy::copy_nest(kernel, &side(there), &side(old), comment);
    let some = Expr::binary(BinaryOp::Gt, pairs.clone(), Expr::i32(0));
    let turned = stmts::when(some, vec![copy, stmts::looped(l)])
        .comment("two iterations at a time; the last ones leave everything where it belongs");
    let skipped = arithmetic::times(pairs, Expr::i32(2)).cast(around.first.ty.clone());
    let rest = arithmetic::plus(around.first.clone(), skipped);
    walk::with_loop(&mut kernel.func_mut().body, turns.around, &mut |s| {
        if let StmtKind::For(l) = &mut s.kind {
            l.first = rest.clone();
        }
    });
    copy::put_around(kernel, turns.around, vec![turned], vec![]);
}

fn copied(kernel: &mut Kernel, array: VarId) -> VarId {
    let var = kernel.func().var(array).clone();
    let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
    let comment = format!("every second state of `{}`", var.name);
    let shape = var.shape.unwrap_or_default();
    kernel.add_scratch(&format!("{}_next", var.name), element, shape, comment)
}

/// Positions, and elements of a plane, have numbers of 32 bits.
fn fits(kernel: &Kernel, legal: &LegalFuseKernels<'_>) -> Option<Expr> {
    let array = legal.ring.as_ref()?.array;
    let extents = kernel.func().var(array).shape.clone().unwrap_or_default();
    let wide = |e: &Expr| e.clone().cast(Type::I64);
    let below = |e: Expr, n: i64| Expr::binary(BinaryOp::Lt, e, Expr::int(Scalar::I64, n));
    let known = |e: &Expr| e.as_const().is_some_and(|n| n.as_i64() < 1 << 15);
    let open = || extents[1..].iter().filter(|e| !known(e));
    let each = open().map(|e| below(wide(e), 1 << 30));
    let plane = extents[1..].iter().map(wide).reduce(arithmetic::times);
    let plane = plane.filter(|_| open().next().is_some()).map(|e| below(e, 1 << 31));
    all_of(each.chain(plane))
}

/// Two iterations at a time, one or two left.
fn pairs(kernel: &mut Kernel, l: &ForLoop, fits: Option<Expr>) -> Expr {
    let function = kernel.func();
    let count = trips::wide_count(function, l);
    let less = arithmetic::plus(count, Expr::int(Scalar::I64, -1));
    let half = Expr::binary(BinaryOp::Div, less, Expr::int(Scalar::I64, 2));
    let cond = all_of([trips::runs(function, l)].into_iter().chain(fits));
    let half = half.cast(Type::I32);
    let value = match cond {
        Some(cond) => select(cond, half, Expr::i32(0)),
        None => half,
    };
    let comment = "pairs of iterations that are run together".to_string();
    Expr::var(kernel.add_length("turns", value, comment), Type::I32)
}

impl Nests {
    /// Both nests with another array in the place of one.
    fn with(self, kernel: &Kernel, from: VarId, to: VarId) -> Nests {
        let used = |nest: Stmt| {
            let mut block = Block::new(vec![nest]);
            copy::use_copy(kernel, &mut block, from, to);
            block.stmts.remove(0)
        };
        Nests { first: used(self.first), second: used(self.second), copy: Some([from, to]) }
    }

    /// What the second nest stores at its end goes to another array of the same shape.
    fn stored(mut self, from: VarId, to: VarId) -> Nests {
        store_to(&mut self.second, from, to);
        self
    }
}

fn store_to(stmt: &mut Stmt, from: VarId, to: VarId) {
    if let StmtKind::Assign { place, .. } = &mut stmt.kind
        && base_of(place) == Base::Var(from)
        && let PlaceKind::Elem { pointer, .. } = &mut *place.kind
    {
        *pointer = Expr::var(to, pointer.ty.clone());
    }
    for block in walk::blocks_mut(stmt) {
        block.stmts.iter_mut().for_each(|s| store_to(s, from, to));
    }
}
