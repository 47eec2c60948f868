//! A C function that random steps change, as the rewrites allow. Shared with the fuzz target `random_schedules`.

use warpsmith::front::cloops;
use warpsmith::front::parse::{self, DiskLoader, Language, ParseOptions};
use warpsmith::ir::{LoopId, LoopKind, SourceMap};
use warpsmith::opt::kernel::{is_marked, only_loop};
use warpsmith::opt::schedule::{self, registry::STEPS};
use warpsmith::opt::{Kernel, rewrite::question::independence};
use warpsmith_testgen::{Schedulable, StepExample, StepLoop, StepNames};

/// The kinds of steps there are.
pub fn kinds() -> Vec<StepExample> {
    STEPS.iter().map(|r| (r.name, r.example)).collect()
}

/// A function with the steps taken so far.
pub struct State {
    kernel: Kernel,
    sources: SourceMap,
}

impl State {
    /// The function of a C file.
    ///
    /// # Errors
    /// What the front end says about it.
    pub fn new(source: &str) -> Result<State, String> {
        let mut sources = SourceMap::new();
        let options = ParseOptions::new(Language::C);
        let input = parse::parse("f.c", source.as_bytes(), &options, &DiskLoader, &mut sources)
            .and_then(|unit| cloops::lower_c(&unit.unit, None));
        match input {
            Ok(input) => Ok(State { kernel: Kernel::new(input.module, input.function), sources }),
            Err(errors) => Err(errors.iter().map(|e| e.render(&sources, false)).collect()),
        }
    }

    /// A marked loop that a step can still bind, outermost in its nest.
    fn is_root(&self, id: LoopId) -> bool {
        let around = self.kernel.loops_around(id);
        let own = self.kernel.find_loop(id);
        own.is_some_and(is_marked)
            && !self.kernel.nests.contains_key(&id)
            && !around.iter().any(|l| is_marked(l) || matches!(l.kind, LoopKind::Bound(_)))
    }
}

impl Schedulable for State {
    fn names(&self) -> StepNames {
        let all = self.kernel.loop_names();
        let name_of = |id: LoopId| all.iter().find(|(_, l)| *l == id).map(|(name, _)| name.clone());
        let one = |(name, id): &(String, LoopId)| {
            let own = self.kernel.find_loop(*id);
            let inner = own.and_then(|l| only_loop(&l.body)).and_then(|l| name_of(l.id));
            let bound = own.is_some_and(|l| matches!(l.kind, LoopKind::Bound(_)));
            StepLoop { name: name.clone(), inner, root: self.is_root(*id), bound }
        };
        let function = self.kernel.func();
        let params = function.params.iter().map(|p| function.var(*p));
        let (arrays, scalars): (Vec<_>, Vec<_>) = params.partition(|v| v.ty.is_pointer());
        let open = self.kernel.marked_roots().into_iter().filter(|id| self.is_root(*id));
        let clauses = open.map(|root| independence::group_of(&self.kernel, root).1);
        let reductions = clauses.flat_map(|c| c.reductions);
        StepNames {
            loops: all.iter().map(one).collect(),
            arrays: arrays.into_iter().map(|v| v.name.clone()).collect(),
            sizes: scalars.into_iter().map(|v| v.name.clone()).collect(),
            reductions: reductions.map(|r| self.kernel.name_of(r.var).to_string()).collect(),
        }
    }

    fn take(&mut self, step: &str) -> bool {
        let file = self.sources.add("step", step);
        let replayed = schedule::parse(&self.sources, file)
            .and_then(|one| schedule::replay(&self.kernel, &one, &self.sources));
        match replayed {
            Ok(kernel) => {
                self.kernel = kernel;
                true
            }
            Err(errors) => {
                let bug = errors.iter().find(|e| e.message.contains("a bug in warpsmith"));
                let said = bug.map(|e| e.render(&self.sources, false));
                assert!(said.is_none(), "{step}\n{}", said.unwrap_or_default());
                false
            }
        }
    }
}
