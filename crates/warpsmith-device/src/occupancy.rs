//! How many blocks of a kernel share a multiprocessor.
//!
//! The rules are those of the vendor's occupancy calculator: every block takes whole warps, registers in units a
//! warp, and shared memory in units a block, and the scarcest of them decides. Tests compare with values from the
//! vendor's calculator for every architecture and with the driver's answers on an H200.

use std::fmt;

use crate::architecture::Architecture;

/// What a block of a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Threads, 1 to 1024.
    pub threads: u32,
    /// Registers a thread, as the assembler reports them.
    pub registers: u32,
    /// Static shared memory in bytes, without what the system reserves.
    pub shared_static: u32,
    /// Dynamic shared memory in bytes.
    pub shared_dynamic: u32,
}

/// How much of the unified memory is to be shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carveout {
    /// As much as helps: the driver's default.
    #[default]
    Auto,
    /// `cudaFuncAttributePreferredSharedMemoryCarveout`: percent of the largest size, a hint that is rounded up to
    /// the next possible size and exceeded when one block needs more. Above 100 counts as 100.
    Percent(u32),
}

/// What stops the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Blocks a multiprocessor.
    Blocks,
    /// Warps, that is threads, a multiprocessor.
    Warps,
    /// Registers of the multiprocessor, allocated to whole warps within each scheduler's quarter.
    Registers,
    /// Shared memory of the multiprocessor, as the carve-out leaves it.
    Shared,
    /// The block has no threads or too many; it cannot be launched.
    BlockTooLarge,
    /// A thread has more registers than can be encoded, or a block more than there are; it cannot be launched.
    BlockRegisters,
    /// A block wants more shared memory than it can opt in to; it cannot be launched.
    BlockShared,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limiter::Blocks => "blocks per multiprocessor",
            Limiter::Warps => "threads per multiprocessor",
            Limiter::Registers => "registers per multiprocessor",
            Limiter::Shared => "shared memory per multiprocessor",
            Limiter::BlockTooLarge => "threads per block",
            Limiter::BlockRegisters => "registers per block",
            Limiter::BlockShared => "shared memory per block",
        })
    }
}

/// How a kernel fills a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks a multiprocessor; 0 when the kernel cannot be launched.
    pub blocks_per_sm: u32,
    /// Resident warps a multiprocessor.
    pub warps: u32,
    /// What stops the next block. Of several, the first in the order warps, registers, shared memory, blocks.
    pub limiter: Limiter,
    /// Shared memory that a block takes, with what is reserved and rounded up, in bytes.
    pub shared_per_block: u32,
}

impl Occupancy {
    /// Resident warps over those possible, 0 to 1.
    pub fn share(&self, arch: &Architecture) -> f64 {
        f64::from(self.warps) / f64::from(arch.max_warps)
    }
}

/// Resident blocks a multiprocessor, as `cuOccupancyMaxActiveBlocksPerMultiprocessor` answers for a kernel that has
/// opted in to the shared memory it uses.
pub fn occupancy(arch: &Architecture, block: BlockShape, carveout: Carveout) -> Occupancy {
    let warps_per_block = block.threads.div_ceil(Architecture::WARP);
    let shared = shared_allocation(arch, block);
    let nothing = |limiter| Occupancy {
        blocks_per_sm: 0,
        warps: 0,
        limiter,
        shared_per_block: shared.unwrap_or(u32::MAX),
    };
    if block.threads == 0 || block.threads > arch.max_threads_per_block {
        return nothing(Limiter::BlockTooLarge);
    }
    let Some(by_registers) = register_limit(arch, block.registers, warps_per_block) else {
        return nothing(Limiter::BlockRegisters);
    };
    let Some(shared) = shared else { return nothing(Limiter::BlockShared) };
    let limits = [
        (arch.max_warps / warps_per_block, Limiter::Warps),
        (by_registers, Limiter::Registers),
        (shared_limit(arch, shared, carveout), Limiter::Shared),
        (arch.max_blocks, Limiter::Blocks),
    ];
    // `min_by_key` keeps the first of equals, which is the order that the documentation of `limiter` gives.
    let (blocks_per_sm, limiter) =
        limits.into_iter().min_by_key(|(blocks, _)| *blocks).unwrap_or((0, Limiter::Blocks));
    Occupancy {
        blocks_per_sm,
        warps: blocks_per_sm * warps_per_block,
        limiter,
        shared_per_block: shared,
    }
}

/// Blocks that the registers of a multiprocessor hold, or nothing if not even one can be launched.
///
/// Each scheduler has its own quarter of the register file, and a warp's registers come from one of them. The launch
/// check counts warps rounded up to the schedulers.
fn register_limit(arch: &Architecture, registers: u32, warps_per_block: u32) -> Option<u32> {
    // The vendor's calculator accepts 256, the number of encodings.
    if registers > arch.max_registers_per_thread + 1 {
        return None;
    }
    let per_warp = (registers * Architecture::WARP).next_multiple_of(arch.register_unit);
    if per_warp * warps_per_block.next_multiple_of(arch.schedulers) > arch.registers_per_block {
        return None;
    }
    if per_warp == 0 {
        return Some(u32::MAX);
    }
    let warps = arch.registers_per_sm / arch.schedulers / per_warp * arch.schedulers;
    Some(warps / warps_per_block)
}

/// Shared memory that a block takes, or nothing if it may not have that much.
fn shared_allocation(arch: &Architecture, block: BlockShape) -> Option<u32> {
    let own = block.shared_static.checked_add(block.shared_dynamic)?;
    if own > arch.shared_per_block_optin {
        return None;
    }
    Some((own + arch.shared_reserved).next_multiple_of(arch.shared_unit))
}

/// Blocks that the shared part of the unified memory holds.
fn shared_limit(arch: &Architecture, per_block: u32, carveout: Carveout) -> u32 {
    let round_up = |bytes: u32| {
        arch.carveouts.iter().copied().find(|c| *c >= bytes).unwrap_or(arch.shared_per_sm)
    };
    let wanted = match carveout {
        Carveout::Auto => arch.shared_per_sm,
        Carveout::Percent(p) => {
            // In 64 bits, as the calculator does it, and rounded down.
            let bytes = u64::from(arch.shared_per_sm) * u64::from(p.min(100)) / 100;
            round_up(bytes as u32)
        }
    };
    let there = if wanted >= per_block { wanted } else { round_up(per_block) };
    there.checked_div(per_block).unwrap_or(u32::MAX)
}
