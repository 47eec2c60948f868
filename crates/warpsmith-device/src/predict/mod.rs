//! The predicted time of a launch.
//!
//! The model asks of each unit how long it would take if it were the only one, and joins the answers:
//!
//! 1. Sectors that miss L1 go to L2, those that miss L2 to device memory (`memory`).
//! 2. On a multiprocessor, the clocks of each pipe, of the issue slots, of the banks of shared memory and of L1
//!    (`pipes`) are set against the chain of latencies of one warp (`latency`): a batch of resident blocks takes the
//!    longer of the two. With few warps the chain decides, which is Little's law.
//! 3. Blocks run in waves of as many as are resident; the last wave is as long as any other however few blocks it has. So do
//!    the tiles that resident blocks go over in strides, and these blocks are started once. Where the work of blocks grows
//!    along the grid, some multiprocessor gets more of it than others.
//! 4. L2, device memory and the unit that starts blocks are shared by all multiprocessors and bound the whole.
//! 5. A launch costs a few microseconds ([`calibration`]).
//!
//! "Longer of the two" is a norm with a finite exponent, not a maximum, since nothing overlaps perfectly: two
//! units that are both busy all the time get in each other's way.
//!
//! Limits, rates and latencies are from manuals and papers ([`crate::Architecture`]); what was fitted is in one place,
//! [`Calibration`]. The model orders candidates; it is not a simulator.

pub mod calibration;
mod latency;
mod memory;
mod pipes;
mod spill;

use std::fmt;

pub use self::calibration::Calibration;
pub use self::memory::Traffic;

use crate::architecture::Architecture;
use crate::gpu::Gpu;
use crate::occupancy::{Carveout, Limiter, Occupancy, occupancy};
use crate::profile::KernelProfile;

/// The unit that decides a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// Device memory.
    Dram,
    /// The L2 cache, which all multiprocessors share.
    L2,
    /// L1, for global accesses.
    L1,
    /// Banks of shared memory.
    Shared,
    /// What shared and global accesses have in common: address units and data lines.
    LoadStore,
    /// Single-precision arithmetic.
    Fp32,
    /// Double-precision arithmetic.
    Fp64,
    /// Half-precision and bfloat16 arithmetic.
    Fp16,
    /// Integer arithmetic and logic.
    Int,
    /// Special functions.
    Special,
    /// Reads of constant memory.
    Constant,
    /// Setting up warps on a multiprocessor.
    Starts,
    /// Issue slots of the schedulers.
    Issue,
    /// Waiting: too few warps and too little independent work.
    Latency,
    /// The unit that starts blocks.
    Blocks,
    /// The launch itself.
    Launch,
}

impl Bound {
    /// In a report's words.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Dram => "device memory",
            Bound::L2 => "L2 cache",
            Bound::L1 => "L1 cache",
            Bound::Shared => "shared memory",
            Bound::LoadStore => "load/store units",
            Bound::Fp32 => "single-precision arithmetic",
            Bound::Fp64 => "double-precision arithmetic",
            Bound::Fp16 => "half-precision arithmetic",
            Bound::Int => "integer arithmetic",
            Bound::Special => "special functions",
            Bound::Constant => "constant memory",
            Bound::Starts => "warp starts",
            Bound::Issue => "instruction issue",
            Bound::Latency => "latency",
            Bound::Blocks => "block starts",
            Bound::Launch => "kernel launch",
        }
    }
}

/// What one unit would take on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The unit.
    pub bound: Bound,
    /// Seconds that it is busy, or that are waited for.
    pub seconds: f64,
}

/// A predicted time and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Seconds from the start of the kernel to its end.
    pub time_s: f64,
    /// The unit that takes longest.
    pub bound: Bound,
    /// What each unit would take on its own, longest first.
    pub parts: Vec<Part>,
    /// Blocks on a multiprocessor at the same time, and what stops the next one.
    pub occupancy: Occupancy,
    /// Waves of resident blocks, the last one counted by its share.
    pub waves: f64,
    /// What goes through the levels of the memory.
    pub traffic: Traffic,
}

impl Prediction {
    /// What a unit would take on its own, in seconds.
    pub fn part(&self, bound: Bound) -> f64 {
        self.parts.iter().find(|p| p.bound == bound).map_or(0.0, |p| p.seconds)
    }
}

/// Why there is no time.
#[derive(Clone, Debug, PartialEq)]
pub enum CannotLaunch {
    /// A block does not fit a multiprocessor.
    DoesNotFit(Limiter),
    /// A count is negative, infinite or not a number.
    BadProfile,
}

impl fmt::Display for CannotLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotLaunch::DoesNotFit(limiter) => f.write_str(match limiter {
                Limiter::BlockTooLarge | Limiter::Warps => "a block has too many threads",
                Limiter::BlockRegisters | Limiter::Registers => "a block has too many registers",
                Limiter::BlockShared | Limiter::Shared => {
                    "a block has too many bytes of shared memory"
                }
                Limiter::Blocks => "no block fits a multiprocessor",
            }),
            CannotLaunch::BadProfile => {
                f.write_str("a count of the profile is not a number of events")
            }
        }
    }
}

impl std::error::Error for CannotLaunch {}

/// Predicts the time of a launch. An empty grid takes no time.
///
/// # Errors
/// When not one block fits a multiprocessor, or a count is no count.
pub fn predict(gpu: &Gpu, profile: &KernelProfile) -> Result<Prediction, CannotLaunch> {
    predict_with(gpu, profile, &Calibration::default())
}

/// [`predict`] with other constants.
///
/// # Errors
/// As [`predict`].
pub fn predict_with(
    gpu: &Gpu,
    profile: &KernelProfile,
    fit: &Calibration,
) -> Result<Prediction, CannotLaunch> {
    if !profile.is_sane() {
        return Err(CannotLaunch::BadProfile);
    }
    let arch = gpu.architecture();
    let profile = &spill::with_spills(arch, profile);
    let occupancy = occupancy(arch, profile.block_shape(), Carveout::Auto);
    if occupancy.blocks_per_sm == 0 {
        return Err(CannotLaunch::DoesNotFit(occupancy.limiter));
    }
    let blocks = profile.blocks() as f64;
    // A grid smaller than the GPU leaves multiprocessors with fewer blocks than they could hold.
    let started = profile.started() as f64;
    let spread = (started / f64::from(gpu.sms)).ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
    let resident = occupancy.blocks_per_sm.min(spread);
    let shared = occupancy.shared_per_block.saturating_mul(resident);
    let l1_bytes = f64::from(arch.l1_beside(shared));
    let traffic = memory::traffic(gpu, profile, resident, l1_bytes, fit);
    let sm = Multiprocessor::new(arch, profile, &traffic, resident, fit);
    let mut parts = sm.parts(gpu, blocks, resident);
    parts.extend(shared_parts(gpu, started, &traffic, fit));
    let running = sm.seconds(gpu, blocks, resident);
    let chip = [Bound::L2, Bound::Dram, Bound::Blocks].map(|b| part(&parts, b));
    let body = join(&[running, chip[0], chip[1], chip[2]], fit.overlap);
    let time_s = if blocks == 0.0 { 0.0 } else { fit.launch_s + body };
    parts.push(Part {
        bound: Bound::Launch,
        seconds: if blocks == 0.0 { 0.0 } else { fit.launch_s },
    });
    parts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let waves = blocks / sm.wave(gpu, resident);
    Ok(Prediction { time_s, bound: parts[0].bound, parts, occupancy, waves, traffic })
}

/// What the units take that all multiprocessors share.
fn shared_parts(gpu: &Gpu, blocks: f64, traffic: &Traffic, fit: &Calibration) -> [Part; 3] {
    let l2_bytes = (traffic.l2_sectors + traffic.l2_operations) * f64::from(Architecture::SECTOR);
    let l2 = (l2_bytes / (gpu.l2_gb_s * 1e9)).max(traffic.in_turn * fit.atomic_turn_s);
    let ramp = if traffic.dram_bytes > 0.0 { fit.dram_ramp_s } else { 0.0 };
    [
        Part { bound: Bound::L2, seconds: l2 },
        Part {
            bound: Bound::Dram,
            seconds: ramp + traffic.dram_bytes / (gpu.dram_gb_s * 1e9 * fit.dram_share),
        },
        Part { bound: Bound::Blocks, seconds: blocks / (fit.blocks_per_clock * gpu.clock_hz()) },
    ]
}

/// What a block costs a multiprocessor.
struct Multiprocessor {
    /// Clocks a block of each unit.
    pipes: Vec<(Bound, f64)>,
    /// Clocks of a warp's chain of latencies.
    chain: f64,
    warps_per_block: f64,
    /// Most blocks that run at a time on all multiprocessors.
    at_a_time: f64,
    /// What the longest block has to do, as a multiple of the average.
    longest_block: f64,
    schedulers: f64,
    overlap: f64,
    /// The exponent of one block, and what others add.
    overlap_of_blocks: [f64; 2],
}

impl Multiprocessor {
    fn new(
        arch: &Architecture,
        profile: &KernelProfile,
        traffic: &Traffic,
        resident: u32,
        fit: &Calibration,
    ) -> Multiprocessor {
        let blocks = (profile.blocks() as f64).max(1.0);
        let mut pipes = pipes::clocks(arch, profile, traffic, resident, fit);
        for (_, clocks) in &mut pipes {
            *clocks /= blocks;
        }
        let phases = profile.work.barriers > 0.0 && profile.parallelism.copies_ahead < 1.0;
        let overlap_of_blocks = match phases {
            true => [1.0, fit.overlap_per_block],
            false => [fit.overlap_in_step, fit.overlap_out_of_step],
        };
        Multiprocessor {
            pipes,
            chain: latency::chain(arch, profile, traffic, fit),
            warps_per_block: f64::from(profile.warps_per_block()),
            at_a_time: profile.resident.map_or(f64::INFINITY, |n| n.max(1) as f64),
            longest_block: profile.parallelism.longest_block.max(1.0),
            schedulers: f64::from(arch.schedulers),
            overlap: fit.overlap,
            overlap_of_blocks,
        }
    }

    /// Clocks that a batch of blocks, resident together, takes where these have so much more to do than the average.
    fn batch(&self, blocks: f64, more: f64) -> f64 {
        if blocks <= 0.0 {
            return 0.0;
        }
        let imbalance = self.imbalance(blocks);
        let busy: Vec<f64> = self
            .pipes
            .iter()
            .map(|(bound, clocks)| {
                clocks * blocks * if per_scheduler(*bound) { imbalance } else { 1.0 }
            })
            .collect();
        let throughput = join(&busy, self.overlap) * more;
        let [one, others] = self.overlap_of_blocks;
        let overlap = (one + others * (blocks - 1.0)).min(self.overlap);
        join(&[throughput, self.chain], overlap)
    }

    /// How much longer the busiest scheduler works than the average one: warps are dealt out whole.
    fn imbalance(&self, blocks: f64) -> f64 {
        let warps = self.warps_per_block * blocks;
        (warps / self.schedulers).ceil() * self.schedulers / warps.max(1.0)
    }

    /// Blocks of a wave.
    fn wave(&self, gpu: &Gpu, resident: u32) -> f64 {
        (f64::from(gpu.sms) * f64::from(resident)).min(self.at_a_time)
    }

    /// Seconds until the busiest multiprocessor has done its blocks: whole waves, and a last one with the rest.
    fn seconds(&self, gpu: &Gpu, blocks: f64, resident: u32) -> f64 {
        let wave = self.wave(gpu, resident);
        let full = (blocks / wave).floor();
        let rest = ((blocks - full * wave) / f64::from(gpu.sms)).ceil();
        let more = self.busiest(blocks / f64::from(gpu.sms));
        (full * self.batch(f64::from(resident), more) + self.batch(rest, more)) / gpu.clock_hz()
    }

    /// What the busiest of the multiprocessors has to do, as a multiple of the average, where each gets so many blocks, one of
    /// each stretch of a grid along which work grows evenly.
    fn busiest(&self, blocks: f64) -> f64 {
        1.0 + (self.longest_block - 1.0) / blocks.max(1.0)
    }

    /// What each unit takes on its own, tail included.
    fn parts(&self, gpu: &Gpu, blocks: f64, resident: u32) -> Vec<Part> {
        let sms = f64::from(gpu.sms);
        let waves = (blocks / self.wave(gpu, resident)).ceil();
        let busiest = (blocks / sms).ceil();
        let to_part = |bound, clocks: f64| Part { bound, seconds: clocks / gpu.clock_hz() };
        let mut parts: Vec<Part> =
            self.pipes.iter().map(|(bound, clocks)| to_part(*bound, clocks * busiest)).collect();
        parts.push(to_part(Bound::Latency, self.chain * waves));
        parts
    }
}

/// Whether a unit is divided among the schedulers.
fn per_scheduler(bound: Bound) -> bool {
    matches!(
        bound,
        Bound::Fp32 | Bound::Fp64 | Bound::Fp16 | Bound::Int | Bound::Special | Bound::Issue
    )
}

fn part(parts: &[Part], bound: Bound) -> f64 {
    parts.iter().find(|p| p.bound == bound).map_or(0.0, |p| p.seconds)
}

/// Joins times that overlap: (Σ tᵖ)^(1/p), which is at least the longest and at most the sum.
fn join(times: &[f64], p: f64) -> f64 {
    let longest = times.iter().copied().fold(0.0, f64::max);
    if longest <= 0.0 {
        return 0.0;
    }
    // Scaled by the longest, so that no power overflows or vanishes.
    longest * times.iter().map(|t| (t / longest).powf(p)).sum::<f64>().powf(1.0 / p)
}

#[cfg(test)]
mod tests;
