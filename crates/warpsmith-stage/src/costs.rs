//! What plans cost on a device: predicted from what the emulator counts, or measured as their texts run.

use warpsmith_emu::counters::Counters;
use warpsmith_emu::{DeviceMemory, LaunchConfig};
use warpsmith_ir::{Module, Scalar};

/// A launch that was counted.
pub struct Counted<'a> {
    /// What the emulator counted.
    pub counters: &'a Counters,
    /// The program that was run.
    pub module: &'a Module,
    /// Its arrays.
    pub memory: &'a DeviceMemory,
    /// Grid and block of the launch.
    pub config: &'a LaunchConfig,
    /// Bytes of static shared memory a block.
    pub shared: u32,
    /// Blocks of the kernel as it is in this launch.
    pub own_blocks: f64,
    /// How many times as many blocks are meant; `None`: enough to fill a device.
    pub times: Option<f64>,
    /// What comes from far is read so many iterations before it is needed.
    pub ahead: u32,
}

/// An array that a kernel is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The parameter that it is passed for.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// What its elements are made of; `None`: of several types.
    pub element: Option<Scalar>,
    /// The kernel may store to it.
    pub written: bool,
}

/// What a kernel's parameter is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The array of this position.
    Array(usize),
    /// A value, as its bytes lie in memory.
    Value(Vec<u8>),
}

/// A kernel with a launch at the size that it is meant for.
#[derive(Clone, Debug)]
pub struct Runnable {
    /// What the plan is, in words.
    pub name: String,
    /// The file with the plan carried out.
    pub text: String,
    /// With template arguments.
    pub kernel: String,
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Threads along each axis.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
    /// What the parameters are given, in order.
    pub arguments: Vec<Argument>,
    /// It computes something else than the first, on purpose: it is timed alone.
    pub differs: bool,
}

/// Seconds of each of a list of texts; `None`: it does not run.
pub type Times = Vec<Option<f64>>;

/// Where costs come from.
pub trait Costs {
    /// Seconds that a launch takes; `None`: it cannot be launched.
    fn predicted(&self, counted: &Counted<'_>) -> Option<f64>;

    /// Whether texts can be run.
    fn measures(&self) -> bool {
        false
    }

    /// Times of texts that work on the same arrays; what they leave behind is compared with what the first one does.
    ///
    /// # Errors
    /// Why nothing could be measured.
    fn measured(&self, _arrays: &[Array], _texts: &[Runnable]) -> Result<Times, String> {
        Err("nothing measures here".into())
    }
}

impl<F: Fn(&Counted<'_>) -> Option<f64>> Costs for F {
    fn predicted(&self, counted: &Counted<'_>) -> Option<f64> {
        self(counted)
    }
}
