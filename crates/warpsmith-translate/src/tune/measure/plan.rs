//! What a launcher does with given arguments: its launches and copies, recorded instead of made. Where its loops go on by
//! values of the device, a device is asked for them.

use warpsmith_gpu::protocol::{Action, Arg as GpuArg, Invalid, KernelInfo, Launch, Reason};
use warpsmith_ir::interp::{Arg, LaunchRequest, Launcher, Memory};
use warpsmith_ir::{GlobalId, Scalar};

use crate::data::scalar_bytes;
use crate::search::Device;
use crate::tune::verify::host_c::ArgBytes;
use crate::tune::verify::witness::{Witness, WitnessError};

/// What the launcher of a witness asks for, in order, with the bytes of workspace that it wants. `kernels` says what those
/// of the text are called in the binary; `result` is the type of the value that the C function returns.
///
/// # Errors
/// It cannot be followed, or the device does not give a value.
pub fn recorded(
    witness: &Witness,
    args: &[ArgBytes],
    result: Option<Scalar>,
    kernels: &[KernelInfo],
    device: &mut dyn Device,
) -> Result<(Vec<Action>, u64), Invalid> {
    let mut recorder =
        Recorder { witness, kernels, device, actions: vec![], done: 0, refused: None };
    let recorded = witness.record(args, result, &mut recorder);
    match (recorded, recorder.refused) {
        (Ok(workspace), _) => Ok((recorder.actions, workspace)),
        (Err(_), Some(invalid)) => Err(invalid),
        (Err(WitnessError::Failed(why)), None) => Err(Invalid::new(Reason::Runtime, why)),
        (Err(WitnessError::Limit(limit)), None) => Err(Invalid::new(Reason::Timeout, limit)),
    }
}

/// Keeps what the launcher asks for.
struct Recorder<'a> {
    witness: &'a Witness,
    kernels: &'a [KernelInfo],
    device: &'a mut dyn Device,
    actions: Vec<Action>,
    /// So many of them the device has done.
    done: usize,
    /// Why the device gave no value.
    refused: Option<Invalid>,
}

impl Launcher for Recorder<'_> {
    fn copy_to_global(&mut self, global: GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        let variable = self.witness.module().globals.get(global.0 as usize);
        let variable = variable.ok_or("a copy to a variable that does not exist")?;
        self.actions.push(Action::SetGlobal { symbol: variable.name.clone(), bytes });
        Ok(())
    }

    fn fetch(
        &mut self,
        _: &Memory,
        buffer: usize,
        offset: i64,
        bytes: u64,
    ) -> Result<Vec<u8>, String> {
        let offset = u64::try_from(offset).map_err(|_| "a copy reads before an array")?;
        self.actions.push(Action::Read { buffer, offset, bytes });
        let value = self.device.value(&self.actions[self.done..]);
        self.done = self.actions.len();
        value.map_err(|invalid| {
            let why = invalid.detail.clone();
            self.refused = Some(invalid);
            why
        })
    }

    fn launch(&mut self, _: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        let name = &self.witness.module().function(request.kernel).name;
        let kernel = self.kernels.iter().find(|k| k.name == *name).map_or(name, |k| &k.symbol);
        let args = request.args.iter().map(|arg| match arg {
            Arg::Value(v) => GpuArg::Bytes(scalar_bytes(*v)),
            Arg::Bytes(b) => GpuArg::Bytes(b.clone()),
            Arg::Null => GpuArg::Null,
            Arg::Pointer { buffer, offset } => GpuArg::Buffer { buffer: *buffer, offset: *offset },
        });
        let shared =
            u32::try_from(request.shared).map_err(|_| "too much shared memory".to_string())?;
        self.actions.push(Action::Launch(Launch {
            kernel: kernel.clone(),
            grid: request.grid,
            block: request.block,
            shared,
            args: args.collect(),
        }));
        Ok(())
    }
}
