//! Memory of the emulated device as actions change and read it.

use std::ops::Range;

use warpsmith_emu::{self as emu, BufferId, DeviceMemory};
use warpsmith_gpu::protocol::{Arg, Reason};
use warpsmith_ir::Module;

use super::emulator::{Answer, invalid};

/// The bytes of a piece; `None`: more than can be addressed.
pub(super) fn range(offset: u64, bytes: u64) -> Option<Range<usize>> {
    let at = usize::try_from(offset).ok()?;
    Some(at..at.checked_add(usize::try_from(bytes).ok()?)?)
}

/// What the host reads of a buffer.
pub(super) fn read_back(
    memory: &DeviceMemory,
    buffer: usize,
    range: Option<Range<usize>>,
) -> Result<Vec<u8>, &'static str> {
    let found = memory.buffers.get(buffer).zip(range);
    let found = found.and_then(|(b, r)| Some((b.bytes.get(r.clone())?, b.poison.get(r))));
    match found {
        None => Err("the host reads past the end of a buffer"),
        Some((_, Some(poison))) if poison.contains(&true) => {
            Err("the host reads what nothing wrote")
        }
        Some((bytes, _)) => Ok(bytes.to_vec()),
    }
}

/// An argument as the emulator takes it.
pub(super) fn emu_arg(arg: &Arg) -> emu::Arg {
    match arg {
        Arg::Null => emu::Arg::Null,
        Arg::Bytes(bytes) => emu::Arg::Bytes(bytes.clone()),
        Arg::Buffer { buffer, offset } => {
            let buffer = BufferId(u32::try_from(*buffer).unwrap_or(u32::MAX));
            emu::Arg::Pointer { buffer, offset: *offset }
        }
    }
}

/// Fills a variable of the device.
pub(super) fn set_global(
    module: &Module,
    memory: &mut DeviceMemory,
    symbol: &str,
    bytes: &[u8],
) -> Answer<()> {
    let at = module.globals.iter().position(|g| g.name == symbol);
    let variable = at.and_then(|k| memory.globals.get_mut(k));
    let start = variable.and_then(|v| {
        v.poison.clear();
        v.bytes.get_mut(..bytes.len())
    });
    match start {
        Some(start) => {
            start.copy_from_slice(bytes);
            Ok(())
        }
        None => {
            Err(invalid(Reason::Runtime, format!("there is no variable `{symbol}` of that length")))
        }
    }
}
