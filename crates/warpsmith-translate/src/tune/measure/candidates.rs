//! The schedules that a search can try, as configurations of a space.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use warpsmith_device::Gpu;
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_opt::schedule::fusions::{self, Start};
use warpsmith_opt::schedule::space::{Space as Parametric, Values};
use warpsmith_opt::schedule::template::{alternatives, schedule_of};
use warpsmith_opt::schedule::{self, StepKind};
use warpsmith_opt::{Kernel, Schedule};
use warpsmith_tune::space::{Configuration, Parameter, Point as At, SharedSpace, Space};
use warpsmith_tune::value::Value;

use crate::search::outcome::geometric_mean;
use crate::status::Failure;
use crate::tune::choice::{CHOOSING, PREDICTING, keeps_sums, worth_starting};
use crate::tune::estimates::{Estimates, on_all_cores};
use crate::tune::sizes::Point;

/// Most combinations of the schedules of several nests, and most configurations of a schedule with parameters.
const MOST: usize = 20_000;

/// A space, and what its configurations mean.
#[derive(Clone)]
pub struct Candidates {
    /// Parameters with their values, and the constraints among them.
    pub space: SharedSpace,
    schedules: Schedules,
    /// Seconds that configurations are expected to take, by [`Configuration::key`], as far as that is known.
    pub expected: Arc<HashMap<String, f64>>,
}

/// Schedules with a common start, and for each the seconds that it is expected to take.
#[derive(Clone, Default)]
struct Family(Vec<(Schedule, Option<f64>)>);

impl Family {
    /// The one that is expected to be fastest.
    fn best(&self) -> Option<&Schedule> {
        let known = self.0.iter().filter_map(|(s, seconds)| Some((s, (*seconds)?)));
        let best = known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(s, _)| s);
        best.or_else(|| self.0.first().map(|(s, _)| s))
    }
}

#[derive(Clone)]
enum Schedules {
    /// By [`Configuration::key`].
    Listed(Arc<HashMap<String, Schedule>>),
    Parametric(Arc<Parametric>),
}

impl Candidates {
    /// What the templates offer for each nest, as far as it is legal and can run by the model; of several nests all
    /// combinations of the best of each, as they are and, where that is predicted to pay, with those made one that can be.
    ///
    /// # Errors
    /// What is wrong with the marks of the loops, or that there was no time.
    pub fn of_templates(
        kernel: &Kernel,
        gpu: &Gpu,
        sizes: &[Point],
        sources: &SourceMap,
        stop: &Stop,
    ) -> Result<Candidates, Failure> {
        let starts = fusions::starts(kernel, sources);
        let most = MOST / (starts.len() + 1);
        let mut estimates = Estimates::new(kernel, gpu, sizes, sources, stop);
        let first = combined(&mut estimates, &Start::of(kernel), sources, most, stop)?;
        let known = first.best().and_then(|s| estimates.times(s));
        let mut families = vec![first];
        for start in starts {
            let found = combined(&mut estimates, &start, sources, most, stop);
            if let Some(failure) = Failure::stopped(stop, CHOOSING) {
                return Err(failure);
            }
            // What is fused may be more than any step takes.
            let found = found.unwrap_or_default();
            // The model is right about sums that are kept, and too bold about others that are scattered: each kind for itself.
            let (kept, other) = found.0.into_iter().partition(|(s, _)| keeps_sums(&s.steps));
            for family in [Family(other), Family(kept)] {
                let Some(schedule) = family.best() else { continue };
                if let (Some(seconds), Some(known)) = (estimates.times(schedule), &known)
                    && worth_starting(&start, &schedule.steps, &seconds, known)
                {
                    families.push(family);
                }
            }
        }
        // Too many numbers to be listed together: the family that promises most alone, which came last.
        let together = Candidates::expected(families.iter().flat_map(|f| f.0.clone()).collect());
        let alone = families.into_iter().rev();
        let made =
            alone.fold(together, |made, family| made.or_else(|_| Candidates::expected(family.0)));
        made.map_err(Failure::no)
    }

    /// Schedules as configurations, with the seconds that they are expected to take.
    fn expected(list: Vec<(Schedule, Option<f64>)>) -> Result<Candidates, Vec<Diagnostic>> {
        let seconds: HashMap<String, f64> =
            list.iter().filter_map(|(s, seconds)| Some((s.print(), (*seconds)?))).collect();
        let mut made = Candidates::listed(list.into_iter().map(|(s, _)| s).collect())?;
        if let Schedules::Listed(known) = &made.schedules {
            let of =
                |(key, s): (&String, &Schedule)| Some((key.clone(), *seconds.get(&s.print())?));
            made.expected = Arc::new(known.iter().filter_map(of).collect());
        }
        Ok(made)
    }

    /// All configurations of a schedule with parameters that its constraints allow, as many as can be listed.
    ///
    /// # Errors
    /// W234: its constraints allow none.
    pub fn of_schedule(space: Parametric) -> Result<Candidates, Vec<Diagnostic>> {
        let (configurations, _) = space.configurations(MOST);
        if configurations.is_empty() {
            let message = "the constraints of the schedule allow no values of its parameters";
            return Err(vec![Diagnostic::error("W234", message)]);
        }
        let position = |name: &str, value: i64| {
            let param = space.params.iter().find(|p| p.name == name);
            let at = param.and_then(|p| p.values.iter().position(|v| *v == value));
            u16::try_from(at.unwrap_or(0)).unwrap_or(u16::MAX)
        };
        let point = |values: &Values| {
            let names = space.params.iter();
            names.map(|p| position(&p.name, values.get(&p.name).copied().unwrap_or(0))).collect()
        };
        let points: Vec<At> = configurations.iter().map(point).collect();
        let numbers = |p: &schedule::space::Param| {
            Parameter::new(p.name.clone(), p.values.iter().map(|v| Value::Int(*v)))
        };
        let made = Space::of_points(space.params.iter().map(numbers).collect(), &points);
        let made = made.map_err(|e| vec![e.diagnostic(&|_| None)])?;
        let schedules = Schedules::Parametric(Arc::new(space));
        Ok(Candidates { space: Arc::new(made), schedules, expected: Arc::default() })
    }

    /// Schedules as configurations: what they do is one parameter, and every number in them another.
    ///
    /// # Errors
    /// More than a space can hold.
    pub fn listed(schedules: Vec<Schedule>) -> Result<Candidates, Vec<Diagnostic>> {
        let described: Vec<Described> = schedules.iter().map(describe).collect();
        let mut names: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
        let mut kinds: Vec<&str> = vec![];
        for d in &described {
            if !kinds.contains(&d.steps.as_str()) {
                kinds.push(&d.steps);
            }
            d.numbers.keys().for_each(|name| _ = names.entry(name).or_default());
        }
        for (name, values) in &mut names {
            values.extend(described.iter().map(|d| d.number(name)));
        }
        let values = |v: &BTreeSet<i64>| v.iter().map(|n| Value::Int(*n)).collect::<Vec<_>>();
        let mut parameters =
            vec![Parameter::new("steps", kinds.iter().map(|k| Value::Str(k.to_string())))];
        parameters.extend(names.iter().map(|(name, v)| Parameter::new(*name, values(v))));
        let point = |d: &Described| -> At {
            let kind = kinds.iter().position(|k| *k == d.steps).unwrap_or(0);
            let places = names.iter().map(|(name, v)| {
                let number = d.number(name);
                v.iter().position(|x| *x == number).unwrap_or(0)
            });
            let all = std::iter::once(kind).chain(places);
            all.map(|p| u16::try_from(p).unwrap_or(u16::MAX)).collect()
        };
        let points: Vec<At> = described.iter().map(point).collect();
        let space = Space::of_points(parameters, &points);
        let space = Arc::new(space.map_err(|e| vec![e.diagnostic(&|_| None)])?);
        let mut known = HashMap::new();
        for (point, schedule) in points.iter().zip(schedules) {
            if let Some(id) = space.id(point) {
                known.entry(space.configuration(id).key()).or_insert(schedule);
            }
        }
        let schedules = Schedules::Listed(Arc::new(known));
        Ok(Candidates { space, schedules, expected: Arc::default() })
    }

    /// The configurations that stand for these schedules, in their order; `None`: one of them is not in the space.
    pub fn configurations_of(&self, schedules: &[Schedule]) -> Option<Vec<Configuration>> {
        let all: Vec<(String, Configuration)> = self
            .space
            .ids()
            .map(|id| self.space.configuration(id))
            .filter_map(|c| Some((self.schedule(&c).ok()?.print(), c)))
            .collect();
        let of = |s: &Schedule| {
            let text = s.print();
            all.iter().find(|(known, _)| *known == text).map(|(_, c)| c.clone())
        };
        schedules.iter().map(of).collect()
    }

    /// The schedule of a configuration.
    ///
    /// # Errors
    /// It is none of the space, or a number in a step cannot be computed.
    pub fn schedule(&self, configuration: &Configuration) -> Result<Schedule, String> {
        match &self.schedules {
            Schedules::Listed(known) => {
                let found = known.get(&configuration.key());
                found.cloned().ok_or_else(|| "there is no such schedule".to_string())
            }
            Schedules::Parametric(space) => {
                let value = |v: &Value| match v {
                    Value::Int(n) => Some(*n),
                    _ => None,
                };
                let values: Option<Values> = configuration
                    .values
                    .iter()
                    .map(|(name, v)| Some((name.clone(), value(v)?)))
                    .collect();
                let values = values.ok_or("a parameter is no integer")?;
                space.schedule(&values).map_err(|errors| {
                    errors.first().map_or_else(String::new, |d| d.message.clone())
                })
            }
        }
    }

    /// A text that tells this space from others.
    pub fn text(&self) -> String {
        match &self.schedules {
            Schedules::Listed(known) => {
                let mut all: Vec<String> = known.values().map(Schedule::print).collect();
                all.sort();
                all.concat()
            }
            Schedules::Parametric(space) => format!("{space:?}"),
        }
    }
}

/// All combinations of the best that the templates offer for each nest, after some first steps.
fn combined(
    estimates: &mut Estimates<'_>,
    start: &Start,
    sources: &SourceMap,
    most: usize,
    stop: &Stop,
) -> Result<Family, Failure> {
    let mut chosen = start.direct(sources).map_err(Failure::no)?;
    let nests = chosen.len() - 1;
    let each = (most as f64).powf(1.0 / nests.max(1) as f64).floor().max(1.0) as usize;
    let first = Part { steps: start.steps.clone(), more: Some(vec![]) };
    let mut parts: Vec<Vec<Part>> = vec![vec![first]];
    // Of the whole function, with the best schedules of the nests so far.
    let mut seconds = vec![];
    let mut state = start.kernel.clone();
    for at in 1..chosen.len() {
        let offered = match state.open_roots().first() {
            Some(root) => alternatives(&state, *root, sources),
            None => vec![],
        };
        if nests > 1 {
            estimates.beside(&schedule_of(&chosen));
        }
        let with = |steps: &[StepKind]| schedule::with_part(start, &chosen, (at, steps), sources);
        let asked = |steps: &Vec<StepKind>| estimates.times(&schedule_of(&with(steps)));
        let times = on_all_cores(PREDICTING, &offered, asked);
        if let Some(failure) = Failure::stopped(stop, CHOOSING) {
            return Err(failure);
        }
        let legal = offered.into_iter().zip(times);
        let mut legal: Vec<(Vec<StepKind>, Vec<f64>)> =
            legal.filter_map(|(steps, times)| Some((steps, times?))).collect();
        legal.sort_by(|a, b| geometric_mean(&a.1).total_cmp(&geometric_mean(&b.1)));
        legal.truncate(each);
        parts.push(match legal.first().cloned() {
            None => vec![Part { steps: chosen[at].clone(), more: None }],
            Some((best, least)) => {
                chosen = with(&best);
                seconds.clone_from(&least);
                let more = |t: Vec<f64>| t.iter().zip(&least).map(|(t, l)| t - l).collect();
                let part = |(steps, times)| Part { steps, more: Some(more(times)) };
                legal.into_iter().map(part).collect()
            }
        });
        for step in &chosen[at] {
            if let Ok(next) = schedule::take(&state, step, sources) {
                state = next.kernel;
            }
        }
    }
    let schedule = |(steps, seconds): &Combined| {
        // The last nest first: those before it still have the steps beside which its own were offered.
        let fitted = (1..steps.len()).rev().fold(chosen.clone(), |parts, at| {
            schedule::with_part(start, &parts, (at, &steps[at]), sources)
        });
        (schedule_of(&fitted), seconds.as_deref().map(geometric_mean))
    };
    Ok(Family(combinations(&parts, &seconds).iter().map(schedule).collect()))
}

/// Steps for a nest.
#[derive(Clone)]
struct Part {
    steps: Vec<StepKind>,
    /// Seconds beyond those that the best steps for the nest take, at each size; empty: none; `None`: not known.
    more: Option<Vec<f64>>,
}

/// Steps for each nest, and the seconds at each size that all of them take, where that is known.
type Combined = (Vec<Vec<StepKind>>, Option<Vec<f64>>);

/// One of each list, in all combinations. Nests run one after the other: their times add up, to `least` where each has the best.
fn combinations(parts: &[Vec<Part>], least: &[f64]) -> Vec<Combined> {
    let least = Some(least.to_vec()).filter(|l| !l.is_empty());
    let mut all: Vec<Combined> = vec![(vec![], least)];
    for list in parts {
        let with = |(chosen, seconds): &Combined, part: &Part| {
            let steps = chosen.iter().cloned().chain([part.steps.clone()]).collect();
            let sum = |s: &Vec<f64>| {
                let more = part.more.as_ref()?.iter().copied().chain(std::iter::repeat(0.0));
                Some(s.iter().zip(more).map(|(s, m)| s + m).collect())
            };
            (steps, seconds.as_ref().and_then(sum))
        };
        all = all.iter().flat_map(|chosen| list.iter().map(move |p| with(chosen, p))).collect();
    }
    all
}

/// A schedule as words and numbers.
struct Described {
    steps: String,
    numbers: BTreeMap<String, i64>,
}

impl Described {
    /// 0 where the schedule has no such number.
    fn number(&self, name: &str) -> i64 {
        self.numbers.get(name).copied().unwrap_or(0)
    }
}

fn describe(schedule: &Schedule) -> Described {
    let mut numbers = BTreeMap::new();
    let mut steps = vec![];
    for step in &schedule.steps {
        let line = step.kind.to_string();
        // What a kernel may assume of its arguments is a choice between few, not a scale.
        let fixed = matches!(step.kind, StepKind::Specialise(_));
        steps.push(if fixed { line } else { words(&line, &mut numbers) });
    }
    Described { steps: steps.join("; "), numbers }
}

/// The words of a step; its numbers go to the list, named after the words before them.
fn words(line: &str, numbers: &mut BTreeMap<String, i64>) -> String {
    let mut text: Vec<&str> = vec![];
    let step = line.split(' ').next().unwrap_or_default();
    let target = target(line);
    for word in line.split(' ') {
        let found: Vec<Option<i64>> = word.split('x').map(|n| n.parse().ok()).collect();
        let found: Option<Vec<i64>> = found.into_iter().collect();
        let Some(found) = found else {
            text.push(word);
            continue;
        };
        let before = text.last().copied().unwrap_or_default();
        for (k, number) in found.iter().enumerate() {
            let axis = if found.len() > 1 { AXES.get(k).copied().unwrap_or("") } else { "" };
            let mut name = number_name([step, target, before, axis]);
            while numbers.contains_key(&name) {
                name += "_";
            }
            numbers.insert(name, *number);
        }
    }
    text.join(" ")
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// What a step is about: its second word, unless that is a number.
fn target(line: &str) -> &str {
    let word = line.split(' ').nth(1).unwrap_or_default().trim_end_matches(',');
    if word.parse::<i64>().is_ok() { "" } else { word }
}

/// The name of a number from step, target, the word before it, and the axis where there are several.
fn number_name([step, target, before, axis]: [&str; 4]) -> String {
    let before = if before == "by" { "" } else { before };
    let mut parts: Vec<&str> =
        [step, target, before, axis].into_iter().filter(|p| !p.is_empty()).collect();
    parts.dedup();
    parts.join("_")
}

/// A configuration as a person reads it: the steps of a schedule with their numbers, each at its place; of other spaces
/// names with their values.
pub fn spelled(configuration: &Configuration) -> String {
    let steps = configuration.values.iter().find_map(|(name, value)| match value {
        Value::Str(steps) if name == "steps" => Some(steps),
        _ => None,
    });
    let Some(steps) = steps else { return configuration.to_string() };
    let mut left: BTreeMap<String, i64> = BTreeMap::new();
    for (name, value) in &configuration.values {
        if let Value::Int(number) = value
            && *number != 0
        {
            left.insert(name.clone(), *number);
        }
    }
    let lines: Vec<String> = steps.split("; ").map(|line| with_numbers(line, &mut left)).collect();
    let rest: Vec<String> = left.iter().map(|(name, n)| format!("{name} = {n}")).collect();
    match rest.is_empty() {
        true => lines.join("; "),
        false => format!("{} ({})", lines.join("; "), rest.join(", ")),
    }
}

/// The words of a step with the numbers that belong to them, which are taken from the list.
fn with_numbers(line: &str, left: &mut BTreeMap<String, i64>) -> String {
    let (step, target) = (line.split(' ').next().unwrap_or_default(), target(line));
    let mut text: Vec<String> = vec![];
    let mut words = line.split(' ').peekable();
    while let Some(word) = words.next() {
        text.push(word.to_string());
        // The name of a number does not mention `by`: it stands behind that word, and not before it.
        if words.peek() == Some(&"by") {
            continue;
        }
        let mut take = |axis: &str| {
            let name = number_name([step, target, word, axis]);
            // The second number of a name has a mark behind it, and so on.
            let name = (0..4).map(|n| name.clone() + &"_".repeat(n)).find(|n| left.contains_key(n));
            left.remove(&name?)
        };
        let axes: Vec<String> = AXES.iter().map_while(|a| take(a)).map(|n| n.to_string()).collect();
        match axes.is_empty() {
            true => text.extend(take("").map(|n| n.to_string())),
            false => text.push(axes.join("x")),
        }
    }
    text.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_read_as_the_schedules_they_stand_for() {
        let schedules = [
            "bind i, j -> y, x block 16x8\nregister_tile i by 4\nstage A at k tile 16 pad 4\nraster 8\n",
            "bind i, j -> y, x block 32x8\nunroll k by 2\nunroll k by 4\n",
        ];
        for text in schedules {
            let (mut numbers, mut steps) = (BTreeMap::new(), vec![]);
            for line in text.lines() {
                steps.push(words(line, &mut numbers));
            }
            let mut values = vec![("steps".to_string(), Value::Str(steps.join("; ")))];
            values.extend(numbers.into_iter().map(|(n, v)| (n, Value::Int(v))));
            values.push(("of_another_schedule".into(), Value::Int(0)));
            let configuration = Configuration { values };
            assert_eq!(spelled(&configuration), text.trim_end().replace('\n', "; "));
        }
        let other = Configuration { values: vec![("tile".into(), Value::Int(4))] };
        assert_eq!(spelled(&other), other.to_string());
    }

    #[test]
    fn numbers_of_steps_are_parameters_named_after_their_words() {
        let mut numbers = BTreeMap::new();
        assert_eq!(words("bind i, j -> y, x block 16x8", &mut numbers), "bind i, j -> y, x block");
        assert_eq!(words("register_tile i by 4", &mut numbers), "register_tile i by");
        assert_eq!(words("stage A at k tile 16 pad 4", &mut numbers), "stage A at k tile pad");
        let list: Vec<(&str, i64)> = numbers.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        let expected = [
            ("bind_i_block_x", 16),
            ("bind_i_block_y", 8),
            ("register_tile_i", 4),
            ("stage_A_pad", 4),
            ("stage_A_tile", 16),
        ];
        assert_eq!(list, expected);
    }
}
