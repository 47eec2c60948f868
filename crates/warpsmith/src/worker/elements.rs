//! Elements that candidates are compared with, where what gives the right ones is too large to be emulated whole: blocks of it
//! are run when a candidate has written where nothing is known yet.

use std::sync::Arc;

use warpsmith_gpu::protocol::{Action, Arg, Launch};
use warpsmith_ir::Type;

use super::emulator::{EmulatorBackend, Executed, Lowered, read};
use super::sample::Sample;
use crate::data::scalar_from_bytes;
use warpsmith_translate::tune::profile::views::Argument;
use warpsmith_translate::tune::profile::writers::Writers;

/// Elements that are asked for at a time: some of those that a candidate has written, far from each other.
const ASKED: usize = 4;

impl EmulatorBackend {
    /// Runs blocks of the reference that write some of the elements that a candidate has written, where none of them is
    /// known. Nothing happens where those blocks cannot be told.
    pub(super) fn learn(&mut self, executed: &Executed) {
        for k in 0..self.problem.expected.len() {
            let output = self.problem.expected[k].output.clone();
            let width = output.element.size() as usize;
            let is_partial = executed.partial.contains(&output.buffer);
            let Some(known) = self.known.get(k).and_then(Option::as_ref).filter(|_| is_partial)
            else {
                continue;
            };
            let written = self.written(&executed.memory, output.buffer, width);
            let at: Vec<usize> = (0..written.len()).filter(|i| written[*i]).collect();
            if at.is_empty() || at.iter().any(|i| known.get(*i) == Some(&true)) {
                continue;
            }
            let step = at.len().div_ceil(ASKED);
            let asked: Vec<u64> = at.iter().step_by(step).map(|i| (i * width) as u64).collect();
            if let Some(blocks) = self.writers(output.buffer, &asked) {
                self.add(k, blocks);
            }
        }
    }

    /// The blocks of the reference, one launch, that write bytes of a buffer.
    fn writers(&self, buffer: usize, bytes: &[u64]) -> Option<Arc<[u32]>> {
        let (candidate, binary) = self.reference.as_ref()?;
        let mut launches = candidate.actions.iter().filter_map(|action| match action {
            Action::Launch(launch) => Some(launch),
            _ => None,
        });
        let (Some(launch), None) = (launches.next(), launches.next()) else { return None };
        let Lowered { module, kernels, .. } = read(binary).ok()?;
        let (_, kernel) = kernels.iter().find(|(name, _)| *name == launch.kernel)?;
        let types = module.function(*kernel);
        let types: Vec<Type> = types.params.iter().map(|p| types.var(*p).ty.clone()).collect();
        let args = arguments(launch, &types);
        let shape = [launch.grid, launch.block];
        let writers = Writers::new(&module, *kernel, shape, &args, &name(buffer))?;
        let mut blocks: Vec<u32> = bytes.iter().filter_map(|b| writers.of(*b)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        (!blocks.is_empty()).then(|| blocks.into())
    }

    /// Takes over what blocks of the reference write to an output.
    fn add(&mut self, output: usize, blocks: Arc<[u32]>) {
        let Some((candidate, binary)) = self.reference.clone() else { return };
        let sample = Sample { is_reference: true, only: Some(blocks), ..Sample::default() };
        let Ok(executed) = self.execute(&candidate, &binary, sample) else { return };
        let expected = &self.problem.expected[output];
        let (buffer, blob) = (expected.output.buffer, expected.blob);
        let width = expected.output.element.size() as usize;
        let written = self.written(&executed.memory, buffer, width);
        let Some(Some(known)) = self.known.get_mut(output) else { return };
        let Some(right) = self.blobs.get_mut(blob) else { return };
        let Some(now) = executed.memory.buffers.get(buffer) else { return };
        let elements = right.chunks_mut(width).zip(now.bytes.chunks(width));
        for ((element, new), (is_known, is_new)) in elements.zip(known.iter_mut().zip(written)) {
            if is_new && element.len() == new.len() {
                element.copy_from_slice(new);
                *is_known = true;
            }
        }
    }
}

/// The array of a buffer in a launch.
fn name(buffer: usize) -> String {
    format!("buffer {buffer}")
}

fn arguments(launch: &Launch, types: &[Type]) -> Vec<Argument> {
    let of = |(arg, ty): (&Arg, &Type)| match (arg, ty.scalar()) {
        (Arg::Bytes(bytes), Some(scalar)) => Argument::Value(scalar_from_bytes(scalar, bytes)),
        (Arg::Buffer { buffer, offset }, _) => {
            Argument::Pointer { array: name(*buffer), offset: *offset }
        }
        _ => Argument::Other,
    };
    launch.args.iter().zip(types).map(of).collect()
}
