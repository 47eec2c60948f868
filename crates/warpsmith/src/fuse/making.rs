//! From a script that has been understood to kernels that are right.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use warpsmith_fuse::emit::{self, Heading};
use warpsmith_fuse::library::FunctionId;
use warpsmith_fuse::plan::{self, Bounds, Covered, Found, Options, Planner, kernels};
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::{Diagnostic, Severity, SourceMap};

use super::args::FuseArgs;
use super::data::Data;
use super::measure::{self, Measured};
use super::{Handed, alone, reference, report, short, verify};
use crate::interrupt;
use crate::progress::{Phase, Progress};
use crate::status::{Failure, Status};
use warpsmith_translate::tune::compiled::{Compiler, Usage};
use warpsmith_translate::tune::device::Stations;
use warpsmith_translate::tune::measure::device_text;

/// Covers that may be handed out at most for a compiler to be asked about them, and how many more are looked for: in place of
/// those whose kernels spill registers, or are wrong.
const COMPILED: usize = 8;
pub const SPARE: usize = 3;

/// Implementations that are left out in turn, where the kernels are wrong.
const MAX_SUSPECTS: usize = 8;

/// A script on its way to kernels.
pub struct Making<'a> {
    pub args: &'a FuseArgs,
    pub planner: &'a Planner<'a>,
    pub heading: &'a Heading,
}

/// What came of it.
pub struct Made {
    pub covers: Vec<Handed>,
    pub bounds: Bounds,
    pub result: serde_json::Value,
    pub text: String,
}

/// A cover that may be handed out, and what a compiler says of its kernels, where one was asked.
struct Candidate<'c> {
    cover: &'c Covered,
    files: Vec<(String, String)>,
    usage: Option<Usage>,
}

impl Candidate<'_> {
    fn spills(&self) -> bool {
        self.usage.iter().flat_map(|u| u.values()).any(|used| used.spill_bytes > 0)
    }
}

impl Making<'_> {
    /// Finds covers, measures them where there is something to measure on, and verifies what is handed out. Where nothing
    /// passes, implementations are left out in turn: one of them may be wrong.
    ///
    /// # Errors
    /// What is wrong with the library; nothing that passes.
    pub fn make(
        &self,
        stations: Option<Stations>,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Made, Failure> {
        let measures = stations.is_some();
        match self.attempt(stations, warnings) {
            Err(why) if why.status == Status::No && !measures => {
                let why = match self.without_one(why, warnings) {
                    Err(why) => why,
                    made => return made,
                };
                self.with_fewer_calls(why, warnings)
            }
            done => done,
        }
    }

    /// Kernels of fewer calls: functions may be right each for itself and lay out in different ways what they share.
    fn with_fewer_calls(
        &self,
        why: Failure,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Made, Failure> {
        let calls = self.planner.program.body.nodes.len();
        let mut most = self.planner.options.max_fusion.min(calls);
        while most > 1 {
            most /= 2;
            let options = Options { max_fusion: most, ..self.planner.options.clone() };
            let planner = Planner { options: &options, ..*self.planner };
            let fewer = Making { args: self.args, planner: &planner, heading: self.heading };
            let mut more = vec![];
            let Ok(made) = fewer.attempt(None, &mut more) else { continue };
            let note = format!("with at most {most} calls in a kernel they are right");
            let first = why.diagnostics.into_iter().next();
            warnings.extend(first.map(|d| warning(d).note(note)));
            warnings.extend(more);
            return Ok(made);
        }
        Err(why)
    }

    fn attempt(
        &self,
        stations: Option<Stations>,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Made, Failure> {
        let phase = Phase::new("looking for kernels");
        let Found { covers, candidates, unfused, bounds } = plan::search(self.planner)?;
        drop(phase);
        let (program, library) = (self.planner.program, self.planner.library);
        let references =
            reference::References::new(program, library, &mut self.planner.sources.borrow_mut())?;
        let wanted = self.args.covers(stations.is_some());
        let measured = match stations {
            Some(stations) => Some(self.measured(&covers, &references, stations)?),
            None => None,
        };
        let chosen = match &measured {
            Some(measured) => self.emitted(measured.order.iter().map(|at| &covers[*at]), None),
            None => self.without_spills(&covers, wanted),
        };
        let wanted = if measured.is_some() { 1 } else { wanted };
        let handed = self.hand_out(chosen, wanted, &references, warnings)?;
        let report = report::Report {
            planner: self.planner,
            heading: self.heading,
            covers: &handed,
            bounds: &bounds,
            candidates,
            unfused,
            found: &covers,
            measured: measured.as_ref(),
        };
        let (result, text) = (report.json(), report.human(self.args.explain));
        Ok(Made { covers: handed, bounds, result, text })
    }

    /// Leaves out implementations of the best cover, one at a time, where there are others.
    fn without_one(&self, why: Failure, warnings: &mut Vec<Diagnostic>) -> Result<Made, Failure> {
        let (unusable, library) = (self.planner.unusable, self.planner.library);
        for (function, implementation) in self.suspects()? {
            let f = library.function(function);
            let name = &f.implementations[implementation].name;
            let Some(first) = why.diagnostics.first() else { break };
            let note =
                format!("without implementation `{name}` of `{}` the kernels are right", f.name);
            unusable.borrow_mut().insert((function, implementation), first.clone().note(note));
            let mut more = vec![];
            if let Ok(made) = self.attempt(None, &mut more) {
                warnings.extend(more);
                return Ok(made);
            }
            unusable.borrow_mut().remove(&(function, implementation));
        }
        Err(why)
    }

    /// The implementations that the best cover takes, those of functions that have others.
    fn suspects(&self) -> Result<Vec<(FunctionId, usize)>, Failure> {
        let Found { covers, .. } = plan::search(self.planner)?;
        let mut all = covers.first().map(implementations).unwrap_or_default();
        all.retain(|(f, _)| self.planner.library.function(*f).implementations.len() > 1);
        all.truncate(MAX_SUSPECTS);
        Ok(all)
    }

    fn measured(
        &self,
        covers: &[Covered],
        references: &reference::References,
        stations: Stations,
    ) -> Result<Measured, Failure> {
        let files = covers.iter().map(|c| emit::files(self.planner, self.heading, c));
        measure::rank(
            measure::Asked {
                name: &self.heading.name,
                program: self.planner.program,
                library: self.planner.library,
                references,
                covers,
                files: files.collect(),
                elements: self.args.elements,
                seed: self.args.seed,
                jobs: self.args.jobs,
                store: self.args.store.as_deref(),
                dry_run: self.args.dry_run,
            },
            stations,
        )
    }

    fn emitted<'c>(
        &self,
        covers: impl Iterator<Item = &'c Covered>,
        compiler: Option<&Compiler>,
    ) -> Vec<Candidate<'c>> {
        let one = |cover: &'c Covered| {
            let files = emit::files(self.planner, self.heading, cover);
            let usage = compiler.and_then(|c| self.usage(c, &files));
            Candidate { cover, files, usage }
        };
        covers.map(one).collect()
    }

    /// The covers as predicted, but those whose kernels spill registers last. A compiler is asked, where there is one, until
    /// there are enough that do not.
    fn without_spills<'c>(&self, covers: &'c [Covered], wanted: usize) -> Vec<Candidate<'c>> {
        let asked = !self.args.no_compiler && wanted <= COMPILED;
        let Some(compiler) = asked.then(Compiler::find).flatten() else {
            return self.emitted(covers.iter(), None);
        };
        let _phase = Phase::new("asking the compiler for registers");
        let (mut good, mut spilling) = (vec![], vec![]);
        for (k, cover) in covers.iter().enumerate() {
            if good.len() >= wanted {
                good.extend(self.emitted(covers[k..].iter(), None));
                break;
            }
            for one in self.emitted(std::iter::once(cover), Some(&compiler)) {
                if one.spills() { spilling.push(one) } else { good.push(one) }
            }
        }
        good.extend(spilling);
        good
    }

    /// What a compiler says of the kernels in emitted files; nothing where it does not answer.
    fn usage(&self, compiler: &Compiler, files: &[(String, String)]) -> Option<Usage> {
        let (file, text) = files.first()?;
        let text = device_text(file, text, files, |_| true, &mut SourceMap::new()).ok()?;
        let stop = Stop { flag: Some(interrupt::flag()), deadline: None };
        compiler.usage_of(text, &self.heading.arch, &stop).ok()
    }

    /// Runs covers; the first `wanted` that pass.
    fn hand_out(
        &self,
        candidates: Vec<Candidate<'_>>,
        wanted: usize,
        references: &reference::References,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Vec<Handed>, Failure> {
        let (mut handed, mut refused) = (vec![], vec![]);
        let mut data = Data::new(self.planner, references, self.args.seed);
        let program = short::program(self.planner.program);
        let short = Planner { program: &program, ..*self.planner };
        let mut short_data = Data::new(&short, references, self.args.seed);
        let mut alone = Alone { making: self, known: HashMap::new() };
        let mut progress = Progress::new("verifying cover", wanted);
        for (k, candidate) in candidates.into_iter().enumerate() {
            if handed.len() >= wanted {
                break;
            }
            progress.step("");
            let Candidate { cover, mut files, usage } = candidate;
            let counts = verify::counts(cover);
            let most = counts.iter().copied().max().unwrap_or(1);
            let short_loops = short::is_needed(cover, most);
            let checked = if short_loops {
                let files = emit::files(&short, self.heading, &short::cover(cover));
                verify::verify(&self.heading.name, &files, &mut short_data, &counts)
            } else {
                verify::verify(&self.heading.name, &files, &mut data, &counts)
            };
            match alone.judged(cover, checked) {
                Ok(()) => {
                    let doubted = if short_loops { &short_data } else { &data }.doubted();
                    let doubted = doubted.into_iter().map(str::to_string).collect();
                    let picture = emit::dot(self.planner, &self.heading.name, cover);
                    files.push((format!("{}.dot", self.heading.name), picture));
                    let picture = emit::svg(self.planner, &self.heading.name, cover);
                    files.push((format!("{}.svg", self.heading.name), picture));
                    let cover = cover.clone();
                    handed.push(Handed { cover, files, counts, short_loops, doubted, usage });
                }
                // Not the kernels are wrong, but the library.
                Err(list) if list.iter().any(|d| d.code == "W541") => return Err(list.into()),
                // Of many that are wrong, most likely for one reason, the first is enough.
                Err(_) if refused.len() >= wanted => {}
                Err(list) => refused.extend(
                    list.into_iter().map(|d| d.note(format!("cover {} is not handed out", k + 1))),
                ),
            }
        }
        if handed.is_empty() {
            return Err(Failure::no(refused));
        }
        warnings.extend(refused.into_iter().map(warning));
        Ok(handed)
    }
}

/// Implementations that were run for themselves, and what is wrong with them.
struct Alone<'m> {
    making: &'m Making<'m>,
    known: HashMap<(FunctionId, usize), Option<Diagnostic>>,
}

impl Alone<'_> {
    /// What came of a cover's verification, with what its implementations give by themselves.
    fn judged(
        &mut self,
        cover: &Covered,
        checked: Result<(), Vec<Diagnostic>>,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut list = match checked {
            Err(list) if list.iter().any(|d| d.code == "W541") => return Err(list),
            Err(list) => list,
            Ok(()) => return self.fault(cover)?.map_or(Ok(()), |fault| Err(vec![fault])),
        };
        let fault = self.fault(cover)?;
        if let Some(first) = list.first_mut() {
            first.notes.push(match &fault {
                Some(fault) => format!("by itself, {}", fault.message),
                None => "each function by itself gives what its reference gives".into(),
            });
        }
        Err(list)
    }

    /// What is wrong with the first implementation of a cover that is wrong by itself.
    fn fault(&mut self, cover: &Covered) -> Result<Option<Diagnostic>, Vec<Diagnostic>> {
        let Making { planner, heading, .. } = *self.making;
        for one in implementations(cover) {
            let fault = match self.known.entry(one) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(alone::fault(planner, heading, one)?),
            };
            if fault.is_some() {
                return Ok(fault.clone());
            }
        }
        Ok(None)
    }
}

/// The implementations that a cover takes, each once.
fn implementations(cover: &Covered) -> Vec<(FunctionId, usize)> {
    let plans = kernels(&cover.launches);
    let calls = plans.iter().flat_map(|k| &k.calls);
    let mut all: Vec<_> = calls.map(|c| (c.function, c.implementation)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What was an error, where there is another way.
pub fn warning(d: Diagnostic) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..d }
}
