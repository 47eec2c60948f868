//! Places and pointers: what is read, written and pointed to.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Origin, Place, PlaceKind, Scalar, Type};

use crate::context::{Helper, Printer, Target};
use crate::convert::{common, lossless};
use crate::doc::{Doc, cat, list, text};
use crate::error::{EmitError, Result};
use crate::expr::{Printed, infix, prec};
use crate::types;

impl Printer<'_> {
    /// The place as an lvalue.
    pub fn place(&self, p: &Place) -> Result<Printed> {
        match &*p.kind {
            PlaceKind::Var(id) => Ok(Printed::primary(self.name(*id), p.ty.clone())),
            PlaceKind::Global(id) => Ok(Printed::primary(self.cx.names.global(*id), p.ty.clone())),
            PlaceKind::Deref(pointer) => self.deref(pointer, p),
            PlaceKind::Elem { pointer, index, dims } => {
                if let Some(found) = self.pitched(pointer, index, dims)? {
                    return Ok(Printed::new(found, prec::POSTFIX, p.ty.clone()));
                }
                let base = self.exact(pointer)?;
                let index = self.linear_index(index, dims, &p.origin)?;
                Ok(subscript(base, index, p.ty.clone()))
            }
            PlaceKind::Index(array, i) => {
                let base = self.place(array)?;
                Ok(subscript(base, self.index(i)?.doc, p.ty.clone()))
            }
            PlaceKind::Field(base, field) => {
                let (name, _) = self.part_of(&base.ty, *field, &p.origin)?;
                self.dot(base, &name, &p.ty)
            }
            PlaceKind::Component(base, c) => {
                let (name, _) = self.part_of(&base.ty, u32::from(*c), &p.origin)?;
                self.dot(base, &name, &p.ty)
            }
        }
    }

    /// `element_at(A, A_pitch, row, column)` for an array whose rows lie apart; `None` for others, and for boxes of more
    /// than three dimensions.
    fn pitched(&self, pointer: &Expr, index: &[Expr], dims: &[Expr]) -> Result<Option<Doc>> {
        let ExprKind::Read(p) = &*pointer.kind else { return Ok(None) };
        let PlaceKind::Var(id) = *p.kind else { return Ok(None) };
        let pitched = self.var(id).is_some_and(|v| v.pitched) && self.target == Target::Device;
        let helper = match (pitched, index.len()) {
            (true, 2) => Helper::PitchedRows,
            (true, 3) => Helper::PitchedPlanes,
            _ => return Ok(None),
        };
        let mut args = vec![self.exact(pointer)?.doc];
        for e in dims.iter().chain(index) {
            args.push(self.index(e)?.doc);
        }
        let name = self.cx.helper(helper);
        Ok(Some(list(&format!("{name}("), args, ")")))
    }

    /// `base.name`, or `pointer->name`.
    fn dot(&self, base: &Place, name: &str, ty: &Type) -> Result<Printed> {
        let doc = match &*base.kind {
            PlaceKind::Deref(pointer)
                if self.reference_var(pointer).is_none() && !is_offset(pointer) =>
            {
                let pointer = self.exact(pointer)?.at_least(prec::POSTFIX);
                cat([pointer, text(format!("->{name}"))])
            }
            _ => cat([self.place(base)?.at_least(prec::POSTFIX), text(format!(".{name}"))]),
        };
        Ok(Printed::new(doc, prec::POSTFIX, ty.clone()))
    }

    /// Name and type of a vector's component or a struct's field.
    pub fn part_of(&self, ty: &Type, index: u32, origin: &Origin) -> Result<(String, Type)> {
        match ty {
            Type::Vector(s, n) if index < u32::from(*n) => {
                Ok((["x", "y", "z", "w"][index.min(3) as usize].into(), Type::Scalar(*s)))
            }
            Type::Struct(id) => {
                let def = self.cx.module.structs.get(id.0 as usize);
                let field = def.and_then(|d| d.fields.get(index as usize));
                let field = field.ok_or_else(|| EmitError::new("an unknown field", origin))?;
                Ok((field.name.clone(), field.ty.clone()))
            }
            _ => Err(EmitError::new("a part of something that has none", origin)),
        }
    }

    /// The reference parameter an expression reads as a pointer.
    fn reference_var(&self, pointer: &Expr) -> Option<warpsmith_ir::VarId> {
        match &*pointer.kind {
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(id) if self.is_reference(*id) => Some(*id),
                _ => None,
            },
            _ => None,
        }
    }

    fn deref(&self, pointer: &Expr, p: &Place) -> Result<Printed> {
        if let Some(id) = self.reference_var(pointer) {
            return Ok(Printed::primary(self.name(id), p.ty.clone()));
        }
        match &*pointer.kind {
            ExprKind::PtrOffset(base, i) => {
                let base = self.exact(base)?;
                Ok(subscript(base, self.index(i)?.doc, p.ty.clone()))
            }
            ExprKind::AddressOf(place) if place.ty == p.ty => self.place(place),
            _ => {
                let doc = cat([text("*"), self.exact(pointer)?.at_least(prec::UNARY)]);
                Ok(Printed::new(doc, prec::UNARY, p.ty.clone()))
            }
        }
    }

    /// The value of a place; that of a reference, as the pointer it is in the IR, is an address.
    pub fn read(&self, place: &Place) -> Result<Printed> {
        match &*place.kind {
            PlaceKind::Var(id) if self.is_reference(*id) => {
                let doc = text(format!("&{}", self.name(*id)));
                Ok(Printed::new(doc, prec::UNARY, place.ty.clone()))
            }
            PlaceKind::Var(id)
                if place.ty.is_pointer()
                    && self.spelled.get(id).is_some_and(|s| types::is_another_type(s)) =>
            {
                let open =
                    format!("reinterpret_cast<{}>(", types::spell(&place.ty, self.cx.names)?);
                let doc = list(&open, vec![text(self.name(*id))], ")");
                Ok(Printed::new(doc, prec::POSTFIX, place.ty.clone()))
            }
            _ => self.place(place),
        }
    }

    /// `&place`; arrays and what they begin with are pointers already.
    pub fn address_of(&self, place: &Place, ty: &Type) -> Result<Printed> {
        let zero = |e: &Expr| e.as_const().is_some_and(|v| v.bits == 0);
        match &*place.kind {
            PlaceKind::Index(array, i) if zero(i) => {
                let base = self.place(array)?;
                return Ok(Printed::new(base.doc, base.prec, ty.clone()));
            }
            PlaceKind::Elem { pointer, index, .. } if index.iter().all(zero) => {
                return self.exact(pointer);
            }
            PlaceKind::Deref(pointer) => return self.exact(pointer),
            _ => {}
        }
        let doc = cat([text("&"), self.place(place)?.at_least(prec::UNARY)]);
        Ok(Printed::new(doc, prec::UNARY, ty.clone()))
    }

    pub fn ptr_offset(&self, pointer: &Expr, i: &Expr) -> Result<Printed> {
        let (op, i) = match &*i.kind {
            ExprKind::Const(v) if v.ty.is_signed() && v.as_i64() < 0 && v.as_i64() > i64::MIN => {
                ("-", Expr::int(v.ty, -v.as_i64()))
            }
            _ => ("+", i.clone()),
        };
        let base = self.exact(pointer)?;
        let ty = base.ty.clone();
        let index = self.index(&i)?;
        Ok(Printed::new(
            infix(base.at_least(prec::SUM), op, index.at_least(prec::PRODUCT)),
            prec::SUM,
            ty,
        ))
    }

    /// An index: C extends it to 64 bits by itself, so that only conversions to narrower types that
    /// lose values stay.
    pub fn index(&self, e: &Expr) -> Result<Printed> {
        let p = self.expr(e)?;
        match (p.ty.scalar(), e.ty.scalar()) {
            (Some(from), Some(to)) if lossless(from, to) || p.literal.is_some() => Ok(p),
            (Some(from), Some(to)) if from.is_integer() && to.is_integer() && to.bytes() == 8 => {
                Ok(p)
            }
            _ => self.coerce(p, &e.ty),
        }
    }

    /// `(…(index[0] * dims[0] + index[1]) * dims[1] + …)` in 64-bit arithmetic.
    fn linear_index(&self, index: &[Expr], dims: &[Expr], origin: &Origin) -> Result<Doc> {
        let Some((first, rest)) = index.split_first() else {
            return Err(EmitError::new("an element without an index", origin));
        };
        if rest.len() != dims.len() {
            return Err(EmitError::new("an element with more indices than extents", origin));
        }
        let mut sum = self.index(first)?;
        for (i, dim) in rest.iter().zip(dims) {
            sum = self.next_index(sum, dim, i)?;
        }
        Ok(sum.doc)
    }

    /// `sum * dim + i`, computed in 64 bits.
    fn next_index(&self, sum: Printed, dim: &Expr, i: &Expr) -> Result<Printed> {
        if sum.literal.is_some_and(|v| v.bits == 0) {
            return self.index(i);
        }
        let dim = self.index(dim)?;
        let wide = |a: &Printed, b: &Printed| match (a.ty.scalar(), b.ty.scalar()) {
            (Some(a), Some(b)) => common(a, b).filter(|s| matches!(s, Scalar::I64 | Scalar::U64)),
            _ => None,
        };
        let sum = match wide(&sum, &dim) {
            Some(_) => sum,
            None => {
                if self.target == Target::Host {
                    self.cx.include("stddef.h");
                }
                let doc = cat([text("(size_t)"), sum.at_least(prec::UNARY)]);
                Printed::new(doc, prec::UNARY, Type::U64)
            }
        };
        let ty = wide(&sum, &dim).map_or(Type::U64, Type::Scalar);
        let product = infix(sum.at_least(prec::PRODUCT), "*", dim.at_least(prec::UNARY));
        let next = self.index(i)?;
        if next.literal.is_some_and(|v| v.bits == 0) {
            return Ok(Printed::new(product, prec::PRODUCT, ty));
        }
        // A signed sum may join this one: the 64-bit additions give the same value.
        let joins = matches!(&*i.kind, ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..))
            && next.ty.scalar().is_some_and(|s| s.is_signed());
        let next = next.at_least(if joins { prec::SUM } else { prec::PRODUCT });
        Ok(Printed::new(infix(product, "+", next), prec::SUM, ty))
    }

    /// A conversion between pointers, or between a pointer and an integer.
    pub fn pointer_cast(&self, p: Printed, to: &Type) -> Result<Printed> {
        let (
            Type::Pointer { pointee: from, volatile: v0, readonly: r0, .. },
            Type::Pointer { pointee, volatile: v1, readonly: r1, .. },
        ) = (&p.ty, to)
        else {
            let doc = cat([
                text(format!("({})", types::spell(to, self.cx.names)?)),
                p.at_least(prec::UNARY),
            ]);
            return Ok(Printed::new(doc, prec::UNARY, to.clone()));
        };
        let gains = (!*v0 || *v1) && (!*r0 || *r1);
        if from == pointee && gains {
            // The spaces have no spelling, and qualifiers are added implicitly.
            return Ok(Printed { ty: to.clone(), ..p });
        }
        let spelled = types::spell(to, self.cx.names)?;
        if gains && **pointee != Type::Void && **from != Type::Void {
            let doc = list(&format!("reinterpret_cast<{spelled}>("), vec![p.doc], ")");
            return Ok(Printed::new(doc, prec::POSTFIX, to.clone()));
        }
        if gains && **pointee == Type::Void {
            return Ok(Printed { ty: to.clone(), ..p });
        }
        let doc = cat([text(format!("({spelled})")), p.at_least(prec::UNARY)]);
        Ok(Printed::new(doc, prec::UNARY, to.clone()))
    }
}

fn is_offset(pointer: &Expr) -> bool {
    matches!(&*pointer.kind, ExprKind::PtrOffset(..) | ExprKind::AddressOf(_))
}

fn subscript(base: Printed, index: Doc, ty: Type) -> Printed {
    let doc = cat([base.at_least(prec::POSTFIX), text("["), index.align(), text("]")]);
    Printed::new(doc, prec::POSTFIX, ty)
}
