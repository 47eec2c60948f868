//! Memory in host code of whole programs: allocation, copies and fills, of the host's library and of the run-time library.

use warpsmith_ir::{
    CopyWay, Expr, Filler, Place, PlaceKind, Runtime, Scalar, Space, Span, StmtKind, Type,
};

use super::Sema;
use super::model::*;
use crate::ast;

/// Functions of the run-time library that change nothing a kernel could see; what they write through their arguments is
/// forgotten.
const HARMLESS: &[&str] = &[
    "cudaSetDevice",
    "cudaDeviceReset",
    "cudaThreadExit",
    "cudaDeviceSetLimit",
    "cudaDeviceSetCacheConfig",
    "cudaDeviceSetSharedMemConfig",
    "cudaSetDeviceFlags",
    "cudaEventDestroy",
    "cudaStreamDestroy",
    "cudaProfilerStart",
    "cudaProfilerStop",
    "cudaMemPrefetchAsync",
    "cudaMemAdvise",
    "cudaMemGetInfo",
    "cudaDeviceGetStreamPriorityRange",
    "cudaFuncGetAttributes",
    "cudaFuncSetCacheConfig",
    "cudaFuncSetSharedMemConfig",
    "cudaStreamAttachMemAsync",
    "cudaDeviceEnablePeerAccess",
    "cudaDeviceDisablePeerAccess",
    "cudaDeviceGetLimit",
    "cudaCtxResetPersistingL2Cache",
    "cudaStreamSetAttribute",
];

/// What literal texts are called in messages.
pub(crate) const LITERAL: &str = "a string";
/// What a device could answer when it is asked how many blocks it holds: few, since each of them is run.
const RESIDENT_BLOCKS: i32 = 2;
/// The version of CUDA that driver and run-time library say they are; the preprocessor's `CUDART_VERSION`.
const CUDA_VERSION: i32 = 13000;
/// A grid and a block that it could say keep it busy.
const BEST_GRID: i32 = 264;
const BEST_BLOCK: i32 = 256;

impl<'a> Sema<'a> {
    /// A call that only whole programs make; `None` when the name is none of them.
    pub(crate) fn program_call(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        if !self.tolerates() {
            return None;
        }
        let of_memory = self.allocating_call(name, args, span);
        if let Some(result) = of_memory.or_else(|| self.moving_call(name, args, span)) {
            return Some(result);
        }
        Some(match (name, args) {
            ("cudaGetSymbolAddress", [target, symbol]) => self.symbol_address(target, symbol, span),
            ("cudaGetSymbolSize", [target, symbol]) => self.symbol_size(target, symbol, span),
            ("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [blocks, ..])
            | ("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [blocks, ..]) => {
                self.reports(&[(blocks, RESIDENT_BLOCKS)], span)
            }
            (
                "cudaOccupancyMaxPotentialBlockSize"
                | "cudaOccupancyMaxPotentialBlockSizeVariableSMem",
                [grid, block, ..],
            ) => self.reports(&[(grid, BEST_GRID), (block, BEST_BLOCK)], span),
            ("cudaDriverGetVersion" | "cudaRuntimeGetVersion", [version]) => {
                self.reports(&[(version, CUDA_VERSION)], span)
            }
            ("printf" | "puts" | "putchar" | "fflush" | "perror" | "fputs", _) => {
                self.printed(args, span)
            }
            ("fprintf", [_, rest @ ..]) => self.printed(rest, span),
            ("forgetValue", [pointer]) => self.forget_behind(pointer, false, span),
            ("forgetMemory", [pointer]) => self.forget_behind(pointer, true, span),
            ("noteFromHere", []) => Ok(self.note_streams(true, span)),
            ("doFromHere", []) => Ok(self.note_streams(false, span)),
            ("replayNoted", [at]) => self.replay_note(at, span),
            // Time stands still.
            ("clock", []) => Ok(zero(span)),
            ("launchByAddress", _) => self.launch_by_address(args, span),
            ("bytesOfArgument", [kernel, position]) => {
                self.bytes_of_argument(kernel, position, span)
            }
            _ if super::launch_calls::LAUNCHERS.contains(&name) => self.launch_call(args, span),
            _ if HARMLESS.contains(&name) => self.harmless(args, span),
            _ => return self.stream_call(name, args, span),
        })
    }

    /// Allocations of host and device, and what pointers to them are.
    fn allocating_call(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        Some(match (name, args) {
            ("malloc" | "valloc" | "pvalloc", [bytes])
            | ("aligned_alloc" | "memalign", [_, bytes])
            | ("_mm_malloc" | "_aligned_malloc", [bytes, _]) => {
                self.malloc(bytes, None, false, span)
            }
            ("calloc", [count, size]) => self.malloc(count, Some(size), true, span),
            ("free" | "cudaFreeHost" | "_mm_free" | "_aligned_free", [pointer])
            | ("cudaFreeAsync", [pointer, ..]) => self.free(pointer, span),
            ("cudaMallocManaged", [target, bytes, ..])
            | ("cudaMallocHost" | "cudaHostAlloc", [target, bytes, ..]) => {
                self.shared_allocation(target, bytes, span)
            }
            ("cudaMallocAsync" | "cudaMallocFromPoolAsync", [target, bytes, ..]) => {
                self.device_allocation(target, bytes, span)
            }
            ("cudaMallocPitch", [target, pitch, width, height]) => {
                self.pitched(target, pitch, width, height, span)
            }
            ("cudaHostRegister", [pointer, ..]) => self.pin(pointer, true, span),
            ("cudaHostUnregister", [pointer]) => self.pin(pointer, false, span),
            ("cudaHostGetDevicePointer", [target, host, _]) => self.alias(target, host, span),
            _ => return None,
        })
    }

    /// Fills and copies.
    fn moving_call(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        Some(match (name, args) {
            ("memset" | "cudaMemset", [pointer, value, bytes])
            | ("cudaMemsetAsync", [pointer, value, bytes, ..]) => {
                if let Err(failure) = self.next_in_stream_of(args.get(3), span) {
                    return Some(Err(failure));
                }
                let by = match name {
                    "memset" => Filler::Host,
                    "cudaMemset" => Filler::Device,
                    _ => Filler::DeviceLater,
                };
                self.fill_memory((pointer, value, bytes), by, span)
            }
            ("memcpy" | "memmove", [to, from, bytes]) => {
                self.copy_between(to, from, bytes, CopyWay::ByHost, false, span)
            }
            ("cudaMemcpy" | "cudaMemcpyAsync", [to, from, bytes, way, ..]) => {
                let way = self.copy_way(way);
                match way.and_then(|way| self.next_in_stream_of(args.get(4), span).map(|()| way)) {
                    Ok(way) => {
                        let asynchronous = name == "cudaMemcpyAsync";
                        self.copy_between(to, from, bytes, way, asynchronous, span)
                    }
                    Err(failure) => Err(failure),
                }
            }
            (
                "cudaMemcpyToSymbol" | "cudaMemcpyToSymbolAsync",
                [symbol, from, bytes, rest @ ..],
            ) => {
                let asynchronous = name.ends_with("Async");
                if let Err(failure) = self.next_in_stream_of(rest.get(2), span) {
                    return Some(Err(failure));
                }
                let place = (symbol, rest.first(), true);
                self.symbol_copy(place, from, bytes, asynchronous, span)
            }
            (
                "cudaMemcpyFromSymbol" | "cudaMemcpyFromSymbolAsync",
                [to, symbol, bytes, rest @ ..],
            ) => {
                let asynchronous = name.ends_with("Async");
                if let Err(failure) = self.next_in_stream_of(rest.get(2), span) {
                    return Some(Err(failure));
                }
                let place = (symbol, rest.first(), false);
                self.symbol_copy(place, to, bytes, asynchronous, span)
            }
            _ => return None,
        })
    }

    /// A string as a value: a pointer to its characters, which are constant data.
    pub(crate) fn string_table(&mut self, text: &str, span: Span) -> Expr {
        let space = if self.tolerates() { Space::Local } else { Space::Constant };
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        let ty = Type::array(Type::Scalar(Scalar::I8), bytes.len() as u64);
        self.module.globals.push(warpsmith_ir::Global {
            name: LITERAL.into(),
            ty: ty.clone(),
            space,
            init: Some(bytes),
            origin: warpsmith_ir::Origin::at(span),
        });
        let id = warpsmith_ir::GlobalId(self.module.globals.len() as u32 - 1);
        let place = Place::new(PlaceKind::Global(id), ty, span);
        let value = self.read_place(place, true, span);
        super::functions::raw_pointer_cast(value, string_type(), span)
    }

    pub(crate) fn allocate_host(&mut self, bytes: Expr, shared: bool, span: Span) -> Expr {
        let ty = Type::pointer(Type::Scalar(Scalar::I8), Space::Generic);
        let temp = self.new_temp(ty.clone(), span);
        let pointer = Place::new(PlaceKind::Var(temp), ty, span);
        let call = Runtime::AllocateHost { pointer: pointer.clone(), bytes, shared };
        self.emit(StmtKind::Runtime(call), span);
        Expr::read(pointer).with_origin(span)
    }

    fn malloc(
        &mut self,
        bytes: &'a ast::Expr,
        times: Option<&'a ast::Expr>,
        zeroed: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let mut bytes = self.bytes_of(bytes)?;
        if let Some(times) = times {
            let times = self.bytes_of(times)?;
            bytes = super::convert::binary_folded(warpsmith_ir::BinaryOp::Mul, bytes, times, span);
        }
        let bytes = self.hold_value(bytes, span);
        let pointer = self.allocate_host(bytes.clone(), false, span);
        if zeroed {
            self.zero_bytes(pointer.clone(), bytes, span);
        }
        let void = Type::pointer(Type::Void, Space::Generic);
        Ok(Operand::Value(super::functions::raw_pointer_cast(pointer, void, span)))
    }

    pub(crate) fn free(&mut self, pointer: &'a ast::Expr, span: Span) -> Res<Operand<'a>> {
        let pointer = self.a_pointer(pointer)?;
        self.emit(StmtKind::Runtime(Runtime::Free { pointer }), span);
        Ok(zero(span))
    }

    fn pin(&mut self, pointer: &'a ast::Expr, on: bool, span: Span) -> Res<Operand<'a>> {
        let pointer = self.a_pointer(pointer)?;
        self.emit(StmtKind::Runtime(Runtime::Pin { pointer, on }), span);
        Ok(zero(span))
    }

    /// The host sets its own memory to zero.
    pub(crate) fn zero_bytes(&mut self, pointer: Expr, bytes: Expr, span: Span) {
        let value = Expr::i32(0).with_origin(span);
        let call = Runtime::Fill { pointer, value, bytes, by: Filler::Host };
        self.emit(StmtKind::Runtime(call), span);
    }

    pub(crate) fn fill_memory(
        &mut self,
        (pointer, value, bytes): (&'a ast::Expr, &'a ast::Expr, &'a ast::Expr),
        by: Filler,
        span: Span,
    ) -> Res<Operand<'a>> {
        let pointer = self.a_pointer(pointer)?;
        let value = self.rvalue(value)?;
        let value = self.convert_to(value, &Type::I32, span)?;
        let bytes = self.bytes_of(bytes)?;
        self.emit(StmtKind::Runtime(Runtime::Fill { pointer, value, bytes, by }), span);
        Ok(zero(span))
    }

    fn copy_between(
        &mut self,
        to: &'a ast::Expr,
        from: &'a ast::Expr,
        bytes: &'a ast::Expr,
        way: CopyWay,
        asynchronous: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let (destination, source) = (self.a_pointer(to)?, self.a_pointer(from)?);
        let bytes = self.bytes_of(bytes)?;
        Ok(self.emit_copy(Runtime::Copy { way, destination, source, bytes, asynchronous }, span))
    }

    pub(crate) fn emit_copy(&mut self, call: Runtime, span: Span) -> Operand<'a> {
        self.emit(StmtKind::Runtime(call), span);
        zero(span)
    }

    /// The direction of a copy, which has to be constant.
    fn copy_way(&mut self, e: &'a ast::Expr) -> Res<CopyWay> {
        match self.rvalue(e)?.as_const().map(|v| v.as_i64()) {
            Some(1) => Ok(CopyWay::ToDevice),
            Some(2) => Ok(CopyWay::ToHost),
            Some(3) => Ok(CopyWay::OnDevice),
            Some(0 | 4) => Ok(CopyWay::Any),
            _ => fail("W098", e.span, "this direction of a copy is not understood"),
        }
    }

    fn shared_allocation(
        &mut self,
        target: &'a ast::Expr,
        bytes: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let pointer = self.pointer_place(target)?;
        let bytes = self.bytes_of(bytes)?;
        let call = Runtime::AllocateHost { pointer, bytes, shared: true };
        self.emit(StmtKind::Runtime(call), span);
        Ok(zero(span))
    }

    pub(crate) fn device_allocation(
        &mut self,
        target: &'a ast::Expr,
        bytes: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let pointer = self.pointer_place(target)?;
        let bytes = self.bytes_of(bytes)?;
        self.emit(StmtKind::Runtime(Runtime::Allocate { pointer, bytes }), span);
        Ok(zero(span))
    }

    /// Rows of whole multiples of 512 bytes, as devices give them.
    fn pitched(
        &mut self,
        target: &'a ast::Expr,
        pitch: &'a ast::Expr,
        width: &'a ast::Expr,
        height: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        use warpsmith_ir::BinaryOp::{Add, BitAnd, Mul};
        const ROW: i64 = 512;
        let number = |n: i64| Expr::int(Scalar::U64, n).with_origin(span);
        let binary = super::convert::binary_folded;
        let pointer = self.pointer_place(target)?;
        let pitch = self.rvalue(pitch)?;
        let place = self.place_of_pointer(pitch, span);
        let width = self.bytes_of(width)?;
        let height = self.bytes_of(height)?;
        let padded = binary(Add, width, number(ROW - 1), span);
        let row = binary(BitAnd, padded, number(!(ROW - 1)), span);
        let row = self.hold_value(row, span);
        let value = self.convert_to(row.clone(), &place.ty.clone(), span)?;
        self.emit(StmtKind::Assign { place, value }, span);
        let bytes = binary(Mul, row, height, span);
        self.emit(StmtKind::Runtime(Runtime::Allocate { pointer, bytes }), span);
        Ok(zero(span))
    }

    /// Files that are read are named: what programs read from them is not known.
    pub(crate) fn say_what_is_invented(&mut self, name: &str, args: &'a [ast::Expr], span: Span) {
        let read = match (name, args) {
            ("fopen", [file, mode]) => match &*mode.kind {
                ast::ExprKind::Str(text) if !text.contains('r') => None,
                _ => Some(file),
            },
            ("sdkLoadPGM" | "sdkLoadPPM4", [file, ..]) => Some(file),
            _ => None,
        };
        let Some(file) = read else { return };
        let file = super::text::expr_text(file);
        let what = format!("the file {file} is not read: numbers and sizes from it are invented");
        self.emit(StmtKind::Runtime(Runtime::Skipped { what, launches: false }), span);
    }

    /// What a pointer points to holds nothing known any more; `all`: the whole array that it points into.
    fn forget_behind(&mut self, pointer: &'a ast::Expr, all: bool, span: Span) -> Res<Operand<'a>> {
        let pointer = self.rvalue(pointer)?;
        let call = match all {
            true => Runtime::ForgetMemory { pointer },
            false => Runtime::Forget { place: self.place_of_pointer(pointer, span) },
        };
        self.emit(StmtKind::Runtime(call), span);
        Ok(zero(span))
    }

    /// A call that answers with numbers, through pointers that it is given.
    fn reports(&mut self, answers: &[(&'a ast::Expr, i32)], span: Span) -> Res<Operand<'a>> {
        for (to, number) in answers {
            let pointer = self.rvalue(to)?;
            let place = self.place_of_pointer(pointer, span);
            let value = Expr::i32(*number).with_origin(span);
            let value = self.convert_to(value, &place.ty.clone(), span)?;
            self.emit(StmtKind::Assign { place, value }, span);
        }
        Ok(zero(span))
    }

    /// The device's pointer to memory of the host that both use is the host's.
    fn alias(
        &mut self,
        target: &'a ast::Expr,
        host: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let place = self.pointer_place(target)?;
        let value = self.a_pointer(host)?;
        let value = super::functions::raw_pointer_cast(value, place.ty.clone(), span);
        self.emit(StmtKind::Assign { place, value }, span);
        Ok(zero(span))
    }

    /// A call that does nothing but write something unknown through its arguments.
    fn harmless(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        for arg in args {
            if let ast::ExprKind::Unary { op, operand } = &*arg.kind
                && op == "&"
            {
                let (place, _) = self.lvalue(operand)?;
                if place.ty.is_pointer() {
                    // A handle, which only more such calls get.
                    let value = self.zero_value(&place.ty.clone(), span)?;
                    self.emit(StmtKind::Assign { place, value }, span);
                } else {
                    self.emit(StmtKind::Runtime(Runtime::Forget { place }), span);
                }
            }
        }
        Ok(zero(span))
    }

    pub(crate) fn a_pointer(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let value = self.rvalue(e)?;
        match value.ty.is_pointer() {
            true => Ok(value),
            false if value.as_const().is_some_and(|v| v.bits == 0) => {
                let void = Type::pointer(Type::Void, Space::Generic);
                self.convert_to(value, &void, e.span)
            }
            false => fail("W098", e.span, "this is no pointer"),
        }
    }

    pub(crate) fn bytes_of(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let value = self.rvalue(e)?;
        self.convert_to(value, &Type::U64, e.span)
    }

    /// What a pointer to a pointer points to: `&p`, `(void **)&p`, or a variable that holds such a pointer.
    pub(crate) fn pointer_place(&mut self, e: &'a ast::Expr) -> Res<Place> {
        let mut inner = e;
        while let ast::ExprKind::Paren(next) | ast::ExprKind::Cast { operand: next, .. } =
            &*inner.kind
        {
            inner = next;
        }
        if let ast::ExprKind::Unary { op, operand } = &*inner.kind
            && op == "&"
        {
            let (place, _) = self.lvalue(operand)?;
            return match place.ty.is_pointer() {
                true => Ok(place),
                false => fail("W098", e.span, "this is not the address of a pointer"),
            };
        }
        let pointer = self.rvalue(inner)?;
        match pointer.ty.pointee() {
            Some(target) if target.is_pointer() => Ok(self.place_of_pointer(pointer, e.span)),
            _ => fail("W098", e.span, "this is not the address of a pointer"),
        }
    }
}

/// `char *`
pub(crate) fn string_type() -> Type {
    Type::Pointer {
        pointee: Type::Scalar(Scalar::I8).into(),
        space: Space::Generic,
        volatile: false,
        readonly: true,
    }
}

/// A call of the run-time library that went well.
pub(crate) fn zero<'a>(span: Span) -> Operand<'a> {
    Operand::Value(Expr::i32(0).with_origin(span))
}
