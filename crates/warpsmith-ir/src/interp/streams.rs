//! What a program says about streams and events, for the launcher. The interpreter itself does everything at once.

use super::Piece;
use super::bounds::Track;
use super::exec::{Interp, Run};
use super::memory::{OWN, Pointer, Val};
use crate::expr::{Expr, Place, PlaceKind};
use crate::span::Origin;
use crate::stmt::StreamOrder;
use crate::types::{Scalar, Type};
use crate::value::Value;

/// What the interpreter itself knows of streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// A stream was named for what comes next.
    pub named: bool,
    /// A library reached memory of the device, in an order that nobody wrote down.
    pub reached: std::cell::Cell<bool>,
}

impl<T: Track> Interp<'_, '_, T> {
    pub(super) fn stream_order(
        &mut self,
        what: StreamOrder,
        operands: &[Expr],
        made: &Option<Place>,
    ) -> Run<()> {
        let handles: Vec<Option<u64>> = operands.iter().map(|e| self.handle(e)).collect();
        // What is captured has an order of its own.
        if self.captured.on && made.is_none() {
            return Ok(());
        }
        self.streams.named = what == StreamOrder::Into;
        let number = self.launcher.order(what, &handles);
        let Some(place) = made else { return Ok(()) };
        let value = match place.ty {
            Type::Pointer { .. } => Val::Ptr(Pointer::from_bits(number)),
            _ => Val::Num(Value::int(place.ty.scalar().unwrap_or(Scalar::U64), number as i64)),
        };
        self.write(place, (value, T::input(Value::i32(0))))
    }

    /// A stream or event as a number; `None`: it is not known.
    fn handle(&mut self, e: &Expr) -> Option<u64> {
        match self.eval(e).ok()?.0 {
            Val::Num(v) => Some(v.bits),
            Val::Ptr(p) => Some(p.to_bits()),
            Val::Bytes(_) => None,
        }
    }

    /// Everything so far comes before everything from here on.
    pub(super) fn all_is_done(&mut self) {
        if self.working.is_some() {
            self.streams = Streams::default();
            self.launcher.order(StreamOrder::All, &[]);
        }
    }

    /// What a library did comes before what follows; so does all of what it launches or moves in no stream of the program's.
    pub(super) fn before_operation(&mut self) {
        let named = std::mem::take(&mut self.streams.named);
        if self.streams.reached.get() || self.in_library > 0 && !named {
            self.all_is_done();
        }
    }

    /// A piece of one of the buffers that the device can use; `None`: it is something else.
    pub(super) fn piece(
        &self,
        object: u32,
        at: usize,
        bytes: usize,
        writes: bool,
    ) -> Option<Piece> {
        let managed = || self.managed.iter().find(|m| m.0 == object).map(|m| m.1);
        if object >= OWN {
            return Some(Piece { buffer: managed()?, at, bytes, writes, shared: true });
        }
        let buffer = object as usize;
        let host = &self.memory.host;
        let shared = host.shared.contains(buffer);
        (!host.host.contains(buffer)).then_some(Piece { buffer, at, bytes, writes, shared })
    }

    /// The host itself reads or writes what lies at a place.
    pub(super) fn host_at(&mut self, place: &Place, p: Pointer, bytes: u64, writes: bool) {
        if self.working.is_some() && p.object.is_some_and(|id| self.may_be_in_flight(id)) {
            let plain = !is_volatile(place);
            self.host_touches(p, bytes, (writes, plain), &place.origin);
        }
    }

    pub(super) fn may_be_in_flight(&self, object: u32) -> bool {
        match object < OWN {
            true => self.memory.host.shared.contains(object as usize),
            false => self.managed.iter().any(|m| m.0 == object),
        }
    }

    /// The same of so many bytes, which need not be there; `plain`: see [`super::Launcher::host_touches`].
    pub(super) fn host_touches(
        &mut self,
        p: Pointer,
        bytes: u64,
        (writes, plain): (bool, bool),
        origin: &Origin,
    ) {
        let Ok((id, at)) = self.check(p, bytes) else { return };
        let piece = self.piece(id, at, bytes as usize, writes);
        if let Some(piece) = piece.filter(|p| p.shared && self.launcher.in_flight(Some(p.buffer))) {
            // Libraries wait for what they use.
            match self.in_library > 0 {
                true => self.all_is_done(),
                false => self.launcher.host_touches(piece, plain, origin),
            }
        }
    }

    /// Tells the launcher of a copy or fill.
    pub(super) fn moved(&mut self, pieces: [Option<Piece>; 2], waits: bool, origin: &Origin) {
        let pieces: Vec<Piece> = pieces.into_iter().flatten().collect();
        if self.working.is_none() || pieces.is_empty() {
            return;
        }
        self.before_operation();
        match self.in_library > 0 {
            true => self.all_is_done(),
            false => self.launcher.moves(&pieces, waits, origin),
        }
    }
}

/// The place is reached through a pointer to volatile.
fn is_volatile(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Deref(p) | PlaceKind::Elem { pointer: p, .. } => {
            matches!(p.ty, Type::Pointer { volatile: true, .. })
        }
        PlaceKind::Index(base, _) | PlaceKind::Field(base, _) | PlaceKind::Component(base, _) => {
            is_volatile(base)
        }
        PlaceKind::Var(_) | PlaceKind::Global(_) => false,
    }
}
