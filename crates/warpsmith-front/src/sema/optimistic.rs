//! Reads whose value only a compare-and-swap of the same address takes up.
//!
//! ```text
//!     old = *p;  do { assumed = old;  old = atomicCAS(p, assumed, f(assumed)); } while (assumed != old);
//! ```
//!
//! The first read may see any value that others swap in, since the swap tells whether it is still there: the way that the
//! programming guide itself builds atomic operations. Such a read counts as a volatile one, which has an order with
//! atomic operations but none with plain stores.

use std::collections::BTreeSet;

use warpsmith_ir::visit::{self, for_each_stmt};
use warpsmith_ir::{
    AtomicOp, Expr, ExprKind, Function, Origin, Place, PlaceKind, Space, StmtKind, Type, VarId,
    VarKind,
};

/// Makes such reads of a function volatile.
pub(super) fn mark(f: &mut Function) {
    let mut swaps: Vec<(Place, VarId)> = vec![];
    for_each_stmt(&f.body, &mut |s| {
        if let StmtKind::Atomic { op: AtomicOp::Cas, pointer, compare: Some(compare), .. } = &s.kind
            && let Some(compared) = variable(compare)
        {
            swaps.push((pointed_at(pointer), compared));
        }
    });
    let kinds: Vec<VarKind> = f.vars.iter().map(|v| v.kind).collect();
    for (place, compared) in swaps {
        let carriers = carriers(f, compared);
        visit::map_stmts(&mut f.body, &mut |s| {
            let (var, value) = match &mut s.kind {
                StmtKind::Decl { var, init: Some(value) } => (Some(*var), value),
                StmtKind::Assign { place, value } => (place.root_var(), value),
                _ => return,
            };
            if var.is_some_and(|v| carriers.contains(&v)) {
                make_volatile(value, &place, &kinds);
            }
        });
    }
}

/// The variable that an expression is, conversions aside.
fn variable(e: &Expr) -> Option<VarId> {
    match &*e.kind {
        ExprKind::Read(place) => match *place.kind {
            PlaceKind::Var(v) => Some(v),
            _ => None,
        },
        ExprKind::Cast(inner) | ExprKind::Bitcast(inner) => variable(inner),
        _ => None,
    }
}

/// What a pointer points at, whatever type it was converted to.
fn pointed_at(pointer: &Expr) -> Place {
    match &*pointer.kind {
        ExprKind::Cast(inner) if inner.ty.is_pointer() => pointed_at(inner),
        ExprKind::AddressOf(place) => place.clone(),
        ExprKind::PtrOffset(array, index) => {
            let ty = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
            let (pointer, index) = (array.clone(), vec![index.clone()]);
            let kind = PlaceKind::Elem { pointer, index, dims: vec![] };
            Place::new(kind, ty, Origin::default())
        }
        _ => {
            let ty = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
            Place::new(PlaceKind::Deref(pointer.clone()), ty, Origin::default())
        }
    }
}

/// Variables whose values come to `compared` by nothing but copies.
fn carriers(f: &Function, compared: VarId) -> BTreeSet<VarId> {
    let mut found = BTreeSet::from([compared]);
    loop {
        let before = found.len();
        for_each_stmt(&f.body, &mut |s| {
            let (var, value) = match &s.kind {
                StmtKind::Decl { var, init: Some(value) } => (Some(*var), value),
                StmtKind::Assign { place, value } => (place.root_var(), value),
                _ => return,
            };
            if var.is_some_and(|v| found.contains(&v)) {
                found.extend(variable(value));
            }
        });
        if found.len() == before {
            return found;
        }
    }
}

/// The memory that a place lies in; `None` for what is the thread's own.
fn space_of(place: &Place, kinds: &[VarKind]) -> Option<Space> {
    match &*place.kind {
        PlaceKind::Deref(p) | PlaceKind::Elem { pointer: p, .. } => match &p.ty {
            Type::Pointer { space, .. } => Some(*space),
            _ => None,
        },
        PlaceKind::Global(_) => Some(Space::Global),
        PlaceKind::Var(v) => {
            let kind = kinds.get(v.0 as usize);
            let shared = matches!(kind, Some(VarKind::Shared | VarKind::DynamicShared));
            shared.then_some(Space::Shared)
        }
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => {
            space_of(p, kinds)
        }
    }
}

/// Makes a read of the place volatile, if the value is one.
fn make_volatile(value: &mut Expr, swapped: &Place, kinds: &[VarKind]) {
    match &mut *value.kind {
        ExprKind::Cast(inner) | ExprKind::Bitcast(inner) => make_volatile(inner, swapped, kinds),
        ExprKind::Read(place) => {
            let same = match &*place.kind {
                PlaceKind::Deref(pointer) => pointed_at(pointer).kind == swapped.kind,
                kind => *kind == *swapped.kind,
            };
            let Some(space) = space_of(place, kinds) else { return };
            if same {
                let ty = place.ty.clone();
                let plain = Type::pointer(ty.clone(), space);
                let kind = ExprKind::AddressOf(place.clone());
                let address = Expr::new(kind, plain.clone(), value.origin.clone());
                let volatile = match plain {
                    Type::Pointer { pointee, space, readonly, .. } => {
                        Type::Pointer { pointee, space, volatile: true, readonly }
                    }
                    other => other,
                };
                let kind = PlaceKind::Deref(address.cast(volatile));
                *place = Place::new(kind, ty, value.origin.clone());
            }
        }
        _ => {}
    }
}
