//! Order of evaluation: expressions of the IR are pure, so effects become statements, and values
//! read before them are kept in temporaries when the effect could change them.

use std::collections::HashSet;

use warpsmith_ir::{
    Block, Expr, ExprKind, Place, PlaceKind, Span, Stmt, StmtKind, Var, VarId, VarKind,
};

use super::Sema;

/// What a list of statements may change.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub vars: HashSet<VarId>,
    /// Memory, or order of accesses to it: stores, atomics, calls, barriers.
    pub memory: bool,
}

impl<'a> Sema<'a> {
    pub(crate) fn emit(&mut self, kind: StmtKind, span: Span) {
        let f = self.f();
        if let Some(block) = f.blocks.last_mut() {
            block.push(Stmt::new(kind, span));
        }
    }

    /// A fresh local variable, not yet declared in the statements.
    pub(crate) fn fresh_var(&mut self, name: &str, ty: warpsmith_ir::Type, span: Span) -> VarId {
        let mut var = Var::new(name, ty, VarKind::Local);
        var.origin = span.into();
        self.f().func.add_var(var)
    }

    /// A temporary, declared without a value at the current point; whoever asks writes it once.
    pub(crate) fn new_temp(&mut self, ty: warpsmith_ir::Type, span: Span) -> VarId {
        let name = self.temp_name();
        let var = self.fresh_var(&name, ty, span);
        self.f().stable.insert(var);
        self.emit(StmtKind::Decl { var, init: None }, span);
        var
    }

    fn temp_name(&mut self) -> String {
        let f = self.f();
        let n = f.stable.len();
        if n == 0 { "tmp".into() } else { format!("tmp{n}") }
    }

    /// How many statements the current block has: a point to come back to with [`Sema::settle`].
    pub(crate) fn mark(&mut self) -> usize {
        self.f().blocks.last().map_or(0, Vec::len)
    }

    /// Runs `lower` with an empty statement list and returns the list with its result.
    pub(crate) fn in_block<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> (T, Block) {
        self.f().blocks.push(vec![]);
        let depth = self.f().blocks.len();
        let result = lower(self);
        self.f().blocks.truncate(depth);
        let stmts = self.f().blocks.pop().unwrap_or_default();
        (result, Block::new(stmts))
    }

    /// Keeps the value that `expr` had at `mark`, if a statement since then could have changed it.
    pub(crate) fn settle(&mut self, expr: Expr, mark: usize, span: Span) -> Expr {
        let f = self.f();
        let since = f.blocks.last().and_then(|b| b.get(mark..)).unwrap_or_default();
        if since.is_empty() {
            return expr;
        }
        let effects = effects_of(since);
        if !self.is_affected(&expr, &effects) {
            return expr;
        }
        let name = self.temp_name();
        let var = self.fresh_var(&name, expr.ty.clone(), span);
        let ty = expr.ty.clone();
        let f = self.f();
        f.stable.insert(var);
        if let Some(block) = f.blocks.last_mut() {
            let decl = Stmt::new(StmtKind::Decl { var, init: Some(expr) }, span);
            block.insert(mark.min(block.len()), decl);
        }
        Expr::var(var, ty).with_origin(span)
    }

    /// Evaluates now, so that nothing later changes the value.
    pub(crate) fn hold_value(&mut self, expr: Expr, span: Span) -> Expr {
        if self.is_stable(&expr) { expr } else { self.hold_now(expr, span) }
    }

    /// The value in a temporary of its own.
    pub(crate) fn hold_now(&mut self, expr: Expr, span: Span) -> Expr {
        let name = self.temp_name();
        let ty = expr.ty.clone();
        let var = self.fresh_var(&name, ty.clone(), span);
        self.f().stable.insert(var);
        self.emit(StmtKind::Decl { var, init: Some(expr) }, span);
        Expr::var(var, ty).with_origin(span)
    }

    /// A place whose operands are evaluated now: it stays the same place whatever happens next.
    pub(crate) fn hold_place(&mut self, place: Place, span: Span) -> Place {
        let kind = match *place.kind {
            PlaceKind::Var(_) | PlaceKind::Global(_) => return place,
            PlaceKind::Deref(p) => PlaceKind::Deref(self.hold_value(p, span)),
            PlaceKind::Elem { pointer, index, dims } => PlaceKind::Elem {
                pointer: self.hold_value(pointer, span),
                index: index.into_iter().map(|i| self.hold_value(i, span)).collect(),
                dims: dims.into_iter().map(|d| self.hold_value(d, span)).collect(),
            },
            PlaceKind::Index(base, i) => {
                let base = self.hold_place(base, span);
                PlaceKind::Index(base, self.hold_value(i, span))
            }
            PlaceKind::Field(base, i) => PlaceKind::Field(self.hold_place(base, span), i),
            PlaceKind::Component(base, i) => PlaceKind::Component(self.hold_place(base, span), i),
        };
        Place { kind: Box::new(kind), ..place }
    }

    /// Constant, or made of temporaries and parameters that are never written again.
    fn is_stable(&mut self, expr: &Expr) -> bool {
        let mut stable = true;
        let f = self.f();
        for_each_read(expr, &mut |place| {
            stable &= matches!(&*place.kind, PlaceKind::Var(v)
                if f.stable.contains(v) || f.func.var(*v).constant && !place.ty.is_aggregate());
        });
        stable
    }

    /// Whether a value could differ after those effects.
    pub(crate) fn is_affected(&mut self, expr: &Expr, effects: &Effects) -> bool {
        let f = self.f();
        let mut affected = false;
        for_each_read(expr, &mut |place| {
            affected |= match place.root_var() {
                Some(v) => {
                    let var = f.func.var(v);
                    let in_memory = f.address_taken.contains(&v)
                        || matches!(var.kind, VarKind::Shared | VarKind::DynamicShared);
                    effects.vars.contains(&v) || in_memory && effects.memory
                }
                None => effects.memory,
            };
        });
        affected
    }
}

/// Calls `see` for every place an expression reads, the operands of places included.
pub(crate) fn for_each_read(expr: &Expr, see: &mut dyn FnMut(&Place)) {
    match &*expr.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        ExprKind::Read(place) => {
            see(place);
            for_each_operand(place, see);
        }
        ExprKind::AddressOf(place) => for_each_operand(place, see),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Bitcast(a)
        | ExprKind::Member(a, _) => {
            for_each_read(a, see);
        }
        ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
            for_each_read(a, see);
            for_each_read(b, see);
        }
        ExprKind::Select(c, a, b) => {
            for_each_read(c, see);
            for_each_read(a, see);
            for_each_read(b, see);
        }
        ExprKind::Call(_, args) | ExprKind::Make(args) => {
            args.iter().for_each(|a| for_each_read(a, see));
        }
    }
}

/// Reads in the operands of a place, not of the place itself.
pub(crate) fn for_each_operand(place: &Place, see: &mut dyn FnMut(&Place)) {
    match &*place.kind {
        PlaceKind::Var(_) | PlaceKind::Global(_) => {}
        PlaceKind::Deref(p) => for_each_read(p, see),
        PlaceKind::Elem { pointer, index, dims } => {
            for_each_read(pointer, see);
            index.iter().chain(dims).for_each(|e| for_each_read(e, see));
        }
        PlaceKind::Index(base, i) => {
            for_each_operand(base, see);
            for_each_read(i, see);
        }
        PlaceKind::Field(base, _) | PlaceKind::Component(base, _) => for_each_operand(base, see),
    }
}

/// Everything that statements, nested ones included, may change.
pub(crate) fn effects_of(stmts: &[Stmt]) -> Effects {
    let mut effects = Effects::default();
    stmts.iter().for_each(|s| add_effects(s, &mut effects));
    effects
}

fn add_blocks<'b>(blocks: impl IntoIterator<Item = &'b Block>, effects: &mut Effects) {
    for block in blocks {
        block.stmts.iter().for_each(|s| add_effects(s, effects));
    }
}

fn add_write(place: &Place, effects: &mut Effects) {
    match place.root_var() {
        Some(v) => {
            effects.vars.insert(v);
            // The variable may be shared: whether it is, is not known here.
            effects.memory |= place.ty.is_aggregate() || !matches!(&*place.kind, PlaceKind::Var(_));
        }
        None => effects.memory = true,
    }
}

fn add_effects(stmt: &Stmt, effects: &mut Effects) {
    match &stmt.kind {
        StmtKind::Decl { var, .. } => {
            effects.vars.insert(*var);
        }
        StmtKind::Assign { place, .. } => add_write(place, effects),
        StmtKind::If { then, otherwise, .. } => add_blocks([then, otherwise], effects),
        StmtKind::For(l) => {
            effects.vars.insert(l.var);
            add_blocks([&l.body], effects);
        }
        StmtKind::Loop { condition, body, step, .. } => {
            add_blocks(condition.iter().map(|c| &c.before).chain([body, step]), effects);
        }
        StmtKind::Switch { cases, .. } => add_blocks(cases.iter().map(|c| &c.body), effects),
        StmtKind::Scope(block) => add_blocks([block], effects),
        StmtKind::Call { result, .. } => {
            effects.memory = true;
            if let Some(place) = result {
                add_write(place, effects);
            }
        }
        StmtKind::Atomic { result, .. }
        | StmtKind::Warp { result, .. }
        | StmtKind::Barrier { result, .. } => {
            effects.memory = true;
            effects.vars.extend(result);
        }
        StmtKind::Collective(c) => {
            effects.memory = true;
            effects.vars.extend(c.results());
        }
        StmtKind::Runtime(call) => {
            effects.memory = true;
            if let Some(place) = call.written() {
                add_write(place, effects);
            }
        }
        StmtKind::Fence(_)
        | StmtKind::AsyncCopy { .. }
        | StmtKind::AsyncCommit
        | StmtKind::AsyncWait(_)
        | StmtKind::Launch(_)
        | StmtKind::CopyToGlobal { .. }
        | StmtKind::Printf { .. } => effects.memory = true,
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Assert { .. }
        | StmtKind::Assume { .. }
        | StmtKind::Trap => {}
    }
}
