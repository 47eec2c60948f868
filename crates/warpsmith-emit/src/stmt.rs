//! Statements.

use warpsmith_ir::{
    BinaryOp, Block, Case, Expr, ExprKind, FunctionKind, Place, PlaceKind, Scalar, Stmt, StmtKind,
    Type, Value, Var, VarId, VarKind,
};

use crate::context::Printer;
use crate::convert::{common, lossless};
use crate::doc::{Doc, Out, WIDTH, cat, layout, list, text};
use crate::error::{EmitError, Result};
use crate::expr::half;
use crate::literal;
use crate::types::{Qualifiers, declare};
use crate::walk;

/// Where a value goes: `x = `, or `const int x = ` where the statement is also the declaration.
pub(crate) enum Sink {
    /// The value is not wanted.
    Nowhere,
    To(Doc),
}

impl Sink {
    /// The statement `sink value;`.
    pub fn statement(self, value: Doc) -> Doc {
        match self {
            Sink::Nowhere => cat([value, text(";")]),
            Sink::To(left) => assignment(left, "=", value),
        }
    }
}

/// `left op value;`, broken inside the value, or after the operator where that takes fewer lines.
pub(crate) fn assignment(left: Doc, op: &str, value: Doc) -> Doc {
    let inside = cat([text(" "), value.clone().align().group()]);
    let after = cat([Doc::Line(" "), value.align().group()]).group().nest();
    let value = Doc::Either(Box::new(inside), Box::new(after));
    cat([left, text(format!(" {op}")), value, text(";")])
}

impl Printer<'_> {
    pub fn block(&self, out: &mut Out, block: &Block) -> Result<()> {
        self.statements(out, &block.stmts.iter().collect::<Vec<_>>())
    }

    /// Statements of one scope. A declaration without a value moves down to the first assignment.
    pub fn statements(&self, out: &mut Out, stmts: &[&Stmt]) -> Result<()> {
        let mut joined = vec![None; stmts.len()];
        let mut skipped = vec![false; stmts.len()];
        for (i, s) in stmts.iter().enumerate() {
            if let StmtKind::Decl { var, init: None } = s.kind
                && self.is_plain_local(var)
                && let Some(at) = first_assignment(&stmts[i + 1..], var)
            {
                joined[i + 1 + at] = Some(var);
                skipped[i] = true;
            }
        }
        let mut counters = vec![None; stmts.len()];
        for (i, pair) in stmts.windows(2).enumerate() {
            if let Some(var) = self.loop_variable(pair[0], pair[1], &stmts[i + 2..]) {
                counters[i + 1] = Some(pair[0]);
                skipped[i] = true;
                joined[i + 1] = Some(var);
            }
        }
        for (i, s) in stmts.iter().enumerate() {
            if !s.comment.is_empty() {
                out.gap();
                s.comment.iter().for_each(|c| out.comment(c));
            }
            match &s.kind {
                _ if skipped[i] => {}
                // Braces around the rest of a block say nothing.
                StmtKind::Scope(inner) if i + 1 == stmts.len() => self.block(out, inner)?,
                StmtKind::Loop { condition, body, step, .. } if counters[i].is_some() => {
                    self.general_loop(out, condition.as_ref(), body, step, counters[i])?;
                }
                _ => self.statement(out, s, joined[i])?,
            }
        }
        Ok(())
    }

    /// The variable that a declaration makes for the loop after it: stepped by the loop, and used nowhere else. It is
    /// then declared in the head of the loop.
    fn loop_variable(&self, declaration: &Stmt, next: &Stmt, rest: &[&Stmt]) -> Option<VarId> {
        let StmtKind::Decl { var, init: Some(_) } = declaration.kind else { return None };
        let StmtKind::Loop { condition: Some(c), step, .. } = &next.kind else { return None };
        let stepped = step.stmts.iter().all(|s| match &s.kind {
            StmtKind::Assign { place, .. } => *place.kind == PlaceKind::Var(var),
            _ => false,
        });
        let plain = !c.at_end && c.before.stmts.is_empty() && !step.stmts.is_empty() && stepped;
        // What is said about the loop stands above it.
        let alone = declaration.comment.is_empty();
        let simple = self.is_plain_local(var) && !self.use_of(var).addressed;
        let later = rest.iter().any(|s| walk::mentions(s, var));
        (plain && alone && simple && !later).then_some(var)
    }

    /// One statement; it also declares the variable `joined`, which it gives its first value.
    fn statement(&self, out: &mut Out, s: &Stmt, joined: Option<VarId>) -> Result<()> {
        match &s.kind {
            StmtKind::Decl { var, init } => self.declaration(out, *var, init.as_ref()),
            StmtKind::Assign { place, value } => self.assign(out, place, value, joined),
            StmtKind::If { cond, then, otherwise } => self.if_chain(out, cond, then, otherwise),
            StmtKind::For(l) => self.for_loop(out, l),
            StmtKind::Loop { condition, body, step, .. } => {
                self.general_loop(out, condition.as_ref(), body, step, None)
            }
            StmtKind::Switch { selector, cases } => self.switch(out, selector, cases),
            StmtKind::Break => out_line(out, "break;"),
            StmtKind::Continue => out_line(out, "continue;"),
            StmtKind::Return(value) => {
                let doc = self.return_text(value.as_ref())?;
                out.doc(&doc);
                Ok(())
            }
            StmtKind::Scope(b) => {
                if b.stmts.is_empty() {
                    return Ok(());
                }
                out.line("{");
                self.indented(out, b)?;
                out_line(out, "}")
            }
            StmtKind::Call { function, args, result } => {
                let sink = match result {
                    Some(place) => self.sink_place(place, joined)?,
                    None => Sink::Nowhere,
                };
                let call = self.call_function(*function, args, s)?;
                out.doc(&sink.statement(call));
                Ok(())
            }
            StmtKind::Launch(l) => self.launch(out, l, s),
            _ => self.effect(out, s, joined),
        }
    }

    pub fn indented(&self, out: &mut Out, b: &Block) -> Result<()> {
        out.depth += 1;
        let result = self.block(out, b);
        out.depth -= 1;
        result
    }

    pub fn return_text(&self, value: Option<&Expr>) -> Result<Doc> {
        if self.stream.is_some() {
            let status = if self.launched.get() { "cudaGetLastError()" } else { "cudaSuccess" };
            return Ok(text(format!("return {status};")));
        }
        Ok(match value {
            None => text("return;"),
            Some(e) => cat([text("return "), self.implicit(e)?.doc.align(), text(";")]),
        })
    }

    /// `T name`, with its storage class; `value` is true where an initialiser follows.
    pub fn declarator(&self, var: VarId, value: bool) -> Result<String> {
        let Some(v) = self.var(var) else {
            return Err(EmitError::new("an unknown variable", &self.function.origin));
        };
        let u = self.use_of(var);
        let value_type = matches!(v.ty, Type::Scalar(_) | Type::Vector(..));
        let scalar = value_type && v.kind == VarKind::Local;
        let constant = scalar && value && u.writes == 1 && !u.addressed;
        let qualifiers =
            Qualifiers { constant, restrict: v.restrict, reference: v.reference, spelled: None };
        let name = self.name(var);
        let text = match self.named_extents(v, name)? {
            Some((element, declarator)) => {
                declare(element, &declarator, qualifiers, self.cx.names)?
            }
            None => declare(&v.ty, name, qualifiers, self.cx.names)?,
        };
        let align = if v.align > 0 { format!("__align__({}) ", v.align) } else { String::new() };
        Ok(match v.kind {
            VarKind::Shared => format!("__shared__ {align}{text}"),
            VarKind::DynamicShared => format!("extern __shared__ {align}{text}"),
            VarKind::Local | VarKind::Param => format!("{align}{text}"),
        })
    }

    /// The element of a kernel's array and its name with the extents in brackets, where these were given by named
    /// constants; a pointer to the first part of an array has all extents but the outermost.
    fn named_extents<'v>(&self, v: &'v Var, name: &str) -> Result<Option<(&'v Type, String)>> {
        let (Some(shape), VarKind::Shared | VarKind::Local) = (v.shape.as_deref(), v.kind) else {
            return Ok(None);
        };
        let (shape, mut element, mut text) = match (v.ty.pointee(), shape) {
            (Some(part), [_, inner @ ..]) => (inner, part, format!("(*{name})")),
            _ => (shape, &v.ty, name.to_string()),
        };
        for extent in shape {
            let Type::Array(inner, length) = element else { return Ok(None) };
            let value = self.extent_value(extent).and_then(|n| u64::try_from(n).ok());
            if value != Some(*length) {
                return Ok(None);
            }
            text.push_str(&format!("[{}]", layout(&self.expr(extent)?.doc, 0, 0)));
            element = inner;
        }
        Ok((!shape.is_empty()).then_some((element, text)))
    }

    /// The value of a sum or product of constants.
    fn extent_value(&self, e: &Expr) -> Option<i64> {
        match &*e.kind {
            ExprKind::Const(v) if v.ty.is_integer() => Some(v.as_i64()),
            ExprKind::Named(id) => {
                Some(self.cx.module.constants.get(id.0 as usize)?.value.as_i64())
            }
            ExprKind::Cast(inner) if e.ty.is_integer() => self.extent_value(inner),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.extent_value(a)?, self.extent_value(b)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn declaration(&self, out: &mut Out, var: VarId, init: Option<&Expr>) -> Result<()> {
        let u = self.use_of(var);
        // Values are pure: nobody misses an unused one.
        if u.dead() {
            return Ok(());
        }
        let left = text(self.declarator(var, init.is_some())?);
        match init {
            None => out.doc(&cat([left, text(";")])),
            Some(e) => {
                let empty = all_zero(e) && e.ty.is_aggregate() && !matches!(e.ty, Type::Vector(..));
                let value = match self.part_of_shared(var, e)? {
                    Some(part) => part,
                    None if empty => text("{}"),
                    None => self.implicit(e)?.doc,
                };
                out.doc(&assignment(left, "=", value));
            }
        }
        Ok(())
    }

    /// What a pointer to an array with named extents is made of by a cast: the cast names them too.
    fn part_of_shared(&self, var: VarId, init: &Expr) -> Result<Option<Doc>> {
        let (Some(v), ExprKind::Cast(from)) = (self.var(var), &*init.kind) else { return Ok(None) };
        let named = if v.ty.is_pointer() { self.named_extents(v, "")? } else { None };
        let Some((element, declarator)) = named else { return Ok(None) };
        let ty = declare(element, &declarator, Qualifiers::default(), self.cx.names)?;
        Ok(Some(list(&format!("reinterpret_cast<{ty}>("), vec![self.exact(from)?.doc], ")")))
    }

    /// Where a result that belongs to `place` goes.
    pub fn sink_place(&self, place: &Place, joined: Option<VarId>) -> Result<Sink> {
        if let PlaceKind::Var(v) = &*place.kind {
            return self.sink_var(Some(*v), joined);
        }
        Ok(Sink::To(self.place(place)?.doc))
    }

    /// Where the result for `var` goes: a variable that nobody reads gets none.
    pub fn sink_var(&self, var: Option<VarId>, joined: Option<VarId>) -> Result<Sink> {
        Ok(match var {
            None => Sink::Nowhere,
            Some(v) if !self.use_of(v).used() && self.is_plain_local(v) => Sink::Nowhere,
            Some(v) if joined == Some(v) => Sink::To(text(self.declarator(v, true)?)),
            Some(v) => Sink::To(text(self.name(v))),
        })
    }

    fn is_plain_local(&self, v: VarId) -> bool {
        self.var(v).is_some_and(|v| v.kind == VarKind::Local)
    }

    fn assign(
        &self,
        out: &mut Out,
        place: &Place,
        value: &Expr,
        joined: Option<VarId>,
    ) -> Result<()> {
        if let PlaceKind::Var(v) = &*place.kind
            && joined == Some(*v)
        {
            return self.declaration(out, *v, Some(value));
        }
        if let Type::Array(element, _) = &place.ty {
            return self.assign_array(out, place, element, value);
        }
        let left = self.place(place)?.doc;
        if let Some((op, operand)) = update(place, value)
            && let Some(doc) = self.compound(&left, op, operand, value)?
        {
            out.doc(&doc);
            return Ok(());
        }
        if let Some(i) = advance(place, value) {
            let doc = match i.as_const() {
                Some(v) if v.as_i64() == 1 => cat([text("++"), left, text(";")]),
                _ => assignment(left, "+=", self.index(i)?.doc),
            };
            out.doc(&doc);
            return Ok(());
        }
        out.doc(&assignment(left, "=", self.implicit(value)?.doc));
        Ok(())
    }

    /// C++ does not assign arrays: one statement an element.
    fn assign_array(
        &self,
        out: &mut Out,
        place: &Place,
        element: &Type,
        value: &Expr,
    ) -> Result<()> {
        let ExprKind::Make(parts) = &*value.kind else {
            return Err(EmitError::new("the assignment of an array", &value.origin));
        };
        for (i, part) in parts.iter().enumerate() {
            let index = Expr::i32(i32::try_from(i).unwrap_or(i32::MAX));
            let kind = PlaceKind::Index(place.clone(), index);
            let part_place = Place::new(kind, element.clone(), place.origin.clone());
            self.assign(out, &part_place, part, None)?;
        }
        Ok(())
    }

    /// `left op= operand;` where C computes that in the type in which the IR does.
    fn compound(
        &self,
        left: &Doc,
        op: BinaryOp,
        operand: &Expr,
        value: &Expr,
    ) -> Result<Option<Doc>> {
        let Some(target) = value.ty.scalar() else { return Ok(None) };
        let one = operand.as_const().is_some_and(|v| v.ty.is_integer() && v.bits == 1);
        if one && matches!(op, BinaryOp::Add | BinaryOp::Sub) && target.is_integer() {
            let sign = if op == BinaryOp::Add { "++" } else { "--" };
            return Ok(Some(cat([text(sign), left.clone(), text(";")])));
        }
        // The type of the IR's operation: that of its operands.
        let Some(computed) = operand.ty.scalar() else { return Ok(None) };
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let right = self.shift_amount(operand)?.doc;
            return Ok(Some(assignment(left.clone(), &format!("{}=", op.symbol()), right)));
        }
        let p = self.expr(operand)?;
        let Some(shown) = p.ty.scalar() else { return Ok(None) };
        // Sums and products of small integers, cut back, do not depend on where they are cut.
        let cut = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            && target.is_integer()
            && target.bytes() < 4;
        let p = if common(target, shown) == Some(computed) || cut {
            p
        } else {
            let p = self.coerce(p, &operand.ty)?;
            match p.ty.scalar().and_then(|s| common(target, s)) {
                Some(c) if c == computed => p,
                _ => return Ok(None),
            }
        };
        Ok(Some(assignment(left.clone(), &format!("{}=", op.symbol()), p.doc)))
    }

    fn if_chain(&self, out: &mut Out, cond: &Expr, then: &Block, otherwise: &Block) -> Result<()> {
        if otherwise.stmts.is_empty() && self.short_exit(out, cond, then)? {
            return Ok(());
        }
        let mut head = cat([text("if ("), self.condition(cond)?.doc.align(), text(") {")]);
        let mut then = then;
        let mut otherwise = otherwise;
        loop {
            out.doc(&head);
            self.indented(out, then)?;
            match otherwise.stmts.as_slice() {
                [] => return out_line(out, "}"),
                [only] if only.comment.is_empty() && matches!(only.kind, StmtKind::If { .. }) => {
                    let StmtKind::If { cond, then: t, otherwise: o } = &only.kind else {
                        return Ok(());
                    };
                    let cond = self.condition(cond)?.doc.align();
                    head = cat([text("} else if ("), cond, text(") {")]);
                    then = t;
                    otherwise = o;
                }
                _ => {
                    out.line("} else {");
                    self.indented(out, otherwise)?;
                    return out_line(out, "}");
                }
            }
        }
    }

    /// `if (i >= n) return;` on one line.
    fn short_exit(&self, out: &mut Out, cond: &Expr, then: &Block) -> Result<bool> {
        let [only] = then.stmts.as_slice() else { return Ok(false) };
        if !only.comment.is_empty() {
            return Ok(false);
        }
        let exit = match &only.kind {
            StmtKind::Break => text("break;"),
            StmtKind::Continue => text("continue;"),
            StmtKind::Return(value) => self.return_text(value.as_ref())?,
            _ => return Ok(false),
        };
        let line = cat([text("if ("), self.condition(cond)?.doc, text(") "), exit]).flat();
        if line.chars().count() + out.depth * crate::doc::INDENT > WIDTH {
            return Ok(false);
        }
        out_line(out, &line)?;
        Ok(true)
    }

    fn switch(&self, out: &mut Out, selector: &Expr, cases: &[Case]) -> Result<()> {
        let ty = selector.ty.scalar().unwrap_or(Scalar::I32);
        out.doc(&cat([text("switch ("), self.exact(selector)?.doc.align(), text(") {")]));
        for case in cases {
            let mut labels: Vec<String> = case
                .values
                .iter()
                .map(|v| format!("case {}:", literal::natural(Value::int(ty, *v)).text))
                .collect();
            if case.is_default {
                labels.push("default:".into());
            }
            // A declaration needs a scope of its own: another label may not jump past it.
            let scoped = declares(&case.body);
            let Some(last) = labels.pop() else { continue };
            labels.iter().for_each(|l| out.line(l));
            out.line(&if scoped { format!("{last} {{") } else { last });
            self.indented(out, &case.body)?;
            if scoped {
                out.line("}");
            }
        }
        out_line(out, "}")
    }

    /// `f(args…)`; reference parameters take the place their pointer points to.
    fn call_function(&self, id: warpsmith_ir::FuncId, args: &[Expr], s: &Stmt) -> Result<Doc> {
        let callee = self.cx.module.functions.get(id.0 as usize);
        let callee =
            callee.ok_or_else(|| EmitError::new("a call of an unknown function", &s.origin))?;
        if callee.kind == FunctionKind::Kernel {
            return Err(EmitError::new("a kernel called like a function", &s.origin));
        }
        let mut docs = vec![];
        for (arg, param) in args.iter().zip(&callee.params) {
            let reference = callee.vars.get(param.0 as usize).is_some_and(|v| v.reference);
            docs.push(if reference { self.referred(arg)? } else { self.implicit(arg)?.doc });
        }
        Ok(list(&format!("{}(", self.cx.names.function(id)), docs, ")"))
    }

    fn referred(&self, pointer: &Expr) -> Result<Doc> {
        let ty = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
        let kind = PlaceKind::Deref(pointer.clone());
        Ok(self.place(&Place::new(kind, ty, pointer.origin.clone()))?.doc)
    }
}

pub(crate) fn out_line(out: &mut Out, line: &str) -> Result<()> {
    out.line(line);
    Ok(())
}

/// Index of the statement that gives `var` its first value, if that is the first to speak of it and
/// does not read it.
fn first_assignment(stmts: &[&Stmt], var: VarId) -> Option<usize> {
    let at = stmts.iter().position(|s| walk::mentions(s, var))?;
    let s = stmts[at];
    if walk::assigned_var(&s.kind) != Some(var) {
        return None;
    }
    let mut mentions = 0;
    walk::direct_operands(s, &mut |node| {
        if let walk::Node::Place(p) = node
            && matches!(&*p.kind, PlaceKind::Var(v) if *v == var)
        {
            mentions += 1;
        }
    });
    // The target of an assignment is the one mention allowed.
    let allowed = usize::from(walk::result_var(&s.kind).is_none());
    (mentions == allowed).then_some(at)
}

/// `place = place op operand`, whatever conversions stand between.
fn update<'a>(place: &Place, value: &'a Expr) -> Option<(BinaryOp, &'a Expr)> {
    let through = |e: &'a Expr| match &*e.kind {
        ExprKind::Cast(a) if both_scalars(a, e) => a,
        _ => e,
    };
    let computed = through(value);
    let ExprKind::Binary(op, a, b) = &*computed.kind else { return None };
    if op.is_comparison() || op.is_logical() {
        return None;
    }
    let read = through(a);
    // Without a conversion of the read value to the type of the operation it is another operation.
    let same = matches!(&*read.kind, ExprKind::Read(p) if p == place);
    let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let widened = match (read.ty.scalar(), a.ty.scalar()) {
        (Some(from), Some(to)) if shift => crate::convert::promote(from) == to,
        (Some(from), Some(to)) => from == to || lossless(from, to) || common(from, to) == Some(to),
        _ => false,
    };
    (same && widened).then_some((*op, b))
}

/// Whether a block declares something, itself or in a scope that is printed without braces.
fn declares(b: &Block) -> bool {
    b.stmts.iter().any(|s| match &s.kind {
        StmtKind::Decl { .. } => true,
        StmtKind::Scope(inner) => declares(inner),
        _ => false,
    })
}

/// `pointer = pointer + i`: the `i`.
fn advance<'a>(place: &Place, value: &'a Expr) -> Option<&'a Expr> {
    let ExprKind::PtrOffset(base, i) = &*value.kind else { return None };
    matches!(&*base.kind, ExprKind::Read(p) if p == place).then_some(i)
}

/// Conversions between scalars that C makes by itself.
fn both_scalars(a: &Expr, b: &Expr) -> bool {
    match (a.ty.scalar(), b.ty.scalar()) {
        (Some(a), Some(b)) => half(a) == half(b) && b != Scalar::Bool,
        _ => false,
    }
}

fn all_zero(e: &Expr) -> bool {
    match &*e.kind {
        // Minus zero has bits.
        ExprKind::Const(v) => v.bits == 0,
        ExprKind::Make(parts) => parts.iter().all(all_zero),
        _ => false,
    }
}
