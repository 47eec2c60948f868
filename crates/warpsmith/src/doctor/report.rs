//! What was found, for people and for programs.

use serde_json::{Value, json};

use super::parts::{Part, State};

/// Text for a terminal: a line for what is there, three for what is not.
pub fn human(parts: &[Part]) -> String {
    let width = parts.iter().map(|p| p.label.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for part in parts {
        let label = format!("{:width$}", part.label);
        text += &match &part.state {
            State::Found { path, version } => format!("{label}  {version}, {}\n", path.display()),
            State::Broken { path, why } => {
                format!("{label}  unusable: {}: {why}\n", path.display())
            }
            State::Missing => format!("{label}  missing\n"),
        };
        if !matches!(part.state, State::Found { .. }) {
            text += &format!("{:width$}  without it: {}\n", "", part.costs);
            text += &format!("{:width$}  to get it: {}\n", "", part.get);
        }
    }
    let missing = parts.iter().filter(|p| !matches!(p.state, State::Found { .. })).count();
    text += &match missing {
        0 => "\neverything is there\n".to_string(),
        n => {
            format!("\n{} of {} parts are there; all are optional\n", parts.len() - n, parts.len())
        }
    };
    text
}

/// One object, schema 1.
pub fn json(parts: &[Part]) -> Value {
    json!({
        "schema": 1, "command": "doctor", "status": "done", "exit": 0, "complete": true,
        "findings": [], "notes": [], "outputs": [],
        "parts": parts.iter().map(part).collect::<Vec<_>>(),
    })
}

fn part(part: &Part) -> Value {
    let (state, path, version, why) = match &part.state {
        State::Found { path, version } => ("found", Some(path), Some(version), None),
        State::Broken { path, why } => ("unusable", Some(path), None, Some(why)),
        State::Missing => ("missing", None, None, None),
    };
    json!({
        "name": part.name, "label": part.label, "state": state,
        "path": path.map(|p| p.display().to_string()), "version": version, "why": why,
        "without": part.costs, "get": part.get,
    })
}
