//! Statements, except declarations and loops.

use warpsmith_ir::{Block, Case, Expr, FunctionKind, Span, StmtKind, Type};

use super::Sema;
use super::functions::is_auto;
use super::model::*;
use super::refused::{JUMP_PAST_OBJECTS, refuse};
use crate::ast::{self, StmtKind as K};

/// The local object that a `return` hands over, which does not end there.
fn returned_name(value: Option<&ast::Initializer>) -> Option<&str> {
    match value {
        Some(ast::Initializer::Expr(e)) => match &*e.kind {
            ast::ExprKind::Path(path) => path.as_name(),
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Sema<'a> {
    /// Lowers statements in order; an error in one does not hide those in the next.
    pub(crate) fn lower_stmts(&mut self, stmts: &'a [ast::Stmt]) {
        let ending = self.f().ending.len();
        self.lower_in_order(stmts);
        self.leave_scope(ending);
    }

    fn lower_in_order(&mut self, stmts: &'a [ast::Stmt]) {
        for s in stmts {
            let before = self.before_statement();
            match self.stmt(s) {
                Err(failure) if self.tolerates_at(&before) => self.leave_out(s, failure, &before),
                Err(Failure::New(d)) => self.report(*d),
                _ => {}
            }
            if self.errors.len() >= super::MAX_ERRORS {
                return;
            }
        }
    }

    /// A statement as the body of something, in a scope of its own.
    pub(crate) fn body(&mut self, s: &'a ast::Stmt) -> Block {
        let saved = self.open_scope();
        let ((), block) = self.in_block(|me| match &s.kind {
            // One thread runs a block of OpenMP.
            K::Block(b) => me.lower_stmts(&b.stmts),
            _ => me.lower_stmts(std::slice::from_ref(s)),
        });
        self.f().scope = saved;
        block
    }

    /// Opens a block scope and returns the one to come back to.
    pub(crate) fn open_scope(&mut self) -> ScopeId {
        let outer = self.f_scope();
        let inner = self.new_scope(Some(outer), ScopeKind::Block);
        self.f().scope = inner;
        outer
    }

    fn stmt(&mut self, s: &'a ast::Stmt) -> Res<()> {
        self.deeper(s.span, |me| me.stmt_inner(s))
    }

    fn stmt_inner(&mut self, s: &'a ast::Stmt) -> Res<()> {
        let span = s.span;
        match &s.kind {
            K::Empty => Ok(()),
            K::Expr(e) => self.discard(e),
            K::Vars(vars) => self.local_vars(vars),
            K::Block(_) => {
                let block = self.body(s);
                if !block.stmts.is_empty() {
                    self.emit(StmtKind::Scope(block), span);
                }
                Ok(())
            }
            K::If { constexpr, init, cond, then, otherwise } => {
                self.if_stmt(*constexpr, init.as_deref(), cond, then, otherwise.as_deref(), span)
            }
            K::For { init, cond, step, body } => {
                self.for_stmt(s, init.as_deref(), cond.as_ref(), step.as_ref(), body)
            }
            K::RangeFor { decl, range, body } => self.range_for(decl, range, body, span),
            K::While { cond, body } => self.while_stmt(cond, body, span),
            K::DoWhile { body, cond } => self.do_while(cond, body, span),
            K::Switch { selector, body } => self.switch(selector, body, span),
            K::Case(_) | K::Default => {
                let says = "a case label has to stand directly in the body of its `switch`";
                let instead = "a loop that is entered in its middle: write its first, shorter round as a `switch` or a loop \
                               of its own before it";
                Err(error("W085", span, says).help(instead).into())
            }
            K::Break => {
                let f = self.f();
                if f.loops + f.switches == 0 {
                    return fail("W086", span, "`break` outside of a loop or switch");
                }
                self.end_objects_of_break()?;
                self.emit(StmtKind::Break, span);
                Ok(())
            }
            K::Continue => {
                if self.f().loops == 0 {
                    return fail("W086", span, "`continue` outside of a loop");
                }
                self.end_objects_of_continue()?;
                self.emit(StmtKind::Continue, span);
                Ok(())
            }
            K::Return(value) => self.return_stmt(value.as_ref(), span),
            // Conditions of host code may be unknown, and then it must stay one statement that can be left out.
            K::Goto(_) if self.f().func.kind == FunctionKind::Host => {
                let d = error("W087", span, "`goto` is not supported in host code");
                Err(d.help("use a loop with `break`, or `return`").into())
            }
            K::Goto(_) if !self.f().ending.is_empty() => refuse(JUMP_PAST_OBJECTS, span),
            K::Goto(name) => {
                let (number, label) = self.label(name);
                label.jump.get_or_insert(span);
                self.emit(crate::machine::jump(number), span);
                Ok(())
            }
            K::LabelDef(_) if self.f().func.kind == FunctionKind::Host => Ok(()),
            K::LabelDef(name) => {
                let (number, label) = self.label(name);
                if std::mem::replace(&mut label.stands, true) {
                    return fail("W087", span, format!("the label `{name}` is there twice"));
                }
                self.emit(crate::machine::label(number), span);
                Ok(())
            }
            K::Item(item) => {
                let scope = self.f_scope();
                if let ast::ItemKind::StaticAssert(cond) = &item.0.kind {
                    self.check_static_assert(scope, cond);
                    return Ok(());
                }
                if let ast::ItemKind::Function(f) = &item.0.kind
                    && let (None, Some(ret)) = (&f.body, &f.ret)
                    && let ast::FunctionName::Plain(path) = &f.name
                {
                    let name = super::types::path_text(path);
                    return self.misread_function(&name, span, ret, &f.params);
                }
                self.declare_item(scope, &item.0);
                Ok(())
            }
            K::Asm { template, operands } => self.assembly(template, operands, span),
            K::Unsupported { what } => Err(super::instead::unsupported(what, span)),
        }
    }

    /// The label of a name in the function under construction, and its number.
    fn label(&mut self, name: &str) -> (u32, &mut Label) {
        let labels = &mut self.f().labels;
        let at = match labels.iter().position(|l| l.name == name) {
            Some(at) => at,
            None => {
                labels.push(Label { name: name.to_string(), stands: false, jump: None });
                labels.len() - 1
            }
        };
        (at as u32, &mut labels[at])
    }

    /// Every jump of the function under construction has its label.
    pub(crate) fn jumps_lead_somewhere(&mut self) -> Res<()> {
        let lost = self.f().labels.iter().find(|l| !l.stands);
        let Some((name, span)) = lost.and_then(|l| Some((l.name.clone(), l.jump?))) else {
            return Ok(());
        };
        let d = error("W087", span, format!("there is no label `{name}` in this function"));
        Err(d.help("write `name:` before the statement that is meant").into())
    }

    fn if_stmt(
        &mut self,
        constexpr: bool,
        init: Option<&'a ast::Stmt>,
        cond: &'a ast::Expr,
        then: &'a ast::Stmt,
        otherwise: Option<&'a ast::Stmt>,
        span: Span,
    ) -> Res<()> {
        let saved = self.open_scope();
        let result = (|| {
            if let Some(init) = init {
                self.stmt(init)?;
            }
            let c = if constexpr {
                let here = self.f_scope();
                Expr::constant(self.const_value(here, cond)?)
            } else {
                self.truth_of(cond)?
            };
            let c = self.as_condition(c, cond.span)?;
            if let Some(v) = c.as_const() {
                let taken = if v.is_true() { Some(then) } else { otherwise };
                if let Some(taken) = taken {
                    let block = self.body(taken);
                    self.emit_block(block, span);
                }
                return Ok(());
            }
            let then = self.body(then);
            let otherwise = otherwise.map(|s| self.body(s)).unwrap_or_default();
            self.emit(StmtKind::If { cond: c, then, otherwise }, span);
            Ok(())
        })();
        self.f().scope = saved;
        result
    }

    /// A block in the middle of another: nothing when it is empty.
    fn emit_block(&mut self, block: Block, span: Span) {
        if !block.stmts.is_empty() {
            self.emit(StmtKind::Scope(block), span);
        }
    }

    /// What stands in for a value that a reference is returned to goes on behind the function: it may stand for something of
    /// the caller's, as `a` or `b` in `return a > b ? a : b;`. So it is declared in a block that ends by the return only.
    fn return_stmt(&mut self, value: Option<&'a ast::Initializer>, span: Span) -> Res<()> {
        if let Some(ast::Initializer::Expr(e)) = value {
            self.deduce_reference(e)?;
        }
        if !self.f().ret.as_ref().is_some_and(QualType::is_reference) {
            return self.return_value(value, span);
        }
        let (returned, block) = self.in_block(|s| s.return_value(value, span));
        returned?;
        if block.stmts.iter().any(|s| matches!(s.kind, StmtKind::Decl { .. })) {
            self.emit(StmtKind::Scope(block), span);
        } else if let Some(stmts) = self.f().blocks.last_mut() {
            stmts.extend(block.stmts);
        }
        Ok(())
    }

    fn return_value(&mut self, value: Option<&'a ast::Initializer>, span: Span) -> Res<()> {
        let value_of = value;
        let Some(value) = value else {
            if self.f().ret.as_ref().is_some_and(|r| r.ty != Type::Void) {
                return fail("W089", span, "`return` needs a value here");
            }
            self.end_objects(0, None)?;
            self.keep_promises(None, span)?;
            self.emit(StmtKind::Return(None), span);
            return Ok(());
        };
        let operand = match value {
            ast::Initializer::Expr(e) if self.returns_reference() => {
                let (place, is_const) = self.lvalue(e)?;
                Operand::Place { place, is_const }
            }
            ast::Initializer::Expr(e) => self.expr(e)?,
            ast::Initializer::List(items, _) => Operand::List(items),
            ast::Initializer::Call(..) => {
                return fail("W075", span, "this is not understood after `return`");
            }
        };
        if let Operand::Void = operand {
            self.end_objects(0, None)?;
            self.emit(StmtKind::Return(None), span);
            return Ok(());
        }
        if self.f().ret.is_none() {
            let Some(q) = self.operand_type(&operand) else {
                let value = self.rvalue_of(operand, span)?;
                return fail(
                    "W052",
                    span,
                    format!("`{}` cannot be returned", self.type_text(&value.ty)),
                );
            };
            let mut q = self.decayed(q);
            q.is_const = false;
            q.is_volatile = false;
            self.f().ret = Some(super::templates::despaced(q));
        }
        let Some(ret) = self.f().ret.clone() else { return Err(Failure::Reported) };
        if ret.ty == Type::Void && !ret.is_reference() {
            let d = error("W089", span, "this function returns nothing (`void`)");
            return Err(d.into());
        }
        let operand = match ret.is_reference() {
            true => operand,
            false => self.handed_over(operand, span)?,
        };
        let mut value = self.pass(operand, &ret, span)?;
        if !self.f().ending.is_empty() {
            value = self.hold_now(value, span);
            self.end_objects(0, returned_name(value_of))?;
        }
        let Some(value) = self.keep_promises(Some(value), span)? else {
            return Err(Failure::Reported);
        };
        self.emit(StmtKind::Return(Some(value)), span);
        Ok(())
    }

    /// Whether the function returns a reference that what it is bound to may be changed through.
    fn returns_reference(&mut self) -> bool {
        self.f().ret.as_ref().is_some_and(|r| r.reference == RefKind::Lvalue && !r.is_const)
    }

    /// Case labels stand directly in the body; each starts an arm that falls through to the next.
    fn switch(&mut self, selector: &'a ast::Expr, body: &'a ast::Stmt, span: Span) -> Res<()> {
        let value = self.rvalue(selector)?;
        let value = match value.ty {
            Type::Scalar(s) if s.is_integer() => {
                super::convert::cast_scalar(value, super::convert::promoted(s), selector.span)
            }
            _ if self.is_class(&value.ty).is_some() => {
                self.convert_to(value, &Type::I32, selector.span)?
            }
            _ => return fail("W062", selector.span, "`switch` needs an integer"),
        };
        let ty = value.ty.clone();
        let stmts: &'a [ast::Stmt] = match &body.kind {
            K::Block(b) => &b.stmts,
            _ => std::slice::from_ref(body),
        };
        let saved = self.open_scope();
        self.enter_switch();
        let cases = self.cases(stmts, &ty);
        self.leave_switch();
        self.f().scope = saved;
        self.emit(StmtKind::Switch { selector: value, cases: cases? }, span);
        Ok(())
    }

    fn cases(&mut self, stmts: &'a [ast::Stmt], ty: &Type) -> Res<Vec<Case>> {
        let mut cases: Vec<Case> = vec![];
        let mut seen: Vec<i64> = vec![];
        let mut i = 0;
        while i < stmts.len() {
            let first = i;
            let mut case = Case { values: vec![], is_default: false, body: Block::default() };
            while let Some(s) = stmts.get(i) {
                match &s.kind {
                    K::Case(e) => {
                        let here = self.f_scope();
                        let v = self.const_value(here, e)?;
                        let v = warpsmith_ir::eval::cast(
                            v,
                            ty.scalar().unwrap_or(warpsmith_ir::Scalar::I32),
                        );
                        if seen.contains(&v.as_i64()) {
                            return fail(
                                "W085",
                                s.span,
                                format!("the case {} is there twice", v.as_i64()),
                            );
                        }
                        seen.push(v.as_i64());
                        case.values.push(v.as_i64());
                    }
                    K::Default => {
                        if case.is_default || cases.iter().any(|c| c.is_default) {
                            return fail("W085", s.span, "`default` is there twice");
                        }
                        case.is_default = true;
                    }
                    _ => break,
                }
                i += 1;
            }
            let start = i;
            while stmts.get(i).is_some_and(|s| !matches!(s.kind, K::Case(_) | K::Default)) {
                i += 1;
            }
            let body = stmts.get(start..i).unwrap_or_default();
            let ((), block) = self.in_block(|me| me.lower_stmts(body));
            case.body = block;
            if start == first {
                // Statements before the first label are never reached; their declarations are visible.
                continue;
            }
            cases.push(case);
        }
        Ok(cases)
    }

    /// A type to be taken from the value: `auto`, `auto &`, `const auto *`.
    pub(crate) fn auto_type(
        &mut self,
        written: &'a ast::TypeName,
        actual: &QualType,
    ) -> Res<QualType> {
        let mut q = match &written.kind {
            ast::TypeKind::Auto | ast::TypeKind::DecltypeAuto => {
                let mut q = self.decayed(actual.clone());
                q.is_const = false;
                q.is_volatile = false;
                q.reference = RefKind::No;
                q
            }
            ast::TypeKind::Reference { to, rvalue } => {
                let mut q = match &to.kind {
                    ast::TypeKind::Auto => actual.clone(),
                    _ => self.auto_type(to, actual)?,
                };
                q.is_const |= to.is_const;
                q.reference = if *rvalue { RefKind::Rvalue } else { RefKind::Lvalue };
                return Ok(q);
            }
            ast::TypeKind::Pointer { to, .. } => {
                let q = self.decayed(actual.clone());
                let Type::Pointer { pointee, readonly, volatile, space } = q.ty.clone() else {
                    return fail(
                        "W062",
                        written.span,
                        format!("`auto *` needs a pointer, this is `{}`", self.type_text(&q.ty)),
                    );
                };
                let readonly = readonly || to.is_const;
                QualType {
                    is_const: false,
                    ..QualType::plain(Type::Pointer { pointee, readonly, volatile, space })
                }
            }
            _ if is_auto(written) => {
                let d = error("W052", written.span, "this use of `auto` is not supported");
                return Err(d.help("write the type").into());
            }
            _ => {
                let scope = self.f_scope();
                return self.resolve_type(scope, written);
            }
        };
        q.is_const |= written.is_const;
        q.is_volatile |= written.is_volatile;
        Ok(q)
    }
}
