//! Places: registers or memory addresses.

use warpsmith_ir::layout::{field_of, layout_of};
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, Module, Place, PlaceKind, Scalar, Space, Type, VarId, VarKind,
};

use super::facts::{const_value, without_casts};
use super::lir::*;
use super::lower::{Lower, Result, Slot};
use super::values::{holds_union, leaf_count, pieces};

/// A pointer is the object's number in the upper bits and a signed byte offset in the lower 40.
pub const OFFSET_BITS: u32 = 40;

/// The number of the module's first variable in a pointer; the others follow it. It is the one that the interpreter gives it,
/// and the same however many buffers there are: addresses of variables may lie in memory.
pub const VARIABLE_NUMBERS: u64 = (1 << 23) + 1;

/// Variables with more scalars than this live in memory.
const MAX_REGISTERS_OF_VARIABLE: usize = 64;

/// An address: `base + Σ index·scale + disp`.
#[derive(Clone, Debug)]
pub(super) struct Addr {
    pub base: Opd,
    pub terms: Vec<Term>,
    pub disp: i64,
    pub space: Space,
    pub volatile: bool,
}

/// Where a place is.
#[derive(Clone, Debug)]
pub(super) enum PlaceRef {
    /// Registers of a variable, one for each leaf of the place's type.
    Registers(Vec<Opd>),
    /// The leaves of something that never changes.
    Value(Vec<Opd>),
    Memory(Addr),
}

impl Addr {
    pub fn constant(pointer: u64, space: Space) -> Addr {
        Addr { base: Opd::K(pointer), terms: vec![], disp: 0, space, volatile: false }
    }

    fn add(mut self, index: Opd, ty: Scalar, scale: i64) -> Addr {
        if let Opd::K(bits) = index {
            let i = from_register(ty, bits).as_i64();
            self.disp = self.disp.wrapping_add(i.wrapping_mul(scale));
            return self;
        }
        if let Some(t) = self.terms.iter_mut().find(|t| t.index == index && t.ty == ty) {
            t.scale = t.scale.wrapping_add(scale);
            return self;
        }
        self.terms.push(Term { index, ty, scale });
        self
    }
}

/// The type widths for index terms: what sign- or zero-extends from 32 bits, or 64 bits.
fn term_type(ty: Scalar) -> Scalar {
    match ty {
        Scalar::I8 | Scalar::I16 | Scalar::I32 => Scalar::I32,
        Scalar::U64 | Scalar::I64 => Scalar::I64,
        _ => Scalar::U32,
    }
}

/// A variable of this type and use is split into registers.
pub(super) fn fits_registers(module: &Module, ty: &Type) -> bool {
    let n = leaf_count(module, ty);
    (1..=MAX_REGISTERS_OF_VARIABLE).contains(&n) && !holds_union(module, ty)
}

impl<'m> Lower<'m> {
    pub fn size_of(&self, ty: &Type) -> i64 {
        layout_of(self.module, ty).size as i64
    }

    /// The slot of a variable; memory objects are made when first met.
    pub fn slot(&mut self, var: VarId) -> Result<Slot> {
        if let Some(slot) = self.frame().slots.get(&var) {
            return Ok(slot.clone());
        }
        let function = self.frame().function;
        let Some(v) = function.vars.get(var.0 as usize) else {
            return self.unsupported("a variable that its function does not have");
        };
        let slot = match v.kind {
            VarKind::Shared | VarKind::DynamicShared => {
                let key = (self.frame().id, var);
                match self.objects_by_var.get(&key) {
                    Some(&pointer) => Slot::Memory(pointer),
                    None => {
                        return self.unsupported("shared memory of a function that is not called");
                    }
                }
            }
            VarKind::Param | VarKind::Local => self.local_slot(var)?,
        };
        self.frame_mut().slots.insert(var, slot.clone());
        Ok(slot)
    }

    /// Registers or local memory for a variable of this instance.
    pub fn local_slot(&mut self, var: VarId) -> Result<Slot> {
        let frame = self.frame();
        let v = &frame.function.vars[var.0 as usize];
        let in_memory = self
            .facts
            .get(frame.id)
            .and_then(|f| f.memory.get(var.0 as usize).copied())
            .unwrap_or(true);
        let unset = self.facts.get(frame.id).and_then(|f| f.unset.get(var.0 as usize).copied());
        if !in_memory && fits_registers(self.module, &v.ty) {
            let leaves = self.leaves(&v.ty).unwrap_or_default();
            let registers: Vec<Opd> = leaves.iter().map(|l| self.register(l.ty)).collect();
            for r in &registers {
                if let Opd::R(r) = r {
                    self.registers[*r as usize].unset = unset == Some(true);
                }
            }
            return Ok(Slot::Registers(registers));
        }
        let pointer = self.local_object(&v.name.clone(), &v.ty.clone())?;
        Ok(Slot::Memory(pointer))
    }

    /// A new object in every thread's local memory.
    pub fn local_object(&mut self, name: &str, ty: &Type) -> Result<u64> {
        let layout = layout_of(self.module, ty);
        let base = u64::from(self.out.local_bytes).next_multiple_of(16);
        let end = base.saturating_add(layout.size.max(1));
        if end > 512 << 10 {
            return self.unsupported("a thread's local variables take more than 512 KiB");
        }
        self.out.local_bytes = end as u32;
        let home = Home::Local { base: base as u32, size: layout.size as u32 };
        Ok(self.object(name, ty, home))
    }

    pub fn object(&mut self, name: &str, ty: &Type, home: Home) -> u64 {
        let inner = ty.innermost();
        let mut extents = ty.extents();
        if extents.first() == Some(&0) {
            extents.clear();
        }
        self.out.objects.push(Object {
            name: name.to_string(),
            home,
            element_bytes: layout_of(self.module, inner).size.max(1),
            extents,
        });
        ((self.out.objects.len() - 1) as u64) << OFFSET_BITS
    }

    pub fn place(&mut self, p: &Place) -> Result<PlaceRef> {
        match &*p.kind {
            PlaceKind::Var(v) => self.var_place(*v),
            PlaceKind::Global(g) => {
                let Some(global) = self.module.globals.get(g.0 as usize) else {
                    return self.unsupported("a module variable that does not exist");
                };
                let pointer = (VARIABLE_NUMBERS + u64::from(g.0)) << OFFSET_BITS;
                Ok(PlaceRef::Memory(Addr::constant(pointer, global.space)))
            }
            PlaceKind::Deref(e) => self.deref(e),
            PlaceKind::Elem { pointer, index, dims } => {
                let addr = self.pointer(pointer)?;
                let element = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
                self.elem(addr, &element, index, dims).map(PlaceRef::Memory)
            }
            PlaceKind::Index(base, index) => self.index_place(base, index),
            PlaceKind::Field(base, field) => self.field_place(base, *field),
            PlaceKind::Component(base, n) => {
                let width = base_component(&base.ty);
                match self.place(base)? {
                    PlaceRef::Memory(mut a) => {
                        a.disp += width * i64::from(*n);
                        Ok(PlaceRef::Memory(a))
                    }
                    other => self.part(other, usize::from(*n), 1),
                }
            }
        }
    }

    fn var_place(&mut self, v: VarId) -> Result<PlaceRef> {
        let space = match self.frame().function.vars.get(v.0 as usize).map(|v| v.kind) {
            Some(VarKind::Shared | VarKind::DynamicShared) => Space::Shared,
            _ => Space::Local,
        };
        Ok(match self.slot(v)? {
            Slot::Registers(r) => PlaceRef::Registers(r),
            Slot::Value(v) => PlaceRef::Value(v),
            Slot::Memory(pointer) if space == Space::Shared && self.out.reaches_clusters => {
                let base = self.own_shared(pointer)?;
                PlaceRef::Memory(Addr { base, ..Addr::constant(pointer, space) })
            }
            Slot::Memory(pointer) => PlaceRef::Memory(Addr::constant(pointer, space)),
            Slot::Alias(_) => return self.unsupported("the address of a reference parameter"),
        })
    }

    /// The place a pointer leads to.
    fn deref(&mut self, e: &Expr) -> Result<PlaceRef> {
        let e = without_casts(e);
        if let Some(v) = variable_read(e)
            && let Slot::Alias(place) = self.slot(v)?
        {
            return Ok(place);
        }
        if let ExprKind::AddressOf(p) = &*e.kind {
            return self.place(p);
        }
        Ok(PlaceRef::Memory(self.pointer(e)?))
    }

    fn index_place(&mut self, base: &Place, index: &Expr) -> Result<PlaceRef> {
        let Type::Array(element, length) = &base.ty else {
            return self.unsupported("an index into something that is no array");
        };
        match self.place(base)? {
            PlaceRef::Memory(addr) => {
                let scale = self.size_of(element);
                self.add_index(addr, index, scale).map(PlaceRef::Memory)
            }
            other => {
                let n = leaf_count(self.module, element);
                match const_value(self.module, index).map(u64::try_from) {
                    Some(Ok(i)) if i < *length => self.part(other, i as usize * n, n),
                    _ => self.unsupported("a constant index outside of a small local array"),
                }
            }
        }
    }

    fn field_place(&mut self, base: &Place, field: u32) -> Result<PlaceRef> {
        let Type::Struct(id) = &base.ty else {
            return self.unsupported("a field of something that is no struct");
        };
        let Some((offset, ty)) = field_of(self.module, *id, field) else {
            return self.unsupported("a field that its struct does not have");
        };
        match self.place(base)? {
            PlaceRef::Memory(mut a) => {
                a.disp += offset as i64;
                Ok(PlaceRef::Memory(a))
            }
            other => {
                let (start, n) = (self.field_start(*id, field), leaf_count(self.module, ty));
                self.part(other, start, n)
            }
        }
    }

    /// Number of leaves before a field.
    pub fn field_start(&self, id: warpsmith_ir::StructId, field: u32) -> usize {
        let fields = self.module.structs.get(id.0 as usize).map_or(&[][..], |d| &d.fields);
        fields.iter().take(field as usize).map(|f| leaf_count(self.module, &f.ty)).sum()
    }

    fn part(&self, place: PlaceRef, start: usize, n: usize) -> Result<PlaceRef> {
        let cut = |v: Vec<Opd>| v.get(start..start + n).map(<[Opd]>::to_vec);
        let part = match place {
            PlaceRef::Registers(v) => cut(v).map(PlaceRef::Registers),
            PlaceRef::Value(v) => cut(v).map(PlaceRef::Value),
            PlaceRef::Memory(_) => None,
        };
        part.map_or_else(|| self.unsupported("a part outside of its value"), Ok)
    }

    fn elem(&mut self, addr: Addr, element: &Type, index: &[Expr], dims: &[Expr]) -> Result<Addr> {
        let size = self.size_of(element);
        let constant: Option<Vec<i64>> = dims.iter().map(|d| const_value(self.module, d)).collect();
        let mut extents = vec![];
        for d in dims {
            let v = self.scalar(d)?;
            extents.push(self.cast(d.ty.scalar().unwrap_or(Scalar::I64), Scalar::I64, v)?);
        }
        let folded: Option<Vec<i64>> = extents
            .iter()
            .map(|e| if let Opd::K(k) = e { Some(*k as i64) } else { None })
            .collect();
        if let Some(dims) = constant.or(folded) {
            return self.elem_of_constant_shape(addr, size, index, &dims);
        }
        let mut flat = Opd::K(0);
        for (i, e) in index.iter().enumerate() {
            let v = self.scalar(e)?;
            let v = self.cast(e.ty.scalar().unwrap_or(Scalar::I64), Scalar::I64, v)?;
            if i > 0 {
                let d = extents.get(i - 1).copied().unwrap_or(Opd::K(1));
                flat = self.bin(BinaryOp::Mul, Scalar::I64, flat, d)?;
            }
            flat = self.bin(BinaryOp::Add, Scalar::I64, flat, v)?;
        }
        Ok(addr.add(flat, Scalar::I64, size))
    }

    fn elem_of_constant_shape(
        &mut self,
        mut addr: Addr,
        size: i64,
        index: &[Expr],
        dims: &[i64],
    ) -> Result<Addr> {
        for (i, e) in index.iter().enumerate() {
            let inner = dims.get(i..).unwrap_or(&[]);
            let scale = inner.iter().fold(size, |s, d| s.wrapping_mul(*d));
            addr = self.add_index(addr, e, scale)?;
        }
        Ok(addr)
    }

    /// Adds `index * scale`; conversions to a wider integer are taken apart, as terms extend anyway.
    fn add_index(&mut self, addr: Addr, index: &Expr, scale: i64) -> Result<Addr> {
        let mut e = index;
        while let ExprKind::Cast(inner) = &*e.kind {
            let (Some(from), Some(to)) = (inner.ty.scalar(), e.ty.scalar()) else { break };
            if to.bytes() != 8 || to.is_float() || from.is_float() || from.bytes() > 4 {
                break;
            }
            e = inner;
        }
        let ty = e.ty.scalar().unwrap_or(Scalar::I64);
        let value = self.scalar(e)?;
        Ok(addr.add(value, term_type(ty), scale))
    }

    /// The address a pointer expression computes.
    pub fn pointer(&mut self, e: &Expr) -> Result<Addr> {
        let (space, volatile) = match &e.ty {
            Type::Pointer { space, volatile, .. } => (*space, *volatile),
            _ => (Space::Generic, false),
        };
        let mut addr = match &*e.kind {
            ExprKind::PtrOffset(p, i) => {
                let scale = self.size_of(p.ty.pointee().unwrap_or(&Type::Void));
                let a = self.pointer(p)?;
                self.add_index(a, i, scale)?
            }
            ExprKind::Cast(inner) if inner.ty.is_pointer() => self.pointer(inner)?,
            ExprKind::AddressOf(p) => match self.place(p)? {
                PlaceRef::Memory(a) => a,
                _ => return self.unsupported("the address of a variable in a register"),
            },
            _ => {
                let base = self.scalar(e)?;
                Addr { base, terms: vec![], disp: 0, space, volatile }
            }
        };
        addr.volatile |= volatile;
        if addr.space == Space::Generic {
            addr.space = space;
        }
        Ok(addr)
    }

    /// The address as a pointer value.
    pub fn address_value(&mut self, addr: &Addr) -> Result<Opd> {
        let mut sum = addr.base;
        for t in &addr.terms {
            let wide = self.cast(t.ty, Scalar::I64, t.index)?;
            let bytes = self.bin(BinaryOp::Mul, Scalar::I64, wide, Opd::K(t.scale as u64))?;
            sum = self.bin(BinaryOp::Add, Scalar::I64, sum, bytes)?;
        }
        self.bin(BinaryOp::Add, Scalar::I64, sum, Opd::K(addr.disp as u64))
    }

    /// Reads all leaves of a place.
    pub fn read(&mut self, place: &PlaceRef, ty: &Type) -> Result<Vec<Opd>> {
        match place {
            PlaceRef::Registers(v) | PlaceRef::Value(v) => Ok(v.clone()),
            PlaceRef::Memory(addr) => {
                let Some(pieces) = pieces(self.module, ty) else {
                    return self.unsupported("a value of this size");
                };
                let mut out = vec![];
                for p in pieces {
                    let values: Vec<Opd> = (0..p.count).map(|_| self.register(p.ty)).collect();
                    let access = self.access(addr, &p, values.clone(), false);
                    self.emit(Op::Load { access })?;
                    out.extend(values);
                }
                Ok(out)
            }
        }
    }

    /// Writes all leaves of a place.
    pub fn write(&mut self, place: &PlaceRef, ty: &Type, values: &[Opd]) -> Result<()> {
        match place {
            PlaceRef::Registers(registers) => {
                let leaves = self.leaves(ty).unwrap_or_default();
                // Swaps such as `v = f2(v.y, v.x)`: take the values before any is overwritten.
                let mut sources = values.to_vec();
                for (i, s) in sources.iter_mut().enumerate() {
                    if registers.iter().take(i).any(|r| r == s) {
                        let copy = self.register(leaves[i].ty);
                        let ty = leaves[i].ty;
                        self.emit(Op::Mov { ty, dst: copy, a: *s })?;
                        *s = copy;
                    }
                }
                for ((r, s), l) in registers.iter().zip(sources).zip(leaves) {
                    self.assign(l.ty, *r, s)?;
                }
                Ok(())
            }
            PlaceRef::Value(_) => self.unsupported("an assignment to a constant parameter"),
            PlaceRef::Memory(addr) => {
                let Some(pieces) = pieces(self.module, ty) else {
                    return self.unsupported("a value of this size");
                };
                let mut at = 0;
                for p in pieces {
                    let n = usize::from(p.count);
                    let part = values.get(at..at + n).unwrap_or(&[]).to_vec();
                    at += n;
                    if part.len() != n {
                        return self.unsupported("a value that does not fit its place");
                    }
                    let access = self.access(addr, &p, part, true);
                    self.emit(Op::Store { access })?;
                }
                Ok(())
            }
        }
    }

    pub fn access(
        &mut self,
        addr: &Addr,
        piece: &super::values::Piece,
        values: Vec<Opd>,
        is_store: bool,
    ) -> u32 {
        self.out.accesses.push(Access {
            base: addr.base,
            terms: addr.terms.clone(),
            disp: addr.disp.wrapping_add(piece.offset as i64),
            elem: piece.ty,
            count: piece.count,
            values,
            space: addr.space,
            volatile: addr.volatile,
            polling: false,
            is_store,
        });
        self.out.accesses.len() as u32 - 1
    }
}

/// The variable an expression reads as a whole.
pub(super) fn variable_read(e: &Expr) -> Option<VarId> {
    match &*e.kind {
        ExprKind::Read(p) => match &*p.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        _ => None,
    }
}

fn base_component(ty: &Type) -> i64 {
    match ty {
        Type::Vector(s, _) => i64::from(s.bytes()),
        _ => 0,
    }
}
