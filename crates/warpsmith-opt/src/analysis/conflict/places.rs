//! The element that a place designates, as polynomials over unknowns.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{Expr, ExprKind, Place, PlaceKind, Type};

use super::formula::Fact;
use super::terms::{Instance, Terms, number, plus, product};

/// An element of an object, and what part of it.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// One subscript a dimension, outermost first.
    pub index: Vec<Poly>,
    /// Extents of the inner dimensions.
    pub dims: Vec<Poly>,
    /// The way into the element: fields by their number, subscripts of arrays in it.
    pub fields: Vec<Poly>,
}

impl Path {
    /// The subscript into the object seen as one row.
    fn linear(&self) -> Option<Poly> {
        let (first, rest) = self.index.split_first()?;
        let mut pairs = rest.iter().zip(&self.dims);
        pairs.try_fold(first.clone(), |sum, (i, d)| Some(plus(&product(&sum, d)?, i)))
    }

    /// That two paths of one object lead to places that overlap.
    ///
    /// `None` where the products of their linear forms get too large.
    pub fn meets(&self, other: &Path) -> Option<Vec<Fact>> {
        let same_shape = self.index.len() == other.index.len() && self.dims == other.dims;
        let mut facts: Vec<Fact> = match same_shape {
            true => self.index.iter().zip(&other.index).map(|(x, y)| Fact::equal(x, y)).collect(),
            false => vec![Fact::equal(&self.linear()?, &other.linear()?)],
        };
        facts.extend(self.fields.iter().zip(&other.fields).map(|(x, y)| Fact::equal(x, y)));
        Some(facts)
    }

    /// That the subscripts lie inside the object; `extent` is that of the outermost dimension, or of the whole where
    /// the path has one subscript only.
    pub fn inside(&self, extent: Option<&Poly>) -> Vec<Fact> {
        let limits = std::iter::once(extent).chain(self.dims.iter().map(Some));
        let mut facts = vec![];
        for (i, limit) in self.index.iter().zip(limits) {
            facts.push(Fact::at_least(i, &Poly::zero()));
            facts.extend(limit.map(|l| Fact::less(i, l)));
        }
        facts
    }
}

impl Terms<'_, '_> {
    /// Where a place lies in its object; `None` where the way there is not understood.
    pub fn place(&mut self, place: &Place, at: &Instance) -> Option<Path> {
        match &*place.kind {
            PlaceKind::Var(_) | PlaceKind::Global(_) => Some(Path::default()),
            PlaceKind::Deref(e) => self.offset(e, at, vec![number(0)], vec![]),
            PlaceKind::Elem { pointer, index, dims } => {
                let index = index.iter().map(|i| self.value(i, at)).collect();
                let dims = dims.iter().map(|d| self.value(d, at)).collect();
                self.offset(pointer, at, index, dims)
            }
            PlaceKind::Index(array, i) => {
                let mut path = self.place(array, at)?;
                let i = self.value(i, at);
                match path.fields.is_empty() && is_object(array) {
                    true => {
                        if !path.index.is_empty() {
                            let extent = array.ty.extents().first().copied()?;
                            path.dims.push(number(extent.into()));
                        }
                        path.index.push(i);
                    }
                    false => path.fields.push(i),
                }
                Some(path)
            }
            PlaceKind::Field(p, k) => {
                let mut path = self.place(p, at)?;
                path.fields.push(number(i128::from(*k)));
                Some(path)
            }
            PlaceKind::Component(p, k) => {
                let mut path = self.place(p, at)?;
                path.fields.push(number(i128::from(*k)));
                Some(path)
            }
        }
    }

    /// Subscripts counted from a pointer.
    fn offset(
        &mut self,
        pointer: &Expr,
        at: &Instance,
        index: Vec<Poly>,
        dims: Vec<Poly>,
    ) -> Option<Path> {
        let own = Path { index, dims, fields: vec![] };
        let start = self.start(pointer, at)?;
        match start {
            None => Some(own),
            Some(start) => {
                let sum = plus(&start, &own.linear()?);
                Some(Path { index: vec![sum], dims: vec![], fields: vec![] })
            }
        }
    }

    /// How many elements behind the start of its object a pointer points; `Some(None)` for the start itself.
    fn start(&mut self, pointer: &Expr, at: &Instance) -> Option<Option<Poly>> {
        match &*pointer.kind {
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) if !self.scope.is_changed(*v) => Some(None),
                _ => None,
            },
            ExprKind::PtrOffset(base, offset) => {
                let start = self.start(base, at)?.unwrap_or_default();
                let offset = self.value(offset, at);
                Some(Some(plus(&start, &offset)))
            }
            ExprKind::AddressOf(place) => {
                let path = self.place(place, at)?;
                path.fields.is_empty().then(|| path.linear()).flatten().map(Some)
            }
            ExprKind::Cast(inner) => match (&inner.ty, &pointer.ty) {
                (Type::Pointer { pointee: a, .. }, Type::Pointer { pointee: b, .. }) if a == b => {
                    self.start(inner, at)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether an array place is a variable of array type, or a row of one: its subscripts are the object's dimensions.
fn is_object(array: &Place) -> bool {
    match &*array.kind {
        PlaceKind::Var(_) | PlaceKind::Global(_) => true,
        PlaceKind::Index(inner, _) => is_object(inner),
        _ => false,
    }
}
