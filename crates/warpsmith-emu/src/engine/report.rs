//! Findings as they are collected: equal ones are counted.

use std::collections::HashMap;

use warpsmith_ir::Span;

use super::block::Block;
use super::launch::Machine;
use super::races::Races;
use crate::api::{Access, Finding, Options, Rule, ThreadRef};
use crate::compile::lir::Program;

type Key = (Rule, Option<&'static str>, Vec<(Option<Span>, &'static str)>, Option<String>);

/// All findings so far, in the order of their first occurrence.
#[derive(Default)]
pub struct Report {
    findings: Vec<Finding>,
    known: HashMap<Key, usize>,
    /// Store and load sites of findings about benign races, in step with `findings`.
    pub benign: HashMap<usize, (u32, u32)>,
    pub racy_loads: Vec<u32>,
}

impl Report {
    /// Adds a finding, or counts it with an equal one. Gives its number.
    pub fn add(&mut self, f: Finding) -> usize {
        let places = f.accesses.iter().map(|a| (a.span, a.what)).collect();
        let key = (f.rule, f.kind, places, f.array.clone());
        match self.known.get(&key) {
            Some(&i) => {
                self.findings[i].count += f.count;
                i
            }
            None => {
                self.known.insert(key, self.findings.len());
                self.findings.push(f);
                self.findings.len() - 1
            }
        }
    }

    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The findings in the order they were made.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// More occurrences of a finding.
    pub fn count(&mut self, at: usize, more: u64) {
        if let Some(f) = self.findings.get_mut(at) {
            f.count += more;
        }
    }

    /// The findings in order of rule, then place in the source.
    pub fn finish(mut self, program: &Program, races: &Races, options: &Options) -> Vec<Finding> {
        races.reclassify(program, &mut self.findings, &self.benign, &self.racy_loads);
        if options.checks.redundant_barriers {
            self.findings.extend(races.redundant_barriers(program));
        }
        let place = |f: &Finding| f.accesses.first().and_then(|a| a.span);
        self.findings.sort_by_key(|f| (f.rule, place(f)));
        self.findings
    }
}

impl Machine<'_> {
    pub fn thread_ref(&self, block: u32, thread: u32) -> ThreadRef {
        let g = self.launch.grid;
        ThreadRef {
            block: [block % g[0], block / g[0] % g[1], block / (g[0] * g[1])],
            thread: self.thread_index(thread),
        }
    }

    /// One end of a finding at an instruction.
    pub fn place(&self, b: &Block, pc: usize, what: &'static str, thread: Option<u32>) -> Access {
        let site = self.program.sites.get(pc).copied().unwrap_or(0);
        Access {
            span: self.program.spans.get(site as usize).copied().flatten(),
            what,
            thread: thread.map(|t| self.thread_ref(b.id, t)),
        }
    }

    /// The index of an element in the array's own dimensions, from a byte offset.
    pub fn element_index(&self, handle: u64, offset: i64) -> Vec<i64> {
        if self.is_heap(handle) {
            return vec![self.heap_text(offset).1];
        }
        let Some(o) = self.program.objects.get(handle as usize) else { return vec![] };
        let size = o.element_bytes.max(1) as i64;
        let mut at = offset.div_euclid(size);
        let mut index = vec![0; o.extents.len().max(1)];
        for d in (1..o.extents.len()).rev() {
            let extent = (o.extents[d] as i64).max(1);
            index[d] = at.rem_euclid(extent);
            at = at.div_euclid(extent);
        }
        index[0] = at;
        index
    }

    /// `array[i][j]`, as in the user's source, in quotes; a byte of the heap in words.
    pub fn element_text(&self, handle: u64, offset: i64) -> String {
        if self.is_heap(handle) {
            return self.heap_text(offset).0;
        }
        let index: String =
            self.element_index(handle, offset).iter().map(|i| format!("[{i}]")).collect();
        format!("`{}{index}`", self.object_name(handle))
    }
}
