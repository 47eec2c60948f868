//! What can be done to the nests of a function before each of them gets a schedule: parallel loops moved out of serial ones, loops
//! beside each other made one, sums scattered where that lets them be made one, short loops written out, and what stands beside
//! a parallel loop put into a loop of its own.

use warpsmith_ir::{Block, Diagnostic, ForLoop, LoopId, SourceMap, StmtKind};

use super::{StepKind, candidates, derive, take, updates};
use crate::analysis::access::{Access, AccessKind, Scope, View};
use crate::kernel::{Kernel, is_marked, only_loop};
use crate::rewrite::question::independence;
use crate::rewrite::{
    carry, collapse, distribute, dp4a, expand, fuse_kernels, fuse_loops, gather, guard,
    interchange, predicate, scalarise, scatter, sink, split_k, split_scan,
};
use crate::walk;

/// Most nests of which the sums are scattered in turn.
const SCATTERED: usize = 4;
/// So many times a parallel loop is moved out of a serial one, at most.
const MOVED: usize = 8;
/// Blocks of two sweeps, of planes and of rows: on an H200 the fastest of fourteen for 8192 x 8192 and 512 x 512 x 512 elements.
/// The last one is for planes whose threads have several elements: there the fastest of five.
const TURNS: [fuse_kernels::Shape; 3] = [
    fuse_kernels::Shape { block: [256, 1, 1], slices: 32, group: 4, each: None },
    fuse_kernels::Shape { block: [32, 8, 1], slices: 8, group: 1, each: None },
    fuse_kernels::Shape {
        block: [66, 7, 1],
        slices: 3,
        group: 1,
        each: Some(fuse_kernels::Each { elements: [4, 4, 1], ahead: 2 }),
    },
];
/// Parts of a loop that blocks go through: as many blocks of 256 threads as an H200 has at a time, and what one block adds up at once.
const PARTS: u32 = 1024;
/// Of two nests at most so many stand between.
const BETWEEN: usize = 3;

/// A function with the first steps taken.
#[derive(Clone, Debug)]
pub struct Start {
    /// The function with its loops fused or apart.
    pub kernel: Kernel,
    /// The steps that made it.
    pub steps: Vec<StepKind>,
}

/// The function in the other orders that promise something: with parallel loops moved out of serial ones and all loops fused that
/// can be, without and with sums scattered; with the radius of a stencil written out; with serial loops made one; with variables in place of structures; with nests apart from what stands beside
/// their inner loop; with two sweeps of a loop in time in one kernel. Nothing where no step can be taken.
pub fn starts(kernel: &Kernel, sources: &SourceMap) -> Vec<Start> {
    let roots = kernel.marked_roots();
    let guarded = Start::of(kernel).guarded(sources);
    let mut found = vec![
        Start::of(kernel).sunk(sources),
        Start::of(kernel).predicated(sources),
        Start::of(kernel).interchanged(sources).fused(None, sources),
        Start::of(kernel).expanded(sources),
        Start::of(kernel).collapsed(sources),
        Start::of(kernel).scalarised(sources),
        Start::of(kernel).in_words(sources),
        Start::of(kernel).updates_apart(sources),
        guarded.clone().scans_split(Parts::Even, sources),
        Start::of(kernel).distributed(sources).interchanged(sources),
    ];
    // Parallel loops move out of serial ones in the first, too.
    let apart = |s: &Start| s.steps.iter().any(|k| matches!(k, StepKind::Distribute(_)));
    if found.last().is_some_and(|s| !apart(s)) {
        found.pop();
    }
    let rows = guarded.clone().scans_split(Parts::Rows, sources);
    for other in [rows, guarded] {
        if found.iter().all(|s| s.steps != other.steps) {
            found.push(other);
        }
    }
    let gathered = Start::of(kernel).gathered(sources);
    if !gathered.steps.is_empty() {
        found.push(gathered.fused(None, sources));
    }
    found.retain(|s| !s.steps.is_empty());
    found.extend(Start::of(kernel).in_turns(sources));
    if roots.len() > 1 {
        let scattered = roots.into_iter().take(SCATTERED);
        found.extend(scattered.filter_map(|root| Start::of(kernel).scattered(root, sources)));
    }
    found
}

/// Whether blocks can go through parts of a loop of the function that is not parallel.
pub fn splits_scans(kernel: &Kernel, sources: &SourceMap) -> bool {
    let guarded = Start::of(kernel).guarded(sources);
    let steps = guarded.steps.len();
    guarded.scans_split(Parts::Even, sources).steps.len() > steps
}

/// What blocks go through of a loop that is not parallel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// As many iterations each.
    Even,
    /// One iteration each, where it has a loop inside: threads can go through that.
    Rows,
}

impl Start {
    /// The function as it is.
    pub fn of(kernel: &Kernel) -> Start {
        Start { kernel: kernel.clone(), steps: vec![] }
    }

    /// Whether sums are scattered.
    pub fn scatters(&self) -> bool {
        self.steps.iter().any(|s| matches!(s, StepKind::Scatter(_)))
    }

    /// Whether each plane of these waits for loads of its own, which no others are under way beside.
    pub fn waits_for_planes(&self) -> bool {
        let waits = |s: &StepKind| matches!(s, StepKind::FuseKernels(f) if f.shape.each.is_none());
        self.steps.iter().any(waits)
    }

    /// The steps taken, and after them one list for each nest, as the direct translation has it.
    ///
    /// # Errors
    /// As [`derive()`].
    pub fn direct(&self, sources: &SourceMap) -> Result<Vec<Vec<StepKind>>, Vec<Diagnostic>> {
        let own = derive(&self.kernel, sources)?.steps.into_iter().map(|s| vec![s.kind]);
        Ok([self.steps.clone()].into_iter().chain(own).collect())
    }

    fn with(&self, step: StepKind, sources: &SourceMap) -> Option<Start> {
        let kernel = take(&self.kernel, &step, sources).ok()?.kernel;
        let steps = self.steps.iter().cloned().chain([step]).collect();
        Some(Start { kernel, steps })
    }

    /// With the sums of a nest scattered and fused with another nest, if there is one.
    fn scattered(self, root: LoopId, sources: &SourceMap) -> Option<Start> {
        let known = self.kernel.clone();
        let scatter = StepKind::Scatter(scatter::Args::of(known.loop_name(root)));
        let start = self.accumulated(root, sources).with(scatter, sources)?;
        let new = start.kernel.marked_roots().into_iter();
        let updates = new
            .filter(|id| known.find_loop(*id).is_none())
            .find(|id| updates::has_any(&start.kernel, *id))?;
        let alone = start.kernel.find_loop(updates)?.body.clone();
        let fused = start.fused(Some(updates), sources);
        let apart = fused.kernel.find_loop(updates).is_some_and(|l| l.body == alone);
        (!apart).then_some(fused)
    }

    /// Nests other than one add to elements in registers: loops that add to memory are not fused.
    fn accumulated(mut self, but: LoopId, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots().into_iter().filter(|id| *id != but) {
            for step in candidates::accumulated(&self.kernel, root) {
                self = self.with(step, sources).unwrap_or(self);
            }
        }
        self
    }

    /// With the loops moved out of serial ones whose iterations are then proved independent: the nest can have them on an axis.
    fn interchanged(mut self, sources: &SourceMap) -> Start {
        let next = |start: &Start| {
            let kernel = &start.kernel;
            let serial = kernel.marked_roots().into_iter().flat_map(|root| {
                let loops = candidates::serial_loops(kernel, root).into_iter();
                loops.filter_map(move |l| Some((root, l, interchange::inner_of(l)?.id)))
            });
            serial.into_iter().find_map(|(root, outer, inner)| {
                let step = StepKind::Interchange(interchange::Args::of(kernel.loop_name(outer.id)));
                let moved = start.with(step, sources)?;
                let (group, clauses) = independence::group_of(&moved.kernel, root);
                let proved = |kernel: &Kernel, id| {
                    let with = [&group[..], &[id]].concat();
                    independence::check(kernel, id, &with, &clauses).is_ok_and(|f| f.proved())
                };
                (proved(&moved.kernel, inner) && !proved(kernel, outer.id)).then_some(moved)
            })
        };
        for _ in 0..MOVED {
            let Some(moved) = next(&self) else { break };
            self = moved;
        }
        self
    }

    /// With loops of their own for what stands beside an inner loop that is parallel, too: that nest can have all of them on axes; and
    /// for sums of which more can be computed in parts then.
    fn distributed(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            let known = self.kernel.marked_roots();
            let Some(apart) = self.apart(root, sources) else { continue };
            let new = apart.kernel.marked_roots().into_iter();
            let new: Vec<LoopId> = new.filter(|id| *id == root || !known.contains(id)).collect();
            let sums: usize = new.iter().map(|id| splittable(&apart.kernel, *id)).sum();
            if new.iter().any(|id| has_parallel(&apart.kernel, *id))
                || sums > splittable(&self.kernel, root)
            {
                self = apart;
            }
        }
        self
    }

    /// With a nest of its own for each part of what the innermost loop of a nest does.
    fn apart(&self, root: LoopId, sources: &SourceMap) -> Option<Start> {
        let (group, _) = independence::group_of(&self.kernel, root);
        let body = &self.kernel.find_loop(*group.last()?)?.body;
        let inside: Vec<LoopId> = loops_of(body).collect();
        let mut start = self.clone();
        for id in inside {
            start = start.results_apart(root, id, sources).unwrap_or(start);
        }
        group.iter().rev().try_fold(start, |start, id| {
            let target = start.kernel.loop_name(*id);
            start.with(StepKind::Distribute(distribute::Args::of(target)), sources)
        })
    }

    /// With nests of their own for what iterations update atomically beside what they store, as for sums of columns beside rows: rows can
    /// then stay in registers, and so can the sums.
    fn updates_apart(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            let Some(l) = self.kernel.find_loop(root) else { continue };
            let body = &innermost(l).body;
            let mut mixed = body.stmts.iter().filter_map(|s| match &s.kind {
                StmtKind::For(l) if walk::updates(&l.body) && stores(&l.body) => Some(l.id),
                _ => None,
            });
            let Some(mixed) = mixed.next_back().filter(|_| loops_of(body).count() > 1) else {
                continue;
            };
            let target = self.kernel.loop_name(mixed);
            let step = StepKind::Distribute(distribute::Args::of(target));
            let apart = self.with(step, sources).and_then(|s| s.apart(root, sources));
            self = apart.map(|s| s.updates_fused(sources)).unwrap_or(self);
        }
        self
    }

    /// With nests fused that only update.
    fn updates_fused(self, sources: &SourceMap) -> Start {
        let only_update = |kernel: &Kernel, id: LoopId| {
            let body = kernel.find_loop(id).map(|l| &l.body);
            body.is_some_and(|b| walk::updates(b) && !stores(b))
        };
        self.fused_where(
            &|kernel, pair| pair.iter().all(|id| only_update(kernel, *id)),
            None,
            sources,
        )
    }

    /// With what a serial loop computes in a loop of its own, apart from what it combines of the results, if it is parallel then.
    fn results_apart(&self, root: LoopId, id: LoopId, sources: &SourceMap) -> Option<Start> {
        let computes = |kernel: &Kernel| {
            let l = kernel.find_loop(id);
            l.is_some_and(|l| loops_of(&l.body).next().is_some() && is_parallel(kernel, root, l))
        };
        let target = self.kernel.loop_name(id);
        let start = self.with(StepKind::Distribute(distribute::Args::of(target)), sources)?;
        (!computes(&self.kernel) && computes(&start.kernel)).then_some(start)
    }

    /// With declarations in parallel loops that are nested in others but for them: the nest can have all of these on axes.
    fn sunk(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            loop {
                let (group, _) = independence::group_of(&self.kernel, root);
                let last = group.last().and_then(|id| self.kernel.find_loop(*id)).map(innermost);
                let Some((outer, inner)) = last.and_then(|l| Some((l, interchange::inner_of(l)?)))
                else {
                    break;
                };
                let step = StepKind::Sink(sink::Args::of(self.kernel.loop_name(outer.id)));
                match self.with(step, sources).filter(|s| is_parallel(&s.kernel, root, inner)) {
                    Some(sunk) => self = sunk,
                    None => break,
                }
            }
        }
        self
    }

    /// With the conditions around serial loops in their limits: threads can share these then.
    fn predicated(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            let serial = candidates::serial_loops(&self.kernel, root).into_iter();
            let names: Vec<String> = serial.map(|l| self.kernel.loop_name(l.id)).collect();
            for target in names {
                let step = StepKind::Predicate(predicate::Args::of(target));
                self = self.with(step, sources).unwrap_or(self);
            }
        }
        if self.steps.is_empty() { self } else { self.sunk(sources) }
    }

    /// With sums in the place of updates, where one iteration can add up all that an element gets.
    fn gathered(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            let step = StepKind::Gather(gather::Args::of(self.kernel.loop_name(root)));
            self = self.with(step, sources).unwrap_or(self);
        }
        self
    }

    /// With variables in place of the structures that iterations have for themselves.
    fn scalarised(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            let target = self.kernel.loop_name(root);
            let step = StepKind::Scalarise(scalarise::Args::of(target));
            self = self.with(step, sources).unwrap_or(self);
        }
        self
    }

    /// With four products of bytes at a time.
    fn in_words(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            let serial = candidates::serial_loops(&self.kernel, root).into_iter();
            let names: Vec<String> = serial.map(|l| self.kernel.loop_name(l.id)).collect();
            for target in names {
                let step = StepKind::Dp4a(dp4a::Args::of(target));
                self = self.with(step, sources).unwrap_or(self);
            }
        }
        self
    }

    /// With all iterations going on to the end of their loop, as most steps want it.
    fn guarded(mut self, sources: &SourceMap) -> Start {
        let body = &self.kernel.func().body;
        let early = |l: &&ForLoop| walk::continues(&l.body).is_some();
        let early = walk::for_loops(body).into_iter().filter(early);
        let names: Vec<String> = early.map(|l| self.kernel.loop_name(l.id)).collect();
        for target in names {
            let step = StepKind::Guard(guard::Args::of(target));
            self = self.with(step, sources).unwrap_or(self);
        }
        self
    }

    /// With blocks that go through parts of loops whose iterations use sums so far.
    fn scans_split(mut self, parts: Parts, sources: &SourceMap) -> Start {
        for id in serial_outside(&self.kernel.func().body) {
            let Some(l) = self.kernel.find_loop(id) else { continue };
            let target = self.kernel.loop_name(id);
            let has_rows = loops_of(&l.body).next().is_some();
            let parts = if parts == Parts::Rows && has_rows { 1 } else { PARTS };
            let split = StepKind::SplitScan(split_scan::Args { target: target.clone(), parts });
            let mut before: Vec<Option<StepKind>> = vec![None];
            before.push(Some(StepKind::Carry(carry::Args::of(target.clone()))));
            before.extend(candidates::accumulated(&self.kernel, id).into_iter().map(Some));
            let fields = StepKind::Scalarise(scalarise::Args::of(target));
            let plain = self.with(fields, sources).unwrap_or_else(|| self.clone());
            let first = |step| match step {
                None => Some(plain.clone()),
                Some(step) => plain.with(step, sources),
            };
            let ways = before.into_iter().filter_map(first);
            let found = ways.filter_map(|start| start.with(split.clone(), sources)).next();
            self = found.unwrap_or(self);
        }
        self
    }

    /// With serial loops made one whose rows follow each other in memory: threads can have the iterations of both.
    fn collapsed(mut self, sources: &SourceMap) -> Start {
        let next = |start: &Start| {
            let kernel = &start.kernel;
            let roots = kernel.marked_roots().into_iter();
            let serial = roots.flat_map(|root| candidates::serial_loops(kernel, root));
            let pairs = serial.filter_map(|l| Some((l, only_loop(&l.body)?)));
            let found: Vec<_> = pairs.collect();
            found.into_iter().find_map(|(outer, inner)| {
                let name = kernel.loop_name(outer.id);
                let new = start.with(StepKind::Collapse(collapse::Args::of(name)), sources)?;
                let body = &new.kernel.find_loop(outer.id)?.body;
                let gone = [outer.var, inner.var].map(|v| walk::times_mentioned(body, v) == 0);
                (gone == [true; 2]).then_some(new)
            })
        };
        while let Some(collapsed) = next(&self) {
            self = collapsed;
        }
        self
    }

    /// With short loops written out by whose counter an array is read in several ways.
    fn expanded(mut self, sources: &SourceMap) -> Start {
        for root in self.kernel.marked_roots() {
            let names: Vec<String> = candidates::serial_loops(&self.kernel, root)
                .into_iter()
                .filter(|l| reads_around(&self.kernel, l))
                .map(|l| self.kernel.loop_name(l.id))
                .collect();
            // The last one first: names of loops before it stay.
            for target in names.into_iter().rev() {
                self =
                    self.with(StepKind::Expand(expand::Args::of(target)), sources).unwrap_or(self);
            }
        }
        self
    }

    /// With two sweeps of a serial loop in one kernel, there and back.
    fn in_turns(&self, sources: &SourceMap) -> Vec<Start> {
        let roots = self.kernel.marked_roots();
        let mut found = vec![];
        for pair in roots.windows(2).map(|pair| [pair[0], pair[1]]) {
            for shape in TURNS {
                let turned = fuse_kernels::check(&self.kernel, pair, shape);
                if turned.is_ok_and(|legal| legal.goes_in_turns()) {
                    let loops = pair.map(|id| self.kernel.loop_name(id));
                    let step = StepKind::FuseKernels(fuse_kernels::Args { loops, shape });
                    found.extend(self.with(step, sources));
                }
            }
        }
        found
    }

    /// With all loops fused that can be: first with one nest, then outermost first.
    fn fused(self, with: Option<LoopId>, sources: &SourceMap) -> Start {
        self.fused_where(&|_, _| true, with, sources)
    }

    /// With those loops fused of which something holds.
    fn fused_where(
        mut self,
        wanted: &dyn Fn(&Kernel, &[LoopId; 2]) -> bool,
        with: Option<LoopId>,
        sources: &SourceMap,
    ) -> Start {
        let next = |start: &Start| {
            let mut pairs = pairs(&start.kernel);
            pairs.retain(|pair| wanted(&start.kernel, pair));
            pairs.sort_by_key(|pair| !with.is_some_and(|id| pair.contains(&id)));
            pairs.into_iter().find_map(|pair| {
                let loops = pair.map(|id| start.kernel.loop_name(id));
                start.with(StepKind::FuseLoops(fuse_loops::Args { loops }), sources)
            })
        };
        while let Some(fused) = next(&self) {
            self = fused;
        }
        self
    }
}

/// The serial loops that no parallel one stands around, the outer ones first.
fn serial_outside(block: &Block) -> Vec<LoopId> {
    let mut found = vec![];
    for stmt in &block.stmts {
        let StmtKind::For(l) = &stmt.kind else {
            found.extend(walk::blocks(stmt).into_iter().flat_map(serial_outside));
            continue;
        };
        if !is_marked(l) {
            found.push(l.id);
            found.extend(serial_outside(&l.body));
        }
    }
    found
}

/// Whether a block writes elements of arrays, other than atomically.
fn stores(block: &Block) -> bool {
    let mut found = false;
    walk::each_stmt(block, &mut |s| {
        found |= walk::operands(s).writes.is_some_and(|p| p.root_var().is_none());
    });
    found
}

/// Whether the one loop in the body of a nest has independent iterations.
fn has_parallel(kernel: &Kernel, root: LoopId) -> bool {
    let (group, _) = independence::group_of(kernel, root);
    let last = group.last().and_then(|id| kernel.find_loop(*id));
    last.and_then(|l| only_loop(&l.body)).is_some_and(|inner| is_parallel(kernel, root, inner))
}

/// How many loops of a nest compute sums that can be split in parts.
fn splittable(kernel: &Kernel, root: LoopId) -> usize {
    let loops = candidates::serial_loops(kernel, root).into_iter();
    loops.filter(|l| split_k::check(kernel, l.id, 2).is_ok()).count()
}

/// Whether a loop in a nest has independent iterations.
fn is_parallel(kernel: &Kernel, root: LoopId, l: &ForLoop) -> bool {
    let (group, clauses) = independence::group_of(kernel, root);
    let with = [&group[..], &[l.id]].concat();
    independence::check(kernel, l.id, &with, &clauses).is_ok_and(|found| found.proved())
}

/// Whether a loop reads elements of one array in several ways that move with its counter, as a stencil reads those in all directions.
fn reads_around(kernel: &Kernel, l: &ForLoop) -> bool {
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(l.id), l);
    let moves = |a: &Access<'_>| match &a.view {
        View::Affine { index, .. } => index.iter().any(|p| p.mentions(l.var)),
        _ => false,
    };
    let accesses = scope.accesses();
    let mut reads = accesses.iter().filter(|a| a.kind == AccessKind::Read && moves(a));
    reads.next().is_some_and(|first| reads.any(|a| a.base == first.base && a.view != first.view))
}

/// Loops that might be fused: neighbouring nests, and loops beside each other in the body of a nest.
fn pairs(kernel: &Kernel) -> Vec<[LoopId; 2]> {
    let roots = kernel.marked_roots();
    let mut found = vec![];
    for (at, first) in roots.iter().enumerate() {
        found.extend(roots[at + 1..].iter().take(BETWEEN).map(|second| [*first, *second]));
    }
    for l in roots.iter().filter_map(|id| kernel.find_loop(*id)) {
        let beside: Vec<LoopId> = loops_of(&innermost(l).body).collect();
        found.extend(beside.windows(2).map(|pair| [pair[0], pair[1]]));
    }
    found
}

/// The innermost loop of a nest of loops without anything between them.
fn innermost(mut l: &ForLoop) -> &ForLoop {
    while let Some(inner) = only_loop(&l.body) {
        l = inner;
    }
    l
}

/// The loops that are statements of a block.
fn loops_of(block: &Block) -> impl Iterator<Item = LoopId> {
    block.stmts.iter().filter_map(|s| match &s.kind {
        StmtKind::For(inner) => Some(inner.id),
        _ => None,
    })
}
