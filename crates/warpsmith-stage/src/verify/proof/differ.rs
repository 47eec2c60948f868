//! Where two texts of one kernel differ: the expressions that became others.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Place, PlaceKind};

/// An expression of the unmodified kernel, and what stands there now.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    pub old: &'a Expr,
    pub new: &'a Expr,
    /// Conditions around both that are the same in both texts, from the outermost, and how they come out where this is evaluated.
    pub under: Vec<(&'a Expr, bool)>,
}

/// The innermost expressions that differ.
pub fn exprs<'a>(old: &'a Expr, new: &'a Expr) -> Vec<Pair<'a>> {
    let mut search = Search::default();
    search.exprs(old, new);
    search.pairs
}

/// What differs, and the conditions around where the search is.
#[derive(Default)]
struct Search<'a> {
    pairs: Vec<Pair<'a>>,
    under: Vec<(&'a Expr, bool)>,
}

impl<'a> Search<'a> {
    fn exprs(&mut self, old: &'a Expr, new: &'a Expr) {
        if old == new {
            return;
        }
        let before = self.pairs.len();
        let alike = old.ty == new.ty && self.children(old, new);
        if !alike {
            self.pairs.truncate(before);
            self.pairs.push(Pair { old, new, under: self.under.clone() });
        }
    }

    fn within(&mut self, condition: &'a Expr, holds: bool, old: &'a Expr, new: &'a Expr) {
        self.under.push((condition, holds));
        self.exprs(old, new);
        self.under.pop();
    }

    fn all(&mut self, old: &'a [Expr], new: &'a [Expr]) -> bool {
        old.iter().zip(new).for_each(|(a, b)| self.exprs(a, b));
        old.len() == new.len()
    }

    fn children(&mut self, old: &'a Expr, new: &'a Expr) -> bool {
        let one = std::slice::from_ref;
        match (&*old.kind, &*new.kind) {
            (ExprKind::Unary(f, a), ExprKind::Unary(g, b)) if f == g => self.all(one(a), one(b)),
            (ExprKind::Binary(f, a, b), ExprKind::Binary(g, c, d)) if f == g => {
                self.exprs(a, c);
                match f {
                    BinaryOp::LogicalAnd | BinaryOp::LogicalOr if a == c => {
                        self.within(a, *f == BinaryOp::LogicalAnd, b, d);
                    }
                    _ => self.exprs(b, d),
                }
                true
            }
            (ExprKind::Cast(a), ExprKind::Cast(b))
            | (ExprKind::Bitcast(a), ExprKind::Bitcast(b)) => self.all(one(a), one(b)),
            (ExprKind::Member(a, n), ExprKind::Member(b, m)) if n == m => self.all(one(a), one(b)),
            (ExprKind::Select(c, a, b), ExprKind::Select(d, x, y)) if c == d => {
                self.within(c, true, a, x);
                self.within(c, false, b, y);
                true
            }
            (ExprKind::Call(f, a), ExprKind::Call(g, b)) if f == g => self.all(a, b),
            (ExprKind::Make(a), ExprKind::Make(b)) => self.all(a, b),
            (ExprKind::Read(a), ExprKind::Read(b)) => self.parts(a, b),
            _ => false,
        }
    }

    /// Parts of one element: of the same array, or the part of something that differs.
    fn parts(&mut self, old: &'a Place, new: &'a Place) -> bool {
        match (&*old.kind, &*new.kind) {
            (
                PlaceKind::Elem { pointer: p, index: a, dims: d },
                PlaceKind::Elem { pointer: q, index: b, dims: e },
            ) if p == q && d == e && a.len() == b.len() => self.all(a, b),
            _ => false,
        }
    }
}
