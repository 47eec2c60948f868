//! Numbers of the text that positions and sizes meet: what a kernel does beyond `n < 3000` or `x % 200` no small launch shows.

use warpsmith_front::ast::{self, ExprKind, StmtKind, TypeKind};
use warpsmith_front::sema::walk;

use super::{Finder, Source};
use crate::source::scope;

/// A number that launches have to come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What meets it.
    pub of: Met,
    /// The number.
    pub value: i64,
}

/// What meets a number of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Met {
    /// Positions along an axis.
    Axis(usize),
    /// Blocks along an axis.
    Blocks(usize),
    /// A parameter.
    Size(String),
    /// Iterations of loops.
    Turns,
    /// The number of a thread in its block.
    Thread(usize),
}

/// Smaller numbers are met in any launch, and larger ones in none that can be emulated.
const VALUES: std::ops::RangeInclusive<i64> = 8..=1 << 20;
/// Four bits are left of a position that is shifted.
const BITS_LEFT: i64 = 1 << 4;
/// Smaller numbers of threads are met in small blocks.
const THREADS: std::ops::RangeInclusive<i64> = 33..=1000;
/// Limits of a kernel that are looked at, at most.
const MAX_LIMITS: usize = 16;

impl Finder<'_> {
    /// An operator between a position or size and a number.
    pub(super) fn meets(
        &mut self,
        op: &str,
        (a, left): (&Source, &ast::Expr),
        (b, right): (&Source, &ast::Expr),
    ) {
        let of_right = self.number(right);
        match op {
            "<" | "<=" | ">" | ">=" | "==" | "!=" => {
                self.chosen(a, of_right);
                self.chosen(b, self.number(left));
                self.limit(a, left, of_right);
                self.limit(b, right, self.number(left));
            }
            "%" => {
                self.limit(a, left, of_right);
                self.limit(a, left, of_right.and_then(|n| n.checked_mul(2)));
            }
            "/" => self.limit(a, left, self.divisor(op, right)),
            ">>" => {
                let by = self.divisor(op, right);
                self.limit(a, left, by);
                // Bits that are left: more than one, where the text looks at them.
                self.limit(a, left, by.and_then(|n| n.checked_mul(BITS_LEFT)));
            }
            "&" => self.limit(a, left, of_right.and_then(|n| n.checked_add(1))),
            _ => {}
        }
    }

    /// The numbers of cases.
    pub(super) fn cases(&mut self, selector: &Source, body: &ast::Stmt) {
        let mut numbers = vec![];
        scope::each_stmt(std::slice::from_ref(body), &mut |s| {
            if let StmtKind::Case(e) = &s.kind {
                numbers.push(e.clone());
            }
        });
        for e in numbers {
            let value = self.number(&e);
            self.chosen(selector, value);
            self.limit(selector, &e, value);
        }
    }

    /// Notes what a parameter itself is compared with.
    fn chosen(&mut self, source: &Source, value: Option<i64>) {
        let itself = !source.counts && source.divided <= 1;
        let along = source.threads.contains(&true) || source.blocks.contains(&true);
        let mut names = source.parameters.iter();
        if let (Some(value), Some(name), None) = (value, names.next(), names.next())
            && itself
            && !along
        {
            self.usage.choices.entry(name.clone()).or_default().insert(value);
        }
    }

    /// A call such as `min(i, 4096)`.
    pub(super) fn called_with(&mut self, args: &[ast::Expr], values: &[Source]) {
        let numbers: Vec<i64> = args.iter().filter_map(|a| self.number(a)).collect();
        for number in numbers {
            args.iter().zip(values).for_each(|(e, source)| self.limit(source, e, Some(number)));
        }
    }

    /// A variable of a byte begins anew after so many iterations.
    pub(super) fn wraps(&mut self, ty: &ast::TypeName) {
        let byte = match &ty.kind {
            TypeKind::Builtin(words) => words.iter().any(|w| w == "char"),
            TypeKind::Named(path) => {
                path.as_name().is_some_and(|n| ["uint8_t", "int8_t", "u_char"].contains(&n))
            }
            _ => false,
        };
        if byte && !ty.is_const {
            self.push(Limit { of: Met::Turns, value: 256 });
        }
    }

    /// What is made a number of 16 bits begins anew beyond those.
    pub(super) fn narrowed(&mut self, ty: &ast::TypeName, source: &Source, e: &ast::Expr) {
        let narrow = match &ty.kind {
            TypeKind::Builtin(words) => words.iter().any(|w| w == "short"),
            TypeKind::Named(path) => {
                path.as_name().is_some_and(|n| ["uint16_t", "int16_t", "ushort"].contains(&n))
            }
            _ => false,
        };
        for bits in [15, 16].into_iter().filter(|_| narrow) {
            self.limit(source, e, Some(1 << bits));
        }
    }

    fn push(&mut self, limit: Limit) {
        let limits = &mut self.usage.limits;
        if limits.len() < MAX_LIMITS && !limits.contains(&limit) {
            limits.push(limit);
        }
    }

    /// Notes a number for each axis and parameter that what meets it is made from; where that is a multiple, its part, too, and where it was
    /// divided, so many times the number.
    fn limit(&mut self, source: &Source, e: &ast::Expr, value: Option<i64>) {
        let Some(value) = value else { return };
        let mut multiples = vec![];
        walk::expr(e, &mut |e| {
            if let ExprKind::Binary { op, left, right } = &*scope::plain(e).kind
                && op == "*"
            {
                multiples.extend([left, right].into_iter().filter_map(|e| self.number(e)));
            }
        });
        let parts = multiples.into_iter().filter(|n| *n > 1).map(|n| value / n);
        let whole = value.saturating_mul(source.divided.max(1));
        for value in std::iter::once(whole).chain(parts).filter(|v| VALUES.contains(v)) {
            let axes = (0..3).filter(|a| source.blocks[*a]).map(|a| match source.threads[a] {
                true => Met::Axis(a),
                false => Met::Blocks(a),
            });
            let alone = (0..3).filter(|a| source.threads[*a] && !source.blocks[*a]);
            let threads = alone.filter(|_| THREADS.contains(&value)).map(Met::Thread);
            let sizes = source.parameters.iter().cloned().map(Met::Size);
            let turns = source.counts.then_some(Met::Turns);
            for of in axes.chain(threads).chain(sizes).chain(turns) {
                self.push(Limit { of, value });
            }
        }
    }
}
