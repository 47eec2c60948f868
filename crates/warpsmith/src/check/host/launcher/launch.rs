//! One launch of the host: whether it is run, how much of it, and what comes of it.

use std::collections::HashSet;

use warpsmith_emu::{Arg, EmuError, LaunchConfig, Options, Outcome};
use warpsmith_ir::interp::{LaunchRequest, Memory};
use warpsmith_ir::visit::for_each_stmt;
use warpsmith_ir::{Diagnostic, FuncId, Module, Scope, Span, StmtKind};

use super::super::super::confirm::{Other, without_pointers};
use super::super::super::invent::holds_pointers;
use super::super::clock::Share;
use super::super::repeats::{Pending, Verdict, written_by};
use super::super::streams::Begun;
use super::super::{Shape, lent};
use super::{HostLauncher, MOST_TOUCHED};
use crate::progress::Phase;
use crate::status::Failure;

impl HostLauncher<'_, '_> {
    pub(super) fn launch_once(
        &mut self,
        memory: &mut Memory,
        request: &LaunchRequest,
    ) -> Result<(), String> {
        if self.failure.is_some() || self.runner.interrupted {
            return Err("stopped".to_string());
        }
        if !memory.host.shared.is_empty() {
            self.repeats.changed();
        }
        if self.has_heap {
            lent::make_heap(&mut self.device, memory);
        }
        lent::lend(&mut self.device, memory);
        let done = self.launch_lent(memory, request);
        lent::take_back(&mut self.device, memory);
        done
    }

    /// The same while the device has the memory.
    fn launch_lent(&mut self, memory: &mut Memory, request: &LaunchRequest) -> Result<(), String> {
        let config = lent::config(self.module, &mut self.device, request);
        self.fill_invented(&config);
        let mut begun = self.streams.begin();
        if self.reaches_memory_of_the_host(memory, &config) {
            begun.is_visible();
        }
        let label = self.label(&config);
        // The host could see what a launch writes, and go on differently, without a copy.
        let seen = self.has_variables || !memory.host.shared.is_empty();
        if self.runner.hurries() {
            self.repeats.hurry();
        }
        let (module, at, all) = (self.module, self.at, seen || self.runner.args.all_repeats);
        let verdict = self.repeats.verdict(module, &config, at, &mut self.device, all);
        let pending = match verdict {
            Verdict::LeaveOut => {
                self.compare_as_before(&config, &begun);
                return Ok(());
            }
            Verdict::Done => {
                self.compare_as_before(&config, &begun);
                None
            }
            Verdict::Run(pending) => Some(pending),
        };
        if self.ends_here(&label) || self.is_tired() {
            return Err("stopped".to_string());
        }
        self.ran.launched += 1;
        self.ran.kernels.push(self.module.function(config.kernel).name.clone());
        let LaunchConfig { kernel, grid, block, .. } = config;
        let shape = Shape { label: label.clone(), at, kernel, grid, block };
        if !self.ran.shapes.contains(&shape) {
            self.ran.shapes.push(shape);
        }
        self.runner.launched(&label);
        if let Some(name) = lent::host_pointer(self.module, memory, request) {
            let kernel = &self.module.function(config.kernel).name;
            let message = format!("`{kernel}` gets a pointer to memory of the host for `{name}`");
            self.refused("invalid-pointer", message, &label);
            return Ok(());
        }
        match pending.filter(|_| !self.runner.args.dry_run) {
            Some(pending) => self.emulate(pending, &config, &begun, &label),
            None => Ok(()),
        }
    }

    /// The host may look at what the launch does, and at the same time, unless that talks to the host.
    fn reaches_memory_of_the_host(&self, memory: &Memory, config: &LaunchConfig) -> bool {
        let shared = &memory.host.shared;
        let managed = self.device.globals.iter().any(|variable| variable.host_writes);
        if !managed && shared.is_empty() || talks_to_the_host(self.module, config.kernel) {
            return false;
        }
        managed
            || config.args.iter().any(|arg| match arg {
                Arg::Pointer { buffer, .. } => {
                    let b = self.device.buffers.get(buffer.0 as usize);
                    let element = b.and_then(|b| b.element.as_ref());
                    shared.contains(buffer.0 as usize)
                        || element.is_some_and(|t| holds_pointers(self.module, t))
                }
                Arg::Bytes(bytes) => bytes.len() >= size_of::<u64>(),
                Arg::Null => false,
            })
    }

    fn emulate(
        &mut self,
        pending: Pending,
        config: &LaunchConfig,
        begun: &Begun,
        label: &str,
    ) -> Result<(), String> {
        let share = self.runner.share_of_launch();
        let options = self.options_of_launch(begun, share);
        let other = Other::of(&self.device, config, &self.nobodys);
        let _phase = Phase::new(format!("{label}, launch {}", self.ran.launched));
        match self.emulator.run(config, &mut self.device, &options) {
            Ok(mut outcome) => {
                self.runner.end_of_share(&mut outcome, share);
                self.waited = self.runner.without_waiting(&mut outcome, label, self.waited);
                let touched = std::mem::take(&mut outcome.touched);
                if begun.watched() && self.touched.len() < MOST_TOUCHED {
                    self.touched.retain(|(of, _)| of != config);
                    self.touched.push((config.clone(), touched.clone()));
                }
                self.compare_streams(begun, self.kernel_did(config, touched));
                self.repeats.ran(pending, config, &outcome, &self.device);
                let limited = outcome.limit.is_some();
                let confirmed = other.map(|o| {
                    let o = o.or_after(&self.device, &outcome);
                    o.findings(self.module, config, &options, &outcome, self.sources)
                });
                self.take_down(outcome, config, label, confirmed);
                if limited { Err("a limit was reached".to_string()) } else { Ok(()) }
            }
            Err(EmuError::BadLaunch(message) | EmuError::BadArgument { message, .. }) => {
                self.ran.refused += 1;
                self.ran.kernels.pop();
                self.refused("invalid-launch", message, label);
                Ok(())
            }
            Err(EmuError::Unsupported { message, span }) => {
                self.failure = Some(unsupported(message, span.or(self.at)));
                Err("not supported".to_string())
            }
        }
    }

    /// How much of the launch is run.
    fn options_of_launch(&self, begun: &Begun, share: Share) -> Options {
        let mut options = self.runner.options(self.args);
        (options.max_total_steps, options.deadline) = (share.steps, share.until);
        if !self.runner.args.all_repeats {
            options.sample_beyond = Some(self.repeats.sample_beyond());
        }
        if self.ends_after.is_some() {
            options.after_finding = Some(self.runner.effort.launch_after_finding);
        }
        options.leave_out_from = self.runner.launch_leaves_out_from();
        if begun.watched() {
            options.touched = true;
        }
        options
    }

    /// Takes down what a launch found; `confirmed`: what it finds with other data where data were invented.
    fn take_down(
        &mut self,
        outcome: Outcome,
        config: &LaunchConfig,
        label: &str,
        mut confirmed: Option<HashSet<String>>,
    ) {
        let unfinished = self.unfinished.reach(config);
        if unfinished {
            let written = written_by(self.module, config, &self.device);
            self.unfinished.passed_on(written);
        }
        if let Some(part) = outcome.sampled {
            self.ran_in_part(config, part, label);
        }
        self.forget_written(config);
        if self.gets_unknown_pointers(config) {
            confirmed = Some(without_pointers(confirmed, &outcome, self.sources));
        }
        if unfinished {
            confirmed = Some(HashSet::new());
        }
        let stats = outcome.stats;
        self.runner.record(outcome, label, confirmed.as_ref(), self.sources);
        self.spent_after_finding(stats);
    }
}

/// The kernel, or a function that it calls, has fences or atomics that the host takes part in.
fn talks_to_the_host(module: &Module, kernel: FuncId) -> bool {
    let (mut seen, mut open) = (HashSet::from([kernel]), vec![kernel]);
    let mut talks = false;
    while let Some(function) = open.pop() {
        for_each_stmt(&module.function(function).body, &mut |s| match &s.kind {
            StmtKind::Fence(Scope::System) | StmtKind::Atomic { scope: Scope::System, .. } => {
                talks = true;
            }
            StmtKind::Call { function, .. } if seen.insert(*function) => open.push(*function),
            _ => {}
        });
    }
    talks
}

fn unsupported(message: String, span: Option<Span>) -> Failure {
    let error = Diagnostic::error("W308", message);
    match span {
        Some(span) => error.label(span, "here").into(),
        None => error.into(),
    }
}
