//! What the device model says of configurations before any of them is measured.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use warpsmith_device::Gpu;
use warpsmith_ir::SourceMap;
use warpsmith_opt::Kernel;
use warpsmith_tune::space::{ConfigId, Configuration};
use warpsmith_tune::tuner::{Prior, PriorModel};

use super::Candidates;
use crate::tune::choice::{on_all_cores, times};
use crate::tune::sizes::Point;

/// Time for asking the model; the rest of a large space then starts without its opinion.
const PATIENCE: Duration = Duration::from_secs(3);

/// Predicted seconds by [`Configuration::key`].
#[derive(Debug)]
struct Predicted(HashMap<String, f64>);

impl PriorModel for Predicted {
    fn predict(&self, configuration: &Configuration) -> f64 {
        self.0.get(&configuration.key()).copied().unwrap_or(f64::NAN)
    }
}

/// Asks the model about all configurations, on all cores. `None`: the space is too large for that.
pub fn predicted(
    candidates: &Candidates,
    kernel: &Kernel,
    gpu: &Gpu,
    sizes: &[Point],
    sources: &SourceMap,
) -> Option<Prior> {
    let ids: Vec<ConfigId> = candidates.space.ids().collect();
    let begun = Instant::now();
    let missed = AtomicUsize::new(0);
    let asked = |id: &ConfigId| {
        let configuration = candidates.space.configuration(*id);
        if begun.elapsed() > PATIENCE {
            missed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let schedule = candidates.schedule(&configuration).ok()?;
        let seconds = times(kernel, &schedule, gpu, sizes, sources)?;
        let mean = seconds.iter().map(|s| s.ln()).sum::<f64>() / seconds.len().max(1) as f64;
        Some((configuration.key(), mean.exp()))
    };
    let known: HashMap<String, f64> = on_all_cores(&ids, asked).into_iter().flatten().collect();
    if missed.into_inner() > 0 {
        return None;
    }
    Some(Arc::new(Predicted(known)))
}
