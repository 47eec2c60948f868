//! Puts comparisons in place of remainders that only wrap around the ends of a range.
//!
//! ```text
//!     for i in 0..n { y[i] = x[(i + n - 1) % n] - x[(i + 1) % n]; }
//!       ==> wrap i
//!     for i in 0..n { y[i] = x[i >= 1 ? i - 1 : i + n - 1] - x[i + 1 >= n ? i - n + 1 : i + 1]; }
//! ```
//!
//! A division by a number that is known at run time only takes some twenty instructions, a comparison one or two.
//!
//! Legal where the dividend is known to lie between the negative of the divisor and three times the divisor, by the ranges of the
//! counters around it.

use std::collections::BTreeMap;

use warpsmith_ir::poly::{Atom, Facts, Poly};
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, Module, Scalar, Space, Stmt, StmtKind, Type,
    VarId,
};

use super::Rewritten;
use super::rectangle::range;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::access::{Base, base_of};
use crate::analysis::loops::unit_step;
use crate::analysis::scalars;
use crate::build::conditions::select;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;

/// Elements that no array of a real program lacks to the greatest number of its type.
const FEW: i128 = 64;

/// The step, which names one loop: the loop in whose body the remainders are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "wrap",
        example: "wrap i",
        does: "puts comparisons in place of remainders that only wrap around the ends of a range, as those of a periodic neighbour",
        legal: "the loop holds a remainder whose divisor does not change in it, and whose dividend lies between the negative of the divisor and three times the divisor, by the ranges of the counters",
        law: Law {
            before: "\
void slope(int n, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[(i + 1) % n] - x[(i + n - 1) % n];
}
",
            steps: "wrap i",
            after: "\
void slope(int n, const float *x, float *y) {
    // parallel
    for (int i = 0; i < n; ++i) {
        y[i] = x[i + 1 >= n ? i - n + 1 : i + 1] - x[i >= 1 ? i - 1 : i + n - 1];
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `wrap`, which alone allows it.
pub struct LegalWrap<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    body: Block,
}

/// Asks which remainders of the loop only wrap around.
///
/// # Errors
/// [`Refusal::LoopRefused`]: none does.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalWrap<'_>, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop("wrap the subscripts of", target, why));
    let Some(l) = kernel.find_loop(target) else { return refuse("it does not exist") };
    let mut body = l.body.clone();
    let around = kernel.loops_around(target);
    let mut wrapping = Wrapping {
        module: &kernel.module,
        vars: &kernel.func().vars,
        whole: around.first().map_or(&l.body, |outermost| &outermost.body),
        facts: Facts::new(),
        counters: vec![],
        values: BTreeMap::new(),
        found: 0,
    };
    for l in around.into_iter().chain([l]) {
        wrapping.enter(l);
    }
    wrapping.block(&mut body);
    match wrapping.found {
        0 => refuse(
            "it has no remainder whose dividend is known to be less than three times a divisor that stays the same",
        ),
        _ => Ok(LegalWrap { kernel, target, body }),
    }
}

/// Puts the comparisons in.
pub fn apply(legal: LegalWrap<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    walk::with_loop(&mut kernel.func_mut().body, legal.target, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.body = legal.body.clone();
        }
    });
    Rewritten::same_loops(kernel)
}

/// A walk through the body of a loop, with what is known where it stands.
struct Wrapping<'k> {
    module: &'k Module,
    vars: &'k [warpsmith_ir::Var],
    /// The body of the outermost loop around, as it was.
    whole: &'k Block,
    facts: Facts,
    counters: Vec<VarId>,
    /// Of variables that are set once.
    values: BTreeMap<VarId, Poly>,
    found: usize,
}

impl Wrapping<'_> {
    /// States the range of a counter.
    fn enter(&mut self, l: &ForLoop) {
        if !unit_step(l) || walk::writes_var(&l.body, l.var) || !self.is_exact(l.var) {
            return;
        }
        let Some((var, first, last)) = range(l) else { return };
        self.counters.push(var);
        let exact = [&l.first, &l.limit].into_iter().all(|e| scalars::is_exact(e, never_wraps));
        let ends = [&first, &last].map(|end| self.known(end).filter(|_| exact));
        if let [Some(first), Some(last)] = ends {
            self.facts.bound(Atom::Var(var), Some(first), Some(last));
        }
    }

    /// A sum in terms of counters, of tables, and of what does not change in the loop.
    fn known(&mut self, e: &Poly) -> Option<Poly> {
        let mut known = e.clone();
        for atom in e.atoms() {
            if let Atom::Var(v) = atom
                && let Some(value) = self.values.get(v)
            {
                known = known.substitute(*v, value)?;
            }
        }
        for atom in known.atoms() {
            match atom {
                Atom::Var(v) if self.counters.contains(v) => {}
                Atom::Var(v) if self.is_exact(*v) && !walk::writes_var(self.whole, *v) => {}
                Atom::Symbol(s) => {
                    let (least, greatest) = self.of_table(s.expr())?;
                    let ends = [least, greatest].map(|n| Some(Poly::constant(n)));
                    let [least, greatest] = ends;
                    self.facts.bound(atom.clone(), least, greatest);
                }
                _ => return None,
            }
        }
        Some(known)
    }

    /// The least and the greatest number of a table of constants that an expression is an element of; its place stays the same.
    fn of_table(&self, e: &Expr) -> Option<(i128, i128)> {
        let ExprKind::Read(place) = &*e.kind else { return None };
        let mut stays = !walk::subscripts(place).into_iter().any(walk::reads_memory);
        walk::each_var(e, &mut |v| {
            stays &= self.counters.contains(&v) || !walk::writes_var(self.whole, v);
        });
        if !stays {
            return None;
        }
        let Base::Global(id) = base_of(place) else { return None };
        let table = self.module.globals.get(id.0 as usize)?;
        let ty = table.ty.innermost().scalar()?;
        let bytes = table.init.as_deref().filter(|_| table.space == Space::Constant)?;
        if ty != Scalar::I32 || e.ty != Type::I32 {
            return None;
        }
        let numbers = bytes.chunks_exact(4).filter_map(|b| b.try_into().ok());
        let numbers = || numbers.clone().map(|b| i128::from(i32::from_le_bytes(b)));
        Some((numbers().min()?, numbers().max()?))
    }

    fn is_exact(&self, v: VarId) -> bool {
        self.vars[v.0 as usize].ty.scalar().is_some_and(never_wraps)
    }

    /// What a remainder is without a division.
    fn wrapped(&mut self, e: &Expr) -> Option<Expr> {
        let ExprKind::Binary(BinaryOp::Rem, dividend, divisor) = &*e.kind else { return None };
        let ty = e.ty.scalar().filter(|s| never_wraps(*s))?;
        // By a constant the compiler divides without a division.
        if divisor.as_const().is_some() {
            return None;
        }
        if !scalars::is_exact(e, never_wraps) {
            return None;
        }
        let by = Poly::from_expr(divisor)?;
        let (of, is_shifted) = match shifted(dividend, divisor) {
            Some(inner) if ty.is_signed() => (Poly::from_expr(inner)?.add(&by)?, true),
            _ => (Poly::from_expr(dividend)?, false),
        };
        let (known, length) = (self.known(&of)?, self.known(&by)?);
        let below = |times: i128| {
            length.scale(times).is_some_and(|most| self.facts.provably_lt(&known, &most))
        };
        let above = |times: i128| {
            let least = length.scale(times).and_then(|n| n.add(&Poly::constant(1)));
            least.is_some_and(|least| self.facts.provably_le(&least, &known))
        };
        // The remainder of a negative number is not positive: that of a small one is the number.
        let may_be_negative = ty.is_signed() && !is_shifted;
        if below(1) && (self.facts.provably_nonnegative(&known) || may_be_negative && above(-1)) {
            return Some(self.printed(&of, ty));
        }
        if !self.facts.provably_nonnegative(&known) {
            return None;
        }
        let times = [2, 3].into_iter().find(|times| below(*times))?;
        // As often as the divisor is in it anyway.
        let sure = (1..times).rev().find(|passed| {
            length.scale(*passed).is_some_and(|n| self.facts.provably_le(&n, &known))
        });
        let mut value = match sure {
            Some(passed) => self.printed(&of.sub(&by.scale(passed)?)?, ty),
            None if is_shifted => self.printed(&of, ty),
            None => dividend.clone(),
        };
        for passed in sure.unwrap_or(0) + 1..times {
            let less = of.sub(&by.scale(passed)?)?;
            // Of unsigned numbers only the whole sum is sure to be what it is.
            let (plus, minus) = match ty.is_signed() {
                true => less.by_sign()?,
                false => (of.clone(), by.scale(-passed)?),
            };
            let minus = minus.scale(-1)?;
            if ty.is_signed() && ![&plus, &minus].into_iter().all(|s| self.fits(s, &of, &by)) {
                return None;
            }
            let passes =
                Expr::binary(BinaryOp::Ge, self.printed(&plus, ty), self.printed(&minus, ty));
            value = select(passes, self.printed(&less, ty), value);
        }
        Some(value)
    }

    /// Whether a sum is no greater than what the source computes, but for a few: it does not overflow where that does not.
    fn fits(&mut self, sum: &Poly, of: &Poly, by: &Poly) -> bool {
        let Some(sum) = self.known(sum) else { return false };
        [of, by].into_iter().any(|most| {
            let most = self.known(most).and_then(|p| p.add(&Poly::constant(FEW)));
            most.is_some_and(|most| self.facts.provably_le(&sum, &most))
        })
    }

    fn printed(&self, sum: &Poly, ty: Scalar) -> Expr {
        sum.to_expr(ty, &|v| self.vars[v.0 as usize].ty.scalar().unwrap_or(ty))
    }
}

/// Whether sums of sizes in a type are those of the whole numbers: signed ones must not overflow, and 64 bits are more than there is
/// of anything. Unsigned differences below zero are right again when the divisor is added.
fn never_wraps(ty: Scalar) -> bool {
    ty.is_integer() && (ty.is_signed() || ty == Scalar::U64)
}

/// The dividend of `(dividend % divisor + divisor) % divisor`, which is `(dividend + divisor) % divisor` where that is not negative.
fn shifted<'e>(sum: &'e Expr, divisor: &Expr) -> Option<&'e Expr> {
    let ExprKind::Binary(BinaryOp::Add, a, b) = &*sum.kind else { return None };
    let inner = |e: &'e Expr| match &*e.kind {
        ExprKind::Binary(BinaryOp::Rem, of, by) if by.kind == divisor.kind => Some(of),
        _ => None,
    };
    let is_divisor = |e: &Expr| e.kind == divisor.kind;
    inner(a).filter(|_| is_divisor(b)).or_else(|| inner(b).filter(|_| is_divisor(a)))
}

impl Rewriter for Wrapping<'_> {
    fn stmt(&mut self, stmt: &mut Stmt) {
        if let StmtKind::For(l) = &mut stmt.kind {
            for end in [&mut l.first, &mut l.limit, &mut l.step] {
                self.expr(end);
            }
            let (facts, counters) = (self.facts.clone(), self.counters.len());
            self.enter(l);
            self.block(&mut l.body);
            self.facts = facts;
            self.counters.truncate(counters);
            return;
        }
        if let StmtKind::Decl { var, init: Some(init) } = &stmt.kind
            && walk::times_set(self.whole, *var) == 1
            && self.is_exact(*var)
            && scalars::is_exact(init, never_wraps)
            && let Some(value) = Poly::from_expr(init).and_then(|p| self.known(&p))
        {
            self.values.insert(*var, value);
        }
        visit::rewrite_stmt(self, stmt);
    }

    fn expr(&mut self, e: &mut Expr) {
        visit::rewrite_expr(self, e);
        if let Some(wrapped) = self.wrapped(e) {
            *e = wrapped.with_origin(e.origin.clone());
            self.found += 1;
        }
    }
}
