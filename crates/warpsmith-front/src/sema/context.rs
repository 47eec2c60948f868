//! What built-in functions may ask of the lowerer.

use warpsmith_ir::visit::for_each_subexpr;
use warpsmith_ir::{
    Diagnostic, Expr, FunctionKind, Module, Place, Span, StmtKind, Type, Value, VarId,
};

use super::Sema;
use super::builtin_api::{BuiltinContext, BuiltinType};
use super::model::{Failure, Operand};

impl BuiltinContext for Sema<'_> {
    fn emit(&mut self, kind: StmtKind, span: Span) {
        Sema::emit(self, kind, span);
    }

    fn temp(&mut self, ty: Type, span: Span) -> VarId {
        self.new_temp(ty, span)
    }

    fn hold(&mut self, value: Expr, span: Span) -> Expr {
        if is_large(&value) { self.hold_now(value, span) } else { self.hold_value(value, span) }
    }

    fn fresh_loop(&mut self) -> warpsmith_ir::LoopId {
        self.f().func.fresh_loop()
    }

    fn fold(&self, expr: &Expr) -> Option<Value> {
        expr.as_const()
    }

    fn convert(&mut self, expr: Expr, ty: &Type, span: Span) -> Result<Expr, Diagnostic> {
        self.convert_to(expr, ty, span).map_err(|failure| match failure {
            Failure::New(d) => *d,
            Failure::Reported => super::builtin_api::reported(span),
        })
    }

    fn place_behind(&mut self, pointer: Expr) -> Place {
        let none = Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 };
        let span = pointer.origin.span.unwrap_or(none);
        self.place_of_pointer(pointer, span)
    }

    fn module(&mut self) -> &mut Module {
        &mut self.module
    }

    fn type_of_var(&self, var: VarId) -> Type {
        let vars = self.fns.last().map(|f| &f.func.vars);
        vars.and_then(|v| v.get(var.0 as usize)).map_or(Type::Void, |v| v.ty.clone())
    }

    fn is_kernel_parameter(&self, var: VarId) -> bool {
        let f = self.fns.last().map(|f| &f.func);
        f.is_some_and(|f| f.kind == FunctionKind::Kernel && f.params.contains(&var))
    }

    fn function_kind(&self) -> FunctionKind {
        self.fns.last().map_or(FunctionKind::Device, |f| f.func.kind)
    }

    fn object_type(&mut self, ty: &BuiltinType) -> Type {
        self.object_struct(ty)
    }

    fn call_functor(
        &mut self,
        functor: Expr,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Result<Expr, Diagnostic>> {
        self.is_class(&functor.ty)?;
        let args = args.into_iter().map(Operand::Value).collect();
        let result = self
            .call_object_with(Operand::Value(functor), args, span)
            .and_then(|result| self.rvalue_of(result, span));
        Some(result.map_err(|failure| match failure {
            Failure::New(d) => *d,
            Failure::Reported => super::builtin_api::reported(span),
        }))
    }

    fn call_library(
        &mut self,
        name: &str,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Result<Option<Expr>, Diagnostic>> {
        let outer = self.scope(self.root).parent?;
        let fns = super::expr::functions(&self.lookup_in(outer, name));
        if fns.is_empty() {
            return None;
        }
        let args: Vec<Operand<'_>> = args.into_iter().map(Operand::Value).collect();
        let result = self
            .resolve_overload(name, &fns, None, None, &args, span)
            .and_then(|chosen| self.call_chosen(chosen, None, args, span))
            .and_then(|result| match result {
                Operand::Void => Ok(None),
                value => self.rvalue_of(value, span).map(Some),
            });
        Some(result.map_err(|failure| match failure {
            Failure::New(d) => *d,
            Failure::Reported => super::builtin_api::reported(span),
        }))
    }

    fn object_of(&self, ty: &Type) -> Option<BuiltinType> {
        match ty {
            Type::Struct(id) => self.object_of_struct(*id),
            _ => None,
        }
    }
}

/// Whether an expression is worth a temporary although nothing can change it: a built-in function uses
/// what it holds several times, and holds what is made of that, so that copies would grow without end.
fn is_large(expr: &Expr) -> bool {
    const FEW: usize = 8;
    let mut nodes = 0;
    for_each_subexpr(expr, &mut |_| nodes += 1);
    nodes > FEW
}
