//! Counts that are not finished: what atomics of a launch leave of which only some blocks were run.
//!
//! A prefix sum over a histogram, or places in a list that are counted, is then none, and a right kernel that goes by it writes two
//! elements at one place. What is found there is a note.

use std::collections::BTreeSet;

use warpsmith_emu::{LaunchConfig, reachable};
use warpsmith_ir::{FuncId, Module, StmtKind};
use warpsmith_opt::walk;

use super::super::confirm::may_get;

/// Buffers with such counts, and with what later launches made of them.
#[derive(Default)]
pub(super) struct Unfinished {
    buffers: BTreeSet<usize>,
}

impl Unfinished {
    /// Of a launch that may write these buffers only some blocks were run.
    pub fn left_by(&mut self, module: &Module, kernel: FuncId, written: &[usize]) {
        let has_atomics = reachable(module, kernel).into_iter().any(|id| {
            let mut found = false;
            walk::each_stmt(&module.function(id).body, &mut |s| {
                found |= matches!(s.kind, StmtKind::Atomic { .. });
            });
            found
        });
        if has_atomics {
            self.buffers.extend(written);
        }
    }

    /// Whether a launch gets any.
    pub fn reach(&self, config: &LaunchConfig) -> bool {
        may_get(config, |at| self.buffers.contains(&at), !self.buffers.is_empty())
    }

    /// What a launch made that got some.
    pub fn passed_on(&mut self, written: Vec<usize>) {
        self.buffers.extend(written);
    }
}
