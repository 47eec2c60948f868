//! Random steps of schedules, as text: names of what there is and numbers that make small blocks and short strips.
//!
//! What is legal is for others to say: steps are offered to a [`Schedulable`], which takes them or not.

use crate::choice::Choice;

/// A kind of step: the word it starts with, and an example of it.
pub type StepExample = (&'static str, &'static str);

/// A function in the course of its schedule.
pub trait Schedulable {
    /// What steps can name.
    fn names(&self) -> StepNames;

    /// Takes a step, if it is legal.
    fn take(&mut self, step: &str) -> bool;
}

/// What steps can name.
#[derive(Clone, Debug, Default)]
pub struct StepNames {
    pub loops: Vec<StepLoop>,
    /// Array parameters.
    pub arrays: Vec<String>,
    /// By-value integer parameters.
    pub sizes: Vec<String>,
    /// Variables of `reduction` clauses.
    pub reductions: Vec<String>,
}

/// A counted loop.
#[derive(Clone, Debug, Default)]
pub struct StepLoop {
    pub name: String,
    /// The loop directly inside, with nothing beside it.
    pub inner: Option<String>,
    /// Marked and not yet bound, in no other such loop.
    pub root: bool,
    pub bound: bool,
}

/// Attempts to find a legal step.
const ATTEMPTS: usize = 24;
/// Steps, not counting those that bind what is left, and those of [`DEEP`].
const MOST_STEPS: usize = 8;
/// The order in which steps build on each other, as in a kernel for contractions: at random they seldom meet.
const DEEP: [&str; 13] = [
    "specialise",
    "accumulate",
    "register_tile",
    "register_tile",
    "stage",
    "stage",
    "vectorise",
    "vectorise",
    "warp",
    "pipeline",
    "stream",
    "rasterise",
    "persist",
];

/// The order for sums over rows and columns.
const SUMS: [&str; 6] =
    ["accumulate", "share", "register_tile", "specialise", "vectorise", "vectorise"];

/// The order for rows of stencils.
const STENCIL: [&str; 7] =
    ["specialise", "register_tile", "align", "register_tile", "vectorise", "bounds", "align"];

/// The order for convolutions.
const ROWS: [&str; 6] = ["register_tile", "register_tile", "stage", "stream", "stream", "unroll"];

/// What comes before anything is bound, some more often than others.
const BEFORE_BINDING: [&str; 24] = [
    "accumulate",
    "rectangle",
    "rectangle",
    "privatise",
    "keep_rows",
    "keep_rows",
    "keep_sums",
    "keep_sums",
    "normalise",
    "normalise",
    "carry",
    "carry",
    "scan",
    "scan",
    "scan",
    "distribute",
    "distribute",
    "scalarise",
    "scalarise",
    "scatter",
    "fuse_loops",
    "fuse_loops",
    "fuse_kernels",
    "fuse_kernels",
];

/// Takes random legal steps, of these kinds, and returns them. What is marked is bound or reduced at the end.
pub fn random_schedule(
    bytes: &[u8],
    kinds: &[StepExample],
    state: &mut dyn Schedulable,
) -> Vec<String> {
    let mut choice = Choice::new(bytes);
    let mut taken = vec![];
    // Shapes that are no rectangles cannot be bound in all their loops; bins are privatised, and rows kept, by what binds
    // their nest.
    if choice.chance(40) {
        for _ in 0..ATTEMPTS / 3 {
            let names = state.names();
            let mut writer = Writer { choice: &mut choice, names: &names };
            let name = writer.choice.pick(&BEFORE_BINDING);
            taken.extend(writer.step((name, "")).filter(|step| state.take(step)));
        }
    }
    // Most steps are about bound nests.
    if choice.chance(80) {
        taken.extend(bind_roots(&mut choice, state));
    }
    let mut next: Vec<Option<usize>> = vec![];
    let order: &[&str] = match choice.below(10) {
        0..3 => &DEEP,
        3 => &ROWS,
        4 => &SUMS,
        5 | 6 => &STENCIL,
        _ => &[],
    };
    if !order.is_empty() {
        let known = |name: &str| kinds.iter().position(|k| k.0 == name);
        next.extend(order.iter().filter_map(|name| known(name)).map(Some));
        next.retain(|_| choice.chance(70));
    }
    next.extend((0..1 + choice.below(MOST_STEPS)).map(|_| None));
    for kind in next {
        if choice.is_empty() {
            break;
        }
        let wanted = kind.unwrap_or_else(|| choice.below(kinds.len()));
        for attempt in 0..ATTEMPTS {
            let names = state.names();
            // A kind that nothing here is legal for gives way to another.
            let other = kind.is_none() && attempt >= ATTEMPTS / 3;
            let wanted = if other { choice.below(kinds.len()) } else { wanted };
            let step = Writer { choice: &mut choice, names: &names }.step(kinds[wanted]);
            if let Some(step) = step
                && state.take(&step)
            {
                taken.push(step);
                break;
            }
        }
    }
    taken.extend(bind_roots(&mut choice, state));
    taken
}

/// Binds or reduces every marked nest that is not bound yet.
fn bind_roots(choice: &mut Choice<'_>, state: &mut dyn Schedulable) -> Vec<String> {
    let mut taken = vec![];
    for _ in 0..state.names().loops.len() {
        let names = state.names();
        if !names.loops.iter().any(|l| l.root) {
            break;
        }
        for attempt in 0..ATTEMPTS {
            let mut writer = Writer { choice, names: &names };
            let reduces = attempt % 3 == 2 && !names.reductions.is_empty();
            let step = if reduces { writer.reduce() } else { writer.bind() };
            if let Some(step) = step
                && state.take(&step)
            {
                taken.push(step);
                break;
            }
        }
    }
    taken
}

struct Writer<'c, 'b, 'n> {
    choice: &'c mut Choice<'b>,
    names: &'n StepNames,
}

impl Writer<'_, '_, '_> {
    /// A step of a kind; `None` when there is nothing that it could name.
    fn step(&mut self, (name, example): StepExample) -> Option<String> {
        match name {
            "bind" => self.bind(),
            "reduce" => self.reduce(),
            "accumulate" | "constant" => Some(format!("{name} {}", self.array()?)),
            "interchange" => Some(format!("interchange {}", self.outer()?.0)),
            "tile" => {
                let (outer, inner) = self.outer()?;
                Some(format!("tile {outer}, {inner} by {}x{}", self.number(), self.number()))
            }
            "bounds" => {
                Some(format!("bounds {}", self.choice.pick(&["peel", "peel", "pad", "guard"])))
            }
            "pitch" => Some(format!("pitch {} {}", self.array()?, self.of(&[4, 8, 32, 5]))),
            "precision" => {
                Some(format!("precision {}", self.choice.pick(&["float", "double", "half"])))
            }
            "stage" => self.stage(),
            "specialise" => self.specialise(),
            _ => self.before_binding((name, example)),
        }
    }

    /// Of the steps about loops that nothing is bound of.
    fn before_binding(&mut self, (name, example): StepExample) -> Option<String> {
        match name {
            "rectangle" => Some(format!("rectangle {}", self.loop_where(|l| !l.bound)?)),
            "scatter" | "scalarise" => Some(format!("{name} {}", self.loop_where(|l| l.root)?)),
            "distribute" => Some(format!("distribute {}", self.loop_where(|l| !l.bound)?)),
            "fuse_loops" => {
                let (first, second) =
                    (self.loop_where(|l| !l.bound)?, self.loop_where(|l| !l.bound)?);
                Some(format!("fuse_loops {first}, {second}"))
            }
            "carry" | "normalise" => Some(format!("{name} {}", self.loop_where(|l| !l.bound)?)),
            "split" => {
                let target = self.loop_where(|l| !l.bound)?;
                Some(format!("split {target} by {}", self.number()))
            }
            "unroll" => {
                let target = self.loop_where(|l| !l.bound)?;
                match self.choice.chance(50) {
                    true => Some(format!("unroll {target}")),
                    false => Some(format!("unroll {target} by {}", self.number())),
                }
            }
            "split_k" => {
                let target = self.loop_where(|l| !l.bound)?;
                Some(format!("split_k {target} by {}", self.of(&[2, 3, 4, 7])))
            }
            "stream_k" => {
                let target = self.loop_where(|l| !l.bound)?;
                let tile = self.choice.pick(&["4x8", "8", "3x5", "8x4"]);
                Some(format!(
                    "stream_k {target} by {} tile {tile} of {}",
                    self.of(&[2, 3, 4]),
                    self.of(&[2, 3, 5, 8])
                ))
            }
            _ => self.rows((name, example)),
        }
    }

    /// Of the steps that write whole nests anew.
    fn rows(&mut self, (name, example): StepExample) -> Option<String> {
        match name {
            "privatise" => {
                let (block, grid) = (self.of(&[32, 64, 33]), self.of(&[1, 2, 5]));
                let run = self.choice.pick(&["", "", " run 4", " run 16"]);
                Some(format!("privatise {} block {block} grid {grid}{run}", self.array()?))
            }
            "keep_rows" => {
                let target = self.loop_where(|l| l.root)?;
                let (threads, each) = (self.of(&[32, 32, 8, 64]), self.of(&[4, 1, 8]));
                let more = self.choice.pick(&["", " vector 4", " vector 2"]);
                let rows = self.choice.pick(&["", " rows 4", " rows 2"]);
                Some(format!("keep_rows {target} by {threads} each {each}{more}{rows}"))
            }
            "scan" => {
                let target = self.loop_where(|l| !l.bound)?;
                let threads = self.of(&[32, 8, 64, 4]);
                let vector = self.choice.pick(&["", " vector 4", " vector 2", ""]);
                let rows = self.choice.pick(&["", "", " rows 4", " rows 8"]);
                Some(format!("scan {target} by {threads}{vector}{rows}"))
            }
            "keep_sums" => {
                let target = self.loop_where(|l| l.root)?;
                let vector = self.choice.pick(&["", " vector 4", " vector 2", ""]);
                let rows = self.choice.pick(&["3", "8 group 4", "16 group 8", "6 group 2"]);
                let threads = self.of(&[32, 64, 96]);
                Some(format!("keep_sums {target} by {threads}{vector} rows {rows}"))
            }
            "fuse_kernels" => {
                let (first, second) = (self.loop_where(|l| l.root)?, self.loop_where(|l| l.root)?);
                let block = self.choice.pick(&["32", "40", "12x8", "32x6"]);
                let slices =
                    ["1", "2", "3 group 2", "1 group 3", "1 each 4 ahead 1", "2 each 2x2 ahead 2"];
                let slices = self.choice.pick(&slices);
                Some(format!("fuse_kernels {first}, {second} block {block} slices {slices}"))
            }
            _ => self.bound((name, example)),
        }
    }

    /// Of the steps about nests that are bound.
    fn bound(&mut self, (name, example): StepExample) -> Option<String> {
        match name {
            "register_tile" => {
                let target = self.loop_where(|l| l.bound)?;
                Some(format!("register_tile {target} by {}", self.of(&[2, 3, 4, 2, 8])))
            }
            "indexing" => {
                let target = self.loop_where(|l| l.bound)?;
                Some(format!("indexing {target} {}", self.choice.pick(&["sparse", "dense"])))
            }
            "vectorise" => {
                let target = match self.choice.chance(50) {
                    true => self.reads()?,
                    false => {
                        let bound = self.choice.chance(60);
                        self.loop_where(|l| l.bound == bound)?
                    }
                };
                Some(format!("vectorise {target} by {}", self.of(&[4, 2])))
            }
            "align" => {
                let target = self.loop_where(|l| l.bound)?;
                Some(format!("align {target} by {}", self.of(&[4, 2])))
            }
            "share" => {
                let target = self.loop_where(|l| !l.bound)?;
                let axis = self.choice.pick(&["x", "x", "y", "z"]);
                Some(format!("share {target} -> {axis} by {}", self.of(&[8, 32, 4, 64, 2])))
            }
            "warp" => self.warp(),
            "pipeline" => {
                let target = self.loop_where(|l| !l.bound)?;
                Some(format!("pipeline {target} stages {}", self.of(&[2, 3, 4])))
            }
            "stream" => {
                let inner = self.loop_where(|l| !l.bound)?;
                let along = self.loop_where(|l| l.bound)?;
                Some(format!("stream {inner} along {along}"))
            }
            "rasterise" => {
                let target = self.loop_where(|l| l.bound)?;
                Some(format!("rasterise {target} by {}", self.of(&[2, 3, 4, 8])))
            }
            "persist" => {
                let target = self.loop_where(|l| l.bound)?;
                Some(format!("persist {target} by {}", self.of(&[16, 17, 24, 32])))
            }
            _ => self.like(example),
        }
    }

    fn of(&mut self, numbers: &[u32]) -> u32 {
        numbers[self.choice.below(numbers.len())]
    }

    /// Of iterations.
    fn number(&mut self) -> u32 {
        self.of(&[2, 3, 4, 5, 8, 16, 1, 32])
    }

    fn loop_where(&mut self, fits: impl Fn(&StepLoop) -> bool) -> Option<String> {
        // Names that do not fit are worth a refusal now and then.
        let any = self.choice.chance(10);
        let loops: Vec<&StepLoop> = self.names.loops.iter().filter(|l| any || fits(l)).collect();
        (!loops.is_empty()).then(|| loops[self.choice.below(loops.len())].name.clone())
    }

    /// A loop with one directly inside.
    fn outer(&mut self) -> Option<(String, String)> {
        let pairs: Vec<(&String, &String)> =
            self.names.loops.iter().filter_map(|l| Some((&l.name, l.inner.as_ref()?))).collect();
        if pairs.is_empty() {
            return None;
        }
        let (outer, inner) = pairs[self.choice.below(pairs.len())];
        Some((outer.clone(), inner.clone()))
    }

    fn array(&mut self) -> Option<String> {
        let arrays = &self.names.arrays;
        (!arrays.is_empty()).then(|| arrays[self.choice.below(arrays.len())].clone())
    }

    /// An array, or the first or second group of its reads.
    fn reads(&mut self) -> Option<String> {
        let array = self.array()?;
        Some(match self.choice.chance(25) {
            true => format!("{array}#{}", 1 + self.choice.below(2)),
            false => array,
        })
    }

    /// Up to three loops, each directly in the one before, to the axes in any order.
    fn bind(&mut self) -> Option<String> {
        let roots: Vec<&StepLoop> = self.names.loops.iter().filter(|l| l.root).collect();
        let mut at = match roots.is_empty() || self.choice.chance(10) {
            true => self.names.loops.get(self.choice.below(self.names.loops.len()))?,
            false => roots[self.choice.below(roots.len())],
        };
        let mut loops = vec![at.name.clone()];
        let wanted = self.of(&[3, 2, 2, 1]);
        while loops.len() < wanted as usize {
            let inner = at.inner.as_ref();
            let Some(next) = inner.and_then(|i| self.names.loops.iter().find(|l| l.name == *i))
            else {
                break;
            };
            loops.push(next.name.clone());
            at = next;
        }
        let orders: &[&[usize]] = match loops.len() {
            1 => &[&[0], &[0], &[0], &[1], &[1], &[2]],
            2 => &[&[1, 0], &[1, 0], &[0, 1], &[2, 0], &[1, 2]],
            _ => &[&[2, 1, 0], &[2, 1, 0], &[0, 1, 2], &[1, 2, 0]],
        };
        let order = orders[self.choice.below(orders.len())];
        let block = match loops.len() {
            1 if order[0] > 0 => {
                [self.of(&[1, 1, 8]), self.of(&[1, 4, 8, 16]), self.of(&[1, 3, 4])]
            }
            1 => [self.of(&[4, 8, 5, 32, 33, 64, 1]), self.of(&[1, 4]), self.of(&[1, 3])],
            _ if self.choice.chance(40) => [self.of(&[8, 16, 32]), self.of(&[4, 8]), 1],
            _ => [self.of(&[4, 8, 3, 16, 32, 1]), self.of(&[2, 4, 1, 3, 8]), self.of(&[1, 2, 3])],
        };
        let axes: Vec<&str> = order.iter().map(|a| ["x", "y", "z"][*a]).collect();
        let used = 1 + order.iter().max()?;
        let block: Vec<String> = block[..used].iter().map(u32::to_string).collect();
        Some(format!("bind {} -> {} block {}", loops.join(", "), axes.join(", "), block.join("x")))
    }

    fn reduce(&mut self) -> Option<String> {
        let vars = &self.names.reductions;
        let var = vars.get(self.choice.below(vars.len()))?.clone();
        if self.choice.chance(40) {
            let block = ["8x4", "32x2", "1x32", "8x2x2", "16x1x4"][self.choice.below(5)];
            let grid = ["3x2", "1x4", "2x1x3", "64x65"][self.choice.below(4)];
            return Some(format!("reduce {var} block {block} grid {grid}"));
        }
        let block = self.of(&[8, 32, 1, 2, 64, 128]);
        Some(format!("reduce {var} block {block} grid {}", self.of(&[4, 1, 3, 64])))
    }

    fn stage(&mut self) -> Option<String> {
        let mut step = format!("stage {}", self.reads()?);
        if self.choice.chance(60) {
            let strip = self.loop_where(|l| !l.bound)?;
            step += &format!(" at {strip} tile {}", self.of(&[4, 8, 3, 16, 1]));
        }
        if self.choice.chance(30) {
            step += &format!(" pad {}", self.of(&[1, 2, 5]));
        }
        if self.choice.chance(30) {
            step += [" transposed", " turned"][self.choice.below(2)];
        }
        if self.choice.chance(20) {
            step += " swizzled";
        }
        if self.choice.chance(20) {
            step += " async";
        }
        Some(step)
    }

    /// Two loops of which one is directly in the other, or one.
    fn warp(&mut self) -> Option<String> {
        let bound: Vec<&StepLoop> = self.names.loops.iter().filter(|l| l.bound).collect();
        if bound.is_empty() {
            return None;
        }
        let outer = bound[self.choice.below(bound.len())];
        match &outer.inner {
            Some(inner) if bound.iter().any(|l| l.name == *inner) => {
                let lanes = self.choice.pick(&["8x4", "4x8", "2x16", "16x2", "1x32", "32x1"]);
                Some(format!("warp {}, {inner} by {lanes}", outer.name))
            }
            _ => Some(format!("warp {} by 32", outer.name)),
        }
    }

    fn specialise(&mut self) -> Option<String> {
        let sizes = &self.names.sizes;
        let mut facts = vec![];
        for _ in 0..1 + self.choice.below(2) {
            let name = sizes.get(self.choice.below(sizes.len()))?;
            facts.push(match self.choice.chance(50) {
                true => format!("{name}={}", self.of(&[16, 5, 33, 1, 8])),
                false => format!("{name}%{}=0", self.of(&[4, 8, 16, 3, 1])),
            });
        }
        // What vectors need to know.
        while self.choice.chance(40) {
            facts.push(format!("{}%16=0", self.array()?));
        }
        Some(format!("specialise {}", facts.join(", ")))
    }

    /// The example with other names and numbers. A word that is the same for all steps of the kind stays.
    fn like(&mut self, example: &str) -> Option<String> {
        const FIXED: [&str; 12] =
            ["at", "by", "tile", "pad", "block", "grid", "float", "double", "half", "x", "y", "z"];
        let mut step = String::new();
        for (at, word) in words(example).into_iter().enumerate() {
            let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic());
            let replaced = match word {
                _ if at == 0 || FIXED.contains(&word) => word.to_string(),
                _ if word.starts_with(|c: char| c.is_ascii_digit()) => self.number().to_string(),
                // Words of one letter are names in the examples; others only now and then.
                _ if is_name && (word.len() == 1 || self.choice.chance(10)) => {
                    let upper = word.starts_with(|c: char| c.is_ascii_uppercase());
                    match upper || self.choice.chance(30) {
                        true => self.reads()?,
                        false => self.loop_where(|_| true)?,
                    }
                }
                _ => word.to_string(),
            };
            step += &replaced;
        }
        Some(step)
    }
}

/// Words, numbers, and what stands between them.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_ascii_digit() => 1,
        c if c.is_ascii_alphabetic() || c == '_' => 2,
        _ => 3,
    };
    let mut words = vec![];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // `x` between numbers is no name.
        let end = rest.find(|c| class(c) != class(first)).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    /// Takes everything.
    struct Willing(Vec<String>);

    impl Schedulable for Willing {
        fn names(&self) -> StepNames {
            let plain = |name: &str| StepLoop { name: name.into(), ..StepLoop::default() };
            let bound = self.0.iter().any(|s| s.starts_with("bind"));
            let i = StepLoop { inner: Some("j".into()), root: !bound, bound, ..plain("i") };
            StepNames {
                loops: vec![i, plain("j")],
                arrays: vec!["A".into()],
                sizes: vec!["n".into()],
                reductions: vec!["s".into()],
            }
        }

        fn take(&mut self, step: &str) -> bool {
            self.0.push(step.into());
            true
        }
    }

    #[test]
    fn what_is_taken_is_returned_and_roots_are_bound() {
        let kinds = [("bind", ""), ("stage", ""), ("split_k", "split_k k by 4 into ws")];
        for seed in 0..50 {
            let mut state = Willing(vec![]);
            let taken = random_schedule(&noise(seed, 200), &kinds, &mut state);
            assert_eq!(taken, state.0);
            assert!(taken.iter().any(|s| s.starts_with("bind")), "{taken:?}");
        }
    }

    #[test]
    fn unknown_kinds_follow_their_example() {
        let names = Willing(vec![]).names();
        let bytes = noise(3, 200);
        let mut choice = Choice::new(&bytes);
        let mut writer = Writer { choice: &mut choice, names: &names };
        let step = writer.step(("flatten", "flatten A by 32 bytes")).expect("a step");
        assert!(step.starts_with("flatten A by ") && step != "flatten A by 32 bytes", "{step}");
    }
}
