//! What a verification ends with, and what the emitted file's header and the result say of it.

use std::collections::BTreeSet;

use warpsmith_ir::{SourceMap, Span, Way};

use super::coverage::Coverage;
use super::inputs::NoData;
use super::variant::Variant;
use super::witness::{self, Grids, WitnessRun};
use super::{Left, is_empty, points};
use crate::tune::sizes::Point;

/// A verified kernel: where, and on which grounds.
#[derive(Debug, Default)]
pub struct Verified {
    /// Points at which all agreed.
    pub sizes: Vec<String>,
    /// The same points, as numbers.
    pub points: Vec<Point>,
    /// Points at which the C function itself leaves its arrays, with the reason.
    pub outside: Vec<String>,
    /// Where in the C function the first of them does.
    pub left_at: Option<Span>,
    /// The points of `outside`, with where in the C function.
    pub(super) left_points: Vec<(Point, Option<Span>)>,
    /// Points compared with the host compiler's code.
    pub with_host: usize,
    /// Points run once more with a few blocks along y and z, as if there could not be more: threads go on in strides.
    pub in_strides: usize,
    /// Runs of the function for arrays of the host, and whether no iteration ran.
    pub host_entry: Vec<bool>,
    /// Instructions of threads that the emulator ran, all points together.
    pub thread_instructions: u64,
    /// What of the emitted text was run.
    pub coverage: Coverage,
    /// The same for reports, with the lines of the text that is handed out.
    pub coverage_json: serde_json::Value,
    /// For each kernel that was launched, the most blocks along x, y and z.
    pub grids: Grids,
    /// Kernels and axes along which larger sizes have several blocks and no point had, such as "`k` along x".
    pub one_block: Vec<String>,
    /// The ways that control took in the C function.
    pub source_ways: BTreeSet<Way>,
    /// The same where it then left its arrays.
    pub(super) left_ways: BTreeSet<Way>,
    /// Points compared with tamer data than usual, as those were ill-conditioned.
    pub tamed: Vec<String>,
    /// Points at which no data were found that are not.
    pub ill_conditioned: Vec<Point>,
    /// Steps of the reference that it took to find this out.
    pub(super) steps_in_vain: u64,
    /// Elements of all arrays at large points, together.
    pub(super) large_elements: u64,
    /// What the first point whose arrays take too much memory asks for.
    pub(super) no_memory: Option<NoData>,
    /// Points of which some blocks alone were run.
    pub in_part: Vec<String>,
    /// The integers of `--arg`.
    pub(super) given: Point,
    /// Points at which one of them was another number, and all agreed.
    pub(super) varied: Vec<Point>,
    /// Points that were too large for the interpreter: compared with the host compiler's code alone.
    pub host_only: Vec<String>,
}

/// Why a kernel is not handed out.
#[derive(Debug)]
pub enum Failed {
    /// The kernel is wrong at a point: one sentence, and more lines.
    Wrong { point: String, message: String, notes: Vec<String> },
    /// Two of its threads touch an element of this array of the C function without an order.
    Race { point: String, message: String, notes: Vec<String>, array: Option<String> },
    /// Its numbers differ from those of the C function.
    Differs { point: String, message: String, notes: Vec<String> },
    /// With all data that were tried rounding errors grow beyond what can be compared: the first sizes.
    IllConditioned { points: Vec<String> },
    /// The interpreter and the host compiler disagree about the C function.
    References { point: String, message: String },
    /// In its new types the function says something else than as it was written.
    Precision { point: String, message: String },
    /// A limit was reached.
    Limit(&'static str),
    /// Ctrl-C.
    Interrupted,
    /// Paths that hang on sizes and were not run at any that could be tried.
    NotRun(Box<Verified>),
    /// No point could be run at all: why the first could not, and where in the C function.
    Nothing { why: String, at: Option<Span> },
    /// At sizes that were asked for, or wherever a part of it ran, the C function left its arrays: the first time.
    Leaves { why: String, at: Option<Span>, asked: bool },
    /// The data given with `--arg` is not usable.
    Input(NoData),
}

impl Verified {
    /// Whether a point with ill-conditioned data has no size above this one's.
    pub(super) fn is_beyond_ill_conditioned(&self, point: &Point) -> bool {
        let below = |p: &Point| p.iter().all(|(name, n)| point.get(name).is_some_and(|m| n <= m));
        self.ill_conditioned.iter().any(below)
    }

    /// All agreed at a point.
    pub(in crate::tune) fn agreed(&mut self, point: &Point, run: &WitnessRun) {
        self.thread_instructions += run.thread_instructions;
        self.ran(&points::name(point), run);
        self.sizes.push(points::name(point));
        self.points.push(point.clone());
    }

    /// Takes down which ways kernels went, and with how many blocks.
    fn ran(&mut self, name: &str, run: &WitnessRun) {
        self.coverage.add(name, run.grids.keys(), &run.ways);
        for (kernel, grid) in &run.grids {
            witness::enlarge(&mut self.grids, kernel, *grid);
        }
    }

    /// What some blocks wrote at a point agreed.
    pub(in crate::tune) fn agreed_in_part(&mut self, point: &Point, name: &str, run: &WitnessRun) {
        self.thread_instructions += run.thread_instructions;
        self.ran(name, run);
        self.sizes.push(name.to_string());
        self.points.push(point.clone());
        self.in_part.push(name.to_string());
    }

    /// All agreed at a point that was run in some way.
    pub(in crate::tune) fn agreed_as(
        &mut self,
        variant: Variant<'_>,
        point: &Point,
        run: &WitnessRun,
    ) {
        if let Variant::Plain = variant {
            return self.agreed(point, run);
        }
        let name = variant.name(&points::name(point));
        self.ran(&name, run);
        self.in_strides += usize::from(matches!(variant, Variant::FewBlocks(..)));
    }

    /// The C function leaves its arrays at a point.
    pub(in crate::tune) fn leaves(&mut self, point: &Point, left: Left) {
        if self.outside.is_empty() {
            self.left_at = left.at;
        }
        self.outside.push(format!("{}: {}", points::name(point), left.why));
        self.left_points.push((point.clone(), left.at));
        // Without elements there is nothing to stay inside of: no way of getting there is to blame.
        if !(left.without_elements && is_empty(point)) {
            self.left_ways.extend(&left.ways);
        }
    }

    /// Whether nothing was shown: sizes without a single iteration show nothing.
    pub(in crate::tune) fn vacuous(&self) -> bool {
        self.points.iter().all(|p| !p.is_empty() && is_empty(p))
    }
}

impl Verified {
    /// What the header of the emitted file says.
    pub(in crate::tune) fn paragraphs(&self, with_host: bool, sources: &SourceMap) -> Vec<String> {
        let against = if with_host {
            "the C function, by its compiler and by an interpreter"
        } else {
            "the C function, by an interpreter"
        };
        let mut text = vec![format!(
            "Level: checked. This text was emulated, with every check on, and compared with {against} at {}.",
            points::summary(&self.points)
        )];
        text.extend(self.other_numbers());
        let exceptions = self.coverage.exceptions(sources);
        text.push(match exceptions.is_empty() {
            true => "Every path of it was run.".to_string(),
            false => format!(
                "Every path of it was run but these, on which data decide, or where the C function does not go either, or which the blocks that were run do not take: {}.",
                exceptions.join("; ")
            ),
        });
        let missing = self.coverage.lines_missing(sources);
        if !missing.is_empty() {
            text.push(format!("Not run, as less work was asked for: {}.", missing.join("; ")));
        }
        if !self.in_part.is_empty() {
            text.push(format!("Run in part, as too large: {}.", self.in_part.join("; ")));
        }
        if !self.host_only.is_empty() {
            text.push(format!(
                "Compared with the compiler's code alone, as too large for the interpreter: {}.",
                self.host_only.join("; ")
            ));
        }
        text.extend(self.conditioning().iter().map(|t| format!("{}.", capital(t))));
        if !self.one_block.is_empty() {
            text.push(format!("No second block was run of {}.", self.one_block.join(", ")));
        }
        text
    }

    /// What the integers of `--arg` were.
    fn other_numbers(&self) -> Vec<String> {
        let sentence = |(name, own): (&String, &i64)| {
            let others: BTreeSet<i64> = self
                .varied
                .iter()
                .filter_map(|p| p.get(name))
                .copied()
                .filter(|n| n != own)
                .collect();
            let others = points::ranges(&others.into_iter().collect::<Vec<i64>>());
            match others.is_empty() {
                true => format!("`{name}` was always {own}, as given."),
                false => format!(
                    "`{name}` was {own} there, as given; at other sizes among these it was one of {{{}}}.",
                    others.join(", ")
                ),
            }
        };
        self.given.iter().map(sentence).collect()
    }

    /// The integers of `--arg` that were nothing but what was given.
    fn only_as_given(&self) -> impl Iterator<Item = String> {
        let own =
            |(name, own): &(&String, &i64)| self.varied.iter().all(|p| p.get(*name) == Some(*own));
        let only = self.given.iter().filter(own);
        only.map(|(name, own)| {
            format!("only with {name}={own}, as given: nothing was run with another number")
        })
    }

    /// Where the C function itself must not be called, and numbers that must be those that are given, for the header of the emitted file.
    pub(in crate::tune) fn preconditions(&self) -> Vec<String> {
        let first = self.outside.first().map(|first| {
            let more = match self.outside.len() - 1 {
                0 => String::new(),
                n => format!(" (and at {n} more of the sizes tried)"),
            };
            format!("no size at which the C function leaves its own extents, as at {first}{more}")
        });
        first.into_iter().chain(self.only_as_given()).collect()
    }

    /// At which sizes random data say less than elsewhere.
    fn conditioning(&self) -> Vec<String> {
        let few = |points: &[String]| {
            let first = points.iter().take(3).cloned().collect::<Vec<_>>().join("; ");
            match points.len() {
                n @ 4.. => format!("{first} and {} more sizes", n - 3),
                _ => first,
            }
        };
        let ill = (!self.ill_conditioned.is_empty()).then(|| {
            format!(
                "random data are ill-conditioned at {}: rounding errors grow beyond what can be compared, so that these \
                 sizes show nothing",
                few(&self.ill_conditioned.iter().map(points::name).collect::<Vec<_>>())
            )
        });
        let tamed = (!self.tamed.is_empty()).then(|| {
            format!(
                "random data are ill-conditioned at {}: compared with large diagonals and small other elements instead",
                few(&self.tamed)
            )
        });
        ill.into_iter().chain(tamed).collect()
    }

    pub(in crate::tune) fn assumptions(&self) -> Vec<String> {
        [self.preconditions(), self.conditioning()].concat()
    }
}

/// A sentence of a phrase, but for its end.
fn capital(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_beyond_a_point_where_none_is_below_its_own() {
        let point = |it: i64, n: i64| Point::from([("it".to_string(), it), ("n".to_string(), n)]);
        let ill_conditioned = vec![point(15, 5), point(6, 17)];
        let verified = Verified { ill_conditioned, ..Verified::default() };
        let beyond = |it, n| verified.is_beyond_ill_conditioned(&point(it, n));
        assert!(beyond(15, 5) && beyond(16, 900) && beyond(6, 18));
        assert!(!beyond(5, 900) && !beyond(900, 4) && !beyond(14, 16));
        assert!(!Verified::default().is_beyond_ill_conditioned(&point(1, 1)));
    }
}
