//! Strips of a loop in which every iteration of the block counts ask nothing: of a product with a triangular matrix those away
//! from the diagonal.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Block, Expr, ForLoop, Scalar, Stmt, StmtKind, VarId};

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
        let least = self.least_slack(l, &slack_of(cond)?, size, start)?;
        // In 64 bits, since the last strip may begin near the greatest number of 32.
        let (plus, minus) = least.by_sign()?;
        let minus = minus.scale(-1)?;
        let type_of = |v: VarId| self.draft.scope.host.var(v).ty.scalar().unwrap_or(Scalar::I32);
        let print = |p: &Poly| p.to_expr(Scalar::I64, &type_of);
        let holds = Expr::binary(BinaryOp::Le, print(&minus), print(&plus));
        let body = Block::new(without(&l.body.stmts, cond));
        Some((holds, ForLoop { body, ..l.clone() }))
    }

    /// The least slack over the strip and over all iterations of the block.
    fn least_slack(&self, l: &ForLoop, slack: &Poly, size: &Expr, start: VarId) -> Option<Poly> {
        let (factor, rest) = slack.split(&Atom::Var(l.var))?;
        let rest = self.draft.over_block(self.tiles, &rest, false)?;
        let first = Poly::var(start);
        match factor.as_constant()? {
            1 => rest.add(&first),
            -1 => rest.sub(&first)?.sub(&Poly::from_expr(size)?)?.add(&Poly::constant(1)),
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
