//! Loops over ranges: arrays, lists in braces, and classes with `begin()` and `end()`.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopCondition, LoopKind, Place, PlaceKind, Span,
    StmtKind, Type,
};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// `for (T x : array)`
    pub(crate) fn range_for(
        &mut self,
        decl: &'a ast::VarDecl,
        range: &'a ast::Expr,
        body: &'a ast::Stmt,
        span: Span,
    ) -> Res<()> {
        let Some(d) = decl.declarators.first() else { return Err(Failure::Reported) };
        let (place, is_const) = match &*range.kind {
            ast::ExprKind::InitList(items) => (self.list_range(d, items, range.span)?, true),
            _ => self.range_place(range)?,
        };
        if let Some(class) = self.is_class(&place.ty) {
            return self.range_of_class(d, place, class, is_const, body, span);
        }
        let Type::Array(element, count) = place.ty.clone() else {
            let text = self.type_text(&place.ty);
            return fail(
                "W062",
                range.span,
                format!("only arrays can be iterated over, this is `{text}`"),
            );
        };
        let place = self.hold_place(place, span);
        let index = self.fresh_var("at", Type::I32, span);
        let kind = PlaceKind::Index(place, Expr::var(index, Type::I32).with_origin(span));
        let item = Place::new(kind, (*element).clone(), d.span);
        let block = self.range_body(d, |_| Ok((item, is_const)), body)?;
        let id = self.f().func.fresh_loop();
        let l = ForLoop {
            id,
            var: index,
            declares: true,
            first: Expr::i32(0).with_origin(span),
            compare: BinaryOp::Lt,
            limit: Expr::i32(count as i32).with_origin(span),
            step: Expr::i32(1).with_origin(span),
            kind: LoopKind::Serial,
            body: block,
        };
        self.emit(StmtKind::For(l), span);
        Ok(())
    }

    /// Where a range lies; what a function returns is kept for as long as the loop runs.
    fn range_place(&mut self, range: &'a ast::Expr) -> Res<(Place, bool)> {
        if !matches!(&*range.kind, ast::ExprKind::Call { .. } | ast::ExprKind::Construct { .. }) {
            return self.lvalue(range);
        }
        match self.expr(range)? {
            Operand::Value(value) => Ok((self.materialise(value, range.span), false)),
            other => self.place_of(other, range.span),
        }
    }

    /// What is done with each item.
    fn range_body(
        &mut self,
        d: &'a ast::Declarator,
        item: impl FnOnce(&mut Self) -> Res<(Place, bool)>,
        body: &'a ast::Stmt,
    ) -> Res<Block> {
        let saved = self.open_scope();
        self.enter_loop();
        let (result, block) = self.in_block(|me| -> Res<()> {
            let (item, is_const) = item(me)?;
            me.range_item(d, item, is_const)?;
            me.bind_parts(d)?;
            let inner = me.body(body);
            if let Some(open) = me.f().blocks.last_mut() {
                open.extend(inner.stmts);
            }
            Ok(())
        });
        self.leave_loop();
        self.f().scope = saved;
        result.map(|()| block)
    }

    /// A range whose `begin()` and `end()` are pointers, or objects with operators.
    fn range_of_class(
        &mut self,
        d: &'a ast::Declarator,
        range: Place,
        class: warpsmith_ir::StructId,
        is_const: bool,
        body: &'a ast::Stmt,
        span: Span,
    ) -> Res<()> {
        let first = self.range_end(&range, class, "begin", is_const, span)?;
        let last = self.range_end(&range, class, "end", is_const, span)?;
        if !first.ty.is_pointer() {
            return self.range_of_objects(d, [first, last], body, span);
        }
        let last = self.hold_now(last, span);
        let ty = first.ty.clone();
        let at = self.fresh_var("at", ty.clone(), span);
        self.emit(StmtKind::Decl { var: at, init: Some(first) }, span);
        let here = Expr::var(at, ty.clone()).with_origin(span);
        let item = self.place_of_pointer(here.clone(), span);
        let block = self.range_body(d, |_| Ok((item, is_const)), body)?;
        let one = Expr::i32(1).with_origin(span);
        let next = Expr::new(ExprKind::PtrOffset(here.clone(), one), ty.clone(), span);
        let place = Place::new(PlaceKind::Var(at), ty, span);
        let ((), step) = self.in_block(|me| me.emit(StmtKind::Assign { place, value: next }, span));
        let expr = Expr::new(
            ExprKind::Binary(BinaryOp::Ne, here, last),
            Type::Scalar(warpsmith_ir::Scalar::Bool),
            span,
        );
        let condition = Some(LoopCondition { before: Block::default(), expr, at_end: false });
        let id = self.f().func.fresh_loop();
        self.emit(StmtKind::Loop { id, condition, body: block, step }, span);
        Ok(())
    }

    fn range_end(
        &mut self,
        range: &Place,
        class: warpsmith_ir::StructId,
        name: &str,
        is_const: bool,
        span: Span,
    ) -> Res<Expr> {
        let scope = self.class(class).scope;
        let fns = super::expr::functions(&self.lookup_in(scope, name));
        let object = Operand::Place { place: range.clone(), is_const };
        let chosen = self.resolve_overload(name, &fns, None, Some((class, is_const)), &[], span)?;
        let result = self.call_chosen(chosen, Some(object), vec![], span)?;
        let value = self.rvalue_of(result, span)?;
        match value.ty.is_pointer() || self.is_class(&value.ty).is_some() {
            true => Ok(value),
            false => fail("W062", span, "this range has no pointers or iterators as its ends"),
        }
    }

    /// A loop from one object to another, by their operators `!=`, `*` and `++`.
    fn range_of_objects(
        &mut self,
        d: &'a ast::Declarator,
        ends: [Expr; 2],
        body: &'a ast::Stmt,
        span: Span,
    ) -> Res<()> {
        let [at, last] = ends.map(|end| {
            let place = self.materialise(end, span);
            Operand::Place { place, is_const: false }
        });
        let (condition, before) = self.in_block(|me| {
            let pair = [at.clone(), last];
            let differ = match me.try_operator("!=", &pair, span) {
                Some(result) => me.rvalue_of(result?, span)?,
                None => {
                    let equal = me.operator_of_iterator("==", &pair, span)?;
                    let equal = me.rvalue_of(equal, span)?;
                    super::expr_ops::negated(equal, span)
                }
            };
            me.as_condition(differ, span)
        });
        let expr = condition?;
        let item = std::slice::from_ref(&at);
        let here = |me: &mut Self| match me.operator_of_iterator("*", item, span)? {
            Operand::Value(value) => Ok((me.materialise(value, span), false)),
            other => me.place_of(other, span),
        };
        let block = self.range_body(d, here, body)?;
        let (stepped, step) = self.in_block(|me| {
            let next = me.operator_of_iterator("++", item, span)?;
            if let Operand::Value(value) = next {
                me.hold_value(value, span);
            }
            Res::Ok(())
        });
        stepped?;
        let id = self.f().func.fresh_loop();
        let condition = Some(LoopCondition { before, expr, at_end: false });
        self.emit(StmtKind::Loop { id, condition, body: block, step }, span);
        Ok(())
    }

    fn operator_of_iterator(
        &mut self,
        op: &str,
        operands: &[Operand<'a>],
        span: Span,
    ) -> Res<Operand<'a>> {
        let missing =
            || fail("W062", span, format!("the ends of this range have no `operator{op}`"));
        self.try_operator(op, operands, span).unwrap_or_else(missing)
    }

    /// `for (T x : {a, b})`: an array of the values, of the type of the first unless the loop says which.
    fn list_range(
        &mut self,
        d: &'a ast::Declarator,
        items: &'a [ast::InitItem],
        span: Span,
    ) -> Res<Place> {
        let Some(first) = items.first() else {
            let d = error("W075", span, "there is nothing to iterate over");
            return Err(d.help("put values between the braces").into());
        };
        let scope = self.f_scope();
        let ty = match &first.value {
            ast::Initializer::Expr(e) if super::functions::is_auto(&d.ty) => {
                let q = self.type_of_expr(scope, e)?;
                self.decayed(super::templates::despaced(q)).ty
            }
            _ => self.resolve_type(scope, &d.ty)?.ty,
        };
        let ty = Type::array(ty, items.len() as u64);
        let value = self.list_value(&ty, items, scope, span)?;
        Ok(self.materialise(value, span))
    }

    fn range_item(&mut self, d: &'a ast::Declarator, item: Place, is_const: bool) -> Res<()> {
        let actual = QualType { is_const, ..QualType::plain(item.ty.clone()) };
        let q = self.auto_type(&d.ty, &actual)?;
        let scope = self.f_scope();
        let owner = self.f().serial;
        if q.is_reference() {
            let is_const = is_const || q.is_const;
            self.declare(
                scope,
                &d.name,
                Entity::Place { owner, place: item, is_const, shape: None },
            );
            return Ok(());
        }
        let value = self.read_place(item, is_const, d.span);
        let value = self.convert_to(value, &q.ty, d.span)?;
        let var = self.fresh_var(&d.name, q.ty.clone(), d.span);
        self.emit(StmtKind::Decl { var, init: Some(value) }, d.span);
        let place = Place::new(PlaceKind::Var(var), q.ty, d.span);
        self.declare(
            scope,
            &d.name,
            Entity::Place { owner, place, is_const: q.is_const, shape: None },
        );
        Ok(())
    }
}
