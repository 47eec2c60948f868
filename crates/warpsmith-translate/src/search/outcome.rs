//! What the store keeps of a measurement.

use serde_json::{Map, Value as Json, json};
use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::protocol::{Invalid, Measured, Reason};
use warpsmith_tune::outcome::{Measurement, Outcome, Phases, Status, median};

use super::Task;

/// A failure before or during the measurement.
pub fn failed(invalid: &Invalid, phases: Phases) -> Outcome {
    let status = match invalid.reason {
        Reason::Constraints => Status::Constraints,
        Reason::Compile => Status::Compile,
        Reason::Runtime => Status::Runtime,
        Reason::Correctness => Status::Correctness,
        Reason::Timeout => Status::Timeout,
    };
    Outcome { phases, ..Outcome::failed(status, invalid.detail.clone()) }
}

/// The geometric mean of times; 1 of none.
pub fn geometric_mean(times: &[f64]) -> f64 {
    (times.iter().map(|t| t.ln()).sum::<f64>() / times.len().max(1) as f64).exp()
}

/// The outcome of measurements at all tasks. Of one task the samples are kept as they are; of several the time that
/// counts is the geometric mean of their medians, and each task's samples are a measurement.
pub fn measured(results: &[Measured], tasks: &[Task], binary: &Binary, phases: Phases) -> Outcome {
    let mut samples = vec![];
    for result in results {
        match result {
            Measured::Times(times) => samples.push(times.clone()),
            Measured::Invalid(invalid) => return with_binary(failed(invalid, phases), binary),
        }
    }
    let mut outcome = match samples.as_slice() {
        [only] => Outcome::correct(only.clone()),
        several => {
            let medians: Vec<f64> = several.iter().filter_map(|s| median(s)).collect();
            let mut outcome = Outcome::correct(vec![geometric_mean(&medians)]);
            let each = tasks.iter().zip(several).map(|(task, times)| Measurement {
                name: format!("times {}", task.label),
                value: json!(times),
                unit: Some("ms".into()),
                kind: None,
            });
            outcome.measurements.extend(each);
            outcome
        }
    };
    outcome.phases = phases;
    with_binary(outcome, binary)
}

/// What the compiler says, by the kernel that needs most.
fn with_binary(mut outcome: Outcome, binary: &Binary) -> Outcome {
    let most = |field: fn(&warpsmith_gpu::protocol::KernelInfo) -> u32| {
        binary.kernels.iter().map(field).max().unwrap_or(0)
    };
    let mut all = Map::new();
    let mut put = |name: &str, value: u32| all.insert(name.to_string(), Json::from(value));
    put("registers", most(|k| k.registers));
    put("shared_memory", most(|k| k.shared));
    put("local_memory_size", most(|k| k.local));
    put("spills", most(|k| k.spills));
    outcome.compilation = all;
    outcome
}

/// Milliseconds for each task of a correct outcome.
pub fn each_task(outcome: &Outcome) -> Vec<f64> {
    let of_several = outcome.measurements.iter().filter(|m| m.name.starts_with("times "));
    let medians: Vec<f64> = of_several
        .filter_map(|m| {
            let times: Vec<f64> = m.value.as_array()?.iter().filter_map(|t| t.as_f64()).collect();
            median(&times)
        })
        .collect();
    if medians.is_empty() { outcome.time_ms.into_iter().collect() } else { medians }
}
