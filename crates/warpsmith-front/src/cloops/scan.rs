//! What a piece of the syntax tree may change: asked before a loop limit is taken as fixed.

use std::collections::{HashMap, HashSet};

use crate::ast::{Block, Expr, ExprKind, InitItem, Initializer, Stmt, StmtKind, VarDecl};

/// Names a piece of code may write. Shadowed names are not told apart, which only errs to the careful side.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Variables assigned, incremented, or whose address is taken.
    pub assigned: HashSet<String>,
    /// Names of arrays or pointers through which memory is written.
    pub stored: HashSet<String>,
    /// Memory is written through something that has no name.
    pub stores_anywhere: bool,
    /// Local pointers and the name they point into.
    pub aliases: HashMap<String, String>,
    pub has_continue: bool,
}

/// Effects of statements.
pub fn effects_of<'a>(stmts: impl IntoIterator<Item = &'a Stmt>) -> Effects {
    let mut e = Effects::default();
    for stmt in stmts {
        e.stmt(stmt);
    }
    e.resolve_aliases();
    e
}

/// Effects of statements and of expressions.
pub fn effects_of_all<'a>(stmts: impl IntoIterator<Item = &'a Stmt>, exprs: &[&Expr]) -> Effects {
    let mut e = Effects::default();
    stmts.into_iter().for_each(|s| e.stmt(s));
    exprs.iter().for_each(|x| e.expr(x));
    e.resolve_aliases();
    e
}

/// May the body of a loop end it, or the function?
pub fn leaves(body: &Stmt) -> bool {
    fn within(stmt: &Stmt, breaks: bool) -> bool {
        match &stmt.kind {
            StmtKind::Break => breaks,
            StmtKind::Return(_) | StmtKind::Goto(_) => true,
            StmtKind::Block(b) => b.stmts.iter().any(|s| within(s, breaks)),
            StmtKind::If { then, otherwise, .. } => {
                within(then, breaks) || otherwise.iter().any(|s| within(s, breaks))
            }
            StmtKind::For { body, .. }
            | StmtKind::RangeFor { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::Switch { body, .. } => within(body, false),
            _ => false,
        }
    }
    within(body, true)
}

/// Variables an expression reads, and the arrays it reads elements of.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    pub variables: HashSet<String>,
    pub memory: HashSet<String>,
    /// Calls a function, or reads memory through something without a name.
    pub opaque: bool,
}

pub fn reads_of(expr: &Expr) -> Reads {
    let mut r = Reads::default();
    r.expr(expr);
    r
}

/// Variables of which the statements may change a part, or the whole.
pub fn fields_written(stmts: &[Stmt]) -> HashSet<String> {
    let mut written = HashSet::new();
    let mut note = |e: &Expr| written.extend(root_name(e).map(str::to_string));
    fn walk(e: &Expr, note: &mut dyn FnMut(&Expr)) {
        match &*e.kind {
            ExprKind::Assign { target, .. } | ExprKind::AssignList { target, .. } => note(target),
            ExprKind::IncDec { operand, .. } => note(operand),
            ExprKind::Unary { op, operand } if op == "&" => note(operand),
            // An array of it that is handed to a function.
            ExprKind::Call { args, .. } => {
                let parts = args.iter().filter(|a| matches!(&*a.kind, ExprKind::Member { .. }));
                parts.for_each(&mut *note);
            }
            ExprKind::Unsupported { .. } => {}
            _ => {}
        }
        for_each_child(e, &mut |child| walk(child, note));
    }
    stmts.iter().for_each(|s| for_each_expr(s, &mut |e| walk(e, &mut note)));
    written
}

impl Effects {
    /// May executing this change the value of an expression with these reads?
    pub fn disturb(&self, reads: &Reads) -> bool {
        let memory = !reads.memory.is_empty();
        reads.variables.iter().any(|v| self.assigned.contains(v))
            || reads.memory.iter().any(|m| self.stored.contains(m))
            || (memory && self.stores_anywhere)
            || reads.opaque
    }

    fn resolve_aliases(&mut self) {
        for (alias, root) in &self.aliases {
            if self.stored.contains(alias) {
                let mut at = root;
                // Bounded: a pointer could be declared from one of the same name in another scope.
                for _ in 0..self.aliases.len() {
                    self.stored.insert(at.clone());
                    let Some(next) = self.aliases.get(at) else { break };
                    at = next;
                }
                self.stored.insert(at.clone());
            }
        }
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(e) | StmtKind::Case(e) => self.expr(e),
            StmtKind::Vars(decl) => self.vars(decl),
            StmtKind::Block(b) => self.block(b),
            StmtKind::If { init, cond, then, otherwise, .. } => {
                init.iter().for_each(|s| self.stmt(s));
                self.expr(cond);
                self.stmt(then);
                otherwise.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::For { init, cond, step, body } => {
                init.iter().for_each(|s| self.stmt(s));
                cond.iter().chain(step).for_each(|e| self.expr(e));
                self.stmt(body);
            }
            StmtKind::RangeFor { decl, range, body } => {
                self.vars(decl);
                self.expr(range);
                self.stmt(body);
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.expr(cond);
                self.stmt(body);
            }
            StmtKind::Switch { selector, body } => {
                self.expr(selector);
                self.stmt(body);
            }
            StmtKind::Return(Some(init)) => self.initializer(init),
            StmtKind::Continue => self.has_continue = true,
            _ => {}
        }
    }

    fn vars(&mut self, decl: &VarDecl) {
        for d in &decl.declarators {
            if let Some(init) = &d.init {
                self.initializer(init);
                if let Initializer::Expr(e) = init
                    && let Some(root) = root_name(e)
                {
                    self.aliases.insert(d.name.clone(), root.to_string());
                }
            }
        }
    }

    fn initializer(&mut self, init: &Initializer) {
        match init {
            Initializer::Expr(e) => self.expr(e),
            Initializer::List(items, _) => items.iter().for_each(|i| self.initializer(&i.value)),
            Initializer::Call(args, _) => args.iter().for_each(|e| self.expr(e)),
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Assign { op, target, value } => {
                self.write(target);
                // A pointer that gets its value after its declaration.
                if let (ExprKind::Path(path), Some(root)) = (&*target.kind, root_name(value))
                    && let Some(name) = path.as_name().filter(|n| op == "=" && *n != root)
                {
                    self.aliases.entry(name.to_string()).or_insert(root.to_string());
                }
            }
            ExprKind::AssignList { target, .. } => self.write(target),
            ExprKind::IncDec { operand, .. } => self.write(operand),
            ExprKind::Unary { op, operand } if op == "&" => self.write(operand),
            ExprKind::Call { args, .. } => {
                // An array handed to a function may be written there.
                for name in args.iter().filter_map(root_name) {
                    self.stored.insert(name.to_string());
                }
            }
            ExprKind::Unsupported { .. }
            | ExprKind::Lambda(_)
            | ExprKind::New(..)
            | ExprKind::Delete { .. } => self.stores_anywhere = true,
            _ => {}
        }
        for_each_child(e, &mut |child| self.expr(child));
    }

    fn write(&mut self, target: &Expr) {
        match &*target.kind {
            ExprKind::Paren(inner) => self.write(inner),
            ExprKind::Path(path) => {
                self.assigned.extend(path.as_name().map(str::to_string));
            }
            _ => match root_name(target) {
                Some(name) => {
                    self.stored.insert(name.to_string());
                }
                None => self.stores_anywhere = true,
            },
        }
    }
}

impl Reads {
    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Path(path) => {
                self.variables.extend(path.as_name().map(str::to_string));
            }
            ExprKind::Index { .. } | ExprKind::Member { .. } => self.memory_read(e),
            ExprKind::Unary { op, .. } if op == "*" => self.memory_read(e),
            ExprKind::Call { callee, args } => {
                let pure = matches!(&*callee.kind, ExprKind::Path(p)
                    if p.as_name().is_some_and(|n| crate::builtins::c_math::lookup(n).is_some()));
                self.opaque |= !pure;
                args.iter().for_each(|a| self.expr(a));
                return;
            }
            ExprKind::Assign { .. } | ExprKind::AssignList { .. } | ExprKind::IncDec { .. } => {
                self.opaque = true
            }
            ExprKind::Unsupported { .. }
            | ExprKind::Lambda(_)
            | ExprKind::New(..)
            | ExprKind::Delete { .. }
            | ExprKind::This => self.opaque = true,
            _ => {}
        }
        for_each_child(e, &mut |child| self.expr(child));
    }

    fn memory_read(&mut self, e: &Expr) {
        match root_name(e) {
            Some(name) => {
                self.memory.insert(name.to_string());
            }
            None => self.opaque = true,
        }
    }
}

/// The variable whose memory `e` designates or points into: `A` for `A[i][j]`, `*A`, `&A[i]`, `A + i`.
pub fn root_name(e: &Expr) -> Option<&str> {
    match &*e.kind {
        ExprKind::Path(path) => path.as_name(),
        ExprKind::Paren(inner) => root_name(inner),
        ExprKind::Index { base, .. } | ExprKind::Member { base, .. } => root_name(base),
        ExprKind::Unary { op, operand } if op == "*" || op == "&" => root_name(operand),
        ExprKind::Cast { operand, .. } => root_name(operand),
        ExprKind::IncDec { operand, .. } => root_name(operand),
        ExprKind::Binary { op, left, right } if op == "+" || op == "-" => {
            // Which side is the pointer is not known without types: an element or a call can only be the offset.
            match &*right.kind {
                ExprKind::Path(_) if matches!(&*left.kind, ExprKind::Number(_)) => root_name(right),
                _ => root_name(left),
            }
        }
        _ => None,
    }
}

/// `0`, `NULL`, `(void *)0`.
pub fn is_null(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Paren(inner) => is_null(inner),
        ExprKind::Cast { operand, .. } => is_null(operand),
        ExprKind::NullPtr => true,
        ExprKind::Number(text) => text == "0",
        ExprKind::Path(path) => path.as_name() == Some("NULL"),
        _ => false,
    }
}

/// Calls `f` with every direct operand.
pub fn for_each_child(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    match &*e.kind {
        ExprKind::Paren(a)
        | ExprKind::Unary { operand: a, .. }
        | ExprKind::IncDec { operand: a, .. }
        | ExprKind::Member { base: a, .. }
        | ExprKind::Cast { operand: a, .. }
        | ExprKind::SizeofExpr(a)
        | ExprKind::PackLength(a)
        | ExprKind::PackExpansion(a)
        | ExprKind::Fold { operand: a, .. } => f(a),
        ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Assign { target: a, value: b, .. }
        | ExprKind::Comma(a, b)
        | ExprKind::Index { base: a, index: b } => {
            f(a);
            f(b);
        }
        ExprKind::Conditional { cond, then, otherwise } => {
            f(cond);
            f(then);
            f(otherwise);
        }
        ExprKind::Call { callee, args } => {
            f(callee);
            args.iter().for_each(f);
        }
        ExprKind::Launch { callee, config, args } => {
            f(callee);
            config.iter().chain(args).for_each(f);
        }
        ExprKind::AssignList { target, items } => {
            f(target);
            for_each_item(items, f);
        }
        ExprKind::CompoundLiteral { items, .. } | ExprKind::InitList(items) => {
            for_each_item(items, f);
        }
        ExprKind::Construct { args, .. } => args.iter().for_each(|a| init_exprs(a, f)),
        _ => {}
    }
}

/// Calls `f` with every expression of a list in braces.
pub fn for_each_item(items: &[InitItem], f: &mut dyn FnMut(&Expr)) {
    items.iter().for_each(|i| init_exprs(&i.value, f));
}

fn init_exprs(init: &Initializer, f: &mut dyn FnMut(&Expr)) {
    match init {
        Initializer::Expr(e) => f(e),
        Initializer::List(items, _) => for_each_item(items, f),
        Initializer::Call(args, _) => args.iter().for_each(f),
    }
}

/// Calls `f` with every expression of a statement, outermost first, nested statements included.
pub fn for_each_expr(stmt: &Stmt, f: &mut dyn FnMut(&Expr)) {
    match &stmt.kind {
        StmtKind::Expr(e) | StmtKind::Case(e) => f(e),
        StmtKind::Vars(decl) => {
            decl.declarators.iter().filter_map(|d| d.init.as_ref()).for_each(|i| init_exprs(i, f))
        }
        StmtKind::Block(b) => b.stmts.iter().for_each(|s| for_each_expr(s, f)),
        StmtKind::If { init, cond, then, otherwise, .. } => {
            init.iter().for_each(|s| for_each_expr(s, f));
            f(cond);
            for_each_expr(then, f);
            otherwise.iter().for_each(|s| for_each_expr(s, f));
        }
        StmtKind::For { init, cond, step, body } => {
            init.iter().for_each(|s| for_each_expr(s, f));
            cond.iter().chain(step).for_each(&mut *f);
            for_each_expr(body, f);
        }
        StmtKind::RangeFor { range, body, .. } => {
            f(range);
            for_each_expr(body, f);
        }
        StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
            f(cond);
            for_each_expr(body, f);
        }
        StmtKind::Switch { selector, body } => {
            f(selector);
            for_each_expr(body, f);
        }
        StmtKind::Return(Some(init)) => init_exprs(init, f),
        _ => {}
    }
}

/// Calls `f` with every name of an expression.
pub fn for_each_name(e: &Expr, f: &mut dyn FnMut(&str)) {
    if let ExprKind::Path(path) = &*e.kind
        && let Some(name) = path.as_name()
    {
        f(name);
    }
    for_each_child(e, &mut |c| for_each_name(c, f));
}

/// Calls `f` with every variable that a statement declares, nested statements included.
pub fn for_each_declared(stmt: &Stmt, f: &mut dyn FnMut(&str)) {
    match &stmt.kind {
        StmtKind::Vars(decl) => decl.declarators.iter().for_each(|d| f(&d.name)),
        StmtKind::Block(b) => b.stmts.iter().for_each(|s| for_each_declared(s, f)),
        StmtKind::If { then, otherwise, .. } => {
            for_each_declared(then, f);
            otherwise.iter().for_each(|s| for_each_declared(s, f));
        }
        StmtKind::For { init, body, .. } => {
            init.iter().for_each(|s| for_each_declared(s, f));
            for_each_declared(body, f);
        }
        StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::Switch { body, .. } => for_each_declared(body, f),
        _ => {}
    }
}

/// The names of the functions a statement calls.
pub fn called_names(stmt: &Stmt, into: &mut Vec<(String, warpsmith_ir::Span)>) {
    fn walk(e: &Expr, into: &mut Vec<(String, warpsmith_ir::Span)>) {
        if let ExprKind::Call { callee, .. } = &*e.kind
            && let ExprKind::Path(path) = &*callee.kind
            && let Some(name) = path.as_name()
        {
            into.push((name.to_string(), e.span));
        }
        for_each_child(e, &mut |c| walk(c, into));
    }
    for_each_expr(stmt, &mut |e| walk(e, into));
}
