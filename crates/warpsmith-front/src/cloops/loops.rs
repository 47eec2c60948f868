//! `for` loops: counted ones become [`ForLoop`], marked ones parallel, all others general loops.

use warpsmith_ir::{
    BinaryOp, Block, Diagnostic, Expr, ExprKind, ForLoop, LoopId, LoopKind, MathFn, Parallel,
    PlaceKind, Scalar, Span, StmtKind, Type, UnaryOp, VarId,
};

use super::cx::{Binding, Cx, Frame, Low, Marked};
use super::heads::{Head, Sign, Why, check_marked_head, head};
use super::pragma::Clauses;
use super::types::{self, CType};
use super::unit;
use crate::ast;

/// Loops inside each other, at most: what looks at all of them at once takes time that doubles with each.
const MOST_LOOPS: usize = 32;

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
        let Some((clauses, span)) = mark.filter(|_| !self.is_in_order(stmt)) else {
            return self.for_loop(stmt, None, unroll);
        };
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

    /// Whether iterations number what they find by an atomic update. Any order will do for whoever has marked the loop; that of C is one,
    /// and what comes out can be compared with what C computes.
    fn is_in_order(&self, stmt: &ast::Stmt) -> bool {
        self.marked.is_none() && self.regions.is_empty() && unit::captures(stmt).is_some()
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
        let begins = self.fold(&first).map(|v| v.as_i64());
        let first = self.convert(first, scalar);
        let limit = match &along {
            Some(pointer) => self.offset_within(head.limit, pointer)?,
            None => self.scalar(head.limit)?,
        };
        let limit = match head.offset {
            Some(offset) => match self.without_offset(limit, offset, scalar)? {
                Ok(l) => l,
                Err(why) => return Ok(Err(why)),
            },
            None => limit,
        };
        let limit = match self.limit_as(limit, scalar, head, begins) {
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

    /// `limit - c` for `i + c < limit`, of a type that holds it.
    fn without_offset(
        &mut self,
        limit: Expr,
        (sign, e): (Sign, &'u ast::Expr),
        counter: Scalar,
    ) -> Low<Result<Expr, Why>> {
        let offset = self.scalar(e)?;
        let is_int = |e: &Expr| {
            e.ty.scalar().is_some_and(|s| s.is_integer() && types::usual(counter, s) == Scalar::I32)
        };
        if !is_int(&limit) || !is_int(&offset) {
            let reason = "what is added to the counter is no `int`, or the counter is none";
            return Ok(Err(Why::new(reason, e.span).help("compare the counter alone")));
        }
        let never_negative =
            |e: &Expr| self.is_extent(e) || self.fold(e).is_some_and(|v| v.as_i64() >= 0);
        let fits = sign == Sign::Plus && never_negative(&limit) && never_negative(&offset);
        let ty = if fits { Scalar::I32 } else { Scalar::I64 };
        let op = if sign == Sign::Plus { BinaryOp::Sub } else { BinaryOp::Add };
        let whole = Expr::binary(op, self.convert(limit, ty), self.convert(offset, ty));
        Ok(Ok(whole.with_origin(e.span)))
    }

    /// The limit in the counter's type. C compares in the common type of both; where that differs from the counter's, the
    /// loop is counted only if no execution without overflow can tell. One that leaves early may never reach a limit
    /// beyond the counter's range; a limit below that range becomes the least number of it.
    fn limit_as(
        &self,
        limit: Expr,
        counter: Scalar,
        head: &Head<'u>,
        begins: Option<i64>,
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
        let rises =
            !head.down && matches!(head.compare, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ne);
        // Where C makes an unsigned number of the counter, it must be one.
        let keeps =
            !counter.is_signed() || ty.is_signed() || rises && begins.is_some_and(|n| n >= 0);
        if let Some(v) = self.fold(&limit).map(|v| v.as_i64()) {
            let there = warpsmith_ir::Value::int(counter, v);
            if there.as_i64() != v || v < 0 && !ty.is_signed() {
                return Err(Why::new("the limit does not fit in the counter's type", span)
                    .help("declare the counter `long`"));
            }
            if keeps {
                return Ok(Expr::constant(there).with_origin(span));
            }
        }
        // A counter that rises cannot pass a limit beyond its range without overflow.
        let safe = rises && keeps && !head.leaves && (counter.is_signed() || !ty.is_signed());
        let least = least_of(counter);
        let below = ty.is_signed() && !self.is_extent(&limit);
        // `i <= limit` must not hold where the counter begins at the least number.
        let apart = head.compare != BinaryOp::Le || begins.is_some_and(|n| n > least);
        if safe && (!below || apart) {
            let limit = if below { at_least(least, limit) } else { limit };
            return Ok(self.convert(limit, counter));
        }
        let words = |s| types::c_name(&Type::Scalar(s));
        let reason = format!("compares `{}` with `{}`", words(counter), words(ty));
        Err(Why::new(reason, head.cond_span).help("give the counter and the limit the same type"))
    }

    /// An extent of an array, which C wants to be above zero.
    fn is_extent(&self, e: &Expr) -> bool {
        let ExprKind::Read(place) = &*e.kind else { return false };
        matches!(&*place.kind, PlaceKind::Var(v) if self.frozen.contains_key(v))
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

fn least_of(signed: Scalar) -> i64 {
    -1 << (8 * signed.bytes() - 1)
}

/// `max(e, least)`.
fn at_least(least: i64, e: Expr) -> Expr {
    let (ty, span) = (e.ty.clone(), e.origin.clone());
    let wide = ty.scalar().unwrap_or(Scalar::I64);
    Expr::new(ExprKind::Call(MathFn::Max, vec![e, Expr::int(wide, least)]), ty, span)
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
