//! Loops in which each thread goes over elements of its own, a grid apart: blocks go through them together, so that a barrier can
//! stand inside.
//!
//! ```text
//! for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) { … }
//!   ==>
//! for (int i_first = blockIdx.x * blockDim.x; i_first < n; i_first += blockDim.x * gridDim.x) {
//!     const int i = i_first + threadIdx.x;
//!     if (i < n) { … }
//! }
//! ```
//!
//! A thread comes to the same elements in the same order. This alone is no plan: others begin from it.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind, StmtKind};

use super::cut::{AXES, operand};
use super::elements;
use super::plans::{Kernel, replaced};
use super::{find, outer, windows};
use crate::source::marks;
use crate::source::patch::{Patch, indentation};
use crate::source::scope;

/// A kernel whose blocks go through its loops together.
pub struct Together {
    pub text: String,
    /// The counters.
    pub names: String,
}

/// A loop of a thread over elements of its own.
struct Strided<'a> {
    stmt: &'a ast::Stmt,
    body: &'a ast::Stmt,
    counter: &'a str,
    ty: String,
    /// Where the block begins, and what the thread adds to it: `threadIdx.x`.
    first: String,
    thread: String,
    cond: &'a ast::Expr,
    step: &'a ast::Expr,
}

/// The kernel with the loops that hold all its stores gone through together.
pub fn together(kernel: &Kernel<'_>) -> Option<Together> {
    let outermost = kernel.body.stmts.iter().find(|s| holds_stores(kernel, s))?;
    let mut loops = vec![Strided::new(kernel, outermost)?];
    while let Some(next) = only(loops.last()?.body).and_then(|s| Strided::new(kernel, s)) {
        loops.push(next);
    }
    let independent =
        |s: &str| scope::names(s).iter().all(|n| loops.iter().all(|l| l.counter != n));
    let heads = loops.iter().map(|l| l.head(kernel)).collect::<Option<Vec<_>>>()?;
    let conds: Vec<String> =
        loops.iter().map(|l| kernel.sources.text(l.cond.span).to_string()).collect();
    let used = scope::names(kernel.text);
    let taken = |l: &Strided<'_>| used.contains(&l.together());
    let fixed = loops.iter().all(|l| {
        independent(&l.first)
            && independent(kernel.sources.text(l.step.span).split_once('=').map_or("", |s| s.1))
    });
    if !fixed || loops.iter().any(taken) {
        return None;
    }
    let (first, last) = (loops.first()?, loops.last()?);
    let text = kernel.text;
    let indent = indentation(text, first.stmt.span.start as usize).to_string();
    let deep = |n: usize| format!("{indent}{}", "    ".repeat(n));
    let mut lines =
        format!("// Blocks go through this together, so that barriers can stand inside.\n{indent}");
    for (n, head) in heads.iter().enumerate() {
        lines += &format!("{head} {{\n{}", deep(n + 1));
    }
    let inner = deep(heads.len());
    for l in &loops {
        lines +=
            &format!("const {} {} = {} + {};\n{inner}", l.ty, l.counter, l.together(), l.thread);
    }
    lines += &windows::asked(&conds);
    let body = last.body.span.start as usize..last.body.span.end as usize;
    // The body stands where the loops stood, and one further in.
    let moved = text[body.clone()].replace('\n', "\n    ");
    lines += &moved;
    for n in (0..heads.len()).rev() {
        lines += &format!("\n{}}}", deep(n));
    }
    let mut patch = Patch::default();
    patch.replace(first.stmt.span.start as usize..first.stmt.span.end as usize, lines);
    let names: Vec<String> = loops.iter().map(|l| format!("`{}`", l.counter)).collect();
    let text = patch.apply(text).ok()?;
    Some(Together { text, names: names.join(" and ") })
}

/// Whether a statement of the kernel's own list holds all its stores.
fn holds_stores(kernel: &Kernel<'_>, s: &ast::Stmt) -> bool {
    let at = s.span.start as usize..s.span.end as usize;
    let mut stores = kernel.elements().filter(|a| a.stored).peekable();
    stores.peek().is_some() && stores.all(|a| s.span.file.0 == 0 && at.contains(&a.whole.start))
}

/// The only statement of a body.
fn only(s: &ast::Stmt) -> Option<&ast::Stmt> {
    match &s.kind {
        StmtKind::Block(b) => match b.stmts.as_slice() {
            [one] => Some(one),
            _ => None,
        },
        _ => Some(s),
    }
}

impl<'a> Strided<'a> {
    fn new(kernel: &Kernel<'a>, stmt: &'a ast::Stmt) -> Option<Strided<'a>> {
        let StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), body } =
            &stmt.kind
        else {
            return None;
        };
        let (counter, first, true) = outer::begin(init)? else { return None };
        let StmtKind::Vars(vars) = &init.kind else { return None };
        let ty = elements::plain_type(&vars.declarators.first()?.ty, kernel.sources);
        outer::bound(cond, counter)?;
        let ExprKind::Assign { op, target, .. } = &*step.kind else { return None };
        if op != "+=" || outer::name(target) != Some(counter) {
            return None;
        }
        let values = find::initialisers(kernel.body, kernel.sources);
        let mut begin = kernel.sources.text(first.span).to_string();
        // Names that stand for the thread's place.
        for _ in 0..4 {
            if begin.contains("threadIdx") {
                break;
            }
            begin = match values.get(&begin) {
                Some(whole) => whole.clone(),
                None => replaced(&begin, &values),
            };
        }
        let (first, thread) = (0..3).find_map(|a| without_thread(&begin, AXES[a]))?;
        Some(Strided { stmt, body, counter, ty, first, thread, cond, step })
    }

    /// The counter of the block.
    fn together(&self) -> String {
        format!("{}_first", self.counter)
    }

    /// The loop of the block.
    fn head(&self, kernel: &Kernel<'_>) -> Option<String> {
        let renamed = HashMap::from([(self.counter.to_string(), self.together())]);
        let text = |e: &ast::Expr| replaced(kernel.sources.text(e.span), &renamed);
        let (cond, step) = (text(self.cond), text(self.step));
        let moving = |t: &str| t.contains("threadIdx");
        if moving(&cond) || moving(&step) || moving(&self.first) {
            return None;
        }
        Some(format!("for ({} {} = {}; {cond}; {step})", self.ty, self.together(), self.first))
    }
}

/// A sum without `threadIdx.x` as one of its terms, and that term.
fn without_thread(text: &str, axis: &str) -> Option<(String, String)> {
    let term = format!("threadIdx.{axis}");
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let mut depth = 0i32;
    let mut found = None;
    for i in 0..tokens.len() {
        match word(i) {
            "(" => depth += 1,
            ")" => depth -= 1,
            "?" | "%" | "/" | "<" | ">" | "&" | "|" | "^" if depth == 0 => return None,
            "threadIdx" if word(i + 1) == "." && word(i + 2) == axis => {
                if depth != 0 || found.is_some() {
                    return None;
                }
                found = Some(i);
            }
            _ => {}
        }
    }
    let i = found?;
    let (before, after) = (if i == 0 { "" } else { word(i - 1) }, word(i + 3));
    let mut patch = Patch::default();
    match (before, after) {
        ("", "") => return Some(("0".into(), term)),
        ("+", "" | "+") => patch.replace(tokens[i - 2].at.end..tokens[i + 2].at.end, ""),
        ("", "+") => patch.replace(tokens[i].at.start..tokens.get(i + 4)?.at.start, ""),
        _ => return None,
    }
    let rest = patch.apply(text).ok()?;
    Some((rest, operand(&term)))
}
