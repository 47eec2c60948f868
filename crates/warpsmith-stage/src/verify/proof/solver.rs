//! The solver: an optional program that decides formulas of linear arithmetic.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use easy_smt::{Context, ContextBuilder, Response};

use super::formula::Truth;

/// Steps that the solver may take for one question: the same on every machine, a few seconds at most.
const STEPS: u64 = 60_000_000;
/// Milliseconds for one question, should the steps be slow.
const MILLISECONDS: u64 = 20_000;

/// A running solver.
pub struct Solver {
    program: PathBuf,
    context: Context,
    /// Questions that were not decided.
    undecided: usize,
}

/// Values of names.
pub type Model = BTreeMap<String, i64>;

/// What the solver says of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// No values satisfy it.
    Impossible,
    /// Possible with these values.
    Possible(Model),
    /// Not decided.
    Unknown,
}

/// Questions at one block shape that may stay undecided; each takes some seconds, and more of them are alike.
const MAX_UNDECIDED: usize = 3;

/// Disjunctions of one question that are looked at part by part.
const MAX_SPLITS: u32 = 3;

/// Ways to decide linear arithmetic. Simplex over rationals with cuts is several times faster on remainders by constants than
/// the newer default, which decides some of what is too much for the former.
const WAYS: [&str; 2] = ["smt.arith.solver=2", "smt.arith.solver=6"];

/// The solver's program, when it is installed.
pub fn program() -> Option<PathBuf> {
    let named = std::env::var_os("WARPSMITH_Z3").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = || std::env::split_paths(&path).map(|d| d.join("z3")).find(|p| p.is_file());
    named.or_else(found)
}

impl Solver {
    /// Starts the solver. `None` when it does not start.
    pub fn start(program: &Path) -> Option<Solver> {
        let context = context(program, WAYS[0])?;
        Some(Solver { program: program.to_path_buf(), context, undecided: 0 })
    }

    /// Whether values of the names make all of the conditions true; of another way to find out, too, when one gives up.
    pub fn ask(&mut self, conditions: &[Truth]) -> Said {
        if conditions.contains(&Truth::Never) {
            return Said::Impossible;
        }
        if self.undecided >= MAX_UNDECIDED {
            return Said::Unknown;
        }
        let first = said(&mut self.context, conditions);
        if !matches!(first, Ok(Said::Unknown)) {
            return first.unwrap_or(Said::Unknown);
        }
        if let Some(decided) = self.case_by_case(conditions, MAX_SPLITS) {
            return decided;
        }
        let other = context(&self.program, WAYS[1]);
        let second = other.and_then(|mut c| said(&mut c, conditions).ok());
        self.undecided += usize::from(second.is_none() || second == Some(Said::Unknown));
        second.unwrap_or(Said::Unknown)
    }

    /// What each part of the longest disjunction allows by itself: several short questions are often decided where a long one is not.
    fn case_by_case(&mut self, conditions: &[Truth], splits: u32) -> Option<Said> {
        let disjunctions = conditions.iter().enumerate().filter_map(|(n, c)| match c {
            Truth::Any(parts) => Some((c.text().len(), n, parts)),
            _ => None,
        });
        let (_, split, parts) = disjunctions.max_by_key(|(long, ..)| *long)?;
        for part in parts {
            let mut case = conditions.to_vec();
            case[split] = part.clone();
            let decided = match said(&mut self.context, &case).ok()? {
                Said::Unknown if splits == 1 => return None,
                Said::Unknown => self.case_by_case(&case, splits - 1)?,
                decided => decided,
            };
            if decided != Said::Impossible {
                return Some(decided);
            }
        }
        Some(Said::Impossible)
    }

    /// Whether some question was not decided.
    pub fn gave_up(&self) -> bool {
        self.undecided > 0
    }
}

fn context(program: &Path, way: &str) -> Option<Context> {
    let args = ["-smt2", "-in", way];
    let mut context = ContextBuilder::new().solver(program).solver_args(args).build().ok()?;
    for (name, value) in [(":rlimit", STEPS), (":timeout", MILLISECONDS)] {
        let value = context.numeral(value);
        context.set_option(name, value).ok()?;
    }
    Some(context)
}

fn said(context: &mut Context, conditions: &[Truth]) -> std::io::Result<Said> {
    let mut names = BTreeSet::new();
    conditions.iter().for_each(|c| c.names(&mut |n| _ = names.insert(n.to_string())));
    context.push()?;
    let integer = context.int_sort();
    let mut terms = vec![];
    for name in &names {
        terms.push(context.declare_const(name.as_str(), integer)?);
    }
    for c in conditions {
        // One atom of text: the solver reads it as the term that it spells.
        let term = context.atom(c.text());
        context.assert(term)?;
    }
    let said = match context.check()? {
        Response::Unsat => Said::Impossible,
        Response::Sat if terms.is_empty() => Said::Possible(Model::new()),
        Response::Sat => {
            let values = context.get_value(terms)?;
            let number = |(_, value): &(_, _)| context.get_i64(*value);
            let values = names.into_iter().zip(&values);
            Said::Possible(values.filter_map(|(n, v)| Some((n, number(v)?))).collect())
        }
        Response::Unknown => Said::Unknown,
    };
    context.pop()?;
    Ok(said)
}
