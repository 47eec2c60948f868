//! `warpsmith stage --auto`: what plans cost on a device, and what is said of them.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use warpsmith_device::{Gpu, KernelProfile, Parallelism, predict};
use warpsmith_emu::counters::InstructionClass;
use warpsmith_stage::auto::costs::{Array, Runnable, Times};
use warpsmith_stage::auto::{Chosen, Costs, Counted, NewLaunch, Tried};
use warpsmith_stage::program::Settings;

use super::measure;
use crate::profile::Resources;
use crate::search::Told;
use warpsmith_translate::tune::device::{Place, Stations};
use warpsmith_translate::tune::profile::executed_with;

/// Registers a thread of a kernel that reads nothing, and for each read on its way at the same time.
const REGISTERS: [u32; 2] = [18, 2];
/// Loads that a compiler issues before the first is needed, at most.
const LOADS_AHEAD: f64 = 8.0;
/// Blocks a multiprocessor of a launch that is large enough to be worth it.
const BLOCKS_PER_SM: f64 = 64.0;

/// The device that plans are ranked for, by its model or by running them.
pub struct Device<'a> {
    pub gpu: &'static Gpu,
    stations: Option<&'a Stations>,
    /// What its times are: measured, or emulated.
    told: Told,
    settings: &'a Settings,
    /// What speaks against measuring.
    notes: &'a [warpsmith_ir::Diagnostic],
}

impl<'a> Device<'a> {
    pub fn new(place: &'a Place, settings: &'a Settings) -> Device<'a> {
        match place {
            Place::Model { arch, notes } => {
                Device { gpu: arch.gpu(), stations: None, told: Told::Emulated, settings, notes }
            }
            Place::Measure(found) => {
                let told = Told::by(&found.hello);
                Device { gpu: found.arch.gpu(), stations: Some(found), told, settings, notes: &[] }
            }
        }
    }
}

impl Costs for Device<'_> {
    fn predicted(&self, counted: &Counted<'_>) -> Option<f64> {
        seconds(self.gpu, counted)
    }

    fn measures(&self) -> bool {
        self.stations.is_some()
    }

    fn measured(&self, arrays: &[Array], texts: &[Runnable]) -> Result<Times, String> {
        let stations = self.stations.ok_or("there is no device")?;
        measure::seconds(stations, self.settings, arrays, texts)
    }
}

/// Seconds that a counted launch takes on a device when its grid is made large.
fn seconds(gpu: &Gpu, counted: &Counted<'_>) -> Option<f64> {
    let Counted { counters, config: launch, shared, own_blocks, times, ahead: early, .. } =
        *counted;
    let loads = |class| counters.class(class).warps as f64 / (counters.blocks.max(1) as f64);
    let warps = f64::from(launch.block.iter().product::<u32>().div_ceil(32).max(1));
    let a_warp = |class| loads(class) / warps;
    // A barrier ends what can be issued ahead, and so does a store: it may be to what is loaded next.
    let rounds = a_warp(InstructionClass::BlockBarrier).max(a_warp(InstructionClass::GlobalStore));
    let ahead = |class| (a_warp(class) / rounds.max(1.0)).clamp(1.0, LOADS_AHEAD);
    let global = match early {
        0 => ahead(InstructionClass::GlobalLoad),
        // They are on their way while those of this iteration are used.
        n => LOADS_AHEAD + f64::from(n - 1),
    };
    let reads = global + ahead(InstructionClass::SharedLoad);
    let resources = Resources {
        registers: REGISTERS[0] + REGISTERS[1] * reads as u32,
        shared_static: shared,
        parallelism: Parallelism {
            arithmetic: 2.0,
            global_loads: global,
            shared_loads: ahead(InstructionClass::SharedLoad),
            copies_ahead: 0.0,
            ..Parallelism::default()
        },
    };
    let mut profile = executed_with(counted.module, launch, counted.memory, counters, &resources);
    let enough = f64::from(gpu.sms) * BLOCKS_PER_SM / own_blocks.max(1.0);
    enlarge(&mut profile, times.unwrap_or_else(|| enough.max(1.0)));
    predict(gpu, &profile).ok().map(|p| p.time_s)
}

/// The same work for a grid so many times as large.
fn enlarge(profile: &mut KernelProfile, by: f64) {
    let blocks = profile.blocks() as f64 * by;
    profile.grid = [blocks.round().max(1.0) as u64, 1, 1];
    let w = &mut profile.work;
    for n in [
        &mut w.fp32,
        &mut w.fp64,
        &mut w.fp16,
        &mut w.int,
        &mut w.sfu,
        &mut w.control,
        &mut w.shuffles,
        &mut w.barriers,
        &mut w.waits,
        &mut w.constants,
        &mut profile.shared.loads,
        &mut profile.shared.stores,
        &mut profile.shared.wavefronts,
    ] {
        *n *= by;
    }
    for g in &mut profile.global {
        g.requests *= by;
        g.sectors *= by;
        g.wavefronts *= by;
        g.grid_bytes *= by;
    }
}

fn tried(t: &Tried, told: Told) -> String {
    let us = |s: f64| format!("{:.1} us", s * 1e6);
    match (t.measured, &t.cost, &t.failed) {
        (_, _, Some(why)) => format!("{}: not used: {why}", t.name),
        (Some(m), Some(s), _) => {
            format!("{}: {} {}, {} predicted", t.name, us(m), told.word(), us(*s))
        }
        (_, Some(s), _) => format!("{}: {}", t.name, us(*s)),
        (_, None, _) => format!("{}: cannot be launched", t.name),
    }
}

/// The report of what was tried, for people.
pub fn human(chosen: &Chosen, device: &Device<'_>) -> String {
    let mut out = String::new();
    let (gpu, told) = (device.gpu, device.told);
    for note in device.notes {
        let _ = writeln!(out, "{}", note.message);
    }
    if !chosen.declined.is_empty() {
        let _ = writeln!(out, "{}: no plan, the kernel stays as it is", chosen.kernel);
        chosen.declined.iter().for_each(|why| _ = writeln!(out, "  {why}"));
        chosen.tried.iter().for_each(|t| _ = writeln!(out, "  {}", tried(t, told)));
        reasons(chosen, &mut out);
        return out;
    }
    let _ = writeln!(
        out,
        "{}: plans and their predicted times on {}, counted at {} and made {}",
        chosen.kernel,
        gpu.name,
        chosen.counted,
        chosen.meant.as_deref().unwrap_or("large")
    );
    let _ = match &chosen.measured {
        Some(Ok(launch)) => writeln!(out, "  {} at {launch}", told.word()),
        Some(Err(why)) => writeln!(out, "  nothing is measured: {why}"),
        None => Ok(()),
    };
    if let Some(s) = chosen.before {
        let us = |s: f64| format!("{:.1} us", s * 1e6);
        let _ = match chosen.before_measured {
            Some(m) => {
                writeln!(out, "  as it is: {} {}, {} predicted", us(m), told.word(), us(s))
            }
            None => writeln!(out, "  as it is: {}", us(s)),
        };
    }
    chosen.tried.iter().for_each(|t| _ = writeln!(out, "  {}", tried(t, told)));
    reasons(chosen, &mut out);
    let _ = match &chosen.best {
        None => writeln!(out, "no plan is better than the kernel as it is, which stays"),
        Some(best) => {
            let count = best.checked.len();
            let apart = match chosen.apart.join(" and ") {
                pairs if pairs.is_empty() => pairs,
                pairs => format!(", where {pairs}"),
            };
            writeln!(
                out,
                "chosen: {}; equal to the file as it was at {count} launches{apart}",
                best.name
            )
        }
    };
    if let Some(launch) = chosen.best.as_ref().and_then(|b| b.launch.as_ref()) {
        launch.grids.iter().for_each(|g| _ = writeln!(out, "  launch: the grid is {g} now"));
        launch.by_hand.iter().for_each(|l| _ = writeln!(out, "  launch: {l}"));
    }
    out
}

/// Why kinds of plans are not among those that were tried.
fn reasons(chosen: &Chosen, out: &mut String) {
    chosen.single.iter().for_each(|why| _ = writeln!(out, "  one step a launch: {why}"));
    chosen.narrow.iter().for_each(|why| _ = writeln!(out, "  one element a thread: {why}"));
}

fn launch(l: &NewLaunch) -> Value {
    json!({"axis": warpsmith_stage::auto::cut::AXES[l.axis], "run": l.run, "grids": l.grids, "by_hand": l.by_hand})
}

/// The same for machines.
pub fn json(chosen: &Chosen, device: &Device<'_>, outputs: &[PathBuf]) -> Value {
    let plans: Vec<Value> = chosen
        .tried
        .iter()
        .map(|t| json!({"name": t.name, "seconds": t.cost, "measured_seconds": t.measured, "failed": t.failed}))
        .collect();
    json!({
        "schema": 1, "command": "stage", "status": "done", "exit": 0, "complete": true, "findings": [],
        "notes": [], "outputs": outputs, "kernel": chosen.kernel,
        "auto": {"device": device.gpu.name, "counted": chosen.counted, "as_it_is_seconds": chosen.before, "plans": plans,
            "told": device.told.word(), "as_it_is_measured_seconds": chosen.before_measured, "one_step": chosen.single, "one_element": chosen.narrow,
            "measured": chosen.measured.as_ref().and_then(|m| m.as_ref().ok()),
            "unmeasured": chosen.measured.as_ref().and_then(|m| m.as_ref().err()),
            "sizes": chosen.meant, "uncut": chosen.uncut,
            "launch": chosen.best.as_ref().and_then(|b| b.launch.as_ref()).map(launch),
            "chosen": chosen.best.as_ref().map(|b| &b.name), "declined": chosen.declined, "assumed": chosen.apart,
        },
        "verification": {"level": "checked", "sizes": chosen.best.as_ref().map_or(&vec![], |b| &b.checked)},
    })
}
