//! The GPU that steps are taken for.

/// Shared memory that every architecture gives to a block without being asked, in bytes; more of it is dynamic.
pub const STATIC_SHARED: u32 = 48 * 1024;

/// What steps must know of the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfGpu {
    /// Shared memory that a block may have, in bytes.
    pub shared: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
}

impl Default for OfGpu {
    /// What every GPU has without being asked, and an H100's multiprocessors.
    fn default() -> OfGpu {
        OfGpu { shared: STATIC_SHARED, multiprocessors: 132 }
    }
}
