//! What values that a kernel reads from memory decide: which variables come from them, and which expressions.

use std::collections::HashSet;

use warpsmith_front::ast::{
    self, ExprKind, Initializer, ItemKind, StmtKind, TranslationUnit, TypeKind,
};
use warpsmith_front::sema::walk;

use super::scope;
use super::ties;

/// The variables of a function by where their values come from.
pub(super) struct ByData<'a> {
    references: ties::References<'a>,
    /// Variables that data decide on.
    names: HashSet<String>,
    /// What points to data, or holds them: pointers and shared arrays.
    memory: HashSet<String>,
    /// Parameters: what a member of one points to is no part of it.
    params: HashSet<String>,
    /// Shared arrays.
    shared: HashSet<String>,
    /// All that the function declares.
    own: HashSet<String>,
    /// Arrays of the function and tables of the file, whose elements the text gives.
    tables: HashSet<String>,
    /// A byte of the main file: in a loop around it, data that may end the loop say nothing of what its counters are.
    at: Option<usize>,
}

impl<'a> ByData<'a> {
    pub fn of(unit: &'a TranslationUnit, function: &ast::FunctionDecl, body: &ast::Block) -> Self {
        Self::seen_from(None, (unit, function, body))
    }

    /// The same where a byte of the main file is.
    pub fn seen_from(
        at: Option<usize>,
        (unit, function, body): (&'a TranslationUnit, &ast::FunctionDecl, &ast::Block),
    ) -> Self {
        let mut found = ByData {
            at,
            references: ties::by_reference(unit),
            names: HashSet::new(),
            memory: HashSet::new(),
            params: HashSet::new(),
            shared: HashSet::new(),
            own: HashSet::new(),
            tables: HashSet::new(),
        };
        found.tables_of(&unit.items);
        for p in &function.params {
            let points = matches!(p.ty.kind, TypeKind::Pointer { .. } | TypeKind::Array { .. });
            found.memory.extend(p.name.clone().filter(|_| points));
            found.own.extend(p.name.clone());
            found.params.extend(p.name.clone());
        }
        scope::each_vars(&body.stmts, &mut |vars| {
            for d in &vars.declarators {
                let points =
                    matches!(d.ty.kind, TypeKind::Pointer { .. } | TypeKind::Reference { .. });
                if points || vars.attrs.shared {
                    found.memory.insert(d.name.clone());
                } else if matches!(d.ty.kind, TypeKind::Array { .. }) {
                    found.tables.insert(d.name.clone());
                }
                found.shared.extend(Some(d.name.clone()).filter(|_| vars.attrs.shared));
                found.own.insert(d.name.clone());
            }
        });
        // A variable may come from one that is set further down in a loop.
        loop {
            let known = found.names.len();
            found.list(&body.stmts, false);
            if found.names.len() == known {
                return found;
            }
        }
    }

    fn tables_of(&mut self, items: &[ast::Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Vars(vars) => {
                    let set = vars.declarators.iter().filter(|d| d.init.is_some());
                    self.tables.extend(set.map(|d| d.name.clone()));
                }
                ItemKind::Namespace { items, .. } => self.tables_of(items),
                _ => {}
            }
        }
    }

    /// Whether values of memory decide what an expression is.
    pub fn decide(&self, e: &ast::Expr) -> bool {
        let mut found = false;
        walk::expr(e, &mut |e| {
            found |= match &*e.kind {
                ExprKind::Path(path) => path.as_name().is_some_and(|n| self.names.contains(n)),
                ExprKind::Index { base, .. } => {
                    let root = ties::variable(base);
                    let root =
                        root.or_else(|| ties::whole_variable(base).filter(|_| is_element(base)));
                    root.is_none_or(|n| !self.tables.contains(n))
                }
                ExprKind::Unary { op, .. } => op == "*",
                ExprKind::Call { callee, args } => {
                    self.called(callee) || args.iter().any(|a| self.is_memory(a))
                }
                _ => false,
            };
        });
        found
    }

    /// Shared arrays that data decide on what is written to: whether anything is, or which of several values.
    pub fn filled(&self, body: &ast::Block) -> HashSet<String> {
        let mut found = HashSet::new();
        self.fills(&body.stmts, false, &mut found);
        found
    }

    fn fills(&self, stmts: &[ast::Stmt], under: bool, found: &mut HashSet<String>) {
        let mut under = under;
        for s in stmts {
            let (inner, decided): (Vec<&ast::Stmt>, bool) = match &s.kind {
                StmtKind::Block(b) => {
                    self.fills(&b.stmts, under, found);
                    (vec![], false)
                }
                StmtKind::If { cond, then, otherwise, .. } => {
                    self.stores(cond, under, found);
                    (
                        std::iter::once(then.as_ref()).chain(otherwise.as_deref()).collect(),
                        self.decide(cond),
                    )
                }
                StmtKind::For { cond, body, .. } => {
                    (vec![body.as_ref()], cond.iter().any(|c| self.decide(c)))
                }
                StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                    (vec![body.as_ref()], self.decide(cond))
                }
                StmtKind::Switch { selector, body } => (vec![body.as_ref()], self.decide(selector)),
                StmtKind::RangeFor { range, body, .. } => (vec![body.as_ref()], self.decide(range)),
                _ => {
                    walk::stmt(s, &mut |e| self.stores(e, under, found));
                    (vec![], false)
                }
            };
            for s in &inner {
                self.fills(std::slice::from_ref(*s), under || decided, found);
            }
            // Threads may be gone.
            under |= decided && inner.iter().any(|s| may_leave(s));
        }
    }

    /// Notes the shared array that an expression writes to, itself alone.
    fn stores(&self, e: &ast::Expr, under: bool, found: &mut HashSet<String>) {
        let (target, value) = match &*e.kind {
            ExprKind::Assign { target, value, .. } => (target, Some(value)),
            ExprKind::IncDec { operand, .. } => (operand, None),
            _ => return,
        };
        let mut chosen = under;
        value.iter().for_each(|v| {
            walk::expr(v, &mut |e| {
                chosen |=
                    matches!(&*e.kind, ExprKind::Conditional { cond, .. } if self.decide(cond));
            });
        });
        if let ExprKind::Index { index, .. } = &*scope::plain(target).kind {
            chosen |= self.decide(index);
        }
        let name = ties::whole_variable(target).filter(|n| chosen && self.shared.contains(*n));
        found.extend(name.map(str::to_string));
    }

    /// Whether a function gives what is in memory: a texture, or an object of the kernel.
    fn called(&self, callee: &ast::Expr) -> bool {
        let texture = |n: &str| n.starts_with("tex") || n.starts_with("surf");
        match &*scope::plain(callee).kind {
            ExprKind::Path(path) => {
                let own = path.as_name().is_some_and(|n| self.own.contains(n));
                own || path.segments.last().is_some_and(|s| texture(&s.name))
            }
            ExprKind::Member { base, .. } => {
                ties::whole_variable(base).is_none_or(|n| self.own.contains(n))
            }
            _ => true,
        }
    }

    fn is_memory(&self, e: &ast::Expr) -> bool {
        let mut found = false;
        walk::expr(e, &mut |e| {
            found |= ties::variable(e).is_some_and(|n| self.memory.contains(n));
        });
        found
    }

    fn list(&mut self, stmts: &[ast::Stmt], under: bool) {
        stmts.iter().for_each(|s| self.stmt(s, under));
    }

    /// Takes variables that a statement sets among those that data decide on; `under` a condition that they decide on all.
    fn stmt(&mut self, s: &ast::Stmt, under: bool) {
        match &s.kind {
            StmtKind::Block(b) => self.list(&b.stmts, under),
            StmtKind::If { init, cond, then, otherwise, .. } => {
                init.iter().for_each(|s| self.stmt(s, under));
                self.expr(cond, under);
                let under = under || self.decide(cond);
                self.stmt(then, under);
                otherwise.iter().for_each(|s| self.stmt(s, under));
            }
            StmtKind::For { init, cond, step, body } => {
                init.iter().for_each(|s| self.stmt(s, under));
                let under = under || cond.iter().any(|c| self.ends(s, c));
                step.iter().for_each(|e| self.expr(e, under));
                self.stmt(body, under);
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.expr(cond, under);
                let under = under || self.ends(s, cond);
                self.stmt(body, under);
            }
            StmtKind::Switch { selector, body } => {
                let under = under || self.decide(selector);
                self.stmt(body, under);
            }
            StmtKind::RangeFor { decl, range, body } => {
                let under = under || self.decide(range);
                self.vars(decl, under);
                self.stmt(body, under);
            }
            StmtKind::Vars(vars) => self.vars(vars, under),
            StmtKind::Expr(e) => self.expr(e, under),
            _ => {}
        }
    }

    /// Whether data decide how often a loop has run where variables are looked at.
    fn ends(&self, s: &ast::Stmt, cond: &ast::Expr) -> bool {
        let span = s.span.start as usize..s.span.end as usize;
        let inside = s.span.file.0 == 0 && self.at.is_some_and(|at| span.contains(&at));
        !inside && self.decide(cond)
    }

    fn vars(&mut self, vars: &ast::VarDecl, under: bool) {
        for d in &vars.declarators {
            let mut decided = under && d.init.is_none();
            let mut see = |e: &ast::Expr| decided |= self.decide(e);
            each_value(d.init.as_ref(), &mut see);
            if decided {
                self.names.insert(d.name.clone());
                self.names.extend(d.parts.iter().cloned());
            }
            let mut inside = vec![];
            each_value(d.init.as_ref(), &mut |e| inside.push(e.clone()));
            inside.iter().for_each(|e| self.expr(e, under));
        }
    }

    /// The same of what an expression sets.
    fn expr(&mut self, e: &ast::Expr, under: bool) {
        let mut set: Vec<String> = vec![];
        walk::expr(e, &mut |e| {
            let (targets, decided): (Vec<&ast::Expr>, bool) = match &*e.kind {
                ExprKind::Assign { target, value, .. } => {
                    (vec![target], under || self.decide(value))
                }
                ExprKind::IncDec { operand, .. } => (vec![operand], under),
                ExprKind::Call { callee, args } => {
                    let local = |n: &str| self.own.contains(n);
                    let written = ties::written_by_call(callee, args, &self.references, local);
                    let passed = args.iter().filter_map(|a| match &*scope::plain(a).kind {
                        ExprKind::Unary { op, operand } if op == "&" => Some(operand),
                        _ => None,
                    });
                    (written.into_iter().chain(passed).collect(), under || self.decide(e))
                }
                _ => return,
            };
            let pointed_to = |t: &&ast::Expr| {
                is_element(t) && ties::whole_variable(t).is_some_and(|n| self.params.contains(n))
            };
            let targets = targets.into_iter().filter(|t| decided && !pointed_to(t));
            set.extend(targets.filter_map(ties::whole_variable).map(str::to_string));
        });
        // What is in memory is data anyway.
        self.names.extend(set.into_iter().filter(|n| !self.memory.contains(n)));
    }
}

/// Whether some statement inside leaves a loop or the function.
fn may_leave(s: &ast::Stmt) -> bool {
    let mut found = false;
    scope::each_stmt(std::slice::from_ref(s), &mut |s| {
        found |= matches!(
            s.kind,
            StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_)
        );
    });
    found
}

/// Whether something is an element or member of a variable, in contrast to what a member of it points to.
fn is_element(e: &ast::Expr) -> bool {
    matches!(&*scope::plain(e).kind, ExprKind::Index { .. })
}

fn each_value(init: Option<&Initializer>, see: &mut dyn FnMut(&ast::Expr)) {
    match init {
        Some(Initializer::Expr(e)) => see(e),
        Some(Initializer::List(items, _)) => {
            items.iter().for_each(|i| each_value(Some(&i.value), see));
        }
        Some(Initializer::Call(args, _)) => args.iter().for_each(see),
        None => {}
    }
}
