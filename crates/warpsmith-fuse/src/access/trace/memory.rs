//! Where places are, and what is read from and written to them.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Place, PlaceKind, Type};

use super::{Access, Base, Frame, Run, Stop, Val, unknown};
use crate::access::affine::Affine;

impl Run<'_> {
    pub(super) fn size(&self, ty: Option<&Type>) -> i64 {
        ty.map_or(1, |t| layout_of(self.module, t).size as i64)
    }

    /// Where a place is, in bytes. `None`: it is not known.
    pub(super) fn address(
        &mut self,
        place: &Place,
        frame: &mut Frame,
    ) -> Result<Option<(Base, Affine)>, Stop> {
        match &*place.kind {
            PlaceKind::Var(id) => {
                let object = self.object(frame, *id);
                Ok(Some((Base::Object(object), Affine::default())))
            }
            PlaceKind::Global(_) => Ok(None),
            PlaceKind::Deref(pointer) => match self.expr(pointer, frame)? {
                Val::Pointer(base, at) => Ok(Some((base, at))),
                _ => unknown("it reads or writes through a pointer that depends on data"),
            },
            PlaceKind::Elem { pointer, index, .. } => {
                let pointer = self.expr(pointer, frame)?;
                let [index] = index.as_slice() else {
                    return unknown("it has arrays of several dimensions");
                };
                let index = self.expr(index, frame)?;
                let Val::Pointer(base, at) = pointer else {
                    return unknown("it reads or writes through a pointer that depends on data");
                };
                self.moved(base, at, index, self.size(Some(&place.ty)))
            }
            PlaceKind::Index(inner, index) => {
                let Some((base, at)) = self.address(inner, frame)? else { return Ok(None) };
                let index = self.expr(index, frame)?;
                self.moved(base, at, index, self.size(Some(&place.ty)))
            }
            PlaceKind::Component(inner, n) => {
                let Some((base, at)) = self.address(inner, frame)? else { return Ok(None) };
                let offset = i64::from(*n) * self.size(Some(&place.ty));
                Ok(at.plus(&Affine::constant(offset)).map(|at| (base, at)))
            }
            PlaceKind::Field(inner, n) => {
                let Some((base, at)) = self.address(inner, frame)? else { return Ok(None) };
                let Type::Struct(id) = &inner.ty else { return Ok(None) };
                let offset = self.module.structs[id.0 as usize].fields[*n as usize].offset as i64;
                Ok(at.plus(&Affine::constant(offset)).map(|at| (base, at)))
            }
        }
    }

    fn moved(
        &self,
        base: Base,
        at: Affine,
        index: Val,
        size: i64,
    ) -> Result<Option<(Base, Affine)>, Stop> {
        let moved = match index {
            Val::Int(n) => n.times(size).and_then(|n| at.plus(&n)),
            _ if matches!(base, Base::Object(_)) => return Ok(None),
            _ => return unknown("its subscripts depend on data"),
        };
        match moved {
            Some(at) => Ok(Some((base, at))),
            None if self.linear => Err(Stop::NotLinear),
            None => unknown("its subscripts are too large"),
        }
    }

    /// Offset and length in floats of an access to an argument.
    fn floats(&self, at: Affine, ty: &Type) -> Result<(Affine, i64), Stop> {
        let size = self.size(Some(ty));
        let whole = at.constant % 4 == 0 && at.by.iter().all(|c| c % 4 == 0) && size % 4 == 0;
        if !whole {
            return unknown("it touches parts of floats");
        }
        let mut floats = Affine::constant(at.constant / 4);
        floats.by = at.by.map(|c| c / 4);
        Ok((floats, size / 4))
    }

    pub(super) fn read(&mut self, place: &Place, frame: &mut Frame) -> Result<Val, Stop> {
        match self.address(place, frame)? {
            None => Ok(Val::Other),
            Some((Base::Object(object), at)) => {
                let known = at.as_constant().and_then(|at| self.objects[object].get(&at).copied());
                if let Some(value) = known {
                    return Ok(value);
                }
                // An array decays to a pointer to its first element.
                Ok(Val::Other)
            }
            Some((Base::Argument(argument), at)) => {
                let (at, length) = self.floats(at, &place.ty)?;
                let access = Access { argument, at, length, write: false, copies: None };
                self.trace.accesses.push(access);
                Ok(Val::Element { argument, at, length })
            }
        }
    }

    pub(super) fn store(
        &mut self,
        place: &Place,
        value: Val,
        frame: &mut Frame,
    ) -> Result<(), Stop> {
        match self.address(place, frame)? {
            None => {
                self.objects.iter_mut().for_each(|o| o.retain(|_, v| matches!(v, Val::Pointer(..))))
            }
            Some((Base::Object(object), at)) => match at.as_constant() {
                Some(at) => {
                    self.objects[object].insert(at, value);
                }
                None => self.objects[object].clear(),
            },
            Some((Base::Argument(argument), at)) => {
                let (at, length) = self.floats(at, &place.ty)?;
                let copies = match value {
                    Val::Element { argument, at, length: l } if l == length => Some((argument, at)),
                    _ => None,
                };
                self.trace.accesses.push(Access { argument, at, length, write: true, copies });
            }
        }
        Ok(())
    }
}
