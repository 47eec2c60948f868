//! Makes one loop of a serial loop and the one directly inside it.
//!
//! ```text
//!     for h in 0..H { for w in 0..W { S(h, w) } }
//!       ==> collapse h
//!     for h_w in 0..H * W { S(h_w / W, h_w % W) }
//! ```
//!
//! The iterations keep their order, so that the results are the same to the last bit. Where a subscript has `h * W + w`, it has
//! `h_w` afterwards; the counters are computed only where something else is left of them. Legal for loops that each thread
//! runs on its own and that count from 0 up by one, whose bounds stay as they are, and which nothing leaves early.
//!
//! The new counter has 64 bits. Where the outer limit is a signed parameter, the launcher refuses values below 0.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, Function, LoopId, LoopKind, Origin, Place, PlaceKind, Scalar,
    Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::Rewritten;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::{loops, scalars};
use crate::build::trips;
use crate::kernel::{Kernel, only_loop};
use crate::names::fresh_name;
use crate::refusal::Refusal;
use crate::requirement::Requirement;
use crate::walk;

/// The step, which names one loop: the outer one of the two loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "collapse",
        example: "collapse h",
        does: "makes one loop of a serial loop and the one directly inside it",
        legal: "both count from 0 up by one, the inner bounds do not depend on the outer counter, and neither loop ends early",
        law: Law {
            before: "\
void planes(int n, int h, int w, const float A[n][h][w], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < h; j++)
            for (int k = 0; k < w; k++)
                s[i] += A[i][j][k];
}
",
            steps: "collapse j",
            after: "\
void planes(int n, int h, int w, const float *A, float *s) {
    // parallel
    for (int i = 0; i < n; ++i) {
        for (long long j_k = 0; j_k < (long long)h * w; ++j_k) {
            s[i] += A[i * ((long long)h * w) + j_k];
        }
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `collapse`, which alone allows it.
pub struct LegalCollapse<'k> {
    kernel: &'k Kernel,
    outer: &'k ForLoop,
    inner: &'k ForLoop,
    /// Iterations of the inner loop.
    width: Poly,
    requires: Option<Requirement>,
}

/// Asks whether a loop and the one inside it can be one.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, outer: LoopId) -> Result<LegalCollapse<'_>, Refusal> {
    let none = Refusal::NotNested { outer, inner: outer };
    let Some(o) = kernel.find_loop(outer) else { return Err(none) };
    let Some(i) = only_loop(&o.body) else { return Err(none) };
    if !kernel.nests.is_empty() {
        return Err(Refusal::of_loop(
            "collapse",
            outer,
            "loops are bound already: it comes before `bind`",
        ));
    }
    for l in [o, i] {
        plain(kernel, l)?;
    }
    if let Some(stmt) = walk::leaves(&i.body) {
        return Err(Refusal::LeavesLoop { loop_id: i.id, at: stmt.origin.clone() });
    }
    if !loops::bounds_independent(kernel, i.id, outer) {
        return Err(Refusal::DependentBounds { outer, inner: i.id });
    }
    let Some(requires) = not_below_zero(kernel, o) else {
        return Err(Refusal::of_loop(
            "collapse",
            outer,
            "its limit is no parameter, so that nobody knows before it runs that it is not below 0",
        ));
    };
    let Some(width) = Poly::from_expr(&i.limit) else {
        return Err(Refusal::of_loop(
            "collapse",
            i.id,
            "its limit is no sum of numbers that keep their values",
        ));
    };
    Ok(LegalCollapse { kernel, outer: o, inner: i, width, requires })
}

/// A serial loop from 0 up by one whose limit stays the same and whose counter is its own.
fn plain(kernel: &Kernel, l: &ForLoop) -> Result<(), Refusal> {
    if !matches!(l.kind, LoopKind::Serial) || !kernel.runs_in_thread(l.id) {
        return Err(Refusal::NotSerial { loop_id: l.id });
    }
    let refuse = |why: &str| Err(Refusal::of_loop("collapse", l.id, why));
    if !loops::unit_step(l) || l.compare != BinaryOp::Lt || !is_zero(&l.first) {
        return refuse("it does not count from 0 up by one, below its limit");
    }
    let mut fixed = !walk::reads_memory(&l.limit);
    walk::each_var(&l.limit, &mut |v| fixed &= !walk::writes_var(&l.body, v));
    if !fixed {
        return refuse("its body may change its limit");
    }
    if walk::writes_var(&l.body, l.var) {
        return refuse("its body changes its counter");
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return refuse("its counter is read after it");
    }
    Ok(())
}

fn is_zero(e: &Expr) -> bool {
    e.as_const().is_some_and(|v| v.as_i64() == 0)
}

/// Makes the loop, under the outer one's id. The counters of old are computed where they are still wanted.
pub fn apply(legal: LegalCollapse<'_>) -> Rewritten {
    let LegalCollapse { kernel, outer, inner, width, requires } = legal;
    let mut new = kernel.clone();
    new.requires.extend(requires);
    let function = new.func_mut();
    let names = [outer, inner].map(|l| function.var(l.var).name.clone());
    let name = fresh_name(function, &names.join("_"));
    let mut var = Var::new(name, Type::I64, VarKind::Local);
    var.origin = function.var(outer.var).origin.by("collapse");
    let counter = function.add_var(var);
    let count = |l| trips::wide_count(kernel.func(), l);
    let mut body = inner.body.clone();
    let counters = [outer.var, inner.var];
    Merge { counters, width, source: kernel.func(), counter }.block(&mut body);
    restore(&mut body, kernel, [outer, inner], counter);
    let both = ForLoop {
        id: outer.id,
        var: counter,
        declares: true,
        first: Expr::int(Scalar::I64, 0),
        compare: BinaryOp::Lt,
        // Right where the outer limit is not below 0.
        limit: Expr::binary(BinaryOp::Mul, count(outer), count(inner)),
        step: Expr::int(Scalar::I64, 1),
        kind: LoopKind::Serial,
        body,
    };
    walk::with_loop(&mut function.body, outer.id, &mut |stmt| {
        stmt.origin = stmt.origin.by("collapse");
        stmt.kind = StmtKind::For(both.clone());
    });
    Rewritten::same_loops(new)
}

/// What makes sure that the outer loop's limit is 0 or more – two numbers below 0 have a product above –, if anything has to;
/// `None` where nobody can tell before the kernel runs.
fn not_below_zero(kernel: &Kernel, outer: &ForLoop) -> Option<Option<Requirement>> {
    let function = kernel.func();
    let limit = Poly::from_expr(&outer.limit)?;
    let unsigned = outer.limit.ty.scalar().is_some_and(|s| !s.is_signed());
    if unsigned || limit.as_constant().is_some_and(|n| n >= 0) {
        return Some(None);
    }
    let var = match limit.as_atom()? {
        Atom::Var(v) if function.params.contains(v) && !walk::writes_var(&function.body, *v) => *v,
        _ => return None,
    };
    let found = Requirement {
        var,
        bound: Poly::zero(),
        at_most: false,
        why: "the iterations of two loops are counted as a product".into(),
        at: outer.limit.origin.span,
    };
    let known =
        kernel.requires.iter().any(|r| r.var == var && !r.at_most && r.bound == found.bound);
    Some((!known).then_some(found))
}

/// The counters of old at the head of the body, where it mentions them.
fn restore(body: &mut Block, kernel: &Kernel, [outer, inner]: [&ForLoop; 2], counter: VarId) {
    let wide = inner.limit.clone().cast(Type::I64);
    let mut head = vec![];
    for (l, op) in [(outer, BinaryOp::Div), (inner, BinaryOp::Rem)] {
        if walk::times_mentioned(body, l.var) == 0 {
            continue;
        }
        let value = Expr::binary(op, Expr::var(counter, Type::I64), wide.clone());
        let ty = kernel.func().var(l.var).ty.clone();
        let value = value.cast(ty.clone());
        let kind = match l.declares {
            true => StmtKind::Decl { var: l.var, init: Some(value) },
            false => {
                let kind = Box::new(PlaceKind::Var(l.var));
                StmtKind::Assign { place: Place { kind, ty, origin: Origin::default() }, value }
            }
        };
        head.push(Stmt::new(kind, Origin::default()));
    }
    body.stmts.splice(..0, head);
}

/// Puts the new counter where subscripts have `h * W + w`.
struct Merge<'a> {
    /// The outer and the inner one.
    counters: [VarId; 2],
    /// Iterations of the inner loop.
    width: Poly,
    source: &'a Function,
    counter: VarId,
}

impl Rewriter for Merge<'_> {
    fn place(&mut self, place: &mut Place) {
        visit::rewrite_place(self, place);
        let PlaceKind::Elem { index, dims, .. } = &mut *place.kind else { return };
        if let Some(k) = self.neighbours(index, dims) {
            index.splice(k..k + 2, [Expr::var(self.counter, Type::I64)]);
            let width = dims.remove(k).cast(Type::I64);
            if let Some(extent) = k.checked_sub(1).and_then(|k| dims.get_mut(k)) {
                *extent = Expr::binary(BinaryOp::Mul, extent.clone().cast(Type::I64), width);
            }
        }
        for one in index {
            if let Some(merged) = self.merged(one) {
                *one = merged;
            }
        }
    }
}

impl Merge<'_> {
    /// The dimension that the outer counter alone walks, where the inner one walks the next, which is as wide as its loop.
    fn neighbours(&self, index: &[Expr], dims: &[Expr]) -> Option<usize> {
        let is = |e: &Expr, v: VarId| Poly::from_expr(e).is_some_and(|p| p == Poly::var(v));
        (0..dims.len()).find(|k| {
            is(&index[*k], self.counters[0])
                && is(&index[k + 1], self.counters[1])
                && Poly::from_expr(&dims[*k]).is_some_and(|p| p == self.width)
        })
    }

    /// A subscript into rows that follow each other.
    fn merged(&self, subscript: &Expr) -> Option<Expr> {
        let [outer, inner] = self.counters;
        let all = Poly::from_expr(subscript)?;
        let (rows, rest) = all.split(&Atom::Var(outer))?;
        let (step, rest) = rest.split(&Atom::Var(inner))?;
        let mentions = |p: &Poly| p.mentions(outer) || p.mentions(inner);
        if step.is_zero() || rows != step.mul(&self.width)? || mentions(&step) || mentions(&rest) {
            return None;
        }
        let merged = step.mul(&Poly::var(self.counter))?.add(&rest)?;
        let known = &self.source.vars;
        let type_of = |v: VarId| known.get(v.0 as usize).and_then(|var| var.ty.scalar());
        // The new counter is no variable of the source.
        Some(merged.to_expr(Scalar::I64, &|v| type_of(v).unwrap_or(Scalar::I64)))
    }
}
