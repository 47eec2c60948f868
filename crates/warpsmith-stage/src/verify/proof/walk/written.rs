//! What parameters lead to: arrays that a kernel may write, and structures.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::visit::{Access, for_each_expr, for_each_place, for_each_stmt};
use warpsmith_ir::{
    Expr, ExprKind, Function, Module, Place, PlaceKind, Space, StmtKind, Type, VarId,
};

use crate::verify::proof::tree::Array;

/// Arrays that a kernel may write: parameters, and pointers in them, that are used in another way than to be read from.
pub(super) fn arrays(module: &Module, f: &Function) -> Vec<Array> {
    // Uses of each pointer that are no reads through it.
    let mut uses: BTreeMap<String, i32> = BTreeMap::new();
    // Structures that go somewhere as a whole, with the pointers in them.
    let mut whole: BTreeSet<String> = BTreeSet::new();
    let named = |e: &Expr| match &*e.kind {
        ExprKind::Read(place) => path(module, f, place),
        _ => None,
    };
    for_each_expr(&f.body, &mut |e| {
        let read_only = match &*e.kind {
            ExprKind::Cast(pointer) if is_fixed(&e.ty) => named(pointer),
            ExprKind::Read(place) => {
                if let Some(name) = path(module, f, place) {
                    match place.ty {
                        Type::Struct(_) => _ = whole.insert(name),
                        _ => *uses.entry(name).or_default() += 1,
                    }
                }
                through(place).and_then(named)
            }
            _ => None,
        };
        if let Some(name) = read_only {
            *uses.entry(name).or_default() -= 1;
        }
    });
    // What a pointer to constants is made from is not written through it.
    for_each_stmt(&f.body, &mut |s| {
        let StmtKind::Decl { var, init: Some(value) } = &s.kind else { return };
        if let Some(name) = named(value).filter(|_| is_fixed(&f.var(*var).ty)) {
            *uses.entry(name).or_default() -= 1;
        }
    });
    let mut all = globals(module);
    for p in &f.params {
        let var = f.var(*p);
        let used = |name: &str, ty: &Type| {
            let goes = |w: &String| name.starts_with(&format!("{w}."));
            !is_fixed(ty) && (uses.get(name).is_some_and(|n| *n > 0) || whole.iter().any(goes))
        };
        if var.ty.is_pointer() && used(&var.name, &var.ty) {
            all.push(Array::Variable(p.0));
        }
        let inside = var.ty.pointee().unwrap_or(&var.ty);
        members(module, inside, &var.name, &mut |name, ty| {
            if used(&name, ty) {
                all.push(Array::Member(name));
            }
        });
    }
    all
}

/// Variables of the device that some function stores to or takes the address of to store there. What is in constant memory nothing
/// changes.
fn globals(module: &Module) -> Vec<Array> {
    let mut all = BTreeSet::new();
    for function in &module.functions {
        for_each_place(&function.body, &mut |place, access| {
            if access != Access::Read {
                all.extend(global(place));
            }
        });
        for_each_expr(&function.body, &mut |e| match &*e.kind {
            ExprKind::AddressOf(place) if !is_fixed(&e.ty) => all.extend(global(place)),
            _ => {}
        });
    }
    let device = |n: &u32| module.globals[*n as usize].space != Space::Constant;
    all.into_iter().filter(device).map(Array::Global).collect()
}

/// The variable of the device that a place is a part of.
fn global(place: &Place) -> Option<u32> {
    match &*place.kind {
        PlaceKind::Global(g) => Some(g.0),
        PlaceKind::Field(inner, _)
        | PlaceKind::Component(inner, _)
        | PlaceKind::Index(inner, _) => global(inner),
        _ => None,
    }
}

/// Whether nothing is written through pointers of a type.
fn is_fixed(ty: &Type) -> bool {
    matches!(ty, Type::Pointer { readonly: true, volatile: false, .. })
}

/// Parameters that lead to one structure each: nothing is read through them but its members.
pub(super) fn objects(f: &Function) -> Vec<VarId> {
    let mut others = vec![0i32; f.vars.len()];
    for_each_expr(&f.body, &mut |e| {
        let ExprKind::Read(place) = &*e.kind else { return };
        match &*place.kind {
            PlaceKind::Var(v) => others[v.0 as usize] += 1,
            PlaceKind::Field(inner, _) => {
                if let Some(v) = object(inner) {
                    others[v.0 as usize] -= 1;
                }
            }
            _ => {}
        }
    });
    let leads = |p: &&VarId| matches!(f.var(**p).ty.pointee(), Some(Type::Struct(_)));
    f.params.iter().filter(leads).filter(|p| others[p.0 as usize] == 0).copied().collect()
}

/// The parameter that leads to the structure which a place is a member of.
fn object(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Field(inner, _) => object(inner),
        PlaceKind::Deref(pointer) => variable(pointer),
        _ => None,
    }
}

/// The variable that an expression reads.
pub(super) fn variable(e: &Expr) -> Option<VarId> {
    match &*e.kind {
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        _ => None,
    }
}

/// The pointer that a place is read through.
fn through(place: &Place) -> Option<&Expr> {
    match &*place.kind {
        PlaceKind::Elem { pointer, .. } | PlaceKind::Deref(pointer) => Some(pointer),
        PlaceKind::Field(inner, _)
        | PlaceKind::Component(inner, _)
        | PlaceKind::Index(inner, _) => through(inner),
        PlaceKind::Var(_) | PlaceKind::Global(_) => None,
    }
}

/// What a place is called that is a variable or a member: `grid.data`, whether `grid` is a structure or leads to one.
fn path(module: &Module, f: &Function, place: &Place) -> Option<String> {
    match &*place.kind {
        PlaceKind::Var(v) => Some(f.var(*v).name.clone()),
        PlaceKind::Field(inner, n) => {
            let base = match object(inner) {
                Some(v) if matches!(&*inner.kind, PlaceKind::Deref(_)) => f.var(v).name.clone(),
                _ => path(module, f, inner)?,
            };
            let Type::Struct(id) = &inner.ty else { return None };
            let field = module.structs[id.0 as usize].fields.get(*n as usize)?;
            Some(format!("{base}.{}", field.name))
        }
        _ => None,
    }
}

/// The pointers in a structure, with the structures in it.
fn members(module: &Module, ty: &Type, name: &str, see: &mut dyn FnMut(String, &Type)) {
    let Type::Struct(id) = ty else { return };
    for f in &module.structs[id.0 as usize].fields {
        let inner = format!("{name}.{}", f.name);
        match &f.ty {
            Type::Pointer { .. } => see(inner, &f.ty),
            ty => members(module, ty, &inner, see),
        }
    }
}
