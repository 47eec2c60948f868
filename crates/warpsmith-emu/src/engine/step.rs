//! The instruction loop of one group.

use std::hash::Hasher;

use warpsmith_ir::Axis;

use super::barriers::STOPPED;
use super::block::{Block, Group, Mask, Spin, Wait};
use super::lanes;
use super::launch::Machine;
use super::poison::{ENDED, UNDEFINED};
use super::schedule::Turns;
use super::state::{FAILED, HELD};
use crate::api::{Access, Finding, Limit, POLLS, POLLS_HOST, Rule};
use crate::compile::lir::{Op, Opd, Special};
use crate::compile::places::OFFSET_BITS;

/// Backward jumps after which another group of the block gets a turn.
const QUANTUM: u64 = 2_000;
/// Backward jumps after which a waiting loop gives way to other blocks.
const BLOCK_QUANTUM: u64 = 20_000;
/// Backward jumps of one loop in a row after which its state is watched.
const WATCH_AFTER: u64 = 1 << 16;
/// The same for loops with atomics or volatile reads, which are likely to wait.
const WATCH_POLLING_AFTER: u64 = 1 << 7;
/// The longest period of a repeating state that is found, in iterations.
const WATCH_FOR: u64 = 64;

/// Why a group stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has no threads left, or it was put back among the groups already.
    Ended,
    /// It may have met other groups, or it waits.
    Yield,
    /// It has run for its share.
    Tired,
    /// It has done something that other blocks may see, and they take turns at that.
    Shown,
}

impl Machine<'_> {
    /// Runs a group until it meets another one at `next` or later, waits, ends or is tired.
    pub fn run_group(&mut self, b: &mut Block, g: &mut Group, next: u32) -> Stop {
        let mut executed = 0u64;
        let stop = self.run_instructions(b, g, next, &mut executed);
        g.steps += executed;
        self.found.stats.instructions += executed;
        if g.steps > self.options.max_steps {
            self.report_steps(b, g);
            return Stop::Ended;
        }
        if stop == Stop::Yield {
            g.turns = 0;
        }
        stop
    }

    fn run_instructions(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        next: u32,
        executed: &mut u64,
    ) -> Stop {
        let program = self.program;
        let alone = b.groups.iter().all(|o| o.wait != Wait::Ready);
        loop {
            let pc = g.pc as usize;
            let Some(op) = program.code.get(pc) else { return Stop::Ended };
            *executed += 1;
            self.found.stats.thread_instructions += u64::from(g.active);
            if let Some(counting) = &mut self.found.counting {
                counting.execute(g);
            }
            match op {
                Op::Label(_) => {
                    // Elsewhere registers hold values that other lanes may overwrite.
                    if self.progress.by_turns != Turns::None
                        && std::mem::take(&mut self.progress.shown)
                    {
                        g.turns += 1;
                        return Stop::Shown;
                    }
                    g.pc += 1;
                    if g.pc > next {
                        g.pc -= 1;
                        return Stop::Yield;
                    }
                }
                Op::Jump(l) => {
                    g.pc = program.labels[*l as usize];
                    if g.pc >= next {
                        return Stop::Yield;
                    }
                }
                Op::LoopBack { label, loop_id } => {
                    let here = g.pc;
                    g.pc = program.labels[*label as usize];
                    if let Some(stop) = self.jumped_back(b, g, here, *loop_id, alone, executed) {
                        return stop;
                    }
                    if g.pc >= next {
                        return Stop::Yield;
                    }
                }
                Op::BranchFalse { cond, label } => {
                    if self.branch(b, g, *cond, *label, false, next) {
                        return Stop::Yield;
                    }
                }
                Op::BranchTrue { cond, label } => {
                    if self.branch(b, g, *cond, *label, true, next) {
                        return Stop::Yield;
                    }
                }
                Op::Exit { .. } => {
                    let gone = g.mask.clone();
                    self.end_threads(b, &gone, g.pc);
                    return Stop::Ended;
                }
                Op::Barrier { .. } => {
                    if !self.at_barrier(b, g) {
                        return Stop::Yield;
                    }
                    g.pc += 1;
                }
                Op::Warp { .. } => {
                    if !self.at_warp_operation(b, g) {
                        return Stop::Yield;
                    }
                    if g.active == 0 {
                        return Stop::Ended;
                    }
                    g.pc += 1;
                }
                Op::Assert { cond, text } => {
                    self.assert(b, g, *cond, Some(*text));
                    if g.active == 0 {
                        return Stop::Ended;
                    }
                    g.pc += 1;
                }
                Op::Trap => {
                    self.assert(b, g, Opd::K(0), None);
                    return Stop::Ended;
                }
                Op::Assume { cond, .. } => {
                    if self.truth(b, g, *cond) != g.mask {
                        self.end.assumption_failed = true;
                        return Stop::Ended;
                    }
                    g.pc += 1;
                }
                _ => {
                    self.execute(b, g, op, pc);
                    g.pc += 1;
                    if self.end.limit.is_some() {
                        return Stop::Ended;
                    }
                }
            }
        }
    }

    /// Straight-line instructions.
    #[inline]
    fn execute(&mut self, b: &mut Block, g: &mut Group, op: &Op, pc: usize) {
        match op {
            Op::Load { access } => self.load(b, g, *access, pc),
            Op::Store { access } => self.store(b, g, *access, pc),
            Op::Atomic { .. } => self.atomic(b, g, op, pc),
            Op::Special { what, dst } => self.special(b, g, *what, *dst, pc),
            Op::Undef { dst, name, .. } => self.undefine(b, g, *dst, *name, pc),
            Op::UndefLocal { object } => self.undefine_local(b, g, *object, UNDEFINED),
            Op::EndLocal { object } => self.undefine_local(b, g, *object, ENDED),
            Op::Overflow { op, a, b: right, .. } => {
                self.check_overflow(b, g, (*op, *a, *right), pc);
            }
            Op::Fence(scope) => {
                self.fence(b, g, *scope);
                self.progress.shown = true;
            }
            Op::AsyncCopy { .. } => self.async_copy(b, g, op, pc),
            Op::HeapAllocate { bytes, result } => self.heap_allocate(b, g, *bytes, *result, pc),
            Op::HeapFree { pointer } => self.heap_free(b, g, *pointer, pc),
            Op::AsyncCommit => self.async_commit(b, g),
            Op::AsyncWait(n) => self.async_wait(b, g, *n, pc),
            Op::Printf { format, args } => self.printf(b, g, *format, args),
            Op::Decide { cond, divide } => self.decide(b, g, *cond, *divide),
            _ => self.arithmetic(b, g, op, pc),
        }
    }

    /// Threads of the group for which the operand is true.
    pub fn truth(&mut self, b: &mut Block, g: &Group, cond: Opd) -> Mask {
        match cond {
            Opd::V(o) => {
                let row = b.row(o, self.width);
                let mut m = Mask::default();
                for w in g.lo..g.hi {
                    // SAFETY: the row holds all warps of the block.
                    let bits = unsafe { lanes::truth(row.add(w as usize * 32)) };
                    m.warps[w as usize] = bits & g.mask.warps[w as usize];
                }
                m
            }
            other => {
                if self.scalar(g, other) != 0 {
                    g.mask.clone()
                } else {
                    Mask::default()
                }
            }
        }
    }

    /// Takes down whether the condition holds for threads of the group, and fails for some.
    fn decide(&mut self, b: &mut Block, g: &Group, cond: Opd, divide: u32) {
        let seen = self.found.decided.get(divide as usize).copied().unwrap_or(HELD | FAILED);
        if seen == HELD | FAILED {
            return;
        }
        let yes = self.truth(b, g, cond);
        let held = if yes.is_empty() { 0 } else { HELD };
        let failed = if g.mask.without(&yes).is_empty() { 0 } else { FAILED };
        self.found.decided[divide as usize] = seen | held | failed;
    }

    /// Sends the threads for which the condition equals `when` to the label. True: stop here.
    fn branch(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        cond: Opd,
        label: u32,
        when: bool,
        next: u32,
    ) -> bool {
        if self.checks.poison {
            self.use_in_control(b, g, cond);
        }
        let target = self.program.labels[label as usize];
        if !matches!(cond, Opd::V(_)) {
            let goes = (self.scalar(g, cond) != 0) == when;
            g.pc = if goes { target } else { g.pc + 1 };
            return g.pc >= next && goes;
        }
        let yes = self.truth(b, g, cond);
        let go = if when { yes } else { g.mask.without(&yes) };
        if go.is_empty() {
            g.pc += 1;
            return false;
        }
        if go == g.mask {
            g.pc = target;
            return g.pc >= next;
        }
        if let Some(counting) = &mut self.found.counting {
            counting.branch(g, &go);
        }
        let mut other = g.clone();
        other.pc = target;
        other.turns = 0;
        other.spin = Spin::default();
        g.mask = g.mask.without(&go);
        other.mask = go;
        g.pc += 1;
        other.update(&b.alive);
        g.update(&b.alive);
        self.put_back(b, other);
        // The others wait at `target` now, so the caller's idea of `next` is out of date.
        true
    }

    /// Threads that end here for good.
    pub fn end_threads(&mut self, b: &mut Block, gone: &Mask, pc: u32) {
        b.alive = b.alive.without(gone);
        for t in gone.threads() {
            b.exits[t as usize] = pc;
        }
        b.groups.iter_mut().for_each(|o| o.update(&b.alive));
    }

    fn special(&mut self, b: &mut Block, g: &mut Group, what: Special, dst: Opd, pc: usize) {
        let value = match what {
            Special::BlockIdx(a) => u64::from(b.coords[a.index()]),
            Special::Clock => self.grid.tick(),
            Special::ClusterOffset => u64::from(self.races.division.rank_of(b.id)) << OFFSET_BITS,
            _ => {
                let Opd::V(o) = dst else { return };
                let keep = self.program.masked[pc] && !g.full;
                for t in g.lo * 32..g.hi * 32 {
                    let (warp, lane) = (t / 32, t % 32);
                    let active = g.mask.warps[warp as usize];
                    if keep && active >> lane & 1 == 0 {
                        continue;
                    }
                    let v = match what {
                        Special::ThreadIdx(a) => self.thread_index(t)[a.index()],
                        Special::FlatThread => t,
                        Special::Lane => lane,
                        _ => active,
                    };
                    b.set_lane(o, self.width, false, t, v.into());
                }
                self.define(b, g, dst, pc);
                return;
            }
        };
        self.write_scalar(
            b,
            g,
            dst,
            matches!(what, Special::Clock | Special::ClusterOffset),
            value,
            pc,
        );
    }

    /// Coordinates of a thread in the block.
    pub fn thread_index(&self, flat: u32) -> [u32; 3] {
        let d = self.launch.block;
        let (x, y) = (d[Axis::X.index()], d[Axis::Y.index()]);
        [flat % x, flat / x % y, flat / (x * y)]
    }

    /// Looks after loops that go on and on. `Some`: the group stops running.
    fn jumped_back(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        here: u32,
        loop_id: u32,
        alone: bool,
        executed: &mut u64,
    ) -> Option<Stop> {
        g.turns += 1;
        if g.spin.loop_id != loop_id {
            g.spin = Spin { loop_id, ..Spin::default() };
        }
        g.spin.count += 1;
        if g.turns & 1023 == 0 {
            let steps = g.steps + *executed;
            if self.deadline_passed() {
                return Some(Stop::Ended);
            }
            if self.found.stats.thread_instructions > self.options.max_total_steps {
                self.end.limit = Some(Limit::TotalSteps);
                return Some(Stop::Ended);
            }
            if steps > self.options.max_steps {
                g.pc = here;
                return Some(Stop::Yield);
            }
        }
        let polls = self.program.loop_polls[loop_id as usize];
        let watch_after = if polls { WATCH_POLLING_AFTER } else { WATCH_AFTER };
        if g.spin.count >= watch_after && self.watch(b, g) {
            return Some(Stop::Yield);
        }
        if !alone && g.turns >= QUANTUM {
            return Some(Stop::Tired);
        }
        if g.turns >= BLOCK_QUANTUM && polls {
            return Some(Stop::Tired);
        }
        None
    }

    /// Compares the state of the loop with an earlier one, in short stretches that lie ever further
    /// apart. True: it repeats, and nothing has changed memory in between.
    fn watch(&mut self, b: &mut Block, g: &mut Group) -> bool {
        let since = g.spin.count - (1 << g.spin.count.ilog2());
        if since > WATCH_FOR {
            g.spin.armed = false;
            return false;
        }
        self.progress.watching = true;
        let hash = self.state_hash(b, g);
        if since == 0 || !g.spin.armed {
            g.spin.armed = true;
            g.spin.hash = hash;
            g.spin.changes = self.progress.changes;
            g.spin.reads_host = Some(false);
            return false;
        }
        if g.spin.hash != hash || g.spin.changes != self.progress.changes {
            return false;
        }
        g.wait = Wait::Spin(self.progress.changes);
        g.spin.armed = false;
        true
    }

    /// A hash of everything the group's threads have in registers and local memory.
    fn state_hash(&mut self, b: &mut Block, g: &Group) -> u64 {
        let mut h = std::hash::DefaultHasher::new();
        g.scalars.iter().for_each(|s| h.write_u64(*s));
        let (width, words) = (self.width, self.program.register_words);
        for o in 0..words {
            for t in g.mask.threads() {
                h.write_u64(b.lane(o, width, false, t));
            }
        }
        for row in b.local.chunks(width as usize) {
            for t in g.mask.threads() {
                h.write_u32(row[t as usize]);
            }
        }
        h.finish()
    }

    fn report_steps(&mut self, b: &mut Block, g: &Group) {
        let n = self.options.max_steps;
        self.report_loop(b, g, &format!("the loop is still running after {n} instructions"));
        let gone = g.mask.clone();
        self.end_threads(b, &gone, STOPPED);
    }

    /// Names the innermost loop that the group is in.
    pub fn report_loop(&mut self, b: &Block, g: &Group, message: &str) {
        let p = self.program;
        // The loop whose body holds the program counter and starts last.
        let mut best: Option<(u32, usize)> = None;
        for (pc, op) in p.code.iter().enumerate() {
            if let Op::LoopBack { label, loop_id } = op {
                let head = p.labels[*label as usize];
                let holds = head <= g.pc && g.pc as usize <= pc;
                if holds && best.is_none_or(|(h, _)| head > h) {
                    best = Some((head, *loop_id as usize));
                }
            }
        }
        let here = p.sites.get(g.pc as usize).copied().unwrap_or(0);
        let site = best.map_or(here, |(_, id)| p.loops[id]);
        let polls = best.is_some_and(|(_, id)| p.loop_polls[id]);
        let thread = g.mask.threads().next().unwrap_or(0);
        let place = Access {
            span: p.spans.get(site as usize).copied().flatten(),
            what: "loop",
            thread: Some(self.thread_ref(b.id, thread)),
        };
        self.found.report.add(Finding {
            rule: Rule::InfiniteLoop,
            kind: polls.then(|| if self.may_wait_for_host(g) { POLLS_HOST } else { POLLS }),
            message: message.to_string(),
            accesses: vec![place],
            array: None,
            index: vec![],
            interval: Some(b.interval),
            count: u64::from(g.active),
        });
    }

    fn may_wait_for_host(&self, g: &Group) -> bool {
        let all = self.memory.buffers.iter().chain(&self.memory.globals);
        g.spin.reads_host.unwrap_or_else(|| all.into_iter().any(|b| b.host_writes))
    }

    fn assert(&mut self, b: &mut Block, g: &mut Group, cond: Opd, text: Option<u32>) {
        if self.checks.poison {
            self.use_in_control(b, g, cond);
        }
        let yes = self.truth(b, g, cond);
        let failed = g.mask.without(&yes);
        if failed.is_empty() {
            return;
        }
        let name = text.and_then(|t| self.program.names.get(t as usize));
        let message = match name {
            Some(text) => format!("assertion `{text}` failed"),
            None => "the kernel trapped".to_string(),
        };
        let thread = failed.threads().next().unwrap_or(0);
        let place = self.place(b, g.pc as usize, "assertion", Some(thread));
        self.found.report.add(Finding {
            rule: Rule::AssertFailed,
            kind: None,
            message,
            accesses: vec![place],
            array: None,
            index: vec![],
            interval: Some(b.interval),
            count: failed.count().into(),
        });
        self.end_threads(b, &failed, STOPPED);
        g.mask = yes;
        g.update(&b.alive);
    }
}
