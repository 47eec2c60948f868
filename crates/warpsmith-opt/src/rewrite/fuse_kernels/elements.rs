//! Elements around an iteration, by their distance from the element of the iteration itself.
//!
//! A compiler computes `a[k - 1][j][i]` and `a[k][j - 1][i]` from counters of 32 bits anew; from the number of `a[k][j][i]` each
//! takes an addition.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, Function, Place, PlaceKind, Scalar, Stmt, Type, Var, VarId,
    VarKind,
};

use crate::build::arithmetic::{plus, times};
use crate::build::stmts::declare;
use crate::kernel::Kernel;

/// Lets elements at constant distances from the counters be found from the number of the iteration's own element; gives the
/// declarations of these numbers, one for each shape of arrays.
pub(super) fn by_distance(kernel: &mut Kernel, loops: &[ForLoop], body: &mut Block) -> Vec<Stmt> {
    let mut shapes: Vec<Vec<Expr>> = vec![];
    visit::for_each_place(body, &mut |p, _| {
        if let Some((dims, _)) = distances(p, loops)
            && !shapes.iter().any(|s| s == dims)
        {
            shapes.push(dims.to_vec());
        }
    });
    let mut found = vec![];
    let mut stmts = vec![];
    for dims in shapes {
        let mut var = Var::new("element", Type::I64, VarKind::Local);
        var.constant = true;
        let var = kernel.func_mut().add_var(var);
        stmts.push(declare(var, own_element(kernel.func(), loops, &dims)));
        found.push((dims, var));
    }
    let mut near = Near { function: kernel.func(), loops, found };
    near.block(body);
    stmts
}

/// The extents and the distance from the counters of an element of an array of two dimensions or more.
fn distances<'p>(place: &'p Place, loops: &[ForLoop]) -> Option<(&'p [Expr], Vec<i128>)> {
    let PlaceKind::Elem { index, dims, .. } = &*place.kind else { return None };
    let whole = dims.len() + 1 == loops.len() && index.len() == loops.len();
    let known = |e: &Expr| Poly::from_expr(e).is_some();
    let distance =
        |(e, l): (&Expr, &ForLoop)| Poly::from_expr(e)?.sub(&Poly::var(l.var))?.as_constant();
    let all: Option<Vec<i128>> = index.iter().zip(loops).map(distance).collect();
    all.filter(|_| whole && dims.iter().all(known)).map(|d| (dims.as_slice(), d))
}

/// `(k * n + j) * m + i`
fn own_element(function: &Function, loops: &[ForLoop], dims: &[Expr]) -> Expr {
    let counter = |l: &ForLoop| Expr::var(l.var, function.var(l.var).ty.clone()).cast(Type::I64);
    let mut counters = loops.iter().map(counter);
    let first = counters.next().unwrap_or_else(|| Expr::int(Scalar::I64, 0));
    counters.zip(dims).fold(first, |at, (counter, extent)| {
        plus(times(at, extent.clone().cast(Type::I64)), counter)
    })
}

struct Near<'a> {
    function: &'a Function,
    loops: &'a [ForLoop],
    found: Vec<(Vec<Expr>, VarId)>,
}

impl Near<'_> {
    /// The number of elements between two that are so far apart.
    fn between(&self, dims: &[Expr], distances: &[i128]) -> Option<Poly> {
        let mut sum = Poly::constant(*distances.first()?);
        for (extent, distance) in dims.iter().zip(&distances[1..]) {
            sum = sum.mul(&Poly::from_expr(extent)?)?.add(&Poly::constant(*distance))?;
        }
        Some(sum)
    }

    fn index(&self, place: &Place) -> Option<Expr> {
        let (dims, distances) = distances(place, self.loops)?;
        let (_, at) = self.found.iter().find(|(known, _)| known == dims)?;
        let own = Expr::var(*at, Type::I64);
        let between = self.between(dims, &distances)?;
        let scalar = |v: VarId| self.function.var(v).ty.scalar().unwrap_or(Scalar::I64);
        let below = between.terms().all(|(_, n)| n < 0);
        let (op, between) = match below {
            true => (BinaryOp::Sub, between.scale(-1)?),
            false => (BinaryOp::Add, between),
        };
        match between.is_zero() {
            true => Some(own),
            false => Some(Expr::binary(op, own, between.to_expr(Scalar::I64, &scalar))),
        }
    }
}

impl Rewriter for Near<'_> {
    fn place(&mut self, place: &mut Place) {
        visit::rewrite_place(self, place);
        if let Some(at) = self.index(place)
            && let PlaceKind::Elem { index, dims, .. } = &mut *place.kind
        {
            (*index, *dims) = (vec![at], vec![]);
        }
    }
}
