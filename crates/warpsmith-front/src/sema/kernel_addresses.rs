//! Kernels by their addresses, as `void *`: what nodes of graphs and `cudaLaunchKernel` with a variable hold.
//!
//! An address is the number that pointers to the kernel hold (`function_pointers`). Who launches by it, or copies the
//! arguments for a later launch, does not know the kernel's parameters: two functions with a branch for each kernel do.

use warpsmith_ir::{
    Block, Expr, FuncId, Function, FunctionKind, Launch, Scalar, Space, Span, Stmt, StmtKind, Type,
    Var, VarKind, layout,
};

use super::Sema;
use super::function_pointers::when;
use super::functions::raw_pointer_cast_if;
use super::model::*;
use super::overload::Chosen;
use super::structs::stored_type;
use crate::ast;

/// What is done with a kernel of which only the address is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ByAddress {
    /// It is launched with arguments that an array of pointers leads to.
    Launch,
    /// One is asked for the bytes of a parameter; 0 behind the last one.
    Size,
}

impl<'a> Sema<'a> {
    /// `launchByAddress(kernel, grid, block, arguments, shared)` of the library of graphs.
    pub(crate) fn launch_by_address(
        &mut self,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let [kernel, grid, block, list, rest @ ..] = args else {
            return fail("W098", span, "a launch needs a kernel, a grid, a block and arguments");
        };
        let mut values = vec![self.address_number(kernel)?];
        values.extend(self.dimensions(grid)?);
        values.extend(self.dimensions(block)?);
        let shared = match rest.first() {
            Some(e) => self.rvalue(e)?,
            None => Expr::int(Scalar::U64, 0).with_origin(span),
        };
        values.push(self.convert_to(shared, &Type::U64, span)?);
        let list = self.rvalue(list)?;
        if !list.ty.is_pointer() {
            return fail("W098", span, "the arguments of a launch are an array of pointers");
        }
        values.push(super::functions::raw_pointer_cast(list, list_type(), span));
        let function = self.by_address(ByAddress::Launch, span);
        self.emit(StmtKind::Call { function, args: values, result: None }, span);
        Ok(Operand::Value(Expr::i32(0).with_origin(span)))
    }

    /// `bytesOfArgument(kernel, position)`
    pub(crate) fn bytes_of_argument(
        &mut self,
        kernel: &'a ast::Expr,
        position: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let number = self.address_number(kernel)?;
        let position = self.rvalue(position)?;
        let position = self.convert_to(position, &Type::I32, span)?;
        let function = self.by_address(ByAddress::Size, span);
        let q = |ty| QualType::plain(ty);
        let params = vec![q(Type::U64), q(Type::I32)];
        let instance = Instance { id: function, params, ret: q(Type::U64) };
        Ok(self.emit_call(&instance, vec![number, position], span))
    }

    fn address_number(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let value = self.rvalue(e)?;
        match value.ty.is_pointer() {
            true => self.convert_explicitly(value, &Type::U64, "reinterpret", e.span),
            false if self.signature_of(&value.ty).is_some() => {
                Ok(super::function_pointers::number_of(value, e.span))
            }
            false => fail("W098", e.span, "this is no kernel"),
        }
    }

    /// The address of a function that a conversion to `void *` or a number of 64 bits names; `None`: something else.
    pub(crate) fn address_as_number(
        &mut self,
        operand: &Operand<'a>,
        ty: &Type,
        span: Span,
    ) -> Option<Res<Expr>> {
        if !ty.is_pointer() && !matches!(ty, Type::Scalar(Scalar::I64 | Scalar::U64)) {
            return None;
        }
        let is_kernel = |f: &&FnDecl<'a>| f.decl.attrs.global && f.decl.body.is_some();
        if let Operand::Functions { fns, object: None, .. } = operand
            && let Some(f) = fns.iter().find(is_kernel).copied()
        {
            let Operand::Functions { args, .. } = operand.clone() else { return None };
            return Some(self.chosen_kernel(f, args, span).and_then(|chosen| {
                let number = self.number_of_target(chosen, span)?;
                self.convert_explicitly(number, ty, "reinterpret", span)
            }));
        }
        let pointer = match self.functions_of(operand.clone()) {
            Some(f) => self.address_of_only(&f, span)?,
            None => {
                let q = self.operand_type(operand)?;
                self.signature_of(&q.ty)?;
                self.rvalue_of(operand.clone(), span)
            }
        };
        Some(pointer.and_then(|value| {
            let number = super::function_pointers::number_of(value, span);
            self.convert_explicitly(number, ty, "reinterpret", span)
        }))
    }

    /// A kernel with the template arguments it is named with.
    pub(crate) fn chosen_kernel(
        &mut self,
        f: FnDecl<'a>,
        args: Option<Vec<TArg>>,
        span: Span,
    ) -> Res<Chosen<'a>> {
        let Some(header) = f.decl.template.as_ref().filter(|t| !t.params.is_empty()) else {
            return Ok(Chosen::plain(f));
        };
        let (scope, args) = self.bind_params(header, args.unwrap_or_default(), f.scope, span)?;
        Ok(Chosen::bound(f, scope, args))
    }

    /// The body of one of the two functions.
    pub(crate) fn by_address_body(&mut self, id: FuncId, what: ByAddress, span: Span) -> Function {
        let mut f = Function::new(self.module.function(id).name.clone(), FunctionKind::Host);
        f.origin = span.into();
        f.of_library = true;
        let number = f.add_param(Var::new("kernel", Type::U64, VarKind::Param));
        let mut stmts = vec![];
        match what {
            ByAddress::Launch => {
                for name in ["gx", "gy", "gz", "bx", "by", "bz"] {
                    f.add_param(Var::new(name, Type::U32, VarKind::Param));
                }
                f.add_param(Var::new("shared", Type::U64, VarKind::Param));
                f.add_param(Var::new("arguments", list_type(), VarKind::Param));
            }
            ByAddress::Size => {
                f.ret = Type::U64;
                f.add_param(Var::new("position", Type::I32, VarKind::Param));
            }
        }
        for (at, chosen) in self.targets() {
            if !chosen.f.decl.attrs.global {
                continue;
            }
            let branch = match self.instance(chosen, FunctionKind::Kernel, span) {
                Ok(instance) if what == ByAddress::Launch => {
                    self.launch_branch(&f, &instance, span)
                }
                Ok(instance) => self.size_branch(&f, &instance, span),
                Err(Failure::New(error)) => {
                    self.report(*error);
                    continue;
                }
                Err(Failure::Reported) => continue,
            };
            if let Ok(branch) = branch {
                stmts.push(when(
                    (number, Type::U64),
                    Expr::int(Scalar::U64, at as i64),
                    branch,
                    span,
                ));
            }
        }
        if what == ByAddress::Launch {
            let cond = super::convert::bool_const(false, span);
            let text = "the address is that of a kernel".to_string();
            stmts.push(Stmt::new(StmtKind::Assert { cond, text }, span));
        }
        let zero = (f.ret != Type::Void).then(|| Expr::int(Scalar::U64, 0).with_origin(span));
        stmts.push(Stmt::new(StmtKind::Return(zero), span));
        f.body = Block::new(stmts);
        f
    }

    fn launch_branch(&mut self, f: &Function, kernel: &Instance, span: Span) -> Res<Vec<Stmt>> {
        let given: Vec<Expr> =
            f.params.iter().map(|p| Expr::var(*p, f.var(*p).ty.clone())).collect();
        let [_, gx, gy, gz, bx, by, bz, shared, list] = &given[..] else {
            return Err(Failure::Reported);
        };
        let mut args = vec![];
        for (i, param) in kernel.params.iter().enumerate() {
            let value = self.pointed_argument(list, i, &param.ty, span)?;
            let stored = super::convert::with_space(&param.ty, Space::Global);
            args.push(raw_pointer_cast_if(value, &stored, span));
        }
        let grid = [gx, gy, gz].map(Clone::clone);
        let block = [bx, by, bz].map(Clone::clone);
        let (kernel, shared) = (kernel.id, shared.clone());
        let launch = Launch { kernel, grid, block, shared, cluster: None, args };
        let end = StmtKind::Return(None);
        Ok(vec![Stmt::new(StmtKind::Launch(launch), span), Stmt::new(end, span)])
    }

    fn size_branch(&mut self, f: &Function, kernel: &Instance, span: Span) -> Res<Vec<Stmt>> {
        let Some(position) = f.params.get(1).copied() else { return Err(Failure::Reported) };
        let sizes = kernel.params.iter().enumerate().map(|(i, param)| {
            let bytes = layout::layout_of(&self.module, &stored_type(param)).size;
            let value = Expr::int(Scalar::U64, bytes as i64).with_origin(span);
            let then = vec![Stmt::new(StmtKind::Return(Some(value)), span)];
            when((position, Type::I32), Expr::i32(i as i32), then, span)
        });
        Ok(sizes.collect())
    }
}

/// `void **`
pub(crate) fn list_type() -> Type {
    Type::pointer(Type::pointer(Type::Void, Space::Generic), Space::Generic)
}
