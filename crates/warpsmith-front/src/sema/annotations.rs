//! Annotations of verifiers for kernels, in the style of GPUVerify.
//!
//! What can be run is run: a requirement of a kernel filters launches, one of a function is what its callers owe, an
//! invariant is asserted wherever it is reached. Sets of accesses are kept by `access_sets`. What speaks of another thread
//! cannot be run; it is read over, with a warning.

use warpsmith_ir::{Axis, BinaryOp, Builtin, Expr, FunctionKind, Scalar, Span, StmtKind, Type};

use super::Sema;
use super::model::*;
use super::verifier_files::{ALL_DIFFER_FOR, ALL_DIFFER_FROM};
use crate::ast;

/// Conditions that hold wherever they are reached.
const ASSERTED: &[&str] =
    &["assert", "__assert", "__global_assert", "__invariant", "__global_invariant"];

/// Conditions that say which launches are meant.
pub(super) const ASSUMED: &[&str] =
    &["__requires", "__global_requires", "__assume", "__builtin_assume", "__axiom"];

/// Promises about a function that its body keeps or not: it is there and is run.
const PROMISES: &[&str] = &[
    "__requires_fresh_array",
    "__array_snapshot",
    "__function_wide_invariant",
    "__function_wide_candidate_invariant",
    "__candidate_invariant",
    "__candidate_global_invariant",
    "__candidate_assert",
    "__candidate_global_assert",
    "__barrier_invariant",
    "__barrier_invariant_1",
    "__barrier_invariant_2",
    "__barrier_invariant_binary",
    "__barrier_invariant_binary1",
    "__non_temporal_loads_begin",
    "__non_temporal_loads_end",
];

/// Functions that have a meaning only inside of a proof.
const OF_PROOFS: &[&str] = &[
    "__read_local",
    "__write_local",
    "__points_to",
    "__points_to_local",
    "__ptr_base",
    "__ptr_offset",
    "__ptr_offset_bytes",
    "__other_int",
    "__other_bool",
    "__other_ptr_base",
    "__uniform_int",
    "__uniform_bool",
    "__uniform_ptr_base",
    "__distinct_int",
    "__distinct_bool",
    "__distinct_ptr_base",
    "__accessed",
    "__not_accessed",
    "__exclusive",
    "__same_group",
    "__old",
    "__old_int",
    "__old_bool",
    "__atomic_has_taken_value",
];

/// What a function returns, in a promise of it.
const RESULTS: &[&str] = &[
    "__return_val",
    "__return_val_int",
    "__return_val_bool",
    "__return_val_ptr",
    // Its argument says which type of pointers to functions is meant.
    "__return_val_funptr",
];

/// A condition that a function promises wherever it returns.
#[derive(Debug)]
pub(crate) struct Promise<'a> {
    /// The function under construction.
    function: u32,
    scope: ScopeId,
    condition: &'a ast::Expr,
}

impl<'a> Sema<'a> {
    /// A call that is an annotation; `None` when it is none.
    pub(crate) fn annotation(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        if PROMISES.contains(&name) {
            return Some(Ok(Operand::Void));
        }
        if let Some(result) = self.access_set(name, args, span) {
            return Some(result);
        }
        if matches!(name, "__ensures" | "__global_ensures") {
            return Some(self.promise(name, args, span));
        }
        let of_function = self.f().func.kind == FunctionKind::Device;
        let owed = of_function && matches!(name, "__requires" | "__global_requires");
        let asserted = owed || ASSERTED.contains(&name);
        if asserted || ASSUMED.contains(&name) {
            return Some(self.condition(name, args, asserted, span));
        }
        match (name, args) {
            // What all threads say that come here each of them says.
            ("__all", [e]) => Some(self.truth_of(e).map(Operand::Value)),
            // A statement that is reached is enabled.
            ("__enabled", []) => Some(Ok(Operand::Value(super::convert::bool_const(true, span)))),
            _ if RESULTS.contains(&name) => match self.returned.clone() {
                Some(value) => Some(result_of(name, value, span)),
                None => Some(fail("W063", span, format!("`{name}` stands in `__ensures` only"))),
            },
            ("__implies", [a, b]) => Some(self.implication(a, b, span)),
            ("__ite", [c, a, b]) => Some(self.choice(c, a, b, span)),
            _ => None,
        }
    }

    fn condition(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        asserted: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let [condition] = args else {
            return fail("W063", span, format!("`{name}` takes one condition"));
        };
        if let Some(what) = of_a_proof(condition) {
            let text = format!("`{what}` cannot be run: this `{name}` is not looked at");
            self.warn(super::NOT_RUN, span, &text);
            return Ok(Operand::Void);
        }
        let cond = self.truth_of(condition)?;
        let text = super::text::expr_text(condition);
        let kind = match asserted {
            true => StmtKind::Assert { cond, text },
            false => StmtKind::Assume { cond, text },
        };
        self.emit(kind, span);
        Ok(Operand::Void)
    }

    /// `__ensures(condition)`: looked at where the function returns.
    fn promise(&mut self, name: &str, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        let [condition] = args else {
            return fail("W063", span, format!("`{name}` takes one condition"));
        };
        if let Some(what) = of_a_proof(condition) {
            let text = format!("`{what}` cannot be run: this `{name}` is not looked at");
            self.warn(super::NOT_RUN, span, &text);
            return Ok(Operand::Void);
        }
        let (function, scope) = (self.f().serial, self.f_scope());
        self.promises.push(Promise { function, scope, condition });
        Ok(Operand::Void)
    }

    /// Asserts what the function promises, where it returns a value or none. The value is evaluated once.
    pub(crate) fn keep_promises(&mut self, value: Option<Expr>, span: Span) -> Res<Option<Expr>> {
        let function = self.f().serial;
        let mine = self.promises.iter().filter(|p| p.function == function);
        let mine: Vec<(ScopeId, &'a ast::Expr)> = mine.map(|p| (p.scope, p.condition)).collect();
        if mine.is_empty() {
            return Ok(value);
        }
        let value = value.map(|v| self.hold_now(v, span));
        for (scope, condition) in mine {
            self.returned.clone_from(&value);
            let saved = std::mem::replace(&mut self.f().scope, scope);
            let cond = self.truth_of(condition);
            self.f().scope = saved;
            self.returned = None;
            let text = super::text::expr_text(condition);
            self.emit(StmtKind::Assert { cond: cond?, text }, condition.span);
        }
        Ok(value)
    }

    /// A launch that an axiom of the file excludes is none that is meant.
    pub(crate) fn assume_axioms(&mut self) -> Res<()> {
        for (condition, scope) in self.axioms.clone() {
            if of_a_proof(condition).is_some() {
                continue;
            }
            let saved = std::mem::replace(&mut self.f().scope, scope);
            let cond = self.truth_of(condition);
            self.f().scope = saved;
            let (cond, text) = (cond?, super::text::expr_text(condition));
            self.emit(StmtKind::Assume { cond, text }, condition.span);
        }
        Ok(())
    }

    /// What a function without a body returns that is only specified: of some values the first that keeps its promises, which
    /// is another one for every thread where nothing is promised. One that ends with `return` has its own.
    pub(crate) fn answer_of_spec(&mut self, span: Span) -> Res<()> {
        let Some(ret) = self.f().ret.clone().filter(|r| r.ty != Type::Void) else { return Ok(()) };
        let last = self.f().blocks.last().and_then(|b| b.last());
        if last.is_some_and(|s| matches!(s.kind, StmtKind::Return(_))) {
            return Ok(());
        }
        if ret.ty.scalar().is_none() || ret.is_reference() {
            let d = error("W069", span, "only numbers can be invented for what has no body");
            return Err(d.help("define the function in this file").into());
        }
        let function = self.f().serial;
        let mine = self.promises.iter().filter(|p| p.function == function);
        let mine: Vec<(ScopeId, &'a ast::Expr)> = mine.map(|p| (p.scope, p.condition)).collect();
        let mut answer: Option<(Expr, Expr)> = None;
        for value in self.possible_answers(&ret.ty, span)?.into_iter().rev() {
            let kept = self.keeps(&mine, &value, span)?;
            answer = Some(match answer {
                None => (value, kept),
                Some((other, any)) => {
                    let kind = warpsmith_ir::ExprKind::Select(kept.clone(), value, other);
                    let chosen = Expr::new(kind, ret.ty.clone(), span);
                    let either =
                        super::convert::binary_folded(BinaryOp::LogicalOr, kept, any, span);
                    (chosen, either)
                }
            });
        }
        let Some((value, cond)) = answer else { return Ok(()) };
        let text = "the values that are tried keep the function's promises".to_string();
        self.emit(StmtKind::Assume { cond, text }, span);
        self.emit(StmtKind::Return(Some(value)), span);
        Ok(())
    }

    /// The thread's number, small numbers, and what is at and beside each parameter.
    fn possible_answers(&mut self, ty: &Type, span: Span) -> Res<Vec<Expr>> {
        let mut values = match self.f().func.kind {
            FunctionKind::Device => vec![self.any_number(span)],
            _ => vec![],
        };
        values.extend([0, 1].map(|n| Expr::i32(n).with_origin(span)));
        let f = &self.f().func;
        let of = |id: &warpsmith_ir::VarId| Expr::var(*id, f.var(*id).ty.clone());
        let params: Vec<Expr> = f.params.iter().map(of).filter(|e| e.ty.is_integer()).collect();
        for param in params {
            let one = Expr::int(param.ty.scalar().unwrap_or(Scalar::I32), 1);
            values.push(param.clone());
            for op in [BinaryOp::Add, BinaryOp::Sub] {
                values.push(Expr::binary(op, param.clone(), one.clone()).with_origin(span));
            }
        }
        values.extend([2, -1].map(|n| Expr::i32(n).with_origin(span)));
        values.into_iter().map(|v| self.convert_to(v, ty, span)).collect()
    }

    /// A number that differs between the threads of a call and between calls. At each call it is 0 for some of the threads, two
    /// or three of seven, and in turn for all, so that no loop that asks for it goes on for ever. Where the clock begins at
    /// [`ALL_DIFFER_FROM`] the first calls have another number for every thread, and 0 for none.
    fn any_number(&mut self, span: Span) -> Expr {
        let number = |n: u64| Expr::int(Scalar::U64, n as i64).with_origin(span);
        let binary = |op, a: Expr, b: Expr| Expr::binary(op, a, b).with_origin(span);
        // The clock says 1, 3, 6, 10 and so on: modulo 13 that is one of seven numbers, n (n + 1) / 2 for n from 0 to 6.
        let clock = Expr::builtin(Builtin::Clock64).with_origin(span);
        let clock = self.hold_now(clock, span);
        let turn = self.hold_now(binary(BinaryOp::Rem, clock.clone(), number(13)), span);
        let odd = binary(BinaryOp::BitAnd, turn.clone(), number(1)).cast(Type::U32);
        let small = |n| Expr::int(Scalar::U32, n).with_origin(span);
        // Three times the thread's number: with its own number added or taken away it still differs between threads.
        let own = binary(BinaryOp::Mul, thread_number(span), small(3));
        let own = binary(BinaryOp::BitXor, own, odd.with_origin(span));
        let own = binary(BinaryOp::Add, own, small(1));
        let none = small(0);
        let n = binary(BinaryOp::Rem, thread_number(span), small(7));
        let is_turn = |n: Expr| {
            let twice = binary(BinaryOp::Mul, n.clone(), binary(BinaryOp::Add, n, small(1)));
            let own = binary(BinaryOp::Rem, binary(BinaryOp::Div, twice, small(2)), small(13));
            binary(BinaryOp::Eq, turn.clone(), own.cast(Type::U64).with_origin(span))
        };
        // Two calls one after the other: a loop around a loop that asks ends, too.
        let next = binary(BinaryOp::Add, n.clone(), small(1));
        let ends = binary(BinaryOp::LogicalOr, is_turn(n), is_turn(next));
        // Unsigned: a clock that began at 0 is far from it, too.
        let since = binary(BinaryOp::Sub, clock, number(ALL_DIFFER_FROM));
        let later = binary(BinaryOp::Ge, since, number(ALL_DIFFER_FOR));
        let ends = binary(BinaryOp::LogicalAnd, later, ends);
        Expr::new(warpsmith_ir::ExprKind::Select(ends, none, own), Type::U32, span)
    }

    /// Whether a value keeps all promises.
    fn keeps(
        &mut self,
        promises: &[(ScopeId, &'a ast::Expr)],
        value: &Expr,
        span: Span,
    ) -> Res<Expr> {
        let mut all = super::convert::bool_const(true, span);
        for (scope, condition) in promises {
            self.returned = Some(value.clone());
            let saved = std::mem::replace(&mut self.f().scope, *scope);
            let cond = self.truth_of(condition);
            self.f().scope = saved;
            self.returned = None;
            all = super::convert::binary_folded(BinaryOp::LogicalAnd, all, cond?, span);
        }
        Ok(all)
    }

    fn implication(&mut self, a: &'a ast::Expr, b: &'a ast::Expr, span: Span) -> Res<Operand<'a>> {
        let (a, b) = (self.truth_of(a)?, self.truth_of(b)?);
        let not = super::expr_ops::negated(a, span);
        let either = super::convert::binary_folded(BinaryOp::LogicalOr, not, b, span);
        Ok(Operand::Value(either))
    }

    fn choice(
        &mut self,
        c: &'a ast::Expr,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let cond = self.truth_of(c)?;
        let (a, b) = (self.rvalue(a)?, self.rvalue(b)?);
        let b = self.convert_to(b, &a.ty, span)?;
        let ty = a.ty.clone();
        Ok(Operand::Value(Expr::new(warpsmith_ir::ExprKind::Select(cond, a, b), ty, span)))
    }
}

/// The value that a function returns, by a name that says what type it has.
fn result_of<'a>(name: &str, value: Expr, span: Span) -> Res<Operand<'a>> {
    let fits = match name {
        "__return_val_int" => matches!(value.ty.scalar(), Some(Scalar::I32 | Scalar::U32)),
        "__return_val_bool" => value.ty.scalar() == Some(Scalar::Bool),
        "__return_val_ptr" => value.ty.is_pointer(),
        _ => true,
    };
    if !fits {
        let text = format!("the function returns no such type as `{name}` stands for");
        return fail("W063", span, text);
    }
    Ok(Operand::Value(value))
}

/// The number of the calling thread in its grid: no two threads have the same.
pub(super) fn thread_number(span: Span) -> Expr {
    let axes = [Axis::Z, Axis::Y, Axis::X];
    let blocks = axes.map(|a| (Builtin::BlockIdx(a), Builtin::GridDim(a)));
    let threads = axes.map(|a| (Builtin::ThreadIdx(a), Builtin::BlockDim(a)));
    let zero = Expr::int(Scalar::U32, 0).with_origin(span);
    blocks.into_iter().chain(threads).fold(zero, |number, (index, extent)| {
        let builtin = |b| Expr::builtin(b).with_origin(span);
        let before = Expr::binary(BinaryOp::Mul, number, builtin(extent)).with_origin(span);
        Expr::binary(BinaryOp::Add, before, builtin(index)).with_origin(span)
    })
}

/// The first name in a condition that only a proof gives a meaning.
fn of_a_proof(condition: &ast::Expr) -> Option<&'static str> {
    let mut found = None;
    super::walk::expr(condition, &mut |e| {
        if let ast::ExprKind::Path(path) = &*e.kind
            && let Some(name) = path.as_name()
        {
            found = found.or(OF_PROOFS.iter().find(|n| **n == name).copied());
        }
    });
    found
}
