//! Predicted time of a fusion: `T(F) = max(Σ moves, Σ computations)`, since a GPU overlaps transfers with arithmetic; not less
//! than starting its blocks takes, and for every kernel what a launch costs.
//!
//! Where the times of routines come from is not known here: from a model, or from curves that were measured.

use crate::access::Work;
use crate::library::Role;

/// A routine as a fused kernel uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutineUse<'a> {
    /// As its text calls it, without `d_`: `mmul33_2_load_1`; for the tool's own copies `load` and `save`.
    pub name: &'a str,
    /// What the routine is for.
    pub role: Role,
    /// Elements a block.
    pub elements: u32,
    /// Threads of the kernel that have work in it.
    pub threads: u32,
    /// Bytes of shared memory that the fusion allocates beyond what the routine itself needs.
    pub additional_shared: u32,
    /// Bytes that the routine itself needs.
    pub own_shared: u32,
    /// Floats that a move brings, an element; 0 for computations.
    pub moved: u32,
    /// Of our own copies: the bytes that a block asks for before it waits, by all of its loads together.
    pub under_way: Option<u32>,
    /// What one thread does in it.
    pub work: Work,
}

/// Where times come from.
pub trait Times {
    /// Seconds that a routine takes for all elements of the data, in a kernel whose blocks have been started.
    fn seconds(&self, routine: &RoutineUse<'_>) -> f64;

    /// Seconds in which a GPU can start the blocks of a kernel with so many elements each.
    fn starting(&self, elements_per_block: u32) -> f64;

    /// Seconds that every kernel takes, whatever it does.
    fn launch(&self) -> f64;
}

/// The predicted time of a fusion: a launch, and the longest of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Sum over loads and saves, in seconds.
    pub moving: f64,
    /// Sum over computations.
    pub computing: f64,
    /// Starting the blocks.
    pub starting: f64,
    /// The launch itself.
    pub launch: f64,
}

impl Prediction {
    /// The time in seconds.
    pub fn seconds(&self) -> f64 {
        self.launch + self.moving.max(self.computing).max(self.starting)
    }

    /// All of it: of kernels that are predicted to take the same time the one with less to do is taken.
    pub fn sum(&self) -> f64 {
        self.moving + self.computing + self.starting
    }
}
