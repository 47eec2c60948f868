//! Barriers of the block and of the grid, and what happens when threads never meet at one.

use warpsmith_ir::BarrierKind;

use super::block::{Block, Group, Mask, Wait};
use super::launch::Machine;
use crate::api::{Finding, Rule};
use crate::compile::lir::{Op, Opd};

/// A thread that was stopped after a finding: no barrier waits for it or complains about it.
pub const STOPPED: u32 = u32::MAX - 1;

impl Machine<'_> {
    /// The group is at a barrier. True: it goes on at once.
    pub fn at_barrier(&mut self, b: &mut Block, g: &mut Group) -> bool {
        let Some(Op::Barrier { kind, operand, .. }) = self.program.code.get(g.pc as usize) else {
            return true;
        };
        let (kind, operand) = (*kind, *operand);
        match kind {
            BarrierKind::Warp => {
                let passes = self.at_warp_operation(b, g);
                return passes;
            }
            BarrierKind::Grid => {
                g.wait = Wait::Grid;
                return false;
            }
            BarrierKind::ClusterArrive => return true,
            BarrierKind::ClusterWait => {
                g.wait = Wait::Cluster;
                return false;
            }
            BarrierKind::Named | BarrierKind::NamedArrive => {
                return self.at_named_barrier(b, g, kind, operand);
            }
            _ => {}
        }
        if self.checks.poison && kind != BarrierKind::Block {
            self.use_in_control(b, g, operand);
        }
        if g.full {
            let mut own = [std::mem::replace(g, idle(g))];
            self.open_barrier(b, &mut own);
            let [back] = own;
            *g = back;
            return !b.abandoned;
        }
        g.wait = Wait::Barrier;
        false
    }

    /// All threads that have not ended are at one barrier: computes its result and starts the next
    /// interval. The groups stay at the barrier's program counter.
    fn open_barrier(&mut self, b: &mut Block, groups: &mut [Group]) {
        let Some(first) = groups.first() else { return };
        let pc = first.pc;
        self.found.stats.barriers += 1;
        self.look_at_ended(b, pc);
        if let Some(Op::Barrier { kind, operand, result: Some(result) }) =
            self.program.code.get(pc as usize)
        {
            self.barrier_result(b, groups, *kind, *operand, *result);
        }
        b.interval += 1;
        self.block_barrier_order(b, pc);
    }

    fn barrier_result(
        &mut self,
        b: &mut Block,
        groups: &mut [Group],
        kind: BarrierKind,
        operand: Opd,
        result: Opd,
    ) {
        let (mut yes, mut all) = (0, 0);
        for g in groups.iter() {
            yes += self.truth(b, g, operand).count();
            all += g.active;
        }
        let value = match kind {
            BarrierKind::BlockAnd => u32::from(yes == all),
            BarrierKind::BlockOr => u32::from(yes > 0),
            _ => yes,
        };
        for g in groups {
            let pc = g.pc as usize;
            self.write_scalar(b, g, result, false, value.into(), pc);
        }
    }

    /// No group of the block can run. True: some group may go on now.
    pub fn release(&mut self, b: &mut Block) -> bool {
        if b.groups.iter().any(|g| matches!(g.wait, Wait::Spin(_))) {
            // It waits for other blocks, as far as anyone can tell.
            return false;
        }
        let first = b.groups.first().map(|g| (g.pc, g.wait));
        let together = b.groups.iter().all(|g| Some((g.pc, g.wait)) == first);
        match first {
            Some((_, Wait::Barrier)) if together => {
                let mut groups = std::mem::take(&mut b.groups);
                self.open_barrier(b, &mut groups);
                if !b.abandoned {
                    self.resume(b, groups);
                }
                true
            }
            Some((_, Wait::Grid | Wait::Cluster)) if together => false,
            _ if self.complete_without_ended(b) => true,
            _ => {
                self.report_divergence(b);
                true
            }
        }
    }

    /// Lets groups go on behind the instruction they waited at.
    pub fn resume(&mut self, b: &mut Block, groups: Vec<Group>) {
        for mut g in groups {
            g.wait = Wait::Ready;
            g.pc += 1;
            g.turns = 0;
            g.update(&b.alive);
            self.put_back(b, g);
        }
    }

    /// Opens the barrier of the whole grid for one block.
    pub fn open_grid_barrier(&mut self, b: &mut Block) {
        self.found.stats.barriers += 1;
        let pc = b.groups.first().map_or(0, |g| g.pc);
        // It is a barrier of the block, too, which the block's own threads must not go around.
        self.look_at_ended(b, pc);
        if b.abandoned {
            return;
        }
        b.interval += 1;
        self.block_barrier_order(b, pc);
        self.grid_barrier_order(b);
        let groups = std::mem::take(&mut b.groups);
        self.resume(b, groups);
    }

    /// Threads of the block wait at different places, and none can go on.
    fn report_divergence(&mut self, b: &mut Block) {
        let mut groups = std::mem::take(&mut b.groups);
        groups.sort_by_key(|g| (g.pc, g.lo));
        // Threads that miss some lanes of their warp are let go first: the rest may then meet.
        let warp = groups.iter().position(|g| g.wait == Wait::Warp);
        if let Some(at) = warp {
            let g = groups.remove(at);
            let others: Vec<&Group> = groups.iter().collect();
            let elsewhere = others.first().map(|o| o.pc);
            self.report_missing_lanes(b, &g, elsewhere);
            self.abandon(b);
            return;
        }
        if let Some(at) = groups.iter().position(|g| matches!(g.wait, Wait::Named(_))) {
            let g = groups.remove(at);
            let elsewhere = groups.iter().find(|o| o.pc != g.pc).map(|o| o.pc);
            b.groups = groups;
            self.report_incomplete(b, &g, elsewhere);
            self.abandon(b);
            return;
        }
        let elsewhere = groups.iter().find(|g| g.pc != groups[0].pc).map(|g| g.pc);
        let waiting = groups[0].mask.clone();
        let pc = groups[0].pc;
        let message = "threads of one block wait at different barriers";
        self.report_barrier(b, pc, &waiting, elsewhere, None, message);
        self.abandon(b);
    }

    /// Stops a block whose threads did not meet where they must: what they would do from here on is
    /// undefined, and findings about it would only distract.
    pub fn abandon(&mut self, b: &mut Block) {
        self.end.abandoned = true;
        b.abandoned = true;
        b.groups.clear();
    }

    /// One finding about a barrier that not all threads reach.
    pub fn report_barrier(
        &mut self,
        b: &Block,
        pc: u32,
        waiting: &Mask,
        elsewhere: Option<u32>,
        kind: Option<&'static str>,
        message: &str,
    ) {
        let thread = waiting.threads().next();
        let mut accesses = vec![self.place(b, pc as usize, "barrier", thread)];
        if let Some(other) = elsewhere {
            let at = |g: &&Group| g.pc == other;
            let thread = b.groups.iter().find(at).and_then(|g| g.mask.threads().next());
            let thread =
                thread.or_else(|| b.exits.iter().position(|e| *e == other).map(|t| t as u32));
            let what = match self.program.code.get(other as usize) {
                Some(Op::Exit { .. }) => "end of thread",
                Some(Op::Barrier { .. }) => "barrier",
                _ => "other threads",
            };
            accesses.push(self.place(b, other as usize, what, thread));
        }
        self.found.report.add(Finding {
            rule: Rule::DivergentBarrier,
            kind,
            message: message.to_string(),
            accesses,
            array: None,
            index: vec![],
            interval: Some(b.interval),
            count: waiting.count().into(),
        });
    }

    /// Threads that ended before a barrier the rest passes: a note, or a finding when their way led
    /// around the barrier.
    pub fn look_at_ended(&mut self, b: &mut Block, pc: u32) {
        if b.alive.count() == self.threads {
            return;
        }
        let mut ways: Vec<(u32, Mask)> = vec![];
        for t in 0..self.threads {
            let at = b.exits[t as usize];
            if at >= STOPPED {
                continue;
            }
            let bit = 1 << (t % 32);
            match ways.iter_mut().find(|(e, _)| *e == at) {
                Some((_, m)) => m.warps[t as usize / 32] |= bit,
                None => {
                    ways.push((at, Mask::of(t / 32, bit)));
                }
            }
        }
        let alive = b.alive.clone();
        for (exit, threads) in ways {
            if self.leads_around(exit, pc) {
                let message = "threads end without reaching a barrier that the rest of their block \
                               waits at";
                self.report_barrier(b, pc, &alive, Some(exit), None, message);
                self.abandon(b);
                continue;
            }
            let thread = threads.threads().next();
            let accesses = vec![
                self.place(b, pc as usize, "barrier", alive.threads().next()),
                self.place(b, exit as usize, "end of thread", thread),
            ];
            self.found.report.add(Finding {
                rule: Rule::ExitedBeforeBarrier,
                kind: None,
                message: "threads ended before a barrier that the others reach".to_string(),
                accesses,
                array: None,
                index: vec![],
                interval: Some(b.interval),
                count: threads.count().into(),
            });
        }
    }

    /// A thread that ended at `exit` passed by the place `pc`, rather than leaving before it or in
    /// the other arm of a branch.
    pub fn leads_around(&self, exit: u32, pc: u32) -> bool {
        if exit < pc {
            return false;
        }
        let p = self.program;
        let path = |pc: u32| {
            let mut list = vec![];
            let mut r = p.regions_of.get(pc as usize).copied().unwrap_or(0);
            while r != 0 {
                list.push(r);
                r = p.regions[r as usize].parent;
            }
            list.reverse();
            list
        };
        let (a, c) = (path(exit), path(pc));
        let common = a.iter().zip(&c).take_while(|(x, y)| x == y).count();
        match (a.get(common), c.get(common)) {
            (Some(&x), Some(&y)) => {
                let (x, y) = (&p.regions[x as usize], &p.regions[y as usize]);
                x.branch == 0 || x.branch != y.branch
            }
            _ => true,
        }
    }

    /// Nothing in the whole launch can go on: says what the block's threads wait for.
    /// True: they may go on.
    pub fn report_stuck(&mut self, b: &mut Block) -> bool {
        let spinning: Vec<Group> =
            b.groups.iter().filter(|g| matches!(g.wait, Wait::Spin(_))).cloned().collect();
        let abandoned = self.end.abandoned;
        if !spinning.is_empty() {
            let message = "the loop never ends: its state repeats, and no other thread can change \
                           what it waits for";
            // After a block was stopped, others may wait for what it would have done.
            for g in spinning.iter().filter(|_| !abandoned) {
                self.report_loop(b, g, message);
            }
            return false;
        }
        let waiting: Vec<Group> = b
            .groups
            .iter()
            .filter(|g| matches!(g.wait, Wait::Grid | Wait::Cluster))
            .cloned()
            .collect();
        let Some(first) = waiting.first() else { return false };
        let (kind, message) = match first.wait {
            Wait::Cluster => ("cluster", "a barrier that not all blocks of the cluster reach"),
            _ => ("grid", "a grid barrier that not all blocks reach"),
        };
        if !self.end.abandoned {
            self.report_barrier(b, first.pc, &first.mask, None, Some(kind), message);
        }
        self.abandon(b);
        true
    }
}

/// A group without threads, to stand in while another is worked on.
fn idle(like: &Group) -> Group {
    Group {
        pc: like.pc,
        mask: Mask::default(),
        full: false,
        lo: 0,
        hi: 0,
        active: 0,
        scalars: vec![],
        poison: vec![],
        any_poison: false,
        wait: Wait::Ready,
        steps: 0,
        turns: 0,
        spin: Default::default(),
    }
}
