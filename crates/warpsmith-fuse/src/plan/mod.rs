//! What a fused kernel does: which implementations, in which order, where each variable lives, where barriers stand, and why.

mod barriers;
mod cost;
mod home;
mod kernel;
mod place;
mod search;
mod shape;

use std::rc::Rc;

use crate::access::{ImplementationAccess, Place};
use crate::library::FunctionId;
use crate::predict::Prediction;
use crate::script::{Loop, VarId};

pub use kernel::{Layouts, Planner, Reading, Unusable};
pub use search::{Bounds, Covered, Found, Region, search};
pub use shape::{Coordinates, Source, coordinates};

/// Bytes of shared memory that every kernel may have; more must be dynamic, and allowed for the kernel.
pub const UNASKED_SHARED: u32 = 48 << 10;

/// What is asked of the plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// Keep the library's own loads and saves.
    pub keep_loads: bool,
    /// Everything in shared memory, a barrier after every routine, the library's own loads and saves.
    pub baseline: bool,
    /// The most calls of one kernel.
    pub max_fusion: usize,
    /// Covers to be found.
    pub best: usize,
    /// Bytes of shared memory that a block may have; beyond [`UNASKED_SHARED`] kernels ask for it.
    pub shared_limit: u32,
    /// Implementations that must be taken: function (`*`: any that has it) and implementation.
    pub implementations: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            keep_loads: false,
            baseline: false,
            max_fusion: 8,
            best: 1,
            shared_limit: UNASKED_SHARED,
            implementations: vec![],
        }
    }
}

/// One fused kernel.
#[derive(Clone, Debug)]
pub struct KernelPlan {
    /// In the order in which they run.
    pub calls: Vec<PlannedCall>,
    /// Elements a block, and a thread's steps through blocks.
    pub elements: u32,
    /// Steps of `elements` that a block makes, one after the other.
    pub batch: u32,
    /// Threads of the block.
    pub shape: [u32; 3],
    /// What the calls read and write.
    pub variables: Vec<PlannedVariable>,
    /// What a block does, in order.
    pub steps: Vec<Step>,
    /// Floats of shared memory.
    pub shared_floats: u32,
    /// Whether order and layout are known to be the best.
    pub layout_is_exact: bool,
    /// How long it takes, by parts.
    pub prediction: Prediction,
    /// Combinations of implementations and block sizes that were looked at for these calls, and the predicted seconds of the one
    /// that comes after this.
    pub considered: usize,
    /// Seconds that the second best plan takes.
    pub next_best: Option<f64>,
}

impl KernelPlan {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.shape.iter().product()
    }

    /// Bytes of shared memory that the launch must bring; the others are declared in the kernel.
    pub fn dynamic_shared(&self) -> u32 {
        let bytes = self.shared_floats * 4;
        if bytes > UNASKED_SHARED { bytes } else { 0 }
    }

    /// Barriers of one pass through the kernel.
    pub fn barriers(&self) -> usize {
        self.steps.iter().filter(|s| s.barrier.is_some()).count()
    }

    /// Variables that live in registers.
    pub fn registers(&self) -> usize {
        self.variables.iter().filter(|v| matches!(v.home, Home::Registers { .. })).count()
    }

    /// Variables read from and written to global memory, in the order of first use.
    pub fn inputs(&self) -> impl Iterator<Item = &PlannedVariable> {
        self.variables.iter().filter(|v| v.input)
    }

    /// Variables that are stored.
    pub fn outputs(&self) -> impl Iterator<Item = &PlannedVariable> {
        self.variables.iter().filter(|v| v.output)
    }

    /// Whether a routine of the library loads a variable.
    pub fn is_loaded_by_routine(&self, variable: usize) -> bool {
        self.steps.iter().any(|s| match s.action {
            Action::Load { variable: v, by } => v == variable && !by.is_ours(),
            _ => false,
        })
    }

    /// Whether some move is a routine of the library, which asks for whole blocks.
    pub fn wants_whole_blocks(&self) -> bool {
        self.steps.iter().any(|s| {
            matches!(
                s.action,
                Action::Load { by: Mover::Routine { .. }, .. }
                    | Action::Save { by: Mover::Routine { .. }, .. }
            )
        })
    }
}

/// A call with the implementation that was taken.
#[derive(Clone, Debug)]
pub struct PlannedCall {
    /// Number of the node in its region.
    pub node: usize,
    /// The function that is called.
    pub function: FunctionId,
    /// The number of the implementation that is taken.
    pub implementation: usize,
    /// What its routines touch.
    pub access: Rc<ImplementationAccess>,
    /// Variables of its arguments and then of its result, as numbers of [`KernelPlan::variables`].
    pub variables: Vec<usize>,
    /// Where compute finds them.
    pub places: Vec<Place>,
}

/// A variable of a kernel.
#[derive(Clone, Debug)]
pub struct PlannedVariable {
    /// The variable of the script.
    pub id: VarId,
    /// Floats of an element.
    pub size: u32,
    /// Where it lives.
    pub home: Home,
    /// Why it lives there.
    pub reason: String,
    /// It is read from global memory.
    pub input: bool,
    /// It is written to global memory.
    pub output: bool,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the sentences of the variants say what their fields are")]
pub enum Home {
    /// From this float of the buffer on.
    Shared { offset: u32 },
    /// So many registers of every thread.
    Registers { width: u32, floats: u32 },
}

/// One thing that a kernel does.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// A barrier stands before it, for this reason.
    pub barrier: Option<String>,
}

/// One step of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the sentences of the variants say what their fields are")]
pub enum Action {
    /// A variable is brought from global memory.
    Load { variable: usize, by: Mover },
    /// A call, by its number in [`KernelPlan::calls`].
    Call(usize),
    /// A variable is stored.
    Save { variable: usize, by: Mover },
}

/// What moves a variable between global memory and the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the sentences of the variants say what their fields are")]
pub enum Mover {
    /// All threads together, 16 bytes at a time: a part of an array of structures, through shared memory.
    Block,
    /// All threads together, a float of all elements after the other: a part of a structure of arrays, through shared memory.
    Columns,
    /// Each thread its own element, into its registers; the floats that neighbouring threads move at a time are neighbours.
    Own,
    /// A routine of this call's implementation, by the number of the load; in this place.
    Routine { call: usize, load: usize, place: Place },
}

impl Mover {
    /// It is no routine of the library.
    pub fn is_ours(&self) -> bool {
        !matches!(self, Mover::Routine { .. })
    }
}

/// How a region runs: kernels and loops, one after the other.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the sentences of the variants say what their fields are")]
pub enum Launch {
    /// One kernel.
    Kernel(Rc<KernelPlan>),
    /// A loop on the host around launches.
    Loop { source: Loop, body: Vec<Launch> },
}

/// The kernels of a list, loops entered.
pub fn kernels(launches: &[Launch]) -> Vec<Rc<KernelPlan>> {
    let mut all = vec![];
    for launch in launches {
        match launch {
            Launch::Kernel(kernel) => all.push(kernel.clone()),
            Launch::Loop { body, .. } => all.extend(kernels(body)),
        }
    }
    all
}
