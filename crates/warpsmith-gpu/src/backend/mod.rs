//! What a worker does its work with: a GPU, or something that stands in for one.

pub mod compare;
pub mod compiler;
pub mod gpu;
pub mod library;
pub mod limits;
pub mod memory;
pub mod replay;
pub mod timing;

use crate::error::GpuError;
use crate::protocol::{
    Action, Candidate, Compile, Hello, Invalid, KernelInfo, Limits, Measured, Policy, Problem,
    Product, Reason, Reference,
};

type Result<T> = std::result::Result<T, Fault>;

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The candidate's own fault; the worker goes on.
    Invalid(Invalid),
    /// The device can do no more for this process: the candidate's fault is reported, then the worker ends.
    Lost(Invalid),
}

/// Carries out the requests of [`crate::protocol::Request`], where each is explained.
pub trait Backend {
    /// Who this is, and what device it has.
    fn hello(&mut self) -> std::result::Result<Hello, GpuError>;

    /// Compiles a text; gives its kernels, the compiler's log and the binary.
    fn compile(&mut self, request: &Compile) -> Result<(Vec<KernelInfo>, String, Vec<u8>)>;

    /// Makes the buffers of a problem, in place of those of the one before; contents are in `blobs`.
    fn prepare(&mut self, problem: Problem, blobs: Vec<Vec<u8>>) -> Result<()>;

    /// Runs a program once and keeps its outputs as the expected ones; gives the sampled elements of each.
    fn reference(&mut self, reference: &Reference, binary: &[u8]) -> Result<Vec<Vec<u8>>>;

    /// Runs some actions of a run that is under way, or the first of one; gives what they read.
    fn advance(&mut self, _: &[Action], _: &[u8], _: bool) -> Result<Vec<Vec<u8>>> {
        Err(Fault::Invalid(Invalid::new(
            Reason::Runtime,
            "nothing is run here, so no value is known of the device",
        )))
    }

    /// Checks a candidate against the expected outputs and times it; milliseconds of single runs.
    fn measure(
        &mut self,
        candidate: &Candidate,
        binary: &[u8],
        policy: &Policy,
    ) -> Result<Vec<f64>>;

    /// One entry a candidate.
    fn race(
        &mut self,
        candidates: &[Candidate],
        binaries: &[Vec<u8>],
        rounds: u32,
        policy: &Policy,
    ) -> Result<Vec<Measured>>;

    /// What the device reaches at most, by a copy that moves so many bytes and by arithmetic without memory.
    fn limits(&mut self, bytes: u64) -> Result<Limits>;

    /// Milliseconds that the vendor's library takes for a product.
    fn product(&mut self, _: &Product) -> Result<f64> {
        Err(Fault::Invalid(Invalid::new(Reason::Runtime, "there is no library for products here")))
    }

    /// For each pair of threads a block and bytes of dynamic shared memory: blocks on a multiprocessor.
    fn occupancy(&mut self, binary: &[u8], kernel: &str, shapes: &[(u32, u32)])
    -> Result<Vec<u32>>;
}
