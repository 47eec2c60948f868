//! From what the emulator counts to what the device model asks for.

use warpsmith_device::{
    GlobalTraffic, KernelProfile, Parallelism, SharedTraffic, TrafficKind, Work,
};
use warpsmith_emu::LaunchConfig;
use warpsmith_emu::counters::{
    AccessCounters, AccessKind, ArrayCounters, Counters, InstructionClass as Class, MemoryKind,
    SECTOR,
};

/// What no execution tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resources {
    /// Registers a thread.
    pub registers: u32,
    /// Static shared memory a block in bytes.
    pub shared_static: u32,
    /// Independent work of a thread.
    pub parallelism: Parallelism,
}

/// The profile of a launch that the emulator has counted.
///
/// Bytes between two uses of a sector are the mean of what the block touched in between, no more than all that it
/// touches.
pub fn profile(c: &Counters, launch: &LaunchConfig, resources: &Resources) -> KernelProfile {
    let block: u64 = c.arrays.iter().map(|a| a.block_sectors * SECTOR).sum();
    let block_bytes = ratio(block as f64, c.blocks);
    KernelProfile {
        grid: launch.grid.map(u64::from),
        block_threads: launch.block.iter().product(),
        registers: resources.registers,
        spill_executions: 1.0,
        shared_static: resources.shared_static,
        shared_dynamic: launch.dynamic_shared,
        work: work(c),
        shared: shared(c),
        global: c.arrays.iter().map(|a| traffic(a, c, block_bytes)).collect(),
        parallelism: resources.parallelism,
        ..KernelProfile::default()
    }
}

fn work(c: &Counters) -> Work {
    let sum = |classes: &[Class]| classes.iter().map(|k| c.class(*k).warps as f64).sum::<f64>();
    Work {
        fp32: sum(&[Class::Fp32Add, Class::Fp32Mul, Class::Fp32Fma, Class::Fp32Other]),
        fp64: sum(&[Class::Fp64Add, Class::Fp64Mul, Class::Fp64Fma, Class::Fp64Other]),
        fp16: sum(&[Class::Fp16]),
        int: sum(&[Class::Integer]),
        sfu: sum(&[Class::SpecialFunction, Class::Conversion]),
        control: sum(&[Class::Branch, Class::Vote]),
        shuffles: sum(&[Class::Shuffle]),
        barriers: sum(&[Class::BlockBarrier]),
        constants: sum(&[Class::ConstantLoad]),
        // Copies are taken to run far enough ahead.
        waits: 0.0,
    }
}

fn shared(c: &Counters) -> SharedTraffic {
    let mut sum = SharedTraffic::default();
    for a in c.accesses.iter().filter(|a| a.memory == MemoryKind::Shared) {
        match a.kind {
            AccessKind::Load => sum.loads += a.requests.warps as f64,
            _ => sum.stores += a.requests.warps as f64,
        }
        sum.wavefronts += a.wavefronts;
    }
    sum
}

fn traffic(a: &ArrayCounters, c: &Counters, block_bytes: f64) -> GlobalTraffic {
    let between = ratio((a.reuse_distance * SECTOR) as f64, a.reuses);
    let lanes = a.requests as f64 * lanes_a_request(c, a.kind);
    // Of words, which most are.
    let elements = (a.grid_sectors * SECTOR) as f64 / 4.0;
    GlobalTraffic {
        kind: match a.kind {
            AccessKind::Load => TrafficKind::Load,
            AccessKind::Store => TrafficKind::Store,
            AccessKind::Atomic => TrafficKind::Atomic,
            AccessKind::AsyncCopy => TrafficKind::AsyncCopy,
        },
        requests: a.requests as f64,
        sectors: a.sectors as f64,
        wavefronts: a.wavefronts,
        lanes,
        lanes_an_element: if a.kind == AccessKind::Atomic {
            lanes / elements.max(1.0)
        } else {
            0.0
        },
        block_bytes: ratio((a.block_sectors * SECTOR) as f64, c.blocks),
        reuse_bytes: between.min(block_bytes),
        between_passes: 0.0,
        grid_bytes: (a.grid_sectors * SECTOR) as f64,
        varies: a.varies,
    }
}

/// Active lanes of a request to global memory of a kind, on average over all arrays.
fn lanes_a_request(c: &Counters, kind: AccessKind) -> f64 {
    let of_kind = |a: &&AccessCounters| a.memory == MemoryKind::Global && a.kind == kind;
    let sum = |(lanes, warps): (u64, u64), a: &AccessCounters| {
        (lanes + a.requests.threads, warps + a.requests.warps)
    };
    let (lanes, warps) = c.accesses.iter().filter(of_kind).fold((0, 0), sum);
    ratio(lanes as f64, warps)
}

fn ratio(a: f64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a / b as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_emu::counters::Count;
    use warpsmith_ir::FuncId;

    #[test]
    fn counts_become_a_profile() {
        let array = ArrayCounters {
            array: "a".to_string(),
            kind: AccessKind::Load,
            requests: 40,
            sectors: 160,
            wavefronts: 40.0,
            block_sectors: 80,
            grid_sectors: 20,
            reuses: 10,
            reuse_distance: 30,
            varies: [true, false, false],
        };
        let fma = (Class::Fp32Fma, Count { warps: 7, threads: 200 });
        let c =
            Counters { blocks: 4, arrays: vec![array], classes: vec![fma], ..Counters::default() };
        let launch = LaunchConfig {
            kernel: FuncId(0),
            grid: [4, 1, 1],
            block: [64, 2, 1],
            dynamic_shared: 8,
            cluster: None,
            args: vec![],
        };
        let resources = Resources { registers: 32, shared_static: 16, ..Resources::default() };
        let p = profile(&c, &launch, &resources);
        assert!(p.is_sane());
        assert_eq!((p.blocks(), p.block_threads, p.registers, p.work.fp32), (4, 128, 32, 7.0));
        let g = p.global[0];
        assert_eq!((g.block_bytes, g.reuse_bytes, g.grid_bytes), (640.0, 96.0, 640.0));
        assert_eq!((g.requests, g.sectors, g.varies), (40.0, 160.0, [true, false, false]));
    }
}
