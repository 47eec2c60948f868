//! How a problem is searched: what the command line says, else what the problem's file says.

use std::time::{Duration, Instant};

use warpsmith_ir::{Diagnostic, Severity};
use warpsmith_tune::exchange::t1::BudgetLimit;
use warpsmith_tune::strategy::StrategyKind;
use warpsmith_tune::tuner::Budget;

use super::Source;
use crate::status::Failure;
use warpsmith_translate::tune::device::{self, Place, Stations};
use warpsmith_translate::tune::search::USUAL_BUDGET;
use warpsmith_translate::tune::{SearchBudget, Strategy, TuneRequest};

/// Time for right outputs and search together, and for the search at least.
const EMULATED: Duration = Duration::from_secs(40);
const LEAST: Duration = Duration::from_secs(8);

pub struct Settings {
    pub strategy: StrategyKind,
    pub budget: Budget,
    /// Nobody has named a budget.
    usual: bool,
    begun: Instant,
    pub warnings: Vec<Diagnostic>,
}

impl Settings {
    /// `count` is the number of configurations.
    ///
    /// # Errors
    /// A strategy of the command line that measures nothing.
    pub fn new(request: &TuneRequest, source: &Source, count: u64) -> Result<Settings, Failure> {
        let mut warnings = vec![];
        let strategy = match request.choosing.strategy {
            Some(Strategy::Search(kind)) => kind,
            _ => match &source.problem.strategy {
                None => StrategyKind::default(),
                Some(name) => StrategyKind::named(name).unwrap_or_else(|| {
                    let what = "this strategy is not known";
                    let why = format!("{} is used", StrategyKind::default().name());
                    let mut warning = source.message("W449", what, name, &why);
                    warning.severity = Severity::Warning;
                    warnings.push(warning.help("--strategy names another one"));
                    StrategyKind::default()
                }),
            },
        };
        let exhaustive = strategy == StrategyKind::BruteForce;
        let mut budget = match request.measuring.budget {
            Some(SearchBudget::Evaluations(n)) => Budget { evaluations: Some(n), time: None },
            Some(SearchBudget::Time(time)) => Budget { evaluations: None, time: Some(time) },
            None => from_file(source, count),
        };
        let usual = budget.evaluations.is_none() && budget.time.is_none() && !exhaustive;
        if usual {
            budget.time = Some(USUAL_BUDGET);
        }
        Ok(Settings { strategy, budget, usual, begun: Instant::now(), warnings })
    }

    /// Where nobody has named a budget, a search in the emulator ends within a minute, with what came before it: the right
    /// outputs take a while there.
    pub fn within_a_minute(&mut self) {
        let left = EMULATED.saturating_sub(self.begun.elapsed());
        if self.usual {
            self.budget.time = Some(left.clamp(LEAST, USUAL_BUDGET));
        }
    }
}

/// All of the file's limits hold.
fn from_file(source: &Source, count: u64) -> Budget {
    let mut budget = Budget::default();
    for limit in &source.problem.budgets {
        match limit {
            BudgetLimit::TuningDuration(seconds) => {
                let time = Duration::try_from_secs_f64(*seconds).unwrap_or(Duration::MAX);
                budget.time = Some(budget.time.map_or(time, |t| t.min(time)));
            }
            BudgetLimit::ConfigurationCount(n) => at_most(&mut budget, *n),
            BudgetLimit::ConfigurationFraction(share) => {
                at_most(&mut budget, (share * count as f64).ceil() as u64);
            }
        }
    }
    budget
}

fn at_most(budget: &mut Budget, n: u64) {
    let n = n.max(1);
    budget.evaluations = Some(budget.evaluations.map_or(n, |m| m.min(n)));
}

/// Options that say something about C loops are no use here.
///
/// # Errors
/// W448 with the first of them.
pub fn check(request: &TuneRequest) -> Result<(), Failure> {
    let given = [
        ("--function", request.source.function.is_some()),
        ("--size", !request.data.sizes.is_empty()),
        ("--arg", !request.data.arguments.is_empty()),
        ("--against", request.measuring.against.is_some()),
        ("--schedule", request.choosing.schedule.is_some()),
        ("-D", !request.source.defines.is_empty()),
        ("-I", !request.source.include_dirs.is_empty()),
        ("--strategy model", request.choosing.strategy == Some(Strategy::Model)),
        ("--strategy direct", request.choosing.strategy == Some(Strategy::Direct)),
    ];
    match given.into_iter().find(|(_, is)| *is) {
        None => Ok(()),
        Some((option, _)) => {
            let what = format!(
                "`{option}` is for C files, and `{}` is a problem",
                request.source.file.display()
            );
            Err(Diagnostic::error("W448", what)
                .help("the problem's file names kernel, sizes, arguments and options; strategies search")
                .into())
        }
    }
}

/// Where configurations are measured.
///
/// # Errors
/// W313: there is no such device.
pub fn stations(request: &TuneRequest) -> Result<Stations, Failure> {
    // A problem can only be measured; for C files the device model is another way.
    let strategy = request.choosing.strategy.unwrap_or(Strategy::Search(StrategyKind::default()));
    match device::find(&request.clone().strategy(strategy))? {
        Place::Measure(stations) => Ok(stations),
        Place::Model { .. } => {
            let d = Diagnostic::error(
                "W313",
                format!("nothing can be measured on `{}`", request.measuring.device),
            );
            Err(d.help("use --device cuda:N, or --device emulator for predicted times").into())
        }
    }
}
