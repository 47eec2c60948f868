//! The kernels of a side in the emulator, one after the other on the same arrays.

use warpsmith_emu::{self as emu, Buffer, BufferId, DeviceMemory, EmuError, LaunchConfig, Outcome};
use warpsmith_ir::{FuncId, Span};

use super::calls::{Given, Slot};
use super::launching::Shape;
use super::pairs::Place;
use super::run::{Arrays, Content, Data, Inputs, Nothing};
use super::side::{Code, Step};

/// A kernel that ran.
pub struct Launched {
    pub kernel: FuncId,
    pub shape: Shape,
    pub outcome: Outcome,
}

/// Whether nothing is run after a kernel: it has a finding, or did not come to its end.
pub fn ends(outcome: &Outcome) -> bool {
    outcome.limit.is_some()
        || outcome.assumption_failed
        || outcome.findings.iter().any(|f| !f.rule.is_note())
}

/// What the kernels of a side did.
#[derive(Default)]
pub struct Run {
    pub launches: Vec<Launched>,
    pub arrays: Arrays,
    /// All of them were launched.
    pub complete: bool,
}

/// Why kernels were not run.
pub enum NoRun {
    /// What the emulator refuses.
    Refused {
        kernel: FuncId,
        shape: Shape,
        error: EmuError,
    },
    /// The host fills or copies beyond the end of an array.
    Beyond {
        message: String,
        span: Option<Span>,
    },
    /// Host code that launches depend on.
    NotUnderstood {
        why: String,
        span: Option<Span>,
    },
    Nothing(Nothing),
}

impl Data<'_> {
    /// Buffers for the arrays of a side, in the order of the pairs; which slot has which goes into `given`.
    pub fn add_arrays(
        &self,
        of_new: bool,
        inputs: &Inputs,
        lengths: &[Option<u64>],
        given: &mut [Option<Given>],
        memory: &mut DeviceMemory,
    ) -> Vec<Option<BufferId>> {
        let side = if of_new { self.new } else { self.reference };
        let mut ids = vec![];
        for (i, (a, content)) in self.pairs.arrays.iter().zip(&inputs.arrays).enumerate() {
            let at = match (of_new, a.reference) {
                (true, _) => a.new,
                (false, Some(Place::Param(at))) => Some(at),
                (false, _) => None,
            };
            ids.push(at.map(|at| {
                let slot = &side.slots[at];
                let length = lengths.get(i).copied().flatten();
                let grows = !of_new || length.is_none();
                let id = memory.add(buffer(slot, content, length, grows));
                given[at] = Some(Given::Buffer(id.0));
                id
            }));
        }
        ids
    }

    /// Runs the kernels of a side up to the first that has a finding or does not end; `lengths` of its arrays in bytes, which
    /// those of the reference have at least, or as they grow.
    ///
    /// # Errors
    /// [`NoRun`].
    pub fn kernels(
        &self,
        of_new: bool,
        inputs: &Inputs,
        shapes: &[Shape],
        lengths: &[Option<u64>],
        options: &emu::Options,
    ) -> Result<Run, NoRun> {
        let side = if of_new { self.new } else { self.reference };
        let steps = match &side.code {
            Code::Kernels(steps) => steps,
            Code::Host(_) => return self.host_function(of_new, inputs, lengths, options),
            Code::C(..) => return Ok(Run::default()),
        };
        let mut memory = self.device_memory(side, inputs).map_err(Nothing::Failed)?;
        let mut given = self.numbers_of(of_new, inputs);
        let ids = self.add_arrays(of_new, inputs, lengths, &mut given, &mut memory);
        let sizes = self.sizes(inputs, of_new);
        let (mut launches, mut left) = (vec![], shapes.iter());
        for step in steps {
            match step {
                Step::Fill { slot, value } => {
                    if let Some(Given::Buffer(b)) = given[*slot] {
                        let buffer = &mut memory.buffers[b as usize];
                        buffer.bytes.fill(*value);
                        buffer.pattern = buffer.pattern.iter().map(|_| *value).collect();
                    }
                }
                Step::Launch(stage) => {
                    let Some(shape) = left.next() else { break };
                    let args = self.emu_args(side, stage, &given, &sizes);
                    let Shape { grid, block, shared } = *shape;
                    let config = LaunchConfig {
                        kernel: stage.function,
                        grid,
                        block,
                        dynamic_shared: shared,
                        cluster: None,
                        args,
                    };
                    let kernel = stage.function;
                    let outcome = emu::run(&side.module, &config, &mut memory, options)
                        .map_err(|error| NoRun::Refused { kernel, shape: *shape, error })?;
                    let ends = ends(&outcome);
                    launches.push(Launched { kernel, shape: *shape, outcome });
                    if ends {
                        break;
                    }
                }
            }
        }
        let mut take = |id: BufferId| std::mem::take(&mut memory.buffers[id.0 as usize].bytes);
        let arrays = ids.into_iter().map(|id| id.map(&mut take)).collect();
        let complete = launches.len() == shapes.len();
        Ok(Run { launches, arrays, complete })
    }
}

/// With `grows` it is at least so long.
fn buffer(slot: &Slot, content: &Content, length: Option<u64>, grows: bool) -> Buffer {
    let bytes = content.bytes(length.unwrap_or(0));
    let element = slot.ty.pointee().cloned();
    let buffer = Buffer { name: slot.name.clone(), element, bytes, ..Buffer::default() };
    match content {
        Content::Grows(pattern) if grows => {
            Buffer { grows: true, exact: true, pattern: pattern.clone(), ..buffer }
        }
        _ => buffer,
    }
}
