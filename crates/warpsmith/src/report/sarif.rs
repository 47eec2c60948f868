//! The report as SARIF 2.1.0 (OASIS standard), for code-scanning services and editors.

use serde_json::{Value, json};
use warpsmith_emu::Rule;
use warpsmith_ir::SourceMap;

use super::{Item, Place, Report, element, thread_name};
use crate::status::Failure;

/// One SARIF log with one run.
pub fn sarif(report: &Report, sources: &SourceMap) -> Value {
    let plain = report.findings.iter().chain(&report.notes).map(|i| result(i, None, sources));
    let allowed = report.allowed.iter().map(|(i, reason)| result(i, Some(reason), sources));
    let results: Vec<Value> = plain.chain(allowed).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "warpsmith",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": Rule::ALL.iter().map(|r| rule(*r)).chain([unexpected_value(), different_value()]).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.complete,
                "exitCode": report.status.code(),
                "toolExecutionNotifications": notifications(report),
            }],
            "results": results,
        }],
    })
}

/// The log of a run that could not start: no results, and why.
pub fn failed_sarif(failure: &Failure, sources: &SourceMap) -> Value {
    let reasons: Vec<Value> = failure
        .diagnostics
        .iter()
        .map(|d| json!({"level": "error", "message": {"text": d.render(sources, false)}}))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "warpsmith",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
            }},
            "invocations": [{
                "executionSuccessful": false,
                "exitCode": failure.status.code(),
                "toolExecutionNotifications": reasons,
            }],
            "results": [],
        }],
    })
}

fn rule(rule: Rule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": {"text": describe(rule)},
        "defaultConfiguration": {"level": if rule.is_note() { "note" } else { "error" }},
    })
}

/// The rule of `--expect`, which is not the emulator's.
fn unexpected_value() -> Value {
    json!({
        "id": "unexpected-value",
        "shortDescription": {"text": "A buffer differs from the file it is compared with."},
        "defaultConfiguration": {"level": "error"},
    })
}

/// The rule of `--same-as`.
fn different_value() -> Value {
    json!({
        "id": "different-value",
        "shortDescription": {"text": "An element differs from what the reference computes."},
        "defaultConfiguration": {"level": "error"},
    })
}

/// What a rule means, in one sentence.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::RaceShared => {
            "Two threads access a location of shared memory without a barrier between, and one writes."
        }
        Rule::RaceGlobal => {
            "Two threads access a location of global memory in no order, and one writes."
        }
        Rule::RaceBenign => "Two threads write the same value to a location in no order.",
        Rule::AtomicScope => "Atomics of one block's scope update data that several blocks share.",
        Rule::OutOfBounds => "An access is outside its array.",
        Rule::UninitializedShared => "A value of shared memory is used before any thread wrote it.",
        Rule::UninitializedLocal => "A value of a local variable is used before it was written.",
        Rule::UninitializedGlobal => {
            "An element of global memory is used before anything wrote it."
        }
        Rule::UninitializedVariable => {
            "A constant or variable of the device is used, and nothing sets it."
        }
        Rule::UndefinedArithmetic => {
            "An integer is divided by zero, shifted by as many bits as it has or more, or an overflow decides on an address."
        }
        Rule::DivergentBarrier => {
            "A barrier or warp operation is not reached by all threads it waits for."
        }
        Rule::ExitedBeforeBarrier => "A thread exited before a barrier that the others reach.",
        Rule::Dangling => "Memory is used after it was freed, or a variable after its scope.",
        Rule::Misaligned => "A vector access is not aligned to its size.",
        Rule::InfiniteLoop => "A loop does not end.",
        Rule::RedundantBarrier => "No conflicting accesses were seen across a barrier.",
        Rule::AssertFailed => "An assertion failed.",
        Rule::InvalidPointer => "A pointer that points to no object is used.",
    }
}

fn result(item: &Item, allowed: Option<&String>, sources: &SourceMap) -> Value {
    let at = element(item).map_or(String::new(), |e| format!(" ({e})"));
    let mut places = item.places.iter().rev().filter(|p| p.span.is_some());
    let main: Vec<Value> = places.next().map(|p| location(p, sources)).into_iter().collect();
    let related: Vec<Value> = places.map(|p| location(p, sources)).collect();
    let mut value = json!({
        "ruleId": item.rule,
        "level": if item.is_note { "note" } else { "error" },
        "message": {"text": format!("{}{at}", item.message)},
        "locations": main,
        "relatedLocations": related,
        "occurrenceCount": item.count.max(1),
        "partialFingerprints": {"warpsmith/v1": item.id},
        "properties": {"launch": item.launch, "interval": item.interval},
    });
    if !item.fingerprint.is_empty() {
        value["partialFingerprints"]["warpsmith/v2"] = json!(item.fingerprint);
    }
    if let Some(reason) = allowed {
        value["suppressions"] = json!([{"kind": "inSource", "justification": reason}]);
    }
    value
}

fn location(place: &Place, sources: &SourceMap) -> Value {
    let who = place.thread.map_or(String::new(), |(b, t)| format!(" by {}", thread_name(b, t)));
    let text = json!({"text": format!("{}{who}", place.what)});
    let Some(span) = place.span else { return json!({"message": text}) };
    let (line, column) = sources.line_column(span.file, span.start);
    let (end_line, end_column) = sources.line_column(span.file, span.end);
    let path = sources.get(span.file).map_or("", |f| f.path.as_str());
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(path)},
            "region": {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column},
        },
        "message": text,
    })
}

/// A path as a URI reference: relative below the working folder, else a `file` URI; the reserved characters escaped.
fn uri(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path =
        std::path::Path::new(path).strip_prefix(here).map_or(path.into(), |p| p.to_string_lossy());
    let mut text = String::from(if path.starts_with('/') { "file://" } else { "" });
    for b in path.replace('\\', "/").bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                text.push(b as char)
            }
            _ => text += &format!("%{b:02X}"),
        }
    }
    text
}

fn notifications(report: &Report) -> Vec<Value> {
    let limits = report.limits.iter().map(|l| ("warning", l.clone()));
    let skipped = report.skipped.iter().map(|(f, why)| ("note", format!("{f}: {why}")));
    let lost = report.lost.iter().map(|l| ("warning", l.clone()));
    limits
        .chain(lost)
        .chain(skipped)
        .map(|(level, text)| json!({"level": level, "message": {"text": text}}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{failed_sarif, uri};
    use crate::status::Failure;
    use warpsmith_ir::SourceMap;

    #[test]
    fn a_run_that_could_not_start_says_why() {
        let log = failed_sarif(&Failure::input("W301", "cannot read it"), &SourceMap::new());
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["exitCode"], 2);
        let text = &invocation["toolExecutionNotifications"][0]["message"]["text"];
        assert!(text.as_str().unwrap().contains("cannot read it"));
        assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(0));
    }

    #[test]
    fn paths_are_relative_uris_where_they_can_be() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(uri(&here.join("a b.cu").to_string_lossy()), "a%20b.cu");
        assert_eq!(uri("sub/k.cu"), "sub/k.cu");
        assert_eq!(uri("/elsewhere/k.cu"), "file:///elsewhere/k.cu");
    }
}
