//! Registers that do not fit, as memory traffic.

use crate::architecture::Architecture;
use crate::profile::{GlobalTraffic, KernelProfile, TrafficKind};

/// The profile with registers as the hardware can give them, and the traffic of what is spilled.
///
/// The assembler's count of spilled bytes is used where there is one. Where there is none and the registers (an
/// estimate then) exceed what a block can have, each register too many is stored and loaded once a run through the code.
/// Local memory is laid out so that a warp's accesses are whole lines: four sectors a 4-byte word.
pub fn with_spills(arch: &Architecture, profile: &KernelProfile) -> KernelProfile {
    let mut profile = profile.clone();
    let cap = arch.register_cap(profile.block_threads);
    let excess = profile.registers.saturating_sub(cap);
    profile.registers = profile.registers.min(cap);
    let bytes =
        if profile.spill_bytes > 0 { profile.spill_bytes } else { excess.saturating_mul(8) };
    if bytes == 0 {
        return profile;
    }
    let threads = f64::from(profile.block_threads);
    let blocks = profile.blocks() as f64;
    let words = f64::from(bytes) / 4.0 * profile.spill_executions.max(1.0);
    let requests = words * blocks * f64::from(profile.warps_per_block());
    // Stores and loads are about as many, and touch the same bytes.
    let footprint = f64::from(bytes) / 2.0 * threads;
    for kind in [TrafficKind::Load, TrafficKind::Store] {
        profile.global.push(GlobalTraffic {
            kind,
            requests: requests / 2.0,
            sectors: requests * 2.0,
            wavefronts: requests / 2.0,
            block_bytes: footprint,
            between_passes: 0.0,
            reuse_bytes: footprint,
            // The same local memory serves block after block; it stays in L2 and is as good as never written back.
            grid_bytes: 0.0,
            varies: [true; 3],
            ..GlobalTraffic::default()
        });
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_beyond_the_cap_become_traffic() {
        let arch = Architecture::find("sm_90").unwrap();
        let fits = KernelProfile {
            grid: [10, 1, 1],
            block_threads: 1024,
            registers: 64,
            ..KernelProfile::default()
        };
        assert_eq!(with_spills(arch, &fits), fits);
        let spills = with_spills(arch, &KernelProfile { registers: 74, ..fits });
        assert_eq!(spills.registers, 64);
        // 10 registers, stored and loaded once, by 320 warps.
        assert_eq!(spills.global.iter().map(|g| g.requests).sum::<f64>(), 20.0 * 320.0);
    }

    #[test]
    fn the_assemblers_count_wins() {
        let arch = Architecture::find("sm_90").unwrap();
        let profile = KernelProfile {
            grid: [1, 1, 1],
            block_threads: 32,
            registers: 255,
            spill_bytes: 40,
            spill_executions: 3.0,
            ..KernelProfile::default()
        };
        let spilled = with_spills(arch, &profile);
        assert_eq!(spilled.global.iter().map(|g| g.requests).sum::<f64>(), 30.0);
    }
}
