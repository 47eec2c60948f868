//! What the report says of a comparison.

use warpsmith_ir::{FuncId, SourceMap};

use super::Comparison;
use super::launching::{Launching, Shape};
use super::side::Code;
use super::{Launch, Left};
use crate::report::{Report, SameAs};
use crate::status::Status;
use warpsmith_translate::tune::verify::points::summary;

impl Comparison<'_> {
    /// What is run, of several kernels this one.
    pub fn label(&self, launch: &Launch<'_>, kernel: FuncId, shape: &Shape) -> String {
        let inputs = launch.inputs;
        let dims = |d: [u32; 3]| match d {
            [x, 1, 1] => format!("{x}"),
            [x, y, 1] => format!("({x},{y})"),
            [x, y, z] => format!("({x},{y},{z})"),
        };
        let show = |s: &Shape| format!("<<<{}, {}>>>", dims(s.grid), dims(s.block));
        let sizes: Vec<String> = inputs.point.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let sort = Some(inputs.sort.text().to_string()).filter(|t| !t.is_empty());
        let with: Vec<String> = sizes.into_iter().chain(sort).collect();
        let with =
            if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
        let shown: Vec<String> = launch.reference.unwrap_or(&[]).iter().map(show).collect();
        let beside = match shown.is_empty() {
            true => String::new(),
            false => format!(", the reference {}", shown.join(", ")),
        };
        let new = self.data.new;
        let stage = new.stages().find(|s| s.function == kernel);
        let name = match stage {
            Some(stage) => new.describe_stage(stage),
            None => format!("{} in {}", new.module.function(kernel).name, new.describe()),
        };
        format!("{name}{}{with}{beside}", show(shape))
    }

    pub fn report(mut self, sources: &SourceMap) -> Report {
        self.say_what_it_rests_on();
        let same = !self.found && !self.ran.is_empty() && self.left.undecided.is_none();
        let something = self.compared.contains(&true);
        if !self.found {
            if self.ran.is_empty() {
                self.runner.lost.push(self.nothing_ran());
            } else if !something {
                self.runner
                    .lost
                    .push("neither side wrote anything: nothing was compared".to_string());
            }
            self.runner.lost.extend(self.left.undecided.take());
        }
        let names = self.data.pairs.arrays.iter().zip(&self.compared).filter(|(_, c)| **c);
        let compared: Vec<String> = names.map(|(a, _)| a.name.clone()).collect();
        let limited = self.ran.is_empty() && (self.left.too_large > 0 || self.left.not_reached > 0);
        let same_as = SameAs {
            reference: self.data.reference.describe(),
            verdict: match (self.found, same && something, self.exact) {
                (true, ..) => "different",
                (_, false, _) => "unknown",
                (_, _, true) => "equal",
                (_, _, false) => "equal within rounding",
            },
            compared,
            sizes: summary(&self.ran),
            device: self.device.take(),
        };
        self.runner.order_items(sources);
        let mut report = self.runner.finish(sources);
        if limited && report.status == Status::BadInput {
            report.status = Status::Limit;
        }
        report.same_as = Some(same_as);
        report
    }

    fn nothing_ran(&self) -> String {
        match &self.left {
            Left { undefined: Some((_, why)), .. } => format!("the reference has no meaning at any of the sizes: {why}"),
            Left { other_sizes: 1.., .. } => {
                "the host code is written for none of the sizes that were tried: give them with --scalars".to_string()
            }
            Left { excluded: 1.., .. } => "assumptions of the kernels exclude every launch".to_string(),
            Left { too_large: 1.., .. } => "every launch takes too many steps (--max-total-steps)".to_string(),
            _ => "there is no launch that both sides have".to_string(),
        }
    }

    fn say_what_it_rests_on(&mut self) {
        let pairs = self.data.pairs;
        let mut all = pairs.assumed.clone();
        for (side, what) in [(self.data.new, "kernel"), (self.data.reference, "reference")] {
            for stage in side.stages() {
                if let Launching::Rule(rule) = &stage.launching
                    && rule.derived
                {
                    all.push(format!("nobody says how the {what} `{}` is launched: it got as many blocks as its positions need", stage.name));
                }
            }
        }
        if let Code::C(input, _) = &self.data.reference.code {
            all.extend(input.assumed.iter().cloned());
        }
        for a in &pairs.arrays {
            match (a.new, a.reference) {
                (Some(_), None) => all.push(format!("`{}` has no counterpart in the reference: it was not compared, nor its bounds checked", a.name)),
                (None, Some(_)) => all.push(format!("`{}` of the reference has no counterpart: it was not compared", a.name)),
                _ => {}
            }
        }
        let left = &self.left;
        let points = [
            (left.other_sizes, "the host code does not cover: they are no multiples of its blocks"),
            (left.excluded, "the kernels' own assumptions exclude"),
            (left.too_large, "take too many steps"),
            (left.not_reached, "were not reached (--max-total-steps, --timeout)"),
            (left.undefined.as_ref().map_or(0, |(n, _)| *n), "the reference has no meaning at"),
        ];
        for (n, why) in points.into_iter().filter(|(n, _)| *n > 0) {
            all.push(format!("{n} of the sizes were left out, which {why}"));
        }
        all.into_iter().for_each(|text| self.runner.assume(text));
    }
}
