//! Calls of the run-time library: memory of the device, copies to and from it, and waiting.

use super::bounds::Track;
use super::exec::{Interp, Run};
use super::memory::{Image, OWN, Pointer, Val};
use super::{InterpErrorKind, Memory};
use crate::span::Origin;
use crate::stmt::{CopyWay, Runtime};
use crate::value::Value;

/// Bytes of all memory that a function allocates, at most.
const MOST: u64 = 1 << 36;

impl Memory {
    /// Whether a pointer's object lies on the host.
    fn is_host(&self, object: u32) -> bool {
        object >= OWN || (object as usize) < self.on_host
    }
}

impl<T: Track> Interp<'_, '_, T> {
    pub fn runtime(&mut self, call: &Runtime, origin: &Origin) -> Run<()> {
        match call {
            Runtime::Allocate { pointer, bytes } => {
                let bytes = self.integer(bytes)? as u64;
                let all: u64 = self.memory.buffers.iter().map(|b| b.len() as u64).sum();
                if bytes > MOST.saturating_sub(all) {
                    return Err(self.error(InterpErrorKind::MemoryLimit(MOST), origin));
                }
                let buffer = self.memory.buffers.len();
                self.memory.buffers.push(vec![0xa5; bytes as usize]);
                self.memory.allocated.insert(buffer);
                self.launcher.allocated(buffer, bytes as usize);
                let p = Pointer { object: Some(buffer as u32), offset: 0 };
                self.write(pointer, (Val::Ptr(p), T::input(Value::i32(0))))
            }
            Runtime::Free { pointer } => {
                let p = self.pointer(pointer)?;
                let owned = p.object.filter(|_| p.offset == 0).map(|id| id as usize);
                match owned {
                    // Like `free`, it does nothing with the null pointer.
                    None if p == Pointer::NULL => Ok(()),
                    Some(id) if self.memory.allocated.remove(&id) => {
                        self.memory.buffers[id] = vec![];
                        Ok(())
                    }
                    _ => self.misuse("`cudaFree` of what was not allocated", origin),
                }
            }
            Runtime::Copy { way, destination, source, bytes, asynchronous } => {
                let (to, from) = (self.pointer(destination)?, self.pointer(source)?);
                let bytes = self.integer(bytes)? as u64;
                self.copy(*way, to, from, bytes, *asynchronous, origin)
            }
            Runtime::Synchronize => {
                for (to, bytes) in std::mem::take(&mut self.pending) {
                    self.arrive(to, bytes, origin)?;
                }
                Ok(())
            }
        }
    }

    fn copy(
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
        let right = |p: Pointer, host: bool, memory: &Memory| {
            p.object.is_none_or(|id| memory.is_host(id) == host)
        };
        let (to_host, from_host) = (way == CopyWay::ToHost, way == CopyWay::ToDevice);
        if !right(to, to_host, self.memory) || !right(from, from_host, self.memory) {
            return self.misuse("a copy in a direction that its pointers do not have", origin);
        }
        let (source, at) = self.check(from, bytes).map_err(|kind| self.error(kind, origin))?;
        let (_, target_at) = self.check(to, bytes).map_err(|kind| self.error(kind, origin))?;
        let content = if from_host && source < OWN {
            self.memory.buffers[source as usize][at..at + bytes as usize].to_vec()
        } else if from_host {
            return self.misuse("a copy of a variable of the host", origin);
        } else {
            let fetched = self.launcher.fetch(self.memory, source as usize, from.offset, bytes);
            fetched.map_err(|why| self.error(InterpErrorKind::Launch(why), origin))?
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

    /// Bytes reach their destination.
    fn arrive(&mut self, to: Pointer, bytes: Vec<u8>, origin: &Origin) -> Run<()> {
        let image = Image { known: vec![true; bytes.len()], bytes, ..Image::default() };
        self.store_image(to, &image).map_err(|kind| self.error(kind, origin))
    }

    fn misuse<X>(&self, what: &str, origin: &Origin) -> Run<X> {
        Err(self.error(InterpErrorKind::Launch(what.into()), origin))
    }
}
