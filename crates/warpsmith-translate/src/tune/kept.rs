//! What a compiler keeps in a register where the text has memory: an element that a loop adds to in every iteration. Counters of
//! a launch that is counted so are those of the hardware.
//!
//! ```text
//! c[i] = 0;                                  c[i] = 0; r = 0;
//! for (l …) c[i] += a[l] * b[l];     ==>     for (l …) r += a[l] * b[l];
//!                                            c[i] = r;
//! ```
//!
//! Compilers do it where nothing else in the loop can be the element: it is the only one that the loop stores, and what it reads
//! comes through pointers to `const` arrays, which in emitted texts are other arrays.

use std::collections::BTreeSet;

use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, Function, FunctionKind, Module, Place, PlaceKind, Stmt,
    StmtKind, Type, Var, VarId, VarKind,
};
use warpsmith_opt::build::stmts::declare;
use warpsmith_opt::walk;

/// Rewrites all kernels.
pub fn in_registers(module: &mut Module) {
    for f in module.functions.iter_mut().filter(|f| f.kind == FunctionKind::Kernel) {
        let mut body = std::mem::take(&mut f.body);
        block(f, &mut body);
        f.body = body;
    }
}

fn block(f: &mut Function, own: &mut Block) {
    let mut stmts: Vec<Stmt> = vec![];
    for mut stmt in std::mem::take(&mut own.stmts) {
        let place = match &stmt.kind {
            StmtKind::For(l) => element(f, l),
            _ => None,
        };
        let Some(place) = place else {
            walk::blocks_mut(&mut stmt).into_iter().for_each(|b| block(f, b));
            stmts.push(stmt);
            continue;
        };
        let var = f.add_var(Var::new("::kept", place.ty.clone(), VarKind::Local));
        let before = stmts.last().and_then(|s| stored(s, &place));
        stmts.push(declare(var, before.unwrap_or_else(|| Expr::read(place.clone()))));
        for b in walk::blocks_mut(&mut stmt) {
            Kept { place: &place, var }.block(b);
        }
        stmts.push(stmt);
        let (value, origin) = (Expr::var(var, place.ty.clone()), place.origin.clone());
        stmts.push(Stmt::new(StmtKind::Assign { place, value }, origin));
    }
    own.stmts = stmts;
}

/// What the statement has stored in the element, if that is no more than a number.
fn stored(s: &Stmt, place: &Place) -> Option<Expr> {
    match &s.kind {
        StmtKind::Assign { place: own, value } if own.kind == place.kind => {
            Some(value.clone()).filter(|v| v.as_const().is_some())
        }
        _ => None,
    }
}

/// The element that a loop only adds to.
fn element(f: &Function, l: &ForLoop) -> Option<Place> {
    let mut written = BTreeSet::from([l.var]);
    let mut stores: Vec<&Place> = vec![];
    let mut plain = true;
    walk::each_stmt(&l.body, &mut |s| match &s.kind {
        StmtKind::Decl { var, .. } => {
            written.insert(*var);
        }
        StmtKind::Assign { place, .. } => match &*place.kind {
            PlaceKind::Var(v) => {
                written.insert(*v);
            }
            _ => stores.push(place),
        },
        StmtKind::If { .. } | StmtKind::Scope(_) => {}
        _ => plain = false,
    });
    let (place, others) = stores.split_first()?;
    let same = others.iter().all(|o| o.kind == place.kind);
    let scalar = matches!(place.ty, Type::Scalar(_));
    let stays = pointer(place).is_some_and(|p| !written.contains(&p)) && fixed(place, &written);
    let reads = reads_apart(f, &l.body, place);
    (plain && same && scalar && stays && reads).then(|| (*place).clone())
}

/// The parameter that a place is an element of.
fn pointer(place: &Place) -> Option<VarId> {
    let PlaceKind::Elem { pointer, .. } = &*place.kind else { return None };
    match &*pointer.kind {
        ExprKind::Read(p) => match &*p.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        _ => None,
    }
}

/// The subscript is the same in all iterations.
fn fixed(place: &Place, written: &BTreeSet<VarId>) -> bool {
    let mut fixed = true;
    walk::each_expr_of_place(place, &mut |e| {
        if let ExprKind::Read(p) = &*e.kind {
            fixed &= matches!(&*p.kind, PlaceKind::Var(v) if !written.contains(v));
        }
    });
    fixed
}

/// Whatever else the loop reads from memory comes through pointers to `const`.
fn reads_apart(f: &Function, body: &Block, place: &Place) -> bool {
    let mut apart = true;
    visit::for_each_expr(body, &mut |e| {
        let ExprKind::Read(p) = &*e.kind else { return };
        if matches!(&*p.kind, PlaceKind::Var(_)) || p.kind == place.kind {
            return;
        }
        let constant = |v: VarId| matches!(f.var(v).ty, Type::Pointer { readonly: true, .. });
        apart &= pointer(p).is_some_and(constant);
    });
    apart
}

struct Kept<'a> {
    place: &'a Place,
    var: VarId,
}

impl Rewriter for Kept<'_> {
    fn place(&mut self, place: &mut Place) {
        if place.kind == self.place.kind {
            *place.kind = PlaceKind::Var(self.var);
            return;
        }
        visit::rewrite_place(self, place);
    }
}
