//! What profiles will ask for first, made on all cores before it is asked for: programs of block shapes, what launches of the
//! unmodified kernel need, and the rows that they take down.
//!
//! Nothing is decided here. Whoever asks gets what it would have made itself; what went wrong is made again and said then.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use warpsmith_front::deep;
use warpsmith_ir::Diagnostic;

use super::suiting::Kind;
use super::{Probes, Session, ShapeKey, Shaped, array_extents};
use crate::launch::{self, Fit, Launch, Wanted};
use crate::memory::{self, Data, Needed, Values};
use crate::plan::Plan;
use crate::profile::instrument;
use crate::profile::rows::{self, Profile};
use crate::program::{self, Compiler, Program};
use crate::source::forks::Choices;
use crate::source::scope::SharedArray;
use crate::source::shape::Extent;
use crate::source::ties::Tie;
use crate::strides::Strides;
use crate::usage::Usage;

/// What a file asks for, which nothing changes: threads share it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub compiler: &'a Compiler,
    pub plan: &'a Plan,
    pub kernel: &'a str,
    pub usage: &'a Usage,
    pub extents: &'a [Extent; 3],
    pub parameters: &'a [String],
    pub integers: &'a BTreeMap<String, i64>,
    pub grid: Option<[u32; 3]>,
    pub shared: Option<u32>,
    pub tagged: &'a [String],
    pub ties: &'a [Tie],
    pub given: &'a [(String, i64)],
}

/// A launch that was run before it was asked for.
#[derive(Debug)]
pub(super) struct Ran {
    launch: Launch,
    needed: Option<Needed>,
    /// What it took down, with the lengths that it needs.
    rows: Option<Profile>,
}

/// A launch that profiles are expected to want: a block, how many of them a side, and how sizes lie to them.
pub type Expected = ([u32; 3], u32, Fit);

impl Asked<'_> {
    pub fn reference(self, launch: &Launch) -> Result<Shaped, Vec<Diagnostic>> {
        let text = self.plan.reference(launch.block);
        let reference = self.compiler.compile(&text, &launch.constants, self.kernel)?;
        let (strides, probes) = Default::default();
        Ok(Shaped { reference, strides, probes })
    }

    pub fn probes(self, reference: &Program, launch: &Launch) -> Result<Probes, Vec<Diagnostic>> {
        let elements = |a: &SharedArray| match a.is_dynamic() {
            true => launch.dynamic_shared as usize / 4,
            false => array_extents(reference, a.declared()).iter().product::<i64>() as usize,
        };
        let instrumented = instrument::instrument(self.plan, launch.block, &elements);
        let text = &instrumented.text;
        let mut program = self.compiler.compile(text, &launch.constants, self.kernel)?;
        // Looking through shared arrays takes more steps than the kernel, which has been run by then.
        program.max_steps = program::MAX_STEPS;
        Ok(Probes { instrumented, program })
    }

    /// Both; what does not compile is said when it is asked for.
    fn both(self, launch: &Launch) -> Option<Shaped> {
        let shaped = self.reference(launch).ok()?;
        if let Ok(probes) = self.probes(&shaped.reference, launch) {
            _ = shaped.probes.set(probes);
        }
        Some(shaped)
    }

    pub fn key(self, launch: &Launch) -> ShapeKey {
        let by_block = !self.plan.extents(launch.block).is_empty();
        let dynamic = self.plan.arrays().iter().any(|a| a.is_dynamic());
        let bytes = if dynamic { launch.dynamic_shared } else { 0 };
        (launch.constants.clone(), by_block.then_some(launch.block), bytes)
    }

    /// Which programs a block has, and a launch that they are made for.
    fn shape(self, block: [u32; 3]) -> Option<(ShapeKey, Launch)> {
        let kind = Kind { block, blocks: 2, fit: Fit::Exact, more: [1; 3] };
        let launch = self.launch(kind, Strides::default(), false)?;
        Some((self.key(&launch), launch))
    }

    /// The launch of a kind; `apart` as in [`Wanted`].
    pub fn launch(self, kind: Kind, strides: Strides, apart: bool) -> Option<Launch> {
        let wanted = Wanted {
            usage: self.usage,
            extents: self.extents,
            parameters: self.parameters,
            pinned: self.integers,
            grid: self.grid,
            strides,
            apart,
            more: kind.more,
            ties: self.ties,
        };
        let dynamic_shared = self.dynamic_shared(kind.block);
        let mut launch = launch::launch(&wanted, kind.block, kind.blocks, kind.fit)?;
        launch.constants.extend(self.given.iter().cloned());
        Some(Launch { dynamic_shared, ..launch })
    }

    fn dynamic_shared(self, block: [u32; 3]) -> u32 {
        let arrays = self.plan.arrays().iter().filter(|a| a.is_dynamic()).count() as u32;
        match self.shared {
            Some(bytes) => bytes,
            None => arrays * 8 * (block[0] + 8) * (block[1] + 8) * block[2],
        }
    }

    /// The launch of a kind with rows that are longer than what blocks cover, where there is one beside that without.
    pub fn longer(self, kind: Kind, strides: Strides) -> Option<Launch> {
        match kind.fit {
            Fit::Ragged(_) | Fit::Apart => self.launch(kind, strides, true),
            _ => None,
        }
    }

    /// Runs an expected launch: the unmodified kernel, and where nothing speaks against it that which takes down rows.
    fn ran(self, (block, blocks, fit): Expected, shaped: &Shaped) -> Option<Ran> {
        let kind = Kind { block, blocks, fit, more: [1; 3] };
        let strides = shaped.strides(block);
        let launch = self.longer(kind, strides).or_else(|| self.launch(kind, strides, false))?;
        let data = Data { seed: 1, tagged: self.tagged, kind: Values::Tagged };
        let needed = memory::needed(&shaped.reference, &launch, data).ok()?;
        let outcome = &needed.outcome;
        let right = outcome.limit.is_none() && outcome.findings.iter().all(|f| f.rule.is_note());
        let rows = match shaped.probes.get().filter(|_| right) {
            Some(probes) => {
                let run = rows::Run {
                    program: &probes.program,
                    instrumented: &probes.instrumented,
                    launch: &launch,
                    lengths: &needed.lengths,
                    tagged: self.tagged,
                    reads: self.plan.reads.len(),
                    runs: super::runs(&shaped.reference, self.tagged, false),
                    seed: 1,
                    kind: Values::Tagged,
                    whole: false,
                    choices: (&Choices::default(), self.plan.forks.forks.len()),
                };
                run.taken().ok()
            }
            None => None,
        };
        Some(Ran { launch, needed: Some(needed), rows })
    }
}

impl Session {
    /// Makes what profiles of some launches need side by side, before it is asked for. Of plans that nobody wrote, whose launches
    /// may take long, only programs are made.
    pub fn prepare(&mut self, expected: &[Expected]) {
        let mut wanted: Vec<(ShapeKey, Launch)> = vec![];
        for (key, launch) in expected.iter().filter_map(|(block, ..)| self.asked().shape(*block)) {
            if !self.shapes.contains_key(&key) && wanted.iter().all(|(k, _)| *k != key) {
                wanted.push((key, launch));
            }
        }
        let asked = self.asked();
        let made = side_by_side(&wanted, |(_, l)| deep::with_room(|| asked.both(l)));
        for ((key, _), shaped) in wanted.into_iter().zip(made) {
            if let Some(shaped) = shaped {
                self.shapes.insert(key, shaped.into());
            }
        }
        if !self.input.quick {
            self.run_ahead(expected);
        }
    }

    fn run_ahead(&mut self, expected: &[Expected]) {
        let asked = self.asked();
        let shaped = |(block, ..): &Expected| {
            asked.shape(*block).and_then(|(key, _)| self.shapes.get(&key)).map(|s| &**s)
        };
        let tasks: Vec<(Expected, &Shaped)> =
            expected.iter().filter_map(|e| Some((*e, shaped(e)?))).collect();
        let ran = side_by_side(&tasks, |(expected, shaped)| asked.ran(*expected, shaped));
        self.ahead.extend(ran.into_iter().flatten());
    }

    /// What a launch needs, if it was run before.
    pub(super) fn needed_ahead(&mut self, launch: &Launch) -> Option<Needed> {
        self.ahead.iter_mut().find(|r| r.launch == *launch)?.needed.take()
    }

    /// What a launch took down, if it was run before.
    pub(super) fn rows_ahead(&mut self, launch: &Launch) -> Option<Profile> {
        self.ahead.iter_mut().find(|r| r.launch == *launch)?.rows.take()
    }
}

/// Does the same with each of some things, on as many cores as there are; results come in the order of the things.
pub fn side_by_side<T: Sync, R: Send>(list: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(list.len());
    if cores < 2 {
        return list.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(list.len()));
    let run = || {
        while let Some((i, one)) = {
            let i = next.fetch_add(1, Ordering::Relaxed);
            list.get(i).map(|one| (i, one))
        } {
            let result = work(one);
            done.lock().unwrap_or_else(|e| e.into_inner()).push((i, result));
        }
    };
    std::thread::scope(|scope| {
        (1..cores).for_each(|_| _ = scope.spawn(run));
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, r)| r).collect()
}
