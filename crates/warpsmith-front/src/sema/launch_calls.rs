//! Launches by functions of the run-time library: `cudaLaunchKernel`, `cudaLaunchCooperativeKernel`.

use warpsmith_ir::{
    Expr, ExprKind, FunctionKind, Launch, Place, PlaceKind, Scalar, Space, Span, StmtKind, Type,
};

use super::Sema;
use super::functions::raw_pointer_cast;
use super::model::*;
use super::overload::Chosen;
use crate::ast;

/// The functions that launch a kernel given by its address.
pub(crate) const LAUNCHERS: &[&str] = &["cudaLaunchKernel", "cudaLaunchCooperativeKernel"];

impl<'a> Sema<'a> {
    /// `cudaLaunchKernel(kernel, grid, block, arguments, shared, stream)`
    pub(crate) fn launch_call(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        let [kernel, grid, block, list, rest @ ..] = args else {
            return fail("W098", span, "a launch needs a kernel, a grid, a block and arguments");
        };
        let Some(chosen) = self.kernel_by_address(kernel)? else {
            return self.launch_by_address(args, span);
        };
        let grid = self.dimensions(grid)?;
        let block = self.dimensions(block)?;
        let instance = self.instance(chosen, FunctionKind::Kernel, span)?;
        let list = self.rvalue(list)?;
        let list = self.hold_value(list, span);
        let shared = match rest.first() {
            Some(e) => {
                let value = self.rvalue(e)?;
                self.convert_to(value, &Type::U64, e.span)?
            }
            None => Expr::int(Scalar::U64, 0).with_origin(span),
        };
        if let Some(e) = rest.get(1) {
            let stream = self.rvalue(e)?;
            self.next_in_stream(Some(stream), span);
        }
        let mut values = vec![];
        for (i, param) in instance.params.iter().enumerate() {
            let value = self.pointed_argument(&list, i, &param.ty, span)?;
            let stored = super::convert::with_space(&param.ty, Space::Global);
            values.push(super::functions::raw_pointer_cast_if(value, &stored, span));
        }
        let launch =
            Launch { kernel: instance.id, grid, block, shared, cluster: None, args: values };
        self.emit(StmtKind::Launch(launch), span);
        Ok(Operand::Value(Expr::i32(0).with_origin(span)))
    }

    /// The kernel whose address an expression gives, with conversions to `void *` around it; `None`: a variable holds it.
    fn kernel_by_address(&mut self, e: &'a ast::Expr) -> Res<Option<Chosen<'a>>> {
        match &*e.kind {
            ast::ExprKind::Paren(inner) | ast::ExprKind::Cast { operand: inner, .. } => {
                return self.kernel_by_address(inner);
            }
            ast::ExprKind::Unary { op, operand } if op == "&" => {
                return self.kernel_by_address(operand);
            }
            _ => {}
        }
        let operand = self.expr(e)?;
        let q = self.operand_type(&operand);
        if q.is_some_and(|q| q.ty.is_pointer() || self.signature_of(&q.ty).is_some()) {
            return Ok(None);
        }
        let Some(found) = self.functions_of(operand) else {
            return fail("W098", e.span, "this is no kernel");
        };
        let is_kernel = |f: &&FnDecl<'a>| f.decl.attrs.global && f.decl.body.is_some();
        let Some(f) = found.fns.iter().find(is_kernel).copied() else {
            return fail("W098", e.span, format!("`{}` is no kernel", found.name));
        };
        self.chosen_kernel(f, found.args, e.span).map(Some)
    }

    /// The value behind the pointer at a position of the list of arguments.
    pub(crate) fn pointed_argument(
        &mut self,
        list: &Expr,
        at: usize,
        ty: &Type,
        span: Span,
    ) -> Res<Expr> {
        let void = Type::pointer(Type::Void, Space::Generic);
        let row = Type::pointer(void.clone(), Space::Generic);
        if !list.ty.is_pointer() {
            return fail("W098", span, "the arguments of a launch are an array of pointers");
        }
        let list = raw_pointer_cast(list.clone(), row.clone(), span);
        let place = match at {
            0 => list,
            _ => Expr::new(ExprKind::PtrOffset(list, Expr::i32(at as i32)), row, span),
        };
        let element = Expr::read(Place::new(PlaceKind::Deref(place), void, span));
        let target = Type::pointer(ty.clone(), Space::Generic);
        let pointer = raw_pointer_cast(element, target, span);
        Ok(Expr::read(Place::new(PlaceKind::Deref(pointer), ty.clone(), span)))
    }
}
