//! Device memory with a fence on both sides, so that a kernel that writes beside a buffer is caught.

use cudarc::driver::result;
use cudarc::driver::sys::CUdeviceptr;

use super::{Gpu, Result};
use crate::error::GpuError;

/// Bytes on either side that belong to nobody. Large enough for a thread block's worth of elements, and a multiple of
/// the alignment that `cudaMalloc` promises.
const FENCE: u64 = 4096;
const FENCE_BYTE: u8 = 0xd7;

/// Memory of the device, freed when dropped.
pub struct Buffer {
    base: CUdeviceptr,
    bytes: u64,
    _gpu: Gpu,
}

impl Gpu {
    /// Memory with undefined contents between two fences.
    ///
    /// # Errors
    /// Too little memory.
    pub fn allocate(&self, bytes: u64) -> Result<Buffer> {
        let all = bytes.checked_add(2 * FENCE).and_then(|n| usize::try_from(n).ok());
        let all = all.ok_or_else(|| GpuError::BadRequest("a buffer is too large".into()))?;
        // SAFETY: freed by `Buffer::drop` only.
        let base = unsafe { result::malloc_sync(all)? };
        let buffer = Buffer { base, bytes, _gpu: self.clone() };
        for start in [base, base + FENCE + bytes] {
            // SAFETY: both ranges are inside the allocation.
            unsafe { result::memset_d8_sync(start, FENCE_BYTE, FENCE as usize)? };
        }
        Ok(buffer)
    }
}

impl Buffer {
    /// Where the first byte is, in the device's memory.
    pub fn address(&self) -> u64 {
        self.base + FENCE
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Whether its length is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn range(&self, offset: u64, bytes: u64) -> Result<CUdeviceptr> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(self.address() + offset),
            _ => Err(GpuError::BadRequest(format!(
                "bytes {offset} to {offset}+{bytes} of a buffer of {}",
                self.bytes
            ))),
        }
    }

    /// Copies from the host.
    ///
    /// # Errors
    /// Out of range, or the driver's.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let to = self.range(offset, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the range is inside the buffer.
        unsafe { result::memcpy_htod_sync(to, bytes) }.map_err(Into::into)
    }

    /// Copies to the host.
    ///
    /// # Errors
    /// Out of range, or the driver's, which may be that of an earlier kernel.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let from = self.range(offset, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the range is inside the buffer.
        unsafe { result::memcpy_dtoh_sync(bytes, from) }.map_err(Into::into)
    }

    /// Copies another buffer of the same length on the default stream.
    ///
    /// # Errors
    /// Other lengths, or the driver's.
    pub fn copy_from(&self, other: &Buffer) -> Result<()> {
        if self.bytes != other.bytes {
            return Err(GpuError::BadRequest("buffers of different lengths".into()));
        }
        if self.is_empty() {
            return Ok(());
        }
        let (to, from) = (self.address(), other.address());
        let stream = std::ptr::null_mut();
        // SAFETY: both ranges are inside their buffers.
        unsafe { result::memcpy_dtod_async(to, from, self.bytes as usize, stream) }
            .map_err(Into::into)
    }

    /// Sets bytes on the default stream.
    ///
    /// # Errors
    /// Out of range, or the driver's.
    pub fn fill(&self, offset: u64, bytes: u64, value: u8) -> Result<()> {
        let to = self.range(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range is inside the buffer.
        unsafe { result::memset_d8_async(to, value, bytes as usize, std::ptr::null_mut()) }
            .map_err(Into::into)
    }

    /// Whether nothing was written beside the buffer.
    ///
    /// # Errors
    /// The driver's, which may be that of an earlier kernel.
    pub fn fences_stand(&self) -> Result<bool> {
        for start in [self.base, self.address() + self.bytes] {
            let mut fence = vec![0u8; FENCE as usize];
            // SAFETY: the range is inside the allocation.
            unsafe { result::memcpy_dtoh_sync(&mut fence, start)? };
            if fence.iter().any(|b| *b != FENCE_BYTE) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts the fences up again.
    ///
    /// # Errors
    /// The driver's.
    pub fn mend_fences(&self) -> Result<()> {
        for start in [self.base, self.address() + self.bytes] {
            // SAFETY: both ranges are inside the allocation.
            unsafe { result::memset_d8_sync(start, FENCE_BYTE, FENCE as usize)? };
        }
        Ok(())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `allocate`. In a lost context the call fails and the process is about to end.
        let _ = unsafe { result::free_sync(self.base) };
    }
}
