//! Launches as the file itself makes them, and the same with smaller sizes where constants are the sizes.
//!
//! Small launches that are chosen by the kernel's parameters say nothing of `#define N 4096`: their few blocks never come to the end
//! of such a row. What the user runs is looked at as it is, at corners, edges and in the middle of large grids.

use std::collections::BTreeMap;

use warpsmith_ir::SourceMap;

use super::suiting::Kind;
use super::{Session, Suited};
use crate::launch::{Fit, Launch};
use crate::session::Refusal;
use crate::source::blocks;
use crate::source::constants::Constant;
use crate::source::launched::Launched;
use crate::source::shape;
use crate::strides::Strides;
use crate::usage::{self, Role};

/// What is known of the file's own launches.
#[derive(Clone, Debug, Default)]
pub(super) struct OfFile {
    suited: Vec<Suited>,
    /// Why some are not looked at.
    missing: Vec<String>,
}

/// Launches of a file that are looked at.
const MAX_LAUNCHES: usize = 3;
/// Blocks along an axis that smaller sizes leave.
const FEW: i64 = 3;
/// Positions that the last of those is cut off by.
const CUT_OFF: i64 = 5;
/// A size that is smaller than blocks along any axis, and that an inner point is left of.
const PART: i64 = 5;

impl Session {
    /// The file's own launches in which the unmodified kernel is right and that are small enough to be emulated, and smaller ones before
    /// them where named constants are sizes. Where nothing says the block it is the largest of the `chosen` ones.
    ///
    /// # Errors
    /// What the emulator refuses.
    pub fn of_file(&mut self, chosen: &[Suited]) -> Result<Vec<Suited>, Refusal> {
        if let Some(known) = &self.of_file_known {
            return Ok(known.suited.clone());
        }
        let shape = |s: &Suited| s.launch.block;
        self.largest = chosen.iter().filter(|s| !s.idle).map(shape).max_by_key(threads);
        let mut found = OfFile::default();
        let made = self.file_launches(&[]);
        for launch in made.iter().flatten() {
            found.suited.extend(self.smaller(launch)?);
        }
        for launch in made {
            match launch.map(|l| self.suit_of_file(l)) {
                Ok(Ok(suited)) => found.suited.extend(suited),
                Ok(Err(_)) => found.missing.push("it cannot be emulated".into()),
                Err(why) => found.missing.push(why),
            }
        }
        let missing = std::mem::take(&mut self.too_large);
        found.missing.extend(missing);
        self.of_file_known = Some(found.clone());
        Ok(found.suited)
    }

    /// Why the text was not emulated in launches of the file, each in words.
    pub fn not_as_launched(&self) -> &[String] {
        self.of_file_known.as_ref().map_or(&[], |f| &f.missing)
    }

    fn suit_of_file(&mut self, launch: Launch) -> Result<Option<Suited>, Refusal> {
        let (what, before) = (launch.describe(), self.unsuited.len());
        let suited = self.suit(launch)?;
        if suited.is_none() && self.unsuited.len() == before {
            self.too_large.push(format!("{what}: it takes too much memory or time to emulate"));
        }
        Ok(suited)
    }

    /// The launches of the file where constants have other values than there; why one is not known.
    pub(super) fn file_launches(&self, constants: &[(String, i64)]) -> Vec<Result<Launch, String>> {
        let text = self.plan.reference(self.file_block());
        let mut sources = SourceMap::new();
        let Ok(unit) = self.compiler.parse(&text, constants, &mut sources) else { return vec![] };
        let mut all = blocks::launches(&unit, &self.kernel, &sources);
        let block = self.input.block.or(self.own);
        all.retain(|l| self.input.block.is_none() || l.block.is_none() || l.block == block);
        let launches = all.iter().take(MAX_LAUNCHES).enumerate();
        let mut made: Vec<Result<Launch, String>> =
            launches.map(|(number, l)| self.as_launched(l, number, constants)).collect();
        if all.len() > MAX_LAUNCHES {
            made.push(Err(format!("there are {} launches more", all.len() - MAX_LAUNCHES)));
        }
        if made.iter().all(Result::is_ok) && !made.is_empty() {
            return made;
        }
        // What nobody knows may be what covers the data.
        let covering = self.covering(made.len(), constants);
        made.extend(covering.map(Ok));
        made
    }

    fn as_launched(
        &self,
        launched: &Launched,
        number: usize,
        constants: &[(String, i64)],
    ) -> Result<Launch, String> {
        let unknown = |what: &str| format!("its text does not say {what}");
        let block = launched.block.or(self.own).ok_or_else(|| unknown("the block"))?;
        let grid = self.input.grid.or(launched.grid).ok_or_else(|| unknown("the grid"))?;
        let mut launch =
            self.like_file(block, constants).ok_or("its block is not the one of the plan")?;
        for (name, value) in launch.integers.iter_mut() {
            if self.input.integers.contains_key(name) {
                continue;
            }
            match launched.integers.get(name) {
                Some(known) => *value = *known,
                None if self.is_size(name) => return Err(unknown(&format!("`{name}`"))),
                None => {}
            }
        }
        launch.dynamic_shared = match launched.shared {
            Some(bytes @ 1..) if self.input.shared.is_none() => bytes,
            _ => launch.dynamic_shared,
        };
        Ok(Launch { grid, of_file: Some(number), ..launch }.sampled())
    }

    fn file_block(&self) -> [u32; 3] {
        self.own.or(self.largest).unwrap_or_else(|| crate::stage::own_block(self))
    }

    /// Whether a parameter says how large something is.
    fn is_size(&self, name: &String) -> bool {
        let usage = &self.usage;
        usage.roles.contains_key(name) || usage.rows.contains(name) || usage.leaps.contains(name)
    }

    /// A launch with a block, to be given a grid and sizes.
    fn like_file(&self, block: [u32; 3], constants: &[(String, i64)]) -> Option<Launch> {
        let kind = Kind { block, blocks: FEW as u32, fit: Fit::Exact, more: [1; 3] };
        let mut launch = self.asked().launch(kind, Strides::default(), false)?;
        launch.constants.retain(|(key, _)| constants.iter().all(|(k, _)| k != key));
        launch.constants.extend(constants.iter().cloned());
        launch.varied = constants.to_vec();
        Some(launch)
    }

    /// What a file without host code is launched with: blocks that cover the positions that constants bound. With the number that it has
    /// among the launches of the file.
    fn covering(&self, number: usize, constants: &[(String, i64)]) -> Option<Launch> {
        let block = self.file_block();
        let roles = self.bounding();
        let bounds = |a: usize| {
            let here = self.free_constants().into_iter();
            // Smaller ones bound edges and halos.
            let is_size = |c: &Constant| c.value > block[a].into();
            here.filter(|c| is_size(c) && roles.get(&c.name).is_some_and(|r| r.axes[a]))
                .map(|c| constants.iter().find(|(k, _)| *k == c.key).map_or(c.value, |(_, v)| *v))
                .max()
        };
        let sizes = [0, 1, 2].map(bounds);
        if self.input.grid.is_some() || sizes.iter().all(Option::is_none) {
            return None;
        }
        let mut launch = self.like_file(block, constants)?;
        for a in 0..3 {
            let Some(size) = sizes[a] else { continue };
            launch.grid[a] = u32::try_from(size).ok()?.div_ceil(block[a]).max(1);
        }
        Some(Launch { of_file: Some(number), covers: true, ..launch }.sampled())
    }

    /// What constants of the file bound, as parameters do: from a text in which they stand for themselves.
    fn bounding(&self) -> BTreeMap<String, Role> {
        let names: Vec<(String, String)> =
            self.free_constants().into_iter().map(|c| (c.name.clone(), c.name)).collect();
        let text = self.plan.reference(self.file_block());
        let Ok(text) = shape::constants(&text, &names).apply(&text) else { return BTreeMap::new() };
        let Ok(unit) = self.compiler.parse(&text, &[], &mut SourceMap::new()) else {
            return BTreeMap::new();
        };
        let names: Vec<String> = names.into_iter().map(|(n, _)| n).collect();
        usage::with_constants(&unit, &self.kernel, &names).roles
    }

    /// Launches with smaller values of the constants that are sizes: some blocks along the shortest axis, whole ones and not, and less
    /// than a block.
    fn smaller(&mut self, launch: &Launch) -> Result<Vec<Suited>, Refusal> {
        let sizes = self.size_constants(launch);
        let (unsuited, raced) = (self.unsuited.len(), self.raced.clone());
        let most = launch.block.iter().max().map_or(1, |n| i64::from(*n));
        let mut all: Vec<Suited> = vec![];
        let shortest = launch.grid.iter().map(|n| i64::from(*n)).filter(|n| *n > FEW).min();
        let blocks = |c: &Constant| c.value * FEW / shortest.unwrap_or(FEW);
        if shortest.is_some() {
            for (apart, cut) in [(most, 0), (most, CUT_OFF), (0, 0), (0, CUT_OFF)] {
                if apart == 0 && (!all.is_empty() || sizes.len() < 2) {
                    break;
                }
                let value = |(k, c): (i64, &Constant)| blocks(c) + k * apart - cut;
                all.extend(self.with_sizes(launch, &sizes, value, 0)?);
            }
        }
        for part in [most / 2 + 1, PART] {
            let value = |(k, _): (i64, &Constant)| part + 2 * k;
            // Many launch a block more than sizes need.
            all.extend(match self.with_sizes(launch, &sizes, value, 1)? {
                None => self.with_sizes(launch, &sizes, value, 0)?,
                found => found,
            });
        }
        for thin in (0..sizes.len() as i64).filter(|_| sizes.len() > 1) {
            let value = |(k, c): (i64, &Constant)| if k == thin { most / 2 + 1 } else { blocks(c) };
            all.extend(self.with_sizes(launch, &sizes, value, 0)?);
        }
        // It is not the file that is wrong in these.
        self.unsuited.truncate(unsuited);
        self.raced = raced;
        Ok(all)
    }

    /// A launch of the file with other values of constants, each by its number, and with more blocks along its axes, if the unmodified
    /// kernel is right in it and stores something.
    fn with_sizes(
        &mut self,
        launch: &Launch,
        sizes: &[Constant],
        value: impl Fn((i64, &Constant)) -> i64,
        more: u32,
    ) -> Result<Option<Suited>, Refusal> {
        let constants: Vec<(String, i64)> =
            (0..).zip(sizes).map(|(k, c)| (c.key.clone(), value((k, c)).max(1))).collect();
        let number = launch.of_file.unwrap_or(0);
        let made = self.file_launches(&constants).into_iter().nth(number);
        let Some(Ok(mut small)) = made.filter(|_| !constants.is_empty()) else { return Ok(None) };
        // Whole blocks alone cover nothing that is smaller than one.
        if small.grid.contains(&0) || self.shaped(&small).is_err() {
            return Ok(None);
        }
        for a in (0..3).filter(|a| launch.grid[*a] > 1) {
            small.grid[a] += more;
        }
        Ok(self.suit(small)?.filter(|s| !s.idle))
    }

    /// The constants that make a launch larger, in blocks or in numbers that it passes.
    fn size_constants(&self, launch: &Launch) -> Vec<Constant> {
        let most = launch.block.iter().max().map_or(1, |n| i64::from(*n));
        let number = launch.of_file.unwrap_or(0);
        let grows = |c: &Constant| {
            let twice = self.file_launches(&[(c.key.clone(), 2 * c.value)]);
            let Some(Ok(twice)) = twice.into_iter().nth(number) else { return false };
            let more = (0..3).all(|a| twice.grid[a] >= launch.grid[a]);
            more && twice.grid != launch.grid && twice.block == launch.block
        };
        let mut all = self.free_constants();
        all.retain(|c| c.key == c.name && !c.local && c.value >= 2 * most && grows(c));
        all
    }
}

fn threads(block: &[u32; 3]) -> u32 {
    block.iter().product()
}
