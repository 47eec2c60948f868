//! Barriers: which of them some observed conflict needs.

use std::collections::BTreeSet;

use warpsmith_ir::{BarrierKind, Span};

use super::Races;
use crate::api::{Access as Place, Finding, Rule};
use crate::compile::lir::{Op, Program};
use crate::engine::block::Block;
use crate::engine::launch::Machine;

impl Races {
    /// Sites of barriers that some observed conflict needs.
    fn needed_sites(&self, p: &Program) -> BTreeSet<u32> {
        let mut needed = self.needed.clone();
        for set in &self.constraints {
            if !set.iter().any(|pc| needed.contains(pc)) {
                needed.extend(set.last());
            }
        }
        needed.into_iter().map(|pc| p.sites[pc as usize]).collect()
    }

    /// Places in the source of barriers that some observed conflict needs.
    pub fn needed_barriers(&self, p: &Program) -> Vec<Span> {
        let spans = self.needed_sites(p).into_iter().filter_map(|site| p.spans[site as usize]);
        let sorted: BTreeSet<Span> = spans.collect();
        sorted.into_iter().collect()
    }

    /// Notes about barriers that no observed conflict needs. Where threads hand something on by fences, a barrier may be what
    /// lets one of them speak for its block, and nothing is said.
    pub fn redundant_barriers(&self, p: &Program) -> Vec<Finding> {
        if self.tracks_order {
            return vec![];
        }
        let needed_sites = self.needed_sites(p);
        let plain = |pc: &u32| {
            matches!(p.code.get(*pc as usize), Some(Op::Barrier { kind: BarrierKind::Block, .. }))
        };
        let executed = self.executed.iter().copied().filter(plain);
        let sites: BTreeSet<u32> = executed.map(|pc| p.sites[pc as usize]).collect();
        sites
            .into_iter()
            .filter(|s| !needed_sites.contains(s))
            .map(|site| Finding {
                rule: Rule::RedundantBarrier,
                kind: None,
                message: "no conflicting accesses across this barrier in this launch".to_string(),
                accesses: vec![Place {
                    span: p.spans[site as usize],
                    what: "barrier",
                    thread: None,
                }],
                array: None,
                index: vec![],
                interval: None,
                count: 1,
            })
            .collect()
    }
}

impl Machine<'_> {
    /// A conflict is ordered by the barriers between an earlier interval and this one.
    pub(super) fn barrier_needed(&mut self, b: &mut Block, from: u32) {
        let to = b.interval;
        let own = &mut b.checks.shadow;
        if from + 1 == to {
            if !own.needed {
                own.needed = true;
                if let Some(pc) = own.barriers.last() {
                    self.races.needed.insert(*pc);
                }
            }
            return;
        }
        if !own.seen.insert((from, to)) {
            return;
        }
        let between = own.barriers.get(from as usize..to as usize).unwrap_or(&[]);
        let set: BTreeSet<u32> = between.iter().copied().collect();
        if set.len() == 1 {
            self.races.needed.extend(set);
        } else if !set.iter().any(|pc| self.races.needed.contains(pc)) {
            self.races.constraints.insert(set.into_iter().collect());
        }
    }
}
