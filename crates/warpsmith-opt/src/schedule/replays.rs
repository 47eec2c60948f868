//! Many schedules of one function, each replayed from where it parts with one before.

use std::sync::{Mutex, PoisonError};

use warpsmith_ir::SourceMap;

use super::{Schedule, StepKind, advance};
use crate::kernel::Kernel;

/// Steps with what each made of the function; `None`: it was refused.
type Path = Vec<(StepKind, Option<Kernel>)>;

/// Replays schedules, on several threads if need be. It is fast where neighbours begin with the same steps.
pub struct Replays<'a> {
    kernel: &'a Kernel,
    sources: &'a SourceMap,
    /// The last path of each thread; nobody walks on these now.
    paths: Mutex<Vec<Path>>,
}

impl<'a> Replays<'a> {
    /// Nothing replayed yet.
    pub fn new(kernel: &'a Kernel, sources: &'a SourceMap) -> Replays<'a> {
        Replays { kernel, sources, paths: Mutex::new(vec![]) }
    }

    /// What `see` says of the scheduled function, as [`super::replay`] makes it; `None`: a step is refused.
    pub fn of<R>(&self, schedule: &Schedule, see: impl FnOnce(&Kernel) -> R) -> Option<R> {
        let paths = || self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let mut path = paths().pop().unwrap_or_default();
        let seen = self.walk(&mut path, schedule).map(see);
        paths().push(path);
        seen
    }

    fn walk<'p>(&'p self, path: &'p mut Path, schedule: &Schedule) -> Option<&'p Kernel> {
        let same = path.iter().zip(&schedule.steps).take_while(|(a, b)| a.0 == b.kind).count();
        path.truncate(same);
        for step in &schedule.steps[same..] {
            let before = path.last().map_or(Some(self.kernel), |(_, kernel)| kernel.as_ref())?;
            let after = advance(before, &step.kind, self.sources).ok();
            path.push((step.kind.clone(), after));
        }
        path.last().map_or(Some(self.kernel), |(_, kernel)| kernel.as_ref())
    }
}
