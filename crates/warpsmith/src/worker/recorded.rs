//! Recorded results for the replay: what a worker wrote down, a Kernel Tuner cache, or T4.

use std::path::Path;

use warpsmith_gpu::GpuError;
use warpsmith_gpu::backend::replay::Recording;
use warpsmith_gpu::protocol::{Invalid, Measured, Reason};
use warpsmith_ir::SourceMap;
use warpsmith_tune::exchange;
use warpsmith_tune::outcome::{Outcome, Status};

/// Reads a recording of any known kind.
///
/// # Errors
/// It cannot be read or holds something else.
pub fn read(path: &Path) -> Result<Recording, GpuError> {
    let bad = |why: String| GpuError::BadRequest(format!("{}: {why}", path.display()));
    let mut sources = SourceMap::new();
    let file = exchange::open(path, &mut sources).map_err(|d| bad(d.message))?;
    let text = sources.get(file).map_or("", |f| &*f.text);
    // Workers' own files and T4 both have `results`: a table in the one, a list in the other.
    match (serde_json::from_str(text), exchange::kind(text)) {
        (Ok(own), _) => return Ok(own),
        (Err(e), None) => return Err(bad(e.to_string())),
        (Err(_), Some(_)) => {}
    }
    let (found, _) = exchange::read_recording(&sources, file).map_err(|d| bad(d.message))?;
    let results = found.records.iter().map(|r| (r.configuration.key(), measured(&r.outcome)));
    Ok(Recording {
        device: found.device.unwrap_or_else(|| "recorded".into()),
        results: results.collect(),
        ..Recording::default()
    })
}

/// The outcome as a worker tells it.
fn measured(outcome: &Outcome) -> Measured {
    let reason = match outcome.status {
        Status::Correct => match (outcome.runtimes_ms.as_slice(), outcome.time_ms) {
            ([], Some(ms)) => return Measured::Times(vec![ms]),
            ([], None) => Reason::Runtime,
            (times, _) => return Measured::Times(times.to_vec()),
        },
        Status::Constraints => Reason::Constraints,
        Status::Compile => Reason::Compile,
        Status::Runtime => Reason::Runtime,
        Status::Correctness => Reason::Correctness,
        Status::Timeout => Reason::Timeout,
    };
    let detail = outcome.message.clone().unwrap_or_else(|| "recorded as failed".into());
    Measured::Invalid(Invalid::new(reason, detail))
}
