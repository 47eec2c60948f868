//! Where results are kept.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_tune::exchange::t1;
use warpsmith_tune::outcome::Record;
use warpsmith_tune::space::{ConfigId, Space};
use warpsmith_tune::store::{Filter, ProblemId, ProblemKey, Store};

/// The user's store: the option, else `$WARPSMITH_STORE`, else `warpsmith/results.sqlite` in `$XDG_DATA_HOME` or
/// `~/.local/share`.
///
/// # Errors
/// W461: the environment names no home.
pub fn path(given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let file = |folder: PathBuf| folder.join("warpsmith/results.sqlite");
    let found = given
        .map(Path::to_path_buf)
        .or_else(|| set("WARPSMITH_STORE"))
        .or_else(|| set("XDG_DATA_HOME").map(file))
        .or_else(|| set("HOME").map(|home| file(home.join(".local/share"))));
    found.ok_or_else(|| {
        Diagnostic::error("W461", "there is no place for results")
            .note("neither WARPSMITH_STORE nor XDG_DATA_HOME nor HOME is set")
            .help("name a file with --store")
    })
}

/// Opens a store; its folder is made where it is missing.
///
/// # Errors
/// W420, or the folder cannot be made.
pub fn open(path: &Path) -> Result<Store, Diagnostic> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            let text = format!("cannot make the folder of the store `{}`: {error}", path.display());
            Diagnostic::error("W420", text)
                .help("name a file elsewhere with --store or WARPSMITH_STORE")
        })?;
    }
    Store::open(path)
}

/// How a run stands to what earlier runs have recorded.
#[derive(Clone, Copy, Debug)]
pub struct Custom {
    /// What is recorded is not measured again.
    pub resume: bool,
    /// Nothing is written, not even an empty store.
    pub dry_run: bool,
}

/// A run's outcomes, with those of earlier runs from which it goes on.
#[derive(Debug)]
pub struct Keeper {
    resume: bool,
    /// From earlier runs and from files of other tuners; empty where all is measured anew.
    earlier: Vec<Record>,
    place: Place,
    /// For the user: what was taken from elsewhere.
    pub notes: Vec<String>,
}

#[derive(Debug)]
enum Place {
    /// With the configurations that this run has recorded.
    Store { store: Store, problem: ProblemId, own: HashSet<String> },
    /// Of a dry run.
    Memory(Vec<Record>),
}

impl Keeper {
    /// Opens the store for a problem whose configurations `space` describes, as a T1 text.
    ///
    /// # Errors
    /// As [`open`], and what the database reports.
    pub fn open(
        path: &Path,
        key: &ProblemKey,
        space: &str,
        custom: Custom,
    ) -> Result<Keeper, Diagnostic> {
        let Custom { resume, dry_run } = custom;
        let (mut earlier, mut notes) = (vec![], vec![]);
        let place = if dry_run {
            if let Some(store) = Store::open_to_read(path)?.filter(|_| resume) {
                if let Some(problem) = store.known_problem(key)? {
                    earlier = store.dated_results(problem, Filter::default())?;
                }
                notes = from_elsewhere(&store, key, space, &mut earlier)?;
            }
            Place::Memory(vec![])
        } else {
            let mut store = open(path)?;
            let problem = store.problem(key)?;
            store.set_space(problem, space)?;
            if resume {
                earlier = store.dated_results(problem, Filter::default())?;
                notes = from_elsewhere(&store, key, space, &mut earlier)?;
            }
            Place::Store { store, problem, own: HashSet::new() }
        };
        Ok(Keeper { resume, earlier, place, notes })
    }

    /// Configurations that need not be measured, with their costs.
    pub fn known(&self, space: &Space) -> Vec<(ConfigId, f64)> {
        let cost = |r: &Record| Some((space.find(&r.configuration)?, r.outcome.cost()));
        self.earlier.iter().filter_map(cost).collect()
    }

    /// Keeps an outcome before the search goes on.
    ///
    /// # Errors
    /// What the database reports.
    pub fn record(&mut self, record: &Record) -> Result<(), Diagnostic> {
        match &mut self.place {
            Place::Memory(own) => own.push(record.clone()),
            Place::Store { store, problem, own } => {
                own.insert(record.configuration.to_string());
                // Measured anew is newer than what is there; a search that goes on has not measured what was there.
                if self.resume {
                    store.record(*problem, record)?;
                } else {
                    store.replace(*problem, record)?;
                }
            }
        }
        Ok(())
    }

    /// Outcomes of this run, and those from which it went on.
    ///
    /// # Errors
    /// What the database reports.
    pub fn results(&self) -> Result<Vec<Record>, Diagnostic> {
        match &self.place {
            Place::Memory(own) => Ok([&self.earlier[..], own].concat()),
            Place::Store { store, problem, own } => {
                let mut all = store.dated_results(*problem, Filter::default())?;
                all.retain(|r| self.resume || own.contains(&r.configuration.to_string()));
                add_missing(&mut all, self.earlier.clone());
                Ok(all)
            }
        }
    }
}

/// Adds the results whose configurations are not there yet; returns how many.
fn add_missing(all: &mut Vec<Record>, more: Vec<Record>) -> usize {
    let before = all.len();
    let mut there: HashSet<String> = all.iter().map(|r| r.configuration.to_string()).collect();
    all.extend(more.into_iter().filter(|r| there.insert(r.configuration.to_string())));
    all.len() - before
}

/// Adds what was imported from other tuners' files for the same kernel, device, parameters and, where both say them, sizes:
/// what these tuners themselves ask of a cache from which they go on. Returns a note for each problem that was used.
fn from_elsewhere(
    store: &Store,
    key: &ProblemKey,
    space: &str,
    earlier: &mut Vec<Record>,
) -> Result<Vec<String>, Diagnostic> {
    let Some(own) = described(space) else { return Ok(vec![]) };
    let mut notes = vec![];
    for problem in store.from_elsewhere(&key.kernel, &key.device)? {
        let other = store.space(problem.id)?.as_deref().and_then(described);
        let alike = other.is_some_and(|other| {
            let sizes = own.sizes.is_none() || other.sizes.is_none() || own.sizes == other.sizes;
            own.parameters == other.parameters && sizes
        });
        if !alike {
            continue;
        }
        let added = add_missing(earlier, store.dated_results(problem.id, Filter::default())?);
        if added > 0 {
            let number = problem.id.number();
            let from = &problem.key.arguments;
            notes.push(format!("{added} results are taken from problem {number} ({from})"));
        }
    }
    Ok(notes)
}

/// What two problems must have in common.
struct Described {
    parameters: BTreeSet<String>,
    /// Without ones at the end; `None` where they are not said as plain numbers.
    sizes: Option<Vec<i64>>,
}

fn described(t1: &str) -> Option<Described> {
    let mut sources = SourceMap::new();
    let file = sources.add("space", t1);
    let problem = t1::Problem::read(t1, file).ok()?;
    let numbers = problem.kernel.problem_size.iter().map(|size| size.trim().parse().ok());
    let mut sizes: Option<Vec<i64>> = numbers.collect();
    if let Some(sizes) = &mut sizes {
        while sizes.last() == Some(&1) {
            sizes.pop();
        }
    }
    let parameters = problem.parameters.into_iter().map(|p| p.name).collect();
    Some(Described { parameters, sizes: sizes.filter(|s| !s.is_empty()) })
}
