//! Places that statements store in.

use warpsmith_ir::{Diagnostic, Expr, Place, PlaceKind, Scalar, Span, StmtKind, Type};

use super::access::Designated;
use super::cx::{Cx, Low};
use crate::ast;

impl<'u> Cx<'u> {
    /// A place that may be written.
    ///
    /// # Errors
    /// Not a place (W148), read-only (W148), a pointer (W143), or a size that array extents depend on (W151).
    pub fn target(&mut self, e: &ast::Expr) -> Low<Place> {
        let place = match self.designated(e)? {
            Some(Designated::Place(place)) if !matches!(place.ty, Type::Array(..)) => place,
            Some(Designated::Place(_)) => {
                return Err(self.error(
                    "W148",
                    "an array cannot be assigned as a whole",
                    e.span,
                    "an array",
                ));
            }
            Some(Designated::Pointer(_)) => {
                let d = Diagnostic::error("W143", "pointers cannot be assigned")
                    .label(e.span, "this pointer would move");
                return Err(self.fail(d.help(
                    "index the array instead of moving a pointer; two arrays change places by `T *t = a; a = b; b = t;`",
                )));
            }
            None => {
                return Err(self.error(
                    "W148",
                    "this cannot be assigned to",
                    e.span,
                    "not a variable or element",
                ));
            }
        };
        self.check_writable(&place, e.span)?;
        Ok(place)
    }

    pub(super) fn check_writable(&mut self, place: &Place, span: Span) -> Low<()> {
        let behind = pointer_of(place).map(|p| &p.ty);
        if matches!(behind, Some(Type::Pointer { readonly: true, .. })) {
            let d = Diagnostic::error("W148", "this array is declared `const`")
                .label(span, "written here");
            return Err(self.fail(d));
        }
        if matches!(&*place.kind, PlaceKind::Global(_)) || root_is_global(place) {
            let d = Diagnostic::error("W148", "constants of the file cannot be written")
                .label(span, "written here");
            return Err(self.fail(d));
        }
        if let Some(id) = &place.root_var() {
            if self.function.var(*id).constant {
                return Err(self.error(
                    "W148",
                    "this variable is declared `const`",
                    span,
                    "written here",
                ));
            }
            if let Some(array) = self.frozen.get(id).cloned() {
                let name = self.function.var(*id).name.clone();
                let d = Diagnostic::error(
                    "W151",
                    format!("`{name}` is an extent of `{array}` and must keep its value"),
                )
                .label(span, "changed here");
                return Err(self.fail(d.help(format!("copy it first: `int rest = {name};`"))));
            }
        }
        self.check_replicated(place, span)
    }

    /// In a parallel region every thread runs the statements outside the work-sharing loops.
    pub fn check_replicated(&mut self, place: &Place, span: Span) -> Low<()> {
        let Some(region) = self.replicated() else { return Ok(()) };
        if place.root_var().is_some_and(|id| region.owns(id)) {
            return Ok(());
        }
        let d = Diagnostic::error(
            "W152",
            "every thread of the parallel region would write this shared variable",
        )
        .label(span, "written by all threads")
        .label(region.span, "the region begins here");
        Err(self.fail(
            d.help("put it under `#pragma omp single`, or inside a loop marked `#pragma omp for`"),
        ))
    }

    /// Emits `place = value`, converting the value.
    pub fn store(&mut self, place: Place, value: Expr, span: Span) {
        let to = place.ty.scalar().unwrap_or(Scalar::I32);
        let value = self.convert(value, to);
        self.push(StmtKind::Assign { place, value }, span);
    }
}

fn root_is_global(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Global(_) => true,
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => {
            root_is_global(p)
        }
        _ => false,
    }
}

/// The pointer that a place is behind.
fn pointer_of(place: &Place) -> Option<&Expr> {
    match &*place.kind {
        PlaceKind::Deref(pointer) | PlaceKind::Elem { pointer, .. } => Some(pointer),
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => {
            pointer_of(p)
        }
        PlaceKind::Var(_) | PlaceKind::Global(_) => None,
    }
}
