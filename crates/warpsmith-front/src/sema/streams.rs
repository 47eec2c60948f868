//! Streams and events in host code of whole programs: what is asked for in which stream, and what waits for what.

use warpsmith_ir::{Expr, Place, PlaceKind, Runtime, Span, StmtKind, StreamOrder, Type};

use super::Sema;
use super::host_memory::zero;
use super::model::*;
use crate::ast;

/// `cudaStreamNonBlocking`
const NON_BLOCKING: i64 = 1;

impl<'a> Sema<'a> {
    /// Calls about the order of streams; `None`: the name is none of them.
    pub(crate) fn stream_call(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        use StreamOrder::*;
        let what = match (name, args) {
            ("cudaStreamCreate", [_]) => Create,
            ("cudaStreamCreateWithFlags" | "cudaStreamCreateWithPriority", [_, flags, ..]) => {
                match self.rvalue(flags).map(|f| f.as_const().map(|v| v.as_i64())) {
                    Ok(Some(NON_BLOCKING)) => CreateApart,
                    Ok(_) => Create,
                    Err(failure) => return Some(Err(failure)),
                }
            }
            ("cudaEventCreate" | "cudaEventCreateWithFlags", [_, ..]) => CreateEvent,
            ("cudaEventRecord" | "cudaEventRecordWithFlags", [_, ..]) => Record,
            ("cudaStreamWaitEvent", [_, _, ..]) => Wait,
            ("cudaStreamSynchronize" | "cudaStreamQuery", [_]) => Stream,
            ("cudaEventSynchronize" | "cudaEventQuery", [_]) => Event,
            ("cudaDeviceSynchronize" | "cudaThreadSynchronize", []) => All,
            _ => return None,
        };
        Some(match what {
            Create | CreateApart | CreateEvent => self.new_handle(what, &args[0], span),
            _ => self.ordered(what, args, span),
        })
    }

    /// A new stream or event.
    fn new_handle(
        &mut self,
        what: StreamOrder,
        target: &'a ast::Expr,
        span: Span,
    ) -> Res<Operand<'a>> {
        let made = self.handle_place(target)?;
        self.order(what, vec![], Some(made), span);
        Ok(zero(span))
    }

    /// What a pointer to a stream or an event points to.
    fn handle_place(&mut self, e: &'a ast::Expr) -> Res<Place> {
        if let ast::ExprKind::Unary { op, operand } = &*e.kind
            && op == "&"
        {
            let (place, _) = self.lvalue(operand)?;
            return match place.ty.is_pointer() || place.ty.is_integer() {
                true => Ok(place),
                false => fail("W098", e.span, "this is not the address of a stream or an event"),
            };
        }
        let pointer = self.rvalue(e)?;
        match pointer.ty.pointee().cloned() {
            Some(ty) if ty.is_pointer() || ty.is_integer() => {
                Ok(Place::new(PlaceKind::Deref(pointer), ty, e.span))
            }
            _ => fail("W098", e.span, "this is not the address of a stream or an event"),
        }
    }

    fn ordered(
        &mut self,
        what: StreamOrder,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let mut operands = vec![];
        for e in args.iter().take(what.takes()) {
            operands.push(self.handle(e)?);
        }
        if operands.len() < what.takes() {
            operands.push(Expr::i32(0).with_origin(span));
        }
        self.order(what, operands, None, span);
        Ok(zero(span))
    }

    /// A stream or an event as a number or a pointer.
    fn handle(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let value = self.rvalue(e)?;
        match value.ty.is_pointer() || value.ty.is_integer() {
            true => Ok(value),
            false => self.convert_to(value, &Type::U64, e.span),
        }
    }

    /// What comes next is for the stream that this argument names; without it, for the default stream.
    pub(crate) fn next_in_stream_of(&mut self, e: Option<&'a ast::Expr>, span: Span) -> Res<()> {
        let stream = e.map(|e| self.handle(e)).transpose()?;
        self.next_in_stream(stream, span);
        Ok(())
    }

    /// What comes next is for this stream.
    pub(crate) fn next_in_stream(&mut self, stream: Option<Expr>, span: Span) {
        let handle = |e: &Expr| e.ty.is_pointer() || e.ty.is_integer();
        if let Some(stream) = stream.filter(|e| self.tolerates() && handle(e)) {
            self.order(StreamOrder::Into, vec![stream], None, span);
        }
    }

    fn order(&mut self, what: StreamOrder, operands: Vec<Expr>, made: Option<Place>, span: Span) {
        self.emit(StmtKind::Runtime(Runtime::Order { what, operands, made }), span);
    }
}
