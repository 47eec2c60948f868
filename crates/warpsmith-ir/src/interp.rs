//! The reference interpreter: runs host and device functions one statement at a time.
//!
//! It is the oracle for rewrites and for the emulator, so it is simple rather than fast: no threads,
//! no reordering, no contraction of `a * b + c`. Parallel loops run in order; their `private` and
//! `reduction` clauses keep the meaning they have when the loop is run serially. Kernels are not run
//! here: a launch in a host function goes to a [`Launcher`].
//!
//! Nests that a host function binds to the machine run block by block, the threads of a block together; accesses without
//! order between threads are errors.
//!
//! Memory is a set of objects: the caller's buffers, the module's global variables, and the variables
//! of active functions that need an address. A pointer is (object, byte offset); every access is
//! checked against its object, and a read of a byte that was never written is an error.
//!
//! With [`Limits::track_bounds`] each real number carries a [`Bound`], from which the caller derives
//! how far a reassociated computation may differ (specification, Arithmetic).

mod bounds;
mod buffers;
mod capture;
mod clauses;
mod collectives;
mod effects;
mod eval;
mod exec;
mod fast;
mod host;
mod largest;
mod launcher;
mod memory;
mod printf;
mod races;
mod runtime;
mod slack;
mod streams;
mod team;
mod unknown;

use std::collections::BTreeSet;
use std::fmt;

use crate::diag::Diagnostic;
use crate::eval::from_bytes;
use crate::module::{FuncId, Function, FunctionKind, Module};
use crate::span::Span;
use crate::types::{Scalar, Type};
use crate::value::Value;
use crate::ways::{Turn, Way};

pub use bounds::Bound;
use bounds::{Bounds, Tracked, Untracked};
pub use buffers::{BufferSet, ByBuffer};
use exec::Interp;
pub use host::{Fault, HostMemory, Skipped};
pub use launcher::{LaunchRequest, Launcher, NoLaunch, Piece};
use memory::Pointer;
pub use unknown::Unknown;

/// What the caller shares with the function.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Objects that pointer arguments point into; fully initialised.
    pub buffers: Vec<Vec<u8>>,
    /// So many of the buffers, from the first on, are the host's; the others lie on the device. Only a function that
    /// allocates memory of the device has any of the host.
    pub on_host: usize,
    /// Buffers that the function allocated and has not freed.
    pub allocated: BTreeSet<usize>,
    /// What is known of memory that a program of the host allocated.
    pub host: HostMemory,
    /// What `printf` wrote.
    pub printed: String,
    /// The bound of the returned real, when bounds are tracked.
    pub result_bound: Option<Bound>,
    /// A branch, a subscript or a number of iterations depends on inexact math functions so closely that another
    /// library may decide otherwise; only known when bounds are tracked.
    pub doubtful: bool,
    /// A real was converted to an integer type that does not hold its whole part: C does not say what comes of it.
    pub unfit: bool,
    /// Statements executed and expressions evaluated by all calls so far.
    pub steps: u64,
    /// Bounds of the elements that were written, by byte offset, for each buffer.
    bounds: Vec<Bounds>,
    /// Buffers counted, and their bytes.
    counted: (usize, u64),
    /// Of those, bytes that were freed.
    freed_bytes: u64,
    /// Places in the buffers that were written, while somebody wants to know.
    writes: Option<BTreeSet<Written>>,
    /// The ways that control took, while somebody wants to know.
    ways: Option<BTreeSet<Way>>,
}

/// A piece of a buffer that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// Index into [`Memory::buffers`].
    pub buffer: usize,
    /// In bytes.
    pub offset: u64,
    /// Length of the piece.
    pub bytes: u64,
}

impl Memory {
    /// Memory of these buffers, all on the device, with nothing run yet.
    pub fn new(buffers: Vec<Vec<u8>>) -> Memory {
        Memory { buffers, ..Memory::default() }
    }

    /// What `main` of a program is called with: the number of words of a command line, the words, and nothing for what else it takes.
    pub fn main_arguments(&mut self, main: &Function, words: &[String]) -> Vec<Arg> {
        let mut values = vec![];
        for (i, param) in main.params.iter().enumerate() {
            values.push(match (i, &main.var(*param).ty) {
                (0, Type::Scalar(Scalar::I32)) => Arg::Value(Value::i32(words.len() as i32)),
                (1, Type::Pointer { .. }) => self.argument_vector(words),
                (_, Type::Pointer { .. }) => Arg::Null,
                (_, ty) => Arg::Value(Value::int(ty.scalar().unwrap_or(Scalar::I32), 0)),
            });
        }
        values
    }

    /// The words of a command line as `argv`, in memory of the host.
    fn argument_vector(&mut self, words: &[String]) -> Arg {
        let vector = self.buffers.len();
        self.buffers.push(vec![]);
        let mut bytes = vec![];
        for word in words {
            let object = Some(self.buffers.len() as u32);
            bytes.extend_from_slice(&Pointer { object, offset: 0 }.to_bits().to_le_bytes());
            self.buffers.push([word.as_bytes(), &[0]].concat());
        }
        bytes.extend_from_slice(&0u64.to_le_bytes());
        self.buffers[vector] = bytes;
        (vector..self.buffers.len()).for_each(|word| self.host.host.insert(word, ()));
        Arg::Pointer { buffer: vector, offset: 0 }
    }

    /// Bytes of all buffers; those that were counted before are not looked at again.
    fn all_bytes(&mut self) -> u64 {
        let (count, bytes) = self.counted;
        let new: u64 = self.buffers.iter().skip(count).map(|b| b.len() as u64).sum();
        self.counted = (self.buffers.len(), bytes + new);
        (bytes + new).saturating_sub(self.freed_bytes)
    }

    /// The bound of an element at a byte offset: what was tracked, or that of an input with the
    /// element's present value. `None` outside the buffer.
    pub fn bound(&self, buffer: usize, offset: u64, ty: Scalar) -> Option<Bound> {
        let bytes = self.buffers.get(buffer)?.get(usize::try_from(offset).ok()?..)?;
        let value = from_bytes(ty, bytes)?;
        let tracked = self.bounds.get(buffer).and_then(|map| map.get(&offset));
        Some(tracked.copied().unwrap_or_else(|| Bound::input(value)))
    }

    /// The bytes behind a pointer argument.
    ///
    /// # Errors
    /// A sentence, when the argument is no pointer or the buffer ends before.
    pub fn bytes_at(&self, pointer: &Arg, size: u64) -> Result<Vec<u8>, String> {
        let Arg::Pointer { buffer, offset } = pointer else {
            return Err("a copy reads through no valid pointer".into());
        };
        let start = usize::try_from(*offset).ok();
        let bytes = start.zip(usize::try_from(size).ok()).and_then(|(start, size)| {
            self.buffers.get(*buffer)?.get(start..start.checked_add(size)?)
        });
        bytes.map(<[u8]>::to_vec).ok_or_else(|| "a copy reads past the end of an array".into())
    }

    /// What was written since the last call, each place once, in order; the first call begins the watch.
    pub fn take_writes(&mut self) -> Vec<Written> {
        self.writes.replace(BTreeSet::new()).into_iter().flatten().collect()
    }

    /// The ways that control took since the last call; the first call begins the watch.
    pub fn take_ways(&mut self) -> BTreeSet<Way> {
        self.ways.replace(BTreeSet::new()).unwrap_or_default()
    }

    fn note_way(&mut self, span: Option<Span>, held: bool) {
        if let (Some(ways), Some(span)) = (&mut self.ways, span) {
            ways.insert(Way { span, turn: if held { Turn::Yes } else { Turn::No } });
        }
    }

    fn note_case(&mut self, span: Option<Span>) {
        if let (Some(ways), Some(span)) = (&mut self.ways, span) {
            ways.insert(Way { span, turn: Turn::Case });
        }
    }

    fn note_write(&mut self, buffer: u32, at: usize, bytes: usize) {
        if let Some(writes) = &mut self.writes {
            let (offset, bytes) = (at as u64, bytes as u64);
            writes.insert(Written { buffer: buffer as usize, offset, bytes });
        }
    }

    /// Forgets all bounds: what the buffers hold counts as input from now on.
    pub fn clear_bounds(&mut self) {
        self.bounds.clear();
        self.result_bound = None;
    }
}

/// An argument of a call or a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A scalar, of the parameter's type.
    Value(Value),
    /// A byte offset in one of [`Memory::buffers`].
    Pointer {
        /// Index into [`Memory::buffers`].
        buffer: usize,
        /// In bytes from the start of the buffer; may lie outside of it as long as nothing is accessed there.
        offset: i64,
    },
    /// The null pointer.
    Null,
    /// A struct or vector by value, in its memory layout; pointers in it are read by [`Arg::pointer_in`].
    Bytes(Vec<u8>),
}

impl Arg {
    /// What a pointer that lies in memory leads to.
    pub fn pointer_in(bytes: [u8; 8]) -> Arg {
        match Pointer::from_bits(u64::from_le_bytes(bytes)) {
            Pointer { object: Some(id), offset } => Arg::Pointer { buffer: id as usize, offset },
            Pointer { object: None, .. } => Arg::Null,
        }
    }
}

/// When the interpreter gives up.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Statements, loop iterations and expressions.
    pub max_steps: u64,
    /// Bytes of all local variables alive at a time.
    pub max_local_bytes: u64,
    /// Keep a [`Bound`] for every real.
    pub track_bounds: bool,
    /// Look for accesses without order in nests that are bound to the machine; off where somebody else has done so.
    pub watch_races: bool,
    /// When to give up, whatever has been done; looked at now and then.
    pub deadline: Option<std::time::Instant>,
    /// Set where the user wants an end; looked at now and then, too.
    pub interrupt: Option<std::sync::Arc<std::sync::atomic::AtomicBool>>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_steps: 2_000_000_000,
            max_local_bytes: 1 << 30,
            track_bounds: false,
            watch_races: true,
            deadline: None,
            interrupt: None,
        }
    }
}

impl Limits {
    /// Whether the time is over, or the user has asked for an end.
    fn over(&self) -> bool {
        self.deadline.is_some_and(|d| std::time::Instant::now() >= d)
            || self.interrupt.as_ref().is_some_and(|i| i.load(std::sync::atomic::Ordering::Relaxed))
    }
}

/// Why a run stopped, and where in the user's source.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpError {
    /// What went wrong.
    pub kind: InterpErrorKind,
    /// Place of the statement or expression in the source, where it is known.
    pub span: Option<Span>,
    /// The function that was running.
    pub function: String,
}

/// What can go wrong in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum InterpErrorKind {
    /// An access of `bytes` bytes at `offset` of an object of `size` bytes. `buffer` is set when the object is the caller's.
    OutOfBounds {
        /// The buffer or variable, in words.
        object: String,
        /// Index into [`Memory::buffers`].
        buffer: Option<usize>,
        /// First byte of the access, from the start of the object.
        offset: i64,
        /// Length of the access.
        bytes: u64,
        /// Length of the object.
        size: u64,
    },
    /// A subscript that leaves its row or plane, wherever it arrives.
    OutOfRow {
        /// The array, in words.
        array: String,
        /// The subscript.
        subscript: i64,
        /// Extent of the dimension.
        extent: i64,
    },
    /// An access through a null pointer.
    NullPointer,
    /// Two threads, of one block or two, touch a byte without order, one of them to write; which of the accesses, the
    /// earlier first, write.
    Race {
        /// The buffer or variable, in words.
        object: String,
        /// The byte, from the start of the object.
        offset: i64,
        /// The threads are of different blocks.
        blocks: bool,
        /// Whether the earlier access writes, and the later one.
        writes: [bool; 2],
    },
    /// An asynchronous copy that was not waited for brings the byte.
    NotArrived {
        /// The buffer or variable, in words.
        object: String,
        /// The byte, from the start of the object.
        offset: i64,
    },
    /// So many of the block's threads come to something that is for all of them.
    Divergent {
        /// Threads of the block.
        of: usize,
        /// Those of them that come to the statement.
        come: usize,
    },
    /// What must be the same in all threads is not.
    NotUniform(String),
    /// A value was used before it was written.
    Uninitialized(String),
    /// [`Limits::max_steps`] was reached.
    StepLimit(u64),
    /// Local variables need more bytes than [`Limits::max_local_bytes`].
    MemoryLimit(u64),
    /// What a program allocates needs more bytes than [`Launcher::most_bytes`].
    AllocationLimit(u64),
    /// A copy in a direction that its pointers do not have.
    WrongDirection,
    /// A construct that has no meaning for a single thread.
    Unsupported(String),
    /// The launch of a kernel failed, and why.
    Launch(String),
    /// `assert`; the user's text.
    AssertFailed(String),
    /// `__requires`/`__assume`: the run is outside what the user cares about.
    AssumeFailed(String),
    /// `__trap()`.
    Trap,
    /// The caller's arguments do not fit the function.
    BadCall(String),
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use InterpErrorKind::*;
        write!(f, "in `{}`: ", self.function)?;
        match &self.kind {
            OutOfBounds { object, offset, bytes, size, .. } => {
                write!(
                    f,
                    "access of {bytes} bytes at offset {offset} of {object}, which has {size} bytes"
                )
            }
            OutOfRow { array, subscript, extent } => {
                write!(f, "subscript {subscript} of {array} leaves its row of {extent}")
            }
            NullPointer => f.write_str("access through a null pointer"),
            Race { object, offset, blocks, writes } => {
                let who = if *blocks { "blocks" } else { "threads of a block" };
                let does = |w: bool| if w { "writes" } else { "reads" };
                let [first, second] = writes.map(does);
                write!(
                    f,
                    "of two {who} one {first} and one {second} offset {offset} of {object}, in no order"
                )
            }
            NotArrived { object, offset } => {
                write!(
                    f,
                    "offset {offset} of {object} is used before its asynchronous copy was waited for"
                )
            }
            Divergent { of, come } => {
                write!(f, "{come} of {of} threads come to a statement that is for all of them")
            }
            NotUniform(what) => write!(f, "{what} is not the same in all threads"),
            Uninitialized(what) => write!(f, "{what} is used before it is set"),
            StepLimit(n) => write!(f, "stopped after {n} steps"),
            MemoryLimit(n) => write!(f, "local variables need more than {n} bytes"),
            AllocationLimit(n) => {
                write!(f, "all that the program allocates needs more than {n} bytes")
            }
            WrongDirection => f.write_str("a copy in a direction that its pointers do not have"),
            Unsupported(what) => write!(f, "{what} cannot be run by the interpreter"),
            Launch(why) => write!(f, "launch failed: {why}"),
            AssertFailed(text) => write!(f, "assertion failed: {text}"),
            AssumeFailed(text) => write!(f, "assumption does not hold: {text}"),
            Trap => f.write_str("trap"),
            BadCall(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for InterpError {}

impl InterpError {
    /// As a message with the place in the source, where it is known.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let d = Diagnostic::error("W903", self.to_string());
        match self.span {
            Some(span) => d.label(span, "while running this"),
            None => d,
        }
    }
}

/// Runs a host or device function to its end and returns what it returns.
///
/// Arguments match the parameters in order; scalars have the parameter's type. `memory` holds what was
/// written up to an error, too.
///
/// # Errors
/// What stopped the run, see [`InterpErrorKind`]: `BadCall` where the arguments do not fit.
pub fn call(
    module: &Module,
    function: FuncId,
    args: &[Arg],
    memory: &mut Memory,
    limits: &Limits,
    launcher: &mut dyn Launcher,
) -> Result<Option<Value>, InterpError> {
    let refuse = |why: String, function: &str| InterpError {
        kind: InterpErrorKind::BadCall(why),
        span: None,
        function: function.into(),
    };
    let Some(f) = module.functions.get(function.0 as usize) else {
        return Err(refuse("there is no such function".into(), "?"));
    };
    if f.kind == FunctionKind::Kernel {
        return Err(refuse("a kernel cannot be called".into(), &f.name));
    }
    if limits.track_bounds {
        Interp::<Tracked>::new(module, memory, limits, launcher).run(function, args)
    } else {
        Interp::<Untracked>::new(module, memory, limits, launcher).run(function, args)
    }
}

#[cfg(test)]
mod team_tests;
#[cfg(test)]
mod tests;
