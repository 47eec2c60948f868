//! Findings that hang on whole numbers nobody gave: whether they are there with other numbers, too.

use std::collections::{HashMap, HashSet};

use warpsmith_emu::{self as emu, DeviceMemory, LaunchConfig, Options, Outcome};
use warpsmith_ir::interp::Unknown;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, SourceMap};

use super::runner::item;
use crate::data::{self, Init};

/// Memory of which a copy is kept for a second run, at most; and of which one is made after a launch that found something.
const MOST_BYTES: usize = 256 << 20;
const MOST_AFTERWARDS: usize = 1 << 30;

/// Steps of a thread in a second run, at most.
const MOST_STEPS: u64 = 10_000_000;

/// The memory of a launch as it was before. A finding stands that is there with zeros for the whole numbers that nobody gave,
/// and with numbers that are all different.
pub struct Other {
    /// `None`: it is too large.
    memory: Option<DeviceMemory>,
    parts: Parts,
}

/// Which bytes of a buffer nobody gave, where it is not all of them.
pub type Parts = HashMap<usize, Unknown>;

impl Other {
    /// Taken before the launch; `None` when all whole numbers are given.
    pub fn of(memory: &DeviceMemory, config: &LaunchConfig, parts: &Parts) -> Option<Other> {
        let of_nobody = |at: usize| memory.buffers.get(at).is_some_and(|b| b.invented);
        if !may_get(config, of_nobody, memory.buffers.iter().any(|b| b.invented)) {
            return None;
        }
        let memory = (bytes_of(memory) <= MOST_BYTES).then(|| memory.clone());
        Some(Other { memory, parts: parts.clone() })
    }

    /// Where the memory is too large to be kept for a launch that finds nothing, what it left behind: a finding that is there again,
    /// with other numbers, stands.
    pub fn or_after(mut self, memory: &DeviceMemory, outcome: &Outcome) -> Other {
        if self.memory.is_none() && is_serious(outcome) && bytes_of(memory) <= MOST_AFTERWARDS {
            self.memory = Some(memory.clone());
        }
        self
    }

    /// The ids of the findings that the launch has with other numbers as well.
    pub fn findings(
        self,
        module: &Module,
        config: &LaunchConfig,
        options: &Options,
        outcome: &Outcome,
        sources: &SourceMap,
    ) -> HashSet<String> {
        let serious = is_serious(outcome);
        let Some(memory) = self.memory.filter(|_| serious) else { return HashSet::new() };
        // A loop without end is one before the last step, too.
        let options = &Options { max_steps: options.max_steps.min(MOST_STEPS), ..options.clone() };
        let found = |init| {
            let mut memory = with_numbers(module, &memory, init, &self.parts);
            match emu::run(module, config, &mut memory, options) {
                Ok(again) => again.findings.into_iter().map(|f| item(f, "", sources).id).collect(),
                Err(_) => HashSet::new(),
            }
        };
        let zeros: HashSet<String> = found(Init::Zeros);
        if zeros.is_empty() {
            return zeros;
        }
        let different = found(Init::Iota);
        zeros.into_iter().filter(|id| different.contains(id)).collect()
    }
}

fn is_serious(outcome: &Outcome) -> bool {
    outcome.findings.iter().any(|f| !f.rule.is_note())
}

fn bytes_of(memory: &DeviceMemory) -> usize {
    memory.buffers.iter().map(|b| b.bytes.len()).sum()
}

/// Whether a launch gets a buffer of a kind; where there is `any`, a structure may hold a pointer to it.
pub fn may_get(config: &LaunchConfig, is: impl Fn(usize) -> bool, any: bool) -> bool {
    config.args.iter().any(|arg| match arg {
        emu::Arg::Pointer { buffer, .. } => is(buffer.0 as usize),
        emu::Arg::Bytes(bytes) => any && bytes.len() >= 8,
        _ => false,
    })
}

/// The ids of the findings that stand where a launch gets pointers that nobody gave: that they lead nowhere is no mistake.
pub fn without_pointers(
    confirmed: Option<HashSet<String>>,
    outcome: &Outcome,
    sources: &SourceMap,
) -> HashSet<String> {
    let others = outcome.findings.iter().filter(|f| f.rule != emu::Rule::InvalidPointer);
    let ids = others.map(|f| item(f.clone(), "", sources).id);
    ids.filter(|id| confirmed.as_ref().is_none_or(|known| known.contains(id))).collect()
}

/// A copy with other numbers where nobody gave any.
fn with_numbers(module: &Module, memory: &DeviceMemory, init: Init, parts: &Parts) -> DeviceMemory {
    let mut copy = memory.clone();
    for (i, buffer) in copy.buffers.iter_mut().enumerate().filter(|(_, b)| b.invented) {
        let Some(element) = buffer.element.clone() else { continue };
        let size = layout_of(module, &element).size.max(1);
        let elements = |bytes: usize| data::fill(module, &element, bytes as u64 / size, &init, 0);
        let filled = elements(buffer.bytes.len());
        let part = parts.get(&i);
        let nobodys = |at: usize| part.is_none_or(|mask| !mask.knows(at..at + 1));
        for (at, (to, from)) in buffer.bytes.iter_mut().zip(&filled).enumerate() {
            if nobodys(at) {
                *to = *from;
            }
        }
        buffer.pattern = elements(buffer.pattern.len()).into();
    }
    copy
}
