//! The solver: an optional program that decides formulas of linear arithmetic.

use std::collections::BTreeSet;
use std::path::PathBuf;

use easy_smt::{Context, ContextBuilder, Response};

use super::formula::Truth;

/// Steps that the solver may take for one question: the same on every machine, a few seconds at most.
const STEPS: u64 = 60_000_000;
/// Milliseconds for one question, should the steps be slow.
const MILLISECONDS: u64 = 20_000;

/// A running solver, which knows facts that hold for all names.
pub struct Solver {
    context: Context,
}

/// What the solver says of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Impossible,
    /// Possible, or not decided.
    Unknown,
}

/// The solver's program, when it is installed.
pub fn program() -> Option<PathBuf> {
    let named = std::env::var_os("WARPSMITH_Z3").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = || std::env::split_paths(&path).map(|d| d.join("z3")).find(|p| p.is_file());
    named.or_else(found)
}

impl Solver {
    /// Starts the solver. `None` when it does not start.
    pub fn start(program: &std::path::Path) -> Option<Solver> {
        // Simplex over rationals with cuts is several times faster on remainders by constants than the newer default.
        let args = ["-smt2", "-in", "smt.arith.solver=2"];
        let mut context = ContextBuilder::new().solver(program).solver_args(args).build().ok()?;
        for (name, value) in [(":rlimit", STEPS), (":timeout", MILLISECONDS)] {
            let value = context.numeral(value);
            context.set_option(name, value).ok()?;
        }
        Some(Solver { context })
    }

    /// Whether no values of the names make all of the conditions true.
    pub fn refutes(&mut self, conditions: &[Truth]) -> Said {
        if conditions.contains(&Truth::Never) {
            return Said::Impossible;
        }
        match self.ask(conditions) {
            Ok(Response::Unsat) => Said::Impossible,
            _ => Said::Unknown,
        }
    }

    fn ask(&mut self, conditions: &[Truth]) -> std::io::Result<Response> {
        let mut names = BTreeSet::new();
        conditions.iter().for_each(|c| c.names(&mut |n| _ = names.insert(n.to_string())));
        self.context.push()?;
        let integer = self.context.int_sort();
        for name in &names {
            self.context.declare_const(name.as_str(), integer)?;
        }
        for c in conditions {
            // One atom of text: the solver reads it as the term that it spells.
            let term = self.context.atom(c.text());
            self.context.assert(term)?;
        }
        let said = self.context.check();
        self.context.pop()?;
        said
    }
}
