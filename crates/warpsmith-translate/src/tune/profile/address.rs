//! Addresses of accesses: which array, and how many bytes from its start.

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, GlobalId, Module, Place, PlaceKind, Scalar, Type, Value, VarId,
    layout::{field_of, layout_of},
};

use super::values::{Extents, Number, Thread};

/// An array or other object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// A variable, or what a pointer parameter points to.
    Var(VarId),
    Global(GlobalId),
}

/// A byte in an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address<N> {
    pub object: Object,
    pub offset: N,
}

impl<N: Number> Address<N> {
    fn start(object: Object) -> Address<N> {
        Address { object, offset: N::constant(Value::int(Scalar::I64, 0)) }
    }

    /// Moved by `index` elements of some bytes.
    fn moved(self, index: N, bytes: u64) -> Address<N> {
        let offset = N::binary(BinaryOp::Add, self.offset, scaled(index, bytes));
        Address { offset, object: self.object }
    }
}

fn scaled<N: Number>(index: N, by: u64) -> N {
    let by = N::constant(Value::int(Scalar::I64, by as i64));
    N::binary(BinaryOp::Mul, index.cast(Scalar::I64), by)
}

impl<N: Number> Thread<N> {
    /// Where a place lies, if that follows from the sizes and the position.
    pub fn address(&self, module: &Module, at: Extents, place: &Place) -> Option<Address<N>> {
        let size = |t: &Type| layout_of(module, t).size;
        let eval = |e: &Expr| self.eval(module, at, e);
        Some(match &*place.kind {
            PlaceKind::Var(v) => Address::start(Object::Var(*v)),
            PlaceKind::Global(g) => Address::start(Object::Global(*g)),
            PlaceKind::Deref(e) => self.pointer(module, at, e)?,
            PlaceKind::Elem { pointer, index, dims } => {
                let mut element = N::constant(Value::int(Scalar::I64, 0));
                for (k, i) in index.iter().enumerate() {
                    if k > 0 {
                        let extent = eval(dims.get(k - 1)?)?.same()?.as_i64();
                        element = scaled(element, extent as u64);
                    }
                    element = N::binary(BinaryOp::Add, element, eval(i)?.cast(Scalar::I64));
                }
                self.pointer(module, at, pointer)?.moved(element, size(&place.ty))
            }
            PlaceKind::Index(p, i) => self.address(module, at, p)?.moved(eval(i)?, size(&place.ty)),
            PlaceKind::Field(p, n) => {
                let Type::Struct(id) = &p.ty else { return None };
                let (offset, _) = field_of(module, *id, *n)?;
                let one = N::constant(Value::int(Scalar::I64, 1));
                self.address(module, at, p)?.moved(one, offset)
            }
            PlaceKind::Component(p, n) => {
                let n = N::constant(Value::int(Scalar::I64, i64::from(*n)));
                self.address(module, at, p)?.moved(n, size(&place.ty))
            }
        })
    }

    /// Where a pointer points to.
    pub fn pointer(&self, module: &Module, at: Extents, e: &Expr) -> Option<Address<N>> {
        match &*e.kind {
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => {
                    let known = self.pointers.get(v).cloned();
                    Some(known.unwrap_or(Address::start(Object::Var(*v))))
                }
                _ => None,
            },
            ExprKind::AddressOf(p) => self.address(module, at, p),
            ExprKind::Cast(p) | ExprKind::Bitcast(p) => self.pointer(module, at, p),
            ExprKind::PtrOffset(p, i) => {
                let size = e.ty.pointee().map_or(1, |t| layout_of(module, t).size);
                let index = self.eval(module, at, i)?;
                Some(self.pointer(module, at, p)?.moved(index, size))
            }
            ExprKind::Select(c, a, b) => {
                let c = self.eval(module, at, c)?.same()?;
                self.pointer(module, at, if c.is_true() { a } else { b })
            }
            _ => None,
        }
    }
}
