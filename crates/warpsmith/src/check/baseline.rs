//! Findings of an earlier run, so that a CI fails on new ones only.

use std::collections::HashSet;
use std::path::Path;

use crate::report::Item;
use crate::status::Failure;

/// Findings of an earlier report.
#[derive(Debug, Default)]
pub struct Known {
    fingerprints: HashSet<String>,
    /// Of reports that have no fingerprints yet.
    ids: HashSet<String>,
}

impl Known {
    /// Whether the finding was there.
    pub fn has(&self, item: &Item) -> bool {
        self.fingerprints.contains(&item.fingerprint) || self.ids.contains(&item.id)
    }
}

/// The findings in a report in JSON.
///
/// # Errors
/// W301 when the file cannot be read, W319 when it is no report of `check`.
pub fn read(path: &Path) -> Result<Known, Failure> {
    let bytes = super::read_file(path)?;
    let report: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    let findings = report.as_ref().and_then(|r| r.get("findings")?.as_array());
    let Some(findings) = findings else {
        let message = format!("`{}` is no report of `warpsmith check`", path.display());
        let help = "make one with `warpsmith check … --format json > FILE`";
        return Err(warpsmith_ir::Diagnostic::error("W319", message).help(help).into());
    };
    let mut known = Known::default();
    for finding in findings {
        let text = |key: &str| Some(finding.get(key)?.as_str()?.to_string());
        match text("fingerprint") {
            Some(fingerprint) => known.fingerprints.insert(fingerprint),
            None => text("id").is_some_and(|id| known.ids.insert(id)),
        };
    }
    Ok(known)
}
