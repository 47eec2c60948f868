//! Calls of the run-time library: memory of the device, streams, and the waits for them.

use crate::expr::{Expr, Place};

/// A call of the run-time library. All of them are in order with the launches.
#[derive(Clone, Debug, PartialEq)]
pub enum Runtime {
    /// `cudaMalloc`: the place, of pointer type, gets memory of so many bytes that holds nothing yet.
    Allocate {
        /// Gets the address.
        pointer: Place,
        /// Length of the memory; an integer.
        bytes: Expr,
    },
    /// `malloc`, `new`, `cudaMallocHost`: memory of the host that holds nothing yet; with `shared`, as
    /// `cudaMallocManaged` gives it, the device may use it too. In code of the device `malloc` and `new`, which take it from
    /// the device's heap: then not `shared`.
    AllocateHost {
        /// Gets the address.
        pointer: Place,
        /// Length of the memory; an integer.
        bytes: Expr,
        /// The device may use it, too.
        shared: bool,
    },
    /// `cudaFree`; also `free`, in code of the device for memory of its heap.
    Free {
        /// To the start of what was allocated, or null: then nothing happens.
        pointer: Expr,
    },
    /// `cudaMemset`, `memset`: so many bytes from the pointer on get the value's lowest byte.
    Fill {
        /// To the first byte.
        pointer: Expr,
        /// An integer, of which the lowest byte counts.
        value: Expr,
        /// How many bytes; an integer.
        bytes: Expr,
        /// Who does it.
        by: Filler,
    },
    /// `cudaHostRegister`: the array of the host that the pointer points into can be used by the device, too; `cudaHostUnregister`:
    /// no longer.
    Pin {
        /// To any byte of the array.
        pointer: Expr,
        /// The former.
        on: bool,
    },
    /// The place holds nothing known any more.
    Forget {
        /// What is forgotten.
        place: Place,
    },
    /// What the pointer points to, the whole array or variable, holds nothing known any more.
    ForgetMemory {
        /// To any byte of what is forgotten.
        pointer: Expr,
    },
    /// Host code that was not understood; what it would have written is forgotten beside it.
    /// With `launches` kernels stand in it, which are not run.
    Skipped {
        /// The code, in words.
        what: String,
        /// It has launches in it.
        launches: bool,
    },
    /// `cudaMemcpy` from pointer to pointer; `bytes` is `u64`. What an asynchronous copy brings to the host is there
    /// after the next `Synchronize`.
    Copy {
        /// The direction that the call names.
        way: CopyWay,
        /// Pointer to the first byte that is written.
        destination: Expr,
        /// Pointer to the first byte that is read.
        source: Expr,
        /// How many bytes.
        bytes: Expr,
        /// `cudaMemcpyAsync`: the host does not wait.
        asynchronous: bool,
    },
    /// `cudaStreamSynchronize`: what was asked for is done.
    Synchronize,
    /// `cudaStreamBeginCapture`, with `on`: launches, asynchronous copies and fills are noted from here on and not done; else
    /// `cudaStreamEndCapture`.
    Capture {
        /// They are noted from here on.
        on: bool,
        /// Gets how many have been noted so far; `u64`.
        noted: Place,
    },
    /// What the order of operations of the device hangs on beside the order of the host: streams and events. They are numbers or
    /// null pointers; the launcher is told.
    Order {
        /// What is asked for.
        what: StreamOrder,
        /// Stream and event, as far as it needs them.
        operands: Vec<Expr>,
        /// Gets the new stream or event; a `u64` or a pointer.
        made: Option<Place>,
    },
    /// `cudaGraphLaunch` of one of them: it is done, with the arguments that it was noted with.
    Replay {
        /// Which of those noted so far, from 0; `u64`.
        noted: Expr,
    },
}

/// A call about streams and events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamOrder {
    /// The next launch, copy or fill is for this stream.
    Into,
    /// `cudaStreamCreate`: a stream that waits for the default one.
    Create,
    /// `cudaStreamCreateWithFlags(…, cudaStreamNonBlocking)`: one that does not.
    CreateApart,
    /// `cudaEventCreate`
    CreateEvent,
    /// `cudaEventRecord(event, stream)`
    Record,
    /// `cudaStreamWaitEvent(stream, event)`
    Wait,
    /// `cudaStreamSynchronize(stream)`
    Stream,
    /// `cudaEventSynchronize(event)`
    Event,
    /// `cudaDeviceSynchronize()`: the host waits for all.
    All,
}

impl StreamOrder {
    /// How many streams and events it takes.
    pub fn takes(self) -> usize {
        match self {
            StreamOrder::Create
            | StreamOrder::CreateApart
            | StreamOrder::CreateEvent
            | StreamOrder::All => 0,
            StreamOrder::Into | StreamOrder::Stream | StreamOrder::Event => 1,
            StreamOrder::Record | StreamOrder::Wait => 2,
        }
    }
}

/// From where to where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyWay {
    /// From host to device.
    ToDevice,
    /// From device to host.
    ToHost,
    /// From device to device.
    OnDevice,
    /// The pointers say it: `cudaMemcpyDefault`.
    Any,
    /// `memcpy`: the host itself, between what it reaches.
    ByHost,
}

/// Who fills memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filler {
    /// `memset`: the host itself.
    Host,
    /// `cudaMemset`: the host waits where it could use the memory.
    Device,
    /// `cudaMemsetAsync`: it never does.
    DeviceLater,
}

/// The expressions of a call, which are borrowed as it is; `$iter`: how those of a list are.
macro_rules! operands {
    ($call:expr, $iter:ident) => {
        match $call {
            Runtime::Allocate { bytes, .. } | Runtime::AllocateHost { bytes, .. } => vec![bytes],
            Runtime::Free { pointer }
            | Runtime::ForgetMemory { pointer }
            | Runtime::Pin { pointer, .. } => vec![pointer],
            Runtime::Copy { destination, source, bytes, .. } => vec![destination, source, bytes],
            Runtime::Fill { pointer, value, bytes, .. } => vec![pointer, value, bytes],
            Runtime::Replay { noted } => vec![noted],
            Runtime::Order { operands, .. } => operands.$iter().collect(),
            Runtime::Synchronize
            | Runtime::Forget { .. }
            | Runtime::Skipped { .. }
            | Runtime::Capture { .. } => vec![],
        }
    };
}

/// The place that a call gives a value, borrowed as the call is; `$as_ref`: how that of an option is.
macro_rules! written {
    ($call:expr, $as_ref:ident) => {
        match $call {
            Runtime::Allocate { pointer, .. } | Runtime::AllocateHost { pointer, .. } => {
                Some(pointer)
            }
            Runtime::Forget { place } | Runtime::Capture { noted: place, .. } => Some(place),
            Runtime::Order { made, .. } => made.$as_ref(),
            _ => None,
        }
    };
}

impl Runtime {
    /// The expressions, in order.
    pub fn operands(&self) -> Vec<&Expr> {
        operands!(self, iter)
    }

    /// As [`Runtime::operands`], to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        operands!(self, iter_mut)
    }

    /// What gets a value, address copies aside.
    pub fn written(&self) -> Option<&Place> {
        written!(self, as_ref)
    }

    /// As [`Runtime::written`], to be changed.
    pub fn written_mut(&mut self) -> Option<&mut Place> {
        written!(self, as_mut)
    }
}
