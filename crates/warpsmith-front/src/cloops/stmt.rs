//! Statements of C.

use warpsmith_ir::{
    Block, Case, Diagnostic, Expr, ExprKind, LoopCondition, Scalar, Span, Stmt, StmtKind, Type,
    Value,
};

use super::cx::{Binding, Cx, Frame, Low, Region};
use super::exclusive::Exclusive;
use super::order::Share;
use super::pragma::{self, Clauses, Directive};
use super::swaps;
use crate::ast;

/// Two branches that do nothing but store to the same element: one store of `cond ? a : b`, which threads can do side by side in
/// vectors.
fn one_store(cond: &Expr, then: &Block, otherwise: &Block, span: Span) -> Option<StmtKind> {
    let store = |block: &Block| match block.stmts.as_slice() {
        [Stmt { kind: StmtKind::Assign { place, value }, comment, .. }] if comment.is_empty() => {
            let memory = place.root_var().is_none() && place.ty.scalar().is_some();
            memory.then(|| (place.clone(), value.clone()))
        }
        _ => None,
    };
    let ((place, a), (other, b)) = (store(then)?, store(otherwise)?);
    let ty = place.ty.clone();
    let value = ExprKind::Select(cond.clone(), a, b);
    let value = Expr::new(value, ty, span);
    (place == other).then_some(StmtKind::Assign { place, value })
}

/// What the pragmas before a statement ask for.
#[derive(Default)]
struct Asked {
    mark: Option<(Clauses, Span)>,
    region: Option<(Clauses, Span)>,
    /// One thread runs the statement; whether the others wait for it.
    once: Option<bool>,
    exclusive: Option<Exclusive>,
    barrier: bool,
    unroll: Option<Option<u32>>,
}

impl<'u> Cx<'u> {
    /// Lowers a list of statements; an error in one does not hide errors in the next.
    pub fn stmts(&mut self, list: &'u [ast::Stmt]) {
        let outer = self.following;
        let mut lowered = 0;
        for (i, stmt) in list.iter().enumerate() {
            if i < lowered {
                continue;
            }
            self.following = &list[i + 1..];
            // Reported where it arose.
            match self.swap(&list[i..]) {
                Ok(0) => _ = self.stmt(stmt),
                Ok(statements) => lowered = i + statements,
                Err(_) => lowered = i + swaps::at_start(&list[i..]).map_or(1, |s| s.statements),
            }
        }
        self.following = outer;
    }

    pub fn stmt(&mut self, stmt: &'u ast::Stmt) -> Low<()> {
        let asked = self.pragmas(stmt)?;
        if asked.barrier {
            self.finish_all();
        }
        let (before, start) = (self.regions.len(), self.out.len());
        if let Some((clauses, span)) = &asked.region {
            let (clauses, arrays) = self.parallel_of(clauses, None, *span)?;
            let first_inside = self.function.vars.len() as u32;
            self.regions.push(Region {
                clauses,
                first_inside,
                span: *span,
                arrays,
                parts: vec![],
                unfinished: vec![],
            });
        }
        if asked.once.is_some() {
            self.frames.push(Frame::Marked(stmt.span));
        }
        let result = match asked.exclusive {
            Some(what) => self.exclusive(stmt, what),
            None => self.marked_stmt(stmt, &asked),
        };
        if asked.once.is_some() {
            self.frames.pop();
        }
        let result = match &asked.region {
            // A loop that a region consists of begins anew while threads may still be at its end.
            Some(_) => result.and_then(|()| self.in_order(stmt, None, start)),
            None => result,
        };
        self.regions.truncate(before);
        result?;
        let kind = match (&asked.mark, asked.once) {
            (Some((clauses, _)), _) => {
                Some(Share { loop_of: true, waits: !clauses.nowait, dynamic: clauses.dynamic })
            }
            (None, Some(waits)) => Some(Share { loop_of: false, waits, dynamic: false }),
            (None, None) => None,
        };
        self.in_order(stmt, kind, start)
    }

    /// A statement whose pragmas have been seen to.
    pub fn unmarked(&mut self, stmt: &'u ast::Stmt) -> Low<()> {
        self.marked_stmt(stmt, &Asked::default())
    }

    fn marked_stmt(&mut self, stmt: &'u ast::Stmt, asked: &Asked) -> Low<()> {
        match (&stmt.kind, &asked.mark) {
            (ast::StmtKind::For { .. }, mark) => {
                let mark = mark.as_ref().map(|(c, span)| (c, *span));
                self.for_statement(stmt, mark, asked.unroll)
            }
            (_, Some((_, span))) => {
                let d = Diagnostic::error(
                    "W137",
                    "this pragma marks a loop, but no `for` loop follows",
                )
                .label(*span, "marks the next statement")
                .label(stmt.span, "not a `for` loop");
                Err(self.fail(d.help("put the pragma directly before the `for` it is meant for")))
            }
            (_, None) => self.plain_stmt(stmt),
        }
    }

    fn pragmas(&mut self, stmt: &ast::Stmt) -> Low<Asked> {
        let mut asked = Asked::default();
        let mut failed = None;
        let mut independent = None;
        for p in &stmt.pragmas {
            match pragma::parse(p) {
                Ok(Directive::Loop(clauses)) => asked.mark = Some((clauses, p.span)),
                Ok(Directive::Data(clauses)) => {
                    if let Err(reported) = self.parallel_of(&clauses, None, p.span) {
                        failed = Some(reported);
                    }
                }
                Ok(Directive::Region(clauses)) => asked.region = Some((clauses, p.span)),
                Ok(Directive::Once { waits }) => asked.once = Some(waits),
                Ok(Directive::Atomic(kind, span)) => {
                    asked.exclusive = Some(Exclusive::Atomic(kind, span));
                }
                Ok(Directive::Critical(span)) => asked.exclusive = Some(Exclusive::Critical(span)),
                Ok(Directive::Barrier) => asked.barrier = true,
                Ok(Directive::Unroll(n)) => asked.unroll = Some(n),
                Ok(Directive::Bounds(list)) => self.apply_bounds(&list),
                Ok(Directive::Independent) => independent = Some(p.span),
                Ok(Directive::Lanes | Directive::Ignored) => {}
                Err(d) => failed = Some(self.fail(*d)),
            }
        }
        // Beside a mark it strengthens that one, alone it is one.
        if let Some(span) = independent {
            asked.mark.get_or_insert((Clauses::default(), span)).0.independent = true;
        }
        match failed {
            Some(reported) => Err(reported),
            None => Ok(asked),
        }
    }

    fn plain_stmt(&mut self, stmt: &'u ast::Stmt) -> Low<()> {
        use ast::StmtKind as S;
        match &stmt.kind {
            S::Empty => Ok(()),
            S::Expr(e) => self.effects(e),
            S::Vars(decl) => self.vars(decl),
            S::Block(b) => {
                let body = self.block(|cx| cx.stmts(&b.stmts));
                if !body.stmts.is_empty() {
                    self.push(StmtKind::Scope(body), stmt.span);
                }
                Ok(())
            }
            S::If { cond, then, otherwise, .. } => {
                self.branch(cond, then, otherwise.as_deref(), stmt.span)
            }
            S::For { .. } => self.for_statement(stmt, None, None),
            S::While { cond, body } => self.while_loop(cond, body, false, stmt.span),
            S::DoWhile { body, cond } => self.while_loop(cond, body, true, stmt.span),
            S::Switch { selector, body } => self.switch(selector, body, stmt.span),
            S::Break => self.leave(true, stmt.span),
            S::Continue => self.leave(false, stmt.span),
            S::Return(value) => self.give_back(value.as_ref(), stmt.span),
            S::Goto(_) => {
                let d = Diagnostic::error("W141", "`goto` is not part of the loop language")
                    .label(stmt.span, "this jump");
                Err(self.fail(d.help("use `if`, `while`, `break` or `continue`")))
            }
            // A label nobody jumps to does nothing; a jump has its own message.
            S::LabelDef(_) => Ok(()),
            S::Case(_) | S::Default => {
                Err(self.unsupported("a `case` outside of the top level of a `switch`", stmt.span))
            }
            S::RangeFor { .. } => {
                Err(self.unsupported("a range-based `for` is not C and", stmt.span))
            }
            S::Item(local) => self.local_type(&local.0),
            S::Asm { .. } => Err(self.unsupported("inline assembly", stmt.span)),
            S::Unsupported { what } => {
                let what = what.clone();
                Err(self.unsupported(&what, stmt.span))
            }
        }
    }

    /// A type declared inside the function. Its name is known to [`super::unit::Unit`]; an enumeration also has constants.
    fn local_type(&mut self, item: &'u ast::Item) -> Low<()> {
        match &item.kind {
            ast::ItemKind::Alias(_) => Ok(()),
            ast::ItemKind::Enum(e) => self.local_enumeration(e),
            // Its name is known, and it is looked at when a variable has it.
            ast::ItemKind::Struct(_) => Ok(()),
            _ => Err(self.unsupported("this declaration inside a function", item.span)),
        }
    }

    fn local_enumeration(&mut self, e: &'u ast::EnumDecl) -> Low<()> {
        let mut next = 0i64;
        for (name, value, span) in &e.variants {
            if let Some(value) = value {
                next = self.case_value(value)?;
            }
            if i32::try_from(next).is_err() {
                let d = Diagnostic::error("W149", format!("`{name}` does not fit `int`"))
                    .label(*span, "this constant");
                return Err(self.fail(d.help("declare it `const long`")));
            }
            let id = self.named_const(name, Value::int(Scalar::I32, next));
            self.bind(name, Binding::Const(id));
            next += 1;
        }
        Ok(())
    }

    /// A statement as a block of its own; braces around it add no second scope.
    pub fn body(&mut self, stmt: &'u ast::Stmt) -> Block {
        self.block(|cx| match &stmt.kind {
            ast::StmtKind::Block(b) if stmt.pragmas.is_empty() => cx.stmts(&b.stmts),
            _ => {
                let _ = cx.stmt(stmt);
            }
        })
    }

    fn branch(
        &mut self,
        cond: &'u ast::Expr,
        then: &'u ast::Stmt,
        otherwise: Option<&'u ast::Stmt>,
        span: Span,
    ) -> Low<()> {
        let cond = self.condition(cond);
        let then = self.body(then);
        let otherwise = otherwise.map(|o| self.body(o)).unwrap_or_default();
        let cond = cond?;
        let kind = match one_store(&cond, &then, &otherwise, span) {
            Some(store) => store,
            None => StmtKind::If { cond, then, otherwise },
        };
        self.push(kind, span);
        Ok(())
    }

    fn while_loop(
        &mut self,
        cond: &'u ast::Expr,
        body: &'u ast::Stmt,
        at_end: bool,
        span: Span,
    ) -> Low<()> {
        self.check_depth(cond.span)?;
        let id = self.fresh_loop();
        let condition = self.loop_condition(Some(cond), at_end);
        self.frames.push(Frame::Loop);
        let body = self.body(body);
        self.frames.pop();
        self.push(StmtKind::Loop { id, condition: condition?, body, step: Block::default() }, span);
        Ok(())
    }

    /// The condition of a loop; `None` when there is none or it is always true.
    pub fn loop_condition(
        &mut self,
        cond: Option<&ast::Expr>,
        at_end: bool,
    ) -> Low<Option<LoopCondition>> {
        let Some(cond) = cond else { return Ok(None) };
        let (expr, before) = self.collect(|cx| cx.condition(cond));
        let expr = expr?;
        if before.is_empty() && expr.as_const().is_some_and(Value::is_true) {
            return Ok(None);
        }
        Ok(Some(LoopCondition { before: Block::new(before), expr, at_end }))
    }

    fn switch(&mut self, selector: &'u ast::Expr, body: &'u ast::Stmt, span: Span) -> Low<()> {
        let ast::StmtKind::Block(list) = &body.kind else {
            return Err(self.unsupported("a `switch` without braces", span));
        };
        let selector = self.index_value(selector);
        self.frames.push(Frame::Switch);
        let cases = self.cases(&list.stmts);
        self.frames.pop();
        self.push(StmtKind::Switch { selector: selector?, cases: cases? }, span);
        Ok(())
    }

    fn cases(&mut self, list: &'u [ast::Stmt]) -> Low<Vec<Case>> {
        let mut cases: Vec<Case> = vec![];
        let mut at = 0;
        while at < list.len() {
            let is_label =
                |s: &ast::Stmt| matches!(s.kind, ast::StmtKind::Case(_) | ast::StmtKind::Default);
            let mut case = Case { values: vec![], is_default: false, body: Block::default() };
            while let Some(label) = list.get(at).filter(|s| is_label(s)) {
                match &label.kind {
                    ast::StmtKind::Case(e) => case.values.push(self.case_value(e)?),
                    _ => case.is_default = true,
                }
                at += 1;
            }
            let end = list[at..].iter().position(is_label).map_or(list.len(), |n| at + n);
            if case.values.is_empty() && !case.is_default {
                return Err(self.unsupported("a statement before the first `case`", list[at].span));
            }
            case.body = self.block(|cx| cx.stmts(&list[at..end]));
            cases.push(case);
            at = end;
        }
        Ok(cases)
    }

    fn case_value(&mut self, e: &ast::Expr) -> Low<i64> {
        let value = self.index_value(e)?;
        match self.fold(&value) {
            Some(v) => Ok(v.as_i64()),
            None => Err(self.error(
                "W148",
                "this value must be constant",
                e.span,
                "known only at run time",
            )),
        }
    }

    /// `break` and `continue`.
    fn leave(&mut self, is_break: bool, span: Span) -> Low<()> {
        let frame = self.frames.iter().rev().find(|f| is_break || **f != Frame::Switch).copied();
        match frame {
            Some(Frame::Marked(mark)) if is_break => {
                let d = Diagnostic::error("W140", "`break` leaves a loop that is marked parallel")
                    .label(span, "the iterations after this one would not run")
                    .label(mark, "marked here");
                Err(self.fail(d.help("remove the mark, or guard the body with a condition")))
            }
            Some(_) => {
                self.push(if is_break { StmtKind::Break } else { StmtKind::Continue }, span);
                Ok(())
            }
            None => {
                Err(self.error("W146", "there is no loop to leave here", span, "outside of loops"))
            }
        }
    }

    fn give_back(&mut self, value: Option<&'u ast::Initializer>, span: Span) -> Low<()> {
        if let Some(mark) =
            self.frames.iter().find_map(|f| if let Frame::Marked(m) = f { Some(*m) } else { None })
        {
            let d = Diagnostic::error("W140", "`return` leaves a loop that is marked parallel")
                .label(span, "the iterations after this one would not run")
                .label(mark, "marked here");
            return Err(self.fail(d.help("set a variable and test it after the loop")));
        }
        if let Some(region) = self.regions.last().map(|r| r.span) {
            let d = Diagnostic::error("W140", "`return` leaves a parallel region")
                .label(span, "this return")
                .label(region, "begins here");
            return Err(self.fail(d));
        }
        // A function put in place of its call has its only `return` at the end, where it does nothing.
        if !self.inlining.is_empty() {
            return Ok(());
        }
        let ret = self.function.ret.clone();
        let wanted = Some(&ret).filter(|t| **t != Type::Void);
        let value = match (value, wanted) {
            (Some(ast::Initializer::Expr(e)), Some(to)) => Some(self.value_as(e, to)?),
            (None, None) => None,
            (Some(_), None) => {
                return Err(self.error(
                    "W148",
                    "a `void` function gives no value",
                    span,
                    "this return",
                ));
            }
            (None, Some(_)) => {
                return Err(self.error(
                    "W148",
                    "a value must be returned here",
                    span,
                    "this return",
                ));
            }
            (Some(_), Some(_)) => return Err(self.unsupported("a list as a returned value", span)),
        };
        self.push(StmtKind::Return(value), span);
        Ok(())
    }
}
