//! Arrays whose elements select elements of others, `table[ids[t] * width + c]`. Of a kernel nobody says how long `table` is, so
//! that no bound of the indices follows; but numbers of all widths in `ids` would make it gigabytes long, or have no meaning.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::visit;
use warpsmith_ir::{Expr, ExprKind, Function, Place, PlaceKind, StmtKind, VarId};
use warpsmith_opt::walk;

/// How many definitions of variables are followed.
const DEPTH: usize = 6;
/// Numbers of fewer bytes select among few elements: all their values are tried.
const WIDE: u32 = 4;

type Definitions<'a> = BTreeMap<VarId, Vec<&'a Expr>>;

/// The parameters of a kernel that do so.
pub fn parameters(f: &Function) -> BTreeSet<VarId> {
    let mut definitions = Definitions::new();
    walk::each_stmt(&f.body, &mut |s| match &s.kind {
        StmtKind::Decl { var, init: Some(e) } => definitions.entry(*var).or_default().push(e),
        StmtKind::Assign { place, value } => {
            if let PlaceKind::Var(v) = &*place.kind {
                definitions.entry(*v).or_default().push(value);
            }
        }
        _ => {}
    });
    let mut found = BTreeSet::new();
    visit::for_each_place(&f.body, &mut |place, _| {
        if let PlaceKind::Elem { index, .. } = &*place.kind {
            index.iter().for_each(|e| sources(f, e, &definitions, DEPTH, &mut found));
        }
    });
    visit::for_each_expr(&f.body, &mut |e| {
        if let ExprKind::PtrOffset(_, index) = &*e.kind {
            sources(f, index, &definitions, DEPTH, &mut found);
        }
    });
    found
}

/// The arrays that a subscript is read from.
fn sources(
    f: &Function,
    index: &Expr,
    definitions: &Definitions<'_>,
    depth: usize,
    found: &mut BTreeSet<VarId>,
) {
    visit::for_each_subexpr(index, &mut |e| {
        let ExprKind::Read(place) = &*e.kind else { return };
        if let PlaceKind::Var(v) = &*place.kind {
            for value in definitions.get(v).into_iter().flatten().filter(|_| depth > 0) {
                sources(f, value, definitions, depth - 1, found);
            }
        }
        found.extend(array(f, place));
    });
}

/// The parameter that an element of wide whole numbers is read from.
fn array(f: &Function, place: &Place) -> Option<VarId> {
    let wide = place.ty.scalar().is_some_and(|s| s.is_integer() && s.bytes() >= WIDE);
    let (PlaceKind::Elem { pointer, .. } | PlaceKind::Deref(pointer)) = &*place.kind else {
        return None;
    };
    let mut found = None;
    visit::for_each_subexpr(pointer, &mut |e| {
        if let ExprKind::Read(p) = &*e.kind
            && let PlaceKind::Var(v) = &*p.kind
        {
            found = found.or(f.params.contains(v).then_some(*v));
        }
    });
    found.filter(|_| wide)
}
