//! Statements: rules 6 to 18, 21, 22.

use super::expr::is_readonly;
use super::{Checker, same};
use crate::expr::{BinaryOp, Expr, PlaceKind};
use crate::module::{FuncId, FunctionKind, VarId, VarKind};
use crate::span::Origin;
use crate::stmt::{
    AtomicOp, BarrierKind, Block, Case, ForLoop, Launch, LoopCondition, LoopId, Parallel, Runtime,
    Stmt, StmtKind, WarpOp,
};
use crate::types::{Scalar, Type};

impl Checker<'_> {
    /// A block with its scope.
    pub fn block(&mut self, block: &Block) {
        self.scopes.push(Default::default());
        self.stmts(block);
        self.scopes.pop();
    }

    fn stmts(&mut self, block: &Block) {
        block.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let origin = &stmt.origin;
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                if let Some(e) = init {
                    self.expr(e);
                    if let Some(ty) = self.var_type(*var, origin) {
                        self.fits(e, ty, 6, "the variable");
                    }
                }
                self.declare(*var, origin);
            }
            StmtKind::Assign { place, value } => {
                if let PlaceKind::Var(var) = *place.kind {
                    self.own_in_threads(var, origin);
                }
                self.written(place);
                self.expr(value);
                self.fits(value, &place.ty, 6, "the place");
            }
            StmtKind::If { cond, then, otherwise } => {
                self.condition(cond);
                self.block(then);
                self.block(otherwise);
            }
            StmtKind::For(l) => self.for_loop(l, origin),
            StmtKind::Loop { id, condition, body, step } => {
                self.any_loop(*id, condition.as_ref(), body, step, origin);
            }
            StmtKind::Switch { selector, cases } => self.switch(selector, cases, origin),
            StmtKind::Break => {
                let inside = !self.around.is_empty() || self.switches > 0;
                self.require(inside, 8, origin, "`break` outside loops and switches");
                let own = self.around.len() > self.bound_at || self.switches > 0;
                let leaves = !self.bound.is_empty() && !self.is_device() && !own;
                self.require(!leaves, 25, origin, "`break` leaves a bound loop");
            }
            StmtKind::Continue => {
                self.require(!self.around.is_empty(), 8, origin, "`continue` outside loops");
            }
            StmtKind::Return(value) => {
                let leaves = !self.bound.is_empty() && !self.is_device();
                self.require(!leaves, 25, origin, "`return` leaves a bound loop");
                self.returns(value.as_ref(), origin);
            }
            StmtKind::Scope(block) => self.block(block),
            _ => self.effect(stmt),
        }
    }

    fn effect(&mut self, stmt: &Stmt) {
        let origin = &stmt.origin;
        match &stmt.kind {
            StmtKind::Call { function, args, result } => {
                args.iter().for_each(|a| self.expr(a));
                if let Some(place) = result {
                    self.written(place);
                }
                self.call(*function, args, result.as_ref().map(|p| &p.ty), origin);
            }
            StmtKind::Printf { args, .. } => {
                for a in args {
                    self.expr(a);
                    let scalar = a.ty.scalar().is_some() || a.ty.is_pointer();
                    self.require(scalar, 6, &a.origin, "`printf` takes scalars and pointers");
                }
            }
            StmtKind::Assert { cond, .. } | StmtKind::Assume { cond, .. } => self.condition(cond),
            StmtKind::Trap => {}
            StmtKind::Launch(launch) => self.launch(launch, origin),
            StmtKind::CopyToGlobal { destination, source } => {
                let host = !self.is_device();
                self.require(host, 14, origin, "a copy outside host functions");
                self.place(destination);
                let whole = matches!(&*destination.kind, PlaceKind::Global(_));
                self.require(whole, 14, origin, "a copy to something else than a whole variable");
                self.expr(source);
                self.require(source.ty.is_pointer(), 14, origin, "a copy needs a pointer");
            }
            StmtKind::Runtime(call) => self.runtime(call, origin),
            StmtKind::Collective(collective) => self.collective(collective, origin),
            _ => {
                // Iterations of marked loops may share updates in a host function, too.
                let device = self.is_device()
                    || self.in_threads()
                    || matches!(stmt.kind, StmtKind::Atomic { .. });
                self.require(device, 13, origin, "this is for kernels and device functions only");
                self.threads(stmt);
            }
        }
    }

    /// Calls of the run-time library stand in host functions, with pointers and numbers of bytes; code of the device has a
    /// heap.
    fn runtime(&mut self, call: &Runtime, origin: &Origin) {
        let of_heap =
            matches!(call, Runtime::AllocateHost { shared: false, .. } | Runtime::Free { .. });
        let host = of_heap || !self.is_device();
        self.require(host, 14, origin, "a call of the run-time library outside host functions");
        call.operands().into_iter().for_each(|e| self.expr(e));
        let pointer = |e: &Expr| e.ty.is_pointer();
        let right = match call {
            Runtime::Allocate { pointer, bytes } | Runtime::AllocateHost { pointer, bytes, .. } => {
                self.written(pointer);
                pointer.ty.is_pointer() && bytes.ty.is_integer()
            }
            Runtime::Free { pointer: p }
            | Runtime::ForgetMemory { pointer: p }
            | Runtime::Pin { pointer: p, .. } => pointer(p),
            Runtime::Copy { destination, source, bytes, .. } => {
                pointer(destination) && pointer(source) && bytes.ty.is_integer()
            }
            Runtime::Fill { pointer: p, value, bytes, .. } => {
                pointer(p) && value.ty.is_integer() && bytes.ty.is_integer()
            }
            Runtime::Forget { place } => {
                self.written(place);
                true
            }
            Runtime::Capture { noted, .. } => {
                self.written(noted);
                noted.ty.is_integer()
            }
            Runtime::Replay { noted } => noted.ty.is_integer(),
            Runtime::Order { what, operands, made } => {
                made.iter().for_each(|place| self.written(place));
                let handle = |ty: &Type| ty.is_integer() || ty.is_pointer();
                operands.len() == what.takes()
                    && operands.iter().all(|e| handle(&e.ty))
                    && made.iter().all(|place| handle(&place.ty))
            }
            Runtime::Synchronize | Runtime::Skipped { .. } => true,
        };
        self.require(
            right,
            14,
            origin,
            "memory of the device needs pointers and a number of bytes",
        );
    }

    /// A value of the type that its target has.
    pub(super) fn fits(&mut self, value: &Expr, ty: &Type, rule: u8, target: &str) {
        if !same(&value.ty, ty) {
            let (from, to) = (self.type_name(&value.ty), self.type_name(ty));
            self.report(rule, &value.origin, format!("{target} is {to}, the value {from}"));
        }
    }

    fn returns(&mut self, value: Option<&Expr>, origin: &Origin) {
        let ret = &self.function.ret;
        match value {
            Some(e) => {
                self.expr(e);
                self.fits(e, ret, 17, "the function's type");
            }
            None => {
                self.require(*ret == Type::Void, 17, origin, "the function must return a value");
            }
        }
    }

    // ---- loops ----

    fn loop_id(&mut self, id: LoopId, origin: &Origin) {
        let unique = self.loops.insert(id);
        self.require(unique, 9, origin, format!("loop id {} is used twice", id.0));
        let below = id.0 < self.function.next_loop;
        self.require(below, 9, origin, format!("loop id {} is not below next_loop", id.0));
    }

    fn for_loop(&mut self, l: &ForLoop, origin: &Origin) {
        self.loop_id(l.id, origin);
        for e in [&l.first, &l.limit, &l.step] {
            self.expr(e);
        }
        self.around.push(l.id);
        let outside = self.enter_kind(l, origin);
        self.counter_is_free(l.var, "is the counter of a loop inside", origin);
        self.scopes.push(Default::default());
        if l.declares {
            self.declare(l.var, origin);
        } else {
            self.use_var(l.var, origin);
        }
        if let Some(ty) = self.var_type(l.var, origin) {
            self.require(ty.is_integer(), 10, origin, "the counter must be an integer");
            let alike = [&l.first, &l.limit, &l.step].iter().all(|e| e.ty == *ty);
            self.require(alike, 10, origin, "the bounds and the step must have the counter's type");
        }
        use BinaryOp::*;
        let compares = matches!(l.compare, Lt | Le | Gt | Ge | Ne);
        self.require(
            compares,
            10,
            origin,
            format!("a loop cannot compare with `{}`", l.compare.symbol()),
        );
        self.counters.push(l.var);
        let switches = std::mem::take(&mut self.switches);
        self.block(&l.body);
        self.switches = switches;
        self.leave_kind(outside);
        self.counters.pop();
        self.scopes.pop();
        self.around.pop();
    }

    pub(super) fn clauses(&mut self, p: &Parallel, origin: &Origin) {
        if let Some(group) = p.group {
            let known = self.around.contains(&group);
            self.require(known, 9, origin, "the group is no loop around");
        }
        for r in &p.reductions {
            self.use_var(r.var, origin);
            let Some(var) = self.function.vars.get(r.var.0 as usize) else {
                continue;
            };
            let scalar = match &var.ty {
                Type::Scalar(_) => true,
                Type::Pointer { pointee, .. } => {
                    var.kind == VarKind::Param && pointee.scalar().is_some()
                }
                _ => false,
            };
            self.require(
                scalar,
                18,
                origin,
                format!("the reduction variable `{}` is no scalar", var.name),
            );
        }
        for var in p.private.iter().chain(&p.first_private).chain(&p.last_private) {
            self.use_var(*var, origin);
        }
        p.apart.iter().for_each(|var| self.use_var(*var, origin));
    }

    fn any_loop(
        &mut self,
        id: LoopId,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
        origin: &Origin,
    ) {
        self.loop_id(id, origin);
        self.around.push(id);
        let switches = std::mem::take(&mut self.switches);
        // What the condition declares at the head is there in the whole loop.
        self.scopes.push(Default::default());
        if let Some(c) = condition.filter(|c| !c.at_end) {
            self.stmts(&c.before);
            self.condition(&c.expr);
        }
        self.block(body);
        self.block(step);
        if let Some(c) = condition.filter(|c| c.at_end) {
            self.stmts(&c.before);
            self.condition(&c.expr);
        }
        self.scopes.pop();
        self.switches = switches;
        self.around.pop();
    }

    fn switch(&mut self, selector: &Expr, cases: &[Case], origin: &Origin) {
        self.integer(selector, 22, "a selector");
        let mut values: Vec<i64> = cases.iter().flat_map(|c| c.values.iter().copied()).collect();
        values.sort_unstable();
        let distinct = values.windows(2).all(|w| w[0] != w[1]);
        self.require(distinct, 22, origin, "a case value occurs twice");
        let defaults = cases.iter().filter(|c| c.is_default).count();
        self.require(defaults <= 1, 22, origin, "there are two default cases");
        self.switches += 1;
        cases.iter().for_each(|c| self.block(&c.body));
        self.switches -= 1;
    }

    // ---- calls ----

    fn call(&mut self, id: FuncId, args: &[Expr], result: Option<&Type>, origin: &Origin) {
        let Some(callee) = self.module.functions.get(id.0 as usize) else {
            return self.report(1, origin, format!("there is no function {}", id.0));
        };
        let reachable = match callee.kind {
            FunctionKind::Kernel => false,
            FunctionKind::Host => !self.is_device(),
            FunctionKind::Device => true,
        };
        let name = &callee.name;
        self.require(reachable, 15, origin, format!("`{name}` cannot be called here"));
        if let Some(ty) = result {
            let right = *ty != Type::Void && same(ty, &callee.ret);
            self.require(right, 15, origin, format!("`{name}` returns another type"));
        }
        self.args(id, args, 15, origin);
    }

    fn args(&mut self, id: FuncId, args: &[Expr], rule: u8, origin: &Origin) {
        let callee = &self.module.functions[id.0 as usize];
        let count = args.len() == callee.params.len();
        let message = format!("`{}` takes {} arguments", callee.name, callee.params.len());
        self.require(count, rule, origin, message);
        for (arg, param) in args.iter().zip(&callee.params) {
            if let Some(var) = callee.vars.get(param.0 as usize) {
                self.fits(arg, &var.ty, rule, "the parameter");
            }
        }
    }

    fn launch(&mut self, l: &Launch, origin: &Origin) {
        let host = !self.is_device();
        self.require(host, 14, origin, "a launch outside host functions");
        for e in l.grid.iter().chain(&l.block).chain(l.cluster.iter().flat_map(|c| c.iter())) {
            self.expr(e);
            self.require(e.ty == Type::U32, 14, &e.origin, "an extent of a launch must be u32");
        }
        self.integer(&l.shared, 14, "the size of shared memory");
        l.args.iter().for_each(|a| self.expr(a));
        match self.module.functions.get(l.kernel.0 as usize) {
            Some(f) if f.kind == FunctionKind::Kernel => self.args(l.kernel, &l.args, 14, origin),
            Some(f) => self.report(14, origin, format!("`{}` is no kernel", f.name)),
            None => self.report(1, origin, format!("there is no function {}", l.kernel.0)),
        }
    }

    // ---- what threads do together ----

    fn threads(&mut self, stmt: &Stmt) {
        let origin = &stmt.origin;
        match &stmt.kind {
            StmtKind::Atomic { op, pointer, value, compare, result, .. } => {
                self.expr(pointer);
                self.expr(value);
                compare.iter().for_each(|e| self.expr(e));
                self.atomic(*op, pointer, value, compare.as_ref(), *result, origin);
            }
            StmtKind::Warp { op, mask, args, result } => {
                self.expr(mask);
                args.iter().for_each(|a| self.expr(a));
                self.require(mask.ty == Type::U32, 21, &mask.origin, "a mask must be u32");
                self.warp(*op, args, *result, origin);
            }
            StmtKind::Barrier { kind, operand, result } => {
                operand.iter().for_each(|e| self.expr(e));
                self.barrier(*kind, operand.as_ref(), *result, origin);
            }
            StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
                for p in [destination, source] {
                    self.expr(p);
                    self.require(p.ty.is_pointer(), 21, &p.origin, "a copy needs pointers");
                }
                let to_constant = is_readonly(&destination.ty);
                self.require(!to_constant, 24, &destination.origin, "the destination is constant");
                self.integer(bytes, 21, "the number of bytes");
                if let Some(v) = bytes.as_const() {
                    let right = matches!(v.as_i64(), 4 | 8 | 16);
                    self.require(right, 21, &bytes.origin, "a copy has 4, 8 or 16 bytes");
                }
                if let Some(e) = zero_fill {
                    self.integer(e, 21, "the number of zeros");
                }
            }
            // Fences, and the other parts of asynchronous copies, have no operands.
            _ => {}
        }
    }

    /// The result of an operation goes to a variable of its type.
    fn result(&mut self, result: Option<VarId>, ty: Option<&Type>, origin: &Origin) {
        let Some(var) = result else {
            return;
        };
        self.use_var(var, origin);
        self.counter_is_free(var, "is assigned", origin);
        if let Some(own) = self.var_type(var, origin) {
            let right = ty.is_some_and(|ty| same(ty, own));
            self.require(right, 21, origin, "the result has another type than its variable");
        }
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        pointer: &Expr,
        value: &Expr,
        compare: Option<&Expr>,
        result: Option<VarId>,
        origin: &Origin,
    ) {
        let Some(ty) = pointer.ty.pointee() else {
            return self.report(21, &pointer.origin, "an atomic operation needs a pointer");
        };
        let scalar = ty.scalar().is_some_and(|s| s != Scalar::Bool);
        let bits =
            matches!(op, AtomicOp::Exchange | AtomicOp::Cas | AtomicOp::Load | AtomicOp::Store);
        self.require(
            scalar || (bits && ty.is_pointer()),
            21,
            &pointer.origin,
            "no atomic operation on this type",
        );
        // The value of a load is ignored.
        let alike = op == AtomicOp::Load || same(&value.ty, ty);
        self.require(alike, 21, &value.origin, "the operand must have the pointee's type");
        let compared = compare.map(|e| same(&e.ty, ty));
        let right = if op == AtomicOp::Cas { compared == Some(true) } else { compared.is_none() };
        self.require(
            right,
            21,
            origin,
            "compare-and-swap, and nothing else, compares with such a value",
        );
        let whole = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
        self.require(!whole || ty.is_integer(), 21, origin, "bit operations need integers");
        let turns = matches!(op, AtomicOp::Inc | AtomicOp::Dec);
        self.require(!turns || *ty == Type::U32, 21, origin, "this operation needs u32");
        if op != AtomicOp::Load && is_readonly(&pointer.ty) {
            self.report(24, &pointer.origin, "this is constant and cannot be written");
        }
        let gives = (op != AtomicOp::Store).then_some(ty);
        self.result(result, gives, origin);
    }

    fn warp(&mut self, op: WarpOp, args: &[Expr], result: Option<VarId>, origin: &Origin) {
        use WarpOp::*;
        let types: Vec<&Type> = args.iter().map(|a| &a.ty).collect();
        let (right, ty) = match (op, types.as_slice()) {
            (Shuffle | ShuffleUp | ShuffleDown | ShuffleXor, [value, lane, width]) => {
                let data = value.scalar().is_some() || value.is_aggregate();
                (data && lane.is_integer() && width.is_integer(), Some((*value).clone()))
            }
            (Ballot, [p]) => (**p == Type::BOOL, Some(Type::U32)),
            (All | Any, [p]) => (**p == Type::BOOL, Some(Type::BOOL)),
            (MatchAny | MatchAll, [value]) => {
                let wide = value.scalar().is_some_and(|s| s.bytes() >= 4);
                (wide, Some(Type::U32))
            }
            (ReduceAdd | ReduceMin | ReduceMax | ReduceAnd | ReduceOr | ReduceXor, [value]) => {
                (matches!(**value, Type::I32 | Type::U32), Some((*value).clone()))
            }
            _ => (false, None),
        };
        self.require(right, 21, origin, "wrong operands for a warp operation");
        if right {
            self.result(result, ty.as_ref(), origin);
        }
    }

    fn barrier(
        &mut self,
        kind: BarrierKind,
        operand: Option<&Expr>,
        result: Option<VarId>,
        origin: &Origin,
    ) {
        let counts =
            matches!(kind, BarrierKind::BlockCount | BarrierKind::BlockAnd | BarrierKind::BlockOr);
        let ty = operand.map(|e| &e.ty);
        let right = match kind {
            BarrierKind::Block
            | BarrierKind::Grid
            | BarrierKind::ClusterWait
            | BarrierKind::ClusterArrive => ty.is_none(),
            BarrierKind::Warp | BarrierKind::Named | BarrierKind::NamedArrive => {
                ty == Some(&Type::U32)
            }
            _ => ty == Some(&Type::BOOL),
        };
        self.require(right, 21, origin, "wrong operand for a barrier");
        self.result(result, counts.then_some(&Type::I32), origin);
    }
}
