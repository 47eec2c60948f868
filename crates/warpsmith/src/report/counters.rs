//! Performance counters, beside the source for people and under the profiler's names for programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warpsmith_emu::counters::{
    AccessCounters, AccessKind, BranchCounters, Counters, InstructionClass as Class, MemoryKind,
};
use warpsmith_ir::{SourceMap, Span};

/// The counters of a launch as text: each line of the source with what its accesses cost.
pub fn human(launch: &str, c: &Counters, sources: &SourceMap) -> String {
    let total = c.total();
    let mut text = format!(
        "counters of {launch}\n  {} warps, {} warp instructions, {:.1} of 32 lanes active\n",
        c.warps,
        total.warps,
        ratio(total.threads as f64, total.warps)
    );
    let mut lines: BTreeMap<(String, u32), (String, Vec<String>)> = BTreeMap::new();
    let mut add = |span: Option<Span>, fact: String| {
        let (place, line) = span.map_or_else(Default::default, |s| source_line(s, sources));
        lines.entry(place).or_insert((line, vec![])).1.push(fact);
    };
    for a in &c.accesses {
        add(a.span, access(a));
    }
    for b in c.branches.iter().filter(|b| b.divergent > 0) {
        add(b.span, branch(b));
    }
    for ((path, number), (line, facts)) in lines {
        let place = if number == 0 {
            "no place in the source".to_string()
        } else {
            format!("{path}:{number}")
        };
        text += &format!("  {place} | {line}\n");
        for fact in facts {
            text += &format!("      {fact}\n");
        }
    }
    let classes: Vec<String> =
        c.classes.iter().map(|(class, n)| format!("{} {}", class.name(), n.warps)).collect();
    text + "  warp instructions: " + &classes.join(", ") + "\n"
}

fn source_line(span: Span, sources: &SourceMap) -> ((String, u32), String) {
    let (number, _) = sources.line_column(span.file, span.start);
    let Some(file) = sources.get(span.file) else { return Default::default() };
    let line = file.text.lines().nth(number.saturating_sub(1) as usize).unwrap_or("");
    ((file.path.clone(), number), line.trim().to_string())
}

fn access(a: &AccessCounters) -> String {
    let n = a.requests.warps;
    let mut text = format!(
        "{} {} {} `{}`: {n} {} of {} bytes a lane",
        a.memory.name(),
        a.kind.name(),
        if a.kind == AccessKind::Load { "of" } else { "to" },
        a.array,
        if n == 1 { "request" } else { "requests" },
        a.bytes
    );
    if a.requests.threads != n * 32 {
        text += &format!(", {:.1} of 32 lanes", a.lanes_per_request());
    }
    if matches!(a.memory, MemoryKind::Global | MemoryKind::Local) {
        text += &format!(
            ", {:.2} sectors a request (ideal {:.2})",
            a.sectors_per_request(),
            ratio(a.ideal_sectors as f64, n)
        );
    } else {
        text += &format!(
            ", {:.2} wavefronts a request (ideal {:.2})",
            a.wavefronts_per_request(),
            ratio(a.ideal_wavefronts, n)
        );
    }
    if a.bank_conflicts() > 0.0 {
        text +=
            &format!(", {} bank conflicts, {} at worst", a.bank_conflicts(), a.worst_wavefronts);
    }
    text
}

fn branch(b: &BranchCounters) -> String {
    let n = b.executed.warps;
    format!("branch: {} of {n} warps go both ways", b.divergent)
}

/// The counters of a launch as JSON.
pub fn json(launch: &str, c: &Counters, sources: &SourceMap) -> Value {
    let instructions: serde_json::Map<String, Value> = c
        .classes
        .iter()
        .map(|(class, n)| {
            (class.name().to_string(), json!({"warps": n.warps, "threads": n.threads}))
        })
        .collect();
    let place = |span: Option<Span>| {
        span.map(|s| {
            let (line, column) = sources.line_column(s.file, s.start);
            let file = sources.get(s.file).map_or("", |f| f.path.as_str());
            json!({"file": file, "line": line, "column": column})
        })
    };
    let accesses = c.accesses.iter().map(|a| {
        json!({
            "location": place(a.span), "array": a.array, "memory": a.memory.name(), "kind": a.kind.name(),
            "bytes": a.bytes, "requests": a.requests.warps, "lanes": a.requests.threads,
            "sectors": a.sectors, "ideal_sectors": a.ideal_sectors,
            "wavefronts": a.wavefronts, "ideal_wavefronts": a.ideal_wavefronts,
            "bank_conflicts": a.bank_conflicts(),
        })
    });
    let branches = c.branches.iter().map(|b| {
        json!({
            "location": place(b.span), "warps": b.executed.warps, "lanes": b.executed.threads,
            "divergent": b.divergent,
        })
    });
    let (accesses, branches): (Vec<Value>, Vec<Value>) = (accesses.collect(), branches.collect());
    json!({
        "launch": launch, "blocks": c.blocks, "warps": c.warps, "metrics": metrics(c),
        "instructions": instructions, "accesses": accesses, "branches": branches,
    })
}

/// Sums under the names of the vendor's profiler.
fn metrics(c: &Counters) -> Value {
    let sum = |memory: MemoryKind, kind: AccessKind, f: &dyn Fn(&AccessCounters) -> f64| -> f64 {
        c.accesses.iter().filter(|a| a.memory == memory && a.kind == kind).map(f).sum()
    };
    let mut all = serde_json::Map::new();
    let mut put = |name: String, value: f64| {
        // Counts are whole numbers, and JSON says so.
        let number = if value.fract() == 0.0 { json!(value as u64) } else { json!(value) };
        all.insert(name, number);
    };
    let memories = [(MemoryKind::Global, "global"), (MemoryKind::Local, "local")];
    for (memory, name) in memories {
        for (kind, op) in [(AccessKind::Load, "ld"), (AccessKind::Store, "st")] {
            let of = |f: &dyn Fn(&AccessCounters) -> f64| sum(memory, kind, f);
            let requests = of(&|a| a.requests.warps as f64);
            put(format!("l1tex__t_requests_pipe_lsu_mem_{name}_op_{op}.sum"), requests);
            let sectors = of(&|a| a.sectors as f64);
            put(format!("l1tex__t_sectors_pipe_lsu_mem_{name}_op_{op}.sum"), sectors);
        }
    }
    for (kind, op) in
        [(AccessKind::Load, "ld"), (AccessKind::Store, "st"), (AccessKind::Atomic, "atom")]
    {
        let of = |f: &dyn Fn(&AccessCounters) -> f64| sum(MemoryKind::Shared, kind, f);
        let requests = of(&|a| a.requests.warps as f64);
        put(format!("smsp__inst_executed_op_shared_{op}.sum"), requests);
        let wavefronts = of(&|a| a.wavefronts);
        put(format!("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"), wavefronts);
        let conflicts = of(&AccessCounters::bank_conflicts);
        put(format!("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"), conflicts);
    }
    let threads = [
        (Class::Fp32Add, "fadd"),
        (Class::Fp32Mul, "fmul"),
        (Class::Fp32Fma, "ffma"),
        (Class::Fp64Add, "dadd"),
        (Class::Fp64Mul, "dmul"),
        (Class::Fp64Fma, "dfma"),
    ];
    for (class, op) in threads {
        let n = c.class(class).threads as f64;
        put(format!("smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"), n);
    }
    let total = c.total();
    let lanes = ratio(total.threads as f64, total.warps);
    put("smsp__thread_inst_executed_per_inst_executed.ratio".to_string(), lanes);
    Value::Object(all)
}

fn ratio(a: f64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a / b as f64 }
}
