//! Variables that iterations of a loop over a row carry on linearly: `s = a * s + x`, whatever steps it takes.
//!
//! What iterations in a row make of `s` is again `slope * s + rest`. The rest comes of running them from zero; the slope is the
//! derivative by what `s` was before them, which every assignment carries on (forward differentiation: Griewank, Walther, *Evaluating
//! Derivatives*, chapter 3). Scans of such maps: Blelloch, *Prefix sums and their applications*, section 1.4.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, MathFn, Origin, Place, PlaceKind, Scalar, Stmt,
    StmtKind, UnaryOp, VarId,
};

use super::slice::slice;
use crate::analysis::{extremes, scalars};
use crate::assumption::Assumption;
use crate::build::stmts;
use crate::kernel::Kernel;
use crate::walk;

/// The variables that are carried from one iteration to the next, linearly and not just added to, each independent of the
/// others.
pub(in crate::rewrite) fn carried(kernel: &Kernel, l: &ForLoop) -> BTreeSet<VarId> {
    let own = walk::own_variables(&l.body);
    let mut set: BTreeMap<VarId, bool> = BTreeMap::new();
    walk::each_stmt(&extremes::as_calls(&l.body), &mut |s| {
        let o = walk::operands(s);
        let target = o.writes.and_then(Place::root_var);
        for v in o.results.iter().copied().chain(target).filter(|v| !own.contains(v)) {
            let combined = match &s.kind {
                StmtKind::Assign { value, .. } => scalars::accumulation(value, v).is_some(),
                _ => false,
            };
            *set.entry(v).or_insert(true) &= combined;
        }
    });
    let linear = |v: &VarId, sum: bool| {
        let body = slice(&l.body, &mut BTreeSet::from([*v]));
        let others = set.keys().any(|o| o != v && walk::times_mentioned(&body, *o) > 0);
        let known = |d: VarId| Some(Expr::var(d, kernel.func().var(d).ty.clone()));
        let dependents = Dependents::of(kernel, &body, *v).filter(|_| !others);
        // What is only added to is a sum, unless what is added follows from it.
        let dependents = dependents.filter(|d| !sum || d.vars.len() > 1);
        dependents.is_some_and(|d| d.are_linear(&body, &known))
    };
    set.iter().filter(|(v, sum)| linear(v, **sum)).map(|(v, _)| *v).collect()
}

/// The variables of a block whose values follow from a state's, itself included.
struct Dependents {
    vars: BTreeSet<VarId>,
}

impl Dependents {
    /// `None`: they have not all the state's type, or one that products and sums of are no map of.
    fn of(kernel: &Kernel, body: &Block, state: VarId) -> Option<Dependents> {
        let mut vars = BTreeSet::from([state]);
        loop {
            let before = vars.len();
            walk::each_stmt(body, &mut |s| {
                if let Some((v, Some(value))) = set_by(s)
                    && vars.iter().any(|d| walk::mentions(value, *d))
                {
                    vars.insert(v);
                }
            });
            if vars.len() == before {
                break;
            }
        }
        let scalar = |v: &VarId| kernel.func().var(*v).ty.scalar();
        let unsigned = matches!(scalar(&state), Some(Scalar::U32 | Scalar::U64));
        let fits = |v: &VarId| match unsigned {
            true => scalar(v) == scalar(&state),
            false => matches!(scalar(v), Some(Scalar::F32 | Scalar::F64)),
        };
        vars.iter().all(fits).then_some(Dependents { vars })
    }

    fn mentioned(&self, e: &Expr) -> bool {
        self.vars.iter().any(|d| walk::mentions(e, *d))
    }

    /// Whether they only take part in what is linear in them.
    fn are_linear(&self, body: &Block, slope: &dyn Fn(VarId) -> Option<Expr>) -> bool {
        let mut right = true;
        walk::each_stmt(body, &mut |s| match set_by(s) {
            Some((v, value)) if self.vars.contains(&v) => {
                right &= value.is_none_or(|e| self.slope_of(e, slope).is_some());
            }
            _ => walk::each_var_of_stmt(s, &mut |v| right &= !self.vars.contains(&v)),
        });
        right
    }

    /// The derivative of an expression, in the derivatives of what it reads; `None`: it is not linear. `Some(None)`: it
    /// depends on none of them.
    #[allow(clippy::option_option)]
    fn slope_of(&self, e: &Expr, slope: &dyn Fn(VarId) -> Option<Expr>) -> Option<Option<Expr>> {
        if !self.mentioned(e) {
            return Some(None);
        }
        let inner = |e: &Expr| self.slope_of(e, slope);
        let with = |kind| Some(Some(Expr::new(kind, e.ty.clone(), Origin::default())));
        let float = |e: &Expr| e.ty.scalar().is_some_and(Scalar::is_float);
        match &*e.kind {
            ExprKind::Read(place) => match *place.kind {
                PlaceKind::Var(v) => slope(v).map(Some),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::Neg, a) => with(ExprKind::Unary(UnaryOp::Neg, inner(a)??)),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                Some(summed(*op, inner(a)?, inner(b)?))
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => match (inner(a)?, inner(b)?) {
                (Some(own), None) => Some(Some(product(own, b.clone()))),
                (None, Some(own)) => Some(Some(product(a.clone(), own))),
                _ => None,
            },
            ExprKind::Binary(BinaryOp::Div, a, b) if float(e) && !self.mentioned(b) => {
                with(ExprKind::Binary(BinaryOp::Div, inner(a)??, b.clone()))
            }
            ExprKind::Cast(a) if float(e) && float(a) => Some(Some(inner(a)??.cast(e.ty.clone()))),
            ExprKind::Call(MathFn::Fma, args) => match args.as_slice() {
                [a, b, c] => {
                    let product = Expr::binary(BinaryOp::Mul, a.clone(), b.clone());
                    Some(summed(BinaryOp::Add, inner(&product)?, inner(c)?))
                }
                _ => None,
            },
            ExprKind::Select(cond, a, b) if !self.mentioned(cond) => {
                let none = || Expr::int(e.ty.scalar().unwrap_or(Scalar::F64), 0);
                let (a, b) = (inner(a)?.unwrap_or_else(none), inner(b)?.unwrap_or_else(none));
                with(ExprKind::Select(cond.clone(), a, b))
            }
            _ => None,
        }
    }
}

fn product(a: Expr, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Mul, a, b)
}

fn summed(op: BinaryOp, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Expr::binary(op, a, b)),
        (None, Some(b)) if op == BinaryOp::Sub => {
            let ty = b.ty.clone();
            Some(Expr::new(ExprKind::Unary(UnaryOp::Neg, b), ty, Origin::default()))
        }
        (a, b) => a.or(b),
    }
}

/// The variable that a statement sets as a whole, and to what.
fn set_by(s: &Stmt) -> Option<(VarId, Option<&Expr>)> {
    match &s.kind {
        StmtKind::Decl { var, init } => Some((*var, init.as_ref())),
        StmtKind::Assign { place, value } => match *place.kind {
            PlaceKind::Var(v) => Some((v, Some(value))),
            _ => None,
        },
        _ => None,
    }
}

/// Puts what becomes of slopes in front of what becomes of the variables of a block that follow from `state`, whose own slope
/// is in `slope`.
pub(in crate::rewrite) fn with_slopes(
    kernel: &mut Kernel,
    body: &mut Block,
    state: VarId,
    slope: VarId,
) {
    let Some(dependents) = Dependents::of(kernel, body, state) else { return };
    let mut slopes = BTreeMap::from([(state, slope)]);
    if kernel.func().var(state).ty.scalar().is_some_and(Scalar::is_float) {
        let variable = kernel.name_of(state).to_string();
        kernel.assume(Assumption::FiniteParts { variable });
    }
    for v in dependents.vars.iter().filter(|v| **v != state) {
        let (name, ty) = (kernel.name_of(*v).to_string(), kernel.func().var(*v).ty.clone());
        let own = stmts::local(kernel.func_mut(), &format!("{name}_slope"), ty);
        slopes.insert(*v, own);
    }
    insert(kernel, body, &dependents, &slopes);
}

fn insert(
    kernel: &Kernel,
    body: &mut Block,
    dependents: &Dependents,
    slopes: &BTreeMap<VarId, VarId>,
) {
    let ty = |v: VarId| kernel.func().var(v).ty.clone();
    let known = |v: VarId| slopes.get(&v).map(|s| Expr::var(*s, ty(v)));
    let mut stmts = vec![];
    for mut stmt in std::mem::take(&mut body.stmts) {
        walk::blocks_mut(&mut stmt).into_iter().for_each(|b| insert(kernel, b, dependents, slopes));
        if let Some((v, value)) = set_by(&stmt)
            && let Some(own) = slopes.get(&v)
        {
            let found = value.and_then(|e| dependents.slope_of(e, &known));
            let none = || Expr::int(ty(v).scalar().unwrap_or(Scalar::F64), 0);
            let value = found.map(|e| e.unwrap_or_else(none));
            stmts.extend(match (&stmt.kind, value) {
                (StmtKind::Decl { .. }, init) => {
                    Some(Stmt::new(StmtKind::Decl { var: *own, init }, Origin::default()))
                }
                (_, Some(value)) if Some(&value) != known(v).as_ref() => {
                    Some(stmts::set(Place::var(*own, ty(v)), value))
                }
                _ => None,
            });
        }
        stmts.push(stmt);
    }
    body.stmts = stmts;
}
