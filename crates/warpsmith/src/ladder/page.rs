//! What `ladder` says: the table on the terminal, the page, and the JSON object.

use std::path::PathBuf;

use serde_json::{Value, json};
use warpsmith_emu::counters::{AccessCounters, MemoryKind};

use super::{Ladder, Version};
use crate::search::Told;
use crate::status::Status;
use warpsmith_opt::schedule::orders::Order;
use warpsmith_translate::units::time;

/// Sums over the accesses of a version.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Warp instructions to global memory, and the sectors that they touch.
    pub requests: u64,
    pub sectors: u64,
    /// Wavefronts of shared memory, and those of them that conflicts cost.
    pub wavefronts: f64,
    pub conflicts: f64,
}

pub(super) fn accesses(version: &Version) -> impl Iterator<Item = &AccessCounters> {
    let all = version.launches.iter().flat_map(|l| &l.counters.accesses);
    all.filter(|a| matches!(a.memory, MemoryKind::Global | MemoryKind::Shared))
}

pub(super) fn sums(version: &Version) -> Sums {
    let mut sums = Sums::default();
    for a in accesses(version) {
        match a.memory {
            MemoryKind::Global => {
                sums.requests += a.requests.warps;
                sums.sectors += a.sectors;
            }
            _ => {
                sums.wavefronts += a.wavefronts;
                sums.conflicts += a.bank_conflicts();
            }
        }
    }
    sums
}

impl Sums {
    fn sectors_a_request(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.sectors as f64 / self.requests as f64 }
    }
}

pub(super) fn predicted(version: &Version) -> String {
    version.tuned.seconds.as_ref().and_then(|s| s.first()).map_or("–".to_string(), |s| time(*s))
}

/// The share of multiply-adds in the instructions that the device model counts, in percent.
fn fma_percent(version: &Version) -> Option<f64> {
    let (mut fma, mut all) = (0.0, 0.0);
    for p in &version.predicted {
        let (w, shared) = (&p.profile.work, &p.profile.shared);
        let arithmetic = w.fp32 + w.fp64 + w.fp16 + w.int + w.sfu + w.control;
        let other = w.shuffles + w.barriers + w.waits + w.constants + shared.loads + shared.stores;
        let global: f64 = p.profile.global.iter().map(|g| g.requests).sum();
        fma += p.times * (w.fp32 + w.fp64 + w.fp16);
        all += p.times * (arithmetic + other + global);
    }
    (all > 0.0).then(|| 100.0 * fma / all)
}

pub(super) fn fma_share(version: &Version) -> String {
    fma_percent(version).map_or("–".to_string(), |p| format!("{p:.0} %"))
}

/// Wavefronts of shared memory as the compiler's loads make them.
pub(super) fn as_compiled(version: &Version) -> String {
    version.compiled_wavefronts.map_or("–".to_string(), |w| format!("{w:.0}"))
}

/// The time on the device, where versions were timed.
pub(super) fn on_device(version: &Version) -> String {
    version.ms.map_or("–".to_string(), |ms| time(ms / 1e3))
}

/// What the device reaches at most, and what that means for this nest.
pub(super) fn limits(ladder: &Ladder) -> Option<String> {
    let on = ladder.on.as_ref()?;
    let limits = on.limits?;
    let copy = on.bytes as f64 / limits.copy_gb_s / 1e9;
    let text = format!(
        "limits of {}: all arrays once at {:.0} GB/s take {}",
        on.device,
        limits.copy_gb_s,
        time(copy)
    );
    // Of the first version, which does what the source says and nothing more.
    let work: f64 = ladder
        .versions
        .first()?
        .predicted
        .iter()
        .map(|p| p.times * p.profile.work.fp32 * 32.0 * 2.0)
        .sum();
    let arithmetic = time(work / limits.fma_tflop_s / 1e12);
    Some(format!("{text}, the arithmetic at {:.1} TFLOP/s takes {arithmetic}", limits.fma_tflop_s))
}

/// The vendor's library beside the fastest version.
pub(super) fn library(ladder: &Ladder) -> Option<String> {
    let (product, ms) = ladder.on.as_ref()?.library?;
    let best = ladder.versions.iter().filter_map(|v| v.ms).min_by(f64::total_cmp);
    let ratio = best.map_or(String::new(), |b| {
        format!(", {:.2} times the speed of the fastest version", b / ms)
    });
    let (rows, columns, terms) = (product.rows, product.columns, product.terms);
    Some(format!(
        "cuBLAS takes {} for {rows} x {columns} x {terms}{ratio}; a product of as many terms by one library call, timed in the same way",
        time(ms / 1e3)
    ))
}

/// What was compiled for the CPU and at which size, or why there is nothing.
pub(super) fn cpu_title(ladder: &Ladder) -> Result<String, String> {
    match &ladder.on_cpu {
        Ok(on) => Ok(format!(
            "the source's loops in every order on one core of the CPU, by `{}`, at {}",
            on.compiler,
            point(Some(&on.point))
        )),
        Err(why) => Err(format!("the orders of the loops were not timed on the CPU: {why}")),
    }
}

/// The loops, the time, and how the innermost loop goes through each array.
pub(super) fn cpu_rows(ladder: &Ladder) -> Vec<[String; 3]> {
    let orders = ladder.on_cpu.iter().flat_map(|on| &on.orders);
    let row = |(order, ms): &(Order, Option<f64>)| {
        let through = order.innermost.iter().map(|(a, s)| format!("{a} {}", s.name()));
        [
            order.loops.join(", "),
            ms.map_or("not reached".to_string(), |ms| time(ms / 1e3)),
            through.collect::<Vec<_>>().join(", "),
        ]
    };
    orders.map(row).collect()
}

fn point(sizes: Option<&super::Point>) -> String {
    let pairs = sizes.into_iter().flatten().map(|(name, v)| format!("{name}={v}"));
    pairs.collect::<Vec<_>>().join(" ")
}

pub(super) fn title(ladder: &Ladder) -> String {
    let first = ladder.versions.first().map(|v| &v.tuned);
    let on = ladder.on.as_ref();
    let timed = on.map_or(String::new(), |on| format!("{}, ", on.told.on(&on.device)));
    format!(
        "{}: {timed}predicted for {} at {}, emulated and counted at {}",
        first.map_or("", |t| t.name.as_str()),
        ladder.gpu,
        point(first.and_then(|t| t.sizes.first())),
        point(Some(&ladder.point)),
    )
}

/// The table for a person.
pub fn human(ladder: &Ladder, paths: &[PathBuf]) -> String {
    let mut text = title(ladder) + "\n\n";
    text += &format!(
        "{:<22} {}{:>10} {:>10} {:>16} {:>10} {:>18} {:>12} {:>10}\n",
        "version",
        column(ladder, |told| told.word().to_string()),
        "predicted",
        "FMA share",
        "global sectors",
        "a request",
        "shared wavefronts",
        "as compiled",
        "conflicts"
    );
    for (k, version) in ladder.versions.iter().enumerate() {
        let s = sums(version);
        text += &format!(
            "{:<22} {}{:>10} {:>10} {:>16} {:>10.2} {:>18} {:>12} {:>10}\n",
            version.folder(k),
            column(ladder, |_| on_device(version)),
            predicted(version),
            fma_share(version),
            s.sectors,
            s.sectors_a_request(),
            s.wavefronts,
            as_compiled(version),
            s.conflicts
        );
    }
    text.push('\n');
    for (k, version) in ladder.versions.iter().enumerate() {
        for line in version.slower.iter().chain(&version.remarks) {
            text += &format!("{}: {line}\n", version.folder(k));
        }
    }
    for (name, why) in &ladder.left_out {
        text += &format!("left out: {name}: {why}\n");
    }
    for line in limits(ladder).into_iter().chain(library(ladder)) {
        text += &(line + "\n");
    }
    match cpu_title(ladder) {
        Ok(title) => {
            text += &format!("{title}:\n");
            for [loops, time, through] in cpu_rows(ladder) {
                text += &format!("  {loops:<12} {time:>10}  innermost: {through}\n");
            }
        }
        Err(why) => text += &(why + "\n"),
    }
    text += "all versions were checked with every check on\n";
    for path in paths {
        text += &format!("wrote {}\n", path.display());
    }
    text
}

/// A column that is there where versions were timed.
fn column(ladder: &Ladder, cell: impl Fn(Told) -> String) -> String {
    ladder.on.as_ref().map_or(String::new(), |on| format!("{:>10} ", cell(on.told)))
}

/// The page: for each version its idea, schedule, counters and what it changes.
pub fn markdown(ladder: &Ladder) -> String {
    let mut text = format!("# {}\n\n", title(ladder));
    let (head, line) = match &ladder.on {
        Some(on) => (format!(" {} |", on.told.word()), "---|"),
        None => (String::new(), ""),
    };
    text += &format!(
        "| version |{head} predicted | FMA share | global sectors | a request | shared wavefronts | as compiled | bank conflicts |\n|---|{line}---|---|---|---|---|---|---|\n"
    );
    for (k, version) in ladder.versions.iter().enumerate() {
        let s = sums(version);
        text += &format!(
            "| [{0}]({0}) |{6} {1} | {7} | {2} | {3:.2} | {4} | {8} | {5} |\n",
            version.folder(k),
            predicted(version),
            s.sectors,
            s.sectors_a_request(),
            s.wavefronts,
            s.conflicts,
            ladder.on.as_ref().map_or(String::new(), |_| format!(" {} |", on_device(version))),
            fma_share(version),
            as_compiled(version)
        );
    }
    for line in limits(ladder).into_iter().chain(library(ladder)) {
        text += &format!("\n{}.\n", capital(&line));
    }
    for (name, why) in &ladder.left_out {
        text += &format!("\nLeft out: {name}, because {why}.\n");
    }
    text += "\nThe lines that a version changes are in its `changes.diff`, and side by side in `ladder.html`.\n";
    text += &cpu(ladder);
    for (k, version) in ladder.versions.iter().enumerate() {
        text += &section(k, version);
    }
    text
}

/// The orders of the loops on the CPU.
fn cpu(ladder: &Ladder) -> String {
    let title = match cpu_title(ladder) {
        Ok(title) => title,
        Err(why) => return format!("\n{}.\n", capital(&why)),
    };
    let mut text = format!(
        "\n{}:\n\n| loops, outermost first | time | the innermost loop wants of |\n|---|---|---|\n",
        capital(&title)
    );
    for row in cpu_rows(ladder) {
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

fn section(index: usize, version: &Version) -> String {
    let mut text = format!(
        "\n## {} {}{}\n\n{}.\n",
        index + 1,
        version.name,
        lecture(version),
        capital(&version.idea)
    );
    if !version.given_up.is_empty() {
        text += &format!("\nGiven up: `{}`.\n", version.given_up.join("`, `"));
    }
    for line in version.slower.iter().chain(&version.remarks) {
        text += &format!("\n{}.\n", capital(line));
    }
    let steps: Vec<&str> = version.tuned.schedule.lines().collect();
    text += &format!("\nSchedule: `{}`.\n", steps.join("`, `"));
    text += "\n| array | access | requests | sectors a request | bank conflicts |\n|---|---|---|---|---|\n";
    text += &access_rows(version);
    text
}

/// One row for each array and kind of access, all its instructions together.
fn access_rows(version: &Version) -> String {
    let mut rows: Vec<(&AccessCounters, u64, u64, f64)> = vec![];
    for a in accesses(version) {
        let own = (a.requests.warps, a.sectors, a.bank_conflicts());
        let alike = |row: &&mut (&AccessCounters, u64, u64, f64)| {
            (&row.0.array, row.0.memory, row.0.kind) == (&a.array, a.memory, a.kind)
        };
        match rows.iter_mut().find(alike) {
            Some((_, requests, sectors, conflicts)) => {
                *requests += own.0;
                *sectors += own.1;
                *conflicts += own.2;
            }
            None => rows.push((a, own.0, own.1, own.2)),
        }
    }
    let row = |(a, requests, sectors, conflicts): (&AccessCounters, u64, u64, f64)| {
        let (sectors, conflicts) = match a.memory {
            MemoryKind::Global => {
                (format!("{:.2}", sectors as f64 / requests.max(1) as f64), String::new())
            }
            _ => (String::new(), conflicts.to_string()),
        };
        let kind = format!("{} {}", a.memory.name(), a.kind.name());
        format!("| `{}` | {kind} | {requests} | {sectors} | {conflicts} |\n", a.array)
    };
    rows.into_iter().map(row).collect()
}

/// The name that the step has in the lecture.
pub(super) fn lecture(version: &Version) -> String {
    version.lecture.map_or(String::new(), |n| format!(" (step {n} of the lecture)"))
}

pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// The result in schema 1.
pub fn json(ladder: &Ladder, paths: &[PathBuf]) -> Value {
    let outputs: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let versions: Vec<Value> = ladder
        .versions
        .iter()
        .map(|v| {
            let s = sums(v);
            json!({
                "name": v.name,
                "lecture": v.lecture,
                "idea": v.idea,
                "given_up": v.given_up,
                "slower": v.slower,
                "remarks": v.remarks,
                "schedule": v.tuned.schedule.lines().collect::<Vec<_>>(),
                "predicted_seconds": v.tuned.seconds,
                "ms": v.ms,
                "fma_percent": fma_percent(v),
                "launches": v.launches.iter().map(|l| json!({
                    "kernel": l.kernel, "grid": l.grid, "block": l.block,
                })).collect::<Vec<_>>(),
                "global_requests": s.requests,
                "global_sectors": s.sectors,
                "shared_wavefronts": s.wavefronts,
                "compiled_wavefronts": v.compiled_wavefronts,
                "bank_conflicts": s.conflicts,
                "verification": {"level": "checked", "sizes": v.tuned.verified.sizes},
            })
        })
        .collect();
    json!({
        "schema": 1,
        "command": "ladder",
        "status": Status::Done.name(),
        "exit": 0,
        "complete": true,
        "findings": [],
        "notes": [],
        "outputs": outputs,
        "verification": {"level": "checked"},
        "gpu": ladder.gpu,
        "times": ladder.on.as_ref().map_or("predicted", |on| on.told.word()),
        "device": ladder.on.as_ref().map(|on| json!({
            "name": on.device, "bytes": on.bytes, "copy_gb_s": on.limits.map(|l| l.copy_gb_s),
            "fma_tflop_s": on.limits.map(|l| l.fma_tflop_s),
            "library": on.library.map(|(p, ms)| json!({
                "name": "cuBLAS", "ms": ms, "rows": p.rows, "columns": p.columns, "terms": p.terms,
            })),
        })),
        "cpu": ladder.on_cpu.as_ref().ok().map(|on| json!({
            "compiler": on.compiler, "size": on.point,
            "orders": on.orders.iter().map(|(o, ms)| json!({
                "loops": o.loops, "ms": ms,
                "innermost": o.innermost.iter().map(|(array, stride)| json!({
                    "array": array, "goes": stride.name(),
                })).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })),
        "cpu_why": ladder.on_cpu.as_ref().err(),
        "counted_at": ladder.point,
        "versions": versions,
        "left_out": ladder.left_out.iter().map(|(n, w)| json!({"name": n, "why": w})).collect::<Vec<_>>(),
    })
}
