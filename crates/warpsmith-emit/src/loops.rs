//! Loops.

use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Binding, Block, Builtin, Expr, ForLoop, LoopCondition, LoopKind,
    Scalar, Stmt, StmtKind, Type,
};

use crate::context::Printer;
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::{EmitError, Result};
use crate::stmt::out_line;

impl Printer<'_> {
    pub fn for_loop(&self, out: &mut Out, l: &ForLoop) -> Result<()> {
        match &l.kind {
            LoopKind::Unrolled(None) => out.line("#pragma unroll"),
            LoopKind::Unrolled(Some(n)) => out.line(&format!("#pragma unroll {n}")),
            LoopKind::Serial | LoopKind::Parallel(_) | LoopKind::Bound(_) => {}
            LoopKind::Vector => {
                let origin = &l.first.origin;
                return Err(EmitError::new("a loop of lanes that was not written out", origin));
            }
        }
        let name = self.name(l.var).to_string();
        let ty = if l.declares { format!("{} ", self.counter_type(l)?) } else { String::new() };
        let (first, step) = match &l.kind {
            LoopKind::Bound(b) => self.strided(l, b)?,
            _ => (self.implicit(&l.first)?.doc, self.step(&name, &l.step)?),
        };
        let counter = Expr::var(l.var, l.first.ty.clone());
        let condition = Expr::binary(l.compare, counter, l.limit.clone());
        let head = clauses(
            cat([text(format!("{ty}{name} = ")), first]),
            self.condition(&condition)?.doc,
            step,
        );
        let hook = self.hooks.iter().find_map(|h| {
            let (_, inner) = h.takes.iter().find(|(id, _)| *id == l.id)?;
            Some((&h.name, *inner))
        });
        if let Some((iterations, true)) = hook {
            out.line(&format!("{iterations}.row();"));
        }
        out.doc(&head);
        if let Some((iterations, _)) = hook {
            out.depth += 1;
            out.line(&format!("if (!{iterations}.take()) continue;"));
            out.depth -= 1;
        }
        self.indented(out, &l.body)?;
        out_line(out, "}")
    }

    fn counter_type(&self, l: &ForLoop) -> Result<String> {
        let ty = self.var(l.var).map_or(l.first.ty.clone(), |v| v.ty.clone());
        crate::types::spell(&ty, self.cx.names)
    }

    /// `++i`, `i += 2`, `i -= 3`.
    fn step(&self, name: &str, step: &Expr) -> Result<Doc> {
        if let Some(v) = step.as_const() {
            let magnitude = v.as_i64().unsigned_abs();
            let down = v.ty.is_signed() && v.as_i64() < 0;
            if magnitude == 1 {
                return Ok(text(format!("{}{name}", if down { "--" } else { "++" })));
            }
            if down && v.as_i64() > i64::MIN >> (64 - 8 * v.ty.bytes()) {
                return Ok(text(format!("{name} -= {magnitude}")));
            }
        }
        Ok(cat([text(format!("{name} += ")), self.expr(step)?.doc]))
    }

    /// First value and step of a loop that the members of a level share: each member takes every
    /// n-th iteration, n the number of members, so that any number of members runs all of them.
    fn strided(&self, l: &ForLoop, b: &Binding) -> Result<(Doc, Doc)> {
        let ty = l.first.ty.clone();
        let (member, members) = members(b);
        let scale = |e: Expr| {
            let e = e.cast(ty.clone());
            match l.step.as_const() {
                Some(v) if v.as_i64() == 1 => e,
                _ => Expr::binary(BinaryOp::Mul, e, l.step.clone()),
            }
        };
        let zero = l.first.as_const().is_some_and(|v| v.bits == 0);
        let offset = scale(member);
        let first =
            if zero { offset } else { Expr::binary(BinaryOp::Add, l.first.clone(), offset) };
        let name = self.name(l.var).to_string();
        let step = cat([text(format!("{name} += ")), self.expr(&scale(members))?.doc]);
        Ok((self.implicit(&first)?.doc, step))
    }

    /// A loop that counts nothing. `while` and `do` where they say it; the rest spelled out.
    pub fn general_loop(
        &self,
        out: &mut Out,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
        counter: Option<&Stmt>,
    ) -> Result<()> {
        let plain = condition.is_none_or(|c| c.before.stmts.is_empty());
        let at_end = condition.is_some_and(|c| c.at_end);
        let steps = self.step_expressions(step)?;
        match (condition, steps) {
            (Some(c), Some(steps)) if plain && at_end && steps.is_empty() => {
                out.line("do {");
                self.indented(out, body)?;
                let cond = self.condition(&c.expr)?.doc;
                out.doc(&cat([text("} while ("), cond.align(), text(");")]));
                Ok(())
            }
            (condition, Some(steps)) if plain && !at_end => {
                let cond = match condition {
                    Some(c) => Some(self.condition(&c.expr)?.doc),
                    None => None,
                };
                let head = match (cond, steps.is_empty()) {
                    (None, true) => text("while (true) {"),
                    (Some(c), true) => cat([text("while ("), c.align(), text(") {")]),
                    (cond, _) => {
                        let init = self.clause(counter)?;
                        clauses(init, cond.unwrap_or(text("")), list("", steps, ""))
                    }
                };
                out.doc(&head);
                self.indented(out, body)?;
                out_line(out, "}")
            }
            _ if has_continue(body) => self.loop_with_flag(out, condition, body, step),
            _ => self.endless_loop(out, condition, body, step),
        }
    }

    /// A declaration as the first clause of a `for`.
    fn clause(&self, declaration: Option<&Stmt>) -> Result<Doc> {
        let Some(declaration) = declaration else { return Ok(text("")) };
        let mut out = Out::default();
        self.statements(&mut out, &[declaration])?;
        let line = out.text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(text(line.trim_end_matches(';')))
    }

    /// The step as expressions for the head of a `for`; `None` where it is more than assignments.
    fn step_expressions(&self, step: &Block) -> Result<Option<Vec<Doc>>> {
        let mut docs = vec![];
        for s in &step.stmts {
            if !matches!(s.kind, StmtKind::Assign { .. } | StmtKind::Call { .. })
                || matches!(&s.kind, StmtKind::Assign { place, .. } if matches!(place.ty, Type::Array(..)))
            {
                return Ok(None);
            }
            // A statement of this kind is one expression and a semicolon.
            let mut out = Out::default();
            self.statements(&mut out, &[&Stmt { comment: vec![], ..s.clone() }])?;
            let line = out.text.split_whitespace().collect::<Vec<_>>().join(" ");
            docs.push(text(line.trim_end_matches(';')));
        }
        Ok(Some(docs))
    }

    /// `while (true)` with the test and the step where they are due.
    fn endless_loop(
        &self,
        out: &mut Out,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
    ) -> Result<()> {
        out.line("while (true) {");
        out.depth += 1;
        let test = condition.map(exit_test);
        let before: Vec<&Stmt> = condition.iter().flat_map(|c| &c.before.stmts).collect();
        let check: Vec<&Stmt> = before.into_iter().chain(&test).collect();
        let rest: Vec<&Stmt> = body.stmts.iter().chain(&step.stmts).collect();
        let at_end = condition.is_some_and(|c| c.at_end);
        let all = if at_end { [rest, check] } else { [check, rest] };
        let result = self.statements(out, &all.concat());
        out.depth -= 1;
        result?;
        out_line(out, "}")
    }

    /// A body with `continue`, which must still come to the step and the test: they move to the
    /// beginning of the next iteration.
    fn loop_with_flag(
        &self,
        out: &mut Out,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
    ) -> Result<()> {
        let first = self.fresh("first");
        out.line(&format!("for (bool {first} = true;; {first} = false) {{"));
        out.depth += 1;
        let test = condition.map(exit_test);
        let before: Vec<&Stmt> = condition.iter().flat_map(|c| &c.before.stmts).collect();
        let check: Vec<&Stmt> = before.into_iter().chain(&test).collect();
        let at_end = condition.is_some_and(|c| c.at_end);
        let mut again: Vec<&Stmt> = step.stmts.iter().collect();
        if at_end {
            again.extend(&check);
        }
        if !again.is_empty() {
            out.line(&format!("if (!{first}) {{"));
            out.depth += 1;
            self.statements(out, &again)?;
            out.depth -= 1;
            out.line("}");
        }
        if !at_end {
            self.statements(out, &check)?;
        }
        self.block(out, body)?;
        out.depth -= 1;
        out_line(out, "}")
    }
}

/// `for (init; cond; step) {`, one clause a line where they do not fit.
fn clauses(init: Doc, cond: Doc, step: Doc) -> Doc {
    let clause = |d: Doc| {
        let line = if d.flat().is_empty() { "" } else { " " };
        cat([Doc::Line(line), d.align()])
    };
    let all = cat([init, text(";"), clause(cond), text(";"), clause(step)]);
    cat([text("for ("), all.group().align(), text(") {")])
}

/// `if (!cond) break;`
fn exit_test(c: &LoopCondition) -> Stmt {
    let not = warpsmith_ir::ExprKind::Unary(warpsmith_ir::UnaryOp::Not, c.expr.clone());
    let cond = Expr::new(not, Type::BOOL, c.expr.origin.clone());
    let leave = Stmt::new(StmtKind::Break, c.expr.origin.clone());
    let kind = StmtKind::If { cond, then: Block::new(vec![leave]), otherwise: Block::default() };
    Stmt::new(kind, c.expr.origin.clone())
}

/// Whether a `continue` of this loop, not of one inside, stands in the block.
fn has_continue(b: &Block) -> bool {
    b.stmts.iter().any(|s| match &s.kind {
        StmtKind::Continue => true,
        StmtKind::For(_) | StmtKind::Loop { .. } => false,
        other => {
            let mut found = false;
            crate::walk::nested_blocks(other, &mut |b| found |= has_continue(b));
            found
        }
    })
}

/// Index of the running member of a level along an axis, and how many there are.
fn members(b: &Binding) -> (Expr, Expr) {
    use Builtin::*;
    let u32_const = |v: i64| Expr::int(Scalar::U32, v);
    let op = |o, x, y| Expr::binary(o, x, y);
    let a = b.axis;
    let thread = |a: Axis| Expr::builtin(ThreadIdx(a));
    let size = |a: Axis| Expr::builtin(BlockDim(a));
    let block = Expr::builtin(BlockIdx(a));
    let blocks = Expr::builtin(GridDim(a));
    let fixed = |e: Expr| b.extent.map_or(e, |n| u32_const(n.into()));
    let flat = || {
        let inner = op(BinaryOp::Mul, size(Axis::Y), thread(Axis::Z));
        let row = op(BinaryOp::Add, thread(Axis::Y), inner);
        op(BinaryOp::Add, thread(Axis::X), op(BinaryOp::Mul, size(Axis::X), row))
    };
    match b.level {
        BindLevel::Grid => (block, fixed(blocks)),
        BindLevel::Block => (thread(a), fixed(size(a))),
        BindLevel::Thread => {
            let first = op(BinaryOp::Mul, block, size(a));
            let member = op(BinaryOp::Add, first, thread(a));
            (member, fixed(op(BinaryOp::Mul, blocks, size(a))))
        }
        BindLevel::Warp => {
            let threads =
                op(BinaryOp::Mul, op(BinaryOp::Mul, size(Axis::X), size(Axis::Y)), size(Axis::Z));
            let warps = op(BinaryOp::Div, op(BinaryOp::Add, threads, u32_const(31)), u32_const(32));
            (op(BinaryOp::Div, flat(), u32_const(32)), fixed(warps))
        }
        BindLevel::Lane => (op(BinaryOp::Rem, flat(), u32_const(32)), u32_const(32)),
    }
}
