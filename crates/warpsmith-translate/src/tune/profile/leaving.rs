//! Blocks that do nothing or little, as those outside and at the edge of a triangle: what counts is how many whole ones there would be.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    Block, Builtin, Expr, ExprKind, ForLoop, Function, Module, PlaceKind, Stmt, StmtKind, Value,
    VarId,
};
use warpsmith_opt::walk as tree;

use super::values::{Extents, Thread, Vars};
use super::walk;

/// Blocks that are asked, at most.
const ASKED: u64 = 256;

const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Threads of each that are.
const THREADS: u32 = 8;

/// Blocks whose work is compared where it differs.
const COMPARED: u64 = 24;

/// A block whose work differs from the mean by less is like all others.
const LIKE_OTHERS: f64 = 0.4;

/// The share of another block's work that is next to nothing.
const LITTLE: f64 = 0.1;

/// Of the blocks of a launch, the share that does not leave at once, and one of them near the middle. Where conditions leave
/// threads idle by block, blocks count by their busy threads, and the one is among the busiest.
pub struct Staying {
    pub share: f64,
    pub block: [u32; 3],
    /// The block is not the one that was found first: it has less or more to do than most.
    pub moved: bool,
    /// Where blocks count by their busy threads, some of those that have most.
    busiest: Vec<[u32; 3]>,
}

impl Staying {
    /// Looks at the conditions at the start of a kernel under which whole blocks leave, or those around all that its threads do.
    pub fn of(module: &Module, kernel: &Function, at: Extents, args: &Vars<Value>) -> Staying {
        let middle = at.grid.map(|g| g / 2);
        let new = |block, thread| Thread::new(block, thread, args.clone());
        let busy: Box<dyn Fn([u32; 3]) -> u32> = if let Some(start) = start_of(kernel) {
            Box::new(move |block| u32::from(!leaves(module, at, start, &mut new(block, [0; 3]))))
        } else if depends_on_two_axes(&kernel.body, &mut BTreeMap::new()) {
            let threads = some_threads(at.block);
            Box::new(move |block| {
                let is_busy =
                    |t: &&[u32; 3]| comes_in(module, at, &kernel.body, &mut new(block, **t));
                threads.iter().filter(is_busy).count() as u32
            })
        } else {
            return Staying::like_all_others(middle);
        };
        let total: u64 = at.grid.iter().map(|g| u64::from(*g)).product();
        let count = total.min(ASKED);
        // By the golden ratio: an even stride would meet one column of blocks only.
        let spread = |k: u64| match count == total {
            true => k,
            false => (total as f64 * (k as f64 * GOLDEN).fract()) as u64,
        };
        let asked = |flat: u64| (coordinates(flat, at.grid), busy(coordinates(flat, at.grid)));
        let parts: Vec<([u32; 3], u32)> = (0..count).map(spread).map(asked).collect();
        let most = parts.iter().map(|(_, busy)| *busy).max().unwrap_or(0);
        let from_middle = |(block, _): &&([u32; 3], u32)| flat(*block, at.grid).abs_diff(total / 2);
        let busiest = parts.iter().filter(|(_, busy)| *busy == most && most > 0);
        let Some((nearest, _)) = busiest.clone().min_by_key(from_middle) else {
            return Staying::like_all_others(middle);
        };
        let all: u64 = parts.iter().map(|(_, busy)| u64::from(*busy)).sum();
        Staying {
            share: all as f64 / (count * u64::from(most)) as f64,
            block: if busy(middle) == most { middle } else { *nearest },
            moved: false,
            busiest: busiest.map(|(block, _)| *block).take(COMPARED as usize).collect(),
        }
    }

    /// Every block does what this one does.
    fn like_all_others(block: [u32; 3]) -> Staying {
        Staying { share: 1.0, block, moved: false, busiest: vec![] }
    }

    /// Where a block at an end or elsewhere has more to do than the one that was found, as where parts of sums lie outside of a triangle,
    /// or the middle of all images is the first row of one: another one for it, with at least the mean work of some blocks, and the share
    /// of blocks that would do as much. `of` says what a block computes.
    pub fn among_uneven(
        self,
        at: Extents,
        own: f64,
        ends: [f64; 2],
        of: impl Fn([u32; 3]) -> f64,
    ) -> Staying {
        let total: u64 = at.grid.iter().map(|g| u64::from(*g)).product();
        // Where blocks count by their busy threads already, only one that computes next to nothing is not like others.
        let most = if self.share < 1.0 { own / LITTLE } else { own * (1.0 + LIKE_OTHERS) };
        let elsewhere = || of(coordinates((total as f64 * GOLDEN) as u64, at.grid));
        if total < COMPARED || !(ends.into_iter().any(|e| e > most) || elsewhere() > most) {
            return self;
        }
        let spread = |k: u64| (total as f64 * ((k as f64 + 0.5) * GOLDEN).fract()) as u64;
        let blocks = match self.busiest.is_empty() {
            true => (0..COMPARED).map(|k| coordinates(spread(k), at.grid)).collect(),
            false => self.busiest.clone(),
        };
        let mut work: Vec<([u32; 3], f64)> = blocks.iter().map(|b| (*b, of(*b))).collect();
        let mean = work.iter().map(|(_, w)| w).sum::<f64>() / blocks.len() as f64;
        if mean <= 0.0 || (own / mean - 1.0).abs() < LIKE_OTHERS {
            return self;
        }
        work.retain(|(_, w)| *w >= mean);
        let nearest = work.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        match nearest {
            Some((block, w)) => {
                let share = if self.share < 1.0 { self.share } else { mean / w };
                Staying { share, block, moved: true, ..self }
            }
            None => self,
        }
    }

    /// The grid with as many blocks as stay: shorter along the axis along which it is longest, x aside where it can be.
    pub fn shorten(&self, mut grid: [u64; 3]) -> [u64; 3] {
        let longest = (1..3).rev().max_by_key(|k| grid[*k]).filter(|k| grid[*k] > 1).unwrap_or(0);
        grid[longest] = ((grid[longest] as f64 * self.share).ceil() as u64).max(1);
        grid
    }
}

/// Whether a block leaves at one of the conditions.
fn leaves(module: &Module, at: Extents, start: &[Stmt], thread: &mut Thread<Value>) -> bool {
    start.iter().any(|stmt| match &stmt.kind {
        StmtKind::Decl { var, init: Some(e) } => {
            super::set_at(module, at, thread, *var, e);
            false
        }
        StmtKind::If { cond, .. } => thread.eval(module, at, cond).is_some_and(|c| c.is_true()),
        _ => false,
    })
}

/// Whether a thread meets all conditions around what it does in the first or the last iteration of the loops on the way.
fn comes_in(module: &Module, at: Extents, body: &Block, thread: &mut Thread<Value>) -> bool {
    let holds = |thread: &Thread<Value>, e: &Expr| {
        thread.eval(module, at, e).is_none_or(|value| value.is_true())
    };
    for stmt in &body.stmts {
        match &stmt.kind {
            StmtKind::Decl { var, init: Some(e) } => super::set_at(module, at, thread, *var, e),
            StmtKind::If { cond, then, .. } if is_return(then) => {
                if thread.eval(module, at, cond).is_some_and(|value| value.is_true()) {
                    return false;
                }
            }
            // What follows a bound that is clamped stands under no condition.
            StmtKind::If { cond, then, otherwise } if sets_only(then) && sets_only(otherwise) => {
                let taken = if holds(thread, cond) { then } else { otherwise };
                for (var, value) in set_in(taken) {
                    super::set_at(module, at, thread, var, value);
                }
            }
            // Another iteration may come in.
            StmtKind::If { then, .. } if ends_iteration(then) => return true,
            StmtKind::If { cond, then, otherwise } if otherwise.stmts.is_empty() => {
                return holds(thread, cond) && comes_in(module, at, then, thread);
            }
            StmtKind::For(l) => {
                super::set_at(module, at, thread, l.var, &l.first);
                let last = last_iteration(module, at, thread, l);
                let mut later = thread.clone();
                return comes_in(module, at, &l.body, thread)
                    || last.is_some_and(|last| {
                        later.vars.set(l.var, Some(last));
                        comes_in(module, at, &l.body, &mut later)
                    });
            }
            StmtKind::Scope(inner) => return comes_in(module, at, inner, thread),
            _ => return true,
        }
    }
    true
}

/// The counter in the last iteration of a loop that is entered; `None` where there is one iteration, or nobody knows.
fn last_iteration(
    module: &Module,
    at: Extents,
    thread: &Thread<Value>,
    l: &ForLoop,
) -> Option<Value> {
    let trips = walk::trips(module, at, thread, l).filter(|trips| *trips > 1.0)?;
    let first = thread.vars.get(l.var)?;
    let step = thread.eval(module, at, &l.step)?.as_i64();
    let last = step.checked_mul(trips as i64 - 1)?.checked_add(first.as_i64())?;
    Some(Value::int(first.ty, last))
}

/// Whether a block does nothing but give values to variables.
fn sets_only(block: &Block) -> bool {
    set_in(block).count() == block.stmts.len()
}

fn set_in(block: &Block) -> impl Iterator<Item = (VarId, &Expr)> {
    block.stmts.iter().filter_map(|s| match &s.kind {
        StmtKind::Assign { place, value } => match &*place.kind {
            PlaceKind::Var(v) => Some((*v, value)),
            _ => None,
        },
        _ => None,
    })
}

fn is_return(block: &Block) -> bool {
    matches!(block.stmts.as_slice(), [Stmt { kind: StmtKind::Return(None), .. }])
}

fn ends_iteration(block: &Block) -> bool {
    matches!(block.stmts.as_slice(), [Stmt { kind: StmtKind::Continue | StmtKind::Break, .. }])
}

/// Whether a condition on the way of [`comes_in`] compares what moves with the blocks along two axes, as that of a triangle
/// does. `axes` holds the axes that variables move with, one bit each.
fn depends_on_two_axes(body: &Block, axes: &mut BTreeMap<VarId, u8>) -> bool {
    let of = |e: &Expr, axes: &BTreeMap<VarId, u8>| {
        let mut found = 0;
        tree::each_expr(e, &mut |e| {
            if let ExprKind::Builtin(Builtin::BlockIdx(axis) | Builtin::ThreadIdx(axis)) = &*e.kind
            {
                found |= 1 << axis.index();
            }
        });
        tree::each_var(e, &mut |v| found |= axes.get(&v).copied().unwrap_or(0));
        found
    };
    for stmt in &body.stmts {
        match &stmt.kind {
            StmtKind::Decl { var, init: Some(e) } => {
                let moves = of(e, axes);
                axes.insert(*var, moves);
            }
            StmtKind::If { cond, then, otherwise } if sets_only(then) && sets_only(otherwise) => {
                for (var, value) in set_in(then).chain(set_in(otherwise)) {
                    let moves = of(cond, axes) | of(value, axes);
                    *axes.entry(var).or_default() |= moves;
                }
            }
            StmtKind::If { cond, then, otherwise }
                if otherwise.stmts.is_empty() && !ends_iteration(then) =>
            {
                let two = |e: &&Expr| of(e, axes).count_ones() > 1 && !tree::reads_memory(e);
                if tree::conjuncts(cond).iter().any(two) {
                    return true;
                }
                if !is_return(then) {
                    return depends_on_two_axes(then, axes);
                }
            }
            StmtKind::For(l) => {
                let moves = of(&l.first, axes);
                axes.insert(l.var, moves);
                return depends_on_two_axes(&l.body, axes);
            }
            StmtKind::Scope(inner) => return depends_on_two_axes(inner, axes),
            StmtKind::Decl { .. } => {}
            _ => return false,
        }
    }
    false
}

/// Threads in all parts of a block.
fn some_threads(block: [u32; 3]) -> Vec<[u32; 3]> {
    let total = block.iter().product::<u32>().max(1);
    let count = total.min(THREADS);
    let spread = |k: u32| (total - 1) * k / (count - 1).max(1);
    let of = |flat: u32| coordinates(flat.into(), block);
    (0..count).map(spread).map(of).collect()
}

fn flat(block: [u32; 3], grid: [u32; 3]) -> u64 {
    let [x, y, z] = block.map(u64::from);
    x + u64::from(grid[0]) * (y + u64::from(grid[1]) * z)
}

fn coordinates(flat: u64, grid: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = grid.map(u64::from);
    [flat % x, flat / x % y, flat / (x * y)].map(|c| c as u32)
}

/// The statements up to the last condition under which a whole block leaves; `None` where there is none.
fn start_of(kernel: &Function) -> Option<&[Stmt]> {
    let mut own: BTreeSet<VarId> = BTreeSet::new();
    let mut end = None;
    for (k, stmt) in kernel.body.stmts.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                if init.as_ref().is_none_or(|e| depends_on_thread(e, &own)) {
                    own.insert(*var);
                }
            }
            StmtKind::If { cond, then, .. } if !depends_on_thread(cond, &own) => {
                if !is_return(then) {
                    break;
                }
                end = Some(k);
            }
            _ => break,
        }
    }
    end.map(|k| &kernel.body.stmts[..=k])
}

fn depends_on_thread(e: &Expr, own: &BTreeSet<VarId>) -> bool {
    let mut found = tree::reads_memory(e);
    tree::each_expr(e, &mut |e| {
        found |= matches!(&*e.kind, ExprKind::Builtin(Builtin::ThreadIdx(_)));
    });
    tree::each_var(e, &mut |v| found |= own.contains(&v));
    found
}
