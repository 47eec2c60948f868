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
