//! Host loops and conditions around nests.

use warpsmith_ir::{Diagnostic, Expr, ForLoop, LoopCondition, LoopKind, Stmt, StmtKind};

use super::{Lowered, Lowering};

impl Lowering<'_> {
    /// A statement with nests (or a `return`) inside, which the host must be able to steer.
    pub(super) fn control(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> Lowered<()> {
        let kind = match &stmt.kind {
            StmtKind::Scope(block) => StmtKind::Scope(self.block(block)?),
            StmtKind::If { cond, then, otherwise } => {
                self.must_know(cond, stmt, "this condition")?;
                let (then, otherwise) = (self.block(then)?, self.block(otherwise)?);
                StmtKind::If { cond: cond.clone(), then, otherwise }
            }
            StmtKind::For(l) => {
                for e in [&l.first, &l.limit, &l.step] {
                    self.must_know(e, stmt, "a bound of this loop")?;
                }
                let body = self.block(&l.body)?;
                StmtKind::For(ForLoop { body, kind: LoopKind::Serial, ..l.clone() })
            }
            StmtKind::Loop { id, condition, body, step } => {
                let condition = match condition {
                    Some(c) => {
                        self.must_know(&c.expr, stmt, "the condition of this loop")?;
                        let before = self.block(&c.before)?;
                        Some(LoopCondition { before, ..c.clone() })
                    }
                    None => None,
                };
                let (body, step) = (self.block(body)?, self.block(step)?);
                StmtKind::Loop { id: *id, condition, body, step }
            }
            _ => return Err(self.data_dependent(stmt, "this statement")),
        };
        out.push(Stmt { kind, origin: stmt.origin.clone(), comment: stmt.comment.clone() });
        Ok(())
    }

    fn must_know(&self, e: &Expr, stmt: &Stmt, what: &str) -> Lowered<()> {
        match self.homes.host_known(e) {
            true => Ok(()),
            false => {
                let span = e.origin.span.or(stmt.origin.span);
                Err(self.data_dependent_at(span, what))
            }
        }
    }

    fn data_dependent(&self, stmt: &Stmt, what: &str) -> Box<Diagnostic> {
        self.data_dependent_at(stmt.origin.span, what)
    }

    fn data_dependent_at(&self, span: Option<warpsmith_ir::Span>, what: &str) -> Box<Diagnostic> {
        let message =
            "control flow around parallel loops depends on values that only the device has";
        let d = Diagnostic::error("W240", message);
        let d = match span {
            Some(span) => {
                d.label(span, format!("{what} reads an array or the result of a parallel loop"))
            }
            None => d,
        };
        Box::new(
            d.note("the launcher does not wait for the device, so it cannot decide what to launch next")
                .help("run a fixed number of iterations, or split the function there"),
        )
    }

    /// The bounds of a bound loop, which the host needs for the grid.
    pub(super) fn must_know_bounds(&self, l: &ForLoop, stmt: &Stmt) -> Lowered<()> {
        for e in [&l.first, &l.limit, &l.step] {
            if !self.homes.host_known(e) {
                let span = e.origin.span.or(stmt.origin.span);
                let name = self.source.loop_name(l.id);
                let message = format!(
                    "the bounds of the parallel loop `{name}` depend on values that only the device has"
                );
                let d = Diagnostic::error("W242", message);
                let d = match span {
                    Some(span) => {
                        d.label(span, "read from an array or computed by a parallel loop")
                    }
                    None => d,
                };
                return Err(Box::new(d.help("pass the size as a parameter of the function")));
            }
        }
        Ok(())
    }
}
