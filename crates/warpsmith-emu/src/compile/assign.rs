//! From virtual registers to places in the register file, and from labels to program counters.
//!
//! A value that lives only in straight-line code gets a lane vector that is written for all lanes,
//! running or not; every other varying value keeps the lanes of threads that do not take part.

use std::collections::HashMap;

use super::lir::*;
use super::lower::Lower;

/// How far back the instruction is looked for whose result a move only hands on.
const COALESCE_WINDOW: usize = 24;

#[derive(Clone, Copy)]
struct Life {
    first: u32,
    last: u32,
    /// The straight-line segment of all mentions; `MIXED` when there are several.
    segment: u32,
    defined_first: bool,
}

const UNSEEN: u32 = u32::MAX;
const MIXED: u32 = u32::MAX - 1;

pub(super) fn assign(mut l: Lower<'_>, uniform: &[bool]) -> Program {
    let mut code = std::mem::take(&mut l.code);
    let mut accesses = std::mem::take(&mut l.out.accesses);
    remove_dead(&mut code, &mut accesses, l.registers.len());
    coalesce(&mut code, &mut accesses, l.registers.len());
    remove_jumps_to_next(&mut code);
    let lives = find_lives(&code, &mut accesses, l.registers.len());
    let lives = extend_over_loops(&code, &l, lives);
    let mut a = Allocator { uniform, lives: &lives, l: &l, places: HashMap::new(), next: 0 };
    let vector_words = a.vectors(false, 0);
    let register_words = a.vectors(true, vector_words);
    let scalars = a.scalars();
    let places = a.places;
    let mut out = std::mem::take(&mut l.out);
    out.virtual_code = code.clone();
    let virtual_accesses = accesses.clone();
    for ins in &mut code {
        let mut masked = false;
        let mut op = ins.op.clone();
        // Every access belongs to one instruction, so each operand is replaced once.
        op.operands(&mut accesses, &mut |o, role| {
            if let Opd::R(r) = *o {
                masked |= role == Role::Def && lives[r as usize].segment == MIXED;
                *o = places.get(&r).copied().unwrap_or(Opd::S(0));
            }
        });
        out.masked.push(masked);
        out.sites.push(ins.site);
        out.regions_of.push(ins.region);
        out.code.push(op);
    }
    out.virtual_accesses = virtual_accesses;
    out.accesses = accesses;
    out.register_words = register_words.max(1);
    out.scalars = scalars.max(1);
    out.labels = vec![0; l.labels as usize];
    for (pc, op) in out.code.iter().enumerate() {
        if let Op::Label(label) = op {
            out.labels[*label as usize] = pc as u32;
        }
    }
    find_polls(&mut out);
    find_live_scalars(&mut out);
    out
}

/// Removes pure instructions whose result nobody uses.
fn remove_dead(code: &mut Vec<Ins>, accesses: &mut [Access], registers: usize) {
    let mut uses = vec![0u32; registers];
    for ins in code.iter_mut() {
        ins.op.operands(accesses, &mut |o, role| {
            if let (Opd::R(r), Role::Use) = (*o, role) {
                uses[r as usize] += 1;
            }
        });
    }
    let mut keep = vec![true; code.len()];
    for (i, ins) in code.iter_mut().enumerate().rev() {
        if !ins.op.is_pure() && !matches!(ins.op, Op::Special { .. }) {
            continue;
        }
        let mut dead = true;
        ins.op.operands(accesses, &mut |o, role| {
            if let (Opd::R(r), Role::Def) = (*o, role) {
                dead = uses[r as usize] == 0;
            }
        });
        if dead {
            keep[i] = false;
            ins.op.operands(accesses, &mut |o, role| {
                if let (Opd::R(r), Role::Use) = (*o, role) {
                    uses[r as usize] -= 1;
                }
            });
        }
    }
    let mut at = 0;
    code.retain(|_| {
        at += 1;
        keep[at - 1]
    });
}

/// `t = …; x = t` becomes `x = …` when `t` has no other use and `x` is not touched between.
fn coalesce(code: &mut Vec<Ins>, accesses: &mut [Access], registers: usize) {
    let mut uses = vec![0u32; registers];
    let mut defs = vec![0u32; registers];
    for ins in code.iter_mut() {
        ins.op.operands(accesses, &mut |o, role| {
            if let Opd::R(r) = *o {
                match role {
                    Role::Use => uses[r as usize] += 1,
                    Role::Def => defs[r as usize] += 1,
                }
            }
        });
    }
    let mut keep = vec![true; code.len()];
    for i in 1..code.len() {
        let Op::Mov { dst: x @ Opd::R(_), a: t @ Opd::R(r), .. } = code[i].op else { continue };
        if uses[r as usize] != 1 || defs[r as usize] != 1 {
            continue;
        }
        if let Some(j) = definition(code, accesses, &keep, i, t, x) {
            code[j].op.operands(accesses, &mut |o, role| {
                if role == Role::Def && *o == t {
                    *o = x;
                }
            });
            keep[i] = false;
        }
    }
    let mut at = 0;
    code.retain(|_| {
        at += 1;
        keep[at - 1]
    });
}

/// The instruction before `i`, in the same straight-line code, that may write `x` instead of `t`.
fn definition(
    code: &mut [Ins],
    accesses: &mut [Access],
    keep: &[bool],
    i: usize,
    t: Opd,
    x: Opd,
) -> Option<usize> {
    for j in (i.saturating_sub(COALESCE_WINDOW)..i).rev() {
        if !keep[j] {
            continue;
        }
        let op = &mut code[j].op;
        if op.ends_segment() {
            return None;
        }
        let (mut defines, mut touches) = (false, false);
        let single = op.is_pure() || matches!(op, Op::Load { .. });
        op.operands(accesses, &mut |o, role| {
            defines |= role == Role::Def && *o == t;
            touches |= *o == x && (role == Role::Def || !single);
        });
        if defines {
            return (single && !touches).then_some(j);
        }
        let mut mentions = false;
        op.operands(accesses, &mut |o, _| mentions |= *o == x);
        if mentions {
            return None;
        }
    }
    None
}

fn remove_jumps_to_next(code: &mut Vec<Ins>) {
    let mut keep = vec![true; code.len()];
    for i in 0..code.len() {
        if let Op::Jump(target) = code[i].op {
            let mut labels = code[i + 1..].iter().map_while(|n| match n.op {
                Op::Label(l) => Some(l),
                _ => None,
            });
            keep[i] = !labels.any(|l| l == target);
        }
    }
    let mut at = 0;
    code.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    let mut used: Vec<u32> = code
        .iter()
        .filter_map(|i| match i.op {
            Op::Jump(l)
            | Op::LoopBack { label: l, .. }
            | Op::BranchFalse { label: l, .. }
            | Op::BranchTrue { label: l, .. } => Some(l),
            _ => None,
        })
        .collect();
    used.sort_unstable();
    code.retain(|i| match i.op {
        Op::Label(l) => used.binary_search(&l).is_ok(),
        _ => true,
    });
}

fn find_lives(code: &[Ins], accesses: &mut [Access], registers: usize) -> Vec<Life> {
    let unseen = Life { first: UNSEEN, last: 0, segment: UNSEEN, defined_first: false };
    let mut lives = vec![unseen; registers];
    let mut segment = 0;
    for (i, ins) in code.iter().enumerate() {
        let mut op = ins.op.clone();
        if matches!(op, Op::Warp { .. } | Op::Barrier { .. }) {
            // Threads wait here with their operands while others compute theirs.
            segment += 1;
        }
        for wanted in [Role::Use, Role::Def] {
            op.operands(accesses, &mut |o, role| {
                if role == wanted
                    && let Opd::R(r) = *o
                {
                    mention(&mut lives[r as usize], i as u32, segment, role);
                }
            });
            if wanted == Role::Use && op.ends_segment() {
                segment += 1;
            }
        }
    }
    for life in &mut lives {
        if life.first != UNSEEN && !life.defined_first {
            life.segment = MIXED;
        }
    }
    lives
}

fn mention(life: &mut Life, at: u32, segment: u32, role: Role) {
    if life.first == UNSEEN {
        *life = Life { first: at, last: at, segment, defined_first: role == Role::Def };
        return;
    }
    life.last = at;
    if life.segment != segment {
        life.segment = MIXED;
    }
}

/// A value that exists outside of a loop keeps its place during the whole loop.
fn extend_over_loops(code: &[Ins], l: &Lower<'_>, mut lives: Vec<Life>) -> Vec<Life> {
    let mut heads = vec![0u32; l.labels as usize];
    let mut loops = vec![];
    for (i, ins) in code.iter().enumerate() {
        match ins.op {
            Op::Label(label) => heads[label as usize] = i as u32,
            Op::LoopBack { label, .. } => {
                loops.push((heads[label as usize], i as u32, ins.region));
            }
            _ => {}
        }
    }
    // Inner loops come first, so one pass extends step by step outward.
    for (r, life) in lives.iter_mut().enumerate() {
        if life.segment != MIXED || life.first == UNSEEN {
            continue;
        }
        for &(start, end, region) in &loops {
            let overlaps = life.first <= end && life.last >= start;
            // What the head of a loop declares belongs to its region, but is set before its first round.
            let from_outside =
                life.first < start || !inside(&l.out.regions, l.registers[r].region, region);
            if overlaps && from_outside {
                life.first = life.first.min(start);
                life.last = life.last.max(end);
            }
        }
    }
    lives
}

fn inside(regions: &[Region], mut r: RegionId, outer: RegionId) -> bool {
    loop {
        if r == outer {
            return true;
        }
        if r == 0 {
            return false;
        }
        r = regions[r as usize].parent;
    }
}

struct Allocator<'a, 'm> {
    uniform: &'a [bool],
    lives: &'a [Life],
    l: &'a Lower<'m>,
    places: HashMap<u32, Opd>,
    next: u32,
}

impl Allocator<'_, '_> {
    /// Places for lane vectors: those that outlive straight-line code, or the temporary ones.
    fn vectors(&mut self, temporary: bool, start: u32) -> u32 {
        self.next = start;
        let chosen: Vec<u32> =
            self.chosen(|s, r| !s.uniform[r] && (s.lives[r].segment != MIXED) == temporary);
        self.scan(&chosen, Opd::V, |s, r| words(s.l.registers[r as usize].ty));
        self.next
    }

    fn scalars(&mut self) -> u32 {
        self.next = 0;
        let chosen: Vec<u32> = self.chosen(|s, r| s.uniform[r]);
        self.scan(&chosen, Opd::S, |_, _| 1);
        self.next
    }

    fn chosen(&self, f: impl Fn(&Self, usize) -> bool) -> Vec<u32> {
        let mut list: Vec<u32> = (0..self.lives.len())
            .filter(|&r| self.lives[r].first != UNSEEN && f(self, r))
            .map(|r| r as u32)
            .collect();
        list.sort_by_key(|&r| (self.lives[r as usize].first, r));
        list
    }

    /// Linear scan; a place is taken again once its last holder is gone.
    fn scan(&mut self, list: &[u32], make: fn(u32) -> Opd, size: impl Fn(&Self, u32) -> u32) {
        let mut active: std::collections::BinaryHeap<std::cmp::Reverse<(u32, u32, u32)>> =
            Default::default();
        let mut free: [Vec<u32>; 3] = Default::default();
        for &r in list {
            let life = self.lives[r as usize];
            while let Some(&std::cmp::Reverse((last, place, words))) = active.peek() {
                if last >= life.first {
                    break;
                }
                active.pop();
                free[words as usize].push(place);
            }
            let words = size(self, r);
            let place = free[words as usize].pop().unwrap_or_else(|| {
                self.next += words;
                self.next - words
            });
            active.push(std::cmp::Reverse((life.last, place, words)));
            self.places.insert(r, make(place));
        }
    }
}

/// Loops that may wait for other threads.
fn find_polls(out: &mut Program) {
    out.loop_polls = vec![false; out.loops.len()];
    for (pc, op) in out.code.iter().enumerate() {
        if let Op::LoopBack { label, loop_id } = op {
            let body = &out.code[out.labels[*label as usize] as usize..pc];
            out.loop_polls[*loop_id as usize] = body.iter().any(|op| match op {
                Op::Atomic { .. } => true,
                Op::Load { access } => out.accesses[*access as usize].volatile,
                _ => false,
            });
        }
    }
}

/// Scalars live where groups may merge: at labels and synchronisation points.
fn find_live_scalars(out: &mut Program) {
    let n = out.scalars.div_ceil(64) as usize;
    let mut at_label = vec![vec![0u64; n]; out.labels.len()];
    let mut code = out.code.clone();
    let mut accesses = out.accesses.clone();
    let mut at_pc: HashMap<usize, Vec<u64>> = HashMap::new();
    loop {
        let mut changed = false;
        let mut live = vec![0u64; n];
        for pc in (0..code.len()).rev() {
            let op = &mut code[pc];
            match op {
                Op::Exit { .. } => live.fill(0),
                Op::Jump(l) | Op::LoopBack { label: l, .. } => {
                    live.copy_from_slice(&at_label[*l as usize]);
                }
                Op::BranchFalse { label, .. } | Op::BranchTrue { label, .. } => {
                    let other = &at_label[*label as usize];
                    live.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
                }
                _ => {}
            }
            for wanted in [Role::Def, Role::Use] {
                op.operands(&mut accesses, &mut |o, role| {
                    if role == wanted
                        && let Opd::S(s) = *o
                    {
                        let bit = 1 << (s % 64);
                        match role {
                            Role::Def => live[s as usize / 64] &= !bit,
                            Role::Use => live[s as usize / 64] |= bit,
                        }
                    }
                });
            }
            match op {
                Op::Label(l) => {
                    if at_label[*l as usize] != live {
                        at_label[*l as usize].clone_from(&live);
                        changed = true;
                    }
                    at_pc.insert(pc, live.clone());
                }
                Op::Warp { .. } | Op::Barrier { .. } => {
                    at_pc.insert(pc, live.clone());
                }
                _ => {}
            }
        }
        if !changed {
            break;
        }
    }
    out.live_at = vec![u32::MAX; out.code.len()];
    for (pc, bits) in at_pc {
        out.live_at[pc] = out.live.len() as u32;
        let list = (0..out.scalars).filter(|s| bits[*s as usize / 64] >> (s % 64) & 1 == 1);
        out.live.push(list.collect());
    }
}
