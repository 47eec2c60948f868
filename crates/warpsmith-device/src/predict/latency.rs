//! How long one warp takes if nothing else competes: what other warps and independent work must hide.

use crate::architecture::Architecture;
use crate::predict::calibration::Calibration;
use crate::predict::memory::Traffic;
use crate::predict::pipes::integer_rate;
use crate::profile::KernelProfile;

/// Clocks from the start of a block to its end when every wait is served at once: the longest chain of a warp.
///
/// Little's law in its other form: with W warps on a multiprocessor, each of which has so many operations in flight at
/// a time, throughput cannot pass W × in flight / latency; so a batch of blocks takes at least this chain, however few
/// or many of them there are.
pub fn chain(
    arch: &Architecture,
    profile: &KernelProfile,
    traffic: &Traffic,
    fit: &Calibration,
) -> f64 {
    let warps = busy_warps(profile);
    let (work, lat) = (&profile.work, &arch.latencies);
    let independent = profile.parallelism;
    let arithmetic = independent.arithmetic.max(1.0);
    // A thread issues at most one instruction a clock, and a scheduler a warp instruction of a pipe as wide as a
    // quarter of the unit's lanes: independent chains help down to that.
    let pipe = |count: f64, latency: f64, rate: f64| {
        let issue = f64::from(Architecture::WARP) / (rate / f64::from(arch.schedulers));
        count / warps * (latency / arithmetic).max(issue)
    };
    let rates = &arch.rates;
    let compute = pipe(work.fp32, lat.arithmetic, rates.fp32)
        + pipe(work.fp64, lat.fp64, rates.fp64)
        + pipe(work.fp16, lat.arithmetic, rates.fp16 / 2.0)
        + pipe(work.sfu, lat.sfu, rates.sfu)
        // Addresses and loop counters are chains beside the others: they cost their issue.
        + pipe(work.int, 1.0, integer_rate(arch, fit))
        + (work.control + work.constants) / warps * 2.0
        + work.shuffles / warps * (lat.shared / arithmetic).max(1.0);
    let shared_rounds = profile.shared.loads / warps / independent.shared_loads.max(1.0);
    let shared =
        shared_rounds * lat.shared + (profile.shared.loads + profile.shared.stores) / warps;
    let global_rounds = traffic.loads / warps / independent.global_loads.max(1.0);
    let global = global_rounds * load_latency(arch, traffic, independent.global_loads)
        + traffic.requests / warps;
    let barriers = work.barriers / warps * fit.barrier;
    let busy = compute + shared + global + barriers;
    let starts = profile.started() as f64 / (profile.blocks() as f64).max(1.0);
    fit.block_start * starts + busy + copies(arch, profile, traffic, busy)
}

/// The warps of the grid that have something to do.
fn busy_warps(profile: &KernelProfile) -> f64 {
    let all = profile.blocks() as f64 * f64::from(profile.warps_per_block());
    (all * profile.parallelism.busy_warps.clamp(0.0, 1.0)).max(1.0)
}

/// Clocks of a warp's waits for asynchronous copies: each copy is under way while the warp, busy for so many clocks in
/// all, goes through the strips before it.
fn copies(arch: &Architecture, profile: &KernelProfile, traffic: &Traffic, busy: f64) -> f64 {
    let warps = busy_warps(profile);
    let waits = profile.work.waits / warps;
    if waits == 0.0 {
        return 0.0;
    }
    let lat = &arch.latencies;
    let latency = lat.l2 + traffic.l2_miss * (lat.dram - lat.l2);
    waits * (latency - profile.parallelism.copies_ahead * busy / waits).max(0.0)
}

/// Clocks until the data of so many loads, under way together, has arrived, on average over where it is found.
///
/// A warp waits for the slowest of its sectors and of its loads: the more there are, the likelier one of them misses.
fn load_latency(arch: &Architecture, traffic: &Traffic, together: f64) -> f64 {
    let lat = &arch.latencies;
    let any = |share: f64, of: f64| 1.0 - (1.0 - share.clamp(0.0, 1.0)).powf(of.max(1.0));
    let beyond = lat.l2 + any(traffic.l2_miss, together * traffic.l1_miss) * (lat.dram - lat.l2);
    lat.l1 + any(traffic.l1_miss, together) * (beyond - lat.l1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Parallelism, Work};

    fn arch() -> &'static Architecture {
        Architecture::find("sm_90").unwrap()
    }

    fn chain_of(profile: &KernelProfile, traffic: &Traffic) -> f64 {
        let fit = Calibration { block_start: 0.0, ..Calibration::default() };
        chain(arch(), profile, traffic, &fit)
    }

    #[test]
    fn independent_chains_shorten_the_wait_down_to_the_issue_rate() {
        let mut profile = KernelProfile {
            grid: [1, 1, 1],
            block_threads: 32,
            work: Work { fp32: 1000.0, ..Work::default() },
            ..KernelProfile::default()
        };
        let mut clocks = |ilp: f64| {
            profile.parallelism = Parallelism { arithmetic: ilp, ..Parallelism::default() };
            chain_of(&profile, &Traffic::default())
        };
        assert_eq!(clocks(1.0), 4000.0);
        assert_eq!(clocks(2.0), 2000.0);
        assert_eq!(clocks(4.0), 1000.0);
        assert_eq!(clocks(16.0), 1000.0);
    }

    #[test]
    fn loads_wait_for_the_level_that_has_the_data() {
        let at = |l1_miss, l2_miss| {
            load_latency(arch(), &Traffic { l1_miss, l2_miss, ..Traffic::default() }, 1.0)
        };
        assert_eq!(at(0.0, 0.0), arch().latencies.l1);
        assert_eq!(at(1.0, 0.0), arch().latencies.l2);
        assert_eq!(at(1.0, 1.0), arch().latencies.dram);
    }

    #[test]
    fn copies_that_run_ahead_are_waited_for_only_as_long_as_the_strips_before_do_not_last() {
        let mut profile =
            KernelProfile { grid: [1, 1, 1], block_threads: 32, ..KernelProfile::default() };
        profile.work.waits = 10.0;
        let traffic = Traffic { l2_miss: 1.0, ..Traffic::default() };
        let dram = arch().latencies.dram;
        assert_eq!(chain_of(&profile, &traffic), 10.0 * dram, "nothing to do meanwhile");
        let clocks = |ahead: f64, fp32: f64| {
            let mut busy = profile.clone();
            busy.work.fp32 = fp32;
            busy.parallelism.copies_ahead = ahead;
            chain_of(&busy, &traffic)
        };
        // 4 clocks each: 2000 or 20000.
        assert_eq!(clocks(0.0, 500.0), 2000.0 + 10.0 * dram);
        assert_eq!(clocks(1.0, 500.0), 2000.0 + 10.0 * (dram - 200.0));
        assert_eq!(clocks(2.0, 500.0), 2000.0 + 10.0 * (dram - 400.0));
        assert_eq!(clocks(1.0, 5000.0), 20000.0);
    }

    #[test]
    fn loads_in_flight_together_wait_once() {
        let mut profile =
            KernelProfile { grid: [1, 1, 1], block_threads: 32, ..KernelProfile::default() };
        let traffic = Traffic { loads: 80.0, l1_miss: 1.0, l2_miss: 1.0, ..Traffic::default() };
        let alone = chain_of(&profile, &traffic);
        profile.parallelism.global_loads = 8.0;
        assert_eq!(alone, 8.0 * chain_of(&profile, &traffic));
    }
}
