//! Strips of a loop in which no iteration of the block has an effect are left out: a product with a triangular matrix
//! takes half the time.
//!
//! Where the body of the loop is under a condition on its counter and those of the block, as after `rectangle`, the block
//! begins with the strip that has the first iteration for which the condition may hold, and ends with the last.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, ForLoop, Origin, Scalar, Stmt, StmtKind, Type, VarId,
};

use crate::analysis::loops::unit_step;
use crate::build::stmts::declare;
use crate::build::{counters, trips};
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::rectangle::outside::{common, slack_of};
use crate::rewrite::register_tile::expansion::{Expansion, type_of};
use crate::rewrite::register_tile::tile::Tile;
use crate::walk;

/// Ends of a loop that only some blocks reach.
#[derive(Default)]
struct Ends {
    /// No iteration before it counts.
    first: Option<Poly>,
    /// None after it.
    last: Option<Poly>,
}

impl Expansion<'_, '_> {
    /// The loop over strips of `size` iterations with the ends that the block needs, which are computed before it. Its
    /// first iteration is the first of a strip of the whole loop.
    pub(crate) fn narrowed(&mut self, l: &ForLoop, size: &Expr) -> (Vec<Stmt>, ForLoop) {
        let ends = self.ends(l);
        self.within(l, size, ends)
    }

    fn within(&mut self, l: &ForLoop, size: &Expr, ends: Ends) -> (Vec<Stmt>, ForLoop) {
        let ty = type_of(self.draft, l);
        let name = self.draft.scope.host.var(l.var).name.clone();
        let select = |cond: Expr, a: Expr, b: Expr| {
            Expr::new(ExprKind::Select(cond, a, b), Type::Scalar(ty), Origin::default())
        };
        let mut stmts = vec![];
        let mut narrow = l.clone();
        let mut local = |draft: &mut Draft<'_>, stem: &str, value: Expr| {
            let var = draft.scope.local(&format!("{name}_{stem}"), Type::Scalar(ty));
            draft.scope.host.vars[var.0 as usize].constant = true;
            stmts.push(declare(var, value));
            Expr::var(var, Type::Scalar(ty))
        };
        if let Some(skipped) = ends.first.and_then(|f| f.sub(&Poly::from_expr(&l.first)?)) {
            let skipped = self.exact(&skipped, ty);
            let zero = Expr::int(skipped.ty.scalar().unwrap_or(ty), 0);
            let later = Expr::binary(BinaryOp::Gt, skipped.clone(), zero);
            let length = size.clone().cast(skipped.ty.clone());
            let strips = Expr::binary(BinaryOp::Div, skipped, length);
            let strips = strips.cast(Type::Scalar(ty));
            let skipped = Expr::binary(BinaryOp::Mul, strips, size.clone());
            let begin = Expr::binary(BinaryOp::Add, l.first.clone(), skipped);
            narrow.first = local(self.draft, "first", select(later, begin, l.first.clone()));
        }
        if let Some(end) = ends.last.and_then(|last| last.add(&Poly::constant(1))) {
            let never_empty = self.is_beyond(&end, &narrow.first);
            let end = self.exact(&end, ty);
            let sooner =
                Expr::binary(BinaryOp::Lt, end.clone(), l.limit.clone().cast(end.ty.clone()));
            let first = narrow.first.clone();
            let some = Expr::binary(BinaryOp::Gt, end.clone(), first.clone().cast(end.ty.clone()));
            let end = match never_empty {
                true => end.cast(Type::Scalar(ty)),
                false => select(some, end.cast(Type::Scalar(ty)), first),
            };
            narrow.limit = local(self.draft, "end", select(sooner, end, l.limit.clone()));
        }
        if let Some(stmt) = stmts.first_mut() {
            stmt.comment
                .push("strips in which no iteration of the block counts are left out".into());
        }
        (stmts, narrow)
    }

    /// The least first and greatest last iteration with an effect, over all iterations of the block.
    fn ends(&self, l: &ForLoop) -> Ends {
        let mut ends = Ends::default();
        if !unit_step(l) || l.compare != BinaryOp::Lt {
            return ends;
        }
        for cond in needed_by_all(&l.body.stmts) {
            let Some((rises, end)) = slack_of(cond).and_then(|slack| self.end(l, &slack)) else {
                continue;
            };
            // Of several conditions the first is enough.
            let place = if rises { &mut ends.first } else { &mut ends.last };
            *place = place.take().or(Some(end));
        }
        ends
    }

    /// Where `slack` begins (or ends) to be positive along the loop, for whichever iteration of the block it does so
    /// first (or last).
    fn end(&self, l: &ForLoop, slack: &Poly) -> Option<(bool, Poly)> {
        let (factor, rest) = slack.split(&Atom::Var(l.var))?;
        let rises = match factor.as_constant()? {
            1 => true,
            -1 => false,
            _ => return None,
        };
        let end = if rises { rest.scale(-1)? } else { rest };
        Some((rises, self.draft.over_block(self.tiles, &end, !rises)?))
    }

    /// As [`Self::narrowed`] for copies that run ahead: only where the first of them, which sets out before the loop, exists in every
    /// block, so that nothing has to ask.
    pub(crate) fn narrowed_ahead(
        &mut self,
        l: &ForLoop,
        size: &Expr,
        strips: u32,
    ) -> (Vec<Stmt>, ForLoop) {
        let ends = self.ends(l);
        let end = ends.last.as_ref().and_then(|last| last.add(&Poly::constant(1)));
        let exists = end.is_some_and(|end| self.is_beyond(&end, &l.first));
        // A block exists only where the loop runs at all.
        let count = |l: &ForLoop| trips::sum(l, type_of(self.draft, l));
        let alike =
            |t: &&Tile| count(l).is_some() && unit_step(&t.source) && count(&t.source) == count(l);
        let mut alike = self.tiles.iter().filter(alike).peekable();
        let zero = |e: &Expr| counters::is_const(e, 0);
        let sure = match (&ends.first, &ends.last) {
            (None, _) => exists && alike.peek().is_some(),
            // The block's own first iteration exists.
            (Some(first), None) => alike.any(|t| {
                *first == Poly::var(t.place.first) && zero(&t.source.first) && zero(&l.first)
            }),
            _ => false,
        };
        match strips == 2 && sure {
            true => self.within(l, size, ends),
            false => (vec![], l.clone()),
        }
    }

    /// Whether an end is greater than 0 in every block, and the first iteration is 0: blocks begin at 0 or later, and extents are
    /// greater than 0.
    fn is_beyond(&self, end: &Poly, first: &Expr) -> bool {
        let zero = |e: &Expr| e.as_const().is_some_and(|v| v.as_i64() == 0);
        let block = |v: VarId| self.tiles.iter().find(|t| t.place.first == v);
        let mut positive = false;
        let never_negative = end.terms().all(|(atoms, coefficient)| {
            let named = |a: &Atom| match a {
                Atom::Symbol(s) => matches!(&*s.expr().kind, ExprKind::Named(_)),
                _ => false,
            };
            let known = |a: &Atom| match a {
                Atom::Var(v) => block(*v).is_some_and(|t| zero(&t.source.first)),
                _ => named(a),
            };
            positive |= coefficient > 0 && atoms.iter().all(named);
            coefficient >= 0 && atoms.iter().all(known)
        });
        zero(first) && positive && never_negative
    }

    /// The value in 64 bits, since the last block may begin near the greatest number of 32; a variable alone as it is.
    fn exact(&self, value: &Poly, ty: Scalar) -> Expr {
        let type_of = |v: VarId| self.draft.scope.host.var(v).ty.scalar().unwrap_or(Scalar::I32);
        let alone = matches!(value.as_atom(), Some(Atom::Var(v)) if type_of(*v) == ty);
        value.to_expr(if alone { ty } else { Scalar::I64 }, &type_of)
    }
}

/// The conditions under which everything but declarations stands; none where something stands under no condition.
pub(crate) fn needed_by_all(stmts: &[Stmt]) -> Vec<&Expr> {
    let needed = stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Decl { .. } => None,
        StmtKind::If { cond, otherwise, .. } if otherwise.stmts.is_empty() => {
            Some(walk::conjuncts(cond))
        }
        _ => Some(vec![]),
    });
    common(needed).unwrap_or_default()
}
