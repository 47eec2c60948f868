//! What a nest that adds up rows and columns consists of.

use std::collections::BTreeSet;

use warpsmith_ir::visit;
use warpsmith_ir::{
    AtomicOp, BinaryOp, Block, Expr, ExprKind, ForLoop, Origin, Place, PlaceKind, ReduceOp, Scalar,
    Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::refused;
use crate::analysis::access::{Base, base_of};
use crate::analysis::scalars;
use crate::kernel::{Kernel, Sum};
use crate::refusal::Refusal;
use crate::rewrite::keep_rows::{self, Row};
use crate::walk;

/// The sum of a row.
pub(super) struct RowSum {
    pub var: VarId,
    pub scalar: Scalar,
    /// Where the nest stores it.
    pub home: Place,
    /// What it begins with, unless that is what its home holds.
    pub first: Option<Expr>,
    /// How often the nest accesses its home.
    pub accesses: usize,
    /// What is stored, unless it is the sum.
    pub value: Option<Expr>,
}

/// An element that moves with the inner counter only, and is added to.
#[derive(Clone, PartialEq)]
pub(super) struct Column {
    pub place: Place,
    pub scalar: Scalar,
}

pub(super) struct Parts {
    /// Declarations before the inner loop, those of sums left out.
    pub before: Vec<Stmt>,
    pub sums: Vec<RowSum>,
    pub columns: Vec<Column>,
}

/// Takes the body of the nest apart.
pub(super) fn parts(
    kernel: &Kernel,
    outer: &ForLoop,
    inner: &ForLoop,
    sums: &[Sum],
) -> Result<Parts, Refusal> {
    let stmts = &outer.body.stmts;
    let is_inner = |s: &Stmt| matches!(&s.kind, StmtKind::For(l) if l.id == inner.id);
    let at = stmts.iter().position(is_inner).unwrap_or(stmts.len());
    let (before, after) = (&stmts[..at], stmts.get(at + 1..).unwrap_or(&[]));
    let columns = columns(kernel, outer, inner)?;
    let mut found = vec![];
    for sum in sums {
        found.push(row_sum(kernel, outer, (before, after), sum)?);
    }
    let expected = |s: &Stmt| match &s.kind {
        StmtKind::Decl { init, .. } => init.is_some(),
        StmtKind::Assign { place, .. } => found.iter().any(|k: &RowSum| k.home == *place),
        _ => false,
    };
    if !before.iter().all(expected) {
        return refused(outer.id, "more than declarations stands before its inner loop");
    }
    if after.len() != found.len() {
        return refused(outer.id, "more than the sums of its rows is stored after its inner loop");
    }
    let is_sum = |s: &Stmt| matches!(s.kind, StmtKind::Decl { var, .. } if sums.iter().any(|k| k.var == var));
    let declared = before.iter().filter(|s| matches!(s.kind, StmtKind::Decl { .. }));
    let before = declared.filter(|s| !is_sum(s)).cloned().collect();
    let parts = Parts { before, sums: found, columns };
    check_alone(kernel, outer, inner, &parts)?;
    Ok(parts)
}

fn is_addable(scalar: Option<Scalar>) -> Option<Scalar> {
    use Scalar::{F32, F64, I32, U32, U64};
    scalar.filter(|s| matches!(s, F32 | F64 | I32 | U32 | U64))
}

/// The elements that the inner loop adds to.
fn columns(kernel: &Kernel, outer: &ForLoop, inner: &ForLoop) -> Result<Vec<Column>, Refusal> {
    let mut found: Vec<Column> = vec![];
    let mut wrong = None;
    walk::each_stmt(&inner.body, &mut |s| {
        let StmtKind::Atomic { op, pointer, compare, result, .. } = &s.kind else { return };
        let adds = matches!(op, AtomicOp::Add | AtomicOp::Sub);
        let plain = adds && compare.is_none() && result.is_none();
        let column = match &*pointer.kind {
            ExprKind::AddressOf(place) if plain => column(kernel, inner, place),
            _ => Err("it updates something by other than an atomic addition"),
        };
        match column {
            Ok(column) if !found.contains(&column) => found.push(column),
            Ok(_) => {}
            Err(why) => wrong = wrong.or(Some(why)),
        }
    });
    match wrong {
        Some(why) => refused(inner.id, why),
        None if found.is_empty() => refused(outer.id, "its inner loop updates nothing atomically"),
        None => Ok(found),
    }
}

fn column(kernel: &Kernel, inner: &ForLoop, place: &Place) -> Result<Column, &'static str> {
    let element = matches!(&*place.kind, PlaceKind::Elem { .. });
    let mut moves = false;
    let mut own = element && matches!(base_of(place), Base::Var(_));
    for e in walk::subscripts(place) {
        own &= !walk::reads_memory(e);
        walk::each_var(e, &mut |v| {
            moves |= v == inner.var;
            own &= v == inner.var || kernel.known_at_start(&variable(kernel, v));
        });
    }
    match (own && moves, is_addable(place.ty.scalar())) {
        (false, _) => Err("it updates something that does not move with its counter alone"),
        (_, None) => Err("threads cannot add to what it updates"),
        (true, Some(scalar)) => Ok(Column { place: place.clone(), scalar }),
    }
}

fn variable(kernel: &Kernel, v: VarId) -> Expr {
    Expr::var(v, kernel.func().var(v).ty.clone())
}

/// How a sum begins and where it goes.
fn row_sum(
    kernel: &Kernel,
    outer: &ForLoop,
    (before, after): (&[Stmt], &[Stmt]),
    sum: &Sum,
) -> Result<RowSum, Refusal> {
    let name = kernel.name_of(sum.var);
    let refuse = |why: &str| refused(outer.id, format!("`{name}` {why}"));
    let scalar = match is_addable(kernel.func().var(sum.var).ty.scalar()) {
        Some(scalar) if sum.op == ReduceOp::Add && sum.at.is_none() => scalar,
        _ => return refuse("is no sum that threads can add to memory"),
    };
    let declared = before.iter().enumerate().find_map(|(at, s)| match &s.kind {
        StmtKind::Decl { var, init: Some(e) } if *var == sum.var => Some((at, e)),
        _ => None,
    });
    let Some((at, first)) = declared else {
        return refuse("is not declared before the inner loop");
    };
    let mentions = |s: &Stmt| {
        let mut found = false;
        walk::each_var_of_stmt(s, &mut |v| found |= v == sum.var);
        found
    };
    let mut uses = after.iter().filter(|s| mentions(s));
    let (home, value) = match (uses.next().map(|s| &s.kind), uses.next()) {
        (Some(StmtKind::Assign { place, value }), None) => (place, value),
        _ => return refuse("is not stored once after the inner loop"),
    };
    let element = matches!(&*home.kind, PlaceKind::Elem { .. });
    let steady = walk::subscripts(home).into_iter().all(|e| !walk::mentions(e, sum.var));
    let named = matches!(base_of(home), Base::Var(_)) && steady;
    if !element || !named || home.ty != kernel.func().var(sum.var).ty {
        return refuse("is not stored in an element of its own type");
    }
    // `q[i] = 0; x = q[i]` begins with 0.
    let reads_home = matches!(&*first.kind, ExprKind::Read(p) if p == home);
    let set = before[..at].iter().find_map(|s| match &s.kind {
        StmtKind::Assign { place, value } if place == home => Some(value),
        _ => None,
    });
    Ok(RowSum {
        var: sum.var,
        scalar,
        home: home.clone(),
        first: if reads_home { set.cloned() } else { Some(first.clone()) },
        accesses: 1 + usize::from(reads_home) + usize::from(set.is_some()),
        value: (!scalars::reads(value, sum.var)).then(|| value.clone()),
    })
}

/// Nothing in the nest touches what is added to but these additions, and what comes before or after the inner loop does not
/// depend on what the nest writes.
fn check_alone(
    kernel: &Kernel,
    outer: &ForLoop,
    inner: &ForLoop,
    parts: &Parts,
) -> Result<(), Refusal> {
    let used = |base: Base| match base {
        Base::Var(v) => {
            let name = kernel.name_of(v);
            refused(outer.id, format!("its nest uses `{name}` for more than one of its sums"))
        }
        _ => refused(outer.id, "its nest uses a pointer that has no name"),
    };
    let homes = parts.sums.iter().map(|s| &s.home);
    let mut bases = BTreeSet::new();
    for place in homes.chain(parts.columns.iter().map(|c| &c.place)) {
        if !bases.insert(base_of(place)) {
            return used(base_of(place));
        }
    }
    for base in &bases {
        let updates = count(&inner.body, |s| {
            matches!(s.kind, StmtKind::Atomic { .. })
                && walk::changed(s).map(base_of) == Some(*base)
        });
        let own = parts.sums.iter().find(|s| base_of(&s.home) == *base);
        let accesses = own.map_or(0, |s| s.accesses);
        let mut found = 0;
        visit::for_each_place(&outer.body, &mut |p, _| {
            found += usize::from(p.root_var().is_none() && base_of(p) == *base);
        });
        if found != updates + accesses {
            return used(*base);
        }
    }
    let mut nameless = false;
    visit::for_each_place(&outer.body, &mut |p, _| {
        nameless |= p.root_var().is_none() && base_of(p) == Base::Anything;
    });
    match nameless {
        true => used(Base::Anything),
        false => check_order(outer, inner, parts, &bases),
    }
}

fn count(block: &Block, wanted: impl Fn(&Stmt) -> bool) -> usize {
    let mut found = 0;
    walk::each_stmt(block, &mut |s| found += usize::from(wanted(s)));
    found
}

/// What is computed before and after the inner loop reads nothing that the nest writes: it is computed in other places, too.
fn check_order(
    outer: &ForLoop,
    inner: &ForLoop,
    parts: &Parts,
    sums: &BTreeSet<Base>,
) -> Result<(), Refusal> {
    let mut written = sums.clone();
    walk::each_stmt(&inner.body, &mut |s| {
        written.extend(walk::changed(s).filter(|p| p.root_var().is_none()).map(base_of));
    });
    let mut reads = false;
    let mut look = |e: &Expr| {
        visit::for_each_place_in_expr(e, &mut |p, _| {
            reads |= p.root_var().is_none() && written.contains(&base_of(p));
        });
    };
    for s in &parts.before {
        walk::operands(s).reads.into_iter().for_each(&mut look);
    }
    for sum in &parts.sums {
        sum.first.iter().chain(&sum.value).for_each(&mut look);
        walk::subscripts(&sum.home).into_iter().for_each(&mut look);
    }
    let own: Vec<VarId> = parts.sums.iter().map(|s| s.var).collect();
    let mut seen = false;
    for s in &parts.before {
        walk::each_var_of_stmt(s, &mut |v| seen |= own.contains(&v));
    }
    for sum in &parts.sums {
        let mut others = |e: &Expr, but: Option<VarId>| {
            walk::each_var(e, &mut |v| seen |= own.contains(&v) && Some(v) != but);
        };
        sum.first.iter().for_each(|e| others(e, None));
        sum.value.iter().for_each(|e| others(e, Some(sum.var)));
    }
    match (reads, seen) {
        (true, _) => refused(outer.id, "around its inner loop it reads what the nest writes"),
        (_, true) => refused(outer.id, "one of its sums depends on another"),
        _ => Ok(()),
    }
}

/// Elements of which each iteration of the inner loop reads or writes its own.
pub(super) fn rows(
    kernel: &Kernel,
    outer: &ForLoop,
    inner: &ForLoop,
    parts: &Parts,
) -> Result<Vec<Row>, String> {
    let mut made = kernel.clone();
    let mut changed = inner.clone();
    let own: Vec<Place> = parts
        .columns
        .iter()
        .map(|c| {
            let ty = Type::Scalar(c.scalar);
            let var = Var::new("own", ty.clone(), VarKind::Local);
            Place::var(made.func_mut().add_var(var), ty)
        })
        .collect();
    add_to(&mut changed.body, &parts.columns, &own);
    let stmt = Stmt::new(StmtKind::For(changed.clone()), Origin::default());
    let rows =
        keep_rows::accessed(&made, outer.id, &Block::new(vec![stmt]), &[&changed], &|_| false)?;
    match rows.iter().find(|r| r.back) {
        Some(row) => Err(format!("it goes through `{}` backwards", kernel.name_of(row.array))),
        None => Ok(rows),
    }
}

/// Puts additions to places of the thread's own in place of the atomic ones.
pub(super) fn add_to(block: &mut Block, columns: &[Column], own: &[Place]) {
    for stmt in &mut block.stmts {
        if let StmtKind::Atomic { op, pointer, value, .. } = &stmt.kind
            && let ExprKind::AddressOf(place) = &*pointer.kind
            && let Some((_, to)) = columns.iter().zip(own).find(|(c, _)| c.place == *place)
        {
            let value = value.clone().cast(to.ty.clone());
            let op = if *op == AtomicOp::Sub { BinaryOp::Sub } else { BinaryOp::Add };
            let sum = Expr::binary(op, Expr::read(to.clone()), value);
            stmt.kind = StmtKind::Assign { place: to.clone(), value: sum };
        }
        walk::blocks_mut(stmt).into_iter().for_each(|b| add_to(b, columns, own));
    }
}
