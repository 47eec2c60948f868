//! What host functions ask of the device: launches, and the memory that both use.

use super::{Arg, Memory, Skipped, Unknown};
use crate::module::{FuncId, GlobalId};
use crate::span::Origin;
use crate::stmt::StreamOrder;
use crate::types::{Scalar, Type};
use crate::value::Value;

/// A kernel launch as the host function asked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchRequest {
    /// The kernel to run.
    pub kernel: FuncId,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u64,
    /// Blocks of a cluster, where the launch says so.
    pub cluster: Option<[u32; 3]>,
    /// One for each parameter of the kernel.
    pub args: Vec<Arg>,
}

/// A piece of a buffer that a copy or fill, or the host itself, touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the buffer.
    pub buffer: usize,
    /// The first byte.
    pub at: usize,
    /// How many bytes.
    pub bytes: usize,
    /// It is written.
    pub writes: bool,
    /// The host can use the buffer, too.
    pub shared: bool,
}

/// Runs the kernels that host functions launch.
pub trait Launcher {
    /// Runs the kernel to its end, or says why it could not.
    fn launch(&mut self, memory: &mut Memory, request: LaunchRequest) -> Result<(), String>;

    /// Fills a variable of the device.
    ///
    /// # Errors
    /// A launcher without variables refuses.
    fn copy_to_global(&mut self, global: GlobalId, bytes: Vec<u8>) -> Result<(), String> {
        let _ = bytes;
        Err(format!("variable {} of the device cannot be filled here", global.0))
    }

    /// A buffer was added, which holds nothing yet.
    fn allocated(&mut self, buffer: usize, bytes: usize) {
        let _ = (buffer, bytes);
    }

    /// Bytes of device memory for a copy; one that makes no launches may say what it likes.
    ///
    /// # Errors
    /// Where the buffer ends before, or does not hold anything there.
    fn fetch(
        &mut self,
        memory: &Memory,
        buffer: usize,
        offset: i64,
        bytes: u64,
    ) -> Result<Vec<u8>, String> {
        memory.bytes_at(&Arg::Pointer { buffer, offset }, bytes)
    }

    /// A copy filled a piece of a buffer of the device.
    fn filled(&mut self, buffer: usize, offset: usize, bytes: usize) {
        let _ = (buffer, offset, bytes);
    }

    /// Whether a program of the host is to be run as far as it is understood: a statement that fails is left out.
    fn tolerant(&self) -> bool {
        false
    }

    /// A statement of a tolerated program was left out.
    fn skipped(&mut self, skipped: Skipped) {
        let _ = skipped;
    }

    /// Whether the program is not to be run on after that.
    fn gives_up(&self) -> bool {
        false
    }

    /// Whether little time is left, so that a statement that takes long is soon left out.
    fn hurries(&self) -> bool {
        false
    }

    /// The value of a variable of the host that holds nothing known.
    fn value_of(&mut self, name: &str, ty: Scalar) -> Option<Value> {
        let _ = (name, ty);
        None
    }

    /// What a kernel gets for an argument that is not known.
    fn missing_arg(
        &mut self,
        memory: &mut Memory,
        kernel: FuncId,
        index: usize,
        origin: &Origin,
    ) -> Option<Arg> {
        let _ = (memory, kernel, index, origin);
        None
    }

    /// A call about streams and events, with their numbers as far as they are known; the number of a new one.
    fn order(&mut self, what: StreamOrder, operands: &[Option<u64>]) -> u64 {
        let _ = (what, operands);
        0
    }

    /// A copy or fill touches these pieces of memory that the device can use; `waits`: the host goes on after it.
    fn moves(&mut self, pieces: &[Piece], waits: bool, origin: &Origin) {
        let _ = (pieces, waits, origin);
    }

    /// The number that a variable of the device has in place of a buffer's, if the host may use it while kernels run.
    fn managed(&self, global: usize) -> Option<usize> {
        let _ = global;
        None
    }

    /// Whether anything that the host has not waited for touches the buffer, or any that the host can use.
    fn in_flight(&self, buffer: Option<usize>) -> bool {
        let _ = buffer;
        false
    }

    /// The host itself touches a piece of a buffer that something in flight touches. `plain`: by an access that orders nothing,
    /// as one that is volatile or atomic may.
    fn host_touches(&mut self, piece: Piece, plain: bool, origin: &Origin) {
        let _ = (piece, plain, origin);
    }

    /// The launch that comes next stands here.
    fn launching(&mut self, origin: &Origin) {
        let _ = origin;
    }

    /// As [`Launcher::allocated`], with the name of the variable that gets the pointer, if it is one, and its type.
    fn allocated_at(&mut self, buffer: usize, bytes: usize, name: &str, pointee: Option<&Type>) {
        let _ = (name, pointee);
        self.allocated(buffer, bytes);
    }

    /// Nothing is known any more of a piece of a buffer of the device, of `length` bytes.
    fn forgotten(&mut self, buffer: usize, offset: usize, bytes: usize, length: usize) {
        let _ = (buffer, offset, bytes, length);
    }

    /// A buffer was freed.
    fn freed(&mut self, buffer: usize, origin: &Origin) {
        let _ = (buffer, origin);
    }

    /// Whether this buffer was freed.
    fn was_freed(&self, buffer: usize) -> bool {
        let _ = buffer;
        false
    }

    /// Bytes of all buffers, at most.
    fn most_bytes(&self) -> Option<u64> {
        None
    }

    /// The host fills or copies a piece that ends here, beyond the `length` of the buffer: more bytes of one that has no end of
    /// its own.
    fn more(&mut self, buffer: usize, length: u64, end: u64) -> Option<Vec<u8>> {
        let _ = (buffer, length, end);
        None
    }

    /// Which bytes of a buffer of the device nothing wrote yet; `None` for other buffers.
    fn unwritten(&self, buffer: usize, offset: usize, bytes: usize) -> Option<Unknown> {
        let _ = (buffer, offset, bytes);
        None
    }

    /// In a tolerated program a copy filled a piece of a buffer; not all of the bytes need be known.
    fn copied(&mut self, memory: &mut Memory, buffer: usize, offset: usize, unknown: &Unknown) {
        let _ = memory;
        self.filled(buffer, offset, unknown.len());
    }

    /// Values for bytes of a variable of the device that the host copied there without knowing them; `false` where
    /// nobody invents any.
    fn invents(&mut self, _global: usize, _bytes: &mut [u8], _unknown: &[bool]) -> bool {
        false
    }

    /// A variable of the device before a launch of a tolerated program, with which of its bytes are known.
    fn lend_global(&mut self, global: usize, bytes: &mut Vec<u8>, known: &mut Vec<bool>) {
        let _ = (global, bytes, known);
    }

    /// The variable after the launch.
    fn return_global(&mut self, global: usize, bytes: &mut Vec<u8>, known: &mut Vec<bool>) {
        let _ = (global, bytes, known);
    }
}

/// Refuses every launch.
pub struct NoLaunch;

impl Launcher for NoLaunch {
    fn launch(&mut self, _: &mut Memory, _: LaunchRequest) -> Result<(), String> {
        Err("kernels cannot be launched here".into())
    }
}
