//! `atomic` and `critical`: updates of what iterations share.
//!
//! Inside a marked loop, updates of one variable become a reduction of the loop (see [`super::team`]), those of elements
//! atomic operations. What the updates leave must not depend on their order, so that values captured on the way are
//! refused. Outside of marked loops the statements run once, in order.

use warpsmith_ir::{
    AtomicOp, Block, Diagnostic, Expr, ExprKind, Origin, Place, PlaceKind, Span, Stmt, StmtKind,
    VarId, visit,
};

use super::cx::{Cx, Kept, Low, Reported};
use super::pragma::AtomicKind;
use crate::ast;
use warpsmith_ir::updates::{self, Update, base_of, reads_base, update_of};

/// What a pragma makes of the next statement.
#[derive(Clone, Copy, Debug)]
pub enum Exclusive {
    Atomic(AtomicKind, Span),
    Critical(Span),
}

impl Exclusive {
    fn span(self) -> Span {
        match self {
            Exclusive::Atomic(_, span) | Exclusive::Critical(span) => span,
        }
    }
}

/// The assignment that an atomic function of the C compiler amounts to.
fn builtin_update(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("__sync_").or_else(|| name.strip_prefix("__atomic_"))?;
    let op = rest.strip_prefix("fetch_and_").or_else(|| rest.strip_prefix("fetch_"));
    let op =
        op.or_else(|| rest.strip_suffix("_and_fetch")).or_else(|| rest.strip_suffix("_fetch"))?;
    Some(match op {
        "add" => "+=",
        "sub" => "-=",
        "and" => "&=",
        "or" => "|=",
        "xor" => "^=",
        _ => return None,
    })
}

/// What a pointer points to: `x[i]` for `&x[i]`.
fn pointee(pointer: &ast::Expr) -> ast::Expr {
    match &*pointer.kind {
        ast::ExprKind::Paren(inner) => pointee(inner),
        ast::ExprKind::Unary { op, operand } if op == "&" => operand.clone(),
        _ => {
            let kind = ast::ExprKind::Unary { op: "*".into(), operand: pointer.clone() };
            ast::Expr { kind: Box::new(kind), span: pointer.span }
        }
    }
}

/// W161: nothing gives the order that a captured value follows.
pub fn captured(span: Span) -> Diagnostic {
    let message = "the value that an atomic update captures depends on the order of the iterations";
    Diagnostic::error("W161", message)
        .label(span, "captures the value before or after an update")
        .note("no comparison with the C function could show that such a kernel is right")
        .help("number the elements first, in a loop without a mark (a running sum), and use the numbers in the marked loop")
}

impl<'u> Cx<'u> {
    /// Lowers a statement under `atomic` or `critical`.
    ///
    /// # Errors
    /// W160 for what is no update that can be done in any order, W161 for a value that depends on the order.
    pub fn exclusive(&mut self, stmt: &'u ast::Stmt, what: Exclusive) -> Low<()> {
        if self.marked.is_some()
            && let Exclusive::Atomic(AtomicKind::Capture, span) = what
        {
            return Err(self.fail(captured(span)));
        }
        let body = |cx: &mut Self| match &stmt.kind {
            ast::StmtKind::Block(b) => cx.stmts(&b.stmts),
            _ => {
                let _ = cx.unmarked(stmt);
            }
        };
        self.exclusive_body(body, what, stmt.span)
    }

    /// `__sync_fetch_and_add(&x, e)`, `__atomic_fetch_add(&x, e, order)` and their like as statements: the same as
    /// `x += e` under `atomic`. `None` for any other call.
    ///
    /// # Errors
    /// As [`Cx::exclusive`].
    pub fn atomic_builtin(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Low<()>> {
        let op = builtin_update(name)?;
        let [target, value, ..] = args else {
            return Some(Err(self.wrong_count(name, 2, args.len(), span)));
        };
        let target = pointee(target);
        let body = |cx: &mut Self| _ = cx.assign(op, &target, value, span);
        Some(self.exclusive_body(body, Exclusive::Atomic(AtomicKind::Update, span), span))
    }

    fn exclusive_body(
        &mut self,
        body: impl FnOnce(&mut Self),
        what: Exclusive,
        span: Span,
    ) -> Low<()> {
        let replicated = self.replicated().is_some();
        let messages = self.diagnostics.len();
        self.exclusive += 1;
        let mut block = self.block(body);
        self.exclusive -= 1;
        if self.diagnostics.len() > messages {
            return Err(Reported);
        }
        if self.marked.is_some() {
            match what {
                Exclusive::Atomic(AtomicKind::Read, _) => {}
                Exclusive::Atomic(AtomicKind::Write, _) => self.atomic_write(&mut block),
                _ => self.atomic_updates(&mut block, what.span())?,
            }
        } else if replicated {
            self.combines_parts(&block, what.span())?;
        }
        if block.stmts.iter().any(|s| matches!(s.kind, StmtKind::Decl { .. })) {
            self.push(StmtKind::Scope(block), span);
        } else {
            self.out.extend(block.stmts);
        }
        Ok(())
    }

    /// `x = constant` by any number of iterations leaves the constant; other writes are judged as if the pragma were
    /// not there.
    fn atomic_write(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            let StmtKind::Assign { place, value } = &stmt.kind else { continue };
            let wide = place.ty.scalar().is_some_and(|s| s.bytes() >= 4);
            if matches!(&*place.kind, PlaceKind::Var(_)) || !wide || self.fold(value).is_none() {
                continue;
            }
            let op = AtomicOp::Store;
            let update = Update { place: place.clone(), op, value: value.clone() };
            *stmt = updates::atomic_of(&self.env(), update, &stmt.origin);
        }
    }

    /// Makes the updates in a block indivisible; all its writes to what iterations share must be such.
    fn atomic_updates(&mut self, block: &mut Block, span: Span) -> Low<()> {
        let mut updated = vec![];
        self.updates_in(block, span, &mut vec![], &mut updated)?;
        match self.read_of(block, &updated) {
            None => Ok(()),
            Some((base, origin)) => {
                let name = self.function.var(base).name.clone();
                let d = Diagnostic::error(
                    "W161",
                    format!("what is read of `{name}` depends on the order of the iterations"),
                );
                let d = d
                    .label(origin.span.unwrap_or(span), "read while other iterations update it")
                    .label(span, "the updates");
                Err(self.fail(d.help("read it after the loop")))
            }
        }
    }

    fn updates_in(
        &mut self,
        block: &mut Block,
        span: Span,
        conditions: &mut Vec<Expr>,
        updated: &mut Vec<Option<VarId>>,
    ) -> Low<()> {
        for stmt in &mut block.stmts {
            if let Some(result) = update_of(stmt) {
                let place = assigned_place(stmt);
                if place.is_some_and(|p| self.is_private(p)) {
                    continue;
                }
                let base = place.and_then(base_of);
                match result {
                    Ok(update) => self.update(stmt, update, span)?,
                    Err(why) => {
                        let extreme = conditions.iter().any(|c| reads_base(c, base));
                        return Err(self.no_update(stmt, &why, extreme, span));
                    }
                }
                updated.push(base);
                continue;
            }
            match &mut stmt.kind {
                StmtKind::If { cond, then, otherwise } => {
                    conditions.push(cond.clone());
                    let result = self
                        .updates_in(then, span, conditions, updated)
                        .and_then(|()| self.updates_in(otherwise, span, conditions, updated));
                    conditions.pop();
                    result?;
                }
                StmtKind::For(l) => self.updates_in(&mut l.body, span, conditions, updated)?,
                StmtKind::Loop { body, step, .. } => {
                    self.updates_in(body, span, conditions, updated)?;
                    self.updates_in(step, span, conditions, updated)?;
                }
                StmtKind::Scope(inner) => self.updates_in(inner, span, conditions, updated)?,
                StmtKind::Switch { cases, .. } => {
                    for case in cases {
                        self.updates_in(&mut case.body, span, conditions, updated)?;
                    }
                }
                StmtKind::Call { args, result, .. } => {
                    let shared = result.as_ref().is_some_and(|p| !self.is_private(p));
                    if shared || args.iter().any(|a| a.ty.is_pointer()) {
                        let why = updates::Why {
                            reason: "a call that may write what iterations share",
                            help: "write the update here",
                        };
                        return Err(self.no_update(stmt, &why, false, span));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether every iteration has a place of its own, as far as declarations tell.
    fn is_private(&self, place: &Place) -> bool {
        let Some(v) = place.root_var() else { return false };
        let marked = self.marked.as_ref();
        marked.is_some_and(|m| v.0 >= m.first_inside || m.private.contains(&v))
    }

    /// Updates of one variable wait for the end of the loop, see [`super::team`]; others become atomic here.
    fn update(&mut self, stmt: &mut Stmt, update: Update, span: Span) -> Low<()> {
        let one = match &*update.place.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => updates::single_element(&update.place).filter(|v| self.is_param(*v)),
        };
        let at = stmt.origin.span.unwrap_or(span);
        match (one, &mut self.marked) {
            (Some(base), Some(marked)) => {
                marked.kept.push(Kept { base, class: update.class(), span: at });
            }
            _ => *stmt = updates::atomic_of(&self.env(), update, &stmt.origin),
        }
        Ok(())
    }

    fn no_update(
        &mut self,
        stmt: &Stmt,
        why: &updates::Why,
        extreme: bool,
        span: Span,
    ) -> Reported {
        let d = Diagnostic::error(
            "W160",
            "the iterations of a marked loop can share updates only if their order does not matter",
        )
        .label(stmt.origin.span.unwrap_or(span), why.reason)
        .label(span, "one thread at a time, in any order");
        self.fail(match extreme {
            true => d.help(
                "where several iterations have the extreme value, the order decides which is kept: find the value with \
                 `reduction(max: x)` or `reduction(min: x)` first, and the first place that has it in a second loop",
            ),
            false => d.help(why.help),
        })
    }

    /// A read of what the block updates, outside the updates themselves.
    fn read_of(&self, block: &Block, updated: &[Option<VarId>]) -> Option<(VarId, Origin)> {
        let mut found = None;
        let mut look = |e: &Expr| {
            if let ExprKind::Read(p) = &*e.kind
                && !p.ty.is_pointer()
                && let Some(base) = base_of(p)
                && updated.contains(&Some(base))
                && found.is_none()
            {
                found = Some((base, p.origin.clone()));
            }
        };
        let mut plain = block.clone();
        visit::map_stmts(&mut plain, &mut |s| {
            let kept = matches!(update_of(s), Some(Ok(u)) if !self.is_private(&u.place));
            if kept || matches!(s.kind, StmtKind::Atomic { .. }) {
                s.kind = StmtKind::Scope(Block::default());
            }
        });
        visit::for_each_expr(&plain, &mut look);
        found
    }
}

/// The place that an assignment, or the only one under a condition, writes.
fn assigned_place(stmt: &Stmt) -> Option<&Place> {
    match &stmt.kind {
        StmtKind::Assign { place, .. } => Some(place),
        StmtKind::If { then, .. } => then.stmts.first().and_then(assigned_place),
        _ => None,
    }
}
