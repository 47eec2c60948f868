//! Which values of a program depend on data: on the contents of arrays, on reals, on arguments that are given once and for
//! all. What depends on none of them depends on sizes and on the numbers of threads.
//!
//! A place where control divides on such a value goes the ways that the data want; every other one must be shown both ways.

use std::collections::BTreeSet;

use warpsmith_ir::{
    Block, Expr, ExprKind, FuncId, Function, Module, Place, PlaceKind, Stmt, StmtKind, Type, VarId,
    VarKind, visit,
};

/// Variables and results that depend on data. Control counts: what is set where data decide whether it is set.
pub struct ByData<'a> {
    module: &'a Module,
    launcher: FuncId,
    vars: BTreeSet<(FuncId, VarId)>,
    results: BTreeSet<FuncId>,
    grown: bool,
}

impl<'a> ByData<'a> {
    /// `given` are parameters of the launcher whose value is no size.
    pub fn new(module: &'a Module, launcher: FuncId, given: &[String]) -> ByData<'a> {
        let mut found = ByData {
            module,
            launcher,
            vars: BTreeSet::new(),
            results: BTreeSet::new(),
            grown: true,
        };
        for param in &module.function(launcher).params {
            if given.contains(&module.function(launcher).var(*param).name) {
                found.vars.insert((launcher, *param));
            }
        }
        while std::mem::take(&mut found.grown) {
            for (k, function) in module.functions.iter().enumerate() {
                let id = FuncId(k as u32);
                found.first(id, function);
                found.block(id, &function.body, false);
            }
        }
        found
    }

    /// What depends on data from the start: shared and addressed variables, whose values come by way of memory, and reals.
    fn first(&mut self, id: FuncId, function: &Function) {
        for (k, var) in function.vars.iter().enumerate() {
            let shared = matches!(var.kind, VarKind::Shared | VarKind::DynamicShared);
            if shared || var.ty.scalar().is_some_and(warpsmith_ir::Scalar::is_float) {
                self.add(id, VarId(k as u32), true);
            }
        }
        visit::for_each_place(&function.body, &mut |place, access| {
            let var = place.root_var().filter(|_| access == visit::Access::Address);
            if let Some(var) = var {
                self.add(id, var, true);
            }
        });
    }

    /// Whether an expression of a function depends on data.
    pub fn expr(&self, id: FuncId, e: &Expr) -> bool {
        let mut found = false;
        visit::for_each_subexpr(e, &mut |e| {
            found |= match &*e.kind {
                ExprKind::Read(place) => self.place(id, place),
                _ => false,
            };
        });
        found
    }

    fn place(&self, id: FuncId, place: &Place) -> bool {
        match &*place.kind {
            // The pointer is no data, what it points to is.
            PlaceKind::Var(_) if place.ty.is_pointer() => false,
            PlaceKind::Var(v) => self.vars.contains(&(id, *v)),
            PlaceKind::Index(inner, _)
            | PlaceKind::Field(inner, _)
            | PlaceKind::Component(inner, _) => self.place(id, inner),
            PlaceKind::Global(_) | PlaceKind::Deref(_) | PlaceKind::Elem { .. } => true,
        }
    }

    fn add(&mut self, id: FuncId, var: VarId, by_data: bool) {
        if by_data && self.vars.insert((id, var)) {
            self.grown = true;
        }
    }

    /// `decided`: whether data decide that control comes here.
    fn block(&mut self, id: FuncId, block: &Block, decided: bool) {
        let mut decided = decided;
        for stmt in &block.stmts {
            self.stmt(id, stmt, decided);
            // What follows an early end that data decide is run as they want.
            decided |= self.leaves(id, stmt);
        }
    }

    /// Whether data decide that control leaves the surrounding loop or function here.
    fn leaves(&self, id: FuncId, stmt: &Stmt) -> bool {
        let StmtKind::If { cond, then, otherwise } = &stmt.kind else { return false };
        let mut ends = false;
        for arm in [then, otherwise] {
            visit::for_each_stmt(arm, &mut |s| {
                ends |=
                    matches!(s.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_));
            });
        }
        ends && self.expr(id, cond)
    }

    fn stmt(&mut self, id: FuncId, stmt: &Stmt, decided: bool) {
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                let by_data = init.as_ref().is_some_and(|e| decided || self.expr(id, e));
                self.add(id, *var, by_data);
            }
            StmtKind::Assign { place, value } => {
                let by_data = decided || self.expr(id, value);
                if let Some(var) = place.root_var().filter(|_| !behind_a_pointer(place)) {
                    self.add(id, var, by_data);
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                let decided = decided || self.expr(id, cond);
                self.block(id, then, decided);
                self.block(id, otherwise, decided);
            }
            StmtKind::For(l) => {
                let bounds = [&l.first, &l.limit, &l.step];
                let decided = decided
                    || bounds.iter().any(|e| self.expr(id, e))
                    || self.ends_by_data(id, &l.body);
                self.add(id, l.var, decided);
                self.block(id, &l.body, decided);
            }
            StmtKind::Loop { condition, body, step, .. } => {
                let ends = condition.as_ref().is_some_and(|c| self.expr(id, &c.expr));
                let decided = decided || ends || self.ends_by_data(id, body);
                let before = condition.as_ref().map(|c| &c.before);
                for part in [before, Some(body), Some(step)].into_iter().flatten() {
                    self.block(id, part, decided);
                }
            }
            StmtKind::Switch { selector, cases } => {
                let decided = decided || self.expr(id, selector);
                cases.iter().for_each(|c| self.block(id, &c.body, decided));
            }
            StmtKind::Scope(inner) => self.block(id, inner, decided),
            StmtKind::Call { function, args, result } => {
                self.handed(id, *function, args, decided);
                let by_data = decided || self.results.contains(function);
                if let Some(var) = result.as_ref().and_then(Place::root_var) {
                    self.add(id, var, by_data);
                }
            }
            StmtKind::Launch(launch) => self.handed(id, launch.kernel, &launch.args, decided),
            StmtKind::Return(Some(value)) if decided || self.expr(id, value) => {
                self.grown |= self.results.insert(id);
            }
            StmtKind::Atomic { result, .. }
            | StmtKind::Warp { result, .. }
            | StmtKind::Barrier { result, .. } => {
                if let Some(var) = result {
                    self.add(id, *var, true);
                }
            }
            _ => {}
        }
    }

    fn ends_by_data(&self, id: FuncId, body: &Block) -> bool {
        let mut found = false;
        visit::for_each_stmt(body, &mut |s| found |= self.leaves(id, s));
        found
    }

    /// Arguments of a call or launch become parameters.
    fn handed(&mut self, id: FuncId, to: FuncId, args: &[Expr], decided: bool) {
        // Sizes are sizes, whoever calls the launcher, and whatever that one checks before.
        if to == self.launcher {
            return;
        }
        let Some(callee) = self.module.functions.get(to.0 as usize) else { return };
        for (param, arg) in callee.params.iter().zip(args) {
            let by_data = match &arg.ty {
                Type::Pointer { .. } => false,
                _ => decided || self.expr(id, arg),
            };
            self.add(to, *param, by_data);
        }
    }
}

fn behind_a_pointer(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Var(_) | PlaceKind::Global(_) => false,
        PlaceKind::Deref(_) | PlaceKind::Elem { .. } => true,
        PlaceKind::Index(inner, _)
        | PlaceKind::Field(inner, _)
        | PlaceKind::Component(inner, _) => behind_a_pointer(inner),
    }
}
