//! The heap of the device: `malloc`, `free`, `new` and `delete` in kernels.

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

    fn free_of_heap(&mut self, pointer: &'a ast::Expr, span: Span) -> Res<Operand<'a>> {
        let pointer = self.a_pointer(pointer)?;
        self.emit(StmtKind::Runtime(Runtime::Free { pointer }), span);
        Ok(Operand::Void)
    }
}
