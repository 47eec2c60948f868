//! Strips of a loop in which every iteration of the block counts ask nothing: of a product with a triangular matrix those away
//! from the diagonal.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Block, Expr, ForLoop, Stmt, StmtKind, VarId};

use crate::analysis::loops::unit_step;
use crate::build::conditions::all_of;
use crate::rewrite::rectangle::narrowed::needed_by_all;
use crate::rewrite::rectangle::outside::slack_of;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::walk;

impl Expansion<'_, '_> {
    /// Where the body of a loop is under a condition on its counter and those of the block: what tells a strip of `size`
    /// iterations from `start` on for which it always holds, and the loop without that condition. Under two conditions, as
    /// in a band, no strip may be such a one: then there is none.
    pub(crate) fn inside(&self, l: &ForLoop, size: &Expr, start: VarId) -> Option<(Expr, ForLoop)> {
        if !unit_step(l) || l.compare != BinaryOp::Lt {
            return None;
        }
        let conditions = needed_by_all(&l.body.stmts);
        let [cond] = *conditions.as_slice() else { return None };
        let holds = self.is_not_negative(&self.slack(l, cond, size, start, false)?)?;
        let body = Block::new(without(&l.body.stmts, cond));
        Some((holds, ForLoop { body, ..l.clone() }))
    }

    /// Whether some iteration of a strip counts, where [`Self::inside`] tells those in which all do.
    pub(crate) fn not_outside(&self, l: &ForLoop, size: &Expr, start: VarId) -> Option<Expr> {
        let conditions = needed_by_all(&l.body.stmts);
        self.is_not_negative(&self.slack(l, conditions.first()?, size, start, true)?)
    }

    /// Whether a slack is 0 or more.
    fn is_not_negative(&self, slack: &Poly) -> Option<Expr> {
        let [plus, minus] = self.draft.sides(slack)?;
        Some(Expr::binary(BinaryOp::Le, minus, plus))
    }

    /// The greatest or least slack of a condition over the strip and over all iterations of the block.
    fn slack(
        &self,
        l: &ForLoop,
        cond: &Expr,
        size: &Expr,
        start: VarId,
        greatest: bool,
    ) -> Option<Poly> {
        let (factor, rest) = slack_of(cond)?.split(&Atom::Var(l.var))?;
        let rest = self.draft.over_block(self.tiles, &rest, greatest)?;
        let first = Poly::var(start);
        let last = first.add(&Poly::from_expr(size)?)?.sub(&Poly::constant(1))?;
        match factor.as_constant()? {
            1 => rest.add(if greatest { &last } else { &first }),
            -1 => rest.sub(if greatest { &first } else { &last }),
            _ => None,
        }
    }
}

/// Statements without one of the conditions under which they stand.
fn without(stmts: &[Stmt], cond: &Expr) -> Vec<Stmt> {
    let freed = |stmt: &Stmt| match &stmt.kind {
        StmtKind::If { cond: all, then, otherwise } if otherwise.stmts.is_empty() => {
            let others = walk::conjuncts(all).into_iter().filter(|e| e.kind != cond.kind);
            match all_of(others.cloned()) {
                None => then.stmts.clone(),
                Some(cond) => {
                    let otherwise = Block::default();
                    let kind = StmtKind::If { cond, then: then.clone(), otherwise };
                    vec![Stmt { kind, ..stmt.clone() }]
                }
            }
        }
        _ => vec![stmt.clone()],
    };
    stmts.iter().flat_map(freed).collect()
}
