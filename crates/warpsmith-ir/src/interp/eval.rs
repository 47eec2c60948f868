//! Expressions and places.

use super::InterpErrorKind;
use super::bounds::Track;
use super::exec::{Interp, Run, Slot};
use super::memory::{Image, Pointer, Val};
use crate::eval::{self, to_bytes};
use crate::expr::{BinaryOp, Builtin, Expr, ExprKind, MathFn, Place, PlaceKind};
use crate::layout::{field_of, layout_of};
use crate::module::VarId;
use crate::span::Origin;
use crate::types::{Scalar, Type};
use crate::value::Value;

/// A value and its error bound.
pub(crate) type Item<T> = (Val, <T as Track>::Bound);

/// Where a place is: a variable without an address, or memory.
pub(crate) enum Location {
    Slot(VarId),
    At(Pointer),
}

impl<T: Track> Interp<'_, '_, T> {
    pub fn eval(&mut self, e: &Expr) -> Run<Item<T>> {
        self.steps += 1;
        match &*e.kind {
            ExprKind::Const(v) => Ok(number::<T>(*v)),
            ExprKind::Named(id) => match self.module.constants.get(id.0 as usize) {
                Some(c) => Ok(number::<T>(c.value)),
                None => self.unsupported("an unknown constant", &e.origin),
            },
            ExprKind::Read(place) => self.read(place, &e.origin),
            ExprKind::AddressOf(place) => match self.locate_up_to(place, true)? {
                Location::At(p) => Ok(pointer::<T>(p)),
                Location::Slot(_) => self.unsupported("the address of this variable", &e.origin),
            },
            ExprKind::Unary(op, a) => {
                let (v, b) = self.number(a)?;
                Ok((Val::Num(eval::unary(*op, v)), b))
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::PtrOffset(p, i) => {
                let size = self.size(pointee(&e.ty));
                let p = self.pointer(p)?;
                let i = self.integer(i)?;
                Ok(pointer::<T>(p.add(i.wrapping_mul(size))))
            }
            ExprKind::PtrDiff(a, b) => {
                let size = self.size(pointee(&a.ty)).max(1);
                let (p, q) = (self.pointer(a)?, self.pointer(b)?);
                let bytes = p.to_bits().wrapping_sub(q.to_bits()) as i64;
                Ok(number::<T>(Value::int(Scalar::I64, bytes / size)))
            }
            ExprKind::Cast(a) => {
                let item = self.eval(a)?;
                self.cast(item, &e.ty, &e.origin)
            }
            ExprKind::Bitcast(a) => {
                let item = self.eval(a)?;
                self.bitcast(item, &e.ty, &e.origin)
            }
            ExprKind::Select(c, a, b) => {
                let held = self.truth(c)?;
                self.memory.note_way(e.origin.span, held);
                self.eval(if held { a } else { b })
            }
            ExprKind::Call(MathFn::Settled, args) => self.settled(args, &e.ty),
            ExprKind::Call(function, args) => self.math(*function, args),
            ExprKind::Builtin(Builtin::WarpSize) => Ok(number::<T>(Value::int(Scalar::U32, 32))),
            ExprKind::Builtin(_) => self.unsupported("a value of the running thread", &e.origin),
            ExprKind::Make(parts) => self.make(parts, &e.ty, &e.origin),
            ExprKind::Member(a, n) => self.member(a, *n, &e.ty, &e.origin),
        }
    }

    /// The value of an argument, 0 where it has none.
    fn settled(&mut self, args: &[Expr], ty: &Type) -> Run<Item<T>> {
        match args.first().map(|a| self.number(a)) {
            Some(Ok((value, bound))) => Ok((Val::Num(value), bound)),
            Some(Err(stop)) if !matches!(stop.kind, InterpErrorKind::Uninitialized(_)) => Err(stop),
            _ => Ok(number::<T>(Value { ty: ty.scalar().unwrap_or(Scalar::U32), bits: 0 })),
        }
    }

    fn math(&mut self, function: MathFn, args: &[Expr]) -> Run<Item<T>> {
        let items = args.iter().map(|a| self.number(a)).collect::<Run<Vec<_>>>()?;
        let mut values = [Value::i32(0); 3];
        let n = items.len().min(3);
        for (to, (v, _)) in values.iter_mut().zip(&items) {
            *to = *v;
        }
        let result = eval::math(function, &values[..n]);
        Ok((Val::Num(result), T::call(function, &items, result)))
    }

    /// A scalar operand.
    pub fn number(&mut self, e: &Expr) -> Run<(Value, T::Bound)> {
        // The common cases first, without the detour over values of any type: all inner loops are here.
        match &*e.kind {
            ExprKind::Const(v) => return Ok((*v, T::input(*v))),
            ExprKind::Binary(op, a, b) if !op.is_logical() => return self.arithmetic(*op, a, b),
            ExprKind::Read(place) => {
                if let Type::Scalar(ty) = place.ty {
                    return self.read_scalar(place, ty, &e.origin);
                }
            }
            _ => {}
        }
        match self.eval(e)? {
            (Val::Num(v), b) => Ok((v, b)),
            (Val::Ptr(p), b) => Ok((Value { ty: Scalar::U64, bits: p.to_bits() }, b)),
            (Val::Bytes(_), _) => self.unsupported("an aggregate as an operand", &e.origin),
        }
    }

    fn read_scalar(
        &mut self,
        place: &Place,
        ty: Scalar,
        origin: &Origin,
    ) -> Run<(Value, T::Bound)> {
        if let PlaceKind::Var(var) = &*place.kind
            && let Some(Slot::Value((Val::Num(v), b))) = self.slot(*var)
        {
            return Ok((*v, *b));
        }
        match self.locate(place)? {
            Location::At(p) => {
                self.host_at(place, p, ty.bytes().into(), false);
                match self.load_scalar(p, ty) {
                    Err(InterpErrorKind::Uninitialized(what)) => {
                        self.given_object(place, p, ty, what)
                    }
                    result => result.map_err(|kind| self.error(kind, &place.origin)),
                }
            }
            Location::Slot(_) => match self.read(place, origin)? {
                (Val::Num(v), b) => Ok((v, b)),
                _ => self.unsupported("this value as a scalar", origin),
            },
        }
    }

    /// As [`Self::given`], for a variable that lies in memory because its address is taken.
    fn given_object(
        &mut self,
        place: &Place,
        p: Pointer,
        ty: Scalar,
        what: String,
    ) -> Run<(Value, T::Bound)> {
        let name = match &*place.kind {
            PlaceKind::Var(var) => self.var_name(*var).to_string(),
            PlaceKind::Global(global) => {
                self.module.globals.get(global.0 as usize).map_or(String::new(), |g| g.name.clone())
            }
            _ => String::new(),
        };
        if let Some(value) = self.launcher.value_of(&name, ty) {
            let item = number::<T>(value);
            self.store(p, item.clone()).map_err(|kind| self.error(kind, &place.origin))?;
            return Ok((value, item.1));
        }
        Err(self.error(InterpErrorKind::Uninitialized(what), &place.origin))
    }

    pub fn integer(&mut self, e: &Expr) -> Run<i64> {
        if let Some(v) = self.of_counters(e) {
            return Ok(v.as_i64());
        }
        Ok(self.decisive(e)?.as_i64())
    }

    /// A whole number of constants and variables that nothing is in doubt of, as nearly all subscripts are: without bounds.
    fn of_counters(&self, e: &Expr) -> Option<Value> {
        match &*e.kind {
            ExprKind::Const(v) if v.ty.is_integer() => Some(*v),
            ExprKind::Binary(op, a, b) if !op.is_logical() => {
                Some(eval::binary(*op, self.of_counters(a)?, self.of_counters(b)?))
            }
            ExprKind::Cast(a) => match e.ty {
                Type::Scalar(to) if to.is_integer() => Some(eval::cast(self.of_counters(a)?, to)),
                _ => None,
            },
            ExprKind::Read(place) => match (&*place.kind, &place.ty) {
                (PlaceKind::Var(var), Type::Scalar(ty)) if ty.is_integer() => {
                    match self.slot(*var)? {
                        Slot::Value((Val::Num(v), b)) if !T::in_doubt(*v, *b) => Some(*v),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub fn truth(&mut self, e: &Expr) -> Run<bool> {
        Ok(self.decisive(e)?.is_true())
    }

    /// A number that decides what happens next: notes when another math library may decide otherwise.
    pub fn decisive(&mut self, e: &Expr) -> Run<Value> {
        let (value, bound) = self.number(e)?;
        if T::in_doubt(value, bound) {
            self.memory.doubtful = true;
        }
        Ok(value)
    }

    pub fn pointer(&mut self, e: &Expr) -> Run<Pointer> {
        if let ExprKind::Read(place) = &*e.kind
            && let PlaceKind::Var(var) = &*place.kind
            && let Some(Slot::Value((Val::Ptr(p), _))) = self.slot(*var)
        {
            return Ok(*p);
        }
        match self.eval(e)?.0 {
            Val::Ptr(p) => Ok(p),
            Val::Num(v) => Ok(Pointer::from_bits(v.bits)),
            Val::Bytes(_) => self.unsupported("an aggregate as a pointer", &e.origin),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Run<Item<T>> {
        if op.is_logical() {
            let stops = op == BinaryOp::LogicalOr;
            let value = if self.truth(a)? == stops { stops } else { self.truth(b)? };
            return Ok(number::<T>(Value::bool(value)));
        }
        let (value, bound) = self.arithmetic(op, a, b)?;
        Ok((Val::Num(value), bound))
    }

    fn arithmetic(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Run<(Value, T::Bound)> {
        let (x, y) = (self.number(a)?, self.number(b)?);
        let result = eval::binary(op, x.0, y.0);
        Ok((result, T::binary(op, x, y, result)))
    }

    fn cast(&mut self, (value, bound): Item<T>, to: &Type, origin: &Origin) -> Run<Item<T>> {
        match (value, to) {
            (Val::Num(v), Type::Scalar(s)) => {
                let result = eval::cast(v, *s);
                self.memory.unfit |= !eval::fits(v, *s);
                Ok((Val::Num(result), T::cast((v, bound), result)))
            }
            (Val::Num(v), Type::Pointer { .. }) => {
                Ok(pointer::<T>(Pointer::from_bits(v.as_i64() as u64)))
            }
            (Val::Ptr(p), Type::Scalar(s)) => {
                Ok(number::<T>(eval::cast(Value { ty: Scalar::U64, bits: p.to_bits() }, *s)))
            }
            (value @ Val::Ptr(_), Type::Pointer { .. }) => Ok((value, bound)),
            _ => self.unsupported("this conversion", origin),
        }
    }

    fn bitcast(&mut self, (value, bound): Item<T>, to: &Type, origin: &Origin) -> Run<Item<T>> {
        let image = self.image_of((value, bound));
        self.value_of(image, to, origin)
    }

    /// A value as it would lie in memory.
    fn image_of(&self, (value, bound): Item<T>) -> Image {
        let v = match value {
            Val::Bytes(image) => return *image,
            Val::Num(v) => v,
            Val::Ptr(p) => Value { ty: Scalar::U64, bits: p.to_bits() },
        };
        let size = v.ty.bytes() as usize;
        let mut image = Image::new(size, true);
        image.bytes.copy_from_slice(&to_bytes(v)[..size]);
        T::store(&mut image.bounds, 0, (v, bound));
        image
    }

    /// The value that an image holds at its start.
    fn value_of(&self, image: Image, ty: &Type, origin: &Origin) -> Run<Item<T>> {
        let scalar = match ty {
            Type::Scalar(s) => *s,
            Type::Pointer { .. } => Scalar::U64,
            _ => {
                let size = layout_of(self.module, ty).size as usize;
                if image.bytes.len() != size {
                    return self.unsupported("a bit cast between sizes", origin);
                }
                return Ok((Val::Bytes(Box::new(image)), T::input(Value::i32(0))));
            }
        };
        if image.known.iter().take(scalar.bytes() as usize).any(|k| !k) {
            return Err(
                self.error(InterpErrorKind::Uninitialized("a part of this value".into()), origin)
            );
        }
        let Some(v) = eval::from_bytes(scalar, &image.bytes) else {
            return self.unsupported("a bit cast between sizes", origin);
        };
        let bound = T::load(Some(&image.bounds), 0, v);
        Ok(match ty {
            Type::Pointer { .. } => (Val::Ptr(Pointer::from_bits(v.bits)), bound),
            _ => (Val::Num(v), bound),
        })
    }

    fn make(&mut self, parts: &[Expr], ty: &Type, origin: &Origin) -> Run<Item<T>> {
        let size = layout_of(self.module, ty).size;
        if size > self.limits.max_local_bytes {
            let limit = self.limits.max_local_bytes;
            return Err(self.error(InterpErrorKind::MemoryLimit(limit), origin));
        }
        let mut image = Image::new(size as usize, false);
        for (i, part) in parts.iter().enumerate() {
            let Some((at, part_ty)) = part_of(self.module, ty, i as u64) else {
                return self.unsupported("a part that the type does not have", origin);
            };
            let size = layout_of(self.module, &part_ty).size as usize;
            let item = self.eval(part)?;
            let piece = self.image_of(item);
            if piece.bytes.len() != size || at + size > image.bytes.len() {
                return self.unsupported("a part of another type", origin);
            }
            image.put(at, &piece);
        }
        Ok((Val::Bytes(Box::new(image)), T::input(Value::i32(0))))
    }

    fn member(&mut self, a: &Expr, n: u32, ty: &Type, origin: &Origin) -> Run<Item<T>> {
        let item = self.eval(a)?;
        let whole = self.image_of(item);
        let size = layout_of(self.module, ty).size as usize;
        match part_of(self.module, &a.ty, n.into()) {
            Some((at, _)) if at + size <= whole.bytes.len() => {
                self.value_of(whole.part(at, size), ty, origin)
            }
            _ => self.unsupported("a member that the type does not have", origin),
        }
    }

    fn read(&mut self, place: &Place, origin: &Origin) -> Run<Item<T>> {
        match self.locate(place)? {
            Location::Slot(var) => match self.slot(var) {
                Some(Slot::Value(item)) => Ok(item.clone()),
                _ => self.given(var, &place.ty, origin),
            },
            Location::At(p) => {
                self.host_at(place, p, self.size(&place.ty) as u64, false);
                match (self.load(p, &place.ty), &place.ty) {
                    (Err(InterpErrorKind::Uninitialized(what)), Type::Scalar(ty)) => {
                        let (value, bound) = self.given_object(place, p, *ty, what)?;
                        Ok((Val::Num(value), bound))
                    }
                    (result, _) => result.map_err(|kind| self.error(kind, &place.origin)),
                }
            }
        }
    }

    /// The value that the launcher has for a variable that holds nothing known.
    fn given(&mut self, var: VarId, ty: &Type, origin: &Origin) -> Run<Item<T>> {
        let name = self.var_name(var).to_string();
        if let Some(value) = ty.scalar().and_then(|s| self.launcher.value_of(&name, s)) {
            self.set_slot(var, Slot::Value(number::<T>(value)));
            return Ok(number::<T>(value));
        }
        Err(self.error(InterpErrorKind::Uninitialized(format!("`{name}`")), origin))
    }

    pub fn write(&mut self, place: &Place, item: Item<T>) -> Run<()> {
        match self.locate(place)? {
            Location::Slot(var) => {
                self.set_slot(var, Slot::Value(item));
                Ok(())
            }
            Location::At(p) => {
                self.host_at(place, p, self.size(&place.ty) as u64, true);
                self.store(p, item).map_err(|kind| self.error(kind, &place.origin))
            }
        }
    }

    pub fn locate(&mut self, place: &Place) -> Run<Location> {
        self.locate_up_to(place, false)
    }

    /// With `end` the place need not exist: the element after the last one has an address, too.
    fn locate_up_to(&mut self, place: &Place, end: bool) -> Run<Location> {
        let at = match &*place.kind {
            PlaceKind::Var(var) => match self.slot(*var) {
                Some(Slot::Object(id)) => Pointer { object: Some(*id), offset: 0 },
                Some(_) => return Ok(Location::Slot(*var)),
                None => return self.unsupported("an unknown variable", &place.origin),
            },
            PlaceKind::Global(id) => match self.global(id.0) {
                Some(object) => Pointer { object: Some(object), offset: 0 },
                None => return self.unsupported("an unknown global variable", &place.origin),
            },
            PlaceKind::Deref(p) => self.pointer(p)?,
            PlaceKind::Elem { pointer, index, dims } => {
                let base = self.pointer(pointer)?;
                let mut linear = 0i64;
                for (k, i) in index.iter().enumerate() {
                    let i = self.integer(i)?;
                    if let Some(dim) = k.checked_sub(1).and_then(|k| dims.get(k)) {
                        let extent = self.integer(dim)?;
                        self.inside_row(i, extent, place, end)?;
                        linear = linear.wrapping_mul(extent);
                    }
                    linear = linear.wrapping_add(i);
                }
                base.add(linear.wrapping_mul(self.size(&place.ty)))
            }
            PlaceKind::Index(inner, i) => {
                let i = self.integer(i)?;
                self.index_in_range(inner, i, place, end)?;
                let size = self.size(&place.ty);
                self.inside(inner, i.wrapping_mul(size))?
            }
            PlaceKind::Field(inner, n) => {
                let offset = match &inner.ty {
                    Type::Struct(id) => field_of(self.module, *id, *n).map(|(at, _)| at as i64),
                    _ => None,
                };
                match offset {
                    Some(offset) => self.inside(inner, offset)?,
                    None => return self.unsupported("an unknown field", &place.origin),
                }
            }
            PlaceKind::Component(inner, n) => {
                let size = self.size(&place.ty);
                self.inside(inner, i64::from(*n) * size)?
            }
        };
        Ok(Location::At(at))
    }

    fn inside(&mut self, place: &Place, bytes: i64) -> Run<Pointer> {
        match self.locate(place)? {
            Location::At(p) => Ok(p.add(bytes)),
            Location::Slot(_) => self.unsupported("a part of a scalar", &place.origin),
        }
    }

    /// A subscript after the first stays below its extent, even where the array goes on with another row.
    fn inside_row(&self, subscript: i64, extent: i64, place: &Place, end: bool) -> Run<()> {
        if subscript >= 0 && (subscript < extent || end && subscript == extent) {
            return Ok(());
        }
        let base = match &*place.kind {
            PlaceKind::Elem { pointer, .. } => crate::visit::vars_of_expr(pointer).first().copied(),
            _ => None,
        };
        let array = base.map_or("an array".into(), |var| format!("`{}`", self.var_name(var)));
        let kind = InterpErrorKind::OutOfRow { array, subscript, extent };
        Err(self.error(kind, &place.origin))
    }

    /// Indices stay inside their own array, even where the object goes on.
    fn index_in_range(&mut self, array: &Place, i: i64, place: &Place, end: bool) -> Run<()> {
        let Type::Array(_, length) = array.ty else {
            return self.unsupported("an index into what is no array", &place.origin);
        };
        // An array of length 0 ends its object, which knows how long it really is.
        if length == 0 || u64::try_from(i).is_ok_and(|i| i < length || (end && i == length)) {
            return Ok(());
        }
        let size = self.size(&place.ty);
        let kind = InterpErrorKind::OutOfBounds {
            object: match array.root_var() {
                Some(var) => format!("`{}`", self.var_name(var)),
                None => "an array".into(),
            },
            buffer: None,
            offset: i.wrapping_mul(size),
            bytes: size as u64,
            size: length.saturating_mul(size as u64),
        };
        Err(self.error(kind, &place.origin))
    }

    /// Size of a type in bytes.
    pub fn size(&self, ty: &Type) -> i64 {
        match ty {
            Type::Scalar(s) => s.bytes().into(),
            _ => layout_of(self.module, ty).size as i64,
        }
    }
}

pub(crate) fn number<T: Track>(v: Value) -> Item<T> {
    (Val::Num(v), T::input(v))
}

pub(crate) fn pointer<T: Track>(p: Pointer) -> Item<T> {
    (Val::Ptr(p), T::input(Value::i32(0)))
}

fn pointee(ty: &Type) -> &Type {
    ty.pointee().unwrap_or(&Type::Void)
}

/// Byte offset and type of the n-th component, element or field.
fn part_of(module: &crate::Module, ty: &Type, n: u64) -> Option<(usize, Type)> {
    match ty {
        Type::Vector(s, count) if n < u64::from(*count) => {
            Some((n as usize * s.bytes() as usize, Type::Scalar(*s)))
        }
        Type::Array(element, length) if n < *length => {
            let size = layout_of(module, element).size;
            Some((usize::try_from(n.checked_mul(size)?).ok()?, (**element).clone()))
        }
        Type::Struct(id) => {
            let (at, ty) = field_of(module, *id, u32::try_from(n).ok()?)?;
            Some((at as usize, ty.clone()))
        }
        _ => None,
    }
}
