//! The emitted text with lower limits on the number of blocks, or on sizes: what threads do in strides, and what the launcher does where
//! sizes are too large for the rest, then shows at small sizes.

use std::collections::BTreeSet;
use std::ops::Range;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, FuncId, FunctionKind, MathFn, Module, PlaceKind, StmtKind,
    VarId, visit,
};

/// No block count is limited to less than this: a smaller constant is something else.
pub const LEAST_LIMIT: i64 = 16;
/// Sizes from here on are too large to be run.
pub const LEAST_SIZE: i64 = 1 << 28;
/// A wave of one block leaves nothing over.
const SHORTEST_WAVE: i64 = 2;

/// The same program, but wherever its launcher takes no more blocks than some number, it takes no more than `most`.
/// `None`: it has no such limit.
///
/// A limit is a clamp whose value goes into the extents of a grid: `if (x > N) x = N;`, `x < N ? x : N`, `min(x, N)`. So is a
/// number of blocks that run together, by which the launcher alone divides what goes into them: `x % WAVE`.
pub fn with_fewer_blocks(module: &Module, launcher: FuncId, most: i64) -> Option<Module> {
    along(0..3, module, launcher, most)
}

/// The same program, but where its launcher asks whether something is no greater than a number, `least` or more, it asks whether it
/// is no greater than `most`. `None`: it asks for nothing like that. Questions after which it gives up stay as they are, and those about
/// numbers that the C function asks about itself.
pub fn with_lower_sizes(
    module: &Module,
    launcher: FuncId,
    (least, most): (i64, i64),
    asked_in_c: &[i64],
) -> Option<Module> {
    let mut lowered = module.clone();
    let mut found = false;
    let body = &mut lowered.functions.get_mut(launcher.0 as usize)?.body;
    visit::map_stmts(body, &mut |s| {
        let StmtKind::If { cond, otherwise, .. } = &mut s.kind else { return };
        if otherwise.stmts.is_empty() {
            return;
        }
        visit::map_subexprs(cond, &mut |e| {
            if let ExprKind::Binary(BinaryOp::Le | BinaryOp::Lt, _, limit) = &mut *e.kind
                && value(module, limit).is_some_and(|n| n >= least && !asked_in_c.contains(&n))
            {
                found |= lower(limit, most);
            }
        });
    });
    found.then_some(lowered)
}

/// Whether the launcher limits the number of blocks along x.
pub fn limits_along_x(module: &Module, launcher: FuncId) -> bool {
    along(0..1, module, launcher, 1).is_some()
}

/// The program with limits on the blocks along some axes.
fn along(axes: Range<usize>, module: &Module, launcher: FuncId, most: i64) -> Option<Module> {
    let mut lowered = module.clone();
    let host = module.function(launcher);
    let (body, limits) = (&host.body, constants(module));
    // A size that the function itself limits counts more than blocks.
    let mut used = grid_vars(body, axes.clone());
    used.retain(|v| !host.params.contains(v));
    let mut found = false;
    let mut new_body = body.clone();
    visit::map_stmts(&mut new_body, &mut |s| match &mut s.kind {
        StmtKind::If { cond, then, .. } => {
            let [only] = then.stmts.as_mut_slice() else { return };
            let StmtKind::Assign { place, value } = &mut only.kind else { return };
            let counts = place.root_var().is_some_and(|v| used.contains(&v));
            let ExprKind::Binary(BinaryOp::Gt, _, limit) = &mut *cond.kind else { return };
            if counts && same(limit, value) && limits(limit) {
                found |= lower(limit, most);
                lower(value, most);
            }
        }
        StmtKind::Decl { var, init: Some(e) } if used.contains(var) => {
            found |= lower_clamps(e, &limits, most);
        }
        StmtKind::Assign { place, value }
            if place.root_var().is_some_and(|v| used.contains(&v)) =>
        {
            found |= lower_clamps(value, &limits, most);
        }
        StmtKind::Launch(launch) => {
            for e in &mut launch.grid[axes.clone()] {
                found |= lower_clamps(e, &limits, most);
            }
        }
        _ => {}
    });
    lowered.functions.get_mut(launcher.0 as usize)?.body = new_body;
    let waves = waves(module, body, &used);
    let hosts = lowered.functions.iter_mut().filter(|f| f.kind == FunctionKind::Host);
    for f in hosts.filter(|_| !waves.is_empty()) {
        visit::map_exprs(&mut f.body, &mut |e| {
            if let ExprKind::Binary(BinaryOp::Rem, _, by) = &mut *e.kind
                && value(module, by).is_some_and(|n| waves.contains(&n))
            {
                found |= lower(by, most.max(SHORTEST_WAVE));
            }
        });
    }
    found.then_some(lowered)
}

/// Constants that no statement of a kernel mentions (a row of shared memory may be as long by chance) and that the launcher divides by, where the remainder goes into the extents of a grid. All
/// functions of the host divide by them alike, the one that says how much workspace is needed included.
fn waves(module: &Module, launcher: &Block, used: &BTreeSet<VarId>) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    visit::for_each_stmt(launcher, &mut |s| {
        let (to, from) = match &s.kind {
            StmtKind::Decl { var, init: Some(e) } => (Some(*var), e),
            StmtKind::Assign { place, value } => (place.root_var(), value),
            _ => return,
        };
        if !to.is_some_and(|v| used.contains(&v)) {
            return;
        }
        visit::for_each_subexpr(from, &mut |e| {
            if let ExprKind::Binary(BinaryOp::Rem, _, by) = &*e.kind {
                found.extend(value(module, by).filter(|n| *n >= LEAST_LIMIT));
            }
        });
    });
    for f in module.functions.iter().filter(|f| f.kind != FunctionKind::Host) {
        visit::for_each_expr(&f.body, &mut |e| {
            if let Some(n) = value(module, e) {
                found.remove(&n);
            }
        });
    }
    found
}

/// Whether an expression is a constant that limits blocks.
fn constants(module: &Module) -> impl Fn(&Expr) -> bool {
    move |e| value(module, e).is_some_and(|v| v >= LEAST_LIMIT)
}

fn value(module: &Module, e: &Expr) -> Option<i64> {
    match &*e.kind {
        ExprKind::Const(v) if v.ty.is_integer() => Some(v.as_i64()),
        ExprKind::Named(id) => module.constants.get(id.0 as usize).map(|c| c.value.as_i64()),
        ExprKind::Cast(inner) => value(module, inner),
        _ => None,
    }
}

/// The same constant, casts aside.
fn same(a: &Expr, b: &Expr) -> bool {
    let (a, b) = (a.without_casts(), b.without_casts());
    a.kind == b.kind
        || matches!(
            (&*a.kind, &*b.kind),
            (ExprKind::Const(x), ExprKind::Const(y)) if x.as_i64() == y.as_i64()
        )
}

fn lower(e: &mut Expr, most: i64) -> bool {
    let Some(scalar) = e.ty.scalar() else { return false };
    *e = Expr::int(scalar, most);
    true
}

fn lower_clamps(e: &mut Expr, limits: &impl Fn(&Expr) -> bool, most: i64) -> bool {
    let mut found = false;
    visit::map_subexprs(e, &mut |e| match &mut *e.kind {
        ExprKind::Select(cond, a, b) => {
            let ExprKind::Binary(op, _, limit) = &mut *cond.kind else { return };
            let arm = match op {
                BinaryOp::Lt | BinaryOp::Le => b,
                BinaryOp::Gt | BinaryOp::Ge => a,
                _ => return,
            };
            if same(limit, arm) && limits(limit) {
                found |= lower(limit, most);
                lower(arm, most);
            }
        }
        ExprKind::Call(MathFn::Min, args) => {
            if let Some(limit) = args.iter_mut().find(|a| limits(a)) {
                found |= lower(limit, most);
            }
        }
        _ => {}
    });
    found
}

/// The variables of which the extents of grids along some axes are made.
fn grid_vars(body: &Block, axes: Range<usize>) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    visit::for_each_stmt(body, &mut |s| {
        if let StmtKind::Launch(launch) = &s.kind {
            launch.grid[axes.clone()].iter().for_each(|e| vars.extend(visit::vars_of_expr(e)));
        }
    });
    loop {
        let before = vars.len();
        visit::for_each_stmt(body, &mut |s| {
            let (to, value) = match &s.kind {
                StmtKind::Decl { var, init: Some(e) } => (Some(*var), e),
                StmtKind::Assign { place, value } => (place.root_var(), value),
                _ => return,
            };
            if to.is_some_and(|v| vars.contains(&v)) {
                vars.extend(visit::vars_of_expr(value));
            }
        });
        if vars.len() == before {
            return vars;
        }
    }
}

/// The constants with which conditions of a function compare what is no constant, and those that sizes are divided by.
pub fn compared_with(module: &Module, body: &Block) -> Vec<i64> {
    let mut found = vec![];
    visit::for_each_expr(body, &mut |e| {
        let ExprKind::Binary(op, a, b) = &*e.kind else { return };
        let reads = |e: &Expr| {
            let mut reads = false;
            visit::for_each_subexpr(e, &mut |e| {
                reads |=
                    matches!(&*e.kind, ExprKind::Read(p) if matches!(*p.kind, PlaceKind::Var(_)));
            });
            reads
        };
        let wanted = op.is_comparison() || *op == BinaryOp::Rem;
        for (a, b) in [(a, b), (b, a)] {
            if wanted && reads(a) {
                found.extend(value(module, b));
            }
        }
    });
    found.sort_unstable();
    found.dedup();
    found
}
