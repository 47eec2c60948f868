//! What a caller of the emulator sees: memory, launches, options, findings.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::counters::Counters;
pub use crate::engine::heap::Heap;
use warpsmith_ir::{FuncId, Module, Span, Type, Way};

/// The kind of a loop without end that reads anew what others may write: it waits.
pub const POLLS: &str = "polls";
/// The same where what it reads may be memory that the host writes ([`Buffer::host_writes`]).
pub const POLLS_HOST: &str = "polls-host";

/// Names a buffer in [`DeviceMemory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// Global memory that lives across launches: the buffers and the module's `__device__` and
/// `__constant__` variables.
#[derive(Clone, Debug, Default)]
pub struct DeviceMemory {
    /// The caller's arrays, by [`BufferId`].
    pub buffers: Vec<Buffer>,
    /// One for each [`Module::globals`]; made by [`DeviceMemory::new`].
    pub globals: Vec<Buffer>,
    /// What kernels have allocated; `None`: nothing yet.
    pub heap: Option<Heap>,
}

/// One allocation.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// The name findings use.
    pub name: String,
    /// Element type, for the index in findings. `None`: bytes.
    pub element: Option<Type>,
    /// Extents, outermost first, when the user gave several; findings then name `a[i][j]`.
    pub shape: Vec<u64>,
    /// The content, as long as the array.
    pub bytes: Vec<u8>,
    /// Grows when accessed beyond its end (up to the memory limit) instead of a finding.
    pub grows: bool,
    /// A buffer that grows is afterwards as long as the accesses needed, and no longer: what a kernel touches can be read
    /// from its length.
    pub exact: bool,
    /// What a buffer that grows holds in its new bytes, again and again from its start on; empty: zeros.
    pub pattern: Arc<[u8]>,
    /// The host has freed it: what still points to it dangles.
    pub freed: bool,
    /// The host may write it while kernels run: managed memory, or the host's own that the device reaches.
    pub host_writes: bool,
    /// Whole numbers in it are nobody's word; the caller's own mark, which the emulator does not look at.
    pub invented: bool,
    /// Bytes that hold no defined value yet, one bool a byte; empty: all defined. Carrying such a value is fine,
    /// using it for control flow, an address or a store is `uninitialized…`.
    pub poison: Vec<bool>,
}

/// A kernel's argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A scalar, struct or vector by value: its bytes in the parameter's layout.
    Bytes(Vec<u8>),
    /// A pointer to a buffer plus a byte offset.
    Pointer {
        /// The buffer that it points into.
        buffer: BufferId,
        /// In bytes from the start of the buffer; may lie outside of it.
        offset: i64,
    },
    /// The null pointer.
    Null,
}

/// One execution of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchConfig {
    /// The kernel to run.
    pub kernel: FuncId,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Blocks of a cluster along x, y and z; `None`: as the kernel says, else no clusters.
    pub cluster: Option<[u32; 3]>,
    /// One for each parameter.
    pub args: Vec<Arg>,
}

/// Whether a device takes blocks of so many threads along x, y and z.
pub fn block_fits(block: [u32; 3]) -> bool {
    block_threads(block) <= 1024 && block[2] <= 64
}

pub(crate) fn block_threads(block: [u32; 3]) -> u64 {
    block.iter().fold(1, |n, x| n.saturating_mul(u64::from(*x)))
}

/// What is looked for. Checks that are off cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// `race-shared`, `race-global`, `race-benign`.
    pub races: bool,
    /// `uninitialized-shared`, `-local`, `-global`, `-variable`, and `undefined-arithmetic`.
    pub uninitialized: bool,
    /// Arithmetic with a variable that has no value is `uninitialized-local` although nobody stores what comes of it: C++ leaves
    /// such a program undefined ([basic.indet]), and compilers have been seen to spoil values beside it. Correct programs of
    /// other people do it, so that this is for text that must not.
    pub undefined_operands: bool,
    /// `redundant-barrier` notes.
    pub redundant_barriers: bool,
}

impl Checks {
    /// Everything that is wrong with a program of anybody's.
    pub const ALL: Checks = Checks {
        races: true,
        uninitialized: true,
        undefined_operands: false,
        redundant_barriers: true,
    };
    /// What must hold of text that this project writes.
    pub const STRICT: Checks =
        Checks { undefined_operands: true, redundant_barriers: false, ..Checks::ALL };
    /// Nothing that costs time: out-of-bounds and misaligned accesses, bad barriers and endless loops are found all the
    /// same.
    pub const NONE: Checks = Checks {
        races: false,
        uninitialized: false,
        undefined_operands: false,
        redundant_barriers: false,
    };
}

/// How a launch is run, what is looked for, and when to give up.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is looked for.
    pub checks: Checks,
    /// A warp executes in lockstep: accesses of one warp are ordered by the instructions (older code).
    pub warp_lockstep: bool,
    /// Blocks may have more threads than any device takes, up to 2^20: text for verifiers is launched so.
    pub large_blocks: bool,
    /// Races are looked for between the lanes of a warp alone. Exact with warps in lockstep, whose races are within an instruction.
    pub only_warps: bool,
    /// Two threads that write the same value in no order are a race as any other; else `race-benign`, a note.
    pub equal_writes_race: bool,
    /// What each byte of shared memory holds before anybody writes it: on a device, anything.
    pub shared_fill: u8,
    /// What the clock says before anybody reads it.
    pub clock: u64,
    /// Worker threads; 0: one for each core. What comes out does not depend on it.
    pub jobs: usize,
    /// Thread instructions, estimated from the first block, from which a launch is worth several workers; 0: every
    /// launch is.
    pub parallel_from: u64,
    /// Instructions a thread may execute before `infinite-loop` is reported.
    pub max_steps: u64,
    /// Thread instructions of the whole launch; beyond it the run stops with [`Limit::TotalSteps`].
    pub max_total_steps: u64,
    /// Bytes for buffers, shadow memory and block state together.
    pub max_memory: u64,
    /// The run stops with [`Limit::Timeout`] after it.
    pub deadline: Option<Instant>,
    /// The run stops with [`Limit::Interrupted`] soon after somebody sets it.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Keep what device `printf` prints.
    pub collect_printf: bool,
    /// Count requests, sectors, wavefronts and instructions, see [`crate::counters`].
    pub counters: bool,
    /// Take down which ways threads take where control divides.
    pub ways: bool,
    /// Run these blocks alone, by their flat numbers in the grid; `None`: all.
    pub blocks: Option<Arc<[u32]>>,
    /// Thread instructions, estimated from the first block, from which only some blocks are run, of which no other can
    /// learn anything: see [`Outcome::sampled`]. `None`: all are run, however long it takes.
    pub sample_beyond: Option<u64>,
    /// Thread instructions that a launch goes on for once it has a finding that is no note; blocks that have not begun by
    /// then are left out: see [`Outcome::sampled`]. `None`: all are run.
    pub after_finding: Option<u64>,
    /// Blocks that have not begun by then are left out, but for those at corners and edges where no block can learn anything from
    /// another: see [`Outcome::sampled`]. A time and not an amount of work, so what is run depends on the machine. `None`: all are run.
    pub leave_out_from: Option<Instant>,
    /// Say what the launch touched of buffers, see [`Outcome::touched`]. Taken from the shadow memory of the race detection, so it
    /// needs [`Checks::races`].
    pub touched: bool,
    /// Say which threads wrote this byte of a buffer, see [`Outcome::writers`]. Taken from the shadow memory of the race
    /// detection, so it needs [`Checks::races`] and one worker.
    pub written: Option<(BufferId, u64)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            checks: Checks::ALL,
            warp_lockstep: false,
            large_blocks: false,
            only_warps: false,
            equal_writes_race: false,
            shared_fill: 0,
            clock: 0,
            jobs: 0,
            parallel_from: 2_000_000,
            max_steps: 100_000_000,
            max_total_steps: u64::MAX,
            max_memory: 8 << 30,
            deadline: None,
            interrupt: None,
            collect_printf: true,
            counters: false,
            ways: false,
            blocks: None,
            sample_beyond: None,
            after_finding: None,
            leave_out_from: None,
            touched: false,
            written: None,
        }
    }
}

/// The rules of `warpsmith check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Two threads of a block touch a byte of shared memory in no order, one of them to write.
    RaceShared,
    /// The same with global memory, in one block or two.
    RaceGlobal,
    /// Two threads write the same value: a note.
    RaceBenign,
    /// Atomics of one block's scope on data that several blocks share.
    AtomicScope,
    /// An access outside of an array or variable.
    OutOfBounds,
    /// Through a pointer to memory that was freed.
    Dangling,
    /// A read of shared memory that no thread of the block has written.
    UninitializedShared,
    /// A read of a variable of the thread that has no value yet.
    UninitializedLocal,
    /// An element of global memory that nothing wrote.
    UninitializedGlobal,
    /// A `__constant__` or `__device__` variable that nothing set.
    UninitializedVariable,
    /// An integer is divided by zero, or shifted by its width or more; or an address is made of a signed overflow.
    UndefinedArithmetic,
    /// Threads of a block, or lanes of a mask, that should meet at a barrier or warp operation do not.
    DivergentBarrier,
    /// A note.
    ExitedBeforeBarrier,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// A thread that executes more than [`Options::max_steps`] instructions.
    InfiniteLoop,
    /// A note.
    RedundantBarrier,
    /// `assert`, `__assert` or `__trap` failed.
    AssertFailed,
    /// Null or invalid pointer, local object of another thread.
    InvalidPointer,
}

impl Rule {
    /// All rules, in the order of their declaration.
    pub const ALL: [Rule; 18] = [
        Rule::RaceShared,
        Rule::RaceGlobal,
        Rule::RaceBenign,
        Rule::AtomicScope,
        Rule::OutOfBounds,
        Rule::Dangling,
        Rule::UninitializedShared,
        Rule::UninitializedLocal,
        Rule::UninitializedGlobal,
        Rule::UninitializedVariable,
        Rule::UndefinedArithmetic,
        Rule::DivergentBarrier,
        Rule::ExitedBeforeBarrier,
        Rule::Misaligned,
        Rule::InfiniteLoop,
        Rule::RedundantBarrier,
        Rule::AssertFailed,
        Rule::InvalidPointer,
    ];

    /// The name in reports and in `allow` comments.
    pub fn name(self) -> &'static str {
        match self {
            Rule::RaceShared => "race-shared",
            Rule::RaceGlobal => "race-global",
            Rule::RaceBenign => "race-benign",
            Rule::AtomicScope => "atomic-scope",
            Rule::OutOfBounds => "out-of-bounds",
            Rule::Dangling => "dangling",
            Rule::UninitializedShared => "uninitialized-shared",
            Rule::UninitializedLocal => "uninitialized-local",
            Rule::UninitializedGlobal => "uninitialized-global",
            Rule::UninitializedVariable => "uninitialized-variable",
            Rule::UndefinedArithmetic => "undefined-arithmetic",
            Rule::DivergentBarrier => "divergent-barrier",
            Rule::ExitedBeforeBarrier => "exited-before-barrier",
            Rule::Misaligned => "misaligned",
            Rule::InfiniteLoop => "infinite-loop",
            Rule::RedundantBarrier => "redundant-barrier",
            Rule::AssertFailed => "assert-failed",
            Rule::InvalidPointer => "invalid-pointer",
        }
    }

    /// Notes are listed apart and never change the exit status.
    pub fn is_note(self) -> bool {
        matches!(self, Rule::RaceBenign | Rule::ExitedBeforeBarrier | Rule::RedundantBarrier)
    }
}

/// A thread of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadRef {
    /// Its block: x, y and z.
    pub block: [u32; 3],
    /// Its position in the block: x, y and z.
    pub thread: [u32; 3],
}

/// One end of a finding: a place in the source and what happened there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// `None` only when the IR node had no origin.
    pub span: Option<Span>,
    /// For example `write`, `read`, `atomic`, `barrier`, `asynchronous copy`.
    pub what: &'static str,
    /// The thread; `None` for what concerns all threads, such as a redundant barrier.
    pub thread: Option<ThreadRef>,
}

/// One defect, seen `count` times.
///
/// Findings with the same rule, places and array are one; the threads, index and interval are those of the
/// first occurrence in the canonical order (block, then instruction, then thread).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// A refinement, for example `read-write`, `write-write`, `async`.
    pub kind: Option<&'static str>,
    /// One sentence in the user's words.
    pub message: String,
    /// The two ends of a race (earlier first); one for the other rules.
    pub accesses: Vec<Access>,
    /// Name of the array or variable.
    pub array: Option<String>,
    /// Index of the element, one number for each dimension; in elements.
    pub index: Vec<i64>,
    /// Number of barriers the block had passed.
    pub interval: Option<u32>,
    /// How many times it occurred (thread occurrences).
    pub count: u64,
}

/// Why a run stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Options::max_total_steps`] was reached.
    TotalSteps,
    /// [`Options::max_memory`] was reached.
    Memory,
    /// [`Options::deadline`] has passed.
    Timeout,
    /// An error after which threads cannot go on (trap, failed assert) is no limit; this is Ctrl-C.
    Interrupted,
}

/// Work done, for benchmarks and reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Instructions times active threads.
    pub thread_instructions: u64,
    /// Instructions issued (each for all active threads of a group).
    pub instructions: u64,
    /// Barriers of blocks and of the grid that opened, each counted once a block.
    pub barriers: u64,
    /// Bytes of shadow memory at the peak.
    pub shadow_bytes: u64,
}

/// What [`Touched`] calls variables of the device that the host may use: their positions in the module behind this.
pub const VARIABLES: u32 = 1 << 30;

/// The bytes of a buffer, or of a variable that the host may use, that a launch touched, as ranges in order, each by the strongest way that they were touched in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Number of the buffer; from [`VARIABLES`] on of a variable.
    pub buffer: u32,
    /// Bytes that were written.
    pub written: Vec<Range<u64>>,
    /// Bytes that were changed by atomics only.
    pub atomic: Vec<Range<u64>>,
    /// Bytes that were only read.
    pub read: Vec<Range<u64>>,
    /// Bytes that volatile accesses touched, and none but those and atomics: flags order what others do.
    pub flags: Vec<Range<u64>>,
}

/// A launch of which some blocks were run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// So many were.
    pub blocks: u32,
    /// The others were left out because time was short.
    pub late: bool,
    /// Not all of these came to their ends: whoever asked for the launch had no time for more.
    pub ended: bool,
}

/// What came of a launch.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// In order of rule, then place in the source.
    pub findings: Vec<Finding>,
    /// Text of device `printf`, in block order, then thread order.
    pub printed: String,
    /// Why the run stopped before its end; `None`: it did not, as far as limits go.
    pub limit: Option<Limit>,
    /// `__requires`/`__assume` was false: the launch does not count.
    pub assumption_failed: bool,
    /// What it took.
    pub stats: Stats,
    /// Barriers that some conflict in this launch needs, when [`Checks::redundant_barriers`] looks for others: one of
    /// several launches may need what another one does not.
    pub needed_barriers: Vec<Span>,
    /// Which part was run, where [`Options::sample_beyond`], [`Options::after_finding`] or [`Options::leave_out_from`] left
    /// blocks out.
    pub sampled: Option<Sampled>,
    /// Workers whose results make up the outcome; 1: the blocks ran one after another. Nothing else depends on it.
    pub workers: u32,
    /// Present when [`Options::counters`] asks for them.
    pub counters: Option<Counters>,
    /// The ways that some thread took, in order, when [`Options::ways`] asks for them.
    pub ways: Vec<Way>,
    /// What of each buffer was touched, when [`Options::touched`] asks for it.
    pub touched: Vec<Touched>,
    /// The last threads that wrote the byte that [`Options::written`] names: one store, or several atomics. Empty: none did.
    pub writers: Vec<Access>,
}

/// A kernel that cannot be run as asked. These are the user's errors, not findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmuError {
    /// Argument count or size does not fit the kernel.
    BadArgument {
        /// The parameter, from 0.
        index: usize,
        /// What does not fit, in one sentence.
        message: String,
    },
    /// Grid or block outside the limits of CUDA (1024 threads, 2³¹−1 × 65535 × 65535 blocks, z ≤ 64).
    BadLaunch(String),
    /// Something in the kernel that the emulator does not execute.
    Unsupported {
        /// What it is, in one sentence.
        message: String,
        /// Its place in the source, where it is known.
        span: Option<Span>,
    },
}

/// Whether code of the device in the module takes memory of the heap.
pub fn allocates(module: &Module) -> bool {
    crate::compile::allocates(module)
}

/// Runs one launch on `memory`, changing it as the kernel does. For several of one module there is [`crate::Emulator`].
///
/// # Errors
/// See [`EmuError`]; memory is then unchanged.
pub fn run(
    module: &Module,
    launch: &LaunchConfig,
    memory: &mut DeviceMemory,
    options: &Options,
) -> Result<Outcome, EmuError> {
    crate::engine::Emulator::new(module).run(launch, memory, options)
}
