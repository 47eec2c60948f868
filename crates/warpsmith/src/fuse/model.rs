//! Times of routines from the device model.

use std::cell::RefCell;
use std::collections::HashMap;

use warpsmith_device::predict::{Calibration, predict_with};
use warpsmith_device::{
    BlockShape, Carveout, GlobalTraffic, Gpu, KernelProfile, Parallelism, SharedTraffic,
    TrafficKind, Work, occupancy,
};
use warpsmith_fuse::library::Role;
use warpsmith_fuse::predict::{RoutineUse, Times};

/// Each routine as a kernel of its own, that moves or computes nothing else, with the shared memory of the fusion.
pub struct Model {
    gpu: &'static Gpu,
    /// Elements of the data.
    elements: u64,
    known: RefCell<HashMap<Key, f64>>,
}

/// What a time depends on.
type Key = (Role, [u32; 4], [u64; 4]);

/// Registers a thread where no compiler has been asked.
const REGISTERS: u32 = 40;

impl Model {
    pub fn new(gpu: &'static Gpu, elements: u64) -> Model {
        Model { gpu, elements, known: RefCell::default() }
    }

    /// A fused kernel is launched once and its blocks are started once, whatever they do: that is no time of a routine.
    fn without_starts(&self) -> Calibration {
        Calibration {
            launch_s: 0.0,
            dram_ramp_s: 0.0,
            blocks_per_clock: f64::INFINITY,
            block_start: 0.0,
            warp_start: 0.0,
            ..Calibration::default()
        }
    }

    fn profile(&self, routine: &RoutineUse<'_>) -> KernelProfile {
        let blocks = self.elements.div_ceil(routine.elements.into());
        let (warps, total) = (f64::from(routine.threads.div_ceil(32)), blocks as f64);
        let work = &routine.work;
        let moved = f64::from(routine.moved) * f64::from(routine.elements);
        // Taken to be coalesced.
        let requests = (moved / 32.0).ceil();
        let traffic = GlobalTraffic {
            kind: if routine.role == Role::Save { TrafficKind::Store } else { TrafficKind::Load },
            requests: requests * total,
            sectors: moved / 8.0 * total,
            wavefronts: moved / 32.0 * total,
            block_bytes: moved * 4.0,
            reuse_bytes: 0.0,
            between_passes: 0.0,
            grid_bytes: moved * 4.0 * total,
            varies: [true, false, false],
            ..GlobalTraffic::default()
        };
        let shared = work.shared * warps;
        let is_move = routine.role != Role::Compute;
        let stores = if routine.role == Role::Load { shared } else { 0.0 };
        KernelProfile {
            grid: [blocks, 1, 1],
            block_threads: routine.threads.max(1),
            registers: REGISTERS,
            shared_dynamic: routine.own_shared + routine.additional_shared,
            work: Work {
                fp32: work.flops * warps * total,
                sfu: work.functions * warps * total,
                // An address and a step of a loop for each access.
                int: (shared + if is_move { requests } else { 0.0 }) * 2.0 * total,
                ..Work::default()
            },
            shared: SharedTraffic {
                loads: (shared - stores) * total,
                stores: stores * total,
                wavefronts: shared * total,
            },
            global: if is_move { vec![traffic] } else { vec![] },
            parallelism: Parallelism {
                arithmetic: 4.0,
                global_loads: 4.0,
                shared_loads: 4.0,
                copies_ahead: 0.0,
                ..Parallelism::default()
            },
            ..KernelProfile::default()
        }
    }
}

/// Nanoseconds from a request to device memory to its answer under load.
const LATENCY_NS: f64 = 800.0;

impl Model {
    /// Our own copies: all of a kernel are under way together, before any is waited for, so that none has a latency of its
    /// own. They run at the speed of memory as long as a multiprocessor has enough bytes under way (Little's law): what its
    /// resident blocks have asked for.
    fn own_copy(&self, routine: &RoutineUse<'_>, under_way: u32) -> f64 {
        let fit = Calibration::default();
        let per_second = self.gpu.dram_gb_s * 1e9 * fit.dram_share;
        let seconds = 4.0 * f64::from(routine.moved) * self.elements as f64 / per_second;
        let shared = routine.own_shared + routine.additional_shared;
        let shape = BlockShape {
            threads: routine.threads.max(1),
            registers: REGISTERS,
            shared_static: 0,
            shared_dynamic: shared,
        };
        let resident = occupancy(self.gpu.architecture(), shape, Carveout::Auto).blocks_per_sm;
        let under_way = f64::from(resident) * f64::from(under_way.max(1));
        // A block asks for nothing before it has started.
        let waits = LATENCY_NS * 1e-9 + fit.block_start / self.gpu.clock_hz();
        let wanted = waits * per_second / f64::from(self.gpu.sms);
        match resident {
            0 => f64::INFINITY,
            _ => seconds * (wanted / under_way).max(1.0),
        }
    }
}

impl Times for Model {
    fn seconds(&self, routine: &RoutineUse<'_>) -> f64 {
        if let Some(under_way) = routine.under_way {
            return self.own_copy(routine, under_way);
        }
        let sizes = [
            routine.elements,
            routine.threads,
            routine.own_shared + routine.additional_shared,
            routine.moved,
        ];
        let w = &routine.work;
        let key =
            (routine.role, sizes, [w.flops, w.functions, w.shared, w.global].map(f64::to_bits));
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let fit = self.without_starts();
        let time = predict_with(self.gpu, &self.profile(routine), &fit)
            .map_or(f64::INFINITY, |p| p.time_s);
        self.known.borrow_mut().insert(key, time);
        time
    }

    fn launch(&self) -> f64 {
        let fit = Calibration::default();
        fit.launch_s + fit.dram_ramp_s
    }

    fn starting(&self, elements_per_block: u32) -> f64 {
        let blocks = self.elements.div_ceil(elements_per_block.max(1).into());
        blocks as f64 / (Calibration::default().blocks_per_clock * self.gpu.clock_hz())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(size: u32, additional: u32) -> f64 {
        let gpu = Gpu::find("sm_90").unwrap();
        Model::new(gpu, 4_194_304).seconds(&RoutineUse {
            name: "load",
            role: Role::Load,
            elements: 128,
            threads: 128,
            additional_shared: additional,
            own_shared: size * 128 * 4,
            moved: size,
            under_way: Some(size * 128 * 4),
            work: Default::default(),
        })
    }

    #[test]
    fn larger_elements_and_less_room_take_longer() {
        assert!(load(25, 0) > 2.0 * load(9, 0));
        assert!(
            load(9, 160 << 10) >= load(9, 0),
            "one block a multiprocessor is not faster than many"
        );
    }
}
