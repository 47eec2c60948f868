//! What `tune` says when it is done: `result.json` and the lines on the terminal.

use std::path::PathBuf;

use serde_json::{Value, json};
use warpsmith_gpu::protocol::Limits;

use super::choice::Registers;
use super::compiled::Used;
use super::pipeline::{Planned, Tuned};
use super::recompute::Recomputed;
use super::search::Measured;
use super::steps;
use super::verify::points;
use crate::search::{FASTER_THAN_A_COPY, Told};
use crate::status::Status;
use crate::units::time;

/// The lines for a person.
pub fn human(tuned: &Tuned, paths: &[PathBuf]) -> String {
    let v = &tuned.verified;
    let mut text = steps::human(&tuned.shown);
    text += &format!("{}: {} for {}\n", tuned.source, tuned.name, tuned.arch);
    for line in tuned.schedule.lines() {
        text += &format!("  {line}\n");
    }
    let expected = tuned.seconds.as_ref().and_then(|s| s.first());
    match (&tuned.planned, &tuned.measured, expected) {
        (Some(planned), ..) => text += &prediction(planned),
        (None, None, Some(s)) => text += &format!("predicted for {}: {}\n", tuned.gpu, time(*s)),
        _ => {}
    }
    if let Some(measured) = &tuned.measured {
        text += &measurement(measured);
    }
    let host = if v.with_host > 0 { ", compared with the host compiler's code" } else { "" };
    text += &format!("checked with every check on{host}: {}\n", points::summary(&v.points));
    for part in &v.in_part {
        text += &format!("checked in part: {part}\n");
    }
    for axis in &v.one_block {
        text += &format!("not checked: no second block of {axis} was run\n");
    }
    for assumption in &tuned.assumptions {
        text += &format!("assumed: {assumption}\n");
    }
    for path in paths {
        text += &format!("wrote {}\n", path.display());
    }
    if paths.is_empty() {
        for (name, _) in &tuned.files {
            text += &format!("would write {}\n", tuned.folder.join(name).display());
        }
    }
    text
}

/// What was measured: the chosen schedule, the direct translation, and what the device reaches at most.
fn measurement(m: &Measured) -> String {
    let devices = if m.devices > 1 { format!(", {} of them", m.devices) } else { String::new() };
    let recalled = match m.recalled {
        0 => String::new(),
        n => format!(", {n} of them known from before"),
    };
    let mut text = format!(
        "{}{devices}: {} of {} configurations in {:.1} s by {}{recalled}; {} failed\n{}",
        m.told().on(&m.hello.device),
        m.evaluated,
        m.configurations,
        m.elapsed.as_secs_f64(),
        m.strategy.name(),
        m.failed,
        parameters(m)
    );
    for (kind, count, why) in &m.failures {
        let why = if why.is_empty() { String::new() } else { format!(", such as: {why}") };
        text += &format!("  {count} {kind}{why}\n");
    }
    for (at, (size, ms)) in m.sizes.iter().zip(&m.ms).enumerate() {
        let direct = m.direct_ms.as_ref().and_then(|d| d.get(at)).filter(|_| !m.chosen.is_empty());
        let against = direct.map_or(String::new(), |d| match d / ms {
            gain if gain < 1.02 => {
                format!("; no gain over the direct translation ({})", time(d / 1e3))
            }
            gain => {
                format!("; {gain:.2} times as fast as the direct translation ({})", time(d / 1e3))
            }
        });
        text += &format!("{size}: {} {}{against}\n", m.told().word(), time(ms / 1e3));
    }
    text += &own_kernel(m);
    if let (Some(limits), Some(ms)) = (&m.limits, m.ms.first()) {
        text += &limits_line(limits, m.bytes, *ms);
    }
    if let Some(mark) = &m.too_fast {
        text += &format!("note: {mark}\n");
    }
    for (size, recomputed) in m.sizes.iter().zip(&m.recomputed) {
        text += &match recomputed {
            Recomputed::Equal(n) => format!("{size}: {n} elements computed on the CPU are equal\n"),
            Recomputed::Not(why) => format!("{size}: no elements computed on the CPU: {why}\n"),
        };
    }
    for note in &m.notes {
        text += &format!("note: {note}\n");
    }
    text
}

/// How the user's kernel does beside the chosen one.
fn own_kernel(m: &Measured) -> String {
    let Some(own) = &m.against else { return String::new() };
    let Some(own) = own else { return "your kernel fails, or its results differ\n".into() };
    let line = |((size, own), ms): ((&String, &f64), &f64)| {
        let taken = time(own / 1e3);
        format!("{size}: your kernel takes {taken}, {:.2} times as long\n", own / ms)
    };
    m.sizes.iter().zip(own).zip(&m.ms).map(line).collect()
}

/// The values of a schedule's own parameters; what templates offer is told by the steps above.
fn parameters(m: &Measured) -> String {
    if m.chosen.is_empty() {
        return "  the direct translation\n".into();
    }
    if m.chosen.contains_key("steps") {
        return String::new();
    }
    let names: Vec<String> = m.chosen.iter().map(|(n, v)| format!("{n} = {}", plain(v))).collect();
    format!("  {}\n", names.join(", "))
}

/// What the device reaches at most, beside a kernel that takes `ms` and whose arrays have `all` bytes together.
pub fn limits_line(limits: &Limits, all: u64, ms: f64) -> String {
    let copy = all as f64 / limits.copy_gb_s / 1e6;
    format!(
        "limits measured in the same run: a copy that moves {} as all arrays together takes {} ({:.0} GB/s, {:.0} % of \
         the kernel's time{}); FMA peak {:.1} TFLOP/s\n",
        bytes(all),
        time(copy / 1e3),
        limits.copy_gb_s,
        100.0 * copy / ms,
        if copy > FASTER_THAN_A_COPY * ms { ", which cannot have moved all of them" } else { "" },
        limits.fma_tflop_s
    )
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn bytes(n: u64) -> String {
    match n as f64 {
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.2} GB", b / 1e9),
    }
}

/// What the model said of the chosen schedule, at the first size.
fn prediction(planned: &Planned) -> String {
    let c = &planned.choice;
    let explored = c.explored.as_ref().map_or(String::new(), |e| {
        let more = if e.complete { "" } else { "more than " };
        format!(
            "parameters {}: {} combinations, of which the constraints allow {more}{}; {} looked at, {} legal\n",
            e.values, e.combinations, e.allowed, c.compared, e.legal
        )
    });
    let predicted = match (c.seconds.first(), c.direct.first()) {
        (Some(chosen), Some(direct)) => format!(
            "predicted for {}: {}, of {} schedules ({} by the direct translation)\n",
            planned.gpu,
            time(*chosen),
            c.compared,
            time(*direct)
        ),
        _ => String::new(),
    };
    explored + &predicted + &registers(&c.registers)
}

/// The registers of each kernel, and who counted them.
fn registers(r: &Registers) -> String {
    let of = |(name, used): &(String, Used)| match used.spill_bytes {
        0 => format!("{name} {}", used.registers),
        bytes => format!("{name} {}, {bytes} bytes spilled", used.registers),
    };
    let kernels: Vec<String> = r.kernels.iter().map(of).collect();
    let refused = match r.refused.split_first() {
        Some((first, rest)) => format!(
            "left out, as the compiler refuses {}: {}\n",
            match rest.len() {
                0 => "it".to_string(),
                n => format!("it and {n} more"),
            },
            first.lines().next().unwrap_or_default()
        ),
        None => String::new(),
    };
    let counted = match &r.compiler {
        _ if kernels.is_empty() => String::new(),
        Some(compiler) => format!(
            "registers by {compiler}: {} ({} schedules compiled in {})\n",
            kernels.join("; "),
            r.compiled,
            time(r.seconds)
        ),
        None => format!("registers estimated: {}\n", kernels.join("; ")),
    };
    counted + &refused
}

/// What the device model expects of the schedule, and how it was chosen where the model chose.
fn predicted(tuned: &Tuned) -> Value {
    let Some(Planned { gpu, choice }) = &tuned.planned else {
        let seconds = tuned.seconds.as_ref();
        return json!(seconds.map(|s| json!({ "gpu": tuned.gpu, "seconds": s })));
    };
    json!({
        "gpu": gpu,
        "seconds": choice.seconds,
        "direct_seconds": choice.direct,
        "compared": choice.compared,
        "registers": {
            "source": choice.registers.compiler.as_deref().unwrap_or("estimate"),
            "kernels": choice.registers.kernels.iter().map(|(name, used)| json!({
                "name": name, "registers": used.registers, "spill_bytes": used.spill_bytes,
            })).collect::<Vec<_>>(),
            "refused": choice.registers.refused,
        },
        "parameters": choice.explored.as_ref().map(|e| json!({
            "values": e.values,
            "combinations": e.combinations.to_string(),
            "allowed": e.allowed,
            "complete": e.complete,
            "legal": e.legal,
        })),
    })
}

/// The result in schema 1.
pub fn json(tuned: &Tuned, paths: &[PathBuf]) -> Value {
    let outputs: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let interrupted = tuned.interrupted;
    let status = if interrupted { Status::Interrupted } else { Status::Done };
    json!({
        "schema": 1,
        "command": "tune",
        "status": status.name(),
        "exit": status.code(),
        "complete": !interrupted,
        "findings": tuned.findings,
        "notes": [],
        "outputs": outputs,
        "function": tuned.name,
        "source": tuned.source,
        "arch": tuned.arch,
        "sizes": tuned.sizes,
        "schedule": tuned.schedule.lines().collect::<Vec<_>>(),
        "predicted": predicted(tuned),
        "measured": as_told(tuned, Told::Measured),
        "emulated": as_told(tuned, Told::Emulated),
        "recorded": as_told(tuned, Told::Recorded),
        "verification": {
            "level": tuned.measured.as_ref().map_or("checked", |m| m.told().level()),
            "sizes": tuned.verified.sizes,
            "outside": tuned.verified.outside,
            "host_compiler": tuned.verified.with_host > 0,
            "host_only": tuned.verified.host_only,
            "one_block": tuned.verified.one_block,
            "in_part": tuned.verified.in_part,
            "coverage": tuned.verified.coverage_json,
            "assumptions": tuned.assumptions,
        },
        "steps": tuned.shown.iter().map(|s| json!({ "step": s.step, "text": s.text })).collect::<Vec<_>>(),
    })
}

/// The search, where its times are what the key says.
fn as_told(tuned: &Tuned, told: Told) -> Option<Value> {
    tuned.measured.as_ref().filter(|m| m.told() == told).map(measured_json)
}

fn measured_json(m: &Measured) -> Value {
    let points = m.sizes.iter().zip(&m.ms).enumerate().map(|(at, (size, ms))| {
        let direct = m.direct_ms.as_ref().and_then(|d| d.get(at));
        let against = m.against.as_ref().map(|own| own.as_ref().and_then(|o| o.get(at)));
        let best = m.best.get(at).and_then(Option::as_ref);
        let best = best.map(|(ms, named)| json!({"ms": ms, "configuration": named}));
        let recomputed = m.recomputed.get(at).map(|r| match r {
            Recomputed::Equal(n) => json!({"equal": n}),
            Recomputed::Not(why) => json!({"not": why}),
        });
        json!({
            "size": size, "ms": ms, "direct_ms": direct, "against_ms": against, "best": best,
            "recomputed": recomputed,
        })
    });
    json!({
        "device": m.hello.device,
        "backend": m.hello.backend,
        "driver": m.hello.driver,
        "compiler": m.hello.compiler,
        "devices": m.devices,
        "strategy": m.strategy.name(),
        "configurations": m.configurations,
        "evaluated": m.evaluated,
        "recalled": m.recalled,
        "failed": m.failed,
        "failures": m.failures.iter().map(|(kind, n, why)| json!({"status": kind, "count": n, "message": why})).collect::<Vec<_>>(),
        "seconds": m.elapsed.as_secs_f64(),
        "configuration": m.chosen,
        "points": points.collect::<Vec<_>>(),
        "bytes": m.bytes,
        "copy_gb_s": m.limits.map(|l| l.copy_gb_s),
        "fma_tflop_s": m.limits.map(|l| l.fma_tflop_s),
        "too_fast": m.too_fast,
        "store": m.store.display().to_string(),
        "notes": m.notes,
    })
}
