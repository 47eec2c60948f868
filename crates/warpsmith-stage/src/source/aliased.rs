//! Parameters that host code passes one array for. Whoever stages a kernel assumes that pointers do not overlap; where the file says that
//! they do, launches have to as well.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use warpsmith_front::ast::{self, ExprKind, TranslationUnit, TypeKind};
use warpsmith_front::sema::{Libraries, walk};
use warpsmith_ir::SourceMap;

use super::blocks::{self, Blocks};
use super::{host_run, hosts, scope, shape, ties};

/// What pairs of parameters, the first one before the other, have in common in some launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// For each launch with some: those that one pointer is passed for.
    pub same: Vec<Vec<[String; 2]>>,
    /// Those that pointers into one array are passed for, of which nothing says whether they lie apart.
    pub parts: Vec<[String; 2]>,
}

/// The array that a pointer leads into, and whether it is that of its first element.
type Root = (String, bool);

/// Roots of the parameters of a function, for one of its callers.
type Passed = HashMap<String, Root>;

/// Calls of calls that are followed.
const MAX_NESTED: u32 = 4;

/// What launches pass and the blocks they have, by the name of the kernel: host code is looked at once for all plans.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Rc<RefCell<HashMap<String, OfHost>>>);

/// What host code says of a kernel.
pub(crate) type OfHost = (Shared, Blocks);

impl Hosts {
    /// What is known of a kernel, or what is found out about it now.
    pub(crate) fn of(&self, kernel: &str, find: impl FnOnce() -> OfHost) -> OfHost {
        let known = self.0.borrow().get(kernel).cloned();
        known.unwrap_or_else(|| {
            let found = find();
            self.0.borrow_mut().insert(kernel.to_string(), found.clone());
            found
        })
    }
}

/// What the text of a file says, and what its program does when it is run.
pub fn of_file(
    unit: &TranslationUnit,
    kernel: &str,
    sources: &SourceMap,
    libraries: &Libraries<'_>,
) -> OfHost {
    let mut shared = of_host(unit, kernel, sources);
    let run = host_run::launches(unit, libraries, kernel);
    for passed in &run.pointers {
        shared.add(passed, |(a, at), (b, other)| (a == b).then_some(at == other));
    }
    (shared, blocks::of_file(unit, kernel, sources, libraries, &run.blocks))
}

impl Shared {
    /// Takes up a launch; `common`: whether two places are one, where they are in one array.
    fn add<P>(&mut self, passed: &[(String, P)], common: impl Fn(&P, &P) -> Option<bool>) {
        let mut same = vec![];
        for (n, (own, place)) in passed.iter().enumerate() {
            for (first, other) in &passed[..n] {
                let pair = [first.clone(), own.clone()];
                match common(other, place) {
                    Some(true) => same.push(pair),
                    Some(false) if !self.parts.contains(&pair) => self.parts.push(pair),
                    _ => {}
                }
            }
        }
        if !same.is_empty() && !self.same.contains(&same) {
            self.same.push(same);
        }
    }

    /// Pairs of which one is the array that is stored to.
    pub fn of(&self, stored: impl Fn(&str) -> bool) -> impl Iterator<Item = &[String; 2]> {
        let pairs = self.same.iter().flatten().chain(&self.parts);
        pairs.filter(move |[a, b]| stored(a) || stored(b))
    }
}

/// What the launches of a kernel in host code pass for its pointers.
fn of_host(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Shared {
    let base = shape::base_name(kernel);
    let mut shared = Shared::default();
    let Some(function) = scope::kernel(unit, base) else { return shared };
    for host in hosts::functions(&unit.items) {
        let Some(body) = &host.body else { continue };
        let mut launches = vec![];
        walk::block(body, &mut |e| {
            if let ExprKind::Launch { callee, args, .. } = &*e.kind
                && shape::base_name(sources.text(callee.span)) == base
            {
                launches.push(args.clone());
            }
        });
        if launches.is_empty() {
            continue;
        }
        for passed in called(unit, host, 0) {
            let host = Host::new(host, body, passed);
            launches.iter().for_each(|args| host.launch(function, args, &mut shared));
        }
    }
    shared
}

/// What each call of a function passes for its pointers; nothing is known of one that nobody calls.
fn called(unit: &TranslationUnit, function: &ast::FunctionDecl, depth: u32) -> Vec<Passed> {
    let name = hosts::name_of(function);
    let mut all = vec![];
    for caller in hosts::functions(&unit.items).into_iter().filter(|_| depth < MAX_NESTED) {
        let Some(body) = caller
            .body
            .as_ref()
            .filter(|b| function.body.as_ref().is_none_or(|own| own.span != b.span))
        else {
            continue;
        };
        let mut calls = vec![];
        walk::block(body, &mut |e| {
            if let ExprKind::Call { callee, args } = &*e.kind
                && ties::variable(callee) == Some(name)
            {
                calls.push(args.clone());
            }
        });
        if calls.is_empty() {
            continue;
        }
        for passed in called(unit, caller, depth + 1) {
            let host = Host::new(caller, body, passed);
            all.extend(calls.iter().map(|args| {
                let named = function.params.iter().zip(args);
                named.filter_map(|(p, a)| Some((p.name.clone()?, host.root(a, 0)?))).collect()
            }));
        }
    }
    if all.is_empty() { vec![Passed::new()] } else { all }
}

/// A function of the host.
struct Host {
    passed: Passed,
    parameters: Vec<String>,
    /// What variables are declared with, where that is all that they are given.
    declared: HashMap<String, Vec<Option<ast::Expr>>>,
    /// What is assigned to, by its text: variables, and members of structures.
    assigned: HashMap<String, Vec<ast::Expr>>,
}

impl Host {
    fn new(function: &ast::FunctionDecl, body: &ast::Block, passed: Passed) -> Host {
        let mut assigned: HashMap<String, Vec<ast::Expr>> = HashMap::new();
        walk::block(body, &mut |e| {
            if let ExprKind::Assign { target, value, .. } = &*e.kind
                && let Some(name) = name(target)
            {
                assigned.entry(name).or_default().push(value.clone());
            }
        });
        let parameters = function.params.iter().filter_map(|p| p.name.clone()).collect();
        Host { passed, parameters, declared: scope::declared(body), assigned }
    }

    /// The array that a pointer leads into.
    fn root(&self, e: &ast::Expr, depth: u32) -> Option<Root> {
        if depth > 2 * MAX_NESTED {
            return None;
        }
        let part = |e: &ast::Expr| Some((self.root(e, depth + 1)?.0, false));
        match &*scope::plain(e).kind {
            ExprKind::Cast { operand, .. } => self.root(operand, depth + 1),
            ExprKind::Binary { op, left, .. } if op == "+" || op == "-" => part(left),
            ExprKind::Unary { op, operand } if op == "&" => match &*scope::plain(operand).kind {
                ExprKind::Index { base, .. } => part(base),
                _ => part(operand),
            },
            // A pointer in a table: which one is known where it is named, else by running the program.
            ExprKind::Index { base, index } => match &*scope::plain(index).kind {
                ExprKind::Number(n) => Some((format!("{}[{n}]", name(base)?), true)),
                _ => None,
            },
            _ => {
                let name = name(e)?;
                if let Some(known) = self.passed.get(&name) {
                    return Some(known.clone());
                }
                let values = self.assigned.get(&name).map_or(&[][..], |v| v);
                let first = self.declared.get(&name).map_or(&[][..], |v| v);
                let other = match (first, values) {
                    ([Some(value)], []) | ([None] | [], [value]) => self.root(value, depth + 1),
                    _ => None,
                };
                Some(other.unwrap_or((name, true)))
            }
        }
    }

    fn launch(&self, kernel: &ast::FunctionDecl, args: &[ast::Expr], shared: &mut Shared) {
        let mut passed: Vec<(String, Root)> = vec![];
        for (p, a) in kernel.params.iter().zip(args) {
            let Some(own) = &p.name else { continue };
            match &p.ty.kind {
                TypeKind::Pointer { .. } | TypeKind::Array { .. } => {
                    passed.extend(self.root(a, 0).map(|root| (own.clone(), root)));
                }
                TypeKind::Named(_) => passed.extend(self.members(own, a)),
                _ => {}
            }
        }
        shared.add(&passed, |(a, whole), (b, other)| (a == b).then_some(*whole && *other));
    }

    /// What the members of a structure were set to before it was passed.
    fn members(&self, own: &str, argument: &ast::Expr) -> Vec<(String, Root)> {
        let Some(variable) = ties::variable(argument) else { return vec![] };
        let member = |(text, values): (&String, &Vec<ast::Expr>)| {
            let member = text.strip_prefix(variable)?.strip_prefix('.')?;
            let [value] = &values[..] else { return None };
            let root = self.root(value, 0).filter(|(name, _)| self.is_pointer(name))?;
            Some((format!("{own}.{member}"), root))
        };
        let mut all: Vec<(String, Root)> = self.assigned.iter().filter_map(member).collect();
        all.sort();
        all
    }

    /// Whether a name may be that of an array: nothing is known of numbers that are equal.
    fn is_pointer(&self, name: &str) -> bool {
        self.parameters.iter().any(|p| p == name) || self.declared.contains_key(name)
    }
}

/// A variable, or a member of one: `a`, `grid.data`.
fn name(e: &ast::Expr) -> Option<String> {
    match &*scope::plain(e).kind {
        ExprKind::Path(path) => path.as_name().filter(|n| *n != "NULL").map(str::to_string),
        ExprKind::Member { base, arrow: false, member, .. } => {
            Some(format!("{}.{}", name(base)?, member.name))
        }
        _ => None,
    }
}
