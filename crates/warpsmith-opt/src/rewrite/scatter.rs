//! Turns sums that each iteration gathers into updates that the summed loop scatters.
//!
//! ```text
//!     parallel for j in J { s = a(j);  for i in I { s += f(i, j) }  y[j] = g(s) }
//!       ==> scatter j
//!     parallel for j in J { y[j] = a(j) }
//!     parallel for i in I { for j in J { atomically y[j] += f(i, j) } }
//!     parallel for j in J { y[j] = g(y[j]) }
//! ```
//!
//! A nest that reads a matrix column by column then reads it row by row, as one that sums its rows does: `fuse_loops` makes
//! one pass of the two. Nests that would only copy an element to itself are left out.
//!
//! Legal for a marked loop that is not bound, whose body is a sum over one serial loop between declarations and one store
//! to an element that nothing else in the nest touches; ranges are known when the launcher starts. The terms are added
//! in any order: sums of reals are compared with a tolerance.

use warpsmith_ir::typing::Env;
use warpsmith_ir::{
    AtomicOp, BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, LoopKind, Parallel, Place,
    PlaceKind, ReduceOp, Scalar, Scope, Stmt, StmtKind, Type, UnaryOp, VarId, visit,
};

use super::Rewritten;
use super::edit::copy;
use super::edit::copy::general_copy;
use super::privatise::has_only_private;
use super::question::independence;
use super::split_k::{self, Sum};
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::access::{Base, base_of};
use crate::analysis::scalars;
use crate::kernel::{Kernel, is_marked};
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the loop whose iterations gather.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "scatter",
        example: "scatter j",
        does: "turns sums that each iteration of a parallel loop gathers in an inner loop into atomic updates: the inner loop becomes the parallel one, and goes through all sums; what sums begin at and what is made of them become nests of their own. A matrix that was read column by column is then read row by row",
        legal: "the loop is marked, not bound yet, and holds one sum by `+` over one serial loop and one store to an element that nothing else in it touches; all ranges are known when the launcher starts; sums of reals are then compared with a tolerance",
        law: Law {
            before: "\
void columns(int n, int m, const float A[n][m], float s[m]) {
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++)
            sum += A[i][j];
        s[j] = sum;
    }
}
",
            steps: "scatter j",
            after: "\
void columns(int n, int m, const float *A, float *s) {
    // parallel
    for (int j = 0; j < m; ++j) {
        s[j] = 0.0f;
    }

    // parallel
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
            atomicAdd(&s[j], A[(size_t)i * m + j]);
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

/// The verdict on a `scatter`, which alone allows it.
pub struct LegalScatter {
    made: Kernel,
    old: LoopId,
    /// The nest of updates, or of the first values.
    new: LoopId,
}

/// What the body of the nest is.
struct Parts<'k> {
    /// The summed loop.
    sum: &'k ForLoop,
    /// Declarations that its body needs.
    needed: Vec<Stmt>,
    /// Declarations and the first value of the sum, unless it is what the element holds.
    begin: Option<(Vec<Stmt>, Expr)>,
    /// The element.
    place: Place,
    /// What is stored, over the sum, unless it is the sum.
    end: Option<(Vec<Stmt>, Expr)>,
    /// The variable of the sum, where it is one.
    var: Option<VarId>,
}

const VERB: &str = "scatter the sum of";

fn refused<T>(target: LoopId, why: String) -> Result<T, Refusal> {
    Err(Refusal::of_loop(VERB, target, why))
}

/// What keeps a sum from being split keeps it from being scattered.
fn of_scatter(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::LoopRefused { loop_id, why, .. } => Refusal::of_loop(VERB, loop_id, why),
        other => other,
    }
}

/// Asks whether the sums of a nest can be scattered.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalScatter, Refusal> {
    let Some(l) = kernel.find_loop(target).filter(|l| is_marked(l)) else {
        return refused(target, "it is not marked, or bound already".into());
    };
    let (group, clauses) = independence::group_of(kernel, target);
    if group != [target] || !has_only_private(&clauses) || !clauses.private.is_empty() {
        return refused(target, "it is no nest of one loop without clauses".into());
    }
    if !independence::check(kernel, target, &group, &clauses)?.proved() {
        return refused(target, "its iterations are not proved independent".into());
    }
    let parts = parts(kernel, l)?;
    let (made, new) = made(kernel, l, &parts);
    for root in made.marked_roots().into_iter().filter(|id| kernel.find_loop(*id).is_none()) {
        let (group, clauses) = independence::group_of(&made, root);
        if !independence::check(&made, root, &group, &clauses)?.proved() {
            return refused(target, "its terms are not proved independent".into());
        }
    }
    Ok(LegalScatter { made, old: target, new })
}

/// Takes the body of the nest apart.
fn parts<'k>(kernel: &'k Kernel, l: &'k ForLoop) -> Result<Parts<'k>, Refusal> {
    let mut loops = l.body.stmts.iter().enumerate().filter_map(|(at, s)| match &s.kind {
        StmtKind::For(inner) => Some((at, inner)),
        _ => None,
    });
    let (Some((at, sum)), None) = (loops.next(), loops.next()) else {
        return refused(l.id, "its body is not one loop between declarations and a store".into());
    };
    split_k::check_loops(kernel, &[l.id], sum).map_err(of_scatter)?;
    let added = split_k::sum_of(kernel, sum).map_err(of_scatter)?;
    check_terms(l, sum, &added)?;
    let needed =
        split_k::needed(kernel, &l.body, sum, std::slice::from_ref(&added)).map_err(of_scatter)?;
    let (before, after) = (&l.body.stmts[..at], &l.body.stmts[at + 1..]);
    let declarations =
        || before.iter().filter(|s| matches!(s.kind, StmtKind::Decl { .. })).cloned();
    if declarations().count() != before.len() {
        return refused(l.id, "more than declarations stands before its inner loop".into());
    }
    let PlaceKind::Var(var) = *added.place.kind else {
        return match after {
            [] => Ok(Parts { sum, needed, begin: None, place: added.place, end: None, var: None }),
            _ => refused(l.id, "something comes after its inner loop".into()),
        };
    };
    let (first, others): (Vec<Stmt>, Vec<Stmt>) =
        declarations().partition(|s| matches!(s.kind, StmtKind::Decl { var: v, .. } if v == var));
    let (place, value) = stored(kernel, l, var, after)?;
    let first = match first.first().map(|s| &s.kind) {
        Some(StmtKind::Decl { init: Some(e), .. }) => e.clone(),
        _ => return refused(l.id, "its sum is not declared with a first value".into()),
    };
    let is_own = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if *p == place);
    let begin = (!is_own(&first)).then(|| (others.clone(), first.clone()));
    let end = (!scalars::reads(value, var)).then(|| (others, value.clone()));
    let mut touched = touches(&sum.body, &place);
    touched |= begin.as_ref().is_some_and(|(_, e)| reads(e, &place));
    touched |= end.as_ref().is_some_and(|(_, e)| reads(e, &place));
    touched |= before.iter().any(|s| match &s.kind {
        StmtKind::Decl { init: Some(e), .. } => reads(e, &place) && !is_own(e),
        _ => false,
    });
    match touched {
        true => refused(l.id, "it reads the array that it stores the sum in".into()),
        false => Ok(Parts { sum, needed, begin, place, end, var: Some(var) }),
    }
}

/// Threads can add the terms to memory.
fn check_terms(l: &ForLoop, looped: &ForLoop, sum: &Sum) -> Result<(), Refusal> {
    let mut fits = sum.op == ReduceOp::Add
        && matches!(
            sum.scalar,
            Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32 | Scalar::U64
        );
    walk::each_stmt(&looped.body, &mut |s| {
        if let StmtKind::Assign { place, value } = &s.kind
            && *place == sum.place
        {
            fits &= term_of(value, place).is_some();
        }
    });
    match fits {
        true => Ok(()),
        false => refused(l.id, "threads cannot add its terms to memory".into()),
    }
}

/// What `sum + e`, `e + sum`, `sum - e` and `sum + e + f` add.
fn term_of(value: &Expr, sum: &Place) -> Option<Expr> {
    let is_sum = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if p == sum);
    match &*value.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) if is_sum(a) => Some(b.clone()),
        ExprKind::Binary(BinaryOp::Add, a, b) if is_sum(b) => Some(a.clone()),
        ExprKind::Binary(BinaryOp::Sub, a, b) if is_sum(a) => {
            let kind = ExprKind::Unary(UnaryOp::Neg, b.clone());
            Some(Expr::new(kind, b.ty.clone(), b.origin.clone()))
        }
        ExprKind::Binary(BinaryOp::Add, a, b) => {
            Some(Expr::binary(BinaryOp::Add, term_of(a, sum)?, b.clone()))
        }
        _ => None,
    }
}

/// The one store behind the summed loop: an element of the sum's type, and the value.
fn stored<'k>(
    kernel: &Kernel,
    l: &ForLoop,
    var: VarId,
    after: &'k [Stmt],
) -> Result<(Place, &'k Expr), Refusal> {
    if let [Stmt { kind: StmtKind::Assign { place, value }, .. }] = after
        && matches!(&*place.kind, PlaceKind::Elem { .. })
        && matches!(base_of(place), Base::Var(_))
        && place.ty == kernel.func().var(var).ty
        && !walk::subscripts(place).into_iter().any(|e| walk::mentions(e, var))
    {
        return Ok((place.clone(), value));
    }
    refused(
        l.id,
        "its inner loop is not followed by one store of an element of the sum's type".into(),
    )
}

fn touches(block: &Block, place: &Place) -> bool {
    let mut found = false;
    visit::for_each_place(block, &mut |p, _| {
        found |= p.root_var().is_none()
            && matches!(base_of(p), b if b == base_of(place) || b == Base::Anything);
    });
    found
}

fn reads(e: &Expr, place: &Place) -> bool {
    let mut found = false;
    visit::for_each_place_in_expr(e, &mut |p, _| {
        found |= p.root_var().is_none() && base_of(p) == base_of(place);
    });
    found
}

/// The kernel with the new nests, and the loop of the first of them that is kept.
fn made(kernel: &Kernel, l: &ForLoop, parts: &Parts<'_>) -> (Kernel, LoopId) {
    let mut made = kernel.clone();
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, l.id).cloned() else {
        return (made, l.id);
    };
    let origin = stmt.origin.by("scatter");
    let own = |stmts: Vec<Stmt>| {
        let kind = StmtKind::For(ForLoop { body: Block::new(stmts), ..l.clone() });
        Stmt::new(kind, origin.clone())
    };
    let store = |value: Expr| {
        Stmt::new(StmtKind::Assign { place: parts.place.clone(), value }, origin.clone())
    };
    let mut nests = vec![];
    if let Some((declared, value)) = &parts.begin {
        let stmts = declared.iter().cloned().chain([store(value.clone())]);
        nests.push(own(stmts.collect()));
    }
    nests.push(updates(&mut made, l, parts, &stmt));
    if let (Some((declared, value)), Some(var)) = (&parts.end, parts.var) {
        let sum = Place::var(var, parts.place.ty.clone());
        let mut body = Block::new(declared.iter().cloned().chain([store(value.clone())]).collect());
        copy::replace_place(&mut body, &sum, &parts.place);
        nests.push(own(body.stmts));
    }
    if parts.place.ty.is_float()
        && let Base::Var(array) = base_of(&parts.place)
    {
        made.reassociated.insert(array);
    }
    // Every nest has loops and variables of its own.
    let nests: Vec<Stmt> = nests.iter().map(|nest| general_copy(&mut made, nest).0).collect();
    let id = |s: &Stmt| match &s.kind {
        StmtKind::For(l) => Some(l.id),
        _ => None,
    };
    let new = nests.first().and_then(id).unwrap_or(l.id);
    copy::replace_loop(&mut made, l.id, nests);
    (made, new)
}

/// The nest of updates.
fn updates(made: &mut Kernel, l: &ForLoop, parts: &Parts<'_>, stmt: &Stmt) -> Stmt {
    let origin = stmt.origin.by("scatter");
    let from = match parts.var {
        Some(var) => Place::var(var, parts.place.ty.clone()),
        None => parts.place.clone(),
    };
    let mut body = parts.sum.body.clone();
    let pointer = address(made, &parts.place);
    update_in(&mut body, &from, (&pointer, &parts.place.ty));
    let mut stmts = parts.needed.clone();
    stmts.extend(body.stmts);
    let inner =
        ForLoop { kind: LoopKind::Serial, body: Block::new(stmts), declares: true, ..l.clone() };
    let mark = match &l.kind {
        LoopKind::Parallel(p) => Parallel { origin: p.origin.clone(), ..Parallel::default() },
        _ => Parallel::default(),
    };
    let outer = ForLoop {
        id: made.func_mut().fresh_loop(),
        kind: LoopKind::Parallel(mark),
        body: Block::new(vec![Stmt::new(StmtKind::For(inner), origin.clone())]),
        declares: true,
        ..parts.sum.clone()
    };
    Stmt::new(StmtKind::For(outer), origin)
}

fn address(kernel: &Kernel, place: &Place) -> Expr {
    let kind = ExprKind::AddressOf(place.clone());
    let env = Env { module: &kernel.module, vars: &kernel.func().vars };
    let ty = env.expr(&kind).unwrap_or(Type::Void);
    Expr::new(kind, ty, place.origin.clone())
}

/// Atomic updates of an element in place of additions to the sum.
fn update_in(block: &mut Block, sum: &Place, (pointer, ty): (&Expr, &Type)) {
    for stmt in &mut block.stmts {
        if let StmtKind::Assign { place, value } = &stmt.kind
            && place == sum
            && let Some(term) = term_of(value, sum)
        {
            stmt.kind = StmtKind::Atomic {
                op: AtomicOp::Add,
                pointer: pointer.clone(),
                value: term.cast(ty.clone()),
                compare: None,
                result: None,
                scope: Scope::Device,
            };
        }
        walk::blocks_mut(stmt).into_iter().for_each(|b| update_in(b, sum, (pointer, ty)));
    }
}

/// Puts the new nests in place of the old one.
pub fn apply(legal: LegalScatter) -> Rewritten {
    Rewritten { kernel: legal.made, loops: vec![(legal.old, legal.new)] }
}
