//! What a program's kernels do, counted from their text: the input of the device model.
//!
//! One block in the middle of the grid, that does not leave at once, is walked through once: integer values are computed for each of its threads,
//! loops are entered once and weigh as often as they run, conditions that depend on data weigh half. From the
//! addresses of each access follow sectors, bank conflicts and footprints, from the loops that an address depends on how
//! often the compiled code makes it: the compiler keeps what does not change.

mod address;
mod ahead;
mod arrays;
mod calls;
mod executed;
mod footprint;
mod known;
mod lanes;
mod leaving;
pub(in crate::tune) mod overflow;
mod own_arrays;
mod pointers;
mod resident;
mod rows;
mod run;
mod together;
mod values;
pub mod views;
mod walk;
pub mod writers;

use std::cell::RefCell;
use std::collections::BTreeMap;

use warpsmith_device::{KernelProfile, Parallelism, SharedTraffic, Work};
use warpsmith_ir::{
    Axis, BinaryOp, Builtin, Expr, ExprKind, FuncId, Function, Launch, Module, Scalar, Stmt,
    StmtKind, Value, VarId, VarKind, layout::layout_of,
};
use warpsmith_opt::analysis::access::{Base, base_of_pointer};
use warpsmith_opt::walk as tree;

use super::sizes::{Point, field_name};
use arrays::{Elsewhere, arrays};
pub use executed::{executed, executed_with};
use known::Counted;
pub(in crate::tune) use known::Known;
use leaving::Staying;
use values::{Extents, Thread, Vars};
use walk::Walk;

/// Words that a thread has loaded and not yet used, at most.
const IN_FLIGHT: f64 = 14.0;

/// Of the values that several iterations side by side want, the share that the compiler keeps in registers. Fitted:
/// convolutions of 11 x 11 with everything unrolled.
const HELD: f64 = 0.5;

/// Unrolled code with more instructions than this does not stay in the instruction cache, and the compiler keeps
/// values of distant statements in registers that it does not have.
const MOST_STRAIGHT: f64 = 4096.0;

/// How often a loop of the launcher runs whose end depends on data: only what stands beside it is weighed by this.
const ITERATIONS: f64 = 10.0;

/// A launch with how often it happens.
pub(in crate::tune) struct Launched {
    pub times: f64,
    pub kernel: FuncId,
    pub profile: KernelProfile,
    /// How often a thread may run through code that spills: iterations of its longest outermost loop.
    pub rounds: f64,
}

/// The profiles of all launches at a size. Launches whose extents depend on data are left out.
pub(in crate::tune) fn profiles(module: &Module, launcher: FuncId, sizes: &Point) -> Vec<Launched> {
    profiles_beside(module, launcher, sizes, &Known::default())
}

/// The same, with nothing counted anew that is known already.
pub(in crate::tune) fn profiles_beside(
    module: &Module,
    launcher: FuncId,
    sizes: &Point,
    known: &Known,
) -> Vec<Launched> {
    let known = Some(known).filter(|k| k.applies(module));
    let profiled = |kernel: &Function, at, args: &Vars<Value>| {
        let found = known.and_then(|k| k.find(&Counted::of(module, kernel, at, args)));
        found.unwrap_or_else(|| profile(module, kernel, at, args))
    };
    Host::new(module, launcher, &profiled).run(sizes)
}

/// What is to be known of all launches of a program at some sizes.
pub(in crate::tune) fn known(module: &Module, launcher: FuncId, sizes: &[Point]) -> Known {
    let launches = RefCell::new(Known::beside(module));
    let profiled = |kernel: &Function, at, args: &Vars<Value>| {
        let walked = profile(module, kernel, at, args);
        let launch = Counted::of(module, kernel, at, args);
        launches.borrow_mut().add(launch, walked.clone());
        walked
    };
    for point in sizes {
        Host::new(module, launcher, &profiled).run(point);
    }
    launches.into_inner()
}

const HOST: Extents = Extents { grid: [1; 3], block: [1; 3] };

/// An address of any array: the runtime gives out multiples of it.
const ALIGNMENT: i64 = 256;

/// Of a kernel with its extents and arguments, pointers as numbers of elements.
type Profiler<'a> = &'a dyn Fn(&Function, Extents, &Vars<Value>) -> Walked;

/// What a walk through a kernel found.
#[derive(Clone, Debug, PartialEq)]
struct Walked {
    profile: KernelProfile,
    /// How often a thread may run through code that spills: iterations of its longest outermost loop.
    rounds: f64,
    /// Whether data decide how often something runs, so that the walk guessed.
    depends_on_data: bool,
}

/// A launcher that is gone through.
struct Host<'a> {
    module: &'a Module,
    launcher: &'a Function,
    profile: Profiler<'a>,
    found: Vec<Launched>,
    /// Variables with a size that comes in a structure.
    fields: BTreeMap<VarId, Value>,
}

impl<'a> Host<'a> {
    fn new(module: &'a Module, launcher: FuncId, profile: Profiler<'a>) -> Host<'a> {
        let launcher = module.function(launcher);
        Host { module, launcher, profile, found: vec![], fields: BTreeMap::new() }
    }

    fn run(mut self, sizes: &Point) -> Vec<Launched> {
        let host = self.launcher;
        let mut thread = Thread::<Value>::default();
        for p in &host.params {
            let var = host.var(*p);
            if var.ty.is_pointer() {
                thread.vars.set(*p, Some(Value::int(Scalar::U64, ALIGNMENT)));
            }
            if let (Some(ty), Some(size)) = (var.ty.scalar(), sizes.get(&var.name)) {
                let value = match ty.is_float() {
                    true => Value::float(ty, *size as f64),
                    false => Value::int(ty, *size),
                };
                thread.vars.set(*p, Some(value));
            }
        }
        for s in &host.body.stmts {
            // Sizes in structures.
            if let StmtKind::Decl { var, init: Some(e) } = &s.kind
                && let ExprKind::Read(place) = &*e.kind
                && let Some(size) = field_name(self.module, host, place).and_then(|n| sizes.get(&n))
                && let Some(ty) = e.ty.scalar().filter(|s| s.is_integer())
            {
                self.fields.insert(*var, Value::int(ty, *size));
            }
        }
        self.block(&host.body.stmts, &mut thread, 1.0);
        self.found
    }

    fn block(&mut self, stmts: &[Stmt], thread: &mut Thread<Value>, times: f64) {
        let module = self.module;
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Decl { var, .. } if self.fields.contains_key(var) => {
                    thread.vars.set(*var, self.fields.get(var).copied());
                }
                StmtKind::Decl { var, init: Some(e) } => set(module, thread, *var, e),
                StmtKind::Assign { place, value } => {
                    if let Some(v) = place.root_var() {
                        set(module, thread, v, value);
                    }
                }
                StmtKind::If { cond, then, otherwise } => {
                    let holds = thread.eval(module, HOST, cond).is_none_or(|c| c.is_true());
                    let taken = if holds { then } else { otherwise };
                    self.block(&taken.stmts, thread, times);
                }
                StmtKind::For(l) => {
                    let trips = walk::trips(module, HOST, thread, l).unwrap_or(1.0);
                    set(module, thread, l.var, &l.first);
                    self.block(&l.body.stmts, thread, times * trips);
                }
                StmtKind::Loop { condition, body, step, .. } => {
                    let before = condition.iter().flat_map(|c| &c.before.stmts);
                    let all: Vec<Stmt> =
                        body.stmts.iter().chain(&step.stmts).chain(before).cloned().collect();
                    self.block(&all, thread, times * ITERATIONS);
                }
                StmtKind::Scope(b) => self.block(&b.stmts, thread, times),
                StmtKind::Launch(l) => {
                    let walked = self.launch(thread, l);
                    self.found.extend(walked.map(|w| Launched {
                        times,
                        kernel: l.kernel,
                        profile: w.profile,
                        rounds: w.rounds,
                    }));
                }
                _ => {}
            }
        }
    }

    fn launch(&self, host: &Thread<Value>, l: &Launch) -> Option<Walked> {
        let extent = |e: &Expr| {
            let value = host.eval(self.module, HOST, e)?.as_i64();
            u32::try_from(value).ok().filter(|v| *v > 0)
        };
        let all = |e: &[Expr; 3]| Some([extent(&e[0])?, extent(&e[1])?, extent(&e[2])?]);
        let at = Extents { grid: all(&l.grid)?, block: all(&l.block)? };
        let kernel = self.module.function(l.kernel);
        let mut args = Vars::default();
        for (param, arg) in kernel.params.iter().zip(&l.args) {
            let value = match arg.ty.is_pointer() {
                true => self.elements(host, arg),
                false => host.eval(self.module, HOST, arg),
            };
            args.set(*param, value);
        }
        let shared = host.eval(self.module, HOST, &l.shared)?.as_i64();
        let mut walked = (self.profile)(kernel, at, &args);
        walked.profile.shared_dynamic = u32::try_from(shared).unwrap_or(u32::MAX);
        Some(walked)
    }

    /// How many elements an array of the launcher's has, where its extents are known.
    fn elements(&self, host: &Thread<Value>, arg: &Expr) -> Option<Value> {
        let Base::Var(array) = base_of_pointer(arg) else { return None };
        let extents = self.launcher.var(array).shape.as_ref()?;
        let extent = |e: &Expr| Some(host.eval(self.module, HOST, e)?.as_i64());
        let all = extents.iter().try_fold(1i64, |all, e| all.checked_mul(extent(e)?))?;
        Some(Value::int(Scalar::I64, all))
    }
}

fn set(module: &Module, thread: &mut Thread<Value>, var: VarId, value: &Expr) {
    set_at(module, HOST, thread, var, value);
}

fn set_at(module: &Module, at: Extents, thread: &mut Thread<Value>, var: VarId, value: &Expr) {
    thread.vars.set(var, thread.eval(module, at, value));
}

/// Counts one launch. Arguments that are pointers hold how many elements they point to, where that is known.
fn profile(module: &Module, kernel: &Function, at: Extents, args: &Vars<Value>) -> Walked {
    let (rows, args) = rows::lengths_for_pointers(module, kernel, at, args);
    let args = &args;
    let each = resident::a_block_each(module, kernel, at, args);
    let (kernel, at, resident) = match &each {
        Some(each) => (&each.kernel, each.at, Some(each.blocks)),
        None => (kernel, at, None),
    };
    let threads = at.block.iter().product::<u32>();
    let staying = Staying::of(module, kernel, at, args);
    let (numbered, group) = logical_grid(module, kernel, at, args);
    let few = |block| Walk::run(module, kernel, at, args, &rows, block, threads.min(32));
    let ends = [few([0; 3]), few(at.grid.map(|g| g.saturating_sub(1)))];
    let in_middle = few(staying.block);
    let ends_do = ends.each_ref().map(Walk::effort);
    let of = |block| few(block).effort();
    let staying = staying.among_uneven(at, in_middle.effort(), ends_do, of);
    let middle = staying.block;
    let own = if staying.moved { few(middle) } else { in_middle };
    let whole = Walk::run(module, kernel, at, args, &rows, middle, threads);
    let logical = staying.shorten(numbered);
    let longest_block = ends.iter().map(|end| end.rounds / own.rounds).fold(1.0, f64::max);
    let elsewhere = Elsewhere {
        own: own.sites,
        neighbours: neighbours(at, middle, numbered, group).map(|block| few(block).sites).into(),
        ends: ends.map(|end| end.sites),
    };
    let blocks = logical.iter().map(|g| *g as f64).product::<f64>();
    let mut shared = SharedTraffic::default();
    for site in whole.sites.iter().filter(|s| s.shared) {
        let requests = site.requests * blocks;
        *if site.store { &mut shared.stores } else { &mut shared.loads } += requests;
        shared.wavefronts += site.wavefronts * blocks;
    }
    let arrays = arrays(&whole.sites, &elsewhere, &rows::bytes(module, kernel, &rows.elements));
    let global = arrays.iter().map(|a| a.traffic(logical, &arrays)).collect();
    let work = scaled(&whole.work, blocks);
    let registers = match whole.straight > MOST_STRAIGHT {
        // More than a thread can have: the model counts on spilling.
        true => 256 + (whole.straight / 32.0).min(1e4) as u32,
        false => registers(module, kernel, &whole),
    };
    let shared_static = shared_bytes(module, kernel);
    let profile = KernelProfile {
        grid: logical,
        resident,
        block_threads: threads,
        registers,
        shared_static,
        work,
        shared,
        global,
        parallelism: Parallelism { longest_block, ..parallelism(&whole) },
        // Of an estimate each register too many is stored and loaded whenever what it holds is set.
        spill_executions: whole.updates,
        ..KernelProfile::default()
    };
    Walked { profile, rounds: whole.rounds, depends_on_data: whole.depends_on_data }
}

fn parallelism(whole: &Walk<'_>) -> Parallelism {
    Parallelism {
        arithmetic: whole.chains.max(1.0),
        global_loads: whole.together.mean(IN_FLIGHT),
        shared_loads: whole.shared_together.max(1.0),
        copies_ahead: whole.ahead.mean(),
        busy_warps: match whole.spread {
            [_, 0.0] => 1.0,
            [loads, most] => loads / most,
        },
        ..Parallelism::default()
    }
}

fn scaled(w: &Work, n: f64) -> Work {
    Work {
        fp32: w.fp32 * n,
        fp64: w.fp64 * n,
        fp16: w.fp16 * n,
        int: w.int * n,
        sfu: w.sfu * n,
        control: w.control * n,
        shuffles: w.shuffles * n,
        barriers: w.barriers * n,
        waits: w.waits * n,
        constants: w.constants * n,
    }
}

/// The grid as blocks along x, y, z, also where the kernel numbers them along x only: `blockIdx.x % columns`; and the
/// rows of blocks that are numbered together, `blockIdx.x % (GROUP * columns)`.
fn logical_grid(
    module: &Module,
    kernel: &Function,
    at: Extents,
    args: &Vars<Value>,
) -> ([u64; 3], u64) {
    let mut thread = Thread { vars: args.clone(), ..Thread::default() };
    let mut columns = vec![];
    let mut group = 1;
    for stmt in &kernel.body.stmts {
        let StmtKind::Decl { var, init: Some(e) } = &stmt.kind else { continue };
        if let ExprKind::Binary(BinaryOp::Rem, a, b) = &*e.kind {
            let mut numbers = false;
            tree::each_expr(a, &mut |e| {
                numbers |= matches!(&*e.kind, ExprKind::Builtin(Builtin::BlockIdx(Axis::X)));
            });
            let value = |e: &Expr| {
                let value = thread.eval(module, at, e)?.as_i64();
                u64::try_from(value).ok()
            };
            let (rows, b) = match &*b.kind {
                ExprKind::Binary(BinaryOp::Mul, rows, columns) if columns_of_group(rows) => {
                    (value(rows), columns)
                }
                _ => (None, b),
            };
            group = rows.unwrap_or(group).max(1);
            if let (true, Some(n)) = (numbers, value(b)) {
                columns.push(n.max(1));
            }
        }
        thread.vars.set(*var, thread.eval(module, at, e));
    }
    let grid = at.grid.map(u64::from);
    let logical = match columns.as_slice() {
        [] => grid,
        [x] => [*x, grid[0].div_ceil(*x), 1],
        [x, y, ..] => [*x, *y, grid[0].div_ceil(x * y)],
    };
    (logical, group.min(logical[1]))
}

/// A factor that is a named constant is how many rows of blocks are numbered together.
fn columns_of_group(rows: &Expr) -> bool {
    match &*rows.kind {
        ExprKind::Named(_) => true,
        ExprKind::Cast(inner) => columns_of_group(inner),
        _ => false,
    }
}

/// The next block along each axis.
fn neighbours(at: Extents, middle: [u32; 3], logical: [u64; 3], group: u64) -> [[u32; 3]; 3] {
    let flat = at.grid[1] == 1 && at.grid[2] == 1 && logical[1] * logical[2] > 1;
    let stride = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    match flat {
        true if group > 1 => [group, 1, logical[0] * logical[1]]
            .map(|step| [middle[0].wrapping_add(stride(step)) % at.grid[0].max(1), 0, 0]),
        true => [1, logical[0], logical[0] * logical[1]]
            .map(|step| [middle[0].wrapping_add(stride(step)) % at.grid[0].max(1), 0, 0]),
        false => [0, 1, 2].map(|axis| {
            let mut block = middle;
            block[axis] = (block[axis] + 1) % at.grid[axis].max(1);
            block
        }),
    }
}

/// Bytes of static shared memory of a block of `kernel`, every variable rounded up to 16 bytes.
pub fn shared_bytes(module: &Module, kernel: &Function) -> u32 {
    let vars = kernel.vars.iter().filter(|v| v.kind == VarKind::Shared);
    let bytes: u64 = vars.map(|v| layout_of(module, &v.ty).size.next_multiple_of(16)).sum();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// An estimate of a thread's registers: addresses and counters, arrays that stay in registers, and what was loaded for
/// several uses.
fn registers(module: &Module, kernel: &Function, walk: &Walk<'_>) -> u32 {
    let arrays = own_arrays::words(module, kernel);
    let wide = kernel.vars.iter().any(|v| v.ty.innermost().scalar() == Some(Scalar::F64));
    // The compiler does not keep more in flight than it takes to hide a wait.
    let together = walk.shared_together.max(walk.together.all()).min(IN_FLIGHT);
    // Copies of what was read are arrays where there are some.
    let together = (together - arrays as f64 / 4.0).max(0.0);
    let loaded = together * if wide { 2.0 } else { 1.0 };
    let held = HELD * walk.held * if wide { 2.0 } else { 1.0 };
    let estimate = 18 + arrays + (loaded + held + walk.kept_pointers()) as u64;
    u32::try_from(estimate.next_multiple_of(8)).unwrap_or(u32::MAX)
}
