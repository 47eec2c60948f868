//! Runs the planned launches of each file and gathers their findings.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use warpsmith_emu::counters::Counters;
use warpsmith_emu::{self as emu, Checks, EmuError, Finding, LaunchConfig, Limit, Outcome};
use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::{prelude, sema};
use warpsmith_ir::{Diagnostic, SourceMap, Span};

use super::args::{CheckArgs, HostCode, LaunchArgs};
use super::confirm::Other;
use super::linked;
use super::memory::{Buffers, Tried};
use super::plan::{self, Allow, Planned};
use super::program::{self, StepProgram};
use super::{baseline, host, list, variables};
use super::{expect, files, shown};
use crate::interrupt;
use crate::progress::Phase;
use crate::report::{Item, Place, stable_id};
use crate::status::Failure;

/// Thread instructions of a launch from which some of its blocks are run: about a minute's, where others come from host code.
const SAMPLE_BEYOND: u64 = 12_000_000_000;

/// Gathers over all files.
pub struct Runner<'a> {
    pub(super) args: &'a CheckArgs,
    pub(super) deadline: Option<Instant>,
    /// When a program that has no time of its own is to be brought to an end soon.
    pub(super) hurries: Option<Instant>,
    pub(super) steps_left: u64,
    pub(super) effort: host::Effort,
    /// What stands in for libraries, parsed with the first file.
    pub(super) prelude: Option<Rc<TranslationUnit>>,
    /// Files that were checked as parts of a program.
    pub(super) programs: Vec<PathBuf>,
    pub(super) items: Vec<Item>,
    pub(super) allowed: Vec<(Item, String)>,
    /// What was launched, and how often in a row.
    pub(super) launches: Vec<(String, u64)>,
    pub(super) skipped: Vec<(String, String)>,
    pub(super) assumptions: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) printed: String,
    pub(super) listed: String,
    pub(super) limits: Vec<String>,
    /// Launches of host code that were not run, and why.
    pub(super) lost: Vec<String>,
    /// Repetitions of launches of host code that were not run.
    pub(super) left_out: Vec<String>,
    /// Launches of which only some blocks were run, in words.
    pub(super) in_part: Vec<String>,
    pub(super) counters: Vec<(String, Counters)>,
    pub(super) interrupted: bool,
    /// Launches that a kernel's own assumptions exclude.
    pub(super) excluded: u64,
    /// File and offset of barriers that some launch needs.
    pub(super) needed_barriers: HashSet<(String, u32)>,
}

impl<'a> Runner<'a> {
    pub fn new(args: &'a CheckArgs) -> Runner<'a> {
        Runner {
            args,
            deadline: args.timeout.map(|t| Instant::now() + t),
            hurries: None,
            steps_left: args.max_total_steps.unwrap_or(u64::MAX),
            effort: host::Effort::default(),
            prelude: None,
            programs: vec![],
            items: vec![],
            allowed: vec![],
            launches: vec![],
            skipped: vec![],
            assumptions: vec![],
            outputs: vec![],
            printed: String::new(),
            listed: String::new(),
            limits: vec![],
            lost: vec![],
            left_out: vec![],
            in_part: vec![],
            counters: vec![],
            interrupted: false,
            excluded: 0,
            needed_barriers: HashSet::new(),
        }
    }

    /// Runs all launches of a file. In a folder, a file without kernels or launches is skipped.
    ///
    /// # Errors
    /// Whatever is wrong with the input.
    pub fn file(
        &mut self,
        path: &Path,
        in_folder: bool,
        sources: &mut SourceMap,
    ) -> Result<(), Failure> {
        let prelude = self.prelude.get_or_insert_with(|| Rc::new(prelude::unit(sources))).clone();
        let libraries = sema::Libraries::new(&prelude);
        let (launch, source) = (&self.args.launch, &self.args.source);
        if self.programs.iter().any(|p| linked::same(p, path)) {
            return Ok(());
        }
        let loaded = match program::load(path, launch, source, &libraries, sources) {
            Ok(loaded) => loaded,
            Err(failure) if failure.diagnostics.iter().all(|e| e.code == "W303") => {
                let text = files::read(path)?;
                if let Ok(unit) = program::parse_part(path, &text, source, sources)
                    && let Some(program) = self.linked(path, &unit, sources)
                {
                    return self.linked_program(&program, &libraries, sources);
                }
                match in_folder {
                    true => self.skipped.push((shown(path), "no kernel".to_string())),
                    false => return Err(failure),
                }
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        if self.args.list {
            self.listed += &list::lines(path, &loaded.unit, &loaded.steps, sources);
            return Ok(());
        }
        if loaded.steps.is_empty()
            && let Some(program) = self.linked(path, &loaded.unit, sources)
        {
            return self.linked_program(&program, &libraries, sources);
        }
        if loaded.steps.is_empty()
            && self.args.host == HostCode::Auto
            && let Some(program) = host::load(&loaded.unit, &libraries)?
        {
            return self.program(path, &program, &loaded.unit, &loaded.allows, sources);
        }
        if loaded.steps.is_empty() {
            if in_folder {
                self.skipped.push((shown(path), "no launch".to_string()));
                return Ok(());
            }
            let message = format!("`{}` says nowhere how to launch its kernels", shown(path));
            let mut error = Diagnostic::error("W304", message);
            for left_out in loaded.unit.not_understood.iter().take(2) {
                for label in &left_out.labels {
                    error = error.label(label.span, format!("{}: left out", left_out.message));
                }
            }
            return Err(error
                .help("give --grid and --block, or write `// warpsmith: grid=4 block=64 arg n=256` before a kernel")
                .into());
        }
        self.missing_headers(&loaded.unit, false);
        let first_item = self.items.len();
        for step in &loaded.steps {
            self.not_run(path, &step.warnings, sources);
            self.step(path, step, sources)?;
        }
        self.apply_allows(&loaded.allows, first_item, sources);
        Ok(())
    }

    /// Annotations that cannot be run are among the assumptions.
    pub(super) fn not_run(&mut self, path: &Path, warnings: &[Diagnostic], sources: &SourceMap) {
        for warning in warnings.iter().filter(|w| w.code == sema::NOT_RUN) {
            let span = warning.labels.first().map(|l| l.span);
            let at = host::place(span, sources, path);
            self.assume(format!("{at}: {}", warning.message));
        }
    }

    /// Headers without which the file was read are among the assumptions; host code that was left out may have wanted them.
    pub(super) fn missing_headers(&mut self, unit: &TranslationUnit, wanted: bool) {
        for header in &unit.missing_headers {
            let name = header.message.trim_start_matches("cannot include ");
            self.assume(match wanted {
                true => program::sought(header),
                false => format!("the header {name} was not found, and nothing of it is needed"),
            });
        }
    }

    /// One step with all its repetitions (`--seeds`, `--scalars`).
    fn step(
        &mut self,
        path: &Path,
        step: &StepProgram,
        sources: &SourceMap,
    ) -> Result<(), Failure> {
        let Some(first) = step.launches.first() else { return Ok(()) };
        let seeds = first.args.seeds.unwrap_or(1);
        let scalars: Vec<Option<&str>> = match first.args.scalars.as_slice() {
            [] => vec![None],
            // One number is tried already; others are only for parameters that do not hold the first.
            [only, ..] if first.tries.is_some() => vec![Some(only)],
            values => values.iter().map(|v| Some(v.as_str())).collect(),
        };
        for repetition in 0..seeds {
            let seed = first.args.seed.unwrap_or(0).wrapping_add(u64::from(repetition));
            for scalar in &scalars {
                for function in 0..step.choices_of_functions() {
                    let tried = Tried { scalar: *scalar, function };
                    self.repetition(path, step, seed, tried, sources)?;
                }
            }
        }
        Ok(())
    }

    fn repetition(
        &mut self,
        path: &Path,
        step: &StepProgram,
        seed: u64,
        tried: Tried<'_>,
        sources: &SourceMap,
    ) -> Result<(), Failure> {
        let mut buffers = Buffers::new(&step.module);
        for planned in &step.launches {
            plan::liberties(&planned.args).for_each(|text| self.assume(text.to_string()));
            self.launch(path, step, planned, &mut buffers, seed, tried, sources)?;
        }
        let args: Vec<&LaunchArgs> = step.launches.iter().map(|l| &l.args).collect();
        let unset = variables::never_set(&step.module, &step.variables, &args);
        for text in unset.into_iter().chain(buffers.made_up()) {
            self.assume(format!("{}: {text}", shown(path)));
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one call site; the parts have different owners")]
    fn launch(
        &mut self,
        path: &Path,
        step: &StepProgram,
        planned: &Planned,
        buffers: &mut Buffers,
        seed: u64,
        tried: Tried<'_>,
        sources: &SourceMap,
    ) -> Result<(), Failure> {
        if self.interrupted {
            return Ok(());
        }
        let config = step.config(planned, buffers, seed, tried, self.args.max_memory)?;
        let first = seed == planned.args.seed.unwrap_or(0);
        let functions = step.functions_tried(planned, tried);
        let label =
            describe(path, planned, &config, tried.scalar, (!first).then_some(seed), functions);
        self.launches.push((label.clone(), 1));
        if self.args.dry_run {
            return Ok(());
        }
        let mut options = self.options(&planned.args);
        options.clock = (seed & 1) * sema::ALL_DIFFER_FROM;
        // What is written or compared afterwards has to be whole.
        let whole = self.args.all_repeats
            || !planned.args.dump.is_empty()
            || !planned.args.expect.is_empty();
        options.sample_beyond = (!whole).then_some(SAMPLE_BEYOND);
        options.after_finding = (!whole).then_some(self.effort.launch_after_finding);
        let other = Other::of(&buffers.memory, &config, &Default::default());
        let _phase = Phase::new(label.as_str());
        let outcome = match emu::run(&step.module, &config, &mut buffers.memory, &options) {
            Ok(outcome) => outcome,
            Err(EmuError::BadLaunch(message)) => {
                let kernel = step.module.function(config.kernel).origin.span;
                let at = planned.span.or(kernel);
                self.refused("invalid-launch", message, at, &label, false, sources);
                return Ok(());
            }
            Err(error) => return Err(launch_error(error, planned)),
        };
        if let Some(part) = outcome.sampled {
            self.ran_in_part(&config, part, &label);
            // What the other blocks would have written is not known; later launches find what was there.
            for buffer in &mut buffers.memory.buffers {
                buffer.poison = vec![];
                buffer.invented = true;
            }
        }
        let confirmed =
            other.map(|o| o.findings(&step.module, &config, &options, &outcome, sources));
        self.record(outcome, &label, confirmed.as_ref(), sources);
        self.outputs.extend(expect::dump(&planned.args, buffers)?);
        for difference in expect::compare(&planned.args, buffers)? {
            self.items.push(Item {
                id: format!(
                    "unexpected-value-{:08x}",
                    crate::data::name_hash(&difference.name) as u32
                ),
                fingerprint: String::new(),
                rule: "unexpected-value",
                is_note: false,
                kind: None,
                message: difference.message,
                count: difference.count,
                places: vec![],
                array: Some(difference.name),
                index: vec![difference.index as i64],
                interval: None,
                launch: label.clone(),
            });
        }
        Ok(())
    }

    /// Says that a program was not run further than a launch.
    pub(super) fn ended_after_finding(&mut self, label: &str) {
        self.limits.push(format!(
            "{label}: the program was not run from here on, since something had been found (--all-repeats runs it to its end)"
        ));
    }

    /// A launch, once for all its repetitions at one place.
    pub(super) fn launched(&mut self, label: &str) {
        if !self.asks_for(label) {
            return;
        }
        match self.launches.last_mut() {
            Some((last, times)) if last == label => *times += 1,
            _ => self.launches.push((label.to_string(), 1)),
        }
    }

    /// Whether a launch is one of the kernel that `--kernel` names.
    pub(super) fn asks_for(&self, launch: &str) -> bool {
        self.args.launch.kernel.as_ref().is_none_or(|k| plan::is_launch_of(launch, k))
    }

    /// Adds a finding; one that is known is counted.
    pub(super) fn add(&mut self, item: Item) {
        if !self.asks_for(&item.launch) {
            return;
        }
        match self.items.iter_mut().find(|i| i.same_as(&item)) {
            Some(known) => known.count += item.count,
            None => self.items.push(item),
        }
    }

    /// A launch that a device refuses is a finding; a note where the program's arguments are nobody's word.
    pub(super) fn refused(
        &mut self,
        rule: &'static str,
        message: String,
        at: Option<Span>,
        label: &str,
        note: bool,
        sources: &SourceMap,
    ) {
        let what = if rule == "invalid-launch" { "launch" } else { "here" };
        self.found(rule, message, &[(at, what)], (label, note), sources);
    }

    /// Two operations of different streams that nothing orders touch the same element.
    pub(super) fn unordered(
        &mut self,
        message: String,
        places: &[(Option<Span>, &'static str)],
        label: &str,
        note: bool,
        sources: &SourceMap,
    ) {
        self.found("race-global", message, places, (label, note), sources);
    }

    /// A finding of host code at these places, in a launch with this label; a note where the program's arguments are nobody's word.
    fn found(
        &mut self,
        rule: &'static str,
        message: String,
        places: &[(Option<Span>, &'static str)],
        (label, note): (&str, bool),
        sources: &SourceMap,
    ) {
        let places: Vec<Place> =
            places.iter().map(|&(span, what)| Place { span, what, thread: None }).collect();
        let id = stable_id(rule, &places, None, sources);
        self.add(Item {
            id,
            fingerprint: String::new(),
            rule,
            is_note: note,
            kind: note.then_some("invented"),
            message,
            count: 1,
            places,
            array: None,
            index: vec![],
            interval: None,
            launch: label.to_string(),
        });
    }

    /// Something that the result rests on.
    pub(super) fn assume(&mut self, text: String) {
        if !self.assumptions.contains(&text) {
            self.assumptions.push(text);
        }
    }

    pub(super) fn options(&self, args: &LaunchArgs) -> emu::Options {
        emu::Options {
            checks: Checks::ALL,
            warp_lockstep: args.warp_sync,
            equal_writes_race: args.no_benign,
            large_blocks: args.large_blocks,
            only_warps: args.only_warps,
            jobs: self.args.jobs,
            max_steps: args.max_steps.unwrap_or(100_000_000),
            max_total_steps: self.steps_left,
            max_memory: self.args.max_memory,
            deadline: self.deadline,
            interrupt: Some(interrupt::flag()),
            counters: self.args.counters,
            ..emu::Options::default()
        }
    }

    /// Takes over what a launch found; where whole numbers are nobody's word, findings that are not `confirmed` with others
    /// are notes.
    pub(super) fn record(
        &mut self,
        outcome: Outcome,
        label: &str,
        confirmed: Option<&HashSet<String>>,
        sources: &SourceMap,
    ) {
        let steps = outcome.stats.thread_instructions;
        // The emulator looks at the limit now and then; a short launch may pass it and end.
        let limit = outcome.limit.or((steps > self.steps_left).then_some(Limit::TotalSteps));
        self.steps_left = self.steps_left.saturating_sub(steps);
        if outcome.assumption_failed {
            let text =
                format!("{label}: an assumption of the kernel is false; the launch does not count");
            self.assumptions.push(text);
            self.excluded += 1;
            return;
        }
        self.printed += &outcome.printed;
        self.counters.extend(outcome.counters.map(|c| (label.to_string(), c)));
        self.interrupted |= limit == Some(Limit::Interrupted);
        if let Some(limit) = limit {
            let text = self.limit_text(limit);
            self.limits.push(format!("{label}: {text}"));
        }
        let place = |s: Span| barrier_place(s, sources);
        self.needed_barriers.extend(outcome.needed_barriers.into_iter().map(place));
        for finding in outcome.findings {
            let mut item = item(finding, label, sources);
            if !item.is_note && confirmed.is_some_and(|ids| !ids.contains(&item.id)) {
                item.is_note = true;
                item.kind = Some("invented");
            }
            self.add(item);
        }
    }

    /// Moves the findings that a comment on the line before allows out of the way.
    pub(super) fn apply_allows(&mut self, allows: &[Allow], first: usize, sources: &SourceMap) {
        let lines: Vec<(u32, u32)> = allows
            .iter()
            .map(|a| (a.span.file.0, sources.line_column(a.span.file, a.span.start).0))
            .collect();
        let mut kept = vec![];
        for item in self.items.drain(first..) {
            let allow = allows.iter().zip(&lines).find(|(allow, line)| {
                allow.rule.name() == item.rule && stands_above(**line, &lines, &item, sources)
            });
            match allow {
                Some((allow, _)) => self.allowed.push((item, allow.reason.clone())),
                None => kept.push(item),
            }
        }
        self.items.extend(kept);
    }

    /// Moves findings that an earlier report has out of the way.
    pub fn allow_known(&mut self, known: &baseline::Known) {
        let (old, new) = std::mem::take(&mut self.items)
            .into_iter()
            .partition::<Vec<_>, _>(|i| !i.is_note && known.has(i));
        self.items = new;
        self.allowed.extend(old.into_iter().map(|i| (i, "in the baseline".to_string())));
    }

    /// A file of a folder that could not be checked.
    pub fn unreadable(&mut self, path: &Path, failure: Failure) {
        let why = failure.diagnostics.first().map_or("", |d| d.message.as_str());
        self.lost.push(format!("{}: not checked: {why}", shown(path)));
    }
}

/// Where a barrier stands; a file that is parsed twice has two numbers and one path.
pub(super) fn barrier_place(span: Span, sources: &SourceMap) -> (String, u32) {
    (sources.get(span.file).map_or(String::new(), |f| f.path.clone()), span.start)
}

/// Whether an item has a place on the line after the comment, not counting further `allow` comments between.
fn stands_above(line: (u32, u32), all: &[(u32, u32)], item: &Item, sources: &SourceMap) -> bool {
    let mut next = (line.0, line.1 + 1);
    while all.contains(&next) {
        next.1 += 1;
    }
    let path = |file: u32| sources.get(warpsmith_ir::FileId(file)).map(|f| f.path.as_str());
    item.places.iter().filter_map(|p| p.span).any(|span| {
        // A file parsed twice with other options has two ids and one path.
        path(span.file.0) == path(next.0) && sources.line_column(span.file, span.start).0 == next.1
    })
}

pub(super) fn item(finding: Finding, label: &str, sources: &SourceMap) -> Item {
    let places: Vec<Place> = finding
        .accesses
        .iter()
        .map(|a| Place {
            span: a.span,
            what: a.what,
            thread: a.thread.map(|t| (t.block, t.thread)),
        })
        .collect();
    Item {
        id: stable_id(finding.rule.name(), &places, finding.array.as_deref(), sources),
        fingerprint: String::new(),
        rule: finding.rule.name(),
        is_note: finding.rule.is_note(),
        kind: finding.kind,
        message: finding.message,
        count: finding.count,
        places,
        array: finding.array,
        index: finding.index,
        interval: finding.interval,
        launch: label.to_string(),
    }
}

/// A launch in words; `seed`: that of a repetition with other random data.
fn describe(
    path: &Path,
    planned: &Planned,
    config: &LaunchConfig,
    scalar: Option<&str>,
    seed: Option<u64>,
    functions: Vec<String>,
) -> String {
    let dims = |d: [u32; 3]| match d {
        [x, 1, 1] => format!("{x}"),
        [x, y, 1] => format!("({x},{y})"),
        [x, y, z] => format!("({x},{y},{z})"),
    };
    let numbers: Vec<String> = planned
        .args
        .args
        .iter()
        .filter_map(|a| match &a.spec {
            crate::data::ArgSpec::Number(n) => Some(format!("{}={n}", a.name)),
            crate::data::ArgSpec::Function(f) => Some(format!("{}=&{f}", a.name)),
            _ => None,
        })
        .chain(functions)
        .chain(scalar.map(|s| format!("scalars={s}")))
        .chain(seed.map(|s| format!("seed={s}")))
        .collect();
    let with =
        if numbers.is_empty() { String::new() } else { format!(" with {}", numbers.join(", ")) };
    format!(
        "{}: {}<<<{}, {}>>>{with}",
        shown(path),
        planned.kernel,
        dims(config.grid),
        dims(config.block)
    )
}

/// An error of the emulator in the user's words.
fn launch_error(error: EmuError, planned: &Planned) -> Failure {
    let (diagnostic, span) = match error {
        EmuError::BadArgument { message, .. } | EmuError::BadLaunch(message) => {
            (Diagnostic::error("W306", message), planned.span)
        }
        EmuError::Unsupported { message, span } => {
            (Diagnostic::error("W308", message), span.or(planned.span))
        }
    };
    match span {
        Some(span) => diagnostic.label(span, "here").into(),
        None => diagnostic.into(),
    }
}
