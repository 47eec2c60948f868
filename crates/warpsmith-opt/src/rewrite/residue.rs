//! Runs a serial loop over the iterations only in which a remainder is zero.
//!
//! ```text
//!     for k in 0..4 { a = i + 1 - k; if (a % 2 == 0 && a / 2 < n) s += x[a / 2] * w[k]; }
//!       ==> residue k
//!     for k in 0..2 { kk = (i + 1) % 2 + 2 * k; a = i + 1 - kk; if (a / 2 < n) s += x[a / 2] * w[kk]; }
//! ```
//!
//! As in convolutions whose result is larger than their argument: of a window only every other place meets an element.
//!
//! Legal where every effect of an iteration stands under the condition, whose left side is the counter, or its negative, and
//! what does not change in the loop. The order of what remains is the same.

use std::collections::BTreeMap;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, LoopId, LoopKind, Place, PlaceKind, Scalar,
    Stmt, StmtKind, Type, UnaryOp, Var, VarId, VarKind, visit,
};

use super::Rewritten;
use super::rectangle::outside::common;
use super::rectangle::under::{negated, skipping};
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::loops::unit_step;
use crate::analysis::scalars;
use crate::build::conditions::all_of;
use crate::build::stmts::{declare, when};
use crate::build::{counters, trips};
use crate::kernel::Kernel;
use crate::names::fresh_name;
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: a serial loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "residue",
        example: "residue k",
        does: "runs a serial loop over the iterations only in which a remainder in its conditions is zero, as every other place of the window of a transposed convolution with stride 2",
        legal: "everything that an iteration does stands under a condition `e % m == 0` with a constant m, where e is the counter, or its negative, and what does not change in the loop; the loop counts up by one",
        law: Law {
            before: "\
void up(int n, const float w[4], const float x[n], float y[2 * n]) {
    #pragma omp parallel for
    for (int i = 0; i < 2 * n; i++)
        for (int k = 0; k < 4; k++)
            if (i >= k && (i - k) % 2 == 0)
                y[i] += w[k] * x[(i - k) / 2];
}
",
            steps: "residue k",
            after: "\
void up(int n, const float *w, const float *x, float *y) {
    // parallel
    for (int i = 0; i < 2 * n; ++i) {
        for (int k = 0; k < 2; ++k) {
            // the iterations of k whose remainder is zero
            const int k_kept = (i & 1) + k * 2;
            if (i >= k_kept) {
                y[i] += w[k_kept] * x[(i - k_kept) / 2];
            }
        }
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `residue`, which alone allows it.
pub struct LegalResidue<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    zero: Zero,
}

/// `e % modulus == 0`, e the counter or its negative and what is the same in all iterations.
#[derive(Clone, Debug, PartialEq)]
struct Zero {
    e: Poly,
    /// The type that the remainder is taken in.
    ty: Scalar,
    modulus: i64,
}

/// Asks whether the loop can leave out iterations.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalResidue<'_>, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop("leave out iterations of", target, why));
    let Some(l) = kernel.find_loop(target) else { return refuse("it does not exist") };
    if !kernel.runs_in_thread(target) || !matches!(l.kind, LoopKind::Serial) {
        return Err(Refusal::NotSerial { loop_id: target });
    }
    if let Some(stmt) = walk::leaves(&l.body) {
        return Err(Refusal::LeavesLoop { loop_id: target, at: stmt.origin.clone() });
    }
    if !unit_step(l) || !matches!(l.compare, BinaryOp::Lt | BinaryOp::Le) {
        return refuse("it has to count up by one");
    }
    let function = kernel.func();
    if !counters::counter_type(function, l).is_signed() {
        return refuse("its counter is unsigned: a difference may wrap around");
    }
    if scalars::counter_outlives(function, l) || walk::writes_var(&l.body, l.var) {
        return refuse("its counter is used for more than counting");
    }
    let resolver = Resolver::new(function, l);
    if ![&l.first, &l.limit].into_iter().all(|end| resolver.stays(end)) {
        return refuse("its ends are no sums of numbers that stay the same in it");
    }
    let needed = resolver.needed_by_all(&l.body.stmts).unwrap_or_default();
    match needed.iter().find_map(|cond| resolver.zero(cond)) {
        Some(zero) => Ok(LegalResidue { kernel, target, zero }),
        None => refuse(
            "what it does stands under no condition that a remainder of its counter by a constant is zero",
        ),
    }
}

/// Lets the loop go through what remains.
pub fn apply(legal: LegalResidue<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(l) = legal.kernel.find_loop(legal.target) else {
        return Rewritten::same_loops(kernel);
    };
    let resolver = Resolver::new(legal.kernel.func(), l);
    let function = kernel.func_mut();
    let ty = counters::counter_type(function, l);
    let wide = kept_type(l, ty);
    let name = fresh_name(function, &format!("{}_kept", function.var(l.var).name));
    let mut var = Var::new(name, Type::Scalar(wide), VarKind::Local);
    var.constant = true;
    let var = function.add_var(var);
    let kept = || Expr::var(var, Type::Scalar(wide));
    let mut body = l.body.clone();
    take_out(&mut body, &|cond| resolver.zero(cond).as_ref() == Some(&legal.zero));
    visit::map_exprs(&mut body, &mut |e| {
        if matches!(&*e.kind, ExprKind::Read(p) if *p == Place::var(l.var, Type::Scalar(ty))) {
            *e = kept().cast(Type::Scalar(ty));
        }
    });
    let value = legal.zero.counter(function, l, [ty, wide]);
    let (limit, exact) = legal.zero.count(function, l, [ty, wide]);
    if !exact {
        let inside = if wide == ty { l.clone() } else { counters::wide(l) };
        body = Block::new(vec![when(counters::inside(&inside, kept()), body.stmts)]);
    }
    let name = function.var(l.var).name.clone();
    let declared =
        declare(var, value).comment(format!("the iterations of {name} whose remainder is zero"));
    body.stmts.insert(0, declared);
    walk::with_loop(&mut function.body, legal.target, &mut |stmt| {
        let StmtKind::For(l) = &mut stmt.kind else { return };
        (l.first, l.limit, l.compare) = (Expr::int(ty, 0), limit.clone(), BinaryOp::Lt);
        l.body = body.clone();
    });
    Rewritten::same_loops(kernel)
}

/// The type of the counters of the iterations that remain, and of what their number is computed from. The last of them may
/// lie behind the loop's end, and the ends may be further apart than the type reaches, where the loop does not begin at a
/// constant.
fn kept_type(l: &ForLoop, ty: Scalar) -> Scalar {
    if l.first.as_const().is_some() { ty } else { Scalar::I64 }
}

impl Zero {
    /// The counter of an iteration of those that remain, by its number: that of the first one, and as many times the modulus.
    fn counter(&self, function: &Function, l: &ForLoop, [ty, kept]: [Scalar; 2]) -> Expr {
        let type_of = |v: VarId| function.var(v).ty.scalar().unwrap_or(ty);
        // In the type of the condition the first iteration is computed in C, too, but what is less than zero may have no negative there.
        let wide = if kept == ty { self.ty } else { kept };
        // What the first iteration is too much or too little by.
        let at_first = Poly::from_expr(&l.first).and_then(|f| self.e.substitute(l.var, &f));
        let falls =
            self.e.split(&Atom::Var(l.var)).is_some_and(|(f, _)| f.as_constant() == Some(-1));
        let left = at_first.and_then(|p| if falls { Some(p) } else { p.scale(-1) });
        let left = left.map_or_else(|| Expr::int(wide, 0), |p| p.to_expr(wide, &type_of));
        let modulus = |n: i64| Expr::int(wide, n);
        let remainder = match self.modulus & (self.modulus - 1) {
            // Of the two's complement, also of a negative number.
            0 => Expr::binary(BinaryOp::BitAnd, left, modulus(self.modulus - 1)),
            _ => {
                let signed = Expr::binary(BinaryOp::Rem, left, modulus(self.modulus));
                let positive = Expr::binary(BinaryOp::Add, signed, modulus(self.modulus));
                Expr::binary(BinaryOp::Rem, positive, modulus(self.modulus))
            }
        };
        let kept = Type::Scalar(kept);
        let remainder = remainder.cast(kept.clone());
        let start = match counters::is_const(&l.first, 0) {
            true => remainder,
            false => Expr::binary(BinaryOp::Add, l.first.clone().cast(kept.clone()), remainder),
        };
        let number = Expr::var(l.var, Type::Scalar(ty)).cast(kept);
        let number = counters::times(number, &Expr::int(ty, self.modulus));
        Expr::binary(BinaryOp::Add, start, number)
    }

    /// Iterations that remain at most, and whether it is so many whatever the remainder is.
    fn count(&self, function: &Function, l: &ForLoop, [ty, wide]: [Scalar; 2]) -> (Expr, bool) {
        let number = trips::sum(l, ty);
        if let Some(n) = number.as_ref().and_then(Poly::as_constant) {
            let m = i128::from(self.modulus);
            let most = (n.max(0) + m - 1) / m;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            return (Expr::int(ty, most), n.max(0) % m == 0);
        }
        let [first, limit] = [&l.first, &l.limit].map(|e| e.clone().cast(Type::Scalar(wide)));
        let one = || Expr::int(wide, 1);
        let mut last = match counters::is_const(&first, 0) {
            true => limit,
            false => Expr::binary(BinaryOp::Sub, limit, first),
        };
        if l.compare == BinaryOp::Lt {
            last = Expr::binary(BinaryOp::Sub, last, one());
        }
        let strips = Expr::binary(BinaryOp::Div, last, Expr::int(wide, self.modulus));
        let strips = Expr::binary(BinaryOp::Add, strips, one()).cast(Type::Scalar(ty));
        let number = ExprKind::Select(trips::runs(function, l), strips, Expr::int(ty, 0));
        (Expr::new(number, Type::Scalar(ty), l.limit.origin.clone()), false)
    }
}

/// What the values of a loop's own variables are.
struct Resolver<'k> {
    function: &'k Function,
    l: &'k ForLoop,
    /// Variables that every iteration declares for itself.
    own: Vec<VarId>,
    /// Of those that are set once.
    values: BTreeMap<VarId, &'k Expr>,
}

impl<'k> Resolver<'k> {
    fn new(function: &'k Function, l: &'k ForLoop) -> Resolver<'k> {
        let times = walk::times_set_each(&l.body);
        let mut values = BTreeMap::new();
        walk::each_stmt(&l.body, &mut |s| {
            if let StmtKind::Decl { var, init: Some(init) } = &s.kind
                && times.get(var) == Some(&1)
                && scalars::is_exact(init, scalars::signed)
            {
                values.insert(*var, init);
            }
        });
        Resolver { function, l, own: walk::declared(&l.body), values }
    }

    /// What a condition says, if it is one on the counter's remainder.
    fn zero(&self, cond: &Expr) -> Option<Zero> {
        let (e, modulus) = remainder(cond)?;
        let ty = e.ty.scalar()?;
        let e = self.resolved(Poly::from_expr(e)?)?;
        let (factor, rest) = e.split(&Atom::Var(self.l.var))?;
        let stays = rest.atoms().into_iter().all(|a| match a {
            Atom::Var(v) => self.is_signed(*v) && !walk::writes_var(&self.l.body, *v),
            _ => false,
        });
        let own = matches!(factor.as_constant(), Some(1 | -1));
        (own && stays && modulus > 1).then_some(Zero { e, ty, modulus })
    }

    fn resolved(&self, mut e: Poly) -> Option<Poly> {
        // Each turn takes out a variable whose value mentions only those declared before it.
        for _ in 0..=self.values.len() {
            let own = e.atoms().into_iter().find_map(|a| match a {
                Atom::Var(v) => self.values.get_key_value(v),
                _ => None,
            });
            let Some((var, value)) = own else { return Some(e) };
            if !self.is_signed(*var) {
                return None;
            }
            e = e.substitute(*var, &Poly::from_expr(value)?)?;
        }
        None
    }

    fn is_signed(&self, v: VarId) -> bool {
        self.function.var(v).ty.scalar().is_some_and(scalars::signed)
    }

    /// Whether an end of the loop is the same number before all iterations: it is computed again in each.
    fn stays(&self, end: &Expr) -> bool {
        let sum = Poly::from_expr(end).filter(|_| scalars::is_exact(end, scalars::signed));
        sum.is_some_and(|sum| {
            sum.atoms().into_iter().all(|a| {
                matches!(a, Atom::Var(v) if *v != self.l.var && !walk::writes_var(&self.l.body, *v))
            })
        })
    }

    /// The conditions that hold at every effect of the statements; `None`: there are no effects.
    fn needed_by_all(&self, stmts: &[Stmt]) -> Option<Vec<Expr>> {
        let mut skips: Vec<Expr> = vec![];
        let mut lists = vec![];
        for stmt in stmts {
            if let Some(cond) = skipping(stmt) {
                skips.extend(walk::conjuncts(&negated(cond)).into_iter().cloned());
                continue;
            }
            let Some(mut needed) = self.needed_by(stmt) else { continue };
            needed.extend(skips.iter().cloned());
            lists.push(needed);
        }
        let lists = lists.iter().map(|list| list.iter().collect());
        common(lists).map(|list: Vec<&Expr>| list.into_iter().cloned().collect())
    }

    fn needed_by(&self, stmt: &Stmt) -> Option<Vec<Expr>> {
        match &stmt.kind {
            StmtKind::Decl { .. } => None,
            StmtKind::Assign { place, .. } if self.is_own(place) => None,
            StmtKind::Scope(inner) => self.needed_by_all(&inner.stmts),
            StmtKind::For(l) if !scalars::counter_outlives(self.function, l) => {
                self.needed_by_all(&l.body.stmts)
            }
            StmtKind::If { cond, then, otherwise } => {
                if self.needed_by_all(&otherwise.stmts).is_some() {
                    return Some(vec![]);
                }
                let mut needed = self.needed_by_all(&then.stmts)?;
                needed.extend(walk::conjuncts(cond).into_iter().cloned());
                Some(needed)
            }
            _ => Some(vec![]),
        }
    }

    /// Whether a place is a variable of the iteration.
    fn is_own(&self, place: &Place) -> bool {
        matches!(&*place.kind, PlaceKind::Var(v) if self.own.contains(v))
    }
}

/// The sides of `e % m == 0`, `!(e % m)` and, of a power of two, `(e & m - 1) == 0`.
fn remainder(cond: &Expr) -> Option<(&Expr, i64)> {
    let is_zero = |e: &Expr| e.as_const().is_some_and(|v| v.ty.is_integer() && v.as_i64() == 0);
    let left = match &*cond.kind {
        ExprKind::Binary(BinaryOp::Eq, a, b) if is_zero(b) => a,
        ExprKind::Unary(UnaryOp::Not, inner) => match &*inner.kind {
            ExprKind::Binary(BinaryOp::Ne, a, b) if is_zero(b) => a,
            _ => return None,
        },
        _ => return None,
    };
    let ExprKind::Binary(op, e, m) = &*left.kind else { return None };
    let m = m.as_const()?.as_i64();
    let modulus = match op {
        BinaryOp::Rem => m,
        BinaryOp::BitAnd if m > 0 && m & (m + 1) == 0 => m + 1,
        _ => return None,
    };
    scalars::is_exact(left, scalars::signed).then_some((e, modulus))
}

/// Takes a condition that holds anyway out of all others.
fn take_out(block: &mut Block, holds: &dyn Fn(&Expr) -> bool) {
    let stmts = std::mem::take(&mut block.stmts);
    for mut stmt in stmts {
        walk::blocks_mut(&mut stmt).into_iter().for_each(|b| take_out(b, holds));
        block.stmts.extend(without(stmt, holds));
    }
}

/// A statement without a condition that holds; `None`: nothing is left of it.
fn without(mut stmt: Stmt, holds: &dyn Fn(&Expr) -> bool) -> Option<Stmt> {
    let skips = skipping(&stmt).is_some();
    let StmtKind::If { cond, then, .. } = &mut stmt.kind else { return Some(stmt) };
    let whole = if skips { negated(cond) } else { cond.clone() };
    let all = walk::conjuncts(&whole);
    let left: Vec<Expr> = all.iter().filter(|e| !holds(e)).map(|e| (*e).clone()).collect();
    if left.len() == all.len() {
        return Some(stmt);
    }
    match all_of(left) {
        Some(rest) => *cond = if skips { negated(&rest) } else { rest },
        None if skips => return None,
        None => stmt.kind = StmtKind::Scope(std::mem::take(then)),
    }
    Some(stmt)
}
