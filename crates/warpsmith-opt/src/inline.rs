//! Calls that write into arrays of the caller, replaced by the body of the function.
//!
//! `softmax(&x[i * n], n)` says where it begins to write, not which elements; only the body in place of the call shows that
//! iterations keep apart. Helpers that compute from values, or write into variables of their caller, stay functions.

use std::collections::BTreeSet;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, FuncId, Function, Module, Origin, Place, PlaceKind, Scalar,
    Stmt, StmtKind, Type, VarId, VarKind, visit,
};

use crate::analysis::access::{Base, base_of, base_of_pointer};
use crate::analysis::calls::{is_stable, writes_through};
use crate::walk;

/// Helpers that call helpers are followed this far.
const MAX_ROUNDS: usize = 8;
/// A caller with more statements than this gets no more bodies.
const MAX_STATEMENTS: usize = 5_000;

/// Puts the bodies of functions in place of calls that get an array which the function writes, where the only way out of
/// them is their end. Other calls stay.
pub fn writers(module: &mut Module, id: FuncId) {
    for _ in 0..MAX_ROUNDS {
        let mut host = std::mem::replace(
            &mut module.functions[id.0 as usize],
            Function::new("", warpsmith_ir::FunctionKind::Host),
        );
        let mut body = std::mem::take(&mut host.body);
        let written = written(module, &host, &body);
        let mut pass = Pass { module, host: &mut host, written, changed: false };
        let mut statements = 0;
        walk::each_stmt(&body, &mut |_| statements += 1);
        if statements <= MAX_STATEMENTS {
            pass.block(&mut body);
        }
        let changed = pass.changed;
        host.body = body;
        module.functions[id.0 as usize] = host;
        if !changed {
            return;
        }
    }
}

/// Puts the bodies of all functions that `wanted` names in place of calls, whatever they get, where the only way out of
/// them is their end; what is passed is a variable of its own then.
pub fn named(module: &mut Module, id: FuncId, wanted: &dyn Fn(&Module, FuncId) -> bool) {
    for _ in 0..MAX_ROUNDS {
        let mut caller = module.functions[id.0 as usize].clone();
        let mut body = std::mem::take(&mut caller.body);
        let written = BTreeSet::new();
        let mut pass = Pass { module, host: &mut caller, written, changed: false };
        pass.named(&mut body, wanted);
        let changed = pass.changed;
        caller.body = body;
        let mut statements = 0;
        walk::each_stmt(&caller.body, &mut |_| statements += 1);
        module.functions[id.0 as usize] = caller;
        if !changed || statements > MAX_STATEMENTS {
            return;
        }
    }
}

/// Array parameters of the host function that something in its body writes.
fn written(module: &Module, host: &Function, body: &Block) -> BTreeSet<VarId> {
    let mut bases = vec![];
    walk::each_stmt(body, &mut |stmt| {
        bases.extend(walk::operands(stmt).writes.map(base_of));
        match &stmt.kind {
            StmtKind::Atomic { pointer, .. } => bases.push(base_of_pointer(pointer)),
            StmtKind::Call { function, args, .. } => {
                let pointers = args.iter().enumerate().filter(|(_, a)| a.ty.is_pointer());
                let written = pointers.filter(|(k, _)| writes_through(module, *function, *k));
                bases.extend(written.map(|(_, a)| base_of_pointer(a)));
            }
            _ => {}
        }
    });
    let arrays = bases.into_iter().filter_map(|b| match b {
        Base::Var(v) => Some(v),
        _ => None,
    });
    arrays.filter(|v| host.params.contains(v) && host.var(*v).ty.is_pointer()).collect()
}

struct Pass<'m> {
    module: &'m Module,
    host: &'m mut Function,
    written: BTreeSet<VarId>,
    changed: bool,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            if let Some(body) = self.body_of_call(stmt) {
                stmt.kind = StmtKind::Scope(body);
                self.changed = true;
            } else {
                walk::blocks_mut(stmt).into_iter().for_each(|b| self.block(b));
            }
        }
    }

    fn named(&mut self, block: &mut Block, wanted: &dyn Fn(&Module, FuncId) -> bool) {
        for stmt in &mut block.stmts {
            if let StmtKind::Call { function, args, result } = &stmt.kind
                && wanted(self.module, *function)
                && leaves_at_end(&self.module.function(*function).body)
            {
                let module = self.module;
                let callee = module.function(*function);
                let kept = vec![false; callee.params.len()];
                let nothing = |_: &Expr| false;
                let body =
                    self.expand(callee, args, &kept, &nothing, result.as_ref(), &stmt.origin);
                stmt.kind = StmtKind::Scope(body);
                self.changed = true;
            } else {
                walk::blocks_mut(stmt).into_iter().for_each(|b| self.named(b, wanted));
            }
        }
    }

    fn body_of_call(&mut self, stmt: &Stmt) -> Option<Block> {
        let StmtKind::Call { function, args, result } = &stmt.kind else { return None };
        let module = self.module;
        let callee = module.function(*function);
        let on_written = |a: &Expr| {
            a.ty.is_pointer()
                && matches!(base_of_pointer(a), Base::Var(v) if self.written.contains(&v))
        };
        if !args.iter().any(on_written) || !leaves_at_end(&callee.body) {
            return None;
        }
        let passed: BTreeSet<VarId> = args.iter().filter_map(passed_variable).collect();
        let stable = |e: &Expr| is_stable(e, &|v| passed.contains(&v));
        if !args.iter().all(|a| !a.ty.is_pointer() || stable(a)) {
            return None;
        }
        let keeps = |p: &VarId| !walk::writes_var(&callee.body, *p) && !takes_address(callee, *p);
        if !callee.params.iter().all(|p| !callee.var(*p).ty.is_pointer() || keeps(p)) {
            return None;
        }
        let kept: Vec<bool> = callee.params.iter().map(keeps).collect();
        Some(self.expand(callee, args, &kept, &stable, result.as_ref(), &stmt.origin))
    }

    fn expand(
        &mut self,
        callee: &Function,
        args: &[Expr],
        kept: &[bool],
        stable: &dyn Fn(&Expr) -> bool,
        result: Option<&Place>,
        origin: &Origin,
    ) -> Block {
        let mut body = callee.body.clone();
        let first = self.host.vars.len() as u32;
        for var in &callee.vars {
            let mut var = var.clone();
            if var.kind == VarKind::Param {
                (var.kind, var.shape, var.constant) = (VarKind::Local, None, false);
            }
            self.host.add_var(var);
        }
        visit::rename_vars(&mut body, &mut |v| VarId(v.0 + first));
        visit::renew_loops(self.host, &mut body);
        give_result(&mut body, result, origin);
        let mut stmts = vec![];
        for ((param, arg), kept) in callee.params.iter().zip(args).zip(kept) {
            let var = VarId(param.0 + first);
            if arg.ty.is_pointer() && *kept {
                visit::Rewriter::block(&mut Pointer { var, to: arg }, &mut body);
            } else if *kept && stable(arg) && is_simple(arg) {
                visit::substitute_var(&mut body, var, arg);
            } else {
                let decl = StmtKind::Decl { var, init: Some(arg.clone()) };
                stmts.push(Stmt::new(decl, origin.clone()));
            }
        }
        if let Some(stmt) = body.stmts.first_mut().filter(|_| stmts.is_empty()) {
            stmt.comment.insert(0, callee.name.clone());
        } else if let Some(stmt) = stmts.first_mut() {
            stmt.comment.push(callee.name.clone());
        }
        stmts.append(&mut body.stmts);
        Block::new(stmts)
    }
}

/// The variable whose address an argument is.
fn passed_variable(arg: &Expr) -> Option<VarId> {
    let mut inner = arg;
    while let ExprKind::Cast(e) | ExprKind::PtrOffset(e, _) = &*inner.kind {
        inner = e;
    }
    match &*inner.kind {
        ExprKind::AddressOf(place) => place.root_var(),
        _ => None,
    }
}

/// A value that costs nothing to write again.
fn is_simple(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Const(_) | ExprKind::Named(_) => true,
        ExprKind::Read(place) => matches!(&*place.kind, PlaceKind::Var(_)),
        _ => false,
    }
}

fn takes_address(callee: &Function, var: VarId) -> bool {
    let mut found = false;
    visit::for_each_place(&callee.body, &mut |place, access| {
        found |= access == visit::Access::Address
            && matches!(&*place.kind, PlaceKind::Var(v) if *v == var);
    });
    found
}

/// Whether a body returns at its end only, or not at all.
fn leaves_at_end(body: &Block) -> bool {
    let mut returns = 0;
    walk::each_stmt(body, &mut |s| returns += usize::from(matches!(s.kind, StmtKind::Return(_))));
    let last = body.stmts.last().is_some_and(|s| matches!(s.kind, StmtKind::Return(_)));
    returns == usize::from(last)
}

/// The value that the function gives back goes where the call put it.
fn give_result(body: &mut Block, result: Option<&Place>, origin: &Origin) {
    if !matches!(body.stmts.last().map(|s| &s.kind), Some(StmtKind::Return(_))) {
        return;
    }
    let Some(Stmt { kind: StmtKind::Return(Some(value)), .. }) = body.stmts.pop() else { return };
    if let Some(place) = result {
        let value = value.cast(place.ty.clone());
        let assign = StmtKind::Assign { place: place.clone(), value };
        body.stmts.push(Stmt::new(assign, origin.clone()));
    }
}

/// Puts a pointer of the caller in place of a parameter.
struct Pointer<'e> {
    var: VarId,
    to: &'e Expr,
}

impl Pointer<'_> {
    fn is_meant(&self, pointer: &Expr) -> bool {
        match &*pointer.kind {
            ExprKind::Read(p) => matches!(&*p.kind, PlaceKind::Var(v) if *v == self.var),
            ExprKind::Cast(inner) => {
                inner.ty.pointee() == pointer.ty.pointee() && self.is_meant(inner)
            }
            _ => false,
        }
    }
}

impl visit::Rewriter for Pointer<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let ExprKind::Read(p) = &*expr.kind
            && matches!(&*p.kind, PlaceKind::Var(v) if *v == self.var)
        {
            *expr = self.to.clone().cast(expr.ty.clone());
            return;
        }
        visit::rewrite_expr(self, expr);
    }

    fn place(&mut self, place: &mut Place) {
        let at = match &*place.kind {
            PlaceKind::Deref(pointer) if self.is_meant(pointer) => Some(Expr::i32(0)),
            PlaceKind::Elem { pointer, index, dims }
                if self.is_meant(pointer) && dims.is_empty() && index.len() == 1 =>
            {
                let mut index = index[0].clone();
                self.expr(&mut index);
                Some(index)
            }
            _ => None,
        };
        match at.and_then(|i| element(self.to, i, place)) {
            Some(found) => *place = found,
            None => visit::rewrite_place(self, place),
        }
    }
}

/// The element `i` behind a pointer, as an element of the array that the pointer leads into.
fn element(pointer: &Expr, i: Expr, of: &Place) -> Option<Place> {
    let zero = i.as_const().is_some_and(|v| v.as_i64() == 0);
    let elem = |pointer: &Expr, i: Expr| {
        let kind = PlaceKind::Elem { pointer: pointer.clone(), index: vec![i], dims: vec![] };
        Place::new(kind, of.ty.clone(), of.origin.clone())
    };
    match &*pointer.kind {
        ExprKind::Cast(inner) if inner.ty.pointee() == pointer.ty.pointee() => {
            element(inner, i, of)
        }
        ExprKind::PtrOffset(base, by) => element(base, sum(by, i), of),
        ExprKind::Read(_) => Some(elem(pointer, i)),
        ExprKind::AddressOf(place) => match &*place.kind {
            _ if zero && place.ty == of.ty => {
                Some(Place { origin: of.origin.clone(), ..place.clone() })
            }
            PlaceKind::Deref(inner) => element(inner, i, of),
            PlaceKind::Elem { pointer, index, dims } if dims.is_empty() && index.len() == 1 => {
                element(pointer, sum(&index[0], i), of)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The sum of two subscripts, in 32 bits where both have them.
fn sum(a: &Expr, b: Expr) -> Expr {
    if b.as_const().is_some_and(|v| v.as_i64() == 0) {
        return a.clone();
    }
    let ty = if a.ty == b.ty { a.ty.clone() } else { Type::Scalar(Scalar::I64) };
    Expr::binary(BinaryOp::Add, a.clone().cast(ty.clone()), b.cast(ty))
}
