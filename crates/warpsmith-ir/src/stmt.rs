//! Statements: everything that has an effect or directs control.

use crate::collective::Collective;
use crate::expr::{Axis, BinaryOp, BindLevel, Expr, Place, ReduceOp};
use crate::module::{FuncId, VarId};
use crate::span::{Origin, Span};

/// A sequence of statements that opens a scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub stmts: Vec<Stmt>,
}

impl Block {
    pub fn new(stmts: Vec<Stmt>) -> Block {
        Block { stmts }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub origin: Origin,
    /// Lines of comment the emitter prints before the statement, without `//`.
    pub comment: Vec<String>,
}

impl Stmt {
    pub fn new(kind: StmtKind, origin: impl Into<Origin>) -> Stmt {
        Stmt { kind, origin: origin.into(), comment: vec![] }
    }

    pub fn comment(mut self, line: impl Into<String>) -> Stmt {
        self.comment.push(line.into());
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// The variable comes into being each time control passes; without `init` its value is poison.
    Decl {
        var: VarId,
        init: Option<Expr>,
    },
    /// Place and value have the same type. Place operands are evaluated before the value.
    Assign {
        place: Place,
        value: Expr,
    },
    /// The condition is `bool`.
    If {
        cond: Expr,
        then: Block,
        otherwise: Block,
    },
    For(ForLoop),
    /// Any other loop, see [`LoopCondition`]. `continue` goes to `step`.
    Loop {
        id: LoopId,
        condition: Option<LoopCondition>,
        body: Block,
        step: Block,
    },
    /// The selector is an integer. Control enters at the matching case (or the default) and falls
    /// through to the next ones until a `Break`.
    Switch {
        selector: Expr,
        cases: Vec<Case>,
    },
    /// Leaves the innermost `For`, `Loop` or `Switch`.
    Break,
    /// Goes to the next iteration of the innermost `For` or `Loop`.
    Continue,
    Return(Option<Expr>),
    /// `{ … }`.
    Scope(Block),
    /// Calls a device or host function of the module. Arguments match the parameters' types; a C++ reference is
    /// passed as a pointer (`Var::reference` of the parameter). Recursion is refused by the verifier.
    Call {
        function: FuncId,
        args: Vec<Expr>,
        result: Option<Place>,
    },

    /// Read-modify-write of `*pointer`, indivisible. `value` (and `compare` for `Cas`) have the pointee's type; the
    /// old value goes to `result`.
    Atomic {
        op: AtomicOp,
        pointer: Expr,
        value: Expr,
        compare: Option<Expr>,
        result: Option<VarId>,
        scope: Scope,
    },
    /// A warp-wide exchange. Every lane named in `mask` (`u32`) must execute it together. See [`WarpOp`] for operands.
    Warp {
        op: WarpOp,
        mask: Expr,
        args: Vec<Expr>,
        result: Option<VarId>,
    },
    /// See [`BarrierKind`]. `operand` is the predicate (`bool`) of the counting kinds, whose `result` is `i32`, the mask
    /// (`u32`) of `Warp`, or what `Named` says.
    Barrier {
        kind: BarrierKind,
        operand: Option<Expr>,
        result: Option<VarId>,
    },
    /// `__threadfence…`: orders this thread's memory operations for observers in the scope.
    Fence(Scope),
    /// `cp.async`: copies `bytes` (4, 8 or 16) from global to shared memory some time before the wait that covers it.
    /// The last `zero_fill` bytes are written as zeros instead of read.
    AsyncCopy {
        destination: Expr,
        source: Expr,
        bytes: Expr,
        zero_fill: Option<Expr>,
    },
    /// Closes a group of this thread's asynchronous copies.
    AsyncCommit,
    /// Waits until at most `n` of this thread's committed groups are pending.
    AsyncWait(u32),

    /// What all threads of a block do together; in nests of host functions that are bound to the machine.
    Collective(Collective),

    /// Device `printf`; the format is C's.
    Printf {
        format: String,
        args: Vec<Expr>,
    },
    /// `assert(cond)` and `__assert(cond)`; `text` is the user's spelling of the condition.
    Assert {
        cond: Expr,
        text: String,
    },
    /// `__requires`/`__assume`: a launch in which it is false is not looked at.
    Assume {
        cond: Expr,
        text: String,
    },
    /// `__trap()`.
    Trap,

    /// Starts a kernel; host functions only.
    Launch(Launch),
    /// Fills all of a `__constant__` or `__device__` variable from device memory, in order with the launches; host
    /// functions only. `destination` is the variable, `source` a pointer.
    CopyToGlobal {
        destination: Place,
        source: Expr,
    },
    /// Memory of the device, and the wait for it; host functions only.
    Runtime(Runtime),
}

/// A call of the run-time library. All of them are in order with the launches.
#[derive(Clone, Debug, PartialEq)]
pub enum Runtime {
    /// `cudaMalloc`: the place, of pointer type, gets memory of so many bytes that holds nothing yet.
    Allocate { pointer: Place, bytes: Expr },
    /// `malloc`, `new`, `cudaMallocHost`: memory of the host that holds nothing yet; with `shared`, as
    /// `cudaMallocManaged` gives it, the device may use it too.
    AllocateHost { pointer: Place, bytes: Expr, shared: bool },
    /// `cudaFree`; also `free`.
    Free { pointer: Expr },
    /// `cudaMemset`, `memset`: so many bytes from the pointer on get the value's lowest byte.
    Fill { pointer: Expr, value: Expr, bytes: Expr },
    /// The place holds nothing known any more.
    Forget { place: Place },
    /// What the pointer points to, the whole array or variable, holds nothing known any more.
    ForgetMemory { pointer: Expr },
    /// Host code that was not understood; what it would have written is forgotten beside it.
    /// With `launches` kernels stand in it, which are not run.
    Skipped { what: String, launches: bool },
    /// `cudaMemcpy` from pointer to pointer; `bytes` is `u64`. What an asynchronous copy brings to the host is there
    /// after the next `Synchronize`.
    Copy { way: CopyWay, destination: Expr, source: Expr, bytes: Expr, asynchronous: bool },
    /// `cudaStreamSynchronize`: what was asked for is done.
    Synchronize,
}

/// From where to where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyWay {
    ToDevice,
    ToHost,
    OnDevice,
    /// The pointers say it: `cudaMemcpyDefault`, `memcpy`.
    Any,
}

impl Runtime {
    /// The expressions, in order.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Runtime::Allocate { bytes, .. } | Runtime::AllocateHost { bytes, .. } => vec![bytes],
            Runtime::Free { pointer } | Runtime::ForgetMemory { pointer } => vec![pointer],
            Runtime::Copy { destination, source, bytes, .. } => vec![destination, source, bytes],
            Runtime::Fill { pointer, value, bytes } => vec![pointer, value, bytes],
            Runtime::Synchronize | Runtime::Forget { .. } | Runtime::Skipped { .. } => vec![],
        }
    }

    /// As [`Runtime::operands`], to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Runtime::Allocate { bytes, .. } | Runtime::AllocateHost { bytes, .. } => vec![bytes],
            Runtime::Free { pointer } | Runtime::ForgetMemory { pointer } => vec![pointer],
            Runtime::Copy { destination, source, bytes, .. } => vec![destination, source, bytes],
            Runtime::Fill { pointer, value, bytes } => vec![pointer, value, bytes],
            Runtime::Synchronize | Runtime::Forget { .. } | Runtime::Skipped { .. } => vec![],
        }
    }

    /// What gets a value, address copies aside.
    pub fn written(&self) -> Option<&Place> {
        match self {
            Runtime::Allocate { pointer, .. } | Runtime::AllocateHost { pointer, .. } => {
                Some(pointer)
            }
            Runtime::Forget { place } => Some(place),
            _ => None,
        }
    }

    /// As [`Runtime::written`], to be changed.
    pub fn written_mut(&mut self) -> Option<&mut Place> {
        match self {
            Runtime::Allocate { pointer, .. } | Runtime::AllocateHost { pointer, .. } => {
                Some(pointer)
            }
            Runtime::Forget { place } => Some(place),
            _ => None,
        }
    }
}

/// A counted loop: `for (var = first; var compare limit; var += step) body`.
///
/// `limit` and `step` are evaluated once, before the first iteration: whoever builds this must know that
/// they do not change inside. The body does not assign `var` and does not take its address. All of
/// `first`, `limit`, `step` have the type of `var`, an integer.
#[derive(Clone, Debug, PartialEq)]
pub struct ForLoop {
    pub id: LoopId,
    pub var: VarId,
    /// The variable is declared by the loop and is gone after it; otherwise it keeps the value it left with.
    pub declares: bool,
    pub first: Expr,
    /// One of `Lt Le Gt Ge Ne`.
    pub compare: BinaryOp,
    pub limit: Expr,
    pub step: Expr,
    pub kind: LoopKind,
    pub body: Block,
}

/// Names a loop inside one function; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

/// How the iterations of a counted loop are executed.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    Serial,
    /// `#pragma unroll [n]`; full when `None`. Same meaning as `Serial`.
    Unrolled(Option<u32>),
    /// Marked independent by the user (OpenMP, `#pragma simd`, `//SIMD`) or proved so.
    Parallel(Parallel),
    /// Each iteration is run by one member of a level of the machine.
    Bound(Binding),
    /// The lanes of one thread: every statement is run for all iterations before the next one. A constant number of
    /// iterations; variables of the body are separate for each.
    Vector,
}

/// What the user said about a parallel loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parallel {
    /// Loops of one `collapse(n)` share the id of the outermost.
    pub group: Option<LoopId>,
    pub reductions: Vec<Reduction>,
    /// Variables of `private`/`firstprivate`/`lastprivate` clauses, which each iteration has for itself.
    pub private: Vec<VarId>,
    pub first_private: Vec<VarId>,
    pub last_private: Vec<VarId>,
    /// `#pragma ws independent`: the user answers for what analysis cannot decide.
    pub independent: bool,
    /// Where the mark stands.
    pub origin: Origin,
}

/// `reduction(op: var)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    pub op: ReduceOp,
    /// A scalar variable, or a pointer parameter used only as `*p`.
    pub var: VarId,
}

/// A loop bound to an axis of the machine; `extent` is the number of members along it, where it is fixed.
///
/// In a host function the loops of a nest go from the grid to the lanes. Those of block, warp and lane count from 0 to
/// their extent, one directly inside the other; what is in the innermost is the text of one thread. Which iteration of
/// the program a thread runs follows from the counters, by declarations inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub level: BindLevel,
    pub axis: Axis,
    pub extent: Option<u32>,
}

/// When a [`StmtKind::Loop`] goes on.
///
/// At the head: `loop { before; if !expr break; body; step }`. At the end (`do … while`):
/// `loop { body; step; before; if !expr break; }`. `before` holds the statements that the evaluation
/// of the condition needs.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopCondition {
    pub before: Block,
    pub expr: Expr,
    pub at_end: bool,
}

/// One arm of a switch; no values means `default`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub values: Vec<i64>,
    pub is_default: bool,
    pub body: Block,
}

impl Case {
    /// Where its first statement stands: what names it among the ways out of the `switch`. `None`: it has none.
    pub fn span(&self) -> Option<Span> {
        self.body.stmts.first().and_then(|s| s.origin.span)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Add,
    Sub,
    Mul,
    /// As `fmin` and `fmax`: of a NaN and a number, the number.
    Min,
    Max,
    /// `value < old ? value : old`, a comparison with NaN being false.
    Lower,
    /// `value > old ? value : old`.
    Raise,
    And,
    Or,
    Xor,
    Exchange,
    /// Compare and swap.
    Cas,
    /// `old >= value ? 0 : old + 1`.
    Inc,
    /// `old == 0 || old > value ? value : old - 1`.
    Dec,
    /// Atomic load: `value` is ignored.
    Load,
    /// Atomic store: no result.
    Store,
}

/// Who must observe an atomic or a fence in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Block,
    Device,
    System,
}

/// Warp-wide operations. `width` is the segment size, a constant power of two up to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpOp {
    /// args: value, source lane, width. Result: the value's type.
    Shuffle,
    /// args: value, delta, width.
    ShuffleUp,
    ShuffleDown,
    /// args: value, lane mask, width.
    ShuffleXor,
    /// args: predicate (`bool`). Result `u32`.
    Ballot,
    /// args: predicate. Result `bool`.
    All,
    Any,
    /// args: value (integer or float of 4 or 8 bytes). Result: `u32` mask of equal lanes.
    MatchAny,
    /// As `MatchAny`, all ones of the mask or 0.
    MatchAll,
    /// args: value (`i32` or `u32`). Result: the value's type.
    ReduceAdd,
    ReduceMin,
    ReduceMax,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// `__syncthreads()`: all threads of the block.
    Block,
    /// `__syncthreads_count/and/or(predicate)`.
    BlockCount,
    BlockAnd,
    BlockOr,
    /// `__syncwarp(mask)`.
    Warp,
    /// Cooperative `grid.sync()`.
    Grid,
    /// `bar.sync id, count`: the warps that come to one of the block's sixteen barriers meet once `count` threads have. The
    /// operand (`u32`) has the barrier's number in its lower half, with [`UNALIGNED_BARRIER`] where lanes of a warp need not
    /// come together, and the count, 0 for all threads of the block, above it.
    Named,
    /// `bar.arrive id, count`: the same without waiting for the others.
    NamedArrive,
}

/// In the number of a named barrier: `barrier.sync` without `.aligned`.
pub const UNALIGNED_BARRIER: u32 = 1 << 15;

/// `kernel<<<grid, block, shared, stream>>>(args)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub kernel: FuncId,
    /// x, y, z; `u32`.
    pub grid: [Expr; 3],
    pub block: [Expr; 3],
    /// Bytes of dynamic shared memory; any integer.
    pub shared: Expr,
    pub args: Vec<Expr>,
}
