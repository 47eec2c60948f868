//! The report of everything that was run.

use warpsmith_emu::Rule;
use warpsmith_ir::SourceMap;

use super::runner::{Runner, barrier_place};
use crate::report::{Item, Report, give_fingerprints};
use crate::status::Status;

impl Runner<'_> {
    /// Puts what was found in the order of the report, and gives each item what later reports know it by.
    pub fn order_items(&mut self, sources: &SourceMap) {
        self.items.sort_by_key(|i| sort_key(i, sources));
        give_fingerprints(&mut self.items, sources);
    }

    /// The report of everything that was run.
    pub fn finish(mut self, sources: &SourceMap) -> Report {
        let launched: u64 = self.launches.iter().map(|(_, times)| times).sum();
        if launched > 0 && launched == self.excluded {
            self.lost.push(
                "the kernels' own assumptions exclude every launch: nothing was checked".into(),
            );
        }
        let mut items = self.items;
        // A barrier is redundant when no launch at all needs it.
        items.retain(|i| {
            let mut places = i.places.iter().filter_map(|p| p.span);
            i.rule != Rule::RedundantBarrier.name()
                || !places.any(|s| self.needed_barriers.contains(&barrier_place(s, sources)))
        });
        let (notes, findings): (Vec<Item>, Vec<Item>) = items.into_iter().partition(|i| i.is_note);
        // Launches that a budget left out are behind a limit.
        let left_out = !self.left_out.is_empty() || !self.in_part.is_empty();
        let limited = left_out || !self.limits.is_empty();
        let complete = !limited && self.lost.is_empty();
        let status = match (findings.is_empty(), complete) {
            _ if self.interrupted => Status::Interrupted,
            (false, _) => Status::No,
            (true, false) if limited => Status::Limit,
            (true, false) => Status::BadInput,
            (true, true) => Status::Done,
        };
        Report {
            command: "check",
            status,
            complete,
            findings,
            notes,
            allowed: self.allowed,
            launched,
            launches: self.launches.into_iter().map(described).collect(),
            dry_run: self.args.dry_run,
            skipped: self.skipped,
            assumptions: self.assumptions,
            outputs: self.outputs,
            printed: self.printed,
            limits: self.limits,
            lost: self.lost,
            left_out: self.left_out,
            in_part: self.in_part,
            listed: self.args.list.then_some(self.listed),
            counters: self.counters,
            same_as: None,
        }
    }
}

/// A launch as reports list it.
fn described((label, times): (String, u64)) -> String {
    match times {
        1 => label,
        n => format!("{label} ({n} times)"),
    }
}

/// Findings in order of file and line, so that a reader can walk through the source.
fn sort_key(item: &Item, sources: &SourceMap) -> (String, u32, u32, &'static str) {
    let span = item.places.iter().rev().find_map(|p| p.span);
    let (path, line, column) = span.map_or((String::new(), 0, 0), |s| {
        let (line, column) = sources.line_column(s.file, s.start);
        (sources.get(s.file).map_or(String::new(), |f| f.path.clone()), line, column)
    });
    (path, line, column, item.rule)
}
