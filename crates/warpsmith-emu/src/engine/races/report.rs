//! What is said about a race, and whether it does any harm.

use std::collections::{HashMap, HashSet};

use super::cells::Scan;
use super::equal::By;
use super::{Event, Kind, Races};
use crate::api::{Access as Place, Finding, Rule};
use crate::compile::lir::{Access, Home, Op, Opd, Program, Role, words};
use crate::engine::access::{Warp, from_bits};
use crate::engine::block::{Block, Group};
use crate::engine::launch::Machine;

impl Races {
    /// Benign races whose value derives from a racy read are races.
    pub fn reclassify(
        &self,
        p: &Program,
        findings: &mut [Finding],
        benign: &HashMap<usize, (u32, u32)>,
        racy: &[u32],
    ) {
        if racy.is_empty() {
            return;
        }
        for (&at, &(first, second)) in benign {
            let tainted = [first, second].iter().any(|pc| derives_from(p, *pc, racy));
            if let (true, Some(f)) = (tainted, findings.get_mut(at)) {
                let shared = p.objects.iter().any(|o| {
                    let shared = matches!(o.home, Home::Shared { .. } | Home::Cluster { .. });
                    Some(&o.name) == f.array.as_ref() && shared
                });
                f.rule = if shared { Rule::RaceShared } else { Rule::RaceGlobal };
                f.message = f.message.replace("the same value", "a value from a racy read");
            }
        }
    }
}

/// Two accesses to a granule that no order connects.
pub(super) struct Meeting<'m> {
    /// The later one: its group, what it accesses and from where.
    pub(super) g: &'m Group,
    pub(super) a: &'m Access,
    pub(super) w: &'m Warp<'m>,
    pub(super) s: &'m Scan,
    pub(super) thread: u32,
    /// Where its thread's part begins in the object.
    pub(super) offset: u64,
    /// The earlier one, by a thread of its block.
    pub(super) e: Event,
    pub(super) earlier: u32,
}

impl Machine<'_> {
    pub(super) fn report_race(&mut self, b: &mut Block, m: &Meeting<'_>) {
        let &Meeting { s, thread, e, earlier, .. } = m;
        if !self.options.checks.races {
            self.races.conflict = true;
            return;
        }
        if self.options.only_warps && (e.block, earlier / 32) != (b.id, thread / 32) {
            return;
        }
        let benign = !self.options.equal_writes_race && self.is_benign(b, m);
        for (kind, pc) in [(e.kind, e.pc), (s.e.kind, s.e.pc)] {
            if !benign && kind.reads_only() && !self.found.report.racy_loads.contains(&pc) {
                self.found.report.racy_loads.push(pc);
            }
        }
        let key = (e.pc, s.e.pc, s.handle, e.kind, s.e.kind, benign);
        if let Some(&at) = self.races.known.get(&key) {
            self.found.report.count(at, 1);
            return;
        }
        let at = self.new_race(b, m, benign);
        if benign {
            self.found.report.benign.insert(at, (e.pc, s.e.pc));
        }
        self.races.known.insert(key, at);
    }

    fn new_race(&mut self, b: &Block, m: &Meeting<'_>, benign: bool) -> usize {
        let &Meeting { s, thread, offset, e, earlier, .. } = m;
        let asynchronous = |k: Kind| matches!(k, Kind::Async | Kind::Landed);
        let kind = match (e.kind.reads_only(), s.e.kind.reads_only()) {
            _ if asynchronous(e.kind) || asynchronous(s.e.kind) => "async",
            (true, _) => "read-write",
            (_, true) => "write-read",
            _ => "write-write",
        };
        let shared = s.shared || matches!(self.home(s.handle), Home::Cluster { .. });
        let rule = match (benign, shared) {
            (true, _) => Rule::RaceBenign,
            (_, true) => Rule::RaceShared,
            _ if e.kind.too_narrow(s.e.kind) => Rule::AtomicScope,
            _ => Rule::RaceGlobal,
        };
        let site = |pc: u32| {
            let site = self.program.sites.get(pc as usize).copied().unwrap_or(0);
            self.program.spans.get(site as usize).copied().flatten()
        };
        let first = Place {
            span: site(e.pc),
            what: e.kind.name(),
            thread: Some(self.thread_ref(e.block, earlier)),
        };
        let second = Place {
            span: site(s.e.pc),
            what: s.e.kind.name(),
            thread: Some(self.thread_ref(b.id, thread)),
        };
        let at = ((offset >> s.granule) << s.granule) as i64;
        let text = self.element_text(s.handle, at);
        let message = if benign && kind != "write-write" {
            format!(
                "{text} is read while other threads write the value to it that the reader has written before"
            )
        } else if benign {
            format!("two threads write the same value to {text} without an order between them")
        } else if rule == Rule::AtomicScope {
            format!(
                "{text} is updated by several blocks, and {} is atomic for threads of its own block only",
                if e.kind.too_narrow(e.kind) {
                    "the first of these"
                } else {
                    "the second of these"
                }
            )
        } else if kind == "async" {
            format!(
                "{text} is the destination of an asynchronous copy that is not ordered with a {}",
                if asynchronous(s.e.kind) { e.kind.name() } else { s.e.kind.name() }
            )
        } else {
            format!(
                "{} and {} of {text} by two threads without an order between them",
                e.kind.name(),
                s.e.kind.name()
            )
        };
        self.found.report.add(Finding {
            rule,
            kind: Some(kind),
            message,
            accesses: vec![first, second],
            array: Some(self.object_name(s.handle)),
            index: self.element_index(s.handle, at),
            interval: Some(b.interval),
            count: 1,
        })
    }

    /// Both accesses find or leave the same value, whichever is the first.
    fn is_benign(&mut self, b: &mut Block, m: &Meeting<'_>) -> bool {
        let plain = |k: Kind| matches!(k, Kind::Write | Kind::VolatileWrite);
        let (s, e) = (m.s, &m.e);
        let element = (s.e.block, s.handle, s.at);
        let of = |e: &Event, thread: u32| By { kind: e.kind, thread, interval: e.interval };
        let (first, second) = (of(e, m.earlier), of(&s.e, m.thread));
        let followed = e.block == s.e.block;
        if !plain(e.kind) || !plain(s.e.kind) {
            return followed && self.races.reads_equal(element, first, second);
        }
        let same = self.writes_same(b, m);
        if same && followed {
            self.races.equal_writes(element, first, second);
        }
        same
    }

    /// Both writes leave the same defined value in memory.
    fn writes_same(&mut self, b: &mut Block, m: &Meeting<'_>) -> bool {
        let &Meeting { g, a, w, s, thread, offset, e, earlier } = m;
        let wide = words(a.elem) == 2;
        // In an iteration before the earlier lane may have written from the same place in the program: then the memory has it.
        let (own, other) = (thread % 32, earlier % 32);
        let same_instruction = e == s.e
            && earlier / 32 == thread / 32
            && w.mask >> other & 1 == 1
            && w.offsets[other as usize] == w.offsets[own as usize];
        for (c, src) in a.values.iter().enumerate() {
            if self.undefined_lanes(b, g, *src, w.warp) >> own & 1 == 1 {
                return false;
            }
            let new = self.lane_value(b, g, *src, wide, thread);
            let old = if same_instruction {
                self.lane_value(b, g, *src, wide, earlier)
            } else {
                let at = offset + c as u64 * u64::from(a.elem.bytes());
                self.read_element(b, w, a.elem, at, own)
            };
            if from_bits(new, a.elem) != from_bits(old, a.elem) {
                return false;
            }
        }
        true
    }
}

/// The value that the store at `pc` writes may come from one of the loads.
fn derives_from(p: &Program, pc: u32, loads: &[u32]) -> bool {
    let Some(Op::Store { access }) = p.virtual_code.get(pc as usize).map(|i| &i.op) else {
        return false;
    };
    let mut accesses = p.virtual_accesses.clone();
    let mut wanted: HashSet<Opd> = accesses[*access as usize].values.iter().copied().collect();
    loop {
        let before = wanted.len();
        for (at, ins) in p.virtual_code.iter().enumerate() {
            let mut op = ins.op.clone();
            let mut defines = false;
            let mut uses = vec![];
            op.operands(&mut accesses, &mut |o, role| match role {
                Role::Def => defines |= wanted.contains(o),
                Role::Use => uses.push(*o),
            });
            if !defines {
                continue;
            }
            if matches!(op, Op::Load { .. }) && loads.contains(&(at as u32)) {
                return true;
            }
            wanted.extend(uses.into_iter().filter(|o| matches!(o, Opd::R(_))));
        }
        if wanted.len() == before {
            return false;
        }
    }
}
