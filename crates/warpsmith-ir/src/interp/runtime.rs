//! Calls of the run-time library: memory of the device, copies to and from it, and waiting.

use super::bounds::Track;
use super::capture::Operation;
use super::exec::{Interp, Run};
use super::host::Skipped;
use super::memory::{Image, OWN, Pointer, Val};
use super::{InterpErrorKind, Memory, Unknown};
use crate::expr::{Expr, Place, PlaceKind};
use crate::span::Origin;
use crate::stmt::{CopyWay, Filler, Runtime};
use crate::types::{Scalar, Type};
use crate::value::Value;

/// Bytes of all memory that a function allocates, at most.
const MOST: u64 = 1 << 36;
/// Bytes that take so long to move that the time may be over meanwhile.
const MANY_BYTES: u64 = 1 << 22;

impl Memory {
    /// Whether a pointer's object lies on the host.
    fn is_host(&self, object: u32) -> bool {
        object >= OWN || (object as usize) < self.on_host || self.host.reaches(object as usize)
    }
}

impl<T: Track> Interp<'_, '_, T> {
    pub fn runtime(&mut self, call: &Runtime, origin: &Origin) -> Run<()> {
        match call {
            Runtime::Allocate { pointer, bytes } => {
                let (buffer, bytes) = self.new_buffer(bytes, origin)?;
                self.name_buffer(buffer, bytes, pointer);
                self.set_pointer(pointer, buffer)
            }
            Runtime::AllocateHost { pointer, bytes, shared } => {
                self.allocate_host(pointer, bytes, *shared, origin)
            }
            Runtime::Fill { pointer, value, bytes, by } => {
                let p = self.pointer(pointer)?;
                let value = self.integer(value)? as u8;
                let bytes = self.integer(bytes)? as u64;
                self.fill_or_note(p, (value, bytes), *by, origin)
            }
            Runtime::Forget { place } => {
                self.forget_place(place, false);
                Ok(())
            }
            Runtime::Pin { pointer, on } => {
                let p = self.pointer(pointer)?;
                self.pin(p, *on, origin)
            }
            Runtime::ForgetMemory { pointer } => {
                let p = self.pointer(pointer)?;
                self.forget_object(p);
                Ok(())
            }
            Runtime::Skipped { what, launches } => self.skipped_code(what, *launches, origin),
            Runtime::Free { pointer } => {
                let p = self.pointer(pointer)?;
                self.free(p, origin)
            }
            Runtime::Copy { way, destination, source, bytes, asynchronous } => {
                let (to, from) = (self.pointer(destination)?, self.pointer(source)?);
                let bytes = self.integer(bytes)? as u64;
                if self.captured.on && *asynchronous {
                    self.captured.note(Operation::Copy { way: *way, to, from, bytes }, origin);
                    return Ok(());
                }
                self.copy(*way, to, from, bytes, *asynchronous, origin)
            }
            Runtime::Capture { on, noted } => {
                self.captured.on = *on;
                let count = Value::int(Scalar::U64, self.captured.noted.len() as i64);
                self.write(noted, (Val::Num(count), T::input(count)))
            }
            Runtime::Order { what, operands, made } => self.stream_order(*what, operands, made),
            Runtime::Replay { noted } => {
                let at = self.integer(noted)?;
                self.replay(at as usize, origin)
            }
            Runtime::Synchronize => {
                for (to, bytes) in std::mem::take(&mut self.pending) {
                    self.arrive(to, bytes, origin)?;
                }
                Ok(())
            }
        }
    }

    fn fill_or_note(
        &mut self,
        p: Pointer,
        (value, bytes): (u8, u64),
        by: Filler,
        origin: &Origin,
    ) -> Run<()> {
        let on_device = p.object.is_some_and(|id| !self.memory.is_host(id));
        if self.captured.on && on_device {
            self.captured.note(Operation::Fill { p, value, bytes, by }, origin);
            return Ok(());
        }
        self.fill(p, (value, bytes), by, origin)
    }

    fn allocate_host(
        &mut self,
        pointer: &Place,
        bytes: &Expr,
        shared: bool,
        origin: &Origin,
    ) -> Run<()> {
        let (buffer, bytes) = self.new_buffer(bytes, origin)?;
        let host = &mut self.memory.host;
        host.unknown.insert(buffer, Unknown::new(bytes));
        match shared {
            true => host.shared.insert(buffer, ()),
            false => host.host.insert(buffer, ()),
        };
        self.name_buffer(buffer, bytes, pointer);
        self.set_pointer(pointer, buffer)
    }

    /// Says that host code was not understood, which ends the run where nobody tolerates it.
    fn skipped_code(&mut self, what: &str, launches: bool, origin: &Origin) -> Run<()> {
        self.launcher.skipped(Skipped {
            span: origin.span,
            why: what.to_string(),
            launches,
            fault: None,
            slow: false,
            large: false,
            follows: false,
            asserted: false,
        });
        self.memory.host.guesses = true;
        match self.working.is_some() {
            true => Ok(()),
            false => self.unsupported(what, origin),
        }
    }

    /// An array of the host is memory that both use from here on, or no longer.
    fn pin(&mut self, p: Pointer, on: bool, origin: &Origin) -> Run<()> {
        let host = &mut self.memory.host;
        match p.object.filter(|id| *id < OWN).map(|id| id as usize) {
            Some(buffer) if on && host.host.remove(buffer).is_some() => {
                host.shared.insert(buffer, ());
            }
            Some(buffer) if !on && host.shared.remove(buffer).is_some() => {
                host.host.insert(buffer, ());
                self.all_is_done();
            }
            Some(_) => {}
            None => return self.unsupported("memory that is pinned without an allocation", origin),
        }
        Ok(())
    }

    fn free(&mut self, p: Pointer, origin: &Origin) -> Run<()> {
        let owned = p.object.filter(|_| p.offset == 0).map(|id| id as usize);
        match owned {
            // Like `free`, it does nothing with the null pointer.
            None if p == Pointer::NULL => Ok(()),
            Some(id) if self.memory.allocated.remove(&id) => {
                self.memory.all_bytes();
                let freed = std::mem::take(&mut self.memory.buffers[id]);
                self.memory.freed_bytes += freed.len() as u64;
                self.memory.host.unknown.remove(id);
                self.all_is_done();
                self.launcher.freed(id, origin);
                Ok(())
            }
            _ => self.misuse("`cudaFree` of what was not allocated", origin),
        }
    }

    fn new_buffer(&mut self, bytes: &Expr, origin: &Origin) -> Run<(usize, usize)> {
        let bytes = self.integer(bytes)? as u64;
        self.in_time_for(bytes, origin)?;
        let most = self.launcher.most_bytes().unwrap_or(MOST);
        if bytes > most.saturating_sub(self.memory.all_bytes()) {
            return Err(self.error(InterpErrorKind::AllocationLimit(most), origin));
        }
        let mut content = vec![];
        if content.try_reserve_exact(bytes as usize).is_err() {
            return Err(self.error(InterpErrorKind::AllocationLimit(most), origin));
        }
        // Zeros cost nothing until something touches them. In a program it is known which bytes hold nothing; else what does shall
        // not look like something.
        match self.working.is_some() {
            true => content = vec![0; bytes as usize],
            false => content.resize(bytes as usize, 0xa5),
        }
        let buffer = self.memory.buffers.len();
        self.memory.buffers.push(content);
        self.memory.allocated.insert(buffer);
        if self.in_library > 0 {
            self.memory.host.of_library.insert(buffer, ());
        }
        Ok((buffer, bytes as usize))
    }

    fn name_buffer(&mut self, buffer: usize, bytes: usize, pointer: &Place) {
        let name = match &*pointer.kind {
            PlaceKind::Var(var) => self.var_name(*var).to_string(),
            PlaceKind::Field(object, field) => self.field_name(object, *field),
            PlaceKind::Global(id) => {
                self.module.globals.get(id.0 as usize).map_or(String::new(), |g| g.name.clone())
            }
            _ => String::new(),
        };
        let pointee = pointer.ty.pointee().filter(|t| **t != Type::Void);
        self.launcher.allocated_at(buffer, bytes, &name, pointee);
    }

    fn field_name(&self, object: &Place, field: u32) -> String {
        let Type::Struct(id) = object.ty else { return String::new() };
        let fields = self.module.structs.get(id.0 as usize).map(|s| &s.fields);
        fields.and_then(|f| f.get(field as usize)).map_or(String::new(), |f| f.name.clone())
    }

    fn set_pointer(&mut self, pointer: &Place, buffer: usize) -> Run<()> {
        let p = Pointer { object: Some(buffer as u32), offset: 0 };
        self.write(pointer, (Val::Ptr(p), T::input(Value::i32(0))))
    }

    /// Steps do not count the time that many bytes take: the clock is looked at for each such piece.
    fn in_time_for(&self, bytes: u64, origin: &Origin) -> Run<()> {
        match bytes >= MANY_BYTES && self.limits.over() {
            true => Err(self.error(InterpErrorKind::StepLimit(self.steps), origin)),
            false => Ok(()),
        }
    }

    pub(super) fn fill(
        &mut self,
        p: Pointer,
        (value, bytes): (u8, u64),
        by: Filler,
        origin: &Origin,
    ) -> Run<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.in_time_for(bytes, origin)?;
        self.lengthen(p, bytes);
        let (id, at) = self.check(p, bytes).map_err(|kind| self.error(kind, origin))?;
        let bytes = bytes as usize;
        match id.checked_sub(OWN) {
            None => {
                let piece = self.piece(id, at, bytes, true);
                let reached = self.working.is_none()
                    || self.in_library > 0
                    || self.memory.host.reaches(id as usize);
                match by {
                    Filler::Host if !reached => {
                        return Err(self.error(InterpErrorKind::WrongDirection, origin));
                    }
                    Filler::Host => self.host_touches(p, bytes as u64, (true, true), origin),
                    Filler::Device | Filler::DeviceLater => {
                        let waits = by == Filler::Device && piece.is_some_and(|p| p.shared);
                        self.moved([piece, None], waits, origin);
                    }
                }
                self.memory.buffers[id as usize][at..at + bytes].fill(value);
                self.memory.host.mark(id as usize, at, bytes, false);
                self.launcher.filled(id as usize, at, bytes);
            }
            Some(own) => {
                let image = &mut self.objects[own as usize].image;
                image.bytes[at..at + bytes].fill(value);
                image.known[at..at + bytes].fill(true);
            }
        }
        Ok(())
    }

    /// Asks the launcher for what a piece lacks.
    fn lengthen(&mut self, p: Pointer, bytes: u64) {
        let Some(id) = p.object.filter(|id| *id < OWN && p.offset >= 0) else { return };
        let Some(length) = self.memory.buffers.get(id as usize).map(|b| b.len() as u64) else {
            return;
        };
        let end = (p.offset as u64).saturating_add(bytes);
        if end > length
            && end <= MOST
            && let Some(more) = self.launcher.more(id as usize, length, end)
        {
            self.memory.buffers[id as usize].extend_from_slice(&more);
        }
    }

    /// A copy in a program of the host: from wherever to wherever, with what is known of the bytes. `waits`: the host does, for
    /// one that the device makes; `None`: the host makes it.
    fn any_copy(
        &mut self,
        to: Pointer,
        from: Pointer,
        bytes: u64,
        waits: Option<bool>,
        origin: &Origin,
    ) -> Run<()> {
        self.lengthen(from, bytes);
        self.lengthen(to, bytes);
        let (source, at) = self.check(from, bytes).map_err(|kind| self.error(kind, origin))?;
        let (target, target_at) = self.check(to, bytes).map_err(|kind| self.error(kind, origin))?;
        let size = bytes as usize;
        match waits {
            None => {
                self.host_touches(from, bytes, (false, true), origin);
                self.host_touches(to, bytes, (true, true), origin);
            }
            Some(waits) => {
                // What the host may move to another page is copied before the call returns.
                let pages = |id: u32| id >= OWN || self.memory.host.host.contains(id as usize);
                let waits = waits || pages(source) || pages(target);
                let pieces = [(source, at, false), (target, target_at, true)];
                let pieces = pieces.map(|(id, at, writes)| self.piece(id, at, size, writes));
                self.moved(pieces, waits, origin);
            }
        }
        let unknown = self.unknown_of(source, at, size);
        if source < OWN && target < OWN && self.races.is_none() && !self.limits.track_bounds {
            self.copy_within((source, at), (target, target_at), &unknown);
        } else {
            let mut image = match source.checked_sub(OWN) {
                Some(own) => self.objects[own as usize].image.part(at, size),
                None => {
                    let bytes = self.memory.buffers[source as usize][at..at + size].to_vec();
                    Image { bytes, known: vec![true; size], ..Image::default() }
                }
            };
            if !unknown.is_none() {
                image.known = unknown.to_marks().iter().map(|mark| !mark).collect();
            }
            self.store_image(to, &image).map_err(|kind| self.error(kind, origin))?;
        }
        if target < OWN {
            self.launcher.copied(self.memory, target as usize, target_at, &unknown);
        } else if !unknown.is_none() {
            self.copied_to_variable(target, target_at, &unknown);
        }
        Ok(())
    }

    /// What is known of a piece of an object.
    fn unknown_of(&self, object: u32, at: usize, size: usize) -> Unknown {
        match object.checked_sub(OWN) {
            Some(own) => self.objects[own as usize].image.part(at, size).unknown(),
            None => {
                let (host, buffer) = (&self.memory.host, object as usize);
                let of_device =
                    (!host.reaches(buffer)).then(|| self.launcher.unwritten(buffer, at, size));
                of_device.flatten().unwrap_or_else(|| host.part(buffer, at, size))
            }
        }
    }

    /// Moves bytes from one buffer to another, or within one; of those that are not known there is nothing to move.
    fn copy_within(
        &mut self,
        (source, at): (u32, usize),
        (target, to): (u32, usize),
        unknown: &Unknown,
    ) {
        let size = unknown.len();
        let buffers = &mut self.memory.buffers;
        if source == target {
            buffers[source as usize].copy_within(at..at + size, to);
        } else if !unknown.is_all() {
            let mut content = std::mem::take(&mut buffers[target as usize]);
            content[to..to + size].copy_from_slice(&buffers[source as usize][at..at + size]);
            buffers[target as usize] = content;
        }
        if let Some(mask) = self.memory.host.unknown.get_mut(target as usize) {
            mask.put(to, unknown);
        }
        self.memory.note_write(target, to, size);
    }

    /// What the host copied to a variable of the device without knowing it holds something all the same.
    fn copied_to_variable(&mut self, target: u32, at: usize, unknown: &Unknown) {
        let Some(global) = self.globals().iter().position(|id| *id == target) else { return };
        let image = &mut self.objects[(target - OWN) as usize].image;
        let mut wanted = Unknown::none(image.bytes.len());
        wanted.put(at, unknown);
        if self.launcher.invents(global, &mut image.bytes, &wanted.to_marks()) {
            image.known[at..at + unknown.len()].fill(true);
        }
    }

    pub(super) fn copy(
        &mut self,
        way: CopyWay,
        to: Pointer,
        from: Pointer,
        bytes: u64,
        asynchronous: bool,
        origin: &Origin,
    ) -> Run<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.in_time_for(bytes, origin)?;
        if self.working.is_some() || matches!(way, CopyWay::Any | CopyWay::ByHost) {
            self.right_way(way, to, from, origin)?;
            let waits = (way != CopyWay::ByHost).then_some(!asynchronous);
            return self.any_copy(to, from, bytes, waits, origin);
        }
        let right = |p: Pointer, host: bool, memory: &Memory| {
            p.object.is_none_or(|id| memory.is_host(id) == host)
        };
        let (to_host, from_host) = (way == CopyWay::ToHost, way == CopyWay::ToDevice);
        if !right(to, to_host, self.memory) || !right(from, from_host, self.memory) {
            return self.misuse("a copy in a direction that its pointers do not have", origin);
        }
        let (_, target_at) = self.check(to, bytes).map_err(|kind| self.error(kind, origin))?;
        let content = match from.object.filter(|_| !from_host) {
            // What lies there the launcher knows: where nothing runs, there may be no bytes at all.
            Some(source) => {
                let fetched = self.launcher.fetch(self.memory, source as usize, from.offset, bytes);
                fetched.map_err(|why| self.error(InterpErrorKind::Launch(why), origin))?
            }
            None => {
                let checked = self.check(from, bytes);
                let (source, at) = checked.map_err(|kind| self.error(kind, origin))?;
                let Some(buffer) = self.memory.buffers.get(source as usize) else {
                    return self.misuse("a copy of a variable of the host", origin);
                };
                buffer[at..at + bytes as usize].to_vec()
            }
        };
        if to_host {
            if asynchronous {
                self.pending.push((to, content));
                return Ok(());
            }
            return self.arrive(to, content, origin);
        }
        self.arrive(to, content, origin)?;
        let buffer = to.object.map_or(0, |id| id as usize);
        self.launcher.filled(buffer, target_at, bytes as usize);
        Ok(())
    }

    /// A direction that the pointers do not have is an error of the program.
    fn right_way(&self, way: CopyWay, to: Pointer, from: Pointer, origin: &Origin) -> Run<()> {
        let place = |p: Pointer| match p.object {
            Some(id) if id >= OWN => self.globals().contains(&id),
            Some(id) => !self.memory.host.host.contains(id as usize),
            None => true,
        };
        let host = |p: Pointer| match p.object {
            Some(id) if id >= OWN => true,
            Some(id) => self.memory.host.reaches(id as usize),
            None => true,
        };
        let right = match way {
            CopyWay::Any => true,
            CopyWay::ByHost => self.in_library > 0 || host(to) && host(from),
            CopyWay::ToDevice => place(to) && host(from),
            CopyWay::ToHost => host(to) && place(from),
            CopyWay::OnDevice => place(to) && place(from),
        };
        match right {
            true => Ok(()),
            false => Err(self.error(InterpErrorKind::WrongDirection, origin)),
        }
    }

    /// Bytes reach their destination.
    fn arrive(&mut self, to: Pointer, bytes: Vec<u8>, origin: &Origin) -> Run<()> {
        let image = Image { known: vec![true; bytes.len()], bytes, ..Image::default() };
        self.store_image(to, &image).map_err(|kind| self.error(kind, origin))
    }

    pub(super) fn misuse<X>(&self, what: &str, origin: &Origin) -> Run<X> {
        Err(self.error(InterpErrorKind::Launch(what.into()), origin))
    }
}
