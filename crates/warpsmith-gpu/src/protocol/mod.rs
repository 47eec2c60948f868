//! What a tuner and its worker processes say to each other, over the worker's stdin and stdout.
//!
//! One request at a time, one reply to each. Both are frames ([`frame`]): a JSON header and any number of byte strings
//! ("blobs"), to which the header refers by position.

pub mod frame;

use std::fmt;

use serde::{Deserialize, Serialize};

/// Both sides must have the same.
pub const VERSION: u32 = 2;

/// What a worker is asked; each request has one reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Who are you? Must come first.
    Hello {
        /// [`VERSION`] of the caller; a worker of another one refuses.
        version: u32,
    },
    /// Compile a text. Replied to with [`Reply::Compiled`], blob 0 the binary, or [`Reply::Invalid`].
    Compile(Compile),
    /// Buffers and expected outputs of the problem that later candidates solve; replaces the previous one.
    Prepare(Problem),
    /// Run a candidate once and keep its outputs as the expected ones. Blob 0: the binary. The reply's blobs are the
    /// sampled elements of each output, in the order of `Reference::outputs`.
    Reference(Reference),
    /// Run some actions on the buffers as the actions before left them, and bring what they read: for a host that goes on
    /// by values of the device. Blob 0: the binary. Replied to with [`Reply::Done`], a blob for each [`Action::Read`].
    Advance {
        /// In order, on one stream.
        actions: Vec<Action>,
        /// They are the first of a run: the buffers are made as they are before one.
        first: bool,
    },
    /// Check and time one candidate. Blob 0: the binary.
    Measure {
        /// The launches.
        candidate: Candidate,
        /// How long is measured.
        policy: Policy,
    },
    /// Time several candidates in turns, so that all see the same clocks and temperature. One blob a candidate.
    Race {
        /// The launches of each.
        candidates: Vec<Candidate>,
        /// Most timed runs of each.
        rounds: u32,
        /// How runs are prepared.
        policy: Policy,
    },
    /// What the machine can do at most.
    Limits {
        /// What the copy moves, read plus written.
        bytes: u64,
    },
    /// How long the vendor's library takes for a product of matrices.
    Product(Product),
    /// Blocks of a kernel that a multiprocessor holds, for pairs of threads and dynamic shared memory. Blob 0: the
    /// binary.
    Occupancy {
        /// The symbol in the binary.
        kernel: String,
        /// Threads of a block, and bytes of dynamic shared memory.
        shapes: Vec<(u32, u32)>,
    },
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// To [`Request::Hello`].
    Hello(Hello),
    /// To [`Request::Compile`]: the kernels and the compiler's log.
    Compiled(Vec<KernelInfo>, String),
    /// To [`Request::Prepare`] and [`Request::Reference`].
    Done,
    /// To [`Request::Measure`].
    Measured(Measured),
    /// To [`Request::Race`], one entry a candidate.
    Raced(Vec<Measured>),
    /// To [`Request::Limits`].
    Limits(Limits),
    /// To [`Request::Product`]: the median of single runs with emptied caches, in milliseconds.
    Product(f64),
    /// To [`Request::Occupancy`], one number for each pair.
    Occupancy(Vec<u32>),
    /// The request was understood and what it asks for does not work; the worker goes on.
    Invalid(Invalid),
}

/// A worker's answer to the first request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`] of the worker.
    pub version: u32,
    /// `gpu`, `emulator`, `replay` or `compiler`.
    pub backend: String,
    /// As the driver names it, or what stands in for one.
    pub device: String,
    /// For example `sm_90`; empty where there is no device.
    pub arch: String,
    /// Version of the driver, or of what takes its place.
    pub driver: String,
    /// Version of the compiler; empty where there is none.
    pub compiler: String,
}

/// A text to compile with NVRTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compile {
    /// CUDA C++.
    pub source: String,
    /// For messages.
    pub file: String,
    /// For example `sm_90`.
    pub arch: String,
    /// Passed on as they are, such as `-DN=4` or `--use_fast_math`.
    pub options: Vec<String>,
    /// Kernels by the names of the source, for templates with their arguments; empty: all `extern "C"` ones.
    pub kernels: Vec<String>,
}

/// A compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    /// As in [`Compile::kernels`], or the same as `symbol`.
    pub name: String,
    /// The name in the binary.
    pub symbol: String,
    /// Registers a thread.
    pub registers: u32,
    /// Static shared memory a block, in bytes, without what the system reserves.
    pub shared: u32,
    /// Bytes of local memory a thread.
    pub local: u32,
    /// Bytes a thread stores and loads because registers were too few.
    pub spills: u32,
}

/// Memory that candidates work on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The buffers, in the order that candidates refer to.
    pub buffers: Vec<BufferSpec>,
    /// What candidates must leave behind; empty until a reference has run, if there is one.
    pub expected: Vec<Expected>,
}

/// A buffer of a problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferSpec {
    /// For messages.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// What it holds before each run.
    pub contents: Contents,
}

/// What a buffer holds before each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Contents {
    /// A blob of the request, as long as the buffer.
    Blob(usize),
    /// Nothing that may be read: filled with a pattern, another one in every run.
    Poison,
    /// Zero in every byte.
    Zero,
}

/// The right contents of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The buffer, and how far it may be off.
    pub output: Output,
    /// A blob of the request, as long as the buffer.
    pub blob: usize,
}

/// A buffer that is compared, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Position in [`Problem::buffers`].
    pub buffer: usize,
    /// Type of its elements.
    pub element: Element,
    /// How far an element may be off.
    pub tolerance: Tolerance,
}

/// An element `e` may differ from the expected `x` by `absolute + relative * |x|`; both 0: equal bits, except that NaN
/// equals NaN. NaN is never near a number. Where `own * |x|` is more, that is what it may differ by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// In units of the element.
    pub absolute: f64,
    /// As a share of the expected element's magnitude.
    pub relative: f64,
    /// The same share for elements that are larger than those from which `absolute` was made.
    #[serde(default)]
    pub own: f64,
}

impl Tolerance {
    /// By how much an element may differ that should be `expected`; what is no finite number has to be the same.
    pub fn at(&self, expected: f64) -> f64 {
        let magnitude = expected.abs();
        if !magnitude.is_finite() {
            return 0.0;
        }
        (self.absolute + self.relative * magnitude).max(self.own * magnitude)
    }
}

/// Type of a buffer's elements, for comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Element {
    /// IEEE binary16.
    F16,
    /// A binary32 without its lower 16 bits.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Compared bit for bit; bytes of an element: 1, 2, 4 or 8.
    Bits(u8),
}

impl Element {
    /// In bytes.
    pub fn size(self) -> u64 {
        match self {
            Element::F16 | Element::Bf16 => 2,
            Element::F32 => 4,
            Element::F64 => 8,
            Element::Bits(n) => n.into(),
        }
    }
}

/// A program whose outputs become the expected ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// What is run.
    pub candidate: Candidate,
    /// Buffers whose contents become the expected ones.
    pub outputs: Vec<Output>,
    /// For each output the elements, by flat index, that the reply brings.
    pub samples: Vec<Vec<u64>>,
    /// The elements are to be those that all of the program leaves behind: what can only be run in part is refused.
    pub whole: bool,
}

/// What is done with one binary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// What the tuner calls it; a replay looks it up.
    pub key: String,
    /// In order, on one stream.
    pub actions: Vec<Action>,
}

/// One action of a run, in order with the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Starts a kernel.
    Launch(Launch),
    /// Bytes to a variable of the binary, `__constant__` or `__device__`.
    SetGlobal {
        /// The variable's symbol in the binary.
        symbol: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// The same, once before the first run: not part of what is timed.
    Preset {
        /// The variable's symbol in the binary.
        symbol: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// `cudaMemsetAsync`.
    Fill {
        /// Position in [`Problem::buffers`].
        buffer: usize,
        /// The first byte that is filled.
        offset: u64,
        /// How many bytes are filled.
        bytes: u64,
        /// What each of them gets.
        value: u8,
    },
    /// The host waits for all actions before, and reads.
    Read {
        /// Position in [`Problem::buffers`].
        buffer: usize,
        /// The first byte that is read.
        offset: u64,
        /// How many bytes are read.
        bytes: u64,
    },
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The symbol in the binary.
    pub kernel: String,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// One for each parameter of the kernel.
    pub args: Vec<Arg>,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arg {
    /// A pointer into a buffer of the problem, `offset` bytes from its start.
    Buffer {
        /// Position in [`Problem::buffers`].
        buffer: usize,
        /// Bytes from its start.
        offset: i64,
    },
    /// The null pointer.
    Null,
    /// A value, as the kernel expects it in memory.
    Bytes(Vec<u8>),
}

/// How long is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Runs that do not count, after the one that is checked.
    pub warmup: u32,
    /// Least number of timed runs.
    pub min_runs: u32,
    /// Greatest number of timed runs.
    pub max_runs: u32,
    /// No further run is begun when the timed ones have taken so long; `min_runs` are done in any case.
    pub budget_ms: f64,
    /// A candidate whose first run takes longer is not worth another.
    pub give_up_over_ms: Option<f64>,
    /// Empty the caches before each run.
    pub flush: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            warmup: 2,
            min_runs: 7,
            max_runs: 50,
            budget_ms: 50.0,
            give_up_over_ms: None,
            flush: true,
        }
    }
}

/// What came of timing a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Measured {
    /// Right, and these are the times of single runs in milliseconds, in the order they were taken.
    Times(Vec<f64>),
    /// It does not count, and why.
    Invalid(Invalid),
}

/// Why a candidate does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Invalid {
    /// What kind of failure it is.
    pub reason: Reason,
    /// One sentence for people.
    pub detail: String,
}

impl Invalid {
    /// A failure with a sentence that says what happened.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Invalid {
        Invalid { reason, detail: detail.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}

/// The words of the T4 format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// It breaks a limit of the device.
    Constraints,
    /// The compiler refused it.
    Compile,
    /// It could not be launched, or failed while it ran.
    Runtime,
    /// It ran, and what it computed is wrong.
    Correctness,
    /// It took longer than the limit.
    Timeout,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Constraints => "constraints",
            Reason::Compile => "compile",
            Reason::Runtime => "runtime",
            Reason::Correctness => "correctness",
            Reason::Timeout => "timeout",
        })
    }
}

/// What a machine reaches at most, measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// A copy that moves as many bytes as were asked for, read plus written: gigabytes a second.
    pub copy_gb_s: f64,
    /// Fused multiply-adds in single precision, two operations each: teraflops.
    pub fma_tflop_s: f64,
}

/// A product of two dense matrices, each stored by rows or, transposed, by columns; the result is stored by rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    /// Of the left matrix and of the result.
    pub rows: u32,
    /// Of the right matrix and of the result.
    pub columns: u32,
    /// Columns of the left matrix, rows of the right one.
    pub terms: u32,
    /// Of all three.
    pub element: Real,
    /// The left matrix lies in memory by columns.
    pub left_transposed: bool,
    /// The right matrix lies in memory by columns.
    pub right_transposed: bool,
}

/// Reals that the vendor's library multiplies without any other precision inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Real {
    /// `float`
    F32,
    /// `double`
    F64,
}

impl Product {
    /// Sizes of the left matrix, the right one and the result.
    pub fn bytes(&self) -> [u64; 3] {
        let element = match self.element {
            Real::F32 => 4,
            Real::F64 => 8,
        };
        let pairs =
            [(self.rows, self.terms), (self.terms, self.columns), (self.rows, self.columns)];
        pairs.map(|(a, b)| u64::from(a) * u64::from(b) * element)
    }
}
