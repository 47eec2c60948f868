//! Statements only a GPU has: atomics, warp operations, barriers, asynchronous copies.

use warpsmith_ir::{
    AtomicOp, BarrierKind, BinaryOp, CopyWay, Expr, ExprKind, Place, Runtime, Scalar, Scope, Stmt,
    StmtKind, Type, UnaryOp, Value, VarId, WarpOp,
};

use crate::context::{Helper, Printer};
use crate::doc::{Doc, Out, cat, list, text};
use crate::error::{EmitError, Result};

use crate::literal;
use crate::stmt::Sink;
use crate::types;

impl Printer<'_> {
    pub fn effect(&self, out: &mut Out, s: &Stmt, joined: Option<VarId>) -> Result<()> {
        let doc = match &s.kind {
            StmtKind::Atomic { result, .. } => {
                self.sink_var(*result, joined)?.statement(self.atomic(s)?)
            }
            StmtKind::Warp { op, mask, args, result } => {
                return self.warp(out, *op, mask, args, self.sink_var(*result, joined)?, s);
            }
            StmtKind::Barrier { kind, operand, result } => {
                let sink = self.sink_var(*result, joined)?;
                sink.statement(self.barrier(*kind, operand.as_ref(), s)?)
            }
            StmtKind::Fence(scope) => text(match scope {
                Scope::Block => "__threadfence_block();",
                Scope::Device => "__threadfence();",
                Scope::System => "__threadfence_system();",
            }),
            StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
                self.cx.include("cuda_pipeline.h");
                let mut args = vec![self.exact(destination)?.doc, self.exact(source)?.doc];
                for e in [Some(bytes), zero_fill.as_ref()].into_iter().flatten() {
                    args.push(self.implicit(e)?.doc);
                }
                list("__pipeline_memcpy_async(", args, ");")
            }
            StmtKind::AsyncCommit => {
                self.cx.include("cuda_pipeline.h");
                text("__pipeline_commit();")
            }
            StmtKind::AsyncWait(n) => {
                self.cx.include("cuda_pipeline.h");
                text(format!("__pipeline_wait_prior({n});"))
            }
            StmtKind::Printf { format, args } => self.printf(format, args)?,
            StmtKind::Assert { cond, .. } => {
                self.cx.include("assert.h");
                cat([text("assert("), self.condition(cond)?.doc.align(), text(");")])
            }
            // The launcher launches nothing that was not asked for.
            StmtKind::Assume { cond, .. } if self.stream.is_some() => {
                let not = self.condition(&opposite(cond))?.doc;
                cat([text("if ("), not.align(), text(") return cudaErrorInvalidValue;")])
            }
            StmtKind::Assume { cond, .. } => {
                cat([text("__builtin_assume("), self.condition(cond)?.doc.align(), text(");")])
            }
            StmtKind::Trap => text("__trap();"),
            StmtKind::CopyToGlobal { destination, source } => {
                self.copy_to_global(destination, source)?
            }
            StmtKind::Runtime(call) => return self.runtime(out, call, s),
            _ => return Err(EmitError::new("this statement", &s.origin)),
        };
        out.doc(&doc);
        Ok(())
    }

    fn copy_to_global(&self, destination: &Place, source: &Expr) -> Result<Doc> {
        self.launched.set(true);
        let name = self.place(destination)?.doc;
        let mut args = vec![name.clone(), self.expr(source)?.doc];
        args.push(cat([text("sizeof("), name, text(")")]));
        args.extend([text("0"), text("cudaMemcpyDeviceToDevice")]);
        args.extend(self.stream.clone().map(text));
        Ok(list("cudaMemcpyToSymbolAsync(", args, ");"))
    }

    /// A value comes back from the device, on the launcher's stream.
    fn runtime(&self, out: &mut Out, call: &Runtime, s: &Stmt) -> Result<()> {
        let Some(stream) = self.stream.clone() else {
            return Err(EmitError::new("a copy outside of launchers", &s.origin));
        };
        self.launched.set(true);
        match call {
            Runtime::Copy {
                way: CopyWay::ToHost,
                destination,
                source,
                bytes,
                asynchronous: true,
            } => {
                let mut args = vec![self.expr(destination)?.doc, self.expr(source)?.doc];
                args.push(self.implicit(bytes)?.doc);
                args.extend([text("cudaMemcpyDeviceToHost"), text(stream)]);
                out.doc(&list("cudaMemcpyAsync(", args, ");"));
            }
            Runtime::Synchronize => {
                out.line(&format!("cudaStreamSynchronize({stream});"));
                out.line("if (cudaPeekAtLastError() != cudaSuccess) return cudaGetLastError();");
            }
            _ => return Err(EmitError::new("this call of the run-time library", &s.origin)),
        }
        Ok(())
    }

    /// Arguments of a variadic function: only what the promotions do not change needs a cast.
    fn printf(&self, format: &str, args: &[Expr]) -> Result<Doc> {
        self.cx.include("stdio.h");
        let mut docs = vec![text(literal::string(format))];
        for a in args {
            let p = self.expr(a)?;
            let promoted = match p.ty.scalar() {
                Some(Scalar::F32) => Some(Scalar::F64),
                Some(s) => Some(crate::convert::promote(s)),
                None => None,
            };
            let wanted = a.ty.scalar().map(|s| match s {
                Scalar::F32 => Scalar::F64,
                s => crate::convert::promote(s),
            });
            docs.push(if promoted == wanted && wanted.is_some() {
                p.doc
            } else {
                self.coerce(p, &a.ty)?.doc
            });
        }
        Ok(list("printf(", docs, ");"))
    }

    fn atomic(&self, s: &Stmt) -> Result<Doc> {
        let StmtKind::Atomic { op, pointer, value, compare, scope, .. } = &s.kind else {
            return Err(EmitError::new("this statement", &s.origin));
        };
        let ty = pointer.ty.pointee().and_then(Type::scalar);
        let ty = ty
            .ok_or_else(|| EmitError::new("an atomic on something that is no number", &s.origin))?;
        let suffix = match scope {
            Scope::Block => "_block",
            Scope::Device => "",
            Scope::System => "_system",
        };
        let refuse = || {
            let what = format!("an atomic {} of `{}`", op_name(*op), types::scalar(ty));
            EmitError::new(what, &s.origin)
        };
        let call = Atomic { printer: self, pointer, suffix, ty };
        use AtomicOp::*;
        use Scalar::*;
        match (op, ty) {
            (Load, I32 | U32 | U64 | F32 | F64 | F16) => {
                call.plain("atomicAdd", &[&changes_nothing(ty)])
            }
            (Load, I64) => call.plain("atomicMax", &[&Expr::int(I64, i64::MIN)]),
            (Store | Exchange, _) => call.exchange(value).ok_or_else(refuse)?,
            (Add, I32 | U32 | U64 | F32 | F64 | F16 | BF16) => call.plain("atomicAdd", &[value]),
            (Sub, I32 | U32) => call.plain("atomicSub", &[value]),
            (Sub, U64 | F32 | F64) => call.plain("atomicAdd", &[&negated(value)]),
            (Sub, I64) => call.unsigned("atomicAdd", &[&negated(value)]),
            (Add, I64) => call.unsigned("atomicAdd", &[value]),
            (Min | Lower, I32 | U32 | I64 | U64) => call.plain("atomicMin", &[value]),
            (Max | Raise, I32 | U32 | I64 | U64) => call.plain("atomicMax", &[value]),
            (Min, F32) => call.helper(Helper::AtomicMinFloat, value),
            (Min, F64) => call.helper(Helper::AtomicMinDouble, value),
            (Max, F32) => call.helper(Helper::AtomicMaxFloat, value),
            (Max, F64) => call.helper(Helper::AtomicMaxDouble, value),
            (Mul, I32 | U32 | I64 | U64 | F32 | F64) => call.helper(Helper::AtomicMul(ty), value),
            (Lower, F32 | F64) => call.helper(Helper::AtomicLower(ty), value),
            (Raise, F32 | F64) => call.helper(Helper::AtomicRaise(ty), value),
            (And, I32 | U32 | U64) => call.plain("atomicAnd", &[value]),
            (Or, I32 | U32 | U64) => call.plain("atomicOr", &[value]),
            (Xor, I32 | U32 | U64) => call.plain("atomicXor", &[value]),
            (And, I64) => call.unsigned("atomicAnd", &[value]),
            (Or, I64) => call.unsigned("atomicOr", &[value]),
            (Xor, I64) => call.unsigned("atomicXor", &[value]),
            (Inc, U32) => call.plain("atomicInc", &[value]),
            (Dec, U32) => call.plain("atomicDec", &[value]),
            (Cas, _) => {
                let args = [compare.as_ref().ok_or_else(refuse)?, value];
                match ty {
                    I32 | U32 | U64 | U16 => call.plain("atomicCAS", &args),
                    I64 => call.unsigned("atomicCAS", &args),
                    F32 => call.through_bits("atomicCAS", I32, &args),
                    F64 => call.through_bits("atomicCAS", U64, &args),
                    _ => Err(refuse()),
                }
            }
            _ => Err(refuse()),
        }
    }

    fn warp(
        &self,
        out: &mut Out,
        op: WarpOp,
        mask: &Expr,
        args: &[Expr],
        sink: Sink,
        s: &Stmt,
    ) -> Result<()> {
        use WarpOp::*;
        let name = match op {
            Shuffle => "__shfl_sync",
            ShuffleUp => "__shfl_up_sync",
            ShuffleDown => "__shfl_down_sync",
            ShuffleXor => "__shfl_xor_sync",
            Ballot => "__ballot_sync",
            All => "__all_sync",
            Any => "__any_sync",
            MatchAny => "__match_any_sync",
            MatchAll => "__match_all_sync",
            ReduceAdd => "__reduce_add_sync",
            ReduceMin => "__reduce_min_sync",
            ReduceMax => "__reduce_max_sync",
            ReduceAnd => "__reduce_and_sync",
            ReduceOr => "__reduce_or_sync",
            ReduceXor => "__reduce_xor_sync",
        };
        let mut docs = vec![self.implicit(mask)?.doc];
        let Some((value, rest)) = args.split_first() else {
            return Err(EmitError::new("a warp operation without a value", &s.origin));
        };
        // The value chooses the overload.
        docs.push(match op {
            Ballot | All | Any => self.condition(value)?.doc,
            _ => self.exact(value)?.doc,
        });
        for (i, e) in rest.iter().enumerate() {
            // The whole warp is the default width.
            let whole = i == 1 && e.as_const().is_some_and(|v| v.as_i64() == 32);
            if !whole {
                docs.push(self.implicit(e)?.doc);
            }
        }
        if op == MatchAll {
            let equal = self.fresh("all_equal");
            out.line(&format!("int {equal};"));
            docs.push(text(format!("&{equal}")));
        }
        out.doc(&sink.statement(list(&format!("{name}("), docs, ")")));
        Ok(())
    }

    fn barrier(&self, kind: BarrierKind, operand: Option<&Expr>, s: &Stmt) -> Result<Doc> {
        let name = match kind {
            BarrierKind::Block => return Ok(text("__syncthreads()")),
            BarrierKind::Grid => {
                self.cx.include("cooperative_groups.h");
                return Ok(text("cooperative_groups::this_grid().sync()"));
            }
            BarrierKind::ClusterWait => return Ok(text("__cluster_barrier_wait()")),
            BarrierKind::ClusterArrive => return Ok(text("__cluster_barrier_arrive()")),
            BarrierKind::Warp => {
                let all =
                    operand.is_none_or(|m| m.as_const().is_some_and(|v| v.bits == 0xffff_ffff));
                if all {
                    return Ok(text("__syncwarp()"));
                }
                "__syncwarp("
            }
            BarrierKind::BlockCount => "__syncthreads_count(",
            BarrierKind::BlockAnd => "__syncthreads_and(",
            BarrierKind::BlockOr => "__syncthreads_or(",
            BarrierKind::Named => return self.named_barrier("sync", operand, s),
            BarrierKind::NamedArrive => return self.named_barrier("arrive", operand, s),
        };
        let Some(operand) = operand else {
            return Err(EmitError::new("a counting barrier without a predicate", &s.origin));
        };
        let operand = if kind == BarrierKind::Warp {
            self.implicit(operand)?
        } else {
            self.condition(operand)?
        };
        Ok(list(name, vec![operand.doc], ")"))
    }

    /// Barriers with a number have no function of their own; the number and the count are constants.
    fn named_barrier(&self, what: &str, operand: Option<&Expr>, s: &Stmt) -> Result<Doc> {
        let Some(value) = operand.and_then(Expr::as_const) else {
            return Err(EmitError::new("a barrier whose number is not constant", &s.origin));
        };
        let (id, count) = (value.bits & 0xffff, value.bits >> 16);
        let count = if count == 0 { String::new() } else { format!(", {count}") };
        Ok(text(format!("asm volatile(\"bar.{what} {id}{count};\" ::: \"memory\")")))
    }
}

/// One atomic operation on `*pointer`.
struct Atomic<'p, 'a> {
    printer: &'p Printer<'a>,
    pointer: &'p Expr,
    /// Of the function's name, for the scope.
    suffix: &'static str,
    ty: Scalar,
}

impl Atomic<'_, '_> {
    /// The function has an overload for the type: the pointer chooses it, the values convert.
    fn plain(&self, name: &str, values: &[&Expr]) -> Result<Doc> {
        self.printer.include_half(self.ty);
        let mut docs = vec![self.printer.exact(self.pointer)?.doc];
        for v in values {
            // With `unsigned long long` literals and sizes alike convert; `half` has no implicit source.
            docs.push(self.printer.implicit(v)?.doc);
        }
        Ok(list(&format!("{name}{}(", self.suffix), docs, ")"))
    }

    /// The function knows 64-bit integers only as unsigned; two's complement makes them the same.
    fn unsigned(&self, name: &str, values: &[&Expr]) -> Result<Doc> {
        let mut docs = vec![self.pointer_as(Scalar::U64)?];
        for v in values {
            docs.push(self.printer.implicit(v)?.doc);
        }
        Ok(list(&format!("{name}{}(", self.suffix), docs, ")"))
    }

    fn pointer_as(&self, s: Scalar) -> Result<Doc> {
        let pointer = self.printer.exact(self.pointer)?;
        let open = format!("reinterpret_cast<{} *>(", types::scalar(s));
        Ok(list(&open, vec![pointer.doc], ")"))
    }

    fn exchange(&self, value: &Expr) -> Option<Result<Doc>> {
        use Scalar::*;
        Some(match self.ty {
            I32 | U32 | U64 | F32 => self.plain("atomicExch", &[value]),
            I64 => self.unsigned("atomicExch", &[value]),
            F64 => self.through_bits("atomicExch", U64, &[value]),
            _ => return None,
        })
    }

    /// On the bits of floating numbers, seen as integers.
    fn through_bits(&self, name: &str, bits: Scalar, values: &[&Expr]) -> Result<Doc> {
        let (to, from) = match bits {
            Scalar::I32 => ("__float_as_int", "__int_as_float"),
            _ => ("__double_as_longlong", "__longlong_as_double"),
        };
        let mut docs = vec![self.pointer_as(bits)?];
        for v in values {
            docs.push(list(&format!("{to}("), vec![self.printer.exact(v)?.doc], ")"));
        }
        let call = list(&format!("{name}{}(", self.suffix), docs, ")");
        Ok(list(&format!("{from}("), vec![call], ")"))
    }

    fn helper(&self, helper: Helper, value: &Expr) -> Result<Doc> {
        let pointer = self.printer.exact(self.pointer)?.doc;
        let value = self.printer.exact(value)?.doc;
        let name = self.printer.cx.helper(helper);
        Ok(list(&format!("{name}("), vec![pointer, value], ")"))
    }
}

/// What added to any number leaves it as it is: minus zero also changes no zero.
fn changes_nothing(ty: Scalar) -> Expr {
    Expr::constant(match ty.is_float() {
        true => Value::float(ty, -0.0),
        false => Value::int(ty, 0),
    })
}

fn negated(value: &Expr) -> Expr {
    let kind = ExprKind::Unary(UnaryOp::Neg, value.clone());
    Expr::new(kind, value.ty.clone(), value.origin.clone())
}

fn op_name(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Add => "addition",
        AtomicOp::Sub => "subtraction",
        AtomicOp::Mul => "multiplication",
        AtomicOp::Min | AtomicOp::Lower => "minimum",
        AtomicOp::Max | AtomicOp::Raise => "maximum",
        AtomicOp::And => "and",
        AtomicOp::Or => "or",
        AtomicOp::Xor => "exclusive or",
        AtomicOp::Exchange => "exchange",
        AtomicOp::Cas => "compare-and-swap",
        AtomicOp::Inc => "increment",
        AtomicOp::Dec => "decrement",
        AtomicOp::Load => "load",
        AtomicOp::Store => "store",
    }
}

/// `!cond`, a comparison turned round.
fn opposite(cond: &Expr) -> Expr {
    let turned = |op: BinaryOp| match op {
        BinaryOp::Lt => Some(BinaryOp::Ge),
        BinaryOp::Le => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        _ => None,
    };
    let kind = match &*cond.kind {
        ExprKind::Binary(op, a, b) if a.ty.is_integer() && turned(*op).is_some() => {
            ExprKind::Binary(turned(*op).unwrap_or(*op), a.clone(), b.clone())
        }
        _ => ExprKind::Unary(UnaryOp::Not, cond.clone()),
    };
    Expr::new(kind, cond.ty.clone(), cond.origin.clone())
}
