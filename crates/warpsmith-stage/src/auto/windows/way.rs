//! What stands between a kernel's beginning and a read: declarations, conditions, loops of constant length.

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind};
use warpsmith_front::sema::walk;

use super::sum::Sum;
use crate::auto::elements;
use crate::auto::plans::Kernel;
use crate::auto::{outer, positions, temporal};
use crate::source::{marks, scope};

/// A loop of constant length around the reads.
#[derive(Clone, Debug)]
pub struct Counter {
    pub name: String,
    /// Its first and its last value.
    pub first: Sum,
    pub last: Sum,
    /// The subscript falls as it grows.
    pub falls: bool,
    /// A constant that it is multiplied with wherever it moves a position: how far the reads of a dilated window are apart.
    pub times: Option<String>,
    /// The loop goes around a position of the thread, cut off at the border: first and last are counted from there.
    pub around: Option<Around>,
}

/// `max(r - R, 0)` to `min(r + R, h - 1)`.
#[derive(Clone, Debug)]
pub struct Around {
    /// What names the position.
    pub position: String,
    /// What a position has to keep to for the loop to come to it, as the counter does.
    pub conditions: [String; 2],
}

/// A loop in which a thread goes on by the block: `x = first + i * BX`, or `for (j = 0; j < TILE; j += BY)`.
#[derive(Clone, Debug)]
pub struct Turn {
    pub name: String,
    /// How often, where the counter is multiplied by the block, else how far.
    pub end: String,
    /// The counter is multiplied by the block.
    pub multiplied: bool,
    /// Axes that it may go along.
    pub axes: Vec<usize>,
}

#[derive(Clone, Debug)]
pub enum Step<'a> {
    Variable {
        name: String,
        ty: String,
        value: Option<&'a ast::Expr>,
    },
    /// A statement that gives a variable another value, perhaps under a condition.
    Change {
        name: String,
        statement: &'a ast::Stmt,
    },
    Loop(Counter),
    Turn(Turn),
    /// A condition in a loop that holds, or does not, when the read is come to.
    Condition(&'a ast::Expr, bool),
}

impl Counter {
    /// What it counts from zero, or from the position of the thread: `dx`, `x - c`.
    pub fn from(&self) -> Sum {
        let position = self.around.as_ref().map_or(Sum::default(), |a| Sum::of(&a.position));
        let times = self.times.as_ref().map_or(String::new(), |t| format!(" * {t}"));
        Sum::of(&format!("{}{times}", self.name)).minus(&position)
    }

    /// What it is multiplied with counts for its ends, too.
    pub fn spread(&mut self, kernel: &Kernel<'_>, texts: &str) {
        let known = |k: &str| !kernel.is_variable(k) || kernel.is_template_parameter(k);
        let Some(times) = factor(texts, &self.name).filter(|k| known(k)) else { return };
        if self.around.is_none() {
            (self.first, self.last) = (self.first.times(&times), self.last.times(&times));
            self.times = Some(times);
        }
    }

    /// A loop between two constants.
    fn new(kernel: &Kernel<'_>, s: &ast::Stmt) -> Option<Counter> {
        let StmtKind::For { step: Some(step), .. } = &s.kind else { return None };
        let (name, first, end, inclusive) = constant(kernel, s)?;
        outer::is_increment(step, &name).then_some(())?;
        let end = Sum::of(&end);
        let last = if inclusive { end } else { end.minus(&Sum::number(1)) };
        let (first, falls) = (Sum::of(&first), false);
        Some(Counter { name, first, last, falls, times: None, around: None })
    }

    /// A loop around a position of the thread that `min` and `max` cut off at the border.
    fn cut_off(kernel: &Kernel<'_>, s: &ast::Stmt, before: &[Step<'_>]) -> Option<Counter> {
        let StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), .. } = &s.kind
        else {
            return None;
        };
        let (name, first, true) = outer::begin(init)? else { return None };
        let (end, inclusive) = outer::bound(cond, name)?;
        outer::is_increment(step, name).then_some(())?;
        let (position, first, low) = beside(kernel, declared(first, before), "max")?;
        let (other, end, high) = beside(kernel, declared(end, before), "min")?;
        (position == other).then_some(())?;
        let last = if inclusive { end } else { end.minus(&Sum::number(1)) };
        let op = if inclusive { "<=" } else { "<" };
        let conditions = [format!("{position} >= {low}"), format!("{position} {op} {high}")];
        let around = Some(Around { position, conditions });
        let (name, falls) = (name.to_string(), false);
        Some(Counter { name, first, last, falls, times: None, around })
    }
}

impl Turn {
    /// A loop from zero in steps of the block, or one whose counter is multiplied by it.
    fn new(kernel: &Kernel<'_>, s: &ast::Stmt) -> Option<Turn> {
        let StmtKind::For { step: Some(step), body, .. } = &s.kind else { return None };
        let (name, first, end, inclusive) = constant(kernel, s)?;
        if inclusive || first != "0" {
            return None;
        }
        let extent = |e: &ast::Expr| positions::extents(kernel, e);
        if let ExprKind::Assign { op, target, value } = &*step.kind {
            let axes = extent(value);
            let turns = op == "+=" && outer::name(target) == Some(&*name) && !axes.is_empty();
            return turns.then_some(Turn { name, end, multiplied: false, axes });
        }
        outer::is_increment(step, &name).then_some(())?;
        let mut axes = vec![];
        walk::stmt(body, &mut |e| {
            let ExprKind::Binary { op, left, right } = &*e.kind else { return };
            for (a, b) in [(left, right), (right, left)] {
                if op == "*" && outer::name(scope::plain(a)) == Some(&*name) {
                    axes.extend(extent(b));
                }
            }
        });
        axes.sort_unstable();
        axes.dedup();
        (!axes.is_empty()).then_some(Turn { name, end, multiplied: true, axes })
    }

    /// What is added to the thread's own place.
    pub fn beside(&self, own: &str) -> String {
        match self.multiplied {
            true => format!(" + {} * {own}", self.name),
            false => format!(" + {}", self.name),
        }
    }

    /// How many places the block goes over.
    pub fn length(&self, own: &str) -> String {
        match self.multiplied {
            true => format!("{} * {own}", Sum::of(&self.end).text()),
            false => self.end.clone(),
        }
    }
}

/// What a name, or what is in parentheses with it, is multiplied with wherever a text has it: `r * D`, `D * (r - 1)`.
fn factor(text: &str, name: &str) -> Option<String> {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let mut found: Option<&str> = None;
    for at in (0..tokens.len()).filter(|i| word(*i) == name) {
        let (mut first, mut last) = (at, at);
        if word(at + 1) != "*" && word(at.wrapping_sub(1)) != "*" {
            first = (0..at)
                .rev()
                .take_while(|i| !")[;".contains(word(*i)))
                .find(|i| word(*i) == "(")?;
            last = (at..tokens.len())
                .take_while(|i| !"([;".contains(word(*i)))
                .find(|i| word(*i) == ")")?;
        }
        let by = match (word(last + 1), first.checked_sub(2)) {
            ("*", _) => word(last + 2),
            (_, Some(before)) if word(before + 1) == "*" => word(before),
            _ => return None,
        };
        if by.is_empty() || by == "(" || by == ")" || found.is_some_and(|f| f != by) {
            return None;
        }
        found = Some(by);
    }
    found.map(str::to_string)
}

/// What a name was declared with.
fn declared<'a>(e: &'a ast::Expr, before: &[Step<'a>]) -> &'a ast::Expr {
    let own = outer::name(scope::plain(e));
    let value = before.iter().rev().find_map(|s| match s {
        Step::Variable { name, value, .. } if own == Some(name) => *value,
        _ => None,
    });
    value.unwrap_or(e)
}

/// The arguments of `min` or `max` of which one is a position of the thread and a constant: the position, the constant, and the
/// other argument.
fn beside(kernel: &Kernel<'_>, e: &ast::Expr, function: &str) -> Option<(String, Sum, String)> {
    let ExprKind::Call { callee, args, .. } = &*scope::plain(e).kind else { return None };
    let [a, b] = args.as_slice() else { return None };
    (outer::name(callee) == Some(function)).then_some(())?;
    let text = |e: &ast::Expr| kernel.sources.text(e.span).trim().to_string();
    let constant = |n: &String| !kernel.is_variable(n) || kernel.is_template_parameter(n);
    [(a, b), (b, a)].into_iter().find_map(|(near, border)| {
        let near = text(near);
        let mut names = scope::names(&near).into_iter().filter(|n| !constant(n));
        let (position, None) = (names.next()?, names.next()) else { return None };
        let from = Sum::of(&near).minus(&Sum::of(&position));
        (!scope::names(&from.text()).contains(&position)).then(|| (position, from, text(border)))
    })
}

/// Counter and bounds of a loop whose length is known to the compiler, and whether it reaches the second.
fn constant(kernel: &Kernel<'_>, s: &ast::Stmt) -> Option<(String, String, String, bool)> {
    let StmtKind::For { init: Some(init), cond: Some(cond), .. } = &s.kind else { return None };
    let (name, first, true) = outer::begin(init)? else { return None };
    let (end, inclusive) = outer::bound(cond, name)?;
    let [first, end] = [first, end].map(|e| kernel.sources.text(e.span).trim().to_string());
    let known = |n: &String| !kernel.is_variable(n) || kernel.is_template_parameter(n);
    let fixed = |text: &str| scope::names(text).iter().all(known);
    (fixed(&first) && fixed(&end)).then(|| (name.to_string(), first, end, inclusive))
}

/// What stands on the way from the beginning of a list to a place. Of loops only those of constant length are gone into.
pub fn path<'a>(
    kernel: &Kernel<'a>,
    stmts: &'a [ast::Stmt],
    at: usize,
    looped: bool,
    steps: &mut Vec<Step<'a>>,
) -> Option<()> {
    for s in stmts {
        let holds = (s.span.start as usize..s.span.end as usize).contains(&at);
        match &s.kind {
            StmtKind::Vars(vars) => {
                for d in &vars.declarators {
                    let value = match &d.init {
                        Some(Initializer::Expr(e)) => Some(e),
                        _ => None,
                    };
                    let ty = elements::plain_type(&d.ty, kernel.sources);
                    steps.push(Step::Variable { name: d.name.clone(), ty, value });
                }
            }
            StmtKind::Block(b) if holds => return path(kernel, &b.stmts, at, looped, steps),
            StmtKind::If { cond, then, otherwise, init: None, .. } if holds => {
                let in_then = (then.span.start as usize..then.span.end as usize).contains(&at);
                let branch = match (in_then, otherwise) {
                    (true, _) => then,
                    (false, Some(o)) if o.span.start as usize <= at => o,
                    // The condition itself reads.
                    _ => return Some(()),
                };
                if looped {
                    steps.push(Step::Condition(cond, in_then));
                }
                return path(kernel, std::slice::from_ref(&**branch), at, looped, steps);
            }
            _ if !holds && changed(s).is_some_and(|name| is_declared(steps, name)) => {
                let name = changed(s).unwrap_or_default().to_string();
                steps.push(Step::Change { name, statement: s });
            }
            // What goes on with the next iteration, or with none, does not come to the read.
            StmtKind::If { cond, then, otherwise: None, .. } if looped && leaves(then) => {
                steps.push(Step::Condition(cond, false));
            }
            StmtKind::For { body, .. } if holds => {
                let turn = Turn::new(kernel, s).map(Step::Turn);
                steps.push(match turn {
                    Some(turn) => turn,
                    None => Step::Loop(
                        Counter::new(kernel, s).or_else(|| Counter::cut_off(kernel, s, steps))?,
                    ),
                });
                return path(kernel, std::slice::from_ref(&**body), at, true, steps);
            }
            _ if holds => return matches!(s.kind, StmtKind::Expr(_)).then_some(()),
            _ => {}
        }
        if holds {
            return Some(());
        }
    }
    None
}

/// The variable that a statement does nothing but assign to: `x = max(x, 0);` or `if (x < 0) x = 0;`.
fn changed(s: &ast::Stmt) -> Option<&str> {
    match &s.kind {
        StmtKind::Expr(e) => match &*e.kind {
            ExprKind::Assign { op, target, .. } if op == "=" => outer::name(target),
            _ => None,
        },
        StmtKind::If { then, otherwise: None, init: None, .. } => match &then.kind {
            StmtKind::Block(_) | StmtKind::If { .. } => None,
            _ => changed(then),
        },
        _ => None,
    }
}

fn is_declared(steps: &[Step<'_>], declared: &str) -> bool {
    steps.iter().any(|s| matches!(s, Step::Variable { name, .. } if name == declared))
}

/// Conditions of the kernel's own list, and of branches in it, under which a thread comes to a place outside of loops, and
/// whether they hold then.
pub fn active<'a>(kernel: &Kernel<'a>, at: usize) -> Vec<(&'a ast::Expr, bool)> {
    let mut all = vec![];
    let mut list: &[ast::Stmt] = &kernel.body.stmts;
    loop {
        let mut inner = None;
        for s in list {
            let holds = (s.span.start as usize..s.span.end as usize).contains(&at);
            match &s.kind {
                StmtKind::Block(b) if holds => inner = Some(b.stmts.as_slice()),
                StmtKind::If { cond, then, otherwise: None, .. } if holds => {
                    all.push((cond, true));
                    inner = Some(std::slice::from_ref(&**then));
                }
                StmtKind::If { cond, then, otherwise: None, .. } if temporal::ends(then) => {
                    all.push((cond, false));
                }
                _ => {}
            }
            if holds {
                break;
            }
        }
        match inner {
            Some(inner) => list = inner,
            None => return all,
        }
    }
}

pub fn goes_on(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Continue => true,
        StmtKind::Block(b) => matches!(b.stmts.as_slice(), [only] if goes_on(only)),
        _ => false,
    }
}

/// Whether a statement ends the iteration, or all that follow.
fn leaves(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => true,
        StmtKind::Block(b) => matches!(b.stmts.as_slice(), [only] if leaves(only)),
        _ => false,
    }
}

/// Before the first statement that is no declaration: all threads of a block come there.
pub fn home(kernel: &Kernel<'_>) -> Option<usize> {
    let reads = |s: &ast::Stmt| {
        let at = s.span.start as usize..s.span.end as usize;
        kernel.elements().any(|a| at.contains(&a.whole.start))
    };
    let first = kernel.body.stmts.iter().find(|s| !matches!(s.kind, StmtKind::Vars(_)) || reads(s));
    let pragma = |s: &ast::Stmt| s.pragmas.iter().map(|p| p.span.start).min();
    let start = |s: &ast::Stmt| pragma(s).map_or(s.span.start, |p| p.min(s.span.start)) as usize;
    first.filter(|s| s.span.file.0 == 0).map(start)
}
