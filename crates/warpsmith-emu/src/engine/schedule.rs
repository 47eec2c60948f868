//! Which block and which group runs next.
//!
//! In a block the group with the smallest program counter runs, and groups that meet merge: code is
//! laid out in source order, so branches reconverge where they join and loops where they end. A group
//! that keeps jumping back while others wait gives way after a while, so that threads that wait for
//! each other make progress. A block that only spins or waits for the grid gives way to the next.

use super::block::{Block, Wait};
use super::launch::Machine;
use crate::api::Limit;

/// Barriers after which a block of a kernel that waits somewhere gives way to others.
const BARRIER_QUANTUM: u32 = 256;

/// What became of a block's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Finished,
    /// Nothing in the block can go on by itself.
    Waiting,
    /// Others should have a turn.
    Yielded,
    /// A limit was reached.
    Stopped,
}

/// After how many things that others may see a block gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Only where it waits.
    None,
    /// After each.
    Each,
    /// After some, so that blocks go on at different speeds.
    Mixed { left: u32, state: u32 },
}

impl Turns {
    pub const MIXED: Turns = Turns::Mixed { left: 1, state: 0x9e37_79b9 };

    /// Counts one. True: it was the last of the turn.
    fn is_over(&mut self) -> bool {
        let Turns::Mixed { left, state } = self else { return *self == Turns::Each };
        *left -= 1;
        if *left > 0 {
            return false;
        }
        // Xorshift (Marsaglia, 2003): the same turns in every run.
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        *left = [1, 1, 2, 3, 8, 30, 1, 4][*state as usize % 8];
        true
    }
}

impl Machine<'_> {
    /// Executes all blocks.
    pub fn run_grid(&mut self) {
        let mut total = self.blocks();
        let mut next = 0;
        let mut open: Vec<Block> = vec![];
        let mut tried = false;
        while next < total || !open.is_empty() {
            let mut progress = self.run_open(&mut open);
            progress |= self.open_cluster_barriers(&mut open);
            if self.end.is_here() {
                break;
            }
            let mut full = false;
            while next < total && !full {
                let Some(mut block) = self.new_block(next) else {
                    full = true;
                    continue;
                };
                next += 1;
                progress = true;
                match self.run_block(&mut block) {
                    Turn::Finished => {
                        self.finish(&mut block);
                        if !tried && open.is_empty() {
                            tried = true;
                            self.sample_if_large();
                            total = self.blocks();
                            if let Some(ran) = self.run_side_by_side(next) {
                                next = ran;
                            }
                        }
                        if open.is_empty() {
                            self.leave_out_after_finding(next);
                            self.leave_out_late(next);
                            if next == self.blocks() {
                                self.sample_between();
                            }
                            total = self.blocks();
                        }
                    }
                    Turn::Stopped => {
                        self.flush(&mut block);
                        break;
                    }
                    Turn::Waiting | Turn::Yielded => {
                        // Blocks ahead may depend on this one: look at them again before more start.
                        open.push(block);
                        break;
                    }
                }
            }
            self.check_limits();
            if self.end.is_here() {
                break;
            }
            if full && open.is_empty() {
                self.end.limit = Some(Limit::Memory);
                break;
            }
            if !progress && !self.unblock(&mut open, next, total, full) {
                break;
            }
        }
        for b in &mut open {
            self.flush(b);
        }
    }

    fn check_limits(&mut self) {
        self.deadline_passed();
        if self.found.stats.thread_instructions > self.options.max_total_steps {
            self.end.limit.get_or_insert(Limit::TotalSteps);
        }
    }

    /// One turn for each open block, in order. True: something happened.
    fn run_open(&mut self, open: &mut Vec<Block>) -> bool {
        let mut progress = false;
        let mut at = 0;
        while at < open.len() {
            if !self.can_run(&open[at]) {
                at += 1;
                continue;
            }
            progress = true;
            match self.run_block(&mut open[at]) {
                Turn::Finished => {
                    let mut block = open.remove(at);
                    self.finish(&mut block);
                }
                Turn::Stopped => return true,
                Turn::Waiting | Turn::Yielded => at += 1,
            }
        }
        progress
    }

    /// Some group of the block can execute an instruction.
    pub fn can_run(&self, b: &Block) -> bool {
        b.groups.iter().any(|g| match g.wait {
            Wait::Ready => true,
            Wait::Spin(changes) => changes != self.progress.changes,
            _ => false,
        })
    }

    pub fn finish(&mut self, b: &mut Block) {
        self.flush(b);
        self.leave_cluster(b);
        self.races.end_block(b);
        self.retire(b);
        if self.grid.sample.is_some() {
            let work = self.found.stats.thread_instructions - self.grid.begun_at;
            self.grid.work.push((b.id, work));
        }
        if let Some(counting) = &mut self.found.counting {
            counting.end_block();
        }
    }

    /// Moves what a block printed to the output, thread by thread.
    fn flush(&mut self, b: &mut Block) {
        b.printed.sort_by_key(|(thread, _)| *thread);
        for (_, text) in b.printed.drain(..) {
            self.found.printed.push((b.id, text));
        }
    }

    /// No block can go on: opens a grid barrier that all have reached, or reports why not.
    /// False: the launch cannot go on.
    fn unblock(&mut self, open: &mut [Block], next: u32, total: u32, full: bool) -> bool {
        if full {
            self.end.limit = Some(Limit::Memory);
            return false;
        }
        debug_assert!(next == total);
        let at_grid =
            |b: &Block| !b.groups.is_empty() && b.groups.iter().all(|g| g.wait == Wait::Grid);
        // A block that has ended never comes to the barrier; one that was stopped for a finding is not waited for.
        let all_here = open.len() == total as usize || self.end.abandoned;
        if all_here && !open.is_empty() && open.iter().all(at_grid) {
            self.grid.phase += 1;
            for b in open.iter_mut() {
                self.open_grid_barrier(b);
            }
            return true;
        }
        let mut moved = false;
        for b in open.iter_mut() {
            moved |= self.report_stuck(b);
        }
        if !moved {
            for b in open.iter_mut() {
                b.groups.clear();
            }
        }
        moved
    }

    /// Lets a block run until it ends, waits, or should give way.
    pub fn run_block(&mut self, b: &mut Block) -> Turn {
        for g in &mut b.groups {
            if matches!(g.wait, Wait::Spin(c) if c != self.progress.changes) {
                g.wait = Wait::Ready;
                g.spin = super::block::Spin::default();
            }
        }
        let mut tired = 0;
        let from = b.interval;
        loop {
            if b.groups.is_empty() {
                return Turn::Finished;
            }
            let Some(at) = self.choose(b) else {
                if self.release(b) {
                    continue;
                }
                return Turn::Waiting;
            };
            let mut g = b.groups.swap_remove(at);
            let next = b
                .groups
                .iter()
                .filter(|o| o.wait == Wait::Ready && o.turns == 0)
                .map(|o| o.pc)
                .min()
                .unwrap_or(u32::MAX);
            let outcome = self.run_group(b, &mut g, next);
            self.progress.turns += 1;
            if self.progress.turns & 1023 == 0 {
                self.check_limits();
            }
            if self.end.is_here() {
                return Turn::Stopped;
            }
            if b.abandoned {
                b.groups.clear();
                return Turn::Finished;
            }
            match outcome {
                super::step::Stop::Ended => {}
                super::step::Stop::Yield => self.put_back(b, g),
                super::step::Stop::Shown => {
                    self.put_back(b, g);
                    if self.blocks() > 1 && self.progress.by_turns.is_over() {
                        return Turn::Yielded;
                    }
                }
                super::step::Stop::Tired => {
                    b.groups.push(g);
                    tired += 1;
                    if tired > 2 * b.groups.len() + 2 && self.blocks() > 1 {
                        return Turn::Yielded;
                    }
                }
            }
            // A loop that looks at a flag and meets at a barrier may wait for a block that has not begun.
            let waits = b.interval - from >= BARRIER_QUANTUM && !b.groups.is_empty();
            if waits && self.blocks() > 1 && self.polls() {
                return Turn::Yielded;
            }
        }
    }

    /// Some loop of the kernel may wait for others.
    fn polls(&self) -> bool {
        self.program.loop_polls.contains(&true)
    }

    /// The ready group with the smallest program counter among those that have not had their turn.
    fn choose(&self, b: &mut Block) -> Option<usize> {
        for _ in 0..2 {
            let best = b
                .groups
                .iter()
                .enumerate()
                .filter(|(_, g)| g.wait == Wait::Ready && g.turns == 0)
                .min_by_key(|(_, g)| (g.pc, g.lo));
            if let Some((at, _)) = best {
                return Some(at);
            }
            let mut any = false;
            for g in &mut b.groups {
                any |= g.wait == Wait::Ready;
                g.turns = 0;
            }
            if !any {
                return None;
            }
        }
        None
    }

    /// Merges the group with one that waits at the same place, or keeps it beside the others.
    pub fn put_back(&mut self, b: &mut Block, mut g: super::block::Group) {
        let twin = b
            .groups
            .iter()
            .position(|o| o.pc == g.pc && o.wait == g.wait && o.agrees(&g, self.program));
        if let Some(at) = twin {
            let other = b.groups.swap_remove(at);
            g.join(&other);
            g.update(&b.alive);
        }
        b.groups.push(g);
    }
}
