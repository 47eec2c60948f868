//! Blocks that leave a kernel at once, as those outside a triangle: the others are all that counts.

use std::collections::BTreeSet;

use warpsmith_ir::{Builtin, Expr, ExprKind, Function, Module, Stmt, StmtKind, Value, VarId};
use warpsmith_opt::walk as tree;

use super::values::{Extents, Thread, Vars};

/// Blocks that are asked, at most.
const ASKED: u64 = 256;

const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Of the blocks of a launch, the share that does not leave at once, and one of them near the middle.
pub struct Staying {
    pub share: f64,
    pub block: [u32; 3],
}

impl Staying {
    /// Looks at the conditions at the start of a kernel under which whole blocks leave.
    pub fn of(module: &Module, kernel: &Function, at: Extents, args: &Vars<Value>) -> Staying {
        let middle = at.grid.map(|g| g / 2);
        let all = Staying { share: 1.0, block: middle };
        let Some(start) = start_of(kernel) else { return all };
        let leaves = |block: [u32; 3]| {
            let mut thread = Thread { block, vars: args.clone(), ..Thread::default() };
            start.iter().any(|stmt| match &stmt.kind {
                StmtKind::Decl { var, init: Some(e) } => {
                    super::set_at(module, at, &mut thread, *var, e);
                    false
                }
                StmtKind::If { cond, .. } => {
                    thread.eval(module, at, cond).is_some_and(|c| c.is_true())
                }
                _ => false,
            })
        };
        let total: u64 = at.grid.iter().map(|g| u64::from(*g)).product();
        let count = total.min(ASKED);
        // By the golden ratio: an even stride would meet one column of blocks only.
        let spread = |k: u64| match count == total {
            true => k,
            false => (total as f64 * (k as f64 * GOLDEN).fract()) as u64,
        };
        let staying: Vec<u64> =
            (0..count).map(spread).filter(|flat| !leaves(coordinates(*flat, at.grid))).collect();
        let from_middle = |flat: &&u64| flat.abs_diff(total / 2);
        let Some(nearest) = staying.iter().min_by_key(from_middle) else { return all };
        let block = if leaves(middle) { coordinates(*nearest, at.grid) } else { middle };
        Staying { share: staying.len() as f64 / count as f64, block }
    }

    /// The grid with as many blocks as stay: shorter along the axis along which it is longest, x aside where it can be.
    pub fn shorten(&self, mut grid: [u64; 3]) -> [u64; 3] {
        let longest = (1..3).rev().max_by_key(|k| grid[*k]).filter(|k| grid[*k] > 1).unwrap_or(0);
        grid[longest] = ((grid[longest] as f64 * self.share).ceil() as u64).max(1);
        grid
    }
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
                match then.stmts.as_slice() {
                    [Stmt { kind: StmtKind::Return(None), .. }] => end = Some(k),
                    _ => break,
                }
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
