//! The heap of the device: `malloc`, `free`, `new` and `delete` in kernels.

use warpsmith_ir::{Expr, FunctionKind, Span, Type};

use super::Sema;
use super::model::*;
use crate::ast;

/// The function of the libraries that hands out memory of the heap.
const ALLOCATE: &str = "deviceAllocate";

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
            ("free", [pointer]) => Some(self.discard(pointer).map(|()| Operand::Void)),
            _ => None,
        }
    }

    /// Memory of the heap, `void *`.
    pub(crate) fn heap(&mut self, bytes: Expr, span: Span) -> Res<Expr> {
        let bytes = self.convert_to(bytes, &Type::U64, span)?;
        let fns = super::expr::functions(&self.lookup(self.root, ALLOCATE));
        if fns.is_empty() {
            return fail("W053", span, "the heap of the device is not supported here");
        }
        let args = vec![Operand::Value(bytes)];
        let chosen = self.resolve_overload(ALLOCATE, &fns, None, None, &args, span)?;
        let result = self.call_chosen(chosen, None, args, span)?;
        self.rvalue_of(result, span)
    }
}
