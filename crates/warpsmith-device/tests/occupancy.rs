//! Occupancy against the vendor's own answers, and against what must hold of any.

use proptest::prelude::*;
use warpsmith_device::{ARCHITECTURES, Architecture, BlockShape, Carveout, Limiter, occupancy};

mod recorded;

/// 500 triples for each architecture, answered by the occupancy calculator of the CUDA 13.0 toolkit
/// (`cudaOccMaxActiveBlocksPerMultiprocessor`), some with a carve-out in percent (-1: the default).
#[test]
fn as_the_vendors_calculator_for_every_architecture() {
    let table = include_str!("data/vendor_calculator.csv");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let (name, numbers) = line.split_once(',').expect("a name");
        let n: Vec<i64> = numbers.split(',').map(|n| n.parse().expect("a number")).collect();
        let arch = Architecture::find(name).expect("a known architecture");
        let block = BlockShape {
            threads: n[0] as u32,
            registers: n[1] as u32,
            shared_static: n[2] as u32,
            shared_dynamic: n[3] as u32,
        };
        let carveout = u32::try_from(n[4]).map_or(Carveout::Auto, Carveout::Percent);
        let ours = occupancy(arch, block, carveout);
        assert_eq!(i64::from(ours.blocks_per_sm), n[5], "{line}");
        compared += 1;
    }
    assert_eq!(compared, 3500);
}

/// What `cudaOccupancyMaxActiveBlocksPerMultiprocessor` answered on an H200 for the measured kernels, each at several
/// amounts of dynamic shared memory.
#[test]
fn as_the_driver_on_an_h200() {
    let arch = Architecture::find("sm_90").expect("a known architecture");
    let mut compared = 0;
    for kernel in recorded::all() {
        for (dynamic, blocks) in &kernel.occupancy {
            let block = BlockShape { shared_dynamic: *dynamic, ..kernel.profile.block_shape() };
            let ours = occupancy(arch, block, Carveout::Auto);
            assert_eq!(ours.blocks_per_sm, *blocks, "{} {dynamic}: {block:?}", kernel.config);
            compared += 1;
        }
    }
    assert!(compared >= 3000, "{compared}");
}

#[test]
fn the_limiter_is_named() {
    let arch = Architecture::find("sm_90").expect("a known architecture");
    let limiter = |threads, registers, shared_static| {
        let block = BlockShape { threads, registers, shared_static, shared_dynamic: 0 };
        let o = occupancy(arch, block, Carveout::Auto);
        (o.blocks_per_sm, o.limiter)
    };
    assert_eq!(limiter(32, 16, 0), (32, Limiter::Blocks));
    assert_eq!(limiter(1024, 32, 0), (2, Limiter::Warps));
    assert_eq!(limiter(256, 128, 0), (2, Limiter::Registers));
    assert_eq!(limiter(128, 32, 48 * 1024), (4, Limiter::Shared));
    assert_eq!(limiter(0, 32, 0), (0, Limiter::BlockTooLarge));
    assert_eq!(limiter(1025, 32, 0), (0, Limiter::BlockTooLarge));
    assert_eq!(limiter(1024, 65, 0), (0, Limiter::BlockRegisters));
    assert_eq!(limiter(32, 300, 0), (0, Limiter::BlockRegisters));
    assert_eq!(limiter(32, 32, 227 * 1024 + 1), (0, Limiter::BlockShared));
    assert_eq!(limiter(32, 32, u32::MAX), (0, Limiter::BlockShared));
}

fn shapes() -> impl Strategy<Value = (usize, BlockShape)> {
    let shape = (1u32..=1100, 0u32..=300, 0u32..=120_000, 0u32..=120_000);
    (0..ARCHITECTURES.len(), shape).prop_map(|(arch, (threads, registers, fixed, dynamic))| {
        (arch, BlockShape { threads, registers, shared_static: fixed, shared_dynamic: dynamic })
    })
}

proptest! {
    #[test]
    fn more_registers_or_shared_memory_never_raise_it((arch, block) in shapes(), more in 0u32..50_000) {
        let arch = &ARCHITECTURES[arch];
        let blocks = |b| occupancy(arch, b, Carveout::Auto).blocks_per_sm;
        let now = blocks(block);
        let registers = BlockShape { registers: block.registers + more % 100, ..block };
        prop_assert!(blocks(registers) <= now);
        let shared = BlockShape { shared_dynamic: block.shared_dynamic + more, ..block };
        prop_assert!(blocks(shared) <= now);
        let threads = BlockShape { threads: block.threads + more % 512, ..block };
        prop_assert!(blocks(threads) <= now);
    }

    #[test]
    fn what_is_resident_fits((arch, block) in shapes()) {
        let arch = &ARCHITECTURES[arch];
        let o = occupancy(arch, block, Carveout::Auto);
        prop_assert!(o.warps <= arch.max_warps);
        prop_assert!(o.blocks_per_sm <= arch.max_blocks);
        prop_assert!(o.blocks_per_sm == 0 || o.blocks_per_sm * o.shared_per_block <= arch.shared_per_sm);
        prop_assert!(o.warps * 32 * block.registers <= arch.registers_per_sm);
    }

    #[test]
    fn a_block_within_the_register_cap_can_be_launched(arch in 0..ARCHITECTURES.len(), threads in 1u32..=1024) {
        let arch = &ARCHITECTURES[arch];
        let registers = arch.register_cap(threads);
        let block = BlockShape { threads, registers, shared_static: 0, shared_dynamic: 0 };
        prop_assert!(occupancy(arch, block, Carveout::Auto).blocks_per_sm > 0);
    }
}
