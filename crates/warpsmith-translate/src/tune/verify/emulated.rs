//! Launches of the interpreted launcher, run in the emulator.

use std::collections::BTreeSet;

use warpsmith_emu::counters::Counters;
use warpsmith_emu::{
    self as emu, Arg as EmuArg, Buffer, DeviceMemory, Emulator, Finding, LaunchConfig,
};
use warpsmith_ir::interp::{Arg, LaunchRequest, Launcher, Memory};
use warpsmith_ir::{GlobalId, Type, VarId, Way, eval::from_bytes};

use super::host_c::ArgBytes;
use super::part::Part;
use super::witness::{CountedLaunch, Grids, Witness, enlarge};
use crate::launches;
use crate::tune::profile::views::{self, Argument};

/// Statements of threads that access views walk through at most.
const VIEW_STEPS: u64 = 100_000_000;

/// Runs launches of the interpreted launcher in the emulator.
pub(super) struct EmuLauncher<'a> {
    pub witness: &'a Witness,
    emulator: Emulator<'a>,
    pub options: &'a emu::Options,
    pub device: DeviceMemory,
    pub findings: Vec<Finding>,
    pub thread_instructions: u64,
    pub grids: Grids,
    pub ways: BTreeSet<Way>,
    pub launches: Vec<CountedLaunch>,
    pub limit: Option<&'static str>,
    /// A few blocks are run instead of all.
    pub part: Option<Part>,
}

impl<'a> EmuLauncher<'a> {
    pub fn new(
        witness: &'a Witness,
        args: &[ArgBytes],
        workspace: Option<usize>,
        options: &'a emu::Options,
    ) -> EmuLauncher<'a> {
        let function = witness.module().function(witness.launcher());
        let mut device = DeviceMemory::new(witness.module());
        for (param, arg) in function.params.iter().zip(args) {
            if let ArgBytes::Array(_) = arg {
                device.buffers.push(named_buffer(function.var(*param)));
            }
        }
        // What comes after the C parameters: the result, then the workspace, which holds nothing yet.
        for param in function.params.iter().skip(args.len()) {
            let var = function.var(*param);
            if !var.ty.is_pointer() {
                continue;
            }
            let mut buffer = named_buffer(var);
            if workspace == Some(device.buffers.len()) {
                // Poison is marked byte by byte at the first launch, when the size is known.
                buffer.poison = vec![true];
            }
            device.buffers.push(buffer);
        }
        EmuLauncher {
            witness,
            emulator: Emulator::new(witness.module()),
            options,
            device,
            findings: vec![],
            thread_instructions: 0,
            grids: Grids::new(),
            ways: BTreeSet::new(),
            launches: vec![],
            limit: None,
            part: None,
        }
    }

    /// For a function that allocates itself: the first buffers are the host's, of which the device sees nothing.
    pub fn beside_host(
        witness: &'a Witness,
        on_host: usize,
        options: &'a emu::Options,
    ) -> EmuLauncher<'a> {
        let mut launcher = EmuLauncher::new(witness, &[], None, options);
        launcher.device.buffers = vec![Buffer::default(); on_host];
        launcher
    }

    fn counted(&self, config: &LaunchConfig, counters: Counters) -> CountedLaunch {
        let module = self.witness.module();
        let kernel = module.function(config.kernel);
        let arg = |(param, arg): (&VarId, &EmuArg)| match arg {
            EmuArg::Bytes(bytes) => {
                let ty = kernel.var(*param).ty.scalar();
                let value = ty.and_then(|ty| from_bytes(ty, bytes));
                value.map_or(Argument::Other, Argument::Value)
            }
            EmuArg::Pointer { buffer, offset } => {
                let array = self.device.buffers.get(buffer.0 as usize);
                let array = array.map_or(String::new(), |b| b.name.clone());
                Argument::Pointer { array, offset: *offset }
            }
            EmuArg::Null => Argument::Other,
        };
        let args: Vec<Argument> = kernel.params.iter().zip(&config.args).map(arg).collect();
        let extents = [config.grid, config.block];
        let views = views::views(module, config.kernel, extents, &args, VIEW_STEPS);
        let [grid, block] = extents;
        CountedLaunch { kernel: kernel.name.clone(), grid, block, counters, views }
    }
}

fn named_buffer(var: &warpsmith_ir::Var) -> Buffer {
    let element = var.ty.pointee().filter(|t| **t != Type::Void).cloned();
    Buffer { name: var.name.clone(), element, ..Buffer::default() }
}

impl Launcher for EmuLauncher<'_> {
    fn copy_to_global(&mut self, global: GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        launches::set_global(&mut self.device, global, bytes)
    }

    fn allocated(&mut self, buffer: usize, bytes: usize) {
        let poison = vec![true; bytes];
        let name = format!("allocation {}", buffer + 1);
        self.device.buffers.resize_with(buffer, Buffer::default);
        self.device.buffers.push(Buffer { name, poison, ..Buffer::default() });
    }

    /// Arrays of the host, as many of the device, and what is known of each of their bytes.
    fn most_bytes(&self) -> Option<u64> {
        Some(self.options.max_memory.saturating_mul(3))
    }

    fn fetch(
        &mut self,
        memory: &Memory,
        buffer: usize,
        offset: i64,
        bytes: u64,
    ) -> Result<Vec<u8>, String> {
        let content = memory.bytes_at(&Arg::Pointer { buffer, offset }, bytes)?;
        let poison = self.device.buffers.get(buffer).map_or(&[][..], |b| &b.poison);
        // Before the first launch a workspace's poison stands in one place for all.
        let untouched = poison.len() == 1 && poison[0];
        let part = poison.iter().skip(offset as usize).take(bytes as usize);
        if untouched || part.into_iter().any(|p| *p) {
            return Err("a copy to the host reads elements that nothing wrote".into());
        }
        Ok(content)
    }

    fn filled(&mut self, buffer: usize, offset: usize, bytes: usize) {
        launches::filled(&mut self.device, buffer, offset, bytes);
    }

    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String> {
        let on_host = memory.on_host;
        let config = launches::config(&request, on_host)?;
        let kernel = &self.witness.module().function(request.kernel).name;
        enlarge(&mut self.grids, kernel, config.grid);
        let buffers = self.device.buffers.iter_mut().zip(&mut memory.buffers).skip(on_host);
        for (buffer, bytes) in buffers {
            buffer.bytes = std::mem::take(bytes);
            if buffer.poison.len() == 1 && buffer.bytes.len() != 1 {
                buffer.poison = vec![true; buffer.bytes.len()];
            }
        }
        let mut options = self.options.clone();
        // The limit is one of all launches together: a loop in time has many.
        options.max_total_steps = options.max_total_steps.saturating_sub(self.thread_instructions);
        if let Some(part) = &mut self.part {
            options.blocks = part.begin(&config)?;
        }
        let partial = options.blocks.is_some();
        let before: Vec<Vec<u8>> = match partial && self.part.as_ref().is_some_and(|p| p.strict) {
            true => self.device.buffers.iter().map(|b| b.bytes.clone()).collect(),
            false => vec![],
        };
        let outcome = self.emulator.run(&config, &mut self.device, &options);
        if let Some(part) = &mut self.part {
            part.end(
                &before,
                &self.device,
                outcome.as_ref().map_or(0, |o| o.stats.thread_instructions),
            );
        }
        let buffers = self.device.buffers.iter_mut().zip(&mut memory.buffers).skip(on_host);
        for (buffer, bytes) in buffers {
            *bytes = std::mem::take(&mut buffer.bytes);
        }
        let outcome = outcome.map_err(launches::message)?;
        self.thread_instructions += outcome.stats.thread_instructions;
        self.ways.extend(outcome.ways);
        if let Some(counters) = outcome.counters {
            let counted = self.counted(&config, counters);
            self.launches.push(counted);
        }
        let counts = |f: &Finding| !f.rule.is_note() || f.rule == emu::Rule::RaceBenign;
        self.findings.extend(outcome.findings.into_iter().filter(counts));
        if let Some(limit) = outcome.limit {
            self.limit = Some(match limit {
                emu::Limit::TotalSteps => "the limit of thread instructions",
                emu::Limit::Memory => "the memory limit (--max-memory)",
                emu::Limit::Timeout => "the time limit (--timeout)",
                emu::Limit::Interrupted => "an interruption",
            });
            return Err("a limit was reached".to_string());
        }
        Ok(())
    }
}
