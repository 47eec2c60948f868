//! Elements of memory: what is read, and where it is.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Expr, ExprKind, Module, Place, PlaceKind, Type, VarKind};

use super::{Eval, Held, Loaded, Memory};
use crate::verify::proof::poly::Poly;
use crate::verify::proof::tree::{Array, PARAMETER, Tree};

impl Eval<'_> {
    /// A read of memory.
    pub(super) fn read(&mut self, place: &Place) -> Tree {
        match &*place.kind {
            PlaceKind::Component(inner, n) => {
                return self.read_tree(inner).part(usize::from(*n));
            }
            PlaceKind::Field(inner, n) => {
                return self.read_tree(inner).part(*n as usize);
            }
            _ => {}
        }
        let (memory, at) = self.address(place);
        match memory {
            Memory::Global(array) => {
                if at.constant() == Some(0)
                    && let Some(object) = self.objects.get(&array)
                {
                    return object.clone();
                }
                if self.noting {
                    self.loads.push(Loaded {
                        array: array.clone(),
                        at: at.clone(),
                        when: self.path.clone(),
                        span: place.origin.span,
                    });
                }
                match self.written.contains(&array) {
                    true => Tree::Changing(array, at),
                    false => Tree::Load(array, at),
                }
            }
            Memory::Shared(array) => {
                if self.noting {
                    let when = self.path.clone();
                    self.shared_reads.push(Loaded {
                        array: array.clone(),
                        at: at.clone(),
                        when,
                        span: place.origin.span,
                    });
                }
                Tree::Shared(array, at)
            }
            Memory::Local | Memory::Other => {
                self.fresh += 1;
                Tree::Own(self.fresh)
            }
        }
    }

    /// Where a place is, counted in the innermost elements of its array.
    pub fn address(&mut self, place: &Place) -> (Memory, Poly) {
        let count = |ty: &Type| ty.extents().iter().product::<u64>() as i64;
        match &*place.kind {
            PlaceKind::Var(v) => {
                let var = &self.module.functions[self.frame.function].vars[v.0 as usize];
                let array = Array::Variable(v.0);
                match var.kind {
                    VarKind::Shared | VarKind::DynamicShared => {
                        (Memory::Shared(array), Poly::default())
                    }
                    VarKind::Local if matches!(var.ty, Type::Array(..)) => {
                        (Memory::Local, Poly::default())
                    }
                    _ => (Memory::Other, Poly::default()),
                }
            }
            PlaceKind::Global(g) => (Memory::Global(Array::Global(g.0)), Poly::default()),
            PlaceKind::Deref(p) => self.pointer(p),
            PlaceKind::Index(base, index) => {
                let (memory, at) = self.address(base);
                let i = self.whole(index);
                (memory, at.plus(&i, count(&place.ty)))
            }
            PlaceKind::Elem { pointer, index, dims } => {
                let (memory, at) = self.pointer(pointer);
                let mut flat = Poly::default();
                for (d, i) in index.iter().enumerate() {
                    if d > 0 {
                        flat = flat.times(&self.whole(&dims[d - 1]));
                    }
                    flat = flat.plus(&self.whole(i), 1);
                }
                (memory, at.plus(&flat, count(&place.ty)))
            }
            PlaceKind::Field(..) | PlaceKind::Component(..) => (Memory::Other, Poly::default()),
        }
    }

    pub fn pointer(&mut self, e: &Expr) -> (Memory, Poly) {
        let other = (Memory::Other, Poly::default());
        match &*e.kind {
            ExprKind::Read(place) => match &*place.kind {
                PlaceKind::Var(v) => match self.frame.vars.get(&v.0) {
                    Some(Held::Pointer(memory, at)) => (memory.clone(), at.clone()),
                    _ => other,
                },
                PlaceKind::Field(..) => match self.read(place) {
                    Tree::Apply(op, parts) if parts.is_empty() => {
                        match op.strip_prefix(PARAMETER) {
                            Some(name) => (Memory::Global(Array::Member(name.into())), other.1),
                            None => other,
                        }
                    }
                    _ => other,
                },
                _ => other,
            },
            ExprKind::AddressOf(place) => self.address(place),
            ExprKind::PtrOffset(base, index) => {
                let (memory, at) = self.pointer(base);
                let step = base.ty.pointee().map_or(1, |t| t.extents().iter().product::<u64>());
                (memory, at.plus(&self.whole(index), step as i64))
            }
            // The same elements under another name.
            ExprKind::Cast(inner) if same_elements(self.module, &inner.ty, &e.ty) => {
                self.pointer(inner)
            }
            _ => other,
        }
    }
}

/// Pointers whose innermost elements are of one type.
fn same_elements(module: &Module, a: &Type, b: &Type) -> bool {
    let (Some(a), Some(b)) = (a.pointee(), b.pointee()) else { return false };
    let (a, b) = (a.innermost(), b.innermost());
    a == b && layout_of(module, a).size > 0
}
