//! Times of plans as they run at the sizes that are meant, where the command can measure.

use std::collections::BTreeMap;

use super::costs::Runnable;
use super::ranking::{Entrant, Form, Ranking, host_sizes};
use super::real::{self, Sizes};
use crate::launch::Launch;
use crate::session::Refusal;
use crate::source::shape;

/// What was measured.
#[derive(Clone, Debug)]
pub struct Times {
    /// Seconds of the kernel as it is, a step.
    pub before: Option<f64>,
    /// Seconds of each entrant, a step; `None`: it does not run, or was not among those that are measured.
    pub of: Vec<Option<f64>>,
    /// The launch, in words.
    pub said: String,
}

/// Times, or why there are none.
pub type Timed = Result<Times, String>;

/// Entrants that are measured at most, the best predicted ones.
const MEASURED: usize = 48;

impl Ranking<'_> {
    /// Times of entrants where something measures; `None`: nothing does.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn times(&mut self, entrants: &mut [Entrant]) -> Result<Option<Timed>, Refusal> {
        if !self.costs.measures() || entrants.is_empty() {
            return Ok(None);
        }
        let mut given: BTreeMap<String, i64> = host_sizes(self.session)?;
        given.extend(self.session.input.meant.clone());
        let sizes = Sizes::new(self.session, given);
        let usual = self.large.launch.block;
        let Some(launch) = real::launch(self.session, usual, &sizes)? else {
            return Ok(Some(Err("no launch of the sizes that are meant is known".into())));
        };
        let own = self.session.plan.text.clone();
        let compile = |text: &str| {
            self.session.compiler.compile(text, &launch.constants, &self.session.kernel)
        };
        let program = compile(&own).map_err(|d| self.session.refuse(false, d))?;
        let mut stored = vec![];
        super::in_kernel(self.session, &mut |kernel| {
            let stores = kernel.accesses.iter().filter(|a| a.stored);
            stored = stores.map(|a| a.array.clone()).collect();
        })?;
        let found = real::arguments(&program, &launch, &stored)
            .map_err(|d| self.session.refuse(false, vec![d]))?;
        let (arrays, arguments) = found;
        let mut order: Vec<usize> = (0..entrants.len()).collect();
        let cost = |n: &usize| entrants[*n].cost.unwrap_or(f64::MAX);
        order.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        order.truncate(MEASURED);
        let before = self.runnable("as it is", &own, &Form::default(), &launch, &arguments);
        let mut texts: Vec<Runnable> = before.into_iter().collect();
        let mut measured = vec![];
        for n in order {
            let e = &entrants[n];
            let launch = match e.block {
                Some(block) if block != launch.block => {
                    real::launch(self.session, block, &sizes)?.unwrap_or_else(|| launch.clone())
                }
                _ => launch.clone(),
            };
            let made = self.runnable(&e.made.name, &e.made.text, &e.form, &launch, &arguments);
            if let Some(made) = made {
                texts.push(made);
                measured.push(n);
            }
        }
        self.input.steps.begin("measuring");
        let steps = |n: usize| if entrants[n].form.overlap.is_some() { 2.0 } else { 1.0 };
        Ok(Some(self.costs.measured(&arrays, &texts).map(|times| {
            let mut of = vec![None; entrants.len()];
            for (n, time) in measured.iter().zip(times.iter().skip(1)) {
                of[*n] = time.map(|t| t / steps(*n));
            }
            Times { before: times.first().copied().flatten(), of, said: launch.describe() }
        })))
    }

    /// A text with its launch; `None`: blocks have no room for halos.
    fn runnable(
        &self,
        name: &str,
        text: &str,
        form: &Form,
        launch: &Launch,
        arguments: &[super::costs::Argument],
    ) -> Option<Runnable> {
        if let Some(wide) = &form.wide {
            let odd = |n: &String| launch.integers.get(n).is_none_or(|n| n % wide.lanes != 0);
            wide.multiples.iter().all(|n| !odd(n)).then_some(())?;
        }
        let (kernel, mut grid) = form.launched(&self.session.kernel, launch.grid, launch.block)?;
        if let (Some((axis, run)), Some(meant)) = (form.run, &self.meant) {
            grid[axis] = ((meant.iterations / run as f64).ceil() as u32).clamp(1, 65_535);
        }
        let with = shape::constants(text, &launch.constants).apply(text);
        Some(Runnable {
            name: name.to_string(),
            text: with.unwrap_or_else(|_| text.to_string()),
            kernel: kernel.clone(),
            grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            arguments: arguments.to_vec(),
            differs: form.overlap.is_some(),
        })
    }
}
