//! Problems and results as tables and as JSON.

use std::path::Path;

use serde_json::{Map, Value as Json, json};
use warpsmith_ir::printable;
use warpsmith_tune::outcome::Record;
use warpsmith_tune::store::{Damaged, Summary};
use warpsmith_tune::value::Value;

use warpsmith_translate::tune::measure::spelled;

/// Of a message, in characters.
const MESSAGE: usize = 120;

/// A line for each problem, oldest first.
pub fn problems(path: &Path, problems: &[Summary]) -> String {
    let head = ["#", "results", "failed", "best ms", "kernel", "device", "arguments"];
    let rows = problems.iter().map(|p| {
        [
            p.id.number().to_string(),
            p.results.to_string(),
            p.failed.to_string(),
            p.best_ms.map_or("-".into(), milliseconds),
            one_line(&p.key.kernel),
            one_line(&p.key.device),
            one_line(&p.key.arguments),
        ]
    });
    let rows: Vec<[String; 7]> = std::iter::once(head.map(String::from)).chain(rows).collect();
    format!("{}\n{}", path.display(), table(&rows, 4))
}

/// A problem's results, a line for each.
pub fn rows(problem: &Summary, records: &[Record]) -> String {
    let key = &problem.key;
    let mut text = format!(
        "{}: {} on {}{}; {} results, {} failed\n",
        problem.id.number(),
        one_line(&key.kernel),
        one_line(&key.device),
        if key.arguments.is_empty() {
            String::new()
        } else {
            format!(", {}", one_line(&key.arguments))
        },
        problem.results,
        problem.failed
    );
    let head = ["ms", "status", "configuration", "message"].map(String::from);
    let rows = records.iter().map(|r| {
        let message = r.outcome.message.as_deref().unwrap_or_default();
        let mut line: String = message.lines().next().unwrap_or_default().chars().collect();
        line = printable(&line).into_owned();
        if let Some((at, _)) = line.char_indices().nth(MESSAGE) {
            line.truncate(at);
            line.push('…');
        }
        [
            r.outcome.time_ms.map_or("-".into(), milliseconds),
            r.outcome.status.name().to_string(),
            one_line(&spelled(&r.configuration)),
            line,
        ]
    });
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    text += &table(&rows, 1);
    text
}

/// A name as a cell of a table: nothing in it acts on the terminal, or ends the line.
fn one_line(name: &str) -> String {
    printable(name).replace('\n', "\\n").replace('\t', "\\t")
}

/// Four digits that count.
fn milliseconds(ms: f64) -> String {
    let whole = if ms >= 1.0 { ms.log10().floor() as usize + 1 } else { 1 };
    let zeros = if ms > 0.0 && ms < 1.0 { (-ms.log10()).floor() as usize } else { 0 };
    format!("{ms:.*}", (5usize.saturating_sub(whole) + zeros).min(9))
}

/// Columns two blanks apart, the first `right` of them aligned to the right.
fn table<const N: usize>(rows: &[[String; N]], right: usize) -> String {
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            line +=
                &if column < right { format!("{cell:>width$}") } else { format!("{cell:width$}") };
            line += "  ";
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

pub(super) fn report(path: &Path) -> Map<String, Json> {
    let report = json!({
        "schema": 1, "command": "results", "status": "done", "exit": 0, "complete": true,
        "findings": [], "notes": [], "outputs": [], "store": path.display().to_string(),
    });
    report.as_object().cloned().unwrap_or_default()
}

/// One object, schema 1.
pub fn problems_json(path: &Path, problems: &[Summary]) -> String {
    let mut report = report(path);
    report.insert("problems".into(), problems.iter().map(summary).collect());
    Json::Object(report).to_string() + "\n"
}

/// One object, schema 1, with the results of one problem.
pub fn rows_json(
    path: &Path,
    problem: &Summary,
    records: &[Record],
    damaged: &[Damaged],
) -> String {
    let mut report = report(path);
    report.insert("problems".into(), json!([summary(problem)]));
    report.insert("results".into(), records.iter().map(record).collect());
    let damage = |d: &Damaged| json!({"row": d.row, "column": d.column});
    report.insert("damaged".into(), damaged.iter().map(damage).collect());
    Json::Object(report).to_string() + "\n"
}

fn summary(problem: &Summary) -> Json {
    let key = &problem.key;
    json!({
        "number": problem.id.number(), "kernel": key.kernel, "device": key.device, "arguments": key.arguments,
        "driver": key.driver, "compiler": key.compiler, "source_hash": key.source_hash,
        "schedule_hash": key.schedule_hash, "results": problem.results, "failed": problem.failed,
        "best_ms": problem.best_ms,
    })
}

fn record(record: &Record) -> Json {
    let values =
        record.configuration.values.iter().map(|(name, value)| (name.clone(), value.to_json()));
    let outcome = &record.outcome;
    let samples: Vec<Json> =
        outcome.runtimes_ms.iter().map(|t| Value::Float(*t).to_json()).collect();
    json!({
        "configuration": values.collect::<Map<String, Json>>(), "status": outcome.status.name(),
        "time_ms": outcome.time_ms.map(|t| Value::Float(t).to_json()), "samples_ms": samples,
        "message": outcome.message, "recorded": outcome.timestamp, "compilation": outcome.compilation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_show_four_or_five_digits() {
        let shown = [12345.6, 123.456, 1.0, 0.5, 0.072_345, 0.001_234_5, 0.0].map(milliseconds);
        assert_eq!(shown, ["12346", "123.46", "1.0000", "0.5000", "0.07235", "0.001234", "0.0000"]);
    }
}
