//! What `tune` says when it is done: `result.json` and the lines on the terminal.

use std::path::PathBuf;

use serde_json::{Value, json};
use warpsmith_ir::{Diagnostic, SourceMap};

use super::pipeline::{Planned, Tuned};
use super::points;
use crate::status::Status;

/// The lines for a person.
pub fn human(tuned: &Tuned, paths: &[PathBuf]) -> String {
    let v = &tuned.verified;
    let mut text = format!("{}: {} for {}\n", tuned.source, tuned.name, tuned.arch);
    for line in tuned.schedule.lines() {
        text += &format!("  {line}\n");
    }
    if let Some(planned) = &tuned.planned {
        text += &prediction(planned);
    }
    let host = if v.with_host > 0 { ", compared with the host compiler's code" } else { "" };
    text += &format!("checked with every check on{host}: {}\n", points::summary(&v.points));
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
    explored + &predicted
}

pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// The result in schema 1.
pub fn json(tuned: &Tuned, paths: &[PathBuf]) -> Value {
    let outputs: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    json!({
        "schema": 1,
        "command": "tune",
        "status": Status::Done.name(),
        "exit": 0,
        "complete": true,
        "findings": [],
        "outputs": outputs,
        "function": tuned.name,
        "source": tuned.source,
        "arch": tuned.arch,
        "sizes": tuned.sizes,
        "schedule": tuned.schedule.lines().collect::<Vec<_>>(),
        "predicted": tuned.planned.as_ref().map(|p| json!({
            "gpu": p.gpu,
            "seconds": p.choice.seconds,
            "direct_seconds": p.choice.direct,
            "compared": p.choice.compared,
            "parameters": p.choice.explored.as_ref().map(|e| json!({
                "values": e.values,
                "combinations": e.combinations.to_string(),
                "allowed": e.allowed,
                "complete": e.complete,
                "legal": e.legal,
            })),
        })),
        "verification": {
            "level": "checked",
            "sizes": tuned.verified.sizes,
            "outside": tuned.verified.outside,
            "host_compiler": tuned.verified.with_host > 0,
            "assumptions": tuned.assumptions,
        },
    })
}

/// The object of a run that failed.
pub fn failed(status: Status, messages: &[&Diagnostic], sources: &SourceMap) -> Value {
    let findings: Vec<Value> = messages
        .iter()
        .map(|d| {
            let locations: Vec<Value> = d
                .labels
                .iter()
                .map(|l| {
                    let (line, column) = sources.line_column(l.span.file, l.span.start);
                    let file = sources.get(l.span.file).map_or("", |f| f.path.as_str());
                    json!({"file": file, "line": line, "column": column, "what": l.text})
                })
                .collect();
            json!({"id": d.code, "rule": d.code, "severity": "error", "message": d.message, "count": 1, "locations": locations})
        })
        .collect();
    json!({
        "schema": 1, "command": "tune", "status": status.name(), "exit": status.code(),
        "complete": false, "findings": findings, "outputs": [], "verification": null,
    })
}
