//! How a kernel uses its integers: which of them bound positions of blocks and threads, and which bound loops.

mod limits;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind, TranslationUnit};
use warpsmith_front::sema::walk;

use crate::source::counted::name;
use crate::source::scope;
use crate::source::shape::base_name;
use crate::source::values;

pub use limits::{Limit, Met};

/// What an integer parameter is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// It bounds positions along these axes, alone.
    pub axes: [bool; 3],
    /// It bounds positions that come from several axes together.
    pub product: [bool; 3],
    /// It bounds a loop.
    pub depth: bool,
    /// How many positions there are for each of it, where more than one: `x / 2 < w`, `x < 2 * w`.
    pub times: i64,
    /// How many of it there are for each position, where more than one: `x < w / 2`.
    pub share: i64,
}

/// How a kernel uses its integers and its axes.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// What each integer parameter bounds, by name.
    pub roles: BTreeMap<String, Role>,
    /// Axes of blocks and threads that the kernel asks for.
    pub axes: [bool; 3],
    /// Axes of threads that it asks for.
    pub threads: [bool; 3],
    /// Axes along which it asks how long the block is.
    pub lengths: [bool; 3],
    /// Positions along an axis advance by less than the block: `blockIdx.x * (D - 2)`.
    pub overlaps: bool,
    /// Threads go on in strides of the grid.
    pub strides: bool,
    /// Iterations that loops leave out at their ends, `for (k = 4; k < nz - 4; …)`, at most.
    pub margin: i64,
    /// Parameters that positions are multiplied with: lengths of rows.
    pub rows: BTreeSet<String>,
    /// The same of numbers of blocks alone, never of threads: how far apart the matrices of a batch are.
    pub leaps: BTreeSet<String>,
    /// Parameters that are added to positions, and are no lengths: how far apart elements are, the radius of a filter.
    pub shifts: BTreeSet<String>,
    /// Parameters that tell positions apart by what is left of a division, and the divisor: `(i + j) % 2 == colour`.
    pub residues: BTreeMap<String, i64>,
    /// Along each axis, parameters whose product bounds positions: `i < nx * ny * nz`.
    pub factors: [BTreeSet<String>; 3],
    /// Numbers of the text that positions and sizes meet, in its order.
    pub limits: Vec<Limit>,
    /// Numbers that a parameter itself is compared with, and those of cases.
    pub choices: BTreeMap<String, BTreeSet<i64>>,
    /// What variables of the kernel go along, where their values come from one thing alone wherever they are declared.
    along: BTreeMap<String, Along>,
}

/// What positions and sizes go along: the axes of threads and blocks, and the iterations of loops.
pub type Along = [bool; 4];

impl Usage {
    /// What a position or a size goes along, if that is known. Names of parameters are those of the kernel.
    pub fn along(&self, name: &str) -> Option<Along> {
        let size = |r: &Role| {
            let [x, y, z] = [0, 1, 2].map(|a| r.axes[a] || r.product[a]);
            [x, y, z, r.depth]
        };
        let known = self.along.get(name).copied().or_else(|| self.roles.get(name).map(size));
        known.filter(|along| along.contains(&true))
    }
}

/// Reads how the parameters of a kernel bound its positions, in it and in the functions that it calls.
pub fn usage(unit: &TranslationUnit, kernel: &str) -> Usage {
    with_constants(unit, kernel, &[])
}

/// The same, with constants of the file among the parameters.
pub fn with_constants(unit: &TranslationUnit, kernel: &str, constants: &[String]) -> Usage {
    let Some(function) = scope::kernel(unit, base_name(kernel)) else { return Usage::default() };
    let mut finder = Finder {
        unit,
        usage: Usage::default(),
        vars: BTreeMap::new(),
        steps: BTreeSet::new(),
        declared: BTreeMap::new(),
        calls: 0,
    };
    let params = function.params.iter().filter_map(|p| p.name.clone());
    for name in params.chain(constants.iter().cloned()) {
        let source = Source::parameter(&name);
        finder.vars.insert(name, source);
    }
    function.body.iter().for_each(|b| _ = finder.block(b));
    let Usage { shifts, rows, leaps, .. } = &mut finder.usage;
    shifts.retain(|n| !rows.contains(n) && !leaps.contains(n));
    leaps.retain(|n| !finder.steps.contains(n));
    let own = finder.declared.into_iter();
    finder.usage.along = own.filter_map(|(n, source)| Some((n, source?.along()))).collect();
    finder.usage
}

/// What a number is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Source {
    /// Axes of `blockIdx`, and of `threadIdx`.
    blocks: [bool; 3],
    threads: [bool; 3],
    /// Parameters of the kernel.
    parameters: BTreeSet<String>,
    /// It counts iterations.
    counts: bool,
    /// It is a product of parameters.
    product: bool,
    /// It is what is left when something is divided by so many.
    residue: Option<i64>,
    /// Positions of blocks and threads were divided by so many, or sizes multiplied; 0: they were not.
    times: i64,
    /// It was divided by so many; 0: it was not.
    divided: i64,
}

impl Source {
    fn parameter(name: &str) -> Source {
        Source { parameters: [name.to_string()].into(), ..Source::default() }
    }

    fn join(mut self, other: &Source) -> Source {
        for a in 0..3 {
            self.blocks[a] |= other.blocks[a];
            self.threads[a] |= other.threads[a];
        }
        self.parameters.extend(other.parameters.iter().cloned());
        self.counts |= other.counts;
        self.product |= other.product;
        self.residue = None;
        self.times = self.times.max(other.times);
        self.divided = self.divided.max(other.divided);
        self
    }

    fn spread(self, by: Option<i64>) -> Source {
        let times = by.filter(|n| (2..=MAX_TIMES).contains(n)).map(|n| n * self.times.max(1));
        Source { times: times.unwrap_or(self.times), ..self }
    }

    /// The axis that a position goes along is the one that its block comes from: `threadIdx.x / W` may be a row.
    fn axes(&self) -> [bool; 3] {
        match (self.blocks.contains(&true), self.counts) {
            (true, _) => self.blocks,
            (false, false) => self.threads,
            (false, true) => [false; 3],
        }
    }

    fn along(&self) -> Along {
        let [x, y, z] = [0, 1, 2].map(|a| self.blocks[a] || self.threads[a]);
        [x, y, z, self.counts]
    }

    fn is_position(&self) -> bool {
        self.counts || self.blocks.contains(&true) || self.threads.contains(&true)
    }
}

struct Finder<'a> {
    unit: &'a TranslationUnit,
    usage: Usage,
    /// What variables in scope are made from.
    vars: BTreeMap<String, Source>,
    /// Parameters that positions of threads are multiplied with.
    steps: BTreeSet<String>,
    /// What the kernel declares, `None` where that is not always made from the same.
    declared: BTreeMap<String, Option<Source>>,
    /// Calls around.
    calls: u32,
}

/// Larger numbers in the bounds of loops are no margins.
const MAX_MARGIN: i64 = 24;
/// Calls in calls that are followed.
const MAX_CALLS: u32 = 6;
/// Positions for each of a size that are counted.
const MAX_TIMES: i64 = 32;

impl Finder<'_> {
    fn block(&mut self, block: &ast::Block) -> Source {
        block.stmts.iter().fold(Source::default(), |all, s| all.join(&self.stmt(s)))
    }

    /// What a statement returns is made from.
    fn stmt(&mut self, s: &ast::Stmt) -> Source {
        match &s.kind {
            StmtKind::Vars(vars) => self.vars(vars, false),
            StmtKind::Expr(e) => _ = self.expr(e),
            StmtKind::Block(b) => return self.block(b),
            StmtKind::If { init, cond, then, otherwise, .. } => {
                init.iter().for_each(|s| _ = self.stmt(s));
                self.expr(cond);
                let then = self.stmt(then);
                return otherwise.iter().fold(then, |all, s| all.join(&self.stmt(s)));
            }
            StmtKind::For { init, cond, step, body } => {
                match init.as_deref() {
                    Some(ast::Stmt { kind: StmtKind::Vars(vars), .. }) => self.vars(vars, true),
                    Some(ast::Stmt { kind: StmtKind::Expr(e), .. }) => self.counter(e),
                    _ => {}
                }
                cond.iter().for_each(|c| self.margin(init.as_deref(), c));
                cond.iter().for_each(|c| _ = self.expr(c));
                let inside = self.stmt(body);
                step.iter().for_each(|s| _ = self.expr(s));
                return inside;
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                // What the body adds to is known to count when the condition is looked at.
                let inside = self.stmt(body);
                self.expr(cond);
                return inside;
            }
            StmtKind::Switch { selector, body } => {
                let source = self.expr(selector);
                self.cases(&source, body);
                return self.stmt(body);
            }
            StmtKind::Return(Some(Initializer::Expr(e))) => return self.expr(e),
            _ => {}
        }
        Source::default()
    }

    fn vars(&mut self, vars: &ast::VarDecl, counts: bool) {
        for d in &vars.declarators {
            let mut source = match &d.init {
                Some(Initializer::Expr(e)) => self.expr(e),
                Some(Initializer::Call(args, _)) => self.all(args),
                _ => Source::default(),
            };
            source.counts |= counts;
            self.wraps(&d.ty);
            if let Some(Initializer::Expr(e)) = &d.init {
                self.narrowed(&d.ty, &source, e);
            }
            self.declare(&d.name, &source);
            self.vars.insert(d.name.clone(), source);
        }
    }

    fn declare(&mut self, name: &str, source: &Source) {
        if self.calls == 0 {
            let known = self.declared.entry(name.to_string()).or_insert(Some(source.clone()));
            known.take_if(|known| known != source);
        }
    }

    /// What a loop whose end is a parameter leaves out: the small numbers that it begins and ends with.
    fn margin(&mut self, init: Option<&ast::Stmt>, cond: &ast::Expr) {
        let (mut bounded, mut left_out) = (false, 0);
        let mut see = |e: &ast::Expr| match &*e.kind {
            ExprKind::Path(path) => {
                let source = path.as_name().and_then(|n| self.vars.get(n));
                bounded |= source.is_some_and(|s| !s.parameters.is_empty());
            }
            ExprKind::Number(text) => {
                left_out += text.parse().ok().filter(|n| (0..=MAX_MARGIN).contains(n)).unwrap_or(0);
            }
            _ => {}
        };
        init.iter().for_each(|s| walk::stmt(s, &mut see));
        walk::expr(cond, &mut see);
        if bounded {
            self.usage.margin = self.usage.margin.max(left_out.min(MAX_MARGIN));
        }
    }

    /// `k = 0` before a loop.
    fn counter(&mut self, e: &ast::Expr) {
        self.expr(e);
        if let ExprKind::Assign { target, .. } = &*e.kind
            && let Some(known) = name(target).and_then(|n| self.vars.get_mut(n))
        {
            known.counts = true;
        }
    }

    fn all(&mut self, list: &[ast::Expr]) -> Source {
        list.iter().fold(Source::default(), |all, e| all.join(&self.expr(e)))
    }

    fn expr(&mut self, e: &ast::Expr) -> Source {
        match &*e.kind {
            ExprKind::Path(path) => path.as_name().map_or(Source::default(), |n| self.named(n)),
            ExprKind::Member { base, arrow: true, member, .. } => {
                let source = self.expr(base);
                match name(scope::plain(base)).filter(|n| source == Source::parameter(n)) {
                    Some(own) => Source::parameter(&format!("{own}.{}", member.name)),
                    None => source,
                }
            }
            ExprKind::Member { base, member, .. } => self.member(base, &member.name),
            ExprKind::Paren(e) | ExprKind::Unary { operand: e, .. } => self.expr(e),
            ExprKind::Cast { ty, operand, .. } => {
                let source = self.expr(operand);
                self.narrowed(ty, &source, operand);
                source
            }
            ExprKind::Construct { args, .. } => {
                args.iter().fold(Source::default(), |all, a| match a {
                    Initializer::Expr(e) => all.join(&self.expr(e)),
                    _ => all,
                })
            }
            ExprKind::IncDec { operand, .. } => {
                self.expr(operand);
                self.grows(operand, &Source::default());
                Source::default()
            }
            ExprKind::Binary { op, left, right } => self.binary(op, left, right),
            ExprKind::Assign { op, target, value } => {
                let value = self.expr(value);
                match (op.as_str(), name(target)) {
                    ("=", Some(name)) => self.set(name, value),
                    (_, Some(_)) => self.grows(target, &value),
                    _ => _ = self.expr(target),
                }
                Source::default()
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                self.expr(cond);
                self.expr(then).join(&self.expr(otherwise))
            }
            ExprKind::Comma(a, b) => {
                self.expr(a);
                self.expr(b)
            }
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Index { base, index } => {
                // Data, which may be anything.
                self.expr(base);
                self.expr(index);
                Source::default()
            }
            _ => Source::default(),
        }
    }

    fn named(&mut self, name: &str) -> Source {
        match name {
            "threadIdx" => Source { threads: [true; 3], ..Source::default() },
            "blockIdx" => Source { blocks: [true; 3], ..Source::default() },
            "blockDim" => {
                self.usage.lengths = [true; 3];
                Source::default()
            }
            "gridDim" => {
                self.usage.strides = true;
                Source::default()
            }
            name => self.vars.get(name).cloned().unwrap_or_default(),
        }
    }

    fn member(&mut self, base: &ast::Expr, member: &str) -> Source {
        let axis = ["x", "y", "z"].iter().position(|a| *a == member);
        if let (Some(axis), Some("blockDim")) = (axis, name(scope::plain(base))) {
            self.usage.lengths[axis] = true;
            return Source::default();
        }
        let mut source = self.expr(base);
        // A field of a structure that is passed by value is a number of its own.
        if let Some(own) = name(scope::plain(base)).filter(|n| source == Source::parameter(n)) {
            return Source::parameter(&format!("{own}.{member}"));
        }
        let Some(axis) = axis else { return source };
        for a in (0..3).filter(|a| *a != axis) {
            source.blocks[a] = false;
            source.threads[a] = false;
        }
        self.usage.axes[axis] |= source.blocks[axis] || source.threads[axis];
        self.usage.threads[axis] |= source.threads[axis];
        source
    }

    fn binary(&mut self, op: &str, left: &ast::Expr, right: &ast::Expr) -> Source {
        let (a, b) = (self.expr(left), self.expr(right));
        self.meets(op, (&a, left), (&b, right));
        let divided =
            self.divisor(op, right).map_or(a.divided, |n| n.saturating_mul(a.divided.max(1)));
        let a = Source { divided, ..a };
        match op {
            "<" | "<=" | ">" | ">=" | "==" | "!=" => {
                self.compared(&a, &b);
                Source::default()
            }
            "&&" | "||" => Source::default(),
            "%" | "&" => Source { residue: residue(op, right), ..a.join(&b) },
            "*" => {
                for (position, length) in [(&a, &b), (&b, &a)] {
                    let places =
                        position.blocks.contains(&true) || position.threads.contains(&true);
                    if places && position.parameters.is_empty() && !length.is_position() {
                        self.usage.rows.extend(length.parameters.iter().cloned());
                        let by_thread = position.threads.contains(&true);
                        let names = if by_thread { &mut self.steps } else { &mut self.usage.leaps };
                        names.extend(length.parameters.iter().cloned());
                    }
                }
                let narrow = |e: &ast::Expr| matches!(&*scope::plain(e).kind, ExprKind::Binary { op, .. } if op == "-");
                self.usage.overlaps |=
                    is_block(left) && narrow(right) || is_block(right) && narrow(left);
                let sizes = |s: &Source| !s.parameters.is_empty() && !s.is_position();
                let product = sizes(&a) && sizes(&b);
                let times = match (sizes(&a), sizes(&b)) {
                    (true, false) => self.number(right),
                    (false, true) => self.number(left),
                    _ => None,
                };
                let joined = a.join(&b).spread(times);
                Source { product: joined.product || product, ..joined }
            }
            "/" | ">>" if a.blocks.contains(&true) && a.threads.contains(&true) => {
                let times = self.divisor(op, right);
                a.join(&b).spread(times)
            }
            "+" | "-" => {
                for (position, by) in [(&a, &b), (&b, &a)] {
                    let place = position.blocks.contains(&true) && position.parameters.is_empty();
                    if place && !by.is_position() && !by.product {
                        self.usage.shifts.extend(by.parameters.iter().cloned());
                    }
                }
                a.join(&b)
            }
            _ => a.join(&b),
        }
    }

    /// What an operator divides by.
    fn divisor(&self, op: &str, right: &ast::Expr) -> Option<i64> {
        match op {
            "/" => self.number(right),
            ">>" => self.number(right).and_then(power_of_two),
            _ => None,
        }
    }

    /// The value of a number, of a constant of the file, or of what is computed from these.
    fn number(&self, e: &ast::Expr) -> Option<i64> {
        match &*scope::plain(e).kind {
            ExprKind::Number(_) => literal(e),
            ExprKind::Path(path) => values::value_of(self.unit, path.as_name()?),
            ExprKind::Cast { operand, .. } => self.number(operand),
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.number(left)?, self.number(right)?);
                match op.as_str() {
                    "+" => a.checked_add(b),
                    "-" => a.checked_sub(b),
                    "*" => a.checked_mul(b),
                    "/" => a.checked_div(b),
                    "<<" => a.checked_mul(power_of_two(b)?),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn set(&mut self, name: &str, value: Source) {
        let known = self.vars.remove(name).unwrap_or_default();
        // Parameters of the kernel may be set to something else; their positions stay.
        let value = known.join(&value);
        self.declare(name, &value);
        self.vars.insert(name.to_string(), value);
    }

    fn grows(&mut self, target: &ast::Expr, by: &Source) {
        if let Some(known) = name(target).and_then(|n| self.vars.get_mut(n)) {
            let counts = known.counts || known.parameters.is_empty();
            *known = std::mem::take(known).join(by);
            known.counts = counts;
        }
    }

    /// A function of the file: what it compares is made from arguments.
    fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr]) -> Source {
        let values: Vec<Source> = args.iter().map(|a| self.expr(a)).collect();
        let joined = values.iter().fold(Source::default(), |all, v| all.join(v));
        let ExprKind::Path(path) = &*callee.kind else { return joined };
        let Some(last) = path.segments.last() else { return joined };
        self.called_with(args, &values);
        if let ("min" | "max", [a, b]) = (last.name.as_str(), values.as_slice()) {
            let (a, b) = (a.clone(), b.clone());
            self.compared(&a, &b);
            return joined;
        }
        let found = scope::device_functions(&self.unit.items, &last.name);
        let Some(function) = found.first() else { return joined };
        let Some(body) = function.body.as_ref().filter(|_| self.calls < MAX_CALLS) else {
            return joined;
        };
        let mut inner = BTreeMap::new();
        for ((p, value), e) in function.params.iter().zip(values).zip(args) {
            self.narrowed(&p.ty, &value, e);
            inner.extend(p.name.clone().map(|n| (n, value)));
        }
        let outer = std::mem::replace(&mut self.vars, inner);
        self.calls += 1;
        let result = self.block(body);
        self.calls -= 1;
        self.vars = outer;
        result
    }

    fn compared(&mut self, a: &Source, b: &Source) {
        for (position, bound) in [(a, b), (b, a)] {
            if bound.is_position() || !position.is_position() {
                continue;
            }
            if let (Some(divisor), [Some(name), None]) = (position.residue, first_two(bound)) {
                self.usage.residues.insert(name.clone(), divisor);
                continue;
            }
            let axes = position.axes();
            if bound.product
                && let [Some(axis), None] = [0, 1].map(|n| (0..3).filter(|a| axes[*a]).nth(n))
            {
                self.usage.factors[axis].extend(bound.parameters.iter().cloned());
            }
            for name in &bound.parameters {
                let role = self.usage.roles.entry(name.clone()).or_default();
                role.times = role.times.max(position.times.max(1) * bound.times.max(1));
                role.share = role.share.max(bound.divided.max(1));
                match axes.iter().filter(|a| **a).count() {
                    0 => role.depth |= position.counts,
                    1 => (0..3).for_each(|i| role.axes[i] |= axes[i]),
                    _ => (0..3).for_each(|i| role.product[i] |= axes[i]),
                }
            }
        }
    }
}

/// The first two parameters that a number is made from.
fn first_two(source: &Source) -> [Option<&String>; 2] {
    let mut all = source.parameters.iter();
    [all.next(), all.next()]
}

/// Larger divisors wrap positions around; they tell no colours apart.
const MAX_COLOURS: i64 = 8;

/// A whole number that is written out.
fn literal(e: &ast::Expr) -> Option<i64> {
    let ExprKind::Number(text) = &*scope::plain(e).kind else { return None };
    values::whole(text)
}

fn power_of_two(bits: i64) -> Option<i64> {
    1i64.checked_shl(bits as u32)
}

/// The divisor of `% 2` and of `& 1`.
fn residue(op: &str, right: &ast::Expr) -> Option<i64> {
    let number = literal(right)?;
    let divisor = if op == "&" { number + 1 } else { number };
    let right = (2..=MAX_COLOURS).contains(&divisor) && (op == "%" || divisor.count_ones() == 1);
    right.then_some(divisor)
}

/// `blockIdx.x`, perhaps as another number type.
fn is_block(e: &ast::Expr) -> bool {
    match &*scope::plain(e).kind {
        ExprKind::Cast { operand, .. } => is_block(operand),
        ExprKind::Member { base, .. } => name(base) == Some("blockIdx"),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
