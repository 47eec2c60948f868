//! The report as a person reads it: source lines, carets, and a line that sums up.

use warpsmith_ir::{Diagnostic, Severity, SourceMap};

use super::{Item, OnDevice, Report, SameAs, counters, element, thread_name};

/// The whole report as text.
pub fn human(report: &Report, sources: &SourceMap, color: bool) -> String {
    if let Some(listed) = &report.listed {
        return listed.clone();
    }
    let mut text = String::new();
    for item in report.findings.iter().chain(&report.notes) {
        text += &diagnostic(item).render(sources, color);
        text += "\n\n";
    }
    for (launch, counters) in &report.counters {
        text += &counters::human(launch, counters, sources);
        text += "\n";
    }
    for (item, reason) in &report.allowed {
        let place = item.places.iter().find_map(|p| p.span);
        let at = place.map_or(String::new(), |span| {
            let (line, _) = sources.line_column(span.file, span.start);
            let path = sources.get(span.file).map_or("", |f| f.path.as_str());
            format!(" at {path}:{line}")
        });
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        text += &format!("allowed: {}{at}{reason}\n", item.rule);
    }
    for (path, why) in &report.skipped {
        text += &format!("skipped: {path}: {why}\n");
    }
    for repeats in &report.left_out {
        text += &format!("not repeated: {repeats} (--all-repeats runs them)\n");
    }
    for launch in &report.in_part {
        text += &format!("run in part: {launch} (--all-repeats runs all)\n");
    }
    for assumption in &report.assumptions {
        text += &format!("assumed: {assumption}\n");
    }
    for lost in &report.lost {
        text += &format!("not run: {lost}\n");
    }
    for limit in &report.limits {
        text += &format!("stopped: {limit}\n");
    }
    if report.dry_run {
        for launch in &report.launches {
            text += &format!("would run: {launch}\n");
        }
    }
    if let Some(same) = &report.same_as {
        text += &same_as(same);
    }
    text + &summary(report) + "\n"
}

fn same_as(same: &SameAs) -> String {
    let arrays: Vec<String> = same.compared.iter().map(|a| format!("`{a}`")).collect();
    let of = if arrays.is_empty() { String::new() } else { format!(" in {}", arrays.join(", ")) };
    let mut text = format!("{}: {}{of}, at {}\n", same.reference, same.verdict, same.sizes);
    if let Some(on) = &same.device {
        text += &on_device(on);
    }
    text
}

fn on_device(on: &OnDevice) -> String {
    let ms = |t: f64| format!("{t:.4} ms");
    let reference = on.reference_ms.map_or(String::new(), |t| format!(", the reference {}", ms(t)));
    let said = match (&on.differs, on.ms) {
        (Some(why), _) => format!("different: {why}{reference}"),
        (None, Some(t)) => format!("the same; {} {}{reference}", on.times, ms(t)),
        (None, None) => "nothing is known".to_string(),
    };
    format!("{} with {}: {said}\n", on.device, on.sizes)
}

fn summary(report: &Report) -> String {
    let launches = count(report.launched as usize, "launch", "launches");
    if report.dry_run {
        return format!("{launches} planned, none run");
    }
    let findings = match report.findings.len() {
        0 => "nothing found".to_string(),
        n => count(n, "finding", "findings"),
    };
    let mut text = format!("{launches} checked: {findings}");
    if !report.notes.is_empty() {
        text += &format!(", {}", count(report.notes.len(), "note", "notes"));
    }
    if !report.complete {
        text += "; the run is not complete";
    }
    text
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A finding in the form of a compiler message.
fn diagnostic(item: &Item) -> Diagnostic {
    let severity = if item.is_note { Severity::Note } else { Severity::Error };
    let mut d = Diagnostic::new(severity, item.rule, item.message.clone());
    // The later access is the one that made the conflict: the caret goes there.
    for place in item.places.iter().rev() {
        let who = place.thread.map_or(String::new(), |(b, t)| format!(" by {}", thread_name(b, t)));
        match place.span {
            Some(span) => d = d.label(span, format!("{}{who}", place.what)),
            None => d = d.note(format!("{}{who}, at a place without source", place.what)),
        }
    }
    let mut facts = vec![];
    if let Some(e) = element(item) {
        facts.push(format!("element {e}"));
    }
    if let Some(i) = item.interval {
        facts.push(format!("after {}", count(i as usize, "barrier", "barriers")));
    }
    if item.count > 1 {
        facts.push(format!("{} occurrences", item.count));
    }
    facts.push(format!("in {}", item.launch));
    d.note(facts.join(", "))
}
