//! The buffers of a problem on the device.

use crate::driver::{Buffer, Gpu};
use crate::error::GpuError;
use crate::protocol::{Contents, Output, Problem};

type Result<T> = std::result::Result<T, GpuError>;

/// What candidates work on, with what they must find and leave there.
pub struct Memory {
    /// On the device, in the order of [`Problem::buffers`].
    pub buffers: Vec<Buffer>,
    /// What each holds before a run.
    contents: Vec<Start>,
    /// The right outputs, on the device, with how far candidates may be off.
    pub expected: Vec<(Output, Buffer)>,
}

enum Start {
    /// A copy on the device, made where candidates may change the buffer.
    Copy(Buffer),
    Poison,
    Zero,
}

/// Bytes that fill what may not be read, in turns: as a float a small number and a NaN, and as integers unlikely ones.
/// Whatever is left unwritten differs from the expected value with at least one of them.
pub const POISON: [u8; 2] = [0xa5, 0xff];

impl Memory {
    /// Brings a problem to the device.
    ///
    /// # Errors
    /// Blobs of other lengths than the buffers, or too little memory.
    pub fn new(gpu: &Gpu, problem: &Problem, blobs: &[Vec<u8>]) -> Result<Memory> {
        let blob = |k: usize, bytes: u64| {
            let found = blobs.get(k).filter(|b| b.len() as u64 == bytes);
            found.ok_or_else(|| {
                GpuError::BadRequest(format!("blob {k} is not the {bytes} bytes of its buffer"))
            })
        };
        let (mut buffers, mut contents) = (vec![], vec![]);
        for spec in &problem.buffers {
            buffers.push(gpu.allocate(spec.bytes)?);
            contents.push(match spec.contents {
                Contents::Poison => Start::Poison,
                Contents::Zero => Start::Zero,
                Contents::Blob(k) => {
                    let copy = gpu.allocate(spec.bytes)?;
                    copy.write(0, blob(k, spec.bytes)?)?;
                    Start::Copy(copy)
                }
            });
        }
        let mut expected = vec![];
        for e in &problem.expected {
            let bytes = buffer(&buffers, e.output.buffer)?.len();
            let copy = gpu.allocate(bytes)?;
            copy.write(0, blob(e.blob, bytes)?)?;
            expected.push((e.output.clone(), copy));
        }
        Ok(Memory { buffers, contents, expected })
    }

    /// Makes all buffers as they are before a run.
    ///
    /// # Errors
    /// The driver's.
    pub fn reset(&self, poison: u8) -> Result<()> {
        for (buffer, start) in self.buffers.iter().zip(&self.contents) {
            match start {
                Start::Copy(copy) => buffer.copy_from(copy)?,
                Start::Poison => buffer.fill(0, buffer.len(), poison)?,
                Start::Zero => buffer.fill(0, buffer.len(), 0)?,
            }
        }
        Ok(())
    }

    /// The first buffer beside which something was written; all fences stand again afterwards.
    ///
    /// # Errors
    /// The driver's.
    pub fn broken_fence(&self) -> Result<Option<usize>> {
        let mut broken = None;
        for (k, buffer) in self.buffers.iter().enumerate() {
            if !buffer.fences_stand()? {
                buffer.mend_fences()?;
                broken = broken.or(Some(k));
            }
        }
        Ok(broken)
    }

    /// What the outputs hold now becomes what is expected.
    ///
    /// # Errors
    /// No such buffer, or the driver's.
    pub fn keep(&mut self, gpu: &Gpu, outputs: &[Output]) -> Result<()> {
        self.expected.clear();
        for output in outputs {
            let from = buffer(&self.buffers, output.buffer)?;
            let copy = gpu.allocate(from.len())?;
            copy.copy_from(from)?;
            self.expected.push((output.clone(), copy));
        }
        Ok(())
    }
}

/// # Errors
/// There is no such buffer.
pub fn buffer(buffers: &[Buffer], at: usize) -> Result<&Buffer> {
    let n = buffers.len();
    buffers.get(at).ok_or_else(|| GpuError::BadRequest(format!("buffer {at} of {n}")))
}
