//! What a program's kernels do, counted from their text: the input of the device model.
//!
//! One block in the middle of the grid is walked through once: integer values are computed for each of its threads,
//! loops are entered once and weigh as often as they run, conditions that depend on data weigh half. From the
//! addresses of each access follow sectors, bank conflicts and footprints, from the loops that an address depends on how
//! often the compiled code makes it: the compiler keeps what does not change.

mod address;
mod footprint;
pub mod overflow;
mod run;
mod values;
pub mod views;
mod walk;

use warpsmith_device::{
    GlobalTraffic, KernelProfile, Parallelism, SharedTraffic, TrafficKind, Work,
};
use warpsmith_ir::{
    Axis, BinaryOp, Builtin, Expr, ExprKind, FuncId, Function, Launch, Module, Scalar, Stmt,
    StmtKind, Type, Value, VarId, VarKind, layout::layout_of,
};
use warpsmith_opt::walk as tree;

use super::sizes::Point;
use values::{Extents, Thread, Vars};
use walk::{Site, Walk};

/// Words that a thread has loaded and not yet used, at most.
const IN_FLIGHT: f64 = 14.0;

/// Of the values that several iterations side by side want, the share that the compiler keeps in registers. Fitted:
/// convolutions of 11 x 11 with everything unrolled.
const HELD: f64 = 0.5;

/// Unrolled code with more instructions than this does not stay in the instruction cache, and the compiler keeps
/// values of distant statements in registers that it does not have.
const MOST_STRAIGHT: f64 = 4096.0;

/// A launch with how often it happens.
pub struct Launched {
    pub times: f64,
    pub kernel: FuncId,
    pub profile: KernelProfile,
    /// How often a thread may run through code that spills: iterations of its longest outermost loop.
    pub rounds: f64,
}

/// The profiles of all launches at a size. Launches whose extents depend on data are left out.
pub fn profiles(module: &Module, launcher: FuncId, sizes: &Point) -> Vec<Launched> {
    let host = module.function(launcher);
    let mut thread = Thread::<Value>::default();
    for p in &host.params {
        let var = host.var(*p);
        if let (Some(ty), Some(size)) = (var.ty.scalar(), sizes.get(&var.name)) {
            let value =
                if ty.is_float() { Value::float(ty, *size as f64) } else { Value::int(ty, *size) };
            thread.vars.set(*p, Some(value));
        }
    }
    let mut found = vec![];
    host_block(module, &host.body.stmts, &mut thread, 1.0, &mut found);
    found
}

const HOST: Extents = Extents { grid: [1; 3], block: [1; 3] };

fn host_block(
    module: &Module,
    stmts: &[Stmt],
    thread: &mut Thread<Value>,
    times: f64,
    found: &mut Vec<Launched>,
) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Decl { var, init: Some(e) } => set(module, thread, *var, e),
            StmtKind::Assign { place, value } => {
                if let Some(v) = place.root_var() {
                    set(module, thread, v, value);
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                let holds = thread.eval(module, HOST, cond).is_none_or(|c| c.is_true());
                let taken = if holds { then } else { otherwise };
                host_block(module, &taken.stmts, thread, times, found);
            }
            StmtKind::For(l) => {
                let trips = walk::trips(module, HOST, thread, l).unwrap_or(1.0);
                set(module, thread, l.var, &l.first);
                host_block(module, &l.body.stmts, thread, times * trips, found);
            }
            StmtKind::Scope(b) => host_block(module, &b.stmts, thread, times, found),
            StmtKind::Launch(l) => {
                let profile = launch(module, thread, l);
                found.extend(profile.map(|(profile, rounds)| Launched {
                    times,
                    kernel: l.kernel,
                    profile,
                    rounds,
                }));
            }
            _ => {}
        }
    }
}

fn set(module: &Module, thread: &mut Thread<Value>, var: VarId, value: &Expr) {
    thread.vars.set(var, thread.eval(module, HOST, value));
}

fn launch(module: &Module, host: &Thread<Value>, l: &Launch) -> Option<(KernelProfile, f64)> {
    let extent = |e: &Expr| {
        let value = host.eval(module, HOST, e)?.as_i64();
        u32::try_from(value).ok().filter(|v| *v > 0)
    };
    let all = |e: &[Expr; 3]| Some([extent(&e[0])?, extent(&e[1])?, extent(&e[2])?]);
    let at = Extents { grid: all(&l.grid)?, block: all(&l.block)? };
    let kernel = module.function(l.kernel);
    let mut args = Vars::default();
    for (param, arg) in kernel.params.iter().zip(&l.args) {
        args.set(*param, host.eval(module, HOST, arg));
    }
    let shared = host.eval(module, HOST, &l.shared)?.as_i64();
    let (mut profile, rounds) = profile(module, kernel, at, &args);
    profile.shared_dynamic = u32::try_from(shared).unwrap_or(u32::MAX);
    Some((profile, rounds))
}

fn profile(
    module: &Module,
    kernel: &Function,
    at: Extents,
    args: &Vars<Value>,
) -> (KernelProfile, f64) {
    let threads = at.block.iter().product::<u32>();
    let middle = at.grid.map(|g| g / 2);
    let whole = Walk::run(module, kernel, at, args, middle, threads);
    let (logical, group) = logical_grid(module, kernel, at, args);
    let neighbours: Vec<Vec<Site>> = neighbours(at, middle, logical, group)
        .into_iter()
        .map(|block| Walk::run(module, kernel, at, args, block, threads.min(32)).sites)
        .collect();
    let own = Walk::run(module, kernel, at, args, middle, threads.min(32)).sites;
    let blocks = logical.iter().map(|g| *g as f64).product::<f64>();
    let mut shared = SharedTraffic::default();
    let last = at.grid.map(|g| g.saturating_sub(1));
    let ends: Vec<Vec<Site>> = [[0; 3], last]
        .into_iter()
        .map(|block| Walk::run(module, kernel, at, args, block, threads.min(32)).sites)
        .collect();
    let mut arrays: Vec<(Site, [bool; 3], Option<(i64, i64)>)> = vec![];
    for (k, site) in whole.sites.iter().enumerate() {
        match site.shared {
            true => {
                let requests = site.requests * blocks;
                if site.store {
                    shared.stores += requests
                } else {
                    shared.loads += requests
                }
                shared.wavefronts += site.wavefronts * blocks;
            }
            false => {
                let moved = |axis: usize| {
                    let there = neighbours.get(axis).and_then(|n| n.get(k));
                    there.zip(own.get(k)).is_none_or(|(a, b)| a.first != b.first)
                };
                let moved = [0, 1, 2].map(moved);
                let range = ends.iter().map(|sites| sites.get(k).and_then(|s| s.hull));
                let range = range.reduce(|a, b| Some(spanned(a?, b?))).flatten();
                let same = arrays.iter_mut().find(|(other, ..)| together(other, site));
                match same {
                    Some((other, varies, whole)) => {
                        other.requests += site.requests;
                        other.sectors += site.sectors;
                        other.wavefronts += site.wavefronts;
                        other.first.extend(&site.first);
                        *varies = [0, 1, 2].map(|axis| varies[axis] || moved[axis]);
                        *whole = whole.zip(range).map(|(a, b)| spanned(a, b));
                    }
                    None => arrays.push((site.clone(), moved, range)),
                }
            }
        }
    }
    let global = arrays.iter().map(|(site, varies, range)| traffic(site, logical, *varies, *range));
    let global = global.collect();
    let work = scaled(&whole.work, blocks);
    let registers = match whole.straight > MOST_STRAIGHT {
        // More than a thread can have: the model counts on spilling.
        true => 256 + (whole.straight / 32.0).min(1e4) as u32,
        false => registers(module, kernel, &whole),
    };
    let shared_static = shared_bytes(module, kernel);
    let profile = KernelProfile {
        grid: logical,
        block_threads: threads,
        registers,
        shared_static,
        work,
        shared,
        global,
        parallelism: Parallelism {
            arithmetic: whole.chains.max(1.0),
            global_loads: whole.loads_together.clamp(1.0, IN_FLIGHT),
            shared_loads: whole.shared_together.max(1.0),
        },
        ..KernelProfile::default()
    };
    (profile, whole.rounds)
}

/// Reads of one array that move along with each other, like those of a stencil: what one has brought, another finds.
fn together(a: &Site, b: &Site) -> bool {
    a.base == b.base && a.store == b.store && a.shifts == b.shifts
}

fn spanned(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// `range` is what the whole grid touches, if it is known: blocks that overlap touch no more together.
fn traffic(
    site: &Site,
    grid: [u64; 3],
    varies: [bool; 3],
    range: Option<(i64, i64)>,
) -> GlobalTraffic {
    let blocks = grid.iter().map(|g| *g as f64).product::<f64>();
    let grown = footprint::grow(&site.first, &site.shifts);
    let block_bytes = grown.sectors * footprint::SECTOR as f64;
    let apart = grid.iter().zip(varies).map(|(g, v)| if v { *g as f64 } else { 1.0 });
    let most = range.map_or(f64::INFINITY, |(low, high)| (high - low) as f64 + block_bytes);
    GlobalTraffic {
        kind: if site.store { TrafficKind::Store } else { TrafficKind::Load },
        requests: site.requests * blocks,
        sectors: site.sectors * blocks,
        wavefronts: site.wavefronts * blocks,
        block_bytes,
        reuse_bytes: grown.reuse * footprint::SECTOR as f64,
        grid_bytes: (block_bytes * apart.product::<f64>()).min(most),
        varies,
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

pub(crate) fn shared_bytes(module: &Module, kernel: &Function) -> u32 {
    let vars = kernel.vars.iter().filter(|v| v.kind == VarKind::Shared);
    let bytes: u64 = vars.map(|v| layout_of(module, &v.ty).size.next_multiple_of(16)).sum();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// An estimate of a thread's registers: addresses and counters, arrays that stay in registers, and what was loaded for
/// several uses.
fn registers(module: &Module, kernel: &Function, walk: &Walk<'_>) -> u32 {
    let words = |ty: &Type| layout_of(module, ty).size.div_ceil(4);
    let arrays: u64 = kernel
        .vars
        .iter()
        .filter(|v| v.kind == VarKind::Local && matches!(v.ty, Type::Array(..)))
        .map(|v| words(&v.ty))
        .sum();
    let wide = kernel.vars.iter().any(|v| v.ty.innermost().scalar() == Some(Scalar::F64));
    // The compiler does not keep more in flight than it takes to hide a wait.
    let together = walk.shared_together.max(walk.loads_together).min(IN_FLIGHT);
    // Copies of what was read are arrays where there are some.
    let together = (together - arrays as f64 / 4.0).max(0.0);
    let loaded = together * if wide { 2.0 } else { 1.0 };
    let held = HELD * walk.held * if wide { 2.0 } else { 1.0 };
    let estimate = 18 + arrays + (loaded + held) as u64;
    u32::try_from(estimate.next_multiple_of(8)).unwrap_or(u32::MAX)
}
