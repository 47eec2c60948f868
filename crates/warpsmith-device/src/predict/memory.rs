//! Where the sectors come from: L1, L2 or device memory.

use crate::architecture::Architecture;
use crate::gpu::Gpu;
use crate::predict::calibration::Calibration;
use crate::profile::{GlobalTraffic, KernelProfile, TrafficKind};

/// Bytes of a sector.
const SECTOR: f64 = Architecture::SECTOR as f64;

/// Traffic of a launch, level by level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Warp requests to global memory.
    pub requests: f64,
    /// L1 wavefronts of those requests.
    pub l1_wavefronts: f64,
    /// Sectors that go on to L2.
    pub l2_sectors: f64,
    /// What L2 has to do for atomic operations beside moving their sectors, as so many more sectors.
    pub l2_operations: f64,
    /// Atomic operations on one element, one after the other: of the array of which an element has most.
    pub in_turn: f64,
    /// Bytes that go on to device memory.
    pub dram_bytes: f64,
    /// Load requests, which a thread waits for; asynchronous copies it does not.
    pub loads: f64,
    /// Of the sectors that loads ask for, the share that L1 does not have.
    pub l1_miss: f64,
    /// Of the sectors that L2 is asked for, the share that it does not have.
    pub l2_miss: f64,
}

/// Counts the traffic of a launch with so many blocks on a multiprocessor at a time.
pub fn traffic(
    gpu: &Gpu,
    profile: &KernelProfile,
    resident: u32,
    l1_bytes: f64,
    fit: &Calibration,
) -> Traffic {
    let blocks = profile.blocks() as f64;
    let demand: f64 = profile.global.iter().map(|g| g.reuse_bytes).fold(0.0, f64::max);
    let l1_overflow = overflow(demand * f64::from(resident), l1_bytes * fit.l1_share);
    let wave_blocks = (f64::from(resident) * f64::from(gpu.sms)).min(blocks).max(1.0);
    let wave: f64 = profile.global.iter().map(|g| wave_bytes(g, profile.grid, wave_blocks)).sum();
    let whole: f64 = profile.global.iter().map(|g| g.grid_bytes).sum();
    let l2 = gpu.l2_bytes() * fit.l2_share;
    let mut total = Traffic::default();
    let (mut load_sectors, mut load_misses) = (0.0, 0.0);
    for access in &profile.global {
        let alone = alone(access, profile.grid, u64::from(gpu.sms), resident);
        let unshared = 1.0 - (1.0 - alone) * fit.l1_sharing;
        let passed = access.between_passes;
        let held = |bytes: f64, cache: f64| if passed > 0.0 { overflow(bytes, cache) } else { 1.0 };
        let unshared = unshared * held(passed * f64::from(resident), l1_bytes * fit.l1_share);
        let on = l2_sectors(access, blocks, l1_overflow, unshared);
        total.requests += access.requests;
        total.l1_wavefronts += access.wavefronts.max(access.requests);
        total.l2_sectors += on;
        if access.kind == TrafficKind::Atomic {
            total.l2_operations += access.lanes * fit.atomic_lane;
            total.in_turn = total.in_turn.max(access.lanes_an_element);
        }
        let below = dram_bytes(access, profile.grid, wave_blocks, overflow(whole.min(wave), l2));
        let below = below * held((passed * wave_blocks).min(wave), l2);
        // Never more than L2 was asked for, rounding of footprints aside.
        total.dram_bytes += below.min(on * SECTOR);
        if access.kind == TrafficKind::Load {
            total.loads += access.requests;
            load_sectors += access.sectors;
            load_misses += on;
        }
    }
    total.l1_miss = share(load_misses, load_sectors);
    total.l2_miss = share(total.dram_bytes, total.l2_sectors * SECTOR);
    total
}

/// Sectors of an access that go on from L1 to L2.
///
/// Stores are written through and atomics execute in L2, so all theirs do. Of a load's, each block needs every sector
/// of its footprint once; the rest are hits as far as L1 holds what lies between two uses.
fn l2_sectors(access: &GlobalTraffic, blocks: f64, l1_overflow: f64, unshared: f64) -> f64 {
    if matches!(access.kind, TrafficKind::Store | TrafficKind::Atomic) {
        return access.sectors;
    }
    let once = (blocks * access.block_bytes / SECTOR).min(access.sectors);
    let again = access.sectors - once;
    let again = again * if access.reuse_bytes > 0.0 { l1_overflow } else { 0.0 };
    // Copies to shared memory pass L1 by.
    let once = if access.kind == TrafficKind::Load { once * unshared } else { once };
    once + again
}

/// Of the blocks that are resident on one multiprocessor, the share that does not touch what another one does.
///
/// Blocks are dealt out to the multiprocessors in turn, so those of one are `sms` apart; they touch the same where
/// their coordinates along the varying axes are equal.
fn alone(access: &GlobalTraffic, grid: [u64; 3], sms: u64, resident: u32) -> f64 {
    let n = grid.map(|axis| axis.max(1));
    let mut seen: Vec<[u64; 3]> = vec![];
    for i in 0..u64::from(resident.max(1)) {
        let id = i * sms.max(1);
        let mut at = [id % n[0], id / n[0] % n[1], id / n[0] / n[1] % n[2]];
        for (coordinate, varies) in at.iter_mut().zip(access.varies) {
            if !varies {
                *coordinate = 0;
            }
        }
        if !seen.contains(&at) {
            seen.push(at);
        }
    }
    seen.len() as f64 / f64::from(resident.max(1))
}

/// Bytes of an access that device memory has to deliver or take.
///
/// If what a wave of blocks touches stays in L2, every byte moves once. As it outgrows L2, what the next wave shares
/// with this one is gone by then, and each wave moves its own.
fn dram_bytes(access: &GlobalTraffic, grid: [u64; 3], wave_blocks: f64, l2_overflow: f64) -> f64 {
    let blocks: f64 = grid.iter().map(|n| *n as f64).product();
    let waves = (blocks / wave_blocks).max(1.0);
    let each_wave = (wave_bytes(access, grid, wave_blocks) * waves).max(access.grid_bytes);
    access.grid_bytes + (each_wave - access.grid_bytes) * l2_overflow
}

/// Bytes of the different sectors that a wave of consecutive blocks touches, x running fastest.
///
/// The grid's bytes are split evenly over the tiles that the varying axes make; the wave covers as many of them as it
/// has different coordinates along those axes.
fn wave_bytes(access: &GlobalTraffic, grid: [u64; 3], wave_blocks: f64) -> f64 {
    let n = grid.map(|axis| axis.max(1) as f64);
    // How many different coordinates a run of `wave_blocks` has along each axis, and jointly.
    let rows = (wave_blocks / n[0]).ceil().min(n[1]);
    let planes = (wave_blocks / (n[0] * n[1])).ceil().min(n[2]);
    let mut covered = [wave_blocks.min(n[0]), rows, planes];
    let mut tiles = 1.0;
    for axis in 0..3 {
        if access.varies[axis] {
            tiles *= n[axis];
        } else {
            covered[axis] = 1.0;
        }
    }
    let touched = covered.iter().product::<f64>().min(tiles);
    (access.grid_bytes * touched / tiles)
        .min(access.block_bytes.max(access.grid_bytes / tiles) * wave_blocks)
}

/// Share of a working set that a cache cannot keep: 0 when it fits, rising towards 1.
fn overflow(working_set: f64, capacity: f64) -> f64 {
    if working_set <= capacity { 0.0 } else { 1.0 - capacity / working_set }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A of a product of n×n matrices by tiles of 128×128: a row of tiles for each block row.
    fn operand(n: f64, varies: [bool; 3]) -> GlobalTraffic {
        GlobalTraffic {
            block_bytes: 128.0 * n * 4.0,
            grid_bytes: n * n * 4.0,
            varies,
            ..GlobalTraffic::default()
        }
    }

    #[test]
    fn a_wave_touches_the_rows_it_covers_and_all_columns() {
        let grid = [32, 32, 1];
        let n = 4096.0;
        // 64 blocks are two rows of tiles: 2 of 32 tile rows of A, all 32 tile columns of B.
        let a = operand(n, [false, true, false]);
        let b = operand(n, [true, false, false]);
        assert_eq!(wave_bytes(&a, grid, 64.0), n * n * 4.0 / 16.0);
        assert_eq!(wave_bytes(&b, grid, 64.0), n * n * 4.0);
        assert_eq!(wave_bytes(&b, grid, 8.0), n * n * 4.0 / 4.0);
    }

    #[test]
    fn what_fits_in_l2_moves_once_and_what_does_not_once_a_wave() {
        let b = operand(4096.0, [true, false, false]);
        assert_eq!(dram_bytes(&b, [32, 32, 1], 64.0, 0.0), b.grid_bytes);
        assert_eq!(dram_bytes(&b, [32, 32, 1], 64.0, 1.0), 16.0 * b.grid_bytes);
        let a = operand(4096.0, [false, true, false]);
        assert_eq!(
            dram_bytes(&a, [32, 32, 1], 64.0, 1.0),
            a.grid_bytes,
            "no wave shares A with another"
        );
    }

    #[test]
    fn l1_keeps_reuse_that_fits() {
        let access = GlobalTraffic {
            sectors: 900.0,
            block_bytes: 320.0,
            reuse_bytes: 320.0,
            ..GlobalTraffic::default()
        };
        assert_eq!(l2_sectors(&access, 10.0, 0.0, 1.0), 100.0);
        assert_eq!(l2_sectors(&access, 10.0, 1.0, 1.0), 900.0);
        assert_eq!(l2_sectors(&access, 10.0, 0.5, 1.0), 500.0);
        let store = GlobalTraffic { kind: TrafficKind::Store, ..access };
        assert_eq!(l2_sectors(&access, 10.0, 0.0, 0.5), 50.0, "two blocks share");
        assert_eq!(l2_sectors(&store, 10.0, 0.0, 0.5), 900.0, "stores are written through");
    }

    /// 256 blocks with a row each, read twice: 200 MB stay nowhere, 1 MB in L2, and what a block has just read in L1.
    #[test]
    fn a_second_pass_comes_from_what_still_has_the_row() {
        let gpu = Gpu::find("H200").unwrap();
        let bytes = |row: f64| {
            let first = GlobalTraffic {
                sectors: 256.0 * row / SECTOR,
                block_bytes: row,
                grid_bytes: 256.0 * row,
                varies: [true, false, false],
                ..GlobalTraffic::default()
            };
            let second = GlobalTraffic { between_passes: row, ..first };
            let profile = KernelProfile {
                grid: [256, 1, 1],
                global: vec![first, second],
                ..KernelProfile::default()
            };
            let found = traffic(gpu, &profile, 2, 1e5, &Calibration::default());
            [found.l2_sectors * SECTOR, found.dram_bytes].map(|b| b / (256.0 * row))
        };
        let [l2, dram] = bytes(800e3);
        assert!(l2 > 1.9 && dram > 1.8, "{l2} {dram}");
        let [l2, dram] = bytes(80e3);
        assert!(l2 > 1.3 && dram == 1.0, "{l2} {dram}");
        assert_eq!(bytes(8e3), [1.0, 1.0]);
    }

    #[test]
    fn blocks_of_a_multiprocessor_share_what_their_coordinates_share() {
        let b = operand(4096.0, [true, false, false]);
        assert_eq!(alone(&b, [8, 1024, 1], 132, 32), 2.0 / 32.0, "132 mod 8 is 4: two columns");
        assert_eq!(alone(&b, [1024, 8, 1], 132, 4), 1.0);
        let everywhere = operand(4096.0, [true; 3]);
        assert_eq!(alone(&everywhere, [64, 64, 64], 132, 16), 1.0);
        assert_eq!(alone(&operand(4096.0, [false; 3]), [64, 64, 1], 132, 4), 0.25);
    }

    #[test]
    fn caches_overflow_gradually() {
        assert_eq!(overflow(10.0, 10.0), 0.0);
        assert_eq!(overflow(20.0, 10.0), 0.5);
        assert_eq!(overflow(10.0, 0.0), 1.0);
        assert_eq!(overflow(0.0, 0.0), 0.0);
    }
}
