//! Elements that an iteration of the shape reads, so that iterations outside of it may read them, too: for every key that one of the rows
//! of a triangle meets, its longest row does.

use std::collections::BTreeSet;

use warpsmith_ir::poly::{Atom, Facts, Poly};
use warpsmith_ir::{BinaryOp, Expr, ExprKind, ForLoop, Place, StmtKind, VarId};

use crate::analysis::loops::unit_step;
use crate::walk;

/// What the shape is.
#[derive(Clone)]
pub(super) struct Anyway<'k> {
    l: &'k ForLoop,
    /// Loops around `l`, outermost first.
    around: Vec<&'k ForLoop>,
    /// The counter whose last (or first) iteration has the whole range of `l`.
    widest: Option<VarId>,
    /// Every iteration of the loops around has one of `l`.
    never_empty: bool,
}

impl<'k> Anyway<'k> {
    /// `hull`: the first value of the counter for all iterations, and the one after the last; `facts`: the ranges of the counters of
    /// loops around.
    pub fn new(
        l: &'k ForLoop,
        around: &[&'k ForLoop],
        hull: [&Expr; 2],
        facts: &Facts,
    ) -> Anyway<'k> {
        let body = around.first().map_or(&l.body, |root| &root.body);
        let early = |l: &&ForLoop| walk::leaves(&l.body).or(walk::continues(&l.body)).is_some();
        let whole = !around.iter().chain([&l]).any(early)
            && walk::returns(body).is_none()
            && around.iter().chain([&l]).all(|l| unit_step(l));
        let length = range(l).and_then(|(_, first, last)| last.sub(&first));
        Anyway {
            l,
            around: around.to_vec(),
            widest: widest(l, around, hull).filter(|_| whole),
            never_empty: whole && length.is_some_and(|n| facts.provably_nonnegative(&n)),
        }
    }

    /// Whether some iteration of the shape reads the element that a place in the body is, which stands in these loops there and under no
    /// condition.
    pub fn reads(&self, place: &Place, inside: &[&ForLoop]) -> bool {
        let bounds = inside.iter().flat_map(|l| [&l.first, &l.limit, &l.step]);
        let subscripts = walk::subscripts(place);
        let all: Vec<&Expr> = bounds.chain(subscripts).collect();
        let mut used = BTreeSet::new();
        all.iter().for_each(|e| walk::each_var(e, &mut |v| _ = used.insert(v)));
        let counters = self.around.iter().chain([&self.l]).chain(inside).map(|l| l.var);
        let counters: BTreeSet<VarId> = counters.collect();
        let body = self.around.first().map_or(&self.l.body, |root| &root.body);
        let known = |v: &VarId| counters.contains(v) || !walk::writes_var(body, *v);
        let in_another_row = self.widest.is_some_and(|v| !used.contains(&v));
        let in_this_row = self.never_empty && !used.contains(&self.l.var);
        (in_another_row || in_this_row)
            && used.iter().all(known)
            && !all.into_iter().any(walk::reads_memory)
    }
}

/// The only counter that the range of a loop depends on, at one of its ends, if the range at that counter's own first or last value is
/// all of the hull.
fn widest(l: &ForLoop, around: &[&ForLoop], hull: [&Expr; 2]) -> Option<VarId> {
    let (_, first, last) = range(l)?;
    let of_shape = |o: &&&ForLoop| first.mentions(o.var) || last.mentions(o.var);
    let at = around.iter().position(|o| of_shape(&o))?;
    let (own, inner) = (around[at], &around[at + 1..]);
    let next = inner.iter().copied().chain([l]);
    // What else an iteration does is no matter: the loop runs in each.
    let always = |(o, next): (&&ForLoop, &ForLoop)| {
        walk::stands_at_top(&o.body, &|s| matches!(&s.kind, StmtKind::For(l) if l.id == next.id))
    };
    if !around[at..].iter().zip(next).all(always) {
        return None;
    }
    if inner.iter().any(|o| of_shape(&o)) || (first.mentions(own.var) && last.mentions(own.var)) {
        return None;
    }
    let (_, least, greatest) = range(own)?;
    let moved =
        |o: &&ForLoop| range(o).is_none_or(|(_, a, b)| a.mentions(own.var) || b.mentions(own.var));
    if inner.iter().any(moved) {
        return None;
    }
    let at_end = |p: &Poly, up: bool| -> Option<Poly> {
        let (factor, rest) = p.split(&Atom::Var(own.var))?;
        let rises = factor.as_constant()? >= 0;
        factor.mul(if rises == up { &greatest } else { &least })?.add(&rest)
    };
    let past = last.add(&Poly::constant(1))?;
    let same = Poly::from_expr(hull[0])? == at_end(&first, false)?
        && Poly::from_expr(hull[1])? == at_end(&past, true)?;
    (same && matches!(l.compare, BinaryOp::Lt | BinaryOp::Le)).then_some(own.var)
}

/// Whether not all of an expression is computed each time.
pub(super) fn chooses(e: &Expr) -> bool {
    let mut found = false;
    walk::each_expr(e, &mut |e| {
        found |= matches!(
            &*e.kind,
            ExprKind::Select(..) | ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, ..)
        );
    });
    found
}

/// The counter of a loop that counts up by one, its first and its last value.
pub(crate) fn range(l: &ForLoop) -> Option<(VarId, Poly, Poly)> {
    let (first, limit) = (Poly::from_expr(&l.first)?, Poly::from_expr(&l.limit)?);
    let last = match l.compare {
        BinaryOp::Le => limit,
        _ => limit.sub(&Poly::constant(1))?,
    };
    Some((l.var, first, last))
}
