//! What the threads of a block make of values that each of them has: in pairs of lanes, and through shared memory where they
//! are more than a warp.

use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Builtin, Combine, Diagnostic, Expr, Place, Scalar, Stmt, Type, Var,
    VarId, VarKind,
};

use super::Lowering;
use super::scope::Lowered;
use crate::build::pairs::{exchanged, halving, join};
use crate::build::stmts::{barrier, element_of, set, when};
use crate::build::threads::WARP;

impl Lowering<'_> {
    /// Writes a combination out for a block of these extents. `again`: the block comes to it several times. New arrays in
    /// shared memory are added to `shared`.
    pub(super) fn combined(
        &mut self,
        wanted: &Combine,
        extents: [u32; 3],
        again: bool,
        shared: &mut Vec<VarId>,
    ) -> Lowered<Vec<Stmt>> {
        let [threads, rows, planes] = extents;
        let along_x = wanted.over == [(BindLevel::Block, Axis::X)];
        let whole = (threads * rows * planes).is_multiple_of(WARP);
        if !along_x || !threads.is_power_of_two() || !whole {
            let what = "a value is combined over threads that are no power of two along x";
            return Err(Box::new(Diagnostic::error("W299", what)));
        }
        if let Some(before) = wanted.before {
            return Ok(self.prefixed(wanted, before, (extents, again), shared));
        }
        let vars: Vec<VarId> = [wanted.value].into_iter().chain(wanted.at).collect();
        let mut stmts = self.in_pairs(wanted, threads.min(WARP));
        let warps = threads / WARP;
        if warps <= 1 {
            return Ok(stmts);
        }
        let both = |op, a: Expr, b: Expr| Expr::binary(op, a, b);
        let row = first_part(extents, warps);
        let of_row = |at: Expr| match &row {
            Some(row) => both(BinaryOp::Add, row.clone(), at),
            None => at,
        };
        let arrays: Vec<VarId> =
            vars.iter().map(|v| self.parts(*v, warps * rows * planes)).collect();
        shared.extend(&arrays);
        let pairs = || vars.iter().copied().zip(arrays.iter().copied());
        let warp_size = self.scope.constant("WARP", WARP, "threads of a warp");
        let x = thread_along(Axis::X);
        let warp = both(BinaryOp::Div, x.clone(), warp_size.clone());
        let lane = both(BinaryOp::Rem, x.clone(), warp_size);
        let store = pairs().map(|(v, a)| {
            set(element_of(&self.scope.host, a, of_row(warp.clone())), self.scope.value(v))
        });
        let store = store.collect();
        stmts.push(when(both(BinaryOp::Eq, lane, Expr::i32(0)), store));
        stmts.push(barrier("the parts of all warps are there"));
        for (v, a) in pairs() {
            let at = of_row(both(BinaryOp::Rem, x.clone(), Expr::i32(warps as i32)));
            let ty = self.scope.host.var(v).ty.clone();
            stmts.push(set(Place::var(v, ty), Expr::read(element_of(&self.scope.host, a, at))));
        }
        stmts.extend(self.in_pairs(wanted, warps));
        if again {
            stmts.push(barrier("everyone has the whole before the next parts take their place"));
        }
        Ok(stmts)
    }

    /// An array in shared memory with so many of a variable's values.
    pub(super) fn parts(&mut self, v: VarId, count: u32) -> VarId {
        let var = self.scope.host.var(v).clone();
        let name = self.scope.fresh_name(&format!("{}_shared", var.name));
        let mut array = Var::new(name, Type::array(var.ty, count.into()), VarKind::Shared);
        array.origin = var.origin;
        self.scope.host.add_var(array)
    }

    /// The values of `width` neighbouring lanes.
    fn in_pairs(&mut self, wanted: &Combine, width: u32) -> Vec<Stmt> {
        if width == 1 {
            return vec![];
        }
        let offset = self.scope.local("offset", Type::I32);
        let scalar = self.scope.host.var(wanted.value).ty.scalar().unwrap_or(Scalar::F64);
        let mut body = vec![];
        let mut others = vec![];
        for v in [wanted.value].into_iter().chain(wanted.at) {
            let ty = self.scope.host.var(v).ty.clone();
            let other =
                self.scope.local(&format!("{}_other", self.scope.host.var(v).name), ty.clone());
            self.scope.host.vars[other.0 as usize].constant = true;
            body.extend(exchanged(self.scope.value(v), other, offset));
            others.push((Place::var(v, ty.clone()), Expr::var(other, ty)));
        }
        let mut others = others.into_iter();
        if let Some((value, other)) = others.next() {
            let (at, other_at) = others.next().unzip();
            body.push(join(wanted.op, scalar, (value, at), (other, other_at)));
        }
        halving(&mut self.scope.host, offset, Expr::i32(width as i32), body).to_vec()
    }
}

pub(super) fn thread_along(axis: Axis) -> Expr {
    Expr::builtin(Builtin::ThreadIdx(axis)).cast(Type::I32)
}

/// Where the parts of a thread's row of the block begin, each row having one for each warp; `None`: the block has one row.
pub(super) fn first_part([_, rows, planes]: [u32; 3], warps: u32) -> Option<Expr> {
    let number = |n: u32| Expr::i32(n as i32);
    let row = match (rows, planes) {
        (1, 1) => return None,
        (_, 1) => thread_along(Axis::Y),
        _ => {
            let plane = Expr::binary(BinaryOp::Mul, thread_along(Axis::Z), number(rows));
            Expr::binary(BinaryOp::Add, plane, thread_along(Axis::Y))
        }
    };
    Some(Expr::binary(BinaryOp::Mul, row, number(warps)))
}
