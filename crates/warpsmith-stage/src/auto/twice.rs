//! Two steps a launch: staged, compared with two launches of one step, and ranked.

use warpsmith_emu::Checks;
use warpsmith_emu::{Arg, BufferId};

use super::Best;
use super::ranking::{Entrant, Form, Ranking};
use super::temporal::Blocked;
use crate::memory::{self, Data, Prepared, Values};
use crate::program::{self, Program, first_message, nothing_found};
use crate::session::{Input, Refusal, Session, Suited};
use crate::stage;

/// What values come from.
const SEED: u64 = 7;

impl Ranking<'_> {
    /// The first of some kernels of two steps that computes what two launches do.
    ///
    /// # Errors
    /// Why none is used.
    pub fn two_steps(&mut self, all: &[Blocked]) -> Result<Entrant, String> {
        let mut why = String::new();
        for blocked in all {
            match self.one_of_two_steps(blocked) {
                Ok(entrant) => return Ok(entrant),
                // What the least reach is refused for is what speaks against it.
                Err(reason) if why.is_empty() => why = reason,
                Err(_) => {}
            }
        }
        Err(why)
    }

    fn one_of_two_steps(&mut self, blocked: &Blocked) -> Result<Entrant, String> {
        let said = |r: Refusal| first_message(&r.diagnostics);
        let kernel = Some(blocked.overlap.kernel.clone());
        let marked =
            Input { text: blocked.text.clone(), kernel, quick: true, ..self.input.clone() };
        let staged = match blocked.marked {
            true => Some(stage::stage(marked).map_err(said)?),
            false => None,
        };
        let text = staged.as_ref().map_or(blocked.text.clone(), |s| blocked.finished(&s.text));
        let launches = self.checker.whole();
        let checked = checked(self.session, &launches, &text, blocked)?;
        let name = "two steps a launch".to_string();
        let made = Best { name, text, staged: staged.map(std::rc::Rc::new), checked, launch: None };
        let form = Form { overlap: Some(blocked.overlap.clone()), ..Form::default() };
        let cost = self.seconds(&made.text, &self.large.clone(), &form).map_err(said)?;
        Ok(Entrant { cost, plan: made.name.clone(), made, form, block: None })
    }
}

/// The launches in which two steps are what two launches are. Where the kernel leaves elements of its output as they are, both
/// arrays have to hold the same there.
fn checked(
    session: &mut Session,
    launches: &[Suited],
    text: &str,
    blocked: &Blocked,
) -> Result<Vec<String>, String> {
    let why = match equal(session, launches, text, blocked, false) {
        Ok(checked) => return Ok(checked),
        Err(why) => why,
    };
    match equal(session, launches, text, blocked, true) {
        Ok(checked) if blocked.alike => Ok(checked),
        Ok(_) => Err(format!(
            "the kernel leaves elements of `{}` as they are, and the host code does not plainly give both arrays the same contents",
            blocked.output
        )),
        Err(_) => Err(why),
    }
}

/// Compares two steps in one launch with two launches, with outputs that hold what inputs do, or something else.
fn equal(
    session: &mut Session,
    launches: &[Suited],
    text: &str,
    blocked: &Blocked,
    alike: bool,
) -> Result<Vec<String>, String> {
    let mut checked = vec![];
    for suited in launches {
        let launch = &blocked.overlap.covering(&suited.launch);
        let Some(grid) = blocked.overlap.grid(launch.grid, launch.block) else { continue };
        let first = |d: Vec<warpsmith_ir::Diagnostic>| first_message(&d);
        let kernel = &blocked.overlap.kernel;
        let compiler = &session.compiler;
        let twice = compiler.compile(text, &launch.constants, kernel).map_err(first)?;
        let own = session.plan.text.clone();
        let once = compiler.compile(&own, &launch.constants, &session.kernel).map_err(first)?;
        let mut suited = Suited { launch: launch.clone(), ..suited.clone() };
        let data = Data { seed: SEED, tagged: &session.tagged, kind: Values::Tagged };
        // More blocks may reach further.
        let memory::Needed { lengths, outcome, .. } =
            memory::needed(&once, launch, data).map_err(|d| d.message)?;
        if outcome.limit.is_some() || outcome.findings.iter().any(|f| !f.rule.is_note()) {
            continue;
        }
        suited.lengths = lengths;
        let mixed = session.mixed.then_some((SEED, Values::Mixed));
        let near = memory::near_seeds(SEED).map(|seed| (seed, Values::Near));
        for (seed, kind) in [(SEED, Values::Tagged)].into_iter().chain(mixed).chain(near) {
            let data = Data { seed, tagged: &session.tagged, kind };
            let pair = Pair { once: &once, twice: &twice, blocked, alike };
            pair.compare(&suited, data, grid)?;
        }
        checked.push(format!("{}, two steps", launch.describe()));
    }
    match checked.is_empty() {
        true => Err("no launch was found in which a block has room for halos".into()),
        false => Ok(checked),
    }
}

struct Pair<'a> {
    once: &'a Program,
    twice: &'a Program,
    blocked: &'a Blocked,
    alike: bool,
}

impl Pair<'_> {
    fn compare(&self, suited: &Suited, data: Data<'_>, grid: [u32; 3]) -> Result<(), String> {
        let said = |d: warpsmith_ir::Diagnostic| d.message;
        let (mut expected, [input, output]) = self.prepared(self.once, suited, data)?;
        let (mut actual, _) = self.prepared(self.twice, suited, data)?;
        let before: Vec<Vec<u8>> = actual.memory.buffers.iter().map(|b| b.bytes.clone()).collect();
        for _ in 0..2 {
            let near = data.kind == Values::Near;
            let checks = if near { Checks::ALL } else { Checks::NONE };
            let outcome = program::run(self.once, &expected.config, &mut expected.memory, checks);
            let outcome = outcome.map_err(said)?;
            // The kernel itself is wrong with such data.
            if near && nothing_found(&outcome).is_err() {
                return Ok(());
            }
            if outcome.limit.is_some() {
                return Err("it takes too long to emulate".into());
            }
            swap(&mut expected, [input, output]);
        }
        actual.config.grid = grid;
        let outcome = program::run(self.twice, &actual.config, &mut actual.memory, Checks::ALL);
        nothing_found(&outcome.map_err(said)?)?;
        for (k, buffer) in actual.memory.buffers.iter().enumerate() {
            let right = match k == output {
                // The second launch wrote to what the first one read.
                true => memory::holds_same(buffer, &expected.memory.buffers[input]),
                false => buffer.bytes == before[k],
            };
            if !right {
                return Err(
                    "two steps in one launch compute something else than two launches".into()
                );
            }
        }
        Ok(())
    }

    /// Memory in which what is read and what is written are equally long.
    fn prepared(
        &self,
        program: &Program,
        suited: &Suited,
        data: Data<'_>,
    ) -> Result<(Prepared, [usize; 2]), String> {
        let said = |d: warpsmith_ir::Diagnostic| d.message;
        let mut lengths = suited.lengths.clone();
        let names = memory::prepare(program, &suited.launch, Some(&vec![0; lengths.len()]), data);
        let names = names.map_err(said)?.arrays;
        let at = |name: &String| names.iter().position(|n| n == name).ok_or("an array is missing");
        let pair = [at(&self.blocked.input)?, at(&self.blocked.output)?];
        let longest = pair.iter().filter_map(|k| lengths.get(*k)).copied().max().unwrap_or(0);
        pair.iter().for_each(|k| lengths[*k] = longest);
        let mut p = memory::prepare_beside(program, self.once, &suited.launch, &lengths, data)
            .map_err(said)?;
        if self.alike {
            p.memory.buffers[pair[1]].bytes = p.memory.buffers[pair[0]].bytes.clone();
        }
        Ok((p, pair))
    }
}

/// Gives two arrays each other's places among the arguments.
fn swap(p: &mut Prepared, [a, b]: [usize; 2]) {
    for arg in &mut p.config.args {
        if let Arg::Pointer { buffer: BufferId(n), .. } = arg {
            *n = match *n as usize {
                n if n == a => b as u32,
                n if n == b => a as u32,
                n => n as u32,
            };
        }
    }
}
