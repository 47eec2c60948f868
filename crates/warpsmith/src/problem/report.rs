//! What came of a problem: for people, for programs, and as files.

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};
use warpsmith_device::Gpu;
use warpsmith_ir::SourceMap;
use warpsmith_tune::exchange::t4::Dialect;
use warpsmith_tune::space::Configuration;
use warpsmith_tune::tuner::Finished;

use super::{Compared, Solved};
use crate::results::t4_text;
use crate::search::{Halt, failures};
use crate::status::findings;
use warpsmith_translate::tune::result::limits_line;

/// Text for a terminal.
pub fn human(solved: &Solved, paths: &[PathBuf]) -> String {
    let mut text = format!(
        "{}: {:.4} ms, {}, the fastest of {} of {} configurations\n  {}\n",
        solved.name,
        solved.best_ms,
        solved.told().on(&solved.hello.device),
        solved.evaluated,
        solved.configurations,
        solved.best
    );
    let sizes = |s: [u32; 3]| format!("{} x {} x {}", s[0], s[1], s[2]);
    let shared = match solved.shape.shared {
        0 => String::new(),
        bytes => format!(", {bytes} bytes of shared memory"),
    };
    text += &format!(
        "  grid {}, block {}{shared}\n",
        sizes(solved.shape.grid),
        sizes(solved.shape.block)
    );
    text += &compared_with(solved);
    let failed = failures(&solved.records);
    if !failed.is_empty() {
        let parts: Vec<String> =
            failed.iter().map(|(s, n, _)| format!("{n} {}", s.name())).collect();
        text +=
            &format!("  cannot be used: {}; `warpsmith results` lists them\n", parts.join(", "));
        for (status, _, why) in failed.iter().filter(|(_, _, why)| !why.is_empty()) {
            text += &format!("    {}, such as: {why}\n", status.name());
        }
    }
    text += &format!(
        "  {} in {:.1} s{}{}\n",
        ended(solved),
        solved.seconds,
        match (solved.halt, solved.finished) {
            (None, Finished::Time | Finished::Evaluations)
                if solved.evaluated < solved.configurations =>
            {
                "; --budget 10m tries more"
            }
            _ => "",
        },
        match solved.recalled {
            0 => String::new(),
            n => format!(", {n} known from an earlier run"),
        }
    );
    if let Some(limits) = &solved.limits {
        text += &format!("  {}", limits_line(limits, solved.bytes, solved.best_ms));
    }
    for note in too_fast(solved).iter().chain(&solved.notes) {
        text += &format!("  {note}\n");
    }
    for path in paths {
        text += &format!("  {}\n", path.display());
    }
    text
}

/// Where the right outputs come from.
fn compared_with(solved: &Solved) -> String {
    let time = solved.reference_ms.map_or(String::new(), |ms| format!(" ({ms:.4} ms)"));
    match &solved.compared {
        Compared::Given => "  outputs are those that the problem says\n".to_string(),
        Compared::With(c, Some(other)) => {
            format!("  outputs are those of {c}{time}, which {other} gives, too\n")
        }
        Compared::With(c, None) => format!(
            "  outputs are those of {c}{time}; no other that was asked gives the same: look at them before you trust the times\n"
        ),
        Compared::First => "  outputs are those of the first configuration that ran\n".into(),
    }
}

/// What the data alone take: all buffers copied at the speed that was measured, or that the emulated board has. With who
/// says so.
fn least_ms(solved: &Solved) -> Option<(f64, &'static str)> {
    let ms = |gb_s: f64| solved.bytes as f64 / gb_s / 1e6;
    if let Some(limits) = &solved.limits {
        return Some((ms(limits.copy_gb_s), "a copy of as many bytes takes"));
    }
    let board = Gpu::find(solved.hello.device.strip_prefix("emulated ")?)?;
    let fits = (solved.bytes as f64) < board.l2_bytes();
    let gb_s = if fits { board.l2_gb_s } else { board.dram_gb_s };
    Some((ms(gb_s), "at its peak bandwidth the board moves as many bytes in"))
}

/// A time in which not all data can be moved, or not all arithmetic done.
fn too_fast(solved: &Solved) -> Option<String> {
    let arithmetic = || {
        let (work, limits) = solved.arithmetic.as_ref().zip(solved.limits.as_ref())?;
        work.too_fast(limits, &solved.hello.arch, solved.best_ms)
    };
    too_fast_for_data(solved).or_else(arithmetic)
}

fn too_fast_for_data(solved: &Solved) -> Option<String> {
    let (least, who) = least_ms(solved)?;
    (crate::search::FASTER_THAN_A_COPY * solved.best_ms < least).then(|| {
        format!(
            "faster than its data can be copied ({:.0} % of that limit): {who} {least:.4} ms. It may not touch all of them: is \
             the grid too small?",
            100.0 * least / solved.best_ms
        )
    })
}

fn ended(solved: &Solved) -> &'static str {
    match (solved.halt, solved.finished) {
        (Some(Halt::Interrupted), _) => "interrupted",
        (Some(Halt::TimedOut), _) => "the time limit (--timeout) was reached",
        (None, finished) => by_itself(finished),
    }
}

fn by_itself(finished: Finished) -> &'static str {
    match finished {
        Finished::Exhausted => "every configuration was tried",
        Finished::Evaluations | Finished::Time => "the budget was used up",
        Finished::Stopped => "stopped",
        Finished::Converged => "the strategy had nothing further to propose",
    }
}

/// One object, schema 1.
pub fn json(solved: &Solved, paths: &[PathBuf]) -> Json {
    let status = solved.status();
    let outputs: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let counts: Map<String, Json> = failures(&solved.records)
        .into_iter()
        .map(|(s, n, _)| (s.name().into(), n.into()))
        .collect();
    let compared = match &solved.compared {
        Compared::Given => json!({"with": "given"}),
        Compared::With(c, other) => json!({
            "with": "configuration", "configuration": values(c), "time_ms": solved.reference_ms,
            "agrees": other.as_ref().map(values),
        }),
        Compared::First => json!({"with": "first that ran"}),
    };
    let limit = solved.limit();
    let limit = limit.iter().flat_map(|f| &f.diagnostics).collect::<Vec<_>>();
    let findings = [solved.findings.clone(), findings(&limit, &SourceMap::new())].concat();
    json!({
        "schema": 1, "command": "tune", "status": status.name(), "exit": status.code(),
        "complete": solved.halt.is_none(), "findings": findings, "notes": solved.notes, "outputs": outputs,
        "problem": solved.name, "times": solved.told().word(),
        "device": {
            "name": solved.hello.device, "backend": solved.hello.backend, "arch": solved.hello.arch,
            "driver": solved.hello.driver, "compiler": solved.hello.compiler,
        },
        "best": {
            "configuration": values(&solved.best), "time_ms": solved.best_ms, "grid": solved.shape.grid,
            "block": solved.shape.block, "shared_bytes": solved.shape.shared, "too_fast": too_fast(solved),
        },
        "compared": compared,
        "search": {
            "strategy": solved.strategy.name(), "configurations": solved.configurations,
            "evaluated": solved.evaluated, "recalled": solved.recalled, "unusable": counts, "ended": ended(solved),
            "seconds": solved.seconds,
        },
        "bytes": solved.bytes, "copy_gb_s": solved.limits.map(|l| l.copy_gb_s),
        "fma_tflop_s": solved.limits.map(|l| l.fma_tflop_s),
        "store": solved.store.display().to_string(),
    })
}

fn values(configuration: &Configuration) -> Map<String, Json> {
    configuration.values.iter().map(|(name, value)| (name.clone(), value.to_json())).collect()
}

/// The best configuration as a header.
pub fn header(solved: &Solved) -> String {
    let shape = &solved.shape;
    let mut text = format!(
        "// The fastest configuration found for {}, {}: {:.4} ms.\n\
         // Launch it with grid {{{}, {}, {}}} and block {{{}, {}, {}}}{}.\n#pragma once\n\n",
        solved.name,
        solved.told().on(&solved.hello.device),
        solved.best_ms,
        shape.grid[0],
        shape.grid[1],
        shape.grid[2],
        shape.block[0],
        shape.block[1],
        shape.block[2],
        match shape.shared {
            0 => String::new(),
            bytes => format!(", {bytes} bytes of dynamic shared memory"),
        }
    );
    for (name, value) in &solved.best.values {
        text += &super::kernel::definition(name, value);
    }
    text
}

/// All results.
pub fn t4(solved: &Solved) -> String {
    t4_text(&solved.name, &solved.hello.device, solved.records.clone(), Dialect::Schema, None)
}

#[cfg(test)]
mod tests {
    use warpsmith_gpu::protocol::{Hello, Limits};
    use warpsmith_tune::strategy::StrategyKind;

    use super::*;
    use crate::problem::sizes::Shape;

    fn solved(limits: Option<Limits>, halt: Option<Halt>) -> Solved {
        let hello = Hello {
            version: 1,
            backend: "gpu".into(),
            device: "Some GPU".into(),
            arch: "sm_90".into(),
            driver: "13.0".into(),
            compiler: "13.0".into(),
        };
        Solved {
            name: "blur".into(),
            hello,
            strategy: StrategyKind::BruteForce,
            configurations: 4,
            evaluated: 3,
            recalled: 0,
            finished: Finished::Exhausted,
            halt,
            seconds: 1.0,
            best: Configuration { values: vec![] },
            best_ms: 0.5,
            shape: Shape { grid: [1, 1, 1], block: [32, 1, 1], shared: 0 },
            limits,
            arithmetic: None,
            bytes: 1_000_000_000,
            compared: Compared::Given,
            reference_ms: None,
            records: vec![],
            store: "store".into(),
            folder: "out".into(),
            notes: vec![],
            findings: vec![],
        }
    }

    #[test]
    fn the_limits_of_the_device_stand_beside_the_time() {
        let limits = Limits { copy_gb_s: 4000.0, fma_tflop_s: 60.0 };
        let text = human(&solved(Some(limits), None), &[]);
        let line = text.lines().find(|l| l.contains("limits")).unwrap();
        assert_eq!(
            line,
            "  limits measured in the same run: a copy that moves 1.00 GB as all arrays together takes 250.0 us \
             (4000 GB/s, 50 % of the kernel's time); FMA peak 60.0 TFLOP/s"
        );
        let report = json(&solved(Some(limits), None), &[]);
        assert_eq!(
            (&report["copy_gb_s"], &report["bytes"]),
            (&json!(4000.0), &json!(1_000_000_000))
        );
        assert!(!human(&solved(None, None), &[]).contains("limits"));
        assert_eq!(json(&solved(None, None), &[])["fma_tflop_s"], Json::Null);
    }

    #[test]
    fn a_time_in_which_the_data_cannot_be_moved_is_marked() {
        let fast = Limits { copy_gb_s: 1000.0, fma_tflop_s: 60.0 };
        let text = human(&solved(Some(fast), None), &[]);
        assert!(
            text.contains("faster than its data can be copied (200 % of that limit)"),
            "{text}"
        );
        let plain = Limits { copy_gb_s: 4000.0, fma_tflop_s: 60.0 };
        assert!(!human(&solved(Some(plain), None), &[]).contains("faster than"), "{text}");
        let report = json(&solved(Some(fast), None), &[]);
        assert!(report["best"]["too_fast"].is_string(), "{report}");
        let mut computed = solved(Some(plain), None);
        computed.arithmetic = Some(crate::search::Arithmetic { fp32: 1e9, fp64: 0.0 });
        let text = human(&computed, &[]);
        assert!(text.contains("faster than its arithmetic can be done (213 %"), "{text}");
        let mut emulated = solved(None, None);
        emulated.hello.device = "emulated H100 SXM".into();
        assert!(too_fast(&emulated).is_none());
        emulated.best_ms = 0.2;
        assert!(too_fast(&emulated).is_some());
    }

    #[test]
    fn what_was_ended_from_outside_is_not_complete() {
        for (halt, status, exit) in [
            (None, "done", 0),
            (Some(Halt::TimedOut), "limit", 3),
            (Some(Halt::Interrupted), "interrupted", 130),
        ] {
            let report = json(&solved(None, halt), &[]);
            assert_eq!((&report["status"], &report["exit"]), (&json!(status), &json!(exit)));
            assert_eq!(report["complete"], halt.is_none());
        }
    }
}
