//! Splits a sum across blocks.
//!
//! ```text
//!     parallel for i in I { s = a; for k in K { s += e(i, k) }; C[i] = s }
//!       ==> split_k k by 4
//!     parallel for k_part in 0..4 { parallel for i in I {
//!         s_parts[k_part][i] = 0; for k in the k_part-th quarter of K { s_parts[k_part][i] += e(i, k) } } }
//!     parallel for i in I { s = a; for k_part in 0..4 { s += s_parts[k_part][i] }; C[i] = s }
//! ```
//!
//! Where a nest has few outputs and long sums, the parts keep the whole device busy. The partial results live in the
//! workspace and are combined in the order of the parts: every run gives the same bits. Both nests are bound by later
//! steps, the first one by the names of the loops (`bind k_part, i -> y, x …`), the second one by `i#2`.
//!
//! Legal for a serial loop directly inside a nest of parallel loops that all count up by one, with bounds that the
//! launcher knows at its start, whose only effect is that variables or elements are each combined with something by `+`,
//! `-`, `*`, `&`, `|`, `^`, minimum or maximum, but not with each other. Sums and products of reals are reassociated: they are compared with a
//! tolerance.

mod nests;

use std::collections::BTreeSet;
use warpsmith_ir::{
    Block, Expr, ForLoop, LoopId, LoopKind, Place, PlaceKind, ReduceOp, Scalar, Stmt, StmtKind,
    VarId, visit,
};

use super::Rewritten;
use super::accumulate::moves;
use super::edit::copy::replace_place_in;
use super::step::{About, CountArgs, Law, OfCount};
use crate::analysis::access::{Base, base_of};
use crate::analysis::loops::unit_step;
use crate::analysis::{loops, presence, scalars};
use crate::kernel::{Kernel, is_marked};
use crate::refusal::Refusal;
use crate::walk;

pub use nests::apply;

/// The step, which names a serial loop that sums up and parts of the sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = CountArgs<Step>;

impl OfCount for Step {
    const ABOUT: About = About {
        name: "split_k",
        example: "split_k k by 4",
        does: "splits the sum over a serial loop into parts: a nest over `k_part` and the parallel loops leaves partial results in the workspace, the old nest (its loops now `i#2`, `j#2`) combines them in order",
        legal: "the loop is directly in a nest that is not bound yet, all bounds are sizes, and it only combines variables or elements with something, none of them with another; sums of reals are then compared with a tolerance",
        law: Law {
            before: "\
void rows(int n, int m, const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            s[i] += A[i][k];
}
",
            steps: "split_k k by 4",
            after: "\
void rows(int n, int m, const float *A, float *s, float *__restrict__ s_parts, int k_length) {
    // parallel
    for (int k_part = 0; k_part < 4; ++k_part) {
        // parallel
        for (int i = 0; i < n; ++i) {
            s_parts[(size_t)k_part * n + i] = 0.0f;
            for (int k = k_part * k_length;
                 k < (k_part == 3 || (k_part + 1) * k_length > m ? m : (k_part + 1) * k_length);
                 ++k) {
                s_parts[(size_t)k_part * n + i] += A[(size_t)i * m + k];
            }
        }
    }

    // parallel
    for (int i = 0; i < n; ++i) {
        for (int k_part = 0; k_part < 4; ++k_part) {
            s[i] += s_parts[(size_t)k_part * n + i];
        }
    }
}
",
        },
    };
    const COUNT: [&str; 2] = ["by", "`by` and the number of parts are wanted here"];

    fn take(kernel: &Kernel, target: LoopId, count: u32) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target, count)?))
    }
}

/// Most parts: a thread adds them one by one.
const MOST: u32 = 1024;

/// The verdict on a `split_k`, which alone allows it.
pub struct LegalSplitK<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    /// The parallel loops, outermost first.
    group: Vec<LoopId>,
    target: LoopId,
    parts: u32,
    sums: Vec<Sum>,
    /// Declarations before the loop that its body needs.
    needed: Vec<Stmt>,
}

impl LegalSplitK<'_> {
    /// The parallel loops of the nest, outermost first.
    pub(super) fn loops(&self) -> &[LoopId] {
        &self.group
    }
}

/// What a loop adds to.
pub(super) struct Sum {
    pub place: Place,
    pub op: ReduceOp,
    pub scalar: Scalar,
}

/// Asks whether the sum of the loop can be split into `parts` partial sums.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId, parts: u32) -> Result<LegalSplitK<'_>, Refusal> {
    let refuse = |why: String| refused(target, why);
    if !(2..=MOST).contains(&parts) {
        return refuse(format!("the parts must be 2 to {MOST}"));
    }
    let Some(l) = kernel.find_loop(target) else { return refuse("it is gone".into()) };
    if !matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled(_)) {
        return Err(Refusal::NotSerial { loop_id: target });
    }
    let (root, group) = nest_around(kernel, target)?;
    if let Some(bound) = group.iter().find(|id| is_bound(kernel, **id)) {
        return Err(Refusal::AlreadyBound { loop_id: *bound });
    }
    check_clauses(kernel, target, &group)?;
    check_loops(kernel, &group, l)?;
    let sums = sums_of(kernel, l)?;
    let innermost = group.last().and_then(|id| kernel.find_loop(*id));
    let body = innermost.map(|l| l.body.clone()).unwrap_or_default();
    let needed = needed(kernel, &body, l, &sums)?;
    check_presence(kernel, &body, (l, &needed), &sums)?;
    Ok(LegalSplitK { kernel, root, group, target, parts, sums, needed })
}

/// Neither nest touches an element that the function may leave alone: the one of the parts knows nothing of iterations that end before the
/// loop, the other one nothing of conditions inside of it.
fn check_presence(
    kernel: &Kernel,
    body: &Block,
    (l, needed): (&ForLoop, &[Stmt]),
    sums: &[Sum],
) -> Result<(), Refusal> {
    let function = kernel.func();
    let before = body.stmts.iter().take_while(|s| !walk::is_loop(s, l.id));
    let ends_early = walk::continues(&Block::new(before.cloned().collect())).is_some();
    let alone = needed.iter().chain(&l.body.stmts).cloned().collect();
    if let Some(place) = presence::doubtful(function, &Block::new(alone)).filter(|_| ends_early) {
        let name = kernel.show_place(&place);
        let why = format!("an iteration that ends before it has no `{name}`, as data may say");
        return refused(l.id, why);
    }
    for sum in sums.iter().filter(|sum| !presence::is_sure(function, &sum.place)) {
        let adds =
            |s: &Stmt| matches!(&s.kind, StmtKind::Assign { place, .. } if *place == sum.place);
        let early = presence::condition(function, &[l], &sum.place).is_err();
        if early || !walk::stands_at_top(&l.body, &adds) {
            let name = kernel.show_place(&sum.place);
            let why = format!("data name `{name}`, and it may add nothing to it");
            return refused(l.id, why);
        }
    }
    Ok(())
}

fn refused<T>(target: LoopId, why: String) -> Result<T, Refusal> {
    Err(Refusal::of_loop("split the sum of", target, why))
}

fn is_bound(kernel: &Kernel, id: LoopId) -> bool {
    kernel.nests.contains_key(&id)
        || kernel.find_loop(id).is_some_and(|l| matches!(l.kind, LoopKind::Bound(_)))
}

/// The parallel loops around the serial one, which must be a statement of the innermost.
fn nest_around(kernel: &Kernel, target: LoopId) -> Result<(LoopId, Vec<LoopId>), Refusal> {
    let around = kernel.loops_around(target);
    let parallel = |l: &&&ForLoop| is_marked(l) || is_bound(kernel, l.id);
    let Some(root) = around.iter().find(parallel).map(|l| l.id) else {
        return refused(target, "it is not inside a parallel loop".into());
    };
    let group: Vec<LoopId> = around.iter().skip_while(|l| l.id != root).map(|l| l.id).collect();
    let perfect = group.windows(2).all(|pair| {
        let inside = kernel.find_loop(pair[0]).and_then(|l| crate::kernel::only_loop(&l.body));
        inside.is_some_and(|l| l.id == pair[1])
    });
    let direct = group.last().and_then(|id| kernel.find_loop(*id)).is_some_and(|l| {
        let is_target = |s: &Stmt| matches!(&s.kind, StmtKind::For(l) if l.id == target);
        (is_marked(l) || is_bound(kernel, l.id)) && l.body.stmts.iter().any(is_target)
    });
    match perfect && direct {
        true => Ok((root, group)),
        false => refused(target, "it is not directly inside a nest of parallel loops".into()),
    }
}

fn check_clauses(kernel: &Kernel, target: LoopId, group: &[LoopId]) -> Result<(), Refusal> {
    let loops: Vec<&ForLoop> = group.iter().filter_map(|id| kernel.find_loop(*id)).collect();
    let clauses = kernel.clauses(&loops);
    if let (Some(r), Some(first)) = (clauses.reductions.first(), group.first()) {
        return Err(Refusal::HasReduction { loop_id: *first, var: r.var });
    }
    match clauses.last_private.is_empty() {
        true => Ok(()),
        false => refused(target, "its nest has a `lastprivate` clause".into()),
    }
}

/// All loops count up by one, have bounds known at the start, and end where their bounds say.
pub(super) fn check_loops(
    kernel: &Kernel,
    group: &[LoopId],
    target: &ForLoop,
) -> Result<(), Refusal> {
    let all = group.iter().filter_map(|id| kernel.find_loop(*id)).chain([target]);
    for l in all {
        let name = kernel.loop_name(l.id);
        if !unit_step(l) {
            return refused(target.id, format!("loop `{name}` does not count up by one"));
        }
        for outer in group.iter().filter(|id| **id != l.id) {
            if !loops::bounds_independent(kernel, l.id, *outer) && encloses(kernel, *outer, l.id) {
                return Err(Refusal::DependentBounds { outer: *outer, inner: l.id });
            }
        }
        if ![&l.first, &l.limit].into_iter().all(|e| kernel.known_at_start(e)) {
            let why = format!("the bounds of `{name}` are not known when the launcher starts");
            return refused(target.id, why);
        }
    }
    if walk::leaves(&target.body).is_some() {
        return refused(target.id, "it may end early".into());
    }
    if scalars::counter_outlives(kernel.func(), target) {
        return refused(target.id, "its counter is read after it".into());
    }
    Ok(())
}

fn encloses(kernel: &Kernel, outer: LoopId, inner: LoopId) -> bool {
    kernel.find_loop(outer).is_some_and(|l| walk::find_loop(&l.body, inner).is_some())
}

/// The one thing that a loop changes.
pub(super) fn sum_of(kernel: &Kernel, l: &ForLoop) -> Result<Sum, Refusal> {
    let mut sums = sums_of(kernel, l)?;
    match (sums.pop(), sums.is_empty()) {
        (Some(sum), true) => Ok(sum),
        _ => refused(l.id, "it changes more than one variable or element".into()),
    }
}

/// What a loop changes: variables or elements that are each combined with something, and not with each other.
fn sums_of(kernel: &Kernel, l: &ForLoop) -> Result<Vec<Sum>, Refusal> {
    let own = walk::own_variables(&l.body);
    let mut found: Vec<(&Place, &Expr)> = vec![];
    let mut other = None;
    walk::each_stmt(&l.body, &mut |s| {
        let o = walk::operands(s);
        match &s.kind {
            StmtKind::Assign { place, value }
                if place.root_var().is_none_or(|v| !own.contains(&v)) =>
            {
                found.push((place, value));
            }
            StmtKind::Call { args, .. } if args.iter().any(|a| a.ty.is_pointer()) => {
                other = other.take().or(Some("it calls a function with a pointer"));
            }
            StmtKind::Atomic { .. }
            | StmtKind::Barrier { .. }
            | StmtKind::Warp { .. }
            | StmtKind::Printf { .. } => {
                other = other.take().or(Some("it does more than compute"));
            }
            StmtKind::Assign { .. } | StmtKind::Decl { .. } | StmtKind::For(_) => {}
            _ => {
                let target = o.writes.and_then(Place::root_var);
                if o.results.iter().copied().chain(target).any(|v| !own.contains(&v)) {
                    other = other.take().or(Some("it does more than combine"));
                }
            }
        }
    });
    if let Some(why) = other {
        return refused(l.id, why.into());
    }
    if found.is_empty() {
        return refused(l.id, "it adds to nothing".into());
    }
    found.into_iter().map(|(place, value)| sum_in(kernel, l, place, value)).collect()
}

/// The sum that an assignment of a loop adds to.
fn sum_in(kernel: &Kernel, l: &ForLoop, place: &Place, value: &Expr) -> Result<Sum, Refusal> {
    let name = kernel.show_place(place);
    let field = matches!(&*place.kind, PlaceKind::Field(..) | PlaceKind::Index(..));
    let Some(scalar) = place.ty.scalar().filter(|_| !field) else {
        return refused(l.id, format!("`{name}` is no number"));
    };
    if moves(place, l.var, &l.body) {
        return refused(l.id, format!("it adds to another `{name}` in every iteration"));
    }
    let Some(op) = operation(kernel, value, place) else {
        return refused(l.id, format!("`{name}` is not combined with something by one operation"));
    };
    match touched_elsewhere(l, place) {
        true => refused(l.id, format!("it uses the value that `{name}` has so far")),
        false => Ok(Sum { place: place.clone(), op, scalar }),
    }
}

/// The operation of `place = place op e`.
fn operation(kernel: &Kernel, value: &Expr, place: &Place) -> Option<ReduceOp> {
    if let PlaceKind::Var(v) = *place.kind {
        return scalars::accumulation(value, v);
    }
    // The element by the name of a variable that nothing else uses.
    let stand_in = VarId(kernel.func().vars.len() as u32);
    let mut value = value.clone();
    let by = Place::new(PlaceKind::Var(stand_in), place.ty.clone(), place.origin.clone());
    replace_place_in(&mut value, place, &by);
    scalars::accumulation(&value, stand_in)
}

/// Anything in the loop that may be the element, but for the sum itself.
fn touched_elsewhere(l: &ForLoop, place: &Place) -> bool {
    let base = base_of(place);
    let mut count = 0usize;
    let mut other = false;
    visit::for_each_place(&l.body, &mut |p, _| {
        if p == place {
            count += 1;
        } else if !matches!(&*p.kind, PlaceKind::Var(_)) {
            let touched = base_of(p);
            other |= touched == base || touched == Base::Anything || base == Base::Anything;
        }
    });
    // Once written and once read.
    other || count > 2
}

/// The declarations of the iteration that the loop needs: what it computes from them must not depend on anything that
/// the nest changes.
pub(super) fn needed(
    kernel: &Kernel,
    body: &Block,
    l: &ForLoop,
    sums: &[Sum],
) -> Result<Vec<Stmt>, Refusal> {
    let at = body
        .stmts
        .iter()
        .position(|s| matches!(&s.kind, StmtKind::For(x) if x.id == l.id))
        .unwrap_or(0);
    let mut wanted = BTreeSet::new();
    walk::each_var_of_block(&l.body, &mut |v| _ = wanted.insert(v));
    for v in sums.iter().filter_map(|s| s.place.root_var()) {
        wanted.remove(&v);
    }
    let mut found = vec![];
    let mut reads: Vec<Place> = vec![];
    read_places(&l.body, sums, &mut reads);
    for stmt in body.stmts[..at].iter().rev() {
        let alone = Block::new(vec![stmt.clone()]);
        let writes = wanted.iter().find(|v| walk::writes_var(&alone, **v)).copied();
        let Some(var) = writes else { continue };
        let StmtKind::Decl { init: Some(init), .. } = &stmt.kind else {
            let why = format!(
                "`{}` is computed before it by more than a declaration",
                kernel.name_of(var)
            );
            return refused(l.id, why);
        };
        walk::each_var(init, &mut |v| _ = wanted.insert(v));
        // Statements before it may have changed the element that a sum adds to.
        read_places(&alone, &[], &mut reads);
        found.insert(0, stmt.clone());
    }
    let mut written = vec![];
    for stmt in body.stmts.iter().filter(|s| !matches!(&s.kind, StmtKind::For(x) if x.id == l.id)) {
        walk::each_stmt(&Block::new(vec![stmt.clone()]), &mut |s| {
            if let Some(p) = walk::operands(s).writes.filter(|p| p.root_var().is_none()) {
                written.push(base_of(p));
            }
            if matches!(s.kind, StmtKind::Call { .. } | StmtKind::Atomic { .. }) {
                written.push(Base::Anything);
            }
        });
    }
    let conflict = reads
        .iter()
        .map(base_of)
        .find(|r| written.iter().any(|w| w == r || *w == Base::Anything || *r == Base::Anything));
    match conflict {
        Some(Base::Var(v)) => {
            refused(l.id, format!("its nest writes `{}`, which it reads", kernel.name_of(v)))
        }
        Some(_) => refused(l.id, "its nest writes what it reads".into()),
        None => Ok(found),
    }
}

/// Memory that a block reads, the sums themselves left out.
fn read_places(block: &Block, sums: &[Sum], found: &mut Vec<Place>) {
    visit::for_each_place(block, &mut |p, access| {
        let memory = p.root_var().is_none();
        if access == visit::Access::Read && memory && sums.iter().all(|s| s.place != *p) {
            found.push(p.clone());
        }
    });
}
