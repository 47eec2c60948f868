//! What is captured from streams: noted, with its arguments, and done when its graph is launched.

use super::LaunchRequest;
use super::bounds::Track;
use super::exec::{Interp, Run};
use super::memory::Pointer;
use crate::span::Origin;
use crate::stmt::{CopyWay, Filler};

/// Operations that are noted, at most.
const MOST: usize = 1 << 20;

/// The operations that were noted, of all graphs, and whether more are.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub on: bool,
    pub noted: Vec<(Operation, Origin)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Launch(LaunchRequest),
    Fill { p: Pointer, value: u8, bytes: u64, by: Filler },
    Copy { way: CopyWay, to: Pointer, from: Pointer, bytes: u64 },
}

impl Captured {
    pub fn note(&mut self, operation: Operation, origin: &Origin) {
        if self.noted.len() < MOST {
            self.noted.push((operation, origin.clone()));
        }
    }
}

impl<T: Track> Interp<'_, '_, T> {
    /// Does what was noted, where it was written.
    pub fn replay(&mut self, at: usize, origin: &Origin) -> Run<()> {
        let Some((operation, origin)) = self.captured.noted.get(at).cloned() else {
            return self.misuse("a graph of which nothing was captured", origin);
        };
        // What may run beside each other in a graph is not compared.
        self.all_is_done();
        let result = match operation {
            Operation::Launch(request) => self.launch_now(request, &origin),
            Operation::Fill { p, value, bytes, by } => self.fill(p, (value, bytes), by, &origin),
            Operation::Copy { way, to, from, bytes } => {
                self.copy(way, to, from, bytes, false, &origin)
            }
        };
        self.all_is_done();
        result
    }
}
