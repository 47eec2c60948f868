//! What each unit of a multiprocessor has to do, in clocks.

use crate::architecture::Architecture;
use crate::predict::Bound;
use crate::predict::calibration::Calibration;
use crate::predict::memory::Traffic;
use crate::profile::KernelProfile;

/// Lanes of a warp.
const WARP: f64 = Architecture::WARP as f64;

/// Clocks that a whole launch costs each unit if one multiprocessor did all of it, and the instructions issued.
pub fn clocks(
    arch: &Architecture,
    profile: &KernelProfile,
    traffic: &Traffic,
    resident: u32,
    fit: &Calibration,
) -> Vec<(Bound, f64)> {
    let (work, rates) = (&profile.work, &arch.rates);
    // An instruction on a packed pair gives two results a lane.
    let fp16 = work.fp16 * 2.0 * WARP / rates.fp16;
    let fp32 = work.fp32 * WARP / rates.fp32;
    let int = work.int * WARP / integer_rate(arch, fit);
    let both = (work.fp32 + work.int) * WARP / rates.fp32;
    vec![
        (Bound::Fp32, if rates.int_shares_fp32 { both.max(fp32) } else { fp32 }),
        (Bound::Fp64, work.fp64 * WARP / rates.fp64),
        (Bound::Fp16, fp16),
        (Bound::Int, int),
        (Bound::Special, work.sfu * WARP / rates.sfu),
        (
            Bound::Issue,
            instructions(profile, traffic) / f64::from(arch.schedulers) / fit.issue_share,
        ),
        (Bound::Constant, constants(profile, traffic, resident, fit)),
        (Bound::Starts, started_warps(profile) * fit.warp_start),
        (Bound::Shared, shared(arch, profile)),
        (Bound::L1, l1(arch, traffic)),
        (Bound::LoadStore, load_store(arch, profile, traffic)),
    ]
}

/// Integer instructions a clock in lanes. Where the units for reals are others, they take what is written as a multiply-add.
pub fn integer_rate(arch: &Architecture, fit: &Calibration) -> f64 {
    if arch.rates.int_shares_fp32 { arch.rates.int } else { arch.rates.int / fit.integer_unit }
}

/// Warp instructions that the schedulers issue, one a clock each.
pub fn instructions(profile: &KernelProfile, traffic: &Traffic) -> f64 {
    let w = &profile.work;
    let arithmetic = w.fp32 + w.fp64 + w.fp16 + w.int + w.sfu;
    let others = w.control + w.shuffles + w.barriers + w.constants;
    arithmetic + others + traffic.requests + profile.shared.loads + profile.shared.stores
}

/// Warps of the launch.
fn started_warps(profile: &KernelProfile) -> f64 {
    profile.started() as f64 * f64::from(profile.warps_per_block())
}

/// Clocks of reads of constant memory whose index changes in a loop.
///
/// A miss costs more the more of the instructions are such reads: between rare ones the cache catches up.
fn constants(profile: &KernelProfile, traffic: &Traffic, resident: u32, fit: &Calibration) -> f64 {
    let reads = profile.work.constants;
    if resident <= fit.constant_blocks || reads == 0.0 {
        return reads;
    }
    reads * (fit.constant_miss * reads / instructions(profile, traffic)).max(1.0)
}

/// Clocks of the banks: a wavefront moves 32 words of 4 bytes.
fn shared(arch: &Architecture, profile: &KernelProfile) -> f64 {
    let wavefront = f64::from(Architecture::BANKS * Architecture::BANK_BYTES);
    profile.shared.wavefronts * wavefront / arch.rates.shared_bytes
}

/// Clocks of L1 for global accesses: its wavefronts, as wide as those of shared memory.
fn l1(arch: &Architecture, traffic: &Traffic) -> f64 {
    traffic.l1_wavefronts * f64::from(Architecture::LINE) / arch.rates.shared_bytes
}

/// Clocks of the path that shared and global accesses and shuffles take together: the address units, and the data
/// lines of the unified memory.
fn load_store(arch: &Architecture, profile: &KernelProfile, traffic: &Traffic) -> f64 {
    let requests = traffic.requests + profile.shared.loads + profile.shared.stores;
    let addresses = requests * WARP / arch.rates.lsu;
    let shuffles = profile.work.shuffles * WARP / arch.rates.shuffle;
    let data = shared(arch, profile) + l1(arch, traffic) + shuffles;
    data.max(addresses + shuffles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{SharedTraffic, Work};

    fn hopper() -> &'static Architecture {
        Architecture::find("sm_90").unwrap()
    }

    fn clocks_of(arch: &Architecture, bound: Bound, profile: &KernelProfile) -> f64 {
        let all = clocks(arch, profile, &Traffic::default(), 1, &Calibration::default());
        all.into_iter().find(|(b, _)| *b == bound).unwrap().1
    }

    #[test]
    fn a_two_way_conflict_doubles_the_clocks_of_the_banks() {
        let once = SharedTraffic { loads: 100.0, stores: 0.0, wavefronts: 100.0 };
        let free = KernelProfile { shared: once, ..KernelProfile::default() };
        let mut conflicts = free.clone();
        conflicts.shared.wavefronts = 200.0;
        assert_eq!(clocks_of(hopper(), Bound::Shared, &free), 100.0);
        assert_eq!(clocks_of(hopper(), Bound::Shared, &conflicts), 200.0);
        assert_eq!(clocks_of(hopper(), Bound::LoadStore, &conflicts), 200.0);
    }

    #[test]
    fn arithmetic_runs_at_the_rates_of_the_manual() {
        let work = Work { fp32: 128.0, fp64: 128.0, ..Work::default() };
        let profile = KernelProfile { work, ..KernelProfile::default() };
        assert_eq!(clocks_of(hopper(), Bound::Fp32, &profile), 32.0);
        assert_eq!(clocks_of(hopper(), Bound::Fp64, &profile), 64.0);
        let ada = Architecture::find("sm_89").unwrap();
        assert_eq!(clocks_of(ada, Bound::Fp64, &profile), 2048.0);
    }

    #[test]
    fn integers_cost_reals_their_lanes_only_where_they_share_them() {
        let work = Work { fp32: 128.0, int: 64.0, ..Work::default() };
        let profile = KernelProfile { work, ..KernelProfile::default() };
        assert_eq!(clocks_of(hopper(), Bound::Fp32, &profile), 32.0);
        let ampere = Architecture::find("sm_86").unwrap();
        assert_eq!(clocks_of(ampere, Bound::Fp32, &profile), 48.0);
    }

    #[test]
    fn constants_read_in_a_loop_cost_once_many_blocks_run_out_of_step() {
        let work = Work { constants: 100.0, ..Work::default() };
        let profile = KernelProfile { work, ..KernelProfile::default() };
        let fit = Calibration::default();
        let traffic = Traffic::default();
        assert_eq!(constants(&profile, &traffic, fit.constant_blocks, &fit), 100.0);
        let many = fit.constant_blocks + 1;
        assert_eq!(constants(&profile, &traffic, many, &fit), 100.0 * fit.constant_miss);
        let mut diluted = profile.clone();
        diluted.work.fp32 = 100.0;
        assert_eq!(constants(&diluted, &traffic, many, &fit), 50.0 * fit.constant_miss);
    }

    #[test]
    fn l1_and_shared_wavefronts_share_the_data_lines() {
        let traffic = Traffic { requests: 10.0, l1_wavefronts: 40.0, ..Traffic::default() };
        let shared = SharedTraffic { loads: 5.0, stores: 0.0, wavefronts: 60.0 };
        let profile = KernelProfile { shared, ..KernelProfile::default() };
        assert_eq!(load_store(hopper(), &profile, &traffic), 100.0);
    }
}
