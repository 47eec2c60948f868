//! The heap of the device: `malloc`, `free`, `new` and `delete` in kernels, and `cudaMalloc` and `cudaFree`, which take from it there.

use warpsmith_ir::{Expr, FunctionKind, Runtime, Space, Span, StmtKind, Type};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// `malloc` or `free` in code of the device; `None` when it is neither.
    pub(crate) fn heap_call(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        if self.f().func.kind == FunctionKind::Host {
            return None;
        }
        match (name, args) {
            ("malloc", [bytes]) => {
                let bytes = self.rvalue(bytes);
                Some(bytes.and_then(|b| self.heap(b, span)).map(Operand::Value))
            }
            ("free", [pointer]) => Some(self.free_of_heap(pointer, span)),
            ("cudaMalloc", [target, bytes]) => Some(self.heap_by_runtime(target, bytes, span)),
            ("cudaFree", [pointer]) => {
                Some(self.free_of_heap(pointer, span).map(|_| Operand::Value(success(span))))
            }
            _ => None,
        }
    }

    /// Memory of the heap, `void *`.
    pub(crate) fn heap(&mut self, bytes: Expr, span: Span) -> Res<Expr> {
        let bytes = self.convert_to(bytes, &Type::U64, span)?;
        let pointer = self.allocate_host(bytes, false, span);
        let void = Type::pointer(Type::Void, Space::Generic);
        Ok(super::functions::raw_pointer_cast(pointer, void, span))
    }

    /// `cudaMalloc(&pointer, bytes)` in a kernel.
    fn heap_by_runtime(
        &mut self,
        target: &'a ast::Expr,
        bytes: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let place = self.pointer_place(target)?;
        let bytes = self.rvalue(bytes)?;
        let memory = self.heap(bytes, span)?;
        let value = super::functions::raw_pointer_cast(memory, place.ty.clone(), span);
        self.emit(StmtKind::Assign { place, value }, span);
        Ok(Operand::Value(success(span)))
    }

    fn free_of_heap(&mut self, pointer: &'a ast::Expr, span: Span) -> Res<Operand<'a>> {
        let pointer = self.a_pointer(pointer)?;
        self.emit(StmtKind::Runtime(Runtime::Free { pointer }), span);
        Ok(Operand::Void)
    }
}

/// `cudaSuccess`
fn success(span: Span) -> Expr {
    Expr::i32(0).with_origin(span)
}
