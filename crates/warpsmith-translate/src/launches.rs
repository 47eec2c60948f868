//! What interpreted host functions ask of the device, as the emulator takes it.

use warpsmith_emu::{Arg as EmuArg, BufferId, DeviceMemory, EmuError, LaunchConfig};
use warpsmith_ir::GlobalId;
use warpsmith_ir::interp::{Arg, LaunchRequest};

use crate::data::scalar_bytes;

/// The launch; the first `on_host` buffers are the host's.
///
/// # Errors
/// A kernel gets one of those, or more shared memory than there is.
pub fn config(request: &LaunchRequest, on_host: usize) -> Result<LaunchConfig, String> {
    let given = |arg: &Arg| match arg {
        Arg::Pointer { buffer, .. } if *buffer < on_host => {
            Err("a kernel gets a pointer to memory of the host".to_string())
        }
        Arg::Pointer { buffer, offset } => {
            Ok(EmuArg::Pointer { buffer: BufferId(*buffer as u32), offset: *offset })
        }
        Arg::Value(v) => Ok(EmuArg::Bytes(scalar_bytes(*v))),
        Arg::Bytes(b) => Ok(EmuArg::Bytes(b.clone())),
        Arg::Null => Ok(EmuArg::Null),
    };
    let args = request.args.iter().map(given).collect::<Result<_, _>>()?;
    let shared = u32::try_from(request.shared).map_err(|_| "too much shared memory")?;
    Ok(LaunchConfig {
        kernel: request.kernel,
        grid: request.grid,
        block: request.block,
        dynamic_shared: shared,
        cluster: None,
        args,
    })
}

/// Why the emulator ran nothing.
pub fn message(error: EmuError) -> String {
    match error {
        EmuError::BadArgument { message, .. }
        | EmuError::BadLaunch(message)
        | EmuError::Unsupported { message, .. } => message,
    }
}

/// Fills a variable of the device.
///
/// # Errors
/// There is no such variable.
pub fn set_global(
    device: &mut DeviceMemory,
    global: GlobalId,
    bytes: Vec<u8>,
) -> Result<(), String> {
    let variable = device.globals.get_mut(global.0 as usize);
    let variable = variable.ok_or("a copy to a variable that does not exist")?;
    (variable.bytes, variable.poison) = (bytes, vec![]);
    Ok(())
}

/// A piece of a buffer holds something now.
pub fn filled(device: &mut DeviceMemory, buffer: usize, offset: usize, bytes: usize) {
    let buffer = device.buffers.get_mut(buffer);
    if let Some(part) = buffer.and_then(|b| b.poison.get_mut(offset..offset + bytes)) {
        part.fill(false);
    }
}
