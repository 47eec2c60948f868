//! What one file adds to a report: to be forgotten again, or to be put together with what others add.

use std::collections::HashSet;
use std::path::PathBuf;

use warpsmith_emu::counters::Counters;
use warpsmith_ir::FileId;

use super::runner::Runner;
use crate::report::Item;

/// What a report held at some time.
pub(super) struct Mark {
    items: Vec<Item>,
    launches: Vec<(String, u64)>,
    assumptions: Vec<String>,
    in_part: Vec<String>,
    limits: Vec<String>,
    counters: Vec<(String, Counters)>,
    printed: String,
}

/// What a file adds, checked beside others. Its spans are of the sources of whoever checked it.
pub(super) struct Part {
    items: Vec<Item>,
    allowed: Vec<(Item, String)>,
    launches: Vec<(String, u64)>,
    skipped: Vec<(String, String)>,
    assumptions: Vec<String>,
    outputs: Vec<String>,
    printed: String,
    listed: String,
    limits: Vec<String>,
    lost: Vec<String>,
    left_out: Vec<String>,
    in_part: Vec<String>,
    counters: Vec<(String, Counters)>,
    interrupted: bool,
    excluded: u64,
    needed_barriers: HashSet<(String, u32)>,
    /// Files that were checked with it as one program.
    pub programs: Vec<PathBuf>,
}

impl Runner<'_> {
    /// Where the report stands, to come back to.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            items: self.items.clone(),
            launches: self.launches.clone(),
            assumptions: self.assumptions.clone(),
            in_part: self.in_part.clone(),
            limits: self.limits.clone(),
            counters: self.counters.clone(),
            printed: self.printed.clone(),
        }
    }

    /// The report as it was then, whatever has been reported since.
    pub(super) fn back_to(&mut self, mark: &Mark) {
        self.items.clone_from(&mark.items);
        self.launches.clone_from(&mark.launches);
        self.assumptions.clone_from(&mark.assumptions);
        self.in_part.clone_from(&mark.in_part);
        self.limits.clone_from(&mark.limits);
        self.counters.clone_from(&mark.counters);
        self.printed.clone_from(&mark.printed);
    }

    /// Findings that have been added since, by what they are.
    pub(super) fn found_since(&self, mark: &Mark) -> Vec<String> {
        self.new_items(mark).map(|i| i.id.clone()).collect()
    }

    /// Findings that have been added since.
    pub(super) fn items_since(&self, mark: &Mark) -> Vec<Item> {
        self.new_items(mark).cloned().collect()
    }

    fn new_items(&self, mark: &Mark) -> impl Iterator<Item = &Item> {
        let known = |i: &&Item| mark.items.iter().any(|m| m.id == i.id);
        self.items.iter().filter(move |i| !i.is_note && !known(i))
    }

    /// Whether a limit was reached since.
    pub(super) fn limited_since(&self, mark: &Mark) -> bool {
        self.limits.len() > mark.limits.len()
    }

    /// Launches since of which some blocks were not run, in words.
    pub(super) fn in_part_since(&self, mark: &Mark) -> &[String] {
        self.in_part.get(mark.in_part.len()..).unwrap_or_default()
    }

    /// Makes notes of the findings since that others do not have.
    pub(super) fn doubt(&mut self, mark: &Mark, others: &[String]) {
        for item in self.items.iter_mut().filter(|i| !i.is_note && !others.contains(&i.id)) {
            if !mark.items.iter().any(|m| m.id == item.id) {
                item.is_note = true;
                item.kind = Some("invented");
            }
        }
    }

    pub(super) fn into_part(self) -> Part {
        Part {
            items: self.items,
            allowed: self.allowed,
            launches: self.launches,
            skipped: self.skipped,
            assumptions: self.assumptions,
            outputs: self.outputs,
            printed: self.printed,
            listed: self.listed,
            limits: self.limits,
            lost: self.lost,
            left_out: self.left_out,
            in_part: self.in_part,
            counters: self.counters,
            interrupted: self.interrupted,
            excluded: self.excluded,
            needed_barriers: self.needed_barriers,
            programs: self.programs,
        }
    }

    /// Adds what a file added; its sources have numbers from `first` on here.
    pub(super) fn absorb(&mut self, mut part: Part, first: u32) {
        let allowed = part.allowed.iter_mut().map(|(item, _)| item);
        for item in part.items.iter_mut().chain(allowed) {
            for span in item.places.iter_mut().filter_map(|p| p.span.as_mut()) {
                span.file = FileId(span.file.0 + first);
            }
        }
        part.items.into_iter().for_each(|item| self.add(item));
        self.allowed.extend(part.allowed);
        self.launches.extend(part.launches);
        self.skipped.extend(part.skipped);
        part.assumptions.into_iter().for_each(|text| self.assume(text));
        self.outputs.extend(part.outputs);
        self.printed += &part.printed;
        self.listed += &part.listed;
        self.limits.extend(part.limits);
        self.lost.extend(part.lost);
        self.left_out.extend(part.left_out);
        self.in_part.extend(part.in_part);
        self.counters.extend(part.counters);
        self.interrupted |= part.interrupted;
        self.excluded += part.excluded;
        self.needed_barriers.extend(part.needed_barriers);
        self.programs.extend(part.programs);
    }
}
