//! Products: loops in which one operand goes along with the rows of threads, and another with their columns.
//!
//! ```text
//! for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
//!   ==>
//! for (int k0 = 0; k0 < K; k0 += T) {
//!     A_tile[ty][tx] = …; B_tile[ty][tx] = …;
//!     __syncthreads();
//!     for (int k = 0; k < T; k++) sum += A_tile[ty][k] * B_tile[k][tx];
//!     __syncthreads();
//! }
//! ```
//!
//! Barriers stand in the loop, so all threads go through it, those beyond the edges, too: the condition around it, or the `return`
//! before it, comes after it. Elements are added in their order. A sum that the loop keeps in memory (`C[i * n + j] += …`) is kept in
//! a variable ([`result`]).

mod result;

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind};
use warpsmith_front::sema::walk;

use super::elements;
use super::find::{self, Access};
use super::outer::{self, Outer};
use super::plans::{Kernel, Plan, replaced};
use super::vectors::rows::innermost;
use super::windows::sum;
use crate::source::patch::{Patch, indentation};
use crate::source::{scope, values};
use result::InMemory;

/// Iterations a tile where the block has no number.
const USUAL: i64 = 16;

/// Plans for the innermost loops of a kernel that are products.
pub fn plans(kernel: &Kernel<'_>) -> Vec<Plan> {
    let mut loops = vec![];
    if kernel.axes[0] && kernel.axes[1] {
        innermost(&kernel.body.stmts, &mut loops);
    }
    loops.into_iter().filter_map(|s| plan(kernel, s)).collect()
}

fn plan(kernel: &Kernel<'_>, stmt: &ast::Stmt) -> Option<Plan> {
    let outer = Outer::new(kernel, stmt, false)?;
    let suits = outer.steps.is_empty() && stmt.pragmas.is_empty();
    if !suits || !outer.is_whole() || stmt.span.file.0 != 0 {
        return None;
    }
    let result = InMemory::of(kernel, &outer);
    let counter = if outer.declared { None } else { Some(result::counter(kernel, &outer)?) };
    let around = Around::of(kernel, stmt, result.is_some())?;
    let block = kernel.written(true);
    let extents = [kernel.extent(0, block)?, kernel.extent(1, block)?];
    let operands = operands(kernel, &outer, &around, result.as_ref())?;
    let product = Product { kernel, outer, around, operands, extents, result, counter };
    let text = product.patch()?.apply(kernel.text).ok()?;
    let mut list: Vec<String> =
        product.operands.iter().map(|o| format!("`{}`", o.access.array)).collect();
    list.dedup();
    let side = &product.extents[0];
    let number = side.parse().ok().or_else(|| values::value_of(kernel.unit, side));
    Some(Plan {
        name: format!("tiles of {}", list.join(" and ")),
        text,
        block,
        tiles: Some(number.unwrap_or(USUAL)),
        ..Plan::default()
    })
}

/// What stands around the loop, and keeps threads from it.
struct Around<'a> {
    /// Comparisons that all hold where the loop is come to.
    conditions: Vec<String>,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// All threads come to it, or `if (…) return;` stands before it.
    Returned(Vec<&'a ast::Stmt>),
    /// It is in the branch of an `if`, behind some statements; `open`: where the inside of its braces begins.
    If { whole: &'a ast::Stmt, cond: &'a ast::Expr, before: &'a [ast::Stmt], open: Option<usize> },
}

impl<'a> Around<'a> {
    /// `stored`: the loop stores its result itself.
    fn of(kernel: &Kernel<'a>, stmt: &ast::Stmt, stored: bool) -> Option<Around<'a>> {
        let list = &kernel.body.stmts;
        let at = list.iter().position(|s| {
            s.span.file.0 == 0 && s.span.start <= stmt.span.start && stmt.span.end <= s.span.end
        })?;
        let (conditions, returns) = returns(kernel, &list[..at])?;
        if list[at].span == stmt.span {
            return Some(Around { conditions, kind: Kind::Returned(returns) });
        }
        let StmtKind::If { init: None, cond, then, otherwise: None, .. } = &list[at].kind else {
            return None;
        };
        let (inner, open) = match &then.kind {
            StmtKind::Block(b) => (b.stmts.as_slice(), Some(b.span?.start as usize + 1)),
            _ => (std::slice::from_ref(&**then), None),
        };
        let at_inner = inner.iter().position(|s| s.span == stmt.span)?;
        let before = &inner[..at_inner];
        let behind = stored || at_inner + 1 < inner.len();
        let alone = returns.is_empty() && list[at].pragmas.is_empty() && behind;
        let moved = |s: &ast::Stmt| is_harmless(s) || stored && result::stays(s);
        if !alone || !before.iter().all(moved) {
            return None;
        }
        let declared = scope::declared(kernel.body);
        let names = find::names_declared(before);
        if names.iter().any(|n| declared.get(n).is_none_or(|d| d.len() > 1)) {
            return None;
        }
        let mut parts = vec![];
        flat(cond, "&&", &mut parts);
        let conditions = parts.iter().map(|e| kernel.sources.text(e.span).to_string()).collect();
        Some(Around { conditions, kind: Kind::If { whole: &list[at], cond, before, open } })
    }
}

/// What the first statements of a kernel let through, and those of them that return; behind those stand declarations alone.
fn returns<'a>(
    kernel: &Kernel<'a>,
    stmts: &'a [ast::Stmt],
) -> Option<(Vec<String>, Vec<&'a ast::Stmt>)> {
    let (mut conditions, mut found) = (vec![], vec![]);
    for s in stmts {
        match &s.kind {
            StmtKind::If { init: None, cond, then, otherwise: None, .. } if is_return(then) => {
                let mut parts = vec![];
                flat(cond, "||", &mut parts);
                for part in parts {
                    conditions.push(negated(kernel, part)?);
                }
                found.push(s);
            }
            _ if found.is_empty() || is_harmless(s) => {}
            _ => return None,
        }
    }
    Some((conditions, found))
}

fn is_return(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(None) => true,
        StmtKind::Block(b) => matches!(b.stmts.as_slice(), [only] if is_return(only)),
        _ => false,
    }
}

/// Declarations that threads beyond the edges can make, too: nothing is read, called, divided or changed.
fn is_harmless(s: &ast::Stmt) -> bool {
    let StmtKind::Vars(vars) = &s.kind else { return false };
    let mut harmless = !vars.attrs.shared;
    for d in &vars.declarators {
        harmless &= matches!(&d.init, None | Some(Initializer::Expr(_)));
    }
    walk::stmt(s, &mut |e| {
        harmless &= match &*e.kind {
            ExprKind::Index { .. } | ExprKind::Call { .. } | ExprKind::Assign { .. } => false,
            ExprKind::IncDec { .. } => false,
            ExprKind::Unary { op, .. } => op != "*",
            ExprKind::Binary { op, .. } => op != "/" && op != "%",
            _ => true,
        };
    });
    harmless
}

/// The parts of a conjunction or disjunction.
fn flat<'a>(e: &'a ast::Expr, joined: &str, all: &mut Vec<&'a ast::Expr>) {
    match &*scope::plain(e).kind {
        ExprKind::Binary { op, left, right } if op == joined => {
            flat(left, joined, all);
            flat(right, joined, all);
        }
        _ => all.push(scope::plain(e)),
    }
}

/// A comparison that holds where another does not.
fn negated(kernel: &Kernel<'_>, e: &ast::Expr) -> Option<String> {
    let ExprKind::Binary { op, left, right } = &*e.kind else { return None };
    let other = sum::opposite(op)?;
    let text = |e: &ast::Expr| kernel.sources.text(e.span).to_string();
    Some(format!("{} {other} {}", text(left), text(right)))
}

/// An array that a tile holds a part of.
struct Operand<'a> {
    access: &'a Access,
    element: String,
    /// It goes along with rows of threads, not with columns.
    by_rows: bool,
    /// What has to hold where it is read, beside that the loop goes so far.
    conditions: Vec<String>,
}

/// The operands of a loop; `None`: it reads something else, too, or one of them twice.
fn operands<'a>(
    kernel: &Kernel<'a>,
    outer: &Outer<'_>,
    around: &Around<'_>,
    result: Option<&InMemory<'_>>,
) -> Option<Vec<Operand<'a>>> {
    let span = outer.stmt.span.start as usize..outer.stmt.span.end as usize;
    let mut changed = find::names_declared(std::slice::from_ref(outer.body));
    changed.extend(outer::assignments(std::slice::from_ref(outer.body)).into_iter().map(|a| a.0));
    let mut all: Vec<Operand<'a>> = vec![];
    let params = find::pointers(kernel.function);
    let locals = find::into(kernel.body, &params, kernel.sources);
    let root = |a: &Access| {
        let local = locals.iter().find(|(name, _)| *name == a.array);
        local.map_or(a.array.clone(), |(_, param)| param.to_string())
    };
    let accesses = || kernel.accesses.iter().chain(kernel.through);
    let is_result = |a: &Access| result.is_some_and(|r| r.is_at(a));
    let read = |a: &&Access| span.contains(&a.whole.start) && !is_result(a);
    for access in accesses().filter(read) {
        let stored = accesses().any(|a| a.stored && root(a) == root(access));
        let known = access.loops().is_some_and(|l| l.len() == 1);
        let [x, y] = access.strides().filter(|_| known && !stored)?;
        let (here, next) = (access.value([2, 2, 0])?, access.value_at([2, 2, 0], 3)?);
        let fixed = scope::names(&access.index).iter().all(|n| !changed.contains(n));
        // Rows and columns of one array are two operands.
        let twice = all.iter().any(|o| o.access.array == access.array && o.by_rows == (x == 0));
        let one = (x == 0) != (y == 0) && next != here;
        if !one || !fixed || twice {
            return None;
        }
        let element =
            elements::element_type(kernel.function, &access.array, kernel.unit, kernel.sources)?;
        let conditions = needed(kernel, &around.conditions, usize::from(x == 0))?;
        all.push(Operand { access, element, by_rows: x == 0, conditions });
    }
    // Two kinds of operands make a product; with one kind, threads read what their neighbours do not.
    let kinds = [true, false].map(|rows| all.iter().any(|o| o.by_rows == rows));
    (kinds == [true, true]).then_some(all)
}

/// The conditions that do not ask for a thread's place along the other axis; `None` where one asks for both.
fn needed(kernel: &Kernel<'_>, conditions: &[String], axis: usize) -> Option<Vec<String>> {
    let values = scope::declared(kernel.body);
    let mut kept = vec![];
    for c in conditions {
        let asks = asked(kernel, &values, c);
        if asks == [true, true] {
            return None;
        }
        if !asks[1 - axis] {
            kept.push(c.clone());
        }
    }
    Some(kept)
}

/// Whether a text asks for a thread's place along x and along y, through variables.
fn asked(
    kernel: &Kernel<'_>,
    values: &HashMap<String, Vec<Option<ast::Expr>>>,
    text: &str,
) -> [bool; 2] {
    let mut asks = [false, false];
    let (mut seen, mut left): (Vec<String>, Vec<String>) = (vec![], vec![text.to_string()]);
    while let Some(text) = left.pop() {
        asks[0] |= text.contains("threadIdx.x");
        asks[1] |= text.contains("threadIdx.y");
        for name in scope::names(&text) {
            let values = values.get(&name).filter(|_| !seen.contains(&name));
            let known = values.into_iter().flatten().flatten();
            left.extend(known.map(|e| kernel.sources.text(e.span).to_string()));
            seen.push(name);
        }
    }
    asks
}

/// A loop that is a product, with all that its text is made from.
struct Product<'a> {
    kernel: &'a Kernel<'a>,
    outer: Outer<'a>,
    around: Around<'a>,
    operands: Vec<Operand<'a>>,
    /// Of the block, along x and y.
    extents: [String; 2],
    /// The element that the loop keeps its sum in.
    result: Option<InMemory<'a>>,
    /// The declaration of a counter that the loop does not declare.
    counter: Option<&'a ast::Stmt>,
}

impl Product<'_> {
    fn patch(&self) -> Option<Patch> {
        let text = self.kernel.text;
        let mut patch = Patch::default();
        let start = self.kernel.body.span?.start as usize + 1;
        let first = self.kernel.body.stmts.first()?.span.start as usize;
        let inner = indentation(text, first);
        let [x, y] = &self.extents;
        for o in &self.operands {
            let rows = if o.by_rows { y } else { x };
            let tile = format!("\n{inner}__shared__ {} {}[{rows}][{x}];", o.element, self.tile(o));
            patch.replace(start..start, tile);
        }
        if let Some(counter) = self.counter {
            let (a, b) = (counter.span.start as usize, counter.span.end as usize);
            // In the branch it goes with what stands before the loop.
            if !self.is_before(counter) {
                patch.replace(whole_line(text, a, b), "");
            }
        }
        let (from, to) = (self.outer.stmt.span.start as usize, self.outer.stmt.span.end as usize);
        match &self.around.kind {
            Kind::Returned(returns) => {
                let indent = indentation(text, from);
                let mut after = String::new();
                for s in returns {
                    let (a, b) = (s.span.start as usize, s.span.end as usize);
                    after += &format!("\n{indent}{}", &text[a..b]);
                    patch.replace(whole_line(text, a, b), "");
                }
                let (mut first, mut last) = (String::new(), String::new());
                if let Some(r) = &self.result {
                    let all = self.around.conditions.join(" && ");
                    let guarded = (!all.is_empty()).then_some(all.as_str());
                    first = format!("{}\n{indent}", r.declared(&self.sum(), guarded));
                    last = format!("\n{indent}{}", r.stored(&self.sum()));
                }
                patch.replace(from..to, format!("{first}{}{after}{last}", self.tiled(indent)?));
            }
            Kind::If { whole, .. } => {
                let at = whole.span.start as usize;
                let indent = indentation(text, at);
                patch.replace(at..self.end(), self.out_of_branch(indent)?);
            }
        }
        Some(patch)
    }

    /// Where what takes the place of a branch ends: what stands behind the loop stays in it.
    fn end(&self) -> usize {
        match &self.around.kind {
            Kind::If { whole, open: None, .. } => whole.span.end as usize,
            _ => self.outer.stmt.span.end as usize,
        }
    }

    fn is_before(&self, s: &ast::Stmt) -> bool {
        matches!(&self.around.kind, Kind::If { before, .. } if before.iter().any(|b| b.span == s.span))
    }

    /// The loop before the branch that it stood in: declarations go with it, stores and the sum in memory stay under the condition.
    fn out_of_branch(&self, indent: &str) -> Option<String> {
        let Kind::If { cond, open, .. } = &self.around.kind else { return None };
        let cond = self.kernel.sources.text(cond.span);
        let inner = format!("{indent}    ");
        let [free, kept] = self.before(indent)?;
        let mut first = String::new();
        free.iter().for_each(|f| first += &format!("{f}\n{indent}"));
        let Some(r) = &self.result else {
            return Some(format!("{first}{}\n{indent}if ({cond}) {{", self.tiled(indent)?));
        };
        let sum = self.sum();
        if kept.is_empty() {
            first += &r.declared(&sum, Some(cond));
        } else {
            let list: String = kept.iter().map(|s| format!("\n{inner}{s}")).collect();
            let (empty, loaded) = (r.empty(&sum), r.loaded(&sum));
            first += &format!("{empty}\n{indent}if ({cond}) {{{list}\n{inner}{loaded}\n{indent}}}");
        }
        let last = match open {
            Some(_) => format!("{{\n{inner}{}", r.stored(&sum)),
            None => r.stored(&sum),
        };
        Some(format!("{first}\n{indent}{}\n{indent}if ({cond}) {last}", self.tiled(indent)?))
    }

    /// What stands before the loop in its branch: what may stand before that, and what may not. `None`: not every byte of it would be
    /// kept.
    fn before(&self, indent: &str) -> Option<[Vec<String>; 2]> {
        let Kind::If { before, open: Some(open), .. } = &self.around.kind else {
            return Some([vec![], vec![]]);
        };
        let text = self.kernel.text;
        let from = self.outer.stmt.span.start as usize;
        let deeper = format!("\n{}", indentation(text, from));
        let shallow = |t: &str| t.replace(&deeper, &format!("\n{indent}"));
        if self.result.is_none() && self.counter.is_none() {
            let all = text[*open..from].trim();
            return Some([(!all.is_empty()).then(|| shallow(all)).into_iter().collect(), vec![]]);
        }
        let mut at = *open;
        for s in before.iter() {
            let between = text.get(at..s.span.start as usize)?;
            at = s.span.end as usize;
            between.trim().is_empty().then_some(())?;
        }
        text.get(at..from)?.trim().is_empty().then_some(())?;
        let own = |s: &&ast::Stmt| self.counter.is_none_or(|c| c.span != s.span);
        let (free, kept): (Vec<_>, Vec<_>) =
            before.iter().filter(own).partition(|s| is_harmless(s));
        let texts = |all: Vec<&ast::Stmt>| -> Vec<String> {
            all.iter().map(|s| shallow(self.kernel.sources.text(s.span))).collect()
        };
        Some([texts(free), texts(kept)])
    }

    fn tile(&self, o: &Operand<'_>) -> String {
        let array = &o.access.array;
        let twice = self.operands.iter().filter(|other| other.access.array == *array).count() > 1;
        match (twice, o.by_rows) {
            (false, _) => format!("{array}_tile"),
            (true, true) => format!("{array}_rows"),
            (true, false) => format!("{array}_columns"),
        }
    }

    /// The variable that a sum in memory is kept in.
    fn sum(&self) -> String {
        let array = self.result.as_ref().map_or("", |r| r.access.array.as_str());
        self.unused(&format!("{array}_sum"))
    }

    /// A name that nothing in the kernel has.
    fn unused(&self, wanted: &str) -> String {
        let span = self.kernel.body.span.unwrap_or(self.outer.stmt.span);
        let mut taken = scope::names(self.kernel.sources.text(span));
        taken.extend(self.kernel.function.params.iter().filter_map(|p| p.name.clone()));
        let mut name = wanted.to_string();
        while taken.contains(&name) || self.kernel.unit.macros.contains_key(&name) {
            name.push('_');
        }
        name
    }

    /// The loop over tiles.
    fn tiled(&self, indent: &str) -> Option<String> {
        let text = |e: &ast::Expr| self.kernel.sources.text(e.span);
        let (ty, counter) = (&self.outer.ty, self.outer.counter);
        let [x, y] = &self.extents;
        let from = self.unused(&format!("{counter}0"));
        let less = if self.outer.inclusive { "<=" } else { "<" };
        let end = text(self.outer.end);
        let inner = format!("{indent}    ");
        let mut out = format!(
            "for ({ty} {from} = {}; {from} {less} {end}; {from} += {x}) {{\n{inner}// Each thread brings elements for all of its block; beyond the edges there are none.",
            text(self.outer.first)
        );
        let rows = self.unused(&format!("{counter}_row"));
        let [along, down] = ["x", "y"].map(|axis| self.unused(&format!("{counter}{axis}")));
        out += &format!("\n{inner}const {ty} {along} = {from} + threadIdx.x");
        out += &match x == y {
            true => format!(", {down} = {from} + threadIdx.y;"),
            false => ";".to_string(),
        };
        for o in &self.operands {
            let at = match (o.by_rows, x == y) {
                (true, _) => along.clone(),
                (false, true) => down.clone(),
                (false, false) => format!("{from} + {rows}"),
            };
            let mut conditions = o.conditions.clone();
            conditions.push(format!("{at} {less} {end}"));
            let values = HashMap::from([(counter.to_string(), at)]);
            let element = format!("{}[{}]", o.access.array, replaced(&o.access.index, &values));
            let row = if o.by_rows || x == y { "threadIdx.y" } else { &rows };
            let copy = format!(
                "{}[{row}][threadIdx.x] = {} ? {element} : {};",
                self.tile(o),
                conditions.join(" && "),
                zero(&o.element)
            );
            out += &match o.by_rows || x == y {
                true => format!("\n{inner}{copy}"),
                false => format!(
                    "\n{inner}for (int {rows} = threadIdx.y; {rows} < {x}; {rows} += {y})\n{inner}    {copy}"
                ),
            };
        }
        let before = indentation(self.kernel.text, self.outer.stmt.span.start as usize);
        let own = self.inner_loop(&from, less, end)?;
        let own = own.replace(&format!("\n{before}"), &format!("\n{inner}"));
        Some(format!(
            "{out}\n{inner}__syncthreads();\n{inner}{own}\n{inner}__syncthreads();\n{indent}}}"
        ))
    }

    /// The loop over one tile.
    fn inner_loop(&self, from: &str, less: &str, end: &str) -> Option<String> {
        let (ty, counter, x) = (&self.outer.ty, self.outer.counter, &self.extents[0]);
        // Nothing added changes no sum that began with nothing: whole tiles, which compilers unroll.
        let whole = self.is_plain_sum();
        let at = if whole { counter.to_string() } else { format!("{counter} - {from}") };
        let start = self.outer.body.span.start as usize;
        let mut patch = Patch::default();
        for o in &self.operands {
            let place = match o.by_rows {
                true => format!("{}[threadIdx.y][{at}]", self.tile(o)),
                false => format!("{}[{at}][threadIdx.x]", self.tile(o)),
            };
            let span = &o.access.whole;
            patch.replace(span.start - start..span.end - start, place);
        }
        for span in self.result.iter().flat_map(|r| &r.places) {
            patch.replace(span.start - start..span.end - start, self.sum());
        }
        let body = self.kernel.sources.text(self.outer.body.span);
        let body = patch.apply(body).ok()?;
        // On a line of its own it stays on one.
        let between = match matches!(self.outer.body.kind, StmtKind::Block(_)) {
            true => " ".to_string(),
            false => format!(
                "\n{}    ",
                indentation(self.kernel.text, self.outer.stmt.span.start as usize)
            ),
        };
        Some(match whole {
            true => {
                format!("for ({ty} {counter} = 0; {counter} < {x}; {counter}++){between}{body}")
            }
            false => format!(
                "for ({ty} {counter} = {from}; {counter} < {from} + {x} && {counter} {less} {end}; {counter}++){between}{body}"
            ),
        })
    }

    /// Whether the loop does nothing but add the product of its two operands to a sum that began with nothing.
    fn is_plain_sum(&self) -> bool {
        let [only] = self.outer.stmts() else { return false };
        let StmtKind::Expr(e) = &only.kind else { return false };
        let ExprKind::Assign { op, target, value } = &*e.kind else { return false };
        let ExprKind::Binary { op: times, left, right } = &*scope::plain(value).kind else {
            return false;
        };
        let operand = |e: &ast::Expr| {
            let at = scope::plain(e).span.start as usize;
            self.operands.iter().position(|o| o.access.whole.start == at)
        };
        let both = matches!((operand(left), operand(right)), (Some(a), Some(b)) if a != b);
        let Some(sum) = outer::name(target) else { return false };
        let values = scope::declared(self.kernel.body);
        let zero = match values.get(sum).map(Vec::as_slice) {
            Some([Some(e)]) => {
                let text = self.kernel.sources.text(e.span);
                text.trim_end_matches(['f', 'F']).parse::<f64>().is_ok_and(|v| v == 0.0)
            }
            _ => false,
        };
        let assigned = outer::assignments(&self.kernel.body.stmts);
        let once = assigned.iter().filter(|(n, _)| n == sum).count() == 1;
        op == "+=" && times == "*" && both && zero && once && self.operands.len() == 2
    }
}

/// Nothing, of a type.
fn zero(element: &str) -> String {
    let builtin = ["float", "double", "int", "unsigned", "long", "short", "char", "bool"];
    match element.split(' ').all(|w| builtin.contains(&w)) || element.contains(' ') {
        true => "0".to_string(),
        false => format!("{element}(0)"),
    }
}

/// A statement with its line, where nothing else stands there.
fn whole_line(text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let line = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let rest = text[end..].find('\n').map_or(text.len(), |i| end + i + 1);
    let alone = text[line..start].trim().is_empty() && text[end..rest].trim().is_empty();
    if alone { line..rest } else { start..end }
}
