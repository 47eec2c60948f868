//! Sizes that host code makes of others before it launches a kernel: `int ow = w / 2; pool<<<grid, block>>>(in, out, w, ow);`.
//!
//! Nothing in the kernel says so. Results that need it are right for such launches alone, and say it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use warpsmith_front::ast::{self, ExprKind, Initializer, TranslationUnit, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::hosts::{self, Names};
use super::scope;
use super::shape::base_name;
use super::values;

/// A parameter of a kernel that is made of others wherever the file launches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    pub parameter: String,
    pub value: Made,
}

/// A number made of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    Number(i64),
    Parameter(String),
    /// `+`, `-`, `*`, or `/` by a number above zero.
    Of(char, Box<Made>, Box<Made>),
}

impl Made {
    /// Its value, as C rounds.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Made::Number(n) => Some(*n),
            Made::Parameter(name) => of(name),
            Made::Of(op, a, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                match op {
                    '+' => a.checked_add(b),
                    '-' => a.checked_sub(b),
                    '*' => a.checked_mul(b),
                    _ => a.checked_div(b),
                }
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Made::Number(n) => n.to_string(),
            Made::Parameter(name) => name.clone(),
            Made::Of(op, a, b) => format!("{} {op} {}", a.inner(), b.inner()),
        }
    }

    fn inner(&self) -> String {
        match self {
            Made::Of(..) => format!("({})", self.text()),
            _ => self.text(),
        }
    }
}

impl Tie {
    /// For reports: `ow == w / 2`.
    pub fn text(&self) -> String {
        format!("{} == {}", self.parameter, self.value.text())
    }
}

/// Gives parameters the values that they are made to.
pub fn apply(ties: &[Tie], integers: &mut BTreeMap<String, i64>) {
    for tie in ties {
        if let Some(value) = tie.value.value(&|n| integers.get(n).copied()) {
            integers.insert(tie.parameter.clone(), value);
        }
    }
}

/// The parameters of a kernel that every launch in the file makes of others in the same way, and those of some for which all pass one number.
pub fn of_host(
    unit: &TranslationUnit,
    kernel: &str,
    sources: &SourceMap,
    numbers: &BTreeSet<String>,
) -> Vec<Tie> {
    let Some(function) = scope::kernel(unit, base_name(kernel)) else { return vec![] };
    let params: Vec<String> =
        function.params.iter().map(|p| p.name.clone().unwrap_or_default()).collect();
    let mut all: Option<Vec<Tie>> = None;
    let references = by_reference(unit);
    hosts::each_function(unit, sources, &mut |body, names| {
        let made = scope::declared(body);
        let changed = changed_in(body, &made, &references);
        let host = Host { unit, names, made, changed, numbers };
        walk::block(body, &mut |e| {
            let ExprKind::Launch { callee, args, .. } = &*e.kind else { return };
            if base_name(sources.text(callee.span)) == base_name(kernel) {
                let here = host.ties(&params, args);
                match &mut all {
                    Some(known) => known.retain(|tie| here.contains(tie)),
                    None => all = Some(here),
                }
            }
        });
    });
    all.unwrap_or_default()
}

/// What variables are declared with, once for each declaration.
pub(super) type Declared = HashMap<String, Vec<Option<ast::Expr>>>;

/// A function of the host.
struct Host<'a> {
    unit: &'a TranslationUnit,
    names: &'a Names,
    /// Variables that it declares, with what they are made from.
    made: Declared,
    /// Names that have several values, or of which there are several.
    changed: HashSet<String>,
    /// Parameters that may be numbers.
    numbers: &'a BTreeSet<String>,
}

impl Host<'_> {
    fn ties(&self, params: &[String], args: &[ast::Expr]) -> Vec<Tie> {
        let mut all = vec![];
        for (param, arg) in params.iter().zip(args).filter(|(p, _)| !p.is_empty()) {
            // What is passed for other parameters, by the variable that is.
            let passed: HashMap<&str, &str> = params
                .iter()
                .zip(args)
                .filter(|(p, _)| *p != param)
                .filter_map(|(p, a)| Some((variable(a)?, p.as_str())))
                .filter(|(v, _)| !self.changed.contains(*v))
                .collect();
            // What two parameters have is made of nothing.
            let same = variable(arg).is_some_and(|v| passed.contains_key(v));
            let value = self.of(arg, &passed).filter(|_| !same);
            let told = matches!(value, Some(Made::Of(..)))
                || matches!(value, Some(Made::Number(_))) && self.numbers.contains(param);
            if let Some(value) = value.filter(|_| told) {
                all.push(Tie { parameter: param.clone(), value });
            }
        }
        // Of two that are made of each other none is.
        let of_tied = |tie: &Tie| {
            let free = |n: &str| all.iter().all(|t| t.parameter != n).then_some(1);
            tie.value.value(&free).is_none()
        };
        let free: Vec<bool> = all.iter().map(|t| !of_tied(t)).collect();
        all.into_iter().zip(free).filter(|(_, free)| *free).map(|(t, _)| t).collect()
    }

    fn of(&self, e: &ast::Expr, passed: &HashMap<&str, &str>) -> Option<Made> {
        let made = match &*scope::plain(e).kind {
            ExprKind::Number(text) => Made::Number(values::whole(text)?),
            ExprKind::Path(path) => {
                let name = path.as_name()?;
                if self.changed.contains(name) {
                    return None;
                }
                match (passed.get(name), self.made.get(name).map(Vec::as_slice)) {
                    (Some(param), _) => Made::Parameter((*param).to_string()),
                    (None, Some([Some(inner)])) => self.of(inner, passed)?,
                    (None, Some(_)) => return None,
                    (None, None) => {
                        Made::Number(values::value_of(self.unit, &self.names.put_in(name))?)
                    }
                }
            }
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.of(left, passed)?, self.of(right, passed)?);
                match (op.as_str(), a, b) {
                    (_, Made::Number(a), Made::Number(b)) if op != "/" || b > 0 => {
                        let op = op.chars().next().filter(|_| op.len() == 1)?;
                        let both = Made::Of(op, Made::Number(a).into(), Made::Number(b).into());
                        Made::Number(both.value(&|_| None).filter(|_| "+-*/".contains(op))?)
                    }
                    (op @ ("+" | "-"), a, b) => Made::Of(op.chars().next()?, a.into(), b.into()),
                    ("*", a, b @ Made::Number(_)) => Made::Of('*', a.into(), b.into()),
                    ("*", a @ Made::Number(_), b) => Made::Of('*', b.into(), a.into()),
                    ("/", a, Made::Number(n)) if n > 0 => {
                        Made::Of('/', a.into(), Made::Number(n).into())
                    }
                    (">>", a, Made::Number(n @ 0..=30)) => {
                        Made::Of('/', a.into(), Made::Number(1 << n).into())
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(made)
    }
}

pub(super) fn variable(e: &ast::Expr) -> Option<&str> {
    match &*scope::plain(e).kind {
        ExprKind::Path(path) => path.as_name(),
        _ => None,
    }
}

/// The variable that something is a part of.
pub(super) fn whole_variable(e: &ast::Expr) -> Option<&str> {
    match &*scope::plain(e).kind {
        ExprKind::Member { base, arrow: false, .. } | ExprKind::Index { base, .. } => {
            whole_variable(base)
        }
        _ => variable(e),
    }
}

/// Which parameters of a function are references that it may write through.
pub(super) type References<'a> = HashMap<&'a str, Vec<bool>>;

pub(super) fn by_reference(unit: &TranslationUnit) -> References<'_> {
    let mut all = References::new();
    for f in hosts::functions(&unit.items) {
        // Of overloads any may be meant.
        let known = all.entry(hosts::name_of(f)).or_default();
        known.resize(known.len().max(f.params.len()), false);
        for (known, p) in known.iter_mut().zip(&f.params) {
            *known |= matches!(&p.ty.kind, TypeKind::Reference { to, .. } if !to.is_const);
        }
    }
    all
}

/// Arguments of a call that it may write to: those of functions of C, which are all that other plain names are taken for, it cannot.
pub(super) fn written_by_call<'e>(
    callee: &ast::Expr,
    args: &'e [ast::Expr],
    references: &References<'_>,
    local: impl Fn(&str) -> bool,
) -> Vec<&'e ast::Expr> {
    let plain = variable(callee).filter(|name| !OF_CPP.contains(name) && !local(name));
    match plain.map(|name| references.get(name)) {
        None => args.iter().collect(),
        Some(None) => vec![],
        Some(Some(writes)) => {
            let written = args.iter().zip(writes).filter(|(_, writes)| **writes);
            written.map(|(a, _)| a).collect()
        }
    }
}

/// Functions of the standard library that write to their arguments and may be called without its name.
const OF_CPP: &[&str] = &["swap", "exchange", "tie", "from_chars"];

/// Names that have several values in a body, or of which there are several.
pub(super) fn changed_in(
    body: &ast::Block,
    made: &Declared,
    references: &References<'_>,
) -> HashSet<String> {
    let several = made.iter().filter(|(_, all)| all.len() > 1);
    let mut changed: HashSet<String> = several.map(|(name, _)| name.clone()).collect();
    scope::each_vars(&body.stmts, &mut |vars| {
        for d in &vars.declarators {
            if let (TypeKind::Reference { .. }, Some(Initializer::Expr(e))) = (&d.ty.kind, &d.init)
            {
                changed.extend(whole_variable(e).map(str::to_string));
            }
        }
    });
    let local = |name: &str| made.contains_key(name);
    walk::block(body, &mut |e| {
        let targets = match &*e.kind {
            ExprKind::Assign { target, .. } => vec![target],
            ExprKind::IncDec { operand, .. } => vec![operand],
            ExprKind::Unary { op, operand } if op == "&" => vec![operand],
            // Read from a stream.
            ExprKind::Binary { op, right, .. } if op == ">>" => vec![right],
            ExprKind::Call { callee, args } => written_by_call(callee, args, references, local),
            _ => return,
        };
        changed.extend(targets.into_iter().filter_map(whole_variable).map(str::to_string));
    });
    changed
}
