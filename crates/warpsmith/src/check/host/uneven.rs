//! Sizes that are no multiple of a block: a missing guard (`if (i < n)`) is not seen while every block is full.
//!
//! Nobody gave these sizes, so a finding needs evidence that the program means to take them:
//!
//! 1. its host code runs to the same end, launches the same kernels, and a device takes all launches;
//! 2. the grid of the finding's launch is larger than at the next multiple of the block below: the host rounds it up. A grid
//!    that is rounded down leaves elements out instead;
//! 3. that launch has no findings at that multiple, which is no power of two and differs between arguments just so: a
//!    kernel for squares, for powers of two or for certain numbers only has some there, too.
//!
//! What is found without that evidence is a note.

use warpsmith_ir::poly::gcd;

use super::super::parts::Mark;
use super::super::runner::Runner;
use super::super::shown;
use super::{BYTES_OF_TRIES, Ran, Running, Shape, argv};
use crate::report::Item;
use crate::status::Failure;

/// Rules that a missing guard breaks.
pub(super) const RULES: [&str; 6] = [
    "out-of-bounds",
    "race-shared",
    "race-global",
    "uninitialized-global",
    "uninitialized-shared",
    "uninitialized-local",
];
/// Statements and expressions of the host in one try.
const HOST_STEPS: u64 = 100_000_000;
/// Blocks that are full; not a power of two.
const FULL: u32 = 3;
/// A multiple of small extents that is no power of two.
const SMALL: u32 = 48;
/// Rows and columns of a tile of matrix units.
const TILE: u32 = 16;
/// Threads of a block, at most.
const LARGEST: u32 = 1024;
/// Numbers that are varied one at a time.
const MOST_ALONE: usize = 4;
/// Choices that the program takes and whose findings are not believed, until that is what is said.
const MOST_TRIED: usize = 2;
/// Choices that take too long, after which only one number alone is varied, which makes less work; so many more end it.
const MOST_TOO_LONG: usize = 2;

/// Elements by which finer numbers miss a multiple of a block, at most: products of three of them fill no large block.
const LARGEST_PART: u32 = 4;

/// Numbers of elements: a multiple of all blocks, and some more that fill no block.
#[derive(Clone, Copy)]
struct Sizes {
    even: u32,
    more: u32,
    /// From one argument to the next.
    step: u32,
    /// Few blocks are reached: only what is found says anything.
    small: bool,
}

impl Sizes {
    /// For the extents of these blocks. Half a block more is a multiple of as many numbers as can be: programs that want
    /// pairs or quadruples are not of interest here.
    fn of(shapes: &[Shape]) -> Option<Sizes> {
        let extents = || shapes.iter().flat_map(|s| s.block).filter(|n| *n > 1);
        let common = extents().try_fold(1, |all, n| {
            let next = all / gcd(all, n.into()) * i128::from(n);
            (next <= (4 * LARGEST).into()).then_some(next)
        })?;
        let (step, smallest) = (u32::try_from(common).ok()?, extents().min()?);
        let more = (smallest / 2).max(1);
        Some(Sizes { even: FULL * step, more, step, small: false })
    }

    /// For blocks that are as large as the numbers, up to a limit of the program's own.
    fn largest() -> Sizes {
        Sizes { even: FULL * LARGEST, more: LARGEST / 8, step: 0, small: false }
    }

    /// For products of several numbers, whose blocks would be too many else: they fill blocks of up to 256 threads by twos.
    fn small() -> Sizes {
        Sizes { even: SMALL, more: 3, step: 0, small: true }
    }

    fn equal(self) -> Sizes {
        Sizes { step: 0, ..self }
    }

    /// For programs that take multiples of a tile only, as matrix units want them, of which a block has several.
    fn of_tiles(self) -> Sizes {
        Sizes { more: TILE, ..self.equal() }
    }
}

/// Which arguments are varied.
struct Choice {
    places: Vec<usize>,
    sizes: Sizes,
}

impl Choice {
    /// What is tried, one after the other.
    /// Where they `differ`, one has to be larger than others: each by itself.
    fn all(numbers: &[usize], sizes: Sizes, differ: bool) -> Vec<Choice> {
        let of = |places: &[usize], sizes| Choice { places: places.to_vec(), sizes };
        let several = numbers.len() > 1;
        let mut choices = vec![];
        if !differ {
            choices.extend(several.then(|| of(numbers, Sizes::small())));
            choices.extend(several.then(|| of(numbers, sizes)));
            choices.push(of(numbers, sizes.equal()));
            choices.push(of(numbers, sizes.of_tiles()));
        }
        if several {
            let alone = |n: &usize| [of(&[*n], sizes), of(&[*n], sizes.of_tiles())];
            choices.extend(numbers.iter().take(MOST_ALONE).flat_map(alone));
        }
        choices.push(of(numbers, Sizes::largest()));
        choices
    }

    fn arguments(&self, like: &[String], uneven: bool) -> Vec<String> {
        let mut arguments = like.to_vec();
        for (at, number) in self.places.iter().zip(self.numbers(uneven)) {
            arguments[*at] = number.to_string();
        }
        arguments
    }

    fn numbers(&self, uneven: bool) -> impl Iterator<Item = u32> {
        let Sizes { even, more, step, .. } = self.sizes;
        let more = if uneven { more } else { 0 };
        (0..self.places.len() as u32).map(move |i| even + step * i + more)
    }

    /// Smaller parts of blocks, where a run that found nothing has launches whose blocks are full all the same: several
    /// threads are for one element (a warp for a row), or one for each of a product of two numbers.
    fn finer(&self, first: &Ran, uneven: &Try) -> Option<Choice> {
        let smallest = uneven.ran.shapes.iter().flat_map(|s| s.block).filter(|n| *n > 1).min()?;
        let sizes = Sizes { more: (smallest / 64).clamp(1, LARGEST_PART), ..self.sizes };
        let numbers: Vec<u64> = self.numbers(true).map(u64::from).collect();
        let grows = |s: &&Shape| {
            let like = |f: &&Shape| (f.at, f.kernel) == (s.at, s.kernel);
            first.shapes.iter().filter(like).all(|f| f.grid != s.grid)
        };
        let full = uneven.ran.shapes.iter().filter(grows).any(|s| is_full(s, &numbers));
        let finds_nothing = uneven.found.is_empty() && sizes.more < self.sizes.more;
        (finds_nothing && full).then(|| Choice { places: self.places.clone(), sizes })
    }
}

/// A run with other sizes, and what it found that was not known.
pub(super) struct Try {
    pub ran: Ran,
    pub found: Vec<Item>,
}

/// What a program does with other sizes.
pub(super) enum Outcome<T> {
    Taken(T),
    NotTaken,
    TooLong,
}

/// Runs with sizes that fill no block, and with those that do.
struct Pair {
    /// Of the first.
    arguments: String,
    uneven: Try,
    /// Absent where there is nothing to compare, or the program does not take them.
    even: Option<Try>,
}

impl Pair {
    /// Findings for which there is evidence that the program means to take such sizes.
    fn believed(&self) -> impl Iterator<Item = &Item> {
        self.uneven.found.iter().filter(|item| {
            let even = self.even.as_ref();
            !item.is_note
                && RULES.contains(&item.rule)
                && even.is_some_and(|even| is_for_uneven(item, &self.uneven.ran.shapes, even))
        })
    }
}

impl Runner<'_> {
    /// Runs the program with sizes that fill no block, after a run with these arguments, which took the report from `start`
    /// to where it is.
    pub(super) fn uneven(
        &mut self,
        first: &Ran,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        // They are for what the sizes so far do not show.
        if !self.found_since(start).is_empty() {
            return Ok(());
        }
        self.while_worth(|runner| runner.tried_uneven(first, arguments, start, of))
    }

    fn tried_uneven(
        &mut self,
        first: &Ran,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        let numbers = argv::numbers(arguments);
        let Some(sizes) = Sizes::of(&first.shapes).filter(|_| !numbers.is_empty()) else {
            return Ok(());
        };
        let of = &Running {
            host_steps: HOST_STEPS.min(of.host_steps),
            most_bytes: BYTES_OF_TRIES.min(of.most_bytes),
            ..*of
        };
        let here = self.mark();
        let (mut tried, mut too_long, mut quiet) = (vec![], 0, None);
        for choice in Choice::all(&numbers, sizes, !argv::are_equal(arguments)) {
            if too_long >= MOST_TOO_LONG && choice.places.len() > 1 {
                continue;
            }
            let mut outcome = self.pair(first, arguments, &choice, start, of)?;
            self.back_to(&here);
            if let Outcome::Taken(pair) = &outcome
                && let Some(finer) = choice.finer(first, &pair.uneven)
            {
                let taken = self.pair(first, arguments, &finer, start, of)?;
                self.back_to(&here);
                if matches!(taken, Outcome::Taken(_)) {
                    outcome = taken;
                }
            }
            too_long += usize::from(matches!(outcome, Outcome::TooLong));
            if too_long == 2 * MOST_TOO_LONG || self.is_late() {
                break;
            }
            let Outcome::Taken(pair) = outcome else { continue };
            let believed = pair.believed().next().is_some();
            if choice.sizes.small && !believed {
                continue;
            }
            let nothing = pair.uneven.found.is_empty();
            if nothing && choice.places.len() < numbers.len() {
                // Another number may be that of elements.
                quiet.get_or_insert(pair);
                continue;
            }
            tried.push(pair);
            let answers = nothing || believed;
            if answers || tried.len() == MOST_TRIED {
                break;
            }
        }
        if tried.is_empty() {
            tried.extend(quiet);
        }
        tried.into_iter().for_each(|pair| self.add_uneven(first, pair, of));
        Ok(())
    }

    /// Runs with sizes that fill no block and, where that finds something, with those that do.
    fn pair(
        &mut self,
        first: &Ran,
        like: &[String],
        choice: &Choice,
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<Outcome<Pair>, Failure> {
        let arguments = choice.arguments(like, true);
        let uneven = match self.try_sizes(first, &arguments, start, of)? {
            // Where blocks follow the numbers they may be full all the same.
            Outcome::Taken(uneven) if same_blocks(&first.shapes, &uneven.ran.shapes) => uneven,
            Outcome::TooLong => return Ok(Outcome::TooLong),
            _ => return Ok(Outcome::NotTaken),
        };
        let even = match uneven.found.is_empty() {
            true => Outcome::NotTaken,
            false => self.try_sizes(first, &choice.arguments(like, false), start, of)?,
        };
        let even = if let Outcome::Taken(even) = even { Some(even) } else { None };
        Ok(Outcome::Taken(Pair { arguments: arguments.join(" "), uneven, even }))
    }

    /// The same for a program that has defaults for its arguments.
    pub(super) fn uneven_beside_defaults(
        &mut self,
        first: &Ran,
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<(), Failure> {
        if !of.program.reads_arguments() {
            return Ok(());
        }
        self.uneven(first, &argv::so_many(1, of.unit), start, of)
    }

    /// A run of the program with other arguments.
    pub(super) fn try_sizes(
        &mut self,
        first: &Ran,
        arguments: &[String],
        start: &Mark,
        of: &Running<'_>,
    ) -> Result<Outcome<Try>, Failure> {
        self.back_to(start);
        let ran = self.within(self.effort.sizes, |r| r.run_with(of, arguments, true))?;
        let as_far = ran.ended.is_none() && ran.status == first.status && ran.refused == 0;
        let same = ran.distinct() == first.distinct()
            && ran.lost.len() <= first.lost.len()
            && ran.skipped.len() <= first.skipped.len();
        let found = self.items_since(start);
        Ok(match () {
            () if ran.slow || self.limited_since(start) => Outcome::TooLong,
            () if as_far && same => Outcome::Taken(Try { ran, found }),
            () => Outcome::NotTaken,
        })
    }

    /// Adds what was found: what is not believed as notes.
    fn add_uneven(&mut self, first: &Ran, pair: Pair, of: &Running<'_>) {
        // Arguments that no launch depends on are no sizes.
        if pair.uneven.ran.shapes == first.shapes && pair.uneven.found.is_empty() {
            return;
        }
        self.assume(format!(
            "{}: it was also run with `{}`, for sizes that fill no block",
            shown(of.path),
            pair.arguments
        ));
        let believed: Vec<String> = pair.believed().map(|item| item.id.clone()).collect();
        self.add_invented(pair.uneven.found, &believed, &pair.arguments);
    }

    /// Adds what was found with arguments that nobody gave: as notes, unless it is believed. False: that was nothing new.
    pub(super) fn add_invented(
        &mut self,
        found: Vec<Item>,
        believed: &[String],
        arguments: &str,
    ) -> bool {
        let before = self.items.len();
        for mut item in found {
            if item.is_note || self.items.iter().any(|known| known.id == item.id) {
                continue;
            }
            if !believed.contains(&item.id) {
                item.is_note = true;
                item.kind = Some("invented");
            }
            item.launch += &format!(" of a run with `{arguments}`");
            self.add(item);
        }
        self.items.len() > before
    }
}

/// Whether the threads of a launch are, along an axis, several for each of a number of elements, or altogether some for each
/// pair of two numbers: nobody is left over.
fn is_full(shape: &Shape, numbers: &[u64]) -> bool {
    let along: Vec<u64> =
        shape.grid.iter().zip(shape.block).map(|(g, b)| u64::from(*g) * u64::from(b)).collect();
    let all: u64 = along.iter().product();
    let several = |n: &u64| along.iter().any(|t| *t > *n && t.is_multiple_of(*n));
    let pairs = || {
        numbers.iter().enumerate().flat_map(|(i, a)| numbers[i + 1..].iter().map(move |b| a * b))
    };
    numbers.iter().any(several) || pairs().any(|product| all.is_multiple_of(product))
}

/// Whether every kernel of the second list has blocks that the first has for it.
fn same_blocks(first: &[Shape], second: &[Shape]) -> bool {
    second
        .iter()
        .all(|s| first.iter().any(|f| (f.at, f.kernel, f.block) == (s.at, s.kernel, s.block)))
}

/// Whether the grid of the item's launch grew with what fills no block, and nothing was found there without.
fn is_for_uneven(item: &Item, shapes: &[Shape], even: &Try) -> bool {
    let of = |shapes: &'_ [Shape], item: &Item| {
        shapes.iter().find(|s| s.label == item.launch).map(|s| (s.at, s.kernel))
    };
    let Some(launch) = of(shapes, item) else { return false };
    let largest = |shapes: &[Shape], axis: usize| {
        let here = shapes.iter().filter(|s| (s.at, s.kernel) == launch);
        here.map(|s| s.grid[axis]).max()
    };
    let known = |i: &Item| !i.is_note && of(&even.ran.shapes, i) == Some(launch);
    (0..3).any(|axis| largest(shapes, axis) > largest(&even.ran.shapes, axis))
        && !even.found.iter().any(known)
}
