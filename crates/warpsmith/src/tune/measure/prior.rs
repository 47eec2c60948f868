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

/// Time for asking the model about a whole space; a larger one is searched without its opinion.
const PATIENCE: Duration = Duration::from_secs(3);

/// The device model's opinion of configurations.
pub struct Model<'a> {
    pub candidates: &'a Candidates,
    pub kernel: &'a Kernel,
    pub gpu: &'a Gpu,
    pub sizes: &'a [Point],
    pub sources: &'a SourceMap,
}

/// Predicted seconds by [`Configuration::key`].
#[derive(Debug)]
struct Predicted(HashMap<String, f64>);

impl PriorModel for Predicted {
    fn predict(&self, configuration: &Configuration) -> f64 {
        self.0.get(&configuration.key()).copied().unwrap_or(f64::NAN)
    }
}

impl Model<'_> {
    /// Predicted seconds, the geometric mean over the sizes. `None`: not legal, or it cannot run.
    pub fn seconds(&self, configuration: &Configuration) -> Option<f64> {
        let schedule = self.candidates.schedule(configuration).ok()?;
        let seconds = times(self.kernel, &schedule, self.gpu, self.sizes, self.sources)?;
        let logs = seconds.iter().map(|s| s.ln()).sum::<f64>();
        Some((logs / seconds.len().max(1) as f64).exp())
    }

    /// Asks about all configurations, on all cores. `None`: the space is too large for that.
    pub fn prior(&self) -> Option<Prior> {
        let ids: Vec<ConfigId> = self.candidates.space.ids().collect();
        let begun = Instant::now();
        let missed = AtomicUsize::new(0);
        let asked = |id: &ConfigId| {
            let configuration = self.candidates.space.configuration(*id);
            if begun.elapsed() > PATIENCE {
                missed.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Some((configuration.key(), self.seconds(&configuration)?))
        };
        let known: HashMap<String, f64> = on_all_cores(&ids, asked).into_iter().flatten().collect();
        (missed.into_inner() == 0).then(|| Arc::new(Predicted(known)) as Prior)
    }
}
