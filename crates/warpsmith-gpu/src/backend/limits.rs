//! What a device reaches at most: a copy that moves as many bytes, and fused multiply-adds without memory.

use super::timing::Clock;
use crate::driver::Gpu;
use crate::error::GpuError;
use crate::nvrtc::Compiler;
use crate::protocol::{Compile, Limits, Policy};

type Result<T> = std::result::Result<T, GpuError>;

/// Independent chains of multiply-adds that never leave the registers; the comparison keeps the compiler from dropping
/// them.
const SOURCE: &str = r#"
extern "C" __global__ void multiply_adds(float *out, float x, int rounds)
{
    float sum[8];
    for (int k = 0; k < 8; ++k) {
        sum[k] = (float)threadIdx.x + (float)k;
    }
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int repeat = 0; repeat < 16; ++repeat) {
            #pragma unroll
            for (int k = 0; k < 8; ++k) {
                sum[k] = fmaf(sum[k], x, x);
            }
        }
    }
    float total = 0.0f;
    for (int k = 0; k < 8; ++k) {
        total += sum[k];
    }
    if (total == 1.5f) {
        out[0] = total;
    }
}
"#;

const ROUNDS: u32 = 2048;
/// Multiply-adds of a thread in a round.
const A_ROUND: u32 = 16 * 8;
const BLOCK: u32 = 512;

/// Measures both. `bytes` is what the copy moves, read plus written.
///
/// # Errors
/// Too little memory, or the driver's.
pub fn measure(gpu: &Gpu, compiler: &Compiler, clock: &Clock, bytes: u64) -> Result<Limits> {
    let policy = Policy { warmup: 3, min_runs: 11, max_runs: 31, ..Policy::default() };
    let half = (bytes / 2).max(1 << 20);
    let (from, to) = (gpu.allocate(half)?, gpu.allocate(half)?);
    from.fill(0, half, 1)?;
    // Warm, as the peers' copies were measured: at sizes beyond the cache there is no difference.
    let warm = Policy { flush: false, ..policy };
    let copy = median(clock.samples(&warm, || Ok(()), || to.copy_from(&from))?);
    let fma = multiply_adds(gpu, compiler, clock, &policy)?;
    Ok(Limits { copy_gb_s: 2.0 * half as f64 / copy / 1e6, fma_tflop_s: fma })
}

fn multiply_adds(gpu: &Gpu, compiler: &Compiler, clock: &Clock, policy: &Policy) -> Result<f64> {
    let device = gpu.device()?;
    let request = Compile {
        source: SOURCE.into(),
        file: "limits.cu".into(),
        arch: device.arch,
        options: vec![],
        kernels: vec![],
    };
    let module = gpu.load(&compiler.compile(&request)?.cubin)?;
    let function = module.function("multiply_adds")?;
    let out = gpu.allocate(4)?;
    let blocks = device.multiprocessors * 4;
    let args = [
        out.address().to_le_bytes().to_vec(),
        0.5f32.to_le_bytes().to_vec(),
        ROUNDS.to_le_bytes().to_vec(),
    ];
    let run = || function.launch([blocks, 1, 1], [BLOCK, 1, 1], 0, &args);
    let ms = median(clock.samples(policy, || Ok(()), run)?);
    let operations =
        2.0 * f64::from(ROUNDS) * f64::from(A_ROUND) * f64::from(BLOCK) * f64::from(blocks);
    Ok(operations / ms / 1e9)
}

pub(super) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
