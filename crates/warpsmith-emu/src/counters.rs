//! Performance counters: what a launch asks of the memory system and of the arithmetic units.
//!
//! An instruction is counted once for each warp that executes it, as the vendor's profiler counts; threads of one
//! warp that execute it at different times count apart, which is what divergence costs. Counted is the program as
//! it is written: an optimising compiler moves loads out of loops, keeps arrays in registers and folds address
//! arithmetic, so that arithmetic counts of a device can be lower; its accesses to global and shared memory are
//! those counted here, unless it has removed or merged them.

use warpsmith_ir::Span;

/// Bytes of a sector, the unit in which caches and memory move data.
pub const SECTOR: u64 = 32;
/// Bytes of a cache line.
pub const LINE: u64 = 128;
/// Banks of shared memory, 4 bytes wide.
pub const BANKS: u64 = 32;

/// A memory as instructions address it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Device memory, through L2.
    Global,
    /// Shared memory of the block.
    Shared,
    /// Memory of one thread: arrays, and variables whose address is taken.
    Local,
    /// `__constant__` variables.
    Constant,
}

impl MemoryKind {
    /// In a report's words.
    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Global => "global",
            MemoryKind::Shared => "shared",
            MemoryKind::Local => "local",
            MemoryKind::Constant => "constant",
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads and writes, indivisibly.
    Atomic,
    /// Either end of an asynchronous copy.
    AsyncCopy,
}

impl AccessKind {
    /// In a report's words.
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
            AccessKind::AsyncCopy => "async copy",
        }
    }
}

/// The unit that executes an instruction, and what it does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstructionClass {
    /// Single precision: additions and subtractions.
    Fp32Add,
    /// Single precision: multiplications.
    Fp32Mul,
    /// A multiplication whose only use is an addition counts with it as one.
    Fp32Fma,
    /// Comparisons, minima, sign changes.
    Fp32Other,
    /// Double precision: additions and subtractions.
    Fp64Add,
    /// Double precision: multiplications.
    Fp64Mul,
    /// Double precision: as `Fp32Fma`.
    Fp64Fma,
    /// Double precision: as `Fp32Other`.
    Fp64Other,
    /// Half and bfloat16, each element of a pair for itself.
    Fp16,
    /// Arithmetic, logic and comparisons of integers; the addresses of accesses are not among them.
    Integer,
    /// Between types, and rounding to whole numbers.
    Conversion,
    /// Divisions of reals, roots, exponentials, logarithms, sines.
    SpecialFunction,
    /// Moves, selections, and registers of the machine.
    Move,
    /// Where control divides or jumps.
    Branch,
    /// Exchanges of values between the lanes of a warp.
    Shuffle,
    /// Votes, matches and reductions of a warp.
    Vote,
    /// Barriers of blocks, of some of their warps, and of the grid.
    BlockBarrier,
    /// `__syncwarp`.
    WarpBarrier,
    /// `__threadfence…`.
    Fence,
    /// Loads from global memory.
    GlobalLoad,
    /// Stores to global memory.
    GlobalStore,
    /// Atomics on global memory.
    GlobalAtomic,
    /// Loads from shared memory.
    SharedLoad,
    /// Stores to shared memory.
    SharedStore,
    /// Atomics on shared memory.
    SharedAtomic,
    /// Loads from memory of one thread.
    LocalLoad,
    /// Stores to memory of one thread.
    LocalStore,
    /// Loads from constant memory.
    ConstantLoad,
    /// `cp.async`: from global to shared memory.
    AsyncCopy,
}

impl InstructionClass {
    /// In a report's words.
    pub fn name(self) -> &'static str {
        use InstructionClass as C;
        match self {
            C::Fp32Add => "fp32 add",
            C::Fp32Mul => "fp32 mul",
            C::Fp32Fma => "fp32 fma",
            C::Fp32Other => "fp32 other",
            C::Fp64Add => "fp64 add",
            C::Fp64Mul => "fp64 mul",
            C::Fp64Fma => "fp64 fma",
            C::Fp64Other => "fp64 other",
            C::Fp16 => "fp16",
            C::Integer => "integer",
            C::Conversion => "conversion",
            C::SpecialFunction => "special function",
            C::Move => "move",
            C::Branch => "branch",
            C::Shuffle => "shuffle",
            C::Vote => "vote",
            C::BlockBarrier => "barrier",
            C::WarpBarrier => "warp barrier",
            C::Fence => "fence",
            C::GlobalLoad => "global load",
            C::GlobalStore => "global store",
            C::GlobalAtomic => "global atomic",
            C::SharedLoad => "shared load",
            C::SharedStore => "shared store",
            C::SharedAtomic => "shared atomic",
            C::LocalLoad => "local load",
            C::LocalStore => "local store",
            C::ConstantLoad => "constant load",
            C::AsyncCopy => "async copy",
        }
    }
}

/// How often something was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Warp instructions.
    pub warps: u64,
    /// Thread instructions: active lanes of all of them.
    pub threads: u64,
}

/// One access in the source to one array.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessCounters {
    /// `None` only when the IR node had no origin.
    pub span: Option<Span>,
    /// The array's name.
    pub array: String,
    /// Where the array lies.
    pub memory: MemoryKind,
    /// What the access does.
    pub kind: AccessKind,
    /// Bytes a lane.
    pub bytes: u32,
    /// Warp instructions, and their active lanes.
    pub requests: Count,
    /// Global and local memory: different 32-byte sectors of each request, summed.
    pub sectors: u64,
    /// The fewest sectors that the different bytes of each request fit in.
    pub ideal_sectors: u64,
    /// Wavefronts. Shared memory: a bank serves one 4-byte word a wavefront, to all lanes that want it; accesses of 8
    /// bytes are served for half a warp at a time, of 16 for a quarter, two of these at once when their lanes agree in
    /// pairs; atomics one lane after another for each bank.
    /// Global memory: as tags are looked up, in four banks of lines, and no more than four sectors each. Constant
    /// memory: different addresses.
    pub wavefronts: f64,
    /// Shared memory: wavefronts without conflicts. Elsewhere as `wavefronts`.
    pub ideal_wavefronts: f64,
    /// The most wavefronts of one request.
    pub worst_wavefronts: f64,
}

impl AccessCounters {
    /// Sectors a request.
    pub fn sectors_per_request(&self) -> f64 {
        ratio(self.sectors as f64, self.requests.warps)
    }

    /// Wavefronts a request.
    pub fn wavefronts_per_request(&self) -> f64 {
        ratio(self.wavefronts, self.requests.warps)
    }

    /// Wavefronts that bank conflicts of shared memory cost.
    pub fn bank_conflicts(&self) -> f64 {
        if self.memory == MemoryKind::Shared {
            self.wavefronts - self.ideal_wavefronts
        } else {
            0.0
        }
    }

    /// Active lanes a request, of 32.
    pub fn lanes_per_request(&self) -> f64 {
        ratio(self.requests.threads as f64, self.requests.warps)
    }
}

/// One branch in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCounters {
    /// `None` only when the IR node had no origin.
    pub span: Option<Span>,
    /// Warps that came to it, and their active lanes.
    pub executed: Count,
    /// Warps whose lanes went both ways.
    pub divergent: u64,
}

/// All accesses of one kind to one array in global memory: what caches see of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayCounters {
    /// The array's name.
    pub array: String,
    /// What the accesses do.
    pub kind: AccessKind,
    /// Warp instructions.
    pub requests: u64,
    /// Different 32-byte sectors of each request, summed.
    pub sectors: u64,
    /// Wavefronts of all requests, as in [`AccessCounters::wavefronts`].
    pub wavefronts: f64,
    /// Different sectors of each block, summed over the blocks.
    pub block_sectors: u64,
    /// Different sectors of the whole grid.
    pub grid_sectors: u64,
    /// Sectors that a block touched again, and the sectors it touched in between, summed.
    pub reuses: u64,
    /// Of all `reuses` together: sectors that the block touched in between.
    pub reuse_distance: u64,
    /// Along which axes of the grid neighbouring blocks touch different sectors.
    pub varies: [bool; 3],
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Blocks that were run.
    pub blocks: u64,
    /// Warps of all blocks.
    pub warps: u64,
    /// Classes that occur, in the order of [`InstructionClass`].
    pub classes: Vec<(InstructionClass, Count)>,
    /// In order of place in the source, then array.
    pub accesses: Vec<AccessCounters>,
    /// Branches whose lanes may disagree, in order of place in the source.
    pub branches: Vec<BranchCounters>,
    /// Arrays in global memory, in order of their numbers.
    pub arrays: Vec<ArrayCounters>,
}

impl Counters {
    /// Executed instructions of a class.
    pub fn class(&self, class: InstructionClass) -> Count {
        self.classes.iter().find(|(c, _)| *c == class).map_or(Count::default(), |(_, n)| *n)
    }

    /// Executed instructions of all classes.
    pub fn total(&self) -> Count {
        let sum = |f: fn(&Count) -> u64| self.classes.iter().map(|(_, n)| f(n)).sum();
        Count { warps: sum(|n| n.warps), threads: sum(|n| n.threads) }
    }
}

fn ratio(a: f64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a / b as f64 }
}
