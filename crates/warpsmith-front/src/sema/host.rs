//! Launchers: the little host code that starts kernels.

use warpsmith_ir::{
    CopyWay, Expr, ExprKind, Filler, FunctionKind, Launch, PlaceKind, Runtime, Scalar, Span,
    StmtKind, Type,
};

use super::Sema;
use super::model::*;
use super::refused::{WAITING_FOR_GRIDS, refuse};
use crate::ast;

/// Dynamic shared memory that a launch may ask for without further ado, in bytes.
const UNASKED_SHARED: u64 = 48 * 1024;
/// `cudaFuncAttributeMaxDynamicSharedMemorySize`
pub(crate) const MAX_DYNAMIC_SHARED: i32 = 8;

impl<'a> Sema<'a> {
    /// `kernel<<<grid, block, shared, stream>>>(args)`
    pub(crate) fn launch(
        &mut self,
        callee: &'a ast::Expr,
        config: &'a [ast::Expr],
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let (Some(grid), Some(block)) = (config.first(), config.get(1)) else {
            return fail("W098", span, "a launch needs a grid and a block: `<<<grid, block>>>`");
        };
        // What stands in for the run-time library says how large clusters are.
        if config.len() > 4 + usize::from(self.is_of_library(span)) {
            return fail("W098", span, "a launch takes grid, block, shared bytes and a stream");
        }
        let kernel = self.expr(callee)?;
        let grid = self.dimensions(grid)?;
        let block = self.dimensions(block)?;
        let shared = match config.get(2) {
            Some(e) => {
                let value = self.rvalue(e)?;
                self.convert_to(value, &Type::U64, e.span)?
            }
            None => Expr::int(Scalar::U64, 0).with_origin(span),
        };
        let stream = config.get(3).map(|e| self.rvalue(e)).transpose()?;
        let cluster = match config.get(4) {
            Some(e) => Some(self.dimensions(e)?),
            None => None,
        };
        let list = self.arguments(args)?;
        let on_device = self.f().func.kind != FunctionKind::Host;
        if self.is_function_pointer(&kernel) && on_device {
            let message = "a kernel that a pointer points to cannot be launched from the device";
            let d = error("W098", span, message);
            return Err(d
                .help("launch kernels by their names, with a `switch` on the kind")
                .into());
        }
        if self.is_function_pointer(&kernel) {
            let pointer = self.rvalue_of(kernel, callee.span)?;
            let none = || Expr::int(Scalar::U32, 0).with_origin(span);
            let cluster = cluster.unwrap_or_else(|| std::array::from_fn(|_| none()));
            let config = grid.into_iter().chain(block).chain([shared]).chain(cluster).collect();
            self.next_in_stream(stream, span);
            return self.launch_pointer(pointer, config, list, span);
        }
        let (name, fns, targs) = match self.functions_of(kernel) {
            Some(f) => (f.name, f.fns, f.args),
            None => return fail("W098", callee.span, "this is no kernel"),
        };
        self.check_shared(&name, &shared, span)?;
        let chosen = self.resolve_overload(&name, &fns, targs.as_deref(), None, &list, span)?;
        if !chosen.f.decl.attrs.global {
            let d = error("W098", callee.span, format!("`{name}` is no kernel"));
            return Err(d.label(chosen.f.decl.head_span, "not `__global__`").into());
        }
        let defaults: Vec<_> = chosen.f.decl.params.iter().skip(list.len()).collect();
        let scope = chosen.scope;
        let instance = self.instance(chosen, FunctionKind::Kernel, span)?;
        let mut values = vec![];
        for (arg, param) in list.into_iter().zip(&instance.params) {
            let stored = kernel_type(&param.ty);
            values.push(self.pass(arg, &QualType { ty: stored, ..param.clone() }, span)?);
        }
        for (default, param) in defaults.into_iter().zip(instance.params.iter().skip(values.len()))
        {
            let Some(e) = &default.default else {
                return fail("W063", span, "an argument is missing");
            };
            let saved = std::mem::replace(&mut self.f().scope, scope);
            let arg = self.expr(e);
            self.f().scope = saved;
            values.push(self.pass(arg?, param, span)?);
        }
        let launch = Launch {
            kernel: instance.id,
            grid,
            block,
            shared,
            cluster: cluster.map(Box::new),
            args: values,
        };
        if on_device {
            return self.queue_launch(launch, span);
        }
        self.next_in_stream(stream, span);
        self.emit(StmtKind::Launch(launch), span);
        Ok(Operand::Void)
    }

    /// A grid or block: a number or a `dim3`.
    pub(crate) fn dimensions(&mut self, e: &'a ast::Expr) -> Res<[Expr; 3]> {
        let ty = Type::Vector(Scalar::U32, 3);
        let value = match self.expr(e)? {
            Operand::List(items) => {
                let mut list = vec![];
                for item in items {
                    match &item.value {
                        ast::Initializer::Expr(inner) => list.push(self.expr(inner)?),
                        _ => {
                            return fail("W098", e.span, "a grid or block has up to three numbers");
                        }
                    }
                }
                self.construct(&ty, list, true, e.span)?
            }
            other => {
                let value = self.rvalue_of(other, e.span)?;
                self.convert_to(value, &ty, e.span)?
            }
        };
        if let ExprKind::Make(parts) = &*value.kind
            && let [x, y, z] = parts.as_slice()
        {
            return Ok([x.clone(), y.clone(), z.clone()]);
        }
        let held = self.hold_value(value, e.span);
        Ok([0, 1, 2].map(|i| {
            Expr::new(ExprKind::Member(held.clone(), i), Type::Scalar(Scalar::U32), e.span)
        }))
    }

    /// A copy or fill that a kernel asks for, by what stands in for it.
    fn moved_by_kernel(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let own = format!("{name}_in_kernel");
        let list = self.arguments(args)?;
        let functions = self.lookup_all_functions(self.root, &own);
        let chosen = self.resolve_overload(&own, &functions, None, None, &list, span)?;
        self.call_chosen(chosen, None, list, span)
    }

    /// Calls of the run-time library; `None` when the name is none, or we are on the device.
    pub(crate) fn runtime_call(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        if self.f().func.kind != FunctionKind::Host {
            return match name {
                "cudaMemcpyAsync" | "cudaMemsetAsync" => {
                    Some(self.moved_by_kernel(name, args, span))
                }
                _ => runtime_of_the_device(name, span),
            };
        }
        Some(match name {
            // Errors of earlier calls do not exist here, and everything is in order.
            "cudaGetLastError" | "cudaPeekAtLastError" => {
                Ok(Operand::Value(Expr::i32(0).with_origin(span)))
            }
            "cudaDeviceSynchronize" | "cudaStreamSynchronize" => {
                let done = self.called(Runtime::Synchronize, span);
                match self.tolerates() {
                    true => self.stream_call(name, args, span).unwrap_or(Ok(done)),
                    false => Ok(done),
                }
            }
            "cudaMalloc" => self.allocation(args, span),
            "cudaFree" => self.release(args, span),
            "cudaMemcpy" => self.memory_copy(args, false, span),
            "cudaMemcpyAsync" => self.memory_copy(args, true, span),
            "cudaMemset" => match args {
                [pointer, value, bytes] => {
                    self.fill_memory((pointer, value, bytes), Filler::Device, span)
                }
                _ => fail(
                    "W063",
                    span,
                    "`cudaMemset` takes a pointer, a value and a number of bytes",
                ),
            },
            "cudaFuncSetAttribute" => self.set_attribute(args, span),
            // Hints for the device have no effect on what a kernel computes.
            "cudaFuncSetCacheConfig" | "cudaFuncSetSharedMemConfig" => {
                Ok(Operand::Value(Expr::i32(0).with_origin(span)))
            }
            "cudaMemcpyToSymbolAsync" => self.copy_to_symbol(args, span),
            _ => {
                let d = error("W099", span, format!("the host function `{name}` is not supported"));
                Err(d
                    .help("a launcher may compute sizes, launch kernels and return their error")
                    .into())
            }
        })
    }

    /// How a function of the host reports an error: what it writes does not matter, and a program that ends has failed.
    pub(crate) fn program_end(&mut self, name: &str, span: Span) -> Res<Operand<'a>> {
        if name == "fprintf" {
            return Ok(Operand::Value(Expr::i32(0).with_origin(span)));
        }
        self.emit(StmtKind::Trap, span);
        Ok(Operand::Void)
    }

    /// A call that does not fail here.
    fn called(&mut self, call: Runtime, span: Span) -> Operand<'a> {
        self.emit(StmtKind::Runtime(call), span);
        Operand::Value(Expr::i32(0).with_origin(span))
    }

    /// `cudaMalloc((void **)&pointer, bytes)`
    fn allocation(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        let [target, bytes] = args else {
            return fail(
                "W063",
                span,
                "`cudaMalloc` takes a pointer to a pointer and a number of bytes",
            );
        };
        let Some(variable) = addressed(target) else {
            if self.tolerates() {
                return self.device_allocation(target, bytes, span);
            }
            return fail("W098", target.span, "only `&pointer` is understood here");
        };
        let pointer = match self.expr(variable)? {
            Operand::Place { place, .. } if place.ty.is_pointer() => place,
            _ => return fail("W098", target.span, "this is not the address of a pointer"),
        };
        let bytes = self.byte_count(bytes)?;
        Ok(self.called(Runtime::Allocate { pointer, bytes }, span))
    }

    /// `cudaFree(pointer)`
    fn release(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        let [pointer] = args else { return fail("W063", span, "`cudaFree` takes a pointer") };
        let pointer = self.a_pointer(pointer)?;
        Ok(self.called(Runtime::Free { pointer }, span))
    }

    /// `cudaMemcpy(destination, source, bytes, direction)`, and the one with a stream.
    fn memory_copy(
        &mut self,
        args: &'a [ast::Expr],
        asynchronous: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let [destination, source, bytes, direction, rest @ ..] = args else {
            return fail(
                "W063",
                span,
                "a copy takes two pointers, a number of bytes and a direction",
            );
        };
        let (to, from) = (self.pointer_to_copy(destination)?, self.pointer_to_copy(source)?);
        let bytes = self.byte_count(bytes)?;
        let way = match self.rvalue(direction)?.as_const().map(|v| v.as_i64() as i32) {
            Some(1) => CopyWay::ToDevice,
            Some(2) => CopyWay::ToHost,
            Some(super::expr::DEVICE_TO_DEVICE) => CopyWay::OnDevice,
            _ => return fail("W098", direction.span, "this direction of a copy is not supported"),
        };
        for e in rest {
            self.rvalue(e)?;
        }
        let call = Runtime::Copy { way, destination: to, source: from, bytes, asynchronous };
        Ok(self.called(call, span))
    }

    fn pointer_to_copy(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let value = self.rvalue(e)?;
        match value.ty.is_pointer() {
            true => Ok(value),
            false => fail("W098", e.span, "this is no pointer"),
        }
    }

    fn byte_count(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let value = self.rvalue(e)?;
        self.convert_to(value, &Type::U64, e.span)
    }

    /// `cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)` allows later launches so much;
    /// other attributes are hints.
    fn set_attribute(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        if let [kernel, attribute, bytes] = args
            && let Operand::Functions { name, .. } = self.expr(kernel)?
        {
            let attribute = self.rvalue(attribute)?;
            let bytes = self.rvalue(bytes)?;
            // What is not constant may be enough.
            let bytes = bytes.as_const().map_or(u64::MAX, |v| v.as_i64().max(0) as u64);
            if attribute.as_const().is_none_or(|v| v.as_i64() == MAX_DYNAMIC_SHARED.into()) {
                self.f().allowed_shared.push((name, bytes));
            }
        }
        Ok(Operand::Value(Expr::i32(0).with_origin(span)))
    }

    /// A launch with more dynamic shared memory than a kernel gets unasked fails, unless it was allowed before.
    fn check_shared(&mut self, kernel: &str, shared: &Expr, span: Span) -> Res<()> {
        let wanted = shared.as_const().map_or(0, |v| v.bits);
        let known = self.f().allowed_shared.iter().filter(|(name, _)| name == kernel);
        let allowed = known.map(|(_, bytes)| *bytes).max().unwrap_or(0).max(UNASKED_SHARED);
        if wanted <= allowed {
            return Ok(());
        }
        let message = format!(
            "`{kernel}` is launched with {wanted} bytes of dynamic shared memory and may have {allowed}"
        );
        let help = format!(
            "call `cudaFuncSetAttribute({kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize, {wanted})` before"
        );
        Err(error("W098", span, message).help(help).into())
    }

    /// `cudaMemcpyToSymbolAsync(variable, source, sizeof(variable), 0, cudaMemcpyDeviceToDevice, stream)`
    fn copy_to_symbol(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        let help = "`cudaMemcpyToSymbolAsync(variable, source, sizeof(variable), 0, cudaMemcpyDeviceToDevice, stream)` is understood";
        let refuse = |span, why: &str| -> Res<Operand<'a>> {
            Err(error("W098", span, why.to_string()).help(help).into())
        };
        let [variable, source, count, offset, kind, rest @ ..] = args else {
            return refuse(span, "this copy is not understood");
        };
        let destination = match self.expr(variable)? {
            Operand::Place { place, .. } if matches!(&*place.kind, PlaceKind::Global(_)) => place,
            _ => return refuse(variable.span, "this is no variable of the device"),
        };
        let source = self.rvalue(source)?;
        let size = warpsmith_ir::layout::layout_of(&self.module, &destination.ty).size;
        let wanted = [
            (
                count,
                i64::try_from(size).unwrap_or(i64::MAX),
                "this is not the size of the variable",
            ),
            (offset, 0, "a copy to the middle of a variable is not supported"),
            (
                kind,
                super::expr::DEVICE_TO_DEVICE.into(),
                "only copies from device memory are supported",
            ),
        ];
        for (e, value, why) in wanted {
            if self.rvalue(e)?.as_const().map(|v| v.as_i64()) != Some(value) {
                return refuse(e.span, why);
            }
        }
        for e in rest {
            self.rvalue(e)?;
        }
        if !source.ty.is_pointer() {
            return refuse(span, "the source of this copy is no pointer");
        }
        self.emit(StmtKind::CopyToGlobal { destination, source }, span);
        Ok(Operand::Value(Expr::i32(0).with_origin(span)))
    }
}

/// `p` of `&p` or `(void **)&p`.
fn addressed(e: &ast::Expr) -> Option<&ast::Expr> {
    match &*e.kind {
        ast::ExprKind::Paren(inner) | ast::ExprKind::Cast { operand: inner, .. } => {
            addressed(inner)
        }
        ast::ExprKind::Unary { op, operand } if op == "&" => Some(operand),
        _ => None,
    }
}

/// The type of a kernel's parameter: its pointers point to global memory.
fn kernel_type(ty: &Type) -> Type {
    super::convert::with_space(ty, warpsmith_ir::Space::Global)
}

/// What kernels call of the run-time library, beside launches: streams and errors, which change nothing here.
fn runtime_of_the_device<'a>(name: &str, span: Span) -> Option<Res<Operand<'a>>> {
    match name {
        "cudaStreamCreateWithFlags"
        | "cudaStreamDestroy"
        | "cudaGetLastError"
        | "cudaPeekAtLastError"
        | "cudaEventCreateWithFlags"
        | "cudaEventRecord"
        | "cudaEventDestroy"
        | "cudaStreamWaitEvent" => Some(Ok(Operand::Value(Expr::i32(0).with_origin(span)))),
        "cudaDeviceSynchronize" => Some(refuse(WAITING_FOR_GRIDS, span)),
        _ => None,
    }
}
