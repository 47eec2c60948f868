//! Which statements of the host launch kernels, themselves or in what they call.
//!
//! Callees are followed by their names: what one function of that name launches, each of them may.

use std::collections::{HashMap, HashSet};

use super::Sema;
use super::model::*;
use crate::ast::{self, ExprKind, TypeKind};

impl<'a> Sema<'a> {
    /// Whether a statement launches something, as far as names and syntax tell.
    pub(crate) fn launches(&mut self, s: &ast::Stmt) -> bool {
        let mut uses = uses(|see| super::walk::stmt(s, see));
        if let ast::StmtKind::Vars(vars) = &s.kind {
            uses.names.extend(vars.declarators.iter().filter_map(|d| class_name(&d.ty)));
        }
        self.launch_of(&uses)
    }

    /// The same of what gives a variable its first value.
    pub(crate) fn launches_initially(&mut self, d: &ast::Declarator) -> bool {
        let mut uses = uses(|see| {
            d.init.iter().for_each(|init| super::walk::initializer(init, see));
        });
        uses.names.extend(class_name(&d.ty));
        self.launch_of(&uses)
    }

    fn launch_of(&mut self, uses: &Uses) -> bool {
        uses.launch || uses.names.iter().any(|n| self.launching.contains(n) || self.is_launcher(n))
    }

    /// Whether a name is that of a closure that launches something.
    fn is_launcher(&mut self, name: &str) -> bool {
        let scope = self.f_scope();
        self.lookup(scope, name).into_iter().any(|entity| {
            let (Entity::Place { place, .. } | Entity::Global { place, .. }) = entity else {
                return false;
            };
            let class = self.is_class(&place.ty);
            let lambda = class.and_then(|class| self.class(class).lambda);
            lambda.is_some_and(|l| {
                let uses = uses(|see| super::walk::block(&l.body, see));
                uses.launch || uses.names.iter().any(|n| self.launching.contains(n))
            })
        })
    }
}

/// What a piece of syntax launches and calls.
#[derive(Default)]
struct Uses {
    launch: bool,
    names: HashSet<String>,
}

fn uses(walk: impl FnOnce(&mut dyn FnMut(&ast::Expr))) -> Uses {
    let mut uses = Uses::default();
    walk(&mut |e| {
        uses.launch |= launched(e).is_some();
        uses.names.extend(called(e));
    });
    uses
}

/// The name of the function or class that an expression calls or makes.
fn called(e: &ast::Expr) -> Option<String> {
    match &*e.kind {
        ExprKind::Call { callee, .. } => match &*callee.kind {
            ExprKind::Path(path) => path.segments.last().map(|s| s.name.clone()),
            ExprKind::Member { member, .. } => Some(member.name.clone()),
            _ => None,
        },
        ExprKind::Construct { ty, .. } => class_name(ty),
        ExprKind::New(new) => class_name(&new.ty),
        _ => None,
    }
}

fn class_name(ty: &ast::TypeName) -> Option<String> {
    match &ty.kind {
        TypeKind::Named(path) => path.segments.last().map(|s| s.name.clone()),
        TypeKind::Array { element, .. } => class_name(element),
        _ => None,
    }
}

/// The functions of the host that launch something, themselves or in what they call; of constructors the classes.
pub(crate) fn launching_names(items: &[ast::Item]) -> HashSet<String> {
    let mut all = HashMap::<String, Uses>::new();
    collect(items, &mut all);
    let mut found: HashSet<String> =
        all.iter().filter(|(_, u)| u.launch).map(|(name, _)| name.clone()).collect();
    loop {
        let calls = |u: &Uses| u.names.iter().any(|n| found.contains(n));
        let more: Vec<String> = all
            .iter()
            .filter(|(name, u)| !found.contains(*name) && calls(u))
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn collect(items: &[ast::Item], all: &mut HashMap<String, Uses>) {
    for item in items {
        match &item.kind {
            ast::ItemKind::Function(f) => of_function(f, None, all),
            ast::ItemKind::Namespace { items, .. } | ast::ItemKind::File(items) => {
                collect(items, all);
            }
            ast::ItemKind::Struct(s) => of_class(s, all),
            _ => {}
        }
    }
}

fn of_class(class: &ast::StructDecl, all: &mut HashMap<String, Uses>) {
    for member in class.members.iter().flatten() {
        match member {
            ast::Member::Method(f) => of_function(f, class.name.as_deref(), all),
            ast::Member::Struct(inner) => of_class(inner, all),
            _ => {}
        }
    }
}

fn of_function(f: &ast::FunctionDecl, class: Option<&str>, all: &mut HashMap<String, Uses>) {
    let Some(body) = f.body.as_ref().filter(|_| !f.attrs.global) else { return };
    let name = match &f.name {
        ast::FunctionName::Plain(path) => path.segments.last().map(|s| s.name.clone()),
        ast::FunctionName::Constructor => class.map(str::to_string),
        _ => None,
    };
    let Some(name) = name else { return };
    let of_it = uses(|see| {
        super::walk::block(body, see);
        f.inits.iter().flat_map(|(_, args, _)| args).for_each(|e| super::walk::expr(e, see));
    });
    let known = all.entry(name).or_default();
    known.launch |= of_it.launch;
    known.names.extend(of_it.names);
}

/// The kernel that an expression launches, if it is a launch.
pub(crate) fn launched(e: &ast::Expr) -> Option<&ast::Expr> {
    match &*e.kind {
        ExprKind::Launch { callee, .. } => Some(callee),
        ExprKind::Call { callee, args } => match &*callee.kind {
            ExprKind::Path(path) if path.as_name().is_some_and(launches_by_address) => {
                args.first().map(addressed)
            }
            _ => None,
        },
        _ => None,
    }
}

fn launches_by_address(name: &str) -> bool {
    let others = ["cudaLaunchKernelEx", "cudaGraphAddKernelNode"];
    super::launch_calls::LAUNCHERS.contains(&name) || others.contains(&name)
}

/// What an expression is the address of, without conversions.
fn addressed(e: &ast::Expr) -> &ast::Expr {
    match &*e.kind {
        ExprKind::Paren(inner) | ExprKind::Cast { operand: inner, .. } => addressed(inner),
        ExprKind::Unary { op, operand } if op == "&" => addressed(operand),
        _ => e,
    }
}
