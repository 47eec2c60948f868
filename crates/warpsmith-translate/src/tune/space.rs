//! The choice of values for the parameters of a schedule, by the device model.

use std::collections::BTreeMap;

use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_opt::schedule::space::{Space, Values, describe};
use warpsmith_opt::{Kernel, Schedule, lower, schedule};

use super::choice::{Bench, Choice, Explored, Model, ratio};
use crate::status::Failure;

/// As many configurations are all looked at; of more, those that a descent along one parameter after the other meets.
const ALL: usize = 512;
/// Most configurations that are listed.
const LISTED: usize = 20_000;

/// `NAME=VALUE` of the command line.
///
/// # Errors
/// What is wrong with the text, or with the value.
pub fn fix(space: &mut Space, given: &[String]) -> Result<(), Diagnostic> {
    for text in given {
        let parts = text.split_once('=').map(|(n, v)| (n.trim(), v.trim().parse::<i64>()));
        let Some((name, Ok(value))) = parts else {
            let message = format!("`--param {text}` is no parameter with a value");
            return Err(Diagnostic::error("W233", message).help("write `--param T=4`"));
        };
        space.fix(name, value)?;
    }
    Ok(())
}

/// The schedule with the values that the parameters have where nothing chooses.
///
/// # Errors
/// The constraint that these values break, or a step that they make wrong.
pub fn plain(space: &Space) -> Result<Schedule, Vec<Diagnostic>> {
    let values = space.defaults();
    if !space.allows(&values) && values.is_empty() {
        let message = "a constraint of the schedule never holds: there are no parameters";
        return Err(vec![Diagnostic::error("W234", message)]);
    }
    if !space.allows(&values) {
        let message = "the values of the parameters do not satisfy the constraints of the schedule";
        let d = Diagnostic::error("W234", message).note(describe(&values));
        return Err(vec![d.help("choose others with `--param`, or let the model choose")]);
    }
    space.schedule(&values)
}

/// The schedule of least predicted time.
///
/// # Errors
/// That no combination of values is allowed, or why the first one is not legal when none is; or that there was no time.
pub fn choose(space: &Space, model: &Model<'_>) -> Result<Choice, Failure> {
    let Model { kernel, sources, .. } = *model;
    let (configurations, complete) = space.configurations(LISTED);
    let Some(first) = configurations.first() else {
        let message = "no values of the parameters satisfy the constraints of the schedule";
        let d = Diagnostic::error("W234", message);
        return Err(Failure::no(vec![d.note(format!("there are {} combinations", space.size()))]));
    };
    let bench = Bench::new(model);
    let mut search = Search { space, bench, known: BTreeMap::new(), best: None };
    if complete && configurations.len() <= ALL {
        configurations.iter().for_each(|c| _ = search.look(c));
    } else {
        let start = space.defaults();
        search.descend(if space.allows(&start) { &start } else { first });
    }
    let looked = search.known.len();
    let legal = search.known.values().filter(|s| s.is_some()).count();
    let decided = search.decide();
    search.bench.go_on()?;
    let Some((values, seconds)) = decided else {
        return Err(Failure::no(why_none(space, first, kernel, sources, looked)));
    };
    let steps = space.schedule(&values).map_err(Failure::no)?;
    let direct = schedule::derive(kernel, sources).ok();
    let mut bench = search.bench;
    let direct = direct.and_then(|s| bench.times(&[s]).pop().flatten()).unwrap_or_default();
    let explored = Explored {
        values: describe(&values),
        combinations: space.size(),
        allowed: configurations.len(),
        complete,
        legal,
    };
    let registers = bench.registers_of(&steps)?;
    let explored = Some(explored);
    Ok(Choice { schedule: steps, seconds, direct, compared: looked, explored, registers })
}

/// The message of the first configuration, when none is legal or can run.
fn why_none(
    space: &Space,
    first: &Values,
    kernel: &Kernel,
    sources: &SourceMap,
    looked: usize,
) -> Vec<Diagnostic> {
    let tried = space.schedule(first).and_then(|steps| {
        let kernel = schedule::replay(kernel, &steps, sources)?;
        lower::lower(&kernel, sources)
    });
    let note =
        format!("none of {looked} configurations is legal; this is the first: {}", describe(first));
    match tried {
        Err(errors) => errors.into_iter().map(|d| d.note(note.clone())).collect(),
        Ok(_) => {
            let message = "no configuration of the schedule can run on this architecture";
            vec![Diagnostic::error("W234", message).note(note)]
        }
    }
}

/// Configurations that were looked at.
struct Search<'a> {
    space: &'a Space,
    bench: Bench<'a>,
    /// Predicted times; `None`: not legal, or cannot run.
    known: BTreeMap<Values, Option<Vec<f64>>>,
    best: Option<(Values, Vec<f64>)>,
}

impl Search<'_> {
    /// Whether this configuration is better than all before.
    fn look(&mut self, values: &Values) -> bool {
        if self.known.contains_key(values) {
            return false;
        }
        let steps = self.space.schedule(values).ok();
        let seconds = steps.and_then(|s| self.bench.estimates.times(&s));
        self.known.insert(values.clone(), seconds.clone());
        let Some(seconds) = seconds else { return false };
        let better = self.best.as_ref().is_none_or(|(_, best)| ratio(&seconds, best) < 1.0);
        if better {
            self.best = Some((values.clone(), seconds));
        }
        better
    }

    /// The best one; of the first few the compiler's registers decide, where there is one.
    fn decide(&mut self) -> Option<(Values, Vec<f64>)> {
        if !self.bench.compiles() {
            return self.best.take();
        }
        let legal = self.known.iter().filter(|(_, t)| t.is_some());
        let schedule = |v: &Values| self.space.schedule(v).ok();
        let listed: Vec<(&Values, Schedule)> =
            legal.filter_map(|(v, _)| Some((v, schedule(v)?))).collect();
        let times = listed.iter().map(|(v, _)| self.known[*v].clone()).collect();
        let least = |times: &[Option<Vec<f64>>]| {
            let known = times.iter().enumerate().filter_map(|(k, t)| Some((k, t.as_ref()?)));
            known.reduce(|a, b| if ratio(b.1, a.1) < 1.0 { b } else { a }).map(|(k, _)| k)
        };
        let (k, seconds) = self.bench.settle(times, |k| listed[k].1.clone(), least)?;
        Some((listed[k].0.clone(), seconds))
    }

    /// From a configuration to the best value of one parameter after the other, until none helps.
    fn descend(&mut self, start: &Values) {
        self.look(start);
        let mut at = start.clone();
        loop {
            let mut moved = false;
            for param in &self.space.params {
                for value in &param.values {
                    let mut next = at.clone();
                    next.insert(param.name.clone(), *value);
                    if self.known.len() < ALL && self.space.allows(&next) && self.look(&next) {
                        moved = true;
                    }
                }
                if let Some((best, _)) = &self.best {
                    at.clone_from(best);
                }
            }
            if !moved {
                return;
            }
        }
    }
}
