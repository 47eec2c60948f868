//! The sixteen barriers of a block at which some of its warps meet: `bar.sync id, count` and `bar.arrive id, count`.
//!
//! A warp arrives as a whole, and counts as 32 threads however many of its lanes are left. When the count is reached, the
//! warps that wait go on and the barrier begins anew. Lanes of one warp may come from several places where the instruction
//! is `barrier.sync` without `.aligned`: the warp has arrived when the last of them has. Source: PTX ISA, "bar, barrier".

use std::rc::Rc;

use warpsmith_ir::BarrierKind;

use super::block::{Block, Group, Mask, Wait};
use super::launch::Machine;
use super::order::Knowledge;
use crate::compile::lir::Opd;

const BARRIERS: u32 = 16;
/// In the number of a barrier: lanes of a warp need not come together.
const UNALIGNED: u32 = warpsmith_ir::UNALIGNED_BARRIER;
/// The count of a barrier that names none: all threads of the block that have not ended.
const ALL: u32 = u32::MAX;

/// A barrier at which some threads have arrived.
#[derive(Clone, Debug, Default)]
struct NamedBarrier {
    arrived: u32,
    /// What the first to arrive said; 0 while nobody has.
    expected: u32,
    /// Where it arrived.
    first: u32,
    /// What those that arrived have done.
    handed: Knowledge,
    /// Of each warp the lanes that have come before the others.
    early: Mask,
}

/// The barriers of a block; those never used take nothing.
#[derive(Clone, Debug, Default)]
pub struct NamedBarriers {
    list: Vec<NamedBarrier>,
}

impl Machine<'_> {
    /// The group is at such a barrier. True: the threads that are left in it go on.
    pub fn at_named_barrier(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        kind: BarrierKind,
        operand: Opd,
    ) -> bool {
        self.join_waiting(b, g);
        if self.checks.poison {
            self.use_in_control(b, g, operand);
        }
        let Some((number, expected)) = self.same_barrier(b, g, operand) else { return false };
        let (id, together) = (number & !UNALIGNED, number & UNALIGNED == 0);
        if together && !self.keep_whole_warps(b, g) {
            return false;
        }
        b.named.list.resize(BARRIERS as usize, NamedBarrier::default());
        let mut waiting = Mask::default();
        for warp in g.lo..g.hi {
            let lanes = g.mask.warps[warp as usize];
            if lanes == 0 {
                continue;
            }
            if !self.arrive(b, g, (id, expected), warp, lanes) {
                return false;
            }
            if kind == BarrierKind::Named {
                waiting.warps[warp as usize] = lanes;
            }
            if is_complete(b, id) {
                self.complete(b, id, &mut waiting);
            }
        }
        self.leave_waiting(b, g, id, &waiting)
    }

    /// Leaves warps behind whose other lanes have not come. False: all of them.
    fn keep_whole_warps(&mut self, b: &mut Block, g: &mut Group) -> bool {
        let mut late = Mask::default();
        for warp in g.lo as usize..g.hi as usize {
            let here = g.mask.warps[warp];
            if here != 0 && b.alive.warps[warp] & !here != 0 {
                late.warps[warp] = here;
            }
        }
        self.set_aside(b, g, &late, Wait::Warp)
    }

    /// Puts threads of the group aside. False: none are left in it, and it waits itself.
    fn set_aside(&mut self, b: &mut Block, g: &mut Group, some: &Mask, wait: Wait) -> bool {
        if some.is_empty() {
            return true;
        }
        if *some == g.mask {
            g.wait = wait;
            return false;
        }
        let mut rest = g.clone();
        rest.mask = some.clone();
        rest.wait = wait;
        rest.update(&b.alive);
        g.mask = g.mask.without(some);
        g.update(&b.alive);
        b.groups.push(rest);
        true
    }

    /// The barrier's number and count of the first warp; warps that name another one have their turn later.
    fn same_barrier(&mut self, b: &mut Block, g: &mut Group, operand: Opd) -> Option<(u32, u32)> {
        let mut chosen = None;
        let mut others = Mask::default();
        for warp in g.lo..g.hi {
            let lanes = g.mask.warps[warp as usize];
            let mut of_warp = None;
            for k in (0..32).filter(|k| lanes >> k & 1 == 1) {
                let value = self.lane_value(b, g, operand, false, warp * 32 + k) as u32;
                if *of_warp.get_or_insert(value) != value {
                    let message = "lanes of one warp name different barriers";
                    self.refuse_barrier(b, g, message);
                    return None;
                }
            }
            match (of_warp, chosen) {
                (Some(value), None) => chosen = Some(value),
                (Some(value), Some(first)) if value != first => {
                    others.warps[warp as usize] = lanes;
                }
                _ => {}
            }
        }
        self.set_aside(b, g, &others, Wait::Ready);
        let value = chosen?;
        let (number, count) = (value & 0xffff, value >> 16);
        let id = number & !UNALIGNED;
        let expected = if count == 0 { ALL } else { count };
        let problem = if id >= BARRIERS {
            format!("a block has barriers 0 to {}, not {id}", BARRIERS - 1)
        } else if expected == ALL {
            return Some((number, ALL));
        } else if !expected.is_multiple_of(32) {
            format!("a barrier counts whole warps, not {expected} threads")
        } else if expected > self.width {
            format!("a barrier for {expected} threads, of which the block has {}", self.threads)
        } else {
            return Some((number, expected));
        };
        self.refuse_barrier(b, g, &problem);
        None
    }

    /// Counts a warp. False: it may not arrive like this.
    fn arrive(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        (id, expected): (u32, u32),
        warp: u32,
        lanes: u32,
    ) -> bool {
        let state = &mut b.named.list[id as usize];
        if state.expected == 0 {
            (state.expected, state.first) = (expected, g.pc);
        }
        if state.expected != expected {
            let alive = warps_alive(&b.alive) * 32;
            let shown = |n: u32| if n == ALL { alive } else { n };
            let (first, other) = (shown(state.expected), state.first);
            let expected = shown(expected);
            let message = format!("barrier {id} is for {first} threads here and {expected} there");
            self.report_barrier(b, g.pc, &g.mask, Some(other), Some("named"), &message);
            self.abandon(b);
            return false;
        }
        let early = &mut state.early.warps[warp as usize];
        *early |= lanes;
        if b.alive.warps[warp as usize] & !*early == 0 {
            *early = 0;
            state.arrived += 32;
        }
        let mut handed = std::mem::take(&mut state.handed);
        self.arrive_order(b, warp, lanes, &mut handed);
        b.named.list[id as usize].handed = handed;
        true
    }

    /// Threads that ended were the last that a barrier of the whole block waited for. True: some barrier opened.
    pub fn complete_without_ended(&mut self, b: &mut Block) -> bool {
        for state in &mut b.named.list {
            for warp in 0..state.early.warps.len() {
                let early = &mut state.early.warps[warp];
                if *early != 0 && b.alive.warps[warp] & !*early == 0 {
                    *early = 0;
                    state.arrived += 32;
                }
            }
        }
        let found = (0..b.named.list.len() as u32).find(|id| is_complete(b, *id));
        if let Some(id) = found {
            self.complete(b, id, &mut Mask::default());
        }
        found.is_some()
    }

    /// All that the barrier waits for have arrived: those that wait go on, and so do `here`.
    fn complete(&mut self, b: &mut Block, id: u32, here: &mut Mask) {
        self.found.stats.barriers += 1;
        let mut state = std::mem::take(&mut b.named.list[id as usize]);
        let handed = Rc::new(std::mem::take(&mut state.handed));
        let wait = Wait::Named(id as u8);
        let (mut waited, rest): (Vec<Group>, Vec<Group>) =
            std::mem::take(&mut b.groups).into_iter().partition(|o| o.wait == wait);
        b.groups = rest;
        if !state.early.is_empty() {
            self.keep_early(b, id, &state, &mut waited, here);
        }
        for mask in waited.iter().map(|o| &o.mask).chain([&*here]) {
            let warps = (0u32..).zip(mask.warps.iter());
            for (warp, lanes) in warps.filter(|(_, lanes)| **lanes != 0) {
                self.depart_order(b, warp, *lanes, &handed);
            }
        }
        self.resume(b, waited);
        *here = Mask::default();
    }

    /// Lanes whose warp has not arrived wait for the next time the barrier opens.
    fn keep_early(
        &mut self,
        b: &mut Block,
        id: u32,
        opened: &NamedBarrier,
        waited: &mut Vec<Group>,
        here: &mut Mask,
    ) {
        let early = opened.early.clone();
        let state = &mut b.named.list[id as usize];
        *state = NamedBarrier {
            expected: opened.expected,
            first: opened.first,
            early: early.clone(),
            ..NamedBarrier::default()
        };
        for group in waited.iter_mut() {
            let kept = group.mask.without(&group.mask.without(&early));
            if !kept.is_empty() {
                let mut late = group.clone();
                late.mask = kept;
                late.update(&b.alive);
                b.groups.push(late);
                group.mask = group.mask.without(&early);
                group.update(&b.alive);
            }
        }
        waited.retain(|g| !g.mask.is_empty());
        *here = here.without(&early);
    }

    fn leave_waiting(&mut self, b: &mut Block, g: &mut Group, id: u32, waiting: &Mask) -> bool {
        self.set_aside(b, g, waiting, Wait::Named(id as u8))
    }

    fn refuse_barrier(&mut self, b: &mut Block, g: &Group, message: &str) {
        self.report_barrier(b, g.pc, &g.mask, None, Some("named"), message);
        self.abandon(b);
    }

    /// No thread of the block can go on, and some wait at a barrier with a number.
    pub fn report_incomplete(&mut self, b: &Block, g: &Group, elsewhere: Option<u32>) {
        let Wait::Named(id) = g.wait else { return };
        let Some(state) = b.named.list.get(usize::from(id)) else { return };
        let alive = warps_alive(&b.alive) * 32;
        let expected = if state.expected == ALL { alive } else { state.expected };
        let arrived = state.arrived;
        let message =
            format!("barrier {id} waits for {expected} threads, of which {arrived} come to it");
        self.report_barrier(b, g.pc, &g.mask, elsewhere, Some("named"), &message);
    }
}

fn warps_alive(alive: &Mask) -> u32 {
    alive.warps.iter().filter(|lanes| **lanes != 0).count() as u32
}

/// As many have arrived as the barrier waits for.
fn is_complete(b: &Block, id: u32) -> bool {
    let state = &b.named.list[id as usize];
    match state.expected {
        0 => false,
        ALL => state.arrived >= 32 * warps_alive(&b.alive),
        n => state.arrived == n,
    }
}
