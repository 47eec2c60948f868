//! What a launcher does with given arguments: its launches and copies, recorded instead of made.

use warpsmith_gpu::protocol::{Action, Arg as GpuArg, Launch};
use warpsmith_ir::GlobalId;
use warpsmith_ir::interp::{Arg, LaunchRequest, Launcher, Memory};

use crate::data::scalar_bytes;
use crate::tune::verify::asked::Guess;
use crate::tune::verify::witness::Witness;

/// Keeps what the launcher asks for.
pub struct Recorder<'a> {
    witness: &'a Witness,
    /// Launches, copies and fills in the order in which the launcher asked for them.
    pub actions: Vec<Action>,
    /// Kernels by their names in the text; the compiler says what they are called in the binary.
    symbol: &'a dyn Fn(&str) -> String,
    guess: Guess,
}

impl<'a> Recorder<'a> {
    /// Records what the launcher of `witness` asks for; `symbol` gives the name that a kernel of the text has in the
    /// binary.
    pub fn new(witness: &'a Witness, symbol: &'a dyn Fn(&str) -> String) -> Recorder<'a> {
        Recorder { witness, actions: vec![], symbol, guess: Guess::default() }
    }
}

impl Launcher for Recorder<'_> {
    fn copy_to_global(&mut self, global: GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        let variable = self.witness.module().globals.get(global.0 as usize);
        let variable = variable.ok_or("a copy to a variable that does not exist")?;
        self.actions.push(Action::SetGlobal { symbol: variable.name.clone(), bytes });
        Ok(())
    }

    fn fetch(&mut self, _: &Memory, _: usize, _: i64, bytes: u64) -> Result<Vec<u8>, String> {
        self.guess.next(bytes)
    }

    fn launch(&mut self, _: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        let kernel = &self.witness.module().function(request.kernel).name;
        let args = request.args.iter().map(|arg| match arg {
            Arg::Value(v) => GpuArg::Bytes(scalar_bytes(*v)),
            Arg::Bytes(b) => GpuArg::Bytes(b.clone()),
            Arg::Null => GpuArg::Null,
            Arg::Pointer { buffer, offset } => GpuArg::Buffer { buffer: *buffer, offset: *offset },
        });
        let shared =
            u32::try_from(request.shared).map_err(|_| "too much shared memory".to_string())?;
        self.actions.push(Action::Launch(Launch {
            kernel: (self.symbol)(kernel),
            grid: request.grid,
            block: request.block,
            shared,
            args: args.collect(),
        }));
        Ok(())
    }
}
