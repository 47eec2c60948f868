//! Gives every block of threads a copy of an array that iterations update atomically: histograms, sums by key.
//!
//! ```text
//!     parallel for i in I { atomic bins[e(i)] += v(i) }
//!       ==> privatise bins block 256 grid 528
//!     for each block {
//!         own[all] = 0; barrier
//!         for i in the block's iterations, thread by thread { atomic own[e(i)] += v(i) }
//!         barrier; for each bin b, thread by thread { atomic bins[b] += own[b] }
//!     }
//! ```
//!
//! With `run 16` a thread takes so many neighbouring iterations at a time, and what they read side by side is loaded in
//! vectors ([`runs`](super::edit::runs)).
//!
//! Updates of shared memory meet only those of one block, and each block updates the array in memory once. What the loop reduces
//! besides, each block leaves in the workspace, and a loop behind the nest combines: a later step binds it (`reduce s`).
//!
//! Legal for a nest of marked loops that is not bound yet, whose iterations are independent, whose bounds the launcher
//! knows when it starts, and that touches the array by atomic updates of one operation only, `+`, `-`, `&`, `|`, `^`, minimum or
//! maximum, whose results nothing uses. The array has constant extents and fits in shared memory. A sum of reals is
//! added up in another order, as by any atomic additions.

mod reduced;

use std::fmt;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    AtomicOp, Axis, BarrierKind, BinaryOp, BindLevel, Block, Collective, Expr, ExprKind, Fill,
    ForLoop, LoopId, LoopKind, Origin, Parallel, Place, PlaceKind, Reduction, Scalar, Scope,
    SourceMap, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::edit::{copy, runs};
use super::question::independence;
use super::question::independence::Findings;
use super::step::grammar::{counted, counted_or_one, name};
use super::step::{About, Law, Rewrite, StepError};
use super::{Rewritten, bind};
use crate::analysis::updates::updated;
use crate::analysis::updates::{identity, only_update};
use crate::build::conditions::select;
use crate::build::stmts::element_of;
use crate::build::{counters, stmts, trips};
use crate::kernel::{Kernel, STATIC_SHARED, is_marked};
use crate::refusal::Refusal;
use crate::walk;
use reduced::Reduced;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The array that every block gets for itself.
    pub array: String,
    /// Threads of a block.
    pub block: u32,
    /// Most blocks.
    pub grid: u32,
    /// Neighbouring iterations that a thread takes at a time.
    pub run: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Args { array, block, grid, run } = self;
        write!(f, "{array} block {block} grid {grid}")?;
        if *run > 1 { write!(f, " run {run}") } else { Ok(()) }
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "privatise",
        example: "privatise bins block 256 grid 528",
        does: "gives every block of threads a copy of an array in shared memory for what its iterations update atomically (a histogram, sums by key), and adds the copies up; what the loop reduces besides is left by each block to a loop behind it, which `reduce` takes; with `run 16` a thread takes 16 neighbouring iterations at a time and loads what they read side by side in vectors",
        legal: "the array has constant extents, fits in shared memory, and is touched by atomic updates of one operation only; the nest is marked, not bound yet, and the launcher knows its bounds when it starts; a run needs an array of one dimension that each iteration reads at its counter and nothing writes",
        law: Law {
            before: "\
void count(int n, const int key[n], int bins[256]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        #pragma omp atomic
        bins[key[i]] += 1;
}
",
            steps: "privatise bins block 256 grid 528",
            after: "\
constexpr int BLOCK = 256;  // threads of a block

void count(int n, const int *key, int *bins, int blocks) {
    // blocks along x
    for (int block = 0; block < blocks; ++block) {
        // the block's own copy
        __shared__ int bins_shared[256];

        // threads of the block along x
        for (int thread = 0; thread < BLOCK; ++thread) {
            // by all threads of the block together
            for (int bin = 0; bin < 256; ++bin) {
                bins_shared[bin] = 0;
            }

            // the copy is clear before anyone updates it
            __syncthreads();
            for (long long iteration = (long long)block * BLOCK + thread;
                 iteration < n;
                 iteration += (long long)blocks * BLOCK) {
                const int i = iteration;
                atomicAdd(&bins_shared[key[i]], 1);
            }

            // all updates are there before they are added up
            __syncthreads();
            for (int bin = thread; bin < 256; bin += BLOCK) {
                if (bins_shared[bin] != 0) {
                    atomicAdd(&bins[bin], bins_shared[bin]);
                }
            }
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let array = name.parse_next(input)?;
        let text = "`block` and the threads of a block are wanted here";
        let block = counted("block", text).parse_next(input)?;
        let text = "`grid` and the most blocks are wanted here";
        let grid = counted("grid", text).parse_next(input)?;
        let run = counted_or_one("run").parse_next(input)?;
        Ok(Args { array, block, grid, run })
    }

    fn take(&self, kernel: &Kernel, sources: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, &self.array, self.block, self.grid, self.run)?, sources))
    }
}

/// The verdict on a `privatise`, which alone allows it.
pub struct LegalPrivatise<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    loops: Vec<LoopId>,
    array: VarId,
    elements: u64,
    op: AtomicOp,
    block: u32,
    grid: u32,
    /// Neighbouring iterations that a thread takes at a time; 1: one.
    run: u32,
    /// What a run loads in vectors.
    sides: Vec<runs::Side>,
    private: Vec<VarId>,
    reductions: Vec<Reduction>,
    findings: Vec<(LoopId, Findings)>,
}

/// Asks whether blocks of `block` threads, `grid` at most, can have copies of the array `name`, and threads take runs of
/// `run` iterations.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(
    kernel: &'k Kernel,
    name: &str,
    block: u32,
    grid: u32,
    run: u32,
) -> Result<LegalPrivatise<'k>, Refusal> {
    let refuse = |why: &str, at: Option<Origin>| refused(name, why, at);
    bind::check_block([block, 1, 1])?;
    if grid == 0 {
        return refuse("a grid has at least one block", None);
    }
    let (array, root, elements, bytes) = copied(kernel, name)?;
    let (group, clauses) = independence::group_of(kernel, root);
    let loops = super::reduce::rectangular_prefix(kernel, &group);
    let mut findings = vec![];
    for id in &loops {
        bind::check_step(kernel, *id)?;
        findings.push((*id, independence::check(kernel, *id, &group, &clauses)?));
    }
    let fits = check_clauses(kernel, &clauses, (block, bytes));
    fits.or_else(|why| refused(name, &why, clauses.origin.clone().into()))?;
    let bounds = loops.iter().filter_map(|id| kernel.find_loop(*id));
    if !bounds.flat_map(|l| [&l.first, &l.limit, &l.step]).all(|e| kernel.known_at_start(e)) {
        return refuse("the launcher does not know its loop's bounds when it starts", None);
    }
    let innermost = loops.last().and_then(|id| kernel.find_loop(*id));
    let op = match innermost.map(|l| only_update(&l.body, array)) {
        Some(Ok(op)) => op,
        Some(Err(at)) => return refuse("it is not only updated by one operation there", Some(at)),
        None => return refuse("its nest has no loops", None),
    };
    let only = innermost.filter(|_| loops.len() == 1 && run != 1);
    let sides = only.map(|l| runs::sides(kernel, l, run)).unwrap_or_default();
    if run != 1 && sides.is_empty() {
        return refuse("a run of these iterations reads no vector of neighbouring elements", None);
    }
    let (private, reductions) = (clauses.private, clauses.reductions);
    Ok(LegalPrivatise {
        kernel,
        root,
        loops,
        array,
        elements,
        op,
        block,
        grid,
        run,
        sides,
        private,
        reductions,
        findings,
    })
}

/// Values of the loop's clauses, and so many bytes beside what they take, are there for each block.
fn check_clauses(
    kernel: &Kernel,
    clauses: &Parallel,
    (block, bytes): (u32, u64),
) -> Result<(), String> {
    if !clauses.first_private.is_empty() || !clauses.last_private.is_empty() {
        return Err("the loop's clauses carry values".into());
    }
    match bytes + reduced::room(kernel, &clauses.reductions, block)? > STATIC_SHARED.into() {
        true => Err("it does not fit in the shared memory of a block".into()),
        false => Ok(()),
    }
}

/// Makes the nest of blocks and threads.
pub fn apply(legal: LegalPrivatise<'_>, sources: &SourceMap) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    bind::record(&mut kernel, legal.findings.clone(), sources);
    let loops: Vec<ForLoop> =
        legal.loops.iter().filter_map(|id| kernel.find_loop(*id).cloned()).collect();
    let mut maker = Maker::new(&mut kernel, &legal, &loops);
    let nest = maker.nest(&loops);
    let (reduced, blocks) = (maker.reduced, maker.blocks);
    let finish = reduced::finish(&mut kernel, &reduced, blocks);
    copy::put_around(&mut kernel, legal.root, vec![], finish.into_iter().collect());
    walk::with_loop(&mut kernel.func_mut().body, legal.root, &mut |stmt| {
        let origin = stmt.origin.by("privatise");
        let comment = std::mem::take(&mut stmt.comment);
        *stmt = Stmt { kind: StmtKind::For(nest.clone()), origin, comment };
    });
    Rewritten::same_loops(kernel)
}

fn refused<T>(name: &str, why: &str, at: Option<Origin>) -> Result<T, Refusal> {
    let (name, why) = (name.to_string(), why.to_string());
    Err(Refusal::CannotCopy { name, verb: "privatise", why, at: Box::new(at) })
}

/// The array of a name, the nest that updates it, its elements and its bytes, of constant extents.
fn copied(kernel: &Kernel, name: &str) -> Result<(VarId, LoopId, u64, u64), Refusal> {
    let refuse = |why: &str| refused(name, why, None);
    let function = kernel.func();
    let named = |p: &&VarId| function.var(**p).name == name && function.var(**p).ty.is_pointer();
    let Some(array) = function.params.iter().find(named).copied() else {
        return refuse("it is no array of the function");
    };
    let Some(root) = nest_that_updates(kernel, array) else {
        return refuse("no nest that is marked and not bound yet updates it atomically");
    };
    bind::check_outermost(kernel, Some(root))?;
    let Some(elements) = constant_elements(kernel, array) else {
        return refuse("its extents are not constant");
    };
    let scalar = function.var(array).ty.pointee().and_then(Type::scalar);
    let Some(bytes) = scalar.map(|s| u64::from(s.bytes())).filter(|b| matches!(b, 4 | 8)) else {
        return refuse("its elements are no numbers of four or eight bytes");
    };
    Ok((array, root, elements, elements.saturating_mul(bytes)))
}

/// The outermost marked loop of a nest that is not bound and updates the array.
fn nest_that_updates(kernel: &Kernel, array: VarId) -> Option<LoopId> {
    let roots = kernel.marked_roots();
    roots.into_iter().filter(|id| !kernel.nests.contains_key(id)).find(|id| {
        let mut found = false;
        if let Some(l) = kernel.find_loop(*id) {
            walk::each_stmt(&l.body, &mut |s| found |= updated(s).is_some_and(|v| v == array));
        }
        found
    })
}

fn constant_elements(kernel: &Kernel, array: VarId) -> Option<u64> {
    let shape = kernel.func().var(array).shape.as_deref()?;
    let extent = |e: &Expr| e.as_const().and_then(|v| u64::try_from(v.as_i64()).ok());
    shape.iter().map(extent).try_fold(1u64, |all, n| all.checked_mul(n?)).filter(|n| *n > 0)
}

/// Whether the clauses only give iterations variables of their own.
pub(super) fn has_only_private(clauses: &Parallel) -> bool {
    clauses.reductions.is_empty()
        && clauses.first_private.is_empty()
        && clauses.last_private.is_empty()
}

/// The variables of the nest in the making.
struct Maker<'k, 'l> {
    kernel: &'k mut Kernel,
    legal: &'l LegalPrivatise<'l>,
    blocks: VarId,
    /// Counters of blocks and threads.
    block: VarId,
    thread: VarId,
    own: VarId,
    /// Threads of a block, as a named constant.
    threads: Expr,
    /// What the nest reduces besides.
    reduced: Vec<Reduced>,
}

impl<'k, 'l> Maker<'k, 'l> {
    fn new(kernel: &'k mut Kernel, legal: &'l LegalPrivatise<'l>, loops: &[ForLoop]) -> Self {
        let name = kernel.name_of(legal.array).to_string();
        let threads = kernel.constant("BLOCK", legal.block, "threads of a block");
        let most = kernel.constant("GRID", legal.grid, "most blocks, each with a copy of its own");
        let value = number_of_blocks(kernel, loops, &threads, most);
        let comment = format!("blocks that update copies of `{name}`");
        let blocks = kernel.add_length("blocks", value, comment);
        kernel
            .lengths
            .iter_mut()
            .filter(|l| l.var == blocks)
            .for_each(|l| l.most = Some(legal.grid));
        let element = kernel.func().var(legal.array).ty.pointee().cloned().unwrap_or(Type::Void);
        let array = Type::array(element, legal.elements);
        let mut own = Var::new(format!("{name}_shared"), array, VarKind::Shared);
        own.origin = kernel.func().var(legal.array).origin.by("privatise");
        let mut local = |name: &str| {
            let mut var = Var::new(name, Type::I32, VarKind::Local);
            var.constant = true;
            kernel.func_mut().add_var(var)
        };
        let (block, thread) = (local("block"), local("thread"));
        let own = kernel.func_mut().add_var(own);
        let reductions = legal.reductions.iter();
        let reduced = reductions.filter_map(|r| Reduced::of(kernel, r, legal.grid)).collect();
        Maker { kernel, legal, blocks, block, thread, own, threads, reduced }
    }

    fn nest(&mut self, loops: &[ForLoop]) -> ForLoop {
        let barrier = |why: &str| {
            let kind = StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None };
            Stmt::new(kind, Origin::default()).comment(why)
        };
        let mut text = vec![self.cleared(), barrier("the copy is clear before anyone updates it")];
        text.extend(self.reduced.iter().map(Reduced::begun));
        text.extend(self.updates(loops));
        text.push(barrier("all updates are there before they are added up"));
        text.push(self.added());
        let left = |r: &Reduced| r.left(self.kernel, self.block, self.thread);
        text.extend(self.reduced.iter().flat_map(left));
        let extent = Some(self.legal.block);
        let threads = self.threads.clone();
        let at = (BindLevel::Block, Axis::X);
        let function = self.kernel.func_mut();
        let inner = stmts::bound(function, self.thread, at, extent, threads, text);
        let copy = Stmt::new(StmtKind::Decl { var: self.own, init: None }, Origin::default())
            .comment("the block's own copy");
        let body = vec![copy, stmts::looped(inner)];
        let (at, blocks) = ((BindLevel::Grid, Axis::X), Expr::var(self.blocks, Type::I32));
        stmts::bound(self.kernel.func_mut(), self.block, at, None, blocks, body)
    }

    /// A counter of a loop; those of loops beside each other may have one name.
    fn local(&mut self, name: &str, ty: Type) -> VarId {
        self.kernel.func_mut().add_var(Var::new(name, ty, VarKind::Local))
    }

    fn own_element(&self, index: Expr) -> Place {
        element_of(self.kernel.func(), self.own, index)
    }

    fn identity(&self) -> Expr {
        let ty = self.kernel.func().var(self.own).ty.innermost().clone();
        let zero = Expr::int(ty.scalar().unwrap_or(Scalar::I32), 0);
        let zero = if ty.is_float() { zero.cast(ty) } else { zero };
        identity(self.legal.op, &zero).map_or(zero, Expr::constant)
    }

    fn cleared(&mut self) -> Stmt {
        let at = self.local("bin", Type::I32);
        let fill = Fill {
            counters: vec![(at, self.legal.elements as u32)],
            destination: self.own_element(Expr::var(at, Type::I32)),
            source: self.identity(),
            within: None,
            vector: 1,
            asynchronous: false,
        };
        Stmt::new(StmtKind::Collective(Collective::Fill(fill)), Origin::default())
    }

    /// The iterations, in strides of all threads of the grid.
    fn updates(&mut self, loops: &[ForLoop]) -> Vec<Stmt> {
        let wide = |e: Expr| e.cast(Type::I64);
        let number = self.local("iteration", Type::I64);
        let counts: Vec<Expr> =
            loops.iter().map(|l| trips::wide_count(self.kernel.func(), l)).collect();
        let mut body = vec![];
        let digits = counters::digits(Expr::var(number, Type::I64), &counts);
        for (l, at) in loops.iter().zip(digits).rev() {
            let value = counters::counter_of_wide(self.kernel.func(), l, at);
            let kind = StmtKind::Decl { var: l.var, init: Some(value) };
            body.push(Stmt::new(kind, Origin::default()));
        }
        for v in &self.legal.private {
            body.push(Stmt::new(StmtKind::Decl { var: *v, init: None }, Origin::default()));
        }
        let innermost = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        let mut updates = innermost;
        ToOwn { array: self.legal.array, own: self.own_place() }.block(&mut updates);
        self.reduced.iter().for_each(|r| r.redirect(self.kernel, &mut updates));
        body.extend(updates.stmts);
        let total = counts.into_iter().reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
        let of_grid =
            |own: Expr| Expr::binary(BinaryOp::Mul, wide(own), wide(self.threads.clone()));
        let first = Expr::binary(
            BinaryOp::Add,
            of_grid(Expr::var(self.block, Type::I32)),
            wide(Expr::var(self.thread, Type::I32)),
        );
        let step = of_grid(Expr::var(self.blocks, Type::I32));
        let limit = total.unwrap_or_else(|| Expr::int(Scalar::I64, 0));
        let function = self.kernel.func_mut();
        let all = stmts::counted(function, number, limit, LoopKind::Serial, body);
        let all = ForLoop { first, step, ..all };
        let (kernel, width) = (&mut *self.kernel, self.legal.run);
        match loops {
            [source] if width > 1 => {
                let sides = self.legal.sides.clone();
                runs::Runs { kernel, source, width, sides }.of(all)
            }
            _ => vec![stmts::looped(all)],
        }
    }

    fn own_place(&self) -> Place {
        Place::var(self.own, self.kernel.func().var(self.own).ty.clone())
    }

    /// What the copy has come to goes to the array.
    fn added(&mut self) -> Stmt {
        let bin = self.local("bin", Type::I32);
        let at = || Expr::var(bin, Type::I32);
        let array = self.kernel.func().var(self.legal.array).clone();
        let element = array.ty.pointee().cloned().unwrap_or(Type::Void);
        let kind = PlaceKind::Elem {
            pointer: Expr::var(self.legal.array, array.ty.clone()),
            index: vec![at()],
            dims: vec![],
        };
        let place = Place::new(kind, element, Origin::default());
        let value = Expr::read(self.own_element(at()));
        let op = match self.legal.op {
            // The copy holds the negative sum.
            AtomicOp::Sub => AtomicOp::Add,
            op => op,
        };
        let pointer = Expr::new(ExprKind::AddressOf(place), array.ty.clone(), Origin::default());
        let (compare, result, scope) = (None, None, Scope::Device);
        let update = StmtKind::Atomic { op, pointer, value: value.clone(), compare, result, scope };
        let kind = StmtKind::If {
            cond: Expr::binary(BinaryOp::Ne, value, self.identity()),
            then: Block::new(vec![Stmt::new(update, array.origin.by("privatise"))]),
            otherwise: Block::default(),
        };
        let body = vec![Stmt::new(kind, Origin::default())];
        let (first, limit) =
            (Expr::var(self.thread, Type::I32), Expr::i32(self.legal.elements as i32));
        let step = self.threads.clone();
        let function = self.kernel.func_mut();
        let l = stmts::counted(function, bin, limit, LoopKind::Serial, body);
        stmts::looped(ForLoop { first, step, ..l })
    }
}

/// `runs ? min(blocks, most) : 0`.
fn number_of_blocks(kernel: &Kernel, loops: &[ForLoop], threads: &Expr, most: Expr) -> Expr {
    let function = kernel.func();
    let counts = loops.iter().map(|l| trips::wide_count(function, l));
    let all = counts.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
    let all = all.unwrap_or_else(|| Expr::int(Scalar::I64, 0));
    let needed = trips::blocks(function, all, threads.clone());
    let fewer = Expr::binary(BinaryOp::Lt, needed.clone(), most.clone().cast(Type::I64));
    let blocks = select(fewer, needed.cast(Type::I32), most);
    match trips::all_run(function, loops) {
        Some(runs) => select(runs, blocks, Expr::i32(0)),
        None => blocks,
    }
}

/// Puts the block's copy in place of the array.
struct ToOwn {
    array: VarId,
    own: Place,
}

impl Rewriter for ToOwn {
    fn stmt(&mut self, stmt: &mut Stmt) {
        if updated(stmt) == Some(self.array)
            && let StmtKind::Atomic { pointer, .. } = &mut stmt.kind
            && let ExprKind::AddressOf(place) = &mut *pointer.kind
            && let PlaceKind::Elem { index, dims, .. } = &*place.kind
        {
            *place.kind = PlaceKind::Index(self.own.clone(), flat(index, dims));
            if let Type::Pointer { space, .. } = &mut pointer.ty {
                *space = warpsmith_ir::Space::Shared;
            }
        }
        visit::rewrite_stmt(self, stmt);
    }
}

/// The place of an element among all, from its subscripts and all extents but the first.
fn flat(index: &[Expr], dims: &[Expr]) -> Expr {
    let first = index.first().map_or(Type::I32, |i| i.ty.clone());
    let alike = index.iter().chain(dims).all(|e| e.ty == first);
    let one = |e: &Expr| if alike { e.clone() } else { e.clone().cast(Type::I64) };
    let start = index.first().map_or_else(|| Expr::i32(0), one);
    index.iter().skip(1).zip(dims).fold(start, |flat, (i, n)| {
        Expr::binary(BinaryOp::Add, Expr::binary(BinaryOp::Mul, flat, one(n)), one(i))
    })
}

/// Whether a marked nest updates some array so.
pub fn candidates(kernel: &Kernel, root: LoopId) -> Vec<String> {
    let Some(l) = kernel.find_loop(root).filter(|l| is_marked(l)) else { return vec![] };
    let mut names: Vec<String> = vec![];
    walk::each_stmt(&l.body, &mut |s| {
        let name = updated(s).map(|v| kernel.name_of(v).to_string());
        names.extend(name.filter(|n| !names.contains(n)));
    });
    names
}

/// Runs of iterations of a nest that load vectors.
pub fn run_lengths(kernel: &Kernel, root: LoopId) -> Vec<u32> {
    let (group, _) = independence::group_of(kernel, root);
    let loops = super::reduce::rectangular_prefix(kernel, &group);
    let [only] = loops.as_slice() else { return vec![] };
    let Some(l) = kernel.find_loop(*only) else { return vec![] };
    [4, 16].into_iter().filter(|run| !runs::sides(kernel, l, *run).is_empty()).collect()
}
