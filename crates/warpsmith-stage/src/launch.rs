//! Launches that show what a kernel does: small, with sizes that all differ, chosen from how the kernel uses its parameters.

mod beyond;
mod far;
mod integers;

use std::collections::BTreeMap;

use crate::mix::Mix;
use crate::source::shape::Extent;
use crate::source::ties::{self, Tie};
use crate::strides::Strides;
use crate::usage::Usage;

/// One launch: the block shape with the constants that make it, and the integers that are passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Threads along each axis.
    pub block: [u32; 3],
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Values of constants of the file.
    pub constants: Vec<(String, i64)>,
    /// Values of integer parameters by name.
    pub integers: BTreeMap<String, i64>,
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
    /// Constants that have other values than in the file, with those values.
    pub varied: Vec<(String, i64)>,
    /// Which launch of the file it is; `None`: it was chosen.
    pub of_file: Option<usize>,
    /// Blocks that cover what constants of the file bound: its text does not say what it launches.
    pub covers: bool,
    /// The blocks that are run, by their flat numbers; empty: all.
    pub only: Vec<u32>,
    /// It comes to a number of the text, if that takes no great deal of time or memory.
    pub beyond: bool,
    /// It has very many blocks, of which some are run.
    pub far: bool,
    /// Parameters that the array of another one is passed for.
    pub aliased: Vec<[String; 2]>,
    /// Pointers that are null.
    pub absent: Vec<String>,
}

impl Launch {
    /// Threads that are run.
    pub fn threads(&self) -> u64 {
        let product = |d: [u32; 3]| d.into_iter().map(u64::from).product::<u64>();
        let blocks = match self.only.len() as u64 {
            0 => product(self.grid),
            some => some,
        };
        blocks * product(self.block)
    }

    /// The launch with some of its blocks, where there are many.
    pub fn sampled(self) -> Launch {
        let only = warpsmith_emu::sampled_blocks(self.grid, BLOCKS);
        Launch { only: only.map_or(vec![], |blocks| blocks.to_vec()), ..self }
    }

    /// For reports: `block 5x4, grid 3x2, nx=14, ny=7`.
    pub fn describe(&self) -> String {
        let dims = |d: [u32; 3]| match d {
            [x, 1, 1] => x.to_string(),
            [x, y, 1] => format!("{x}x{y}"),
            [x, y, z] => format!("{x}x{y}x{z}"),
        };
        let varied = self.varied.iter().map(|(n, v)| (n, v));
        let sizes: String =
            self.integers.iter().chain(varied).map(|(n, v)| format!(", {n}={v}")).collect();
        let as_it_is = match self.of_file.filter(|_| self.varied.is_empty()) {
            Some(_) if self.covers => " over all that constants bound",
            Some(_) => " as in the file",
            None => "",
        };
        let aliased =
            self.aliased.iter().map(|[first, own]| format!(", one array for {first} and {own}"));
        let absent = self.absent.iter().map(|name| format!(", {name} is null"));
        let passed: String = aliased.chain(absent).collect();
        let blocks: u64 = self.grid.iter().map(|n| u64::from(*n)).product();
        let some = match self.only.len() {
            0 => String::new(),
            n => format!(", {n} of {blocks} blocks"),
        };
        format!(
            "block {}, grid {}{as_it_is}{sizes}{passed}{some}",
            dims(self.block),
            dims(self.grid)
        )
    }
}

/// Blocks that are run of a large grid, about.
const BLOCKS: u64 = 32;

/// How sizes lie to the blocks that cover them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The last block of an axis is cut off.
    Ragged(u32),
    /// Blocks cover the sizes exactly.
    Exact,
    /// The same, with rows of arrays that are longer.
    Apart,
    /// The last block of an axis has one position.
    Single,
    /// There are more blocks than the sizes need, by the halo of overlapping blocks.
    Overlapping(u32),
    /// There are half as many blocks as the sizes need.
    Strided,
    /// Sizes are smaller than the one block that there is.
    Part,
    /// One axis has less than one block: the least size of all is not always the same.
    Thin(u32),
    /// One axis has as many positions as the other has blocks, less than most tiles are wide: what is behind the end of a row there is behind the end of the array.
    Least(u32),
    /// There is a block more than the sizes need, of which whole blocks cover one or the other.
    Spare,
    /// The last blocks along x and y end each in its own way; there are more of them along y than along x, or fewer.
    Ends([End; 2], bool),
    /// Every size is another one without pattern, also of those along one axis: what holds for one of them need not for the next.
    Random(u32),
    /// The same, with blocks for a part of the sizes or for more: how many of them there are work for need not be what a size says.
    Loose(u32),
    /// One block of [`SIDE`] threads along x with any size up to what it has threads, along each axis.
    Within(u32),
    /// So many positions along x, and as many blocks as these need; other sizes are without pattern.
    Each(u32),
    /// Loops go through many planes: those that are kept in turn come round several times.
    Deep(u32),
    /// Very many positions, of whose blocks some are run.
    Far(u32),
    /// Positions or a size come to a number of the text: one of [`Usage::limits`], just below it, at it, or beyond.
    Beyond(u32),
}

/// So many planes may take a great deal of time.
const MANY_PLANES: u32 = 60;

/// Threads along x of the small block that is checked with all sizes.
pub const SIDE: u32 = 7;

/// How many positions the last block of an axis has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// One.
    One,
    /// Two.
    Two,
    /// Half as many as it has threads.
    Half,
    /// All but one.
    ButOne,
    /// As many as it has threads.
    All,
}

/// Up to three times so many positions, often at the ends of these; rarely far more. Elements may lie several positions apart.
fn any_size(mix: &mut Mix, step: i64) -> i64 {
    let last = match mix.below(3) {
        0 => 1 + mix.below(3) as i64,
        1 => step - mix.below(6) as i64,
        _ => 1 + mix.below(step.unsigned_abs()) as i64,
    };
    let apart = [1, 1, 2, 3][mix.below(4) as usize];
    let size = step * apart * mix.below(3) as i64 + last.clamp(1, step);
    if mix.below(8) == 0 { 4 * size } else { size }
}

/// Launches with sizes without pattern, for a kernel that has several along an axis.
pub fn random(usage: &Usage, count: u32) -> impl Iterator<Item = Fit> + use<> {
    let several = has_several(usage);
    (0..count).filter(move |_| several).map(Fit::Random)
}

/// Launches of any kernel with sizes without pattern and other numbers of blocks.
pub fn loose(count: u32) -> impl Iterator<Item = Fit> {
    (0..count).map(Fit::Loose)
}

/// Launches with all numbers of positions along x up to so many.
pub fn each(count: u32) -> impl Iterator<Item = Fit> {
    (1..=count).map(Fit::Each)
}

/// Launches that come to the numbers of a kernel's text.
pub fn beyond(usage: &Usage) -> Vec<Fit> {
    beyond::all(usage)
}

/// Launches of some blocks that lie far from each other.
pub fn far(usage: &Usage) -> Vec<Fit> {
    far::all(usage)
}

/// Whether several sizes bound positions along one axis.
pub fn has_several(usage: &Usage) -> bool {
    let along = |a: usize| usage.roles.values().filter(|r| r.axes[a]).count();
    (0..3).any(|a| along(a) > 1)
}

/// What a launch is made from.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// How the kernel uses its integers and axes.
    pub usage: &'a Usage,
    /// What the extents of the block are.
    pub extents: &'a [Extent; 3],
    /// Integer parameters of the kernel, in order.
    pub parameters: &'a [String],
    /// Values that the user gives.
    pub pinned: &'a BTreeMap<String, i64>,
    /// The grid that the user gives.
    pub grid: Option<[u32; 3]>,
    /// How far positions move from block to block.
    pub strides: Strides,
    /// What is compared with nothing, the length of a row, say, is longer than what blocks cover: equal by accident, it would do for
    /// the size that it is equal to.
    pub apart: bool,
    /// So many times as many blocks along each axis.
    pub more: [u32; 3],
    /// What host code makes parameters of.
    pub ties: &'a [Tie],
}

/// By how much.
const APART: i64 = 3;

/// The launch of a block shape, some blocks a side, and a fit. `None` when constants tie extents that differ.
pub fn launch(wanted: &Wanted<'_>, block: [u32; 3], blocks: u32, fit: Fit) -> Option<Launch> {
    let mut constants: Vec<(String, i64)> = vec![];
    for (extent, size) in wanted.extents.iter().zip(block) {
        match extent {
            Extent::Free => {}
            Extent::Number(n) if *n == size => {}
            Extent::Number(_) => return None,
            Extent::Constant(name) => match constants.iter().find(|(n, _)| n == name) {
                Some((_, v)) if *v != i64::from(size) => return None,
                Some(_) => {}
                None => constants.push((name.clone(), size.into())),
            },
        }
    }
    let mut grid = [1; 3];
    let mut size = [1i64; 3];
    for a in (0..3).filter(|a| wanted.usage.axes[*a]) {
        let count = counts(fit, blocks)[a] * wanted.more[a];
        let step = step(wanted, a);
        let along = (block[a], step);
        let found = beyond::size(wanted, fit, a, along);
        (grid[a], size[a]) = match found.or_else(|| far::size(wanted.usage, fit, a, along)) {
            Some(found) => found,
            None => covering(fit, block[a], step, count, a as u32),
        };
    }
    let mut factors = BTreeMap::new();
    for a in 0..3 {
        let names = factors_of(wanted, a);
        let values = factored(names.len(), size[a]);
        if let Some(product) = values.iter().copied().reduce(|a, b| a * b) {
            let step = apart(wanted, block, a);
            size[a] = product;
            grid[a] = (product.unsigned_abs() as u32).div_ceil(step.unsigned_abs() as u32);
        }
        factors.extend(names.into_iter().zip(values));
    }
    let mut integers = integers::integers(wanted, (size, &factors), blocks, fit);
    beyond::set(wanted, fit, &mut integers);
    ties::apply(wanted.ties, &mut integers);
    let grid = wanted.grid.unwrap_or(grid);
    let beyond = matches!(fit, Fit::Beyond(_) | Fit::Deep(MANY_PLANES..));
    let far = matches!(fit, Fit::Far(_)) && wanted.grid.is_none();
    let steps = [0, 1, 2].map(|a| apart(wanted, block, a));
    let only = if far { far::blocks(wanted, grid, steps) } else { vec![] };
    Some(Launch { block, grid, constants, integers, only, beyond, far, ..Launch::default() })
}

/// Positions from a block to the next; 0: as many as it has threads, which it has also where the grid is transposed,
/// `threadIdx.x * gridDim.x + blockIdx.x`.
fn step(wanted: &Wanted<'_>, axis: usize) -> i64 {
    let transposed = wanted.usage.strides && wanted.usage.threads[axis];
    match wanted.strides.blocks[axis] {
        1 if transposed => 0,
        step => step,
    }
}

/// How far blocks of an axis lie apart.
fn apart(wanted: &Wanted<'_>, block: [u32; 3], axis: usize) -> i64 {
    match step(wanted, axis) {
        step @ 1.. => step,
        _ => block[axis].into(),
    }
}

/// Blocks along each axis: in some launches more along y than along x, so that neither size is always the smaller one.
fn counts(fit: Fit, blocks: u32) -> [u32; 3] {
    match fit {
        Fit::Apart => [blocks, blocks + 2, 2],
        Fit::Single if blocks > 1 => [blocks, blocks + 1, 2],
        Fit::Part => [1; 3],
        Fit::Least(_) => [blocks; 3],
        Fit::Ends(_, true) => [blocks, blocks + 1, 2],
        Fit::Thin(0) => [1, blocks, 2],
        Fit::Thin(_) => [blocks + 1, 1, 2],
        _ => [blocks + 1, blocks, 2],
    }
}

/// Blocks along an axis, and positions, when a block begins `step` positions after the one before; 0: as many as it has threads.
fn covering(fit: Fit, threads: u32, step: i64, count: u32, axis: u32) -> (u32, i64) {
    let step = if step > 0 { step } else { threads.into() };
    let whole = step * i64::from(count);
    let cut = |by: u32| i64::from(by + axis).min(step - 1);
    match fit {
        Fit::Exact | Fit::Apart => (count, whole),
        Fit::Single => (count, whole - step + 1),
        Fit::Spare if count.is_multiple_of(4) => (count, (whole - step - step / 2).max(1)),
        Fit::Spare if count.is_multiple_of(2) => (count, (whole - step - cut(1)).max(1)),
        Fit::Spare => (count, (whole - step).max(1)),
        // A copy for the first thread of the last block, whose row is the last, is outside of the array soonest.
        Fit::Least(thin) if thin != axis && count % 2 == 1 => (count, whole - step + 1),
        Fit::Thin(thin) | Fit::Least(thin) if thin != axis => (count, whole - cut(1)),
        Fit::Least(_) => (1, i64::from(count).min(whole)),
        Fit::Part | Fit::Thin(_) => (count, (whole / 2 + 1 + i64::from(axis)).min(whole)),
        Fit::Ragged(by) => (count, whole - cut(by)),
        Fit::Beyond(_) | Fit::Deep(_) | Fit::Far(_) => (count, whole - cut(2)),
        Fit::Random(seed) => {
            let mut mix = Mix::of(&[seed, axis]);
            let size = any_size(&mut mix, step.min(threads.into()));
            let spare = u32::from(mix.below(4) == 0);
            ((size as u32).div_ceil(step as u32) + spare, size)
        }
        Fit::Loose(seed) => {
            let mut mix = Mix::of(&[seed, axis, 1]);
            let size = any_size(&mut mix, step.min(threads.into()));
            let [times, part] = [[1, 2], [1, 1], [1, 1], [2, 1], [3, 1]][mix.below(5) as usize];
            let spare = u32::from(mix.below(4) == 0);
            (
                (size * times / part).max(1).unsigned_abs().div_ceil(step.unsigned_abs()) as u32
                    + spare,
                size,
            )
        }
        Fit::Each(count) if axis == 0 => (count.div_ceil(step as u32), count.into()),
        Fit::Each(seed) => {
            let size = any_size(&mut Mix::of(&[seed, axis]), step.min(threads.into()));
            ((size.max(1) as u32).div_ceil(step as u32), size)
        }
        Fit::Within(number) => {
            let own = if axis == 0 { number % SIDE } else { number / SIDE };
            (1, i64::from(1 + own % threads))
        }
        Fit::Strided => (count.div_ceil(2), whole - cut(1)),
        Fit::Ends(ends, _) => {
            let last = match ends[axis as usize % 2] {
                End::One => 1,
                End::Two => 2,
                End::Half => step / 2,
                End::ButOne => step - 1,
                End::All => step,
            };
            (count, whole - step + last.clamp(1, step))
        }
        Fit::Overlapping(by) => {
            let step = threads.saturating_sub(by).max(1);
            let size = (i64::from(threads * count) - 1 - i64::from(axis)).max(1);
            ((size as u32).div_ceil(step), size)
        }
    }
}

/// Parameters whose product alone bounds positions along an axis.
fn factors_of<'a>(wanted: &Wanted<'a>, axis: usize) -> Vec<&'a String> {
    let names = &wanted.usage.factors[axis];
    let elsewhere = |n: &String| {
        let role = wanted.usage.roles.get(n);
        wanted.pinned.contains_key(n)
            || role.is_some_and(|r| (0..3).any(|a| a != axis && r.axes[a]))
    };
    match (2..=3).contains(&names.len()) && !names.iter().any(elsewhere) {
        true => names.iter().collect(),
        false => vec![],
    }
}

/// Sizes that differ, and of which each leaves room for an inner point, whose product is about a size.
fn factored(count: usize, size: i64) -> Vec<i64> {
    let Some(others) = count.checked_sub(1) else { return vec![] };
    let mut side = 4i64;
    while (side + 1).pow(count as u32) <= size {
        side += 1;
    }
    let mut all: Vec<i64> = (0..others as i64).map(|n| side + n).collect();
    let mut last = (size / all.iter().product::<i64>()).max(3);
    while all.contains(&last) {
        last += 1;
    }
    all.push(last);
    all
}

/// Small block shapes to profile, most telling first: neither square nor alike, then square, then larger ones.
pub const SMALL: [[u32; 2]; 8] =
    [[5, 4], [4, 6], [6, 6], [8, 4], [4, 8], [8, 8], [16, 4], [16, 16]];
/// The same for kernels of one axis.
pub const SMALL_ROWS: [[u32; 2]; 5] = [[5, 1], [8, 1], [6, 1], [16, 1], [32, 1]];
/// Shapes that people launch, which no profile has seen.
pub const USUAL: [[u32; 2]; 6] = [[16, 16], [32, 8], [64, 8], [96, 4], [128, 4], [32, 4]];
/// The same for kernels of one axis.
pub const USUAL_ROWS: [[u32; 2]; 4] = [[32, 1], [64, 1], [128, 1], [256, 1]];
