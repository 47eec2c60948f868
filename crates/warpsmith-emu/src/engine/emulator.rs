//! Launches of one module, of which the latest programs are kept: a loop in time asks for the same kernels with the same
//! arguments again and again, and small launches take less time to run than to compile.

use std::collections::VecDeque;

use warpsmith_ir::{Module, Type};

use crate::api::{Buffer, DeviceMemory, EmuError, LaunchConfig, Options, Outcome};
use crate::compile::{self, lir::Program};

/// Programs that are kept: loops launch a few kernels in turns.
const KEPT: usize = 8;

/// Runs launches of one module, and compiles a launch that it has seen lately only once.
pub struct Emulator<'m> {
    module: &'m Module,
    /// The latest first.
    kept: VecDeque<Kept>,
}

struct Kept {
    launch: LaunchConfig,
    ways: bool,
    buffers: Vec<Shown>,
    program: Program,
}

/// What a program knows of a buffer; its content and length it does not.
#[derive(PartialEq)]
struct Shown {
    name: String,
    element: Option<Type>,
    shape: Vec<u64>,
}

impl<'m> Emulator<'m> {
    /// For launches of this module's kernels.
    pub fn new(module: &'m Module) -> Emulator<'m> {
        Emulator { module, kept: VecDeque::new() }
    }

    /// Runs one launch on `memory`, changing it as the kernel does; as [`crate::run`], of which it gives the same outcome.
    ///
    /// # Errors
    /// See [`EmuError`]; memory is then unchanged.
    pub fn run(
        &mut self,
        launch: &LaunchConfig,
        memory: &mut DeviceMemory,
        options: &Options,
    ) -> Result<Outcome, EmuError> {
        super::launch::check(launch, options.large_blocks)?;
        if memory.globals.len() != self.module.globals.len() {
            memory.globals = DeviceMemory::new(self.module).globals;
        }
        let program = self.program(launch, memory, options.ways)?;
        super::launch::check_clusters(program, launch)?;
        Ok(super::launch::run(program, launch, memory, options))
    }

    fn program(
        &mut self,
        launch: &LaunchConfig,
        memory: &mut DeviceMemory,
        ways: bool,
    ) -> Result<&Program, EmuError> {
        let known = self.kept.iter().position(|k| k.fits(launch, memory, ways));
        let latest = match known.and_then(|at| self.kept.remove(at)) {
            Some(kept) => kept,
            None => {
                if compile::kernel_allocates(self.module, launch.kernel) {
                    memory.with_heap();
                }
                Kept::new(self.module, launch, memory, ways)?
            }
        };
        self.kept.truncate(KEPT - 1);
        self.kept.push_front(latest);
        Ok(&self.kept[0].program)
    }
}

impl Kept {
    fn new(
        module: &Module,
        launch: &LaunchConfig,
        memory: &DeviceMemory,
        ways: bool,
    ) -> Result<Kept, EmuError> {
        let program = compile::compile(module, launch, memory, ways)?;
        let shown = |b: &Buffer| Shown {
            name: b.name.clone(),
            element: b.element.clone(),
            shape: b.shape.clone(),
        };
        let buffers = memory.buffers.iter().map(shown).collect();
        Ok(Kept { launch: launch.clone(), ways, buffers, program })
    }

    fn fits(&self, launch: &LaunchConfig, memory: &DeviceMemory, ways: bool) -> bool {
        let same = |(shown, b): (&Shown, &Buffer)| {
            (&shown.name, &shown.element, &shown.shape) == (&b.name, &b.element, &b.shape)
        };
        self.launch == *launch
            && self.ways == ways
            && self.buffers.len() == memory.buffers.len()
            && self.buffers.iter().zip(&memory.buffers).all(same)
    }
}
