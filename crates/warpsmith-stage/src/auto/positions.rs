//! Positions of threads: `blockIdx.x * blockDim.x + threadIdx.x` in the ways that people write it.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind};
use warpsmith_front::sema::walk;

use super::cut::AXES;
use super::plans::Kernel;
use super::{find, outer};
use crate::source::marks::Bytes;
use crate::source::scope;
use crate::source::shape::Extent;

/// An expression that is the position of a thread along an axis.
#[derive(Clone, Debug)]
pub struct Position {
    pub at: Bytes,
    pub axis: usize,
}

/// All positions in the text of a kernel.
pub fn positions(kernel: &Kernel<'_>) -> Vec<Position> {
    let finder = Finder { kernel, values: find::initialisers(kernel.body, kernel.sources) };
    let mut all: Vec<Position> = vec![];
    walk::block(kernel.body, &mut |e| {
        if let Some(axis) = finder.position(e).filter(|_| e.span.file.0 == 0) {
            all.push(Position { at: e.span.start as usize..e.span.end as usize, axis });
        }
    });
    all
}

/// Where positions begin: those of a thread, whatever the block is multiplied by, and its number alone.
#[derive(Clone, Debug)]
pub struct Begin {
    pub at: Bytes,
    pub axis: usize,
    /// What the thread's number is added to; `None`: it stands alone.
    pub base: Option<String>,
    /// The block is multiplied by as many threads as it has.
    pub strict: bool,
}

/// All of them in the text of a kernel.
pub fn begins(kernel: &Kernel<'_>) -> Vec<Begin> {
    let finder = Finder { kernel, values: find::initialisers(kernel.body, kernel.sources) };
    let mut all: Vec<Begin> = vec![];
    walk::block(kernel.body, &mut |e| {
        let at = e.span.start as usize..e.span.end as usize;
        let known = |b: &Begin| b.at.start <= at.start && at.end <= b.at.end;
        if e.span.file.0 != 0 || all.iter().any(known) {
            return;
        }
        if let Some((axis, base)) = finder.begin(e) {
            let strict = finder.position(e).is_some();
            all.push(Begin { at, axis, base: Some(base), strict });
            return;
        }
        let whole = matches!(&*e.kind, ExprKind::Member { .. } | ExprKind::Path(_));
        let thread = finder.thread(e).filter(|_| whole);
        all.extend(thread.map(|axis| Begin { at, axis, base: None, strict: false }));
    });
    all
}

/// The axes along which an expression is the number of threads of a block.
pub fn extents(kernel: &Kernel<'_>, e: &ast::Expr) -> Vec<usize> {
    let finder = Finder { kernel, values: find::initialisers(kernel.body, kernel.sources) };
    let text = finder.text(e);
    (0..3).filter(|a| kernel.axes[*a] && finder.is_extent(&text, *a)).collect()
}

/// Variables that stand for `threadIdx.x`, `blockIdx.y` and the like.
pub fn aliases(kernel: &Kernel<'_>) -> Vec<String> {
    let special = |text: &String| {
        let plain = text.trim_start_matches("(int)").trim();
        ["threadIdx.", "blockIdx.", "blockDim."]
            .iter()
            .any(|s| plain.starts_with(s) && plain.len() == s.len() + 1)
    };
    let values = find::initialisers(kernel.body, kernel.sources);
    values.into_iter().filter(|(_, text)| special(text)).map(|(name, _)| name).collect()
}

struct Finder<'a> {
    kernel: &'a Kernel<'a>,
    values: HashMap<String, String>,
}

impl Finder<'_> {
    /// The axis of `blockIdx.x * extent + threadIdx.x`.
    fn position(&self, e: &ast::Expr) -> Option<usize> {
        let ExprKind::Binary { op, left, right } = &*e.kind else { return None };
        if op != "+" {
            return None;
        }
        [(left, right), (right, left)].into_iter().find_map(|(block, thread)| {
            let text = self.text(thread);
            let axis = (0..3).find(|a| text == format!("threadIdx.{}", AXES[*a]))?;
            let (a, b) = self.factors(scope::plain(block))?;
            let own = format!("blockIdx.{}", AXES[axis]);
            let extent = if a == own { b } else { Some(a).filter(|_| b == own)? };
            self.is_extent(&extent, axis).then_some(axis)
        })
    }

    /// The axis of a thread's number.
    fn thread(&self, e: &ast::Expr) -> Option<usize> {
        let text = self.text(e);
        (0..3).find(|a| text == format!("threadIdx.{}", AXES[*a]))
    }

    /// A thread's number that is added to something that asks for the block and for no thread: the axis, and that.
    fn begin(&self, e: &ast::Expr) -> Option<(usize, String)> {
        let ExprKind::Binary { op, left, right } = &*e.kind else { return None };
        if op != "+" {
            return None;
        }
        [(left, right), (right, left)].into_iter().find_map(|(base, thread)| {
            let axis = self.thread(thread)?;
            let text = self.kernel.sources.text(scope::plain(base).span);
            let (mut blocks, mut threads) = (text.contains("blockIdx"), text.contains("threadIdx"));
            for name in scope::names(text) {
                let value = self.values.get(&name);
                blocks |= value.is_some_and(|v| v.contains("blockIdx"));
                threads |= value.is_some_and(|v| v.contains("threadIdx"));
            }
            (blocks && !threads).then(|| (axis, text.to_string()))
        })
    }

    fn is_extent(&self, text: &str, axis: usize) -> bool {
        if text == format!("blockDim.{}", AXES[axis]) {
            return true;
        }
        match &self.kernel.extents[axis] {
            Extent::Constant(name) => text == name,
            Extent::Number(n) => {
                let value = self.kernel.unit.macros.get(text).map_or(text, |v| v.trim());
                value == n.to_string()
            }
            Extent::Free => false,
        }
    }

    /// The text of an expression without parentheses and casts to whole numbers; of a variable, what it is declared as.
    fn text(&self, e: &ast::Expr) -> String {
        let inner = match &*e.kind {
            ExprKind::Paren(inner) | ExprKind::Cast { operand: inner, .. } => {
                return self.text(inner);
            }
            _ => e,
        };
        let text = self.kernel.sources.text(inner.span).to_string();
        let value = outer::name(inner).and_then(|n| self.values.get(n));
        match value {
            Some(v) if v.contains("Idx.") || v.contains("blockDim.") => {
                v.trim_start_matches("(int)").trim().to_string()
            }
            _ => text,
        }
    }

    /// The two texts that are multiplied.
    fn factors(&self, e: &ast::Expr) -> Option<(String, String)> {
        match &*e.kind {
            ExprKind::Cast { operand, .. } => self.factors(scope::plain(operand)),
            ExprKind::Binary { op, left, right } if op == "*" => {
                Some((self.text(left), self.text(right)))
            }
            ExprKind::Call { callee, args } => {
                match (self.text(callee).as_str(), args.as_slice()) {
                    ("__mul24" | "__umul24", [a, b]) => Some((self.text(a), self.text(b))),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
