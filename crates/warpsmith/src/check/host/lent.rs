//! Buffers of a program of the host that its launches use: they lie in the interpreter's memory, and in the emulator's while a
//! kernel runs, under the same numbers.

use warpsmith_emu::{Arg as EmuArg, Buffer, BufferId, DeviceMemory, LaunchConfig};
use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::sema;
use warpsmith_ir::interp::{Arg, LaunchRequest, Memory, Unknown};
use warpsmith_ir::{Module, Type};

use crate::data;

/// A launch as the emulator takes it.
pub fn config(module: &Module, device: &mut DeviceMemory, request: &LaunchRequest) -> LaunchConfig {
    let kernel = module.function(request.kernel);
    let mut args = vec![];
    for (arg, param) in request.args.iter().zip(&kernel.params) {
        let var = kernel.var(*param);
        args.push(match arg {
            Arg::Value(v) => EmuArg::Bytes(data::scalar_bytes(*v)),
            Arg::Bytes(bytes) => EmuArg::Bytes(bytes.clone()),
            Arg::Null => EmuArg::Null,
            Arg::Pointer { buffer, offset } => {
                describe(device, *buffer, &var.name, var.ty.pointee());
                EmuArg::Pointer { buffer: BufferId(*buffer as u32), offset: *offset }
            }
        });
    }
    LaunchConfig {
        kernel: request.kernel,
        grid: request.grid,
        block: request.block,
        dynamic_shared: u32::try_from(request.shared).unwrap_or(u32::MAX),
        cluster: request.cluster,
        args,
    }
}

/// The variables of a program in the memory of the device.
pub fn memory(module: &Module, unit: &TranslationUnit) -> DeviceMemory {
    let mut device = DeviceMemory::new(module);
    let managed = sema::managed_variables(unit);
    for (global, variable) in module.globals.iter().zip(&mut device.globals) {
        variable.host_writes = managed.contains(&global.name);
    }
    device
}

/// Findings name a buffer as the host does, else by the first parameter it was given for.
fn describe(device: &mut DeviceMemory, buffer: usize, name: &str, pointee: Option<&Type>) {
    let Some(b) = device.buffers.get_mut(buffer) else { return };
    if b.name.is_empty() {
        b.name = name.to_string();
    }
    let known = b.element.as_ref().is_some_and(|t| *t != Type::Void);
    if !known {
        b.element = pointee.filter(|t| **t != Type::Void).cloned();
    }
}

/// The heap of the device, under a number that no memory of the program has.
pub fn make_heap(device: &mut DeviceMemory, memory: &mut Memory) {
    if device.heap.is_none() {
        device.buffers.resize_with(memory.buffers.len(), Buffer::default);
        device.with_heap();
        memory.buffers.push(vec![]);
    }
}

/// Moves the bytes that the device can reach into its memory.
pub fn lend(device: &mut DeviceMemory, memory: &mut Memory) {
    device.buffers.resize_with(memory.buffers.len(), Buffer::default);
    for (i, bytes) in memory.buffers.iter_mut().enumerate() {
        if memory.host.host.contains(i) {
            continue;
        }
        let buffer = &mut device.buffers[i];
        buffer.bytes = std::mem::take(bytes);
        buffer.host_writes = memory.host.shared.contains(i);
        if buffer.host_writes {
            let unknown = memory.host.unknown.remove(i);
            buffer.poison = unknown.filter(|u| !u.is_none()).map_or(vec![], Unknown::into_marks);
        } else {
            spread(buffer, buffer.bytes.len());
        }
    }
}

/// Moves them back.
pub fn take_back(device: &mut DeviceMemory, memory: &mut Memory) {
    for (i, bytes) in memory.buffers.iter_mut().enumerate() {
        if memory.host.host.contains(i) {
            continue;
        }
        let buffer = &mut device.buffers[i];
        *bytes = std::mem::take(&mut buffer.bytes);
        if memory.host.shared.contains(i) {
            let marks = std::mem::take(&mut buffer.poison);
            let unknown = match marks.len() == bytes.len() {
                true => Unknown::from(marks),
                false => Unknown::none(bytes.len()),
            };
            memory.host.unknown.insert(i, unknown);
        }
    }
}

/// Gives each of so many bytes a mark of its own, where one stands for all: what nothing has touched may be large, and is
/// most often filled altogether before a kernel sees it.
pub fn spread(buffer: &mut Buffer, bytes: usize) {
    if buffer.poison == [true] {
        buffer.poison = vec![true; bytes];
    }
}

/// A buffer that holds nothing yet, with a mark for each byte or [one for all](spread).
pub fn allocated(
    device: &mut DeviceMemory,
    buffer: usize,
    poison: Vec<bool>,
    name: &str,
    pointee: Option<&Type>,
) {
    device.buffers.resize_with(buffer, Buffer::default);
    device.buffers.push(Buffer {
        name: name.to_string(),
        element: pointee.cloned(),
        poison,
        ..Buffer::default()
    });
}

pub fn freed(device: &mut DeviceMemory, buffer: usize) {
    if let Some(buffer) = device.buffers.get_mut(buffer) {
        buffer.freed = true;
        buffer.poison = vec![];
    }
}

/// The host wrote a piece.
pub fn written(device: &mut DeviceMemory, buffer: usize, offset: usize, bytes: usize) {
    let Some(buffer) = device.buffers.get_mut(buffer) else { return };
    if offset == 0 && bytes >= buffer.poison.len() {
        buffer.poison = vec![];
    } else if let Some(part) = buffer.poison.get_mut(offset..offset + bytes) {
        part.fill(false);
    }
}

/// The host copied a piece of a buffer of so many bytes that it has not set itself.
pub fn unset(
    device: &mut DeviceMemory,
    buffer: usize,
    (offset, unknown): (usize, &Unknown),
    length: usize,
) {
    let Some(buffer) = device.buffers.get_mut(buffer) else { return };
    if unknown.is_all() && unknown.len() == length {
        buffer.poison = vec![true];
        return;
    }
    spread(buffer, length);
    buffer.poison.resize(length, false);
    if let Some(part) = buffer.poison.get_mut(offset..offset + unknown.len()) {
        part.copy_from_slice(&unknown.to_marks());
    }
}

/// Which bytes of a piece nothing wrote yet; `None` where all are known or there are none.
pub fn unwritten(
    device: &DeviceMemory,
    buffer: usize,
    offset: usize,
    bytes: usize,
) -> Option<Unknown> {
    let poison = &device.buffers.get(buffer)?.poison;
    if *poison == [true] {
        return Some(Unknown::new(bytes));
    }
    let part = poison.get(offset..offset + bytes).filter(|part| part.contains(&true))?;
    Some(Unknown::from(part.to_vec()))
}

/// The parameter that gets a pointer to memory that the device cannot reach.
pub fn host_pointer(module: &Module, memory: &Memory, request: &LaunchRequest) -> Option<String> {
    let kernel = module.function(request.kernel);
    let mut args = request.args.iter().zip(&kernel.params);
    args.find_map(|(arg, param)| match arg {
        Arg::Pointer { buffer, .. } if memory.host.host.contains(*buffer) => {
            Some(kernel.var(*param).name.clone())
        }
        _ => None,
    })
}
