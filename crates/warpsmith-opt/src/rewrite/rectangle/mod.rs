//! Runs a loop whose range depends on the loops around it over all values that it takes there.
//!
//! ```text
//!     for i in 0..n { for j in i..n { s = e(i, j); C[i][j] = s; } }
//!       ==> rectangle j
//!     for i in 0..n { for j in 0..n { s = e(i, j); if (j >= i) C[i][j] = s; } }
//! ```
//!
//! Blocks of threads are rectangles, and what all of them run together cannot stand under a condition. So what comes
//! before the first effect is computed by the iterations outside the shape as well, as far as that is harmless: it sets
//! variables of the iteration only, reads elements that lie inside their arrays for all values of the counters and that
//! nothing else in the nest writes, and ends. The rest is under the condition.
//!
//! A serial loop beside other statements, such as the sum of a product with a triangular matrix, is widened as well. What its
//! body reads is read by all iterations where that is harmless, so that blocks can copy it:
//!
//! ```text
//!     for k in i..m { s += A[k][i] * B[k][j]; }
//!       ==> rectangle k
//!     for k in 0..m { a = A[k][i]; b = B[k][j]; if (k >= i) s += a * b; }
//! ```
//!
//! Legal when the loops around count up by one and the bounds are sums of counters and of what does not change
//! in the nest, or least and greatest values of such sums.

mod anyway;
pub(crate) mod inside;
pub(crate) mod narrowed;
pub(crate) mod outside;
pub(crate) mod under;

use std::collections::BTreeSet;

use warpsmith_ir::poly::{Atom, Facts, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, LoopId, LoopKind, MathFn, Place, PlaceKind,
    Stmt, StmtKind, Var, VarId, VarKind, visit,
};

pub(crate) use self::anyway::range;
use self::anyway::{Anyway, chooses};
use super::Rewritten;
use super::question::independence;
use super::share::SHARED;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::access::{Access, AccessKind, Base, Scope, View, base_of};
use crate::analysis::elements;
use crate::analysis::loops::unit_step;
use crate::analysis::scalars;
use crate::build::conditions::all_of;
use crate::kernel::{Kernel, is_marked, only_loop};
use crate::names::fresh_name;
use crate::refusal::Refusal;
use crate::requirement::Requirement;
use crate::walk;

/// The step, which names one loop: the loop whose range depends on others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "rectangle",
        example: "rectangle j",
        does: "runs a loop whose range depends on the loops around it (a triangle, a band) over all values that it takes: what comes before the first effect is computed by all iterations, the rest under the condition that the iteration is one of the shape; blocks outside the shape end at once. A loop under conditions, as the sum over the channels of a window at the edges of an image, is taken out of them, and they go inside",
        legal: "the loop and those directly around it count up by one, and its bounds are sums of their counters, or least and greatest values of such sums; conditions hold throughout the loop or not at all, and nothing else stands under them",
        law: Law {
            before: "\
void clear(int n, float L[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            L[i][j] = 0.0f;
}
",
            steps: "rectangle j",
            after: "\
void clear(int n, float *L) {
    // parallel
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            if (j >= i) {
                L[(size_t)i * n + j] = 0.0f;
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

/// The verdict on a `rectangle`, which alone allows it.
pub struct LegalRectangle<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    /// `None`: the loop stands under conditions, which go inside.
    widened: Option<Widened>,
}

/// A loop over all values that it takes.
struct Widened {
    hull: Hull,
    /// The loop whose body gets the condition: the target, or the last of those directly inside it that can be bound.
    innermost: LoopId,
    /// Statements at the start of that body that all iterations run.
    for_all: usize,
    /// Elements that the statements behind them read, and that all iterations may read, too.
    loaded: Vec<Place>,
}

/// The range that holds all others, and what tells the iterations that are meant.
struct Hull {
    first: Expr,
    /// The value after the last one.
    limit: Expr,
    inside: Expr,
}

/// Asks whether a loop can run over its rectangular hull.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(kernel: &'k Kernel, target: LoopId) -> Result<LegalRectangle<'k>, Refusal> {
    let refuse = |why: &str| Err(Refusal::of_loop("make a rectangle of", target, why));
    let Some(l) = kernel.find_loop(target) else { return refuse("it does not exist") };
    if matches!(l.kind, LoopKind::Bound(_)) {
        return Err(Refusal::AlreadyBound { loop_id: target });
    }
    if kernel.has_shared_loop(target) {
        return refuse(SHARED);
    }
    if let Some(stmt) = walk::leaves(&l.body) {
        return Err(Refusal::LeavesLoop { loop_id: target, at: stmt.origin.clone() });
    }
    if !follows(l, &kernel.loops_around(target)) {
        match under::conditions(kernel, l) {
            Ok(conditions) if conditions.is_empty() => {}
            Ok(_) => return Ok(LegalRectangle { kernel, target, widened: None }),
            Err(why) => return refuse(why),
        }
    }
    let direct = directly_around(kernel, target);
    // A serial loop beside other statements: all of its body gets the condition.
    let within = matches!(l.kind, LoopKind::Serial) && !follows(l, &direct);
    let around = if within { kernel.loops_around(target) } else { direct };
    if !around.iter().chain([&l]).all(|l| unit_step(l)) {
        return refuse("it and the loops around it have to count up by one");
    }
    let hull = match hull(kernel, l, &around) {
        Ok(hull) => hull,
        Err(why) => return refuse(why),
    };
    let mut speculation = Speculation::new(kernel, l, &around, &hull);
    let mut innermost = l;
    while let Some(next) =
        only_loop(&innermost.body).filter(|n| !within && speculation.may_enter(n))
    {
        bound(&mut speculation.facts, next);
        speculation.inside.push(next);
        innermost = next;
    }
    let for_all = speculation.count(&innermost.body);
    let rest = &innermost.body.stmts[for_all..];
    let loaded = if within { speculation.loads(rest) } else { vec![] };
    let widened = Widened { hull, innermost: innermost.id, for_all, loaded };
    Ok(LegalRectangle { kernel, target, widened: Some(widened) })
}

/// Widens the loop, or takes it out of the conditions.
pub fn apply(legal: LegalRectangle<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    match &legal.widened {
        Some(widened) => widen(kernel.func_mut(), legal.target, widened),
        None => {
            let around = legal.kernel.loops_around(legal.target).last().map(|l| l.id);
            under::sink(&mut kernel.func_mut().body, around, legal.target);
        }
    }
    Rewritten::same_loops(kernel)
}

fn widen(function: &mut Function, target: LoopId, widened: &Widened) {
    let loaded: Vec<(Place, VarId)> =
        widened.loaded.iter().map(|p| (p.clone(), value_of(function, p))).collect();
    let body = &mut function.body;
    walk::with_loop(body, widened.innermost, &mut |stmt| {
        let origin = stmt.origin.by("rectangle");
        let StmtKind::For(l) = &mut stmt.kind else { return };
        let mut then = Block::new(l.body.stmts.split_off(widened.for_all));
        for (place, var) in &loaded {
            let value = Expr::new(ExprKind::Read(place.clone()), place.ty.clone(), origin.clone());
            let kind = StmtKind::Decl { var: *var, init: Some(value) };
            l.body.stmts.push(Stmt::new(kind, origin.clone()));
            visit::map_exprs(&mut then, &mut |e| {
                if matches!(&*e.kind, ExprKind::Read(p) if p == place) {
                    *e = Expr::var(*var, place.ty.clone());
                }
            });
        }
        let cond = widened.hull.inside.clone();
        if !then.stmts.is_empty() {
            let kind = StmtKind::If { cond, then, otherwise: Block::default() };
            l.body.stmts.push(Stmt::new(kind, origin));
        }
    });
    walk::with_loop(body, target, &mut |stmt| {
        let StmtKind::For(l) = &mut stmt.kind else { return };
        l.first.clone_from(&widened.hull.first);
        l.limit.clone_from(&widened.hull.limit);
        l.compare = BinaryOp::Lt;
    });
}

/// A variable for the value of an element.
fn value_of(function: &mut Function, place: &Place) -> VarId {
    let array = match base_of(place) {
        Base::Var(v) => function.var(v).name.clone(),
        _ => "element".to_string(),
    };
    let name = fresh_name(function, &format!("{array}_value"));
    function.add_var(Var::new(name, place.ty.clone(), VarKind::Local))
}

/// Whether the range of a loop depends on the counters of others.
fn follows(l: &ForLoop, others: &[&ForLoop]) -> bool {
    let mut found = false;
    for e in [&l.first, &l.limit] {
        walk::each_var(e, &mut |v| found |= others.iter().any(|o| o.var == v));
    }
    found
}

/// The loops that hold nothing but the next one, down to the target, outermost first.
fn directly_around(kernel: &Kernel, target: LoopId) -> Vec<&ForLoop> {
    let mut around = vec![];
    let mut inner = target;
    for outer in kernel.loops_around(target).into_iter().rev() {
        if only_loop(&outer.body).is_none_or(|l| l.id != inner) {
            break;
        }
        inner = outer.id;
        around.insert(0, outer);
    }
    around
}

fn hull(kernel: &Kernel, l: &ForLoop, around: &[&ForLoop]) -> Result<Hull, &'static str> {
    let counters: BTreeSet<VarId> = around.iter().map(|o| o.var).collect();
    let depends = |e: &Expr| {
        let mut found = false;
        walk::each_var(e, &mut |v| found |= counters.contains(&v));
        found
    };
    if !depends(&l.first) && !depends(&l.limit) {
        return Err("its range is the same for all iterations of the loops around it");
    }
    let body = around.first().map_or(&l.body, |outermost| &outermost.body);
    for e in [&l.first, &l.limit] {
        let mut changes = walk::reads_memory(e);
        walk::each_var(e, &mut |v| changes |= !counters.contains(&v) && walk::writes_var(body, v));
        if changes {
            return Err("its bounds change inside the nest");
        }
    }
    let function = kernel.func();
    let ty = function.var(l.var).ty.scalar().ok_or("its counter is no number")?;
    let type_of = |v: VarId| function.var(v).ty.scalar().unwrap_or(ty);
    let ranges: Vec<(VarId, Poly, Poly)> = around.iter().filter_map(|o| range(o)).collect();
    let end = |e: &Expr, more: i128, up: bool| -> Result<Expr, &'static str> {
        let unknown = "its bounds are no sums of the counters around it";
        extreme(e, more, up, &ranges, &|p| p.to_expr(ty, &type_of)).ok_or(unknown)
    };
    let counter = || Expr::var(l.var, function.var(l.var).ty.clone());
    let mut inside = vec![];
    if depends(&l.first) {
        inside.push(Expr::binary(BinaryOp::Ge, counter(), l.first.clone()));
    }
    if depends(&l.limit) {
        inside.push(Expr::binary(l.compare, counter(), l.limit.clone()));
    }
    let inside = all_of(inside);
    if !ty.is_signed() && ![&l.first, &l.limit].into_iter().all(never_wraps) {
        return Err("its bounds may wrap around below zero");
    }
    let past = i128::from(l.compare == BinaryOp::Le);
    Ok(Hull {
        first: end(&l.first, 0, false)?,
        limit: end(&l.limit, past, true)?,
        inside: inside.unwrap_or_else(|| Expr::constant(warpsmith_ir::Value::bool(true))),
    })
}

/// Whether an unsigned expression is what it would be without a limit: numbers of memory's sizes that are only added.
fn never_wraps(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Const(v) => v.as_i64() >= 0 && v.as_i64() <= i64::from(i32::MAX),
        ExprKind::Read(_) => true,
        ExprKind::Cast(inner) => never_wraps(inner),
        ExprKind::Binary(BinaryOp::Add, a, b) => never_wraps(a) && never_wraps(b),
        _ => least_or_greatest(e).is_some_and(|(_, a, b)| never_wraps(a) && never_wraps(b)),
    }
}

/// The greatest (`up`) or least value of `e + more` over the ranges.
fn extreme(
    e: &Expr,
    more: i128,
    up: bool,
    ranges: &[(VarId, Poly, Poly)],
    print: &dyn Fn(&Poly) -> Expr,
) -> Option<Expr> {
    if let Some((f, a, b)) = least_or_greatest(e) {
        let part = |e| extreme(e, more, up, ranges, print);
        let kind = ExprKind::Call(f, vec![part(a)?, part(b)?]);
        return Some(Expr::new(kind, e.ty.clone(), e.origin.clone()));
    }
    let mut p = Poly::from_expr(e)?.add(&Poly::constant(more))?;
    for (var, first, last) in ranges.iter().rev() {
        let Some((factor, rest)) = p.split(&Atom::Var(*var)) else {
            // Inside a quotient or a symbol.
            return None;
        };
        let rises = factor.as_constant()? >= 0;
        p = factor.mul(if rises == up { last } else { first })?.add(&rest)?;
        if p.mentions(*var) {
            return None;
        }
    }
    Some(print(&p))
}

/// `min(a, b)`, `max(a, b)`, and the choices that stand for them.
fn least_or_greatest(e: &Expr) -> Option<(MathFn, &Expr, &Expr)> {
    match &*e.kind {
        ExprKind::Call(f @ (MathFn::Min | MathFn::Max), args) => match args.as_slice() {
            [a, b] => Some((*f, a, b)),
            _ => None,
        },
        ExprKind::Select(cond, a, b) => {
            let ExprKind::Binary(op, x, y) = &*cond.kind else { return None };
            let less = match op {
                BinaryOp::Lt | BinaryOp::Le => true,
                BinaryOp::Gt | BinaryOp::Ge => false,
                _ => return None,
            };
            let same = |p: &Expr, q: &Expr| p.kind == q.kind;
            let first_if_less = match (same(x, a) && same(y, b), same(x, b) && same(y, a)) {
                (true, _) => less,
                (_, true) => !less,
                _ => return None,
            };
            Some((if first_if_less { MathFn::Min } else { MathFn::Max }, a, b))
        }
        _ => None,
    }
}

/// What iterations outside the shape may compute.
#[derive(Clone)]
struct Speculation<'k> {
    kernel: &'k Kernel,
    body: &'k Block,
    /// Bounds of the counters.
    facts: Facts,
    /// Arrays that something in the nest writes, but for those of which each iteration has an element.
    written: BTreeSet<Base>,
    /// Variables that each iteration declares.
    own: Vec<VarId>,
    anyway: Anyway<'k>,
    /// Loops in the body of the target around what is asked about.
    inside: Vec<&'k ForLoop>,
    /// That stands under no condition of the body.
    sure: bool,
}

impl<'k> Speculation<'k> {
    fn new(
        kernel: &'k Kernel,
        l: &'k ForLoop,
        around: &[&'k ForLoop],
        hull: &Hull,
    ) -> Speculation<'k> {
        let root = around.first().copied().unwrap_or(l);
        let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root.id), root);
        let accesses = scope.accesses();
        let counters: Vec<VarId> = around.iter().chain([&l]).map(|l| l.var).collect();
        let changing = accesses
            .iter()
            .filter(|a| a.kind != AccessKind::Read && !is_own(&accesses, a, &counters));
        let mut facts = Facts::new();
        kernel.requires.iter().for_each(|r| facts.assume_nonnegative(Requirement::slack(r)));
        for outer in kernel.loops_around(l.id) {
            bound(&mut facts, outer);
        }
        let whole = ForLoop {
            first: hull.first.clone(),
            limit: hull.limit.clone(),
            compare: BinaryOp::Lt,
            body: Block::default(),
            ..l.clone()
        };
        let anyway = Anyway::new(l, around, [&hull.first, &hull.limit], &facts);
        bound(&mut facts, &whole);
        Speculation {
            kernel,
            body: &l.body,
            facts,
            written: changing.map(|a| a.base).collect(),
            own: walk::declared(&l.body),
            anyway,
            inside: vec![],
            sure: true,
        }
    }

    /// Whether the condition may stand inside a loop that is all that the loop around it holds, so that both can be bound.
    fn may_enter(&self, l: &ForLoop) -> bool {
        let bounds = [&l.first, &l.limit, &l.step];
        unit_step(l)
            && bounds.iter().all(|e| self.is_harmless(e))
            && (is_marked(l) || independence::provably_parallel(self.kernel, l))
    }

    /// How many statements at the start of the body all iterations may run.
    fn count(&self, body: &'k Block) -> usize {
        body.stmts.iter().take_while(|s| self.may_run(s)).count()
    }

    fn may_run(&self, stmt: &'k Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Decl { init, .. } => init.iter().all(|e| self.is_harmless(e)),
            StmtKind::Assign { place, value } => {
                matches!(&*place.kind, PlaceKind::Var(v) if self.own.contains(v))
                    && self.is_harmless(value)
            }
            StmtKind::If { cond, then, otherwise } => {
                let unsure = Speculation { sure: false, ..self.clone() };
                let branches = [then, otherwise];
                self.is_harmless(cond) && branches.into_iter().all(|b| unsure.all_may_run(b))
            }
            StmtKind::Scope(inner) => self.all_may_run(inner),
            StmtKind::For(l) => {
                let own = l.declares || !scalars::read_outside_its_loops(self.body, l.var);
                let bounds = [&l.first, &l.limit, &l.step];
                let mut inner = self.clone();
                bound(&mut inner.facts, l);
                inner.inside.push(l);
                own && unit_step(l)
                    && bounds.iter().all(|e| self.is_harmless(e))
                    && inner.all_may_run(&l.body)
            }
            _ => false,
        }
    }

    /// The elements of arrays that simple statements read, where all iterations may read all of them.
    fn loads(&self, stmts: &[Stmt]) -> Vec<Place> {
        let (mut loads, mut harmless): (Vec<Place>, bool) = (vec![], true);
        for stmt in stmts {
            let value = match &stmt.kind {
                StmtKind::Assign { place, value } if place.root_var().is_some() => value,
                _ => return vec![],
            };
            walk::each_expr(value, &mut |e| {
                if let ExprKind::Read(place) = &*e.kind
                    && place.root_var().is_none()
                {
                    harmless &= self.is_harmless(e);
                    if !loads.contains(place) {
                        loads.push(place.clone());
                    }
                }
            });
        }
        if harmless { loads } else { vec![] }
    }

    fn all_may_run(&self, block: &'k Block) -> bool {
        block.stmts.iter().all(|s| self.may_run(s))
    }

    fn is_harmless(&self, e: &Expr) -> bool {
        let mut harmless = true;
        let sure = self.sure && !chooses(e);
        walk::each_expr(e, &mut |e| {
            harmless &= match &*e.kind {
                ExprKind::Read(place) => e.ty.is_pointer() || self.is_inside(place, sure),
                ExprKind::Binary(..) => has_result(e),
                ExprKind::AddressOf(_) | ExprKind::PtrOffset(..) | ExprKind::PtrDiff(..) => false,
                _ => true,
            };
        });
        harmless
    }

    /// Whether a place exists for all values of the counters, and nothing in the nest writes it but the iteration itself.
    fn is_inside(&self, place: &Place, sure: bool) -> bool {
        match &*place.kind {
            PlaceKind::Var(v) => {
                let base = Base::Var(*v);
                self.own.contains(v) || !self.written.contains(&base)
            }
            PlaceKind::Field(inner, _) | PlaceKind::Component(inner, _) => {
                self.is_inside(inner, sure)
            }
            PlaceKind::Index(inner, i) => {
                let extent = inner.ty.extents().first().map(|n| Poly::constant((*n).into()));
                self.is_inside(inner, sure) && extent.is_some_and(|n| self.is_below(i, &n))
            }
            PlaceKind::Elem { pointer, index, dims } => {
                let ExprKind::Read(p) = &*pointer.kind else { return false };
                let PlaceKind::Var(array) = *p.kind else { return false };
                !self.written.contains(&Base::Var(array))
                    && !self.written.contains(&Base::Anything)
                    && (self.has_element(array, index, dims)
                        || (sure && self.anyway.reads(place, &self.inside)))
            }
            PlaceKind::Global(_) | PlaceKind::Deref(_) => false,
        }
    }

    fn has_element(&self, array: VarId, index: &[Expr], dims: &[Expr]) -> bool {
        let sums = |all: &[Expr]| all.iter().map(Poly::from_expr).collect::<Option<Vec<Poly>>>();
        let (Some(index), Some(rows)) = (sums(index), sums(dims)) else { return false };
        elements::has_element(self.kernel.func().var(array), &index, &rows, &self.facts)
    }

    /// Whether `0 <= e < extent`.
    fn is_below(&self, e: &Expr, extent: &Poly) -> bool {
        Poly::from_expr(e).is_some_and(|p| elements::is_below(&p, extent, &self.facts))
    }
}

/// Whether every iteration, also of those outside the shape, uses one element of an array, and no two the same: everything that
/// touches it has the same subscripts, and each counter is one of them.
fn is_own(accesses: &[Access<'_>], access: &Access<'_>, counters: &[VarId]) -> bool {
    let View::Affine { index, .. } = &access.view else { return false };
    let is =
        |p: &Poly, v: VarId| p.sub(&Poly::var(v)).is_some_and(|rest| rest.as_constant().is_some());
    let alone = accesses.iter().all(|a| match a.base {
        base if base == access.base => a.view == access.view,
        base => base != Base::Anything,
    });
    alone
        && access.base != Base::Anything
        && counters.iter().all(|v| index.iter().any(|p| is(p, *v)))
}

/// Whether an operation has a result whatever its operands are: it divides by no variable.
fn has_result(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) if e.ty.is_integer() => {
            b.as_const().is_some_and(|v| v.as_i64() != 0)
        }
        ExprKind::Binary(BinaryOp::Shl | BinaryOp::Shr, _, b) => b.as_const().is_some(),
        _ => true,
    }
}

/// States the range of a loop's counter.
fn bound(facts: &mut Facts, l: &ForLoop) {
    if let Some((var, first, last)) = range(l) {
        facts.bound(Atom::Var(var), Some(first), Some(last));
    }
    // Of the least of several limits, each is one.
    if let Some((MathFn::Min, a, b)) = least_or_greatest(&l.limit) {
        for limit in [a, b].into_iter().filter_map(Poly::from_expr) {
            let last = limit.sub(&Poly::constant((l.compare != BinaryOp::Le).into()));
            facts.bound(Atom::Var(l.var), None, last);
        }
    }
    if let Some((MathFn::Max, a, b)) = least_or_greatest(&l.first) {
        for first in [a, b].into_iter().filter_map(Poly::from_expr) {
            facts.bound(Atom::Var(l.var), Some(first), None);
        }
    }
}
