//! The report as one JSON object, schema 1.

use serde_json::{Value, json};
use warpsmith_emu::counters::Counters;
use warpsmith_ir::SourceMap;

use super::{Item, Place, Report, counters};

/// The report in schema 1: `schema`, `command`, `status`, `complete`, `findings`, `notes`, `outputs`, `verification` and
/// what is particular to `check`.
pub fn json(report: &Report, sources: &SourceMap) -> Value {
    let items = |list: &[Item]| -> Vec<Value> { list.iter().map(|i| item(i, sources)).collect() };
    let mut value = json!({
        "schema": 1,
        "command": report.command,
        "status": report.status.name(),
        "exit": report.status.code(),
        "complete": report.complete,
        "findings": items(&report.findings),
        "notes": items(&report.notes),
        "allowed": report.allowed.iter().map(|(i, reason)| {
            let mut value = item(i, sources);
            value["reason"] = json!(reason);
            value
        }).collect::<Vec<_>>(),
        "outputs": report.outputs,
        "verification": {
            "level": if report.dry_run { "none" } else { "checked" },
            "sizes": if report.dry_run { &[][..] } else { &report.launches[..] },
            "assumptions": report.assumptions,
        },
        "planned": if report.dry_run { &report.launches[..] } else { &[][..] },
        "skipped": report.skipped.iter().map(|(file, reason)| json!({"file": file, "reason": reason})).collect::<Vec<_>>(),
        "limits": report.limits,
        "lost": report.lost,
        "not_repeated": report.left_out,
        "run_in_part": report.in_part,
        "listed": report.listed.iter().flat_map(|l| l.lines()).collect::<Vec<_>>(),
        "printed": report.printed,
    });
    if let Some(same) = &report.same_as {
        value["same_as"] = json!({
            "reference": same.reference, "verdict": same.verdict, "compared": same.compared, "sizes": same.sizes,
        });
        if let Some(on) = &same.device {
            value["same_as"]["device"] = json!({
                "device": on.device, "times": on.times, "sizes": on.sizes, "equal": on.differs.is_none(),
                "ms": on.ms, "reference_ms": on.reference_ms, "difference": on.differs,
            });
        }
    }
    if !report.counters.is_empty() {
        let launch = |(label, c): &(String, Counters)| counters::json(label, c, sources);
        value["counters"] = report.counters.iter().map(launch).collect();
    }
    value
}

fn item(item: &Item, sources: &SourceMap) -> Value {
    let threads: Vec<Value> = item
        .places
        .iter()
        .filter_map(|p| p.thread)
        .map(|(block, thread)| json!({"block": block, "thread": thread}))
        .collect();
    let mut value = json!({
        "id": item.id,
        "rule": item.rule,
        "kind": item.kind,
        "severity": if item.is_note { "note" } else { "error" },
        "message": item.message,
        "count": item.count,
        "locations": item.places.iter().filter_map(|p| location(p, sources)).collect::<Vec<_>>(),
        "threads": threads,
        "array": item.array,
        "index": item.index,
        "interval": item.interval,
        "launch": item.launch,
    });
    if !item.fingerprint.is_empty() {
        value["fingerprint"] = json!(item.fingerprint);
    }
    value
}

fn location(place: &Place, sources: &SourceMap) -> Option<Value> {
    let span = place.span?;
    let (line, column) = sources.line_column(span.file, span.start);
    let file = sources.get(span.file).map_or("", |f| f.path.as_str());
    Some(json!({"file": file, "line": line, "column": column, "what": place.what}))
}
