//! `for` loops: counted ones become [`ForLoop`], marked ones parallel, all others general loops.

use warpsmith_ir::{
    BinaryOp, Block, Diagnostic, Expr, ExprKind, ForLoop, LoopId, LoopKind, Parallel, Scalar, Span,
    StmtKind, Type, UnaryOp, VarId,
};

use super::cx::{Binding, Cx, Frame, Low, Marked};
use super::pragma::Clauses;
use super::scan::{self, Effects};
use super::types::{self, CType};
use crate::ast;

/// Loops inside each other, at most: what looks at all of them at once takes time that doubles with each.
const MOST_LOOPS: usize = 32;

/// Why a loop is not a counted one.
struct Why {
    reason: String,
    span: Span,
    help: Option<&'static str>,
}

impl Why {
    fn new(reason: impl Into<String>, span: Span) -> Why {
        Why { reason: reason.into(), span, help: None }
    }

    fn help(mut self, help: &'static str) -> Why {
        self.help = Some(help);
        self
    }
}

/// The parts of `for (name = first; name compare limit; name ± amount)`.
struct Head<'u> {
    name: &'u str,
    name_span: Span,
    /// The counter is declared by the loop, with this type.
    declared: Option<&'u ast::TypeName>,
    /// Declarators after the counter's in the first part.
    others: Option<&'u ast::VarDecl>,
    first: Option<&'u ast::Expr>,
    /// What else is done in the first part.
    before: Vec<&'u ast::Expr>,
    /// What else is done in the step.
    after: Vec<&'u ast::Expr>,
    compare: BinaryOp,
    limit: &'u ast::Expr,
    down: bool,
    /// `None`: one.
    amount: Option<&'u ast::Expr>,
    cond_span: Span,
    step_span: Span,
}

/// A loop ready to be built, but for its body.
struct Counted {
    var: VarId,
    declares: bool,
    first: Expr,
    compare: BinaryOp,
    limit: Expr,
    step: Expr,
}

/// The mark a loop is under.
pub struct Mark {
    pub parallel: Parallel,
    pub span: Span,
    /// Loops of the collapse from this one on; 1 without.
    remaining: u32,
    collapse_span: Span,
}

impl<'u> Cx<'u> {
    pub fn for_statement(
        &mut self,
        stmt: &'u ast::Stmt,
        mark: Option<(&Clauses, Span)>,
        unroll: Option<Option<u32>>,
    ) -> Low<()> {
        let Some((clauses, span)) = mark else { return self.for_loop(stmt, None, unroll) };
        let counter = match &stmt.kind {
            ast::StmtKind::For { init, cond, step, body } => {
                head(init.as_deref(), cond.as_ref(), step.as_ref(), body).ok().map(|h| h.name)
            }
            _ => None,
        };
        let (parallel, arrays) = self.parallel_of(clauses, counter, span)?;
        let (remaining, collapse_span) = clauses.collapse.unwrap_or((1, span));
        let outermost = self.marked.is_none();
        let lists = [&parallel.private, &parallel.first_private, &parallel.last_private];
        let private = lists.into_iter().flatten().copied();
        match &mut self.marked {
            Some(around) => {
                around.private.extend(private);
                around.arrays.extend(arrays);
            }
            None => {
                let first_inside = self.function.vars.len() as u32;
                let private = private.collect();
                self.marked = Some(Marked { span, first_inside, private, arrays, kept: vec![] });
            }
        }
        let (start, messages) = (self.out.len(), self.diagnostics.len());
        let mark = Mark { parallel, span, remaining, collapse_span };
        let result = self.for_loop(stmt, Some(mark), unroll);
        match self.marked.take_if(|_| outermost) {
            Some(marked) if result.is_ok() && self.diagnostics.len() == messages => {
                self.finish_marked(start, &marked)
            }
            _ => result,
        }
    }

    /// Refuses one more loop inside too many.
    pub fn check_depth(&mut self, span: Span) -> Low<()> {
        let around = self.frames.iter().filter(|f| !matches!(f, Frame::Switch)).count();
        if around < MOST_LOOPS {
            return Ok(());
        }
        let message = format!("loops are nested more than {MOST_LOOPS} deep");
        let d = Diagnostic::error("W146", message).label(span, "this loop");
        Err(self.fail(d.help("take out loops that run once, or move the inner ones to a function")))
    }

    fn for_loop(
        &mut self,
        stmt: &'u ast::Stmt,
        mark: Option<Mark>,
        unroll: Option<Option<u32>>,
    ) -> Low<()> {
        let ast::StmtKind::For { init, cond, step, body } = &stmt.kind else {
            return Err(self.unsupported("this loop", stmt.span));
        };
        self.check_depth(head_span(stmt, body_span(stmt)))?;
        let checked = head(init.as_deref(), cond.as_ref(), step.as_ref(), body)
            .and_then(|h| if mark.is_some() { check_marked_head(&h).map(|()| h) } else { Ok(h) });
        let head = match (checked, &mark) {
            (Ok(h), _) => h,
            (Err(why), Some(mark)) => return Err(self.not_canonical(why, mark)),
            (Err(_), None) => {
                return self.general_for(
                    init.as_deref(),
                    cond.as_ref(),
                    step.as_ref(),
                    body,
                    stmt.span,
                );
            }
        };
        self.scopes.push(Default::default());
        let result = self.counted_for(&head, body, mark, unroll, stmt);
        self.scopes.pop();
        match result? {
            Some(()) => Ok(()),
            None => {
                self.general_for(init.as_deref(), cond.as_ref(), step.as_ref(), body, stmt.span)
            }
        }
    }

    /// Builds a counted loop; `None` when the types or constants show that it is none after all.
    fn counted_for(
        &mut self,
        head: &Head<'u>,
        body: &'u ast::Stmt,
        mark: Option<Mark>,
        unroll: Option<Option<u32>>,
        stmt: &'u ast::Stmt,
    ) -> Low<Option<()>> {
        let (counted, before) = self.collect(|cx| cx.counted(head, mark.is_some()));
        let mut counted = match (counted?, &mark) {
            (Ok(c), _) => c,
            (Err(why), Some(mark)) => return Err(self.not_canonical(why, mark)),
            (Err(_), None) => return Ok(None),
        };
        self.out.extend(before);
        for e in &head.before {
            self.effects(e)?;
        }
        if mark.is_some() && counted.compare == BinaryOp::Ne {
            counted.compare = if head.down { BinaryOp::Gt } else { BinaryOp::Lt };
        }
        let id = self.fresh_loop();
        let marked_at = mark.as_ref().map(|m| m.span);
        self.frames.push(marked_at.map_or(Frame::Loop, Frame::Marked));
        let lowered = self.loop_body(body, mark, id, counted.var);
        self.frames.pop();
        let (mut body, parallel) = lowered?;
        let (stepped, after) = self.collect(|cx| head.after.iter().try_for_each(|e| cx.effects(e)));
        stepped?;
        body.stmts.extend(after);
        let kind = match (parallel, unroll) {
            (Some(p), _) => LoopKind::Parallel(p),
            (None, Some(n)) => LoopKind::Unrolled(n),
            (None, None) => LoopKind::Serial,
        };
        let Counted { var, declares, first, compare, limit, step } = counted;
        let span = head_span(stmt, body_span(stmt));
        self.push(
            StmtKind::For(ForLoop { id, var, declares, first, compare, limit, step, kind, body }),
            span,
        );
        Ok(Some(()))
    }

    /// The body of a counted loop: statements, or the next loop of a collapse.
    fn loop_body(
        &mut self,
        body: &'u ast::Stmt,
        mark: Option<Mark>,
        id: LoopId,
        var: VarId,
    ) -> Low<(Block, Option<Parallel>)> {
        let Some(mut mark) = mark else { return Ok((self.body(body), None)) };
        mark.parallel.private.retain(|v| *v != var);
        if mark.remaining <= 1 {
            let block = self.body(body);
            return Ok((block, Some(mark.parallel)));
        }
        let Some(inner) = only_loop(body) else {
            let d = Diagnostic::error(
                "W139",
                "`collapse` asks for more loops than are nested directly in each other",
            )
            .label(mark.collapse_span, format!("{} more wanted here", mark.remaining - 1))
            .label(body.span, "this body is not a single `for` loop");
            return Err(self.fail(
                d.help("lower the number, or move the other statements into the innermost loop"),
            ));
        };
        if mark.parallel.group.is_none() {
            mark.parallel.group = Some(id);
        }
        let own = mark.parallel.clone();
        let (result, stmts) = self.collect(|cx| {
            let next = Mark { remaining: mark.remaining - 1, ..mark };
            cx.for_loop(inner, Some(next), None)
        });
        result?;
        Ok((Block::new(stmts), Some(own)))
    }

    fn not_canonical(&mut self, why: Why, mark: &Mark) -> super::cx::Reported {
        let mut d = Diagnostic::error("W138", "a loop marked parallel must be a counted loop")
            .label(why.span, why.reason)
            .label(mark.span, "marked here");
        d = d.help(why.help.unwrap_or("write it as `for (int i = first; i < limit; i += step)`"));
        self.fail(d)
    }

    /// Types and values of a loop's parts.
    fn counted(&mut self, head: &Head<'u>, marked: bool) -> Low<Result<Counted, Why>> {
        if let Some(vars) = head.others {
            // The counter is the first; the rest are ordinary variables in the scope of the loop.
            let rest = &vars.declarators[1..];
            for d in rest {
                self.one_variable(vars, d)?;
            }
        }
        let (scalar, existing) = match self.counter(head, marked)? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let along = existing.and_then(|v| self.pointer_counting(head.name, v));
        let first = match (head.first, &along) {
            (Some(e), Some(pointer)) => self.offset_within(e, pointer)?,
            (Some(e), None) => self.scalar(e)?,
            (None, _) => existing
                .map_or_else(|| Expr::int(scalar, 0), |v| Expr::var(v, Type::Scalar(scalar))),
        };
        let never_negative = self.fold(&first).is_some_and(|v| v.as_i64() >= 0);
        let first = self.convert(first, scalar);
        let limit = match &along {
            Some(pointer) => self.offset_within(head.limit, pointer)?,
            None => self.scalar(head.limit)?,
        };
        let limit = match self.limit_as(limit, scalar, head, never_negative) {
            Ok(l) => l,
            Err(why) => return Ok(Err(why)),
        };
        let step = match self.step_of(head, scalar, marked)? {
            Ok(s) => s,
            Err(why) => return Ok(Err(why)),
        };
        if !head.down
            && !scalar.is_signed()
            && matches!(head.compare, BinaryOp::Gt | BinaryOp::Ge)
            && marked
        {
            return Ok(Err(Why::new(
                "this condition and this step run in different directions",
                head.cond_span,
            )));
        }
        let (var, declares) = match existing {
            Some(var) => (var, false),
            None => (self.declare(head.name, Type::Scalar(scalar), head.name_span), true),
        };
        Ok(Ok(Counted { var, declares, first, compare: head.compare, limit, step }))
    }

    fn one_variable(&mut self, vars: &'u ast::VarDecl, d: &'u ast::Declarator) -> Low<()> {
        let single = matches!(&d.init, None | Some(ast::Initializer::Expr(_)));
        let ty = self.read_type(&d.ty, false)?;
        let (Some(scalar), true) = (ty.scalar(), single) else {
            return Err(self.unsupported("this declaration in a `for`", vars.span));
        };
        let init = match &d.init {
            Some(ast::Initializer::Expr(e)) => {
                let v = self.scalar(e)?;
                Some(self.convert(v, scalar))
            }
            _ => None,
        };
        let var = self.declare(&d.name, Type::Scalar(scalar), d.span);
        self.push(StmtKind::Decl { var, init }, d.span);
        Ok(())
    }

    /// The counter's type, and its variable if the loop does not declare it.
    fn counter(
        &mut self,
        head: &Head<'u>,
        marked: bool,
    ) -> Low<Result<(Scalar, Option<VarId>), Why>> {
        let (ty, existing) = match head.declared {
            Some(name) => match self.read_type(name, false)? {
                CType::Scalar(s) => (s, None),
                _ => return Ok(Err(Why::new("the counter is a pointer", head.name_span))),
            },
            None => match self.lookup(head.name, head.name_span)? {
                Binding::Var(id) => match self.var_type(id).scalar() {
                    Some(_) if self.frozen.contains_key(&id) => {
                        return Ok(Err(Why::new(
                            "the counter is an extent of an array",
                            head.name_span,
                        )));
                    }
                    Some(s) => (s, Some(id)),
                    None => return Ok(Err(Why::new("the counter is no number", head.name_span))),
                },
                Binding::Alias(p) => match p.offset.as_ref().and_then(|o| self.moving_offset(o)) {
                    Some(var) if !marked => (Scalar::I64, Some(var)),
                    _ => return Ok(Err(Why::new("the counter is a pointer", head.name_span))),
                },
                _ => {
                    return Ok(Err(Why::new(
                        "the counter is not a variable of the function",
                        head.name_span,
                    )));
                }
            },
        };
        if ty.is_float() {
            return Ok(Err(Why::new("the counter is a real number", head.name_span)
                .help("count with an `int`")));
        }
        if ty.bytes() < 4 {
            return Ok(Err(Why::new("the counter is narrower than `int`", head.name_span)
                .help("declare it `int`")));
        }
        // Counters of marked loops are private; any other counter declared outside a region is shared by its threads.
        if let Some(var) = existing.filter(|_| !marked) {
            self.check_replicated(
                &warpsmith_ir::Place::var(var, Type::Scalar(ty)),
                head.name_span,
            )?;
        }
        Ok(Ok((ty, existing)))
    }

    /// The limit in the counter's type. C compares in the common type of both; where that differs from the counter's, the
    /// loop is counted only if no execution without overflow can tell.
    fn limit_as(
        &self,
        limit: Expr,
        counter: Scalar,
        head: &Head<'u>,
        never_negative: bool,
    ) -> Result<Expr, Why> {
        let span = head.limit.span;
        let Some(ty) = limit.ty.scalar().filter(|s| s.is_integer()) else {
            return Err(
                Why::new("the limit is a real number", span).help("convert it: `(int)limit`")
            );
        };
        let common = types::usual(counter, ty);
        if common == counter {
            return Ok(self.convert(limit, counter));
        }
        if let Some(v) = self.fold(&limit) {
            let there = warpsmith_ir::Value::int(counter, v.as_i64());
            if there.as_i64() == v.as_i64() {
                return Ok(Expr::constant(there).with_origin(span));
            }
            return Err(Why::new("the limit does not fit in the counter's type", span)
                .help("declare the counter `long`"));
        }
        let rising =
            !head.down && matches!(head.compare, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ne);
        // A counter that starts at 0 or above and rises cannot pass a limit beyond its range without overflow.
        let safe = match (counter.is_signed(), ty.is_signed()) {
            (true, true) => rising,
            (true, false) => rising && never_negative,
            (false, false) => rising,
            (false, true) => false,
        };
        if safe {
            return Ok(self.convert(limit, counter));
        }
        let words = |s| types::c_name(&Type::Scalar(s));
        let reason = format!("compares `{}` with `{}`", words(counter), words(ty));
        Err(Why::new(reason, head.cond_span).help("give the counter and the limit the same type"))
    }

    /// The step in the counter's type, negative when counting down.
    fn step_of(
        &mut self,
        head: &Head<'u>,
        counter: Scalar,
        marked: bool,
    ) -> Low<Result<Expr, Why>> {
        let amount = match head.amount {
            None => Expr::int(counter, 1),
            Some(e) => {
                let v = self.scalar(e)?;
                if v.ty.is_float() {
                    return Ok(Err(Why::new("the step is a real number", e.span)));
                }
                self.convert(v, counter)
            }
        };
        let span = head.step_span;
        if head.down && !counter.is_signed() {
            let why = Why::new("an unsigned counter that counts down", span);
            return Ok(Err(why.help("count up, or declare the counter `int`")));
        }
        let known = self.fold(&amount).map(|v| v.as_i64());
        if let Some(n) = known {
            let n = if head.down { n.wrapping_neg() } else { n };
            let rising = matches!(head.compare, BinaryOp::Lt | BinaryOp::Le);
            let falling = matches!(head.compare, BinaryOp::Gt | BinaryOp::Ge);
            let unit_only = head.compare == BinaryOp::Ne && n.abs() != 1;
            if marked && (n == 0 || (rising && n < 0) || (falling && n > 0) || unit_only) {
                return Ok(Err(Why::new(
                    "with this step the loop does not end at its limit",
                    span,
                )));
            }
            let named = amount.as_const().is_none() && !head.down;
            let step = if named { amount } else { Expr::int(counter, n).with_origin(span) };
            return Ok(Ok(step));
        }
        if marked && head.compare == BinaryOp::Ne {
            let why = Why::new("a step that is not known may pass the limit by", span);
            return Ok(Err(why.help("compare with `<` or `>`")));
        }
        if !head.down {
            return Ok(Ok(amount));
        }
        Ok(Ok(Expr::new(ExprKind::Unary(UnaryOp::Neg, amount), Type::Scalar(counter), span)))
    }

    /// Any `for` as a general loop.
    fn general_for(
        &mut self,
        init: Option<&'u ast::Stmt>,
        cond: Option<&'u ast::Expr>,
        step: Option<&'u ast::Expr>,
        body: &'u ast::Stmt,
        span: Span,
    ) -> Low<()> {
        let mut result = Ok(());
        let scope = self.block(|cx| result = cx.general_parts(init, cond, step, body, span));
        result?;
        // Without a declaration there is nothing to keep apart.
        if matches!(init.map(|i| &i.kind), Some(ast::StmtKind::Vars(_))) {
            self.push(StmtKind::Scope(scope), span);
        } else {
            self.out.extend(scope.stmts);
        }
        Ok(())
    }

    fn general_parts(
        &mut self,
        init: Option<&'u ast::Stmt>,
        cond: Option<&'u ast::Expr>,
        step: Option<&'u ast::Expr>,
        body: &'u ast::Stmt,
        span: Span,
    ) -> Low<()> {
        if let Some(init) = init {
            self.stmt(init)?;
        }
        let id = self.fresh_loop();
        let condition = self.loop_condition(cond, false)?;
        let (stepped, step) = self.collect(|cx| step.map_or(Ok(()), |e| cx.effects(e)));
        stepped?;
        self.frames.push(Frame::Loop);
        let body = self.body(body);
        self.frames.pop();
        self.push(StmtKind::Loop { id, condition, body, step: Block::new(step) }, span);
        Ok(())
    }
}

/// The only statement of a loop's body, if it is a `for` without a mark of its own.
fn only_loop(body: &ast::Stmt) -> Option<&ast::Stmt> {
    match &body.kind {
        ast::StmtKind::For { .. } => Some(body),
        ast::StmtKind::Block(b) => match b
            .stmts
            .iter()
            .filter(|s| s.kind != ast::StmtKind::Empty)
            .collect::<Vec<_>>()
            .as_slice()
        {
            [only] => only_loop(only),
            _ => None,
        },
        _ => None,
    }
}

/// The text of the loop from `for` to the closing parenthesis.
fn head_span(stmt: &ast::Stmt, body: Option<Span>) -> Span {
    match body {
        Some(body) if body.file == stmt.span.file && body.start > stmt.span.start => {
            Span { end: body.start, ..stmt.span }
        }
        _ => stmt.span,
    }
}

fn body_span(stmt: &ast::Stmt) -> Option<Span> {
    match &stmt.kind {
        ast::StmtKind::For { body, .. } => Some(body.span),
        _ => None,
    }
}

/// Takes the three parts of a `for` apart by form and by what the body may change.
fn head<'u>(
    init: Option<&'u ast::Stmt>,
    cond: Option<&'u ast::Expr>,
    step: Option<&'u ast::Expr>,
    body: &'u ast::Stmt,
) -> Result<Head<'u>, Why> {
    let nowhere = body.span;
    let step = step.ok_or_else(|| Why::new("the loop has no step", nowhere))?;
    let cond = cond.ok_or_else(|| Why::new("the loop has no condition", nowhere))?;
    let steps = parts(step);
    let counts =
        |e: &&'u ast::Expr| step_form(e).is_ok_and(|(name, ..)| condition_form(cond, name).is_ok());
    let own = steps.iter().position(counts).unwrap_or(0);
    let (name, name_span, down, amount) = step_form(steps[own])?;
    let (compare, limit) = condition_form(cond, name)?;
    let after = steps.iter().enumerate().filter(|(k, _)| *k != own).map(|(_, e)| *e).collect();
    let mut h = Head {
        name,
        name_span,
        declared: None,
        others: None,
        first: None,
        before: vec![],
        after,
        compare,
        limit,
        down,
        amount,
        cond_span: cond.span,
        step_span: step.span,
    };
    first_form(&mut h, init)?;
    let effects = scan::effects_of_all([body], &h.after);
    if effects.has_continue && !h.after.is_empty() {
        return Err(Why::new("`continue` leads to a step of several parts", step.span));
    }
    check_fixed(&h, &effects)?;
    Ok(h)
}

/// The parts of `a, b, c`.
fn parts(e: &ast::Expr) -> Vec<&ast::Expr> {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => parts(inner),
        ast::ExprKind::Comma(a, b) => [parts(a), parts(b)].concat(),
        _ => vec![e],
    }
}

/// `i++`, `i += c`, `i = i + c` and the like: counter, its place, direction, amount.
fn step_form(step: &ast::Expr) -> Result<(&str, Span, bool, Option<&ast::Expr>), Why> {
    use ast::ExprKind as A;
    let other = || Why::new("this step is not `i++`, `i += c` or `i = i + c`", step.span);
    match &*step.kind {
        A::Paren(inner) => step_form(inner),
        A::IncDec { op, operand, .. } => {
            Ok((variable(operand).ok_or_else(other)?, operand.span, op == "--", None))
        }
        A::Assign { op, target, value } => {
            let name = variable(target).ok_or_else(other)?;
            match op.as_str() {
                "+=" | "-=" => Ok((name, target.span, op == "-=", Some(value))),
                "=" => {
                    let A::Binary { op, left, right } = &*unparen(value).kind else {
                        return Err(other());
                    };
                    if (op == "+" || op == "-") && variable(left) == Some(name) {
                        Ok((name, target.span, op == "-", Some(right)))
                    } else if op == "+" && variable(right) == Some(name) {
                        Ok((name, target.span, false, Some(left)))
                    } else {
                        Err(other())
                    }
                }
                _ => Err(other()),
            }
        }
        _ => Err(other()),
    }
}

/// `i < limit` or `limit > i`.
fn condition_form<'u>(cond: &'u ast::Expr, name: &str) -> Result<(BinaryOp, &'u ast::Expr), Why> {
    use BinaryOp::*;
    let e = unparen(cond);
    let other = || {
        Why::new(
            format!("this condition is not a single comparison of `{name}` with a limit"),
            cond.span,
        )
    };
    let ast::ExprKind::Binary { op, left, right } = &*e.kind else { return Err(other()) };
    let (op, turned) = match op.as_str() {
        "<" => (Lt, Gt),
        "<=" => (Le, Ge),
        ">" => (Gt, Lt),
        ">=" => (Ge, Le),
        "!=" => (Ne, Ne),
        _ => return Err(other()),
    };
    if variable(left) == Some(name) {
        Ok((op, right))
    } else if variable(right) == Some(name) {
        Ok((turned, left))
    } else {
        Err(other())
    }
}

fn first_form<'u>(h: &mut Head<'u>, init: Option<&'u ast::Stmt>) -> Result<(), Why> {
    let Some(init) = init else { return Ok(()) };
    match &init.kind {
        ast::StmtKind::Empty => Ok(()),
        ast::StmtKind::Vars(vars) => {
            let Some(d) = vars.declarators.first().filter(|d| d.name == h.name) else {
                return Err(Why::new(
                    "the loop declares another variable than it counts with",
                    init.span,
                ));
            };
            let Some(ast::Initializer::Expr(first)) = &d.init else {
                return Err(Why::new("the counter has no first value", d.span));
            };
            h.declared = Some(&d.ty);
            h.name_span = d.span;
            h.first = Some(first);
            h.others = (vars.declarators.len() > 1).then_some(vars);
            Ok(())
        }
        ast::StmtKind::Expr(e) => {
            for part in parts(e) {
                match &*part.kind {
                    ast::ExprKind::Assign { op, target, value }
                        if op == "=" && variable(target) == Some(h.name) && h.first.is_none() =>
                    {
                        h.first = Some(value);
                    }
                    _ => h.before.push(part),
                }
            }
            let others = h.before.iter().copied();
            let touched = scan::effects_of_all([], &others.collect::<Vec<_>>());
            let first = h.first.map(scan::reads_of);
            if first.is_some_and(|r| !r.opaque && !touched.disturb(&r))
                && !touched.assigned.contains(h.name)
            {
                return Ok(());
            }
            Err(Why::new("the loop does not begin with the counter's first value", e.span))
        }
        _ => Err(Why::new("the loop does not begin with the counter's first value", init.span)),
    }
}

/// Limit and step are evaluated once, and the body leaves the counter alone.
fn check_fixed(h: &Head<'_>, body: &Effects) -> Result<(), Why> {
    if body.assigned.contains(h.name) {
        let why = Why::new(format!("the body changes the counter `{}`", h.name), h.name_span);
        return Err(why.help("use a second variable in the body"));
    }
    for (what, e) in [("limit", Some(h.limit)), ("step", h.amount)] {
        let Some(e) = e else { continue };
        let reads = scan::reads_of(e);
        if reads.variables.contains(h.name) {
            return Err(Why::new(format!("the {what} depends on the counter"), e.span));
        }
        if reads.opaque {
            let why =
                Why::new(format!("the {what} is computed by a call or an assignment"), e.span);
            return Err(why.help("compute it before the loop"));
        }
        if body.disturb(&reads) {
            let why = Why::new(format!("the {what} may change in the body"), e.span);
            return Err(why.help("keep its value in a variable before the loop"));
        }
    }
    Ok(())
}

/// What OpenMP asks of a marked loop beyond a counted one.
fn check_marked_head(h: &Head<'_>) -> Result<(), Why> {
    if h.first.is_none() {
        return Err(Why::new("the loop does not say where its counter begins", h.cond_span));
    }
    if let Some(part) = h.before.first().or(h.after.first()) {
        let why = Why::new("a marked loop changes its counter only", part.span);
        return Err(why.help("compute the other value from the counter inside the loop"));
    }
    if let Some(vars) = h.others {
        let why = Why::new("a marked loop declares one counter only", vars.span);
        return Err(why.help("declare the other variables before or inside the loop"));
    }
    Ok(())
}

fn unparen(e: &ast::Expr) -> &ast::Expr {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => unparen(inner),
        _ => e,
    }
}

fn variable(e: &ast::Expr) -> Option<&str> {
    match &*unparen(e).kind {
        ast::ExprKind::Path(path) => path.as_name(),
        _ => None,
    }
}
