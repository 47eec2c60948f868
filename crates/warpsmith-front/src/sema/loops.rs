//! Loops: counted ones where C's `for` means exactly that, general ones otherwise.

use warpsmith_ir::{
    BinaryOp, Block, Builtin, Expr, ExprKind, ForLoop, LoopCondition, LoopKind, PlaceKind, Scalar,
    Span, Stmt, StmtKind, Type, UnaryOp, Value, VarId, VarKind,
};

use super::Sema;
use super::convert::{cast_scalar, unary_folded};
use super::model::*;
use super::order::effects_of;
use crate::ast;

/// What the parts of a `for` have to be for a counted loop.
struct Counted {
    var: VarId,
    declares: bool,
    first: Expr,
    compare: BinaryOp,
    limit: Expr,
    step: Expr,
}

impl<'a> Sema<'a> {
    pub(crate) fn for_stmt(
        &mut self,
        s: &'a ast::Stmt,
        init: Option<&'a ast::Stmt>,
        cond: Option<&'a ast::Expr>,
        step: Option<&'a ast::Expr>,
        body: &'a ast::Stmt,
    ) -> Res<()> {
        let kind = self.unroll_kind(&s.pragmas)?;
        let saved = self.open_scope();
        let (result, mut block) = self.in_block(|me| me.for_parts(s, kind, init, cond, step, body));
        self.f().scope = saved;
        result?;
        // A loop that needs nothing around it stands by itself.
        if block.stmts.len() == 1
            && let Some(only) = block.stmts.pop()
        {
            self.emit(only.kind, s.span);
        } else {
            self.emit(StmtKind::Scope(block), s.span);
        }
        Ok(())
    }

    fn for_parts(
        &mut self,
        s: &'a ast::Stmt,
        kind: LoopKind,
        init: Option<&'a ast::Stmt>,
        cond: Option<&'a ast::Expr>,
        step: Option<&'a ast::Expr>,
        body: &'a ast::Stmt,
    ) -> Res<()> {
        let span = s.span;
        if let Some(init) = init {
            match &init.kind {
                ast::StmtKind::Vars(vars) => self.local_vars(vars)?,
                ast::StmtKind::Expr(e) => self.discard(e)?,
                _ => {}
            }
        }
        let (condition, before) = self.in_block(|me| match cond {
            Some(e) => {
                let value = me.rvalue(e)?;
                me.as_condition(value, e.span).map(Some)
            }
            None => Ok(None),
        });
        let condition = condition?;
        self.enter_loop();
        let outer_switches = std::mem::take(&mut self.f().switches);
        let body = self.body(body);
        self.f().switches = outer_switches;
        self.leave_loop();
        let (stepped, step_block) = self.in_block(|me| match step {
            Some(e) => me.discard(e),
            None => Ok(()),
        });
        stepped?;
        let id = self.f().func.fresh_loop();
        let counted = match (&condition, before.stmts.is_empty()) {
            (Some(c), true) => self.counted(c, &step_block, &body),
            _ => None,
        };
        let Some(c) = counted else {
            let condition = condition.filter(|c| c.as_const().is_none_or(|v| !v.is_true()));
            let condition = condition.map(|expr| LoopCondition { before, expr, at_end: false });
            self.emit(StmtKind::Loop { id, condition, body, step: step_block }, span);
            return Ok(());
        };
        // The initialisation became part of the loop.
        if let Some(open) = self.f().blocks.last_mut() {
            open.pop();
        }
        let l = ForLoop {
            id,
            var: c.var,
            declares: c.declares,
            first: c.first,
            compare: c.compare,
            limit: c.limit,
            step: c.step,
            kind,
            body,
        };
        self.emit(StmtKind::For(l), span);
        Ok(())
    }

    /// The counted loop that the parts make, if they meet what [`ForLoop`] demands.
    fn counted(&mut self, condition: &Expr, step: &Block, body: &Block) -> Option<Counted> {
        let init = self.f().blocks.last()?.last()?.clone();
        let (var, declares, first) = match init.kind {
            StmtKind::Decl { var, init: Some(first) } => (var, true, first),
            StmtKind::Assign { place, value } => match &*place.kind {
                PlaceKind::Var(v) => (*v, false, value),
                _ => return None,
            },
            _ => return None,
        };
        let declared = self.f().func.var(var);
        let Type::Scalar(ty) = declared.ty else { return None };
        if ty.is_float()
            || ty == Scalar::Bool
            || !matches!(declared.kind, VarKind::Local | VarKind::Param)
        {
            return None;
        }
        let [Stmt { kind: StmtKind::Assign { place, value }, .. }] = step.stmts.as_slice() else {
            return None;
        };
        if !matches!(&*place.kind, PlaceKind::Var(v) if *v == var) {
            return None;
        }
        let step = step_of(value, var, ty)?;
        let (compare, limit) = limit_of(condition, var, ty, &first, &step)?;
        if step.as_const().is_some_and(|v| v.bits == 0) || never_ends(compare, &limit, ty) {
            return None;
        }
        let effects = effects_of(&body.stmts);
        let taken = self.f().address_taken.contains(&var);
        if taken || effects.vars.contains(&var) || reads(&limit, var) || reads(&step, var) {
            return None;
        }
        if self.is_affected(&limit, &effects) || self.is_affected(&step, &effects) {
            return None;
        }
        Some(Counted { var, declares, first, compare, limit, step })
    }

    pub(crate) fn while_stmt(
        &mut self,
        cond: &'a ast::Expr,
        body: &'a ast::Stmt,
        span: Span,
    ) -> Res<()> {
        let (value, before) = self.in_block(|me| {
            let value = me.rvalue(cond)?;
            me.as_condition(value, cond.span)
        });
        let value = value?;
        let body = self.loop_body(body);
        let id = self.f().func.fresh_loop();
        let endless = value.as_const().is_some_and(Value::is_true);
        let condition = (!endless).then_some(LoopCondition { before, expr: value, at_end: false });
        self.emit(StmtKind::Loop { id, condition, body, step: Block::default() }, span);
        Ok(())
    }

    pub(crate) fn do_while(
        &mut self,
        cond: &'a ast::Expr,
        body: &'a ast::Stmt,
        span: Span,
    ) -> Res<()> {
        let body = self.loop_body(body);
        let (value, before) = self.in_block(|me| {
            let value = me.rvalue(cond)?;
            me.as_condition(value, cond.span)
        });
        let id = self.f().func.fresh_loop();
        let condition = Some(LoopCondition { before, expr: value?, at_end: true });
        self.emit(StmtKind::Loop { id, condition, body, step: Block::default() }, span);
        Ok(())
    }

    fn loop_body(&mut self, body: &'a ast::Stmt) -> Block {
        let outer_switches = std::mem::take(&mut self.f().switches);
        self.enter_loop();
        let block = self.body(body);
        self.leave_loop();
        self.f().switches = outer_switches;
        block
    }

    /// What `#pragma unroll` before a loop says.
    fn unroll_kind(&mut self, pragmas: &'a [ast::Pragma]) -> Res<LoopKind> {
        for pragma in pragmas {
            let text = pragma.text.trim();
            let text = text.strip_prefix("GCC ").unwrap_or(text).trim();
            if text == "nounroll" {
                return Ok(LoopKind::Serial);
            }
            let Some(rest) = text.strip_prefix("unroll") else { continue };
            let rest = rest.trim();
            if rest.is_empty() {
                return Ok(LoopKind::Unrolled(None));
            }
            let scope = self.f_scope();
            let parsed = super::request::expression(rest, pragma.span);
            let Some(e) = parsed else {
                return fail(
                    "W096",
                    pragma.span,
                    format!("`#pragma unroll` takes a number, not `{rest}`"),
                );
            };
            let e = self.arena.keep(e);
            let n = self.const_value(scope, e)?.as_i64();
            return match u32::try_from(n) {
                Ok(0 | 1) => Ok(LoopKind::Serial),
                Ok(n) => Ok(LoopKind::Unrolled(Some(n))),
                Err(_) => fail("W096", pragma.span, format!("a loop cannot be unrolled {n} times")),
            };
        }
        Ok(LoopKind::Serial)
    }
}

fn reads(e: &Expr, var: VarId) -> bool {
    let mut found = false;
    super::order::for_each_read(e, &mut |p| found |= p.root_var() == Some(var));
    found
}

fn is_var(e: &Expr, var: VarId) -> bool {
    matches!(&*e.kind, ExprKind::Read(p) if matches!(&*p.kind, PlaceKind::Var(v) if *v == var))
}

/// The variable itself, or widened by a conversion: then the width does not matter modulo its own.
fn is_var_widened(e: &Expr, var: VarId, ty: Scalar) -> bool {
    match (&*e.kind, e.ty.scalar()) {
        (ExprKind::Cast(inner), Some(s)) => {
            s.is_integer() && s != Scalar::Bool && s.bytes() >= ty.bytes() && is_var(inner, var)
        }
        _ => is_var(e, var),
    }
}

/// `k` of `v = v + k`, in the type of `v`; addition modulo a power of two allows wider intermediate types.
fn step_of(value: &Expr, var: VarId, ty: Scalar) -> Option<Expr> {
    let sum = match &*value.kind {
        ExprKind::Cast(inner) if inner.ty.is_integer() => inner,
        _ => value,
    };
    let ExprKind::Binary(op, a, b) = &*sum.kind else { return None };
    if sum.ty.scalar()?.bytes() < ty.bytes() {
        return None;
    }
    let span =
        value.origin.span.unwrap_or(Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 });
    let narrowed = |k: &Expr| {
        // A conversion that only widened for the addition is undone.
        let k = match &*k.kind {
            ExprKind::Cast(inner) if inner.ty == Type::Scalar(ty) => inner.clone(),
            _ => k.clone(),
        };
        cast_scalar(k, ty, span)
    };
    match op {
        BinaryOp::Add if is_var_widened(a, var, ty) => Some(narrowed(b)),
        BinaryOp::Add if is_var_widened(b, var, ty) => Some(narrowed(a)),
        BinaryOp::Sub if is_var_widened(a, var, ty) => {
            Some(unary_folded(UnaryOp::Neg, narrowed(b), span))
        }
        _ => None,
    }
}

/// The comparison with the variable on the left, and its limit in the type of the variable.
fn limit_of(
    condition: &Expr,
    var: VarId,
    ty: Scalar,
    first: &Expr,
    step: &Expr,
) -> Option<(BinaryOp, Expr)> {
    use BinaryOp::*;
    let ExprKind::Binary(op, a, b) = &*condition.kind else { return None };
    let (op, left, limit) = if is_var_widened(a, var, ty) {
        (*op, a, b)
    } else if is_var_widened(b, var, ty) {
        let turned = match op {
            Lt => Gt,
            Le => Ge,
            Gt => Lt,
            Ge => Le,
            Ne => Ne,
            _ => return None,
        };
        (turned, b, a)
    } else {
        return None;
    };
    if !matches!(op, Lt | Le | Gt | Ge | Ne) {
        return None;
    }
    if is_var(left, var) {
        return Some((op, limit.clone()));
    }
    // `v` was converted: the comparison is the same in its own type if neither side changes its value.
    let span = limit.origin.span?;
    let own = |e: &Expr| match &*e.kind {
        ExprKind::Cast(inner) if inner.ty == Type::Scalar(ty) => Some(inner.clone()),
        _ => None,
    };
    let wide = left.ty.scalar()?;
    let keeps_value = wide.is_signed() || !ty.is_signed();
    if keeps_value
        && wide.bytes() > ty.bytes()
        && let Some(inner) = own(limit)
    {
        return Some((op, inner));
    }
    let largest = i64::MAX >> (64 - 8 * ty.bytes());
    let fits = upper_bound(limit)? <= largest;
    let counts_up = first_is_natural(first) && step.as_const().is_some_and(|v| v.as_i64() > 0);
    if fits && (keeps_value || counts_up && matches!(op, Lt | Le | Ne)) {
        return Some((op, cast_scalar(limit.clone(), ty, span)));
    }
    None
}

/// Known not to be negative as a signed number.
fn first_is_natural(first: &Expr) -> bool {
    match &*first.kind {
        ExprKind::Const(v) => v.as_i64() >= 0,
        ExprKind::Cast(inner) if inner.ty == Type::U32 => upper_bound(inner).is_some(),
        _ => false,
    }
}

/// A bound of a value that hardware limits keep small; `None` when nothing is known.
fn upper_bound(e: &Expr) -> Option<i64> {
    match &*e.kind {
        ExprKind::Const(v) => Some(v.as_i64()).filter(|n| *n >= 0),
        ExprKind::Builtin(b) => Some(match b {
            // Files for verifiers have blocks of more threads than a device takes.
            Builtin::ThreadIdx(_) | Builtin::BlockDim(_) => 1 << 20,
            Builtin::WarpSize | Builtin::LaneId => 32,
            Builtin::BlockIdx(_) | Builtin::GridDim(_) => i64::from(i32::MAX),
            _ => return None,
        }),
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Shr, a, _) if !e.ty.scalar()?.is_signed() => {
            upper_bound(a)
        }
        ExprKind::Binary(BinaryOp::Rem, _, b) if !e.ty.scalar()?.is_signed() => upper_bound(b),
        ExprKind::Cast(inner) if inner.ty.is_integer() && e.ty.scalar()?.bytes() >= 4 => {
            upper_bound(inner)
        }
        _ => None,
    }
}

/// `i <= INT_MAX` and its like are true for every value.
fn never_ends(compare: BinaryOp, limit: &Expr, ty: Scalar) -> bool {
    let Some(v) = limit.as_const() else { return false };
    let width = 8 * ty.bytes();
    match compare {
        BinaryOp::Le if ty.is_signed() => v.as_i64() == i64::MAX >> (64 - width),
        BinaryOp::Le => v.bits == u64::MAX >> (64 - width),
        BinaryOp::Ge if ty.is_signed() => v.as_i64() == i64::MIN >> (64 - width),
        BinaryOp::Ge => v.bits == 0,
        _ => false,
    }
}
