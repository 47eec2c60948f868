//! Statements: everything that has an effect or directs control.

mod runtime;

use crate::collective::Collective;
use crate::expr::{Axis, BinaryOp, BindLevel, Expr, Place, ReduceOp};
use crate::module::{FuncId, VarId};
use crate::span::{Origin, Span};

pub use runtime::{CopyWay, Filler, Runtime, StreamOrder};

/// A sequence of statements that opens a scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In program order.
    pub stmts: Vec<Stmt>,
}

impl Block {
    /// The statements as one scope.
    pub fn new(stmts: Vec<Stmt>) -> Block {
        Block { stmts }
    }
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it comes from; takes no part in comparisons.
    pub origin: Origin,
    /// Lines of comment the emitter prints before the statement, without `//`.
    pub comment: Vec<String>,
}

impl Stmt {
    /// A statement without comments.
    pub fn new(kind: StmtKind, origin: impl Into<Origin>) -> Stmt {
        Stmt { kind, origin: origin.into(), comment: vec![] }
    }

    /// Adds a line of comment, without `//`.
    pub fn comment(mut self, line: impl Into<String>) -> Stmt {
        self.comment.push(line.into());
        self
    }
}

/// What a [`Stmt`] does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// The variable comes into being each time control passes; without `init` its value is poison.
    Decl {
        /// A variable of the function, no parameter.
        var: VarId,
        /// Its first value, of the variable's type.
        init: Option<Expr>,
    },
    /// Place and value have the same type. Place operands are evaluated before the value.
    Assign {
        /// What is written.
        place: Place,
        /// What it gets.
        value: Expr,
    },
    /// The condition is `bool`.
    If {
        /// Decides.
        cond: Expr,
        /// Runs when the condition holds.
        then: Block,
        /// Runs when it does not; empty without `else`.
        otherwise: Block,
    },
    /// A loop whose number of iterations is known when it begins.
    For(ForLoop),
    /// Any other loop, see [`LoopCondition`]. `continue` goes to `step`.
    Loop {
        /// Names the loop.
        id: LoopId,
        /// Decides whether to go on; `None`: always, until a `Break` or `Return`.
        condition: Option<LoopCondition>,
        /// The iteration.
        body: Block,
        /// Runs after each iteration; empty for `while` and `do`.
        step: Block,
    },
    /// The selector is an integer. Control enters at the matching case (or the default) and falls
    /// through to the next ones until a `Break`.
    Switch {
        /// Is compared with the values of the cases.
        selector: Expr,
        /// In the order in which control falls through them.
        cases: Vec<Case>,
    },
    /// Leaves the innermost `For`, `Loop` or `Switch`.
    Break,
    /// Goes to the next iteration of the innermost `For` or `Loop`.
    Continue,
    /// Ends the function, with a value of its return type unless that is `Void`.
    Return(Option<Expr>),
    /// `{ … }`.
    Scope(Block),
    /// Calls a device or host function of the module. Arguments match the parameters' types; a C++ reference is
    /// passed as a pointer (`Var::reference` of the parameter). Recursion is refused by the verifier.
    Call {
        /// The callee; no kernel.
        function: FuncId,
        /// One for each parameter.
        args: Vec<Expr>,
        /// Gets the returned value; `None`: it is dropped.
        result: Option<Place>,
    },

    /// Read-modify-write of `*pointer`, indivisible. `value` (and `compare` for `Cas`) have the pointee's type; the
    /// old value goes to `result`.
    Atomic {
        /// What becomes of the old value.
        op: AtomicOp,
        /// To the memory that is changed.
        pointer: Expr,
        /// The operand.
        value: Expr,
        /// What `Cas` compares the old value with; `None` for all others.
        compare: Option<Expr>,
        /// A variable that gets the old value; `None`: nobody needs it.
        result: Option<VarId>,
        /// Threads for which it is indivisible.
        scope: Scope,
    },
    /// A warp-wide exchange. Every lane named in `mask` (`u32`) must execute it together. See [`WarpOp`] for operands.
    Warp {
        /// What is exchanged.
        op: WarpOp,
        /// The lanes that take part, a bit each.
        mask: Expr,
        /// As [`WarpOp`] says.
        args: Vec<Expr>,
        /// A variable that gets the result.
        result: Option<VarId>,
    },
    /// See [`BarrierKind`]. `operand` is the predicate (`bool`) of the counting kinds, whose `result` is `i32`, the mask
    /// (`u32`) of `Warp`, or what `Named` says.
    Barrier {
        /// Who waits for whom.
        kind: BarrierKind,
        /// As said above; `None` for the others.
        operand: Option<Expr>,
        /// A variable that gets the result of a counting kind.
        result: Option<VarId>,
    },
    /// `__threadfence…`: orders this thread's memory operations for observers in the scope.
    Fence(Scope),
    /// `cp.async`: copies `bytes` (4, 8 or 16) from global to shared memory some time before the wait that covers it.
    /// The last `zero_fill` bytes are written as zeros instead of read.
    AsyncCopy {
        /// Pointer to shared memory.
        destination: Expr,
        /// Pointer to global memory.
        source: Expr,
        /// Length of what is written; an integer.
        bytes: Expr,
        /// How many of the bytes are zeros; `None`: none.
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
        /// The text with its conversions, such as `%d`.
        format: String,
        /// One for each conversion of the format.
        args: Vec<Expr>,
    },
    /// `assert(cond)` and `__assert(cond)`; `text` is the user's spelling of the condition.
    Assert {
        /// A `bool`: false ends the run with an error.
        cond: Expr,
        /// What messages quote.
        text: String,
    },
    /// `__requires`/`__assume`: a launch in which it is false is not looked at.
    Assume {
        /// A `bool`.
        cond: Expr,
        /// The user's spelling of the condition.
        text: String,
    },
    /// `__trap()`.
    Trap,

    /// Starts a kernel; host functions only.
    Launch(Launch),
    /// Fills all of a `__constant__` or `__device__` variable from device memory, in order with the launches; host
    /// functions only. `destination` is the variable, `source` a pointer.
    CopyToGlobal {
        /// A `Global` place.
        destination: Place,
        /// To device memory that has as many bytes.
        source: Expr,
    },
    /// Memory of the device, and the wait for it; host functions only.
    Runtime(Runtime),
}

/// A counted loop: `for (var = first; var compare limit; var += step) body`.
///
/// `limit` and `step` are evaluated once, before the first iteration: whoever builds this must know that
/// they do not change inside. The body does not assign `var` and does not take its address. All of
/// `first`, `limit`, `step` have the type of `var`, an integer.
#[derive(Clone, Debug, PartialEq)]
pub struct ForLoop {
    /// Names the loop.
    pub id: LoopId,
    /// The counter.
    pub var: VarId,
    /// The variable is declared by the loop and is gone after it; otherwise it keeps the value it left with.
    pub declares: bool,
    /// The counter's first value.
    pub first: Expr,
    /// One of `Lt Le Gt Ge Ne`.
    pub compare: BinaryOp,
    /// What the counter is compared with before each iteration.
    pub limit: Expr,
    /// Added to the counter after each iteration.
    pub step: Expr,
    /// How the iterations are executed.
    pub kind: LoopKind,
    /// The iteration.
    pub body: Block,
}

/// Names a loop inside one function; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

/// How the iterations of a counted loop are executed.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// One after the other.
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
    /// The `reduction` clauses.
    pub reductions: Vec<Reduction>,
    /// Variables of `private` clauses, which each iteration has for itself.
    pub private: Vec<VarId>,
    /// Variables of `firstprivate` clauses: those of each iteration begin with the value from before the loop.
    pub first_private: Vec<VarId>,
    /// Variables of `lastprivate` clauses: the value of the last iteration is kept after the loop.
    pub last_private: Vec<VarId>,
    /// Arrays of which no two iterations access the same element, as the step that made the loop has shown: data decide which they are.
    pub apart: Vec<VarId>,
    /// `#pragma ws independent`: the user answers for what analysis cannot decide.
    pub independent: bool,
    /// Where the mark stands.
    pub origin: Origin,
}

/// `reduction(op: var)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// How the values of the iterations are combined.
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
    /// The members that iterations are given to.
    pub level: BindLevel,
    /// The axis along which they are counted.
    pub axis: Axis,
    /// Members along the axis; `None`: the launch decides.
    pub extent: Option<u32>,
}

/// When a [`StmtKind::Loop`] goes on.
///
/// At the head: `loop { before; if !expr break; body; step }`. At the end (`do … while`):
/// `loop { body; step; before; if !expr break; }`. `before` holds the statements that the evaluation
/// of the condition needs.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopCondition {
    /// Runs before each evaluation of the condition.
    pub before: Block,
    /// A `bool`: the loop goes on while it is true.
    pub expr: Expr,
    /// `do … while`: the first iteration is not asked for.
    pub at_end: bool,
}

/// One arm of a switch; no values means `default`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Constants that lead here.
    pub values: Vec<i64>,
    /// Values that no case has lead here.
    pub is_default: bool,
    /// The statements, up to the next case; control falls through unless they end in a `Break`.
    pub body: Block,
}

impl Case {
    /// Where its first statement stands: what names it among the ways out of the `switch`. `None`: it has none.
    pub fn span(&self) -> Option<Span> {
        self.body.stmts.first().and_then(|s| s.origin.span)
    }
}

/// What an atomic makes of the old value and its operand. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// `old + value`.
    Add,
    /// `old - value`.
    Sub,
    /// `old * value`.
    Mul,
    /// As `fmin` and `fmax`: of a NaN and a number, the number.
    Min,
    /// As `Min`, the larger one.
    Max,
    /// `value < old ? value : old`, a comparison with NaN being false.
    Lower,
    /// `value > old ? value : old`.
    Raise,
    /// `old & value`.
    And,
    /// `old | value`.
    Or,
    /// `old ^ value`.
    Xor,
    /// `value`, whatever the old one was.
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
    /// Threads of the same block.
    Block,
    /// Threads of the same device.
    Device,
    /// Threads of all devices, and the host.
    System,
}

/// Warp-wide operations. `width` is the segment size, a constant power of two up to 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpOp {
    /// args: value, source lane, width. Result: the value's type.
    Shuffle,
    /// args: value, delta, width.
    ShuffleUp,
    /// As `ShuffleUp`, from the lane so many above.
    ShuffleDown,
    /// args: value, lane mask, width.
    ShuffleXor,
    /// args: predicate (`bool`). Result `u32`.
    Ballot,
    /// args: predicate. Result `bool`.
    All,
    /// As `All`: true when it holds in any lane of the mask.
    Any,
    /// args: value (integer or float of 4 or 8 bytes). Result: `u32` mask of equal lanes.
    MatchAny,
    /// As `MatchAny`, all ones of the mask or 0.
    MatchAll,
    /// args: value (`i32` or `u32`). Result: the value's type.
    ReduceAdd,
    /// As `ReduceAdd`, the smallest value.
    ReduceMin,
    /// As `ReduceAdd`, the largest value.
    ReduceMax,
    /// As `ReduceAdd`, `&`.
    ReduceAnd,
    /// As `ReduceAdd`, `|`.
    ReduceOr,
    /// As `ReduceAdd`, `^`.
    ReduceXor,
}

/// Which threads a barrier makes wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// `__syncthreads()`: all threads of the block.
    Block,
    /// `__syncthreads_count/and/or(predicate)`.
    BlockCount,
    /// `__syncthreads_and`: as `BlockCount`; not 0 when the predicate holds in all threads.
    BlockAnd,
    /// `__syncthreads_or`: as `BlockCount`; not 0 when the predicate holds in any thread.
    BlockOr,
    /// `__syncwarp(mask)`.
    Warp,
    /// Cooperative `grid.sync()`.
    Grid,
    /// `cluster.barrier_arrive()`: a thread has come to the barrier of its cluster, and goes on.
    ClusterArrive,
    /// `cluster.barrier_wait()`: waits until all threads of the cluster have arrived; what they did before that is done.
    /// `cluster.sync()` is both.
    ClusterWait,
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
    /// The kernel to run.
    pub kernel: FuncId,
    /// x, y, z; `u32`.
    pub grid: [Expr; 3],
    /// Threads of a block: x, y, z; `u32`.
    pub block: [Expr; 3],
    /// Bytes of dynamic shared memory; any integer.
    pub shared: Expr,
    /// Blocks of a cluster along x, y and z, `u32`; without them, or where they are 0, as the kernel says.
    pub cluster: Option<Box<[Expr; 3]>>,
    /// One for each parameter of the kernel.
    pub args: Vec<Expr>,
}
