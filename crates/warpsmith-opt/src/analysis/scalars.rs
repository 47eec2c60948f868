//! Scalar variables that iterations of a loop share.

use std::collections::BTreeSet;

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, ForLoop, Function, MathFn, Origin, PlaceKind, ReduceOp, Scalar,
    StmtKind, VarId,
};

use crate::walk;

/// A variable that every iteration writes and that is declared outside the loop.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// The variable that iterations have in common.
    pub var: VarId,
    /// Where it is written.
    pub write: Origin,
    /// A read of the variable in the loop, before or after the write.
    pub read: Option<Origin>,
    /// All writes are `v = v op e` of one operation, or set a flag that nothing in the loop reads: the clause
    /// `reduction(op: v)` says what is meant.
    pub reduction: Option<ReduceOp>,
    /// Only counted loops inside write it, and nothing outside such loops reads it: harmless when each thread has
    /// its own.
    pub counter_only: bool,
}

/// Variables that are no arrays, written in the body of the loop and declared outside it, in order of the first write.
/// The loop's own counter is not among them.
pub fn shared_variables(function: &Function, l: &ForLoop) -> Vec<SharedVariable> {
    let mut own = BTreeSet::from([l.var]);
    own.extend(walk::declared(&l.body));
    let mut found: Vec<SharedVariable> = vec![];
    walk::each_stmt(&l.body, &mut |stmt| {
        let o = walk::operands(stmt);
        let target = o.writes.and_then(|p| p.root_var()).filter(|v| is_scalar(function, *v));
        for var in o.results.iter().copied().chain(target) {
            if !own.contains(&var) && found.iter().all(|s| s.var != var) {
                found.push(describe(function, l, var, &stmt.origin));
            }
        }
    });
    found
}

fn is_scalar(function: &Function, var: VarId) -> bool {
    !matches!(function.var(var).ty, warpsmith_ir::Type::Array(..))
}

fn describe(function: &Function, l: &ForLoop, var: VarId, write: &Origin) -> SharedVariable {
    let mut read = None;
    let mut operations = BTreeSet::new();
    let (mut counted_only, mut accumulates) = (true, false);
    walk::each_stmt(&l.body, &mut |stmt| {
        let o = walk::operands(stmt);
        for e in &o.reads {
            walk::each_expr(e, &mut |e| {
                if reads(e, var) && read.is_none() {
                    read = Some(e.origin.clone());
                }
            });
        }
        match &stmt.kind {
            StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(var) => {
                counted_only = false;
                accumulates |= accumulation(value, var).is_some();
                operations.insert(accumulation(value, var).or_else(|| flag(value)).map(op_rank));
            }
            StmtKind::For(_) => {}
            _ if o.results.contains(&var) || o.writes.and_then(|p| p.root_var()) == Some(var) => {
                counted_only = false;
                operations.insert(None);
            }
            _ => {}
        }
    });
    let operations: Vec<Option<usize>> = operations.into_iter().collect();
    let reduction = match operations.as_slice() {
        [Some(rank)] => OPERATIONS.get(*rank).copied(),
        _ => None,
    };
    let logical = |op: &ReduceOp| matches!(op, ReduceOp::LogicalAnd | ReduceOp::LogicalOr);
    let reduction = reduction.filter(|op| !logical(op) || read.is_none() || accumulates);
    let counter_only = counted_only && !read_outside_its_loops(&function.body, var);
    SharedVariable { var, write: write.clone(), read, reduction, counter_only }
}

/// Whether an expression is the variable's value.
pub fn reads(e: &Expr, var: VarId) -> bool {
    matches!(&*e.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(var))
}

/// Whether the variable is read anywhere but inside counted loops that set it.
pub fn read_outside_its_loops(block: &warpsmith_ir::Block, var: VarId) -> bool {
    block.stmts.iter().any(|stmt| {
        let own = walk::operands(stmt).reads.iter().any(|e| walk::mentions(e, var));
        let counts = matches!(&stmt.kind, StmtKind::For(l) if l.var == var);
        own || (!counts && walk::blocks(stmt).into_iter().any(|b| read_outside_its_loops(b, var)))
    })
}

/// Whether a loop's counter comes from outside and is read when the loop is over.
pub fn counter_outlives(function: &Function, l: &ForLoop) -> bool {
    !l.declares && read_outside_its_loops(&function.body, l.var)
}

/// The operation that a flag stands for which some iterations set to true, or to false.
fn flag(value: &Expr) -> Option<ReduceOp> {
    match value.without_casts().as_const().filter(|v| v.ty.is_integer())?.as_i64() {
        0 => Some(ReduceOp::LogicalAnd),
        1 => Some(ReduceOp::LogicalOr),
        _ => None,
    }
}

const OPERATIONS: [ReduceOp; 9] = [
    ReduceOp::Add,
    ReduceOp::Mul,
    ReduceOp::Min,
    ReduceOp::Max,
    ReduceOp::BitAnd,
    ReduceOp::BitOr,
    ReduceOp::BitXor,
    ReduceOp::LogicalAnd,
    ReduceOp::LogicalOr,
];

fn op_rank(op: ReduceOp) -> usize {
    OPERATIONS.iter().position(|o| *o == op).unwrap_or(0)
}

/// An expression without casts from reals to reals, or from integers to integers, around it.
fn without_widths(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Cast(inner) if inner.ty.is_integer() == e.ty.is_integer() => {
            without_widths(inner)
        }
        _ => e,
    }
}

/// The operation of `var op e`, where `value` has this form and `e` does not read the variable.
pub fn accumulation(value: &Expr, var: VarId) -> Option<ReduceOp> {
    let free = |e: &Expr| !walk::mentions(e, var);
    // `s = (float)((double)s + x)` and the like accumulate just as well, but for what is rounded to integers each time.
    let is_var = |e: &Expr| reads(without_widths(e), var);
    match &*without_widths(value).kind {
        ExprKind::Binary(op, a, b) => {
            let left = is_var(a) && free(b);
            let right = is_var(b) && free(a);
            match op {
                BinaryOp::Sub if left => Some(ReduceOp::Add),
                BinaryOp::Sub => None,
                // `s + a + b` is `(s + a) + b`.
                BinaryOp::Add if free(b) && !left => {
                    accumulation(a, var).filter(|o| *o == ReduceOp::Add)
                }
                _ if left || right => match op {
                    BinaryOp::Add => Some(ReduceOp::Add),
                    BinaryOp::Mul => Some(ReduceOp::Mul),
                    BinaryOp::BitAnd => Some(ReduceOp::BitAnd),
                    BinaryOp::BitOr => Some(ReduceOp::BitOr),
                    BinaryOp::BitXor => Some(ReduceOp::BitXor),
                    BinaryOp::LogicalAnd => Some(ReduceOp::LogicalAnd),
                    BinaryOp::LogicalOr => Some(ReduceOp::LogicalOr),
                    _ => None,
                },
                _ => None,
            }
        }
        ExprKind::Call(f, args) => match (f, args.as_slice()) {
            (MathFn::Min, [a, b]) if (is_var(a) && free(b)) || (is_var(b) && free(a)) => {
                Some(ReduceOp::Min)
            }
            (MathFn::Max, [a, b]) if (is_var(a) && free(b)) || (is_var(b) && free(a)) => {
                Some(ReduceOp::Max)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether all parts of an expression are of types that `exact` holds of: a sum is then that of whole numbers.
pub fn is_exact(e: &Expr, exact: fn(Scalar) -> bool) -> bool {
    let mut all = true;
    walk::each_expr(e, &mut |e| all &= e.ty.scalar().is_some_and(exact));
    all
}

/// Signed integers, which must not overflow.
pub fn signed(ty: Scalar) -> bool {
    ty.is_integer() && ty.is_signed()
}
