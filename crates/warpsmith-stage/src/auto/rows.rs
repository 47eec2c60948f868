//! Rows through a tile: threads of which each goes along a row of its own read elements that lie apart. Together they can read
//! pieces of rows as they lie in memory; each then finds its own row in shared memory.
//!
//!     if (row < rows) { float sum = 0; for (int k = 0; k < cols; k++) sum += A[row * cols + k] * x[k]; y[row] = sum; }
//!       ==>
//!     const bool active = row < rows;
//!     { float sum = 0;
//!       for (int k_tile = 0; k_tile < cols; k_tile += 32) { copy; barrier; if (active) for (k …) …; barrier; }
//!       if (active) { y[row] = sum; } }
//!
//! What is made here is a text like any other plan's: whether it is right is found out by running it.

use warpsmith_front::ast::{self, ExprKind, StmtKind};
use warpsmith_front::sema::walk;

use super::find::Access;
use super::outer::{self, Outer};
use super::plans::{Kernel, Plan};
use crate::source::marks;
use crate::source::patch::{Patch, indentation};
use crate::source::scope;
use crate::source::shape::Extent;

/// Elements of a row that a block reads at a time: 128 bytes of floats.
const PIECE: u32 = 32;
/// Pieces of a row where the cost is counted.
const PIECES: i64 = 3;
/// Fewer for larger blocks, so that the tile fits.
const SMALL_PIECE: u32 = 16;
/// How far apart neighbours read at least.
const APART: i64 = 8;

/// The statements around the loop.
struct Around<'a> {
    /// What a thread asks before it takes part, and whether that keeps it out.
    guard: Option<(&'a ast::Expr, bool)>,
    /// The `if` of the guard, as far as it is replaced.
    head: Option<marks::Bytes>,
    before: &'a [ast::Stmt],
    after: &'a [ast::Stmt],
}

/// The plan for an array that is read once, in one loop.
pub fn plan(kernel: &Kernel<'_>, array: &str, element: &str, all: &[&Access]) -> Option<Plan> {
    let &[read] = all else { return None };
    if kernel.axes != [true, false, false] || !goes_along_a_row(read) {
        return None;
    }
    let outer = Outer::around(kernel, all)?;
    if outer.bare || !outer.is_whole() || !outer.declared || !outer.steps.is_empty() {
        return None;
    }
    let around = around(kernel.body, &outer)?;
    let block = kernel.written(false);
    let width = kernel.extent(0, block)?;
    let threads = match (kernel.extents[0].clone(), block) {
        (Extent::Number(n), _) => Some(n),
        (_, Some(block)) => Some(block[0]),
        _ => None,
    };
    let piece = match threads {
        Some(513..) => return None,
        Some(257..) => SMALL_PIECE,
        _ => PIECE,
    };
    let rewrite = Rewrite { kernel, array, read, outer, around, width, piece };
    if !rewrite.is_sound() {
        return None;
    }
    let mut patch = Patch::default();
    let body = kernel.body.span?.start as usize + 1;
    let inner = indentation(kernel.text, kernel.body.stmts.first()?.span.start as usize);
    let (tile, width) = (rewrite.tile(), &rewrite.width);
    // One element more a row keeps the elements of a column in different banks.
    patch.replace(
        body..body,
        format!("\n{inner}__shared__ {element} {tile}[{width}][{piece} + 1];"),
    );
    rewrite.edit(&mut patch);
    let text = patch.apply(kernel.text).ok()?;
    let name = format!("rows of `{array}` through a tile");
    Some(Plan {
        name,
        text,
        marked: false,
        block,
        cut: None,
        early: false,
        depth: PIECES * i64::from(PIECE),
    })
}

/// Neighbours read elements that lie apart, and each thread the next one in the next iteration.
fn goes_along_a_row(read: &Access) -> bool {
    let apart = read.strides().is_some_and(|s| s[0].abs() >= APART);
    let next = (read.value_at([2, 2, 0], 3), read.value_at([2, 2, 0], 2));
    let one_loop = read.loops().is_some_and(|l| l.len() == 1);
    apart && one_loop && matches!(next, (Some(a), Some(b)) if a - b == 1)
}

/// The loop stands in the kernel's body, behind a `return` for threads that have no row or not, or in one `if` of it.
fn around<'a>(body: &'a ast::Block, outer: &Outer<'a>) -> Option<Around<'a>> {
    let parted = |list: &'a [ast::Stmt]| {
        let at = list.iter().position(|s| s.span == outer.stmt.span)?;
        Some((&list[..at], &list[at + 1..]))
    };
    if let Some((before, after)) = parted(&body.stmts) {
        let leaves = |s: &&'a ast::Stmt| matches!(&s.kind, StmtKind::If { then, otherwise: None, .. } if is_return(then));
        let Some(at) = before.iter().position(|s| leaves(&s)) else {
            return Some(Around { guard: None, head: None, before, after });
        };
        let StmtKind::If { cond, .. } = &before[at].kind else { return None };
        let head = Some(bytes(&before[at]));
        return Some(Around { guard: Some((cond, true)), head, before: &before[at + 1..], after });
    }
    body.stmts.iter().find_map(|s| {
        let StmtKind::If { cond, then, otherwise: None, init: None, .. } = &s.kind else {
            return None;
        };
        let StmtKind::Block(inner) = &then.kind else { return None };
        let (before, after) = parted(&inner.stmts)?;
        let head = s.span.start as usize..inner.span?.start as usize;
        Some(Around { guard: Some((cond, false)), head: Some(head), before, after })
    })
}

fn is_return(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(None) => true,
        StmtKind::Block(b) => matches!(b.stmts.as_slice(), [one] if is_return(one)),
        _ => false,
    }
}

fn bytes(s: &ast::Stmt) -> marks::Bytes {
    s.span.start as usize..s.span.end as usize
}

struct Rewrite<'a> {
    kernel: &'a Kernel<'a>,
    array: &'a str,
    read: &'a Access,
    outer: Outer<'a>,
    around: Around<'a>,
    width: String,
    piece: u32,
}

impl Rewrite<'_> {
    fn tile(&self) -> String {
        format!("{}_tile", self.array)
    }

    fn first(&self) -> String {
        format!("{}_tile", self.outer.counter)
    }

    fn text(&self, e: &ast::Expr) -> &str {
        self.kernel.sources.text(e.span)
    }

    /// Declarations of the thread before the loop, by name, in order: those that `threadIdx` is in, by way of others, too.
    fn positions(&self) -> Vec<(String, &str)> {
        let mut found: Vec<(String, &str)> = vec![];
        for s in self.kernel.body.stmts.iter().chain(self.around.before) {
            let StmtKind::Vars(vars) = &s.kind else { continue };
            let text = self.kernel.sources.text(s.span);
            let uses = |n: &String| n == "threadIdx" || found.iter().any(|(own, _)| own == n);
            let before = s.span.start < self.outer.stmt.span.start;
            if before && !vars.attrs.shared && scope::names(text).iter().any(uses) {
                found.extend(vars.declarators.iter().map(|d| (d.name.clone(), text)));
            }
        }
        found
    }

    /// Whether what is moved out of conditions, or said again, means the same there.
    fn is_sound(&self) -> bool {
        let guard: Vec<String> =
            self.around.guard.map_or(vec![], |(g, _)| scope::names(self.text(g)));
        let limits = [self.outer.first, self.outer.cond].map(|e| scope::names(self.text(e)));
        let own = self.positions();
        let of_thread = |n: &String| n == "threadIdx" || own.iter().any(|(o, _)| o == n);
        // All threads of a block take the same pieces.
        let alike = !limits.concat().iter().filter(|n| *n != self.outer.counter).any(of_thread);
        let plain = self.around.before.iter().all(is_plain_declaration);
        let mut positions = self.kernel.body.stmts.iter().filter(|s| s.span.end <= self.start());
        let ahead = positions.all(|s| match &s.kind {
            StmtKind::Vars(_) => true,
            _ => self.around.head.as_ref().is_some_and(|h| h.start == s.span.start as usize),
        });
        let assigned = outer::assignments(&self.kernel.body.stmts);
        let fixed = |n: &String| assigned.iter().all(|(a, _)| a != n && !a.is_empty());
        let index = scope::names(&self.read.index);
        let said_again = guard.iter().chain(&index).chain(limits.iter().flatten());
        let mut said_again = said_again.filter(|n| *n != self.outer.counter);
        let fresh = [self.tile(), self.first(), "active".into(), "place".into()];
        let words = scope::names(self.kernel.text);
        alike && plain && ahead && said_again.all(fixed) && fresh.iter().all(|f| !words.contains(f))
    }

    /// Where the loop or the `if` around it begins.
    fn start(&self) -> u32 {
        match &self.around.head {
            Some(head) => (head.start as u32).min(self.outer.stmt.span.start),
            None => self.outer.stmt.span.start,
        }
    }

    fn edit(&self, patch: &mut Patch) {
        let text = self.kernel.text;
        if let (Some((guard, keeps_out)), Some(head)) = (self.around.guard, &self.around.head) {
            let indent = indentation(text, head.start);
            let guard = self.text(guard);
            let said = match keeps_out {
                true => format!("const bool active = !({guard});"),
                false => format!("const bool active = {guard};\n{indent}"),
            };
            patch.replace(head.clone(), said);
        }
        let (start, end) = (self.outer.start(), self.outer.stmt.span.end as usize);
        let indent = indentation(text, start).to_string();
        patch.replace(start..end, self.loops(&indent));
        if let (Some(first), Some(last), Some(_)) =
            (self.around.after.first(), self.around.after.last(), self.around.guard)
        {
            let (start, end) = (first.span.start as usize, last.span.end as usize);
            patch.replace(start..start, format!("if (active) {{\n{indent}    "));
            patch.replace(end..end, format!("\n{indent}}}"));
        }
    }

    /// The loop over pieces, in place of the loop over elements.
    fn loops(&self, indent: &str) -> String {
        let (tile, first, piece, width) = (self.tile(), self.first(), self.piece, &self.width);
        let (counter, ty) = (self.outer.counter, &self.outer.ty);
        let (begin, cond) = (self.text(self.outer.first), self.text(self.outer.cond));
        let end = self.text(self.outer.end);
        let less = if self.outer.inclusive { "<=" } else { "<" };
        let guard = match self.around.guard {
            Some((g, true)) => format!("!({}) && ", self.text(g)),
            Some((g, false)) => format!("{} && ", parenthesised(self.text(g))),
            None => String::new(),
        };
        let active = if self.around.guard.is_some() { "if (active)\n" } else { "" };
        let deeper =
            if self.around.guard.is_some() { format!("{indent}        ") } else { String::new() };
        let own: String = self.needed().iter().map(|d| format!("\n{indent}        {d}")).collect();
        let place = format!("{tile}[threadIdx.x][{counter} - {first}]");
        let body = self.with(&place);
        format!(
            "for ({ty} {first} = {begin}; {first} {less} {end}; {first} += {piece}) {{\n\
             {indent}    // Rows are read as they lie in memory, a piece at a time; then each thread goes along its own.\n\
             {indent}    for (int place = threadIdx.x; place < {width} * {piece}; place += {width}) {{{own}\n\
             {indent}        const {ty} {counter} = {first} + place % {piece};\n\
             {indent}        if ({guard}{cond}) {tile}[place / {piece}][place % {piece}] = {}[{}];\n\
             {indent}    }}\n\
             {indent}    __syncthreads();\n\
             {indent}    {active}{deeper}for ({ty} {counter} = {first}; {cond} && {counter} < {first} + {piece}; {counter}++) {body}\n\
             {indent}    __syncthreads();\n\
             {indent}}}",
            self.array, self.read.index,
        )
    }

    /// The declarations that subscript and guard need, of the thread whose row a place of the tile belongs to.
    fn needed(&self) -> Vec<String> {
        let mut wanted = scope::names(&self.read.index);
        if let Some((guard, _)) = self.around.guard {
            wanted.extend(scope::names(self.text(guard)));
        }
        let mut all: Vec<&str> = vec![];
        for (name, text) in self.positions().into_iter().rev() {
            if wanted.contains(&name) && !all.contains(&text) {
                wanted.extend(scope::names(text));
                all.push(text);
            }
        }
        let row = format!("(place / {})", self.piece);
        all.iter().rev().map(|text| text.replace("threadIdx.x", &row)).collect()
    }

    /// The loop's body with another text in the place of the read.
    fn with(&self, place: &str) -> String {
        let whole = bytes(self.outer.body);
        let (before, after) = (
            &self.kernel.text[whole.start..self.read.whole.start],
            &self.kernel.text[self.read.whole.end..whole.end],
        );
        format!("{before}{place}{after}")
    }
}

fn parenthesised(text: &str) -> String {
    match text.contains("||") || text.contains('?') {
        true => format!("({text})"),
        false => text.to_string(),
    }
}

/// A declaration that reads nothing and calls nothing, so that it may be made by threads that have no row.
fn is_plain_declaration(s: &ast::Stmt) -> bool {
    let StmtKind::Vars(vars) = &s.kind else { return false };
    let mut plain = !vars.attrs.shared;
    walk::stmt(s, &mut |e| {
        plain &= match &*e.kind {
            ExprKind::Index { .. } | ExprKind::Call { .. } => false,
            ExprKind::Assign { .. } | ExprKind::IncDec { .. } => false,
            ExprKind::Member { arrow, .. } => !arrow,
            ExprKind::Unary { op, .. } => op != "*",
            _ => true,
        };
    });
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_keep_together() {
        assert_eq!(parenthesised("a < b"), "a < b");
        assert_eq!(parenthesised("a || b"), "(a || b)");
    }
}
