//! What two nests have to do with each other.

use std::collections::BTreeSet;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Access};
use warpsmith_ir::{Block, Expr, ForLoop, LoopId, Place, PlaceKind, Scalar, Stmt, StmtKind, VarId};

use super::refused;
use crate::analysis::access::{Base, Scope, base_of};
use crate::analysis::loops::{touched_bases, unit_step, written_bases};
use crate::kernel::{Kernel, is_marked, only_loop};
use crate::refusal::Refusal;
use crate::rewrite::edit::{copy, runs};
use crate::rewrite::question::independence::{self, Findings};
use crate::rewrite::{bind, privatise};
use crate::walk;

/// One of the nests: loops around each other, and what the innermost one holds.
pub(super) struct Sweep {
    pub root: LoopId,
    /// Outermost first.
    pub loops: Vec<ForLoop>,
}

impl Sweep {
    pub fn body(&self) -> &Block {
        static EMPTY: Block = Block { stmts: vec![] };
        self.loops.last().map_or(&EMPTY, |l| &l.body)
    }
}

/// What is read around an iteration along a loop, both ends included; the iteration itself lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub low: i64,
    pub high: i64,
}

impl Window {
    pub fn width(self) -> u32 {
        (self.high - self.low) as u32
    }
}

/// Farthest that an iteration may read.
const FARTHEST: i64 = 16;

/// Elements of one array that a nest reads around its iterations, with their distances along its loops, outermost first.
#[derive(Clone)]
pub(super) struct Reads(pub Vec<(Place, Vec<i64>)>);

impl Reads {
    /// What is read along a loop, the iteration itself in it or not.
    pub fn read_along(&self, depth: usize) -> Window {
        let of = || self.0.iter().map(|(_, distance)| distance[depth]);
        Window { low: of().min().unwrap_or(0), high: of().max().unwrap_or(0) }
    }

    /// The window along the loop of this number, outermost first.
    pub fn along(&self, depth: usize) -> Window {
        let Window { low, high } = self.read_along(depth);
        Window { low: low.min(0), high: high.max(0) }
    }

    /// Planes that are read beside the iteration's own column, by distance from its plane.
    pub fn beside(&self) -> BTreeSet<i64> {
        let beside = self.0.iter().filter(|(_, d)| d[1..].iter().any(|n| *n != 0));
        beside.map(|(_, d)| d[0]).collect()
    }
}

/// Two nests with an array between them.
pub(super) struct Pair {
    pub first: Sweep,
    pub second: Sweep,
    pub array: VarId,
    pub element: Scalar,
    /// What the first nest's counters are from the subscripts of the element it stores.
    pub stored_at: Vec<i64>,
    /// What the second nest reads, in terms of the first one's iterations.
    pub reads: Reads,
    /// Somebody may read the array afterwards.
    pub is_kept: bool,
}

impl Pair {
    pub fn rank(&self) -> usize {
        self.first.loops.len()
    }

    /// The window along the thread's axis of this number: 0 is the innermost loop.
    pub fn window(&self, axis: usize) -> Window {
        self.along(self.rank() - 1 - axis)
    }

    /// The window along the loop of this number, outermost first.
    pub fn along(&self, depth: usize) -> Window {
        self.reads.along(depth)
    }

    /// Planes of the block that are read beside the thread's own column, by distance from the iteration's plane.
    pub fn shared(&self) -> Option<Window> {
        let planes = self.reads.beside();
        Some(Window { low: *planes.first()?, high: *planes.last()? })
    }

    /// How many planes the second nest is behind the first one where a barrier stands before both: what it reads beside a thread's
    /// own elements was written in the step before.
    pub fn behind(&self) -> i64 {
        let beside = self.shared().map_or(0, |w| w.high + 1);
        self.along(0).high.max(beside)
    }

    /// Planes in shared memory then: the one that is written and those that are read beside a thread's own.
    pub fn ring_slots(&self) -> u32 {
        self.shared().map_or(0, |w| (self.behind() - w.low) as u32 + 1)
    }

    /// Planes in shared memory: those from a group's newest back to the last that is read, and a group that is written meanwhile.
    pub fn slots(&self, group: u32) -> u32 {
        self.shared().map_or(0, |w| (self.along(0).high - w.low) as u32 + 2 * group)
    }
}

/// Takes the nests apart.
pub(super) fn found(
    kernel: &Kernel,
    roots: [LoopId; 2],
) -> Result<(Pair, Vec<(LoopId, Findings)>), Refusal> {
    let [first, second] = roots;
    if !next_to_each_other(&kernel.func().body, roots) {
        return refused(second, "it does not stand right behind the first nest");
    }
    let mut findings = vec![];
    for root in roots {
        check_root(kernel, root)?;
    }
    let Some(store) = only_store(kernel, first)? else {
        return refused(first, "it does not store one element in each iteration");
    };
    let (array, element) = check_array(kernel, first, &store)?;
    let rank = walk::subscripts(&store).len();
    let first = sweep(kernel, first, rank, &mut findings)?;
    let second = sweep(kernel, second, rank, &mut findings)?;
    let stored_at = stored_at(kernel, &first, &store)?;
    let reads = reads(kernel, &second, array, &stored_at)?;
    check_others(&first, &second, array)?;
    let scratch = kernel.scratch.iter().any(|s| s.var == array);
    let inside: usize =
        [&first, &second].iter().map(|s| walk::times_mentioned(s.body(), array)).sum();
    let is_kept = !scratch || walk::times_mentioned(&kernel.func().body, array) > inside;
    Ok((Pair { first, second, array, element, stored_at, reads, is_kept }, findings))
}

fn next_to_each_other(block: &Block, [first, second]: [LoopId; 2]) -> bool {
    let is = |s: &Stmt, id: LoopId| matches!(&s.kind, StmtKind::For(l) if l.id == id);
    block.stmts.windows(2).any(|pair| is(&pair[0], first) && is(&pair[1], second))
        || block.stmts.iter().flat_map(walk::blocks).any(|b| next_to_each_other(b, [first, second]))
}

fn check_root(kernel: &Kernel, root: LoopId) -> Result<(), Refusal> {
    let Some(outer) = kernel.find_loop(root).filter(|l| is_marked(l)) else {
        return refused(root, "it is not marked, or bound already");
    };
    if bind::check_outermost(kernel, Some(root))? != root {
        return refused(root, "it is not the outermost marked loop of its nest");
    }
    let body = &outer.body;
    if walk::leaves(body).or(walk::continues(body)).or(walk::returns(body)).is_some() {
        return refused(root, "an iteration may end early");
    }
    let mut plain = true;
    walk::each_stmt(body, &mut |s| {
        plain &= matches!(
            s.kind,
            StmtKind::Decl { .. }
                | StmtKind::Assign { .. }
                | StmtKind::If { .. }
                | StmtKind::For(_)
                | StmtKind::Scope(_)
        );
    });
    match plain {
        true => Ok(()),
        false => refused(root, "it does more than compute and store"),
    }
}

/// The one place in memory that the nest writes, where that is the innermost body's own statement.
fn only_store(kernel: &Kernel, root: LoopId) -> Result<Option<Place>, Refusal> {
    let Some(outer) = kernel.find_loop(root) else { return Ok(None) };
    let mut innermost = outer;
    while let Some(l) = only_loop(&innermost.body) {
        innermost = l;
    }
    let stores = |block: &Block| {
        let mut found = 0;
        walk::each_stmt(block, &mut |s| {
            found += usize::from(walk::changed(s).is_some_and(|p| p.root_var().is_none()));
        });
        found
    };
    let own = innermost.body.stmts.iter().find_map(|s| match &s.kind {
        StmtKind::Assign { place, .. } if place.root_var().is_none() => Some(place.clone()),
        _ => None,
    });
    Ok(own.filter(|_| stores(&outer.body) == 1))
}

/// The array that the first nest stores to: a parameter with extents, used by its elements only.
fn check_array(kernel: &Kernel, root: LoopId, store: &Place) -> Result<(VarId, Scalar), Refusal> {
    let Base::Var(array) = base_of(store) else {
        return refused(root, "it does not store to an array with a name");
    };
    let name = kernel.name_of(array);
    let shape = kernel.func().var(array).shape.clone().unwrap_or_default();
    if copy::element_of(store, array, &shape).is_none() || !(2..=3).contains(&shape.len()) {
        return refused(root, format!("`{name}` is no array with two or three extents"));
    }
    if copy::uses(&kernel.func().body, array, &shape).otherwise {
        return refused(root, format!("`{name}` is used otherwise than by its elements"));
    }
    match store.ty.scalar() {
        Some(scalar) => Ok((array, scalar)),
        None => refused(root, format!("the elements of `{name}` are structures")),
    }
}

/// The outermost loops of a nest, as many as wanted.
fn sweep(
    kernel: &Kernel,
    root: LoopId,
    rank: usize,
    findings: &mut Vec<(LoopId, Findings)>,
) -> Result<Sweep, Refusal> {
    let chain = std::iter::successors(kernel.find_loop(root), |l| only_loop(&l.body));
    let loops: Vec<&ForLoop> = chain.take(rank).collect();
    if loops.len() < rank {
        return refused(root, "its loops are fewer than the extents of the array");
    }
    let (group, clauses) = independence::group_of(kernel, root);
    let counters: Vec<VarId> = loops.iter().map(|l| l.var).collect();
    let innermost = loops[rank - 1];
    let used = |v: &VarId| walk::times_mentioned(&innermost.body, *v) > 0;
    let own = clauses.private.iter().all(|v| counters.contains(v) || !used(v));
    let declared = walk::own_variables(&innermost.body);
    let outside = walk::set_in(&innermost.body).into_iter().any(|v| !declared.contains(&v));
    if !privatise::has_only_private(&clauses) || !own || outside {
        return refused(root, "its iterations carry values in variables from outside");
    }
    let mut together = group.clone();
    for (at, l) in loops.iter().enumerate() {
        if !unit_step(l) {
            return refused(l.id, "it does not count up by one");
        }
        if ![&l.first, &l.limit].iter().all(|e| kernel.known_at_start(e)) {
            return refused(l.id, "the launcher does not know its bounds when it starts");
        }
        if !together.contains(&l.id) {
            together.push(l.id);
        }
        let found =
            independence::check(kernel, l.id, &together[..=at.max(group.len() - 1)], &clauses)?;
        if !is_marked(l) && !found.proved() {
            return refused(l.id, "nothing proves that its iterations are independent");
        }
        findings.push((l.id, found));
    }
    Ok(Sweep { root, loops: loops.into_iter().cloned().collect() })
}

/// How far a subscript is from a counter.
fn distance(scope: &Scope<'_>, subscript: &Expr, counter: VarId) -> Option<i64> {
    let rest = scope.normalise(subscript).ok()?.sub(&Poly::var(counter))?;
    rest.as_constant().and_then(|n| i64::try_from(n).ok())
}

/// How far the subscripts of an element are from the counters, none of them very far.
pub(super) fn distances(scope: &Scope<'_>, place: &Place, loops: &[ForLoop]) -> Option<Vec<i64>> {
    let subscripts = walk::subscripts(place);
    let all = subscripts.into_iter().zip(loops).map(|(e, l)| distance(scope, e, l.var));
    all.collect::<Option<Vec<i64>>>().filter(|d| d.iter().all(|n| n.abs() <= FARTHEST))
}

pub(super) fn scope<'k>(kernel: &'k Kernel, sweep: &'k Sweep) -> Scope<'k> {
    let around = kernel.loops_around(sweep.root);
    Scope::new(&kernel.module, kernel.func(), around, &sweep.loops[0])
}

fn stored_at(kernel: &Kernel, first: &Sweep, store: &Place) -> Result<Vec<i64>, Refusal> {
    match distances(&scope(kernel, first), store, &first.loops) {
        Some(found) => Ok(found),
        None => refused(first.root, "it does not store at its counters"),
    }
}

/// Where the second nest reads the array, from the first one's iterations.
fn reads(
    kernel: &Kernel,
    second: &Sweep,
    array: VarId,
    stored_at: &[i64],
) -> Result<Reads, Refusal> {
    let name = kernel.name_of(array);
    let scope = scope(kernel, second);
    let mut found: Vec<(Place, Vec<i64>)> = vec![];
    let (mut far, mut written, mut count) = (false, false, 0usize);
    visit::for_each_place(second.body(), &mut |p, access| {
        if !matches!(&*p.kind, PlaceKind::Elem { .. }) || base_of(p) != Base::Var(array) {
            return;
        }
        written |= access != Access::Read;
        count += 1;
        match distances(&scope, p, &second.loops) {
            Some(d) => {
                let d: Vec<i64> = d.iter().zip(stored_at).map(|(read, at)| read - at).collect();
                if !found.iter().any(|(known, _)| known == p) {
                    found.push((p.clone(), d));
                }
            }
            None => far = true,
        }
    });
    if written {
        return refused(second.root, format!("it writes `{name}`, too"));
    }
    if far {
        let why = format!("it reads `{name}` at other places than around its counters");
        return refused(second.root, why);
    }
    if found.is_empty() {
        return refused(second.root, format!("it does not read `{name}`"));
    }
    let mut always = 0usize;
    runs::always_in_block(second.body(), &mut |p| {
        always += usize::from(found.iter().any(|(known, _)| known == p));
    });
    match always == count {
        true => Ok(Reads(found)),
        false => refused(second.root, format!("it reads `{name}` under a condition or in a loop")),
    }
}

/// Nothing but the array connects the nests; what the second writes for the first is a matter of the loop around both.
fn check_others(first: &Sweep, second: &Sweep, array: VarId) -> Result<(), Refusal> {
    let of_first = touched_bases(first.body());
    let of_second = touched_bases(second.body());
    if of_first.contains(&Base::Anything) || of_second.contains(&Base::Anything) {
        return refused(second.root, "the nests use a pointer that has no name");
    }
    let mut stores = 0;
    visit::for_each_place(first.body(), &mut |p, _| {
        stores += usize::from(p.root_var().is_none() && base_of(p) == Base::Var(array));
    });
    if stores != 1 {
        return refused(first.root, "it reads the array that it writes");
    }
    match written_bases(second.body()).contains(&Base::Var(array)) {
        true => refused(second.root, "both nests write the same array"),
        false => Ok(()),
    }
}
