//! A launch that the emulator has executed, as compiled code runs it.
//!
//! What is counted is the text: each access and each index as it stands. Compilers keep in registers what does not change
//! in a loop and load neighbouring words together, which the walk through the text knows. Where everything that decides how
//! often something runs is known to it, compiled code does no more of anything than the walk says.

use warpsmith_device::{GlobalTraffic, KernelProfile, SharedTraffic, TrafficKind, Work};
use warpsmith_emu::counters::Counters;
use warpsmith_emu::{Arg, DeviceMemory, LaunchConfig};
use warpsmith_ir::{Function, Module, Scalar, Type, Value, layout::layout_of};

use super::Walked;
use super::values::{Extents, Vars};
use crate::data::scalar_from_bytes;
use crate::profile::{self as counted, Resources};

/// The profile of a launch of which the emulator counted what its text does.
pub fn executed(
    module: &Module,
    launch: &LaunchConfig,
    memory: &DeviceMemory,
    counters: &Counters,
) -> KernelProfile {
    let text = walked(module, launch, memory);
    let resources = Resources {
        registers: text.profile.registers,
        shared_static: text.profile.shared_static,
        parallelism: text.profile.parallelism,
    };
    as_compiled(&text, counted::profile(counters, launch, &resources))
}

/// The same of a kernel whose resources are known otherwise: what is arithmetic, and how often a thread branches. Which lanes of a warp come to an access under a
/// condition only the emulator knows, so that accesses are as it counted them.
pub fn executed_with(
    module: &Module,
    launch: &LaunchConfig,
    memory: &DeviceMemory,
    counters: &Counters,
    resources: &Resources,
) -> KernelProfile {
    let text = walked(module, launch, memory);
    let counted = counted::profile(counters, launch, resources);
    let least = as_compiled(&text, counted.clone());
    KernelProfile { work: least.work, ..counted }
}

fn walked(module: &Module, launch: &LaunchConfig, memory: &DeviceMemory) -> Walked {
    let kernel = module.function(launch.kernel);
    let at = Extents { grid: launch.grid, block: launch.block };
    super::profile(module, kernel, at, &arguments(module, kernel, launch, memory))
}

fn as_compiled(text: &Walked, counted: KernelProfile) -> KernelProfile {
    if text.depends_on_data { counted } else { at_most(counted, &text.profile) }
}

/// Scalars by value, arrays by how many elements are left of them.
fn arguments(
    module: &Module,
    kernel: &Function,
    launch: &LaunchConfig,
    memory: &DeviceMemory,
) -> Vars<Value> {
    let elements = |ty: &Type, buffer: usize, offset: i64| {
        let bytes = i64::try_from(memory.buffers.get(buffer)?.bytes.len()).ok()?;
        let each = ty.pointee().map_or(1, |e| layout_of(module, e).size.max(1));
        let left = bytes.saturating_sub(offset).max(0) / i64::try_from(each).ok()?;
        Some(Value::int(Scalar::I64, left))
    };
    let mut args = Vars::default();
    for (param, arg) in kernel.params.iter().zip(&launch.args) {
        let ty = &kernel.var(*param).ty;
        let value = match (arg, ty.scalar()) {
            (Arg::Bytes(bytes), Some(scalar)) => Some(scalar_from_bytes(scalar, bytes)),
            (Arg::Pointer { buffer, offset }, _) => elements(ty, buffer.0 as usize, *offset),
            _ => None,
        };
        args.set(*param, value);
    }
    args
}

/// A counted profile with no more of anything than a walk through the text found. The walk takes all blocks to be like one;
/// where they are not, the ratio of the arithmetic says how much less there is.
fn at_most(mut counted: KernelProfile, text: &KernelProfile) -> KernelProfile {
    let reals = |w: &Work| w.fp16 + w.fp32 + w.fp64;
    let times = match (reals(&counted.work), reals(&text.work)) {
        (executed, walked) if executed > 0.0 && walked > 0.0 => executed / walked,
        _ => 1.0,
    };
    let least = |n: &mut f64, walked: f64| *n = n.min(walked * times);
    let (work, walked) = (&mut counted.work, &text.work);
    least(&mut work.int, walked.int);
    least(&mut work.control, walked.control);
    least(&mut work.sfu, walked.sfu);
    least(&mut work.constants, walked.constants);
    work.waits = walked.waits * times;
    let SharedTraffic { loads, stores, wavefronts } = &mut counted.shared;
    least(loads, text.shared.loads);
    least(stores, text.shared.stores);
    least(wavefronts, text.shared.wavefronts);
    for kind in KINDS {
        of_kind(&mut counted.global, &text.global, kind, times);
    }
    counted
}

const KINDS: [TrafficKind; 4] =
    [TrafficKind::Load, TrafficKind::Store, TrafficKind::Atomic, TrafficKind::AsyncCopy];

/// The same for the accesses of a kind, all arrays together: what the walk leaves out is left out of each alike.
fn of_kind(counted: &mut [GlobalTraffic], text: &[GlobalTraffic], kind: TrafficKind, times: f64) {
    let sum = |all: &[GlobalTraffic], part: fn(&GlobalTraffic) -> f64| -> f64 {
        all.iter().filter(|g| g.kind == kind).map(part).sum()
    };
    let share = |part: fn(&GlobalTraffic) -> f64| match (sum(counted, part), sum(text, part)) {
        (executed, walked) if executed > 0.0 && walked > 0.0 => {
            (walked * times / executed).min(1.0)
        }
        _ => 1.0,
    };
    let requests = share(|g| g.requests);
    let sectors = share(|g| g.sectors);
    let wavefronts = share(|g| g.wavefronts);
    for g in counted.iter_mut().filter(|g| g.kind == kind) {
        g.requests *= requests;
        g.sectors *= sectors;
        g.wavefronts *= wavefronts;
    }
}
