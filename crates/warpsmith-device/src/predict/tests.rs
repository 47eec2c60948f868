//! One test a term: what must happen to the time when one count changes.

use super::*;
use crate::profile::{GlobalTraffic, Parallelism, SharedTraffic, TrafficKind, Work};

fn h200() -> &'static Gpu {
    Gpu::find("H200").unwrap()
}

/// Enough blocks of 256 threads to fill any GPU many times over.
fn big() -> KernelProfile {
    KernelProfile {
        grid: [132 * 800, 1, 1],
        block_threads: 256,
        registers: 32,
        parallelism: Parallelism {
            arithmetic: 8.0,
            global_loads: 8.0,
            shared_loads: 8.0,
            ..Parallelism::default()
        },
        ..KernelProfile::default()
    }
}

/// Warps of [`big`].
const WARPS: f64 = 132.0 * 800.0 * 8.0;

/// A stream: every warp reads so many sectors nobody else reads.
fn stream(sectors_a_warp: f64) -> GlobalTraffic {
    let requests = WARPS * sectors_a_warp / 4.0;
    GlobalTraffic {
        kind: TrafficKind::Load,
        requests,
        sectors: requests * 4.0,
        wavefronts: requests,
        block_bytes: sectors_a_warp * 8.0 * 32.0,
        reuse_bytes: 0.0,
        between_passes: 0.0,
        grid_bytes: requests * 128.0,
        varies: [true, false, false],
        ..GlobalTraffic::default()
    }
}

fn time(profile: &KernelProfile) -> Prediction {
    predict(h200(), profile).unwrap()
}

#[test]
fn twice_the_sectors_take_twice_the_time_of_device_memory() {
    let fit = Calibration::default();
    let at = |sectors| time(&KernelProfile { global: vec![stream(sectors)], ..big() });
    let (one, two) = (at(64.0), at(128.0));
    assert_eq!(one.bound, Bound::Dram);
    let body = |p: &Prediction| p.part(Bound::Dram) - fit.dram_ramp_s;
    assert!((body(&two) / body(&one) - 2.0).abs() < 1e-9);
    assert!((two.time_s / one.time_s - 2.0).abs() < 0.1, "{} {}", one.time_s, two.time_s);
}

#[test]
fn a_two_way_bank_conflict_doubles_the_time_of_shared_memory() {
    let with = |wavefronts: f64| {
        let shared =
            SharedTraffic { loads: WARPS * 1e4, stores: 0.0, wavefronts: WARPS * wavefronts };
        time(&KernelProfile { shared, ..big() })
    };
    let (free, conflicts) = (with(1e4), with(2e4));
    assert_eq!(conflicts.part(Bound::Shared), 2.0 * free.part(Bound::Shared));
    assert!(conflicts.time_s / free.time_s > 1.8);
}

#[test]
fn arithmetic_takes_its_share_of_the_peak() {
    let work = Work { fp32: WARPS * 1e4, ..Work::default() };
    let predicted = time(&KernelProfile { work, ..big() });
    let flops = WARPS * 1e4 * 64.0;
    let share = flops / predicted.time_s / 66.9e12;
    assert!((0.5..1.0).contains(&share), "{share}");
}

#[test]
fn fewer_warps_than_latency_needs_lower_throughput() {
    let dependent = |registers| {
        let parallelism = Parallelism::default();
        let work = Work { fp32: WARPS * 1e4, ..Work::default() };
        time(&KernelProfile { registers, work, parallelism, ..big() })
    };
    // 255 registers leave one block of 8 warps: two a scheduler, where four are needed to hide four clocks.
    let (many, few) = (dependent(32), dependent(255));
    assert_eq!((many.occupancy.warps, few.occupancy.warps), (64, 8));
    assert_eq!(few.bound, Bound::Latency);
    assert!(few.time_s > 1.4 * many.time_s, "{} {}", few.time_s, many.time_s);
}

#[test]
fn loads_in_flight_make_up_for_warps() {
    let with = |global_loads| {
        let parallelism = Parallelism { global_loads, ..big().parallelism };
        time(&KernelProfile { registers: 255, global: vec![stream(256.0)], parallelism, ..big() })
    };
    assert!(with(1.0).time_s > 1.5 * with(8.0).time_s);
}

#[test]
fn a_last_wave_with_one_block_costs_a_whole_wave() {
    let work = |blocks: f64| Work { fp32: blocks * 8.0 * 1e6, ..Work::default() };
    let of = |blocks: u64| {
        let profile = KernelProfile {
            grid: [blocks, 1, 1],
            work: work(blocks as f64),
            registers: 255,
            ..big()
        };
        time(&profile)
    };
    // One block a multiprocessor at a time: 132 are one wave, 133 two, 264 as well.
    let (one, tail, two) = (of(132), of(133), of(264));
    assert!((tail.time_s / one.time_s - 2.0).abs() < 0.05, "{} {}", one.time_s, tail.time_s);
    assert!((two.time_s / tail.time_s - 1.0).abs() < 0.05);
}

#[test]
fn reuse_that_l1_holds_costs_l2_nothing() {
    let again = |reuse_bytes| {
        let mut access = stream(4.0);
        access.requests *= 16.0;
        access.sectors *= 16.0;
        access.wavefronts *= 16.0;
        access.reuse_bytes = reuse_bytes;
        time(&KernelProfile { global: vec![access], ..big() })
    };
    let (held, lost) = (again(1024.0), again(1e6));
    assert_eq!(held.traffic.l2_sectors, WARPS * 4.0);
    assert!(lost.traffic.l2_sectors > 10.0 * held.traffic.l2_sectors);
    assert!(lost.time_s > held.time_s);
}

#[test]
fn spilled_registers_cost_time() {
    let work = Work { fp32: WARPS * 1000.0, ..Work::default() };
    let fits = KernelProfile { work, ..big() };
    let spills = KernelProfile { spill_bytes: 400, spill_executions: 10.0, ..fits.clone() };
    assert!(time(&spills).time_s > 1.5 * time(&fits).time_s);
}

#[test]
fn barriers_cost_time_when_a_block_is_alone() {
    let with = |barriers: f64| {
        let work = Work { fp32: WARPS * 1000.0, barriers: WARPS * barriers, ..Work::default() };
        time(&KernelProfile { registers: 255, work, ..big() }).time_s
    };
    assert!(with(100.0) > with(0.0));
    assert!(with(1000.0) > with(100.0));
}

#[test]
fn tiny_blocks_are_limited_by_how_fast_blocks_start() {
    let profile =
        KernelProfile { grid: [4_194_304, 1, 1], block_threads: 32, registers: 16, ..big() };
    let predicted = time(&profile);
    assert_eq!(predicted.bound, Bound::Blocks);
    // Measured: 2.53 ms for so many blocks with little work.
    assert!((predicted.time_s / 2.53e-3 - 1.0).abs() < 0.1, "{}", predicted.time_s);
}

#[test]
fn every_architecture_gives_a_time_and_a_faster_board_a_shorter_one() {
    let profile = KernelProfile { global: vec![stream(64.0)], ..big() };
    for gpu in &crate::GPUS {
        let p = predict(gpu, &profile).unwrap();
        assert!(p.time_s.is_finite() && p.time_s > 0.0, "{}", gpu.name);
        assert_eq!(p.bound, p.parts[0].bound);
        assert!(p.parts.iter().all(|part| part.seconds <= p.time_s * 1.001), "{}", gpu.name);
    }
    let on = |name| predict(Gpu::find(name).unwrap(), &profile).unwrap().time_s;
    assert!(on("T4") > on("A100 SXM 80GB") && on("A100 SXM 80GB") > on("H200"));
}

#[test]
fn what_cannot_run_has_no_time() {
    let refused = |profile: &KernelProfile| predict(h200(), profile).unwrap_err().to_string();
    let shared = KernelProfile { shared_static: 300_000, ..big() };
    assert_eq!(refused(&shared), "a block has too many bytes of shared memory");
    let threads = KernelProfile { block_threads: 1025, ..big() };
    assert_eq!(refused(&threads), "a block has too many threads");
    let mut broken = big();
    broken.work.int = f64::INFINITY;
    assert_eq!(refused(&broken), "a count of the profile is not a number of events");
}

#[test]
fn an_empty_grid_takes_no_time_and_a_huge_one_does_not_overflow() {
    let empty = KernelProfile { grid: [0, 5, 5], ..big() };
    assert_eq!(time(&empty).time_s, 0.0);
    let huge = KernelProfile { grid: [u64::MAX, u64::MAX, 1], ..big() };
    assert!(time(&huge).time_s.is_finite());
}

#[test]
fn times_that_overlap_take_at_least_the_longest_and_at_most_the_sum() {
    assert_eq!(join(&[], 4.0), 0.0);
    assert_eq!(join(&[0.0, 0.0], 4.0), 0.0);
    assert_eq!(join(&[3.0, 5.0], 1.0), 8.0);
    let both = join(&[4.0, 4.0], 4.0);
    assert!((4.0..8.0).contains(&both));
    assert!((join(&[1e-300, 2e-300], 4.0) / 2e-300 - 1.0).abs() < 0.1, "no underflow");
}

#[test]
fn resident_blocks_are_started_once_and_run_the_same_waves() {
    let work = Work { fp32: 4096.0 * WARPS, ..Work::default() };
    let profile = KernelProfile { grid: [132 * 20 + 12, 1, 1], work, ..big() };
    let (each, resident) = (time(&profile), KernelProfile { resident: Some(132 * 8), ..profile });
    let once = time(&resident);
    assert_eq!(each.waves, once.waves);
    assert!(once.time_s <= each.time_s && once.time_s > 0.95 * each.time_s);
    assert!(once.part(Bound::Blocks) < each.part(Bound::Blocks));
    // Fewer than there is room for leave a device idle: twice as many waves of half as many blocks.
    let few = time(&KernelProfile { resident: Some(132 * 4), ..resident.clone() });
    assert!(few.waves > once.waves);
    // More than there are tiles are not started.
    let many = time(&KernelProfile { resident: Some(1 << 20), ..resident });
    assert_eq!(many.time_s, each.time_s);
}

#[test]
fn where_work_grows_along_the_grid_one_multiprocessor_has_more_of_it() {
    let mut profile = big();
    profile.work.fp32 = WARPS * 1e4;
    let seconds = |blocks: u64, longest_block: f64| {
        let mut profile = profile.clone();
        let share = blocks as f64 / profile.blocks() as f64;
        profile.grid = [blocks, 1, 1];
        profile.work.fp32 *= share;
        profile.parallelism.longest_block = longest_block;
        time(&profile).time_s
    };
    // A block for each multiprocessor: all wait for the longest; a hundred for each: they even out.
    let grows = |blocks: u64| seconds(blocks, 2.0) / seconds(blocks, 1.0);
    assert!(grows(132) > 1.5, "{}", grows(132));
    assert!((1.0..1.1).contains(&grows(132 * 100)), "{}", grows(132 * 100));
}

/// As measured: 2²⁶ lanes that add to one element take 52 ms.
#[test]
fn lanes_that_update_one_element_take_turns() {
    let lanes = f64::from(1 << 26);
    let bins = |elements: f64| {
        let atomic = GlobalTraffic {
            kind: TrafficKind::Atomic,
            lanes,
            lanes_an_element: lanes / elements,
            ..stream(1.0)
        };
        time(&KernelProfile { global: vec![atomic], ..big() }).part(Bound::L2)
    };
    assert!((0.050..0.055).contains(&bins(1.0)), "{}", bins(1.0));
    assert!((0.9..1.1).contains(&(bins(1.0) / bins(10.0) / 10.0)));
    // With as many elements L2 has all of its rate.
    assert_eq!(bins(1e6), bins(1e7));
}
