//! The arithmetic of a configuration that was measured, counted in the emulator.

use warpsmith_gpu::backend::Backend;
use warpsmith_gpu::nvrtc::Binary;
use warpsmith_tune::space::Configuration;

use super::workload::Foreign;
use crate::progress::Phase;
use crate::search::{Arithmetic, NoDevice, Workload};
use crate::worker::EmulatorBackend;

/// Buffers with more bytes are not copied for this.
const MOST_BYTES: u64 = 1 << 30;

/// `None` where the emulator does not take the kernel.
pub fn arithmetic(
    foreign: &Foreign,
    configuration: &Configuration,
    arch: &str,
) -> Option<Arithmetic> {
    let task = foreign.tasks().first()?;
    let bytes: u64 = task.problem.buffers.iter().map(|b| b.bytes).sum();
    if bytes > MOST_BYTES {
        return None;
    }
    let _phase = Phase::new("counting the arithmetic of the fastest");
    let draft = foreign.draft(configuration).ok()?;
    let mut emulator = EmulatorBackend::new(arch).ok()?;
    let (kernels, log, cubin) = emulator.compile(&draft.request()).ok()?;
    let binary = Binary { cubin, kernels, log };
    let candidate = draft.candidate(&binary, 0, &mut NoDevice::default()).ok()?;
    emulator.prepare(task.problem.clone(), task.blobs.clone()).ok()?;
    emulator.arithmetic(&candidate, &binary.cubin)
}
