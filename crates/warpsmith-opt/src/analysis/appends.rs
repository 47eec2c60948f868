//! Arrays that a loop only appends to: `if (p) { out[m] = x; m += 1; }`.
//!
//! While `m` is `c`, an iteration owns the elements `a c + w` to `a (c + k) + w - 1`, `k` what it adds to `m` after or before it stores
//! there: the next one that stores begins behind them. So no two iterations store in the same element, whatever data decide who
//! stores at all.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit;
use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, Function, Place, PlaceKind, Stmt, StmtKind, VarId,
};

use super::access::{Base, base_of};
use super::loops::has_nameless;
use crate::walk;

/// A store next to what its block adds to the counter.
struct Store {
    array: VarId,
    /// What the counter is multiplied by.
    factor: i128,
    /// Elements beyond those of the counter before the addition.
    beyond: i128,
    /// What the block adds to the counter.
    step: i128,
}

/// The arrays that a loop only writes, at places that a variable from outside counts, of which each iteration has its own as long as the
/// variable has the values of the serial loop.
pub fn appended(function: &Function, l: &ForLoop) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    if has_nameless(&l.body) {
        return found;
    }
    let own = walk::own_variables(&l.body);
    for counter in walk::set_in(&l.body).difference(&own).copied() {
        let mut stores = vec![];
        let adds = steps(&l.body, counter);
        let Some(sign) = adds.as_deref().and_then(one_sign) else { continue };
        if adds.is_some_and(|adds| may_begin_anew(function, l, counter, &adds)) {
            continue;
        }
        collect(&l.body, counter, sign, &mut stores);
        let arrays: BTreeSet<VarId> = stores.iter().map(|s| s.array).collect();
        found.extend(arrays.into_iter().filter(|array| is_apart(&l.body, *array, &stores)));
    }
    found
}

/// Whether all accesses to an array are these stores, and the elements of one addition end where those of the next begin.
fn is_apart(body: &Block, array: VarId, stores: &[Store]) -> bool {
    let own: Vec<&Store> = stores.iter().filter(|s| s.array == array).collect();
    let mut accesses = 0;
    visit::for_each_place(body, &mut |p, _| {
        accesses += usize::from(p.root_var().is_none() && base_of(p) == Base::Var(array));
    });
    let (Some(first), Some(factor)) =
        (own.iter().map(|s| s.beyond).min(), own.first().map(|s| s.factor))
    else {
        return false;
    };
    let fits = |s: &&Store| s.factor == factor && s.beyond - first < factor * s.step;
    accesses == own.len() && own.iter().all(fits)
}

/// Whether an unsigned counter may be at zero again after so many iterations; signed ones must not overflow.
fn may_begin_anew(function: &Function, l: &ForLoop, counter: VarId, steps: &[i128]) -> bool {
    let scalar = |v: VarId| function.var(v).ty.scalar();
    let (Some(own), Some(of_loop)) = (scalar(counter), scalar(l.var)) else { return true };
    let bytes = own.bytes();
    let enough = bytes >= 8 || bytes >= of_loop.bytes() && steps.iter().all(|s| s.abs() == 1);
    !own.is_signed() && !enough
}

/// What the statements of a loop add to a variable; `None`: they set it in another way.
fn steps(body: &Block, counter: VarId) -> Option<Vec<i128>> {
    let (mut found, mut other) = (vec![], false);
    walk::each_stmt(body, &mut |s| {
        let o = walk::operands(s);
        let target = o.writes.and_then(Place::root_var);
        if o.results.iter().copied().chain(target).any(|v| v == counter) {
            match step_of(s, counter) {
                Some(step) => found.push(step),
                None => other = true,
            }
        }
    });
    (!other).then_some(found)
}

/// `k` of `counter = counter + k`.
fn step_of(stmt: &Stmt, counter: VarId) -> Option<i128> {
    let StmtKind::Assign { place, value } = &stmt.kind else { return None };
    let is_counter = *place.kind == PlaceKind::Var(counter);
    let step = Poly::from_expr(value)?.sub(&Poly::var(counter))?;
    step.as_constant().filter(|_| is_counter)
}

/// 1 or -1, where all numbers have that sign.
fn one_sign(steps: &[i128]) -> Option<i128> {
    let first = steps.first()?.signum();
    (first != 0 && steps.iter().all(|s| s.signum() == first)).then_some(first)
}

/// The stores of blocks that add to the counter once.
fn collect(block: &Block, counter: VarId, sign: i128, found: &mut Vec<Store>) {
    let stmts = in_a_row(block);
    let adds = |s: &Stmt| walk::writes_var(&Block::new(vec![s.clone()]), counter);
    let adding: Vec<usize> = (0..stmts.len()).filter(|k| adds(stmts[*k])).collect();
    if let [at] = adding[..]
        && let Some(step) = step_of(stmts[at], counter)
    {
        let mut held = BTreeMap::from([(counter, 0)]);
        for (k, stmt) in stmts.into_iter().enumerate() {
            held.insert(counter, if k > at { step } else { 0 });
            if let Some((copy, of)) = copied(stmt)
                && let Some(added) = held.get(&of).copied()
                && times_given(block, copy) == 1
            {
                held.insert(copy, added);
            }
            stores_in(stmt, &held, (sign, step.abs()), found);
        }
        return;
    }
    for stmt in stmts {
        walk::blocks(stmt).into_iter().for_each(|b| collect(b, counter, sign, found));
    }
}

/// How often a block gives a variable a value.
fn times_given(block: &Block, var: VarId) -> usize {
    let mut bare = 0;
    walk::each_stmt(block, &mut |s| {
        bare += usize::from(matches!(&s.kind, StmtKind::Decl { var: v, init: None } if *v == var));
    });
    walk::times_set(block, var) - bare
}

/// The statements of a block, with those of blocks that stand in it alone.
fn in_a_row(block: &Block) -> Vec<&Stmt> {
    let each = block.stmts.iter().map(|s| match &s.kind {
        StmtKind::Scope(inner) => in_a_row(inner),
        _ => vec![s],
    });
    each.flatten().collect()
}

/// The variable that a statement gives the value of another one, as `m++` does where its value is used.
fn copied(stmt: &Stmt) -> Option<(VarId, VarId)> {
    let (var, value) = match &stmt.kind {
        StmtKind::Decl { var, init: Some(value) } => (*var, value),
        StmtKind::Assign { place, value } => match *place.kind {
            PlaceKind::Var(var) => (var, value),
            _ => return None,
        },
        _ => return None,
    };
    match &*without_widening(value).kind {
        ExprKind::Read(place) => match *place.kind {
            PlaceKind::Var(of) => Some((var, of)),
            _ => None,
        },
        _ => None,
    }
}

/// Stores in a statement, by variables that hold the counter with so much added to it.
fn stores_in(
    stmt: &Stmt,
    held: &BTreeMap<VarId, i128>,
    (sign, step): (i128, i128),
    found: &mut Vec<Store>,
) {
    walk::each_stmt(&Block::new(vec![stmt.clone()]), &mut |s| {
        let store = walk::operands(s).writes.and_then(element).and_then(|(array, index)| {
            let (factor, beyond, added) = held
                .iter()
                .find_map(|(var, added)| position(index, *var).map(|(a, d)| (a, d, *added)))?;
            // Of a counter that goes down all is seen in a mirror.
            let beyond = (beyond + factor * added) * sign;
            Some(Store { array, factor, beyond, step })
        });
        found.extend(store);
    });
}

/// The array of an element, or of a part of it, and its first subscript.
fn element(place: &Place) -> Option<(VarId, &Expr)> {
    match &*place.kind {
        PlaceKind::Field(inner, _) | PlaceKind::Index(inner, _) => element(inner),
        PlaceKind::Elem { pointer, index, .. } => match &*pointer.kind {
            ExprKind::Read(p) => Some((p.root_var()?, index.first()?)),
            _ => None,
        },
        _ => None,
    }
}

/// `a` and `d` of `a counter + d`, `a` positive.
fn position(index: &Expr, counter: VarId) -> Option<(i128, i128)> {
    let index = Poly::from_expr(without_widening(index))?;
    let first = index.substitute(counter, &Poly::zero())?.as_constant()?;
    let second = index.substitute(counter, &Poly::constant(1))?.as_constant()?;
    let linear = Poly::var(counter).scale(second - first)?.add(&Poly::constant(first))?;
    (second > first && linear == index).then_some((second - first, first))
}

/// An integer before it was made a wider one.
fn without_widening(e: &Expr) -> &Expr {
    let bytes = |e: &Expr| e.ty.scalar().filter(|s| s.is_integer()).map(|s| s.bytes());
    match &*e.kind {
        ExprKind::Cast(inner) if bytes(inner).is_some() && bytes(inner) <= bytes(e) => {
            without_widening(inner)
        }
        _ => e,
    }
}
