//! What `warpsmith stage` says of a file that it staged.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use warpsmith_ir::{FileId, SourceMap, printable};
use warpsmith_stage::stage::{Access, Staged, Verdict, dims};

/// What a result rests on.
const ASSUMPTIONS: [&str; 3] = [
    "arrays are at least as long as the unmodified kernel needs",
    "pointers that are passed do not overlap",
    "no index leaves the range of its type",
];

/// Whether every read that comes from shared memory is proved.
fn proved(staged: &Staged) -> bool {
    let all = staged.accesses.iter().all(|a| a.verdict != Verdict::Checked);
    all && staged.filling.is_none()
}

fn level_in_words(staged: &Staged) -> &'static str {
    match (proved(staged), staged.proof_time.is_zero()) {
        (true, _) => "proved for all sizes",
        (false, _) if staged.filling.is_some() => {
            "checked, not proved: what fills holes is only compared"
        }
        (false, true) => "checked, not proved: the solver z3 is not installed, or was not asked",
        (false, false) => "checked, not proved for all sizes",
    }
}

fn assumptions(staged: &Staged) -> Vec<String> {
    let fixed = ASSUMPTIONS.iter().map(|a| (*a).to_string());
    fixed.chain(staged.assumed.iter().cloned()).collect()
}

fn line(sources: &SourceMap, at: usize) -> u32 {
    sources.line_column(FileId(0), at as u32).0
}

/// The reports for people and for machines; of several kernels what is common stands once.
pub fn of_all(all: &[Staged], outputs: &[PathBuf], explain: bool) -> (String, Value) {
    if let [staged] = all {
        return (human(staged, outputs, explain), json(staged, outputs));
    }
    let mut text: String = all.iter().map(|s| human(s, &[], explain)).collect();
    outputs
        .iter()
        .for_each(|o| _ = writeln!(text, "wrote {}", printable(&o.display().to_string())));
    let mut assumed: Vec<String> = vec![];
    for a in all.iter().flat_map(assumptions) {
        if !assumed.contains(&a) {
            assumed.push(a);
        }
    }
    let list = |of: fn(&Staged) -> &Vec<String>| all.iter().flat_map(of).collect::<Vec<_>>();
    let kernels: Vec<Value> = all.iter().map(|s| json(s, &[])).collect();
    let value = json!({
        "schema": 1, "command": "stage", "status": "done", "exit": 0, "complete": true, "findings": [],
        "notes": list(|s| &s.notes), "outputs": outputs,
        "verification": {
            "level": if all.iter().all(proved) { "proved" } else { "checked" },
            "sizes": list(|s| &s.checked), "assumptions": assumed, "not_run": list(|s| &s.unmet),
        },
        "kernels": kernels,
    });
    (text, value)
}

/// The report for people.
pub fn human(staged: &Staged, outputs: &[PathBuf], explain: bool) -> String {
    let mut out = String::new();
    let served = staged.accesses.iter().filter(|a| a.verdict != Verdict::Original).count();
    holes(&mut out, staged);
    if !staged.accesses.is_empty() {
        let _ = writeln!(
            out,
            "{}: {served} of {} marked reads come from shared memory",
            staged.kernel,
            staged.accesses.len()
        );
    }
    for access in &staged.accesses {
        self::access(&mut out, &staged.sources, access, explain);
    }
    for copy in &staged.copies {
        let _ = writeln!(out, "  copy: {}", copy.replace('\n', "\n  "));
    }
    barriers(&mut out, staged);
    for name in &staged.dropped {
        let _ = writeln!(out, "  nothing reads `{name}` any more: its stores are gone");
    }
    for note in &staged.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    for unmet in &staged.unmet {
        let _ = writeln!(out, "  not run: {unmet} in no launch");
    }
    if explain {
        staged.profiled.iter().for_each(|l| _ = writeln!(out, "  profiled: {l}"));
    }
    match explain {
        true => staged.checked.iter().for_each(|l| _ = writeln!(out, "  checked: {l}")),
        false => _ = writeln!(out, "  checked: launches with {}", by_block(&staged.checked)),
    }
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    let _ = writeln!(
        out,
        "{}, and equal bit for bit at {} launches ({:.0} ms, {:.0} of them profiles, {:.0} proofs)",
        level_in_words(staged),
        staged.checked.len(),
        ms(staged.total_time),
        ms(staged.profile_time),
        ms(staged.proof_time),
    );
    assumptions(staged).iter().for_each(|a| _ = writeln!(out, "assumed: {a}"));
    outputs.iter().for_each(|o| _ = writeln!(out, "wrote {}", o.display()));
    printable(&out).into_owned()
}

/// How many launches there are of each block, from how they are described: `block 16x16 (14), block 32x8 (4)`.
fn by_block(launches: &[String]) -> String {
    let mut all: Vec<(&str, usize)> = vec![];
    for block in launches.iter().filter_map(|l| l.split(',').next()) {
        match all.iter_mut().find(|(known, _)| *known == block) {
            Some((_, count)) => *count += 1,
            None => all.push((block, 1)),
        }
    }
    let each: Vec<String> = all.iter().map(|(block, count)| format!("{block} ({count})")).collect();
    each.join(", ")
}

/// What is known of the reads of a plan that failed, for people.
pub fn verdicts(accesses: &[Access], sources: &SourceMap, explain: bool) -> String {
    let mut out = String::new();
    accesses.iter().for_each(|a| access(&mut out, sources, a, explain));
    printable(&out).into_owned()
}

fn access(out: &mut String, sources: &SourceMap, a: &Access, explain: bool) {
    let at = line(sources, a.at.start);
    let _ = writeln!(out, "  line {at}: {}: {} -> {}", a.verdict.name(), a.original, a.replacement);
    if let Some(witness) = &a.witness {
        let _ = writeln!(out, "    at {witness}");
    }
    if explain {
        let _ =
            writeln!(out, "    found in {:.1} ms on {} rows", a.time.as_secs_f64() * 1e3, a.rows);
        let shapes: Vec<String> = a.proved.iter().map(|b| dims(*b)).collect();
        if !shapes.is_empty() {
            let _ = writeln!(out, "    proved with blocks of {}", shapes.join(", "));
        }
        if let Some(why) = &a.unproved {
            let _ = writeln!(out, "    not proved everywhere: {why}");
        }
        for k in &a.killed {
            let _ = writeln!(out, "    lost: {}\n      at {}", k.text, k.witness);
        }
    }
}

fn holes(out: &mut String, staged: &Staged) {
    let Some(filling) = &staged.filling else { return };
    let count = filling.holes.len();
    let _ = writeln!(out, "{count} holes filled, {} fillings tried", filling.tried);
    for h in &filling.holes {
        let (line, column) = staged.sources.line_column(FileId(0), h.at as u32);
        let _ = writeln!(out, "  line {line}, column {column}: {}", h.text);
    }
}

fn barriers(out: &mut String, staged: &Staged) {
    for b in &staged.inserted {
        let _ = writeln!(
            out,
            "  a barrier was missing and is put before line {}: {}",
            line(&staged.sources, b.at),
            b.why
        );
    }
    for at in &staged.redundant {
        let what = match staged.removed {
            true => "removed",
            false => "remove it with --fix",
        };
        let _ = writeln!(
            out,
            "  no launch needs the barrier in line {}: {what}",
            line(&staged.sources, *at)
        );
    }
}

/// What is known of marked reads, for machines.
pub fn accesses(all: &[Access], sources: &SourceMap) -> Vec<Value> {
    let one = |a: &Access| {
        let candidates: Vec<Value> = a
            .killed
            .iter()
            .map(|k| json!({"text": k.text, "counter_example": k.witness}))
            .collect();
        json!({
            "line": line(sources, a.at.start), "plan": a.plan.name(), "original": a.original, "replacement": a.replacement,
            "verdict": a.verdict.name(), "witness": a.witness, "proved_blocks": a.proved, "unproved": a.unproved,
            "candidates": candidates, "milliseconds": a.time.as_secs_f64() * 1e3, "rows": a.rows,
        })
    };
    all.iter().map(one).collect()
}

/// The report for machines.
pub fn json(staged: &Staged, outputs: &[PathBuf]) -> Value {
    let filled = staged.filling.iter().flat_map(|f| &f.holes);
    let holes: Vec<Value> = filled.map(|h| json!({"byte": h.at, "text": h.text})).collect();
    let inserted: Vec<Value> = staged
        .inserted
        .iter()
        .map(|b| json!({"line": line(&staged.sources, b.at), "why": b.why}))
        .collect();
    let redundant: Vec<u32> =
        staged.redundant.iter().map(|at| line(&staged.sources, *at)).collect();
    json!({
        "schema": 1, "command": "stage", "status": "done", "exit": 0, "complete": true, "findings": [],
        "notes": staged.notes, "outputs": outputs,
        "verification": {
            "level": if proved(staged) { "proved" } else { "checked" },
            "sizes": staged.checked, "assumptions": assumptions(staged), "not_run": staged.unmet,
        },
        "kernel": staged.kernel, "accesses": accesses(&staged.accesses, &staged.sources), "copies": staged.copies,
        "barriers": {"inserted": inserted, "redundant": redundant, "removed": staged.removed},
        "holes": holes, "dropped_stores": staged.dropped, "profiled": staged.profiled,
    })
}
