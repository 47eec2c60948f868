//! Windows: what loops of constant length read around each thread goes to a tile with as wide a halo.
//!
//! A place of the tile holds what a thread that stands there would read with its counters at zero. Which loop goes along which axis
//! is tried; whether the tile is right, the emulator says.

use std::collections::BTreeSet;

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind};

use super::cut::{AXES, operand};
use super::find::{self, Access};
use super::outer;
use super::plans::{Kernel, Plan};
use super::positions::{self, Position};
use crate::source::marks;
use crate::source::patch::{Patch, indentation};
use crate::source::scope;

/// A loop of constant length around the reads.
#[derive(Clone, Debug)]
struct Counter {
    name: String,
    ty: String,
    first: String,
    /// The last value, and by how much it is more than the first.
    last: String,
    length: String,
    /// The subscript falls as it grows.
    falls: bool,
}

/// What stands between the kernel's beginning and a read.
#[derive(Clone, Debug)]
enum Step {
    Variable {
        name: String,
        ty: String,
        value: Option<(String, usize)>,
    },
    Loop(Counter),
    /// A condition in a loop, as it is when the read is come to.
    Condition(String),
}

/// Tiles for the reads of an array, one for each way that loops may go along axes.
pub fn plans(kernel: &Kernel<'_>, array: &str, element: &str, all: &[&Access]) -> Vec<Plan> {
    let found = Window::new(kernel, array, element, all);
    let Some(window) = found else { return vec![] };
    let axes: Vec<usize> = (0..3).filter(|a| kernel.axes[*a]).collect();
    let count = window.counters.len();
    let mut ways = vec![];
    // The innermost loop most likely goes along x.
    let reversed: Vec<usize> = (0..count).rev().collect();
    assignments(&reversed, &axes, &mut vec![], &mut ways);
    // Where threads at the border do not come to the loops, their neighbours must not be read.
    let guarded =
        [false, true].map(|g| ways.iter().filter_map(|way| window.plan(way, g)).collect());
    guarded.into_iter().flat_map(|plans: Vec<Plan>| plans).collect()
}

/// All ways to give each loop an axis of its own, as pairs of loop and axis.
fn assignments(
    loops: &[usize],
    axes: &[usize],
    taken: &mut Vec<(usize, usize)>,
    all: &mut Vec<Vec<(usize, usize)>>,
) {
    let Some((first, rest)) = loops.split_first() else {
        all.push(taken.clone());
        return;
    };
    for axis in axes {
        if taken.iter().all(|(_, a)| a != axis) {
            taken.push((*first, *axis));
            assignments(rest, axes, taken, all);
            taken.pop();
        }
    }
}

struct Window<'a> {
    kernel: &'a Kernel<'a>,
    array: &'a str,
    element: &'a str,
    all: Vec<&'a Access>,
    counters: Vec<Counter>,
    /// Declarations that the subscript and the conditions need, in order, then the conditions.
    variables: Vec<(String, String, String, usize)>,
    conditions: Vec<String>,
    positions: Vec<Position>,
    /// Where the copy stands.
    home: usize,
    /// Conditions under which a thread comes to the loops, and whether they are to be false.
    active: Vec<(&'a ast::Expr, bool)>,
}

impl<'a> Window<'a> {
    fn new(
        kernel: &'a Kernel<'a>,
        array: &'a str,
        element: &'a str,
        all: &'a [&'a Access],
    ) -> Option<Window<'a>> {
        let way = |a: &Access| {
            let mut steps = vec![];
            path(kernel, &kernel.body.stmts, a.whole.start, false, &mut steps)?;
            steps.iter().any(|s| s.counter().is_some()).then_some(steps)
        };
        let (read, steps) = all.iter().copied().find_map(|a| Some((a, way(a)?)))?;
        // Others that the loops hold stay as they are, unless they read the same.
        let all: Vec<&Access> = all.iter().copied().filter(|a| a.index == read.index).collect();
        let positions = positions::positions(kernel);
        let mut counters: Vec<Counter> = steps.iter().filter_map(Step::counter).cloned().collect();
        let (mut needed, mut conditions) = (BTreeSet::new(), vec![]);
        needed.extend(scope::names(&read.index));
        for s in &steps {
            if let Step::Condition(text) = s {
                needed.extend(scope::names(text));
                conditions.push(text.clone());
            }
        }
        let mut variables = vec![];
        for s in steps.iter().rev() {
            let Step::Variable { name, ty, value } = s else { continue };
            if !needed.contains(name) {
                continue;
            }
            let (value, at) = value.clone()?;
            needed.extend(scope::names(&without(&value, at, &positions)));
            variables.push((name.clone(), ty.clone(), value, at));
        }
        variables.reverse();
        counters.retain(|c| needed.contains(&c.name));
        let texts =
            std::iter::once(read.index.as_str()).chain(conditions.iter().map(String::as_str));
        let texts: String =
            texts.chain(variables.iter().map(|v| v.2.as_str())).collect::<Vec<_>>().join(" ; ");
        counters.iter_mut().for_each(|c| c.falls = is_subtracted(&texts, &c.name));
        let axes = kernel.axes.iter().filter(|a| **a).count();
        let usable = !counters.is_empty() && counters.len() <= axes && !texts.contains('[');
        let (home, active) = (home(kernel)?, active(kernel, read.whole.start));
        usable.then_some(Window {
            kernel,
            array,
            element,
            all,
            counters,
            variables,
            conditions,
            positions,
            home,
            active,
        })
    }

    /// The counter that goes along an axis.
    fn along(&self, way: &[(usize, usize)], axis: usize) -> Option<&Counter> {
        way.iter().find(|(_, a)| *a == axis).map(|(c, _)| &self.counters[*c])
    }

    fn plan(&self, way: &[(usize, usize)], guarded: bool) -> Option<Plan> {
        let kernel = self.kernel;
        let block = kernel.written(false);
        let axes: Vec<usize> = (0..3).filter(|a| kernel.axes[*a]).collect();
        let tile = format!("{}_tile", find::plain_name(self.array));
        let (mut extents, mut places, mut cells) = (String::new(), String::new(), String::new());
        let mut loops = vec![];
        for axis in axes.iter().rev() {
            let (x, own) = (AXES[*axis], kernel.extent(*axis, block)?);
            let counter = self.along(way, *axis);
            let extent = counter.map_or(own.clone(), |c| format!("{own} + {}", c.length));
            extents += &format!("[{extent}]");
            places += &format!("[threadIdx.{x}{}]", counter.map_or(String::new(), Counter::beside));
            let cell = self.cell(*axis);
            cells += &format!("[{cell}]");
            loops.push(format!(
                "for (int {cell} = threadIdx.{x}; {cell} < {extent}; {cell} += {own})"
            ));
        }
        let text = kernel.text;
        let mut patch = Patch::default();
        let indent = indentation(text, self.home).to_string();
        let start = kernel.body.span.map_or(0, |s| s.start as usize) + 1;
        let first = kernel.body.stmts.first().map_or(start, |s| s.span.start as usize);
        let inner = indentation(text, first);
        patch.replace(
            start..start,
            format!("\n{inner}__shared__ {} {tile}{extents};", self.element),
        );
        let copy = self.copy(way, block, &format!("{tile}{cells}"), guarded)?;
        let mut lines =
            format!("// What the loops below read around the block's elements.\n{indent}");
        let depth = loops.len();
        for (n, l) in loops.iter().enumerate() {
            let brace = if n + 1 == depth { " {" } else { "" };
            lines += &format!("{l}{brace}\n{indent}{}", "    ".repeat(n + 1));
        }
        lines += &copy.join(&format!("\n{indent}{}", "    ".repeat(depth)));
        lines += &format!(
            "\n{indent}{}}}\n{indent}__syncthreads();\n{indent}",
            "    ".repeat(depth - 1)
        );
        patch.replace(self.home..self.home, lines);
        for a in &self.all {
            patch.replace(a.whole.clone(), format!("{tile}{places}"));
        }
        let used = scope::names(text);
        let taken = axes.iter().any(|a| used.contains(&self.cell(*a))) || used.contains(&tile);
        let text = patch.apply(text).ok().filter(|_| !taken)?;
        let name = format!("window of `{}`", self.array);
        Some(Plan {
            name,
            text,
            marked: false,
            block,
            cut: None,
            ahead: 0,
            in_vectors: false,
            tiles: None,
        })
    }

    /// A condition on positions as it is for the nearest thread that reads the place: bounds from below are asked of one further up,
    /// bounds from above of one further down.
    fn nearby(
        &self,
        way: &[(usize, usize)],
        e: &ast::Expr,
        negated: bool,
        bounds: &mut Vec<Bound>,
    ) -> Option<String> {
        let text = |e: &ast::Expr| self.kernel.sources.text(e.span).to_string();
        let ExprKind::Binary { op, left, right } = &*scope::plain(e).kind else {
            return match &*scope::plain(e).kind {
                ExprKind::Unary { op, operand } if op == "!" => {
                    Some(format!("!({})", self.nearby(way, operand, !negated, bounds)?))
                }
                _ => None,
            };
        };
        if matches!(op.as_str(), "&&" | "||") {
            let a = self.nearby(way, left, negated, bounds)?;
            let b = self.nearby(way, right, negated, bounds)?;
            return Some(format!("({a} {op} {b})"));
        }
        let axis_of = |e: &ast::Expr| {
            let name = outer::name(e)?;
            let (.., value, at) = self.variables.iter().find(|(n, ..)| n == name)?;
            let whole = |p: &&Position| p.at.start == *at && p.at.end == at + value.len();
            self.positions.iter().find(whole).map(|p| p.axis)
        };
        let (axis, on_left) = match (axis_of(left), axis_of(right)) {
            (Some(a), None) => (a, true),
            (None, Some(a)) => (a, false),
            _ => return None,
        };
        let greater = match op.as_str() {
            ">" | ">=" => on_left,
            "<" | "<=" => !on_left,
            _ => return None,
        };
        let by = self.along(way, axis).map_or(String::new(), |c| match greater != negated {
            true => c.furthest(),
            false => c.nearest(),
        });
        let (a, b) = (text(left), text(right));
        bounds.push(Bound {
            axis,
            below: greater != negated,
            strict: op.ends_with('=') == negated,
            value: if on_left { b.clone() } else { a.clone() },
        });
        Some(if on_left { format!("{a}{by} {op} {b}") } else { format!("{a} {op} {b}{by}") })
    }

    /// The variable that goes along an axis of the tile.
    fn cell(&self, axis: usize) -> String {
        format!("{}_{}", find::plain_name(self.array), AXES[axis])
    }

    /// The statements that fill a place of the tile.
    fn copy(
        &self,
        way: &[(usize, usize)],
        block: Option<[u32; 3]>,
        place: &str,
        guarded: bool,
    ) -> Option<Vec<String>> {
        let mut lines = vec![];
        let zero = self.counters.iter().map(|c| format!("const {} {} = 0;", c.ty, c.name));
        lines.extend(zero);
        for (name, ty, value, at) in &self.variables {
            let mut patch = Patch::default();
            let within = |p: &&Position| *at <= p.at.start && p.at.end <= at + value.len();
            for p in self.positions.iter().filter(within) {
                let own = self.kernel.extent(p.axis, block)?;
                let from = self.along(way, p.axis).map_or(String::new(), Counter::before);
                let x = AXES[p.axis];
                let text = format!("(int)(blockIdx.{x} * {own}) + {}{from}", self.cell(p.axis));
                patch.replace(p.at.start - at..p.at.end - at, text);
            }
            let value = patch.apply(value).ok()?;
            if value.contains("threadIdx") {
                return None;
            }
            lines.push(format!("const {ty} {name} = {value};"));
        }
        let index = &self.all.first()?.index;
        let copy = format!("{place} = {};", self.all.first()?.with(index));
        let mut conditions = self.conditions.clone();
        if guarded {
            let mut bounds = vec![];
            let near = self.active.iter().map(|(e, negated)| {
                let text = self.nearby(way, e, *negated, &mut bounds)?;
                Some(if *negated { format!("!{}", parenthesised(&text)) } else { text })
            });
            conditions.extend(near.collect::<Option<Vec<_>>>().filter(|n| !n.is_empty())?);
            conditions.extend(some_thread(&bounds));
        }
        lines.push(asked(&conditions) + &copy);
        // Counters that only sums with others need are named by the subscript, too; those that nothing names would be unused.
        let text = lines.join(" ");
        lines.retain(|l| {
            let counter =
                self.counters.iter().find(|c| *l == format!("const {} {} = 0;", c.ty, c.name));
            counter.is_none_or(|c| {
                marks::tokens(&text).iter().filter(|t| text[t.at.clone()] == *c.name).count() > 1
            })
        });
        Some(lines)
    }
}

/// A bound of the positions of threads that come to the loops.
struct Bound {
    axis: usize,
    /// It is one from below.
    below: bool,
    /// The value itself is outside.
    strict: bool,
    value: String,
}

/// That there is a thread between the bounds of each axis: else nobody reads anything.
fn some_thread(bounds: &[Bound]) -> Vec<String> {
    let mut all = vec![];
    for low in bounds.iter().filter(|b| b.below) {
        let first =
            if low.strict { format!("{} + 1", operand(&low.value)) } else { low.value.clone() };
        for high in bounds.iter().filter(|b| !b.below && b.axis == low.axis) {
            all.push(format!("{first} {} {}", if high.strict { "<" } else { "<=" }, high.value));
        }
    }
    all
}

/// `if (…) ` for conditions that all have to hold; nothing for none.
pub(super) fn asked(conditions: &[String]) -> String {
    match conditions {
        [] => String::new(),
        [only] => format!("if ({only}) "),
        several => {
            let all: Vec<String> = several.iter().map(|c| conjunct(c)).collect();
            format!("if ({}) ", all.join(" && "))
        }
    }
}

/// A condition as it stands between `&&`.
fn conjunct(text: &str) -> String {
    let weak = ["||", "?", "="].iter().any(|op| text.contains(op)) && !text.starts_with('!');
    let compares = ["<=", ">=", "==", "!="].iter().any(|op| text.contains(op));
    if weak && !(compares && !text.contains("||") && !text.contains('?')) {
        return parenthesised(text);
    }
    text.to_string()
}

/// A text in parentheses, once.
fn parenthesised(text: &str) -> String {
    let tokens = marks::tokens(text);
    let mut depth = 0;
    let whole = text.starts_with('(')
        && tokens.iter().enumerate().all(|(n, t)| {
            match &text[t.at.clone()] {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            depth > 0 || n + 1 == tokens.len()
        });
    if whole { text.to_string() } else { format!("({text})") }
}

impl Step {
    fn counter(&self) -> Option<&Counter> {
        match self {
            Step::Loop(c) => Some(c),
            _ => None,
        }
    }
}

impl Counter {
    /// What is added to the thread's own place: `+ dx + R`.
    fn beside(&self) -> String {
        match (self.falls, self.first.as_str()) {
            (true, _) => format!(" - {} + {}", self.name, operand(&self.last)),
            (false, "0") => format!(" + {}", self.name),
            (false, first) => match first.strip_prefix('-') {
                Some(radius) => format!(" + {} + {}", self.name, operand(radius.trim())),
                None => format!(" + {} - {}", self.name, operand(first)),
            },
        }
    }

    /// What is added to the position of the tile's first place: `- R`.
    fn before(&self) -> String {
        match (self.falls, self.first.as_str()) {
            (true, _) => format!(" - {}", operand(&self.last)),
            (false, "0") => String::new(),
            (false, first) => match first.strip_prefix('-') {
                Some(radius) => format!(" - {}", operand(radius.trim())),
                None => format!(" + {}", operand(first)),
            },
        }
    }

    /// From a place to the position of the last thread that reads it, and to that of the first.
    fn furthest(&self) -> String {
        match (self.falls, self.first.as_str()) {
            (true, _) => format!(" + {}", operand(&self.last)),
            (false, "0") => String::new(),
            (false, first) => match first.strip_prefix('-') {
                Some(radius) => format!(" + {}", operand(radius.trim())),
                None => format!(" - {}", operand(first)),
            },
        }
    }

    fn nearest(&self) -> String {
        match self.falls {
            true => format!(" + {}", operand(&self.first)),
            false => format!(" - {}", operand(&self.last)),
        }
    }

    /// A loop between two constants.
    fn new(kernel: &Kernel<'_>, s: &ast::Stmt) -> Option<Counter> {
        let StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), .. } = &s.kind
        else {
            return None;
        };
        let (name, first, true) = outer::begin(init)? else { return None };
        let StmtKind::Vars(vars) = &init.kind else { return None };
        let ty = find::plain_type(&vars.declarators.first()?.ty, kernel.sources);
        let (end, inclusive) = outer::bound(cond, name)?;
        outer::is_increment(step, name).then_some(())?;
        let [first, end] = [first, end].map(|e| kernel.sources.text(e.span).trim().to_string());
        let known = |n: &String| !kernel.is_variable(n) || kernel.is_template_parameter(n);
        let fixed = |text: &str| scope::names(text).iter().all(known);
        if !fixed(&first) || !fixed(&end) {
            return None;
        }
        let last = if inclusive { end.clone() } else { format!("{} - 1", operand(&end)) };
        let radius = first.strip_prefix('-').map(str::trim);
        let length = match (inclusive, first.as_str()) {
            (true, _) if radius == Some(end.as_str()) => format!("2 * {}", operand(&end)),
            (true, "0") => operand(&end),
            (false, "0") => format!("{} - 1", operand(&end)),
            (true, first) => format!("{} - {}", operand(&end), operand(first)),
            (false, first) => format!("{} - {} - 1", operand(&end), operand(first)),
        };
        Some(Counter { name: name.into(), ty, first, last, length, falls: false })
    }
}

/// Whether a name is subtracted somewhere.
fn is_subtracted(text: &str, name: &str) -> bool {
    let tokens = marks::tokens(text);
    tokens.windows(2).any(|t| text[t[0].at.clone()] == *"-" && text[t[1].at.clone()] == *name)
}

/// What stands on the way from the beginning of a list to a place. Of loops only those of constant length are gone into.
fn path(
    kernel: &Kernel<'_>,
    stmts: &[ast::Stmt],
    at: usize,
    looped: bool,
    steps: &mut Vec<Step>,
) -> Option<()> {
    let text = |e: &ast::Expr| kernel.sources.text(e.span).to_string();
    for s in stmts {
        let holds = (s.span.start as usize..s.span.end as usize).contains(&at);
        match &s.kind {
            StmtKind::Vars(vars) => {
                for d in &vars.declarators {
                    let value = match &d.init {
                        Some(Initializer::Expr(e)) => Some((text(e), e.span.start as usize)),
                        _ => None,
                    };
                    let ty = find::plain_type(&d.ty, kernel.sources);
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
                    let cond = text(cond);
                    steps.push(Step::Condition(if in_then { cond } else { format!("!({cond})") }));
                }
                return path(kernel, std::slice::from_ref(&**branch), at, looped, steps);
            }
            // What goes on with the next iteration does not come to the read.
            StmtKind::If { cond, then, otherwise: None, .. } if looped && goes_on(then) => {
                steps.push(Step::Condition(format!("!({})", text(cond))));
            }
            StmtKind::For { body, .. } if holds => {
                steps.push(Step::Loop(Counter::new(kernel, s)?));
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

/// A text without the positions in it; it stands at a byte of the file.
fn without(text: &str, at: usize, positions: &[Position]) -> String {
    let mut patch = Patch::default();
    let within = |p: &&Position| at <= p.at.start && p.at.end <= at + text.len();
    for p in positions.iter().filter(within) {
        patch.replace(p.at.start - at..p.at.end - at, "0");
    }
    patch.apply(text).unwrap_or_else(|_| text.to_string())
}

/// Conditions of the kernel's own list, and of branches in it, under which a thread comes to a place outside of loops.
fn active<'a>(kernel: &Kernel<'a>, at: usize) -> Vec<(&'a ast::Expr, bool)> {
    let mut all = vec![];
    let mut list: &[ast::Stmt] = &kernel.body.stmts;
    loop {
        let mut inner = None;
        for s in list {
            let holds = (s.span.start as usize..s.span.end as usize).contains(&at);
            match &s.kind {
                StmtKind::Block(b) if holds => inner = Some(b.stmts.as_slice()),
                StmtKind::If { cond, then, otherwise: None, .. } if holds => {
                    all.push((cond, false));
                    inner = Some(std::slice::from_ref(&**then));
                }
                StmtKind::If { cond, then, otherwise: None, .. } if super::temporal::ends(then) => {
                    all.push((cond, true));
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

pub(super) fn goes_on(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Continue => true,
        StmtKind::Block(b) => matches!(b.stmts.as_slice(), [only] if goes_on(only)),
        _ => false,
    }
}

/// Before the first statement that is no declaration: all threads of a block come there.
fn home(kernel: &Kernel<'_>) -> Option<usize> {
    let reads = |s: &ast::Stmt| {
        let at = s.span.start as usize..s.span.end as usize;
        kernel.elements().any(|a| at.contains(&a.whole.start))
    };
    let first = kernel.body.stmts.iter().find(|s| !matches!(s.kind, StmtKind::Vars(_)) || reads(s));
    first.filter(|s| s.span.file.0 == 0).map(|s| s.span.start as usize)
}
