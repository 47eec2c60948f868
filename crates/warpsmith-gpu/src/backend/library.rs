//! What the vendor's library reaches: a product by cuBLAS, timed as candidates are.

use super::limits::median;
use super::timing::Clock;
use crate::cublas::Cublas;
use crate::driver::{Buffer, Gpu};
use crate::error::GpuError;
use crate::places::Places;
use crate::protocol::{Policy, Product, Real};

/// Median of single runs with emptied caches, in milliseconds.
///
/// # Errors
/// No library, too little memory, or the driver's.
pub fn measure(gpu: &Gpu, clock: &Clock, product: &Product) -> Result<f64, GpuError> {
    let library = Cublas::load(&Places::of_this_process())?;
    let [left, right, result] = product.bytes();
    let (a, b) = (random(gpu, left, product.element)?, random(gpu, right, product.element)?);
    let c = gpu.allocate(result)?;
    let policy = Policy { warmup: 3, min_runs: 11, max_runs: 31, flush: true, ..Policy::default() };
    let run = || library.multiply(product, [&a, &b, &c]);
    Ok(median(clock.samples(&policy, || Ok(()), run)?))
}

/// Numbers in [0, 1): what an arithmetic unit takes depends on how many bits change.
fn random(gpu: &Gpu, bytes: u64, element: Real) -> Result<Buffer, GpuError> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // Marsaglia's xorshift of 64 bits.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let numbers: Vec<u8> = match element {
        Real::F32 => (0..bytes / 4).flat_map(|_| (next() as f32).to_le_bytes()).collect(),
        Real::F64 => (0..bytes / 8).flat_map(|_| next().to_le_bytes()).collect(),
    };
    let buffer = gpu.allocate(bytes)?;
    buffer.write(0, &numbers)?;
    Ok(buffer)
}
