//! The function being scheduled: the handle that rewrites check and change.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    Axis, Block, ConstId, Diagnostic, Expr, ExprKind, ForLoop, FuncId, Function, Layout, LoopId,
    LoopKind, Module, NamedConst, Origin, Parallel, Place, ReduceOp, Scalar, Space, StmtKind, Type,
    Value, Var, VarId, VarKind,
};

use crate::assumption::Assumption;
use crate::facts::Multiples;
pub use crate::of_gpu::{OfGpu, STATIC_SHARED};
use crate::requirement::Requirement;
use crate::{names, sizes, walk};

/// A C function on its way to the device, with what the steps so far decided.
///
/// Values are immutable in practice: a rewrite takes one by reference and makes another.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The module that the function is in.
    pub module: Module,
    /// The function that is scheduled.
    pub function: FuncId,
    /// Loops of kernels that take the sizes another one is not for.
    pub general: BTreeSet<LoopId>,
    /// Nests that become kernels, by their outermost marked loop.
    pub nests: BTreeMap<LoopId, Nest>,
    /// Arrays that kernels read from constant memory.
    pub constants: BTreeSet<VarId>,
    /// Arrays that callers need not pass, since steps ask what the function asks; `None`: none was taken.
    pub optional: Option<BTreeSet<VarId>>,
    /// Arrays in the workspace that rewrites made.
    pub scratch: Vec<Scratch>,
    /// Numbers that the launcher computes first.
    pub lengths: Vec<Length>,
    /// Those at which loops begin that others left off there: no greater than the limit, and as far from it as the counter's type holds.
    pub left_off: BTreeSet<VarId>,
    /// Arrays whose contents depend on the order of a floating-point sum that a rewrite changed.
    pub reassociated: BTreeSet<VarId>,
    /// Numbers around which rewrites treat sizes differently.
    pub numbers: Vec<u32>,
    /// The type of all reals, where a step chose it.
    pub precision: Option<Scalar>,
    /// Steps taken, as schedule text.
    pub steps: Vec<String>,
    /// What is known of the GPU.
    pub gpu: OfGpu,
    /// What the result relies on beyond the C standard and was not proved.
    pub assumptions: Vec<Assumption>,
    /// What the sizes must satisfy for the marks to be right; the launcher checks it.
    pub requires: Vec<Requirement>,
    /// Warnings and suggestions met on the way.
    pub notes: Vec<Diagnostic>,
}

/// An array of the workspace: a parameter of the function, with extents, until the function is lowered.
#[derive(Clone, Debug, PartialEq)]
pub struct Scratch {
    /// The array.
    pub var: VarId,
    /// What it holds, for the reader of the launcher.
    pub comment: String,
}

/// A number that follows from the sizes: a parameter of the function until the function is lowered.
#[derive(Clone, Debug, PartialEq)]
pub struct Length {
    /// The parameter that has the length.
    pub var: VarId,
    /// Over by-value parameters that nothing assigns.
    pub value: Expr,
    /// What it is, for the reader of the kernel.
    pub comment: String,
    /// The greatest that it can be, where a constant limits it.
    pub most: Option<u32>,
}

/// How one nest of parallel loops runs on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// Loops bound to the threads of the grid, outermost first.
    pub axes: Vec<(LoopId, Axis)>,
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Clauses of all marked loops of the nest's group.
    pub clauses: Parallel,
    /// The nest combines values over its iterations.
    pub reduce: Option<Reduce>,
    /// Bound loops of which a thread computes several iterations, and how many.
    pub tiles: BTreeMap<LoopId, u32>,
    /// Tiled loops of which a thread's iterations come in groups of neighbours, and how many.
    pub vectors: BTreeMap<LoopId, u32>,
    /// Bound loops whose blocks begin at a multiple of so many iterations, at or before the first.
    pub aligned: BTreeMap<LoopId, u32>,
    /// Serial loops that pass row by row through a thread's iterations of a tiled loop, and that loop.
    pub streams: BTreeMap<LoopId, LoopId>,
    /// How the 32 lanes of a warp lie along x, y, z; `None`: as the hardware numbers the threads.
    pub lanes: Option<[u32; 3]>,
    /// Threads of the block that share serial loops of each iteration.
    pub team: Option<Team>,
    /// Arrays that are copied to shared memory.
    pub stages: Vec<Stage>,
    /// How blocks go through the nest.
    pub order: Order,
    /// A launch has this many blocks at most, each of which goes over several tiles.
    pub resident: Option<u32>,
    /// Blocks whose iterations all exist run without guards.
    pub peel: bool,
    /// What the kernel's name ends in; empty for the kernel that is right for all sizes.
    pub label: String,
    /// Parameters that are known to be multiples of a number; for pointers, the address in bytes.
    pub multiples: Multiples,
}

/// How the blocks of a grid go through a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row by row, each block once.
    Rows,
    /// So many blocks along the second of the innermost bound loops one after the other, before the next ones along the
    /// innermost.
    Groups(u32),
    /// Threads go on in strides of the grid along x, too.
    Strides,
}

/// Threads of a block along an axis that no loop is bound to. All of them run each iteration of the bound loops; the
/// iterations of some serial loops in it they have among themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// The axis that the threads stand along.
    pub axis: Axis,
    /// A power of two.
    pub threads: u32,
    /// Loops that they share.
    pub loops: Vec<SharedLoop>,
}

/// A serial loop of which each thread of a team runs a part.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedLoop {
    /// The loop.
    pub target: LoopId,
    /// The loop after which the threads' values of the sums are combined: `target`, or a serial loop around it.
    pub region: LoopId,
    /// Variables that the loop adds to; they begin at the identity of the operation.
    pub sums: Vec<Sum>,
}

/// A variable that threads combine their values of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The variable that is summed up.
    pub var: VarId,
    /// How values are combined.
    pub op: ReduceOp,
    /// For a minimum or maximum: the variable that keeps in which iteration the value was found first.
    pub at: Option<VarId>,
}

impl Sum {
    /// What the threads exchange: the value, and where it was found.
    pub fn vars(&self) -> impl Iterator<Item = VarId> + use<> {
        std::iter::once(self.var).chain(self.at)
    }
}

/// An array whose elements a block copies to shared memory before it reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The array that is staged.
    pub array: VarId,
    /// Which of the groups of its reads: reads that differ by constants belong together, the groups are counted in
    /// source order.
    pub part: usize,
    /// The serial loop that is cut into strips, and the iterations of a strip; `None`: one copy for the whole block.
    pub strip: Option<(LoopId, u32)>,
    /// How rows lie in shared memory.
    pub layout: Layout,
    /// Neighbouring elements that a thread copies at a time.
    pub vector: u32,
    /// The copy of all that a block reads is by `cp.async`.
    pub asynchronous: bool,
    /// Strips that are in shared memory at a time: where they are several, copies run ahead of their use.
    pub slots: u32,
    /// Iterations of a strip read what the next one needs.
    pub ahead: bool,
}

impl Stage {
    /// Whether it is copied for each strip of a loop.
    pub fn is_cut_at(&self, id: LoopId) -> bool {
        self.strip.is_some_and(|(strip, _)| strip == id)
    }
}

impl Nest {
    /// Threads of the block along the axes, nothing else decided.
    pub fn bound(axes: Vec<(LoopId, Axis)>, block: [u32; 3], clauses: Parallel) -> Nest {
        Nest {
            axes,
            block,
            clauses,
            reduce: None,
            tiles: BTreeMap::new(),
            vectors: BTreeMap::new(),
            aligned: BTreeMap::new(),
            streams: BTreeMap::new(),
            lanes: None,
            team: None,
            stages: vec![],
            order: Order::Rows,
            resident: None,
            peel: false,
            label: String::new(),
            multiples: Multiples::default(),
        }
    }

    /// Blocks compute tiles of more than one element a thread, or through shared memory.
    pub fn is_tiled(&self) -> bool {
        !self.tiles.is_empty()
            || !self.stages.is_empty()
            || !self.aligned.is_empty()
            || self.lanes.is_some()
            || self.team.is_some()
            || self.resident.is_some()
            || matches!(self.order, Order::Groups(_))
    }

    /// How a loop is shared by the threads of a team, if it is.
    pub fn shared_loop(&self, id: LoopId) -> Option<&SharedLoop> {
        self.team.as_ref().and_then(|t| t.loops.iter().find(|s| s.target == id))
    }

    /// What is copied for each strip of a loop.
    pub fn staged_at(&self, id: LoopId) -> impl Iterator<Item = &Stage> {
        self.stages.iter().filter(move |s| s.is_cut_at(id))
    }

    /// Whether a loop is on one of the axes.
    pub fn binds(&self, id: LoopId) -> bool {
        self.axes.iter().any(|(l, _)| *l == id)
    }

    /// Iterations of a bound loop that one block computes.
    pub fn block_extent(&self, id: LoopId) -> Option<u32> {
        let (_, axis) = self.axes.iter().find(|(l, _)| *l == id)?;
        Some(self.block[axis.index()] * self.tiles.get(&id).copied().unwrap_or(1))
    }
}

/// Shape of a reduction over the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduce {
    /// Threads of a block along x, y, z; together a power of two.
    pub block: [u32; 3],
    /// Most blocks along x, y, z, each of which leaves one partial result.
    pub grid: [u32; 3],
}

impl Reduce {
    /// All iterations of the nest are numbered, and the threads take them in turns.
    pub fn flat(block: u32, grid: u32) -> Reduce {
        Reduce { block: [block, 1, 1], grid: [grid, 1, 1] }
    }

    /// Threads of a block; the greatest number where they are more than that.
    pub fn threads(&self) -> u64 {
        self.block.iter().fold(1, |all, b| all.saturating_mul((*b).into()))
    }

    /// Most blocks of the grid; the greatest number where they are more than that.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |all, b| all.saturating_mul((*b).into()))
    }

    /// Axes up to the last with more than one thread or block: 1 where the iterations are numbered.
    pub fn dimensions(&self) -> usize {
        (1..3).rev().find(|&k| self.block[k] != 1 || self.grid[k] != 1).map_or(1, |k| k + 1)
    }
}

impl Kernel {
    /// Notes what a step relies on, once.
    pub(crate) fn assume(&mut self, assumption: Assumption) {
        if !self.assumptions.contains(&assumption) {
            self.assumptions.push(assumption);
        }
    }

    /// A function without steps.
    pub fn new(module: Module, function: FuncId) -> Kernel {
        Kernel {
            general: BTreeSet::new(),
            optional: None,
            module,
            function,
            nests: BTreeMap::new(),
            constants: BTreeSet::new(),
            scratch: vec![],
            lengths: vec![],
            left_off: BTreeSet::new(),
            reassociated: BTreeSet::new(),
            numbers: vec![],
            precision: None,
            steps: vec![],
            gpu: OfGpu::default(),
            assumptions: vec![],
            requires: vec![],
            notes: vec![],
        }
    }

    /// The scheduled function.
    pub fn func(&self) -> &Function {
        self.module.function(self.function)
    }

    /// The body of the function, to be changed; an empty one when the function does not exist.
    pub fn func_mut(&mut self) -> &mut Function {
        &mut self.module.functions[self.function.0 as usize]
    }

    /// Whether a parameter was made by a rewrite: the caller of the launcher knows nothing of it.
    pub fn is_derived(&self, var: VarId) -> bool {
        self.scratch.iter().any(|s| s.var == var) || self.lengths.iter().any(|l| l.var == var)
    }

    /// A new array of the workspace with these extents; they are over parameters that nothing assigns.
    pub fn add_scratch(
        &mut self,
        wanted: &str,
        element: Type,
        extents: Vec<Expr>,
        comment: String,
    ) -> VarId {
        let name = self.fresh_name(wanted);
        let mut var = Var::new(name, Type::pointer(element, Space::Global), VarKind::Param);
        var.restrict = true;
        let of_sizes = |e: &Expr| sizes::over_parameters(self.func(), e);
        var.shape = Some(extents.iter().map(of_sizes).collect());
        let var = self.func_mut().add_param(var);
        self.scratch.push(Scratch { var, comment });
        var
    }

    /// A new number that the launcher computes first.
    pub fn add_length(&mut self, wanted: &str, value: Expr, comment: String) -> VarId {
        let value = sizes::over_parameters(self.func(), &value);
        let name = self.fresh_name(wanted);
        let mut var = Var::new(name, value.ty.clone(), VarKind::Param);
        var.constant = true;
        let var = self.func_mut().add_param(var);
        self.lengths.push(Length { var, value, comment, most: None });
        var
    }

    /// The named constant of this name and value; it is made where there is none.
    pub fn constant(&mut self, wanted: &str, value: u32, comment: &str) -> Expr {
        let value = Value::int(Scalar::I32, value.into());
        let known = self.module.constants.iter().position(|c| c.name == wanted && c.value == value);
        let at = known.unwrap_or_else(|| {
            let taken = |name: &String| self.module.constants.iter().any(|c| c.name == *name);
            let mut names = (2u32..).map(|k| format!("{wanted}_{k}"));
            let name = Some(wanted.to_string()).filter(|n| !taken(n));
            let name = name.or_else(|| names.find(|n| !taken(n))).unwrap_or_default();
            let comment = comment.to_string();
            self.module.constants.push(NamedConst { name, value, comment });
            self.module.constants.len() - 1
        });
        Expr::new(ExprKind::Named(ConstId(at as u32)), Type::I32, Origin::default())
    }

    pub(crate) fn fresh_name(&self, wanted: &str) -> String {
        names::fresh_name(self.func(), wanted)
    }

    /// Whether the launcher can compute an expression before anything else: it follows from by-value parameters that
    /// nothing assigns.
    pub fn known_at_start(&self, e: &Expr) -> bool {
        sizes::follows(self.func(), e)
    }

    /// Whether a loop begins where another one left off.
    pub fn goes_on(&self, l: &ForLoop) -> bool {
        let at = |v: &VarId| l.first == Expr::var(*v, self.func().var(*v).ty.clone());
        self.left_off.iter().any(at)
    }

    /// The name of a variable of the function.
    pub fn name_of(&self, var: VarId) -> &str {
        &self.func().var(var).name
    }

    /// Names of all counted loops in source order: the counter's name, `#2`, `#3`, … behind it from the second loop of that
    /// name on. Those of general kernels come last, so that a nest made special leaves the next ones their names.
    pub fn loop_names(&self) -> Vec<(String, LoopId)> {
        let mut seen = BTreeMap::<&str, u32>::new();
        let mut names = vec![];
        let mut loops = walk::for_loops(&self.func().body);
        loops.sort_by_key(|l| self.general.contains(&l.id));
        for l in loops {
            let name = self.name_of(l.var);
            let count = seen.entry(name).or_default();
            *count += 1;
            let unique = if *count == 1 { name.to_string() } else { format!("{name}#{count}") };
            names.push((unique, l.id));
        }
        names
    }

    /// The name of a loop, as schedules have it.
    pub fn loop_name(&self, id: LoopId) -> String {
        self.loop_names().into_iter().find(|(_, l)| *l == id).map_or("?".into(), |(name, _)| name)
    }

    /// The loop of a name as [`Kernel::loop_names`] gives it.
    pub fn loop_named(&self, name: &str) -> Option<&ForLoop> {
        let (_, id) = self.loop_names().into_iter().find(|(n, _)| n == name)?;
        self.find_loop(id)
    }

    /// The loop of this number; `None` where no loop has it any more.
    pub fn find_loop(&self, id: LoopId) -> Option<&ForLoop> {
        walk::find_loop(&self.func().body, id)
    }

    /// Counted loops around a loop, outermost first.
    pub fn loops_around(&self, id: LoopId) -> Vec<&ForLoop> {
        fn search<'a>(block: &'a Block, id: LoopId, path: &mut Vec<&'a ForLoop>) -> bool {
            for stmt in &block.stmts {
                if let StmtKind::For(l) = &stmt.kind {
                    if l.id == id {
                        return true;
                    }
                    path.push(l);
                    if search(&l.body, id, path) {
                        return true;
                    }
                    path.pop();
                } else if walk::blocks(stmt).into_iter().any(|b| search(b, id, path)) {
                    return true;
                }
            }
            false
        }
        let mut path = vec![];
        search(&self.func().body, id, &mut path);
        path
    }

    /// The outermost loop that is bound of a loop and those around it.
    pub fn bound_at(&self, id: LoopId) -> Option<LoopId> {
        let all = self.loops_around(id).into_iter().chain(self.find_loop(id));
        all.filter(|l| matches!(l.kind, LoopKind::Bound(_))).map(|l| l.id).next()
    }

    /// Whether each thread runs a loop on its own: a serial one, or a marked one inside a loop that threads share.
    pub fn runs_in_thread(&self, id: LoopId) -> bool {
        match self.find_loop(id).map(|l| &l.kind) {
            Some(LoopKind::Serial | LoopKind::Unrolled(_)) => true,
            Some(LoopKind::Parallel(_)) => self.bound_at(id).is_some(),
            _ => false,
        }
    }

    /// Whether a rewrite made a nest to copy an array: its counters come from there.
    pub fn is_copying(&self, nest: &Nest) -> bool {
        let innermost = nest.axes.last().and_then(|(id, _)| self.find_loop(*id));
        innermost.is_some_and(|l| self.func().var(l.var).origin.rewrite == Some("copy"))
    }

    /// Whether threads share a loop or one inside it, so that it has to stay as it is.
    pub fn has_shared_loop(&self, id: LoopId) -> bool {
        let teams = self.nests.values().filter_map(|n| n.team.as_ref());
        let body = self.find_loop(id).map(|l| &l.body);
        let inside = |id| body.is_some_and(|b| walk::find_loop(b, id).is_some());
        teams.flat_map(|t| &t.loops).any(|s| s.target == id || inside(s.target))
    }

    /// Marked loops that form a perfect nest from `root` inward, as many as hold nothing but the next one. Loops of
    /// the same `collapse` and loops with marks of their own both count.
    pub fn perfect_group(&self, root: LoopId) -> Vec<&ForLoop> {
        let mut group = vec![];
        let mut at = self.find_loop(root);
        while let Some(l) = at {
            if !group.is_empty() && !is_marked(l) {
                break;
            }
            group.push(l);
            at = only_loop(&l.body);
        }
        group
    }

    /// The clauses of several loops together.
    pub fn clauses(&self, loops: &[&ForLoop]) -> Parallel {
        let mut all = Parallel::default();
        for (k, l) in loops.iter().enumerate() {
            let LoopKind::Parallel(p) = &l.kind else { continue };
            if k == 0 {
                all.origin = p.origin.clone();
            }
            for r in &p.reductions {
                if !all.reductions.contains(r) {
                    all.reductions.push(r.clone());
                }
            }
            let lists = [
                (&mut all.private, &p.private),
                (&mut all.first_private, &p.first_private),
                (&mut all.last_private, &p.last_private),
            ];
            for (target, source) in lists {
                target.extend(
                    source.iter().filter(|v| !target.contains(v)).copied().collect::<Vec<_>>(),
                );
            }
        }
        all
    }

    /// Marked loops that no marked loop surrounds, in source order.
    pub fn marked_roots(&self) -> Vec<LoopId> {
        fn search(block: &Block, found: &mut Vec<LoopId>) {
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::For(l) if is_marked(l) => found.push(l.id),
                    _ => walk::blocks(stmt).into_iter().for_each(|b| search(b, found)),
                }
            }
        }
        let mut found = vec![];
        search(&self.func().body, &mut found);
        found
    }

    /// Those in whose nests nothing is bound yet: of four loops of which the inner three are, the outer one stays marked.
    pub fn open_roots(&self) -> Vec<LoopId> {
        let bound = |l: &ForLoop| matches!(l.kind, LoopKind::Bound(_));
        let mut roots = self.marked_roots();
        roots.retain(|id| {
            let body = self.find_loop(*id).map(|l| &l.body);
            !self.nests.contains_key(id)
                && body.is_none_or(|b| {
                    walk::for_loops(b).iter().all(|l| !bound(l) && !self.nests.contains_key(&l.id))
                })
        });
        roots
    }

    /// A place as C text.
    pub fn show_place(&self, place: &Place) -> String {
        crate::show::place(&self.module, self.func(), place)
    }
}

/// Whether the user marked the loop as parallel.
pub fn is_marked(l: &ForLoop) -> bool {
    matches!(l.kind, LoopKind::Parallel(_))
}

/// The loop that a block consists of, scopes around it aside.
pub fn only_loop(block: &Block) -> Option<&ForLoop> {
    match block.stmts.as_slice() {
        [only] => match &only.kind {
            StmtKind::For(l) => Some(l),
            StmtKind::Scope(inner) => only_loop(inner),
            _ => None,
        },
        _ => None,
    }
}

/// What the verifier says about a module.
pub fn malformed(module: &Module) -> Vec<String> {
    match warpsmith_ir::verify::verify(module) {
        Ok(()) => vec![],
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    }
}
