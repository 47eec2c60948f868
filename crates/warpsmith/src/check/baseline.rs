//! Findings of an earlier run, so that a CI fails on new ones only.

use std::collections::HashSet;
use std::path::Path;

use crate::status::Failure;

/// The ids of the findings in a report in JSON.
///
/// # Errors
/// W301 when the file cannot be read, W319 when it is no report of `check`.
pub fn read(path: &Path) -> Result<HashSet<String>, Failure> {
    let bytes = super::read_file(path)?;
    let report: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    let findings = report.as_ref().and_then(|r| r.get("findings")?.as_array());
    let Some(findings) = findings else {
        let message = format!("`{}` is no report of `warpsmith check`", path.display());
        let help = "make one with `warpsmith check … --format json > FILE`";
        return Err(warpsmith_ir::Diagnostic::error("W319", message).help(help).into());
    };
    Ok(findings.iter().filter_map(|f| Some(f.get("id")?.as_str()?.to_string())).collect())
}
