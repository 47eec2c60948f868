//! What must be known about a function's variables before it is lowered.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::{
    Expr, ExprKind, FuncId, Function, Module, Place, PlaceKind, Stmt, StmtKind, Type, VarId, eval,
};

use super::walk::{self, Node};

/// Facts about the variables of one function, by [`VarId`].
#[derive(Debug, Default)]
pub struct Facts {
    /// Must live in memory: its address is taken, or it is indexed by a value.
    pub memory: Vec<bool>,
    /// Its address is taken.
    pub escapes: Vec<bool>,
    /// Never written after its declaration or the call.
    pub constant: Vec<bool>,
    /// It may hold nothing: it is declared without a value, or gets one from such a variable.
    pub unset: Vec<bool>,
    /// A pointer parameter that is only dereferenced: an argument `&place` may stand for the place.
    pub alias: Vec<bool>,
}

/// Facts about all functions that a kernel reaches.
#[derive(Debug, Default)]
pub struct AllFacts {
    functions: HashMap<FuncId, Facts>,
}

impl AllFacts {
    /// Computes the facts of a function after those of the functions it calls.
    pub fn add(&mut self, module: &Module, id: FuncId, depth: u32) {
        if self.functions.contains_key(&id) || depth > 200 {
            return;
        }
        let Some(function) = module.functions.get(id.0 as usize) else { return };
        let mut callees = vec![];
        walk::block(&function.body, &mut |n| {
            if let Node::Stmt(Stmt { kind: StmtKind::Call { function, .. }, .. }) = n {
                callees.push(*function);
            }
        });
        callees.into_iter().for_each(|c| self.add(module, c, depth + 1));
        let facts = self.of_function(module, function);
        self.functions.insert(id, facts);
    }

    pub fn get(&self, id: FuncId) -> Option<&Facts> {
        self.functions.get(&id)
    }

    fn of_function(&self, module: &Module, function: &Function) -> Facts {
        let n = function.vars.len();
        let mut scan = Scan {
            all: self,
            module,
            memory: vec![false; n],
            escapes: vec![false; n],
            written: vec![false; n],
            mentions: vec![0; n],
            derefs: vec![0; n],
            bound: HashSet::new(),
        };
        walk::block(&function.body, &mut |node| scan.node(node));
        let alias = (0..n)
            .map(|v| {
                function.vars[v].ty.is_pointer()
                    && scan.mentions[v] == scan.derefs[v]
                    && !scan.written[v]
            })
            .collect();
        let constant = scan.written.iter().map(|w| !w).collect();
        let unset = unset(function);
        Facts { memory: scan.memory, escapes: scan.escapes, constant, unset, alias }
    }
}

/// The variables of a function that may hold nothing.
fn unset(function: &Function) -> Vec<bool> {
    let mut unset = vec![false; function.vars.len()];
    let mut moved: Vec<(VarId, &Expr)> = vec![];
    walk::block(&function.body, &mut |node| {
        let Node::Stmt(s) = node else { return };
        match &s.kind {
            StmtKind::Decl { var, init: None } => unset[var.0 as usize] = true,
            StmtKind::Decl { var, init: Some(e) } => moved.push((*var, e)),
            StmtKind::Assign { place, value } => {
                moved.extend(place.root_var().map(|v| (v, value)));
            }
            _ => {}
        }
    });
    loop {
        let before = unset.clone();
        for (var, value) in &moved {
            unset[var.0 as usize] |= mentions(value, &before);
        }
        if unset == before {
            return unset;
        }
    }
}

/// Whether an expression reads one of some variables.
pub fn mentions(e: &Expr, vars: &[bool]) -> bool {
    let mut found = false;
    walk::expr(e, &mut |node| {
        if let Node::Place(p, _) = node {
            found |= p.root_var().and_then(|v| vars.get(v.0 as usize)).is_some_and(|v| *v);
        }
    });
    found
}

struct Scan<'a> {
    all: &'a AllFacts,
    module: &'a Module,
    memory: Vec<bool>,
    escapes: Vec<bool>,
    written: Vec<bool>,
    mentions: Vec<u32>,
    derefs: Vec<u32>,
    /// Arguments that bind to an aliasing parameter: they take no address. Nodes by their place in memory.
    bound: HashSet<*const Expr>,
}

impl Scan<'_> {
    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Stmt(s) => self.stmt(s),
            Node::Expr(e) => {
                if let ExprKind::AddressOf(p) = &*e.kind
                    && !self.bound.contains(&std::ptr::from_ref(e))
                {
                    self.set(p.root_var(), |s| &mut s.memory);
                    self.set(p.root_var(), |s| &mut s.escapes);
                    self.needs_pointer(p);
                }
            }
            Node::Place(p, written) => self.place(p, written),
        }
    }

    fn set(&mut self, var: Option<VarId>, list: fn(&mut Self) -> &mut Vec<bool>) {
        if let Some(slot) = var.and_then(|v| list(self).get_mut(v.0 as usize)) {
            *slot = true;
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::For(l) => self.set(Some(l.var), |s| &mut s.written),
            StmtKind::Atomic { result, .. }
            | StmtKind::Warp { result, .. }
            | StmtKind::Barrier { result, .. } => self.set(*result, |s| &mut s.written),
            StmtKind::Call { function, args, .. } => self.call(*function, args),
            _ => {}
        }
    }

    /// Notes the arguments that bind to aliasing parameters before the walker comes to them.
    fn call(&mut self, callee: FuncId, args: &[Expr]) {
        let Some(function) = self.module.functions.get(callee.0 as usize) else { return };
        let Some(facts) = self.all.get(callee) else { return };
        for (param, arg) in function.params.iter().zip(args) {
            if !facts.alias.get(param.0 as usize).copied().unwrap_or(false) {
                continue;
            }
            let arg = without_casts(arg);
            match &*arg.kind {
                ExprKind::Read(p) => {
                    // Handed on to a parameter that is only dereferenced.
                    if let PlaceKind::Var(v) = &*p.kind
                        && let Some(n) = self.derefs.get_mut(v.0 as usize)
                    {
                        *n += 1;
                    }
                }
                ExprKind::AddressOf(p) => {
                    self.bound.insert(std::ptr::from_ref(arg));
                    self.set(p.root_var(), |s| &mut s.written);
                }
                _ => {}
            }
        }
    }

    /// The index is a constant within the array.
    fn is_inside(&self, base: &Place, index: &Expr) -> bool {
        let Type::Array(_, length) = &base.ty else { return false };
        const_value(self.module, index)
            .and_then(|i| u64::try_from(i).ok())
            .is_some_and(|i| i < *length)
    }

    fn place(&mut self, p: &Place, written: bool) {
        match &*p.kind {
            PlaceKind::Var(v) => {
                if let Some(n) = self.mentions.get_mut(v.0 as usize) {
                    *n += 1;
                }
                if written {
                    self.set(Some(*v), |s| &mut s.written);
                }
            }
            PlaceKind::Deref(e) => {
                if let ExprKind::Read(inner) = &*without_casts(e).kind
                    && let PlaceKind::Var(v) = &*inner.kind
                    && let Some(n) = self.derefs.get_mut(v.0 as usize)
                {
                    *n += 1;
                }
            }
            PlaceKind::Index(base, index) if !self.is_inside(base, index) => {
                self.set(base.root_var(), |s| &mut s.memory);
                self.needs_pointer(base);
            }
            _ => {}
        }
    }

    /// A part of what a parameter points to is addressed at run time: a place in registers cannot stand for it.
    fn needs_pointer(&mut self, place: &Place) {
        if let Some(n) = pointer_behind(place).and_then(|v| self.mentions.get_mut(v.0 as usize)) {
            *n += 1;
        }
    }
}

/// The pointer variable that a place lies behind.
fn pointer_behind(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Deref(e) => match &*without_casts(e).kind {
            ExprKind::Read(inner) => match &*inner.kind {
                PlaceKind::Var(v) => Some(*v),
                _ => None,
            },
            _ => None,
        },
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) | PlaceKind::Index(p, _) => {
            pointer_behind(p)
        }
        _ => None,
    }
}

/// The pointer itself, where only its address space or qualifiers change on the way.
pub fn without_casts(mut e: &Expr) -> &Expr {
    while let ExprKind::Cast(inner) = &*e.kind {
        let plain = |t: &Type| match t {
            Type::Pointer { volatile: false, .. } => t.pointee().cloned(),
            _ => None,
        };
        match (plain(&e.ty), plain(&inner.ty)) {
            (Some(a), Some(b)) if a == b => e = inner,
            _ => break,
        }
    }
    e
}

/// The value of an expression of constants.
pub fn const_value(module: &Module, e: &Expr) -> Option<i64> {
    fn value(module: &Module, e: &Expr, depth: u32) -> Option<warpsmith_ir::Value> {
        if depth > 64 {
            return None;
        }
        let to = e.ty.scalar()?;
        match &*e.kind {
            ExprKind::Const(v) => Some(*v),
            ExprKind::Named(c) => module.constants.get(c.0 as usize).map(|c| c.value),
            ExprKind::Cast(a) => Some(eval::cast(value(module, a, depth + 1)?, to)),
            ExprKind::Unary(op, a) => Some(eval::unary(*op, value(module, a, depth + 1)?)),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (value(module, a, depth + 1)?, value(module, b, depth + 1)?);
                Some(eval::binary(*op, a, b))
            }
            _ => None,
        }
    }
    Some(value(module, e, 0)?.as_i64())
}
