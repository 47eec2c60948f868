//! Whole programs of the host: what is not understood in them is left out and named, not refused.
//!
//! A statement of the host that cannot be lowered becomes [`Runtime::Skipped`], with [`Runtime::Forget`] for what it would
//! have written. Errors in kernels and device functions stay errors.

use warpsmith_ir::{Expr, ExprKind as Kind, FunctionKind, Runtime, Span, StmtKind, Type};

use super::Sema;
use super::functions::is_auto;
use super::launching::launched;
use super::model::*;
use crate::ast::{self, ExprKind, TranslationUnit};

/// Where the function under construction stood before a statement.
pub(crate) struct Before {
    blocks: usize,
    stmts: usize,
    scope: ScopeId,
    loops: u32,
    switches: u32,
    functions: usize,
}

impl<'a> Sema<'a> {
    /// Whether the function under construction is host code of a program.
    pub(crate) fn tolerates(&mut self) -> bool {
        self.program && self.f().func.kind == FunctionKind::Host && !self.f().is_const_eval
    }

    pub(crate) fn before_statement(&mut self) -> Before {
        let functions = self.fns.len();
        let f = self.f();
        Before {
            blocks: f.blocks.len(),
            stmts: f.blocks.last().map_or(0, Vec::len),
            scope: f.scope,
            loops: f.loops,
            switches: f.switches,
            functions,
        }
    }

    /// As [`Sema::tolerates`], of the function that a statement belongs to.
    pub(crate) fn tolerates_at(&mut self, before: &Before) -> bool {
        while self.fns.len() > before.functions {
            self.pop_fn();
        }
        self.tolerates()
    }

    /// Puts in the place of a statement of the host what is known of it.
    pub(crate) fn leave_out(&mut self, s: &'a ast::Stmt, failure: Failure, before: &Before) {
        self.rewind(before);
        let what = match failure {
            Failure::New(d) => d.message,
            Failure::Reported => "it uses what was not understood before".into(),
        };
        let launches = self.launches(s);
        self.emit(StmtKind::Runtime(Runtime::Skipped { what, launches }), s.span);
        for target in written(s) {
            let target = self.arena.keep(target);
            self.forget(target);
        }
        match &s.kind {
            ast::StmtKind::Unsupported { .. } => self.forget_all_visible(s.span),
            _ => self.forget_given(s),
        }
        if let ast::StmtKind::Vars(vars) = &s.kind {
            self.declare_unknown(vars);
        }
    }

    /// Of a declaration that was left out, those variables that are understood are declared; other numbers have no value: an
    /// option may give it.
    fn declare_unknown(&mut self, vars: &'a ast::VarDecl) {
        if vars.attrs.is_static || vars.attrs.is_extern {
            return;
        }
        let scope = self.f_scope();
        for d in vars.declarators.iter().filter(|d| !d.name.is_empty()) {
            let before = self.before_statement();
            if self.local_var(vars, d).is_ok() {
                continue;
            }
            self.rewind(&before);
            self.declare(scope, &d.name, Entity::Poisoned);
            if let Ok(q) = self.resolve_type(scope, &d.ty)
                && !is_auto(&d.ty)
                && q.ty.scalar().is_some()
                && !q.is_reference()
                && self.finish_var(vars, d, q, None).is_err()
            {
                self.rewind(&before);
            }
        }
    }

    /// Text that is no statement we read may write through any pointer that is at hand.
    fn forget_all_visible(&mut self, span: Span) {
        let (function, mut places, mut at) = (self.f().serial, vec![], Some(self.f_scope()));
        while let Some(id) = at {
            let scope = self.scope(id);
            let mut names: Vec<_> = scope.names.iter().collect();
            names.sort_unstable_by_key(|(name, _)| *name);
            for entity in names.into_iter().flat_map(|(_, entities)| entities) {
                if let Entity::Place { owner, place, .. } = entity
                    && *owner == function
                {
                    places.push(place.clone());
                }
            }
            at = scope.parent;
        }
        for place in places {
            for pointer in self.pointers_in(Expr::read(place), 0) {
                self.emit(StmtKind::Runtime(Runtime::ForgetMemory { pointer }), span);
            }
        }
    }

    /// Back to where the function stood.
    pub(crate) fn rewind(&mut self, before: &Before) {
        let f = self.f();
        f.blocks.truncate(before.blocks);
        if let Some(block) = f.blocks.last_mut() {
            block.truncate(before.stmts);
        }
        f.scope = before.scope;
        f.loops = before.loops;
        f.switches = before.switches;
    }

    /// What a call or a launch gets by a pointer may have been written; and what is called for its arguments is called, as
    /// in `CHECK(cudaMalloc(…))` where `CHECK` is not known.
    fn forget_given(&mut self, s: &'a ast::Stmt) {
        match &s.kind {
            ast::StmtKind::Expr(e) if matches!(&*e.kind, ExprKind::Call { .. }) => {
                self.forget_args(e, true)
            }
            _ => self.forget_all_given(s),
        }
    }

    /// The arguments of a call that was left out; those that act themselves are evaluated, if they can be.
    fn forget_args(&mut self, e: &'a ast::Expr, evaluated: bool) {
        let (ExprKind::Call { args, .. } | ExprKind::Launch { args, .. }) = &*e.kind else {
            return;
        };
        for arg in args {
            let arg = unparenthesised(arg);
            let acts = matches!(&*arg.kind, ExprKind::Call { .. } | ExprKind::Assign { .. });
            if acts && !evaluated {
                continue;
            }
            let before = self.before_statement();
            match self.rvalue(arg) {
                Ok(_) if acts => {}
                Ok(value) if value.as_const().is_none() => {
                    let pointers = self.pointers_in(value, 0);
                    if pointers.is_empty() {
                        self.rewind(&before);
                    }
                    for pointer in pointers {
                        self.emit(StmtKind::Runtime(Runtime::ForgetMemory { pointer }), arg.span);
                    }
                }
                Ok(_) => self.rewind(&before),
                Err(_) => {
                    self.rewind(&before);
                    self.forget_args(arg, evaluated);
                }
            }
        }
    }

    /// A pointer, or those in an object: an iterator, a vector.
    fn pointers_in(&self, value: Expr, depth: u32) -> Vec<Expr> {
        match &value.ty {
            Type::Pointer { .. } => vec![value],
            Type::Struct(id) if depth < 4 => {
                let fields = self.module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
                let each = fields.iter().enumerate().flat_map(|(i, f)| {
                    let kind = Kind::Member(value.clone(), i as u32).into();
                    let part = Expr { kind, ty: f.ty.clone(), origin: value.origin.clone() };
                    self.pointers_in(part, depth + 1)
                });
                each.collect()
            }
            _ => vec![],
        }
    }

    /// The arguments of all calls and launches in a statement, of which nobody knows whether they are made.
    fn forget_all_given(&mut self, s: &'a ast::Stmt) {
        let mut given = vec![];
        super::walk::stmt(s, &mut |e| {
            if matches!(&*e.kind, ExprKind::Call { .. } | ExprKind::Launch { .. }) {
                given.push(e.clone());
            }
        });
        for e in given {
            let e = self.arena.keep(e);
            self.forget_args(e, false);
        }
    }

    /// The place an expression names holds nothing known any more; where it names none, the variable it begins with.
    fn forget(&mut self, target: &'a ast::Expr) {
        let before = self.before_statement();
        let place = match self.lvalue(target) {
            Ok((place, _)) => Some(place),
            Err(_) => {
                self.rewind(&before);
                root(target).and_then(|e| self.lvalue(e).ok()).map(|(place, _)| place)
            }
        };
        match place {
            Some(place) if !matches!(place.ty, Type::Void) => {
                self.emit(StmtKind::Runtime(Runtime::Forget { place }), target.span);
            }
            _ => self.rewind(&before),
        }
    }
}

pub(super) fn unparenthesised(e: &ast::Expr) -> &ast::Expr {
    match &*e.kind {
        ExprKind::Paren(inner) => unparenthesised(inner),
        _ => e,
    }
}

/// What a statement writes as far as its form says: assigned, counted, read from a stream, or given away by its address.
fn written(s: &ast::Stmt) -> Vec<ast::Expr> {
    let mut all: Vec<ast::Expr> = vec![];
    super::walk::stmt(s, &mut |e| match &*e.kind {
        ExprKind::Assign { target, .. } | ExprKind::AssignList { target, .. } => {
            match &*unparenthesised(target).kind {
                // `std::tie(a, b) = …`
                ExprKind::Call { args, .. } => {
                    all.extend(args.iter().filter(|a| is_name(a)).cloned())
                }
                _ => all.push(target.clone()),
            }
        }
        ExprKind::IncDec { operand, .. } => all.push(operand.clone()),
        ExprKind::Binary { op, right, .. } if op == ">>" && is_name(right) => {
            all.push(right.clone())
        }
        ExprKind::Call { callee, args } => {
            all.extend(args.iter().filter_map(given_away).cloned());
            all.extend(changed(callee).cloned());
        }
        _ => {}
    });
    all
}

/// The object whose method may change it: `v` of `v.push_back`.
fn changed(callee: &ast::Expr) -> Option<&ast::Expr> {
    const READING: &[&str] = &[
        "size",
        "length",
        "empty",
        "data",
        "c_str",
        "begin",
        "end",
        "cbegin",
        "cend",
        "at",
        "front",
        "back",
        "find",
        "count",
        "get",
        "substr",
        "str",
        "find_if",
        "capacity",
        "has_value",
        "value",
        "value_or",
    ];
    match &*callee.kind {
        ExprKind::Member { base, member, arrow: false, .. }
            if is_name(base) && !READING.contains(&member.name.as_str()) =>
        {
            Some(base)
        }
        _ => None,
    }
}

fn is_name(e: &ast::Expr) -> bool {
    matches!(&*e.kind, ExprKind::Path(_) | ExprKind::Member { .. } | ExprKind::Index { .. })
}

/// `x` of an argument `&x`.
fn given_away(e: &ast::Expr) -> Option<&ast::Expr> {
    match &*e.kind {
        ExprKind::Paren(inner) | ExprKind::Cast { operand: inner, .. } => given_away(inner),
        ExprKind::Unary { op, operand } if op == "&" => Some(operand),
        _ => None,
    }
}

/// The variable that a place is a part of.
fn root(e: &ast::Expr) -> Option<&ast::Expr> {
    match &*e.kind {
        ExprKind::Path(_) => Some(e),
        ExprKind::Paren(inner) => root(inner),
        ExprKind::Member { base, arrow: false, .. } => root(base),
        _ => None,
    }
}

/// A launch in host code as written.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchSite {
    /// The kernel, with template arguments where they are written.
    pub kernel: String,
    /// Where the launch stands.
    pub span: Span,
    /// The function it stands in.
    pub function: String,
}

/// The launches that host functions of a file hold, in order.
pub fn launches_of(unit: &TranslationUnit) -> Vec<LaunchSite> {
    let mut all = vec![];
    each_function(&unit.items, &mut |f| {
        let Some(body) = &f.body else { return };
        let function = match &f.name {
            ast::FunctionName::Plain(path) => super::types::path_text(path),
            _ => String::new(),
        };
        super::walk::block(body, &mut |e| {
            if let Some(callee) = launched(e) {
                let kernel = super::text::expr_text(callee);
                all.push(LaunchSite { kernel, span: e.span, function: function.clone() });
            }
        });
    });
    all
}

/// Whether host code of a file calls algorithms of thrust or CUB, which run what they are given on the device.
pub fn calls_device_algorithms(unit: &TranslationUnit) -> bool {
    let mut found = false;
    each_function(&unit.items, &mut |f| {
        let Some(body) = f.body.as_ref().filter(|_| !f.attrs.device && !f.attrs.global) else {
            return;
        };
        super::walk::block(body, &mut |e| {
            if let ExprKind::Call { callee, .. } = &*e.kind
                && let ExprKind::Path(path) = &*callee.kind
                && let [first, _, ..] = path.segments.as_slice()
            {
                found |= matches!(first.name.as_str(), "thrust" | "cub");
            }
        });
    });
    found
}

/// Whether a file defines a function of the host of that name.
pub fn has_host_function(unit: &TranslationUnit, name: &str) -> bool {
    let mut found = false;
    each_function(&unit.items, &mut |f| {
        found |= f.body.is_some()
            && !f.attrs.global
            && matches!(&f.name, ast::FunctionName::Plain(p) if p.as_name() == Some(name));
    });
    found
}

pub(crate) fn each_function(items: &[ast::Item], see: &mut dyn FnMut(&ast::FunctionDecl)) {
    for item in items {
        match &item.kind {
            ast::ItemKind::Function(f) => see(f),
            ast::ItemKind::Namespace { items, .. } | ast::ItemKind::File(items) => {
                each_function(items, see);
            }
            ast::ItemKind::Struct(s) => {
                for member in s.members.iter().flatten() {
                    if let ast::Member::Method(f) = member {
                        see(f);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Variables of the device that a file declares, in any namespace.
pub fn device_variables(unit: &TranslationUnit) -> Vec<String> {
    let mut all = vec![];
    variables(&unit.items, &|attrs| attrs.constant || attrs.device, &mut all);
    all
}

/// Variables of a file that host and device may write, in any namespace.
pub fn managed_variables(unit: &TranslationUnit) -> Vec<String> {
    let mut all = vec![];
    variables(&unit.items, &|attrs| attrs.managed, &mut all);
    all
}

fn variables(items: &[ast::Item], wanted: &dyn Fn(&ast::Attrs) -> bool, all: &mut Vec<String>) {
    for item in items {
        match &item.kind {
            ast::ItemKind::Vars(vars) if wanted(&vars.attrs) => {
                all.extend(vars.declarators.iter().map(|d| d.name.clone()));
            }
            ast::ItemKind::Namespace { items, .. } | ast::ItemKind::File(items) => {
                variables(items, wanted, all);
            }
            _ => {}
        }
    }
}

/// Variables of the device that host code of the file sets.
pub fn variables_set_by_host(unit: &TranslationUnit) -> Vec<String> {
    let mut all = vec![];
    each_function(&unit.items, &mut |f| {
        let Some(body) = &f.body else { return };
        super::walk::block(body, &mut |e| {
            if let ExprKind::Call { callee, args } = &*e.kind
                && let ExprKind::Path(name) = &*callee.kind
                && name.as_name().is_some_and(sets_a_variable)
                && let Some(first) = args.iter().find_map(variable)
            {
                all.push(first);
            }
        });
    });
    all
}

fn sets_a_variable(name: &str) -> bool {
    name.starts_with("cudaMemcpyToSymbol") || name == "cudaGetSymbolAddress"
}

/// The name that an expression begins with.
fn variable(e: &ast::Expr) -> Option<String> {
    match &*e.kind {
        ExprKind::Path(path) => path.segments.last().map(|s| s.name.clone()),
        ExprKind::Paren(inner) | ExprKind::Cast { operand: inner, .. } => variable(inner),
        ExprKind::Unary { operand, .. } => variable(operand),
        ExprKind::Member { base, .. } | ExprKind::Index { base, .. } => variable(base),
        _ => None,
    }
}
