//! One traversal of the IR, and what is learnt with it before anything is printed.

use std::collections::BTreeSet;

use warpsmith_ir::{
    Block, ConstId, Expr, ExprKind, FuncId, Function, GlobalId, Module, Place, PlaceKind, Stmt,
    StmtKind, StructId, Type, VarId,
};

/// What a traversal meets, parents before children, in the order of the text.
pub(crate) enum Node<'a> {
    Stmt(&'a Stmt),
    Expr(&'a Expr),
    Place(&'a Place),
}

pub(crate) type Visit<'a, 'v> = &'v mut dyn FnMut(Node<'a>);

pub(crate) fn block<'a>(b: &'a Block, f: Visit<'a, '_>) {
    for s in &b.stmts {
        stmt(s, f);
    }
}

pub(crate) fn stmt<'a>(s: &'a Stmt, f: Visit<'a, '_>) {
    f(Node::Stmt(s));
    direct_operands(s, f);
    nested_blocks(&s.kind, &mut |b| block(b, f));
}

/// Calls `f` with the blocks directly inside a statement, in order.
pub(crate) fn nested_blocks<'a>(s: &'a StmtKind, f: &mut dyn FnMut(&'a Block)) {
    match s {
        StmtKind::If { then, otherwise, .. } => {
            f(then);
            f(otherwise);
        }
        StmtKind::For(l) => f(&l.body),
        StmtKind::Loop { condition, body, step, .. } => {
            if let Some(c) = condition {
                f(&c.before);
            }
            f(body);
            f(step);
        }
        StmtKind::Switch { cases, .. } => cases.iter().for_each(|c| f(&c.body)),
        StmtKind::Scope(b) => f(b),
        _ => {}
    }
}

/// Visits the expressions and places of a statement itself, not those of blocks inside.
pub(crate) fn direct_operands<'a>(s: &'a Stmt, f: Visit<'a, '_>) {
    match &s.kind {
        StmtKind::Decl { init, .. } => init.iter().for_each(|e| expr(e, f)),
        StmtKind::Assign { place: p, value } => {
            place(p, f);
            expr(value, f);
        }
        StmtKind::If { cond, .. } => expr(cond, f),
        StmtKind::For(l) => [&l.first, &l.limit, &l.step].into_iter().for_each(|e| expr(e, f)),
        StmtKind::Loop { condition, .. } => condition.iter().for_each(|c| expr(&c.expr, f)),
        StmtKind::Switch { selector, .. } => expr(selector, f),
        StmtKind::Return(e) => e.iter().for_each(|e| expr(e, f)),
        StmtKind::Call { args, result, .. } => {
            args.iter().for_each(|e| expr(e, f));
            result.iter().for_each(|p| place(p, f));
        }
        StmtKind::Atomic { pointer, value, compare, .. } => {
            [pointer, value].into_iter().chain(compare).for_each(|e| expr(e, f));
        }
        StmtKind::Warp { mask, args, .. } => {
            std::iter::once(mask).chain(args).for_each(|e| expr(e, f));
        }
        StmtKind::Barrier { operand, .. } => operand.iter().for_each(|e| expr(e, f)),
        StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
            [destination, source, bytes].into_iter().chain(zero_fill).for_each(|e| expr(e, f));
        }
        StmtKind::Printf { args, .. } => args.iter().for_each(|e| expr(e, f)),
        StmtKind::Assert { cond, .. } | StmtKind::Assume { cond, .. } => expr(cond, f),
        StmtKind::CopyToGlobal { destination, source } => {
            place(destination, f);
            expr(source, f);
        }
        StmtKind::Collective(c) => {
            c.written().into_iter().for_each(|p| place(p, f));
            c.operands().into_iter().for_each(|e| expr(e, f));
        }
        StmtKind::Runtime(call) => {
            call.written().into_iter().for_each(|p| place(p, f));
            call.operands().into_iter().for_each(|e| expr(e, f));
        }
        StmtKind::Launch(l) => {
            let shape = l.grid.iter().chain(&l.block);
            shape.chain([&l.shared]).chain(&l.args).for_each(|e| expr(e, f));
        }
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Scope(_)
        | StmtKind::Fence(_)
        | StmtKind::AsyncCommit
        | StmtKind::AsyncWait(_)
        | StmtKind::Trap => {}
    }
}

pub(crate) fn expr<'a>(e: &'a Expr, f: Visit<'a, '_>) {
    f(Node::Expr(e));
    match &*e.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        ExprKind::Read(p) | ExprKind::AddressOf(p) => place(p, f),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Bitcast(a)
        | ExprKind::Member(a, _) => expr(a, f),
        ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
            expr(a, f);
            expr(b, f);
        }
        ExprKind::Select(a, b, c) => [a, b, c].into_iter().for_each(|e| expr(e, f)),
        ExprKind::Call(_, args) | ExprKind::Make(args) => args.iter().for_each(|e| expr(e, f)),
    }
}

pub(crate) fn place<'a>(p: &'a Place, f: Visit<'a, '_>) {
    f(Node::Place(p));
    match &*p.kind {
        PlaceKind::Var(_) | PlaceKind::Global(_) => {}
        PlaceKind::Deref(e) => expr(e, f),
        PlaceKind::Elem { pointer, index, dims } => {
            std::iter::once(pointer).chain(index).chain(dims).for_each(|e| expr(e, f));
        }
        PlaceKind::Index(p, e) => {
            place(p, f);
            expr(e, f);
        }
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => place(p, f),
    }
}

/// The variable that receives the result of a statement with one.
pub(crate) fn result_var(s: &StmtKind) -> Option<VarId> {
    match s {
        StmtKind::Atomic { result, .. }
        | StmtKind::Warp { result, .. }
        | StmtKind::Barrier { result, .. } => *result,
        _ => None,
    }
}

/// The variable that a statement gives a new value as a whole.
pub(crate) fn assigned_var(s: &StmtKind) -> Option<VarId> {
    let whole = |p: &Place| match &*p.kind {
        PlaceKind::Var(v) => Some(*v),
        _ => None,
    };
    match s {
        StmtKind::Assign { place, .. } => whole(place),
        StmtKind::Call { result: Some(place), .. } => whole(place),
        other => result_var(other),
    }
}

/// Whether a statement, or anything in it, mentions a variable.
pub(crate) fn mentions(s: &Stmt, var: VarId) -> bool {
    let mut found = false;
    stmt(s, &mut |node| {
        found |= match node {
            Node::Place(p) => matches!(&*p.kind, PlaceKind::Var(v) if *v == var),
            Node::Stmt(s) => match &s.kind {
                StmtKind::Decl { var: v, .. } => *v == var,
                StmtKind::For(l) => l.var == var,
                other => result_var(other) == Some(var),
            },
            Node::Expr(_) => false,
        }
    });
    found
}

/// How one function uses one of its variables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VarUse {
    /// There is a statement that declares it.
    pub declared: bool,
    /// Statements that give it, or a part of it, a value; the declaration included.
    pub writes: u32,
    /// Those of the writes that are initial values.
    pub inits: u32,
    /// Those of the writes that are results of atomics and their like, which may be left out.
    pub results: u32,
    /// Reads of it or of a part of it.
    pub reads: u32,
    /// Its address is taken.
    pub addressed: bool,
}

impl VarUse {
    pub fn used(self) -> bool {
        self.reads > 0 || self.addressed
    }

    /// Nobody reads it, and all that gives it a value can go: expressions are pure.
    pub fn dead(self) -> bool {
        !self.used() && self.writes == self.inits + self.results
    }

    /// Anything but a declaration speaks of it.
    pub fn mentioned(self) -> bool {
        self.used() || self.writes > 0
    }
}

/// The use of every variable of a function, by [`VarId`].
pub(crate) fn var_uses(function: &Function) -> Vec<VarUse> {
    let mut uses = vec![VarUse::default(); function.vars.len()];
    let mut with = |id: VarId, f: &dyn Fn(&mut VarUse)| {
        if let Some(u) = uses.get_mut(id.0 as usize) {
            f(u);
        }
    };
    block(&function.body, &mut |node| match node {
        Node::Stmt(s) => {
            match &s.kind {
                StmtKind::Decl { var, init } => {
                    let writes = u32::from(init.is_some());
                    with(*var, &|u| {
                        u.declared = true;
                        u.writes += writes;
                        u.inits += writes;
                    });
                }
                // A counter is written on entry and by each step.
                StmtKind::For(l) => with(l.var, &|u| {
                    u.declared |= l.declares;
                    u.reads += 1;
                    u.writes += 2;
                }),
                StmtKind::Assign { place, .. } | StmtKind::Call { result: Some(place), .. } => {
                    if let Some(v) = place.root_var() {
                        // `Place` below counts a read for every mention; this one is none.
                        with(v, &|u| {
                            u.writes += 1;
                            u.reads = u.reads.wrapping_sub(1);
                        });
                    }
                }
                _ => {}
            }
            if let Some(v) = result_var(&s.kind) {
                with(v, &|u| {
                    u.writes += 1;
                    u.results += 1;
                });
            }
        }
        Node::Expr(e) => {
            if let ExprKind::AddressOf(p) = &*e.kind
                && let Some(v) = p.root_var()
            {
                with(v, &|u| u.addressed = true);
            }
        }
        Node::Place(p) => {
            if let PlaceKind::Var(v) = &*p.kind {
                with(*v, &|u| u.reads = u.reads.wrapping_add(1));
            }
        }
    });
    uses
}

/// The functions that a call in the module names.
pub(crate) fn called(module: &Module) -> BTreeSet<FuncId> {
    let mut called = BTreeSet::new();
    for f in &module.functions {
        block(&f.body, &mut |node| {
            if let Node::Stmt(s) = node
                && let StmtKind::Call { function, .. } = &s.kind
            {
                called.insert(*function);
            }
        });
    }
    called
}

/// What some functions of a module use, directly and through calls and launches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Callees before callers.
    pub functions: Vec<FuncId>,
    pub constants: BTreeSet<ConstId>,
    pub globals: BTreeSet<GlobalId>,
    pub structs: BTreeSet<StructId>,
}

impl Reach {
    pub fn from(module: &Module, roots: impl IntoIterator<Item = FuncId>) -> Reach {
        let mut reach = Reach::default();
        let mut seen = BTreeSet::new();
        for root in roots {
            reach.enter(module, root, &mut seen);
        }
        let globals: Vec<GlobalId> = reach.globals.iter().copied().collect();
        for g in globals {
            if let Some(global) = module.globals.get(g.0 as usize) {
                reach.add_type(module, &global.ty);
            }
        }
        reach
    }

    /// What types are made of.
    pub fn of_types<'t>(module: &Module, types: impl IntoIterator<Item = &'t Type>) -> Reach {
        let mut reach = Reach::default();
        types.into_iter().for_each(|ty| reach.add_type(module, ty));
        reach
    }

    /// Adds the constants of an expression that stands in no function's body.
    pub fn include_expr(&mut self, e: &Expr) {
        expr(e, &mut |node| {
            if let Node::Expr(e) = node
                && let ExprKind::Named(c) = &*e.kind
            {
                self.constants.insert(*c);
            }
        });
    }

    fn enter(&mut self, module: &Module, id: FuncId, seen: &mut BTreeSet<FuncId>) {
        let Some(function) = module.functions.get(id.0 as usize) else { return };
        if !seen.insert(id) {
            return;
        }
        let mut callees = vec![];
        self.add_type(module, &function.ret);
        for var in &function.vars {
            self.add_type(module, &var.ty);
        }
        block(&function.body, &mut |node| match node {
            Node::Stmt(s) => match &s.kind {
                StmtKind::Call { function, .. } => callees.push(*function),
                StmtKind::Launch(l) => callees.push(l.kernel),
                _ => {}
            },
            Node::Expr(e) => {
                self.add_type(module, &e.ty);
                if let ExprKind::Named(c) = &*e.kind {
                    self.constants.insert(*c);
                }
            }
            Node::Place(p) => {
                if let PlaceKind::Global(g) = &*p.kind {
                    self.globals.insert(*g);
                }
            }
        });
        for callee in callees {
            self.enter(module, callee, seen);
        }
        self.functions.push(id);
    }

    fn add_type(&mut self, module: &Module, ty: &Type) {
        match ty {
            Type::Struct(id) => {
                if self.structs.insert(*id)
                    && let Some(def) = module.structs.get(id.0 as usize)
                {
                    def.fields.iter().for_each(|f| self.add_type(module, &f.ty));
                }
            }
            Type::Array(inner, _) => self.add_type(module, inner),
            Type::Pointer { pointee, .. } => self.add_type(module, pointee),
            Type::Void | Type::Scalar(_) | Type::Vector(..) => {}
        }
    }
}
