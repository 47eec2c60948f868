//! Conditions under which an element of a window is copied.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind};

use super::sum::{Sum, compared, opposite, turned};
use crate::source::marks;
use crate::source::scope;

/// What the threads that read a place are away from it, along each axis: the one furthest down and the one furthest up.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    pub furthest: Sum,
    pub nearest: Sum,
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

/// What conditions are asked of.
pub struct Guards<'a> {
    /// Positions by what they are called, with their axes.
    pub named: HashMap<String, usize>,
    pub reach: [Reach; 3],
    /// A part of the file as it stands in the copy.
    pub text: &'a dyn Fn(&ast::Expr) -> String,
}

impl Guards<'_> {
    /// Conditions as they are for the thread that would stand at the place.
    pub fn same(&self, all: &[(&ast::Expr, bool)]) -> Vec<String> {
        let mut atoms = vec![];
        all.iter().for_each(|(e, holds)| conjuncts(e, *holds, &mut atoms));
        atoms.into_iter().map(|(e, holds)| self.plainly(e, holds)).collect()
    }

    fn plainly(&self, e: &ast::Expr, holds: bool) -> String {
        let text = (self.text)(e);
        if holds {
            return text;
        }
        if let ExprKind::Binary { op, left, right } = &*scope::plain(e).kind
            && let Some(op) = opposite(op).filter(|o| o.len() <= 2)
            && self.counts(left)
            && self.counts(right)
        {
            return format!("{} {op} {}", (self.text)(left), (self.text)(right));
        }
        format!("!{}", parenthesised(&text))
    }

    /// Whether an expression is made of positions, names and whole numbers: its comparison can be turned around.
    fn counts(&self, e: &ast::Expr) -> bool {
        match &*scope::plain(e).kind {
            ExprKind::Path(_) | ExprKind::Member { .. } => true,
            ExprKind::Number(n) => n.parse::<i64>().is_ok(),
            ExprKind::Binary { left, right, .. } => self.counts(left) && self.counts(right),
            ExprKind::Unary { operand, .. } => self.counts(operand),
            _ => false,
        }
    }

    /// Conditions as they are for the nearest thread that reads the place: bounds from below are asked of one further up, bounds from
    /// above of one further down. `apart`: that there is such a thread, too.
    pub fn nearby(&self, all: &[(&ast::Expr, bool)], apart: bool) -> Option<Vec<String>> {
        let mut atoms = vec![];
        all.iter().for_each(|(e, holds)| conjuncts(e, *holds, &mut atoms));
        let mut bounds = vec![];
        let mut near = vec![];
        for (e, holds) in atoms {
            near.push(self.near(e, holds, &mut bounds)?);
        }
        if apart {
            near.extend(some_thread(&bounds));
        }
        Some(near)
    }

    fn near(&self, e: &ast::Expr, holds: bool, bounds: &mut Vec<Bound>) -> Option<String> {
        let e = scope::plain(e);
        if let ExprKind::Unary { op, operand } = &*e.kind
            && op == "!"
        {
            return self.near(operand, !holds, bounds);
        }
        let ExprKind::Binary { op, left, right } = &*e.kind else { return None };
        if matches!(op.as_str(), "&&" | "||") {
            // Of conditions one of which holds no bound is known.
            let mut none = vec![];
            let a = self.near(left, holds, &mut none)?;
            let b = self.near(right, holds, &mut none)?;
            let op = if (op == "&&") == holds { "&&" } else { "||" };
            return Some(format!("({a} {op} {b})"));
        }
        let axis_of = |e: &ast::Expr| self.named.get((self.text)(scope::plain(e)).as_str());
        let (axis, position, bound, op) = match (axis_of(left), axis_of(right)) {
            (Some(a), None) => (*a, left, right, op.as_str()),
            (None, Some(a)) => (*a, right, left, turned(op)),
            _ => return None,
        };
        let op = if holds { op } else { opposite(op)? };
        // Positions are not below zero.
        let zero = (self.text)(bound) == "0";
        let op = if op == "!=" && zero { ">" } else { op };
        let below = match op {
            ">" | ">=" => true,
            "<" | "<=" => false,
            _ => return None,
        };
        let reach = &self.reach[axis];
        let by = if below { &reach.furthest } else { &reach.nearest };
        let (position, value) = ((self.text)(scope::plain(position)), (self.text)(bound));
        let strict = op.len() == 1;
        bounds.push(Bound { axis, below, strict, value: value.clone() });
        Some(compared(&Sum::of(&position).plus(1, by), op, &Sum::of(&value)))
    }
}

/// The conditions that all have to hold for one to hold, or not to.
fn conjuncts<'a>(e: &'a ast::Expr, holds: bool, all: &mut Vec<(&'a ast::Expr, bool)>) {
    match &*scope::plain(e).kind {
        ExprKind::Binary { op, left, right } if op == if holds { "&&" } else { "||" } => {
            conjuncts(left, holds, all);
            conjuncts(right, holds, all);
        }
        ExprKind::Unary { op, operand } if op == "!" => conjuncts(operand, !holds, all),
        _ => all.push((e, holds)),
    }
}

/// That there is a thread between the bounds of each axis: else nobody reads anything.
fn some_thread(bounds: &[Bound]) -> Vec<String> {
    let mut all = vec![];
    for low in bounds.iter().filter(|b| b.below) {
        let first = Sum::of(&low.value).plus(i64::from(low.strict), &Sum::number(1));
        for high in bounds.iter().filter(|b| !b.below && b.axis == low.axis) {
            all.push(compared(&first, if high.strict { "<" } else { "<=" }, &Sum::of(&high.value)));
        }
    }
    all
}

/// That all of one of some lists hold: what they have in common, and the rest of each. `None`: there are none.
pub fn any(all: Vec<Vec<String>>) -> Option<Vec<String>> {
    let (first, others) = all.split_first()?;
    let common = |c: &&String| others.iter().all(|o| o.contains(*c));
    let mut conditions: Vec<String> = first.iter().filter(common).cloned().collect();
    let rest = all.iter().map(|list| {
        let own: Vec<String> =
            list.iter().filter(|c| !conditions.contains(c)).map(|c| conjunct(c)).collect();
        if own.len() > 1 { format!("({})", own.join(" && ")) } else { own.concat() }
    });
    let rest: Vec<String> = rest.collect();
    if rest.iter().all(|r| !r.is_empty()) {
        conditions.push(rest.join(" || "));
    }
    Some(conditions)
}

/// `if (…) ` for conditions that all have to hold; nothing for none.
pub fn asked(conditions: &[String]) -> String {
    match conditions {
        [] => String::new(),
        all => format!("if ({}) ", joined(all).join(" && ")),
    }
}

fn joined(conditions: &[String]) -> Vec<String> {
    match conditions {
        [only] => vec![only.clone()],
        all => all.iter().map(|c| conjunct(c)).collect(),
    }
}

/// Columns that no emitted line passes.
const WIDTH: usize = 100;

/// A statement under conditions, in lines that fit; further lines begin with the indentation that is given.
pub fn guarded(conditions: &[String], statement: &str, indent: &str) -> String {
    let one = format!("{}{statement}", asked(conditions));
    if conditions.is_empty() || indent.len() + one.len() <= WIDTH {
        return one;
    }
    let mut lines = vec![];
    let mut line = "if (".to_string();
    let mut all: Vec<(String, &str)> = vec![];
    for c in joined(conditions) {
        let parts: Vec<&str> = c.split(" || ").collect();
        let last = parts.len() - 1;
        let end = |n: usize| if n == last { " &&" } else { " ||" };
        all.extend(parts.iter().enumerate().map(|(n, p)| (p.to_string(), end(n))));
    }
    for (n, (c, end)) in all.iter().enumerate() {
        let end = if n + 1 == all.len() { ")" } else { end };
        if indent.len() + line.len() + c.len() + end.len() > WIDTH && !line.ends_with('(') {
            lines.push(line.trim_end().to_string());
            line = format!("{indent}    ");
        }
        line += &format!("{c}{end} ");
    }
    lines.push(line.trim_end().to_string());
    lines.push(format!("{indent}    {statement}"));
    lines.join("\n")
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

/// The name that a text is.
pub fn name(text: &str) -> Option<&str> {
    let tokens = marks::tokens(text);
    let word = matches!(tokens.as_slice(), [t] if t.at == (0..text.len()));
    let first = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    (word && first).then_some(text)
}
