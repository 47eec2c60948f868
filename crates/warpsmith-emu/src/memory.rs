//! Device memory as callers prepare it.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, Space};

use crate::api::{Buffer, BufferId, DeviceMemory};
use crate::compile::places::OFFSET_BITS;

impl DeviceMemory {
    /// Memory with the module's variables in their initial state and no buffers.
    pub fn new(module: &Module) -> DeviceMemory {
        let variable = |g: &warpsmith_ir::Global| {
            let size = layout_of(module, &g.ty).size as usize;
            let mut bytes = g.init.clone().unwrap_or_default();
            bytes.resize(size, 0);
            let undefined = g.init.is_none() && g.space == Space::Constant;
            Buffer {
                name: g.name.clone(),
                element: Some(g.ty.innermost().clone()),
                shape: g.ty.extents(),
                bytes,
                grows: false,
                poison: if undefined { vec![true; size] } else { vec![] },
                ..Buffer::default()
            }
        };
        DeviceMemory {
            globals: module.globals.iter().map(variable).collect(),
            ..DeviceMemory::default()
        }
    }

    /// Adds a buffer and names it.
    pub fn add(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId(self.buffers.len() as u32 - 1)
    }
}

impl Buffer {
    /// Makes a buffer that grows this long.
    pub fn lengthen(&mut self, length: usize) {
        let old = self.bytes.len();
        self.bytes.resize(length, 0);
        let pattern = &self.pattern;
        if !pattern.is_empty() {
            let mut at = old;
            while at < length {
                let part = &pattern[at % pattern.len()..];
                let part = &part[..part.len().min(length - at)];
                self.bytes[at..at + part.len()].copy_from_slice(part);
                at += part.len();
            }
        }
        if !self.poison.is_empty() {
            self.poison.resize(length, false);
        }
    }
}

/// The bits a kernel sees for a pointer into a buffer, for pointers inside of structs that are
/// passed by value.
pub fn device_pointer(buffer: BufferId, offset: i64) -> u64 {
    (((u64::from(buffer.0) + 1) << OFFSET_BITS) as i64).wrapping_add(offset) as u64
}
