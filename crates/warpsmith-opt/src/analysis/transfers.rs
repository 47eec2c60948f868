//! Which arrays a function reads and writes: what a call with arrays of the host has to copy to the device and back.

use std::collections::BTreeMap;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Access};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, Function, Place, PlaceKind, Stmt, StmtKind, Type, VarId,
};

use super::access::{Base, base_of};
use crate::walk;

/// How an array moves around a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// The call may read elements, or leave some as they were.
    pub to_device: bool,
    /// It may write elements.
    pub to_host: bool,
}

/// The transfers of all pointer parameters of a function, in order. Errs towards copying.
pub fn of(function: &Function) -> Vec<(VarId, Transfer)> {
    let mut uses = Uses::default();
    uses.collect(function);
    let arrays = function.params.iter().filter(|p| function.var(**p).ty.is_pointer());
    let transfer = |array: &VarId| {
        let used = uses.of.get(array).copied().unwrap_or_default();
        let kept = used.to_host && !filled(function, *array);
        Transfer { to_device: used.to_device || kept, to_host: used.to_host }
    };
    arrays.map(|array| (*array, transfer(array))).collect()
}

#[derive(Default)]
struct Uses {
    of: BTreeMap<VarId, Transfer>,
}

impl Uses {
    fn collect(&mut self, function: &Function) {
        let mut elements = BTreeMap::<VarId, usize>::new();
        visit::for_each_place(&function.body, &mut |place, access| {
            if matches!(&*place.kind, PlaceKind::Var(_)) {
                return;
            }
            let Base::Var(v) = base_of(place) else { return };
            if access != Access::Address && is_direct(place) {
                *elements.entry(v).or_default() += 1;
            }
            let used = self.of.entry(v).or_default();
            used.to_device |= access != Access::Write;
            used.to_host |= access == Access::Write;
        });
        // A pointer that is used in another way, such as handed to a function or assigned, may be read and written.
        let mut mentions = BTreeMap::<VarId, usize>::new();
        walk::each_var_of_block(&function.body, &mut |v| *mentions.entry(v).or_default() += 1);
        let odd = |v: VarId| mentions.get(&v) > elements.get(&v);
        let moves = function.vars.iter().enumerate().any(|(k, var)| {
            let v = VarId(k as u32);
            var.ty.is_pointer() && !function.params.contains(&v) && mentions.contains_key(&v)
        });
        for param in &function.params {
            let Type::Pointer { readonly, .. } = function.var(*param).ty else { continue };
            if mentions.contains_key(param) && (odd(*param) || moves) {
                let used = self.of.entry(*param).or_default();
                *used = Transfer { to_device: true, to_host: !readonly || used.to_host };
            }
        }
    }
}

/// An element of the array that a variable points to.
fn is_direct(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Deref(e) | PlaceKind::Elem { pointer: e, .. } => {
            matches!(&*e.kind, warpsmith_ir::ExprKind::Read(p) if matches!(&*p.kind, PlaceKind::Var(_)))
        }
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => {
            is_direct(p)
        }
        _ => false,
    }
}

/// Whether every call writes every element of an array: there is a nest of loops from 0 to its extents, one for each
/// dimension and nothing around, that assigns `A[i][j]` unconditionally.
fn filled(function: &Function, array: VarId) -> bool {
    let Some(shape) = &function.var(array).shape else { return false };
    let kept = |e: &Expr| {
        let mut kept = true;
        walk::each_var(e, &mut |v| kept &= !walk::writes_var(&function.body, v));
        kept && !walk::reads_memory(e)
    };
    if !shape.iter().all(kept) {
        return false;
    }
    // After a `return` or in another way out nothing would be written.
    if walk::returns(&function.body).is_some_and(|_| returns_early(&function.body)) {
        return false;
    }
    let target = Target { array, shape };
    function.body.stmts.iter().any(|s| target.is_filled_by(s, &mut vec![]))
}

fn returns_early(body: &Block) -> bool {
    let Some((last, rest)) = body.stmts.split_last() else { return false };
    let inside = |s: &Stmt| walk::returns(&Block::new(vec![s.clone()])).is_some();
    rest.iter().any(inside) || !matches!(last.kind, StmtKind::Return(_)) && inside(last)
}

struct Target<'a> {
    array: VarId,
    shape: &'a [Expr],
}

impl<'a> Target<'a> {
    fn is_filled_by(&self, stmt: &'a Stmt, around: &mut Vec<&'a ForLoop>) -> bool {
        match &stmt.kind {
            StmtKind::Scope(b) => b.stmts.iter().any(|s| self.is_filled_by(s, around)),
            StmtKind::For(l) => {
                let leaves = walk::leaves(&l.body).is_some() || walk::continues(&l.body).is_some();
                if leaves || around.len() == self.shape.len() {
                    return false;
                }
                around.push(l);
                let found = l.body.stmts.iter().any(|s| self.is_filled_by(s, around));
                around.pop();
                found
            }
            StmtKind::Assign { place, .. } => self.is_element(place, around),
            _ => false,
        }
    }

    /// `A[i][j]` with the counters of the loops around, each of which runs through one extent.
    fn is_element(&self, place: &Place, around: &[&ForLoop]) -> bool {
        let PlaceKind::Elem { index, dims, .. } = &*place.kind else { return false };
        let direct = is_direct(place) && base_of(place) == Base::Var(self.array);
        let mut counters: Vec<VarId> = around.iter().map(|l| l.var).collect();
        counters.sort();
        counters.dedup();
        let all = index.len() == self.shape.len() && counters.len() == index.len();
        let all = all && dims.iter().zip(&self.shape[1..]).all(|(a, b)| same(a, b));
        direct
            && all
            && around.len() == index.len()
            && index.iter().zip(self.shape).all(|(i, extent)| {
                let Some(counter) = Poly::from_expr(i).and_then(|p| single(&p)) else {
                    return false;
                };
                around.iter().any(|l| l.var == counter && runs_through(l, extent))
            })
    }
}

/// The variable that a polynomial is.
fn single(p: &Poly) -> Option<VarId> {
    match p.as_atom()? {
        warpsmith_ir::poly::Atom::Var(v) => Some(*v),
        _ => None,
    }
}

/// `for (i = 0; i < extent; i++)`
fn runs_through(l: &ForLoop, extent: &Expr) -> bool {
    let is = |e: &Expr, value: i64| e.as_const().is_some_and(|v| v.as_i64() == value);
    is(&l.first, 0) && is(&l.step, 1) && l.compare == BinaryOp::Lt && same(&l.limit, extent)
}

fn same(a: &Expr, b: &Expr) -> bool {
    match (Poly::from_expr(a), Poly::from_expr(b)) {
        (Some(a), Some(b)) => a.sub(&b).is_some_and(|d| d.is_zero()),
        _ => false,
    }
}
