//! Variables of the device in host code: copies to and from them, their addresses and sizes.

use warpsmith_ir::{
    CopyWay, Expr, ExprKind, Place, PlaceKind, Runtime, Scalar, Space, Span, StmtKind, Type,
};

use super::Sema;
use super::host_memory::zero;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// A copy to a variable of the device, from an offset on, or from it.
    pub(crate) fn symbol_copy(
        &mut self,
        (symbol, offset, to_symbol): (&'a ast::Expr, Option<&'a ast::Expr>, bool),
        other: &'a ast::Expr,
        bytes: &'a ast::Expr,
        asynchronous: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let mut address = self.symbol(symbol)?;
        let other = self.a_pointer(other)?;
        let bytes = self.bytes_of(bytes)?;
        if let Some(offset) = offset {
            let offset = self.bytes_of(offset)?;
            let ty = address.ty.clone();
            address = Expr::new(ExprKind::PtrOffset(address, offset), ty, span);
        }
        let (destination, source) = if to_symbol { (address, other) } else { (other, address) };
        let way = CopyWay::Any;
        Ok(self.emit_copy(Runtime::Copy { way, destination, source, bytes, asynchronous }, span))
    }

    /// The address of a variable of the device in bytes; `&variable` and older code's text are taken too.
    fn symbol(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let inner = match &*e.kind {
            ast::ExprKind::Unary { op, operand } if op == "&" => operand,
            ast::ExprKind::Paren(inner) => inner,
            ast::ExprKind::Cast { operand, .. } => return self.symbol(operand),
            _ => e,
        };
        let place = match self.expr(inner)? {
            Operand::Place { place, .. } if root_is_global(&place) => place,
            _ => return fail("W098", e.span, "this is no variable of the device"),
        };
        let address = self.address_of(place, false, e.span);
        let bytes = Type::pointer(Type::Scalar(Scalar::I8), Space::Generic);
        Ok(super::functions::raw_pointer_cast(address, bytes, e.span))
    }

    /// `cudaGetSymbolAddress(&pointer, symbol)`. What comes of the variable by this pointer is not followed everywhere: it
    /// counts as set by the host to something that is not known.
    pub(crate) fn symbol_address(
        &mut self,
        target: &'a ast::Expr,
        symbol: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let place = self.pointer_place(target)?;
        let address = self.symbol(symbol)?;
        let pointer = address.clone();
        self.emit(StmtKind::Runtime(Runtime::ForgetMemory { pointer }), span);
        let value = super::functions::raw_pointer_cast(address, place.ty.clone(), span);
        self.emit(StmtKind::Assign { place, value }, span);
        Ok(zero(span))
    }

    /// `cudaGetSymbolSize(&bytes, symbol)`
    pub(crate) fn symbol_size(
        &mut self,
        target: &'a ast::Expr,
        symbol: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let Operand::Place { place: variable, .. } = self.expr(symbol)? else {
            return fail("W098", symbol.span, "this is no variable of the device");
        };
        let bytes = warpsmith_ir::layout::layout_of(&self.module, &variable.ty).size;
        let pointer = self.rvalue(target)?;
        let place = self.place_of_pointer(pointer, span);
        let value = Expr::int(Scalar::U64, bytes as i64).with_origin(span);
        let value = self.convert_to(value, &place.ty.clone(), span)?;
        self.emit(StmtKind::Assign { place, value }, span);
        Ok(zero(span))
    }
}

fn root_is_global(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Global(_) => true,
        PlaceKind::Index(base, _) | PlaceKind::Field(base, _) | PlaceKind::Component(base, _) => {
            root_is_global(base)
        }
        PlaceKind::Deref(pointer) => match &*pointer.kind {
            ExprKind::Cast(inner) => {
                matches!(&*inner.kind, ExprKind::AddressOf(place) if root_is_global(place))
            }
            ExprKind::AddressOf(place) => root_is_global(place),
            _ => false,
        },
        _ => false,
    }
}
