//! Blocks of threads that have nothing to do leave at once.
//!
//! Where everything that iterations leave behind is under one condition on the counters, as after `rectangle`, a block in
//! which it holds for no iteration computes nothing that anyone sees.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Block, Expr, ExprKind, Scalar, Stmt, StmtKind, VarId};

use crate::kernel::Nest;
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::tile::Tile;
use crate::walk;

impl Draft<'_> {
    /// `if (the condition holds nowhere in the block) continue;` for the statements of an iteration.
    pub(crate) fn leave_outside(&self, nest: &Nest, tiles: &[Tile], body: &[Stmt]) -> Option<Stmt> {
        if !nest.clauses.last_private.is_empty() || !nest.clauses.reductions.is_empty() {
            return None;
        }
        let needed = needed_by_all(body.iter())?;
        let outside = needed.into_iter().filter_map(|e| self.fails_everywhere(tiles, e));
        let cond = outside.reduce(|a, b| Expr::binary(BinaryOp::LogicalOr, a, b))?;
        let origin = body.first().map(|s| s.origin.by("rectangle")).unwrap_or_default();
        let then = Block::new(vec![Stmt::new(StmtKind::Continue, origin.clone())]);
        let kind = StmtKind::If { cond, then, otherwise: Block::default() };
        Some(Stmt::new(kind, origin).comment("no iteration of the block has an effect"))
    }

    /// Where a condition fails for all iterations of a block: its greatest slack is negative.
    fn fails_everywhere(&self, tiles: &[Tile], cond: &Expr) -> Option<Expr> {
        let slack = self.over_block(tiles, &slack_of(cond)?, true)?;
        let [plus, minus] = self.sides(&slack.add(&Poly::constant(1))?)?;
        Some(Expr::binary(BinaryOp::Le, plus, minus))
    }

    /// What a sum adds and what it takes away, to be compared with each other: in 64 bits, since the last block may begin near the
    /// greatest number of 32.
    pub(crate) fn sides(&self, sum: &Poly) -> Option<[Expr; 2]> {
        let (plus, minus) = sum.by_sign()?;
        let type_of = |v: VarId| self.scope.host.var(v).ty.scalar().unwrap_or(Scalar::I32);
        Some([plus, minus.scale(-1)?].map(|p| p.to_expr(Scalar::I64, &type_of)))
    }

    /// The greatest or least value of a sum over all iterations of a block; `None` where it follows none of the block's loops, or
    /// what else is in it may change.
    pub(crate) fn over_block(&self, tiles: &[Tile], sum: &Poly, greatest: bool) -> Option<Poly> {
        let mut end = sum.clone();
        let mut follows = false;
        for tile in tiles {
            let (factor, rest) = end.split(&Atom::Var(tile.source.var))?;
            let c = factor.as_constant()?;
            follows |= c != 0;
            let start = Poly::var(tile.place.first);
            let at = match (c > 0) == greatest {
                true => start.add(&Poly::from_expr(&tile.extent)?)?.sub(&Poly::constant(1))?,
                false => start,
            };
            end = factor.mul(&at)?.add(&rest)?;
        }
        let known = |v: VarId| {
            tiles.iter().any(|t| t.place.first == v)
                || (self.source.func().params.contains(&v)
                    && !walk::writes_var(&self.source.func().body, v))
        };
        let all_known = end.atoms().into_iter().all(|a| match a {
            Atom::Var(v) => known(*v),
            Atom::Symbol(s) => matches!(&*s.expr().kind, ExprKind::Named(_)),
            Atom::Div(..) | Atom::Rem(..) => false,
        });
        (follows && all_known).then_some(end)
    }
}

/// What is not negative where a comparison of integers holds.
pub(crate) fn slack_of(cond: &Expr) -> Option<Poly> {
    let ExprKind::Binary(op, a, b) = &*cond.kind else { return None };
    let (a, b) = (Poly::from_expr(a)?, Poly::from_expr(b)?);
    let one = Poly::constant(1);
    match op {
        BinaryOp::Le => b.sub(&a),
        BinaryOp::Lt => b.sub(&a)?.sub(&one),
        BinaryOp::Ge => a.sub(&b),
        BinaryOp::Gt => a.sub(&b)?.sub(&one),
        _ => None,
    }
}

/// The conditions that hold at every effect of the statements; `None`: there are no effects.
fn needed_by_all<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> Option<Vec<&'s Expr>> {
    common(stmts.filter_map(needed_by))
}

/// The conditions that are in all lists; `None`: there is no list.
pub(crate) fn common<'s>(lists: impl Iterator<Item = Vec<&'s Expr>>) -> Option<Vec<&'s Expr>> {
    lists.reduce(|known, other| {
        known.into_iter().filter(|e| other.iter().any(|o| o.kind == e.kind)).collect()
    })
}

fn needed_by(stmt: &Stmt) -> Option<Vec<&Expr>> {
    match &stmt.kind {
        StmtKind::Decl { .. } => None,
        StmtKind::Assign { place, .. } if is_variable(place) => None,
        StmtKind::Scope(inner) => needed_by_all(inner.stmts.iter()),
        StmtKind::For(l) => needed_by_all(l.body.stmts.iter()),
        StmtKind::If { cond, then, otherwise } => {
            if needed_by_all(otherwise.stmts.iter()).is_some() {
                return Some(vec![]);
            }
            let mut needed = needed_by_all(then.stmts.iter())?;
            needed.extend(walk::conjuncts(cond));
            Some(needed)
        }
        _ => Some(vec![]),
    }
}

fn is_variable(place: &warpsmith_ir::Place) -> bool {
    matches!(&*place.kind, warpsmith_ir::PlaceKind::Var(_))
}
